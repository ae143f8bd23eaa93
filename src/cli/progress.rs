//! A bar on standard error for what takes long, where a terminal shows it.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::{self, Write};
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// What ends before this has no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// The bar moves so often.
const STEP: Duration = Duration::from_millis(100);

/// How much is done, and of how much; 0 of 0 where nothing is known.
pub(crate) trait Gauge: Sync {
    fn done_of_total(&self) -> (u64, u64);
}

impl Gauge for strew::Progress {
    fn done_of_total(&self) -> (u64, u64) {
        (self.done(), self.total())
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

/// Does `work`, which `gauge` tells how far it is, in so many `units`, with a bar that is gone when it has ended.
pub(crate) fn with_bar<R>(units: &'static str, gauge: &dyn Gauge, work: impl FnOnce() -> R) -> R {
    if !io::stderr().is_terminal() {
        return work();
    }
    let (ended, end) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if end.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let bar = bar(units);
                while end.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                    let (done, total) = gauge.done_of_total();
                    bar.set_length(total);
                    bar.set_position(done);
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

fn bar(units: &'static str) -> ProgressBar {
    let bar =
        ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr()).with_elapsed(PATIENCE);
    let with_rate = move |state: &ProgressState, text: &mut dyn Write| {
        // Writing to a `String` does not fail.
        let _ = rate(text, state.per_sec(), units);
    };
    let form = "{elapsed_precise} [{wide_bar}] {percent}%, {rate}, {eta} to go";
    match ProgressStyle::with_template(form) {
        Ok(style) => bar.with_style(style.with_key("rate", with_rate)),
        Err(_) => bar,
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
