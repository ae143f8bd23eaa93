//! Updates sorted by the range of elements that they belong to, in their order within each range.
//!
//! This is the first half of propagation blocking (Beamer, Asanović, Patterson: Reducing PageRank Communication via Propagation
//! Blocking, IPDPS 2017). Updates are gathered a line at a time for each range, and whole lines are written past the caches, which
//! is what makes it pay: the lines that are being gathered stay in the caches, what is written is read much later.

use super::copy_past_caches;
use super::lines::{Gather, Lines, Values, gather};
use super::ranges::Ranges;
use crate::abi::KeyWidth;
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

/// Memory for blocks is taken so many bytes at a time.
const SLAB_BYTES: usize = 4 << 20;

impl Ranges {
    /// The bytes that a range takes besides the lines in which its updates are gathered.
    fn table_bytes(&self) -> usize {
        size_of::<Bin>() + size_of::<u8>()
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
    key_lines: Lines<'s>,
    value_lines: SmallVec<[Lines<'s>; 2]>,
    _reserved: Reserved<'s>,
}

// SAFETY: blocks and lines belong to the bins alone.
unsafe impl Send for Bins<'_, '_> {}

impl<'a, 's> Bins<'a, 's> {
    /// Without updates.
    ///
    /// # Errors
    /// For want of memory.
    pub(super) fn new(ranges: &'a Ranges, slabs: &'a Slabs<'s>) -> Result<Self, Failure> {
        let lines = |width: usize| Lines::new(&slabs.session, ranges.count, (LINE, width));
        let values = ranges.widths.iter().map(|width| lines(*width));
        let bytes = ranges.count.saturating_mul(ranges.table_bytes()) as u64;
        Ok(Self {
            _reserved: slabs.session.reserve(bytes, Held::Privates)?,
            ranges,
            slabs,
            bins: vec![Bin::default(); ranges.count],
            gathered: vec![0; ranges.count],
            key_lines: lines(ranges.key_bytes())?,
            value_lines: values.collect::<Result<_, _>>()?,
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
        let lines = self.key_lines.of(0).cast::<K>();
        for (number, key) in keys.iter().enumerate() {
            let range = self.ranges.of(*key);
            let gathered = &mut self.gathered[range];
            let place = range * LINE + usize::from(*gathered);
            *gathered += 1;
            let is_full = usize::from(*gathered) == LINE;
            // SAFETY: there is a line for each range, of `LINE` places, and `gathered` is below that before each update.
            unsafe {
                *lines.add(place) = K::of(self.ranges.local(*key));
                values.put(number, place);
            }
            if is_full {
                self.gathered[range] = 0;
                self.write(range, LINE)?;
            }
        }
        Ok(())
    }
}

impl Sink for Bins<'_, '_> {
    fn take(&mut self, updates: &Updates<'_>) -> Result<(), Failure> {
        gather(self, updates)
    }
}

impl<'s> Gather<'s> for Bins<'_, 's> {
    fn lines(&mut self) -> &mut [Lines<'s>] {
        &mut self.value_lines
    }

    fn gather<V: Values>(&mut self, updates: &Updates<'_>, values: &V) -> Result<(), Failure> {
        match self.ranges.keys() {
            KeyWidth::Narrow => self.sort::<u16, V>(updates.keys, values),
            KeyWidth::Wide => self.sort::<u32, V>(updates.keys, values),
        }
    }
}

/// The number of an element within its range.
trait LocalKey: Copy {
    fn of(key: u32) -> Self;
}

impl LocalKey for u16 {
    #[inline]
    fn of(key: u32) -> Self {
        key as Self
    }
}

impl LocalKey for u32 {
    #[inline]
    fn of(key: u32) -> Self {
        key
    }
}
