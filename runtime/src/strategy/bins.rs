//! Updates sorted by the range of elements that they belong to, in their order within each range.
//!
//! This is the first half of propagation blocking (Beamer, Asanović, Patterson: Reducing PageRank Communication via Propagation
//! Blocking, IPDPS 2017). Updates are gathered a line at a time for each range, and whole lines are written past the caches, which
//! is what makes it pay: the lines that are being gathered stay in the caches, what is written is read much later.

use super::copy_past_caches;
use crate::abi::{KeyWidth, PrivateCall};
use crate::failure::{Failure, Held};
use crate::loan::{Loan, Reserved};
use crate::memory::lock;
use crate::session::Session;
use crate::stream::{Sink, Updates};
use smallvec::SmallVec;
use std::ptr;
use std::sync::Mutex;

/// How many updates are gathered before they are written: with 16-bit keys, a cache line of them.
const LINE: usize = 32;

/// How many updates a block holds.
pub(super) const BLOCK: usize = 16 * LINE;

/// A range of elements has at most so many bytes, so that it stays in the second cache while its updates are applied.
const RANGE_BYTES: u64 = 512 << 10;

/// There are at most so many ranges: the lines that are being gathered are to stay in the second cache.
const MOST_RANGES: u64 = 1024;

/// Memory for blocks is taken so many bytes at a time.
const SLAB_BYTES: usize = 4 << 20;

/// How the elements of the buffers that are merged together are divided into ranges of equal size, a power of two.
#[derive(Clone, Debug)]
pub(super) struct Ranges {
    shift: u32,
    pub(super) count: usize,
    /// The bytes of an element of each buffer.
    pub(super) widths: SmallVec<[usize; 2]>,
}

impl Ranges {
    /// Of at least `least` ranges, where there are as many elements.
    pub(super) fn new(privates: &[PrivateCall], least: u64) -> Self {
        let widths: SmallVec<[usize; 2]> = privates
            .iter()
            .map(|it| it.element_bytes as usize)
            .collect();
        let elements = privates.first().map_or(0, |it| it.elements);
        let bytes = widths.iter().sum::<usize>().max(1) as u64;
        let most = (RANGE_BYTES / bytes).min(elements.div_ceil(least.max(1)));
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

    fn key_bytes(&self) -> usize {
        match self.keys() {
            KeyWidth::Narrow => size_of::<u16>(),
            KeyWidth::Wide => size_of::<u32>(),
        }
    }

    /// The bytes that an update takes.
    pub(super) fn update_bytes(&self) -> usize {
        self.key_bytes() + self.widths.iter().sum::<usize>()
    }

    /// The bytes in which the updates of a range are gathered.
    fn gathering_bytes(&self) -> usize {
        LINE * self.update_bytes() + size_of::<Bin>() + size_of::<u8>()
    }

    /// The first element of range `number`.
    pub(super) fn start(&self, number: usize) -> usize {
        number << self.shift
    }

    /// Where the values for each buffer begin in a block, behind the keys.
    pub(super) fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        let mut at = BLOCK * self.key_bytes();
        self.widths.iter().map(move |width| {
            let column = at;
            at += BLOCK * width;
            column
        })
    }
}

/// Where blocks come from.
pub(super) struct Slabs<'s> {
    session: Session<'s>,
    block_bytes: usize,
    slab_bytes: usize,
    state: Mutex<Slab<'s>>,
}

#[derive(Default)]
struct Slab<'s> {
    loans: Vec<Loan<'s>>,
    used: usize,
}

// SAFETY: the loans own their memory; nothing in them is tied to a thread, and the mutex keeps them apart.
unsafe impl Send for Slab<'_> {}

impl<'s> Slabs<'s> {
    /// For about `updates` updates.
    pub(super) fn new(session: Session<'s>, ranges: &Ranges, updates: u64) -> Self {
        let block_bytes = BLOCK * ranges.update_bytes();
        let expected = usize::try_from(updates).unwrap_or(usize::MAX);
        let expected = expected.saturating_mul(ranges.update_bytes());
        Self {
            session,
            block_bytes,
            slab_bytes: expected.clamp(block_bytes, SLAB_BYTES.max(block_bytes)),
            state: Mutex::default(),
        }
    }

