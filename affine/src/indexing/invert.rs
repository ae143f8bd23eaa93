//! Inverse maps.
//!
//! A result is a sum of *digits*: variables, quotients and remainders. Digits whose coefficients are far enough apart, as in a
//! number with mixed radices, are read off the result by division and remainder. Results whose terms are not apart are solved as a
//! system of linear equations. From the digits follow the variables; a variable of which residues are known is found by the
//! Chinese remainder theorem.

use super::expression::floor_mod;
use super::simplify::congruence::inverse;
use super::simplify::context::Context;
use super::simplify::linear::{Atom, Division, Linear, Term, greatest_common_divisor};
use super::simplify::normalize::{Normalizer, Style};
use super::{Declaration, IndexExpr, IndexingError, IndexingMap, Variable, VariableKind};
use std::collections::HashMap;

mod system;

type Checked<T> = Result<T, IndexingError>;

const STEPS: usize = 1_000_000;

/// A variable is put together from at most so many levels of digits.
const DIGITS: usize = 32;

impl IndexingMap {
    /// The map that takes the results back to the dimension variables, defined exactly where there is something to take back. Its
    /// dimension variables are the results of this map; runtime variables stay what they are. Range variables have no part in its
    /// results, but must be determined too.
    ///
    /// # Errors
    /// [`IndexingError::NotInvertible`] if two points have the same results, or none was found that tells points apart by
    /// division and remainder; overflow.
    pub fn inverse(&self) -> Checked<Self> {
        let map = self.simplified();
        let ranges = if map.known_empty {
            None
        } else {
            map.result_ranges()?
        };
        let Some(ranges) = ranges else {
            return Ok(Self::known_empty());
        };
        let context = map.context();
        let mut solver = Solver {
            normalizer: Normalizer::new(&context, Style::Careful, STEPS),
            context: &context,
            digits: HashMap::new(),
        };
        solver.read_results(&map)?;
        let mut values = HashMap::new();
        for variable in map
            .variables()
            .filter(|it| it.kind != VariableKind::Runtime)
        {
            let is_needed = variable.kind == VariableKind::Dimension || map.mentions(variable);
            let atom = Linear::from(Atom::Variable(variable));
            match solver.value(&atom, DIGITS)? {
                Some(value) => {
                    values.insert(variable, value);
                }
                None if is_needed => return Err(IndexingError::NotInvertible),
                None => {}
            }
        }
        let dimensions = (0..map.dimensions.len()).map(IndexExpr::dimension);
        let back = |variable: Variable| values.get(&variable).cloned().unwrap_or(variable.into());
        let inverse = Self::new(
            ranges.into_iter().map(Declaration::new).collect(),
            Vec::new(),
            map.runtimes.clone(),
            dimensions
                .map(|it| it.substitute(&back))
                .collect::<Checked<_>>()?,
            Vec::new(),
        )?;
        map.constrain_image(inverse, &values, back)
    }

    fn mentions(&self, variable: Variable) -> bool {
        self.expressions().any(|it| it.mentions(variable))
    }

    /// Cuts the domain of `inverse` down to the results of this map: its values are in the domain, and lead back.
    fn constrain_image(
        &self,
        mut inverse: Self,
        values: &HashMap<Variable, IndexExpr>,
        back: impl Fn(Variable) -> IndexExpr,
    ) -> Checked<Self> {
        for (variable, value) in values {
            if let Some(declaration) = self.declaration(*variable) {
                inverse = inverse.constrained(value.clone(), declaration.bounds)?;
            }
        }
        for constraint in &self.constraints {
            inverse = inverse.constrained(constraint.expr.substitute(&back)?, constraint.bounds)?;
        }
        for (position, result) in self.results.iter().enumerate() {
            let there = result.substitute(&back)?;
            let difference = there.minus(&IndexExpr::dimension(position))?;
            inverse = inverse.constrained(difference, super::Interval::point(0))?;
        }
        Ok(inverse.simplified())
    }
}

struct Solver<'c> {
    normalizer: Normalizer<'c>,
    context: &'c Context,
    /// What is known of the atoms of the map, in terms of its results.
    digits: HashMap<Atom, IndexExpr>,
}

