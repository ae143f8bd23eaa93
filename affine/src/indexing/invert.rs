//! Inverse maps.
//!
//! A result is a sum of *digits*: variables, quotients and remainders. Digits whose coefficients
//! are far enough apart, as in a number with mixed radices, are read off the result by division and
//! remainder. Results whose terms are not apart are solved as a system of linear equations. From
//! the digits follow the variables; a variable of which residues are known is found by the Chinese
//! remainder theorem. What speaks of known variables alone is known too, so that results are solved
//! one after the other, and a sum of a variable and its own quotients is taken apart period by
//! period. What is found is tried on points of the domain.

use super::expression::floor_mod;
use super::simplify::context::Context;
use super::simplify::express::expression;
use super::simplify::linear::{Atom, Division, Linear, Term};
use super::simplify::normalize::{Normalizer, Style};
use super::{Declaration, IndexExpr, IndexingError, IndexingMap, Variable, VariableKind};
use std::collections::HashMap;

mod clash;
mod factor;
mod modular;
mod quotient;
mod residue;
mod steps;
mod system;
#[cfg(test)]
mod tests;
mod whole;

pub use clash::Clash;
use steps::Split;

type Checked<T> = Result<T, IndexingError>;

const STEPS: usize = 1_000_000;

/// A variable is put together from at most so many levels of digits.
const DIGITS: usize = 32;

/// Values with more nodes are not put into others.
const LARGEST: usize = 2048;

/// More equations are not looked at.
const EQUATIONS: usize = 64;

impl IndexingMap {
    /// The map that takes the results back to the dimension variables, defined exactly where there
    /// is something to take back. Its dimension variables are the results of this map; runtime
    /// variables stay what they are. Range variables have no part in its results, but must be
    /// determined too.
    ///
    /// # Errors
    /// [`IndexingError::NotInvertible`] if two points have the same results, or none was found that
    /// tells points apart by division and remainder; overflow.
    pub fn inverse(&self) -> Checked<Self> {
        let not_invertible = || IndexingError::NotInvertible(self.clash().map(Box::new));
        self.found_inverse()?.ok_or_else(not_invertible)
    }

    fn found_inverse(&self) -> Checked<Option<Self>> {
        let map = self.simplified();
        let ranges = if map.known_empty {
            None
        } else {
            map.result_ranges()?
        };
        let Some(ranges) = ranges else {
            return Ok(Some(Self::known_empty()));
        };
        let context = map.context();
        let mut solver = Solver {
            normalizer: Normalizer::new(&context, Style::Careful, STEPS),
            context: &context,
            digits: HashMap::new(),
            equations: Vec::new(),
            splits: Vec::new(),
        };
        if !solver.read_results(&map)? {
            return Ok(None);
        }
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
                None if is_needed => return Ok(None),
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
        let inverse = map.constrain_image(inverse, &values, back)?;
        Ok(map.is_taken_back_by(&inverse)?.then_some(inverse))
    }

    fn mentions(&self, variable: Variable) -> bool {
        self.expressions().any(|it| it.mentions(variable))
    }

    /// Cuts the domain of `inverse` down to the results of this map: its values are in the domain,
    /// and lead back.
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

/// A sum and its value in terms of the results.
type Equation = (Linear, IndexExpr);

struct Solver<'c> {
    normalizer: Normalizer<'c>,
    context: &'c Context,
    /// What is known of the atoms of the map, in terms of its results.
    digits: HashMap<Atom, IndexExpr>,
    equations: Vec<Equation>,
    splits: Vec<Split>,
}

