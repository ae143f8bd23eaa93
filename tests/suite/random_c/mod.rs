//! Random C functions: what the interpreter and the machine code make of them is what `cc` makes of
//! them, bit for bit.
//!
//! The test runs the same few functions each time. `STREW_RANDOM_C=1000000` in the environment runs
//! that many on all processors, and `STREW_RANDOM_SEED=7` begins elsewhere. Failures are made small
//! and shown with their seeds: such a seed and a count of 1 run one of them again. With
//!
//! ```text
//! STREW_RANDOM_C=1000000 cargo test --release --test suite random_c -- --nocapture
//! ```
//!
//! a processor does some 35 functions a second, and half of that time is `cc`'s: a million take
//! eight hours on one, four on two.

mod arguments;
mod cursors;
mod expression;
mod function;
mod generate;
mod literals;
mod loops;
mod parameters;
mod records;
mod schedule;
mod shrink;
mod statement;
mod statements;
mod subscripts;
mod types;
mod updates;
mod values;

use crate::c::Program;
use crate::data::{Data, Outcome, is_same};
use crate::engines::{Engines, agree, keeps_order, scheduled_by, skip_alike};
use crate::random::Random;
use function::Function;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;
use strew::Source;

/// How many functions the test runs unless told otherwise.
const COUNT: u64 = 250;
/// How many functions one C program holds.
const BATCH: u64 = 100;
/// How many failures are looked for.
const FAILURES: usize = 10;
/// Functions tried to make a failure smaller.
const ATTEMPTS: usize = 1500;

/// A function, its arguments, and what all engines of strew make of it.
struct Subject {
    seed: u64,
    function: Function,
    kernel: strew::ir::Kernel,
    results: Vec<(Data, Outcome)>,
}

/// What is wrong, by who says so.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Failure {
    /// Not accepted as source.
    Refused(String),
    /// The engines do not agree with each other, or one of them panics.
    Disagreement(String),
    /// `cc` computes something else, or does not compile it.
    Difference(String),
}

impl Failure {
    /// By the same judge, and where the source is refused, in the same words.
    fn is_like(&self, other: &Self) -> bool {
        let words = |it: &Self| match it {
            Self::Refused(text) => text.lines().next().map(str::to_owned),
            _ => None,
        };
        std::mem::discriminant(self) == std::mem::discriminant(other) && words(self) == words(other)
    }
}

fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(|it| (*it).to_owned()));
        text.unwrap_or_else(|| "a panic without words".to_owned())
    })
}

impl Subject {
    fn new(seed: u64, function: Function) -> Result<Self, Failure> {
        let text = function.to_string();
        let parsed = caught(|| Source::new("random.c", text).parse());
        let parsed = parsed.map_err(Failure::Disagreement)?;
        let parsed = parsed.map_err(|error| Failure::Refused(error.to_string()))?;
        let mut random = Random(seed ^ 0x5DEE_CE66);
        let largest = if depth_of_loops(&function) > 2 { 5 } else { 40 };
        let data: Vec<_> = [4, largest]
            .into_iter()
            .map(|largest| arguments::arguments(&mut random, &function, largest))
            .collect();
        let outcomes = caught(|| {
            let kernel = parsed.kernel(Some(&function.name)).expect("the kernel");
            let engines = Engines::new(kernel);
            let results: Vec<_> = data.iter().map(|data| engines.exactly(data)).collect();
            if engines.has_forall() {
                let mut written = function.arrays.iter().filter(|it| it.is_written);
                let is_free = written.all(|it| !it.ty.is_float());
                for (data, outcome) in data.iter().zip(&results) {
                    engines.privately(data, outcome, is_free);
                }
            }
            for (data, outcome) in data.iter().zip(&results) {
                let both = [&engines.scheduled, &engines.serial];
                skip_alike(&engines.written, &both, data, outcome);
            }
            let script = schedule::random(&mut random, kernel.kernel());
            let rescheduled = script.and_then(|it| scheduled_by(&it, kernel));
            if let Some(kernel) = rescheduled {
                for (data, outcome) in data.iter().zip(&results) {
                    keeps_order(&kernel, data, outcome);
                    skip_alike(&engines.written, &[&kernel], data, outcome);
                }
            }
            (kernel.kernel().clone(), results)
        });
        let (kernel, outcomes) = outcomes.map_err(Failure::Disagreement)?;
        Ok(Self {
            seed,
            function,
            kernel,
            results: data.into_iter().zip(outcomes).collect(),
        })
    }

    /// The results that `cc` must have too. A fault is beyond what C defines.
    fn defined(&self) -> impl Iterator<Item = (&Data, &Outcome)> {
        let results = self.results.iter().filter(|(_, outcome)| outcome.is_ok());
        results.map(|(data, outcome)| (data, outcome))
    }
}

