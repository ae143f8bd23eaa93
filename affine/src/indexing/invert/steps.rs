//! Sums in which one variable stands beside its own quotients and remainders: `x + x floordiv 3`.
//!
//! Such a sum grows by the same amount from each *period* of the variable to the next. Inside of a
//! period it is looked at point by point.

use super::{Checked, Solver};
use crate::indexing::simplify::express::expression;
use crate::indexing::simplify::linear::{Atom, Division, Linear, Term, greatest_common_divisor};
use crate::indexing::{IndexExpr, Variable};
use std::collections::BTreeSet;

/// Longer periods are not looked at point by point.
const MAX_PERIOD: i64 = 4096;

/// Sums that bend more often inside of a period are not taken apart.
const MAX_BENDS: usize = 12;

/// A variable as a number in mixed radices: its digits, each with its weight, and an offset.
pub(super) struct Split {
    variable: Variable,
    offset: i64,
    digits: Vec<(Atom, i64)>,
}

/// By how much something grows when a variable grows by a period.
#[derive(Clone, Copy)]
pub(super) struct Growth {
    pub(super) period: i64,
    pub(super) by: i64,
}

/// The terms of an equation that speak of one variable alone.
pub(super) struct Steps {
    variable: Variable,
    sum: Linear,
    expr: IndexExpr,
    others: Linear,
    growth: Growth,
    low: i64,
    high: i64,
}

impl Solver<'_> {
    /// Takes sums of a variable and its own quotients and remainders apart.
    pub(super) fn read_steps(&mut self) -> Checked<()> {
        for (linear, value) in self.equations_and(|it| matches!(it, Atom::FloorDiv(_)))? {
            for variable in divided_variables(&linear) {
                let Some(steps) = self.steps(&linear, variable) else {
                    continue;
                };
                if steps.others.terms.is_empty()
                    && let Some(found) = steps.monotone_inverse(&value)?
                {
                    self.digits.insert(Atom::Variable(variable), found);
                    continue;
                }
                if let Some((split, sum)) = steps.split()
                    && let Ok(linear) = steps.others.plus(&sum)
                {
                    self.splits.push(split);
                    self.add_equation(linear, value.clone());
                }
            }
            self.read_wholes(&linear, &value)?;
        }
        // What is known inside of a sum still belongs to it.
        for (linear, value) in self.equations.clone() {
            self.read_wholes(&linear, &value)?;
        }
        Ok(())
    }

    fn steps(&self, linear: &Linear, variable: Variable) -> Option<Steps> {
        let atom = Atom::Variable(variable);
        let (of_variable, others) = linear.terms.iter().cloned().partition(|it: &Term| {
            let mut is_alone = it.atom.mentions(variable);
            it.atom
                .for_each_variable(&mut |it| is_alone &= it == variable);
            is_alone
        });
        let sum = Linear {
            terms: of_variable,
            constant: 0,
        };
        let has_rest = |it: &Term| it.atom.mentions(variable);
        let others = Linear {
            terms: others,
            constant: linear.constant,
        };
        if self.digit(&atom).is_some() || others.terms.iter().any(has_rest) {
            return None;
        }
        let bounds = self.context.bounds(variable);
        Steps::new(variable, sum, others, (bounds.low, bounds.high))
    }

    /// The variables all of whose digits are known.
    pub(super) fn put_splits_together(&mut self) -> Checked<()> {
        for split in &self.splits {
            let atom = Atom::Variable(split.variable);
            if self.digits.contains_key(&atom) {
                continue;
            }
            let digits = split.digits.iter();
            let digits = digits.map(|(atom, weight)| Some((self.digit(atom)?, *weight)));
            if let Some(digits) = digits.collect::<Option<Vec<_>>>() {
                let value = IndexExpr::sum(digits, split.offset)?;
                self.digits.insert(atom, value);
            }
        }
        Ok(())
    }
}

impl Steps {
    /// `sum`, which speaks of `variable` alone, from the least to the greatest value of that.
    pub(super) fn new(
        variable: Variable,
        sum: Linear,
        others: Linear,
        (low, high): (i64, i64),
    ) -> Option<Self> {
        Some(Self {
            variable,
            expr: expression(&sum)?,
            growth: growth(&sum)?,
            sum,
            others,
            low,
            high,
        })
    }

    fn at(&self, value: i64) -> Option<i64> {
        self.expr.evaluate(&|_| value).ok()
    }

