use super::safety::Safety;
use super::serial::Targets;
use super::{Job, Ran, Shape, Strategy};
use crate::abi::BodyShape;
use crate::chunks::part;
use crate::failure::{Failure, Refusal};
use crate::settings::{Body, Mode};
use std::time::Instant;

/// All threads update the targets themselves, each update in one step that no other thread sees
/// half done. It takes no private buffers, and much time where threads meet: not where updates
/// leave most elements as they are, which takes a look alone.
#[derive(Debug)]
pub(super) struct Atomic;

impl Strategy for Atomic {
    fn name(&self) -> &'static str {
        "atomic"
    }

    fn refusal(&self, shape: &Shape) -> Option<Refusal> {
        let strategy = self.name();
        let in_any_order = shape.is_exact || shape.is_alike || shape.mode == Mode::Fast;
        if !(shape.commutes || shape.is_alike) {
            Some(Refusal::InOrder { strategy })
        } else if !in_any_order {
            Some(Refusal::AnyOrder { strategy })
        } else if shape.targets > 1 {
            Some(Refusal::Together { strategy })
        } else {
            (!shape.can_emit).then_some(Refusal::CannotEmit { strategy })
        }
    }

    fn body_shape(&self, _body: Body, _shape: &Shape) -> BodyShape {
        BodyShape::Atomic
    }

    unsafe fn run(&self, job: &mut Job<'_>) -> Result<Ran, Failure> {
        let start = Instant::now();
        let body = job.body(self)?;
        // SAFETY: the caller vouches for the forall.
        let safety = unsafe { Safety::prepare(job) }?;
        let prepared = Instant::now();
        let targets = Targets::of(job);
        let parts = job.shape.parts();
        let chunks = safety.chunks(job, body);
        job.session.runtime().team().for_each(parts, &|number| {
            let iterations = part(job.shape.count, parts, number);
            // SAFETY: the caller vouches for the targets, and this body lets several threads have
            // them at the same time.
            unsafe { chunks.run(number, iterations, targets.get()) };
        });
        // SAFETY: the caller vouches for the targets, and no body runs any more.
        unsafe { safety.finish(chunks, job) }?;
        Ok(Ran {
            chunks: parts as u64,
            threads: job.shape.threads.min(parts.max(1)),
            prepare: prepared - start,
            main: prepared.elapsed(),
            ..Ran::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_kernels::{Scatter, runtime};
    use crate::{Choice, Settings};

    fn atomic(mode: Mode) -> Settings {
        Settings {
            mode,
            strategy: Choice::Named(&Atomic),
            ..Settings::default()
        }
    }

    #[test]
    fn no_update_is_lost() {
        for threads in [1, 2, 8] {
            let mut case = Scatter::new(300_000, 3).with_counts(3);
            let (counts, _) = case.expected();
            let record = case.run(&runtime(threads), &atomic(Mode::Exact)).unwrap();
            assert_eq!(
                (record.strategy, record.private_bytes > 0),
                ("atomic", true)
            );
            assert_eq!(case.counts, counts);
        }
    }

    #[test]
    fn a_fault_puts_everything_back() {
        let mut case = Scatter::new(300_000, 30).with_counts(30);
        case.keys[250_000] = -1;
        let before = case.counts.clone();
        let failure = case.run(&runtime(2), &atomic(Mode::Stable));
        assert!(matches!(failure, Err(Failure::Fault(_))));
        assert_eq!(case.counts, before);
    }

    #[test]
    fn sums_that_round_are_for_the_fast_mode_alone() {
        for mode in [Mode::Stable, Mode::Exact] {
            let mut case = Scatter::new(1000, 3).with_sums(3);
            let failure = case.run(&runtime(2), &atomic(mode));
            let refusal = Refusal::AnyOrder { strategy: "atomic" };
            assert_eq!(failure, Err(Failure::Refused(refusal)));
        }
        let mut case = Scatter::new(1000, 3).with_sums(3);
        assert!(case.run(&runtime(2), &atomic(Mode::Fast)).is_ok());
    }
}
