//! `strew tune`: a search for the schedule that is fastest on given data.
//!
//! The search begins with what the source, the automatic scheduler and nothing at all make of the
//! kernel, and goes on from the fastest so far: a size doubled or halved, another strategy, another
//! order of two loops, loops unrolled or tiled. What is illegal is refused by the steps themselves.
//! A candidate replaces the fastest where it is faster in rounds in which both take turns.

use crate::cli::args::{Tune, Work};
use crate::cli::calibration;
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::job::{self, Data};
use crate::cli::outputs::writable;
use crate::cli::progress::{Turns, make_way, with_bar};
use crate::cli::sources::Sources;
use crate::cli::statistics::Spread;
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;
use strew::ir::spelling::counted;
use strew::ir::visit::walk;
use strew::ir::{self, Node};
use strew::{Calibration, Kernel, ParsedKernel, Plan, Schedule, Strategy};

/// A candidate that is slower than this is out at its first call.
const HOPELESS: f64 = 1.5;

/// So many rounds decide between two.
const ROUNDS: usize = 7;

/// This share of the time is for the search, the rest for the fastest that is found beside the
/// first.
const SEARCH: f64 = 0.8;

/// What is gained less than this may be gained by chance.
const GAIN: f64 = 0.98;

/// A schedule with the kernel that it makes.
#[derive(Clone)]
struct Candidate {
    schedule: Schedule,
    kernel: Kernel,
}

pub(crate) fn tune(flags: &Tune, console: &mut Console) -> Result<(), Failure> {
    if let Some(path) = &flags.output {
        // What is found may take the place of the schedule that the search begins with.
        let sources = Sources::of(&flags.work.kernel).and_inputs(&flags.work.inputs);
        sources.are_spared_by("-o", path)?;
        writable(path)?;
    }
    let (kernel, data) = job::ready(&flags.work, console)?;
    let turns = Turns::within(flags.seconds, "schedules");
    let mut search = Search {
        work: &flags.work,
        parsed: kernel.compiled().parsed().clone(),
        costs: calibration::costs(console),
        seen: BTreeSet::new(),
        data,
        tried: 0,
        turns: &turns,
    };
    let first = Candidate {
        schedule: kernel.compiled().steps().clone(),
        kernel,
    };
    let found = with_bar(&turns, || search.fastest(&first, console))?;
    let tried = counted(search.tried, "schedule");
    let (best, outcome) = match found {
        Some((best, compared)) => (best, compared.to_string()),
        None => (first, "none is faster than the first".to_owned()),
    };
    let over = match turns.has_passed(SEARCH) {
        true => format!("; the {} seconds of --seconds are over", flags.seconds),
        false => String::new(),
    };
    console.talk(&format!("{tried} tried: {outcome}{over}"));
    let name = best.kernel.name().to_owned();
    let script = format!("# found by strew tune for {name}\n{}", text(&best.schedule));
    console.data_to(flags.output.as_deref(), &script)
}

struct Search<'w> {
    work: &'w Work,
    parsed: ParsedKernel,
    costs: Calibration,
    /// Scripts that were thought of before.
    seen: BTreeSet<String>,
    data: Data,
    tried: usize,
    turns: &'w Turns,
}

/// How a candidate did beside another where they took turns.
#[derive(Clone, Copy, Debug)]
struct Compared {
    is_faster: bool,
    /// What share of the time of the other it takes.
    ratio: f64,
    rounds: usize,
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = self.ratio * 100.0;
        let rounds = counted(self.rounds, "round");
        write!(
            f,
            "takes {share:.0} % of the time of the first, in {rounds}"
        )
    }
}

