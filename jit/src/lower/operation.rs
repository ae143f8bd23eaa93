//! Operations on values, scalar or vector. Integer division is not here: it can fault.

use super::convert::clif_type;
use super::shift::shift;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, immediates, types};
use cranelift_frontend::FunctionBuilder;
use strew_affine::{BinaryOp, CompareOp, Type, UnaryOp, Value as Constant};

pub(super) fn constant(builder: &mut FunctionBuilder<'_>, value: Constant) -> Value {
    let bits = value.bits();
    match value.ty() {
        Type::F32 => builder
            .ins()
            .f32const(immediates::Ieee32::with_bits(bits as u32)),
        Type::F64 => builder.ins().f64const(immediates::Ieee64::with_bits(bits)),
        ty => builder.ins().iconst(clif_type(ty), bits as i64),
    }
}

pub(super) fn zero(builder: &mut FunctionBuilder<'_>, ty: Type) -> Value {
    constant(builder, Constant::zero(ty))
}

/// The same for a scalar that others are taken from, or that is divided by others. The code
/// generator makes a float that has to be in a register anew in each block that uses it, by way of
/// a register for integers; what is made of the integer's bits it makes once, before the loop.
/// Where the constant can be the second operand, it is fetched from memory by the instruction
/// itself.
pub(super) fn kept_constant(builder: &mut FunctionBuilder<'_>, value: Constant) -> Value {
    let (float, integer) = match value.ty() {
        Type::F32 => (types::F32, types::I32),
        Type::F64 => (types::F64, types::I64),
        _ => return constant(builder, value),
    };
    // A zero takes no such way.
    if value.bits() == 0 {
        return constant(builder, value);
    }
    let bits = builder.ins().iconst(integer, value.bits() as i64);
    let flags = cranelift_codegen::ir::MemFlagsData::new();
    builder.ins().bitcast(float, flags, bits)
}

/// `op operand`, with `operand` of type `ty` or lanes of it.
pub(super) fn unary(
    builder: &mut FunctionBuilder<'_>,
    op: UnaryOp,
    operand: Value,
    ty: Type,
) -> Value {
    match op {
        UnaryOp::Neg if ty.is_float() => builder.ins().fneg(operand),
        UnaryOp::Neg => builder.ins().ineg(operand),
        UnaryOp::BitNot => builder.ins().bnot(operand),
        UnaryOp::Not => builder.ins().bxor_imm_u(operand, 1),
        UnaryOp::CountOnes => builder.ins().popcnt(operand),
        UnaryOp::LeadingZeros => builder.ins().clz(operand),
        UnaryOp::TrailingZeros => builder.ins().ctz(operand),
    }
}

/// `left op right`, with operands of type `ty` or lanes of it; division is that of floats.
pub(super) fn binary(
    builder: &mut FunctionBuilder<'_>,
    op: BinaryOp,
    left: Value,
    right: Value,
    ty: Type,
) -> Value {
    let (left, right) = in_order(op, left, right);
    let ins = builder.ins();
    match op {
        BinaryOp::Add if ty.is_float() => ins.fadd(left, right),
        BinaryOp::Sub if ty.is_float() => ins.fsub(left, right),
        BinaryOp::Mul if ty.is_float() => ins.fmul(left, right),
        BinaryOp::Div | BinaryOp::Rem => ins.fdiv(left, right),
        BinaryOp::Add => ins.iadd(left, right),
        BinaryOp::Sub => ins.isub(left, right),
        BinaryOp::Mul => ins.imul(left, right),
        BinaryOp::BitAnd => ins.band(left, right),
        BinaryOp::BitOr => ins.bor(left, right),
        BinaryOp::BitXor => ins.bxor(left, right),
        BinaryOp::Shl | BinaryOp::Shr => shift(builder, op, left, right, ty),
    }
}

