//! Foralls whose bodies read what they update: they run at once where no element is both.
//!
//! First a body in the shape [`BodyShape::Marks`] marks what the loop reads, but for what
//! conditions around all updates leave out. Then a strategy that leaves the targets alone until all
//! iterations have run, as it makes copies or sorts updates, runs one in the shape
//! [`BodyShape::Unmarked`] or [`BodyShape::SortedUnmarked`], which sees the targets as they were
//! before the loop, and ends at the first update of an element with a mark. Nothing was merged
//! then, and the loop runs in order. Whether it ends so depends on the elements alone: without an
//! update that meets a mark, all that was read is what the loop in order would have read, and so
//! are all elements that it goes to. Where nothing has a mark, a body in the shape
//! [`BodyShape::Apart`] or [`BodyShape::Sorted`] does not look for them.

use super::look::looking;
use super::{Decision, Job, Ran, Strategy, auto, counted};
use crate::abi::{BodyShape, PrivateCall};
use crate::chunks::part;
use crate::failure::{Failure, Held};
use crate::loan::Loan;
use crate::record::Why;
use smallvec::SmallVec;
use std::time::Instant;

/// Runs the job, whose body reads targets, by a strategy that touches none before all has run.
///
/// # Errors
/// Those of the strategy, and [`Failure::Met`] where an element that is read is updated.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
pub(super) unsafe fn run(strategy: &dyn Strategy, job: &mut Job<'_>) -> Result<Ran, Failure> {
    let start = Instant::now();
    // SAFETY: that of the caller.
    let marks = unsafe { Marks::of(job) }?;
    job.shape.is_apart = marks.are_none();
    let looked = start.elapsed();
    // SAFETY: that of the caller.
    let ran = unsafe { marks.within(job, |job| strategy.run(job)) }?;
    Ok(Ran {
        prepare: ran.prepare + looked,
        ..ran
    })
}

/// The same decision for a job whose body reads targets, or a better one, with what is known then.
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
    if !may_speculate(job) {
        return Ok(Decision::new(&super::serial::Serial, Why::Meets));
    }
    if !auto::may_be_many(&job.shape, *around, decision.why) {
        return Ok(decision);
    }
    // SAFETY: that of the caller.
    let Some(updates) = (unsafe { about(job) }) else {
        return Ok(decision);
    };
    job.shape.trips = job.shape.trips.max(updates);
    // SAFETY: that of the caller.
    *around = unsafe { super::circumstances(job) };
    super::decide(None, &job.shape, *around, || job.session.budget())
}

/// Whether the job, whose body reads targets, may run otherwise than in order: there are bodies
/// that look after that, and nothing is known against it.
fn may_speculate(job: &Job<'_>) -> bool {
    job.shape.has_bodies && !job.session.has_met(job.forall)
}

/// The elements that a loop reads of its targets: a bit for each.
struct Marks<'r> {
    /// For the targets that are updated together the address of the first bit, null where they are
    /// not read.
    table: SmallVec<[*mut u8; 4]>,
    /// What they lie in, and how large it is.
    held: SmallVec<[(Loan<'r>, usize); 4]>,
}

impl<'r> Marks<'r> {
    /// Marks what the job's forall reads.
    ///
    /// # Errors
    /// For want of memory, if somebody asks for a stop, and [`Failure::Met`] where it cannot be
    /// told what the loop reads.
    ///
    /// # Safety
    /// That of [`run_forall`](crate::run_forall), for the job's forall.
    unsafe fn of(job: &mut Job<'r>) -> Result<Self, Failure> {
        let marks = Self::none(job)?;
        // SAFETY: the caller vouches for the forall; the body writes bits of the tables alone, each
        // by one step.
        let outcome = unsafe { marks.within(job, |job| look(job)) };
        match outcome {
            Ok(()) => Ok(marks),
            // The loop itself need not come to that.
            Err(Failure::Fault(_) | Failure::Combiner { .. }) => Err(Failure::Met),
            Err(failure) => Err(failure),
        }
    }

    /// No marks yet.
    fn none(job: &Job<'r>) -> Result<Self, Failure> {
        let mut marks = Self {
            table: SmallVec::new(),
            held: SmallVec::new(),
        };
        for together in job.together() {
            let read = together.first().filter(|it| it.speculative == 1);
            let Some(PrivateCall { elements, .. }) = read else {
                marks.table.push(std::ptr::null_mut());
                continue;
            };
            let bytes = elements.div_ceil(u64::from(u8::BITS));
            let held = job.session.take(bytes, Held::Privates)?;
            // What was taken lies in memory, so its size fits.
            let size = usize::try_from(bytes).unwrap_or(0);
            // SAFETY: the memory is ours, and so large.
            unsafe { held.address().write_bytes(0, size) };
            marks.table.push(held.address());
            marks.held.push((held, size));
        }
        Ok(marks)
    }

    /// Whether nothing was marked.
    fn are_none(&self) -> bool {
        self.held.iter().all(|(held, size)| {
            // SAFETY: the memory is ours, so large, and was set when it was taken; no body writes
            // to it any more.
            let bytes = unsafe { std::slice::from_raw_parts(held.address(), *size) };
            bytes.iter().all(|it| *it == 0)
        })
    }

    /// Does `run` where bodies find the marks.
    fn within<T>(&self, job: &mut Job<'r>, run: impl FnOnce(&mut Job<'r>) -> T) -> T {
        job.call.marks = self.table.as_ptr();
        let done = run(job);
        job.call.marks = std::ptr::null();
        done
    }
}

/// One iteration out of so many is looked at for how many updates there are.
const COUNTED: u64 = 16;

/// About how many updates the job's forall makes, with loops whose bounds are computed; `None` if
/// that cannot be told.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
unsafe fn about(job: &mut Job<'_>) -> Option<u64> {
    let marks = Marks::none(job).ok()?;
    let counted = marks.within(job, |job| {
        let chunks = looking(job, BodyShape::Marks)?;
        // SAFETY: as in `Marks::of`.
        unsafe { counted::some(job, chunks, COUNTED) }
    });
    Some(counted.ok()?.saturating_mul(COUNTED.min(job.shape.count)))
}

/// Runs all iterations by the body that marks what they read.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
unsafe fn look(job: &Job<'_>) -> Result<(), Failure> {
    let chunks = looking(job, BodyShape::Marks)?;
    let (count, parts) = (job.shape.count, job.shape.parts());
    job.session.runtime().team().for_each(parts, &|number| {
        // SAFETY: the caller vouches for the body, which touches no buffers.
        unsafe { chunks.run(number, part(count, parts, number), &[]) };
    });
    chunks.outcome()
}
