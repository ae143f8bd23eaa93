//! Private buffers of groups of iterations.

use super::fill::fill;
use super::merge::Column;
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
    offsets: SmallVec<[usize; 8]>,
    stride: usize,
    groups: usize,
}

// SAFETY: the pointers in `privates` are only handed on; `fill` asks its caller to keep tasks
// apart.
unsafe impl Sync for Buffers<'_> {}

impl<'j> Buffers<'j> {
    /// In memory that `take` gives; those of each of `tables` tables of a group as those of a group
    /// of its own.
    pub(super) fn new(
        privates: &'j [PrivateCall],
        groups: usize,
        tables: usize,
        take: impl FnOnce(u64) -> Result<Loan<'j>, Failure>,
    ) -> Result<Self, Failure> {
        let mut offsets = SmallVec::new();
        let mut stride = 0_u64;
        for private in privates {
            // Sizes beyond `usize` never get their memory, so the offset is not used then.
            offsets.push(usize::try_from(stride).unwrap_or(usize::MAX));
            stride = stride.saturating_add(padded(private));
        }
        if tables > 1 {
            // A multiple of pages apart, the same element of all tables would lie in one set of the
            // caches.
            stride = stride.saturating_add(APART);
        }
        let groups = groups.saturating_mul(tables);
        Ok(Self {
            loan: take(stride.saturating_mul(groups as u64))?,
            privates,
            offsets,
            stride: usize::try_from(stride).unwrap_or(usize::MAX),
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
        let addresses = self.offsets.iter().map(|offset| base.wrapping_add(*offset));
        let strides = self.privates.iter();
        let strides = strides.map(|private| distance(private.run_bytes()));
        addresses.chain(strides).collect()
    }

    /// Writes the identity to all buffers of `group`, on the thread that is going to use them.
    ///
    /// # Safety
    /// Nobody else touches the buffers of this group meanwhile.
    pub(super) unsafe fn fill(&self, group: usize) {
        for (private, buffer) in self.privates.iter().zip(self.table(group)) {
            // SAFETY: `new` made room for the elements of every private of every group.
            unsafe { fill(buffer, private.elements, private) };
        }
    }

    /// What is merged together: the entries of the table from one with parts up to the next.
    /// Nothing when there are no groups.
    pub(super) fn columns(&self, session: &Session<'_>) -> Result<Vec<Column<'j>>, Failure> {
        if self.groups == 0 {
            return Ok(Vec::new());
        }
        let entries = self.privates.chunk_by(|_, next| next.parts == 0);
        let mut offsets = self.offsets.iter();
        entries
            .map(|privates| {
                let first = offsets.by_ref().take(privates.len());
                Ok(Column {
                    privates,
                    merge: session.merge(privates.first().map_or(0, |it| it.merge))?,
                    first: first
                        .map(|offset| self.loan.address().wrapping_add(*offset))
                        .collect(),
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
    for column in columns {
        // SAFETY: the caller vouches for buffers and targets; pieces have no element in common.
        let merge = |piece: usize| unsafe { column.merge_piece(piece) };
        let sizes = column.privates.iter().map(bytes);
        let size = sizes.fold(0_u64, u64::saturating_add);
        if size.saturating_mul(groups as u64) < WORTH_SHARING {
            let merge_all = || (0..column.pieces()).for_each(merge);
            job.session.seen(Phase::Merge, merge_all);
        } else {
            let team = job.session.runtime().team();
            team.for_each(column.pieces(), &|piece| {
                job.session.seen(Phase::Merge, || merge(piece));
            });
        }
    }
}

/// The bytes of a buffer, rounded up so that the next one starts on cache lines of its own.
fn padded(private: &PrivateCall) -> u64 {
    bytes(private)
        .checked_next_multiple_of(ALIGNMENT as u64)
        .unwrap_or(u64::MAX)
}
