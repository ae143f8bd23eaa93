use super::safety::Safety;
use super::{Job, Ran, Shape, Strategy, distance};
use crate::abi::{BodyShape, PrivateCall};
use crate::chunks::part;
use crate::failure::{Failure, Refusal};
use crate::settings::Body;
use crate::snapshot::Region;
use smallvec::SmallVec;

pub(super) const NAME: &str = "serial";

/// All iterations in order on the calling thread, the targets as private buffers: the bits of the
/// serial loop.
#[derive(Debug)]
pub(super) struct Serial;

impl Strategy for Serial {
    fn name(&self) -> &'static str {
        NAME
    }

    fn refusal(&self, _shape: &Shape) -> Option<Refusal> {
        None
    }

    fn body_shape(&self, body: Body, shape: &Shape) -> BodyShape {
        match body {
            Body::Partials if shape.is_free() => BodyShape::Partials,
            Body::RunLength | Body::Partials => BodyShape::RunLength,
            // There is one of each target.
            Body::Auto | Body::Direct | Body::Tables => BodyShape::Direct,
        }
    }

    unsafe fn run(&self, job: &mut Job<'_>) -> Result<Ran, Failure> {
        let watch = job.session.stopwatch();
        // SAFETY: the caller vouches for the forall.
        let safety = unsafe { Safety::prepare(job) }?;
        let prepare = watch.elapsed();
        let targets = targets(job);
        let chunks = safety.chunks(job, job.body(self)?);
        // SAFETY: the caller vouches for the targets, and this is the only chunk.
        unsafe { chunks.run(0, part(job.shape.count, 1, 0), &targets) };
        // SAFETY: the caller vouches for the targets, and no body runs any more.
        unsafe { safety.finish(chunks, job) }?;
        Ok(Ran {
            chunks: job.shape.count.min(1),
            threads: 1,
            prepare,
            main: watch.elapsed() - prepare,
            ..Ran::default()
        })
    }
}

/// The bytes from the first element of the target to the end of its last.
fn span(private: &PrivateCall) -> u64 {
    match private.elements.checked_sub(1) {
        None => 0,
        Some(last) => {
            let steps = last / private.target_run.max(1);
            let distance = steps.saturating_mul(private.target_stride);
            distance.saturating_add(private.run_bytes())
        }
    }
}

/// The targets themselves, in the place of private buffers.
pub(super) fn targets(job: &Job<'_>) -> SmallVec<[*mut u8; 8]> {
    let targets = job.privates.iter().map(|private| private.target);
    let strides = job.privates.iter();
    let strides = strides.map(|private| distance(private.target_stride));
    targets.chain(strides).collect()
}

/// [`targets`] that tasks share.
pub(super) struct Targets(SmallVec<[*mut u8; 8]>);

// SAFETY: the pointers are only handed on, to bodies whose callers vouch that threads may run them
// on these at the same time.
unsafe impl Sync for Targets {}

impl Targets {
    pub(super) fn of(job: &Job<'_>) -> Self {
        Self(targets(job))
    }

    pub(super) fn get(&self) -> &[*mut u8] {
        &self.0
    }
}

/// What has to be put back after a failure, if nobody else does.
pub(super) fn regions(job: &Job<'_>) -> impl Iterator<Item = Region> {
    let unguarded = job.forall.guarded == 0 && !job.session.is_protected();
    let privates = if unguarded { job.privates } else { &[] };
    privates.iter().map(|private| Region {
        address: private.target,
        // A target lies in memory, so its size fits.
        bytes: usize::try_from(span(private)).unwrap_or(usize::MAX),
    })
}

#[cfg(test)]
mod tests {
    use crate::test_kernels::{Scatter, runtime};
    use crate::{Choice, Failure, Held, Mode, Settings, StopToken};

    fn serial() -> Settings {
        Settings {
            strategy: Choice::Named(&super::Serial),
            ..Settings::default()
        }
    }

    #[test]
    fn the_bits_are_those_of_a_plain_loop() {
        for mode in [Mode::Fast, Mode::Stable, Mode::Exact] {
            let mut case = Scatter::new(300_000, 99).with_counts(99).with_sums(99);
            let (counts, sums) = case.expected();
            let record = case
                .run(&runtime(4), &Settings { mode, ..serial() })
                .unwrap();
            assert_eq!((record.strategy, record.threads), ("serial", 1));
            assert_eq!((case.counts, case.sums), (counts, sums));
        }
    }

    #[test]
    fn a_fault_puts_the_targets_back() {
        let mut case = Scatter::new(300_000, 99).with_counts(99).with_sums(99);
        case.keys[299_000] = -5;
        case.keys[299_001] = 99;
        let before = case.clone();
        let failure = case.run(&runtime(2), &serial()).unwrap_err();
        assert!(matches!(failure, Failure::Fault(record) if record.index == -5));
        assert_eq!(
            (case.counts.as_ref(), case.sum_bits()),
            (before.counts.as_ref(), before.sum_bits())
        );
    }

    /// A call that is stopped by `token` after a few iterations.
    fn stopped_by(token: StopToken) -> (Scatter, Settings) {
        let mut case = Scatter::new(300_000, 99).with_counts(99);
        case.stop_at = Some((5, token.clone()));
        let settings = Settings {
            stop: Some(token),
            ..serial()
        };
        (case, settings)
    }

    #[test]
    fn a_stop_puts_the_targets_back() {
        let (mut case, settings) = stopped_by(StopToken::new());
        let before = case.counts.clone();
        assert_eq!(case.run(&runtime(2), &settings), Err(Failure::Stopped));
        assert_eq!(case.counts, before);
    }

    #[test]
    fn a_stop_that_cannot_be_made_good_is_not_obeyed() {
        let (mut case, settings) = stopped_by(StopToken::new());
        let (expected, _) = case.expected();
        case.guarded = 1;
        case.run(&runtime(2), &settings).unwrap();
        assert_eq!(case.counts, expected);
    }

    #[test]
    fn a_stop_that_need_not_be_made_good_is_obeyed() {
        let (mut case, settings) = stopped_by(StopToken::abandoning());
        case.guarded = 1;
        assert_eq!(case.run(&runtime(2), &settings), Err(Failure::Stopped));
    }

    #[test]
    fn a_copy_over_the_budget_is_refused_before_the_start() {
        let settings = Settings {
            memory: Some(100),
            ..serial()
        };
        let mut case = Scatter::new(1000, 99).with_counts(99);
        let before = case.counts.clone();
        let expected = Failure::OverBudget {
            held: Held::Copies,
            needed: 396,
            budget: 100,
        };
        assert_eq!(case.run(&runtime(2), &settings), Err(expected));
        assert_eq!(case.counts, before);
    }

    #[test]
    fn a_guarded_forall_keeps_no_copy() {
        let mut case = Scatter::new(1000, 99).with_counts(99);
        case.guarded = 1;
        let record = case.run(&runtime(2), &serial()).unwrap();
        assert_eq!(record.private_bytes, 0);
    }
}
