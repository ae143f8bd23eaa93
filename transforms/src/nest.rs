//! Perfect nests: loops each of which is all that the one around it does.

use crate::address::{self, only_loop_in};
use crate::{LoopPath, Reason};
use strew_affine::{AffineExpr, AffineFor, Bound, Factor, IterId, Kernel, Overflow, Variable};

/// The loops that `paths` name, outermost first, each all that the one before does.
pub(crate) fn find_band<'k>(
    kernel: &'k Kernel,
    paths: &[LoopPath],
) -> Result<Vec<&'k AffineFor>, Reason> {
    let mut band: Vec<&'k AffineFor> = Vec::new();
    for (position, path) in paths.iter().enumerate() {
        let named = address::find_affine_for(kernel, path)?.it;
        if band.iter().any(|it| it.iter == named.iter) {
            return Err(Reason::LoopNamedTwice { path: path.clone() });
        }
        let next = match (
            band.last(),
            position.checked_sub(1).and_then(|it| paths.get(it)),
        ) {
            (Some(outer), Some(around)) => only_loop_in(kernel, &outer.body, around, path)?,
            _ => named,
        };
        address::check_no_lanes(next.lanes, path)?;
        band.push(next);
    }
    Ok(band)
}

/// The bounds of the loops of a band in another order, by Fourier-Motzkin elimination: those of a
/// loop follow from all conditions that speak of it and of no loop inside. What the elimination
/// adds holds anyway, so outer loops may have turns in which inner ones do not run, and none is
/// missed or run twice.
pub(crate) fn reordered_bounds(
    band: &[&AffineFor],
    order: &[usize],
    path: &LoopPath,
) -> Result<Vec<(Bound, Bound)>, Reason> {
    let nested = order.iter().filter_map(|it| band.get(*it).copied());
    let nested: Vec<&AffineFor> = nested.collect();
    if (0..nested.len()).all(|position| is_bounded_outside(&nested, position)) {
        let bounds = nested.iter().map(|it| (it.lower.clone(), it.upper.clone()));
        return Ok(bounds.collect());
    }
    if band.iter().any(|it| it.step != 1) {
        return Err(Reason::SteppedBand { path: path.clone() });
    }
    let mut system = System::of(band, path)?;
    let mut bounds = Vec::new();
    for position in order.iter().rev() {
        if let Some(it) = band.get(*position) {
            bounds.push(system.eliminate(it.iter)?);
        }
    }
    bounds.reverse();
    Ok(bounds)
}

/// Whether the bounds of the loop at `position` speak of loops around it alone.
fn is_bounded_outside(nested: &[&AffineFor], position: usize) -> bool {
    let (_, inside) = nested.split_at(position);
    let bounds = inside.first().into_iter();
    let mut bounds = bounds.flat_map(|it| it.bounds());
    bounds.all(|bound| {
        let mut inside = inside.iter();
        !inside.any(|it| bound.mentions(Variable::Iter(it.iter)))
    })
}

/// What is not negative exactly where `condition` is not, linear in `iters`; `None` if there is no
/// such expression.
///
/// For integers and `d > 0`, `r + e floordiv d >= 0` where `e + d * r >= 0`, and
/// `r - e floordiv d >= 0` where `d * r + d - 1 - e >= 0`.
fn linear(condition: &AffineExpr, iters: &[IterId]) -> Result<Option<AffineExpr>, Overflow> {
    let is_linear = |it: &AffineExpr| iters.iter().all(|iter| it.split_off(*iter).is_some());
    let mut condition = condition.clone();
    while !is_linear(&condition) {
        let Some((sign, dividend, divisor)) = division_in(&condition, iters) else {
            return Ok(None);
        };
        let quotient = dividend.floordiv(&divisor.into())?;
        let scaled = condition.minus(&quotient.scaled(sign)?)?.scaled(divisor)?;
        condition = match sign {
            1 => scaled.plus(&dividend)?,
            _ => scaled.minus(&dividend)?.offset(divisor - 1)?,
        };
    }
    Ok(Some(condition))
}

/// The first division of something with `iters` that `expr` adds or subtracts once: its sign, the
/// dividend, and the divisor.
fn division_in(expr: &AffineExpr, iters: &[IterId]) -> Option<(i64, AffineExpr, i64)> {
    expr.terms().iter().find_map(|term| {
        let [Factor::FloorDiv(dividend, divisor)] = term.factors.as_slice() else {
            return None;
        };
        let is_meant = iters
            .iter()
            .any(|it| dividend.mentions(Variable::Iter(*it)));
        let divisor = divisor.as_constant().filter(|it| *it > 0 && is_meant)?;
        let dividend = AffineExpr::clone(dividend);
        matches!(term.coefficient, 1 | -1).then_some((term.coefficient, dividend, divisor))
    })
}

