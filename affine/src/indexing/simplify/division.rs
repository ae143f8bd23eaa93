//! Quotients and remainders of sums. All rules follow from one theorem: for `x = c * q + r`,
//! whatever the signs, `x floordiv c = q + r floordiv c` and `x mod c = r mod c`.

use super::context::Span;
use super::linear::greatest_common_divisor;
use super::linear::{Atom, Division, Linear, Simplified, Term, Unsimplified, narrow};
use super::normalize::Normalizer;
use crate::indexing::expression::{floor_div, floor_mod};

/// So many common divisors are tried for one division.
const DIVISORS_TRIED: usize = 12;

impl Normalizer<'_> {
    pub(in crate::indexing) fn floor_div(
        &self,
        numerator: Linear,
        divisor: Linear,
    ) -> Simplified<Linear> {
        self.spend(numerator.terms.len())?;
        let numerator = self.with_equalities(numerator)?;
        match self.constant_divisor(&divisor)? {
            Some((1, size)) => self.quotient(numerator, size),
            // `x floordiv -c` is `-x floordiv c`.
            Some((_, size)) => self.quotient(numerator.negated()?, size),
            None => self.symbolic_quotient(numerator, divisor),
        }
    }

    pub(in crate::indexing) fn modulo(
        &self,
        numerator: Linear,
        divisor: Linear,
    ) -> Simplified<Linear> {
        self.spend(numerator.terms.len())?;
        let numerator = self.with_equalities(numerator)?;
        match self.constant_divisor(&divisor)? {
            Some((1, size)) => self.remainder(numerator, size),
            // `x mod -c` is `-(-x mod c)`.
            Some((_, size)) => self.remainder(numerator.negated()?, size)?.negated(),
            None => self.symbolic_remainder(numerator, divisor),
        }
    }

    /// The sign and the size of a divisor that has but one value.
    fn constant_divisor(&self, divisor: &Linear) -> Simplified<Option<(i64, i64)>> {
        let value = self.context.range(divisor).as_point();
        match value.and_then(|it| i64::try_from(it).ok()) {
            Some(0) => Err(Unsimplified::DivisionByZero),
            Some(value) => {
                let size = value.checked_abs().ok_or(Unsimplified::Overflow)?;
                Ok(Some((value.signum(), size)))
            }
            None => Ok(None),
        }
    }

    /// `numerator floordiv divisor` for a positive divisor.
    fn quotient(&self, numerator: Linear, divisor: i64) -> Simplified<Linear> {
        if divisor == 1 {
            return Ok(numerator);
        }
        if let Some(quotient) = self.context.range(&numerator).quotient(divisor) {
            return Ok(narrow(quotient)?.into());
        }
        let (whole, rest) = split(&numerator, divisor)?;
        if let Some(quotient) = self.context.range(&rest).quotient(divisor) {
            return whole.offset(narrow(quotient)?);
        }
        if let Some(quotient) = self.quotient_by_residue(&rest, divisor)? {
            return whole.plus(&quotient);
        }
        if let Some(quotient) = self.reduced_quotient(&rest, divisor)? {
            return whole.plus(&quotient);
        }
        if let Some(quotient) = self.split_quotient(&rest, divisor)? {
            return whole.plus(&quotient);
        }
        if let Some(merged) = self.merged_quotient(&rest, divisor)? {
            return whole.plus(&merged);
        }
        if let Some(quotient) = self.quotient_of_remainder(&rest, divisor)? {
            return whole.plus(&quotient);
        }
        whole.plus(&with_positive_lead(rest, divisor)?)
    }

    /// The quotient of `x + r` where `x` is known to leave a residue: that of `x` alone, if `r`
    /// reaches no other multiple.
    fn quotient_by_residue(&self, rest: &Linear, divisor: i64) -> Simplified<Option<Linear>> {
        for known in &self.context.congruences {
            let Some(factor) = rest.multiple_of_first(&known.linear) else {
                continue;
            };
            let period = i128::from(known.modulus) * i128::from(factor);
            if period % i128::from(divisor) != 0 {
                continue;
            }
            self.spend(rest.terms.len())?;
            let multiple = known.linear.scaled(factor)?;
            let others = rest.minus(&multiple)?;
            let is_part = others.terms.len() + multiple.terms.len() == rest.terms.len();
            if !is_part || others.terms.is_empty() {
                continue;
            }
            let residue = i128::from(known.residue) * i128::from(factor);
            let range = self.context.range(&others).offset(residue);
            if let Some(quotient) = range.quotient(divisor) {
                let offset = quotient - floor_div(residue, divisor.into());
                let quotient = self.floor_div(multiple, divisor.into())?;
                return quotient.offset(narrow(offset)?).map(Some);
            }
        }
        Ok(None)
    }

    /// Moves multiples of the divisor out of the coefficients, where no division is left of it
    /// then, or where each coefficient that is changed vanishes from the quotient as a factor.
    fn reduced_quotient(&self, rest: &Linear, divisor: i64) -> Simplified<Option<Linear>> {
        for residue in [nearest_residue, least_residue] {
            let residues = |coefficient| residue(coefficient, divisor);
            if let Some(quotient) = self.context.range_with(rest, residues).quotient(divisor) {
                let (whole, _) = reduced(rest, divisor, residue)?;
                return whole.offset(narrow(quotient)?).map(Some);
            }
        }
        if rest
            .terms
            .iter()
            .all(|it| it.coefficient.unsigned_abs() < divisor.unsigned_abs())
        {
            return Ok(None);
        }
        let (whole, reduced) = reduced(rest, divisor, truncated_residue)?;
        let atom =
            |numerator: &Linear| Linear::from(Atom::floor_div(numerator.clone(), divisor.into()));
        let rewritten = whole.plus(&atom(&reduced))?;
        if !self.prefers(&rewritten, &atom(rest)) {
            return Ok(None);
        }
        whole.plus(&self.quotient(reduced, divisor)?).map(Some)
    }

    /// Splits `g * y + r` with `g` a divisor of the divisor and `r` within one multiple of `g`: the
    /// quotient is that of `y` alone.
    fn split_quotient(&self, rest: &Linear, divisor: i64) -> Simplified<Option<Linear>> {
        for common in common_divisors(rest, divisor) {
            let fine = self.fine_range(rest, common);
            if let Some(offset) = fine.quotient(common) {
                let (coarse, _) = split(rest, common)?;
                let coarse = coarse.offset(narrow(offset)?)?;
                return self.floor_div(coarse, (divisor / common).into()).map(Some);
            }
        }
        Ok(None)
    }

    /// The range of what [`split`] leaves.
    fn fine_range(&self, linear: &Linear, divisor: i64) -> Span {
        let constant = linear.constant.rem_euclid(divisor);
        let of_rest = |coefficient: i64| {
            if coefficient.wrapping_rem(divisor) == 0 {
                0
            } else {
                coefficient
            }
        };
        let range = self.context.range_with(linear, of_rest);
        range.offset(i128::from(constant) - i128::from(linear.constant))
    }

    /// `(n floordiv a + m) floordiv c` is `(n + a * m) floordiv (a * c)`.
    fn merged_quotient(&self, rest: &Linear, divisor: i64) -> Simplified<Option<Linear>> {
        let Some((numerator, first)) = rest.as_quotient() else {
            return self.merged_symbolic_quotient(rest, &divisor.into());
        };
        match first.checked_mul(divisor) {
            Some(product) => self.floor_div(numerator, product.into()).map(Some),
            None => Ok(None),
        }
    }

    /// `(n mod (a * b)) floordiv a` is `(n floordiv a) mod b`.
    fn quotient_of_remainder(&self, rest: &Linear, divisor: i64) -> Simplified<Option<Linear>> {
        let Some(Atom::Mod(inner)) = rest.as_atom() else {
            return Ok(None);
        };
        if inner.divisor.as_constant().is_none() {
            return self.quotient_of_symbolic_remainder(rest, &divisor.into());
        }
        match inner.divisor.as_constant() {
            Some(modulus) if modulus % divisor == 0 => {
                let quotient = self.floor_div(inner.numerator.clone(), divisor.into())?;
                self.modulo(quotient, (modulus / divisor).into()).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// `numerator mod divisor` for a positive divisor.
    fn remainder(&self, numerator: Linear, divisor: i64) -> Simplified<Linear> {
        if divisor == 1 {
            return Ok(0.into());
        }
        let numerator = self.without_inner_remainders(numerator, divisor)?;
        if let Some(remainder) = self.remainder_in_window(&numerator, divisor)? {
            return Ok(remainder);
        }
        let numerator = self.with_known_residues(numerator, divisor)?;
        let (_, rest) = split(&numerator, divisor)?;
        for residue in [truncated_residue, nearest_residue, least_residue] {
            let residues = |coefficient| residue(coefficient, divisor);
            if self
                .context
                .range_with(&rest, residues)
                .quotient(divisor)
                .is_none()
            {
                continue;
            }
            let (_, reduced) = reduced(&rest, divisor, residue)?;
            if let Some(remainder) = self.remainder_in_window(&reduced, divisor)? {
                return Ok(remainder);
            }
        }
        let (_, rest) = reduced(&rest, divisor, nearest_residue)?;
        let atom = Linear::from(Atom::modulo(rest.clone(), divisor.into()));
        for common in common_divisors(&rest, divisor) {
            let Some(offset) = self.fine_range(&rest, common).quotient(common) else {
                continue;
            };
            let (coarse, fine) = split(&rest, common)?;
            let offset = narrow(offset)?;
            let coarse = coarse.offset(offset)?;
            let fine = fine.offset(narrow(-i128::from(offset) * i128::from(common))?)?;
            let remainder = self.modulo(coarse, (divisor / common).into())?;
            let rewritten = fine.plus_scaled(&remainder, common)?;
            if self.prefers(&rewritten, &atom) {
                return self.recombined(rewritten);
            }
        }
        Ok(atom)
    }

    /// The remainder when all values have the same quotient.
    fn remainder_in_window(&self, numerator: &Linear, divisor: i64) -> Simplified<Option<Linear>> {
        match self.context.range(numerator).quotient(divisor) {
            Some(quotient) => {
                let multiple = narrow(quotient.saturating_mul(divisor.into()))?;
                let multiple = multiple.checked_neg().ok_or(Unsimplified::Overflow)?;
                numerator.offset(multiple).map(Some)
            }
            None => Ok(None),
        }
    }

    /// `a * (n mod m)` is `a * n` up to multiples of `a * m`.
    fn without_inner_remainders(&self, mut numerator: Linear, divisor: i64) -> Simplified<Linear> {
        loop {
            let inner = numerator
                .terms
                .iter()
                .enumerate()
                .find_map(|(position, term)| {
                    let Atom::Mod(inner) = &term.atom else {
                        return None;
                    };
                    let vanishes = match inner.divisor.as_constant() {
                        Some(modulus) => {
                            let period = i128::from(modulus) * i128::from(term.coefficient);
                            period % i128::from(divisor) == 0
                        }
                        None => inner.divisor.is_multiple_of(divisor),
                    };
                    vanishes.then(|| (position, inner.numerator.clone(), term.coefficient))
                });
            let Some((position, inner, coefficient)) = inner else {
                return self.without_divided_remainders(numerator, divisor);
            };
            self.spend(numerator.terms.len())?;
            let rest = numerator.without(position);
            numerator = rest.plus_scaled(&inner, coefficient)?;
        }
    }

    /// `(a * (n mod m) + r) floordiv c` is `(a * n + r) floordiv c` up to multiples of
    /// `a * m floordiv c`.
    fn without_divided_remainders(&self, numerator: Linear, divisor: i64) -> Simplified<Linear> {
        let has_remainder = |it: &Term| match &it.atom {
            Atom::FloorDiv(inner) => {
                let mut terms = inner.numerator.terms.iter();
                terms.any(|it| matches!(it.atom, Atom::Mod(_)))
            }
            _ => false,
        };
        if !numerator.terms.iter().any(has_remainder) {
            return Ok(numerator);
        }
        let Some((inner, by)) = numerator.as_quotient() else {
            return Ok(numerator);
        };
        let Some(period) = divisor.checked_mul(by) else {
            return Ok(numerator);
        };
        let freed = self.without_inner_remainders(inner.clone(), period)?;
        if freed == inner {
            return Ok(numerator);
        }
        let rewritten = self.floor_div(freed, by.into())?;
        match self.prefers(&rewritten, &numerator) {
            true => Ok(rewritten),
            false => Ok(numerator),
        }
    }

    /// Replaces what leaves a known residue by it, where its multiples vanish.
    fn with_known_residues(&self, mut numerator: Linear, divisor: i64) -> Simplified<Linear> {
        for known in &self.context.congruences {
            let Some(first) = known.linear.terms.first() else {
                continue;
            };
            let ours = numerator.terms.iter().find(|it| it.atom == first.atom);
            let Some(factor) = ours.map(|it| it.coefficient / first.coefficient) else {
                continue;
            };
            let period = i128::from(known.modulus) * i128::from(factor);
            if factor == 0 || period % i128::from(divisor) != 0 {
                continue;
            }
            self.spend(numerator.terms.len())?;
            let removed = numerator.plus_scaled(&known.linear, -factor)?;
            let residue = narrow(i128::from(known.residue) * i128::from(factor))?;
            if removed.terms.len() < numerator.terms.len() {
                numerator = removed.offset(residue)?;
            }
        }
        Ok(numerator)
    }
}

/// `divisor * whole + rest`, the coefficients of `rest` not multiples of the divisor and its
/// constant the least that is not negative.
fn split(numerator: &Linear, divisor: i64) -> Simplified<(Linear, Linear)> {
    let (mut whole, mut rest) = (Linear::default(), Linear::default());
    for term in &numerator.terms {
        if term.coefficient.wrapping_rem(divisor) == 0 {
            whole.terms.push(Term {
                atom: term.atom.clone(),
                coefficient: term.coefficient / divisor,
            });
        } else {
            rest.terms.push(term.clone());
        }
    }
    whole.constant = narrow(floor_div(numerator.constant.into(), divisor.into()))?;
    rest.constant = narrow(floor_mod(numerator.constant.into(), divisor.into()))?;
    Ok((whole, rest))
}

/// `divisor * whole + rest` with each coefficient of `rest` replaced by its residue.
fn reduced(
    numerator: &Linear,
    divisor: i64,
    residue: fn(i64, i64) -> i64,
) -> Simplified<(Linear, Linear)> {
    let (mut whole, mut rest) = (Linear::default(), Linear::default());
    rest.constant = numerator.constant;
    for term in &numerator.terms {
        let left = residue(term.coefficient, divisor);
        let multiple =
            narrow((i128::from(term.coefficient) - i128::from(left)) / i128::from(divisor))?;
        for (sum, coefficient) in [(&mut whole, multiple), (&mut rest, left)] {
            if coefficient != 0 {
                sum.terms.push(Term {
                    atom: term.atom.clone(),
                    coefficient,
                });
            }
        }
    }
    Ok((whole, rest))
}

/// The residue of the sign of the coefficient.
fn truncated_residue(coefficient: i64, divisor: i64) -> i64 {
    coefficient.wrapping_rem(divisor)
}

/// The residue in `[0, divisor)`.
fn least_residue(coefficient: i64, divisor: i64) -> i64 {
    coefficient.rem_euclid(divisor)
}

/// The residue nearest to zero, the positive one of two.
fn nearest_residue(coefficient: i64, divisor: i64) -> i64 {
    let least = coefficient.rem_euclid(divisor);
    if least > divisor - least {
        least - divisor
    } else {
        least
    }
}

/// The common divisors of coefficients with `divisor` that are greater than one, greatest first.
fn common_divisors(linear: &Linear, divisor: i64) -> Vec<i64> {
    let of_divisor =
        |value: i64| greatest_common_divisor(value.unsigned_abs(), divisor.unsigned_abs());
    let common = linear.terms.iter().map(|it| of_divisor(it.coefficient));
    let mut common: Vec<_> = common.filter_map(|it| i64::try_from(it).ok()).collect();
    common.retain(|it| *it > 1);
    common.sort_unstable_by(|left, right| right.cmp(left));
    common.dedup();
    common.truncate(DIVISORS_TRIED);
    common
}

/// The quotient as an atom whose first coefficient is positive: `x floordiv c` is
/// `-((-x + c - 1) floordiv c)`.
fn with_positive_lead(rest: Linear, divisor: i64) -> Simplified<Linear> {
    match rest.terms.first() {
        Some(first) if first.coefficient < 0 => {
            let opposite = rest.negated()?.offset(divisor - 1)?;
            let (whole, opposite) = split(&opposite, divisor)?;
            let quotient = Atom::floor_div(opposite, divisor.into());
            whole.plus(&quotient.into())?.negated()
        }
        _ => Ok(Atom::floor_div(rest, divisor.into()).into()),
    }
}

impl Division {
    /// Whether `other` has the same divisor, and numerators that differ by a multiple of it.
    pub(in crate::indexing) fn is_congruent_to(&self, other: &Self) -> bool {
        if self.divisor != other.divisor {
            return false;
        }
        match self.divisor.as_constant() {
            Some(divisor) => {
                let difference = self.numerator.minus(&other.numerator);
                difference.is_ok_and(|it| it.is_multiple_of(divisor))
            }
            None => self.numerator == other.numerator,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::indexing::test_maps::map;

    #[test]
    fn remainders_that_vanish_inside_of_quotients() {
        for (expr, expected) in [
            (
                "((x mod 64 + 7) floordiv 32) mod 2",
                "((x + 7) floordiv 32) mod 2",
            ),
            (
                "((y - x mod 64) floordiv 4 + 1) mod 8",
                "((y - x) floordiv 4 + 1) mod 8",
            ),
            (
                "((x mod 96 + 7) floordiv 32) mod 2",
                "((x mod 96 + 7) floordiv 32) mod 2",
            ),
        ] {
            let domain = "domain: x in [-70, 200], y in [0, 9]";
            let written = map(&format!("(x, y) -> ({expr}), {domain}"));
            let simplified = written.simplified();
            let shown = format!("(x, y) -> ({expected}), {domain}");
            assert_eq!(simplified.to_string(), shown);
            for point in written.points(10_000).expect("few points") {
                assert_eq!(simplified.evaluate(&point), written.evaluate(&point));
            }
        }
    }
}
