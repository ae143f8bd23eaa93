//! A look at where all updates of a forall go, before any of them is made.

use super::{Job, Shape};
use crate::abi::{BodyShape, Bounds};
use crate::chunks::{Chunks, part};
use crate::failure::Failure;
use crate::memory::lock;
use smallvec::SmallVec;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// So often each part of the look asks whether another part was the last.
const LOOKS: usize = 16;

/// Whether there is a body that looks where updates go, and to run it changes nothing.
pub(super) fn can_look(shape: &Shape) -> bool {
    shape.has_all_bodies() && shape.is_pure
}

/// Where the updates of a part go, for each of the targets that are updated together with the
/// number of those.
pub(super) type Seen = SmallVec<[(Bounds, usize); 2]>;

/// Whether there may be an element that both update.
pub(super) fn meet(one: &Seen, other: &Seen) -> bool {
    let overlap = |a: &Bounds, b: &Bounds| a.least <= b.most && b.least <= a.most;
    let mut pairs = one.iter().zip(other);
    pairs.any(|((a, _), (b, _))| overlap(a, b))
}

/// What a look at all iterations has found.
pub(super) struct Looked {
    /// Where the updates of each part go, or a little more than that.
    pub(super) seen: Vec<Seen>,
    /// How many statements do nothing, since an index is out of range.
    pub(super) skipped: u64,
}

/// Finds out where the updates of each of `parts` parts of all iterations go.
///
/// # Errors
/// The failure of an iteration.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
pub(super) unsafe fn look(job: &Job<'_>, parts: usize) -> Result<Looked, Failure> {
    // SAFETY: that of the caller.
    unsafe { look_by(job, parts, BodyShape::Bounds) }
}

/// Whether the body in the shape [`BodyShape::Scan`] understands the loop, so that a look at all
/// updates takes next to nothing.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
pub(super) unsafe fn can_scan(job: &Job<'_>) -> bool {
    let Ok(body) = job.session.body(job.forall, BodyShape::Scan) else {
        return false;
    };
    let chunks = Chunks::new(job.session, job.call, job.forall, true).with_body(body);
    let mut seen = nothing_seen(job);
    // SAFETY: the caller vouches for the body, which touches nothing but the bounds.
    unsafe { chunks.run_none(&table(&mut seen)) };
    !seen.iter().any(|(bounds, _)| bounds.is_all())
}

/// Finds out whether an iteration fails.
///
/// # Errors
/// The failure of an iteration.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
pub(super) unsafe fn check(job: &Job<'_>) -> Result<(), Failure> {
    // SAFETY: that of the caller.
    unsafe { look_by(job, job.shape.parts(), BodyShape::Check) }.map(|_| ())
}

/// Whether scans by the body in the shape [`BodyShape::Scan`] tell that no iteration fails. It is
/// over as soon as one of them cannot tell: what conditions guard, for one, it does not know.
///
/// # Errors
/// That of a stop.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
pub(super) unsafe fn check_by_scan(job: &Job<'_>) -> Result<bool, Failure> {
    let scan = looking(job, BodyShape::Scan)?;
    let (parts, count, none) = (job.shape.parts(), job.shape.count, nothing_seen(job));
    let is_over = AtomicBool::new(false);
    job.session.runtime().team().for_each(parts, &|number| {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let mut seen = none.clone();
        // SAFETY: the caller vouches for the body, which touches nothing but the bounds.
        unsafe { scan.run(number, part(count, parts, number), &table(&mut seen)) };
        if seen.iter().any(|(bounds, _)| bounds.is_all()) {
            is_over.store(true, Ordering::Relaxed);
        }
    });
    scan.outcome()?;
    Ok(!is_over.into_inner())
}

/// To make a body that looks at many iterations at once takes as long as to check so many of them.
const WORTH_A_SCAN: u64 = 1 << 18;

