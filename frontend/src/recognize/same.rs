//! When two expressions, or two types, are as good as the same.

use strew_affine::{Access, CompareOp, Expr, Subscript, Type};

/// Whether every value of `from` is one of `to`.
pub(super) fn keeps_value(from: Type, to: Type) -> bool {
    match (from.integer_range(), to.integer_range()) {
        (Some((low, high)), Some((least, greatest))) => {
            from != Type::Bool && to != Type::Bool && least <= low && high <= greatest
        }
        (None, None) => from.bits() <= to.bits(),
        _ => false,
    }
}

pub(super) fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::Le => CompareOp::Ge,
        CompareOp::Gt => CompareOp::Lt,
        CompareOp::Ge => CompareOp::Le,
        same @ (CompareOp::Eq | CompareOp::Ne) => same,
    }
}

pub(super) fn opposite(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Ge,
        CompareOp::Le => CompareOp::Gt,
        CompareOp::Gt => CompareOp::Le,
        CompareOp::Ge => CompareOp::Lt,
        CompareOp::Eq => CompareOp::Ne,
        CompareOp::Ne => CompareOp::Eq,
    }
}

/// Whether two expressions compute the same, wherever they stand in the source.
pub(super) fn is_same(left: &Expr, right: &Expr) -> bool {
    match (left, right) {
        (Expr::Load(left), Expr::Load(right)) => is_same_element(left, right),
        (Expr::Binary(op, ..), Expr::Binary(other, ..)) if op != other => false,
        (Expr::Unary(op, ..), Expr::Unary(other, ..)) if op != other => false,
        (Expr::Compare(op, ..), Expr::Compare(other, ..)) if op != other => false,
        (Expr::Cast(ty, ..), Expr::Cast(other, ..)) if ty != other => false,
        _ => {
            let (ours, theirs) = (left.operands(), right.operands());
            if ours.is_empty() || theirs.is_empty() {
                return left == right;
            }
            std::mem::discriminant(left) == std::mem::discriminant(right)
                && ours
                    .into_iter()
                    .zip(theirs)
                    .all(|(left, right)| is_same(left, right))
        }
    }
}

fn is_same_element(left: &Access, right: &Access) -> bool {
    left.array == right.array
        && left.subscripts.len() == right.subscripts.len()
        && left
            .subscripts
            .iter()
            .zip(&right.subscripts)
            .all(|(left, right)| is_same_subscript(left, right))
}

pub(super) fn is_same_subscript(left: &Subscript, right: &Subscript) -> bool {
    match (left, right) {
        (Subscript::Affine(left), Subscript::Affine(right)) => left == right,
        (Subscript::Computed(left), Subscript::Computed(right)) => is_same(left, right),
        _ => false,
    }
}