    /// The value of the variable where the sum, which goes up all the way or down all the way, is
    /// `value`.
    pub(super) fn monotone_inverse(&self, value: &IndexExpr) -> Checked<Option<IndexExpr>> {
        let Some(first) = self.at(self.low) else {
            return Ok(None);
        };
        let sign = match self.low.checked_add(1).and_then(|it| self.at(it)) {
            Some(second) if second < first => -1,
            _ => 1,
        };
        let Some(Climb { bends, is_whole }) = self.climb(sign) else {
            return Ok(None);
        };
        let above = value.offset(first.saturating_neg())?.scaled(sign)?;
        let by = IndexExpr::from(self.growth.by.saturating_mul(sign));
        let (periods, inside) = if is_whole {
            (IndexExpr::from(0), above)
        } else {
            (above.floordiv(&by)?, above.modulo(&by)?)
        };
        let mut terms = vec![(periods, self.growth.period)];
        let last = bends.len().saturating_sub(1);
        for (at, bend) in bends.into_iter().enumerate() {
            // Nothing is below the first piece, and nothing above the last.
            let mut steps = inside.offset(-bend.height)?.floordiv(&bend.slope.into())?;
            if at > 0 {
                steps = IndexExpr::greatest([steps, 0.into()]);
            }
            if at < last {
                steps = IndexExpr::least([steps, bend.count.into()]);
            }
            terms.push((steps, 1));
        }
        IndexExpr::sum(terms, self.low).map(Some)
    }

    /// How the sum climbs from the least value of the variable to the end of the first period;
    /// `None` if it does not climb all the way.
    fn climb(&self, sign: i64) -> Option<Climb> {
        let extent = self.high.checked_sub(self.low)?.checked_add(1)?;
        let is_whole = extent <= self.growth.period;
        let first = self.at(self.low)?;
        let mut bends: Vec<Bend> = Vec::new();
        let mut height = 0_i64;
        for at in 1..extent.min(self.growth.period) {
            let next = self
                .at(self.low + at)?
                .checked_sub(first)?
                .checked_mul(sign)?;
            let slope = next.checked_sub(height).filter(|it| *it > 0)?;
            match bends.last_mut().filter(|it| it.slope == slope) {
                Some(bend) => bend.count += 1,
                None => bends.push(Bend {
                    height,
                    slope,
                    count: 1,
                }),
            }
            height = next;
        }
        let by = self.growth.by.checked_mul(sign)?;
        let goes_on = is_whole || by > height;
        (goes_on && bends.len() <= MAX_BENDS).then_some(Climb { bends, is_whole })
    }

    /// The variable as digits, and the sum in terms of these, where it is one: where each digit has
    /// its own share of it.
    fn split(&self) -> Option<(Split, Linear)> {
        let weights = self.weights()?;
        let offsets = self.sum.terms.iter().filter_map(|it| match &it.atom {
            Atom::FloorDiv(division) | Atom::Mod(division) => Some(division.numerator.constant),
            _ => None,
        });
        let mut offsets: Vec<i64> = offsets.collect();
        offsets.insert(0, 0);
        offsets
            .into_iter()
            .find_map(|it| self.split_from(&weights, it))
    }

    /// The weights of the digits, each of which divides the next, the period last.
    fn weights(&self) -> Option<Vec<i64>> {
        let mut weights = BTreeSet::from([1]);
        self.sum
            .terms
            .iter()
            .for_each(|it| periods(&it.atom, &mut weights));
        weights.insert(self.growth.period);
        let weights: Vec<i64> = weights.into_iter().collect();
        let is_chain = weights.windows(2).all(|it| it[1] % it[0] == 0);
        is_chain.then_some(weights)
    }