/// Runs all iterations in `parts` parts without their updates: by the body in the shape
/// [`BodyShape::Scan`], and those of which it cannot tell by the one in the shape `by`.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
unsafe fn look_by(job: &Job<'_>, parts: usize, by: BodyShape) -> Result<Looked, Failure> {
    let scans = by == BodyShape::Bounds || job.shape.statements() >= WORTH_A_SCAN;
    let scan = match scans {
        true => Some(looking(job, BodyShape::Scan)?),
        false => None,
    };
    let one_by_one = looking(job, by)?;
    let none = nothing_seen(job);
    let seen: Vec<_> = (0..parts).map(|_| Mutex::new(none.clone())).collect();
    let count = job.shape.count;
    job.session.runtime().team().for_each(parts, &|number| {
        let Some(seen) = seen.get(number) else {
            return;
        };
        let mut seen = lock(seen);
        let iterations = part(count, parts, number);
        if let Some(scan) = &scan {
            // SAFETY: the caller vouches for the body, which touches nothing but the bounds.
            unsafe { scan.run(number, iterations.clone(), &table(&mut seen)) };
            if !seen.iter().any(|(bounds, _)| bounds.is_all()) {
                return;
            }
            seen.clone_from(&none);
        }
        // SAFETY: as above.
        unsafe { one_by_one.run(number, iterations, &table(&mut seen)) };
    });
    // A scan stops where the other body would, and fails of nothing else.
    if let Some(scan) = scan {
        scan.outcome()?;
    }
    // Where a scan tells there is nothing to skip.
    let skipped = one_by_one.skipped();
    one_by_one.outcome()?;
    let seen = seen.into_iter().map(Mutex::into_inner);
    let seen = seen.map(|it| it.unwrap_or(none.clone())).collect();
    Ok(Looked { seen, skipped })
}

/// The tasks of a look by the body in this shape.
pub(super) fn looking<'j>(job: &Job<'j>, shape: BodyShape) -> Result<Chunks<'j>, Failure> {
    let body = job.session.body(job.forall, shape)?;
    let chunks = Chunks::new(job.session, job.call, job.forall, true);
    Ok(chunks.with_body(body).unseen())
}

fn nothing_seen(job: &Job<'_>) -> Seen {
    let together = job.together();
    together
        .map(|privates| (Bounds::default(), privates.len()))
        .collect()
}

/// What a body is handed that notes in `seen` where updates go.
fn table(seen: &mut Seen) -> SmallVec<[*mut u8; 8]> {
    let mut table = SmallVec::new();
    for (bounds, privates) in seen.iter_mut() {
        table.push((&raw mut *bounds).cast());
        table.resize(table.len() + *privates - 1, std::ptr::null_mut());
    }
    table
}

/// Runs all iterations in `parts` parts without their updates, notes where those go, and counts
/// them. `None` as soon as updates of a part fall back: then neither failures nor counts are those
/// of the whole loop.
///
/// # Errors
/// The failure of an iteration.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
pub(super) unsafe fn look_while_rising(
    job: &mut Job<'_>,
    parts: usize,
) -> Result<Option<Vec<Seen>>, Failure> {
    let chunks = looking(job, BodyShape::Bounds)?;
    let none = nothing_seen(job);
    let seen: Vec<_> = (0..parts).map(|_| Mutex::new(none.clone())).collect();
    let is_over = AtomicBool::new(false);
    let count = job.shape.count;
    job.session.runtime().team().for_each(parts, &|number| {
        let Some(seen) = seen.get(number) else {
            return;
        };
        let mut seen = lock(seen);
        for look in number * LOOKS..(number + 1) * LOOKS {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            let iterations = part(count, parts * LOOKS, look);
            // SAFETY: the caller vouches for the body, which touches nothing but the bounds.
            unsafe { chunks.run(number, iterations, &table(&mut seen)) };
            if seen.iter().any(|(bounds, _)| bounds.falls < 0) {
                is_over.store(true, Ordering::Relaxed);
            }
        }
    });
    if is_over.into_inner() {
        return Ok(None);
    }
    chunks.finish(job.call)?;
    let seen = seen.into_iter().map(Mutex::into_inner);
    Ok(Some(seen.map(|it| it.unwrap_or(none.clone())).collect()))
}
