//! Merging of private buffers: a fixed tree over the parts, in their order.

use crate::abi::{MergeFn, PAGE, PrivateCall};
use smallvec::SmallVec;
use std::ptr;

/// How many bytes of the target are merged at a time. With the same bytes of eight parts they stay
/// in the first cache, so that every level of the tree but the first finds its operands there.
const BLOCK: usize = PAGE as usize;

/// Room for a block, aligned as merge functions want it.
#[repr(align(16))]
struct Block([u8; BLOCK]);

/// How many blocks a thread takes at a time.
const BLOCKS_PER_PIECE: usize = 16;

/// One address for each buffer that is merged together with the others.
pub(super) type Addresses = SmallVec<[*mut u8; 4]>;

/// The private buffers that belong to one target, or to several that are merged together: `parts`
/// of each, `stride` bytes apart.
#[derive(Clone, Debug)]
pub(super) struct Column<'p> {
    /// At least one.
    pub(super) privates: &'p [PrivateCall],
    /// Combines one part with another.
    pub(super) merge: MergeFn,
    /// The buffers of the first part.
    pub(super) first: Addresses,
    pub(super) stride: usize,
    pub(super) parts: usize,
    /// What the parts hold anything but the identity for; everything when there is none.
    pub(super) filled: Option<Filled>,
}

/// Which pages of the first of the buffers of each part were filled.
#[derive(Clone, Debug)]
pub(super) struct Filled {
    /// For groups of parts that follow each other, page by page, whether it is 1.
    groups: Vec<Vec<u8>>,
    /// The parts of a group.
    tables: usize,
    /// The same for all groups together.
    any: Vec<u8>,
}

impl Filled {
    /// From groups of `tables` parts each; a group without pages was not filled at all.
    pub(super) fn new(groups: Vec<Vec<u8>>, tables: usize) -> Self {
        let pages = groups.iter().map(Vec::len).max().unwrap_or(0);
        let mut any = vec![0; pages];
        for group in &groups {
            any.iter_mut().zip(group).for_each(|(any, it)| *any |= it);
        }
        Self {
            groups,
            tables,
            any,
        }
    }

    fn has(pages: &[u8], page: u64) -> bool {
        let page = usize::try_from(page).ok();
        page.and_then(|it| pages.get(it)) == Some(&1)
    }
}

// SAFETY: whoever makes a column vouches for its memory on any thread; `merge_piece` touches
// disjoint elements for different pieces.
unsafe impl Sync for Column<'_> {}

