//! From the normal form back to an expression that is as small as can be had by factoring out.

use super::linear::{Atom, Division, Linear, Term};
use crate::indexing::{IndexExpr, IndexTerm, Sum};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// More terms are not searched for common factors.
const TERMS_FACTORED: usize = 64;

/// The expression with the value of `linear`; `None` when a constant of it would leave 64 bits.
pub(in crate::indexing) fn expression(linear: &Linear) -> Option<IndexExpr> {
    let mut constant = linear.constant;
    let mut terms = Vec::with_capacity(linear.terms.len());
    let (factored, rest) = factored(&linear.terms);
    for (factor, inner) in &factored {
        let product = [atom(factor)?, expression(inner)?];
        terms.push((sorted_product(product)?, 1));
    }
    for (position, term) in rest.iter().enumerate() {
        match &term.atom {
            Atom::FloorDiv(division) | Atom::Mod(division) => {
                let mut others = rest.iter().enumerate().filter(|(at, _)| *at != position);
                let is_led = !factored.is_empty() || others.any(|(_, it)| it.coefficient != -1);
                let beside = Beside {
                    coefficient: term.coefficient,
                    constant,
                    is_led,
                };
                let (expr, coefficient, left) = match &term.atom {
                    Atom::Mod(_) => scaled_remainder(division, beside)?,
                    _ => scaled_quotient(division, beside)?,
                };
                constant = left;
                terms.push((expr, coefficient));
            }
            other => terms.push((atom(other)?, term.coefficient)),
        }
    }
    sum(grouped(terms)?, constant)
}

/// Terms of products with a factor in common, as that factor and what it is multiplied with; and
/// the other terms.
fn factored(terms: &[Term]) -> (Vec<(Atom, Linear)>, Cow<'_, [Term]>) {
    let mut left = Cow::Borrowed(terms);
    let mut factored = Vec::new();
    while let Some(factor) = most_common_factor(&left) {
        let (with, without): (Vec<_>, Vec<_>) =
            left.iter().cloned().partition(|it| has_factor(it, &factor));
        left = Cow::Owned(without);
        let mut quotient = Linear::default();
        for term in with {
            let mut factors = term.atom.factors().to_vec();
            if let Some(position) = factors.iter().position(|it| *it == factor) {
                factors.remove(position);
            }
            let product = Atom::product(factors).scaled(term.coefficient);
            if let Ok(sum) = product.and_then(|it| quotient.plus(&it)) {
                quotient = sum;
            }
        }
        factored.push((factor, quotient));
    }
    (factored, left)
}

fn has_factor(term: &Term, factor: &Atom) -> bool {
    term.atom.factors().contains(factor)
}

/// The factor that most terms have: at least two of them, one a product.
fn most_common_factor(terms: &[Term]) -> Option<Atom> {
    let is_product = |it: &&Term| matches!(it.atom, Atom::Product(_));
    if terms.len() > TERMS_FACTORED || !terms.iter().any(|it| is_product(&it)) {
        return None;
    }
    let mut counts: BTreeMap<&Atom, usize> = BTreeMap::new();
    for term in terms.iter().filter(is_product) {
        let mut factors = term.atom.factors().to_vec();
        factors.dedup();
        for factor in term.atom.factors().iter().filter(|it| factors.contains(it)) {
            counts.entry(factor).or_insert(0);
        }
    }
    for (factor, count) in &mut counts {
        *count = terms.iter().filter(|it| has_factor(it, factor)).count();
    }
    let most = counts.values().copied().max().filter(|it| *it > 1)?;
    let found = counts.into_iter().find(|(_, count)| *count == most);
    found.map(|(factor, _)| factor.clone())
}

fn sorted_product(factors: impl IntoIterator<Item = IndexExpr>) -> Option<IndexExpr> {
    let product = IndexExpr::product(factors).ok()?;
    Some(match product {
        IndexExpr::Product(mut factors) => {
            factors.sort_unstable();
            IndexExpr::Product(factors)
        }
        other => other,
    })
}

/// Terms with the same coefficient, but for its sign, as one sum that is scaled.
fn grouped(mut terms: Vec<(IndexExpr, i64)>) -> Option<Vec<(IndexExpr, i64)>> {
    let mut sizes: Vec<u64> = terms.iter().map(|it| it.1.unsigned_abs()).collect();
    sizes.retain(|it| *it != 1);
    sizes.sort_unstable();
    if sizes.windows(2).all(|pair| pair[0] != pair[1]) {
        return Some(terms);
    }
    terms.sort_unstable();
    let is_grouped = |size: u64| {
        let first = sizes.partition_point(|it| *it < size);
        sizes.get(first + 1) == Some(&size)
    };
    let mut groups: Vec<(Vec<(IndexExpr, i64)>, i64)> = Vec::new();
    let mut group_of: BTreeMap<u64, usize> = BTreeMap::new();
    for (expr, coefficient) in terms {
        let size = coefficient.unsigned_abs();
        if !is_grouped(size) {
            groups.push((vec![(expr, coefficient)], 1));
            continue;
        }
        let position = *group_of.entry(size).or_insert(groups.len());
        match groups.get_mut(position) {
            Some((members, scale)) => {
                let sign = if *scale == coefficient { 1 } else { -1 };
                members.push((expr, sign));
            }
            None => groups.push((vec![(expr, 1)], coefficient)),
        }
    }
    let grouped = groups.into_iter().map(|(mut members, scale)| {
        if scale == 1 && members.len() == 1 {
            return members.pop();
        }
        Some((sum(members, 0)?, scale))
    });
    grouped.collect()
}