impl Search<'_> {
    /// The fastest schedule that is found before the time is over, beside `first`, if one is
    /// faster.
    fn fastest(
        &mut self,
        first: &Candidate,
        console: &mut Console,
    ) -> Result<Option<(Candidate, Compared)>, Failure> {
        let mut best = first.clone();
        self.seen.insert(text(&best.schedule));
        self.time(&best)?;
        let mut waiting = self.beginnings();
        waiting.extend(self.around(&best.schedule));
        waiting.reverse();
        while !self.turns.has_passed(SEARCH)
            && let Some(schedule) = waiting.pop()
        {
            let Some(candidate) = self.candidate(schedule) else {
                continue;
            };
            if self.compared(&candidate, &best, ROUNDS)?.is_faster {
                best = candidate;
                make_way();
                console.talk(&format!("faster: {}", one_line(&best.schedule)));
                // What is near the fastest comes first.
                let mut near = self.around(&best.schedule);
                near.reverse();
                waiting.extend(near);
            }
            self.turns.pass();
        }
        if best.schedule == first.schedule {
            return Ok(None);
        }
        // What seemed faster by chance is not worth a file.
        let compared = self.compared(&best, first, 2 * ROUNDS)?;
        Ok(compared.is_faster.then_some((best, compared)))
    }

    /// What others make of the kernel.
    fn beginnings(&mut self) -> Vec<Schedule> {
        let plans = [Plan::Auto, Plan::Source, Plan::Explicit(Schedule::new())];
        let made = plans
            .iter()
            .filter_map(|plan| self.parsed.schedule(plan, &mut ()).ok());
        made.map(|it| it.steps().clone()).collect()
    }

    /// Schedules that differ from `schedule` in one thing.
    fn around(&self, schedule: &Schedule) -> Vec<Schedule> {
        let lines: Vec<String> = schedule.steps().iter().map(ToString::to_string).collect();
        let mut scripts = Vec::new();
        for (place, line) in lines.iter().enumerate() {
            let with = |changed: Option<String>| {
                let mut lines = lines.clone();
                match changed {
                    Some(changed) => lines.splice(place..=place, [changed]).for_each(drop),
                    None => drop(lines.remove(place)),
                }
                lines.join("\n")
            };
            scripts.extend(
                resized(line)
                    .into_iter()
                    .chain(other_strategies(line))
                    .map(|it| with(Some(it))),
            );
            scripts.push(with(None));
        }
        let more = self.more_steps(schedule);
        scripts.extend(more.into_iter().map(|step| {
            let all = lines.iter().cloned().chain([step]);
            all.collect::<Vec<_>>().join("\n")
        }));
        let parsed = scripts
            .iter()
            .map(|it| strew::parse_schedule("a candidate", it));
        parsed.filter_map(Result::ok).collect()
    }

    /// Steps that may come behind `schedule`, for the loops that there are then.
    fn more_steps(&self, schedule: &Schedule) -> Vec<String> {
        let plan = Plan::Explicit(schedule.clone());
        let Ok(scheduled) = self.parsed.schedule(&plan, &mut ()) else {
            return Vec::new();
        };
        let names = loop_names(scheduled.kernel());
        let mut steps = Vec::new();
        for (outer, inner) in names.iter().zip(names.iter().skip(1)) {
            steps.push(format!("interchange({outer}, {inner})"));
            steps.push(format!("tile({outer} = 32, {inner} = 32)"));
        }
        for name in &names {
            steps.push(format!("parallelize({name})"));
            steps.push(format!("vectorize({name}, 4)"));
            steps.push(format!("unroll({name}, 4)"));
            steps.push(format!("unroll_and_jam({name}, 4)"));
        }
        steps
    }

    /// The kernel by `schedule`; `None` where that is refused, or was thought of before.
    fn candidate(&mut self, schedule: Schedule) -> Option<Candidate> {
        if !self.seen.insert(text(&schedule)) {
            return None;
        }
        let plan = Plan::Explicit(schedule.clone());
        let scheduled = self.parsed.schedule(&plan, &mut ()).ok()?;
        let kernel = Kernel::from(scheduled.compile_for(self.work.oob.into()).ok()?);
        let kernel = job::configured(kernel, self.work).calibration(self.costs);
        self.tried += 1;
        Some(Candidate { schedule, kernel })
    }

    fn time(&mut self, candidate: &Candidate) -> Result<Duration, Failure> {
        Ok(self.data.call(&candidate.kernel)?.record.total)
    }

    /// How `candidate` does beside `best` where they take turns, `rounds` times or until the time
    /// is over, but once at least. One that declines the data is not faster.
    fn compared(
        &mut self,
        candidate: &Candidate,
        best: &Candidate,
        rounds: usize,
    ) -> Result<Compared, Failure> {
        let mut ratios = Vec::new();
        while ratios.len() < 2 || ratios.len() < rounds && !self.turns.is_over() {
            let Ok(time) = self.time(candidate) else {
                ratios.clear();
                break;
            };
            let reference = self.time(best)?;
            ratios.push(time.as_secs_f64() / reference.as_secs_f64().max(1e-9));
            if ratios.len() == 2 && ratios.iter().all(|it| *it > HOPELESS) {
                break;
            }
        }
        // The first call compiles what it needs and warms caches.
        let rounds = ratios.len().saturating_sub(1);
        let spread = Spread::of(ratios.into_iter().skip(1));
        Ok(Compared {
            is_faster: spread.is_some_and(|it| it.median < GAIN && it.high < 1.0),
            ratio: spread.map_or(1.0, |it| it.median),
            rounds,
        })
    }
}

