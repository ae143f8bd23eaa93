//! Variants take turns: what the machine does besides hits all of them alike, and ratios are of
//! times from the same round.

use super::compare::difference;
use super::variant::{Runner, SERIAL, Variant};
use crate::cli::args::Assignment;
use crate::cli::failure::Failure;
use crate::cli::job::{Arrays, Data};
use crate::cli::progress::Turns;
use crate::cli::statistics::Spread;
use serde::Serialize;
use std::time::Duration;
use strew::Error;

/// The times of each variant, in seconds, one of each in every round.
pub(crate) type Rounds = Vec<Vec<f64>>;

/// Variants on the same data.
#[derive(Debug)]
pub(crate) struct Contest {
    data: Data,
    /// What the last call of strew counted.
    updates: u64,
    /// What the loop as it is written came to.
    expected: Arrays,
}

/// A variant and what was measured of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Row {
    pub(crate) variant: String,
    pub(crate) strategy: Option<String>,
    pub(crate) mode: Option<&'static str>,
    pub(crate) threads: usize,
    pub(crate) median_seconds: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Of how many rounds the median and the quarters are.
    pub(crate) rounds: usize,
    pub(crate) ns_per_update: Option<f64>,
    pub(crate) private_bytes: Option<u64>,
    /// The median of ratios within a round.
    pub(crate) speedup_over_serial: f64,
    /// The value of the scalar that varies.
    pub(crate) at: Option<String>,
    pub(crate) updates: u64,
    pub(crate) output_bytes: u64,
    /// What of its results is not that of the loop as it is written, beyond what grouping changes.
    pub(crate) differs: Option<String>,
}

impl Contest {
    pub(crate) fn new(data: Data) -> Self {
        Self {
            data,
            updates: 0,
            expected: Arrays::new(),
        }
    }

    /// Calls each variant once, and drops those that decline the kernel or the data. Returns them
    /// with their reasons.
    pub(crate) fn warm_up(
        &mut self,
        variants: &mut Vec<Variant>,
        turns: &Turns,
    ) -> Result<Vec<(String, String)>, Failure> {
        let mut declined = Vec::new();
        let mut kept = Vec::new();
        for mut variant in variants.drain(..) {
            let why = match self.time(&mut variant) {
                Ok(_) => {
                    self.compare(&mut variant)?;
                    ran_otherwise(&variant)
                }
                Err(Failure::Library(error @ Error::Failure(_))) if variant.name != SERIAL => {
                    Some(error.to_string())
                }
                Err(failure) => return Err(failure),
            };
            turns.pass();
            match why {
                None => kept.push(variant),
                Some(why) => declined.push((variant.name.clone(), why)),
            }
        }
        *variants = kept;
        declined.dedup();
        Ok(declined)
    }

    /// Compares what `variant` has just computed with what the first one did, the loop as it is
    /// written.
    fn compare(&mut self, variant: &mut Variant) -> Result<(), Failure> {
        match &mut variant.runner {
            Runner::Strew(_) if variant.name == SERIAL => {
                self.expected = self.data.results();
            }
            Runner::Strew(_) => {
                variant.differs = difference(&self.expected, self.data.arrays());
            }
            Runner::Peer(peer) => {
                let mut found = self.expected.clone();
                peer.results(&mut found)?;
                variant.differs = difference(&self.expected, &found);
            }
        }
        Ok(())
    }

    /// Lets all variants run in each of at most `most` rounds, another one first each time. After
    /// the first, no round begins when the time is over.
    pub(crate) fn rounds(
        &mut self,
        variants: &mut [Variant],
        most: usize,
        turns: &Turns,
    ) -> Result<Rounds, Failure> {
        let mut rounds = Rounds::new();
        while rounds.is_empty() || rounds.len() < most && !turns.is_over() {
            let mut times = vec![0.0; variants.len()];
            for turn in 0..variants.len() {
                let index = (turn + rounds.len()) % variants.len();
                if let (Some(variant), Some(time)) = (variants.get_mut(index), times.get_mut(index))
                {
                    *time = self.time(variant)?.as_secs_f64();
                    turns.pass();
                }
            }
            rounds.push(times);
        }
        Ok(rounds)
    }

    /// The time of one call, from the same contents, with its inputs just read.
    pub(crate) fn time(&mut self, variant: &mut Variant) -> Result<Duration, Failure> {
        match &mut variant.runner {
            Runner::Peer(peer) => peer.time(),
            Runner::Strew(kernel) => {
                let record = self.data.call(kernel)?.record;
                self.updates = self.updates.max(record.updates);
                variant.record = Some(record);
                Ok(record.total)
            }
        }
    }
}

/// What ran where a strategy was named that has nothing to do there.
fn ran_otherwise(variant: &Variant) -> Option<String> {
    let is_named = ![SERIAL, "auto"].contains(&variant.name.as_str());
    let record = variant.record.filter(|_| is_named)?;
    let is_other = record.strategy != variant.name;
    is_other.then(|| format!("{} runs there", record.strategy))
}

/// What the rounds say of each variant.
pub(crate) fn rows(
    variants: &[Variant],
    rounds: &Rounds,
    contest: &Contest,
    at: Option<&Assignment>,
) -> Vec<Row> {
    let times = |index: usize| rounds.iter().filter_map(move |it| it.get(index).copied());
    let mut rows = Vec::new();
    for (index, variant) in variants.iter().enumerate() {
        // The first one is serial.
        let ratios = times(0)
            .zip(times(index))
            .map(|(serial, it)| serial / it.max(1e-12));
        let (Some(spread), Some(ratio)) = (Spread::of(times(index)), Spread::of(ratios)) else {
            continue;
        };
        let record = variant.record;
        let updates = contest.updates;
        rows.push(Row {
            variant: variant.name.clone(),
            strategy: record.map(|it| it.strategy.to_owned()),
            mode: variant.mode,
            threads: variant.threads,
            median_seconds: spread.median,
            low: spread.low,
            high: spread.high,
            rounds: rounds.len(),
            ns_per_update: (updates > 0).then(|| spread.median * 1e9 / updates as f64),
            private_bytes: record.map(|it| it.private_bytes),
            speedup_over_serial: ratio.median,
            at: at.map(|it| it.text.clone()),
            updates,
            output_bytes: contest.data.output_bytes(),
            differs: variant.differs.clone(),
        });
    }
    rows
}
