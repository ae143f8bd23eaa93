//! What a forall reads where data say, as far as it is known which, and how long it waits for that.

use super::sample::waited_for;
use crate::abi::{ForallCall, GatherCall};
use crate::machine::{Caches, Calibration};
use crate::prefetch::CACHE_LINE;

/// From so many cache lines that are read the look costs next to nothing.
const WORTH_A_LOOK: u64 = 1 << 17;

/// Smaller arrays are near.
const FAR_BYTES: u64 = 512 << 10;

/// The look is at so many keys that follow each other, enough to see whether those of a lattice,
/// which go to several lines by turns, follow each other at each of them, in so many places at
/// equal distances.
const PLACES: u64 = 4;
const KEYS: u64 = 512;

/// Of a row, the lines behind the first are fetched in advance, in part: so many are waited for as
/// long as for one.
const ROW_LINES: u64 = 2;

/// Of keys of which more wait for a line than not, the next ones go anywhere. Where they do not,
/// what they lead to is near what others have led to not long before.
const ANYWHERE: f64 = 0.5;

/// Lines of memory that a forall waits for when it reads what keys choose. They depend on these and
/// on sizes alone, never on the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// About how many.
    pub waits: u64,
    /// The bytes of the arrays that are read anywhere alike, and so take their part of the caches.
    pub bytes: u64,
}

impl Gathered {
    /// Looks at the keys, where there are so many reads that it pays.
    ///
    /// # Safety
    /// That of [`run_forall`](crate::run_forall), for `forall`.
    pub(super) unsafe fn look(forall: &ForallCall) -> Self {
        let reads = match usize::try_from(forall.gather_count) {
            // SAFETY: the caller vouches for a table of so many entries.
            Ok(count) if count > 0 => unsafe { std::slice::from_raw_parts(forall.gathers, count) },
            _ => return Self::default(),
        };
        let row_lines = |read: &GatherCall| read.row_bytes / CACHE_LINE as u64;
        let times = |read: &GatherCall| u64::try_from(read.times).unwrap_or(0);
        let far = reads.iter().filter(|read| {
            let lines = times(read).saturating_mul(1 + row_lines(read));
            read.bytes > FAR_BYTES && lines >= WORTH_A_LOOK
        });
        far.fold(Self::default(), |all, read| {
            // SAFETY: that of the caller.
            let places = unsafe { keys(read) };
            let lines = times(read) as f64 * (1 + row_lines(read) / ROW_LINES) as f64;
            let share = waited_for(&places, read.row_bytes);
            let waits = (lines * share) as u64;
            let is_counted = read.again == 1 || share <= ANYWHERE;
            let bytes = if is_counted { 0 } else { read.bytes };
            Self {
                waits: all.waits.saturating_add(waits),
                bytes: all.bytes.saturating_add(bytes),
            }
        })
    }

    /// How many simple updates take as long, with outputs of `bytes` beside what is read, by the
    /// usual costs: this settles how updates are grouped, so it is the same on all machines, and no
    /// logarithm is asked for that may be rounded in one way or the other.
    pub(super) fn updates(&self, bytes: u64) -> u64 {
        let usual = Calibration::default();
        let sizes = self.bytes.saturating_add(bytes) / (Caches::USUAL.second / 4);
        let doubled = sizes.max(1).ilog2() as usize;
        let line = usual.lines.get(doubled).or(usual.lines.last());
        let line = line.copied().unwrap_or_default();
        (self.waits as f64 * line / usual.update) as u64
    }
}

/// Some of the keys, those of each place apart.
///
/// # Safety
/// There are as many keys as `read` says, and nobody writes them.
unsafe fn keys(read: &GatherCall) -> Vec<Vec<u32>> {
    let step = read.keys_count / PLACES;
    let places = (0..PLACES).map(|place| place * step..(place * step).saturating_add(KEYS));
    let places = places.map(|it| it.start..it.end.min(read.keys_count));
    let key = |number: u64| {
        let at = read
            .keys
            .wrapping_add(number as usize * read.key_bytes as usize);
        // SAFETY: the number is below how many there are, and elements of an array lie at multiples
        // of their size.
        unsafe {
            match read.key_bytes {
                1 => u32::from(at.read()),
                2 => u32::from(at.cast::<u16>().read()),
                4 => at.cast::<u32>().read(),
                8 => at.cast::<u64>().read() as u32,
                _ => 0,
            }
        }
    };
    places.map(|it| it.map(key).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ELEMENTS: u64 = 1 << 20;

    fn look(keys: &[u32], row_bytes: u64, times: i64) -> Gathered {
        let read = GatherCall {
            keys: keys.as_ptr().cast(),
            keys_count: keys.len() as u64,
            row_bytes,
            bytes: ELEMENTS * row_bytes,
            times,
            key_bytes: 4,
            again: 0,
        };
        let forall = ForallCall {
            gathers: &raw const read,
            gather_count: 1,
            ..crate::test_kernels::nothing()
        };
        // SAFETY: the table has one entry, whose keys are there.
        unsafe { Gathered::look(&forall) }
    }

    #[test]
    fn keys_in_no_order_are_waited_for_and_others_hardly() {
        let times = 4 << 20;
        let mixed: Vec<_> = (0..1_u32 << 14)
            .map(|it| it.wrapping_mul(0x9E37_79B9) >> 12)
            .collect();
        let found = look(&mixed, 8, times);
        assert!(found.waits > times as u64 / 10 * 9, "{found:?}");
        assert_eq!(found.bytes, ELEMENTS * 8);
        let rising: Vec<_> = (0..1 << 14).collect();
        let found = look(&rising, 8, times);
        assert!(found.waits < times as u64 / 8, "{found:?}");
        let near: Vec<_> = (0..1 << 14).map(|it| it % 64).collect();
        assert!(look(&near, 8, times).waits < times as u64 / 8);
        // The three neighbours of the nodes of a lattice.
        let neighbours = |node: u32| [node + 1, node + 1000, node + 70_000];
        let lattice: Vec<_> = (0..1 << 14).flat_map(neighbours).collect();
        assert!(look(&lattice, 8, times).waits < times as u64 / 24);
    }

    #[test]
    fn rows_of_several_lines_take_longer() {
        let mixed: Vec<_> = (0..1_u32 << 14)
            .map(|it| it.wrapping_mul(0x9E37_79B9) >> 12)
            .collect();
        let of = |row_bytes| look(&mixed, row_bytes, 1 << 20).waits;
        assert!(of(2048) > of(64) * 8);
    }

    #[test]
    fn few_reads_and_small_arrays_are_not_looked_at() {
        let keys = [0; 4];
        assert_eq!(look(&keys, 8, (1 << 17) - 1), Gathered::default());
        assert_eq!(look(&keys, 8, -1), Gathered::default());
        assert_eq!(look(&[], 8, 1 << 30).waits, 0);
        assert_eq!(Gathered::default().updates(1 << 30), 0);
    }

    #[test]
    fn waits_for_more_bytes_are_longer() {
        let of = |bytes| Gathered { waits: 1000, bytes }.updates(0);
        assert!(of(1 << 20) < of(1 << 24) && of(1 << 24) < of(1 << 28));
    }
}