/// Expressions that are not negative.
struct System {
    conditions: Vec<AffineExpr>,
    /// The loops whose bounds are still to be found: what speaks of them becomes one, and can be
    /// relied on.
    left: Vec<IterId>,
}

impl System {
    fn of(band: &[&AffineFor], path: &LoopPath) -> Result<Self, Reason> {
        let mut conditions = Vec::new();
        for it in band {
            let iter = AffineExpr::from(it.iter);
            for lower in &it.lower.0 {
                conditions.push(iter.minus(lower)?);
            }
            for upper in &it.upper.0 {
                conditions.push(upper.minus(&iter)?.offset(-1)?);
            }
        }
        let iters: Vec<_> = band.iter().map(|it| it.iter).collect();
        let not_linear = || Reason::NotLinear { path: path.clone() };
        for condition in &mut conditions {
            *condition = linear(condition, &iters)?.ok_or_else(not_linear)?;
        }
        Ok(Self {
            conditions,
            left: iters,
        })
    }

    /// The bounds of `iter`, which none of the conditions mentions after that.
    fn eliminate(&mut self, iter: IterId) -> Result<(Bound, Bound), Overflow> {
        let (mut below, mut above, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for condition in self.conditions.drain(..) {
            match condition.split_off(iter) {
                Some((1.., _)) => below.push(condition),
                Some((..=-1, _)) => above.push(condition),
                _ => rest.push(condition),
            }
        }
        let sides = |condition: &AffineExpr| condition.split_off(iter).unwrap_or_default();
        for lower in &below {
            for upper in &above {
                let ((a, e), (b, f)) = (sides(lower), sides(upper));
                let combined = e.scaled(b.saturating_neg())?.plus(&f.scaled(a)?)?;
                if combined.as_constant().is_none_or(|it| it < 0) && !rest.contains(&combined) {
                    rest.push(combined);
                }
            }
        }
        self.conditions = rest;
        self.left.retain(|it| *it != iter);
        let lower = |condition: &AffineExpr| {
            let (coefficient, others) = sides(condition);
            others.scaled(-1)?.ceildiv(&coefficient.into())
        };
        let upper = |condition: &AffineExpr| {
            let (coefficient, others) = sides(condition);
            others
                .floordiv(&coefficient.saturating_neg().into())?
                .offset(1)
        };
        let lower = below.iter().map(lower).collect::<Result<Vec<_>, _>>()?;
        let upper = above.iter().map(upper).collect::<Result<Vec<_>, _>>()?;
        let higher = |one: &AffineExpr, other: &AffineExpr| one.minus(other);
        let lesser = |one: &AffineExpr, other: &AffineExpr| other.minus(one);
        Ok((
            Bound(self.tightest(lower, &higher)?),
            Bound(self.tightest(upper, &lesser)?),
        ))
    }

    /// The alternatives without those that another one always makes idle: `ahead` says by how much
    /// one is the tighter of two.
    fn tightest(
        &self,
        mut alternatives: Vec<AffineExpr>,
        ahead: &dyn Fn(&AffineExpr, &AffineExpr) -> Result<AffineExpr, Overflow>,
    ) -> Result<Vec<AffineExpr>, Overflow> {
        let mut position = 0;
        while let Some(one) = alternatives.get(position) {
            let mut is_idle = false;
            for (other, alternative) in alternatives.iter().enumerate() {
                let is_other = other != position;
                is_idle |= is_other && self.is_never_negative(&ahead(alternative, one)?)?;
            }
            if is_idle {
                alternatives.remove(position);
            } else {
                position += 1;
            }
        }
        Ok(alternatives)
    }

    /// Whether a number, or one of the conditions that become bounds of loops around, says so.
    /// Conditions over parameters alone become nobody's bounds.
    fn is_never_negative(&self, expr: &AffineExpr) -> Result<bool, Overflow> {
        if let Some(constant) = expr.as_constant() {
            return Ok(constant >= 0);
        }
        for condition in &self.conditions {
            let mut left = self.left.iter();
            let is_bound = left.any(|it| condition.mentions(Variable::Iter(*it)));
            if is_bound
                && expr
                    .minus(condition)?
                    .as_constant()
                    .is_some_and(|it| it >= 0)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
