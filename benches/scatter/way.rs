//! The ways in C.

/// A way in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The kernel as it is.
    Serial,
    /// OpenMP with reductions of array sections.
    Reduction,
    /// OpenMP with atomic updates.
    Atomic,
    /// OpenMP with updates that get lost: how long it would take if conflicts cost nothing.
    Races,
}

impl Way {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Serial => "serial",
            Self::Reduction => "reduction",
            Self::Atomic => "atomic",
            Self::Races => "races",
        }
    }
}
