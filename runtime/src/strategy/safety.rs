//! How loops that update their targets themselves leave them as they were when they fail.

use super::look::{can_look, can_scan, check, check_by_scan};
use super::serial::regions;
use super::{Job, Shape, counted};
use crate::abi::ChunkFn;
use crate::chunks::Chunks;
use crate::failure::Failure;
use crate::snapshot::Snapshot;

/// What was done before the loop runs.
#[derive(Debug)]
pub(super) enum Safety<'r> {
    /// What it may change was copied, or somebody else did that.
    Copied(Snapshot<'r>),
    /// None of its iterations fails, as was found or as follows from what they do; and it is not
    /// stopped.
    Whole,
}

/// To copy so many bytes, with what it takes to get them into the caches and out again, takes about
/// as long as to check one iteration where a scan of the keys does so for many at once.
const BYTES_PER_SCANNED: u64 = 2;

/// The same where iterations are checked one by one: in rows of two updates each took 4 ns, a byte
/// of a copy 0.1 to 0.2.
const BYTES_PER_CHECK: u64 = 16;

/// A copy of one byte for so many statements takes next to nothing beside them, and lets the loop
/// be stopped.
const STATEMENTS_PER_BYTE: u64 = 4;

/// A loop of more iterations than this is not checked: it could not be stopped.
pub(super) const MOST_CHECKED: u64 = 1 << 28;

/// Whether all iterations are checked before the first, since that takes less than a copy of what
/// they may change, also one by one.
pub(super) fn is_checked(shape: &Shape) -> bool {
    takes_less(shape, shape.statements(), BYTES_PER_CHECK)
}

/// Whether a loop none of whose iterations can fail goes without a copy, which it then cannot be
/// stopped without, either.
fn saves_a_copy(shape: &Shape) -> bool {
    let is_short = shape.statements() <= MOST_CHECKED;
    shape.is_sure && is_short && shape.statements() / STATEMENTS_PER_BYTE < shape.bytes
}

/// Whether so many checks take less than a copy of what iterations may change, if a check takes as
/// long as a copy of so many bytes.
fn takes_less(shape: &Shape, checks: u64, bytes_per_check: u64) -> bool {
    let is_short = shape.statements() <= MOST_CHECKED;
    checks < shape.bytes / bytes_per_check && is_short && can_look(shape)
}

/// How many keys a scan looks at: one for each row.
fn scanned(shape: &Shape) -> u64 {
    (shape.trips / shape.updates_of_a_row()).saturating_add(shape.others)
}

/// Whether a scan of the keys takes less than a copy.
fn is_scanned(shape: &Shape) -> bool {
    takes_less(shape, scanned(shape), BYTES_PER_SCANNED)
}

impl<'r> Safety<'r> {
    /// Does what is cheaper.
    ///
    /// # Errors
    /// Those of [`Snapshot::take`], and the failure of an iteration.
    ///
    /// # Safety
    /// That of [`run_forall`](crate::run_forall), for the job's forall.
    pub(super) unsafe fn prepare(job: &Job<'r>) -> Result<Self, Failure> {
        if regions(job).next().is_some() {
            // SAFETY: the caller vouches for the forall.
            let is_safe = saves_a_copy(&job.shape) || unsafe { Self::was_checked(job) }?;
            if is_safe {
                return Ok(Self::Whole);
            }
        }
        // SAFETY: the caller vouches for the targets.
        let snapshot = unsafe { Snapshot::take(job.session, regions(job)) };
        snapshot.map(Self::Copied)
    }

    /// Whether all iterations were found not to fail, where to find that out is cheaper than a
    /// copy.
    ///
    /// # Errors
    /// The failure of an iteration.
    ///
    /// # Safety
    /// That of [`run_forall`](crate::run_forall), for the job's forall.
    unsafe fn was_checked(job: &Job<'r>) -> Result<bool, Failure> {
        if !is_checked(&job.shape) && !is_scanned(&job.shape) {
            return Ok(false);
        }
        // Loops inside may make far more of them: lines of 470 pixels in 4 MB took 60 ms to check.
        // SAFETY: that of the caller.
        let shape = unsafe { counted::counted_shape(job) };
        if is_checked(&shape) {
            // SAFETY: that of the caller.
            return unsafe { check(job) }.map(|()| true);
        }
        // SAFETY: that of the caller.
        unsafe { Ok(is_scanned(&shape) && can_scan(job) && check_by_scan(job)?) }
    }

    /// The tasks of the loop, which `body` runs; it may be left half done where that can be made
    /// good.
    pub(super) fn chunks(&self, job: &Job<'r>, body: ChunkFn) -> Chunks<'r> {
        let chunks = job.chunks(body);
        match self {
            Self::Copied(_) => chunks,
            Self::Whole => chunks.unstoppable(),
        }
    }

    /// Ends the loop: puts the targets back when a task has failed.
    ///
    /// # Errors
    /// The first failure in the order of the iterations.
    ///
    /// # Safety
    /// That of [`Snapshot::restore`].
    pub(super) unsafe fn finish(
        self,
        chunks: Chunks<'_>,
        job: &mut Job<'_>,
    ) -> Result<(), Failure> {
        let outcome = chunks.finish(job.call);
        if let (Err(_), Self::Copied(snapshot)) = (&outcome, &self) {
            // SAFETY: the caller vouches for the targets.
            unsafe { snapshot.restore(job.session) };
        }
        outcome
    }
}
