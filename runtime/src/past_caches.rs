//! Copies that leave the caches to what is used again.

/// Copies `bytes` bytes, for speed a multiple of 16 as both addresses are, to where they are not
/// read soon.
///
/// # Safety
/// `source` is valid for reads and `sink` for writes of so many bytes; they do not overlap. Before
/// another thread reads them the caller calls [`end_of_copies`] on this one.
#[inline]
pub(crate) unsafe fn copy_past_caches(source: *const u8, sink: *mut u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    if bytes.is_multiple_of(16)
        && sink.addr().is_multiple_of(16)
        && source.addr().is_multiple_of(16)
    {
        use std::arch::x86_64::{__m128i, _mm_load_si128, _mm_stream_si128};
        let (source, sink) = (source.cast::<__m128i>(), sink.cast::<__m128i>());
        for number in 0..bytes / 16 {
            // SAFETY: every x86-64 processor has these; the caller vouches for the memory, whose
            // alignment was looked at.
            unsafe { _mm_stream_si128(sink.add(number), _mm_load_si128(source.add(number))) };
        }
        return;
    }
    // SAFETY: the caller vouches for both.
    unsafe { std::ptr::copy_nonoverlapping(source, sink, bytes) };
}

/// Makes what this thread has copied past its caches seen by those that it hands work to.
pub(crate) fn end_of_copies() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has it.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
