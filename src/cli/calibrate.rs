//! `strew calibrate`: measures what work costs on this machine, on data of its own, and keeps it
//! for later runs.

use crate::cli::args::Calibrate;
use crate::cli::calibration;
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use std::fmt::Write as _;
use std::time::Duration;
use strew::{
    Body, Caches, Calibration, Compiler, Error, Failure as CallFailure, Kernel, LINES, Record,
    Strategy,
};

/// The loop that is measured.
const SCATTER_ADD: &str = "
void scatter_add(int64_t n, int32_t m, const int32_t key[n], const double w[n], double out[m]) {
  for (int64_t i = 0; i < n; i++)
    out[key[i]] += w[i];
}";

/// So many updates are one measurement …
const UPDATES: usize = 1 << 21;

/// … and that so often, of which the median counts.
const REPEATS: usize = 5;

/// Few updates, which take no time beside what else there is to do.
const FEW: usize = 1 << 12;

/// Threads are woken so often, each time after a pause that is longer than they look out for work
/// before they sleep.
const WAKINGS: usize = 41;
const PAUSE: Duration = Duration::from_millis(3);

/// Nanoseconds. No threads are woken in less, whatever the clock says.
const LEAST_SHARE: f64 = 1000.0;

/// Bytes of a key's output.
const ELEMENT: u64 = size_of::<f64>() as u64;

pub(crate) fn calibrate(flags: &Calibrate, console: &mut Console) -> Result<(), Failure> {
    let place = match calibration::place() {
        Some(place) => Some(place),
        None if flags.dry_run => None,
        None => {
            let why = "there is nowhere to keep costs: STREW_CALIBRATION is empty, or neither it nor HOME names a place; --dry-run prints them";
            return Err(Failure::usage(why));
        }
    };
    let caches = Caches::of_this_machine();
    let costs = Measuring::new()?.costs(caches)?;
    if flags.json {
        console.data(&calibration::line(&costs))?;
    } else {
        console.data(&table(&costs, caches))?;
    }
    if let Some(place) = place.filter(|_| !flags.dry_run) {
        calibration::keep(&costs, &place)?;
        console.talk(&format!("kept in {}", place.display()));
    }
    Ok(())
}

/// Each cost with what it means.
fn table(costs: &Calibration, caches: Caches) -> String {
    let one = |name: &str, cost: f64, what: &str| format!("{name:<16}{cost:>12.3} ns  {what}\n");
    let mut text = one(
        "update",
        costs.update,
        "an update of an element in a near cache, key and value read from memory",
    );
    text += &one(
        "wait",
        costs.wait,
        "more, when it waits for the update before it",
    );
    text += &one("run", costs.run, "more, when that is in a register");
    for (cost, size) in costs.lines.iter().zip(sizes(caches)) {
        let name = format!("line {}", Size(size));
        text += &one(
            &name,
            *cost,
            "more, when outputs of this size are updated anywhere",
        );
    }
    text += &one(
        "sort",
        costs.sort,
        "to sort an update by ranges of outputs, and to apply it",
    );
    text += &one(
        "merge",
        costs.merge,
        "to fill and to merge an element of a private copy",
    );
    text += &one(
        "share",
        costs.share,
        "to wake threads and to wait for them, twice",
    );
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "caches          {} first, {} second, {} last",
        Size(caches.first),
        Size(caches.second),
        Size(caches.last)
    );
    text
}

/// A number of bytes in the unit that suits it.
struct Size(u64);

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            bytes if bytes >= 1 << 20 => write!(f, "{} MiB", bytes >> 20),
            bytes => write!(f, "{} KiB", bytes >> 10),
        }
    }
}

/// The sizes of outputs for which the cost of a line is measured.
fn sizes(caches: Caches) -> impl Iterator<Item = u64> {
    let least = (caches.second / 4).max(1 << 10);
    (0..LINES).map(move |number| least << number)
}

/// How a loop is to run.
#[derive(Clone, Copy)]
struct How {
    strategy: &'static str,
    body: Body,
    /// As many as there are where 0.
    threads: usize,
    /// How often, and how long after the time before.
    repeats: usize,
    pause: Duration,
}

impl How {
    const SERIAL: Self = Self {
        strategy: "serial",
        body: Body::Direct,
        threads: 1,
        repeats: REPEATS,
        pause: Duration::ZERO,
    };
}

/// A kernel and the data that it is measured on.
struct Measuring {
    kernel: Kernel,
    random: Vec<u32>,
    weights: Vec<f64>,
}