fn text(schedule: &Schedule) -> String {
    let lines = schedule.steps().iter().map(|it| format!("{it}\n"));
    lines.collect()
}

fn one_line(schedule: &Schedule) -> String {
    let steps: Vec<_> = schedule.steps().iter().map(ToString::to_string).collect();
    match steps.as_slice() {
        [] => "no steps".to_owned(),
        steps => steps.join("; "),
    }
}

/// The `affine.for` loops of `kernel`, from the outside in.
fn loop_names(kernel: &ir::Kernel) -> Vec<String> {
    let mut names = Vec::new();
    walk(&kernel.body, &mut |node, _| {
        if let Node::AffineFor(it) = node {
            names.push(kernel.iters[it.iter].name.clone());
        }
    });
    names
}

/// The line of a schedule with one of its sizes doubled or halved.
fn resized(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (start, length) in numbers(line) {
        let (before, rest) = line.split_at(start);
        let (number, after) = rest.split_at(length);
        let number: u64 = number.parse().unwrap_or_default();
        let others = [number.checked_mul(2), Some(number / 2)];
        let others = others
            .into_iter()
            .flatten()
            .filter(|it| (2..=1 << 20).contains(it));
        found.extend(others.map(|it| format!("{before}{it}{after}")));
    }
    found
}

/// Where a line has whole numbers that are part of no name, and how long they are.
fn numbers(line: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut before = ' ';
    for (start, letter) in line.char_indices() {
        if letter.is_ascii_digit() && !(before.is_alphanumeric() || before == '_') {
            let digits = line.get(start..).unwrap_or_default();
            let length = digits
                .find(|it: char| !it.is_ascii_digit())
                .unwrap_or(digits.len());
            found.push((start, length));
        }
        before = letter;
    }
    found
}

/// The line of a schedule with another strategy, if it names one.
fn other_strategies(line: &str) -> Vec<String> {
    const KEY: &str = "strategy = ";
    let Some((before, rest)) = line.split_once(KEY) else {
        return Vec::new();
    };
    let end = rest.find([',', ')']).unwrap_or(rest.len());
    let (current, after) = rest.split_at(end);
    let names = Strategy::named().map(|it| it.to_string());
    let others = names.filter(|it| it != current);
    others
        .map(|it| format!("{before}{KEY}{it}{after}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use strew::Source;

    #[test]
    fn sizes_are_doubled_and_halved_and_names_left_alone() {
        assert_eq!(
            resized("tile(i2 = 32, j_p = 4)"),
            [
                "tile(i2 = 64, j_p = 4)",
                "tile(i2 = 16, j_p = 4)",
                "tile(i2 = 32, j_p = 8)",
                "tile(i2 = 32, j_p = 2)"
            ]
        );
        assert_eq!(resized("unroll(i, 2)"), ["unroll(i, 4)"]);
    }

    #[test]
    fn strategies_are_named_in_turn() {
        let others =
            other_strategies("tile_indirection_using_forall(i, chunks = 8, strategy = auto)");
        assert!(others.contains(
            &"tile_indirection_using_forall(i, chunks = 8, strategy = dense)".to_owned()
        ));
        assert!(other_strategies("unroll(i, 2)").is_empty());
    }

    #[test]
    fn loops_are_found_from_the_outside_in() {
        let text = "kernel @k(n: i64, x: i64[n, n]) {
          affine.for i in 0..n { affine.for j in 0..i { x[i, j] = 1 } }
        }";
        let parsed = Source::new("k.nest", text).parse().expect("a kernel");
        assert_eq!(loop_names(parsed.kernels()[0].kernel()), ["i", "j"]);
    }
}
