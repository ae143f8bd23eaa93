//! The least and the largest of numbers that lie one after the other.

use crate::abi::{Scanned, Status};
use crate::prefetch::{CACHE_LINE, prefetch};

/// A type of numbers that indices are made of.
trait Number: Copy {
    /// An integer type: there are instructions for the lesser and the larger of two integers that
    /// wait for nothing else.
    type Key: Copy + Ord;
    const LEAST: Self::Key;
    const MOST: Self::Key;
    /// In the order of the numbers.
    fn key(self) -> Self::Key;
    /// What generated code is told of the least and the largest.
    fn found(least: Self::Key, most: Self::Key) -> Scanned;
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Number for $ty {
            type Key = Self;
            const LEAST: Self = <$ty>::MIN;
            const MOST: Self = <$ty>::MAX;
            #[inline(always)]
            fn key(self) -> Self {
                self
            }
            /// One that is larger than any `i64` as the largest of those.
            fn found(least: Self, most: Self) -> Scanned {
                let [least, most] = [least, most].map(|it| i64::try_from(it).unwrap_or(i64::MAX));
                Scanned { least, most }
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 u8 u16 u32 u64);

/// The bits of a float, as an integer of this type, those of one below zero turned around but for
/// the sign, or turned back.
macro_rules! in_order {
    ($key:ty, $bits:expr) => {{
        let bits: $key = $bits;
        let sign = bits >> (<$key>::BITS - 1);
        bits ^ (sign.cast_unsigned() >> 1).cast_signed()
    }};
}

macro_rules! floats {
    ($($ty:ty: $key:ty),*) => {$(
        impl Number for $ty {
            type Key = $key;
            const LEAST: $key = in_order!($key, <$ty>::NEG_INFINITY.to_bits().cast_signed());
            const MOST: $key = in_order!($key, <$ty>::INFINITY.to_bits().cast_signed());
            /// The order of [`f64::total_cmp`]: what is no number lies beyond the infinities.
            #[inline(always)]
            fn key(self) -> $key {
                in_order!($key, self.to_bits().cast_signed())
            }
            fn found(least: $key, most: $key) -> Scanned {
                let [least, most] = [least, most]
                    .map(|key| f64::from(<$ty>::from_bits(in_order!($key, key).cast_unsigned())));
                let bits = |float: f64| match least.is_nan() || most.is_nan() {
                    true => f64::NAN.to_bits().cast_signed(),
                    false => float.to_bits().cast_signed(),
                };
                Scanned { least: bits(least), most: bits(most) }
            }
        }
    )*};
}

floats!(f32: i32, f64: i64);

/// So many bytes are looked at together.
const BLOCK: usize = 8 * CACHE_LINE;

/// So many bytes further on they are asked for: one core gets a fourth more from memory than by
/// what it foresees, 128 MiB in 7.0 ms instead of 8.8. In the caches it takes as long.
const AHEAD: usize = 8 << 10;

#[inline(always)]
fn extremes_here<N: Number>(numbers: &[N]) -> (N::Key, N::Key) {
    let none = (N::MOST, N::LEAST);
    let both =
        |one: (N::Key, N::Key), other: (N::Key, N::Key)| (one.0.min(other.0), one.1.max(other.1));
    let blocks = numbers.chunks(BLOCK / size_of::<N>());
    blocks.fold(none, |found, block| {
        prefetch(block.as_ptr().cast::<u8>().wrapping_add(AHEAD), BLOCK);
        let keys = block.iter().map(|it| (it.key(), it.key()));
        both(found, keys.fold(none, both))
    })
}

/// The same with vectors of 256 bits: the 128-bit ones that every processor has know neither the
/// lesser nor the larger of two numbers.
///
/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn extremes_in_wide_vectors<N: Number>(numbers: &[N]) -> (N::Key, N::Key) {
    extremes_here(numbers)
}

/// The same with vectors of 512 bits, which know those of numbers of 64 bits, too: of 4 Mi floats
/// of 64 bits it takes 0.65 of the time.
///
/// # Safety
/// The processor has AVX-512F.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn extremes_in_widest_vectors<N: Number>(numbers: &[N]) -> (N::Key, N::Key) {
    extremes_here(numbers)
}

fn extremes<N: Number>(numbers: &[N]) -> Scanned {
    #[cfg(target_arch = "x86_64")]
    let (least, most) = if std::is_x86_feature_detected!("avx512f") {
        // SAFETY: it was just found that the processor has it.
        unsafe { extremes_in_widest_vectors(numbers) }
    } else if std::is_x86_feature_detected!("avx2") {
        // SAFETY: it was just found that the processor has it.
        unsafe { extremes_in_wide_vectors(numbers) }
    } else {
        extremes_here(numbers)
    };
    #[cfg(not(target_arch = "x86_64"))]
    let (least, most) = extremes_here(numbers);
    N::found(least, most)
}

/// What is added to the bytes of integers that have a sign, to tell [`scan_keys`] of their type.
pub const SIGNED_KEYS: u64 = 0x100;

/// Writes to `found` the least and the largest of `count` numbers from `keys` on, of the type that
/// `kind` says: their bytes, 256 more if they are integers that have a sign, and 512 more if they
/// are floats, of which the bits of `f64` are written, those of a NaN where one of them is. Of
/// none, and of another kind, the least is larger than the largest, or it is `i64::MIN`. Generated
/// code calls it; returns a [`Status`], which is [`Status::Done`].
///
/// # Safety
/// There are so many numbers of that type at `keys`, nobody writes them meanwhile, and `found` may
/// be written.
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
            0x101 => extremes::<i8>(slice(keys, count)),
            0x102 => extremes::<i16>(slice(keys, count)),
            0x104 => extremes::<i32>(slice(keys, count)),
            0x108 => extremes::<i64>(slice(keys, count)),
            0x001 => extremes::<u8>(slice(keys, count)),
            0x002 => extremes::<u16>(slice(keys, count)),
            0x004 => extremes::<u32>(slice(keys, count)),
            0x008 => extremes::<u64>(slice(keys, count)),
            0x204 => extremes::<f32>(slice(keys, count)),
            0x208 => extremes::<f64>(slice(keys, count)),
            _ => none,
        }
    };
    // SAFETY: the caller vouches for the place.
    unsafe { found.write(scanned) };
    Status::Done as u32
}

