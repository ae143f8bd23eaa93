//! Types that hold the same values, and comparisons that say the same.

use strew_affine::{CompareOp, Type};

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
