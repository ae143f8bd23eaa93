//! Integers as numbers of 64 bits, which is what finds elements.
//!
//! What is computed in fewer bits and does not wrap there is the same number in 64 bits, and needs
//! not be extended then.

use super::convert::extend;
use super::function::{Binding, FunctionLowering};
use super::operation;
use cranelift_codegen::ir::Value;
use strew_affine::{BinaryOp, Expr, Type};

impl FunctionLowering<'_, '_, '_> {
    /// An integer expression, extended to 64 bits by the shortest way.
    pub(super) fn extended(&mut self, expr: &Expr) -> Value {
        let ty = expr.ty(self.program.kernel);
        match expr {
            Expr::Load(access) => self.load_extended(access),
            Expr::Local(local) => match self.locals.get(*local).copied() {
                Some(Binding::Loaded { wide, .. }) => wide,
                Some(Binding::InMemory(place)) => self.load_lane_extended(place),
                _ => {
                    let value = self.local(*local);
                    extend(&mut self.builder, value, ty)
                }
            },
            Expr::Cast(_, inner) if self.is_same_in_64(expr) => self.extended(inner),
            Expr::Binary(op, left, right, _) if self.is_same_in_64(expr) => {
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

    /// Whether the narrower integer that `expr` computes, or converts another integer to, is the
    /// same in 64 bits.
    fn is_same_in_64(&self, expr: &Expr) -> bool {
        let kernel = self.program.kernel;
        let ranges = self.program.facts.stays().ranges();
        let ty = expr.ty(kernel);
        let is_same = match expr {
            Expr::Cast(_, inner) => inner.ty(kernel).is_integer() && ranges.is_exact(kernel, expr),
            Expr::Binary(op, _, right, _) => match op {
                BinaryOp::Add | BinaryOp::Sub => ranges.is_exact(kernel, expr),
                BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => true,
                // Counts beyond the width are taken modulo it.
                BinaryOp::Shr => {
                    let count = ranges.of_expr(kernel, right);
                    count.is_some_and(|it| it.0 >= 0 && it.1 < i128::from(ty.bits()))
                }
                BinaryOp::Mul | BinaryOp::Shl | BinaryOp::Div | BinaryOp::Rem => false,
            },
            _ => false,
        };
        is_same && ty.is_integer() && ty.bits() < 64
    }
}
