//! Foralls that end before it is found out where their updates go: they run as they are written.

use super::auto::{Circumstances, LEAST_TRIPS, TRIPS_PER_ELEMENT};
use super::serial::Serial;
use super::{Decision, Job, Shape, run_as, told};
use crate::failure::Failure;
use crate::record::Why;
use crate::settings::{Body, Choice, Settings};

/// A look at keys, and the choice among strategies, take as long as some hundreds of statements.
const LITTLE: u64 = 1 << 10;

/// So many updates a forall may make in order without being handed to the runtime, which would do
/// nothing else.
pub(crate) fn most_in_order(settings: &Settings) -> i64 {
    match (&settings.strategy, settings.body) {
        (Choice::Auto, Body::Auto) => LITTLE.cast_signed(),
        _ => 0,
    }
}

/// Whether the loop ends before anything is found out about its updates.
pub(super) fn is_little(shape: &Shape) -> bool {
    let is_plain = !shape.is_separate && !shape.is_speculative;
    is_plain && shape.statements() < LITTLE
}

/// Runs a job that [`is_little`].
///
/// # Errors
/// Those of [`serial`](super::serial).
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
pub(super) unsafe fn run(job: &mut Job<'_>) -> Result<(), Failure> {
    let decision = Decision::new(&Serial, few_trips(&job.shape));
    // SAFETY: that of the caller.
    let ran = unsafe { run_as(decision, job) }?;
    job.session.add(|| {
        let machine = &job.session.settings().machine;
        let around = Circumstances::new(&job.shape, None, job.session.is_nested(), machine);
        told(decision, job, Some(around.costs), &ran)
    });
    Ok(())
}

/// That private buffers do not pay.
fn few_trips(shape: &Shape) -> Why {
    let least = shape.elements.saturating_mul(TRIPS_PER_ELEMENT);
    Why::FewTrips {
        updates: shape.trips,
        others: shape.others,
        elements: shape.elements,
        least: least.saturating_add(LEAST_TRIPS),
    }
}
