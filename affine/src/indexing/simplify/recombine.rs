//! Sums in which quotients and remainders of the same numerator meet: `x` is `c * (x floordiv c) + x mod c`.

use super::linear::{Atom, Division, Linear, Simplified, Term};
use super::normalize::Normalizer;
use std::rc::Rc;

/// Sums with more quotients and remainders are left alone: each is held against each.
const DIVISIONS_HELD_TOGETHER: usize = 32;

impl Normalizer<'_> {
    /// The sum with quotients and remainders put together again where that makes it smaller.
    pub(in crate::indexing) fn recombined(&self, mut linear: Linear) -> Simplified<Linear> {
        loop {
            let is_division = |it: &&Term| it.atom.factors().iter().any(Atom::is_division);
            let divisions = linear.terms.iter().filter(is_division).count();
            if divisions == 0 || divisions > DIVISIONS_HELD_TOGETHER {
                return Ok(linear);
            }
            self.spend(divisions * divisions)?;
            match self.recombined_once(&linear)? {
                Some(next) => linear = next,
                None => return Ok(linear),
            }
        }
    }

    fn recombined_once(&self, linear: &Linear) -> Simplified<Option<Linear>> {
        for (position, term) in linear.terms.iter().enumerate() {
            let next = match &term.atom {
                Atom::Mod(remainder) => self.with_quotient(linear, position, remainder)?,
                Atom::FloorDiv(quotient) => self.without_quotient(linear, position, quotient)?,
                _ => None,
            };
            if let Some(next) = next
                && next.size() < linear.size()
            {
                return Ok(Some(next));
            }
        }
        Ok(None)
    }

    /// Replaces `b * (x mod c)` by means of a term with `x floordiv c`.
    fn with_quotient(
        &self,
        linear: &Linear,
        position: usize,
        remainder: &Division,
    ) -> Simplified<Option<Linear>> {
        for (other, term) in linear.terms.iter().enumerate() {
            let replaced = match &term.atom {
                Atom::FloorDiv(quotient) if quotient.is_congruent_to(remainder) => {
                    self.of_quotient(linear, position, quotient)?
                }
                Atom::Product(factors) => {
                    let quotient = factors.iter().find_map(|it| match it {
                        Atom::FloorDiv(quotient) if quotient.is_congruent_to(remainder) => {
                            Some(quotient)
                        }
                        _ => None,
                    });
                    match quotient {
                        Some(quotient) => self.of_quotient(linear, position, quotient)?,
                        None => continue,
                    }
                }
                Atom::Mod(outer) => {
                    match self.of_remainders(linear, [position, other], [remainder, outer])? {
                        Some(replaced) => replaced,
                        None => continue,
                    }
                }
                _ => continue,
            };
            if replaced.size() < linear.size() {
                return Ok(Some(replaced));
            }
        }
        Ok(None)
    }

    /// `b * (x mod c)` as `b * x - b * c * (x floordiv c)`.
    fn of_quotient(
        &self,
        linear: &Linear,
        position: usize,
        quotient: &Rc<Division>,
    ) -> Simplified<Linear> {
        let scale = linear.terms[position].coefficient;
        let quotient_atom = Atom::FloorDiv(Rc::clone(quotient)).into();
        let multiple = self.product(&quotient_atom, &quotient.divisor)?;
        let rest = linear.without(position);
        let rest = rest.plus_scaled(&quotient.numerator, scale)?;
        rest.plus_scaled(&multiple.scaled(-1)?, scale)
    }

    /// `b * (x mod c) + b * c * ((x floordiv c) mod m)` is `b * (x mod (c * m))`.
    fn of_remainders(
        &self,
        linear: &Linear,
        [inner_at, outer_at]: [usize; 2],
        [inner, outer]: [&Division; 2],
    ) -> Simplified<Option<Linear>> {
        let scale = linear.terms[inner_at].coefficient;
        let (Some(fine), Some(coarse)) = (inner.divisor.as_constant(), outer.divisor.as_constant())
        else {
            return Ok(None);
        };
        if scale.checked_mul(fine) != Some(linear.terms[outer_at].coefficient) {
            return Ok(None);
        }
        let Some(modulus) = fine.checked_mul(coarse) else {
            return Ok(None);
        };
        let Some(numerator) = self.numerator_of(&outer.numerator, inner)? else {
            return Ok(None);
        };
        let (first, second) = (inner_at.min(outer_at), inner_at.max(outer_at));
        let rest = linear.without(second).without(first);
        let whole = self.modulo(numerator, modulus.into())?;
        rest.plus_scaled(&whole, scale).map(Some)
    }

    /// An `x` with `x floordiv c = quotient` and `x mod c = remainder`, for a quotient that has a division by `c` in it.
    fn numerator_of(&self, quotient: &Linear, remainder: &Division) -> Simplified<Option<Linear>> {
        let Some(divisor) = remainder.divisor.as_constant() else {
            return Ok(None);
        };
        for (position, term) in quotient.terms.iter().enumerate() {
            if let (Atom::FloorDiv(division), 1) = (&term.atom, term.coefficient)
                && division.is_congruent_to(remainder)
            {
                let rest = quotient.without(position);
                return division.numerator.plus_scaled(&rest, divisor).map(Some);
            }
        }
        Ok(None)
    }

    /// `b * x - b * c * (x floordiv c)` as `b * (x mod c)`.
    fn without_quotient(
        &self,
        linear: &Linear,
        position: usize,
        quotient: &Division,
    ) -> Simplified<Option<Linear>> {
        let Some(divisor) = quotient.divisor.as_constant() else {
            return Ok(None);
        };
        let coefficient = linear.terms[position].coefficient;
        if coefficient % divisor != 0 {
            return Ok(None);
        }
        let scale = coefficient / divisor;
        let remainder = self.modulo(quotient.numerator.clone(), divisor.into())?;
        let rest = linear.without(position);
        let rest = rest.plus_scaled(&quotient.numerator, scale)?;
        rest.plus_scaled(&remainder.scaled(-1)?, scale).map(Some)
    }
}

impl Atom {
    fn is_division(&self) -> bool {
        matches!(self, Self::FloorDiv(_) | Self::Mod(_))
    }
}
