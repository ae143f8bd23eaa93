//! What a constraint leaves of the bounds of variables.
//!
//! Bounds go from a sum to its terms and on into quotients, remainders and extrema. Where only one
//! variable occurs, its bounds are exact.

use super::congruence;
use super::constraint::{Checked, NoPoint};
use super::context::{Context, Span};
use super::linear::{Atom, Linear, Term};
use crate::indexing::expression::{ceil_div, floor_div};
use crate::indexing::{Interval, Variable};

/// Domains of one variable with up to so many values are looked at value by value.
const VALUES_LISTED: u128 = 64;

/// Cuts the bounds of the variables of `linear` down to where it can be in `within`.
pub(super) fn narrow(linear: &Linear, within: Span, context: &mut Context) -> Checked<()> {
    for (position, term) in linear.terms.iter().enumerate() {
        let rest = context.range(&linear.without(position));
        let (low, high) = (
            within.low.saturating_sub(rest.high),
            within.high.saturating_sub(rest.low),
        );
        let coefficient = i128::from(term.coefficient);
        let (low, high) = if coefficient > 0 {
            (low, high)
        } else {
            (high, low)
        };
        let of_atom = Span {
            low: quotient(low, coefficient, ceil_div),
            high: quotient(high, coefficient, floor_div),
        };
        if of_atom.low > of_atom.high {
            return Err(NoPoint);
        }
        narrow_atom(&term.atom, of_atom, context)?;
    }
    Ok(())
}

/// The same for variables that several terms speak of: together their values may be fewer than
/// apart. What speaks of other variables is taken as its range.
pub(super) fn narrow_repeated(linear: &Linear, within: Span, context: &mut Context) -> Checked<()> {
    let of_one = |term: &Term| {
        let mut occurring = None;
        atom_is_of_one_variable(&term.atom, context, &mut occurring)
            .then_some(occurring)
            .flatten()
    };
    let variables: Vec<_> = linear.terms.iter().map(of_one).collect();
    for (position, variable) in variables.iter().enumerate() {
        let (seen, later) = variables.split_at(position);
        let is_repeated = later.iter().filter(|it| *it == variable).count() > 1;
        if variable.is_none() || seen.contains(variable) || !is_repeated {
            continue;
        }
        let (mut together, mut rest) = (Linear::default(), Linear::default());
        for (term, of) in linear.terms.iter().zip(&variables) {
            let part = if of == variable {
                &mut together
            } else {
                &mut rest
            };
            part.terms.push(term.clone());
        }
        let rest = context.range(&rest);
        let within = Span {
            low: within.low.saturating_sub(rest.high),
            high: within.high.saturating_sub(rest.low),
        };
        if let Some(values) = values(&together, within, context)? {
            let bounds = context.bounds(values.variable).intersect(values.bounds);
            context.set_bounds(values.variable, bounds);
        }
    }
    Ok(())
}

/// The quotient of an end; one that was clamped says nothing and stays so.
fn quotient(end: i128, divisor: i128, divide: fn(i128, i128) -> i128) -> i128 {
    match end {
        i128::MIN | i128::MAX if divisor < 0 => end.saturating_neg().saturating_sub(1),
        i128::MIN | i128::MAX => end,
        _ => divide(end, divisor),
    }
}

fn narrow_atom(atom: &Atom, within: Span, context: &mut Context) -> Checked<()> {
    match atom {
        Atom::Variable(variable) => narrow_variable(*variable, within, context),
        Atom::FloorDiv(division) => match division.divisor.as_constant() {
            Some(divisor) => {
                let of_numerator = dividend(within, divisor.into());
                let numerator = division.numerator.without_constant();
                let constant = i128::from(division.numerator.constant);
                narrow(&numerator, of_numerator.offset(-constant), context)
            }
            None => Ok(()),
        },
        Atom::Mod(division) => congruence::tighten(division, within, context),
        Atom::Min(operands) => narrow_extreme(operands, within, true, context),
        Atom::Max(operands) => narrow_extreme(operands, within, false, context),
        Atom::Sum(sum) => narrow(
            &sum.without_constant(),
            within.offset(-i128::from(sum.constant)),
            context,
        ),
        Atom::Product(_) => Ok(()),
    }
}

