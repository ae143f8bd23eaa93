//! Runs the variants of a cell by turns.

use crate::check::agree;
use crate::data::{Elements, Problem};
use crate::grid::Cell;
use crate::peers::Peers;
use crate::problems::{Scale, problem};
use crate::statistics::Spread;
use crate::variant::Variant;
use crate::{THREADS, by_hand};
use std::hint::black_box;
use std::time::{Duration, Instant};
use strew::{Compiler, Kernel, Record, Strategy};

/// How long and how often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) scale: Scale,
    /// A cell is measured for about so long …
    pub(crate) budget: Duration,
    /// … but in no fewer rounds and in no more.
    pub(crate) rounds: (usize, usize),
}

/// What takes so many times as long as the quickest is in no more rounds than there have to be.
const SLOW: f64 = 4.0;

/// Where the quickest run is shorter than this, all are repeated, and their middle counts: threads
/// that have slept take part of one to wake up, and a third cache that takes what others throw out
/// keeps an array only when it has been read two or three times.
const SHORT: f64 = 10e6;

/// How often at most.
const REPEATS: usize = 5;

/// A variant in a cell.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) variant: Variant,
    /// Nanoseconds, by round; `None` for a round that it was not in.
    pub(crate) times: Vec<Option<f64>>,
    /// What strew did.
    pub(crate) record: Option<Record>,
}

impl Measured {
    /// The time of its first round.
    fn first(&self) -> Option<f64> {
        self.times.first().copied().flatten()
    }
}

/// A cell after its rounds.
#[derive(Clone, Debug)]
pub(crate) struct Measurement {
    pub(crate) cell: Cell,
    pub(crate) variants: Vec<Measured>,
    pub(crate) updates: u64,
    /// Of all inputs, and of all outputs.
    pub(crate) bytes: (usize, usize),
    /// How often the kernel goes over them.
    pub(crate) passes: usize,
}

impl Measurement {
    /// Adds the rounds of `other`, of the same cell.
    pub(crate) fn extend(&mut self, other: Self) {
        let before = self.variants.iter().map(|it| it.times.len()).max();
        for mut found in other.variants {
            let same = self.variants.iter_mut();
            match same.into_iter().find(|it| it.variant == found.variant) {
                Some(measured) => measured.times.append(&mut found.times),
                None => {
                    let missed = vec![None; before.unwrap_or(0)];
                    found.times.splice(0..0, missed);
                    self.variants.push(found);
                }
            }
        }
    }
}

/// One run of one variant.
struct Run {
    nanoseconds: f64,
    record: Option<Record>,
}

/// A problem that is ready to run.
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
/// A wrong result, or whatever kept a variant from running that should.
pub(crate) fn measure(
    cell: Cell,
    peers: Option<&mut Peers>,
    effort: Effort,
) -> Result<Measurement, String> {
    let mut bench = Bench::new(cell, peers, effort.scale)?;
    let start = Instant::now();
    let mut variants = bench.first_round()?;
    let slow = slow(&variants);
    let repeats = repeats(&variants);
    let rounds = rounds(start.elapsed(), repeats, effort);
    // The first round makes machine code, gets memory, and tells what is slow.
    variants.iter_mut().for_each(|it| it.times.clear());
    for round in 0..rounds {
        for (measured, is_slow) in variants.iter_mut().zip(&slow) {
            let time = if *is_slow && round >= effort.rounds.0 {
                None
            } else {
                bench.run_repeatedly(measured.variant, repeats)?
            };
            measured.times.push(time);
        }
    }
    Ok(bench.measurement(variants))
}

/// Which variants are slow, by their first rounds.
fn slow(variants: &[Measured]) -> Vec<bool> {
    let most = quickest(variants) * SLOW;
    let is_slow = |it: &Measured| it.first().is_some_and(|time| time > most);
    variants.iter().map(is_slow).collect()
}

/// How often to run each variant in a round: all as often, since the runs behind the first find
/// more in the caches.
fn repeats(variants: &[Measured]) -> usize {
    let fitting = SHORT / quickest(variants).clamp(1.0, SHORT);
    (fitting as usize).clamp(1, REPEATS)
}

/// The shortest first run of all variants.
fn quickest(variants: &[Measured]) -> f64 {
    let first = variants.iter().filter_map(Measured::first);
    first.fold(f64::INFINITY, f64::min)
}

/// How many rounds there is time for, by the first one, in which each variant ran once.
fn rounds(first: Duration, repeats: usize, effort: Effort) -> usize {
    let (least, most) = effort.rounds;
    let round = first.as_secs_f64() * repeats as f64;
    let affordable = effort.budget.as_secs_f64() / round.max(1e-9);
    (affordable as usize).clamp(least, most)
}

