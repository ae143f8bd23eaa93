//! Runs the variants of a cell by turns.

use crate::check::agree;
use crate::data::{Elements, Problem};
use crate::kernels::{LEVELS, Nest};
use crate::peers::Peers;
use crate::problem::problem;
use crate::statistics::Spread;
use crate::variant::Variant;
use std::hint::black_box;
use std::time::{Duration, Instant};
use strew::{Compiler, Kernel};

/// A kernel in a size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) nest: &'static Nest,
    /// Of [`LEVELS`].
    pub(crate) level: usize,
}

impl Cell {
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.nest.name, self.level())
    }

    pub(crate) fn level(&self) -> &'static str {
        LEVELS[self.level]
    }
}

/// How long, and whether on little data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) is_smoke: bool,
    /// A cell is measured for about so long …
    pub(crate) budget: Duration,
    /// … but in no fewer rounds and in no more.
    pub(crate) rounds: (usize, usize),
}

/// The times of a cell, in nanoseconds a run.
#[derive(Clone, Debug)]
pub(crate) struct Measurement {
    pub(crate) cell: Cell,
    /// By variant, and by round.
    pub(crate) times: Vec<(Variant, Vec<f64>)>,
}

impl Measurement {
    /// How many times faster `variant` is than `base`, by rounds.
    pub(crate) fn speedup(&self, base: Variant, variant: Variant) -> Option<Spread> {
        let (base, times) = (self.times(base)?, self.times(variant)?);
        Spread::of(base.iter().zip(times).map(|(base, time)| base / time))
    }

    /// The share of the products and sums in vectors of 128 bits that a processor can do which a
    /// product of matrices does in mode `fast` on one thread, by rounds: a processor that also
    /// works for others can do fewer, now and then.
    pub(crate) fn share_of_peak(&self) -> Option<Spread> {
        let operations = self.cell.nest.operations(self.cell.level)?;
        let (peak, fast) = (self.times(Variant::PEAK)?, self.times(Variant::FAST)?);
        let rounds = peak.iter().zip(fast);
        Spread::of(rounds.map(|(peak, fast)| operations / fast / (PEAK_OPERATIONS / peak)))
    }

    /// Nanoseconds.
    pub(crate) fn time(&self, variant: Variant) -> Option<f64> {
        let times = self.times(variant)?;
        Some(Spread::of(times.iter().copied())?.median)
    }

    fn times(&self, variant: Variant) -> Option<&[f64]> {
        let mut found = self.times.iter();
        let found = found.find(|(it, _)| *it == variant);
        found.map(|(_, times)| times.as_slice())
    }
}

/// What is run so often that it takes about as long as this counts as one round: clocks and pipes
/// cost nothing then.
const ROUND: Duration = Duration::from_millis(2);

/// What [`Variant::PEAK`] multiplies and adds in one run, in vectors of two, twelve a round.
const PEAK_OPERATIONS: f64 = (PEAK_ROUNDS * 12 * 2 * 2) as f64;
/// As `peers/nests_ways.c` has them.
const PEAK_ROUNDS: usize = 1 << 20;

struct Bench<'p> {
    cell: Cell,
    problem: Problem,
    kernel: Kernel,
    outputs: Vec<Elements>,
    peers: Option<&'p mut Peers>,
}

/// Measures `cell`.
///
/// # Errors
/// A wrong result, or whatever kept a variant from running.
pub(crate) fn measure(
    cell: Cell,
    peers: Option<&mut Peers>,
    effort: Effort,
) -> Result<Measurement, String> {
    let mut bench = Bench::new(cell, peers)?;
    let variants = bench.check()?;
    let round = ROUND.as_secs_f64() * 1e9;
    let all: f64 = variants.iter().map(|(_, time)| time.max(round)).sum();
    let affordable = effort.budget.as_secs_f64() * 1e9 / all;
    let rounds = (affordable as usize).clamp(effort.rounds.0, effort.rounds.1);
    let mut times: Vec<(Variant, Vec<f64>)> =
        variants.iter().map(|(it, _)| (*it, vec![])).collect();
    for _ in 0..rounds {
        for ((variant, times), (_, time)) in times.iter_mut().zip(&variants) {
            let repeats = (round / time.max(1.0)).ceil() as usize;
            times.extend(bench.run(*variant, repeats)?);
        }
    }
    Ok(Measurement { cell, times })
}

impl<'p> Bench<'p> {
    fn new(cell: Cell, mut peers: Option<&'p mut Peers>) -> Result<Self, String> {
        let nest = cell.nest;
        let problem = problem(nest, nest.scalars[cell.level])?;
        if let Some(peers) = &mut peers {
            peers.give(nest.function, &problem)?;
        }
        let program = Compiler::new().compile(nest.function, nest.source);
        let kernel = program.and_then(|program| program.kernel(nest.function));
        Ok(Self {
            cell,
            outputs: problem.outputs().cloned().collect(),
            kernel: kernel.map_err(|error| error.to_string())?,
            problem,
            peers,
        })
    }

    /// Runs every variant and compares what it computes with the loop as it was written, rounding
    /// where it says so; the times are those of a second run.
    fn check(&mut self) -> Result<Vec<(Variant, f64)>, String> {
        let mut variants = Vec::new();
        let plain = self.run(Variant::PLAIN, 1)?;
        let expected = match &mut self.peers {
            Some(peers) if plain.is_some() => Some(peers.outputs(&self.problem)?),
            _ => None,
        };
        for variant in Variant::ALL {
            if self.run(variant, 1)?.is_none() {
                continue;
            }
            let found = match (&mut self.peers, variant) {
                (Some(peers), Variant::Peer(_)) => &peers.outputs(&self.problem)?,
                _ => &self.outputs,
            };
            if let Some(expected) = &expected {
                let wrong = |what| format!("{}: {}: {what}", self.cell.name(), variant.name());
                agree(expected, found, variant.is_exact()).map_err(wrong)?;
            }
            variants.extend(self.run(variant, 1)?.map(|time| (variant, time)));
        }
        if self.cell.nest.operations(self.cell.level).is_some() {
            let peak = self.run(Variant::PEAK, 1)?;
            variants.extend(peak.map(|time| (Variant::PEAK, time)));
        }
        Ok(variants)
    }

    /// Nanoseconds of a run, the mean of some. Before each the outputs are set and all inputs are
    /// read, so that each begins with the same state of the caches.
    fn run(&mut self, variant: Variant, repeats: usize) -> Result<Option<f64>, String> {
        let (mode, threads) = match variant {
            Variant::Peer(way) => {
                return match &mut self.peers {
                    Some(peers) => peers.run(way, repeats),
                    None => Ok(None),
                };
            }
            Variant::Strew { mode, threads } => (mode, threads),
        };
        let kernel = self.kernel.clone().threads(threads).mode(mode);
        let mut time = Duration::ZERO;
        for _ in 0..repeats {
            for (output, initial) in self.outputs.iter_mut().zip(self.problem.outputs()) {
                output.copy_from(initial);
            }
            let read = |sum, elements: &Elements| sum ^ elements.read();
            black_box(self.problem.inputs().fold(0, read));
            let start = Instant::now();
            let result = self.problem.bind(&kernel, &mut self.outputs).run();
            time += start.elapsed();
            result.map_err(|error| format!("{}: {error}", self.cell.name()))?;
        }
        Ok(Some(time.as_secs_f64() * 1e9 / repeats as f64))
    }
}
