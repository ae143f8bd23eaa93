use crate::failure::{Failure, Held};
use crate::loan::Loan;
use crate::session::Session;
use smallvec::SmallVec;
use std::ptr;

/// Memory to be put back when a call fails.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// Its first byte.
    pub address: *mut u8,
    /// How many bytes.
    pub bytes: usize,
}

/// The unit in which threads share a copy: large enough to stream, small enough to balance.
const PIECE: usize = 1 << 20;

/// Copies of regions, in memory that counts against the budget.
#[derive(Debug)]
pub(crate) struct Snapshot<'r> {
    regions: SmallVec<[Region; 4]>,
    copy: Option<Loan<'r>>,
}

impl<'r> Snapshot<'r> {
    /// Copies `regions`.
    ///
    /// # Errors
    /// Those of [`Session::take`].
    ///
    /// # Safety
    /// The regions are valid for reads, and nobody writes them meanwhile.
    pub(crate) unsafe fn take(
        session: &Session<'r>,
        regions: impl Iterator<Item = Region>,
    ) -> Result<Self, Failure> {
        let regions: SmallVec<[Region; 4]> = regions.filter(|region| region.bytes > 0).collect();
        if regions.is_empty() {
            return Ok(Self {
                regions,
                copy: None,
            });
        }
        let bytes = regions
            .iter()
            .fold(0_u64, |sum, region| sum.saturating_add(region.bytes as u64));
        let copy = session.take(bytes, Held::Copies)?;
        let snapshot = Self {
            regions,
            copy: Some(copy),
        };
        // SAFETY: the copy was made large enough for all regions one after the other, and new
        // memory overlaps none of them.
        snapshot.for_each_region(|region, copy| unsafe {
            copy_bytes(session, region.address, copy, region.bytes);
        });
        Ok(snapshot)
    }

    /// Puts the regions back.
    ///
    /// # Safety
    /// The regions are valid for writes, and nobody else touches them meanwhile.
    pub(crate) unsafe fn restore(&self, session: &Session<'_>) {
        // SAFETY: as in `take`, the other way round.
        self.for_each_region(|region, copy| unsafe {
            copy_bytes(session, copy, region.address, region.bytes);
        });
    }

    fn for_each_region(&self, mut visit: impl FnMut(Region, *mut u8)) {
        let Some(copy) = &self.copy else { return };
        let mut address = copy.address();
        for region in &self.regions {
            visit(*region, address);
            address = address.wrapping_add(region.bytes);
        }
    }
}

struct Ends {
    source: *const u8,
    sink: *mut u8,
}

// SAFETY: only `copy_bytes` makes one, whose caller vouches for the memory on any thread; its tasks
// touch disjoint parts.
unsafe impl Sync for Ends {}

/// Copies `bytes` bytes, on several threads when they are many.
///
/// # Safety
/// `source` is valid for reads and `sink` for writes of so many bytes, and the two do not overlap.
unsafe fn copy_bytes(session: &Session<'_>, source: *const u8, sink: *mut u8, bytes: usize) {
    let ends = Ends { source, sink };
    let copy = |piece: usize| {
        let ends = &ends;
        let start = piece * PIECE;
        let length = PIECE.min(bytes - start);
        // SAFETY: `start + length` is at most `bytes`; the caller vouches for the rest.
        unsafe {
            ptr::copy_nonoverlapping(ends.source.add(start), ends.sink.add(start), length);
        }
    };
    session
        .runtime()
        .team()
        .for_each(bytes.div_ceil(PIECE), &copy);
}