impl Solver<'_> {
    /// Reads digits off the results until there is nothing more to be learnt.
    fn read_results(&mut self, map: &IndexingMap) -> Checked<()> {
        let mut open = Vec::new();
        for (position, result) in map.results.iter().enumerate() {
            match self.normalizer.linear(result) {
                Ok(linear) => open.push((linear, IndexExpr::dimension(position))),
                Err(_) => return Err(IndexingError::NotInvertible),
            }
        }
        loop {
            let before = self.digits.len();
            for (linear, value) in &open {
                let (linear, value) = self.without_known(linear, value)?;
                self.read_digits(linear, value)?;
            }
            if self.digits.len() > before {
                continue;
            }
            let equations = open.iter();
            let equations = equations.map(|(linear, value)| self.without_known(linear, value));
            let solved = system::solved(&equations.collect::<Checked<Vec<_>>>()?)?;
            if solved.is_empty() {
                return Ok(());
            }
            self.digits.extend(solved);
        }
    }

    /// The same equation with what is known on the right.
    fn without_known(&self, linear: &Linear, value: &IndexExpr) -> Checked<(Linear, IndexExpr)> {
        let mut unknown = Linear::default();
        let mut value = value.offset(
            linear
                .constant
                .checked_neg()
                .ok_or(IndexingError::Overflow)?,
        )?;
        for term in &linear.terms {
            match self.digit(&term.atom) {
                Some(digit) => value = value.minus(&digit.scaled(term.coefficient)?)?,
                None => unknown.terms.push(term.clone()),
            }
        }
        Ok((unknown, value))
    }

    /// The value of an atom that is known: a digit that was read, a runtime variable, or an atom with one value.
    fn digit(&self, atom: &Atom) -> Option<IndexExpr> {
        if let Some(digit) = self.digits.get(atom) {
            return Some(digit.clone());
        }
        if let Some(point) = self.context.atom_range(atom).as_point() {
            return i64::try_from(point).ok().map(IndexExpr::from);
        }
        match atom {
            Atom::Variable(variable) if variable.kind == VariableKind::Runtime => {
                Some((*variable).into())
            }
            _ => None,
        }
    }

    /// Reads the digits of `linear = value`, smallest coefficient first, as long as the ones above do not reach into it.
    fn read_digits(&mut self, mut linear: Linear, mut value: IndexExpr) -> Checked<()> {
        loop {
            let smallest = linear.terms.iter().enumerate();
            let smallest = smallest.min_by_key(|(_, it)| it.coefficient.unsigned_abs());
            let Some((position, term)) = smallest.map(|(position, it)| (position, it.clone()))
            else {
                return Ok(());
            };
            if term.coefficient == i64::MIN {
                return Ok(());
            }
            let above = linear.without(position);
            if above.terms.is_empty() {
                let digit = value.scaled(term.coefficient.signum())?;
                let digit = digit.floordiv(&term.coefficient.abs().into())?;
                self.digits.insert(term.atom, digit);
                return Ok(());
            }
            let radix = above.content();
            let range = self.context.range(&Linear::from(term.clone()));
            if radix < 2 || range.high - range.low >= i128::from(radix) {
                return Ok(());
            }
            let lowest = super::expression::narrow(range.low)?;
            let shifted = value.offset(lowest.checked_neg().ok_or(IndexingError::Overflow)?)?;
            self.insert_scaled(&term, &shifted.modulo(&radix.into())?.offset(lowest)?)?;
            value = shifted.floordiv(&radix.into())?;
            linear = above.divided(radix);
        }
    }

    fn insert_scaled(&mut self, term: &Term, value: &IndexExpr) -> Checked<()> {
        let digit = value.scaled(term.coefficient.signum())?;
        let digit = digit.floordiv(&term.coefficient.abs().into())?;
        self.digits.insert(term.atom.clone(), digit);
        Ok(())
    }

    /// The value of a sum whose atoms are digits, or are put together from their quotients and remainders.
    fn value(&self, linear: &Linear, levels: usize) -> Checked<Option<IndexExpr>> {
        let mut value = IndexExpr::from(linear.constant);
        for term in &linear.terms {
            let atom = match self.digit(&term.atom) {
                Some(digit) => Some(digit),
                None if levels == 0 => None,
                None => self.put_together(&term.atom, levels - 1)?,
            };
            match atom {
                Some(atom) => value = value.plus(&atom.scaled(term.coefficient)?)?,
                None => return Ok(None),
            }
        }
        Ok(Some(value))
    }

    /// An atom as `c * (x floordiv c) + x mod c`, for an `x` that is the atom, or its opposite, but for a constant.
    fn put_together(&self, atom: &Atom, levels: usize) -> Checked<Option<IndexExpr>> {
        let mut known: Vec<_> = self.digits.keys().collect();
        known.sort_unstable();
        for digit in known {
            let (Atom::Mod(division) | Atom::FloorDiv(division)) = digit else {
                continue;
            };
            let Some(value) = self.by_division(atom, division, levels)? else {
                continue;
            };
            return Ok(Some(value));
        }
        self.by_residues(atom)
    }

    /// An atom whose residues by several moduli are known, as the only one of its values that has all of them.
    fn by_residues(&self, atom: &Atom) -> Checked<Option<IndexExpr>> {
        let range = self.context.atom_range(atom);
        let mut digits: Vec<_> = self.digits.iter().collect();
        digits.sort_unstable_by_key(|(digit, _)| *digit);
        let mut found: Option<Residue> = None;
        for (digit, value) in digits {
            let Atom::Mod(division) = digit else { continue };
            let Some(modulus) = division.divisor.as_constant() else {
                continue;
            };
            let Some(residue) = Residue::of(atom, &division.numerator, modulus, value)? else {
                continue;
            };
            found = match found {
                Some(before) => Some(before.and(&residue)?),
                None => Some(residue),
            };
        }
        let Some(Residue { modulus, value }) = found else {
            return Ok(None);
        };
        let low = if range.high.saturating_sub(range.low) < modulus.into() {
            Some(super::expression::narrow(range.low)?.into())
        } else {
            self.least_by_quotient(atom, modulus)?
        };
        let Some(low) = low else {
            return Ok(None);
        };
        let above = value.minus(&low)?.modulo(&modulus.into())?;
        above.plus(&low).map(Some)
    }

    /// A value that an atom does not fall below and that it exceeds by less than `modulus`, where a quotient of it says that.
    fn least_by_quotient(&self, atom: &Atom, modulus: i64) -> Checked<Option<IndexExpr>> {
        let mut digits: Vec<_> = self.digits.iter().collect();
        digits.sort_unstable_by_key(|(digit, _)| *digit);
        for (digit, value) in digits {
            let Atom::FloorDiv(division) = digit else {
                continue;
            };
            let is_atom = division.numerator.without_constant().as_atom() == Some(atom);
            let divisor = division.divisor.as_constant();
            if let Some(divisor) = divisor.filter(|it| is_atom && *it <= modulus) {
                let shift = division.numerator.constant.checked_neg();
                let shift = shift.ok_or(IndexingError::Overflow)?;
                return value.scaled(divisor)?.offset(shift).map(Some);
            }
        }
        Ok(None)
    }

    fn by_division(
        &self,
        atom: &Atom,
        division: &Division,
        levels: usize,
    ) -> Checked<Option<IndexExpr>> {
        let Some(divisor) = division.divisor.as_constant() else {
            return Ok(None);
        };
        let Some((sign, shift)) = offset_from(&division.numerator, atom, divisor) else {
            return Ok(None);
        };
        let shifted = Linear::from(atom.clone()).scaled(sign);
        let Ok(numerator) = shifted.and_then(|it| it.offset(shift)) else {
            return Ok(None);
        };
        let parts = (
            self.normalizer.floor_div(numerator.clone(), divisor.into()),
            self.normalizer.modulo(numerator, divisor.into()),
        );
        let (Ok(quotient), Ok(remainder)) = parts else {
            return Ok(None);
        };
        // What is not divided at all leads back to the atom itself.
        if [&quotient, &remainder]
            .iter()
            .any(|it| it.terms.iter().any(|it| it.atom == *atom))
        {
            return Ok(None);
        }
        let (Some(quotient), Some(remainder)) = (
            self.value(&quotient, levels)?,
            self.value(&remainder, levels)?,
        ) else {
            return Ok(None);
        };
        let value = quotient.scaled(divisor)?.plus(&remainder)?;
        let value = value.offset(shift.checked_neg().ok_or(IndexingError::Overflow)?)?;
        value.scaled(sign).map(Some)
    }
}