    /// With digits of the variable plus `shift`.
    fn split_from(&self, weights: &[i64], shift: i64) -> Option<(Split, Linear)> {
        let from = shift.checked_neg()?;
        let base = self.at(from)?;
        let share = |weight: i64| self.at(from.checked_add(weight)?)?.checked_sub(base);
        let shifted = Linear::from(Atom::Variable(self.variable))
            .offset(shift)
            .ok()?;
        let mut digits = Vec::with_capacity(weights.len());
        for (at, weight) in weights.iter().enumerate() {
            let above = match weight {
                1 => shifted.clone(),
                weight => Atom::floor_div(shifted.clone(), (*weight).into()).into(),
            };
            let digit = match weights.get(at + 1) {
                Some(next) => Atom::modulo(above, (next / weight).into()),
                None => above.as_atom()?.clone(),
            };
            digits.push((digit, *weight, share(*weight)?));
        }
        for at in 0..self.growth.period {
            let mut sum = base;
            let ends = weights.windows(2).zip(&digits);
            for (pair, (_, weight, share)) in ends {
                sum = sum.checked_add(share.checked_mul(at % pair[1] / weight)?)?;
            }
            if self.at(from.checked_add(at)?)? != sum {
                return None;
            }
        }
        let terms = digits.iter().map(|(atom, _, share)| Term {
            atom: atom.clone(),
            coefficient: *share,
        });
        let sum = Linear::collect(terms.collect(), base).ok()?;
        let split = Split {
            variable: self.variable,
            offset: from,
            digits: digits
                .into_iter()
                .map(|(atom, weight, _)| (atom, weight))
                .collect(),
        };
        Some((split, sum))
    }
}

/// How a sum climbs: in pieces, and whether these are all of it and not one period of many.
struct Climb {
    bends: Vec<Bend>,
    is_whole: bool,
}

/// A piece in which each step is as high as the others.
struct Bend {
    /// Where it begins, above the least value.
    height: i64,
    slope: i64,
    /// The number of steps.
    count: i64,
}

/// The variables that are divided in `linear`.
fn divided_variables(linear: &Linear) -> Vec<Variable> {
    let mut variables = Vec::new();
    for term in linear.terms.iter().filter(|it| it.is_division()) {
        term.atom.for_each_variable(&mut |it| {
            if !variables.contains(&it) {
                variables.push(it);
            }
        });
    }
    variables
}

/// The growth of a sum of one variable and its quotients and remainders.
pub(super) fn growth(linear: &Linear) -> Option<Growth> {
    let parts = linear.terms.iter().map(|term| {
        let Growth { period, by } = growth_of_atom(&term.atom)?;
        let by = by.checked_mul(term.coefficient)?;
        Some(Growth { period, by })
    });
    let parts = parts.collect::<Option<Vec<_>>>()?;
    let period = parts
        .iter()
        .try_fold(1, |period, it| common_multiple(period, it.period))?;
    let by = parts.iter().try_fold(0_i64, |by, it| {
        by.checked_add(it.by.checked_mul(period / it.period)?)
    })?;
    Some(Growth { period, by })
}

fn growth_of_atom(atom: &Atom) -> Option<Growth> {
    match atom {
        Atom::Variable(_) => Some(Growth { period: 1, by: 1 }),
        Atom::FloorDiv(division) => {
            let Growth { period, by } = divided_growth(division)?;
            let divisor = division.divisor.as_constant()?;
            let by = by / divisor;
            Some(Growth { period, by })
        }
        Atom::Mod(division) => {
            let Growth { period, .. } = divided_growth(division)?;
            Some(Growth { period, by: 0 })
        }
        Atom::Product(_) | Atom::Min(_) | Atom::Max(_) | Atom::Sum(_) => None,
    }
}

/// That of a numerator over as many of its periods as it takes to grow by a multiple of the
/// divisor.
fn divided_growth(division: &Division) -> Option<Growth> {
    let divisor = division.divisor.as_constant().filter(|it| *it > 0)?;
    let Growth { period, by } = growth(&division.numerator)?;
    let common = greatest_common_divisor(by.unsigned_abs(), divisor.unsigned_abs());
    let times = divisor / i64::try_from(common).ok()?;
    let period = period.checked_mul(times).filter(|it| *it <= MAX_PERIOD)?;
    let by = by.checked_mul(times)?;
    Some(Growth { period, by })
}

fn common_multiple(left: i64, right: i64) -> Option<i64> {
    let common = greatest_common_divisor(left.unsigned_abs(), right.unsigned_abs());
    let common = i64::try_from(common).ok()?;
    let multiple = left.checked_mul(right.checked_div(common)?)?;
    (multiple <= MAX_PERIOD).then_some(multiple)
}

/// The periods of an atom and of what it divides.
fn periods(atom: &Atom, found: &mut BTreeSet<i64>) {
    if let Some(growth) = growth_of_atom(atom) {
        found.insert(growth.period);
    }
    if let Atom::FloorDiv(division) | Atom::Mod(division) = atom {
        let inner = division.numerator.terms.iter();
        inner.for_each(|it| periods(&it.atom, found));
    }
}