/// The operands, in the same order for `a * b` and `b * a`, so that the code generator sees that
/// they are one product. All their bits are the same, but for what a NaN holds besides, if both are
/// one.
fn in_order(op: BinaryOp, left: Value, right: Value) -> (Value, Value) {
    match op {
        BinaryOp::Add | BinaryOp::Mul | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
            (left.min(right), left.max(right))
        }
        BinaryOp::Sub | BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => {
            (left, right)
        }
    }
}

/// `left op right` as a `bool`, or as a mask of the lanes where it holds.
pub(super) fn compare(
    builder: &mut FunctionBuilder<'_>,
    op: CompareOp,
    left: Value,
    right: Value,
    ty: Type,
) -> Value {
    if ty.is_float() {
        let (condition, is_mirrored) = float_condition(op, left == right);
        let (left, right) = if is_mirrored {
            (right, left)
        } else {
            (left, right)
        };
        builder.ins().fcmp(condition, left, right)
    } else {
        let code = integer_condition(op, ty.is_signed());
        builder.ins().icmp(code, left, right)
    }
}

/// The condition, and whether it holds with the sides exchanged. With a NaN every comparison but
/// `!=` is false.
///
/// The code generator knows an extremum, `a < b ? a : b`, by "less" alone. Whether one value is a
/// NaN, it knows by one flag; whether two are equal, by two.
fn float_condition(op: CompareOp, are_one: bool) -> (FloatCC, bool) {
    match op {
        CompareOp::Eq if are_one => (FloatCC::Ordered, false),
        CompareOp::Ne if are_one => (FloatCC::Unordered, false),
        CompareOp::Eq => (FloatCC::Equal, false),
        CompareOp::Ne => (FloatCC::NotEqual, false),
        CompareOp::Lt => (FloatCC::LessThan, false),
        CompareOp::Le => (FloatCC::LessThanOrEqual, false),
        CompareOp::Gt => (FloatCC::LessThan, true),
        CompareOp::Ge => (FloatCC::LessThanOrEqual, true),
    }
}

fn integer_condition(op: CompareOp, signed: bool) -> IntCC {
    match (op, signed) {
        (CompareOp::Eq, _) => IntCC::Equal,
        (CompareOp::Ne, _) => IntCC::NotEqual,
        (CompareOp::Lt, true) => IntCC::SignedLessThan,
        (CompareOp::Le, true) => IntCC::SignedLessThanOrEqual,
        (CompareOp::Gt, true) => IntCC::SignedGreaterThan,
        (CompareOp::Ge, true) => IntCC::SignedGreaterThanOrEqual,
        (CompareOp::Lt, false) => IntCC::UnsignedLessThan,
        (CompareOp::Le, false) => IntCC::UnsignedLessThanOrEqual,
        (CompareOp::Gt, false) => IntCC::UnsignedGreaterThan,
        (CompareOp::Ge, false) => IntCC::UnsignedGreaterThanOrEqual,
    }
}

/// `condition ? then : otherwise`, lane by lane when `condition` is a mask.
pub(super) fn choose(
    builder: &mut FunctionBuilder<'_>,
    condition: Value,
    then: Value,
    otherwise: Value,
) -> Value {
    let ty = builder.func.dfg.value_type(then);
    if ty.is_vector() {
        let mask = if builder.func.dfg.value_type(condition) == ty {
            condition
        } else {
            let flags = cranelift_codegen::ir::MemFlagsData::new();
            builder.ins().bitcast(ty, flags, condition)
        };
        builder.ins().bitselect(mask, then, otherwise)
    } else {
        builder.ins().select(condition, then, otherwise)
    }
}

/// `value` in every lane of `ty`; itself when `ty` is a scalar type.
pub(super) fn splat(
    builder: &mut FunctionBuilder<'_>,
    ty: cranelift_codegen::ir::Type,
    value: Value,
) -> Value {
    if ty.is_vector() {
        builder.ins().splat(ty, value)
    } else {
        value
    }
}

/// The 128-bit vector of `ty`.
pub(super) fn vector_of(ty: Type) -> cranelift_codegen::ir::Type {
    let scalar = clif_type(ty);
    scalar.by(16 / ty.bytes()).unwrap_or(types::I8X16)
}
