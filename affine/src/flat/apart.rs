//! Flat subscripts taken apart into one for each dimension, and what keeps those within the
//! dimensions' sizes.

use super::sizes::{divided, parted, product};
use crate::visit::Loop;
use crate::{AffineExpr, Condition, Overflow, Relation, Variable};

/// More ways to take a subscript apart are not tried.
const MOST_CANDIDATES: usize = 256;

/// The ways to take `flat` apart. Each of the terms that are added to all iterators may be meant
/// for all dimensions, or for some inner ones: in `m - 1 - j` the row length `m` is no row.
pub(super) fn candidates(
    flat: &AffineExpr,
    inner: &[AffineExpr],
) -> Result<Vec<Vec<AffineExpr>>, Overflow> {
    let (moving, added) = moving_and_added(flat)?;
    let mut found = vec![taken_apart(&moving, inner)?];
    for term in &added {
        let mut longer = Vec::new();
        for subscripts in &found {
            for dimension in 0..=inner.len() {
                longer.push(with(subscripts, term, inner, dimension)?);
            }
        }
        longer.dedup();
        longer.truncate(MOST_CANDIDATES);
        found = longer;
    }
    Ok(found)
}

/// `flat` without the terms that no iterator is in, but for its constant, and these.
pub(super) fn moving_and_added(
    flat: &AffineExpr,
) -> Result<(AffineExpr, Vec<AffineExpr>), Overflow> {
    let mut added = Vec::new();
    let mut moving = flat.clone();
    for term in flat.terms() {
        let (over_iterators, parameters) = parted(term);
        if over_iterators.is_empty() {
            moving = moving.minus(&product(&parameters, term.coefficient)?)?;
            // Of several row lengths one may be meant for the columns.
            let one = term.coefficient.signum();
            let parts = [term.coefficient - one, one].into_iter();
            for coefficient in parts.filter(|it| *it != 0) {
                added.push(product(&parameters, coefficient)?);
            }
        }
    }
    Ok((moving, added))
}

/// `subscripts` with `term` added to those from `dimension` on.
fn with(
    subscripts: &[AffineExpr],
    term: &AffineExpr,
    inner: &[AffineExpr],
    dimension: usize,
) -> Result<Vec<AffineExpr>, Overflow> {
    let fixed = taken_apart(term, inner.get(dimension..).unwrap_or_default())?;
    let outer = vec![AffineExpr::default(); dimension];
    let sums = outer.iter().chain(&fixed).zip(subscripts);
    sums.map(|(fixed, moving)| moving.plus(fixed)).collect()
}

/// A subscript for each dimension, so that together they are `flat`.
pub(super) fn taken_apart(
    flat: &AffineExpr,
    inner: &[AffineExpr],
) -> Result<Vec<AffineExpr>, Overflow> {
    let mut subscripts = Vec::with_capacity(inner.len() + 1);
    let mut rest = flat.clone();
    for dimension in 0..inner.len() {
        let mut stride = AffineExpr::from(1);
        for size in inner.iter().skip(dimension) {
            stride = stride.times(size)?;
        }
        let (quotient, remainder) = divided(&rest, &stride)?;
        subscripts.push(quotient);
        rest = remainder;
    }
    subscripts.push(rest);
    Ok(subscripts)
}

/// What has to hold so that all but the first of `subscripts` stay within the sizes `inner` in
/// these loops; `None` if nothing could be said about that beforehand, or if it cannot hold.
pub(super) fn stay_within(
    subscripts: &[AffineExpr],
    inner: &[AffineExpr],
    loops: &[Loop<'_>],
) -> Result<Option<Vec<Condition>>, Overflow> {
    let mut conditions = Vec::new();
    for (subscript, size) in subscripts.iter().skip(1).zip(inner) {
        let least = extreme(&subscript.scaled(-1)?, loops)?;
        let (Some(opposite), Some(greatest)) = (least, extreme(subscript, loops)?) else {
            return Ok(None);
        };
        let least = opposite.scaled(-1)?;
        for (left, relation, right) in [
            (0.into(), Relation::LessOrEqual, least),
            (greatest, Relation::Less, size.clone()),
        ] {
            let below_zero = match relation {
                Relation::Less => left.minus(&right)?,
                Relation::LessOrEqual | Relation::Equal => left.minus(&right)?.offset(-1)?,
            };
            match below_zero.as_constant() {
                Some(..=-1) => {}
                Some(_) => return Ok(None),
                None if is_implied(&below_zero, loops)? => {}
                None => conditions.push(Condition {
                    left,
                    relation,
                    right,
                }),
            }
        }
    }
    Ok(Some(conditions))
}

/// Whether `expr` is negative wherever a certain one of these loops runs at all.
fn is_implied(expr: &AffineExpr, loops: &[Loop<'_>]) -> Result<bool, Overflow> {
    for around in loops {
        for last in last_values(around, true)? {
            for first in last_values(around, false)? {
                let with_length = expr.plus(&last.minus(&first)?)?;
                if with_length.as_constant().is_some_and(|it| it < 0) {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// The greatest value of `expr` in these loops, over parameters, or something above it. Innermost
/// iterators go first, so that what bounds share with the rest cancels.
pub(super) fn extreme(
    expr: &AffineExpr,
    loops: &[Loop<'_>],
) -> Result<Option<AffineExpr>, Overflow> {
    let mut expr = expr.clone();
    for around in loops.iter().rev() {
        let iter = around.iter();
        if !expr.mentions(Variable::Iter(iter)) {
            continue;
        }
        let Some((coefficient, _)) = expr.split_off(iter) else {
            return Ok(None);
        };
        let mut best: Option<AffineExpr> = None;
        for bound in last_values(around, coefficient > 0)? {
            let there =
                expr.substitute(&|it| (it == Variable::Iter(iter)).then(|| bound.clone()))?;
            let is_simpler = |best: &AffineExpr| simplicity(&there) < simplicity(best);
            if best.as_ref().is_none_or(is_simpler) {
                best = Some(there);
            }
        }
        let Some(there) = best else {
            return Ok(None);
        };
        expr = there;
    }
    Ok(expr.is_over_parameters().then_some(expr))
}

/// Of several values that nothing exceeds, each as good as the others, the one is taken that says
/// least: the end of an array rather than that of its last tile.
fn simplicity(expr: &AffineExpr) -> (usize, i64) {
    (expr.terms().len(), expr.constant())
}

/// The values of a loop's iterator that nothing exceeds, or that nothing falls below, each a bound
/// by itself.
fn last_values(around: &Loop<'_>, greatest: bool) -> Result<Vec<AffineExpr>, Overflow> {
    match (around, greatest) {
        (Loop::Affine(it), true) => it.upper.0.iter().map(|it| it.offset(-1)).collect(),
        (Loop::Affine(it), false) => Ok(it.lower.0.clone()),
        (Loop::Forall(it), true) => Ok(vec![it.count.offset(-1)?]),
        (Loop::Forall(_), false) => Ok(vec![0.into()]),
        (Loop::Scf(_), _) => Ok(Vec::new()),
    }
}
