use super::safety::Safety;
use super::serial::targets;
use super::{Job, Ran, Shape, Strategy};
use crate::abi::{BodyShape, ChunkFn};
use crate::chunks::part;
use crate::failure::{Failure, Refusal};
use crate::settings::Body;
use std::ops::Range;
use std::time::Instant;

/// All iterations in order on every thread, each of which updates columns of its own, the targets
/// as private buffers: the bits of the serial loop, for loops that update whole rows.
#[derive(Debug)]
pub(super) struct Columns;

/// A thread gets so many bytes of a row at least: two cache lines, since processors fetch them in
/// pairs.
const LEAST_BYTES: u64 = 128;

impl Strategy for Columns {
    fn name(&self) -> &'static str {
        "columns"
    }

    fn refusal(&self, shape: &Shape) -> Option<Refusal> {
        let has_columns = shape.has_bodies && shape.columns.is_some();
        (!has_columns).then_some(Refusal::NoColumns {
            strategy: self.name(),
        })
    }

    fn body_shape(&self, _body: Body, _shape: &Shape) -> BodyShape {
        BodyShape::Columns
    }

    unsafe fn run(&self, job: &mut Job<'_>) -> Result<Ran, Failure> {
        let start = Instant::now();
        let parts = parts(&job.shape);
        let cuts = Cuts::of(job);
        let table = |number| {
            let Range { start, end } = cuts.range(parts, number);
            Table::new(job, &[start, end].map(|it| it as usize))
        };
        let tables = (0..parts).map(table).collect();
        let body = job.body(self)?;
        // SAFETY: the caller vouches for the forall; different parts update different columns of
        // the targets.
        unsafe { run_for_each(job, body, tables, start) }
    }
}

/// What a part hands to the body: the targets, and behind them what is the part's own.
pub(super) struct Table(smallvec::SmallVec<[*mut u8; 8]>);

// SAFETY: the addresses are only handed on; `run_for_each` asks its caller to keep what the parts
// do with them apart.
unsafe impl Sync for Table {}

impl Table {
    pub(super) fn new(job: &Job<'_>, own: &[usize]) -> Self {
        let own = own.iter().copied();
        let mut table = targets(job);
        table.extend(own.map(std::ptr::without_provenance_mut::<u8>));
        Self(table)
    }
}

/// All iterations for each of `tables`, on as many threads, by a body that makes the updates of one
/// part alone.
///
/// # Errors
/// A failure, and what was updated is put back.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall; with different tables, `body`
/// updates different elements.
pub(super) unsafe fn run_for_each(
    job: &mut Job<'_>,
    body: ChunkFn,
    tables: Vec<Table>,
    start: Instant,
) -> Result<Ran, Failure> {
    // SAFETY: the caller vouches for the forall.
    let safety = unsafe { Safety::prepare(job) }?;
    let prepared = Instant::now();
    // Every part runs all iterations, and it would count as many times what is done.
    let chunks = safety.chunks(job, body).unseen();
    let iterations = part(job.shape.count, 1, 0);
    job.session
        .runtime()
        .team()
        .for_each(tables.len(), &|number| {
            if let Some(table) = tables.get(number) {
                // SAFETY: the caller vouches for the targets, and for the body.
                unsafe { chunks.run(number, iterations.clone(), &table.0) };
            }
        });
    // SAFETY: the caller vouches for the targets, and no body runs any more.
    unsafe { safety.finish(chunks, job) }?;
    Ok(Ran {
        chunks: tables.len() as u64,
        threads: tables.len(),
        prepare: prepared - start,
        main: prepared.elapsed(),
        ..Ran::default()
    })
}

/// In how many parts the columns are divided.
pub(super) fn parts(shape: &Shape) -> usize {
    let columns = shape.columns.unwrap_or(0);
    let widest = columns.saturating_mul(shape.bytes) / shape.elements.max(1);
    let most = widest / LEAST_BYTES;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    shape.threads.min(most).max(1)
}

/// Whether there are parts for several threads.
pub(super) fn is_worth_it(shape: &Shape) -> bool {
    shape.has_bodies && parts(shape) > 1
}

/// Where columns are divided.
#[derive(Clone, Copy, Debug)]
struct Cuts {
    columns: u64,
    /// At multiples of this alone.
    step: u64,
    /// Where the first target begins, and how long its elements are.
    address: u64,
    element_bytes: u64,
}

impl Cuts {
    fn of(job: &Job<'_>) -> Self {
        let first = job.privates.first();
        Self {
            columns: job.shape.columns.unwrap_or(0),
            step: job.forall.column_step.max(1),
            address: first.map_or(0, |it| it.target.addr() as u64),
            element_bytes: u64::from(first.map_or(1, |it| it.element_bytes).max(1)),
        }
    }

    /// The columns of part `number`; the first begins below all and the last ends behind all, since
    /// some outputs may be wider than others.
    fn range(&self, parts: usize, number: usize) -> Range<i64> {
        self.cut(parts, number)..self.cut(parts, number + 1)
    }

    fn cut(&self, parts: usize, number: usize) -> i64 {
        match number {
            0 => i64::MIN,
            _ if number == parts => i64::MAX,
            _ => {
                let at = part(self.columns, parts, number).start.unsigned_abs();
                let at = self.between_lines(at);
                (at - at % self.step).cast_signed()
            }
        }
    }

    /// The last column up to `at` with which a pair of cache lines begins, if it does so in every
    /// row: threads that write to one line wait for each other in each row.
    fn between_lines(&self, at: u64) -> u64 {
        let row = self.columns.wrapping_mul(self.element_bytes);
        let lines = [LEAST_BYTES, LEAST_BYTES / 2];
        let Some(line) = lines.into_iter().find(|line| row.is_multiple_of(*line)) else {
            return at;
        };
        let begin = self
            .address
            .wrapping_add(at.wrapping_mul(self.element_bytes));
        at.saturating_sub(begin % line / self.element_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_follow_each_other_and_are_cut_at_multiples() {
        for columns in [16, 17, 64, 100, 1 << 40] {
            for (parts, step) in [(1, 1), (2, 4), (3, 16), (4, 1)] {
                let cuts = Cuts {
                    columns,
                    step,
                    address: 16,
                    element_bytes: 4,
                };
                let ranges: Vec<_> = (0..parts).map(|it| cuts.range(parts, it)).collect();
                assert_eq!(ranges[0].start, i64::MIN);
                assert_eq!(ranges[parts - 1].end, i64::MAX);
                for pair in ranges.windows(2) {
                    assert_eq!(pair[0].end, pair[1].start);
                    assert_eq!(pair[0].end.unsigned_abs() % step, 0);
                }
            }
        }
    }

    #[test]
    fn rows_of_whole_lines_are_divided_between_lines() {
        let cuts = Cuts {
            columns: 64,
            step: 1,
            address: 0x1010,
            element_bytes: 4,
        };
        assert_eq!(cuts.range(2, 0).end, 28);
        assert_eq!((cuts.address + 28 * 4) % 128, 0);
    }
}
