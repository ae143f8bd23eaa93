//! Shifts. As many places as a type has bits are none: counts are taken modulo that, as processors
//! take them.

use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;
use strew_affine::{BinaryOp, Expr, Kernel, Type};

/// `left`, of type `ty`, shifted by `count` places, an integer of any type.
pub(super) fn shift(
    builder: &mut FunctionBuilder<'_>,
    op: BinaryOp,
    left: Value,
    count: Value,
    ty: Type,
) -> Value {
    match op {
        BinaryOp::Shl => builder.ins().ishl(left, count),
        _ if ty.is_signed() => builder.ins().sshr(left, count),
        _ => builder.ins().ushr(left, count),
    }
}

/// What is `count` modulo the bits of `ty`, a power of two, without what changes nothing about
/// that: `k` for `k % 64`, for `k & 63` and for conversions of `k` between integers that keep the
/// lowest bits.
pub(super) fn count_in<'e>(kernel: &Kernel, count: &'e Expr, ty: Type) -> &'e Expr {
    let bits = i64::from(ty.bits());
    let inner = match count {
        // The remainder of a negative number is negative, and as far from a multiple of the
        // divisor.
        Expr::Binary(BinaryOp::Rem, number, divisor, _) => {
            let divisor = divisor.as_integer();
            divisor
                .is_some_and(|it| it > 0 && it % bits == 0)
                .then_some(number)
        }
        Expr::Binary(BinaryOp::BitAnd, left, right, _) => {
            let keeps = |mask: &Expr| mask.as_integer().is_some_and(|it| !it & (bits - 1) == 0);
            match (keeps(left), keeps(right)) {
                (_, true) => Some(left),
                (true, _) => Some(right),
                _ => None,
            }
        }
        // The narrowest integer has 8 bits, and a count in the widest one 6.
        Expr::Cast(to, number) if to.is_integer() && number.ty(kernel).is_integer() => Some(number),
        _ => None,
    };
    inner.map_or(count, |it| count_in(kernel, it, ty))
}
