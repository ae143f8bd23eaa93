//! Runs what strew compiles: a pool of threads, warm buffers, the strategies for scattered updates,
//! and failures that leave everything as it was.
//!
//! The crate knows no kernel: generated code comes as function pointers and `repr(C)` tables
//! ([`abi`]). Reading order: [`abi`] says what is handed over, [`run`] starts a kernel,
//! [`run_forall`] is what the kernel calls for a parallel loop, [`Strategy`] says what a way of
//! running one must keep, and `strategy/auto.rs` how one is chosen. [`math`] is the library of C
//! functions that a kernel may call, [`object`] what a C program calls that links to a kernel.

pub mod abi;
mod arena;
mod chunks;
mod failure;
mod forall;
mod gathering;
mod helpers;
mod loan;
mod local;
mod machine;
mod mapped;
pub mod math;
mod memory;
pub mod object;
mod pace;
pub mod panics;
mod past_caches;
mod plan;
mod portions;
mod prefetch;
mod processor;
mod record;
mod scan;
mod session;
mod settings;
mod snapshot;
mod strategy;
mod stream;
mod team;
#[cfg(test)]
mod test_kernels;
mod timeline;

pub use failure::{Failure, Held, Refusal};
pub use forall::run_forall;
pub use gathering::{empty_line, put_values};
pub use local::{Local, local_array};
pub use machine::{Caches, Calibration, LINES, Machine};
pub use mapped::{Mapped, Plain};
pub use plan::Plan;
pub use prefetch::prefetch_row;
pub use record::{Record, Why};
pub use scan::{SIGNED_KEYS, scan_keys};
pub use session::{Code, Completed, Session, run, run_with_record};
pub use settings::{
    Body, Choice, Mode, Progress, Settings, StopToken, UnknownBody, UnknownStrategy,
};
pub use snapshot::Region;
pub use strategy::{
    Costs, Gathered, Job, Ran, STRATEGIES, Sample, Shape, Strategy, reach_elements,
};
pub use stream::take_updates;
pub use team::{MAX_THREADS, Runtime, TooManyThreads};
pub use timeline::{Busy, Phase, Timeline};