impl Measuring {
    fn new() -> Result<Self, Error> {
        let program = Compiler::new().compile("scatter_add.c", SCATTER_ADD)?;
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut number = |_| {
            // The high bits of a generator of Knuth's.
            state = state.wrapping_mul(6_364_136_223_846_793_005);
            state = state.wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) as u32
        };
        Ok(Self {
            kernel: program.kernel("scatter_add")?,
            random: (0..UPDATES).map(&mut number).collect(),
            weights: vec![1.0; UPDATES],
        })
    }

    /// Keys anywhere below `outputs`.
    fn keys(&self, outputs: usize) -> Vec<i32> {
        let random = self.random.iter();
        let keys = random.map(|it| (u64::from(*it) * outputs as u64) >> 32);
        keys.map(|it| it as i32).collect()
    }

    fn costs(&self, caches: Caches) -> Result<Calibration, Error> {
        let near = elements(caches.second / 8);
        let keys = self.keys(near);
        let update = self.each(&keys, near, How::SERIAL)?;
        let constant = vec![0; UPDATES];
        let in_register = How {
            body: Body::RunLength,
            ..How::SERIAL
        };
        let more = |each: f64| (each - update).max(0.0);
        Ok(Calibration {
            update,
            wait: more(self.each(&constant, near, How::SERIAL)?),
            run: more(self.each(&constant, near, in_register)?),
            lines: self.lines(update, caches)?,
            sort: self.sort(caches)?,
            merge: self.merge(caches)?,
            share: self.share()?,
        })
    }

    /// What a line costs for each size, never less than for a smaller one; as much as for the
    /// largest that there is memory for.
    fn lines(&self, update: f64, caches: Caches) -> Result<[f64; LINES], Error> {
        let mut lines = [0.0; LINES];
        let mut most = 0.0_f64;
        for (line, size) in lines.iter_mut().zip(sizes(caches)) {
            let outputs = elements(size);
            match self.each(&self.keys(outputs), outputs, How::SERIAL) {
                Ok(each) => most = most.max(each - update),
                Err(Error::Failure(_)) => {}
                Err(error) => return Err(error),
            }
            *line = most;
        }
        Ok(lines)
    }

    /// On outputs beyond the second cache by far.
    fn sort(&self, caches: Caches) -> Result<f64, Error> {
        let outputs = elements(caches.second * 32);
        let how = How {
            strategy: "binned",
            ..How::SERIAL
        };
        self.each(&self.keys(outputs), outputs, how)
    }

    fn merge(&self, caches: Caches) -> Result<f64, Error> {
        let outputs = elements(caches.second * 2);
        let how = How {
            strategy: "dense",
            ..How::SERIAL
        };
        let keys = self.keys(outputs);
        let (time, chunks) = self.time(keys.get(..FEW).unwrap_or(&[]), outputs, how, working)?;
        let elements = outputs as f64 * chunks.max(1) as f64;
        Ok(time / elements)
    }

    /// What all threads, but for one asleep when they are called, take longer than one for next to
    /// nothing.
    fn share(&self) -> Result<f64, Error> {
        const OUTPUTS: usize = 64;
        let keys = self.keys(OUTPUTS);
        let keys = keys.get(..FEW).unwrap_or(&[]);
        let dense = |threads| How {
            strategy: "dense",
            threads,
            repeats: WAKINGS,
            pause: PAUSE,
            ..How::SERIAL
        };
        let (alone, _) = self.time(keys, OUTPUTS, dense(1), |it| it.total)?;
        let (together, _) = self.time(keys, OUTPUTS, dense(0), |it| it.total)?;
        Ok((together - alone).max(LEAST_SHARE))
    }

    /// Nanoseconds of one update.
    fn each(&self, keys: &[i32], outputs: usize, how: How) -> Result<f64, Error> {
        let (time, _) = self.time(keys, outputs, how, working)?;
        Ok(time / keys.len().max(1) as f64)
    }

    /// The median of `what` in nanoseconds, and in how many parts the loop ran.
    fn time(
        &self,
        keys: &[i32],
        outputs: usize,
        how: How,
        what: fn(&Record) -> Duration,
    ) -> Result<(f64, u64), Error> {
        let mut out = Vec::new();
        let bytes = outputs as u64 * ELEMENT;
        out.try_reserve_exact(outputs)
            .map_err(|_| Error::Failure(CallFailure::OutOfMemory { bytes }))?;
        out.resize(outputs, 0.0);
        let weights = self.weights.get(..keys.len()).unwrap_or(&[]);
        let mut times = Vec::with_capacity(how.repeats);
        let mut chunks = 0;
        // The first one makes machine code and touches memory.
        for round in 0..=how.repeats {
            std::thread::sleep(how.pause);
            let strategy = Strategy::named().find(|it| it.to_string() == how.strategy);
            let call = self.kernel.bind().array("key", keys).array("w", weights);
            let call = call.array_mut("out", &mut out).body(how.body);
            let call = call.strategy(strategy.unwrap_or_default());
            let report = call.threads(how.threads).run_with_report()?;
            chunks = report.record.chunks;
            if round > 0 {
                times.push(what(&report.record).as_secs_f64() * 1e9);
            }
        }
        times.sort_by(f64::total_cmp);
        let median = times.get(how.repeats / 2).copied();
        Ok((median.unwrap_or_default(), chunks))
    }
}

/// All but getting memory.
fn working(record: &Record) -> Duration {
    record.main + record.merge
}

/// How many outputs take so many bytes.
fn elements(bytes: u64) -> usize {
    (bytes / ELEMENT).clamp(1, i32::MAX as u64) as usize
}
