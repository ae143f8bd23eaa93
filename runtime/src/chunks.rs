//! Runs of a forall's body over consecutive ranges of its iterations.

use crate::abi::{Call, ChunkFn, ForallCall, Slot, Work};
use crate::failure::Failure;
use crate::local::LocalMemory;
use crate::memory::lock;
use crate::session::Session;
use crate::settings::NEVER;
use crate::timeline::{Phase, Timeline};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Between two looks at the stop token lie about so many iterations of the tiled loop, or one of
/// the forall if that is more.
const TRIPS_BETWEEN_LOOKS: i64 = 1 << 16;

/// What the tasks of a forall share.
///
/// Chunks are numbered in the order of their iterations. The failure that counts is that of the
/// lowest number: a chunk is skipped or left only when one of a lower number has failed, so all
/// chunks below the first that failed have run to their end.
pub(crate) struct Chunks<'j> {
    session: Session<'j>,
    slots: *const Slot,
    stop: &'j AtomicU32,
    body: ChunkFn,
    frame: *const u64,
    marks: *const *mut u8,
    may_stop: bool,
    between_looks: i64,
    updates: AtomicU64,
    skipped: AtomicU64,
    work: &'j Work,
    /// Of outermost foralls.
    timeline: Option<&'j Timeline>,
    /// What is to be done in all iterations, and how many they are.
    whole: (u64, u64),
    first_failed: AtomicUsize,
    failure: Mutex<Option<Failure>>,
}

// SAFETY: the pointers are read only, but for marks, which bodies set one by one and in one step,
// and what they point to outlives the forall: whoever calls `run_forall` vouches for that and for
// bodies that may run on any thread. Everything else is `Sync` by itself, the session among it, as
// is asserted below.
unsafe impl Sync for Chunks<'_> {}

