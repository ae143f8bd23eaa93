//! The steps there are.

use crate::coalesce::Coalesce;
use crate::count_ahead::CountAhead;
use crate::delinearize::Delinearize;
use crate::distribute::Distribute;
use crate::expand::Expand;
use crate::flag::Flag;
use crate::fuse::Fuse;
use crate::hoist::Hoist;
use crate::narrow::Narrow;
use crate::normalize::Normalize;
use crate::pack::Pack;
use crate::parallelize::Parallelize;
use crate::peel::Peel;
use crate::permute::{Interchange, Permute};
use crate::precompute::Precompute;
use crate::prefix::Prefix;
use crate::privatize::Privatize;
use crate::rematerialize::Rematerialize;
use crate::reverse::Reverse;
use crate::scalar_replace::ScalarReplace;
use crate::script::call::{Call, FaultAt};
use crate::separate::Separate;
use crate::shift::Shift;
use crate::sink::Sink;
use crate::skew::Skew;
use crate::split::Split;
use crate::strip_mine::StripMine;
use crate::tile::Tile;
use crate::tile_indirection::TileIndirection;
use crate::tile_reduction::TileReduction;
use crate::unroll::{Unroll, UnrollAndJam};
use crate::vectorize::{Vectorize, check_lanes_kept};
use crate::{Event, LoopPath, Observer, Reason};
use std::fmt;
use strew_affine::Kernel;
use strew_affine::verify::{Verified, Violation, ViolationKind, verify_after};

/// What every step is: plain data that prints as it parses.
///
/// `apply` is `plan`, which finds every reason against the step, then `rewrite`, which cannot fail.
pub(crate) trait Transform: fmt::Display {
    /// The kernel with the step done.
    ///
    /// # Errors
    /// Why the step is declined.
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason>;

    /// The loops that the step names, the one that it is about first.
    fn loops_mut(&mut self) -> Vec<&mut LoopPath>;
}

