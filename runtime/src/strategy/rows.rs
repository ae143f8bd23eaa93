use super::columns::{Table, run_for_each};
use super::{Job, Ran, Shape, Strategy};
use crate::abi::BodyShape;
use crate::failure::{Failure, Refusal};
use crate::settings::Body;
use std::time::Instant;

/// All iterations in order on every thread, each of which updates rows of its own, the targets as
/// private buffers: the bits of the serial loop, for loops that update whole rows. It is the
/// owner-computes rule of distributed arrays.
#[derive(Debug)]
pub(super) struct Rows;

/// Rows that follow each other in so many bytes have one owner: threads that write to one line wait
/// for each other.
const BLOCK_BYTES: u64 = 4 << 10;

impl Strategy for Rows {
    fn name(&self) -> &'static str {
        "rows"
    }

    fn refusal(&self, shape: &Shape) -> Option<Refusal> {
        let has_rows = shape.has_bodies && shape.row_columns.is_some();
        (!has_rows).then_some(Refusal::NoRows {
            strategy: self.name(),
        })
    }

    fn body_shape(&self, _body: Body, _shape: &Shape) -> BodyShape {
        BodyShape::Rows
    }

    unsafe fn run(&self, job: &mut Job<'_>) -> Result<Ran, Failure> {
        let start = Instant::now();
        let owners = owners(&job.shape);
        let shift = block_shift(row_bytes(&job.shape));
        let table = |owner| Table::new(job, &[owner, owners as usize, shift as usize]);
        let tables = (0..owners as usize).map(table).collect();
        let body = job.body(self)?;
        // SAFETY: the caller vouches for the forall; different owners update different rows of the
        // targets.
        unsafe { run_for_each(job, body, tables, start) }
    }
}

/// How many owners there are: one for each thread.
pub(super) fn owners(shape: &Shape) -> u32 {
    u32::try_from(shape.threads).unwrap_or(u32::MAX).max(1)
}

/// The bytes of a row.
fn row_bytes(shape: &Shape) -> u64 {
    let columns = shape.row_columns.unwrap_or(0);
    columns.saturating_mul(shape.bytes) / shape.elements.max(1)
}

/// The logarithm of how many rows of so many bytes a block has.
fn block_shift(row_bytes: u64) -> u32 {
    let rows = BLOCK_BYTES.div_ceil(row_bytes.max(1));
    rows.next_power_of_two().trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::owner_of_row;

    #[test]
    fn owners_get_about_the_same_number_of_rows() {
        for owners in [1, 2, 3, 7, 16, 64] {
            for shift in [0, 3, 7] {
                let mut counts = vec![0_u64; owners as usize];
                let rows = 1 << 16;
                (0..rows).for_each(|row| counts[owner_of_row(row, owners, shift) as usize] += 1);
                let fair = rows / u64::from(owners);
                let most = fair + fair / 4 + (1 << shift);
                assert!(counts.iter().all(|it| *it <= most), "{counts:?} {shift}");
            }
        }
    }

    #[test]
    fn blocks_are_of_whole_pages_or_single_rows() {
        assert_eq!(
            [4, 32, 256, 4096, 20_000].map(block_shift),
            [10, 7, 4, 0, 0]
        );
    }
}