impl Column<'_> {
    fn elements(&self) -> u64 {
        self.privates.first().map_or(0, |it| it.elements)
    }

    fn elements_per_piece(&self) -> u64 {
        elements_per_block(self.privates) * BLOCKS_PER_PIECE as u64
    }

    /// In how many pieces threads share the merge.
    pub(super) fn pieces(&self) -> usize {
        let pieces = self.elements().div_ceil(self.elements_per_piece());
        usize::try_from(pieces).unwrap_or(usize::MAX)
    }

    /// Merges all parts into the targets, for the elements of piece `number`.
    ///
    /// # Safety
    /// The targets and the buffers of all parts are valid for reads and writes, do not overlap, and
    /// nobody else touches the elements of this piece meanwhile.
    pub(super) unsafe fn merge_piece(&self, number: usize) {
        let per_block = elements_per_block(self.privates);
        let start = self.elements_per_piece() * number as u64;
        let end = self
            .elements()
            .min(start.saturating_add(self.elements_per_piece()));
        let mut block = start;
        while block < end {
            let elements = per_block.min(end - block);
            if self.is_filled(block) {
                // SAFETY: the block lies within the elements; the caller vouches for the rest.
                unsafe { self.merge_block(block, elements) };
            }
            block += elements;
        }
    }

    /// The tree for `elements` elements from `start`: neighbours first, then neighbouring pairs,
    /// and so on; the targets last, which so are read and written once.
    ///
    /// # Safety
    /// That of [`merge_piece`](Self::merge_piece).
    unsafe fn merge_block(&self, start: u64, elements: u64) {
        let parts = (0..self.parts).map(|part| self.holds(part, start).then_some(part));
        let mut parts: SmallVec<[Option<usize>; 16]> = parts.collect();
        let mut width = 1;
        while width < self.parts {
            let mut held = 0;
            while held + width < self.parts {
                parts[held] = match (parts[held], parts[held + width]) {
                    (Some(into), Some(from)) => {
                        let tables = (self.part(into, start), self.part(from, start));
                        // SAFETY: both are blocks of different parts; the caller vouches for them.
                        unsafe { (self.merge)(tables.0.as_ptr(), tables.1.as_ptr(), elements) };
                        Some(into)
                    }
                    // The identity changes nothing.
                    (one, other) => one.or(other),
                };
                held += 2 * width;
            }
            width *= 2;
        }
        if let Some(Some(part)) = parts.first() {
            // SAFETY: the caller vouches for the targets, which overlap no part.
            unsafe { self.merge_into_targets(*part, start, elements) };
        }
    }

    /// Whether `part` holds anything for the block from `start` on.
    fn holds(&self, part: usize, start: u64) -> bool {
        self.filled.as_ref().is_none_or(|filled| {
            let group = filled.groups.get(part / filled.tables.max(1));
            group.is_some_and(|pages| Filled::has(pages, self.page(start)))
        })
    }

    /// Whether any part does.
    fn is_filled(&self, start: u64) -> bool {
        let filled = self.filled.as_ref();
        filled.is_none_or(|filled| Filled::has(&filled.any, self.page(start)))
    }

    /// The page of element `start` of the first of the buffers.
    fn page(&self, start: u64) -> u64 {
        let width = self.privates.first().map_or(1, |it| it.element_bytes);
        start * u64::from(width) / PAGE
    }

    /// Merges `part` into the elements from `start` of the targets. Where those of a target do not
    /// follow each other, by way of a copy in which they do, since that is what is merged into.
    ///
    /// # Safety
    /// That of [`merge_piece`](Self::merge_piece), for these elements; they fill no more than a
    /// block.
    unsafe fn merge_into_targets(&self, part: usize, start: u64, elements: u64) {
        let mut copies: SmallVec<[Block; 2]> = SmallVec::new();
        let apart = self.privates.iter().filter(|it| lies_apart(it));
        copies.resize_with(apart.count(), || Block([0; BLOCK]));
        let mut free = copies.iter_mut().map(|it| (&raw mut it.0).cast::<u8>());
        let targets: Addresses = self
            .privates
            .iter()
            .map(|private| {
                let copy = if lies_apart(private) {
                    free.next()
                } else {
                    None
                };
                copy.unwrap_or_else(|| offset(private.target, private, start))
            })
            .collect();
        let pairs = || {
            let apart = self.privates.iter().zip(&targets);
            let apart = apart.filter(|(private, _)| lies_apart(private));
            apart.flat_map(|(private, copy)| {
                let bytes = private.element_bytes as usize;
                let numbers = 0..elements as usize;
                numbers.map(move |number| {
                    let element = in_target(private, start as usize + number);
                    (element, copy.wrapping_add(number * bytes), bytes)
                })
            })
        };
        // SAFETY: the caller vouches for the elements of the targets, and that so many fit a block.
        unsafe {
            pairs().for_each(|(element, copy, bytes)| {
                ptr::copy_nonoverlapping(element, copy, bytes);
            });
            (self.merge)(targets.as_ptr(), self.part(part, start).as_ptr(), elements);
            pairs().for_each(|(element, copy, bytes)| {
                ptr::copy_nonoverlapping(copy, element, bytes);
            });
        }
    }

    /// The addresses of the elements from `start` in the buffers of part `number`.
    fn part(&self, number: usize, start: u64) -> Addresses {
        let buffers = self.first.iter().zip(self.privates);
        buffers
            .map(|(first, private)| {
                offset(first.wrapping_add(number * self.stride), private, start)
            })
            .collect()
    }
}

