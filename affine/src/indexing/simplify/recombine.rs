//! Sums in which quotients and remainders of the same numerator meet: `x` is
//! `c * (x floordiv c) + x mod c`.

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
                Atom::Mod(remainder) => {
                    match self.with_quotient(linear, position, remainder, &1.into())? {
                        None => match self.as_difference(linear, position, remainder)? {
                            None => match with_opposite(linear, position, remainder)? {
                                None => {
                                    match self.of_symbolic_quotients(linear, position, remainder)? {
                                        None => self
                                            .of_symbolic_remainders(linear, position, remainder)?,
                                        found => found,
                                    }
                                }
                                found => found,
                            },
                            found => found,
                        },
                        found => found,
                    }
                }
                Atom::FloorDiv(quotient) => {
                    match self.without_quotient(linear, position, quotient)? {
                        Some(found) if found.size() < linear.size() => Some(found),
                        _ => match self.as_remainder(linear, position, quotient)? {
                            None => with_congruent(linear, position, quotient)?,
                            found => found,
                        },
                    }
                }
                Atom::Product(factors) => {
                    self.with_quotient_of_factor(linear, position, factors)?
                }
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

    /// Replaces a remainder that is a factor of a product.
    fn with_quotient_of_factor(
        &self,
        linear: &Linear,
        position: usize,
        factors: &[Atom],
    ) -> Simplified<Option<Linear>> {
        for (factor, atom) in factors.iter().enumerate() {
            if let Atom::Mod(remainder) = atom {
                let mut others = factors.to_vec();
                others.remove(factor);
                let others = Atom::product(others);
                let replaced = self.with_quotient(linear, position, remainder, &others)?;
                if replaced.is_some() {
                    return Ok(replaced);
                }
            }
        }
        Ok(None)
    }

    /// Replaces `b * (x mod c)` by means of a term with `x floordiv c`; `cofactor` is what else `b`
    /// is multiplied with.
    fn with_quotient(
        &self,
        linear: &Linear,
        position: usize,
        remainder: &Division,
        cofactor: &Linear,
    ) -> Simplified<Option<Linear>> {
        for (other, term) in linear.terms.iter().enumerate() {
            let replaced = match &term.atom {
                Atom::FloorDiv(quotient) if quotient.is_congruent_to(remainder) => {
                    self.of_quotient(linear, position, quotient, cofactor)?
                }
                Atom::Product(factors) => {
                    let quotient = factors.iter().find_map(|it| match it {
                        Atom::FloorDiv(quotient) if quotient.is_congruent_to(remainder) => {
                            Some(quotient)
                        }
                        _ => None,
                    });
                    match quotient {
                        Some(quotient) => self.of_quotient(linear, position, quotient, cofactor)?,
                        None => continue,
                    }
                }
                Atom::Mod(outer) if cofactor.as_constant().is_some() => {
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
        self.with_folded_quotient(linear, position, remainder, cofactor)
    }

    /// As [`Self::with_quotient`], where `x` is itself a quotient: `(y floordiv a) floordiv c`
    /// stands as `y floordiv (a * c)`.
    fn with_folded_quotient(
        &self,
        linear: &Linear,
        position: usize,
        remainder: &Division,
        cofactor: &Linear,
    ) -> Simplified<Option<Linear>> {
        let Some(divisor) = remainder.divisor.as_constant() else {
            return Ok(None);
        };
        let is_coarser = |atom: &Atom| match atom {
            Atom::FloorDiv(quotient) => {
                let coarse = quotient.divisor.as_constant();
                coarse.is_some_and(|it| it != divisor && it % divisor == 0)
            }
            _ => false,
        };
        let mut terms = linear.terms.iter();
        if !terms.any(|it| it.atom.factors().iter().any(is_coarser)) {
            return Ok(None);
        }
        let scale = linear.terms[position].coefficient;
        let quotient = self.floor_div(remainder.numerator.clone(), divisor.into())?;
        let value = remainder.numerator.plus_scaled(&quotient, -divisor)?;
        smaller(linear, position, &self.product(&value, cofactor)?, scale)
    }

    /// `b * (x mod c)` as `b * x - b * c * (x floordiv c)`.
    fn of_quotient(
        &self,
        linear: &Linear,
        position: usize,
        quotient: &Rc<Division>,
        cofactor: &Linear,
    ) -> Simplified<Linear> {
        let scale = linear.terms[position].coefficient;
        let quotient_atom = Atom::FloorDiv(Rc::clone(quotient)).into();
        let multiple = self.product(&quotient_atom, &quotient.divisor)?;
        let remainder = quotient.numerator.minus(&multiple)?;
        let rest = linear.without(position);
        rest.plus_scaled(&self.product(&remainder, cofactor)?, scale)
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

    /// An `x` with `x floordiv c = quotient` and `x mod c = remainder`, for a quotient that has a
    /// division by `c` in it.
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

    /// `b * c * ((x floordiv c) mod m)` as `b * (x mod (c * m)) - b * (x mod c)`, where one of
    /// those is there.
    fn as_difference(
        &self,
        linear: &Linear,
        position: usize,
        remainder: &Division,
    ) -> Simplified<Option<Linear>> {
        let Some(coarse) = remainder.divisor.as_constant() else {
            return Ok(None);
        };
        let coefficient = linear.terms[position].coefficient;
        for (inner, term) in remainder.numerator.terms.iter().enumerate() {
            let (Atom::FloorDiv(quotient), 1) = (&term.atom, term.coefficient) else {
                continue;
            };
            let Some(fine) = quotient.divisor.as_constant() else {
                continue;
            };
            let Some(modulus) = fine.checked_mul(coarse) else {
                continue;
            };
            let is_met = |atom: &Atom| {
                matches!(atom, Atom::Mod(it)
                    if [Some(fine), Some(modulus)].contains(&it.divisor.as_constant()))
            };
            if coefficient % fine != 0 || !linear.terms.iter().any(|it| is_met(&it.atom)) {
                continue;
            }
            let rest = remainder.numerator.without(inner);
            let numerator = quotient.numerator.plus_scaled(&rest, fine)?;
            let large = self.modulo(numerator.clone(), modulus.into())?;
            let difference = large.minus(&self.modulo(numerator, fine.into())?)?;
            let scale = coefficient / fine;
            if let Some(replaced) = smaller(linear, position, &difference, scale)? {
                return Ok(Some(replaced));
            }
        }
        Ok(None)
    }

    /// `b * (x floordiv c) - b * m * (x floordiv (c * m))` as `b * ((x floordiv c) mod m)`.
    fn as_remainder(
        &self,
        linear: &Linear,
        position: usize,
        coarse: &Rc<Division>,
    ) -> Simplified<Option<Linear>> {
        let Some(divisor) = coarse.divisor.as_constant() else {
            return Ok(None);
        };
        let coefficient = linear.terms[position].coefficient;
        for term in &linear.terms {
            let Atom::FloorDiv(fine) = &term.atom else {
                continue;
            };
            let factor = match fine.divisor.as_constant() {
                Some(fine) if fine < divisor && divisor % fine == 0 => divisor / fine,
                _ => continue,
            };
            if coefficient % factor != 0 {
                continue;
            }
            let fine = Linear::from(term.atom.clone());
            let quotient = self.floor_div(fine.clone(), factor.into())?;
            let atom = Linear::from(Atom::FloorDiv(Rc::clone(coarse)));
            let offset = atom.minus(&quotient)?;
            if offset.as_constant().is_none() {
                continue;
            }
            let remainder = self.modulo(fine.clone(), factor.into())?;
            let multiple = fine.minus(&remainder)?.plus_scaled(&offset, factor)?;
            let scale = coefficient / factor;
            if let Some(replaced) = smaller(linear, position, &multiple, scale)? {
                return Ok(Some(replaced));
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
        let numerator = &quotient.numerator;
        let rest = linear.without(position).plus_scaled(numerator, scale)?;
        let remainder = self.modulo(numerator.clone(), divisor.into())?;
        let replaced = rest.plus_scaled(&remainder.scaled(-1)?, scale)?;
        // `x mod c` is also `c - 1 - (-x - 1) mod c`.
        let opposite = self.modulo(numerator.negated()?.offset(-1)?, divisor.into())?;
        let opposite = rest.plus_scaled(&opposite.offset(1 - divisor)?, scale)?;
        Ok(Some(if opposite.size() < replaced.size() {
            opposite
        } else {
            replaced
        }))
    }
}

/// `b * ((x + c * y) floordiv c)` as `b * (x floordiv c) + b * y`, where `x floordiv c` is there.
fn with_congruent(
    linear: &Linear,
    position: usize,
    quotient: &Division,
) -> Simplified<Option<Linear>> {
    let Some(divisor) = quotient.divisor.as_constant() else {
        return Ok(None);
    };
    for (at, term) in linear.terms.iter().enumerate() {
        let Atom::FloorDiv(other) = &term.atom else {
            continue;
        };
        if at == position || !quotient.is_congruent_to(other) {
            continue;
        }
        let multiple = quotient.numerator.minus(&other.numerator)?.divided(divisor);
        let value = Linear::from(term.atom.clone()).plus(&multiple)?;
        let scale = linear.terms[position].coefficient;
        if let Some(replaced) = smaller(linear, position, &value, scale)? {
            return Ok(Some(replaced));
        }
    }
    Ok(None)
}

/// `b * (x mod c)` as `b * (c - 1) - b * ((-x - 1) mod c)`, where that remainder is there.
fn with_opposite(
    linear: &Linear,
    position: usize,
    remainder: &Division,
) -> Simplified<Option<Linear>> {
    let Some(divisor) = remainder.divisor.as_constant() else {
        return Ok(None);
    };
    for (at, term) in linear.terms.iter().enumerate() {
        let Atom::Mod(other) = &term.atom else {
            continue;
        };
        if at == position || other.divisor != remainder.divisor {
            continue;
        }
        let sum = remainder.numerator.plus(&other.numerator)?.offset(1)?;
        if !sum.is_multiple_of(divisor) {
            continue;
        }
        let value = Linear::from(term.atom.clone())
            .negated()?
            .offset(divisor - 1)?;
        let scale = linear.terms[position].coefficient;
        if let Some(replaced) = smaller(linear, position, &value, scale)? {
            return Ok(Some(replaced));
        }
    }
    Ok(None)
}

/// The sum with `scale * value` in the place of a term, if that makes it smaller.
fn smaller(
    linear: &Linear,
    position: usize,
    value: &Linear,
    scale: i64,
) -> Simplified<Option<Linear>> {
    let replaced = linear.without(position).plus_scaled(value, scale)?;
    Ok((replaced.size() < linear.size()).then_some(replaced))
}

impl Atom {
    fn is_division(&self) -> bool {
        matches!(self, Self::FloorDiv(_) | Self::Mod(_))
    }
}

#[cfg(test)]
mod tests {
    use crate::indexing::test_maps::map;

    #[track_caller]
    fn simplifies(expr: &str, expected: &str) {
        let domain = "domain: d0 in [-100, 100], d1 in [-50, 60]";
        let simplified = map(&format!("(d0, d1) -> ({expr}), {domain}")).simplified();
        assert_eq!(
            simplified.to_string(),
            format!("(d0, d1) -> ({expected}), {domain}")
        );
    }

    #[test]
    fn remainders_of_opposites_are_one_form() {
        simplifies("4 - (-d0 - 1) mod 5", "d0 mod 5");
        simplifies("(-d0 - 1) mod 5", "-(d0 mod 5) + 4");
        simplifies("4 - d0 mod 5", "-(d0 mod 5) + 4");
        simplifies("(d1 - d0) mod 5", "(d1 - d0) mod 5");
        simplifies("4 - (d0 - d1 + 4) mod 5", "(d1 - d0) mod 5");
        simplifies("d1 - 2 + (-d0 - 1) mod 3", "d1 - d0 mod 3");
        simplifies("d1 + 2 - (d0 - 1) mod 3", "d1 + (-d0) mod 3");
    }

    #[test]
    fn remainders_of_opposites_add_up_to_a_constant() {
        simplifies("d0 mod 5 + (-d0 - 1) mod 5", "4");
        simplifies("(d0 mod 5) * 3 + ((4 - d0) mod 5) * 3 + d1", "d1 + 12");
        simplifies("(d0 mod 5) * 3 - (-d0 - 1) mod 5", "(d0 mod 5) * 4 - 4");
        simplifies("d0 mod 5 + (-d0) mod 5", "d0 mod 5 + (-d0) mod 5");
    }
}
