//! Ranges of elements that updates are sorted by.

use crate::abi::{KEY_BITS, PrivateCall};
use smallvec::SmallVec;

/// A range of elements has at most so many bytes where that makes no more than [`MANY_RANGES`], so
/// that half of the second cache is left to the updates that are applied to it.
const RANGE_BYTES: u64 = 256 << 10;

/// With more ranges, the lines in which updates are gathered leave the first cache for good, and
/// the second one in the end.
const MANY_RANGES: u64 = 512;

/// At least so many ranges for each thread, to even out slow ones.
const LEAST_PER_THREAD: u64 = 8;

/// How the elements of the buffers that are merged together are divided into ranges of equal size,
/// a power of two up to `2^KEY_BITS`.
#[derive(Clone, Debug)]
pub(super) struct Ranges {
    pub(super) shift: u32,
    pub(super) count: usize,
    /// The bytes of an element of each buffer.
    pub(super) widths: SmallVec<[usize; 2]>,
}

impl Ranges {
    /// Enough of them for `threads` threads, where there are as many elements.
    pub(super) fn new(privates: &[PrivateCall], threads: usize) -> Self {
        let widths: SmallVec<[usize; 2]> = privates
            .iter()
            .map(|it| it.element_bytes as usize)
            .collect();
        let elements = privates.first().map_or(0, |it| it.elements);
        let bytes = widths.iter().sum::<usize>() as u64;
        let shift = shift(elements, bytes, threads);
        Self {
            shift,
            count: count(elements, shift),
            widths,
        }
    }

    /// How many there are for `threads` threads, of so many elements with so many bytes together.
    pub(super) fn number(elements: u64, bytes: u64, threads: usize) -> usize {
        let each = bytes / elements.max(1);
        count(elements, shift(elements, each, threads))
    }

    /// The range that the element `key` belongs to.
    #[inline]
    pub(super) fn of(&self, key: u32) -> usize {
        (u64::from(key) >> self.shift) as usize
    }

    /// What keys of updates of range `number` count from in the target of each of `privates`: an
    /// element whose number has zeros for its lowest [`KEY_BITS`].
    pub(super) fn targets(
        &self,
        privates: &[PrivateCall],
        number: usize,
    ) -> SmallVec<[*mut u8; 2]> {
        let first = (number << self.shift) >> KEY_BITS << KEY_BITS;
        let targets = privates.iter().zip(&self.widths);
        targets
            .map(|(private, width)| private.target.wrapping_add(first * width))
            .collect()
    }
}

/// The logarithm of how many elements of `bytes` bytes a range has.
fn shift(elements: u64, bytes: u64, threads: usize) -> u32 {
    let least = LEAST_PER_THREAD * threads.max(1) as u64;
    let range = (RANGE_BYTES / bytes.max(1)).min(elements / least).max(1);
    let many = elements.div_ceil(MANY_RANGES).max(1).next_power_of_two();
    range.ilog2().max(many.ilog2()).min(KEY_BITS)
}

fn count(elements: u64, shift: u32) -> usize {
    usize::try_from(elements.div_ceil(1 << shift)).unwrap_or(usize::MAX)
}
