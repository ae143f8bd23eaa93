//! Quotients of lanes by a number that is known: a shift, or a multiplication, of whose products
//! the upper halves are what counts. The numbers are those of Granlund and Montgomery, "Division by
//! Invariant Integers using Multiplication", 1994.

use super::value::{in_all_lanes, upper_lanes, widened_halves};
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;
use strew_affine::{BinaryOp, Type, Value as Constant};

/// The quotient of each lane of `vector`, of 32 bits, by `divisor`, or the remainder: rounded
/// towards zero, and neither 0 nor 1 nor -1.
pub(super) fn divided(
    builder: &mut FunctionBuilder<'_>,
    op: BinaryOp,
    vector: Value,
    divisor: i64,
    is_signed: bool,
) -> Value {
    let power = divisor.unsigned_abs().is_power_of_two();
    let quotient = match (power, is_signed) {
        (true, _) => shifted(builder, vector, divisor, is_signed),
        (false, true) => signed(builder, vector, divisor),
        (false, false) => unsigned(builder, vector, divisor),
    };
    if op != BinaryOp::Rem {
        return quotient;
    }
    let divisor = number(builder, divisor);
    let whole = builder.ins().imul(quotient, divisor);
    builder.ins().isub(vector, whole)
}

/// For `d = 2ᵏ`: `x` shifted by `k`, where it is negative after `2ᵏ - 1` was added to it, which
/// rounds towards zero; with the other sign where that of `d` is.
fn shifted(
    builder: &mut FunctionBuilder<'_>,
    vector: Value,
    divisor: i64,
    is_signed: bool,
) -> Value {
    let bits = i64::from(divisor.trailing_zeros());
    if !is_signed {
        return builder.ins().ushr_imm_u(vector, bits);
    }
    let sign = builder.ins().sshr_imm_u(vector, 31);
    let added = builder.ins().ushr_imm_u(sign, 32 - bits);
    let sum = builder.ins().iadd(vector, added);
    let quotient = builder.ins().sshr_imm_u(sum, bits);
    match divisor < 0 {
        true => builder.ins().ineg(quotient),
        false => quotient,
    }
}

/// For `l` bits of `d - 1`, with `m = ⌊2³² (2ˡ - d) / d⌋ + 1` and `t` the upper half of `m x`:
/// `(t + (x - t) / 2) / 2ˡ⁻¹`.
fn unsigned(builder: &mut FunctionBuilder<'_>, vector: Value, divisor: i64) -> Value {
    let bits = bits_of(divisor - 1);
    let factor = (((1 << bits) - i128::from(divisor)) << 32) / i128::from(divisor) + 1;
    let factor = number(builder, factor as i64);
    let upper = upper_halves(builder, vector, factor, false);
    let rest = builder.ins().isub(vector, upper);
    let half = builder.ins().ushr_imm_u(rest, 1);
    let sum = builder.ins().iadd(upper, half);
    builder.ins().ushr_imm_u(sum, bits - 1)
}

/// For `l` bits of `|d| - 1`, at least one, with `m = ⌊2³¹⁺ˡ / |d|⌋ + 1 - 2³²` and `t` the upper
/// half of `m x`: `(x + t) / 2ˡ⁻¹`, rounded down, and one more where `x` is negative; with the
/// other sign where `d` is.
fn signed(builder: &mut FunctionBuilder<'_>, vector: Value, divisor: i64) -> Value {
    let size = divisor.abs();
    let bits = bits_of(size - 1).max(1);
    let factor = (1_i128 << (31 + bits)) / i128::from(size) + 1 - (1 << 32);
    let factor = number(builder, factor as i64);
    let upper = upper_halves(builder, vector, factor, true);
    let sum = builder.ins().iadd(vector, upper);
    let down = builder.ins().sshr_imm_u(sum, bits - 1);
    let sign = builder.ins().sshr_imm_u(vector, 31);
    match divisor < 0 {
        true => builder.ins().isub(sign, down),
        false => builder.ins().isub(down, sign),
    }
}

fn bits_of(number: i64) -> i64 {
    i64::from(i64::BITS - number.leading_zeros())
}

/// The lower 32 bits of `number` in all lanes.
fn number(builder: &mut FunctionBuilder<'_>, number: i64) -> Value {
    let lane = Constant::from_bits(Type::I32, number as u64 & 0xffff_ffff);
    in_all_lanes(builder, lane)
}

/// The upper halves of the products of lanes.
fn upper_halves(
    builder: &mut FunctionBuilder<'_>,
    vector: Value,
    factor: Value,
    is_signed: bool,
) -> Value {
    let [one, other] = [vector, factor].map(|it| widened_halves(builder, it, is_signed));
    let [low, high] = [0, 1].map(|half| builder.ins().imul(one[half], other[half]));
    upper_lanes(builder, low, high)
}
