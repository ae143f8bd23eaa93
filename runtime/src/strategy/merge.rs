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
    /// The bytes from each run of elements of a buffer to the next.
    pub(super) strides: SmallVec<[u64; 4]>,
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

// SAFETY: whoever makes a column vouches for its memory on any thread; `Pieces::merge` touches
// disjoint elements for different pieces.
unsafe impl Sync for Column<'_> {}

impl Column<'_> {
    fn elements(&self) -> u64 {
        self.privates.first().map_or(0, |it| it.elements)
    }

    /// Whether elements of both lie in the same records, so that they are merged together, while
    /// these are in the caches.
    pub(super) fn lies_with(&self, other: &Self) -> bool {
        let record = |it: &Self| it.privates.first().map_or(0, |it| it.record);
        let is_in_records = |it: &Self| it.lie_apart() && it.filled.is_none();
        is_in_records(self) && is_in_records(other) && record(self) == record(other)
    }

    /// The tree for `elements` elements from `start`: neighbours first, then neighbouring pairs,
    /// and so on; the targets last, which so are read and written once.
    ///
    /// # Safety
    /// That of [`Pieces::merge`].
    unsafe fn merge_block(&self, start: u64, elements: u64, copies: &mut [Block]) {
        let parts = (0..self.parts).map(|part| self.holds(part, start).then_some(part));
        let mut parts: SmallVec<[Option<usize>; 16]> = parts.collect();
        // SAFETY: the caller vouches for the elements.
        let places = unsafe { self.places(start, elements, copies) };
        let mut width = 1;
        while width < self.parts {
            let mut held = 0;
            while held + width < self.parts {
                parts[held] = match (parts[held], parts[held + width]) {
                    (Some(into), Some(from)) => {
                        let (into_places, from_places) = (&places[into], &places[from]);
                        // SAFETY: both are blocks of different parts; the caller vouches for them.
                        unsafe {
                            (self.merge)(into_places.as_ptr(), from_places.as_ptr(), elements)
                        };
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
            unsafe { self.merge_into_targets(&places[*part], start, elements) };
        }
    }

    /// Whether the elements of a buffer do not follow each other.
    fn lie_apart(&self) -> bool {
        let mut buffers = self.privates.iter().zip(&self.strides);
        buffers.any(|(private, stride)| private.run_bytes() != *stride)
    }

    /// Room for a block of each buffer of each part, if their elements do not follow each other.
    fn copies(&self) -> Vec<Block> {
        let count = match self.lie_apart() {
            true => self.parts * self.privates.len(),
            false => 0,
        };
        let mut copies = Vec::new();
        copies.resize_with(count, || Block([0; BLOCK]));
        copies
    }

    /// Where the elements from `start` of the buffers of each part follow each other: there, or in
    /// `copies`.
    ///
    /// # Safety
    /// That of [`Pieces::merge`], for these elements; they fill no more than a block.
    unsafe fn places(
        &self,
        start: u64,
        elements: u64,
        copies: &mut [Block],
    ) -> SmallVec<[Addresses; 8]> {
        let mut places: SmallVec<[Addresses; 8]> =
            (0..self.parts).map(|it| self.part(it, start)).collect();
        if !self.lie_apart() {
            return places;
        }
        let mut free = copies.iter_mut();
        for (number, place) in places.iter_mut().enumerate() {
            let buffers = self.first.iter().zip(self.privates).zip(&self.strides);
            for (((first, private), stride), place) in buffers.zip(place) {
                let Some(Block(copy)) = free.next() else {
                    break;
                };
                let runs = Runs {
                    first: first.wrapping_add(number * self.stride),
                    stride: *stride,
                };
                *place = copy.as_mut_ptr();
                for (element, copy) in runs.beside(private, (start, elements), *place) {
                    // SAFETY: the caller vouches for the element, and that so many fit a block.
                    unsafe { copy_element(element, copy, private.element_bytes) };
                }
            }
        }
        places
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

    /// Merges the elements of a part at `places` into those from `start` of the targets. Where
    /// those of a target do not follow each other, by way of a copy in which they do, since that is
    /// what is merged into.
    ///
    /// # Safety
    /// That of [`Pieces::merge`], for these elements; they fill no more than a block.
    unsafe fn merge_into_targets(&self, places: &Addresses, start: u64, elements: u64) {
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
                let pairs = Runs::of_target(private).beside(private, (start, elements), *copy);
                pairs.map(|(element, copy)| (element, copy, private.element_bytes))
            })
        };
        // SAFETY: the caller vouches for the elements of the targets, and that so many fit a block.
        unsafe {
            pairs().for_each(|(element, copy, bytes)| {
                copy_element(element, copy, bytes);
            });
            (self.merge)(targets.as_ptr(), places.as_ptr(), elements);
            pairs().for_each(|(element, copy, bytes)| {
                copy_element(copy, element, bytes);
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

/// Columns that are merged together, block by block.
#[derive(Clone, Copy)]
pub(super) struct Pieces<'c, 'p>(pub(super) &'c [Column<'p>]);

impl Pieces<'_, '_> {
    fn elements(self) -> u64 {
        let elements = self.0.iter().map(Column::elements);
        elements.max().unwrap_or(0)
    }

    fn elements_per_block(self) -> u64 {
        let elements = self.0.iter().map(|it| elements_per_block(it.privates));
        elements.min().unwrap_or(1)
    }

    fn elements_per_piece(self) -> u64 {
        let blocks = BLOCKS_PER_PIECE / self.0.len().max(1);
        self.elements_per_block() * blocks.max(1) as u64
    }

    /// In how many pieces threads share the merge.
    pub(super) fn count(self) -> usize {
        let pieces = self.elements().div_ceil(self.elements_per_piece());
        usize::try_from(pieces).unwrap_or(usize::MAX)
    }

    /// Merges all parts into the targets, for the elements of piece `number`.
    ///
    /// # Safety
    /// The targets and the buffers of all parts are valid for reads and writes, do not overlap, and
    /// nobody else touches the elements of this piece meanwhile.
    pub(super) unsafe fn merge(self, number: usize) {
        let per_block = self.elements_per_block();
        let start = self.elements_per_piece() * number as u64;
        let end = start.saturating_add(self.elements_per_piece());
        let mut copies: SmallVec<[_; 4]> = self.0.iter().map(Column::copies).collect();
        for block in (start..end).step_by(per_block as usize) {
            for (column, copies) in self.0.iter().zip(&mut copies) {
                let elements = per_block.min(column.elements().saturating_sub(block));
                if elements > 0 && column.is_filled(block) {
                    // SAFETY: the block lies within the elements; the caller vouches for the rest.
                    unsafe { column.merge_block(block, elements, copies) };
                }
            }
        }
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

/// Runs of elements that do not follow each other.
#[derive(Clone, Copy)]
struct Runs {
    first: *mut u8,
    stride: u64,
}

impl Runs {
    fn of_target(private: &PrivateCall) -> Self {
        Self {
            first: private.target,
            stride: private.target_stride,
        }
    }

    /// The addresses of `elements` elements from `start` on, each with that of its copy, where the
    /// copies follow each other from `copies` on.
    fn beside(
        self,
        private: &PrivateCall,
        (start, elements): (u64, u64),
        copies: *mut u8,
    ) -> impl Iterator<Item = (*mut u8, *mut u8)> {
        (0..elements as usize).map(move |number| {
            let element = self.element(private, start as usize + number);
            let distance = number * private.element_bytes as usize;
            (element, copies.wrapping_add(distance))
        })
    }

    /// The address of element `number`.
    fn element(self, private: &PrivateCall, number: usize) -> *mut u8 {
        let bytes = private.element_bytes as usize;
        let (at, within) = match private.target_run as usize {
            0 | 1 => (number, 0),
            run => (number / run, number % run),
        };
        self.first
            .wrapping_add(at * self.stride as usize + within * bytes)
    }
}

/// Copies an element of `bytes` bytes, as one where it is as long as a register.
///
/// # Safety
/// Both are valid for that, and do not overlap.
unsafe fn copy_element(from: *const u8, to: *mut u8, bytes: u32) {
    // SAFETY: the caller vouches for both.
    unsafe {
        match bytes {
            8 => ptr::copy_nonoverlapping(from, to, 8),
            4 => ptr::copy_nonoverlapping(from, to, 4),
            _ => ptr::copy_nonoverlapping(from, to, bytes as usize),
        }
    }
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
            target_stride: 8,
            target_run: 2,
            ..PrivateCall::of_sums(target.as_mut_ptr().cast(), 6, 2)
        };
        assert!(lies_apart(&private));
        let places = (0..6).map(|number| {
            Runs::of_target(&private).element(&private, number) as usize - private.target as usize
        });
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
        let begin = target.as_mut_ptr().cast::<u8>().wrapping_add(4);
        let first = PrivateCall {
            target_stride: 12,
            parts: 2,
            ..PrivateCall::of_sums(begin, COUNT as u64, 4)
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
            strides: SmallVec::from_slice(&[4, 1]),
            stride: 4 * COUNT,
            parts: 5,
            filled: None,
        };
        let columns = [column];
        let pieces = Pieces(&columns);
        for piece in 0..pieces.count() {
            // SAFETY: the first target has three numbers for each element, of which the second is
            // merged into; both parts have as many elements, the second one with room behind them.
            unsafe { pieces.merge(piece) };
        }
        for (position, (after, before)) in target.iter().zip(&before).enumerate() {
            let added = if position % 3 == 1 { 5 } else { 0 };
            assert_eq!(*after, before + added, "{position}");
        }
        assert!(bytes.iter().all(|it| *it == 11));
    }

    /// `a += c`.
    unsafe extern "C" fn add(held: *const *mut u8, incoming: *const *mut u8, elements: u64) {
        for number in 0..elements as usize {
            // SAFETY: the merge hands over so many elements of both.
            unsafe {
                *(*held).cast::<i32>().add(number) += *(*incoming).cast::<i32>().add(number);
            }
        }
    }

    #[test]
    fn parts_in_records_are_merged_together() {
        const COUNT: usize = 5000;
        const PARTS: usize = 3;
        // Records of two numbers and one of a padding, in the targets as well as in the parts.
        let mut targets: Vec<i32> = (0..3 * COUNT as i32).collect();
        let before = targets.clone();
        let mut parts: Vec<i32> = (0..3 * COUNT * PARTS).map(|it| it as i32 % 1000).collect();
        let field = |target: *mut u8| PrivateCall {
            target_stride: 12,
            record: 1,
            ..PrivateCall::of_sums(target, COUNT as u64, 4)
        };
        let target = targets.as_mut_ptr().cast::<u8>();
        let privates = [field(target), field(target.wrapping_add(8))];
        let part = parts.as_mut_ptr().cast::<u8>();
        let column = |number: usize| Column {
            privates: &privates[number..=number],
            merge: add,
            first: Addresses::from_slice(&[part.wrapping_add(8 * number)]),
            strides: SmallVec::from_slice(&[12]),
            stride: 12 * COUNT,
            parts: PARTS,
            filled: None,
        };
        let columns = [column(0), column(1)];
        assert!(columns[0].lies_with(&columns[1]));
        let pieces = Pieces(&columns);
        for piece in 0..pieces.count() {
            // SAFETY: both fields of the targets and of all parts have so many elements.
            unsafe { pieces.merge(piece) };
        }
        for (position, (after, before)) in targets.iter().zip(&before).enumerate() {
            let added = (0..PARTS).map(|part| ((part * 3 * COUNT + position) % 1000) as i32);
            let added = if position % 3 == 1 { 0 } else { added.sum() };
            assert_eq!(*after, before + added, "{position}");
        }
    }
}
