//! Updates on their way from a body that sorts them to somebody who takes a line of them at a time.

use crate::abi::{Call, LINE, Lines};
use crate::chunks::Chunks;
use crate::failure::Failure;
use crate::stream::{addresses, status_of};
use std::ops::Range;

/// Who has lines, and takes the updates in them.
pub(crate) trait LineSink {
    /// The lines; they stay where they are as long as the sink does.
    fn lines(&mut self) -> Lines;

    /// Takes the updates in the line of `range`, which is full, and empties it.
    ///
    /// # Errors
    /// Why no more are wanted; the body then ends.
    fn take(&mut self, range: usize) -> Result<(), Failure>;
}

/// Lines with who takes what is in them.
#[repr(C)]
struct Gathering<'s> {
    /// The first field, so that its address is that of the whole.
    lines: Lines,
    sink: &'s mut dyn LineSink,
}

/// Runs `iterations` as chunk `number` of `chunks`, with a sink for the updates of the buffers that
/// are merged together, one after the other; with each comes how many buffers those are. What is in
/// the lines in the end stays there. Failures are left with the chunks.
///
/// # Safety
/// The body of `chunks` is one that sorts updates of such buffers, into lines like these.
pub(crate) unsafe fn run<'s>(
    chunks: &Chunks<'_>,
    number: usize,
    iterations: Range<i64>,
    sinks: impl Iterator<Item = (usize, &'s mut dyn LineSink)>,
) {
    let gatherings = sinks.map(|(parts, sink)| {
        let lines = sink.lines();
        (parts, Gathering { lines, sink })
    });
    let mut gatherings: Vec<_> = gatherings.collect();
    let each = gatherings.iter_mut();
    let addresses = addresses(each.map(|(parts, it)| (std::ptr::from_mut(it).cast(), *parts)));
    // SAFETY: the caller vouches for the body; the lines stay where they are until it has ended.
    unsafe { chunks.run(number, iterations, &addresses) };
}

/// What generated code calls when a line is full: see [`FullFn`](crate::abi::FullFn).
///
/// # Safety
/// * `call` is the state that a strategy handed to the generated function that calls this.
/// * `lines` is what a strategy handed to that function.
#[unsafe(export_name = "strew_empty_line")]
pub unsafe extern "C" fn empty_line(call: *mut Call, lines: *mut Lines, range: u64) -> u32 {
    // SAFETY: the caller vouches for it.
    let gathering = unsafe { &mut *lines.cast::<Gathering<'_>>() };
    // SAFETY: the caller vouches for the call.
    unsafe {
        status_of(call, "sorting updates", || {
            gathering.sink.take(range as usize)
        })
    }
}

/// What generated code calls with the values of `count` updates that follow each other, each of
/// `bytes` bytes: puts them into the lines of their ranges, which are [listed](Lines::ranges).
/// Returns a [`Status`](crate::abi::Status).
///
/// # Safety
/// * As for [`empty_line`].
/// * The lines are of one buffer, whose values have 1, 2, 4 or 8 bytes, and ranges are listed.
///   Behind those of all updates stands one whose line nobody takes: of more updates than there are
///   ranges, the first ends this.
/// * There are so many values of so many bytes, aligned as these are.
#[unsafe(export_name = "strew_put_values")]
pub unsafe extern "C" fn put_values(
    call: *mut Call,
    lines: *mut Lines,
    values: *const u8,
    count: u64,
    bytes: u64,
) -> u32 {
    // SAFETY: the caller vouches for it.
    let gathering = unsafe { &mut *lines.cast::<Gathering<'_>>() };
    let count = count as usize;
    // SAFETY: the caller vouches for the call, for the values, and for the lines and ranges that
    // `put` asks for.
    unsafe {
        status_of(call, "sorting updates", || match bytes {
            1 => gathering.put(std::slice::from_raw_parts(values, count)),
            2 => gathering.put(std::slice::from_raw_parts(values.cast::<u16>(), count)),
            4 => gathering.put(std::slice::from_raw_parts(values.cast::<u32>(), count)),
            _ => gathering.put(std::slice::from_raw_parts(values.cast::<u64>(), count)),
        })
    }
}

impl Gathering<'_> {
    /// Puts the values of the next updates into their lines.
    ///
    /// # Safety
    /// The lines are of one buffer, whose values have as many bytes as a `T`. There are as many
    /// ranges, or behind the last one stands one whose line nobody takes.
    unsafe fn put<T: Copy>(&mut self, values: &[T]) -> Result<(), Failure> {
        let places = self.lines.places;
        // SAFETY: there is a column for the buffer.
        let column = unsafe { *self.lines.values }.cast::<T>();
        let ranges = self.lines.ranges;
        self.lines.ranges = ranges.wrapping_add(values.len());
        for (number, value) in values.iter().enumerate() {
            // SAFETY: the caller vouches for the ranges, each of which has a line with room: it is
            // emptied when it is full.
            let (range, next) = unsafe {
                let range = usize::from(*ranges.add(number));
                let place = *places.add(range);
                column.add(place as usize).write(*value);
                *places.add(range) = place + 1;
                (range, place + 1)
            };
            if next.is_multiple_of(LINE) {
                self.sink.take(range)?;
            }
        }
        Ok(())
    }
}
