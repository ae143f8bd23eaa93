//! Merging of private buffers: a fixed tree over the parts, in their order.

use crate::abi::PrivateCall;

/// How many bytes of the target are merged at a time. With the same bytes of eight parts they stay in the first cache, so that every
/// level of the tree but the first finds its operands there.
pub(super) const BLOCK: usize = 4096;

/// How many blocks a thread takes at a time.
const BLOCKS_PER_PIECE: usize = 16;

/// The private buffers that belong to one target: `parts` of them, `stride` bytes apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) private: PrivateCall,
    pub(super) first: *mut u8,
    pub(super) stride: usize,
    pub(super) parts: usize,
}

// SAFETY: whoever makes a column vouches for its memory on any thread; `merge_piece` touches disjoint elements for different pieces.
unsafe impl Sync for Column {}

impl Column {
    fn elements_per_piece(&self) -> u64 {
        let bytes = (BLOCK * BLOCKS_PER_PIECE) as u64;
        bytes / u64::from(self.private.element_bytes.max(1))
    }

    /// In how many pieces threads share the merge.
    pub(super) fn pieces(&self) -> usize {
        let pieces = self.private.elements.div_ceil(self.elements_per_piece());
        usize::try_from(pieces).unwrap_or(usize::MAX)
    }

    /// Merges all parts into the target, for the elements of piece `number`.
    ///
    /// # Safety
    /// The target and the buffers of all parts are valid for reads and writes, do not overlap, and nobody else touches the elements
    /// of this piece meanwhile.
    pub(super) unsafe fn merge_piece(&self, number: usize) {
        let per_block = self.elements_per_piece() / BLOCKS_PER_PIECE as u64;
        let start = self.elements_per_piece() * number as u64;
        let end = self
            .private
            .elements
            .min(start.saturating_add(self.elements_per_piece()));
        let mut block = start;
        while block < end {
            let elements = per_block.min(end - block);
            // SAFETY: the block lies within the elements; the caller vouches for the rest.
            unsafe { self.merge_block(block, elements) };
            block += elements;
        }
    }

    /// The tree for `elements` elements from `start`: neighbours first, then neighbouring pairs, and so on; the target last, which
    /// so is read and written once.
    ///
    /// # Safety
    /// That of [`merge_piece`](Self::merge_piece).
    unsafe fn merge_block(&self, start: u64, elements: u64) {
        let offset = start as usize * self.private.element_bytes as usize;
        let part = |number: usize| self.first.wrapping_add(number * self.stride + offset);
        let merge = self.private.merge;
        let mut width = 1;
        while width < self.parts {
            let mut held = 0;
            while held + width < self.parts {
                // SAFETY: both are blocks of different parts; the caller vouches for them.
                unsafe { merge(part(held), part(held + width), elements) };
                held += 2 * width;
            }
            width *= 2;
        }
        let target = self.private.target.wrapping_add(offset);
        // SAFETY: the caller vouches for the target, which overlaps no part.
        unsafe { merge(target, part(0), elements) };
    }
}
