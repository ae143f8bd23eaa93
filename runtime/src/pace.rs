//! How fast loops ran lately, on one thread and on several.
//!
//! Whether threads gain anything on a loop of some microseconds depends on what it reads, on whose
//! caches hold that, and on how fast these hand it on. No model knows all of it; the loop itself
//! tells, when it runs again. This chooses between ways that give the same bits.

use crate::abi::ChunkFn;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// So many loops are remembered, each with sizes that differ by no more than a factor of two.
const REMEMBERED: usize = 256;

/// Both ways are tried by turns in so many runs, and again from each power of two on: a thread that
/// somebody else kept from its work must not decide for all times …
const RUNS_BY_TURNS: u32 = 16;

/// … in so many only where it is clear which way is the faster one, since every second run is then
/// much slower than it could be …
const RUNS_TO_BE_CLEAR: u32 = 8;

/// … and each so many runs the one that seemed slower …
const RUNS_BETWEEN_TRIALS: u32 = 64;

/// … or is clearly.
const RUNS_BETWEEN_TRIALS_CLEAR: u32 = 256;

/// A way is tried so many times, one behind the other: first its threads get what others had in
/// their caches. Of 256 products of 8 by 8, which one thread takes 11 µs for, two take 9 behind a
/// run of one, and 7 behind one of their own.
const RUNS_OF_A_TRIAL: u32 = 2;

/// Of so many runs whose way is settled, the last ones are measured, as many as a trial has: to
/// look at the clock takes a tenth of what is run in 3 µs.
const RUNS_BETWEEN_MEASURES: u32 = 16;

// Trials are among them.
const _: () = assert!(RUNS_BETWEEN_TRIALS.is_multiple_of(RUNS_BETWEEN_MEASURES));
const _: () = assert!(RUNS_BETWEEN_TRIALS_CLEAR.is_multiple_of(RUNS_BETWEEN_MEASURES));

/// A run counts for so many times as slow as the others at most, however long it was disturbed.
const MOST_SLOWER: u32 = 4;

/// On how many threads a loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Alone,
    Shared,
}

/// The loops that ran lately.
#[derive(Debug)]
pub(crate) struct Paces(Box<[Pace]>);

/// How a loop of some size ran.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// Which loop, and which size; 0 where there is none.
    key: AtomicU64,
    runs: AtomicU32,
    /// How much it did when it ran last, in updates, or in statements where it counts none.
    work: AtomicU64,
    /// Whether it has counted updates.
    counts: AtomicBool,
    /// Picoseconds for one of these, by [`Way`]; 0 where that is not known.
    alone: AtomicU32,
    shared: AtomicU32,
}

impl Default for Paces {
    fn default() -> Self {
        Self((0..REMEMBERED).map(|_| Pace::default()).collect())
    }
}

impl Paces {
    /// Of the loop whose iterations `body` runs, with about so many statements. One that ran longer
    /// ago may be forgotten for it.
    pub(crate) fn of(&self, body: ChunkFn, statements: u64) -> &Pace {
        // Two loops with the same key would only be taken for each other.
        let size = u64::from(statements.max(1).ilog2());
        let key = (body as usize as u64)
            .wrapping_mul(64)
            .wrapping_add(size)
            .max(1);
        // The upper bits of such a product depend on all of the factor (Knuth, The Art of Computer
        // Programming, 6.4).
        let place = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - REMEMBERED.ilog2());
        let pace = &self.0[place as usize];
        if pace.key.swap(key, Ordering::Relaxed) != key {
            pace.runs.store(0, Ordering::Relaxed);
            pace.counts.store(false, Ordering::Relaxed);
            pace.forget();
        }
        pace
    }
}

impl Pace {
    /// What as much work as last time takes on one thread, or at most does by what it takes on
    /// `threads`; `None` when nobody knows. The loops of a nest that run at once are not all as
    /// long: tiles on a diagonal are one, then many, then one again, and nobody counts them
    /// beforehand.
    pub(crate) fn expected(&self, threads: usize) -> Option<Duration> {
        let [alone, shared] = self.paces().map(u64::from);
        let pace = match alone {
            0 => shared.saturating_mul(threads as u64),
            pace => pace,
        };
        let work = self.work.load(Ordering::Relaxed);
        (pace > 0).then(|| Duration::from_nanos(pace.saturating_mul(work) / 1000))
    }

