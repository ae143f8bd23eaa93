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

/// The same with vectors of 256 bits: the 128-bit ones that every processor has know neither the
/// lesser nor the larger of two numbers.
///
/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn extremes_in_wide_vectors<K: Key>(keys: &[K]) -> (K, K) {
    extremes_here(keys)
}

/// A type of floats.
trait Float: Copy + PartialOrd + Into<f64> {
    const LEAST: Self;
    const MOST: Self;
    fn is_number(self) -> bool;
}

macro_rules! floats {
    ($($ty:ty)*) => {$(
        impl Float for $ty {
            const LEAST: Self = <$ty>::NEG_INFINITY;
            const MOST: Self = <$ty>::INFINITY;
            #[inline(always)]
            fn is_number(self) -> bool {
                !self.is_nan()
            }
        }
    )*};
}

floats!(f32 f64);

/// Of so many floats those at the same place are compared with each other: in vectors, several of
/// them, so that none waits for the one before.
const LANES: usize = 16;

/// The least and the largest of `floats`, and whether all of them are numbers.
#[inline(always)]
fn float_extremes_here<F: Float>(floats: &[F]) -> (F, F, bool) {
    let mut least = [F::MOST; LANES];
    let mut most = [F::LEAST; LANES];
    let mut are_numbers = [true; LANES];
    let (groups, rest) = floats.as_chunks::<LANES>();
    let last = rest.first().map(|first| {
        let mut last = [*first; LANES];
        last[..rest.len()].copy_from_slice(rest);
        last
    });
    for group in groups.iter().chain(&last) {
        // Over places, and with nothing in it that might be a call: this is what is made vectors
        // of.
        for lane in 0..LANES {
            let float = group[lane];
            least[lane] = if float < least[lane] {
                float
            } else {
                least[lane]
            };
            most[lane] = if float > most[lane] {
                float
            } else {
                most[lane]
            };
            are_numbers[lane] &= float.is_number();
        }
    }
    let less = |one: F, other: F| if other < one { other } else { one };
    let more = |one: F, other: F| if other > one { other } else { one };
    (
        least.into_iter().fold(F::MOST, less),
        most.into_iter().fold(F::LEAST, more),
        are_numbers.into_iter().all(|it| it),
    )
}

/// The same as [`extremes_in_wide_vectors`] of floats.
///
/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn float_extremes_in_wide_vectors<F: Float>(floats: &[F]) -> (F, F, bool) {
    float_extremes_here(floats)
}

/// What the first function makes of the numbers where the processor has what it needs, AVX2, else
/// the second.
macro_rules! by_processor {
    ($wide:ident, $here:ident, $numbers:ident) => {{
        #[cfg(target_arch = "x86_64")]
        let found = if std::is_x86_feature_detected!("avx2") {
            // SAFETY: it was just found that the processor has it.
            unsafe { $wide($numbers) }
        } else {
            $here($numbers)
        };
        #[cfg(not(target_arch = "x86_64"))]
        let found = $here($numbers);
        found
    }};
}

fn extremes<K: Key>(keys: &[K]) -> Scanned {
    let (least, most) = by_processor!(extremes_in_wide_vectors, extremes_here, keys);
    Scanned {
        least: least.number(),
        most: most.number(),
    }
}

fn float_extremes<F: Float>(floats: &[F]) -> Scanned {
    let (least, most, are_numbers) =
        by_processor!(float_extremes_in_wide_vectors, float_extremes_here, floats);
    let bits = |float: F| match are_numbers {
        true => float.into().to_bits().cast_signed(),
        false => f64::NAN.to_bits().cast_signed(),
    };
    Scanned {
        least: bits(least),
        most: bits(most),
    }
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
            0x204 => float_extremes::<f32>(slice(keys, count)),
            0x208 => float_extremes::<f64>(slice(keys, count)),
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
