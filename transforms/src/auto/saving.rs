//! What steps about inner loops save.

use super::traffic::Traffic;
use std::fmt;
use strew_affine::spelling::counted;

/// What a step about inner loops is expected to save, in each iteration.
#[derive(Clone, Debug, PartialEq)]
pub enum Saving {
    /// Loads and stores.
    Traffic {
        /// How many there were.
        before: Traffic,
        /// How many there are.
        after: Traffic,
    },
    /// Instructions: one does the work of several lanes.
    Lanes {
        /// How many vectors of the widest type there are in a turn.
        vectors: u32,
        /// How many lanes each of them has.
        lanes: u32,
    },
    /// Instructions of the iterations that a loop around it, which runs in lanes, leaves over.
    LeftOver {
        /// That loop.
        by: String,
    },
    /// Time that sums wait for themselves.
    Chains {
        /// How many of them go on beside each other.
        together: u64,
    },
    /// Lines of the cache that are looked up: several iterations use each at once.
    Lines {
        /// How many of them do.
        together: u64,
    },
}

impl fmt::Display for Saving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Traffic { before, after } => write!(
                f,
                "an iteration is expected to load {} and to store {} elements instead of {} and {}",
                number(after.loads),
                number(after.stores),
                number(before.loads),
                number(before.stores)
            ),
            Self::Lanes { vectors, lanes } => {
                let vectors = counted(*vectors as usize, "vector");
                write!(
                    f,
                    "{vectors} of {lanes} lanes at once, so {lanes} iterations are expected to take the instructions of one"
                )
            }
            Self::LeftOver { by } => write!(
                f,
                "that is for iterations of {by} which fill no vector: in others, each iteration of this loop is made by all lanes"
            ),
            Self::Chains { together } => write!(
                f,
                "sums of {together} iterations go on beside each other, since each waits for itself alone"
            ),
            Self::Lines { together } => write!(
                f,
                "{together} iterations use a line of the cache one behind the other"
            ),
        }
    }
}

/// With two digits behind the point at most.
fn number(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}