    /// Counts a run on one thread for want of others, and says whether these should be there for
    /// the next ones: where it is not known that they gain nothing, and where that is to be found
    /// out again.
    pub(crate) fn wants_others(&self) -> bool {
        let [alone, shared] = self.paces();
        let runs = self.runs.fetch_add(1, Ordering::Relaxed);
        shared < alone || is_by_turns(runs, self.is_clear())
    }

    /// How to run it next, where both ways can be had: the way that was the faster one, and now and
    /// then the other.
    pub(crate) fn next(&self) -> Way {
        let [alone, shared] = self.paces();
        let runs = self.runs.fetch_add(1, Ordering::Relaxed);
        let is_clear = self.is_clear();
        let between = match is_clear {
            true => RUNS_BETWEEN_TRIALS_CLEAR,
            false => RUNS_BETWEEN_TRIALS,
        };
        let is_trial = runs % between >= between - RUNS_OF_A_TRIAL;
        let is_shared = match alone {
            0 => false,
            _ if is_by_turns(runs, is_clear) => runs / RUNS_OF_A_TRIAL % 2 == 1,
            _ => (shared < alone) != is_trial,
        };
        match is_shared {
            true => Way::Shared,
            false => Way::Alone,
        }
    }

    /// Whether to find out how long the run takes that was counted last.
    pub(crate) fn is_measured(&self) -> bool {
        let run = self.runs.load(Ordering::Relaxed).wrapping_sub(1);
        let is_last = run % RUNS_BETWEEN_MEASURES >= RUNS_BETWEEN_MEASURES - RUNS_OF_A_TRIAL;
        is_last || is_by_turns(run, self.is_clear())
    }

    /// Whether one way takes less than three quarters of the time of the other.
    fn is_clear(&self) -> bool {
        let paces = self.paces().map(u64::from);
        let [alone, shared] = paces;
        !paces.contains(&0) && alone.min(shared) * 4 < alone.max(shared) * 3
    }

    fn paces(&self) -> [u32; 2] {
        [&self.alone, &self.shared].map(|it| it.load(Ordering::Relaxed))
    }

    /// How much a run has done that made so many updates: these, or if bodies count none, as those
    /// of some kernels do, about so many statements.
    pub(crate) fn done(&self, updates: u64, statements: u64) -> u64 {
        if updates > 0 && !self.counts.swap(true, Ordering::Relaxed) {
            // What is known until now was measured in statements.
            self.forget();
        }
        match updates {
            0 if !self.counts.load(Ordering::Relaxed) => statements,
            _ => updates,
        }
    }

    fn forget(&self) {
        self.work.store(0, Ordering::Relaxed);
        self.alone.store(0, Ordering::Relaxed);
        self.shared.store(0, Ordering::Relaxed);
    }

    /// Keeps how much a whole run has done: the next one is expected to do as much.
    pub(crate) fn end(&self, work: u64) {
        if work > 0 {
            self.work.store(work, Ordering::Relaxed);
        }
    }

    /// Notes how long so much work took. What disturbs a run makes it slower: less time counts at
    /// once, more time by and by.
    pub(crate) fn note(&self, way: Way, work: u64, time: Duration) {
        let Some(work) = NonZeroU64::new(work) else {
            return;
        };
        let picoseconds = time.as_nanos().saturating_mul(1000) / u128::from(work.get());
        let new = u32::try_from(picoseconds).unwrap_or(u32::MAX).max(1);
        let pace = match way {
            Way::Alone => &self.alone,
            Way::Shared => &self.shared,
        };
        let mean = match pace.load(Ordering::Relaxed) {
            0 => new,
            old if new < old => new,
            old => {
                let more = new.min(old.saturating_mul(MOST_SLOWER)) - old;
                old.saturating_add((more / 8).max(1))
            }
        };
        pace.store(mean, Ordering::Relaxed);
    }
}

