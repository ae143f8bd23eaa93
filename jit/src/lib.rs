//! Machine code for strew kernels: from a [`Verified`](strew_affine::verify::Verified) kernel to
//! something that can be called.
//!
//! Any verified kernel compiles, whatever schedule it came from; nothing here knows schedules.
//! [`compile`] makes the code, [`Compiled::call`] checks arguments and sizes and runs it on a
//! [`Runtime`](strew_runtime::Runtime).
//!
//! Safety rests on three things. Verified kernels are well formed. Before each call the sizes are
//! looked at: affine subscripts are proved to be in range, or code that checks each of them is
//! used. Computed subscripts are checked at every access, but for those that cannot leave a
//! dimension that has an element, which is among what is looked at. A check that fails returns a
//! status and a fault record; generated code never traps.

mod argument;
mod bodies;
mod call;
mod call_error;
mod compiled;
mod deciding;
mod error;
mod facts;
mod form;
mod free_names;
mod guard;
mod host;
mod isa;
mod keys;
mod lengths;
mod loaded;
mod lower;
mod math;
mod merges;
mod object;
mod promoted;
mod proved;
mod record;
mod rows;
mod site;
mod stays;
mod stopped;
mod storage;
mod sure;
mod versions;
mod written;

pub use argument::{Argument, ArgumentKind, ArrayMut, ArrayRef, Element, Records};
pub use call::Outcome;
pub use call_error::CallError;
pub use compiled::{Compiled, Faults, Options, Specialize, compile};
pub use error::CompileError;
pub use isa::{Processor, Target, processor};
pub use math::PlatformMath;
pub use object::{Object, object};
pub use record::{ArrayElement, ElementType, FieldLayout, Layout, RecordField, RecordLayout};
pub use strew_affine::interpret::{Fault, FaultKind, Oob};