/// How many elements of buffers that are merged together fit a block.
pub(super) fn elements_per_block(privates: &[PrivateCall]) -> u64 {
    let widths = privates.iter().map(|it| it.element_bytes);
    BLOCK as u64 / u64::from(widths.max().unwrap_or(1).max(1))
}

fn lies_apart(private: &PrivateCall) -> bool {
    private.target_stride != private.run_bytes()
}

/// The address of element `number` of the target.
fn in_target(private: &PrivateCall, number: usize) -> *mut u8 {
    let run = (private.target_run as usize).max(1);
    let at = number / run * private.target_stride as usize;
    let within = number % run * private.element_bytes as usize;
    private.target.wrapping_add(at + within)
}

fn offset(address: *mut u8, private: &PrivateCall, elements: u64) -> *mut u8 {
    address.wrapping_add(elements as usize * private.element_bytes as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a += c` and `b += d`, in which the parts are of different widths.
    unsafe extern "C" fn add_both(held: *const *mut u8, incoming: *const *mut u8, elements: u64) {
        for number in 0..elements as usize {
            // SAFETY: the merge hands over so many elements of both parts of both.
            unsafe {
                let (held, incoming) = ((*held).cast::<i32>(), (*incoming).cast::<i32>());
                *held.add(number) += *incoming.add(number);
            }
            // SAFETY: as above.
            unsafe {
                let (held, incoming) = (*held.add(1), *incoming.add(1));
                *held.add(number) += *incoming.add(number);
            }
        }
    }

    #[test]
    fn elements_of_a_target_lie_in_runs() {
        let mut target = [0_i16; 12];
        let private = PrivateCall {
            target: target.as_mut_ptr().cast(),
            elements: 6,
            target_stride: 8,
            target_run: 2,
            identity: 0,
            merge: 0,
            element_bytes: 2,
            exact: 1,
            commutes: 1,
            ordered: 0,
            speculative: 0,
            constant: 0,
            value: 0,
            parts: 1,
        };
        assert!(lies_apart(&private));
        let places =
            (0..6).map(|number| in_target(&private, number) as usize - private.target as usize);
        assert_eq!(places.collect::<Vec<_>>(), [0, 2, 8, 10, 16, 18]);
        let dense = PrivateCall {
            target_stride: 4,
            ..private
        };
        assert!(!lies_apart(&dense));
    }

    #[test]
    fn a_target_whose_elements_lie_apart_is_merged_and_nothing_between_them_is_touched() {
        const COUNT: usize = 3000;
        let mut target: Vec<i32> = (0..3 * COUNT as i32).collect();
        let mut bytes = vec![1_u8; COUNT];
        let before = target.clone();
        let mut parts = vec![1_i32; 5 * COUNT];
        let mut byte_parts = vec![2_u8; 5 * 4 * COUNT];
        let first = PrivateCall {
            target: target.as_mut_ptr().cast::<u8>().wrapping_add(4),
            elements: COUNT as u64,
            target_stride: 12,
            target_run: 1,
            identity: 0,
            merge: 0,
            element_bytes: 4,
            exact: 1,
            commutes: 1,
            ordered: 0,
            speculative: 0,
            constant: 0,
            value: 0,
            parts: 2,
        };
        let second = PrivateCall {
            target: bytes.as_mut_ptr(),
            target_stride: 1,
            element_bytes: 1,
            parts: 0,
            ..first
        };
        let privates = [first, second];
        let column = Column {
            privates: &privates,
            merge: add_both,
            first: Addresses::from_slice(&[parts.as_mut_ptr().cast(), byte_parts.as_mut_ptr()]),
            stride: 4 * COUNT,
            parts: 5,
            filled: None,
        };
        for piece in 0..column.pieces() {
            // SAFETY: the first target has three numbers for each element, of which the second is
            // merged into; both parts have as many elements, the second one with room behind them.
            unsafe { column.merge_piece(piece) };
        }
        for (position, (after, before)) in target.iter().zip(&before).enumerate() {
            let added = if position % 3 == 1 { 5 } else { 0 };
            assert_eq!(*after, before + added, "{position}");
        }
        assert!(bytes.iter().all(|it| *it == 11));
    }
}