/// # Safety
/// There are so many numbers of that type, and nobody writes them while the slice is used.
unsafe fn slice<'a, N>(first: *const u8, count: u64) -> &'a [N] {
    match usize::try_from(count) {
        Ok(count) if count > 0 => {
            // SAFETY: the caller vouches for them; they belong to an array of their type and so are
            // aligned.
            unsafe { std::slice::from_raw_parts(first.cast::<N>(), count) }
        }
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned<K>(keys: &[K], kind: u64) -> (i64, i64) {
        let mut found = Scanned::default();
        let count = keys.len() as u64;
        // SAFETY: the slice and the place are borrowed for the call; the kinds below are those of
        // the slices.
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
    fn of_floats_the_bits_are_found_and_none_where_one_is_no_number() {
        let floats: Vec<f64> = (0..1000)
            .map(|it| f64::from(it * 7919 % 1009) / 8.0 - 30.0)
            .collect();
        let least = floats.iter().copied().fold(f64::INFINITY, f64::min);
        let most = floats.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let bits =
            |(least, most): (i64, i64)| [least, most].map(|it| f64::from_bits(it.cast_unsigned()));
        assert_eq!(bits(scanned(&floats, 0x208)), [least, most]);
        assert_eq!(bits(scanned(&[1.5_f32, -2.5], 0x204)), [-2.5, 1.5]);
        assert_eq!(
            bits(scanned(&[f64::INFINITY, 0.0], 0x208)),
            [0.0, f64::INFINITY]
        );
        for at in [0, 500, 999] {
            let mut floats = floats.clone();
            floats[at] = f64::NAN;
            assert!(bits(scanned(&floats, 0x208)).iter().all(|it| it.is_nan()));
        }
        let [least, most] = bits(scanned::<f32>(&[], 0x204));
        assert!(least > most);
    }

    #[test]
    fn of_none_the_least_is_larger() {
        let (least, most) = scanned::<i32>(&[], 0x104);
        assert!(least > most);
    }
}