impl<'p> Bench<'p> {
    fn new(cell: Cell, mut peers: Option<&'p mut Peers>, scale: Scale) -> Result<Self, String> {
        let problem = problem(&cell, scale)?;
        if let Some(peers) = &mut peers {
            peers.give(&cell.peer(), &problem)?;
        }
        let program = Compiler::new().compile("bench.c", problem.source.as_str());
        let kernel = program.and_then(|program| program.kernel(problem.function));
        Ok(Self {
            cell,
            outputs: problem.outputs().cloned().collect(),
            kernel: kernel.map_err(|error| error.to_string())?,
            problem,
            peers,
        })
    }

    /// Runs every variant once and compares what they compute with the first one that runs: C where
    /// there is a compiler, else strew's serial strategy.
    fn first_round(&mut self) -> Result<Vec<Measured>, String> {
        let mut expected: Option<Vec<Elements>> = None;
        let mut variants = Vec::new();
        for variant in Variant::ALL.into_iter().chain(Variant::strategies()) {
            let Some(run) = self.run(variant)? else {
                continue;
            };
            let wrong = |what| format!("{}: {}: {what}", self.cell.name, variant.name());
            let found = match (&mut self.peers, variant) {
                (Some(peers), Variant::C(_)) => &peers.outputs(&self.problem)?,
                _ => &self.outputs,
            };
            match &expected {
                Some(_) if variant == Variant::RACES => {}
                Some(expected) => agree(expected, found, variant.is_exact()).map_err(wrong)?,
                None => expected = Some(found.clone()),
            }
            // A short run may have taken most of its time to make machine code.
            let again = match run.nanoseconds < SHORT {
                true => self.run(variant)?,
                false => None,
            };
            let run = again.unwrap_or(run);
            variant.wait_for_threads();
            variants.push(Measured {
                variant,
                times: vec![Some(run.nanoseconds)],
                record: run.record,
            });
        }
        Ok(variants)
    }

    /// The middle of several runs that follow each other.
    fn run_repeatedly(&mut self, variant: Variant, repeats: usize) -> Result<Option<f64>, String> {
        let runs = (0..repeats).map(|_| self.run(variant));
        let runs = runs.collect::<Result<Option<Vec<_>>, String>>()?;
        variant.wait_for_threads();
        let times = runs.into_iter().flatten().map(|run| run.nanoseconds);
        Ok(Spread::of(times).map(|it| it.median))
    }

    /// Sets the outputs, reads all inputs, so that each run begins with the same state of the
    /// caches, and runs.
    fn run(&mut self, variant: Variant) -> Result<Option<Run>, String> {
        if let Variant::C(way) = variant {
            let Some(peers) = &mut self.peers else {
                return Ok(None);
            };
            let run = |nanoseconds| Run {
                nanoseconds,
                record: None,
            };
            return Ok(peers.run(way.name(), 1)?.map(run));
        }
        for (output, initial) in self.outputs.iter_mut().zip(self.problem.outputs()) {
            output.copy_from(initial);
        }
        let read = |sum, elements: &Elements| sum ^ elements.read();
        black_box(self.problem.inputs().fold(0, read));
        match variant {
            Variant::Strew { .. } => self.run_strew(variant),
            _ => Ok(self.run_by_hand()),
        }
    }

    fn run_by_hand(&mut self) -> Option<Run> {
        let start = Instant::now();
        by_hand::run(self.cell.kernel, &self.problem, &mut self.outputs)?;
        Some(Run {
            nanoseconds: start.elapsed().as_secs_f64() * 1e9,
            record: None,
        })
    }

    /// `None` where the strategy that is asked for does not run, since the loop or its schedule has
    /// no use for it.
    fn run_strew(&mut self, variant: Variant) -> Result<Option<Run>, String> {
        let Variant::Strew {
            strategy,
            mode,
            threads,
        } = variant
        else {
            return Ok(None);
        };
        let chosen = strategy.unwrap_or("auto").parse::<Strategy>();
        let chosen = chosen.map_err(|error| error.to_string())?;
        let start = Instant::now();
        let call = self.problem.bind(&self.kernel, &mut self.outputs);
        let call = call.threads(threads).mode(mode).strategy(chosen);
        let report = call.run_with_report();
        let nanoseconds = start.elapsed().as_secs_f64() * 1e9;
        let record = match report {
            Ok(report) => report.record,
            Err(strew::Error::Failure(strew::Failure::Refused(_))) => return Ok(None),
            Err(error) => return Err(format!("{}: {error}", self.cell.name)),
        };
        let is_other = strategy.is_some_and(|name| name != record.strategy && threads == THREADS);
        Ok((!is_other).then_some(Run {
            nanoseconds,
            record: Some(record),
        }))
    }

    fn measurement(self, variants: Vec<Measured>) -> Measurement {
        let records = variants.iter().filter_map(|it| it.record);
        Measurement {
            cell: self.cell,
            updates: records.map(|it| it.updates).max().unwrap_or(0),
            passes: self.problem.size("iters").unwrap_or(1),
            bytes: (
                self.problem.inputs().map(Elements::bytes).sum(),
                self.problem.outputs().map(Elements::bytes).sum(),
            ),
            variants,
        }
    }
}
