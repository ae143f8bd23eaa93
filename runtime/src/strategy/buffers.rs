//! Private buffers of groups of iterations.

use super::fill::fill_runs;
use super::merge::{Column, Pieces};
use super::{Job, bytes, distance};
use crate::abi::PrivateCall;
use crate::arena::ALIGNMENT;
use crate::failure::Failure;
use crate::loan::Loan;
use crate::session::Session;
use crate::timeline::Phase;
use smallvec::SmallVec;

/// A merge of fewer bytes is done before another thread would wake up.
const WORTH_SHARING: u64 = 256 << 10;

/// Tables lie this many bytes further apart than they are long.
const APART: u64 = 9 * ALIGNMENT as u64;

/// What a body is handed.
pub(super) type Table = SmallVec<[*mut u8; 8]>;

/// The private buffers of all groups: one piece of memory, the buffers of a group next to each
/// other.
pub(super) struct Buffers<'j> {
    loan: Loan<'j>,
    privates: &'j [PrivateCall],
    places: Places,
    stride: usize,
    groups: usize,
}

/// Whether buffers of fields of the same records lie in records, too, so that what one key updates
/// is in one place, or each by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Records,
    Fields,
}

/// Where the buffers of a group lie, from its first byte on. Sizes beyond `usize` never get their
/// memory, so what is beyond is not used then.
#[derive(Debug, PartialEq, Eq)]
struct Places {
    each: SmallVec<[Place; 8]>,
    /// Of all together.
    bytes: u64,
}

/// Where a buffer lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    offset: usize,
    /// The bytes from each run of elements to the next.
    stride: u64,
}

impl Places {
    fn of(privates: &[PrivateCall], layout: Layout) -> Self {
        let alone = |private: &PrivateCall| Place {
            offset: 0,
            stride: private.run_bytes(),
        };
        let mut places = Self {
            each: privates.iter().map(alone).collect(),
            bytes: 0,
        };
        for (first, private) in privates.iter().enumerate() {
            let is_like = |it: &PrivateCall| it.record == private.record;
            let lies_in_records = layout == Layout::Records && private.record != 0;
            if !lies_in_records {
                places.each[first].offset = size(places.bytes);
                places.bytes = places.bytes.saturating_add(padded(bytes(private)));
            } else if !privates.iter().take(first).any(is_like) {
                places.add_records(privates, private);
            }
        }
        places
    }

    /// Adds records of all the fields that lie in the same ones as `one`.
    fn add_records(&mut self, privates: &[PrivateCall], one: &PrivateCall) {
        let fields = privates.iter().enumerate();
        let fields: SmallVec<[_; 8]> = fields.filter(|(_, it)| it.record == one.record).collect();
        let mut width = 0_u64;
        for (number, field) in &fields {
            width = width.next_multiple_of(u64::from(field.element_bytes).max(1));
            self.each[*number].offset = size(self.bytes.saturating_add(width));
            width = width.saturating_add(field.run_bytes());
        }
        let width = width.next_multiple_of(size_of::<u64>() as u64);
        for (number, _) in &fields {
            self.each[*number].stride = width;
        }
        let records = one.elements / one.target_run.max(1);
        let whole = padded(records.saturating_mul(width));
        self.bytes = self.bytes.saturating_add(whole);
    }
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

// SAFETY: the pointers in `privates` are only handed on; `fill` asks its caller to keep tasks
// apart.
unsafe impl Sync for Buffers<'_> {}

impl<'j> Buffers<'j> {
    /// In memory that `take` gives; those of each of `tables` tables of a group as those of a group
    /// of its own.
    pub(super) fn new(
        privates: &'j [PrivateCall],
        layout: Layout,
        (groups, tables): (usize, usize),
        take: impl FnOnce(u64) -> Result<Loan<'j>, Failure>,
    ) -> Result<Self, Failure> {
        let places = Places::of(privates, layout);
        let mut stride = places.bytes;
        if tables > 1 {
            // A multiple of pages apart, the same element of all tables would lie in one set of the
            // caches.
            stride = stride.saturating_add(APART);
        }
        let groups = groups.saturating_mul(tables);
        Ok(Self {
            loan: take(stride.saturating_mul(groups as u64))?,
            privates,
            places,
            stride: size(stride),
            groups,
        })
    }

    /// The bytes from each buffer to that of the next group.
    pub(super) fn stride(&self) -> u64 {
        self.stride as u64
    }

    pub(super) fn loan(&self) -> &Loan<'j> {
        &self.loan
    }

