//! Updates sorted by the range of elements that they belong to, in their order within each range.
//!
//! This is the first half of propagation blocking (Beamer, Asanović, Patterson: Reducing PageRank
//! Communication via Propagation Blocking, IPDPS 2017). Updates are gathered a line at a time for
//! each range, and whole lines are written past the caches, which is what makes it pay: the lines
//! that are being gathered stay in the caches, what is written is read much later.

use super::lines::{KEY_BYTES, LINE, Lines};
use super::ranges::Ranges;
use crate::abi;
use crate::failure::{Failure, Held};
use crate::gathering::LineSink;
use crate::loan::{Loan, Reserved};
use crate::memory::lock;
use crate::past_caches::copy_past_caches;
use crate::session::Session;
use smallvec::SmallVec;
use std::ptr;
use std::sync::Mutex;

/// How many updates a block holds.
pub(super) const BLOCK: usize = 32 * LINE;

/// Memory for blocks is taken so many bytes at a time.
const SLAB_BYTES: usize = 4 << 20;

/// Of what the updates in a block consist: their keys, one behind the other, then for each buffer
/// their values.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The bytes of a value for each buffer, 0 where it is known without.
    pub(super) widths: SmallVec<[usize; 2]>,
}

impl Layout {
    /// The bytes that an update takes.
    fn update_bytes(&self) -> usize {
        KEY_BYTES + self.widths.iter().sum::<usize>()
    }

    /// Where the values for each buffer begin in a block.
    pub(super) fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.widths.iter().scan(BLOCK * KEY_BYTES, |at, width| {
            let column = *at;
            *at += BLOCK * width;
            Some(column)
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

// SAFETY: the loans own their memory; nothing in them is tied to a thread, and the mutex keeps them
// apart.
unsafe impl Send for Slab<'_> {}

impl<'s> Slabs<'s> {
    /// For about `updates` updates.
    pub(super) fn new(session: Session<'s>, layout: &Layout, updates: u64) -> Self {
        let block_bytes = BLOCK * layout.update_bytes();
        let expected = usize::try_from(updates).unwrap_or(usize::MAX);
        let expected = expected.saturating_mul(layout.update_bytes());
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
#[derive(Clone, Debug)]
struct Bin {
    blocks: Vec<*mut u8>,
    /// The last of the blocks; the others are full.
    last: *mut u8,
    /// How many updates are in it.
    used: usize,
}

impl Bin {
    const EMPTY: Self = Self {
        blocks: Vec::new(),
        last: ptr::null_mut(),
        used: BLOCK,
    };

    /// Whether there is no block with room.
    fn is_full(&self) -> bool {
        self.used == BLOCK
    }
}

/// The updates of some consecutive iterations, by range.
pub(super) struct Bins<'a, 's> {
    ranges: &'a Ranges,
    slabs: &'a Slabs<'s>,
    bins: Vec<Bin>,
    lines: Lines<'s>,
    _reserved: Reserved<'s>,
}

// SAFETY: blocks and lines belong to the bins alone.
unsafe impl Send for Bins<'_, '_> {}

impl<'a, 's> Bins<'a, 's> {
    /// Without updates.
    ///
    /// # Errors
    /// For want of memory.
    pub(super) fn new(
        ranges: &'a Ranges,
        layout: &Layout,
        slabs: &'a Slabs<'s>,
    ) -> Result<Self, Failure> {
        let bytes = ranges.count.saturating_mul(size_of::<Bin>()) as u64;
        Ok(Self {
            _reserved: slabs.session.reserve(bytes, Held::Privates)?,
            ranges,
            slabs,
            bins: vec![Bin::EMPTY; ranges.count],
            lines: Lines::new(&slabs.session, ranges.count, &layout.widths, true)?,
        })
    }

    /// Writes the lines that are not full.
    ///
    /// # Errors
    /// For want of memory.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        (0..self.bins.len()).try_for_each(|range| match self.lines.gathered(range) {
            0 => Ok(()),
            count => self.write(range, count),
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

    /// Appends the first `count` updates of the line of `range` to its last block, and empties the
    /// line. All lines before were full.
    fn write(&mut self, range: usize, count: usize) -> Result<(), Failure> {
        let bin = &mut self.bins[range];
        if bin.is_full() {
            bin.last = self.slabs.block()?;
            bin.blocks.push(bin.last);
            bin.used = 0;
        }
        let mut column = bin.last;
        for lines in &self.lines.columns {
            let place = column.wrapping_add(bin.used * lines.width);
            // SAFETY: a line is no longer than what is left of the column, since blocks hold whole
            // lines.
            unsafe { copy_past_caches(lines.line(range), place, LINE * lines.width) };
            column = column.wrapping_add(BLOCK * lines.width);
        }
        bin.used += count;
        self.lines.empty(range);
        Ok(())
    }
}

impl LineSink for Bins<'_, '_> {
    fn lines(&mut self) -> abi::Lines {
        abi::Lines {
            shift: u64::from(self.ranges.shift),
            ..self.lines.table()
        }
    }

    fn take(&mut self, range: usize) -> Result<(), Failure> {
        self.write(range, LINE)
    }
}