/// Something leaves the same remainder by `modulus` as `value`.
struct Residue {
    modulus: i64,
    value: IndexExpr,
}

impl Residue {
    /// What `numerator mod modulus = value` says of an atom: where `a * x` leaves `v`, and `g` is the greatest common divisor of `a` and
    /// the modulus, `x` leaves `v / g` times the inverse of `a / g` by the modulus over `g`.
    fn of(
        atom: &Atom,
        numerator: &Linear,
        modulus: i64,
        value: &IndexExpr,
    ) -> Checked<Option<Self>> {
        let position = numerator.terms.iter().position(|it| it.atom == *atom);
        let term = position.and_then(|it| Some((it, numerator.terms.get(it)?)));
        let Some((position, term)) = term else {
            return Ok(None);
        };
        let others = numerator.without(position).without_constant();
        if !others.is_multiple_of(modulus) {
            return Ok(None);
        }
        let shift = numerator.constant.checked_neg();
        let value = value.offset(shift.ok_or(IndexingError::Overflow)?)?;
        let common = common_divisor(term.coefficient, modulus);
        let modulus = modulus / common;
        let factor = inverse((term.coefficient / common).rem_euclid(modulus), modulus);
        let factor = match factor {
            it if it == modulus - 1 => -1,
            it => it,
        };
        let value = value.floordiv(&common.into())?.scaled(factor)?;
        Ok(Some(Self { modulus, value }))
    }

