//! A bar on standard error for what takes long, where a terminal shows it.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt::{self, Write};
use std::io::{self, IsTerminal, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// What ends before this has no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// The bar moves so often.
const STEP: Duration = Duration::from_millis(100);

/// How much is done, and of how much; 0 of 0 where nothing is known.
pub(crate) trait Gauge: Sync {
    fn done_of_total(&self) -> (u64, u64);

    /// Whether all is what is known of so far, and more comes to it: then nobody can tell how much is left.
    fn may_grow(&self) -> bool {
        false
    }
}

impl Gauge for strew::Progress {
    fn done_of_total(&self) -> (u64, u64) {
        (self.done(), self.total())
    }

    /// Loops around parallel ones begin these one after the other.
    fn may_grow(&self) -> bool {
        true
    }
}

/// How far reading, making or writing arrays is.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    done: AtomicU64,
    total: AtomicU64,
}

impl Meter {
    /// Something begins that has `total` parts.
    pub(crate) fn begin(&self, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    /// So many parts of it are done.
    pub(crate) fn reach(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
    }

    /// The part at `index` is next. Telling of each one would take longer than what is done with it.
    pub(crate) fn pass(&self, index: u64) {
        if index.is_multiple_of(1 << 14) {
            self.reach(index);
        }
    }

    /// The items of `items`, counted, after having begun.
    pub(crate) fn count<'m, I: Iterator + 'm>(
        &'m self,
        items: I,
    ) -> impl Iterator<Item = I::Item> + 'm {
        items.zip(0..).map(|(item, index)| {
            self.pass(index);
            item
        })
    }
}

impl Gauge for Meter {
    fn done_of_total(&self) -> (u64, u64) {
        let total = self.total.load(Ordering::Relaxed);
        (self.done.load(Ordering::Relaxed).min(total), total)
    }
}

/// How far calls are that are repeated until there are enough of them or a time is over.
#[derive(Debug)]
pub(crate) struct Turns {
    began: Instant,
    within: Duration,
    done: AtomicU64,
    least: AtomicU64,
    most: AtomicU64,
}

impl Turns {
    /// They begin now, and none does after `seconds`.
    pub(crate) fn within(seconds: f64) -> Self {
        Self {
            began: Instant::now(),
            within: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX),
            done: AtomicU64::new(0),
            least: AtomicU64::new(0),
            most: AtomicU64::new(u64::MAX),
        }
    }

    /// There will be `least` of them however long they take, and `most` at the most.
    pub(crate) fn expect(&self, least: usize, most: usize) {
        self.least.store(least as u64, Ordering::Relaxed);
        self.most.store(most as u64, Ordering::Relaxed);
    }

    /// Another one is done.
    pub(crate) fn pass(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether the time is over.
    pub(crate) fn is_over(&self) -> bool {
        self.has_passed(1.0)
    }

    /// Whether this share of the time is over.
    pub(crate) fn has_passed(&self, share: f64) -> bool {
        self.began.elapsed().as_secs_f64() >= self.within.as_secs_f64() * share
    }
}

impl Gauge for Turns {
    /// All are as many as fit into the time if each takes what those before did.
    fn done_of_total(&self) -> (u64, u64) {
        let done = self.done.load(Ordering::Relaxed);
        let most = self.most.load(Ordering::Relaxed);
        let least = self.least.load(Ordering::Relaxed).min(most);
        let elapsed = self.began.elapsed().as_secs_f64().max(1e-9);
        let fitting = done as f64 * self.within.as_secs_f64() / elapsed;
        match done {
            0 => (0, 0),
            _ => (done, (fitting as u64).clamp(least, most).max(done)),
        }
    }
}

/// Takes a bar out of the way of a line that is written next; the bar comes back below it.
pub(crate) fn make_way() {
    if io::stderr().is_terminal() {
        // Nobody can be told where this cannot be written.
        let _ = io::stderr().write_all(b"\r\x1b[2K");
    }
}

/// Does `work`, which `gauge` tells how far it is, in so many `units`, with a bar that is gone when it has ended.
pub(crate) fn with_bar<R>(units: &'static str, gauge: &dyn Gauge, work: impl FnOnce() -> R) -> R {
    if !io::stderr().is_terminal() {
        return work();
    }
    let (ended, end) = channel::<()>();
    let began = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if end.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let bar = bar();
                let mut seen = Seen::default();
                while end.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                    seen.look(gauge);
                    bar.set_length(seen.total.unwrap_or(0));
                    bar.set_position(seen.done);
                    bar.set_message(seen.text(began.elapsed(), units));
                    bar.tick();
                }
                bar.finish_and_clear();
            }
        });
        let outcome = work();
        drop(ended);
        outcome
    })
}

