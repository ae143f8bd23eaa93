//! Sums that are known but for multiples of a number.
//!
//! `l mod n = v` says that `l` and `v` differ by a multiple of `n`. So do their multiples, and
//! nothing is lost where the factor has no common divisor with `n`. Coefficients may change by
//! multiples of `n` too: where they become so small that the sum has no more than `n` values from
//! its least to its greatest, it is an equation.

use super::{Checked, Solver};
use crate::indexing::expression::narrow;
use crate::indexing::simplify::congruence::inverse;
use crate::indexing::simplify::linear::{Atom, Linear, Term, greatest_common_divisor};
use crate::indexing::{IndexExpr, IndexingError};

/// A factor that is prime to the modulus is sought for so long.
const MOST_LIFTS: i64 = 64;

/// A sum that differs by a multiple of `modulus` from `value`.
struct Congruence {
    sum: Linear,
    modulus: i64,
    value: IndexExpr,
}

impl Solver<'_> {
    /// Adds what a quotient and a remainder of one sum give: `n` for `n floordiv c` and `n mod c`,
    /// and `n mod (c * m)` where only `(n floordiv c) mod m` is known.
    pub(super) fn join_remainders(&mut self) -> Checked<()> {
        let mut equations = Vec::new();
        for (linear, value) in &self.equations {
            if let Some((divided, divisor)) = linear.as_quotient()
                && let Some(rest) = self.known_remainder(&divided, divisor)?
            {
                equations.push((divided, value.scaled(divisor)?.plus(&rest)?));
            }
        }
        let mut digits = Vec::new();
        for (numerator, modulus, value) in self.remainders() {
            if let Some((divided, divisor)) = numerator.as_quotient()
                && let Some(modulus) = modulus.checked_mul(divisor)
                && let Some(rest) = self.known_remainder(&divided, divisor)?
            {
                let atom = Atom::modulo(divided, modulus.into());
                digits.push((atom, value.scaled(divisor)?.plus(&rest)?));
            }
        }
        for (linear, value) in equations {
            self.add_equation(linear, value);
        }
        for (atom, value) in digits {
            self.digits.entry(atom).or_insert(value);
        }
        Ok(())
    }

    /// Adds the equations that remainders give.
    pub(super) fn read_congruences(&mut self) -> Checked<()> {
        let mut found = Vec::new();
        for (numerator, modulus, value) in self.remainders() {
            let (sum, value) = self.without_known(numerator, value)?;
            let congruence = Congruence {
                sum,
                modulus,
                value,
            };
            for factor in congruence.factors() {
                found.extend(self.unwrapped(&congruence, factor)?);
            }
        }
        for (linear, value) in found {
            self.add_equation(linear, value);
        }
        Ok(())
    }

    /// The known remainders by numbers: numerator, modulus and value.
    pub(super) fn remainders(&self) -> impl Iterator<Item = (&Linear, i64, &IndexExpr)> {
        let digits = self.sorted_digits().into_iter();
        digits.filter_map(|(digit, value)| match digit {
            Atom::Mod(division) => {
                let modulus = division.divisor.as_constant()?;
                Some((&division.numerator, modulus, value))
            }
            _ => None,
        })
    }

    /// `sum mod modulus`, where it is known by itself or by a remainder of a sum of which it is a
    /// multiple.
    fn known_remainder(&self, sum: &Linear, modulus: i64) -> Checked<Option<IndexExpr>> {
        let remainder = self.normalizer.modulo(sum.clone(), modulus.into());
        if let Ok(remainder) = remainder
            && let Some(value) = self.known_value(&remainder)?
        {
            return Ok(Some(value));
        }
        for (numerator, by, value) in self.remainders() {
            if by % modulus == 0
                && let Some((factor, offset)) = multiple_of(sum, numerator, modulus)
            {
                let value = value.scaled(factor)?.offset(offset)?;
                return value.modulo(&modulus.into()).map(Some);
            }
        }
        Ok(None)
    }

    /// The equation that `factor` times a congruence is, if it is one.
    fn unwrapped(
        &self,
        congruence: &Congruence,
        factor: i64,
    ) -> Checked<Option<(Linear, IndexExpr)>> {
        let modulus = congruence.modulus;
        let sum = congruence.multiplied(factor);
        let range = self.context.range(&sum);
        if sum.terms.is_empty() || range.high.saturating_sub(range.low) >= modulus.into() {
            return Ok(None);
        }
        let low = narrow(range.low)?;
        let value = congruence.value.scaled(factor)?;
        let value = value.offset(low.checked_neg().ok_or(IndexingError::Overflow)?)?;
        let value = value.modulo(&modulus.into())?.offset(low)?;
        Ok(Some((sum, value)))
    }
}

