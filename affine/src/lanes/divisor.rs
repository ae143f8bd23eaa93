//! Divisions that vectors have.

use crate::{BinaryOp, Expr, Type};

/// What lanes are divided by: a number, of 32 bits as they are, for which a multiplication does.
/// `None` for one that may be 0, and for those whose quotients take no division.
pub fn divisor(op: BinaryOp, right: &Expr) -> Option<i64> {
    let Expr::Constant(number) = right else {
        return None;
    };
    let is_meant = matches!(op, BinaryOp::Div | BinaryOp::Rem);
    let is_of_32_bits = matches!(number.ty(), Type::I32 | Type::U32);
    let number = i64::try_from(number.as_integer()?).ok()?;
    (is_meant && is_of_32_bits && number.unsigned_abs() > 1).then_some(number)
}