/// What `cc` does not agree with: the seed, and the difference.
fn compare(program: &Program, subjects: &[&Subject]) -> Result<(), (u64, Failure)> {
    let subjects = subjects.iter().enumerate();
    let calls = subjects.flat_map(|(number, subject)| {
        let defined = subject.defined();
        defined.map(move |(data, outcome)| (subject.seed, number, data, outcome))
    });
    let calls: Vec<_> = calls.collect();
    let given: Vec<_> = calls
        .iter()
        .map(|(_, number, data, _)| (*number, *data))
        .collect();
    let found =
        caught(|| program.run(&given)).map_err(|failure| (0, Failure::Difference(failure)))?;
    for ((seed, _, _, outcome), found) in calls.into_iter().zip(found) {
        caught(|| agree("cc", outcome, &found, is_same))
            .map_err(|failure| (seed, Failure::Difference(failure)))?;
    }
    Ok(())
}

/// How deep the loops of `function` are nested, counted by the indentation of its text.
fn depth_of_loops(function: &Function) -> usize {
    let text = function.to_string();
    let lines = text
        .lines()
        .filter(|it| it.trim_start().starts_with("for ") || it.trim_start().starts_with("while "));
    lines
        .map(|it| (it.len() - it.trim_start().len()) / 2)
        .max()
        .unwrap_or(0)
}

/// `None` where there is no `cc`.
fn program(subjects: &[&Subject]) -> Result<Option<Program>, Failure> {
    let text: String = subjects
        .iter()
        .map(|it| format!("{}\n", it.function))
        .collect();
    let kernels = subjects.iter().map(|it| &it.kernel);
    caught(|| Program::compile(&text, kernels)).map_err(Failure::Difference)
}

/// All that is to know about one function.
fn check(seed: u64, function: Function) -> Result<(), Failure> {
    let subject = Subject::new(seed, function)?;
    match program(&[&subject])? {
        Some(program) => compare(&program, &[&subject]).map_err(|it| it.1),
        None => Ok(()),
    }
}

/// The smallest function found that fails in the same way.
fn shrunk(seed: u64, mut function: Function, mut failure: Failure) -> (Function, Failure) {
    let mut attempts = 0;
    'again: loop {
        for smaller in shrink::smaller(&function) {
            attempts += 1;
            if attempts > ATTEMPTS {
                return (function, failure);
            }
            match check(seed, smaller.clone()) {
                Err(found) if found.is_like(&failure) => {
                    (function, failure) = (smaller, found);
                    continue 'again;
                }
                _ => {}
            }
        }
        return (function, failure);
    }
}

fn generated(seed: u64) -> Function {
    generate::function(&mut Random(seed), format!("random_{seed}"))
}

/// What is wrong with the functions of these seeds, and whether there was a `cc` to ask.
fn batch(seeds: Range<u64>) -> (Vec<(u64, Failure)>, bool) {
    let mut failures = Vec::new();
    let mut subjects = Vec::new();
    for seed in seeds {
        match Subject::new(seed, generated(seed)) {
            Ok(subject) => subjects.push(subject),
            Err(failure) => failures.push((seed, failure)),
        }
    }
    let subjects: Vec<_> = subjects.iter().collect();
    let compared = match program(&subjects) {
        Ok(None) => return (failures, false),
        Ok(Some(program)) => compare(&program, &subjects),
        Err(failure) => Err((0, failure)),
    };
    if compared.is_err() {
        // Each alone tells which; one that ends the program would hide the others.
        for subject in subjects {
            let checked = check(subject.seed, subject.function.clone());
            failures.extend(checked.err().map(|failure| (subject.seed, failure)));
        }
    }
    (failures, true)
}

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok();
    text.map(|it| it.parse().expect("a number"))
}

/// The functions that are still to run, and what was wrong with others.
struct Run {
    next: AtomicU64,
    last: u64,
    failures: Mutex<Vec<String>>,
}

impl Run {
    fn failures(&self) -> MutexGuard<'_, Vec<String>> {
        self.failures.lock().expect("nobody panics with it")
    }

    /// Runs batch after batch, until all are done or enough is wrong.
    #[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
    fn work(&self) {
        loop {
            let begin = self.next.fetch_add(BATCH, Ordering::Relaxed);
            if begin >= self.last || self.failures().len() >= FAILURES {
                return;
            }
            let (failures, has_cc) = batch(begin..self.last.min(begin + BATCH));
            if !has_cc {
                eprintln!("skipped: there is no cc to compare random functions with");
            }
            for (seed, failure) in failures {
                let (function, failure) = shrunk(seed, generated(seed), failure);
                let text = format!("seed {seed}: {failure:?}\n{function}");
                eprintln!("{text}");
                self.failures().push(text);
            }
        }
    }
}

#[test]
#[expect(
    clippy::print_stderr,
    reason = "who waits for a million is told how fast they go"
)]
fn random_functions_compute_what_they_compute_in_c() {
    let (first, count) = (setting("STREW_RANDOM_SEED"), setting("STREW_RANDOM_C"));
    let first = first.unwrap_or(0);
    let run = Run {
        next: AtomicU64::new(first),
        last: first + count.unwrap_or(COUNT),
        failures: Mutex::default(),
    };
    // Unasked, it is one of many tests that run at once.
    let workers = match count {
        Some(_) => std::thread::available_parallelism().map_or(1, usize::from),
        None => 1,
    };
    let begin = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| run.work());
        }
    });
    let seconds = begin.elapsed().as_secs_f64();
    eprintln!(
        "{:.0} functions a second",
        (run.last - first) as f64 / seconds
    );
    let failures = run.failures();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
