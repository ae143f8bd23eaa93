//! Constraints on remainders: `x mod m in [r, r]`, and how several of them meet.

use super::constraint::NoPoint;
use super::context::{Congruence, Context, Span};
use super::linear::{Atom, Division, Linear, greatest_common_divisor};
use super::propagate;
use crate::indexing::expression::floor_mod;
use crate::indexing::{Interval, Variable};

/// A residue that is not reached after so many values is not searched any further.
const VALUES_TRIED: i64 = 64;

/// What two congruences come to.
pub(in crate::indexing) enum Merged {
    /// They have nothing to do with each other.
    Apart,
    /// No value has both.
    Contradiction,
    /// The first implies the second.
    Left,
    /// The second implies the first.
    Right,
    /// One that says what both say.
    Both(Congruence),
}

/// The remainder of `value` by a positive number.
pub(super) fn wide_mod(value: i128, modulus: i64) -> i64 {
    let remainder = floor_mod(value, modulus.into());
    i64::try_from(remainder).unwrap_or(0)
}

impl Congruence {
    /// What `linear in bounds` says, when it is a remainder that has one value.
    pub(in crate::indexing) fn of(linear: &Linear, bounds: Interval) -> Option<Self> {
        let Some(Atom::Mod(division)) = linear.as_atom() else {
            return None;
        };
        let (modulus, value) = (division.divisor.as_constant()?, bounds.as_point()?);
        let numerator = &division.numerator;
        let residue = i128::from(value) - i128::from(numerator.constant);
        let terms = numerator.without_constant();
        let first = terms.terms.first()?;
        if first.coefficient > 0 {
            return Some(Self {
                linear: terms,
                modulus,
                residue: wide_mod(residue, modulus),
            });
        }
        Some(Self {
            linear: terms.negated().ok()?,
            modulus,
            residue: wide_mod(-residue, modulus),
        })
    }

    /// From the first to the last of these values that leave the residue; empty if none does.
    pub(in crate::indexing) fn within(&self, bounds: Interval) -> Interval {
        let residue = i128::from(self.residue);
        let up = wide_mod(residue - i128::from(bounds.low), self.modulus);
        let down = wide_mod(i128::from(bounds.high) - residue, self.modulus);
        match (bounds.low.checked_add(up), bounds.high.checked_sub(down)) {
            (Some(low), Some(high)) => Interval::new(low, high),
            // The next one is beyond 64 bits.
            _ => Interval::new(1, 0),
        }
    }

    /// The congruence as a constraint.
    pub(in crate::indexing) fn constraint(&self) -> (Linear, Interval) {
        let remainder = Atom::modulo(self.linear.clone(), self.modulus.into());
        (remainder.into(), Interval::point(self.residue))
    }

    /// By the Chinese remainder theorem: two residues of one value go together when they agree up
    /// to the common divisor of their moduli, and are then one residue by the least common
    /// multiple.
    pub(in crate::indexing) fn merged(&self, other: &Self) -> Merged {
        if self.linear != other.linear {
            return Merged::Apart;
        }
        let common =
            greatest_common_divisor(self.modulus.unsigned_abs(), other.modulus.unsigned_abs());
        let Ok(common) = i64::try_from(common) else {
            return Merged::Apart;
        };
        let difference = i128::from(other.residue) - i128::from(self.residue);
        if difference % i128::from(common) != 0 {
            return Merged::Contradiction;
        }
        if self.modulus % other.modulus == 0 {
            return Merged::Left;
        }
        if other.modulus % self.modulus == 0 {
            return Merged::Right;
        }
        let Some(modulus) = (self.modulus / common).checked_mul(other.modulus) else {
            return Merged::Apart;
        };
        // `self.residue + self.modulus * k` has the other residue for one `k` modulo
        // `other.modulus / common`.
        let period = other.modulus / common;
        let steps = wide_mod(difference / i128::from(common), period);
        let inverse = inverse(self.modulus / common, period);
        let steps = wide_mod(i128::from(steps) * i128::from(inverse), period);
        let residue = i128::from(self.residue) + i128::from(self.modulus) * i128::from(steps);
        Merged::Both(Self {
            linear: self.linear.clone(),
            modulus,
            residue: wide_mod(residue, modulus),
        })
    }
}

