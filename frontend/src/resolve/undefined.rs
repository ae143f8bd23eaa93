//! Warnings of what C leaves undefined: operations on constants that have no result in C, and
//! variables that an expression changes and uses in no certain order.

use super::Resolver;
use super::shape::Shape;
use super::unsequenced;
use crate::ast::{BinaryOp as Operator, Expr, ExprKind};
use crate::constant;
use crate::problem::UndefinedProblem;
use crate::types::{Position, common, promoted};
use strew_affine::{BinaryOp, Type, Value};

impl Resolver<'_> {
    /// An expression that is part of no other.
    pub(super) fn full_expression(&mut self, expr: &mut Expr) {
        self.expression(expr);
        self.warn_of_constants(expr);
        if expr.has_effects() {
            for (name, span) in unsequenced::conflicts(expr) {
                let name = name.to_owned();
                self.diagnostics
                    .report(UndefinedProblem::Unsequenced { name }, span);
            }
        }
    }

    fn warn_of_constants(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::SizeOf(_) => return,
            ExprKind::Binary(Operator::Arithmetic(op), left, right)
            | ExprKind::Assign(Some(op), left, right) => {
                if let Some(problem) = self.undefined(*op, left, right) {
                    self.diagnostics.report(problem, expr.span);
                }
            }
            ExprKind::Assign(None, place, value) => {
                let place = self.shape(place);
                self.warn_of_conversion(&place, value);
            }
            ExprKind::Cast(name, operand) => {
                self.warn_of_conversion(&Shape::of_type(name, Position::Cast), operand);
            }
            _ => {}
        }
        for operand in evaluated(expr) {
            self.warn_of_constants(operand);
        }
    }

    /// What is undefined about `left op right`.
    fn undefined(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Option<UndefinedProblem> {
        let by = constant::evaluate(right)?;
        let count = by.as_integer()?;
        match op {
            BinaryOp::Shl | BinaryOp::Shr => {
                let ty = promoted(self.scalar(left)?);
                let is_defined = (0..i128::from(ty.bits())).contains(&count);
                (ty.is_integer() && !is_defined)
                    .then_some(UndefinedProblem::ShiftCount { count, ty })
            }
            BinaryOp::Div | BinaryOp::Rem if count == 0 => {
                let is_integer = self.scalar(left).is_some_and(|it| !it.is_float());
                is_integer.then_some(UndefinedProblem::DivisionByZero)
            }
            _ => overflow(op, constant::evaluate(left)?, by),
        }
    }

    fn scalar(&self, expr: &Expr) -> Option<Type> {
        match self.shape(expr) {
            Shape::Scalar(ty) => Some(ty),
            _ => None,
        }
    }

    /// Looks at a constant that becomes a `to`.
    pub(super) fn warn_of_conversion(&mut self, to: &Shape, value: &Expr) {
        let Shape::Scalar(to) = *to else { return };
        let Some((low, high)) = to.integer_range().filter(|_| to != Type::Bool) else {
            return;
        };
        let float = constant::evaluate(value).and_then(Value::as_float);
        // The ends of 64 bits are no floats, but what is between the limits truncates to what is in
        // the range.
        let is_defined = |it: f64| it > low as f64 - 1.0 && it < (high + 1) as f64;
        if float.is_some_and(|it| !is_defined(it)) {
            self.diagnostics
                .report(UndefinedProblem::Conversion { to }, value.span);
        }
    }
}

/// The operands that are evaluated, where that is certain before anything runs.
fn evaluated(expr: &Expr) -> Vec<&Expr> {
    let truth = |it| constant::evaluate(it).map(|it| it.as_integer() != Some(0));
    match &expr.kind {
        ExprKind::Conditional(condition, then, otherwise) => match truth(condition) {
            Some(true) => vec![then],
            Some(false) => vec![otherwise],
            None => expr.kind.operands(),
        },
        ExprKind::Binary(Operator::And, left, _) if truth(left) == Some(false) => vec![left],
        ExprKind::Binary(Operator::Or, left, _) if truth(left) == Some(true) => vec![left],
        other => other.operands(),
    }
}

/// Whether signed constants have a result that their type cannot hold.
fn overflow(op: BinaryOp, left: Value, right: Value) -> Option<UndefinedProblem> {
    let ty = common(left.ty(), right.ty());
    let (left, right) = (left.as_integer()?, right.as_integer()?);
    let result = match op {
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Sub => left.checked_sub(right),
        // Only products of unsigned numbers leave 128 bits, and those wrap.
        BinaryOp::Mul => left.checked_mul(right),
        BinaryOp::Div | BinaryOp::Rem => left.checked_div(right),
        _ => None,
    }?;
    let (low, high) = ty.integer_range()?;
    let fits = low <= result && result <= high;
    (ty.is_signed() && !fits).then_some(UndefinedProblem::Overflow { ty })
}
