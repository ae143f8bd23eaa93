//! Integers as numbers of 64 bits, which is what finds elements.
//!
//! What is computed in fewer bits and does not wrap there is the same number in 64 bits, and needs not be extended then.

use super::convert::extend;
use super::function::{Binding, FunctionLowering};
use super::operation;
use cranelift_codegen::ir::Value;
use strew_affine::value_range::Range;
use strew_affine::{BinaryOp, Expr, Type};

impl FunctionLowering<'_, '_, '_> {
    /// An integer expression, extended to 64 bits by the shortest way.
    pub(super) fn extended(&mut self, expr: &Expr) -> Value {
        let ty = expr.ty(self.program.kernel);
        match expr {
            Expr::Load(access) => self.load_extended(access),
            Expr::Local(local) => match self.locals.get(*local).copied() {
                Some(Binding::Loaded { wide, .. }) => wide,
                _ => {
                    let value = self.local(*local);
                    extend(&mut self.builder, value, ty)
                }
            },
            Expr::Cast(_, inner) if self.is_number_of(inner, ty) => self.extended(inner),
            Expr::Binary(op, left, right, _) if self.is_same_in_64(*op, ty, [left, right]) => {
                let [left, right] = [left, right].map(|it| self.extended(it));
                let wide = match ty.is_signed() {
                    true => Type::I64,
                    false => Type::U64,
                };
                operation::binary(&mut self.builder, *op, left, right, wide)
            }
            _ => {
                let value = self.expr(expr);
                extend(&mut self.builder, value, ty)
            }
        }
    }

    /// Whether `expr` is an integer that `ty` has.
    fn is_number_of(&self, expr: &Expr, ty: Type) -> bool {
        let is_integer = expr.ty(self.program.kernel).is_integer() && ty.is_integer();
        is_integer && self.range(expr).is_some_and(|it| ty.holds(it))
    }

    /// Whether `op` has the same number for operands of the narrower type `ty` as for these in 64 bits.
    fn is_same_in_64(&self, op: BinaryOp, ty: Type, [left, right]: [&Expr; 2]) -> bool {
        let ranges = self.range(left).zip(self.range(right));
        let Some((left, right)) = ranges.filter(|_| ty.is_integer() && ty.bits() < 64) else {
            return false;
        };
        match op {
            BinaryOp::Add => ty.holds((left.0 + right.0, left.1 + right.1)),
            BinaryOp::Sub => ty.holds((left.0 - right.1, left.1 - right.0)),
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => true,
            // Counts beyond the width are taken modulo it.
            BinaryOp::Shr => right.0 >= 0 && right.1 < i128::from(ty.bits()),
            BinaryOp::Mul | BinaryOp::Shl | BinaryOp::Div | BinaryOp::Rem => false,
        }
    }

    /// Between which numbers `expr` lies.
    fn range(&self, expr: &Expr) -> Option<Range> {
        self.program.facts.stays().range(self.program.kernel, expr)
    }
}