    /// Both residues as one, by the Chinese remainder theorem; `self` alone where that takes numbers beyond 64 bits.
    fn and(self, other: &Self) -> Checked<Self> {
        let common = common_divisor(self.modulus, other.modulus);
        let (ours, theirs) = (self.modulus / common, other.modulus / common);
        // With `a * ours + b * theirs = 1`, what leaves `u` and `v` is `b * theirs * u + a * ours * v`: they differ by a multiple
        // of the common divisor where anything leaves both.
        let of_self = inverse(theirs, ours).checked_mul(theirs);
        let weights = of_self.and_then(|it| Some((it, 1_i64.checked_sub(it)?)));
        let modulus = ours.checked_mul(other.modulus);
        let (Some(modulus), Some((of_self, of_other))) = (modulus, weights) else {
            return Ok(self);
        };
        let value = self.value.scaled(of_self)?;
        let value = value.plus(&other.value.scaled(of_other)?)?;
        Ok(Self { modulus, value })
    }
}

/// Of a number and a positive one, which it therefore does not exceed.
fn common_divisor(left: i64, right: i64) -> i64 {
    let common = greatest_common_divisor(left.unsigned_abs(), right.unsigned_abs());
    i64::try_from(common).unwrap_or(1)
}

/// The sign and the constant with which `numerator` is the atom, up to multiples of `divisor`.
fn offset_from(numerator: &Linear, atom: &Atom, divisor: i64) -> Option<(i64, i64)> {
    let position = numerator.terms.iter().position(|it| it.atom == *atom)?;
    let others = numerator.without(position).without_constant();
    if !others.is_multiple_of(divisor) {
        return None;
    }
    let coefficient = i128::from(numerator.terms.get(position)?.coefficient);
    let sign = [1, -1].into_iter().find(|sign| {
        let difference = coefficient - i128::from(*sign);
        floor_mod(difference, divisor.into()) == 0
    })?;
    Some((sign, numerator.constant))
}

#[cfg(test)]
mod tests {
    use crate::indexing::test_maps::map;
    use crate::indexing::{IndexingError, IndexingMap};

