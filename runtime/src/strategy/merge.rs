//! Merging of private buffers: a fixed tree over the parts, in their order.

use crate::abi::PrivateCall;
use std::ptr;

/// How many bytes of the target are merged at a time. With the same bytes of eight parts they stay in the first cache, so that every
/// level of the tree but the first finds its operands there.
pub(super) const BLOCK: usize = 4096;

/// Room for a block, aligned as merge functions want it.
#[repr(align(16))]
struct Block([u8; BLOCK]);

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
        // SAFETY: the caller vouches for the target, which overlaps no part.
        unsafe {
            if self.private.target_stride == u64::from(self.private.element_bytes) {
                merge(self.private.target.wrapping_add(offset), part(0), elements);
            } else {
                self.merge_apart(start, elements, part(0));
            }
        }
    }

    /// Merges `incoming` into the elements from `start` of a target whose elements do not follow each other: by way of a copy in
    /// which they do, since that is what is merged into.
    ///
    /// # Safety
    /// That of [`merge_piece`](Self::merge_piece), for these elements; they fill no more than a block.
    unsafe fn merge_apart(&self, start: u64, elements: u64, incoming: *const u8) {
        let mut block = Block([0; BLOCK]);
        let held = (&raw mut block.0).cast::<u8>();
        let bytes = self.private.element_bytes as usize;
        let stride = self.private.target_stride as usize;
        let first = self.private.target.wrapping_add(start as usize * stride);
        let pairs = || {
            let numbers = 0..elements as usize;
            numbers.map(|number| {
                (
                    first.wrapping_add(number * stride),
                    held.wrapping_add(number * bytes),
                )
            })
        };
        // SAFETY: the caller vouches for the elements of the target, and that so many fit the block.
        unsafe {
            pairs().for_each(|(element, copy)| ptr::copy_nonoverlapping(element, copy, bytes));
            (self.private.merge)(held, incoming, elements);
            pairs().for_each(|(element, copy)| ptr::copy_nonoverlapping(copy, element, bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn add(held: *mut u8, incoming: *const u8, elements: u64) {
        let (held, incoming) = (held.cast::<i32>(), incoming.cast::<i32>());
        for number in 0..elements as usize {
            // SAFETY: the merge hands over so many elements of both.
            unsafe { *held.add(number) += *incoming.add(number) };
        }
    }

    #[test]
    fn a_target_whose_elements_lie_apart_is_merged_and_nothing_between_them_is_touched() {
        const COUNT: usize = 3000;
        let mut target: Vec<i32> = (0..3 * COUNT as i32).collect();
        let before = target.clone();
        let mut parts = vec![1_i32; 5 * COUNT];
        let column = Column {
            private: PrivateCall {
                target: target.as_mut_ptr().cast::<u8>().wrapping_add(4),
                elements: COUNT as u64,
                target_stride: 12,
                identity: 0,
                merge: add,
                element_bytes: 4,
                exact: 1,
            },
            first: parts.as_mut_ptr().cast(),
            stride: 4 * COUNT,
            parts: 5,
        };
        for piece in 0..column.pieces() {
            // SAFETY: the target has three numbers for each element, of which the second is merged into.
            unsafe { column.merge_piece(piece) };
        }
        for (position, (after, before)) in target.iter().zip(&before).enumerate() {
            let added = if position % 3 == 1 { 5 } else { 0 };
            assert_eq!(*after, before + added, "{position}");
        }
    }
}