/// Bodies reach the session through a pointer, which no compiler looks at.
const _: fn(&Session<'static>) = is_shared;

fn is_shared<T: Sync>(_: &T) {}

impl<'j> Chunks<'j> {
    /// Nothing has run yet. `may_stop` says whether leaving the forall half done can be made good.
    pub(crate) fn new(
        session: &Session<'j>,
        call: &Call,
        forall: &ForallCall,
        may_stop: bool,
    ) -> Self {
        let trips_each = forall.trips.max(1) / forall.count.max(1);
        Self {
            session: session.nested(),
            slots: call.slots,
            stop: session.settings().stop_flag(),
            body: forall.body,
            frame: forall.frame,
            marks: call.marks,
            may_stop,
            between_looks: (TRIPS_BETWEEN_LOOKS / trips_each.max(1)).max(1),
            updates: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
            work: if session.is_nested() {
                session.unseen()
            } else {
                session.work()
            },
            timeline: session.timeline(),
            whole: (forall.work(), u64::try_from(forall.count).unwrap_or(0)),
            first_failed: AtomicUsize::new(usize::MAX),
            failure: Mutex::new(None),
        }
    }

    /// The same with another body of the forall.
    pub(crate) fn with_body(self, body: ChunkFn) -> Self {
        Self { body, ..self }
    }

    /// The same, but what is done is no step towards the end of the call.
    pub(crate) fn unseen(self) -> Self {
        Self {
            work: self.session.unseen(),
            ..self
        }
    }

    /// The same for bodies that must run to their end, in which loops would look at the stop token
    /// too.
    pub(crate) fn unstoppable(self) -> Self {
        Self {
            stop: &NEVER,
            may_stop: false,
            ..self
        }
    }

    /// How much is done once all iterations before `iteration` are.
    fn work_before(&self, iteration: i64) -> u64 {
        let (work, count) = self.whole;
        let before = u128::from(work) * iteration.max(0) as u128 / u128::from(count.max(1));
        u64::try_from(before).unwrap_or(u64::MAX)
    }

    /// Counts what is done of the work of `iterations` and was not counted by their body.
    fn count(&self, call: &mut Call, iterations: Range<i64>) {
        let done = self.work_before(iterations.end) - self.work_before(iterations.start);
        let rest = done.saturating_sub(std::mem::take(&mut call.worked));
        self.work.done.fetch_add(rest, Ordering::Relaxed);
    }

    /// Whether chunk `number` still has to run, or to run on.
    pub(crate) fn is_wanted(&self, number: usize) -> bool {
        if number > self.first_failed.load(Ordering::Relaxed) {
            return false;
        }
        let stopped = self.may_stop && self.stop.load(Ordering::Relaxed) != 0;
        if stopped {
            self.fail(number, Failure::Stopped);
        }
        !stopped
    }

    /// Runs `iterations` as chunk `number`, with these addresses of private buffers, unless it is
    /// not wanted any more.
    ///
    /// # Safety
    /// `privates` are what the body asks for, and no other chunk that runs at the same time has any
    /// of them.
    pub(crate) unsafe fn run(&self, number: usize, iterations: Range<i64>, privates: &[*mut u8]) {
        let watched = self.timeline.map(|it| (it, Instant::now()));
        let mut memory = LocalMemory::default();
        let mut call = self.session.call(self.slots, self.stop, &mut memory);
        call.work = self.work;
        call.marks = self.marks;
        let Range { mut start, end } = iterations;
        while start < end && self.is_wanted(number) {
            let next = start.saturating_add(self.between_looks).min(end);
            // SAFETY: whoever called `run_forall` vouches for the body, the caller of this function
            // for the buffers.
            let status =
                unsafe { (self.body)(&raw mut call, self.frame, privates.as_ptr(), start, next) };
            if let Err(failure) = self.session.outcome(status, &call) {
                self.fail(number, failure);
                break;
            }
            self.count(&mut call, start..next);
            start = next;
        }
        self.updates.fetch_add(call.updates, Ordering::Relaxed);
        self.skipped.fetch_add(call.skipped, Ordering::Relaxed);
        if let Some((timeline, start)) = watched {
            timeline.add(Phase::Main, start);
        }
    }

    /// Runs the body over no iterations.
    ///
    /// # Safety
    /// `privates` are what the body asks for, and nobody else has any of them.
    pub(crate) unsafe fn run_none(&self, privates: &[*mut u8]) {
        let mut memory = LocalMemory::default();
        let mut call = self.session.call(self.slots, self.stop, &mut memory);
        // SAFETY: whoever called `run_forall` vouches for the body, the caller of this function for
        // the buffers. Of no iterations it has nothing to tell.
        let _ = unsafe { (self.body)(&raw mut call, self.frame, privates.as_ptr(), 0, 0) };
    }

    /// How many updates those that have run have counted.
    pub(crate) fn updates(&self) -> u64 {
        self.updates.load(Ordering::Relaxed)
    }

    /// The same for what chunk `number` came to; there is nothing when it failed.
    pub(crate) fn settle<T: Default>(&self, number: usize, outcome: Result<T, Failure>) -> T {
        outcome.unwrap_or_else(|failure| {
            self.fail(number, failure);
            T::default()
        })
    }

    /// Keeps `failure` of chunk `number` unless one of a lower number has failed.
    pub(crate) fn fail(&self, number: usize, failure: Failure) {
        let mut kept = lock(&self.failure);
        if number < self.first_failed.load(Ordering::Relaxed) {
            self.first_failed.store(number, Ordering::Relaxed);
            *kept = Some(failure);
        }
    }

    /// Adds the updates, and what was skipped, to those of `call`.
    ///
    /// # Errors
    /// The first failure in the order of the iterations.
    pub(crate) fn finish(self, call: &mut Call) -> Result<(), Failure> {
        self.add_counts(call);
        self.outcome()
    }

    /// How many statements did nothing, since an index was out of range.
    pub(crate) fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }

    /// Adds what the chunks have counted to what `call` has.
    pub(crate) fn add_counts(&self, call: &mut Call) {
        call.updates = call
            .updates
            .wrapping_add(self.updates.load(Ordering::Relaxed));
        call.skipped = call.skipped.wrapping_add(self.skipped());
    }

    /// The same for iterations whose updates are made later.
    ///
    /// # Errors
    /// The first failure in the order of the iterations.
    pub(crate) fn outcome(self) -> Result<(), Failure> {
        self.first_failure()
            .map_or(Ok(()), |(_, failure)| Err(failure))
    }

    /// The failure that counts, with the number of its chunk.
    pub(crate) fn first_failure(self) -> Option<(usize, Failure)> {
        let failure = self
            .failure
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        Some(self.first_failed.into_inner()).zip(failure)
    }
}

/// Part `number` of `count` iterations in `parts` parts that differ by one iteration at most.
pub(crate) fn part(count: u64, parts: usize, number: usize) -> Range<i64> {
    let parts = parts.max(1) as u128;
    let bound = |number: usize| {
        let bound = u128::from(count) * number as u128 / parts;
        i64::try_from(bound).unwrap_or(i64::MAX)
    };
    bound(number)..bound(number.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_iterations_in_order() {
        for count in [0, 1, 2, 7, 8, 9, 100, i64::MAX as u64] {
            for parts in [1, 2, 3, 8] {
                let mut next = 0;
                for number in 0..parts {
                    let range = part(count, parts, number);
                    assert_eq!(range.start, next);
                    next = range.end;
                }
                assert_eq!(next as u64, count);
            }
        }
    }
}
