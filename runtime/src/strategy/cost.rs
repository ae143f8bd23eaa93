//! What a forall is expected to cost by each strategy.
//!
//! These numbers choose among strategies that give the same bits. They are nanoseconds on a server processor of 2023; their ratios
//! matter, not the numbers.

use super::sample::Sample;
use super::{Shape, dense};

/// An update of an element that is in a near cache, its key and its value read from memory.
const UPDATE: f64 = 1.0;

/// The same, more for one that waits for the update before it.
const WAIT: f64 = 1.6;

/// The same, more for one in a register.
const RUN: f64 = 0.2;

/// What it takes to get a cache line of outputs of so many bytes, for sizes that double from [`LEAST`] on.
const LINE: [f64; 10] = [0.2, 0.5, 2.0, 2.7, 2.9, 5.0, 7.5, 10.0, 14.0, 19.0];

/// The logarithm of 512 KiB.
const LEAST: f64 = 19.0;

/// To sort an update and to apply it, wherever it goes.
const SORT: f64 = 6.8;

/// To fill and to merge an element of one group.
const MERGE: f64 = 0.5;

/// To wake threads and to wait for them, twice.
const SHARE: f64 = 40_000.0;

/// Where updates go, when no one has looked: anywhere.
const UNSEEN: Sample = Sample {
    updates: 0,
    repeated: 0.0,
    scattered: 1.0,
    span: u64::MAX,
    is_skewed: false,
};

/// Expected times in nanoseconds, by strategy, whether it may be taken or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Of `serial`.
    pub serial: u64,
    /// Of `dense`.
    pub dense: u64,
    /// Of `blocked`.
    pub blocked: u64,
    /// Of `binned`.
    pub binned: u64,
}

impl Costs {
    pub(super) fn of(shape: &Shape, sample: Option<Sample>) -> Self {
        let sample = sample.unwrap_or(UNSEEN);
        let trips = shape.trips as f64;
        let threads = shape
            .threads
            .min(usize::try_from(shape.count).unwrap_or(1))
            .max(1) as f64;
        let groups = dense::groups(shape).max(1) as f64;
        let elements = shape.elements as f64;
        let each = update(shape.bytes, &sample);
        // Groups of updates that are near each other have few elements in common.
        let touched = if sample.is_local(shape.elements) {
            2.0
        } else {
            groups
        };
        Self {
            serial: (trips * each) as u64,
            dense: (SHARE + (trips * each + elements * groups * MERGE) / threads) as u64,
            blocked: (SHARE + (trips * each + elements * touched * MERGE) / threads) as u64,
            binned: (SHARE + trips * (SORT + sample.repeated * WAIT) / threads) as u64,
        }
    }
}

/// One update of outputs of `bytes` bytes.
fn update(bytes: u64, sample: &Sample) -> f64 {
    let line = line(bytes);
    UPDATE + sample.scattered * line + wait(sample)
}

/// Between the sizes of [`LINE`] in a straight line over their logarithms.
fn line(bytes: u64) -> f64 {
    let at = (bytes.max(1) as f64).log2() - LEAST;
    let at = at.clamp(0.0, (LINE.len() - 1) as f64);
    let below = at.floor();
    let get = |number: f64| LINE.get(number as usize).copied().unwrap_or_default();
    get(below) + (at - below) * (get(at.ceil()) - get(below))
}

fn wait(sample: &Sample) -> f64 {
    let each = if sample.keeps_a_register() { RUN } else { WAIT };
    sample.repeated * each
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_cost_more_the_more_bytes_there_are() {
        assert_eq!(line(0), LINE[0]);
        assert_eq!(line(1 << 19), LINE[0]);
        assert_eq!(line(1 << 22), LINE[3]);
        assert_eq!(line(u64::MAX), LINE[9]);
        let sizes: Vec<f64> = (1..400).map(|it| line(it << 20)).collect();
        assert!(sizes.is_sorted());
    }
}
