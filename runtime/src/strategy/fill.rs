use crate::abi::PrivateCall;
use std::mem::MaybeUninit;

/// Writes the identity of `private` to `elements` elements at `buffer`, which need not be
/// initialised.
///
/// # Safety
/// `buffer` has room for so many elements of `private`, is aligned for them, and nobody else
/// touches it meanwhile.
pub(super) unsafe fn fill(buffer: *mut u8, elements: u64, private: &PrivateCall) {
    let elements = usize::try_from(elements).unwrap_or(0);
    let bits = private.identity;
    // SAFETY: the caller vouches for the buffer.
    unsafe {
        match private.element_bytes {
            1 => fill_with(buffer, elements, bits as u8),
            2 => fill_with(buffer, elements, bits as u16),
            4 => fill_with(buffer, elements, bits as u32),
            _ => fill_with(buffer, elements, bits),
        }
    }
}

/// Writes the identity of `private` to all its elements in a buffer whose runs are `stride` bytes
/// apart.
///
/// # Safety
/// That of [`fill`], for these elements.
pub(super) unsafe fn fill_runs(buffer: *mut u8, stride: u64, private: &PrivateCall) {
    if stride == private.run_bytes() {
        // SAFETY: the caller vouches for the buffer.
        return unsafe { fill(buffer, private.elements, private) };
    }
    let run = private.target_run.max(1);
    let runs = usize::try_from(private.elements / run).unwrap_or(0);
    for number in 0..runs {
        let place = buffer.wrapping_add(number * stride as usize);
        // SAFETY: the caller vouches for the elements of each run.
        unsafe { fill(place, run, private) };
    }
}

/// # Safety
/// That of [`fill`], for elements of type `T`.
unsafe fn fill_with<T: Copy>(buffer: *mut u8, elements: usize, value: T) {
    let buffer = buffer.cast::<MaybeUninit<T>>();
    // SAFETY: the caller vouches for so many elements, which may be uninitialised.
    let buffer = unsafe { std::slice::from_raw_parts_mut(buffer, elements) };
    buffer.fill(MaybeUninit::new(value));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: Copy + Default + PartialEq + std::fmt::Debug>(value: T, bits: u64) {
        let mut cells = [T::default(); 5];
        let private = PrivateCall {
            identity: bits,
            ..PrivateCall::of_sums(std::ptr::null_mut(), 4, size_of::<T>() as u32)
        };
        // SAFETY: there is one element more than is filled, and it is borrowed mutably here.
        unsafe { fill(cells.as_mut_ptr().cast(), 4, &private) };
        assert_eq!(cells, [value, value, value, value, T::default()]);
    }

    #[test]
    fn every_width_is_filled_and_nothing_behind_it() {
        check(-1_i8, u64::from(u8::MAX));
        check(0x1234_u16, 0x1234);
        check(f32::NEG_INFINITY, u64::from(f32::NEG_INFINITY.to_bits()));
        check(i64::MIN, i64::MIN as u64);
    }
}
