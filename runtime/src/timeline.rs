//! When which thread was at work, for whoever wants to see it: two looks at the clock for each part of a loop.

use crate::memory::lock;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// When the threads of the last call ran parts of its outermost parallel loops. All clones are one.
#[derive(Clone, Debug)]
pub struct Timeline(Arc<Mutex<Parts>>);

#[derive(Debug)]
struct Parts {
    began: Instant,
    parts: Vec<(ThreadId, Duration, Duration)>,
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

    /// For each thread that took part when it began a part and when it ended it, since the call began; the thread that was first comes
    /// first, and parts of a thread in their order.
    pub fn lanes(&self) -> Vec<Vec<(Duration, Duration)>> {
        let mut parts = lock(&self.0).parts.clone();
        parts.sort_by_key(|(_, start, _)| *start);
        let mut lanes: Vec<(ThreadId, Vec<(Duration, Duration)>)> = Vec::new();
        for (thread, start, end) in parts {
            match lanes.iter_mut().find(|(it, _)| *it == thread) {
                Some((_, lane)) => lane.push((start, end)),
                None => lanes.push((thread, vec![(start, end)])),
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
    pub(crate) fn add(&self, start: Instant) {
        let end = Instant::now();
        let mut parts = lock(&self.0);
        let (start, end) = (start - parts.began, end - parts.began);
        parts.parts.push((std::thread::current().id(), start, end));
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
        timeline.add(Instant::now());
        let other = timeline.clone();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                other.add(Instant::now());
                other.add(Instant::now());
            });
        });
        timeline.add(Instant::now());
        let lanes = timeline.lanes();
        assert_eq!(lanes.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
        for (start, end) in lanes.iter().flatten() {
            assert!(start <= end && *end <= began.elapsed());
        }
        timeline.restart(Instant::now());
        assert!(timeline.lanes().is_empty());
    }
}
