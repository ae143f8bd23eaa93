//! A bar on standard error for what takes long, where a terminal shows it.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt::{self, Write};
use std::io::{self, IsTerminal, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use strew::Progress;
use strew::ir::visit::{Loop, walk};
use strew::ir::{Kernel, Node};

/// What ends before this has no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// The bar moves so often.
const STEP: Duration = Duration::from_millis(100);

/// How far something is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct State {
    /// What is counted.
    units: &'static str,
    done: u64,
    /// All that there is, where that is known.
    total: Option<u64>,
    /// For how long it has been done.
    elapsed: Duration,
}

/// Something that takes long.
pub(crate) trait Gauge: Sync {
    /// How far it is at `now`; `None` where nothing has begun, or nothing is known of it.
    fn state(&self, now: Instant) -> Option<State>;
}

/// How far calls of a kernel are, of which each does what the others do.
#[derive(Debug)]
pub(crate) struct Calls {
    progress: Progress,
    calls: u64,
    /// Whether a call knows all that it does as soon as it knows anything.
    begins_at_once: bool,
    began: Instant,
    /// The iterations of one call, once one has ended.
    of_one: AtomicU64,
}

impl Calls {
    /// The first of so many begins now, and tells `progress` how far it is.
    pub(crate) fn begin(kernel: &Kernel, calls: u32, progress: Progress) -> Self {
        Self {
            progress,
            calls: calls.into(),
            begins_at_once: begins_at_once(&kernel.body),
            began: Instant::now(),
            of_one: AtomicU64::new(0),
        }
    }

    /// One has ended. What the first did, all others do.
    pub(crate) fn pass(&self) {
        if self.of_one.load(Ordering::Relaxed) == 0 {
            self.of_one.store(self.progress.total(), Ordering::Relaxed);
        }
    }
}

impl Gauge for Calls {
    fn state(&self, now: Instant) -> Option<State> {
        let (done, begun) = (self.progress.done(), self.progress.total());
        // Behind them: a second call that begins in between would count twice.
        let of_one = match self.of_one.load(Ordering::Relaxed) {
            0 if self.begins_at_once => begun,
            it => it,
        };
        (begun > 0).then(|| State {
            units: "iterations",
            done,
            total: (of_one > 0).then(|| of_one.saturating_mul(self.calls).max(done)),
            elapsed: now.saturating_duration_since(self.began),
        })
    }
}

/// Whether the iterations of all loops are known when the first one begins: there is no other
/// behind it, and none that runs in parallel inside, where each begins anew.
fn begins_at_once(body: &[Node]) -> bool {
    let (mut outermost, mut begin_anew) = (0, false);
    walk(body, &mut |node, around| match around {
        [] => outermost += usize::from(Loop::of(node).is_some()),
        [Loop::Forall(_), ..] => {}
        _ => begin_anew |= matches!(node, Node::Forall(_)),
    });
    outermost == 1 && !begin_anew
}

/// How far reading, making or writing arrays is.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    begun: Mutex<Option<Begun>>,
    done: AtomicU64,
}

/// What is being done with an array.
#[derive(Clone, Copy, Debug)]
struct Begun {
    at: Instant,
    units: &'static str,
    /// 0 where it is not known.
    total: u64,
}

impl Meter {
    /// Something begins that has `total` parts, which are `units`; 0 where nobody knows how many
    /// there are.
    pub(crate) fn begin(&self, total: u64, units: &'static str) {
        self.begin_at(Instant::now(), total, units);
    }

    fn begin_at(&self, at: Instant, total: u64, units: &'static str) {
        let mut begun = self.begun();
        self.reach(0);
        *begun = Some(Begun { at, units, total });
    }

    /// All of it is done, and what comes next tells nothing of itself.
    pub(crate) fn end(&self) {
        *self.begun() = None;
    }

    fn begun(&self) -> MutexGuard<'_, Option<Begun>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// So many parts of it are done.
    pub(crate) fn reach(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
    }

    /// The part at `index` is next. Telling of each one would take longer than what is done with
    /// it.
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
    fn state(&self, now: Instant) -> Option<State> {
        let begun = self.begun();
        let Begun { at, units, total } = (*begun)?;
        let total = (total > 0).then_some(total);
        let done = self.done.load(Ordering::Relaxed);
        Some(State {
            units,
            done: done.min(total.unwrap_or(u64::MAX)),
            total,
            elapsed: now.saturating_duration_since(at),
        })
    }
}

