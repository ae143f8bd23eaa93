//! The ways to run a kernel that take turns.

use super::peer::Peer;
use crate::cli::args::{ModeName, Work};
use crate::cli::report::mode_name;
use strew::{Error, Kernel, Mode, Record, Schedule, Strategy};

/// The loop as it is written, on one thread.
pub(crate) const SERIAL: &str = "serial";

/// One way to run the kernel.
#[derive(Debug)]
pub(crate) struct Variant {
    /// What it is called: `serial`, a strategy, `auto`, or a compiler.
    pub(crate) name: String,
    /// `None` of what strew did not make.
    pub(crate) mode: Option<&'static str>,
    pub(crate) threads: usize,
    pub(crate) runner: Runner,
    /// What the last call said of itself; `None` before it, and of what strew did not make.
    pub(crate) record: Option<Record>,
    /// What of its results is not that of the loop as it is written.
    pub(crate) differs: Option<String>,
}

/// What runs it.
#[derive(Debug)]
pub(crate) enum Runner {
    Strew(Box<Kernel>),
    Peer(Peer),
}

impl Variant {
    fn strew(kernel: &Kernel, strategy: Strategy, mode: Mode, threads: usize) -> Self {
        let kernel = kernel.clone().strategy(strategy).mode(mode);
        Self {
            name: strategy.to_string(),
            mode: Some(mode_name(mode)),
            threads,
            runner: Runner::Strew(Box::new(kernel.threads(threads))),
            record: None,
            differs: None,
        }
    }
}

/// `kernel` as it is written, as it comes on 1, 2, 4 … and `most` threads and in each mode, and by
/// each strategy that can be named: on all these numbers of threads where they are wanted
/// `everywhere`, else on `most`. A strategy that `work` names is the only one beside serial.
pub(crate) fn of_strew(
    kernel: &Kernel,
    work: &Work,
    most: usize,
    everywhere: bool,
) -> Result<Vec<Variant>, Error> {
    let as_written = kernel.with_schedule(Schedule::new())?;
    let serial = Variant {
        name: SERIAL.to_owned(),
        ..Variant::strew(&as_written, Strategy::Auto, Mode::Exact, 1)
    };
    let mode = work.mode.into();
    let counts = thread_counts(most);
    let mut variants = vec![serial];
    let named = Strategy::named().filter(|it| it.name() != SERIAL);
    let strategies: Vec<Strategy> = match work.strategy {
        Some(one) => vec![one],
        None => named.collect(),
    };
    if work.strategy.is_none() {
        let modes = [ModeName::Fast, ModeName::Stable, ModeName::Exact].map(Mode::from);
        let others = modes.into_iter().filter(|it| *it != mode);
        variants.extend(
            counts
                .iter()
                .map(|it| Variant::strew(kernel, Strategy::Auto, mode, *it)),
        );
        variants.extend(others.map(|it| Variant::strew(kernel, Strategy::Auto, it, most)));
    }
    let counts = if everywhere { counts } else { vec![most] };
    for strategy in strategies {
        variants.extend(
            counts
                .iter()
                .map(|it| Variant::strew(kernel, strategy, mode, *it)),
        );
    }
    Ok(variants)
}

/// The powers of two below `most`, and `most`.
fn thread_counts(most: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1_usize), |it| it.checked_mul(2));
    powers.take_while(|it| *it < most).chain([most]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_double_up_to_all() {
        assert_eq!(thread_counts(1), [1]);
        assert_eq!(thread_counts(4), [1, 2, 4]);
        assert_eq!(thread_counts(6), [1, 2, 4, 6]);
    }
}
