//! The ways to run a kernel.

use strew::Mode;

/// A way to run a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// A way of `peers/nests_ways.c`.
    C(&'static str),
    /// strew, with the schedule that it finds.
    Strew { mode: Mode, threads: usize },
}

impl Variant {
    /// Serial C, rounding as it is written: what results are compared with.
    pub(crate) const PLAIN: Self = Self::C("plain");
    /// Serial C by `cc -O3 -march=native`, which may multiply and add in one step.
    pub(crate) const CC: Self = Self::C("native");

    const fn strew(mode: Mode, threads: usize) -> Self {
        Self::Strew { mode, threads }
    }

    /// In the order in which they take turns.
    pub(crate) const ALL: [Self; 9] = [
        Self::CC,
        Self::C("narrow"),
        Self::C("polly"),
        Self::strew(Mode::Exact, 1),
        Self::strew(Mode::Stable, 1),
        Self::strew(Mode::Fast, 1),
        Self::strew(Mode::Exact, 2),
        Self::strew(Mode::Stable, 2),
        Self::strew(Mode::Fast, 2),
    ];

    pub(crate) fn name(self) -> String {
        match self {
            Self::C("native") => "cc".to_owned(),
            Self::C("narrow") => "cc 128".to_owned(),
            Self::C(way) => way.to_owned(),
            Self::Strew { mode, threads } => {
                format!("{} {threads}", format!("{mode:?}").to_lowercase())
            }
        }
    }

    /// Whether the result has to have the bits of the serial loop.
    pub(crate) fn is_exact(self) -> bool {
        let exact = Mode::Exact;
        self == Self::PLAIN || matches!(self, Self::Strew { mode, .. } if mode == exact)
    }
}