/// How far calls are that are repeated until there are enough of them or a time is over.
#[derive(Debug)]
pub(crate) struct Turns {
    units: &'static str,
    began: Instant,
    within: Duration,
    done: AtomicU64,
    least: AtomicU64,
    most: AtomicU64,
}

impl Turns {
    /// They begin now, are called `units`, and none begins after `seconds`.
    pub(crate) fn within(seconds: f64, units: &'static str) -> Self {
        Self {
            units,
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
    fn state(&self, now: Instant) -> Option<State> {
        let done = self.done.load(Ordering::Relaxed);
        let most = self.most.load(Ordering::Relaxed);
        let least = self.least.load(Ordering::Relaxed).min(most);
        let elapsed = now.saturating_duration_since(self.began);
        let fitting = done as f64 * self.within.as_secs_f64() / elapsed.as_secs_f64().max(1e-9);
        (done > 0).then(|| State {
            units: self.units,
            done,
            total: Some((fitting as u64).clamp(least, most).max(done)),
            elapsed,
        })
    }
}

/// Whether standard error is a terminal that lines can be taken away from.
fn shows_bars() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|it| it != "dumb")
}

/// Takes a bar out of the way of a line that is written next; the bar comes back below it.
pub(crate) fn make_way() {
    if shows_bars() {
        // Nobody can be told where this cannot be written.
        let _ = io::stderr().write_all(b"\r\x1b[2K");
    }
}