/// A term whose expression is scaled, as what a factor was taken out of can be, with one
/// coefficient.
fn unscaled((expr, coefficient): (IndexExpr, i64)) -> Option<(IndexExpr, i64)> {
    match expr {
        IndexExpr::Sum(mut sum) if sum.terms.len() == 1 && sum.constant == 0 => {
            let term = sum.terms.pop()?;
            Some((term.expr, term.coefficient.checked_mul(coefficient)?))
        }
        expr => Some((expr, coefficient)),
    }
}

/// The sum of the terms in the order in which they print.
pub(in crate::indexing) fn sum(terms: Vec<(IndexExpr, i64)>, constant: i64) -> Option<IndexExpr> {
    let terms = terms.into_iter().map(unscaled);
    let mut terms: Vec<_> = terms.collect::<Option<_>>()?;
    terms.sort_unstable();
    put_positive_first(&mut terms, |it| it.1);
    match (terms.as_slice(), constant) {
        ([], constant) => Some(constant.into()),
        ([(_, 1)], 0) => terms.pop().map(|(expr, _)| expr),
        _ => {
            let terms = terms
                .into_iter()
                .map(|(expr, coefficient)| IndexTerm { expr, coefficient });
            let terms = terms.collect();
            Some(IndexExpr::Sum(Sum { terms, constant }))
        }
    }
}

/// A sum does not begin with a sign when it need not.
pub(in crate::indexing) fn put_positive_first<T>(terms: &mut [T], coefficient: impl Fn(&T) -> i64) {
    if terms.first().is_none_or(|it| coefficient(it) != -1) {
        return;
    }
    let positive = terms.iter().position(|it| coefficient(it) > 0);
    let scaled = || terms.iter().position(|it| coefficient(it) != -1);
    if let Some(position) = positive.or_else(scaled) {
        terms[..=position].rotate_right(1);
    }
}

fn atom(atom: &Atom) -> Option<IndexExpr> {
    let all = |operands: &[Linear]| -> Option<Vec<IndexExpr>> {
        let operands = operands.iter().map(expression);
        let mut operands: Vec<_> = operands.collect::<Option<_>>()?;
        operands.sort_unstable();
        Some(operands)
    };
    match atom {
        Atom::Variable(variable) => Some((*variable).into()),
        Atom::Product(factors) => {
            let factors = factors.iter().map(self::atom);
            sorted_product(factors.collect::<Option<Vec<_>>>()?)
        }
        Atom::FloorDiv(division) => quotient(&division.numerator, &division.divisor),
        Atom::Mod(division) => remainder(division),
        Atom::Min(operands) => all(operands).map(IndexExpr::Min),
        Atom::Max(operands) => all(operands).map(IndexExpr::Max),
        Atom::Sum(sum) => expression(sum),
    }
}

/// What stands beside a quotient or a remainder in a sum.
#[derive(Clone, Copy)]
struct Beside {
    coefficient: i64,
    constant: i64,
    /// Whether another term can stand before it, so that a minus is no sign of its own.
    is_led: bool,
}

/// The smallest form of `coefficient * quotient + constant`, as an expression, its coefficient and
/// the constant that is left. A multiple of the divisor can be moved into the numerator, and
/// `-(x floordiv c)` is `(-x + c - 1) floordiv c`.
fn scaled_quotient(division: &Division, beside: Beside) -> Option<(IndexExpr, i64, i64)> {
    let Beside {
        coefficient,
        constant,
        is_led,
    } = beside;
    let numerator = &division.numerator;
    let Some(divisor) = division.divisor.as_constant() else {
        let expr = quotient(numerator, &division.divisor)?;
        return Some((expr, coefficient, constant));
    };
    let opposite = || {
        let opposite = numerator.negated().ok()?.offset(divisor - 1).ok()?;
        Some((opposite, coefficient.checked_neg()?))
    };
    // The normal form leads with a plus: its opposite can be smaller where it stands behind a
    // minus, or where only one term of it does not.
    let positive = numerator.terms.iter().filter(|it| it.coefficient > 0);
    let can_turn = coefficient == -1 || positive.count() * 2 <= numerator.terms.len();
    let forms = [
        Some((numerator.clone(), coefficient)),
        can_turn.then(opposite).flatten(),
    ];
    let forms = forms.into_iter().flatten().map(|(numerator, coefficient)| {
        let moved = moved_into_quotient(numerator.constant, divisor, constant, coefficient);
        let (inner, left) = moved.map_or((numerator.constant, constant), |it| (it, 0));
        let form = Linear {
            constant: inner,
            ..numerator
        };
        let has_sign = coefficient == -1 && !is_led && left <= 0;
        let of_left = if left == 0 { 0 } else { 2 };
        let cost = signs_and_constant(&form, divisor) + usize::from(has_sign) + of_left;
        (cost, form, coefficient, left)
    });
    let (_, form, coefficient, left) = forms.min_by_key(|(cost, ..)| *cost)?;
    let expr = quotient(&form, &division.divisor)?;
    Some((expr, coefficient, left))
}

