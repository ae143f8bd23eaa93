//! How many updates a forall makes whose loops turn nobody knows how often before they run: what
//! some of its iterations make, which may be parts of a loop, all times as many.

use super::look::{can_look, looking};
use super::{Decision, Job, Shape, auto};
use crate::abi::BodyShape;
use crate::chunks::{Chunks, part};
use crate::failure::Failure;

/// One iteration out of so many is looked at.
const COUNTED: u64 = 32;

/// The same decision, or a better one, with what is known then, where some of the iterations show
/// that they make more updates than was thought.
///
/// # Errors
/// Those of [`decide`](super::decide).
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
pub(super) unsafe fn decide(
    decision: Decision,
    job: &mut Job<'_>,
    around: &mut auto::Circumstances,
) -> Result<Decision, Failure> {
    if !auto::may_be_many(&job.shape, *around, decision.why) {
        return Ok(decision);
    }
    // SAFETY: that of the caller.
    let shape = unsafe { counted_shape(job) };
    job.is_counted = true;
    if shape.trips == job.shape.trips {
        return Ok(decision);
    }
    job.shape = shape;
    // SAFETY: that of the caller.
    unsafe { job.look() };
    // SAFETY: the same.
    *around = unsafe { super::circumstances(job) };
    super::decide(None, &job.shape, *around, || job.session.budget())
}

/// The job's shape, with more updates where some of the iterations make more than was thought.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
pub(super) unsafe fn counted_shape(job: &Job<'_>) -> Shape {
    let shape = job.shape;
    // Fewer parts of a loop may each be most of it.
    let has_parts = shape.count >= COUNTED;
    let is_known = job.forall.uncounted == 0 || job.is_counted;
    if is_known || !has_parts || !can_look(&shape) {
        return shape;
    }
    // Whoever runs the loop finds a failure again.
    // SAFETY: that of the caller.
    let updates = unsafe { counted(job) }.unwrap_or(0);
    let trips = updates.max(shape.trips);
    Shape { trips, ..shape }
}

/// About how many updates the job's forall makes.
///
/// # Errors
/// The failure of an iteration.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
unsafe fn counted(job: &Job<'_>) -> Result<u64, Failure> {
    let chunks = looking(job, BodyShape::Check)?;
    // SAFETY: that of the caller; the body touches no buffers.
    let updates = unsafe { some(job, chunks, COUNTED) }?;
    Ok(updates.saturating_mul(COUNTED.min(job.shape.count)))
}

/// Runs one iteration out of each `every`, in their middle, by the body of `chunks`, which is
/// handed no buffers; how many updates it counts.
///
/// # Errors
/// The failure of an iteration.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
pub(super) unsafe fn some(job: &Job<'_>, chunks: Chunks<'_>, every: u64) -> Result<u64, Failure> {
    let count = job.shape.count;
    let parts = usize::try_from(count / every).unwrap_or(usize::MAX).max(1);
    job.session.runtime().team().for_each(parts, &|number| {
        let of = part(count, parts, number);
        let middle = of.start + (of.end - of.start) / 2;
        // SAFETY: the caller vouches for the body, which touches no buffers.
        unsafe { chunks.run(number, middle..middle + 1, &[]) };
    });
    let updates = chunks.updates();
    chunks.outcome().map(|()| updates)
}
