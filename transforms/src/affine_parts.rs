//! Taking affine expressions apart.

use strew_affine::{AffineExpr, Factor, IterId, Variable};

/// `expr` as a multiple of `iter` and a rest without it; `None` when `iter` occurs in another way too.
pub(crate) fn split(expr: &AffineExpr, iter: IterId) -> Option<(i64, AffineExpr)> {
    let alone = [Factor::Variable(Variable::Iter(iter))];
    let term = expr.terms().iter().find(|term| term.factors == alone);
    let coefficient = term.map_or(0, |term| term.coefficient);
    let multiple = AffineExpr::from(iter).scaled(coefficient).ok()?;
    let rest = expr.minus(&multiple).ok()?;
    (!rest.mentions(Variable::Iter(iter))).then_some((coefficient, rest))
}
