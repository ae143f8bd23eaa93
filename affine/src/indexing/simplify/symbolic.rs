//! Quotients and remainders by divisors that are no constants: products of sizes, as of dimensions
//! that are put together.

use super::linear::{Atom, Division, Linear, Simplified, Term};
use super::normalize::Normalizer;

impl Normalizer<'_> {
    pub(super) fn symbolic_quotient(
        &self,
        numerator: Linear,
        divisor: Linear,
    ) -> Simplified<Linear> {
        let (whole, rest) = split_by_product(&numerator, &divisor);
        if rest.as_constant() == Some(0) || self.is_smaller_than(&rest, &divisor)? {
            return Ok(whole);
        }
        if let Some(merged) = self.merged_symbolic_quotient(&rest, &divisor)? {
            return whole.plus(&merged);
        }
        if let Some(quotient) = self.quotient_of_symbolic_remainder(&rest, &divisor)? {
            return whole.plus(&quotient);
        }
        if let Some((quotient, _)) = self.by_a_factor(&rest, &divisor)? {
            return whole.plus(&quotient);
        }
        whole.plus(&Atom::floor_div(rest, divisor).into())
    }

    pub(super) fn symbolic_remainder(
        &self,
        numerator: Linear,
        divisor: Linear,
    ) -> Simplified<Linear> {
        let numerator = self.without_inner_symbolic_remainders(numerator, &divisor)?;
        let (_, rest) = split_by_product(&numerator, &divisor);
        if rest.as_constant() == Some(0) || self.is_smaller_than(&rest, &divisor)? {
            return Ok(rest);
        }
        if let Some((_, remainder)) = self.by_a_factor(&rest, &divisor)? {
            return Ok(remainder);
        }
        Ok(Atom::modulo(rest, divisor).into())
    }

    /// Whether `0 <= rest < divisor` at every point.
    fn is_smaller_than(&self, rest: &Linear, divisor: &Linear) -> Simplified<bool> {
        if self.context.range(rest).low < 0 {
            return Ok(false);
        }
        Ok(self.context.range(&divisor.minus(rest)?).low > 0)
    }

    fn is_positive(&self, linear: &Linear) -> bool {
        self.context.range(linear).low > 0
    }

    /// `(n floordiv a) floordiv c` for a positive `c`, which is `n floordiv (a * c)`.
    pub(super) fn merged_symbolic_quotient(
        &self,
        rest: &Linear,
        divisor: &Linear,
    ) -> Simplified<Option<Linear>> {
        match rest.as_atom() {
            Some(Atom::FloorDiv(inner)) if self.is_positive(divisor) => {
                let product = self.product(&inner.divisor, divisor)?;
                self.floor_div(inner.numerator.clone(), product).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// `(n mod (a * b)) floordiv a` for positive `a` and `b`, which is `(n floordiv a) mod b`.
    pub(super) fn quotient_of_symbolic_remainder(
        &self,
        rest: &Linear,
        divisor: &Linear,
    ) -> Simplified<Option<Linear>> {
        let Some(Atom::Mod(inner)) = rest.as_atom() else {
            return Ok(None);
        };
        match exact_quotient(&inner.divisor, divisor) {
            Some(other) if self.is_positive(divisor) && self.is_positive(&other) => {
                let quotient = self.floor_div(inner.numerator.clone(), divisor.clone())?;
                self.modulo(quotient, other).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Quotient and remainder by a positive product `a * b`, where the quotient and the remainder
    /// by `a` are no divisions, and nor is what the quotient by `b` leaves: `p * i + r` by `p * q`
    /// is `i floordiv q`, and `p * (i mod q) + r` is left.
    fn by_a_factor(&self, rest: &Linear, divisor: &Linear) -> Simplified<Option<(Linear, Linear)>> {
        let ([product], 0) = (divisor.terms.as_slice(), divisor.constant) else {
            return Ok(None);
        };
        let mut factors: Vec<Linear> = Vec::new();
        for factor in product.atom.factors() {
            factors.push(factor.clone().into());
        }
        if product.coefficient > 1 {
            factors.push(product.coefficient.into());
        }
        if factors.len() < 2 {
            return Ok(None);
        }
        let divisions = |it: &Linear| it.size().divisions;
        for inner in factors {
            let Some(outer) = exact_quotient(divisor, &inner) else {
                continue;
            };
            if !self.is_positive(&inner) || !self.is_positive(&outer) {
                continue;
            }
            self.spend(rest.terms.len())?;
            let index = self.floor_div(rest.clone(), inner.clone())?;
            let fine = self.modulo(rest.clone(), inner.clone())?;
            let most = divisions(rest);
            if divisions(&index) + divisions(&fine) > most {
                continue;
            }
            let quotient = self.floor_div(index.clone(), outer.clone())?;
            let coarse = self.modulo(index, outer)?;
            let remainder = self.product(&coarse, &inner)?.plus(&fine)?;
            if divisions(&quotient) + divisions(&remainder) <= most {
                return Ok(Some((quotient, remainder)));
            }
        }
        Ok(None)
    }

    /// `n mod (a * b)` is `n` up to multiples of `a`.
    fn without_inner_symbolic_remainders(
        &self,
        mut numerator: Linear,
        divisor: &Linear,
    ) -> Simplified<Linear> {
        loop {
            let vanishes = |term: &Term| match &term.atom {
                Atom::Mod(inner) => {
                    let period = inner.divisor.scaled(term.coefficient).ok()?;
                    exact_quotient(&period, divisor)?;
                    Some((inner.numerator.clone(), term.coefficient))
                }
                _ => None,
            };
            let terms = numerator.terms.iter().enumerate();
            let mut found = terms.filter_map(|(at, term)| Some((at, vanishes(term)?)));
            let Some((position, (inner, coefficient))) = found.next() else {
                return Ok(numerator);
            };
            self.spend(numerator.terms.len())?;
            numerator = numerator
                .without(position)
                .plus_scaled(&inner, coefficient)?;
        }
    }

    /// `k * ((x floordiv a) mod b) + k * b * (x floordiv (a * b))` as `k * (x floordiv a)`.
    pub(super) fn of_symbolic_quotients(
        &self,
        linear: &Linear,
        position: usize,
        fine: &Division,
    ) -> Simplified<Option<Linear>> {
        let (Some(term), Some(Atom::FloorDiv(inner))) =
            (linear.terms.get(position), fine.numerator.as_atom())
        else {
            return Ok(None);
        };
        let is_constant = |it: &Linear| it.as_constant().is_some();
        if (is_constant(&inner.divisor) && is_constant(&fine.divisor))
            || !self.is_positive(&inner.divisor)
            || !self.is_positive(&fine.divisor)
        {
            return Ok(None);
        }
        let product = self.product(&inner.divisor, &fine.divisor)?;
        let whole = Atom::floor_div(inner.numerator.clone(), product);
        let by = fine.divisor.scaled(term.coefficient)?;
        let coarse = self.product(&whole.into(), &by)?;
        let others = linear.without(position).minus(&coarse)?;
        let value = Linear::from(Atom::FloorDiv(inner.clone()));
        let replaced = others.plus_scaled(&value, term.coefficient)?;
        Ok((replaced.size() < linear.size()).then_some(replaced))
    }

    /// `k * (x mod a) + k * a * ((x floordiv a) mod b)` as `k * (x mod (a * b))`.
    pub(super) fn of_symbolic_remainders(
        &self,
        linear: &Linear,
        position: usize,
        fine: &Division,
    ) -> Simplified<Option<Linear>> {
        let Some(term) = linear.terms.get(position) else {
            return Ok(None);
        };
        let expected = fine.divisor.scaled(term.coefficient)?;
        for (other, coarse) in linear.terms.iter().enumerate() {
            for (at, factor) in coarse.atom.factors().iter().enumerate() {
                let Atom::Mod(outer) = factor else { continue };
                let Some(Atom::FloorDiv(inner)) = outer.numerator.as_atom() else {
                    continue;
                };
                let is_constant = |it: &Linear| it.as_constant().is_some();
                let mut factors = coarse.atom.factors().to_vec();
                factors.remove(at);
                let cofactor = Atom::product(factors).scaled(coarse.coefficient)?;
                if (is_constant(&inner.divisor) && is_constant(&outer.divisor))
                    || !inner.is_congruent_to(fine)
                    || cofactor != expected
                    || !self.is_positive(&inner.divisor)
                    || !self.is_positive(&outer.divisor)
                {
                    continue;
                }
                let product = self.product(&inner.divisor, &outer.divisor)?;
                let whole = self.modulo(inner.numerator.clone(), product)?;
                let (first, second) = (position.min(other), position.max(other));
                let others = linear.without(second).without(first);
                return others.plus_scaled(&whole, term.coefficient).map(Some);
            }
        }
        Ok(None)
    }
}

/// `linear / by`, if `by` is one term and divides all terms.
fn exact_quotient(linear: &Linear, by: &Linear) -> Option<Linear> {
    if let Some(by) = by.as_constant() {
        let is_whole = by != 0 && linear.is_multiple_of(by);
        return is_whole.then(|| linear.divided(by));
    }
    let ([by], 0) = (by.terms.as_slice(), by.constant) else {
        return None;
    };
    if linear.constant != 0 {
        return None;
    }
    let mut quotient = Linear::default();
    for term in &linear.terms {
        let (factors, coefficient) = quotient_of_terms(term, by)?;
        let product = Atom::product(factors).scaled(coefficient).ok()?;
        quotient = quotient.plus(&product).ok()?;
    }
    Some(quotient)
}

/// `divisor * whole + rest` for a divisor that is a product of atoms: the terms of which it is a
/// factor are whole.
fn split_by_product(numerator: &Linear, divisor: &Linear) -> (Linear, Linear) {
    let ([by], 0) = (divisor.terms.as_slice(), divisor.constant) else {
        return split_by_sum(numerator, divisor);
    };
    let (mut whole, mut rest) = (Linear::default(), Linear::from(numerator.constant));
    let mut quotients = Vec::new();
    for term in &numerator.terms {
        match quotient_of_terms(term, by) {
            Some(quotient) => quotients.push(quotient),
            None => rest.terms.push(term.clone()),
        }
    }
    for (factors, coefficient) in quotients {
        let product = Atom::product(factors).scaled(coefficient);
        match product.and_then(|product| whole.plus(&product)) {
            Ok(sum) => whole = sum,
            Err(_) => return (0.into(), numerator.clone()),
        }
    }
    (whole, rest)
}

/// `divisor * whole + rest` for a divisor that is a sum: a whole multiple of it is taken out.
fn split_by_sum(numerator: &Linear, divisor: &Linear) -> (Linear, Linear) {
    let unchanged = || (Linear::from(0), numerator.clone());
    let Some(by) = divisor.terms.first() else {
        return unchanged();
    };
    let quotient = numerator
        .terms
        .iter()
        .find_map(|it| quotient_of_terms(it, by));
    let Some((factors, coefficient)) = quotient else {
        return unchanged();
    };
    if !factors.is_empty() {
        return unchanged();
    }
    match numerator.plus_scaled(divisor, coefficient.wrapping_neg()) {
        Ok(rest) if rest.terms.len() < numerator.terms.len() => (coefficient.into(), rest),
        _ => unchanged(),
    }
}

/// The factors and the coefficient of `term / by`, when `by` divides `term`.
fn quotient_of_terms(term: &Term, by: &Term) -> Option<(Vec<Atom>, i64)> {
    if term.coefficient.checked_rem(by.coefficient)? != 0 {
        return None;
    }
    let mut factors = term.atom.factors().to_vec();
    for factor in by.atom.factors() {
        let position = factors.iter().position(|it| it == factor)?;
        factors.remove(position);
    }
    Some((factors, term.coefficient / by.coefficient))
}

#[cfg(test)]
mod tests {
    use crate::indexing::IndexingMap;
    use crate::indexing::test_maps::map;

    const DOMAIN: &str = "domain: x in [-30, 200], n in [1, 6], m in [1, 5]";

    #[track_caller]
    fn simplifies(expr: &str, expected: &str) {
        let written = map(&format!("(x, n, m) -> ({expr}), {DOMAIN}"));
        let simplified = written.simplified();
        let expected = format!("(x, n, m) -> ({expected}), {DOMAIN}");
        assert_eq!(simplified.to_string(), expected);
        agree(&written, &simplified);
    }

    #[track_caller]
    fn agree(one: &IndexingMap, other: &IndexingMap) {
        for point in one.points(1 << 16).expect("few points") {
            assert_eq!(one.evaluate(&point), other.evaluate(&point), "{point:?}");
        }
    }

    #[test]
    fn nested_divisions_by_sizes() {
        simplifies("(x floordiv n) floordiv m", "x floordiv (n * m)");
        simplifies("(x floordiv n) floordiv 4", "x floordiv (n * 4)");
        simplifies("(x floordiv 4) floordiv n", "x floordiv (n * 4)");
        simplifies("(x mod (n * m)) mod n", "x mod n");
        simplifies("(x mod (n * 4)) mod 4", "x mod 4");
        simplifies("(x mod (n * m)) floordiv n", "(x floordiv n) mod m");
        simplifies("(x mod (n * 4)) floordiv 4", "(x floordiv 4) mod n");
    }

    #[test]
    fn remainders_by_sizes_are_put_together() {
        simplifies("m * ((x floordiv m) mod n) + x mod m", "x mod (n * m)");
        simplifies(
            "m * (x floordiv (n * m)) + (x floordiv n) mod m",
            "x floordiv n",
        );
        simplifies("x mod 4 + ((x floordiv 4) mod n) * 4", "x mod (n * 4)");
        simplifies(
            "(x mod n) * 3 + n * 12 * ((x floordiv n) mod 4) - n * 9 * ((x floordiv n) mod 4)",
            "(x mod (n * 4)) * 3",
        );
    }

    #[test]
    fn indices_within_sizes_are_found_again() {
        let inside = "domain: i in [0, 3], j in [0, 4], k in [0, 3], n in [1, 5], m in [1, 4], n - j in [1, 5], m - k in [1, 4]";
        let linear =
            "linear_index [i, j, k] by (4, n, m)".replace("linear_index", "linearize_index");
        for (basis, expected) in [
            ("(4, n, m)", ["i", "j", "k"].as_slice()),
            ("(4, n * m)", &["i", "k + j * m"]),
            ("(20, m)", &["j + i * n", "k"]),
        ] {
            let numbers = 0..expected.len();
            let indices = numbers.map(|it| format!("delinearize_index {linear} into {basis}#{it}"));
            let indices: Vec<_> = indices.collect();
            let head = "(i, j, k, n, m) ->";
            let written = map(&format!("{head} ({}), {inside}", indices.join(", ")));
            let simplified = written.simplified();
            let found: Vec<_> =
                simplified
                    .results()
                    .len()
                    .checked_sub(1)
                    .map_or(Vec::new(), |_| {
                        let text = simplified.to_string();
                        let results = text.split_once(" -> (").map(|it| it.1);
                        let results = results
                            .and_then(|it| it.split_once("), domain"))
                            .map(|it| it.0);
                        results
                            .unwrap_or("")
                            .split(", ")
                            .map(str::to_owned)
                            .collect()
                    });
            assert_eq!(found, expected);
            agree(&written, &simplified);
        }
    }
}
