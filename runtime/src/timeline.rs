//! When which thread was at work, for whoever wants to see it: two looks at the clock for each part
//! of a loop.

use crate::memory::lock;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// When the threads of the last call were at work in its outermost parallel loops. All clones are
/// one.
#[derive(Clone, Debug)]
pub struct Timeline(Arc<Mutex<Parts>>);

/// A part of the work that one thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy {
    /// What it did.
    pub phase: Phase,
    /// When it began, since the call did.
    pub start: Duration,
    /// When it ended, since the call began.
    pub end: Duration,
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It fills private buffers.
    Prepare,
    /// It runs iterations.
    Main,
    /// It brings into the outputs what iterations have left elsewhere: in private buffers, or as
    /// sorted updates.
    Merge,
}

#[derive(Debug)]
struct Parts {
    began: Instant,
    parts: Vec<(ThreadId, Busy)>,
}

impl Default for Timeline {
    fn default() -> Self {
        Self::new()
    }
}

impl Timeline {
    /// Nothing has run.
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(Parts {
            began: Instant::now(),
            parts: Vec::new(),
        })))
    }

    /// What each thread that took part did; the thread that was first comes first, and parts of a
    /// thread in their order.
    pub fn lanes(&self) -> Vec<Vec<Busy>> {
        let mut parts = lock(&self.0).parts.clone();
        parts.sort_by_key(|(_, span)| span.start);
        let mut lanes: Vec<(ThreadId, Vec<Busy>)> = Vec::new();
        for (thread, span) in parts {
            match lanes.iter_mut().find(|(it, _)| *it == thread) {
                Some((_, lane)) => lane.push(span),
                None => lanes.push((thread, vec![span])),
            }
        }
        lanes.into_iter().map(|(_, lane)| lane).collect()
    }

    /// A call begins.
    pub(crate) fn restart(&self, began: Instant) {
        let mut parts = lock(&self.0);
        parts.began = began;
        parts.parts.clear();
    }

    /// The thread at hand has been at work since `start`.
    pub(crate) fn add(&self, phase: Phase, start: Instant) {
        let end = Instant::now();
        let mut parts = lock(&self.0);
        let busy = Busy {
            phase,
            start: start - parts.began,
            end: end - parts.began,
        };
        parts.parts.push((std::thread::current().id(), busy));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_a_lane() {
        let timeline = Timeline::new();
        let began = Instant::now();
        timeline.restart(began);
        timeline.add(Phase::Main, Instant::now());
        let other = timeline.clone();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                other.add(Phase::Main, Instant::now());
                other.add(Phase::Merge, Instant::now());
            });
        });
        timeline.add(Phase::Main, Instant::now());
        let lanes = timeline.lanes();
        assert_eq!(lanes.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
        for span in lanes.iter().flatten() {
            assert!(span.start <= span.end && span.end <= began.elapsed());
        }
        assert_eq!(lanes[1][1].phase, Phase::Merge);
        timeline.restart(Instant::now());
        assert!(timeline.lanes().is_empty());
    }
}
