//! The steps there are.

use crate::tile_indirection::{self, TileIndirection};
use crate::unroll::{self, Unroll};
use crate::vectorize::{self, Vectorize};
use crate::{Event, LoopPath, Observer, Reason};
use std::fmt;
use strew_affine::Kernel;
use strew_affine::verify::{Verified, Violation, ViolationKind, verify};

/// One request of a schedule: plain data that prints as it parses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// Tiles a loop and runs the tiles at once, each on private copies of the arrays it updates.
    TileIndirectionUsingForall(TileIndirection),
    /// Several iterations of a loop in one turn.
    Unroll(Unroll),
    /// Several iterations of a loop at once, in the lanes of vectors.
    Vectorize(Vectorize),
}

impl Step {
    /// The word a step begins with, for each kind of step.
    pub const NAMES: [&'static str; 3] = [TileIndirection::NAME, Unroll::NAME, Vectorize::NAME];

    /// The kernel after this step.
    ///
    /// # Errors
    /// The reason why the step is declined.
    pub fn apply(&self, kernel: &Verified) -> Result<Verified, Reason> {
        let after = match self {
            Self::TileIndirectionUsingForall(request) => {
                tile_indirection::tile_indirection_using_forall(kernel, request)
            }
            Self::Unroll(request) => unroll::unroll(kernel, request),
            Self::Vectorize(request) => vectorize::vectorize(kernel, request),
        }?;
        verify(after).map_err(|violations| broken(violations, kernel))
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

    /// The same step about another loop.
    #[must_use]
    pub fn with_target(mut self, target: LoopPath) -> Self {
        match &mut self {
            Self::TileIndirectionUsingForall(request) => request.target = target,
            Self::Unroll(request) => request.target = target,
            Self::Vectorize(request) => request.target = target,
        }
        self
    }

    /// The loop that the step is about.
    pub fn target(&self) -> &LoopPath {
        match self {
            Self::TileIndirectionUsingForall(request) => &request.target,
            Self::Unroll(request) => &request.target,
            Self::Vectorize(request) => &request.target,
        }
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
        match self {
            Self::TileIndirectionUsingForall(request) => request.fmt(f),
            Self::Unroll(request) => request.fmt(f),
            Self::Vectorize(request) => request.fmt(f),
        }
    }
}
