//! The sizes of inner dimensions that flat subscripts show: quotients of the strides of iterators,
//! as polynomials.

use crate::{AffineExpr, Factor, Overflow, Term};
use std::collections::BTreeMap;

/// The sizes of the inner dimensions that these subscripts show.
pub(super) fn inner_sizes<'e>(
    subscripts: impl Iterator<Item = &'e AffineExpr>,
) -> Result<Option<Vec<AffineExpr>>, Overflow> {
    let mut strides: Vec<AffineExpr> = Vec::new();
    for subscript in subscripts {
        let Some(found) = strides_of(subscript)? else {
            return Ok(None);
        };
        for stride in found {
            if stride.as_constant().is_none() && !strides.contains(&stride) {
                strides.push(stride);
            }
        }
    }
    // Where two are as high, those of diagonals, as `n + 1`, come behind those of rows.
    strides.sort_by_key(|it| (degree(it), it.terms().len(), it.constant() != 0));
    let mut sizes = Vec::new();
    let mut below = AffineExpr::from(1);
    for stride in strides {
        let (size, rest) = divided(&stride, &below)?;
        match size.as_constant() {
            // An iterator that goes through several rows at a time, or also along them.
            Some(_) => {}
            None if rest != AffineExpr::from(0) => return Ok(None),
            None => {
                sizes.push(size);
                below = stride;
            }
        }
    }
    sizes.reverse();
    Ok(Some(sizes).filter(|sizes| !sizes.is_empty()))
}

/// What iterators are multiplied by, each positive as far as its first coefficient says. `None`
/// where two are multiplied.
fn strides_of(subscript: &AffineExpr) -> Result<Option<Vec<AffineExpr>>, Overflow> {
    let mut strides: BTreeMap<&[Factor], AffineExpr> = BTreeMap::new();
    let parts: Vec<_> = subscript.terms().iter().map(parted).collect();
    for (term, (over_iterators, parameters)) in subscript.terms().iter().zip(&parts) {
        match over_iterators.as_slice() {
            [] => continue,
            [_] => {}
            _ => return Ok(None),
        }
        let stride = product(parameters, term.coefficient)?;
        let sum = strides.entry(over_iterators).or_default();
        *sum = sum.plus(&stride)?;
    }
    let positive = strides.into_values().map(|stride| {
        let is_negative = leading(&stride).is_some_and(|it| it.coefficient < 0);
        if is_negative {
            stride.scaled(-1)
        } else {
            Ok(stride)
        }
    });
    positive.collect::<Result<_, _>>().map(Some)
}

/// The factors of a term that depend on iterators, and those that do not.
pub(super) fn parted(term: &Term) -> (Vec<Factor>, Vec<Factor>) {
    let is_fixed = |factor: &Factor| AffineExpr::from_factor(factor.clone()).is_over_parameters();
    let (parameters, over_iterators) = term.factors.iter().cloned().partition(is_fixed);
    (over_iterators, parameters)
}

pub(super) fn product(factors: &[Factor], coefficient: i64) -> Result<AffineExpr, Overflow> {
    let factors = factors.iter().cloned().map(AffineExpr::from_factor);
    let mut product = AffineExpr::from(coefficient);
    for factor in factors {
        product = product.times(&factor)?;
    }
    Ok(product)
}

fn degree(expr: &AffineExpr) -> usize {
    leading(expr).map_or(0, |term| term.factors.len())
}

/// The term that division begins with: of the most factors, and the last of those in the order of
/// factors. What two terms are to each other they are too after being multiplied by the same.
fn leading(expr: &AffineExpr) -> Option<Term> {
    let constant = Term {
        factors: Vec::new(),
        coefficient: expr.constant(),
    };
    let terms = expr.terms().iter().cloned();
    let terms = terms.chain((constant.coefficient != 0).then_some(constant));
    terms.max_by(|one, other| {
        let key = |term: &Term| term.factors.len();
        (key(one).cmp(&key(other))).then_with(|| one.factors.cmp(&other.factors))
    })
}

/// Quotient and remainder of two polynomials.
pub(super) fn divided(
    dividend: &AffineExpr,
    divisor: &AffineExpr,
) -> Result<(AffineExpr, AffineExpr), Overflow> {
    let (mut quotient, mut remainder) = (AffineExpr::default(), AffineExpr::default());
    let Some(by) = leading(divisor) else {
        return Ok((quotient, dividend.clone()));
    };
    let mut left = dividend.clone();
    while let Some(term) = leading(&left) {
        let whole = product(&term.factors, term.coefficient)?;
        match without(&term, &by) {
            Some(Term {
                factors,
                coefficient,
            }) => {
                let part = product(&factors, coefficient)?;
                left = left.minus(&part.times(divisor)?)?;
                quotient = quotient.plus(&part)?;
            }
            None => {
                left = left.minus(&whole)?;
                remainder = remainder.plus(&whole)?;
            }
        }
    }
    Ok((quotient, remainder))
}

/// `term / by`, if that is a term.
fn without(term: &Term, by: &Term) -> Option<Term> {
    let mut factors = term.factors.clone();
    for factor in &by.factors {
        let position = factors.iter().position(|it| it == factor)?;
        factors.remove(position);
    }
    let is_multiple = term.coefficient.checked_rem(by.coefficient) == Some(0);
    is_multiple.then_some(Term {
        factors,
        coefficient: term.coefficient / by.coefficient,
    })
}