impl Congruence {
    /// Factors without a common divisor with the modulus: one, and for each term those that make
    /// its coefficient least.
    fn factors(&self) -> Vec<i64> {
        let mut factors = vec![1];
        for term in &self.sum.terms {
            for factor in units_for(term.coefficient, self.modulus) {
                if !factors.contains(&factor) {
                    factors.push(factor);
                }
            }
        }
        factors
    }

    /// The sum times `factor`, each coefficient the least that is congruent to it.
    fn multiplied(&self, factor: i64) -> Linear {
        let modulus = i128::from(self.modulus);
        let terms = self.sum.terms.iter().filter_map(|term| {
            let product = i128::from(term.coefficient) * i128::from(factor);
            let least = product.rem_euclid(modulus);
            let least = if least > modulus / 2 {
                least - modulus
            } else {
                least
            };
            let coefficient = i64::try_from(least).ok().filter(|it| *it != 0)?;
            Some(Term {
                atom: term.atom.clone(),
                coefficient,
            })
        });
        Linear {
            terms: terms.collect(),
            constant: 0,
        }
    }
}

/// What `coefficient` is multiplied with to be its common divisor with `modulus`, without one with
/// `modulus` itself.
fn units_for(coefficient: i64, modulus: i64) -> Vec<i64> {
    let common = |it: i64| greatest_common_divisor(it.unsigned_abs(), modulus.unsigned_abs());
    let Ok(shared) = i64::try_from(common(coefficient)) else {
        return Vec::new();
    };
    let period = modulus / shared;
    let first = inverse((coefficient / shared).rem_euclid(period), period);
    let lifts = (0..shared.min(MOST_LIFTS)).map(|it| first + it * period);
    let least = |it: i64| match it > modulus / 2 {
        true => it - modulus,
        false => it,
    };
    lifts.filter(|it| common(*it) == 1).map(least).collect()
}

/// `k` and `c` with `sum = k * other + c` but for multiples of `modulus`.
fn multiple_of(sum: &Linear, other: &Linear, modulus: i64) -> Option<(i64, i64)> {
    let coefficient = |linear: &Linear, atom: &Atom| {
        let term = linear.terms.iter().find(|it| it.atom == *atom);
        term.map_or(0, |it| it.coefficient.rem_euclid(modulus))
    };
    let units = other.terms.iter().filter_map(|it| {
        let own = it.coefficient.rem_euclid(modulus);
        let is_unit = greatest_common_divisor(own.unsigned_abs(), modulus.unsigned_abs()) == 1;
        is_unit.then(|| (inverse(own, modulus), coefficient(sum, &it.atom)))
    });
    let factors = units.map(|(inverse, wanted)| {
        let factor = i128::from(inverse) * i128::from(wanted) % i128::from(modulus);
        i64::try_from(factor).unwrap_or(0)
    });
    let mut factors = factors.map(|it| if it == modulus - 1 { -1 } else { it });
    factors.find_map(|factor| {
        let difference = sum.plus_scaled(other, factor.checked_neg()?).ok()?;
        let is_multiple = difference.without_constant().is_multiple_of(modulus);
        is_multiple.then_some((factor, difference.constant))
    })
}