impl Solver<'_> {
    /// Reads digits off the results until there is nothing more to be learnt; whether all results
    /// could be looked at.
    fn read_results(&mut self, map: &IndexingMap) -> Checked<bool> {
        for (position, result) in map.results.iter().enumerate() {
            match self.normalizer.linear(result) {
                Ok(linear) => self.add_equation(linear, IndexExpr::dimension(position)),
                Err(_) => return Ok(false),
            }
        }
        self.read_domain();
        let steps = [
            Self::read_equations,
            Self::put_splits_together,
            Self::read_congruences,
            Self::put_variables_together,
            Self::solve_system,
            Self::join_divisions,
            Self::read_multiples,
            Self::read_quotients,
            Self::join_remainders,
            Self::read_steps,
            Self::read_residues,
        ];
        // The simplest step that teaches something is the next.
        while self.learns(&steps)? {}
        Ok(true)
    }

    /// What has one value in all of the domain is known beforehand.
    fn read_domain(&mut self) {
        let context = self.context;
        for fact in &context.facts {
            if let Some(value) = fact.bounds.as_point() {
                self.add_equation(fact.linear.clone(), value.into());
            }
        }
        for it in &context.congruences {
            let remainder = Atom::modulo(it.linear.clone(), it.modulus.into());
            self.digits.insert(remainder, it.residue.into());
        }
    }

    fn learns(&mut self, steps: &[fn(&mut Self) -> Checked<()>]) -> Checked<bool> {
        let known = |it: &Self| it.digits.len() + it.equations.len();
        let before = known(self);
        for step in steps {
            step(self)?;
            if known(self) > before {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn add_equation(&mut self, linear: Linear, value: IndexExpr) {
        let is_known = self.equations.iter().any(|it| it.0 == linear);
        if !is_known && self.equations.len() < EQUATIONS {
            self.equations.push((linear, value));
        }
    }

    fn read_equations(&mut self) -> Checked<()> {
        for (linear, value) in self.equations.clone() {
            let (linear, value) = self.without_known(&linear, &value)?;
            self.read_digits(linear, value)?;
        }
        Ok(())
    }

    /// The equations without what is known, and an equation for each known digit that is `wanted`.
    fn equations_and(&self, wanted: impl Fn(&Atom) -> bool) -> Checked<Vec<Equation>> {
        let equations = self.equations.iter();
        let equations = equations.map(|(linear, value)| self.without_known(linear, value));
        let digits = self.sorted_digits().into_iter();
        let digits = digits.filter(|(atom, _)| wanted(atom));
        let digits = digits.map(|(atom, value)| Ok((atom.clone().into(), value.clone())));
        equations.chain(digits).collect()
    }

    fn solve_system(&mut self) -> Checked<()> {
        let solved = system::solved(&self.equations_and(|_| false)?)?;
        self.digits.extend(solved);
        Ok(())
    }

    fn put_variables_together(&mut self) -> Checked<()> {
        for variable in self.context.variables() {
            let atom = Atom::Variable(variable);
            if self.digit(&atom).is_some() {
                continue;
            }
            if let Some(value) = self.put_together(&atom, DIGITS)? {
                self.digits.insert(atom, value);
            }
        }
        Ok(())
    }

    /// What is known of atoms, in their order.
    fn sorted_digits(&self) -> Vec<(&Atom, &IndexExpr)> {
        let mut digits: Vec<_> = self.digits.iter().collect();
        digits.sort_unstable_by_key(|(digit, _)| *digit);
        digits
    }

    /// The value of a sum all of whose atoms are known.
    fn known_value(&self, linear: &Linear) -> Checked<Option<IndexExpr>> {
        let (unknown, opposite) = self.without_known(linear, &0.into())?;
        if unknown.terms.is_empty() {
            opposite.scaled(-1).map(Some)
        } else {
            Ok(None)
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

    /// The value of an atom that is known: a digit that was read, a runtime variable, or an atom
    /// with one value.
    fn digit(&self, atom: &Atom) -> Option<IndexExpr> {
        if let Some(digit) = self.digits.get(atom) {
            return Some(digit.clone());
        }
        if let Some(point) = self.context.atom_range(atom).as_point() {
            return i64::try_from(point).ok().map(IndexExpr::from);
        }
        match atom {
            Atom::Variable(variable) => {
                (variable.kind == VariableKind::Runtime).then(|| (*variable).into())
            }
            other => match self.followed(other) {
                Some(value) => Some(value),
                None => self.divided_value(other).ok().flatten(),
            },
        }
    }

    /// The value of an atom that speaks of known variables alone.
    fn followed(&self, atom: &Atom) -> Option<IndexExpr> {
        let expr = expression(&atom.clone().into())?;
        let known = |it: Variable| self.digit(&Atom::Variable(it));
        let (mut is_known, mut nodes) = (true, 0_usize);
        expr.for_each_variable(&mut |it| match known(it) {
            Some(value) => nodes = nodes.saturating_add(value.size().nodes),
            None => is_known = false,
        });
        if !is_known || nodes > LARGEST {
            return None;
        }
        expr.substitute(&|it| known(it).unwrap_or_else(|| it.into()))
            .ok()
    }

    /// Reads the digits of `linear = value`, smallest coefficient first, as long as the ones above
    /// do not reach into it.
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

    /// The value of a sum whose atoms are digits, or are put together from their quotients and
    /// remainders.
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

    /// An atom as `c * (x floordiv c) + x mod c`, for an `x` that is the atom, or its opposite, but
    /// for a constant.
    fn put_together(&self, atom: &Atom, levels: usize) -> Checked<Option<IndexExpr>> {
        for (digit, _) in self.sorted_digits() {
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
