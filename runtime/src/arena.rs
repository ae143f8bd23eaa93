//! Buffers that stay warm: the first touch of a page costs more than most kernels do with it, so
//! memory is kept between calls.

use crate::failure::Failure;
use crate::memory::{HUGE_PAGE, Pages, advise, lock};
use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;
use std::sync::Mutex;

/// Alignment of every buffer: two cache lines, since processors fetch them in pairs.
pub(crate) const ALIGNMENT: usize = 128;

/// Larger buffers have whole pages.
const PAGE: usize = 4 << 10;

/// A list that is searched from end to end stays short.
const MOST_KEPT: usize = 256;

#[derive(Debug)]
struct Block {
    address: NonNull<u8>,
    layout: Layout,
}

// SAFETY: a block owns its memory alone; nothing in it is tied to a thread.
unsafe impl Send for Block {}

impl Block {
    fn allocate(layout: Layout) -> Option<Self> {
        // SAFETY: `Arena::layout` makes no layout of size zero.
        let address = NonNull::new(unsafe { alloc(layout) })?;
        if let Some(pages) = pages(layout) {
            advise(address.as_ptr(), layout.size(), pages);
        }
        Some(Self { address, layout })
    }

    fn free(self) {
        // SAFETY: allocated with this very layout in `allocate`, and owned by `self` alone.
        unsafe { dealloc(self.address.as_ptr(), self.layout) }
    }
}

/// What pages are asked for: the alignment of a block tells what it was laid out for.
fn pages(layout: Layout) -> Option<Pages> {
    match layout.align() {
        HUGE_PAGE => Some(Pages::Huge),
        PAGE => Some(Pages::Small),
        _ => None,
    }
}

#[derive(Debug, Default)]
struct Kept {
    blocks: Vec<Block>,
    bytes: u64,
    /// By how much blocks that are on loan are larger than what was asked for.
    surplus: u64,
}

impl Kept {
    /// The smallest block for `layout`, if there is one that is not much too large.
    fn take(&mut self, layout: Layout) -> Option<Block> {
        let bytes = layout.size();
        let fits = bytes..=bytes.saturating_mul(2);
        let has_pages = |it: Layout| pages(it) == pages(layout);
        let (position, _) = self
            .blocks
            .iter()
            .enumerate()
            .filter(|(_, it)| fits.contains(&it.layout.size()) && has_pages(it.layout))
            .min_by_key(|(_, block)| block.layout.size())?;
        let block = self.blocks.swap_remove(position);
        self.bytes -= block.layout.size() as u64;
        self.surplus += (block.layout.size() - bytes) as u64;
        Some(block)
    }

    fn keep(&mut self, block: Block) {
        self.bytes += block.layout.size() as u64;
        self.blocks.push(block);
    }

    /// Gives back blocks, those that were kept longest first, until at most `most` bytes are left.
    fn shrink(&mut self, most: u64) {
        let mut given = 0;
        while given < self.blocks.len() && self.bytes > most {
            self.bytes -= self.blocks[given].layout.size() as u64;
            given += 1;
        }
        self.blocks.drain(..given).for_each(Block::free);
    }
}

/// A store of buffers, for many threads at once.
#[derive(Debug)]
pub(crate) struct Arena {
    kept: Mutex<Kept>,
    most_kept: u64,
}

impl Arena {
    /// An arena that keeps at most `most_kept` bytes for later.
    pub(crate) fn new(most_kept: u64) -> Self {
        Self {
            kept: Mutex::default(),
            most_kept,
        }
    }