/// The dividends whose quotients by a positive divisor are in `within`.
pub(super) fn dividend(within: Span, divisor: i128) -> Span {
    let above = within.high.saturating_mul(divisor);
    Span {
        low: within.low.saturating_mul(divisor),
        high: above.saturating_add(divisor - 1),
    }
}

fn narrow_variable(variable: Variable, within: Span, context: &mut Context) -> Checked<()> {
    let old = context.bounds(variable);
    let new = Interval::new(
        i64::try_from(within.low).map_or(old.low, |it| old.low.max(it)),
        i64::try_from(within.high).map_or(old.high, |it| old.high.min(it)),
    );
    // An end beyond 64 bits is on one side of all values.
    if new.is_empty() || within.low > old.high.into() || within.high < old.low.into() {
        return Err(NoPoint);
    }
    context.set_bounds(variable, new);
    Ok(())
}

/// No operand of a minimum is below it, and the only one that can be as low as it has to be is.
fn narrow_extreme(
    operands: &[Linear],
    within: Span,
    is_least: bool,
    context: &mut Context,
) -> Checked<()> {
    let (of_all, of_one) = if is_least {
        (
            Span {
                low: within.low,
                ..Span::ALL
            },
            Span {
                high: within.high,
                ..Span::ALL
            },
        )
    } else {
        (
            Span {
                high: within.high,
                ..Span::ALL
            },
            Span {
                low: within.low,
                ..Span::ALL
            },
        )
    };
    let can_reach = |operand: &&Linear| !context.range(operand).is_apart(of_one);
    let mut reaching = operands.iter().enumerate().filter(|(_, it)| can_reach(it));
    let only = match (reaching.next(), reaching.next()) {
        (None, _) => return Err(NoPoint),
        (Some((only, _)), None) => Some(only),
        (Some(_), Some(_)) => None,
    };
    // Each operand once: what it is made of can be as deep again.
    for (position, operand) in operands.iter().enumerate() {
        let within = if only == Some(position) {
            of_all.intersect(of_one)
        } else {
            of_all
        };
        narrow_operand(operand, within, context)?;
    }
    Ok(())
}

fn narrow_operand(operand: &Linear, within: Span, context: &mut Context) -> Checked<()> {
    if context.range(operand).is_apart(within) {
        return Err(NoPoint);
    }
    let constant = i128::from(operand.constant);
    narrow(
        &operand.without_constant(),
        within.offset(-constant),
        context,
    )
}

/// What a constraint comes to in which only one variable occurs that has several values.
pub(super) struct Values {
    pub(super) variable: Variable,
    /// From the least to the greatest value at which the constraint holds.
    pub(super) bounds: Interval,
    /// Whether it holds at all values between them.
    pub(super) is_all: bool,
}

/// The values of the only variable of `linear` at which it is in `within`; `None` where there are
/// several variables, or it is neither monotone nor are the values few.
pub(super) fn values(linear: &Linear, within: Span, context: &Context) -> Checked<Option<Values>> {
    let mut occurring = None;
    if !is_of_one_variable(linear, context, &mut occurring) {
        return Ok(None);
    }
    let Some(variable) = occurring else {
        return Ok(None);
    };
    let mut at = context.clone();
    at.facts.clear();
    let bounds = context.bounds(variable);
    let mut value = |it: i64| {
        at.set_bounds(variable, Interval::point(it));
        at.range(linear).as_point()
    };
    let found = match direction(linear) {
        Some(sign) if sign != 0 => monotone(bounds, within, sign, &mut value),
        _ if bounds.count() <= VALUES_LISTED => listed(bounds, within, &mut value),
        _ => return Ok(None),
    };
    match found {
        Some((bounds, _)) if bounds.is_empty() => Err(NoPoint),
        Some((bounds, is_all)) => Ok(Some(Values {
            variable,
            bounds,
            is_all,
        })),
        None => Ok(None),
    }
}

