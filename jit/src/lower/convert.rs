//! Types and conversions, as C converts, with what C leaves open defined.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use strew_affine::Type;

/// The code generator's type; signedness is in its instructions instead. A `bool` is a byte, with 0
/// or 1 in it.
pub(super) fn clif_type(ty: Type) -> ir::Type {
    match ty {
        Type::Bool | Type::I8 | Type::U8 => types::I8,
        Type::I16 | Type::U16 => types::I16,
        Type::I32 | Type::U32 => types::I32,
        Type::I64 | Type::U64 => types::I64,
        Type::F32 => types::F32,
        Type::F64 => types::F64,
    }
}

/// An integer or `bool` of type `ty`, sign- or zero-extended to 64 bits.
pub(super) fn extend(builder: &mut FunctionBuilder<'_>, value: Value, ty: Type) -> Value {
    if ty.bytes() == 8 {
        value
    } else {
        widen(builder, value, ty, types::I64)
    }
}

fn widen(builder: &mut FunctionBuilder<'_>, value: Value, ty: Type, to: ir::Type) -> Value {
    if ty.is_signed() {
        builder.ins().sextend(to, value)
    } else {
        builder.ins().uextend(to, value)
    }
}

/// `value` of type `from`, converted to type `to`.
pub(super) fn convert(
    builder: &mut FunctionBuilder<'_>,
    value: Value,
    from: Type,
    to: Type,
) -> Value {
    match (from.is_float(), to.is_float()) {
        _ if from == to => value,
        (true, true) if to == Type::F64 => builder.ins().fpromote(types::F64, value),
        (true, true) => builder.ins().fdemote(types::F32, value),
        (true, false) => float_to_integer(builder, value, from, to),
        (false, true) => integer_to_float(builder, value, from, to),
        (false, false) => integer_to_integer(builder, value, from, to),
    }
}

fn integer_to_integer(
    builder: &mut FunctionBuilder<'_>,
    value: Value,
    from: Type,
    to: Type,
) -> Value {
    let target = clif_type(to);
    if to == Type::Bool {
        builder.ins().icmp_imm_s(IntCC::NotEqual, value, 0)
    } else if from.bytes() < to.bytes() {
        widen(builder, value, from, target)
    } else if from.bytes() > to.bytes() {
        builder.ins().ireduce(target, value)
    } else {
        value
    }
}

/// Rounds to nearest once: narrow integers are widened first, which is exact.
fn integer_to_float(
    builder: &mut FunctionBuilder<'_>,
    value: Value,
    from: Type,
    to: Type,
) -> Value {
    let target = clif_type(to);
    let value = if from.bytes() < 4 {
        widen(builder, value, from, types::I32)
    } else {
        value
    };
    if from.is_signed() || from.bytes() < 4 {
        builder.ins().fcvt_from_sint(target, value)
    } else {
        builder.ins().fcvt_from_uint(target, value)
    }
}

/// Rounds towards zero, saturates at the ends of the type, and gives 0 for NaN.
fn float_to_integer(
    builder: &mut FunctionBuilder<'_>,
    value: Value,
    from: Type,
    to: Type,
) -> Value {
    if to == Type::Bool {
        let zero = float_zero(builder, from);
        return builder.ins().fcmp(FloatCC::NotEqual, value, zero);
    }
    let wide = if to.bytes() == 8 {
        types::I64
    } else {
        types::I32
    };
    if to.is_signed() {
        let whole = builder.ins().fcvt_to_sint_sat(wide, value);
        saturate_signed(builder, whole, to)
    } else {
        let whole = builder.ins().fcvt_to_uint_sat(wide, value);
        saturate_unsigned(builder, whole, to)
    }
}

fn float_zero(builder: &mut FunctionBuilder<'_>, ty: Type) -> Value {
    if ty == Type::F32 {
        builder.ins().f32const(0.0)
    } else {
        builder.ins().f64const(0.0)
    }
}

fn saturate_signed(builder: &mut FunctionBuilder<'_>, whole: Value, to: Type) -> Value {
    if to.bytes() >= 4 {
        return whole;
    }
    let half = 1_i64 << (to.bits() - 1);
    let least = builder.ins().iconst(types::I32, -half);
    let greatest = builder.ins().iconst(types::I32, half - 1);
    let above = builder.ins().smax(whole, least);
    let clamped = builder.ins().smin(above, greatest);
    builder.ins().ireduce(clif_type(to), clamped)
}

fn saturate_unsigned(builder: &mut FunctionBuilder<'_>, whole: Value, to: Type) -> Value {
    if to.bytes() >= 4 {
        return whole;
    }
    let greatest = builder.ins().iconst(types::I32, (1_i64 << to.bits()) - 1);
    let clamped = builder.ins().umin(whole, greatest);
    builder.ins().ireduce(clif_type(to), clamped)
}
