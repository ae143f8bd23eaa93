//! Unknowns that are multiplied by what is known.

use super::{Checked, Solver};
use crate::indexing::IndexExpr;
use crate::indexing::simplify::linear::{Atom, Linear, Term};

/// An equation `factor * atom + rest = value`.
struct Multiple {
    atom: Atom,
    /// In terms of the variables, and of the results.
    factor: (Linear, IndexExpr),
    rest: Linear,
}

impl Solver<'_> {
    /// Reads the quotient off `n * x + y = value` where `n` is known and never zero, and `y` is
    /// known or at least 0 and below `n`, as in a linear index with a size that is a variable.
    pub(super) fn read_multiples(&mut self) -> Checked<()> {
        for (linear, value) in self.equations_and(|it| matches!(it, Atom::Product(_)))? {
            for multiple in self.multiples(&linear)? {
                self.read_multiple(multiple, &value)?;
            }
        }
        Ok(())
    }

    fn read_multiple(&mut self, multiple: Multiple, value: &IndexExpr) -> Checked<()> {
        let Multiple {
            atom,
            factor: (factor, factor_value),
            rest,
        } = multiple;
        let span = self.context.range(&factor);
        if self.digits.contains_key(&atom) || span.contains(0) {
            return Ok(());
        }
        if rest.terms.is_empty() {
            let digit = value.offset(rest.constant.saturating_neg())?;
            self.digits.insert(atom, digit.floordiv(&factor_value)?);
            return Ok(());
        }
        let left = factor.minus(&rest).and_then(|it| it.offset(-1));
        let is_below = left.is_ok_and(|it| self.context.range(&it).low >= 0);
        if is_below && self.context.range(&rest).low >= 0 {
            self.digits.insert(atom, value.floordiv(&factor_value)?);
            self.add_equation(rest, value.modulo(&factor_value)?);
        }
        Ok(())
    }

    /// The ways to see a sum as a multiple of one unknown atom.
    fn multiples(&self, linear: &Linear) -> Checked<Vec<Multiple>> {
        let mut atoms: Vec<&Atom> = Vec::new();
        for term in &linear.terms {
            let Atom::Product(factors) = &term.atom else {
                continue;
            };
            let unknown = factors.iter().filter(|it| self.digit(it).is_none());
            if let [atom] = unknown.collect::<Vec<_>>().as_slice()
                && !atoms.contains(atom)
            {
                atoms.push(atom);
            }
        }
        let all = atoms.into_iter().map(|it| self.multiple(linear, it));
        let all: Checked<Vec<_>> = all.collect();
        Ok(all?.into_iter().flatten().collect())
    }

    fn multiple(&self, linear: &Linear, atom: &Atom) -> Checked<Option<Multiple>> {
        let mut rest = Linear::from(linear.constant);
        let mut by = Vec::new();
        for term in &linear.terms {
            let mut factors = term.atom.factors().to_vec();
            let Some(position) = factors.iter().position(|it| it == atom) else {
                rest.terms.push(term.clone());
                continue;
            };
            factors.remove(position);
            let Ok(product) = Atom::product(factors).scaled(term.coefficient) else {
                return Ok(None);
            };
            by.push(product);
        }
        let mut factor = Linear::default();
        for product in by {
            match factor.plus(&product) {
                Ok(sum) => factor = sum,
                Err(_) => return Ok(None),
            }
        }
        let value = self.known_value(&factor)?;
        Ok(value.map(|value| Multiple {
            atom: atom.clone(),
            factor: (factor, value),
            rest,
        }))
    }

    /// Adds the equations that a quotient and a remainder of one sum give: together they are the
    /// sum.
    pub(super) fn join_divisions(&mut self) -> Checked<()> {
        let mut joined = Vec::new();
        for (quotient, value) in self.sorted_digits() {
            let Atom::FloorDiv(division) = quotient else {
                continue;
            };
            let divisor = &division.divisor;
            let Some(times) = self.known_value(divisor)? else {
                continue;
            };
            for (remainder, rest) in self.sorted_digits() {
                let Atom::Mod(other) = remainder else {
                    continue;
                };
                if division.is_congruent_to(other) {
                    let value = value.times(&times)?.plus(rest)?;
                    joined.push((division.numerator.clone(), value));
                }
            }
        }
        for (linear, value) in joined {
            self.add_equation(linear, value);
        }
        Ok(())
    }
}

impl Term {
    /// Whether it is an atom that is divided, or what remains.
    pub(super) fn is_division(&self) -> bool {
        matches!(self.atom, Atom::FloorDiv(_) | Atom::Mod(_))
    }
}
