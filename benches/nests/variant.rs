//! The ways to run a kernel.

use strew::Mode;

/// A way to run a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// A way of `peers/nests_ways.c`, in C or in Rust.
    Peer(&'static str),
    /// strew, with the schedule that it finds.
    Strew { mode: Mode, threads: usize },
}

impl Variant {
    /// Serial C, rounding as it is written: what results are compared with.
    pub(crate) const PLAIN: Self = Self::Peer("plain");
    /// Serial C by `cc -O3 -march=native`, which may multiply and add in one step.
    pub(crate) const CC: Self = Self::Peer("native");

    /// No kernel, but products and sums in vectors of 128 bits, as many as a processor can: what
    /// products of matrices are compared with.
    pub(crate) const PEAK: Self = Self::Peer("peak");

    /// Rust that does the same, which rounds as it is written.
    const RUSTC: Self = Self::Peer("rustc");

    /// strew on one thread, which may multiply and add in one step.
    pub(crate) const FAST: Self = Self::strew(Mode::Fast, 1);

    const fn strew(mode: Mode, threads: usize) -> Self {
        Self::Strew { mode, threads }
    }

    /// In the order in which they take turns.
    pub(crate) const ALL: [Self; 10] = [
        Self::CC,
        Self::Peer("narrow"),
        Self::Peer("polly"),
        Self::RUSTC,
        Self::strew(Mode::Exact, 1),
        Self::strew(Mode::Stable, 1),
        Self::FAST,
        Self::strew(Mode::Exact, 2),
        Self::strew(Mode::Stable, 2),
        Self::strew(Mode::Fast, 2),
    ];

    pub(crate) fn name(self) -> String {
        match self {
            Self::Peer("native") => "cc".to_owned(),
            Self::Peer("narrow") => "cc 128".to_owned(),
            Self::Peer(way) => way.to_owned(),
            Self::Strew { mode, threads } => {
                format!("{} {threads}", format!("{mode:?}").to_lowercase())
            }
        }
    }

    /// Whether the result has to have the bits of the serial loop.
    pub(crate) fn is_exact(self) -> bool {
        let exact = Mode::Exact;
        [Self::PLAIN, Self::RUSTC].contains(&self)
            || matches!(self, Self::Strew { mode, .. } if mode == exact)
    }
}
