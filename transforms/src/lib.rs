//! Schedules and the loop transformations they are made of.
//!
//! A transform is a pure function from a kernel and a request to a new kernel or a [`Reason`]. It
//! has two phases: `plan` asks whether the step is legal and makes everything that could fail,
//! `rewrite` puts it together and cannot fail. Whether a step pays is asked elsewhere, in [`auto`].
//!
//! A [`Schedule`] is an ordered list of [`Step`]s with two faces that turn into each other: a
//! builder and a script. Steps name loops by [`LoopPath`]. [`Schedule::apply`] tells an
//! [`Observer`] what happens.
//!
//! | step | file |
//! |---|---|
//! | `tile_indirection_using_forall(i, reduction(out) = add, chunks = 8, strategy = auto)` | `tile_indirection/` |
//! | `tile_reduction_using_forall(i, s = add, chunks = 8)` | `tile_reduction.rs` |
//! | `tile(i = 32, j = 64)` | `tile.rs` |
//! | `interchange(i, j)`, `permute(k, i, j)` | `permute.rs` |
//! | `reverse(i)` | `reverse.rs` |
//! | `fuse(i, j, shift = 1)` | `fuse.rs` |
//! | `distribute(i)` | `distribute.rs` |
//! | `strip_mine(i = 32)` | `strip_mine.rs` |
//! | `normalize(i)` | `normalize.rs` |
//! | `skew(j by i, 1)` | `skew.rs` |
//! | `coalesce(i, j)` | `coalesce.rs` |
//! | `peel(i, first = 1)` | `peel.rs` |
//! | `split(i, at = n / 2)` | `split.rs` |
//! | `parallelize(i)` | `parallelize.rs` |
//! | `shift(S1, i, 1)` | `shift.rs` |
//! | `separate(i)` | `separate.rs` |
//! | `sink(j)` | `sink.rs` |
//! | `hoist(S1, i)` | `hoist.rs` |
//! | `scalar_replace(a)` | `scalar_replace.rs` |
//! | `expand(t, i)` | `expand.rs` |
//! | `privatize(t, i)` | `privatize.rs` |
//! | `delinearize(a, [n, m])` | `delinearize.rs` |
//! | `pack(a, i_t)` | `pack.rs` |
//! | `unroll(i, 4)`, `unroll_and_jam(i, 4)` | `unroll/` |
//! | `vectorize(j, 4)` | `vectorize.rs` |
//!
//! Nothing here knows where a kernel comes from or what it is compiled to, reads a clock, or asks
//! the machine: what a choice depends on comes as a [`Machine`].

#![forbid(unsafe_code)]

mod address;
mod anew;
mod assume;
mod auto;
mod build;
mod carried;
mod coalesce;
mod concrete;
mod copy;
mod count_ahead;
mod cut;
mod delinearize;
#[cfg(test)]
mod differential;
mod distribute;
mod expand;
mod flag;
mod fold;
mod fuse;
mod hoist;
mod in_range;
mod instead;
mod join;
mod narrow;
mod nest;
mod normalize;
mod observe;
mod one_loop;
mod order;
mod pack;
mod parallelize;
mod peel;
mod permute;
mod precompute;
mod prefix;
mod private;
mod privatize;
mod reason;
mod rematerialize;
mod reverse;
mod rising;
mod scalar_replace;
mod scalars;
mod schedule;
mod script;
mod separate;
mod settle;
mod shift;
mod simplify;
mod sink;
mod size;
mod skew;
mod split;
mod steering;
mod step;
mod strip_mine;
mod symbolic;
#[cfg(test)]
mod test_support;
mod tile;
mod tile_indirection;
mod tile_reduction;
mod tiling;
mod tree;
mod unroll;
mod vectorize;
mod witness;

pub use address::{LoopPath, StatementName};
pub use auto::{Choice, Decision, Machine, Saving, Traffic, auto, auto_for_all};
pub use coalesce::Coalesce;
pub use count_ahead::CountAhead;
pub use delinearize::Delinearize;
pub use distribute::Distribute;
pub use expand::Expand;
pub use flag::Flag;
pub use fuse::Fuse;
pub use hoist::Hoist;
pub use narrow::Narrow;
pub use normalize::Normalize;
pub use observe::{Event, Observer, Trace};
pub use pack::Pack;
pub use parallelize::Parallelize;
pub use peel::{End, Peel};
pub use permute::{Interchange, Permute};
pub use precompute::Precompute;
pub use prefix::Prefix;
pub use privatize::Privatize;
pub use reason::{Label, Reason, Verdict};
pub use rematerialize::Rematerialize;
pub use reverse::Reverse;
pub use scalar_replace::ScalarReplace;
pub use schedule::{Refused, Schedule};
pub use script::{Fault, ScriptError, ScriptErrors};
pub use separate::Separate;
pub use shift::Shift;
pub use sink::Sink;
pub use size::Size;
pub use skew::Skew;
pub use split::Split;
pub use step::Step;
pub use strip_mine::StripMine;
pub use tile::Tile;
pub use tile_indirection::{Reduction, TileIndirection};
pub use tile_reduction::TileReduction;
pub use unroll::{Unroll, UnrollAndJam};
pub use vectorize::Vectorize;

pub use strew_affine::dependence::{Contents, DependenceKind, Witness};