/// What `value` has to be multiplied with to be one modulo `modulus`, when they have no common
/// divisor.
pub(in crate::indexing) fn inverse(value: i64, modulus: i64) -> i64 {
    let (mut old, mut new) = (i128::from(value), i128::from(modulus));
    let (mut old_factor, mut factor) = (1_i128, 0_i128);
    while new != 0 {
        let quotient = old / new;
        (old, new) = (new, old - quotient * new);
        (old_factor, factor) = (factor, old_factor - quotient * factor);
    }
    wide_mod(old_factor, modulus)
}

/// The variable of a numerator with only one: `coefficient * variable + constant`.
fn only_variable(numerator: &Linear) -> Option<(Variable, i64)> {
    match numerator.terms.as_slice() {
        [term] => match term.atom {
            Atom::Variable(variable) => Some((variable, term.coefficient)),
            _ => None,
        },
        _ => None,
    }
}

/// The constraint in normal form; `None` when the bounds imply it.
pub(in crate::indexing) fn normal(
    linear: &Linear,
    bounds: Interval,
    context: &Context,
) -> Result<Option<(Linear, Interval)>, NoPoint> {
    let Some(mut congruence) = Congruence::of(linear, bounds) else {
        return Ok(Some(
            window(linear, bounds).unwrap_or_else(|| (linear.clone(), bounds)),
        ));
    };
    let unchanged = Ok(Some((linear.clone(), bounds)));
    if let [term] = congruence.linear.terms.as_mut_slice() {
        // `a * x = r` modulo `m` has a solution when the common divisor of `a` and `m` divides `r`.
        let common = greatest_common_divisor(
            term.coefficient.unsigned_abs(),
            congruence.modulus.unsigned_abs(),
        );
        let Ok(common) = i64::try_from(common) else {
            return unchanged;
        };
        if congruence.residue % common != 0 {
            return Err(NoPoint);
        }
        if term.coefficient != 1 {
            congruence.modulus /= common;
            let inverse = inverse(term.coefficient / common, congruence.modulus);
            let residue = i128::from(congruence.residue / common) * i128::from(inverse);
            congruence.residue = wide_mod(residue, congruence.modulus);
            term.coefficient = 1;
        }
        if congruence.modulus == 1 {
            return Ok(None);
        }
        if let Atom::Variable(variable) = term.atom {
            let first = first_with_residue(&congruence, context.bounds(variable).low);
            let next = first + i128::from(congruence.modulus);
            let high = i128::from(context.bounds(variable).high);
            if first > high {
                return Err(NoPoint);
            }
            // The bounds of the variable are tightened to the one value that is left.
            if next > high && context.bounds(variable).as_point().is_some() {
                return Ok(None);
            }
        }
    }
    Ok(Some(congruence.constraint()))
}

/// A remainder with several values that follow each other, its numerator led by a plus and without
/// a constant; where the values go beyond the modulus and begin again at zero they are counted from
/// the first of them.
fn window(linear: &Linear, bounds: Interval) -> Option<(Linear, Interval)> {
    let Some(Atom::Mod(division)) = linear.as_atom() else {
        return None;
    };
    let modulus = division.divisor.as_constant()?;
    let (constant, terms) = (
        division.numerator.constant,
        division.numerator.without_constant(),
    );
    if bounds.low < 0 || bounds.high >= modulus || bounds.is_empty() {
        return None;
    }
    let (terms, first) = if terms.terms.first()?.coefficient > 0 {
        (terms, i128::from(bounds.low) - i128::from(constant))
    } else {
        // `x mod m` is `m - 1 - (-x - 1) mod m`.
        let first = i128::from(constant) - i128::from(bounds.high);
        (terms.negated().ok()?, first)
    };
    let first = wide_mod(first, modulus);
    let beyond = bounds.high - bounds.low;
    let (numerator, bounds) = match first.checked_add(beyond) {
        Some(last) if last < modulus => (terms, Interval::new(first, last)),
        _ => (
            terms.offset(modulus - first).ok()?,
            Interval::new(0, beyond),
        ),
    };
    Some((Atom::modulo(numerator, modulus.into()).into(), bounds))
}