/// The interval in which a function that only rises, or only falls, has its values in `within`.
fn monotone(
    bounds: Interval,
    within: Span,
    sign: i64,
    value: &mut impl FnMut(i64) -> Option<i128>,
) -> Option<(Interval, bool)> {
    let (to_low, to_high) = if sign > 0 {
        (within.low, within.high)
    } else {
        (within.high, within.low)
    };
    // Whether the values from here on have reached that end of the interval.
    let has_entered = |it: i128| if sign > 0 { it >= to_low } else { it <= to_low };
    let has_left = |it: i128| if sign > 0 { it > to_high } else { it < to_high };
    let first = first_where(bounds, |it| value(it).map(has_entered))?;
    let after = first_where(bounds, |it| value(it).map(has_left))?;
    let last = i64::try_from(after - 1).unwrap_or(bounds.low);
    let is_none = first > i128::from(bounds.high) || after <= i128::from(bounds.low);
    let first = i64::try_from(first).unwrap_or(bounds.high);
    let found = if is_none {
        Interval::new(1, 0)
    } else {
        Interval::new(first, last)
    };
    Some((found, true))
}

/// The first value at which a condition holds that holds at all later ones; one past the end where
/// it does nowhere.
fn first_where(bounds: Interval, mut holds: impl FnMut(i64) -> Option<bool>) -> Option<i128> {
    let (mut low, mut high) = (i128::from(bounds.low), i128::from(bounds.high) + 1);
    while low < high {
        let middle = (low + high).div_euclid(2);
        if holds(i64::try_from(middle).ok()?)? {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

fn listed(
    bounds: Interval,
    within: Span,
    value: &mut impl FnMut(i64) -> Option<i128>,
) -> Option<(Interval, bool)> {
    let mut found = Interval::new(1, 0);
    let mut count = 0_u128;
    for it in bounds.low..=bounds.high {
        if within.contains(value(it)?) {
            let first = if count == 0 { it } else { found.low };
            found = Interval::new(first, it);
            count += 1;
        }
    }
    Some((found, count == found.count()))
}

/// Whether at most one variable with several values occurs, which is then `occurring`.
fn is_of_one_variable(
    linear: &Linear,
    context: &Context,
    occurring: &mut Option<Variable>,
) -> bool {
    let mut atoms = linear.terms.iter().map(|it| &it.atom);
    atoms.all(|it| atom_is_of_one_variable(it, context, occurring))
}

fn atom_is_of_one_variable(
    atom: &Atom,
    context: &Context,
    occurring: &mut Option<Variable>,
) -> bool {
    match atom {
        Atom::Variable(variable) if context.bounds(*variable).as_point().is_some() => true,
        Atom::Variable(variable) => *occurring.get_or_insert(*variable) == *variable,
        Atom::Product(factors) => {
            let mut factors = factors.iter();
            factors.all(|it| atom_is_of_one_variable(it, context, occurring))
        }
        Atom::FloorDiv(division) | Atom::Mod(division) => {
            is_of_one_variable(&division.numerator, context, occurring)
                && is_of_one_variable(&division.divisor, context, occurring)
        }
        Atom::Min(operands) | Atom::Max(operands) => {
            let mut operands = operands.iter();
            operands.all(|it| is_of_one_variable(it, context, occurring))
        }
        Atom::Sum(sum) => is_of_one_variable(sum, context, occurring),
    }
}

/// 1 where a sum of one variable never falls with it, -1 where it never rises, 0 where it is
/// constant; `None` where that is not known.
fn direction(linear: &Linear) -> Option<i64> {
    let mut directions = linear.terms.iter().map(|term| {
        let direction = atom_direction(&term.atom)?;
        Some(direction * term.coefficient.signum())
    });
    directions.try_fold(0, |seen, it| together(seen, it?))
}

fn together(left: i64, right: i64) -> Option<i64> {
    (left * right >= 0).then_some((left + right).signum())
}

fn atom_direction(atom: &Atom) -> Option<i64> {
    match atom {
        Atom::Variable(_) => Some(1),
        Atom::FloorDiv(division) => match division.divisor.as_constant() {
            Some(_) => direction(&division.numerator),
            None => None,
        },
        Atom::Min(operands) | Atom::Max(operands) => {
            let mut directions = operands.iter().map(direction);
            directions.try_fold(0, |seen, it| together(seen, it?))
        }
        Atom::Sum(sum) => direction(sum),
        Atom::Product(_) | Atom::Mod(_) => None,
    }
}
