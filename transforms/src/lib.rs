//! Schedules and the loop transformations they are made of.
//!
//! A transform is a pure function from a kernel and a request to a new kernel or a [`Reason`]. It has two phases: `plan` asks
//! whether the step is legal and makes everything that could fail, `rewrite` puts it together and cannot fail. Whether a step
//! pays is asked elsewhere, in [`auto`].
//!
//! A [`Schedule`] is an ordered list of [`Step`]s with two faces that turn into each other: a builder and a script. Steps name
//! loops by [`LoopPath`]. [`Schedule::apply`] tells an [`Observer`] what happens.
//!
//! | step | file |
//! |---|---|
//! | `tile_indirection_using_forall(i, reduction(out) = add, chunks = 8, strategy = auto)` | `tile_indirection/` |
//! | `unroll(i, 4)` | `unroll/` |
//! | `vectorize(j, 4)` | `vectorize.rs` |
//!
//! Nothing here knows where a kernel comes from or what it is compiled to, reads a clock, or asks the machine: what a choice
//! depends on comes as a [`Machine`].

#![forbid(unsafe_code)]

mod address;
mod affine_parts;
mod auto;
mod concrete;
mod copy;
#[cfg(test)]
mod differential;
mod in_range;
mod observe;
mod reason;
mod schedule;
mod script;
mod separate;
mod steering;
mod step;
#[cfg(test)]
mod test_support;
mod tile_indirection;
mod tiling;
mod token;
mod tree;
mod unroll;
mod vectorize;
mod witness;

pub use address::LoopPath;
pub use auto::{Decision, Machine, auto};
pub use observe::{Event, Observer, Trace};
pub use reason::{DependenceKind, Label, Reason, Verdict};
pub use schedule::{Refused, Schedule};
pub use script::{Fault, ScriptError, ScriptErrors};
pub use step::Step;
pub use tile_indirection::{Reduction, TileIndirection, tile_indirection_using_forall};
pub use unroll::{Unroll, unroll};
pub use vectorize::{Vectorize, vectorize};
pub use witness::{Contents, Witness};
