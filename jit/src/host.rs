//! Functions of the host that combine: how generated code calls them.

use cranelift_jit::JITBuilder;
use strew_affine::{HostFunction, Value};
use strew_runtime::panics;

/// The symbol that [`combine`] has in generated code.
pub(crate) const COMBINE: &str = "strew_combine";

/// Tells `builder` where to find the function.
pub(crate) fn define_symbol(builder: &mut JITBuilder) {
    builder.symbol(COMBINE, combine as *const u8);
}

/// Puts what `held` becomes when `incoming` comes to it into `combined`, and returns 0; or `held`,
/// and 1, when the function of the host panicked, or has panicked on this thread in this call
/// before.
///
/// # Safety
/// `function` is the address of a function that lives, `held` and `incoming` are bits of its type,
/// zero-extended, and `combined` is valid for writes.
unsafe extern "C" fn combine(
    function: *const HostFunction,
    held: u64,
    incoming: u64,
    combined: *mut u64,
) -> u32 {
    // SAFETY: the caller vouches for the address.
    let function = unsafe { &*function };
    let value = |bits| Value::from_bits(function.element(), bits);
    let outcome = if panics::is_noted() {
        None
    } else {
        let outcome = function.combine(value(held), value(incoming));
        outcome
            .map_err(|it| panics::note(it.combiner, it.message))
            .ok()
    };
    let bits = outcome.map_or(held, Value::bits);
    // SAFETY: the caller vouches for the place.
    unsafe { *combined = bits };
    u32::from(outcome.is_none())
}
