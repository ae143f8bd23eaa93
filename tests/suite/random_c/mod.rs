//! Random C functions: what the interpreter and the machine code make of them is what `cc` makes of them, bit for bit.
//!
//! The test runs the same few functions each time. `STREW_RANDOM_C=100000` in the environment runs that many, and
//! `STREW_RANDOM_SEED=7` begins elsewhere. A failure is made small and shown with its seed: that seed and a count of 1 run it again.

mod arguments;
mod generate;
mod loops;
mod shrink;
mod tree;
mod types;
mod values;

use crate::c::Program;
use crate::data::{Data, Outcome, is_same};
use crate::engines::{Engines, agree};
use crate::random::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};
use strew::Source;
use tree::Function;

/// How many functions the test runs unless told otherwise.
const COUNT: u64 = 250;
/// How many functions one C program holds.
const BATCH: u64 = 50;
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
    /// By the same judge, and where the source is refused, for the same kind of error.
    fn is_like(&self, other: &Self) -> bool {
        let code = |it: &Self| match it {
            Self::Refused(text) => text.split(']').next().map(str::to_owned),
            _ => None,
        };
        std::mem::discriminant(self) == std::mem::discriminant(other) && code(self) == code(other)
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

    /// What `cc` does not agree with. A fault is beyond what C defines.
    fn compare(&self, with: &Program, number: usize) -> Result<(), Failure> {
        let defined = self.results.iter().filter(|(_, outcome)| outcome.is_ok());
        let run = || {
            for (data, outcome) in defined {
                let found = with.run(&[(number, data)]).remove(0);
                agree("cc", outcome, &found, is_same);
            }
        };
        caught(run).map_err(Failure::Difference)
    }
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
        Some(program) => subject.compare(&program, 0),
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

/// Runs the functions of these seeds.
fn batch(seeds: std::ops::Range<u64>) -> Result<bool, (u64, Failure)> {
    let mut subjects = Vec::new();
    for seed in seeds {
        let subject = Subject::new(seed, generated(seed));
        subjects.push(subject.map_err(|failure| (seed, failure))?);
    }
    let subjects: Vec<_> = subjects.iter().collect();
    match program(&subjects) {
        Ok(Some(program)) => {
            for (number, subject) in subjects.iter().enumerate() {
                let outcome = subject.compare(&program, number);
                outcome.map_err(|failure| (subject.seed, failure))?;
            }
            Ok(true)
        }
        Ok(None) => Ok(false),
        // One of them; each alone tells which.
        Err(failure) => {
            for subject in subjects {
                let outcome = check(subject.seed, subject.function.clone());
                outcome.map_err(|failure| (subject.seed, failure))?;
            }
            Err((0, failure))
        }
    }
}

fn setting(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(default, |it| it.parse().expect("a number"))
}

#[test]
#[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
fn random_functions_compute_what_they_compute_in_c() {
    let first = setting("STREW_RANDOM_SEED", 0);
    let last = first + setting("STREW_RANDOM_C", COUNT);
    let mut begin = first;
    while begin < last {
        let end = last.min(begin + BATCH);
        match batch(begin..end) {
            Ok(true) => {}
            Ok(false) => eprintln!("skipped: there is no cc to compare random functions with"),
            Err((seed, failure)) => {
                let (function, failure) = shrunk(seed, generated(seed), failure);
                panic!("seed {seed}: {failure:?}\n{function}");
            }
        }
        begin = end;
    }
}
