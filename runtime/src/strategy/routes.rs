//! Where the updates of a forall go: found out once, used whenever it runs again.

use super::Job;
use super::lines::LINE;
use super::ranges::Ranges;
use crate::abi::BodyShape;
use crate::chunks::{Chunks, part};
use crate::failure::{Failure, Held};
use crate::loan::Reserved;
use crate::memory::lock;
use crate::session::Session;
use crate::stream::{self, Sink};
use std::ops::Range;
use std::sync::Mutex;

/// Where all updates of a forall go.
#[derive(Debug)]
pub(crate) struct Routes {
    /// For the buffers that are merged together, one group of them after the other.
    pub(super) columns: Vec<ColumnRoutes>,
}

/// Where the updates of buffers that are merged together go.
#[derive(Debug)]
pub(super) struct ColumnRoutes {
    pub(super) ranges: Ranges,
    pub(super) parts: Vec<PartRoutes>,
}

/// Where the updates of some consecutive iterations go.
#[derive(Debug, Default)]
pub(super) struct PartRoutes {
    /// For each update, in order, the range that it belongs to; behind them all a number that no
    /// range has.
    pub(super) sequence: Vec<u16>,
    /// For each range where its updates begin when they are sorted, a multiple of [`LINE`], and
    /// behind them where they end.
    pub(super) starts: Vec<usize>,
    /// For each range how many there are.
    pub(super) counts: Vec<usize>,
    /// The lowest bits of the number of each update's element, when they are sorted.
    keys: Vec<u16>,
}

impl Routes {
    pub(crate) fn bytes(&self) -> u64 {
        let parts = self.columns.iter().flat_map(|it| &it.parts);
        parts.map(|part| part.bytes() as u64).sum()
    }
}

/// Runs all iterations for their keys alone.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
pub(super) unsafe fn find(job: &Job<'_>) -> Result<Routes, Failure> {
    let parts = job.shape.parts();
    let ranges = job.together();
    let ranges = ranges.map(|privates| Ranges::new(privates, job.shape.threads));
    let ranges: Vec<_> = ranges.collect();
    let (session, count) = (job.session, job.shape.count);
    let body = session.body(job.forall, BodyShape::Emit)?;
    let chunks = Chunks::new(session, job.call, job.forall, true);
    let chunks = chunks.with_body(body).unseen();
    let found: Vec<_> = (0..parts).map(|_| Mutex::new(Vec::new())).collect();
    session.runtime().team().for_each(parts, &|number| {
        if chunks.is_wanted(number) {
            let iterations = part(count, parts, number);
            // SAFETY: whoever called `run_forall` vouches for the body.
            let routes = unsafe { find_part(session, &ranges, &chunks, number, iterations) };
            *lock(&found[number]) = chunks.settle(number, routes);
        }
    });
    chunks.outcome()?;
    let mut columns: Vec<_> = ranges
        .into_iter()
        .map(|ranges| ColumnRoutes {
            ranges,
            parts: Vec::with_capacity(parts),
        })
        .collect();
    for routes in found {
        let routes = routes.into_inner().unwrap_or_default();
        for (column, part) in columns.iter_mut().zip(routes) {
            column.parts.push(part);
        }
    }
    Ok(Routes { columns })
}

/// Runs `iterations`, which are chunk `number`, for their keys alone. Failures of the body are left
/// with the chunks.
///
/// # Errors
/// For want of memory.
///
/// # Safety
/// The body of `chunks` is one that makes updates, with these ranges.
unsafe fn find_part(
    session: &Session<'_>,
    ranges: &[Ranges],
    chunks: &Chunks<'_>,
    number: usize,
    iterations: Range<i64>,
) -> Result<Vec<PartRoutes>, Failure> {
    let mut keys: Vec<_> = ranges.iter().map(|_| Keys::new(session)).collect();
    let sinks = ranges.iter().zip(&mut keys);
    let sinks = sinks.map(|(ranges, keys)| (ranges.widths.len(), keys as &mut dyn Sink));
    // SAFETY: handed on as it came.
    unsafe { stream::run(chunks, number, iterations, sinks) }?;
    let keys = keys.iter().zip(ranges);
    keys.map(|(keys, ranges)| PartRoutes::of(&keys.all, ranges, session))
        .collect()
}

