//! Affine expressions taken apart.

use crate::lower::interval::{Interval, Ranges};
use strew_affine::{AffineExpr, Factor, IterId, Term, Variable};

/// `expr` as `coefficient * iter + rest`, where `iter` occurs in neither.
pub(super) fn split(expr: &AffineExpr, iter: IterId) -> Option<(AffineExpr, AffineExpr)> {
    let variable = Variable::Iter(iter);
    let (mut coefficient, mut rest) = (AffineExpr::from(0), AffineExpr::from(expr.constant()));
    for term in expr.terms() {
        let this = Factor::Variable(variable);
        let Some(position) = term.factors.iter().position(|it| *it == this) else {
            let whole = rebuilt(term)?;
            if whole.mentions(variable) {
                return None;
            }
            rest = rest.plus(&whole).ok()?;
            continue;
        };
        let mut others = term.clone();
        others.factors.remove(position);
        let others = rebuilt(&others)?;
        if others.mentions(variable) {
            return None;
        }
        coefficient = coefficient.plus(&others).ok()?;
    }
    Some((coefficient, rest))
}

/// A simpler expression that is not above `expr`: `d * (a floordiv d)` lies between `a - d + 1` and
/// `a`. `None` where no quotient is multiplied by its divisor.
pub(super) fn without_quotients(expr: &AffineExpr) -> Option<AffineExpr> {
    let mut sum = AffineExpr::from(expr.constant());
    let mut is_simpler = false;
    for term in expr.terms() {
        let bound = match undivided(term) {
            Some((numerator, divisor, coefficient)) if coefficient > 0 => {
                is_simpler = true;
                let least = numerator.minus(divisor).ok()?.offset(1).ok()?;
                least.scaled(coefficient).ok()?
            }
            Some((numerator, _, coefficient)) => {
                is_simpler = true;
                numerator.scaled(coefficient).ok()?
            }
            None => rebuilt(term)?,
        };
        sum = sum.plus(&bound).ok()?;
    }
    is_simpler.then_some(sum)
}

/// `coefficient * divisor * (numerator floordiv divisor)`
fn undivided(term: &Term) -> Option<(&AffineExpr, &AffineExpr, i64)> {
    match term.factors.as_slice() {
        [Factor::FloorDiv(numerator, divisor)] => {
            let by = divisor.as_constant().filter(|it| *it > 0)?;
            let whole = term.coefficient % by == 0;
            whole.then_some((&**numerator, &**divisor, term.coefficient / by))
        }
        [
            Factor::Variable(variable),
            Factor::FloorDiv(numerator, divisor),
        ] => {
            let is_divisor = divisor.as_variable() == Some(*variable);
            is_divisor.then_some((&**numerator, &**divisor, term.coefficient))
        }
        _ => None,
    }
}

pub(super) fn rebuilt(term: &Term) -> Option<AffineExpr> {
    let mut product = AffineExpr::from(term.coefficient);
    for factor in &term.factors {
        let factor = AffineExpr::from_factor(factor.clone());
        product = product.times(&factor).ok()?;
    }
    Some(product)
}

pub(super) fn as_variable(factor: &Factor) -> Option<Variable> {
    match factor {
        Factor::Variable(variable) => Some(*variable),
        Factor::FloorDiv(..) | Factor::Mod(..) => None,
    }
}

pub(super) fn mentions_iterators(expr: &AffineExpr) -> bool {
    let mut found = false;
    expr.for_each_variable(&mut |it| found |= matches!(it, Variable::Iter(_)));
    found
}

/// The values of `expr` as mathematical integers of any size.
pub(super) fn wide_range(ranges: &Ranges, expr: &AffineExpr) -> Option<Interval> {
    let mut sum = Interval::point(expr.constant().into());
    for term in expr.terms() {
        let mut product = Interval::point(term.coefficient.into());
        for factor in &term.factors {
            let range = match factor {
                Factor::Variable(variable) => ranges.get(*variable),
                other => ranges.of(&AffineExpr::from_factor(other.clone()))?,
            };
            product = product.times(range);
        }
        sum = sum.plus(product);
    }
    Some(sum)
}
