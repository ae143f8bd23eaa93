//! The least and the largest of numbers that lie one after the other.

use crate::abi::{Scanned, Status};

/// An integer type that indices are kept in.
trait Key: Copy + Ord {
    const LEAST: Self;
    const MOST: Self;
    /// The number; one that is larger than any `i64` as the largest of those.
    fn number(self) -> i64;
}

macro_rules! keys {
    ($($ty:ty)*) => {$(
        impl Key for $ty {
            const LEAST: Self = <$ty>::MIN;
            const MOST: Self = <$ty>::MAX;
            fn number(self) -> i64 {
                i64::try_from(self).unwrap_or(i64::MAX)
            }
        }
    )*};
}

keys!(i8 i16 i32 i64 u8 u16 u32 u64);

#[inline(always)]
fn extremes_here<K: Key>(keys: &[K]) -> (K, K) {
    let none = (K::MOST, K::LEAST);
    keys.iter()
        .fold(none, |(least, most), key| (least.min(*key), most.max(*key)))
}

/// The same with vectors of 256 bits: the 128-bit ones that every processor has know neither the lesser nor the larger of two numbers.
///
/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn extremes_in_wide_vectors<K: Key>(keys: &[K]) -> (K, K) {
    extremes_here(keys)
}

fn extremes<K: Key>(keys: &[K]) -> Scanned {
    #[cfg(target_arch = "x86_64")]
    let (least, most) = if std::is_x86_feature_detected!("avx2") {
        // SAFETY: it was just found that the processor has it.
        unsafe { extremes_in_wide_vectors(keys) }
    } else {
        extremes_here(keys)
    };
    #[cfg(not(target_arch = "x86_64"))]
    let (least, most) = extremes_here(keys);
    Scanned {
        least: least.number(),
        most: most.number(),
    }
}

/// Writes to `found` the least and the largest of `count` integers from `keys` on, of the type that `kind` says: their bytes, and 256 more
/// if they have a sign. Of none, and of another kind, the least is larger than the largest, or it is `i64::MIN`. Generated code calls
/// it; returns a [`Status`], which is [`Status::Done`].
///
/// # Safety
/// There are so many integers of that type at `keys`, nobody writes them meanwhile, and `found` may be written.
#[unsafe(export_name = "strew_scan_keys")]
pub unsafe extern "C" fn scan_keys(
    keys: *const u8,
    count: u64,
    kind: u64,
    found: *mut Scanned,
) -> u32 {
    let none = Scanned {
        least: i64::MIN,
        most: i64::MAX,
    };
    // SAFETY: the caller vouches for the keys.
    let scanned = unsafe {
        match kind {
            0x101 => scan::<i8>(keys, count),
            0x102 => scan::<i16>(keys, count),
            0x104 => scan::<i32>(keys, count),
            0x108 => scan::<i64>(keys, count),
            0x001 => scan::<u8>(keys, count),
            0x002 => scan::<u16>(keys, count),
            0x004 => scan::<u32>(keys, count),
            0x008 => scan::<u64>(keys, count),
            _ => none,
        }
    };
    // SAFETY: the caller vouches for the place.
    unsafe { found.write(scanned) };
    Status::Done as u32
}

/// # Safety
/// There are so many keys, and nobody writes them meanwhile.
unsafe fn scan<K: Key>(keys: *const u8, count: u64) -> Scanned {
    let count = usize::try_from(count).unwrap_or(0);
    if count == 0 {
        return extremes::<K>(&[]);
    }
    // SAFETY: the caller vouches for the keys, which belong to an array of their type and so are aligned.
    extremes(unsafe { std::slice::from_raw_parts(keys.cast::<K>(), count) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned<K>(keys: &[K], kind: u64) -> (i64, i64) {
        let mut found = Scanned::default();
        let count = keys.len() as u64;
        // SAFETY: the slice and the place are borrowed for the call; the kinds below are those of the slices.
        let status = unsafe { scan_keys(keys.as_ptr().cast(), count, kind, &raw mut found) };
        assert_eq!(status, Status::Done as u32);
        (found.least, found.most)
    }

    #[test]
    fn the_least_and_the_largest_are_found_in_every_type() {
        assert_eq!(scanned(&[3_i8, -4, 5], 0x101), (-4, 5));
        assert_eq!(scanned(&[3_i16, -400, 500], 0x102), (-400, 500));
        let many: Vec<i32> = (0..1000).map(|it| it * 7919 % 1009 - 300).collect();
        let (least, most) = (many.iter().min().unwrap(), many.iter().max().unwrap());
        assert_eq!(scanned(&many, 0x104), (i64::from(*least), i64::from(*most)));
        assert_eq!(scanned(&[i64::MIN, i64::MAX], 0x108), (i64::MIN, i64::MAX));
        assert_eq!(scanned(&[200_u8, 100], 0x001), (100, 200));
        assert_eq!(scanned(&[60_000_u16, 1], 0x002), (1, 60_000));
        assert_eq!(scanned(&[4_000_000_000_u32, 1], 0x004), (1, 4_000_000_000));
        assert_eq!(scanned(&[u64::MAX, 7], 0x008), (7, i64::MAX));
    }

    #[test]
    fn of_none_the_least_is_larger() {
        let (least, most) = scanned::<i32>(&[], 0x104);
        assert!(least > most);
    }
}