/// The smallest form of `coefficient * remainder + constant`, likewise: `x mod c` is also
/// `c - 1 - (-x - 1) mod c`. Of two of one size it is the one that is added, or else the one that
/// leads with a plus.
fn scaled_remainder(division: &Division, beside: Beside) -> Option<(IndexExpr, i64, i64)> {
    let Beside {
        coefficient,
        constant,
        is_led,
    } = beside;
    let Some(divisor) = division.divisor.as_constant() else {
        return Some((remainder(division)?, coefficient, constant));
    };
    let opposite = || {
        let numerator = division.numerator.negated().ok()?.offset(-1).ok()?;
        let left = coefficient.checked_mul(divisor.checked_sub(1)?)?;
        let left = constant.checked_add(left)?;
        Some((numerator, coefficient.checked_neg()?, left))
    };
    let forms = [
        Some((division.numerator.clone(), coefficient, constant)),
        opposite(),
    ];
    let forms = forms
        .into_iter()
        .flatten()
        .map(|(numerator, coefficient, left)| {
            let inner = least_constant(numerator.constant, divisor);
            let form = Linear {
                constant: inner,
                ..numerator
            };
            let is_negative = form.terms.iter().all(|it| it.coefficient == -1);
            let inner_nodes = usize::from(is_negative && inner <= 0) + usize::from(inner != 0) * 2;
            let has_sign = coefficient == -1 && !is_led && left <= 0;
            let cost = inner_nodes + usize::from(has_sign) + usize::from(left != 0) * 2;
            (cost, form, coefficient, left)
        });
    let (_, form, coefficient, left) = forms.min_by_key(|(cost, form, coefficient, _)| {
        let leads_with_minus = form.terms.first().is_some_and(|it| it.coefficient < 0);
        (*cost, *coefficient < 0, leads_with_minus)
    })?;
    let pair = [expression(&form)?, expression(&division.divisor)?];
    Some((IndexExpr::Mod(Box::new(pair)), coefficient, left))
}

/// The nodes of a numerator that depend on its sign and its constant.
fn signs_and_constant(numerator: &Linear, divisor: i64) -> usize {
    let constant = match numerator.constant {
        it if it == divisor - 1 => 0,
        it => it,
    };
    let has_sign = constant <= 0 && numerator.terms.iter().all(|it| it.coefficient == -1);
    usize::from(has_sign) + if constant == 0 { 0 } else { 2 }
}

/// The quotient; `(x + c - 1) floordiv c` is `x ceildiv c`.
fn quotient(numerator: &Linear, divisor: &Linear) -> Option<IndexExpr> {
    let upwards = divisor.as_constant().and_then(|it| it.checked_sub(1));
    if numerator.constant != 0 && upwards == Some(numerator.constant) {
        let pair = [
            expression(&numerator.without_constant())?,
            expression(divisor)?,
        ];
        return Some(IndexExpr::CeilDiv(Box::new(pair)));
    }
    let pair = [expression(numerator)?, expression(divisor)?];
    Some(IndexExpr::FloorDiv(Box::new(pair)))
}

/// The constant of the numerator when `constant`, beside `coefficient` times the quotient, is moved
/// into it, if that is smaller.
fn moved_into_quotient(inner: i64, divisor: i64, constant: i64, coefficient: i64) -> Option<i64> {
    if inner == 0 || constant == 0 || constant.checked_rem(coefficient)? != 0 {
        return None;
    }
    let moved = constant.checked_div(coefficient)?.checked_mul(divisor)?;
    inner.checked_add(moved)
}

/// The constant of the numerator is the least by size that leaves the same remainder.
fn remainder(division: &Division) -> Option<IndexExpr> {
    let mut numerator = division.numerator.clone();
    if let Some(divisor) = division.divisor.as_constant() {
        numerator.constant = least_constant(numerator.constant, divisor);
    }
    let pair = [expression(&numerator)?, expression(&division.divisor)?];
    Some(IndexExpr::Mod(Box::new(pair)))
}

/// The constant of the least size that leaves the same remainder.
fn least_constant(constant: i64, divisor: i64) -> i64 {
    let least = constant.rem_euclid(divisor);
    if least != 0 && divisor - least <= least {
        least - divisor
    } else {
        least
    }
}
