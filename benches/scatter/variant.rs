//! The ways to run a cell.

use crate::THREADS;
use crate::way::Way;
use std::time::Duration;
use strew::{Mode, Strategy};

/// The threads of OpenMP look out for more work for some milliseconds, on the processor that what
/// runs next may need: so long is waited for them to sleep.
const AT_REST: Duration = Duration::from_millis(15);

/// A way to run a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    C(Way),
    /// Written by hand in Rust.
    ByHand,
    /// strew, with the strategy of this name or the one that it finds.
    Strew {
        strategy: Option<&'static str>,
        mode: Mode,
        threads: usize,
    },
}

impl Variant {
    pub(crate) const CC: Self = Self::C(Way::Serial);
    pub(crate) const REDUCTION: Self = Self::C(Way::Reduction);
    pub(crate) const ATOMIC: Self = Self::C(Way::Atomic);
    /// A limit, and no peer: the results are wrong.
    pub(crate) const RACES: Self = Self::C(Way::Races);
    /// The loop in order, whatever the keys.
    pub(crate) const SERIAL: Self = Self::Strew {
        strategy: Some("serial"),
        mode: Mode::Stable,
        threads: 1,
    };

    /// As it comes.
    pub(crate) const fn auto(mode: Mode, threads: usize) -> Self {
        Self::Strew {
            strategy: None,
            mode,
            threads,
        }
    }

    /// In the mode and on the threads that are the default, with a strategy.
    pub(crate) fn by(strategy: &'static str) -> Self {
        Self::Strew {
            strategy: Some(strategy),
            mode: Mode::Stable,
            threads: THREADS,
        }
    }

    pub(crate) const STABLE: Self = Self::auto(Mode::Stable, THREADS);
    pub(crate) const STABLE_1: Self = Self::auto(Mode::Stable, 1);
    pub(crate) const FAST: Self = Self::auto(Mode::Fast, THREADS);
    pub(crate) const EXACT: Self = Self::auto(Mode::Exact, THREADS);
    pub(crate) const EXACT_1: Self = Self::auto(Mode::Exact, 1);

    /// Those that every cell has where they can be had, in the order in which they take turns. The
    /// first are serial: the others are compared with them.
    pub(crate) const ALL: [Self; 11] = [
        Self::CC,
        Self::SERIAL,
        Self::REDUCTION,
        Self::ATOMIC,
        Self::RACES,
        Self::ByHand,
        Self::STABLE_1,
        Self::STABLE,
        Self::FAST,
        Self::EXACT_1,
        Self::EXACT,
    ];

    /// By each strategy that there is.
    pub(crate) fn strategies() -> impl Iterator<Item = Self> {
        Strategy::named().filter_map(|strategy| match strategy {
            Strategy::Named(strategy) => Some(Self::by(strategy.name())),
            Strategy::Auto => None,
        })
    }

    pub(crate) fn name(self) -> String {
        match self {
            Self::C(Way::Serial) => "cc -O3".to_owned(),
            Self::C(Way::Reduction) => "omp reduction".to_owned(),
            Self::C(Way::Atomic) => "omp atomic".to_owned(),
            Self::C(Way::Races) => "omp races".to_owned(),
            Self::ByHand => "rayon".to_owned(),
            Self::Strew {
                strategy: Some(strategy),
                threads,
                ..
            } => format!("{strategy} {threads}"),
            Self::Strew { mode, threads, .. } => {
                format!("{} {threads}", format!("{mode:?}").to_lowercase())
            }
        }
    }

    /// Waits until threads that look out for more work behind it have gone to sleep.
    pub(crate) fn wait_for_threads(self) {
        if matches!(
            self,
            Self::REDUCTION | Self::ATOMIC | Self::RACES | Self::ByHand
        ) {
            std::thread::sleep(AT_REST);
        }
    }

    /// Whether the result has to have the bits of the serial loop.
    pub(crate) fn is_exact(self) -> bool {
        matches!(
            self,
            Self::Strew {
                mode: Mode::Exact,
                ..
            } | Self::SERIAL
        )
    }
}