    /// The addresses of the buffers of `group`, and behind them the distances between their runs of
    /// elements.
    pub(super) fn table(&self, group: usize) -> Table {
        let base = self.loan.address().wrapping_add(group * self.stride);
        let places = self.places.each.iter();
        let addresses = places.clone().map(|it| base.wrapping_add(it.offset));
        let strides = places.map(|it| distance(it.stride));
        addresses.chain(strides).collect()
    }

    /// Writes the identity to all buffers of `group`, on the thread that is going to use them.
    ///
    /// # Safety
    /// Nobody else touches the buffers of this group meanwhile.
    pub(super) unsafe fn fill(&self, group: usize) {
        let places = self.privates.iter().zip(&self.places.each);
        for ((private, place), buffer) in places.zip(self.table(group)) {
            // SAFETY: `new` made room for the elements of every private of every group.
            unsafe { fill_runs(buffer, place.stride, private) };
        }
    }

    /// What is merged together: the entries of the table from one with parts up to the next.
    /// Nothing when there are no groups.
    pub(super) fn columns(&self, session: &Session<'_>) -> Result<Vec<Column<'j>>, Failure> {
        if self.groups == 0 {
            return Ok(Vec::new());
        }
        let entries = self.privates.chunk_by(|_, next| next.parts == 0);
        let mut places = self.places.each.as_slice();
        entries
            .map(|privates| {
                let (own, behind) = places.split_at(privates.len());
                places = behind;
                Ok(Column {
                    privates,
                    merge: session.merge(privates.first().map_or(0, |it| it.merge))?,
                    first: own
                        .iter()
                        .map(|it| self.loan.address().wrapping_add(it.offset))
                        .collect(),
                    strides: own.iter().map(|it| it.stride).collect(),
                    stride: self.stride,
                    parts: self.groups,
                    filled: None,
                })
            })
            .collect()
    }
}

/// Merges all groups into the targets.
///
/// # Safety
/// All buffers are filled where the columns say that they hold something, and nobody else touches
/// them or the targets meanwhile.
pub(super) unsafe fn merge(columns: &[Column<'_>], groups: usize, job: &Job<'_>) {
    for together in columns.chunk_by(Column::lies_with) {
        let pieces = Pieces(together);
        // SAFETY: the caller vouches for buffers and targets; pieces have no element in common.
        let merge = |piece: usize| unsafe { pieces.merge(piece) };
        let sizes = together.iter().flat_map(|it| it.privates).map(bytes);
        let size = sizes.fold(0_u64, u64::saturating_add);
        if size.saturating_mul(groups as u64) < WORTH_SHARING {
            let merge_all = || (0..pieces.count()).for_each(merge);
            job.session.seen(Phase::Merge, merge_all);
        } else {
            let team = job.session.runtime().team();
            team.for_each(pieces.count(), &|piece| {
                job.session.seen(Phase::Merge, || merge(piece));
            });
        }
    }
}

/// So many bytes, rounded up so that the next buffer starts on cache lines of its own.
fn padded(bytes: u64) -> u64 {
    bytes
        .checked_next_multiple_of(ALIGNMENT as u64)
        .unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(record: u32, element_bytes: u32, run: u64) -> PrivateCall {
        PrivateCall {
            target_stride: 64,
            target_run: run,
            record,
            ..PrivateCall::of_sums(std::ptr::null_mut(), 10 * run, element_bytes)
        }
    }

    fn told(places: &Places) -> (Vec<u64>, Vec<usize>) {
        let each = places.each.iter();
        each.map(|it| (it.stride, it.offset)).unzip()
    }

    #[test]
    fn fields_of_the_same_records_lie_in_records() {
        let privates = [
            field(2, 1, 1),
            field(0, 4, 1),
            field(2, 8, 1),
            field(4, 8, 1),
            field(2, 4, 3),
        ];
        let places = Places::of(&privates, Layout::Records);
        // A byte, eight of them, and three times four.
        let (strides, offsets) = told(&places);
        assert_eq!(strides, [32, 4, 32, 8, 32]);
        let line = ALIGNMENT;
        let behind = 320_usize.next_multiple_of(line);
        assert_eq!(offsets, [0, behind, 8, behind + line, 16]);
        assert_eq!(places.bytes, (behind + 2 * line) as u64);
    }

    #[test]
    fn or_each_by_itself() {
        let privates = [field(1, 8, 1), field(1, 4, 2)];
        let places = Places::of(&privates, Layout::Fields);
        assert_eq!(told(&places), (vec![8, 8], vec![0, ALIGNMENT]));
    }
}
