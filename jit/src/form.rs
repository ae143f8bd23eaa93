//! The forms in which the code of one kernel is made.

use crate::facts::Checks;
use strew_affine::{Combiner, Type};
use strew_runtime::Mode;

/// Which results that round are good enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Rounding {
    /// Those of the loop as it is written.
    Written,
    /// With updates grouped by lanes, where a loop has some.
    Lanes,
    /// The same, and products rounded once with the sums they go into, where the processor does
    /// that.
    Contracted,
}

impl Rounding {
    /// Whether updates of something of type `ty` by `combiner` may be grouped otherwise than they
    /// are written.
    pub(crate) fn regroups(self, combiner: &Combiner, ty: Type) -> bool {
        self != Self::Written || combiner.is_exact(&[ty])
    }

    /// As a call in `mode` may have them.
    pub(crate) fn of(mode: Mode) -> Self {
        match mode {
            Mode::Exact => Self::Written,
            Mode::Stable => Self::Lanes,
            Mode::Fast => Self::Contracted,
        }
    }
}

/// In which form code is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Form {
    pub(crate) checks: Checks,
    pub(crate) rounding: Rounding,
}