/// `x mod m in [r, r]` as `(x - r) mod m in [0, 0]`.
pub(in crate::indexing) fn as_multiple(
    linear: &Linear,
    bounds: Interval,
) -> Option<(Linear, Interval)> {
    let (Some(Atom::Mod(division)), Some(residue)) = (linear.as_atom(), bounds.as_point()) else {
        return None;
    };
    let modulus = division.divisor.as_constant()?;
    if residue == 0 || division.numerator.constant != 0 {
        return None;
    }
    let numerator = division.numerator.offset(modulus - residue).ok()?;
    let remainder = Atom::modulo(numerator, modulus.into());
    Some((remainder.into(), Interval::point(0)))
}

/// The least value from `low` with the residue.
fn first_with_residue(congruence: &Congruence, low: i64) -> i128 {
    let short = i128::from(congruence.residue) - i128::from(low);
    i128::from(low) + i128::from(wide_mod(short, congruence.modulus))
}

/// Moves the bounds of a variable inwards to values at which `division` leaves a remainder in
/// `bounds`.
pub(in crate::indexing) fn tighten(
    division: &Division,
    within: Span,
    context: &mut Context,
) -> Result<(), NoPoint> {
    let Some(modulus) = division.divisor.as_constant() else {
        return Ok(());
    };
    let clamp = |end: i128| i64::try_from(end.clamp(-1, modulus.into())).unwrap_or(0);
    let bounds = Interval::new(
        clamp(within.low).max(0),
        clamp(within.high).min(modulus - 1),
    );
    if bounds.is_empty() {
        return Err(NoPoint);
    }
    let Some((variable, coefficient)) = only_variable(&division.numerator) else {
        return tighten_numerator(&division.numerator, modulus, bounds, context);
    };
    let remainder = |value: i64| {
        let value = i128::from(value) * i128::from(coefficient);
        wide_mod(value + i128::from(division.numerator.constant), modulus)
    };
    // How far a value has to move for its remainder to come into the bounds; the remainder grows by
    // one a step, or shrinks.
    let distance = |value: i64, grows: bool| {
        let found = remainder(value);
        let (to, from) = if grows {
            (bounds.low, found)
        } else {
            (found, bounds.high)
        };
        i128::from(wide_mod(i128::from(to) - i128::from(from), modulus))
    };
    let mut range = context.bounds(variable);
    let steps = |value: i64, direction: i64| match coefficient * direction {
        _ if bounds.contains(remainder(value)) => Some(0),
        1 => Some(distance(value, true)),
        -1 => Some(distance(value, false)),
        _ => {
            let tried = 1..VALUES_TRIED.min(modulus);
            let mut moved = tried.filter_map(|it| Some((it, value.checked_add(it * direction)?)));
            let found = moved.find(|(_, value)| bounds.contains(remainder(*value)));
            found.map(|(steps, _)| steps.into())
        }
    };
    if let Some(up) = steps(range.low, 1) {
        let low = i128::from(range.low) + up;
        range.low = i64::try_from(low).map_err(|_| NoPoint)?;
    }
    if let Some(down) = steps(range.high, -1) {
        let high = i128::from(range.high) - down;
        range.high = i64::try_from(high).map_err(|_| NoPoint)?;
    }
    if range.is_empty() {
        return Err(NoPoint);
    }
    context.set_bounds(variable, range);
    Ok(())
}

