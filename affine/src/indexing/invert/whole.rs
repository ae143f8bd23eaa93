//! Sums that stand beside their own quotients and remainders, `l + l floordiv 3`, taken as one
//! unknown: as a padded linear index is.

use super::steps::{Steps, growth};
use super::{Checked, Equation, Solver};
use crate::indexing::simplify::linear::{Atom, Division, Linear, Term};
use crate::indexing::{IndexExpr, Variable, VariableKind};

/// Stands for the sum. It occurs in no map.
const UNKNOWN: Variable = Variable {
    kind: VariableKind::Range,
    position: usize::MAX,
};

impl Solver<'_> {
    /// Adds the equations that follow from `linear = value` where all of it speaks of one sum and
    /// climbs with that all the way.
    pub(super) fn read_wholes(&mut self, linear: &Linear, value: &IndexExpr) -> Checked<()> {
        let mut found = Vec::new();
        let value = value.offset(linear.constant.saturating_neg())?;
        let mut tried: Vec<Linear> = Vec::new();
        for whole in wholes(linear) {
            let is_new = !tried.contains(&whole);
            let Some(sum) = in_terms_of(linear, &whole).filter(|_| is_new) else {
                continue;
            };
            tried.push(whole.clone());
            let range = self.context.range(&whole);
            let (Ok(low), Ok(high)) = (range.low.try_into(), range.high.try_into()) else {
                continue;
            };
            if let Some(steps) = Steps::new(UNKNOWN, sum.clone(), Linear::default(), (low, high))
                && let Some(inverse) = steps.monotone_inverse(&value)?
            {
                found.push((whole, inverse));
                continue;
            }
            found.extend(turning_equation(&whole, &sum, &value)?);
        }
        for (whole, value) in found {
            self.add_equation(whole, value);
        }
        Ok(())
    }
}

/// What `sum = value` says of the remainder of `whole` where it begins again after so many values.
fn turning_equation(whole: &Linear, sum: &Linear, value: &IndexExpr) -> Checked<Option<Equation>> {
    let Some(period) = growth(sum).filter(|it| it.by == 0).map(|it| it.period) else {
        return Ok(None);
    };
    for (_, division, _) in divisions(sum) {
        let shift = division.numerator.constant;
        let (Some(low), Ok(shifted)) = (shift.checked_neg(), whole.offset(shift)) else {
            continue;
        };
        let bounds = (low, low.saturating_add(period - 1));
        if let Some(steps) = Steps::new(UNKNOWN, sum.clone(), Linear::default(), bounds)
            && let Some(inverse) = steps.monotone_inverse(value)?
        {
            let remainder = Atom::modulo(shifted, period.into());
            return Ok(Some((remainder.into(), inverse.offset(shift)?)));
        }
    }
    Ok(None)
}

fn divisions(linear: &Linear) -> impl Iterator<Item = (&Term, &Division, i64)> {
    linear.terms.iter().filter_map(|term| match &term.atom {
        Atom::FloorDiv(division) | Atom::Mod(division) => {
            Some((term, &**division, division.divisor.as_constant()?))
        }
        _ => None,
    })
}

/// The terms that are not divided, and those that `whole` has too.
fn undivided(linear: &Linear, whole: &Linear) -> Linear {
    let is_own =
        |it: &&Term| !it.is_division() || whole.terms.iter().any(|own| own.atom == it.atom);
    Linear {
        terms: linear.terms.iter().filter(is_own).cloned().collect(),
        constant: 0,
    }
}

/// The sums that `linear` may be made of.
fn wholes(linear: &Linear) -> Vec<Linear> {
    let rest = undivided(linear, &Linear::default());
    let mut found = Vec::new();
    let content = rest.content();
    if content > 0 {
        found.push(rest.divided(content));
    }
    for (term, division, divisor) in divisions(linear) {
        let numerator = division.numerator.without_constant();
        found.push(numerator.clone());
        if matches!(term.atom, Atom::FloorDiv(_)) {
            found.extend(with_whole_part(term, &numerator, divisor, &rest));
        }
    }
    found
}

/// The sums `n + c * m` whose multiple and quotient by `c` the quotient `q * (n floordiv c)` and
/// the rest are: from `rest = a * (n + c * m) + q * m` follows `m`, for the `a` that some term
/// shows.
fn with_whole_part(term: &Term, numerator: &Linear, divisor: i64, rest: &Linear) -> Vec<Linear> {
    let ratio = |it: &Term| {
        let own = rest.terms.iter().find(|own| own.atom == it.atom)?;
        let is_multiple = own.coefficient.checked_rem(it.coefficient) == Some(0);
        is_multiple.then_some(own.coefficient / it.coefficient)
    };
    let ratios = numerator.terms.iter().filter_map(ratio);
    let sums = ratios.filter_map(|times| {
        let by = divisor.checked_mul(times)?.checked_add(term.coefficient)?;
        let multiple = rest.plus_scaled(numerator, times.checked_neg()?).ok()?;
        if by == 0 || !multiple.is_multiple_of(by) {
            return None;
        }
        numerator.plus_scaled(&multiple.divided(by), divisor).ok()
    });
    sums.collect()
}

/// `linear` as a sum of the unknown that `whole` is and of quotients and remainders of that.
fn in_terms_of(linear: &Linear, whole: &Linear) -> Option<Linear> {
    let mut rest = undivided(linear, whole);
    let mut terms = Vec::new();
    let is_own = |it: &&Term| whole.terms.iter().any(|own| own.atom == it.atom);
    for term in linear
        .terms
        .iter()
        .filter(|it| it.is_division() && !is_own(it))
    {
        let (Atom::FloorDiv(division) | Atom::Mod(division)) = &term.atom else {
            return None;
        };
        let divisor = division.divisor.as_constant()?;
        let difference = division.numerator.minus(whole).ok()?.without_constant();
        if !difference.is_multiple_of(divisor) {
            return None;
        }
        let numerator = Linear::from(Atom::Variable(UNKNOWN));
        let numerator = numerator.offset(division.numerator.constant).ok()?;
        let atom = match &term.atom {
            Atom::FloorDiv(_) => {
                let whole = difference.divided(divisor);
                rest = rest.plus_scaled(&whole, term.coefficient).ok()?;
                Atom::floor_div(numerator, divisor.into())
            }
            _ => Atom::modulo(numerator, divisor.into()),
        };
        let coefficient = term.coefficient;
        terms.push(Term { atom, coefficient });
    }
    let coefficient = match rest.terms.is_empty() {
        true => 0,
        false => rest.multiple_of_first(whole)?,
    };
    if rest != whole.scaled(coefficient).ok()? || terms.is_empty() {
        return None;
    }
    terms.push(Term {
        atom: Atom::Variable(UNKNOWN),
        coefficient,
    });
    Linear::collect(terms, 0).ok()
}