    /// The inverse takes every result back to the dimensions, and nothing else.
    #[track_caller]
    fn is_inverse(map: &IndexingMap, inverse: &IndexingMap) {
        let mut taken = std::collections::BTreeMap::new();
        for point in map.points(100_000).expect("few points") {
            let (variables, runtimes) = point.split_at(map.dimensions().len() + map.ranges().len());
            let results = map
                .evaluate(&point)
                .expect("a value")
                .expect("in the domain");
            let there = [results.as_slice(), runtimes].concat();
            taken.insert(there, variables[..map.dimensions().len()].to_vec());
        }
        for (there, back) in &taken {
            assert_eq!(
                inverse.evaluate(there),
                Ok(Some(back.clone())),
                "{inverse} at {there:?}"
            );
        }
        let count = inverse.points(1_000_000).expect("few points").count();
        assert_eq!(count, taken.len(), "{inverse}");
    }

    #[track_caller]
    fn inverts_to(text: &str, expected: &str) {
        let map = map(text);
        let inverse = map.inverse().expect("an inverse");
        assert_eq!(inverse.to_string(), expected);
        is_inverse(&map, &inverse);
    }

    #[test]
    fn digits_are_read_off_and_put_together() {
        inverts_to(
            "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]",
            "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]",
        );
        inverts_to(
            "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]",
            "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]",
        );
        inverts_to(
            "(d0, d1, d2) -> (d0 * 2 + d1 floordiv 2, d2 + (d1 mod 2) * 4), domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 3]",
            "(d0, d1) -> (d0 floordiv 2, d1 floordiv 4 + (d0 mod 2) * 2, d1 mod 4), domain: d0 in [0, 3], d1 in [0, 7]",
        );
        inverts_to(
            "(d0) -> (d0 floordiv 12, (d0 floordiv 4) mod 3, d0 mod 4), domain: d0 in [0, 59]",
            "(d0, d1, d2) -> (d0 * 12 + d1 * 4 + d2), domain: d0 in [0, 4], d1 in [0, 2], d2 in [0, 3]",
        );
    }

    #[test]
    fn offsets_strides_and_orders() {
        inverts_to(
            "(d0, d1, d2) -> (d0 + 5, d1 * 7 + 3, d2 * 2), domain: d0 in [0, 4], d1 in [0, 2], d2 in [0, 24]",
            "(d0, d1, d2) -> (d0 - 5, (d1 - 3) floordiv 7, d2 floordiv 2), domain: d0 in [5, 9], d1 in [3, 17], d2 in [0, 48], (d1 - 3) mod 7 in [0, 0], d2 mod 2 in [0, 0]",
        );
        inverts_to(
            "(d0, d1) -> (-d1 + 16, d0), domain: d0 in [0, 2], d1 in [0, 16]",
            "(d0, d1) -> (d1, -d0 + 16), domain: d0 in [0, 16], d1 in [0, 2]",
        );
        inverts_to(
            "(d0, d1){rt0} -> (d0 + rt0, d1 + d0 * 3), domain: d0 in [0, 2], d1 in [0, 16], rt0 in [0, 5]",
            "(d0, d1){rt0} -> (d0 - rt0, d1 - (d0 - rt0) * 3), domain: d0 in [0, 7], d1 in [0, 22], rt0 in [0, 5], d0 - rt0 in [0, 2], (d0 - rt0) * 3 - d1 in [-16, 0]",
        );
        inverts_to(
            "(d0)[s0] -> (s0, d0), domain: d0 in [0, 9], s0 in [0, 255]",
            "(d0, d1) -> (d1), domain: d0 in [0, 255], d1 in [0, 9]",
        );
    }