    fn block(&self) -> Result<*mut u8, Failure> {
        let mut state = lock(&self.state);
        if state.loans.is_empty() || state.used + self.block_bytes > self.slab_bytes {
            let loan = self.session.take(self.slab_bytes as u64, Held::Privates)?;
            state.loans.push(loan);
            state.used = 0;
        }
        let used = state.used;
        state.used += self.block_bytes;
        let first = state.loans.last().map_or(ptr::null_mut(), Loan::address);
        Ok(first.wrapping_add(used))
    }
}

/// The updates of one range.
#[derive(Clone, Debug, Default)]
struct Bin {
    blocks: Vec<*mut u8>,
    /// In the last of the blocks; the others are full.
    used: usize,
}

/// The updates of some consecutive iterations, by range.
pub(super) struct Bins<'a, 's> {
    ranges: &'a Ranges,
    slabs: &'a Slabs<'s>,
    bins: Vec<Bin>,
    gathered: Vec<u8>,
    key_lines: Lines,
    value_lines: SmallVec<[Lines; 2]>,
    _reserved: Reserved<'s>,
}

// SAFETY: blocks and lines belong to the bins alone.
unsafe impl Send for Bins<'_, '_> {}

/// A line of [`LINE`] elements for each range.
struct Lines {
    memory: Vec<u128>,
    width: usize,
}

impl Lines {
    fn new(ranges: usize, width: usize) -> Self {
        let bytes = ranges.saturating_mul(LINE).saturating_mul(width);
        Self {
            memory: vec![0; bytes.div_ceil(size_of::<u128>())],
            width,
        }
    }

    fn of(&mut self, range: usize) -> *mut u8 {
        let first = self.memory.as_mut_ptr().cast::<u8>();
        first.wrapping_add(range * LINE * self.width)
    }
}

impl<'a, 's> Bins<'a, 's> {
    /// Without updates.
    ///
    /// # Errors
    /// For want of memory.
    pub(super) fn new(ranges: &'a Ranges, slabs: &'a Slabs<'s>) -> Result<Self, Failure> {
        let widths = ranges.widths.iter();
        let bytes = ranges.count.saturating_mul(ranges.gathering_bytes()) as u64;
        Ok(Self {
            _reserved: slabs.session.reserve(bytes, Held::Privates)?,
            ranges,
            slabs,
            bins: vec![Bin::default(); ranges.count],
            gathered: vec![0; ranges.count],
            key_lines: Lines::new(ranges.count, ranges.key_bytes()),
            value_lines: widths.map(|it| Lines::new(ranges.count, *it)).collect(),
        })
    }

