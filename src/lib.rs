//! strew compiles loops that *scatter*: a plain C loop nest such as a histogram or a segment sum
//! comes in, strew proves what may run in parallel, makes machine code for it in about a
//! millisecond, and runs it on all cores with the same bits at any number of threads. An index out
//! of range is an error with a source position, and every output is then as it was.
//!
//! ```
//! const SOURCE: &str = "
//! void segment_sum(int64_t n, int32_t m, const int32_t seg[n], const float x[n], double out[m]) {
//!   for (int64_t i = 0; i < n; i++)
//!     out[seg[i]] += x[i];
//! }";
//!
//! let program = strew::Compiler::new().compile("segment_sum.c", SOURCE)?;
//! let kernel = program.kernel("segment_sum")?;
//! let (seg, x) = ([0, 2, 0], [1.0_f32, 2.0, 4.0]);
//!
//! // With types that are checked once …
//! let sum = kernel.typed::<(i64, i32, &[i32], &[f32], &mut [f64])>()?;
//! let mut out = [0.0; 3];
//! sum.call((3, 3, &seg, &x, &mut out))?;
//! assert_eq!(out, [5.0, 0.0, 2.0]);
//!
//! // … or by name, sizes left to be found.
//! kernel.bind().array("seg", &seg).array("x", &x).array_mut("out", &mut out).run()?;
//! assert_eq!(out, [10.0, 0.0, 4.0]);
//! # Ok::<(), strew::Error>(())
//! ```
//!
//! The stages between source and machine code are types of their own, for whoever wants to look:
//! [`Source`] → [`Parsed`] → [`Scheduled`] → [`Compiled`]. [`ir`] is what kernels are made of.
#![forbid(unsafe_code)]

mod argument;
mod bind;
mod compiler;
mod convert;
mod diagnostic;
mod error;
mod host;
mod object;
mod planned;
mod pragma;
mod program;
mod report;
mod settings;
mod sizes;
mod source;
mod stages;
mod typed;
mod variables;

pub use argument::{ArgumentError, Origin};
pub use bind::Bind;
pub use compiler::Compiler;
pub use convert::{parse_schedule, syntax_tree};
pub use diagnostic::{Diagnostic, Diagnostics, Severity, Style};
pub use error::{ArgumentErrors, Error, Fault, KernelError, Refusal};
pub use object::{Object, ObjectSettings};
pub use planned::{Planned, PlannedCall};
pub use program::{Kernel, Program};
pub use report::Report;
pub use sizes::Sizes;
pub use source::{Language, Position, Source};
pub use stages::{Compiled, Parsed, ParsedKernel, Plan, Scheduled};
pub use typed::{ArgumentType, ResultType, Signature, Typed};

pub use strew_affine as ir;
pub use strew_affine::{Span, Type, Value};
pub use strew_jit::{
    ArgumentKind, ArrayElement, CompileError, Element, ElementType, FaultKind, FieldLayout, Oob,
    PlatformMath, Processor, RecordField, RecordLayout, Records, Target, processor, record,
};
pub use strew_runtime::{
    Body, Busy, Caches, Calibration, Choice as Strategy, Costs, Failure, Gathered, Held, LINES,
    Mapped, Mode, Phase, Progress, Record, Sample, StopToken, Timeline, TooManyThreads, Why,
};
pub use strew_transforms as transforms;
pub use strew_transforms::{Event, Observer, Reason, Refused, Schedule, Step, Verdict, Witness};

/// The programs of `docs/indexing.md`.
#[cfg(doctest)]
#[doc = include_str!("../docs/indexing.md")]
struct Indexing;

/// The programs of `docs/scatter.md`.
#[cfg(doctest)]
#[doc = include_str!("../docs/scatter.md")]
struct Scatter;

/// The programs of `docs/host_api.md`.
#[cfg(doctest)]
#[doc = include_str!("../docs/host_api.md")]
struct HostApi;