impl PartRoutes {
    /// Of updates of the elements `keys`, in their order.
    ///
    /// # Errors
    /// For want of memory.
    pub(super) fn of(
        keys: &[u32],
        ranges: &Ranges,
        session: &Session<'_>,
    ) -> Result<Self, Failure> {
        // Counts, where updates of ranges begin, and where the next ones go while they are sorted.
        session.keep(3 * (size_of::<usize>() * ranges.count) as u64)?;
        let mut counts = vec![0_usize; ranges.count];
        for key in keys {
            counts[ranges.of(*key)] += 1;
        }
        let mut starts = Vec::with_capacity(counts.len() + 1);
        let mut end = 0;
        for count in &counts {
            starts.push(end);
            end += count.next_multiple_of(LINE);
        }
        starts.push(end);
        let mut routes = Self {
            sequence: filled(keys.len() + 1, ranges.count as u16, session)?,
            keys: filled(end, 0, session)?,
            starts,
            counts,
        };
        routes.sort(keys, ranges);
        Ok(routes)
    }

    fn sort(&mut self, keys: &[u32], ranges: &Ranges) {
        let mut next = self.starts.clone();
        for (key, range) in keys.iter().zip(&mut self.sequence) {
            let number = ranges.of(*key);
            *range = number as u16;
            let place = next[number];
            next[number] += 1;
            self.keys[place] = *key as u16;
        }
    }

    /// The keys from the sorted update `place` on.
    pub(super) fn keys_from(&self, place: usize) -> *const u16 {
        self.keys.as_ptr().wrapping_add(place)
    }

    /// How many updates there are when they are sorted, with what lies between the ranges.
    pub(super) fn length(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    fn bytes(&self) -> usize {
        let keys = size_of_val(self.keys.as_slice());
        let tables = self.starts.len() + self.counts.len();
        keys + size_of_val(self.sequence.as_slice()) + tables * size_of::<usize>()
    }
}

/// So many values, in memory that counts against the budget of the call until it ends.
fn filled<T: Clone>(length: usize, value: T, session: &Session<'_>) -> Result<Vec<T>, Failure> {
    let bytes = length.saturating_mul(size_of::<T>()) as u64;
    session.keep(bytes)?;
    let mut all = Vec::new();
    let reserved = all.try_reserve_exact(length);
    reserved.map_err(|_| Failure::OutOfMemory { bytes })?;
    all.resize(length, value);
    Ok(all)
}

/// The keys of the updates of some consecutive iterations, in their order.
pub(super) struct Keys<'s> {
    pub(super) all: Vec<u32>,
    session: Session<'s>,
    reserved: Vec<Reserved<'s>>,
}

impl<'s> Keys<'s> {
    pub(super) fn new(session: &Session<'s>) -> Self {
        Self {
            all: Vec::new(),
            session: *session,
            reserved: Vec::new(),
        }
    }

    /// Makes room for `more` keys.
    fn reserve(&mut self, more: usize) -> Result<(), Failure> {
        let (before, length) = (self.all.capacity(), self.all.len());
        if before - length >= more {
            return Ok(());
        }
        let wanted = before.saturating_mul(2).max(length.saturating_add(more));
        let bytes = ((wanted - before) as u64).saturating_mul(size_of::<u32>() as u64);
        self.reserved
            .push(self.session.reserve(bytes, Held::Privates)?);
        let reserved = self.all.try_reserve_exact(wanted - length);
        reserved.map_err(|_| Failure::OutOfMemory { bytes })
    }
}

impl Sink for Keys<'_> {
    fn take(&mut self, keys: &[u32]) -> Result<(), Failure> {
        self.reserve(keys.len())?;
        self.all.extend_from_slice(keys);
        Ok(())
    }
}
