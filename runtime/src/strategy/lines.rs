//! Lines of values, one for each range of elements, in which updates are gathered before they are written.

use crate::failure::{Failure, Held};
use crate::loan::Reserved;
use crate::session::Session;
use crate::stream::Updates;
use smallvec::SmallVec;
use std::ptr;

/// A line of values of one width for each range.
pub(super) struct Lines<'s> {
    memory: Vec<u128>,
    length: usize,
    pub(super) width: usize,
    _reserved: Reserved<'s>,
}

impl<'s> Lines<'s> {
    /// Lines of `length` values of `width` bytes.
    ///
    /// # Errors
    /// [`Failure::OverBudget`].
    pub(super) fn new(
        session: &Session<'s>,
        ranges: usize,
        (length, width): (usize, usize),
    ) -> Result<Self, Failure> {
        let bytes = ranges.saturating_mul(length).saturating_mul(width);
        Ok(Self {
            _reserved: session.reserve(bytes as u64, Held::Privates)?,
            memory: vec![0; bytes.div_ceil(size_of::<u128>())],
            length,
            width,
        })
    }

    pub(super) fn of(&mut self, range: usize) -> *mut u8 {
        let first = self.memory.as_mut_ptr().cast::<u8>();
        first.wrapping_add(range * self.length * self.width)
    }
}

/// The values of updates, one or more each.
pub(super) trait Values {
    /// Copies those of update `number` to the lines, at place `place` of them.
    ///
    /// # Safety
    /// There is such an update and such a place.
    unsafe fn put(&self, number: usize, place: usize);
}

/// Who gathers updates, with values of whatever widths.
pub(super) trait Gather<'s> {
    /// For each column of values its lines.
    fn lines(&mut self) -> &mut [Lines<'s>];

    /// Gathers `updates`, whose values are `values`.
    ///
    /// # Errors
    /// For want of memory.
    fn gather<V: Values>(&mut self, updates: &Updates<'_>, values: &V) -> Result<(), Failure>;
}

/// Has `gatherer` gather `updates`, by code that was made for their widths where there is one column.
///
/// # Errors
/// Those of the gatherer.
pub(super) fn gather<'s>(
    gatherer: &mut impl Gather<'s>,
    updates: &Updates<'_>,
) -> Result<(), Failure> {
    let lines = gatherer.lines().iter_mut();
    let to: SmallVec<[_; 2]> = lines.map(|it| (it.of(0), it.width)).collect();
    match (to.as_slice(), updates.values) {
        ([(lines, 1)], [from]) => gatherer.gather(updates, &Column::<u8>::new(*from, *lines)),
        ([(lines, 2)], [from]) => gatherer.gather(updates, &Column::<u16>::new(*from, *lines)),
        ([(lines, 4)], [from]) => gatherer.gather(updates, &Column::<u32>::new(*from, *lines)),
        ([(lines, 8)], [from]) => gatherer.gather(updates, &Column::<u64>::new(*from, *lines)),
        (to, from) => {
            let columns = from.iter().zip(to);
            let columns = columns.map(|(from, (lines, width))| (*from, *lines, *width));
            gatherer.gather(updates, &Columns(columns.collect()))
        }
    }
}

struct Column<T> {
    from: *const T,
    lines: *mut T,
}

impl<T> Column<T> {
    fn new(from: *mut u8, lines: *mut u8) -> Self {
        Self {
            from: from.cast(),
            lines: lines.cast(),
        }
    }
}

impl<T: Copy> Values for Column<T> {
    #[inline]
    unsafe fn put(&self, number: usize, place: usize) {
        // SAFETY: the caller vouches for both.
        unsafe { *self.lines.add(place) = *self.from.add(number) }
    }
}

/// Source, lines and width of each buffer.
struct Columns(SmallVec<[(*mut u8, *mut u8, usize); 2]>);

impl Values for Columns {
    #[inline]
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
