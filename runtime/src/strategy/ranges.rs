//! Ranges of elements that updates are sorted by.

use crate::abi::{KeyWidth, PrivateCall};
use smallvec::SmallVec;

/// A range of elements has at most so many bytes, so that it stays in the second cache while its updates are applied.
const RANGE_BYTES: u64 = 512 << 10;

/// There are at most so many ranges: the lines that are being gathered are to stay in the second cache.
const MOST_RANGES: u64 = 1024;

/// At least so many ranges for each thread, to even out slow ones.
const LEAST_PER_THREAD: u64 = 8;

/// How the elements of the buffers that are merged together are divided into ranges of equal size, a power of two.
#[derive(Clone, Debug)]
pub(super) struct Ranges {
    shift: u32,
    pub(super) count: usize,
    /// The bytes of an element of each buffer.
    pub(super) widths: SmallVec<[usize; 2]>,
}

impl Ranges {
    /// Enough of them for `threads` threads, where there are as many elements.
    pub(super) fn new(privates: &[PrivateCall], threads: usize) -> Self {
        let least = LEAST_PER_THREAD * threads.max(1) as u64;
        let widths: SmallVec<[usize; 2]> = privates
            .iter()
            .map(|it| it.element_bytes as usize)
            .collect();
        let elements = privates.first().map_or(0, |it| it.elements);
        let bytes = widths.iter().sum::<usize>().max(1) as u64;
        let most = (RANGE_BYTES / bytes).min(elements.div_ceil(least));
        let range = most.max(elements.div_ceil(MOST_RANGES)).max(1);
        let shift = range.next_power_of_two().trailing_zeros();
        // A range is not to be larger than what was found for want of a power of two, if there may be more of them.
        let shift = if range.is_power_of_two() || elements >> (shift.max(1) - 1) >= MOST_RANGES {
            shift
        } else {
            shift - 1
        };
        let count = elements.div_ceil(1 << shift);
        Self {
            shift,
            count: usize::try_from(count).unwrap_or(usize::MAX),
            widths,
        }
    }

    /// How wide the number of an element within its range is.
    pub(super) fn keys(&self) -> KeyWidth {
        if self.shift <= u16::BITS {
            KeyWidth::Narrow
        } else {
            KeyWidth::Wide
        }
    }

    pub(super) fn key_bytes(&self) -> usize {
        match self.keys() {
            KeyWidth::Narrow => size_of::<u16>(),
            KeyWidth::Wide => size_of::<u32>(),
        }
    }

    /// The bytes that an update takes.
    pub(super) fn update_bytes(&self) -> usize {
        self.key_bytes() + self.widths.iter().sum::<usize>()
    }

    /// The range that the element `key` belongs to.
    #[inline]
    pub(super) fn of(&self, key: u32) -> usize {
        (u64::from(key) >> self.shift) as usize
    }

    /// The number of the element `key` within its range.
    #[inline]
    pub(super) fn local(&self, key: u32) -> u32 {
        key & ((1_u64 << self.shift) - 1) as u32
    }

    /// Where range `number` begins in the target of each of `privates`.
    pub(super) fn targets(
        &self,
        privates: &[PrivateCall],
        number: usize,
    ) -> SmallVec<[*mut u8; 2]> {
        let first = number << self.shift;
        let targets = privates.iter().zip(&self.widths);
        targets
            .map(|(private, width)| private.target.wrapping_add(first * width))
            .collect()
    }
}
