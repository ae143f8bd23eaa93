//! Choices of floats without a jump: the code generator has one for them, and where nobody can tell which side is next, it costs more than all
//! the rest of a loop. Of 2 million sums of one of two floats, 2 ms take the place of 11.

use super::operation::{choose, compare};
use cranelift_codegen::ir::{InstBuilder, Type as ClifType, Value, types};
use cranelift_frontend::FunctionBuilder;
use strew_affine::{CompareOp, Expr, Type};

/// A choice between two values by a comparison of two others.
pub(super) struct Blend<'e> {
    op: CompareOp,
    /// The sides of the comparison, what is taken where it holds, and what is where it does not.
    pub(super) operands: [&'e Expr; 4],
}

impl<'e> Blend<'e> {
    /// `condition ? then : otherwise`, unless it is better left to the code generator: an extremum is one instruction, and the jump for a NaN
    /// is hardly ever foretold wrongly.
    pub(super) fn of(condition: &'e Expr, then: &'e Expr, otherwise: &'e Expr) -> Option<Self> {
        let Expr::Compare(op, left, right) = condition else {
            return None;
        };
        let operands = [left, right, then, otherwise];
        let are = |one: &Expr, other: &Expr| one.is_same(then) && other.is_same(otherwise);
        let is_strict = matches!(op, CompareOp::Lt | CompareOp::Gt);
        let is_extremum = is_strict && (are(left, right) || are(right, left));
        (!is_extremum && !left.is_same(right)).then_some(Self { op: *op, operands })
    }

    /// Its value, of `values` of its operands, which are all of the float type `ty`: lane 0 of what vectors do.
    pub(super) fn of_values(
        &self,
        builder: &mut FunctionBuilder<'_>,
        values: [Value; 4],
        ty: Type,
    ) -> Value {
        let vector = vector_of(ty);
        let [left, right, then, otherwise] =
            values.map(|it| builder.ins().scalar_to_vector(vector, it));
        let mask = compare(builder, self.op, left, right, ty);
        let chosen = choose(builder, mask, then, otherwise);
        builder.ins().extractlane(chosen, 0)
    }
}

fn vector_of(float: Type) -> ClifType {
    match float {
        Type::F32 => types::F32X4,
        _ => types::F64X2,
    }
}