/// The steps, each with its request, in the order in which they are listed.
macro_rules! steps {
    ($($(#[$doc:meta])* $step:ident($request:ident),)*) => {
        /// One request of a schedule: plain data that prints as it parses.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Step {
            $($(#[$doc])* $step($request),)*
        }

        impl Step {
            /// The word a step begins with, for each kind of step.
            pub const NAMES: &'static [&'static str] = &[$($request::NAME),*];

            /// What is written in a script.
            pub(crate) fn read(call: Call) -> Result<Self, FaultAt> {
                match call.name() {
                    $($request::NAME => $request::read(call).map(Self::$step),)*
                    _ => Err(call.unknown()),
                }
            }

            fn transform(&self) -> &dyn Transform {
                match self {
                    $(Self::$step(request) => request,)*
                }
            }

            fn transform_mut(&mut self) -> &mut dyn Transform {
                match self {
                    $(Self::$step(request) => request,)*
                }
            }
        }

        $(impl From<$request> for Step {
            fn from(request: $request) -> Self {
                Self::$step(request)
            }
        })*
    };
}

steps! {
    /// Tiles a loop and runs the tiles at once, each on private copies of the arrays it updates.
    TileIndirectionUsingForall(TileIndirection),
    /// Tiles a loop and runs the tiles at once, each with scalars of its own.
    TileReductionUsingForall(TileReduction),
    /// Tiles of a perfect nest.
    Tile(Tile),
    /// Two loops in each other's place.
    Interchange(Interchange),
    /// Loops nested in another order.
    Permute(Permute),
    /// A loop from its end to its beginning.
    Reverse(Reverse),
    /// One loop of two that follow each other.
    Fuse(Fuse),
    /// A loop for each statement.
    Distribute(Distribute),
    /// Tiles of one loop.
    StripMine(StripMine),
    /// A loop that counts its iterations.
    Normalize(Normalize),
    /// An inner loop that moves with an outer one.
    Skew(Skew),
    /// One loop of two.
    Coalesce(Coalesce),
    /// The first or the last iterations of a loop apart from the others.
    Peel(Peel),
    /// A loop cut in two.
    Split(Split),
    /// All iterations of a loop at once.
    Parallelize(Parallelize),
    /// Parts of a loop at once, each with the tickets that counters have for it.
    CountAhead(CountAhead),
    /// A statement of a loop that comes some iterations later, or earlier.
    Shift(Shift),
    /// A loop cut in two where a condition or a bound changes.
    Separate(Separate),
    /// What stands behind a loop as its last iteration.
    Sink(Sink),
    /// A statement that is the same in all iterations before the loop.
    Hoist(Hoist),
    /// An element that a loop uses in each iteration in a scalar.
    ScalarReplace(ScalarReplace),
    /// An element for each iteration of a loop instead of a scalar.
    Expand(Expand),
    /// Tiles of a loop that each compute anew what was left in scalars.
    Rematerialize(Rematerialize),
    /// Tiles of a loop that each begin with what reductions before them leave in scalars.
    Prefix(Prefix),
    /// Whether a loop sets what all iterations that do set alike, in a flag.
    Flag(Flag),
    /// A scalar, or a local array, for each iteration of a loop.
    Privatize(Privatize),
    /// The dimensions that flat subscripts mean.
    Delinearize(Delinearize),
    /// A copy of the part of an array that an iteration reads.
    Pack(Pack),
    /// Several iterations of a loop in one turn.
    Unroll(Unroll),
    /// The same, with the loops inside once for all of them.
    UnrollAndJam(UnrollAndJam),
    /// What statements put into elements, before the first of them.
    Precompute(Precompute),
    /// What a loop computes in narrower types.
    Narrow(Narrow),
    /// Several iterations of a loop at once, in the lanes of vectors.
    Vectorize(Vectorize),
}

impl Step {
    /// The kernel after this step.
    ///
    /// # Errors
    /// The reason why the step is declined.
    pub fn apply(&self, kernel: &Verified) -> Result<Verified, Reason> {
        let after = self.transform().apply(kernel)?;
        let after = verify_after(kernel, after).map_err(|violations| broken(violations, kernel))?;
        // Its plan has looked at the loop, and it leaves others alone.
        if !matches!(self, Self::Vectorize(_)) {
            check_lanes_kept(kernel, &after)?;
        }
        Ok(after)
    }

    /// The same, while `observer` watches; `index` is the position in the schedule.
    pub(crate) fn apply_observed(
        &self,
        index: usize,
        before: &Verified,
        observer: &mut dyn Observer,
    ) -> Result<Verified, Reason> {
        let (step, kernel) = (self, before);
        observer.observe(Event::Started {
            index,
            step,
            kernel,
        });
        let result = self.apply(before);
        observer.observe(match &result {
            Ok(after) => Event::Applied {
                index,
                step,
                before,
                after,
            },
            Err(reason) => Event::Refused {
                index,
                step,
                reason,
            },
        });
        result
    }

    /// The loops that the step names, the one that it is about first.
    pub(crate) fn loops(&self) -> Vec<LoopPath> {
        let mut step = self.clone();
        let loops = step.transform_mut().loops_mut();
        loops.into_iter().map(|it| it.clone()).collect()
    }

    /// The same step, each loop that it names called as `rename` says, if it says something.
    #[must_use]
    pub fn renamed(mut self, rename: &dyn Fn(&LoopPath) -> Option<LoopPath>) -> Self {
        for path in self.transform_mut().loops_mut() {
            if let Some(name) = rename(path) {
                *path = name;
            }
        }
        self
    }
}

fn broken(violations: Vec<Violation>, before: &Kernel) -> Reason {
    let unnamed = || Violation {
        span: before.span,
        kind: ViolationKind::TooDeep,
    };
    let first = violations.into_iter().next().unwrap_or_else(unnamed);
    Reason::BreaksInvariant {
        violation: Box::new(first),
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.transform().fmt(f)
    }
}