fn bar() -> ProgressBar {
    let bar =
        ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr()).with_elapsed(PATIENCE);
    match ProgressStyle::with_template("{elapsed_precise} [{wide_bar}] {msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// What is known of how far something is.
#[derive(Debug, Default)]
struct Seen {
    done: u64,
    /// All that there is, where that is known.
    total: Option<u64>,
    /// What was all that there is in the look before.
    before: u64,
    has_grown: bool,
}

impl Seen {
    fn look(&mut self, gauge: &dyn Gauge) {
        let (done, total) = gauge.done_of_total();
        self.has_grown |= gauge.may_grow() && self.before > 0 && total > self.before;
        // What may still grow has to have stayed as it was from one look to the next.
        let is_known = total > 0 && !self.has_grown && (!gauge.may_grow() || self.before == total);
        self.before = total;
        self.done = done;
        self.total = is_known.then_some(total);
    }

    /// The rate since it began `elapsed` ago, and what is left at that rate.
    fn text(&self, elapsed: Duration, units: &str) -> String {
        let per_second = self.done as f64 / elapsed.as_secs_f64().max(1e-9);
        let mut text = String::new();
        if let Some(total) = self.total {
            text = format!("{}%, ", (self.done as f64 * 100.0 / total as f64).floor());
        }
        // Writing to a `String` does not fail.
        let _ = rate(&mut text, per_second, units);
        if let Some(total) = self.total
            && self.done > 0
        {
            let left = total.saturating_sub(self.done) as f64 / per_second;
            let _ = write!(text, ", {} s to go", left.ceil());
        }
        text
    }
}

/// How many units are done in a second.
fn rate(text: &mut dyn Write, per_second: f64, units: &str) -> fmt::Result {
    let (number, scale) = match per_second {
        it if it >= 1e9 => (it / 1e9, " G"),
        it if it >= 1e6 => (it / 1e6, " M"),
        it if it >= 1e3 => (it / 1e3, " k"),
        it => (it, " "),
    };
    write!(text, "{number:.1}{scale}{units}/s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_short() {
        let text = |per_second| {
            let mut text = String::new();
            rate(&mut text, per_second, "B").expect("a string takes all");
            text
        };
        assert_eq!(text(12.34), "12.3 B/s");
        assert_eq!(text(250_000_000.0), "250.0 MB/s");
        assert_eq!(text(2.5e9), "2.5 GB/s");
    }

    #[test]
    fn what_is_left_follows_from_all_that_was_done() {
        let meter = Meter::default();
        meter.begin(1000);
        meter.reach(100);
        let mut seen = Seen::default();
        seen.look(&meter);
        let text = seen.text(Duration::from_secs(2), "B");
        assert_eq!(text, "10%, 50.0 B/s, 18 s to go");
        meter.reach(500);
        seen.look(&meter);
        let text = seen.text(Duration::from_secs(10), "B");
        assert_eq!(text, "50%, 50.0 B/s, 10 s to go");
    }

    #[test]
    fn nothing_is_told_of_what_is_left_where_more_comes_to_it() {
        struct Growing(AtomicU64);
        impl Gauge for Growing {
            fn done_of_total(&self) -> (u64, u64) {
                let total = self.0.load(Ordering::Relaxed);
                (total / 2, total)
            }
            fn may_grow(&self) -> bool {
                true
            }
        }
        let gauge = Growing(AtomicU64::new(100));
        let mut seen = Seen::default();
        let mut look = |total| {
            gauge.0.store(total, Ordering::Relaxed);
            seen.look(&gauge);
            seen.text(Duration::from_secs(1), "B")
        };
        assert_eq!(look(100), "50.0 B/s");
        assert_eq!(look(100), "50%, 50.0 B/s, 1 s to go");
        assert_eq!(look(200), "100.0 B/s");
        assert_eq!(look(200), "100.0 B/s");
    }

    #[test]
    fn turns_are_at_least_as_many_as_must_be_and_at_most_as_many_as_were_asked_for() {
        let over = Turns::within(1e-9);
        over.expect(4, 20);
        assert_eq!(over.done_of_total(), (0, 0));
        over.pass();
        assert!(over.is_over());
        assert_eq!(over.done_of_total(), (1, 4));
        (0..5).for_each(|_| over.pass());
        assert_eq!(over.done_of_total(), (6, 6));
        let endless = Turns::within(f64::MAX);
        endless.expect(4, 20);
        endless.pass();
        assert!(!endless.is_over());
        assert_eq!(endless.done_of_total(), (1, 20));
    }

    #[test]
    fn a_meter_never_has_more_than_all() {
        let meter = Meter::default();
        assert_eq!(meter.done_of_total(), (0, 0));
        meter.begin(20_000);
        assert_eq!(meter.count(0..20_000).sum::<u64>(), 199_990_000);
        assert_eq!(meter.done_of_total(), (16_384, 20_000));
        meter.reach(30_000);
        assert_eq!(meter.done_of_total(), (20_000, 20_000));
    }
}