/// Whether both ways take turns in the run with this number, where it `is_clear` or not which one
/// is faster.
fn is_by_turns(run: u32, is_clear: bool) -> bool {
    let since = match run.checked_ilog2() {
        Some(power) if run >= RUNS_BY_TURNS => run - (1 << power),
        _ => run,
    };
    let enough = if is_clear {
        RUNS_TO_BE_CLEAR
    } else {
        RUNS_BY_TURNS
    };
    since < enough
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::Call;

    unsafe extern "C" fn body(
        _call: *mut Call,
        _frame: *const u64,
        _privates: *const *mut u8,
        _first: i64,
        _last: i64,
    ) -> u32 {
        0
    }

    #[test]
    fn the_faster_way_is_taken_once_both_are_known() {
        for (shared, faster) in [(5, Way::Shared), (20, Way::Alone)] {
            let paces = Paces::default();
            let pace = paces.of(body, 1000);
            assert_eq!((pace.next(), pace.expected(2)), (Way::Alone, None));
            pace.note(Way::Alone, 1000, Duration::from_micros(10));
            pace.end(2000);
            assert_eq!(pace.expected(2), Some(Duration::from_micros(20)));
            pace.note(Way::Shared, 1000, Duration::from_micros(shared));
            let next: Vec<_> = (1..512).map(|_| paces.of(body, 1000).next()).collect();
            let by_turns = [Way::Alone, Way::Shared, Way::Shared, Way::Alone];
            assert_eq!(next[..4], by_turns);
            assert_eq!(next[7..15], [faster; 8]);
            let others = next[300..500].iter().filter(|it| **it != faster);
            assert_eq!(others.count(), 0);
            assert_ne!(next[510], faster);
        }
    }

    #[test]
    fn what_is_settled_is_measured_now_and_then() {
        let pace = &Pace::default();
        pace.note(Way::Alone, 1000, Duration::from_micros(5));
        pace.note(Way::Shared, 1000, Duration::from_micros(20));
        let mut measured = 0;
        for run in 0..4096 {
            let way = pace.next();
            assert!(way == Way::Alone || pace.is_measured());
            assert!(run >= RUNS_TO_BE_CLEAR || pace.is_measured());
            measured += u32::from(pace.is_measured());
        }
        assert!((512..700).contains(&measured), "{measured}");
    }

    #[test]
    fn what_was_disturbed_once_is_tried_again() {
        let pace = &Pace::default();
        pace.note(Way::Alone, 1000, Duration::from_micros(10));
        pace.note(Way::Shared, 1000, Duration::from_millis(1));
        let wanted = (0..1024).filter(|_| pace.wants_others()).count();
        assert!((32..64).contains(&wanted), "{wanted}");
        pace.note(Way::Shared, 1000, Duration::from_micros(6));
        assert!(pace.wants_others());
    }

    #[test]
    fn what_gets_slower_is_believed_by_and_by() {
        let pace = &Pace::default();
        pace.end(1);
        pace.note(Way::Alone, 1 << 20, Duration::from_nanos(1));
        let slow = || pace.note(Way::Alone, 1, Duration::from_micros(10));
        slow();
        assert!(pace.expected(2) < Some(Duration::from_nanos(1)));
        (0..64).for_each(|_| slow());
        assert!(pace.expected(2) > Some(Duration::from_micros(9)));
    }

    #[test]
    fn statements_count_where_no_updates_are_counted() {
        let pace = &Pace::default();
        for _ in 0..2 {
            let done = pace.done(0, 500);
            assert_eq!(done, 500);
            pace.note(Way::Alone, done, Duration::from_micros(5));
            pace.end(done);
        }
        assert_eq!(pace.expected(2), Some(Duration::from_micros(5)));
        // From here on updates are what counts.
        assert_eq!(pace.done(70, 500), 70);
        assert_eq!(pace.expected(2), None);
        pace.end(70);
        assert_eq!(pace.done(0, 500), 0);
        pace.end(0);
        pace.note(Way::Alone, 70, Duration::from_micros(7));
        assert_eq!(pace.expected(2), Some(Duration::from_micros(7)));
    }

    #[test]
    fn sizes_are_remembered_apart() {
        let paces = Paces::default();
        paces
            .of(body, 1000)
            .note(Way::Alone, 1000, Duration::from_micros(1));
        assert_eq!(paces.of(body, 5000).expected(2), None);
        assert!(paces.of(body, 1001).expected(2).is_some());
    }

    #[test]
    fn nothing_overflows() {
        let paces = Paces::default();
        for work in [0, 1, u64::MAX] {
            let pace = paces.of(body, work);
            for time in [Duration::MAX, Duration::MAX, Duration::ZERO, Duration::MAX] {
                pace.note(Way::Alone, work, time);
            }
            pace.end(u64::MAX);
            // Of a run that did nothing there is nothing to be learnt.
            assert_eq!(pace.expected(2).is_some(), work > 0);
        }
    }
}