    /// A buffer of at least `bytes` bytes, not initialised.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`] when the system has none to give.
    pub(crate) fn take(&self, bytes: usize) -> Result<Buffer<'_>, Failure> {
        self.take_as(bytes, Self::layout(bytes))
    }

    /// The same of which only the pages that are touched take memory.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`] when the system has no addresses to give.
    pub(crate) fn take_sparse(&self, bytes: usize) -> Result<Buffer<'_>, Failure> {
        let layout = match bytes {
            // The system gives these no huge pages.
            ..HUGE_PAGE => Self::layout(bytes),
            HUGE_PAGE.. => {
                let size = bytes.checked_next_multiple_of(PAGE);
                size.and_then(|size| Layout::from_size_align(size, PAGE).ok())
            }
        };
        self.take_as(bytes, layout)
    }

    fn take_as(&self, bytes: usize, layout: Option<Layout>) -> Result<Buffer<'_>, Failure> {
        if bytes == 0 {
            return Ok(Buffer {
                arena: self,
                block: None,
                surplus: 0,
            });
        }
        let out_of_memory = Failure::OutOfMemory {
            bytes: bytes as u64,
        };
        let Some(layout) = layout else {
            return Err(out_of_memory);
        };
        let kept = lock(&self.kept).take(layout);
        let block = kept
            .or_else(|| Block::allocate(layout))
            .or_else(|| {
                self.shrink(0);
                Block::allocate(layout)
            })
            .ok_or(out_of_memory)?;
        Ok(Buffer {
            arena: self,
            surplus: (block.layout.size() - layout.size()) as u64,
            block: Some(block),
        })
    }

    /// Rounded up a little: what is asked for counts against budgets.
    fn layout(bytes: usize) -> Option<Layout> {
        let (unit, alignment) = match bytes {
            ..PAGE => (ALIGNMENT, ALIGNMENT),
            PAGE..HUGE_PAGE => (PAGE, ALIGNMENT),
            HUGE_PAGE.. => (PAGE, HUGE_PAGE),
        };
        let size = bytes.checked_next_multiple_of(unit)?;
        Layout::from_size_align(size, alignment).ok()
    }

    /// Sees to it that, with `loaned` bytes asked for, no more than `most` bytes are held, as far
    /// as kept buffers can be given back.
    pub(crate) fn make_room(&self, loaned: u64, most: u64) {
        let mut kept = lock(&self.kept);
        let left = most.saturating_sub(loaned.saturating_add(kept.surplus));
        kept.shrink(left);
    }

    /// Gives kept memory back to the system until at most `most` bytes are left.
    pub(crate) fn shrink(&self, most: u64) {
        lock(&self.kept).shrink(most);
    }

    /// How many bytes are kept for later.
    pub(crate) fn kept_bytes(&self) -> u64 {
        lock(&self.kept).bytes
    }

    fn give_back(&self, block: Block, surplus: u64) {
        let mut kept = lock(&self.kept);
        kept.surplus -= surplus;
        if block.layout.size() as u64 > self.most_kept {
            drop(kept);
            return block.free();
        }
        kept.keep(block);
        let mut most = self.most_kept;
        if kept.blocks.len() > MOST_KEPT {
            most = most.min(kept.bytes / 2);
        }
        kept.shrink(most);
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.shrink(0);
    }
}

/// Memory on loan from an [`Arena`]; it goes back when this is dropped.
#[derive(Debug)]
pub(crate) struct Buffer<'a> {
    arena: &'a Arena,
    block: Option<Block>,
    surplus: u64,
}

impl Buffer<'_> {
    /// Its first byte, aligned to [`ALIGNMENT`]; not to be read or written when no bytes were asked
    /// for.
    pub(crate) fn address(&self) -> *mut u8 {
        match &self.block {
            Some(block) => block.address.as_ptr(),
            None => std::ptr::without_provenance_mut(ALIGNMENT),
        }
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            self.arena.give_back(block, self.surplus);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_returned_buffer_is_used_again() {
        let arena = Arena::new(u64::MAX);
        for bytes in [1, 100, 4096, 5 << 20] {
            let first = arena.take(bytes).unwrap().address();
            let kept = arena.kept_bytes();
            let second = arena.take(bytes).unwrap();
            assert_eq!(second.address(), first);
            assert!(arena.kept_bytes() + bytes as u64 <= kept);
        }
    }

    #[test]
    fn two_loans_never_share_memory() {
        let arena = Arena::new(u64::MAX);
        let (first, second) = (arena.take(256).unwrap(), arena.take(256).unwrap());
        assert!(first.address().addr().abs_diff(second.address().addr()) >= 256);
    }

    #[test]
    fn buffers_are_aligned() {
        let arena = Arena::new(u64::MAX);
        for bytes in [0, 1, 127, 129, 1 << 20] {
            let buffer = arena.take(bytes).unwrap();
            assert!(buffer.address().addr().is_multiple_of(ALIGNMENT), "{bytes}");
        }
        let large = arena.take(HUGE_PAGE + 1).unwrap();
        assert!(large.address().addr().is_multiple_of(HUGE_PAGE));
    }

    #[test]
    fn impossible_sizes_are_errors() {
        let arena = Arena::new(u64::MAX);
        for bytes in [usize::MAX, isize::MAX as usize, 1 << 62] {
            let failure = arena.take(bytes).unwrap_err();
            assert_eq!(
                failure,
                Failure::OutOfMemory {
                    bytes: bytes as u64
                }
            );
        }
    }

    #[test]
    fn no_more_than_the_limit_is_kept() {
        let arena = Arena::new(4096);
        let loans: Vec<_> = (0..8).map(|_| arena.take(1024).unwrap()).collect();
        drop(loans);
        assert_eq!(arena.kept_bytes(), 4096);
        drop(arena.take(8192).unwrap());
        assert_eq!(arena.kept_bytes(), 4096);
        arena.shrink(0);
        assert_eq!(arena.kept_bytes(), 0);
    }

    #[test]
    fn many_threads_take_and_return() {
        let arena = Arena::new(1 << 20);
        std::thread::scope(|scope| {
            for thread in 0..4_u8 {
                let arena = &arena;
                scope.spawn(move || {
                    for round in 1..200 {
                        let buffer = arena.take(round * 8).unwrap();
                        // SAFETY: the buffer has at least `round * 8` bytes and is on loan to this
                        // thread alone.
                        let bytes = unsafe {
                            buffer.address().write_bytes(thread, round * 8);
                            std::slice::from_raw_parts(buffer.address(), round * 8)
                        };
                        assert!(bytes.iter().all(|byte| *byte == thread));
                    }
                });
            }
        });
    }
}
