//! Asking memory in time for what is used soon.

/// The bytes that memory is moved in.
pub(crate) const CACHE_LINE: usize = 64;

/// Asks for the cache lines of `bytes` bytes from `address` on, which need not be there: asking for
/// what is nowhere does nothing.
#[inline]
pub(crate) fn prefetch(address: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for distance in (0..bytes).step_by(CACHE_LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = address.wrapping_add(distance).cast();
        // SAFETY: every x86-64 processor has it, and it neither faults nor changes anything,
        // whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (address, bytes, CACHE_LINE);
}

/// What generated code calls for a row that it is going to update or to read: asks for `bytes`
/// bytes, at least 1, from `address` on.
///
/// No register is changed, not even those of the arguments: the loop that calls it has no call that
/// it would have to save registers for, which takes longer than a short row. This is Cranelift's
/// convention `PreserveAll`.
// SAFETY: keeps to the convention `sysv64`, and to the stricter one above: what it changes it has
// pushed and pops again. It reads no memory but its stack: asking for a line neither faults nor
// changes anything, whatever the address.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[unsafe(export_name = "strew_prefetch_row")]
pub extern "sysv64" fn prefetch_row(address: *const u8, bytes: u64) {
    std::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "2:",
        "prefetcht0 [rdi]",
        "add rdi, {line}",
        // What is left is counted, and no address compared: what keys out of range make of one may
        // wrap around.
        "sub rsi, {line}",
        "ja 2b",
        "pop rsi",
        "pop rdi",
        "ret",
        line = const CACHE_LINE,
    )
}

/// Other processors are left to themselves.
#[cfg(not(target_arch = "x86_64"))]
#[unsafe(export_name = "strew_prefetch_row")]
pub extern "C" fn prefetch_row(_address: *const u8, _bytes: u64) {}