/// Does `work`, which `gauge` tells how far it is, with a bar that is gone when it has ended.
pub(crate) fn with_bar<R>(gauge: &dyn Gauge, work: impl FnOnce() -> R) -> R {
    if !shows_bars() {
        return work();
    }
    let (ended, end) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if end.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let bar = bar();
                while end.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                    show(&bar, gauge.state(Instant::now()));
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
        ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_elapsed(PATIENCE);
    match ProgressStyle::with_template("{elapsed_precise} [{wide_bar}] {msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn show(bar: &ProgressBar, state: Option<State>) {
    match state.and_then(|it| it.total) {
        Some(total) => bar.set_length(total),
        // One of length 0 would be full.
        None => bar.unset_length(),
    }
    bar.set_position(state.map_or(0, |it| it.done));
    bar.set_message(state.map_or_else(String::new, |it| it.text()));
    bar.tick();
}

impl State {
    /// The rate, and what is left at that rate.
    fn text(&self) -> String {
        let per_second = self.done as f64 / self.elapsed.as_secs_f64().max(1e-9);
        let mut text = String::new();
        if let Some(total) = self.total {
            text = format!("{}%, ", (self.done as f64 * 100.0 / total as f64).floor());
        }
        // Writing to a `String` does not fail.
        let _ = rate(&mut text, per_second, self.units);
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

    fn text(gauge: &dyn Gauge, now: Instant) -> String {
        gauge
            .state(now)
            .map_or_else(String::new, |state| state.text())
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn what_is_left_follows_from_all_that_was_done() {
        let meter = Meter::default();
        let began = Instant::now();
        assert_eq!(text(&meter, began), "");
        meter.begin_at(began, 1000, "B");
        meter.reach(100);
        assert_eq!(
            text(&meter, began + seconds(2)),
            "10%, 50.0 B/s, 18 s to go"
        );
        meter.reach(500);
        assert_eq!(
            text(&meter, began + seconds(10)),
            "50%, 50.0 B/s, 10 s to go"
        );
    }

    #[test]
    fn what_came_before_does_not_slow_down_what_is_done() {
        let meter = Meter::default();
        let began = Instant::now();
        meter.begin_at(began, 1000, "B");
        meter.reach(1000);
        meter.begin_at(began + seconds(100), 800, "rows");
        let after = |time| text(&meter, began + seconds(100) + time);
        assert_eq!(after(seconds(1)), "0%, 0.0 rows/s");
        meter.reach(200);
        assert_eq!(after(seconds(2)), "25%, 100.0 rows/s, 6 s to go");
        meter.end();
        assert_eq!(after(seconds(3)), "");
    }

    #[test]
    fn a_length_that_nobody_knows_has_a_rate() {
        let meter = Meter::default();
        let began = Instant::now();
        meter.begin_at(began, 0, "B");
        meter.reach(3_000_000);
        assert_eq!(text(&meter, began + seconds(2)), "1.5 MB/s");
    }

    const ONE: &str = "affine.for i in 0..n { x[i] = 1 out[0] reduce(add) i }";
    const PARALLEL: &str = "scf.forall p in 0..n strategy(auto) { x[p] = p }";

    fn program(body: &str) -> strew::Kernel {
        let text = format!("kernel @k(n: i64, x: i64[n], out: i64[1]) {{ {body} }}");
        let program = strew::Compiler::new()
            .schedule(strew::Schedule::new())
            .compile("k.nest", &text);
        program.expect(body).kernel("k").expect("a kernel")
    }

    #[test]
    fn loops_begin_at_once_where_there_is_one() {
        let begin = |body: &str| begins_at_once(&program(body).compiled().kernel().body);
        assert!(begin(ONE));
        assert!(begin(PARALLEL));
        assert!(!begin(&format!("{ONE} {PARALLEL}")));
        assert!(!begin(&format!("affine.for t in 0..4 {{ {PARALLEL} }}")));
    }

    /// What is told while `calls` calls run one after the other: behind each of them, and before
    /// the last of those is over.
    fn told(body: &str, calls: u32) -> Vec<String> {
        let progress = Progress::new();
        let kernel = program(body).progress(progress.clone());
        let gauge = Calls::begin(kernel.compiled().kernel(), calls, progress);
        let look = || text(&gauge, gauge.began + seconds(1));
        assert_eq!(look(), "");
        let mut told = Vec::new();
        for _ in 0..calls {
            let (mut x, mut out) = ([0_i64; 100], [0_i64]);
            let call = kernel.bind().array_mut("x", &mut x);
            call.array_mut("out", &mut out).run().expect("a call");
            told.push(look());
            gauge.pass();
            told.push(look());
        }
        told
    }

    #[test]
    fn all_calls_are_known_once_one_of_them_is() {
        let quarter = "25%, 100.0 iterations/s, 3 s to go";
        assert_eq!(told(ONE, 4)[..2], [quarter; 2]);
        assert_eq!(
            told(ONE, 4).last().map(String::as_str),
            Some("100%, 400.0 iterations/s, 0 s to go")
        );
        // Nobody knows whether another loop is to begin before a call has ended.
        let half = "50%, 200.0 iterations/s, 1 s to go";
        assert_eq!(
            told(&format!("{ONE} affine.for j in 0..n {{ x[j] = 2 }}"), 2)[..2],
            ["200.0 iterations/s", half]
        );
    }

    #[test]
    fn turns_are_at_least_as_many_as_must_be_and_at_most_as_many_as_were_asked_for() {
        let counts = |turns: &Turns| {
            let state = turns.state(Instant::now());
            state.map(|it| (it.done, it.total.unwrap_or(0)))
        };
        let over = Turns::within(1e-9, "calls");
        over.expect(4, 20);
        assert_eq!(counts(&over), None);
        over.pass();
        assert!(over.is_over());
        assert_eq!(counts(&over), Some((1, 4)));
        (0..5).for_each(|_| over.pass());
        assert_eq!(counts(&over), Some((6, 6)));
        let endless = Turns::within(f64::MAX, "calls");
        endless.expect(4, 20);
        endless.pass();
        assert!(!endless.is_over());
        assert_eq!(counts(&endless), Some((1, 20)));
    }

    #[test]
    fn a_meter_never_has_more_than_all() {
        let meter = Meter::default();
        let counts = || {
            let state = meter.state(Instant::now());
            state.map(|it| (it.done, it.total))
        };
        assert_eq!(counts(), None);
        meter.begin(20_000, "elements");
        assert_eq!(meter.count(0..20_000).sum::<u64>(), 199_990_000);
        assert_eq!(counts(), Some((16_384, Some(20_000))));
        meter.reach(30_000);
        assert_eq!(counts(), Some((20_000, Some(20_000))));
    }
}
