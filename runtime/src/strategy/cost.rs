//! What a forall is expected to cost by each strategy.
//!
//! These numbers choose among strategies that give the same bits. They are nanoseconds on a server processor of 2023; their ratios
//! matter, not the numbers.

use super::sample::Sample;
use super::{Shape, dense};

/// An update of an element that is in the first cache.
const UPDATE: f64 = 0.7;

/// The same, more for one that waits for the update before it.
const WAIT: f64 = 1.6;

/// The same, more for one in a register.
const RUN: f64 = 0.2;

/// A cache line from the second cache, from behind it, and from where pages are not known any more.
const NEAR: f64 = 0.5;
const FAR: f64 = 3.0;
const FARTHEST: f64 = 5.5;

/// The size of the second cache, and what the processor knows the pages of.
const SECOND_CACHE: u64 = 2 << 20;
const KNOWN_PAGES: u64 = 24 << 20;

/// To sort an update and to apply it, which waits for nothing.
const SORT: f64 = 3.0;

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
    let line = match bytes {
        0..SECOND_CACHE => NEAR,
        SECOND_CACHE..KNOWN_PAGES => FAR,
        _ => FARTHEST,
    };
    UPDATE + sample.scattered * line + wait(sample)
}

fn wait(sample: &Sample) -> f64 {
    let each = if sample.keeps_a_register() { RUN } else { WAIT };
    sample.repeated * each
}