    /// Writes the lines that are not full.
    ///
    /// # Errors
    /// For want of memory.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        (0..self.bins.len()).try_for_each(|range| {
            let count = usize::from(self.gathered[range]);
            self.gathered[range] = 0;
            self.write(range, count)
        })
    }

    /// The blocks of range `number` with the number of updates in each, in order.
    pub(super) fn blocks(&self, number: usize) -> impl Iterator<Item = (*mut u8, usize)> + '_ {
        let bin = &self.bins[number];
        let last = bin.blocks.len().wrapping_sub(1);
        let blocks = bin.blocks.iter().enumerate();
        blocks.map(move |(position, block)| {
            let count = if position == last { bin.used } else { BLOCK };
            (*block, count)
        })
    }

    /// Appends the first `count` updates of the line of `range` to its last block. All lines before were full.
    fn write(&mut self, range: usize, count: usize) -> Result<(), Failure> {
        if count == 0 {
            return Ok(());
        }
        let bin = &mut self.bins[range];
        if bin.blocks.is_empty() || bin.used == BLOCK {
            bin.blocks.push(self.slabs.block()?);
            bin.used = 0;
        }
        let block = bin.blocks.last().copied().unwrap_or(ptr::null_mut());
        let key_bytes = self.ranges.key_bytes();
        let place = block.wrapping_add(bin.used * key_bytes);
        // SAFETY: a line is no longer than what is left of the block, since blocks hold whole lines; the same below.
        unsafe { copy_past_caches(self.key_lines.of(range), place, LINE * key_bytes) };
        for (lines, column) in self.value_lines.iter_mut().zip(self.ranges.columns()) {
            let place = block.wrapping_add(column + bin.used * lines.width);
            // SAFETY: as above.
            unsafe { copy_past_caches(lines.of(range), place, LINE * lines.width) };
        }
        bin.used += count;
        Ok(())
    }

    fn sort<K: LocalKey, V: Values>(&mut self, keys: &[u32], values: &V) -> Result<(), Failure> {
        let shift = self.ranges.shift;
        let mask = ((1_u64 << shift) - 1) as u32;
        let lines = self.key_lines.of(0).cast::<K>();
        for (number, key) in keys.iter().enumerate() {
            let range = (u64::from(*key) >> shift) as usize;
            let gathered = &mut self.gathered[range];
            let place = range * LINE + usize::from(*gathered);
            *gathered += 1;
            let is_full = usize::from(*gathered) == LINE;
            // SAFETY: there is a line for each range, of `LINE` places, and `gathered` is below that before each update.
            unsafe {
                *lines.add(place) = K::of(key & mask);
                values.put(number, place);
            }
            if is_full {
                self.gathered[range] = 0;
                self.write(range, LINE)?;
            }
        }
        Ok(())
    }

    fn sort_values<V: Values>(&mut self, keys: &[u32], values: &V) -> Result<(), Failure> {
        match self.ranges.keys() {
            KeyWidth::Narrow => self.sort::<u16, V>(keys, values),
            KeyWidth::Wide => self.sort::<u32, V>(keys, values),
        }
    }

    fn sort_column<T: Copy>(&mut self, keys: &[u32], from: *mut u8) -> Result<(), Failure> {
        let lines = self.value_lines.first_mut();
        let lines = lines.map_or(ptr::null_mut(), |it| it.of(0));
        self.sort_values(
            keys,
            &Column {
                from: from.cast::<T>(),
                lines: lines.cast::<T>(),
            },
        )
    }
}

impl Sink for Bins<'_, '_> {
    fn take(&mut self, updates: &Updates<'_>) -> Result<(), Failure> {
        match (self.ranges.widths.as_slice(), updates.values) {
            ([1], [values]) => self.sort_column::<u8>(updates.keys, *values),
            ([2], [values]) => self.sort_column::<u16>(updates.keys, *values),
            ([4], [values]) => self.sort_column::<u32>(updates.keys, *values),
            ([8], [values]) => self.sort_column::<u64>(updates.keys, *values),
            (widths, values) => {
                let lines = self.value_lines.iter_mut().map(|it| it.of(0));
                let columns = values.iter().zip(lines).zip(widths);
                let columns = columns.map(|((from, lines), width)| (*from, lines, *width));
                let columns = Columns(columns.collect());
                self.sort_values(updates.keys, &columns)
            }
        }
    }
}

/// The number of an element within its range.
trait LocalKey: Copy {
    fn of(key: u32) -> Self;
}

impl LocalKey for u16 {
    fn of(key: u32) -> Self {
        key as Self
    }
}

impl LocalKey for u32 {
    fn of(key: u32) -> Self {
        key
    }
}

/// The values of updates, one or more each.
trait Values {
    /// Copies those of update `number` to the lines, at place `place` of them.
    ///
    /// # Safety
    /// There is such an update and such a place.
    unsafe fn put(&self, number: usize, place: usize);
}

struct Column<T> {
    from: *const T,
    lines: *mut T,
}

impl<T: Copy> Values for Column<T> {
    unsafe fn put(&self, number: usize, place: usize) {
        // SAFETY: the caller vouches for both.
        unsafe { *self.lines.add(place) = *self.from.add(number) }
    }
}

/// Source, lines and width of each buffer.
struct Columns(SmallVec<[(*mut u8, *mut u8, usize); 2]>);

impl Values for Columns {
    unsafe fn put(&self, number: usize, place: usize) {
        for (from, lines, width) in &self.0 {
            let (from, to) = (
                from.wrapping_add(number * width),
                lines.wrapping_add(place * width),
            );
            // SAFETY: the caller vouches for both.
            unsafe { ptr::copy_nonoverlapping(from, to, *width) };
        }
    }
}