/// Moves the ends of what a numerator can be to where it leaves a remainder in `bounds`.
fn tighten_numerator(
    numerator: &Linear,
    modulus: i64,
    bounds: Interval,
    context: &mut Context,
) -> Result<(), NoPoint> {
    let range = context.range(numerator);
    let (Ok(low), Ok(high)) = (i64::try_from(range.low), i64::try_from(range.high)) else {
        return Ok(());
    };
    let from = |end: i64| i128::from(wide_mod(end.into(), modulus));
    let step = |by: i128| i128::from(wide_mod(by, modulus));
    let up = match from(low) {
        remainder if bounds.contains_wide(remainder) => 0,
        remainder => step(i128::from(bounds.low) - remainder),
    };
    let down = match from(high) {
        remainder if bounds.contains_wide(remainder) => 0,
        remainder => step(remainder - i128::from(bounds.high)),
    };
    let within = Span {
        low: i128::from(low) + up,
        high: i128::from(high) - down,
    };
    if within.low > within.high {
        return Err(NoPoint);
    }
    let constant = i128::from(numerator.constant);
    propagate::narrow(
        &numerator.without_constant(),
        within.offset(-constant),
        context,
    )
}

#[cfg(test)]
mod tests {
    use crate::indexing::test_maps::map;

    #[track_caller]
    fn simplifies(constraint: &str, bounds: &str, expected: &str) {
        let text = format!("(d0) -> (d0), domain: d0 in [0, 100], {constraint}");
        let before = map(&text);
        let simplified = before.simplified();
        let expected = format!("(d0) -> (d0), domain: d0 in {bounds}, {expected}");
        assert_eq!(simplified.to_string(), expected, "{text}");
        for value in 0..=100 {
            assert_eq!(simplified.evaluate(&[value]), before.evaluate(&[value]));
        }
    }

    #[test]
    fn bounds_of_sums_are_moved_to_residues() {
        for (constraints, expected) in [
            (
                "(d0 - d1) mod 6 in [5, 5], d0 - d1 in [-7, -2]",
                Some("d0 in [0, 13], d1 in [7, 20], d0 - d1 in [-7, -7]"),
            ),
            (
                "(d0 - d1) mod 6 in [1, 1], d1 - d0 in [0, 12]",
                Some(
                    "d0 in [0, 15], d1 in [5, 20], (d0 - d1) mod 6 in [1, 1], d0 - d1 in [-11, -5]",
                ),
            ),
            ("(d0 + d1) mod 9 in [3, 3], d0 + d1 in [13, 20]", None),
        ] {
            let bounds = "d0 in [0, 20], d1 in [0, 20]";
            let text = format!("(d0, d1) -> (d0), domain: {bounds}, {constraints}");
            let (before, simplified) = (map(&text), map(&text).simplified());
            match expected {
                Some(expected) => assert_eq!(
                    simplified.to_string(),
                    format!("(d0, d1) -> (d0), domain: {expected}")
                ),
                None => assert!(simplified.is_known_empty()),
            }
            for point in map(&format!("(d0, d1) -> (), domain: {bounds}"))
                .points(500)
                .expect("few")
            {
                assert_eq!(simplified.evaluate(&point), before.evaluate(&point));
            }
        }
    }

    #[test]
    fn remainders_with_several_values_are_one_form() {
        for constraint in [
            "d0 mod 7 in [3, 4]",
            "(d0 - 3) mod 7 in [0, 1]",
            "(d0 - 1) mod 7 in [2, 3]",
            "(-d0 - 1) mod 7 in [2, 3]",
        ] {
            simplifies(constraint, "[3, 95]", "d0 mod 7 in [3, 4]");
        }
        for constraint in [
            "(d0 + 2) mod 7 in [0, 3]",
            "(1 - d0) mod 7 in [0, 3]",
            "(4 - d0) mod 7 in [3, 6]",
            "(d0 + 3) mod 7 in [1, 4]",
        ] {
            simplifies(constraint, "[0, 99]", "(d0 + 2) mod 7 in [0, 3]");
        }
    }
}
