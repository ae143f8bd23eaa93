//! What the driver hands to a kernel.

use std::ffi::c_void;
use std::slice;

/// As in `peers.h`.
#[repr(C)]
pub struct Slot {
    whole: i64,
    real: f64,
    data: *mut c_void,
    bytes: usize,
    initial: *mut c_void,
}

/// The arguments of a kernel in the order of its parameters.
pub struct Arguments(*const Slot);

impl Arguments {
    /// # Safety
    /// There is a slot for each parameter that is asked for, of its kind; each array is asked for
    /// once.
    pub unsafe fn new(slots: *const Slot) -> Self {
        Self(slots)
    }

    fn slot(&self, at: usize) -> &Slot {
        // SAFETY: that of `new`.
        unsafe { &*self.0.add(at) }
    }

    pub fn size(&self, at: usize) -> usize {
        self.slot(at).whole as usize
    }

    pub fn real(&self, at: usize) -> f64 {
        self.slot(at).real
    }

    pub fn input<T>(&self, at: usize) -> &[T] {
        let slot = self.slot(at);
        // SAFETY: that of `new`; the driver aligns arrays to cache lines.
        unsafe { slice::from_raw_parts(slot.data.cast(), slot.bytes / size_of::<T>()) }
    }

    #[expect(clippy::mut_from_ref, reason = "each array is asked for once")]
    pub fn output<T>(&self, at: usize) -> &mut [T] {
        let slot = self.slot(at);
        // SAFETY: as above.
        unsafe { slice::from_raw_parts_mut(slot.data.cast(), slot.bytes / size_of::<T>()) }
    }
}

/// Row `i` of a matrix.
pub fn row<T>(matrix: &[T], columns: usize, i: usize) -> &[T] {
    &matrix[i * columns..][..columns]
}

/// Row `i` of a matrix that is written.
pub fn row_mut<T>(matrix: &mut [T], columns: usize, i: usize) -> &mut [T] {
    &mut matrix[i * columns..][..columns]
}
