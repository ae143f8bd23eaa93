//! Constant expressions: what can be computed before anything runs, in C's types.

use crate::ast::{BinaryOp as Operator, Expr, ExprKind, UnaryOp};
use crate::types::{self, Named, Position, common, promoted};
use strew_affine::evaluate;
use strew_affine::{BinaryOp, Type, UnaryOp as Computed, Value};

/// The value of an expression whose names are resolved, if it is constant and C defines it.
pub(crate) fn evaluate(expr: &Expr) -> Option<Value> {
    match &expr.kind {
        ExprKind::Constant(value) => Some(*value),
        ExprKind::Unary(op, operand) => unary(*op, evaluate(operand)?),
        ExprKind::Binary(Operator::Arithmetic(op), left, right) => {
            arithmetic(*op, evaluate(left)?, evaluate(right)?)
        }
        ExprKind::Binary(Operator::Compare(op), left, right) => {
            let (left, right) = (evaluate(left)?, evaluate(right)?);
            let ty = common(left.ty(), right.ty());
            let [left, right] = [left, right].map(|it| evaluate::convert(ty, it));
            Some(truth(evaluate::compare(*op, left, right)))
        }
        // What is not evaluated need not have a value.
        ExprKind::Binary(Operator::And, left, right) => {
            let holds = is_true(evaluate(left)?) && is_true(evaluate(right)?);
            Some(truth(holds))
        }
        ExprKind::Binary(Operator::Or, left, right) => {
            let holds = is_true(evaluate(left)?) || is_true(evaluate(right)?);
            Some(truth(holds))
        }
        ExprKind::Conditional(condition, then, otherwise) => {
            let (then, otherwise) = (evaluate(then), evaluate(otherwise));
            let chosen = if is_true(evaluate(condition)?) {
                then?
            } else {
                otherwise?
            };
            let types = then.zip(otherwise);
            let ty = types.map_or(chosen.ty(), |(it, other)| common(it.ty(), other.ty()));
            Some(evaluate::convert(ty, chosen))
        }
        ExprKind::Cast(name, operand) => match types::named(name, Position::Cast) {
            Ok(Named { ty: Some(ty), .. }) => Some(evaluate::convert(ty, evaluate(operand)?)),
            _ => None,
        },
        _ => None,
    }
}

fn truth(value: bool) -> Value {
    Value::integer(Type::I32, i128::from(value))
}

fn is_true(value: Value) -> bool {
    match value.as_integer() {
        Some(integer) => integer != 0,
        None => value.as_float() != Some(0.0),
    }
}

fn unary(op: UnaryOp, operand: Value) -> Option<Value> {
    let promoted = evaluate::convert(promoted(operand.ty()), operand);
    Some(match op {
        UnaryOp::Plus => promoted,
        UnaryOp::Minus => evaluate::unary(Computed::Neg, promoted),
        UnaryOp::BitNot if promoted.ty().is_integer() => {
            evaluate::unary(Computed::BitNot, promoted)
        }
        UnaryOp::Not => truth(!is_true(operand)),
        UnaryOp::BitNot | UnaryOp::Dereference | UnaryOp::AddressOf => return None,
    })
}

fn arithmetic(op: BinaryOp, left: Value, right: Value) -> Option<Value> {
    let is_shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
    let ty = if is_shift {
        promoted(left.ty())
    } else {
        common(left.ty(), right.ty())
    };
    let has_float = [left, right].iter().any(|it| it.ty().is_float());
    if op.is_integer_only() && has_float {
        return None;
    }
    let [left, right] = [left, right].map(|it| evaluate::convert(ty, it));
    evaluate::binary(op, left, right).ok()
}
