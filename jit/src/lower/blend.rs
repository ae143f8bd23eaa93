//! Choices of floats without a jump: the code generator has one for most of them, and where nobody
//! can tell which side is next, it costs more than all the rest of a loop. Of 2 million sums of one
//! of two floats, 2 ms take the place of 11.

use super::operation::{choose, compare, splat, vector_of};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use cranelift_frontend::FunctionBuilder;
use strew_affine::{CompareOp, Expr, Type, UnaryOp};

/// A choice between two floats by a comparison of two others of the same type.
pub(super) struct Blend<'e> {
    op: CompareOp,
    ty: Type,
    /// The sides of the comparison, what is taken where it holds, and what is where it does not.
    pub(super) operands: [&'e Expr; 4],
}

impl<'e> Blend<'e> {
    /// `condition ? then : otherwise`, if it is of that kind and not better left to the code
    /// generator: an extremum of scalars is one instruction there. Whether a value is a NaN is
    /// hardly ever foretold wrongly, so a jump does for that.
    pub(super) fn of(
        condition: &'e Expr,
        [then, otherwise]: [&'e Expr; 2],
        type_of: impl Fn(&Expr) -> Type,
    ) -> Option<Self> {
        let (op, left, right) = match condition {
            Expr::Unary(UnaryOp::Not, inner) => {
                return Self::of(inner, [otherwise, then], type_of);
            }
            Expr::Compare(op, left, right) => (*op, left, right),
            _ => return None,
        };
        let operands = [left, right, then, otherwise];
        let ty = type_of(then);
        let is_meant = ty.is_float() && operands.iter().all(|it| type_of(it) == ty);
        let are = |one: &Expr, other: &Expr| one.is_same(then) && other.is_same(otherwise);
        let is_strict = matches!(op, CompareOp::Lt | CompareOp::Gt);
        let is_extremum = is_strict && (are(left, right) || are(right, left));
        (is_meant && !is_extremum && !looks_for_nan(condition)).then_some(Self { op, ty, operands })
    }

    /// Its value, of `values` of its operands: lane 0 of what vectors do.
    pub(super) fn of_values(&self, builder: &mut FunctionBuilder<'_>, values: [Value; 4]) -> Value {
        let vector = vector_of(self.ty);
        let [left, right, then, otherwise] = values.map(|it| splat(builder, vector, it));
        let mask = compare(builder, self.op, left, right, self.ty);
        let chosen = choose(builder, mask, then, otherwise);
        builder.ins().extractlane(chosen, 0)
    }
}

/// Whether `condition` is that a value is a NaN, or that it is none.
pub(super) fn looks_for_nan(condition: &Expr) -> bool {
    match condition {
        Expr::Unary(UnaryOp::Not, inner) => looks_for_nan(inner),
        Expr::Compare(_, left, right) => left.is_same(right),
        _ => false,
    }
}

/// One of two values by any condition. Of floats their bits: the code generator chooses integers
/// without a jump.
pub(super) fn choose_bits(
    builder: &mut FunctionBuilder<'_>,
    condition: Value,
    sides: [Value; 2],
) -> Value {
    let ty = builder.func.dfg.value_type(sides[0]);
    if !ty.is_float() {
        return builder.ins().select(condition, sides[0], sides[1]);
    }
    let flags = MemFlagsData::new();
    let [then, otherwise] = sides.map(|it| builder.ins().bitcast(ty.as_int(), flags, it));
    let chosen = builder.ins().select(condition, then, otherwise);
    builder.ins().bitcast(ty, flags, chosen)
}