    #[test]
    fn skewed_maps_are_solved_as_linear_equations() {
        inverts_to(
            "(d0, d1) -> (d0 + d1, d0 + d1 * 2), domain: d0 in [0, 9], d1 in [0, 9]",
            "(d0, d1) -> (d0 * 2 - d1, d1 - d0), domain: d0 in [0, 18], d1 in [0, 27], d0 - d1 in [-9, 0], d0 * 2 - d1 in [0, 9]",
        );
        inverts_to(
            "(d0, d1) -> (d0 + d1, d0 - d1), domain: d0 in [0, 9], d1 in [0, 9]",
            "(d0, d1) -> ((d0 + d1) floordiv 2, (d0 - d1) floordiv 2), domain: d0 in [0, 18], d1 in [-9, 9], (d0 + d1) mod 2 in [0, 0], d0 - d1 in [0, 19], d0 + d1 in [0, 18]",
        );
        for text in [
            "(d0, d1, d2) -> (d0 + d1 + d2, d1 - d2 * 3, d0 * 2 - d2 + 1), domain: d0 in [0, 4], d1 in [-2, 3], d2 in [0, 5]",
            "(d0, d1) -> (d1 - d0, d0 * 3 + d1, d0 floordiv 2), domain: d0 in [0, 9], d1 in [0, 9]",
            "(d0, d1){rt0} -> (d0 * 2 + d1 + rt0, d0 + d1 * 3 - rt0), domain: d0 in [0, 5], d1 in [0, 5], rt0 in [0, 3]",
        ] {
            let map = map(text);
            is_inverse(&map, &map.inverse().expect("an inverse"));
        }
    }

    #[test]
    fn residues_determine_an_index() {
        inverts_to(
            "(d0) -> (d0 mod 3, d0 mod 5), domain: d0 in [0, 14]",
            "(d0, d1) -> ((d0 * -5 + d1 * 6) mod 15), domain: d0 in [0, 2], d1 in [0, 4]",
        );
        for text in [
            "(d0) -> (d0 mod 3, (1 - d0) mod 5), domain: d0 in [-7, 7]",
            "(d0, d1) -> (d0 mod 4, d1 + 2, (d0 + 1) mod 9), domain: d0 in [5, 40], d1 in [0, 2]",
            "(d0) -> (d0 mod 2, d0 mod 3, d0 mod 7), domain: d0 in [100, 141]",
            // Moduli with common divisors, all of the modulus among them.
            "(d0) -> (d0 mod 4, d0 mod 6), domain: d0 in [0, 11]",
            "(d0) -> ((3 - d0) mod 12, d0 mod 18, d0 mod 6), domain: d0 in [-20, 15]",
            "(d0, d1) -> (d0 mod 10, d1, (d0 + 7) mod 15, d0 mod 4), domain: d0 in [3, 62], d1 in [0, 1]",
            // Multiples.
            "(d0) -> ((d0 * 3) mod 7), domain: d0 in [2, 8]",
            "(d0) -> ((d0 * 4 + 2) mod 6, (d0 * 3) mod 4), domain: d0 in [0, 11]",
            // A quotient says where to look.
            "(d0) -> (d0 floordiv 4, d0 mod 6), domain: d0 in [-9, 30]",
            "(d0) -> ((d0 + 1) floordiv 10, d0 mod 4, d0 mod 3), domain: d0 in [0, 99]",
        ] {
            let map = map(text);
            is_inverse(&map, &map.inverse().expect("an inverse"));
        }
    }

    #[test]
    fn what_takes_two_points_to_one_has_no_inverse() {
        for text in [
            "(d0, d1) -> (d0 + d1), domain: d0 in [0, 9], d1 in [0, 9]",
            "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9]",
            "(d0) -> (d0 floordiv 2), domain: d0 in [0, 9]",
            "(d0) -> (d0 mod 4), domain: d0 in [0, 9]",
            "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 8]",
            "(d0, d1) -> (d0 + d1, d0 * 2 + d1 * 2), domain: d0 in [0, 9], d1 in [0, 9]",
            "(d0) -> (d0 mod 3, d0 mod 5), domain: d0 in [0, 15]",
            "(d0) -> (d0 mod 4, d0 mod 6), domain: d0 in [0, 12]",
            "(d0) -> ((d0 * 2) mod 6), domain: d0 in [0, 3]",
            "(d0) -> (d0 floordiv 4, d0 mod 3), domain: d0 in [0, 30]",
        ] {
            assert_eq!(
                map(text).inverse(),
                Err(IndexingError::NotInvertible),
                "{text}"
            );
        }
        let one = map("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [3, 3]");
        is_inverse(&one, &one.inverse().expect("an inverse"));
        let empty = IndexingMap::known_empty();
        assert_eq!(empty.inverse(), Ok(empty));
    }
}
