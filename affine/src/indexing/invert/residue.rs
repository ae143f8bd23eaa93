//! An atom from its residues, by the Chinese remainder theorem.

use super::{Checked, Solver};
use crate::indexing::IndexExpr;
use crate::indexing::expression::narrow;
use crate::indexing::simplify::congruence::inverse;
use crate::indexing::simplify::linear::{Atom, Linear, Term, greatest_common_divisor};

impl Solver<'_> {
    /// Finds the terms of equations that their residues determine.
    pub(super) fn read_residues(&mut self) -> Checked<()> {
        let terms = self.equations.iter().flat_map(|it| &it.0.terms);
        let mut atoms: Vec<Atom> = terms.map(|it| it.atom.clone()).collect();
        atoms.sort_unstable();
        atoms.dedup();
        for atom in atoms {
            if self.digit(&atom).is_none()
                && let Some(value) = self.by_residues(&atom)?
            {
                self.digits.insert(atom, value);
            }
        }
        Ok(())
    }

    /// An atom whose residues by several moduli are known, as the only one of its values that has
    /// all of them.
    pub(super) fn by_residues(&self, atom: &Atom) -> Checked<Option<IndexExpr>> {
        let range = self.context.atom_range(atom);
        let mut found: Option<Residue> = None;
        for residue in self.residues(atom)? {
            found = match found {
                Some(before) => Some(before.and(&residue)?),
                None => Some(residue),
            };
        }
        let Some(Residue { modulus, value }) = found else {
            return Ok(None);
        };
        let low = if range.high.saturating_sub(range.low) < modulus.into() {
            Some(narrow(range.low)?.into())
        } else {
            self.least_by_quotient(atom, modulus)?
        };
        let Some(low) = low else {
            return Ok(None);
        };
        let above = value.minus(&low)?.modulo(&modulus.into())?;
        above.plus(&low).map(Some)
    }

    /// What remainders and sums say of an atom: in `a * x + g * y = value` that `a * x` leaves the
    /// same by `g` as the value.
    fn residues(&self, atom: &Atom) -> Checked<Vec<Residue>> {
        let mut residues = Vec::new();
        for (numerator, modulus, value) in self.remainders() {
            let (sum, value) = self.without_known(numerator, value)?;
            let position = sum.terms.iter().position(|it| it.atom == *atom);
            let others = position.map_or(0, |it| sum.without(it).content());
            // Other terms are left out by what they have in common with the modulus.
            let modulus = common_divisor(others, modulus);
            if position.is_some() && modulus > 1 {
                residues.extend(self.residue(atom, &sum, modulus, &value)?);
            }
        }
        for (linear, value) in &self.equations {
            let (linear, value) = self.without_known(linear, value)?;
            let position = linear.terms.iter().position(|it| it.atom == *atom);
            let modulus = position.map_or(0, |it| linear.without(it).content());
            if modulus > 1 {
                residues.extend(self.residue(atom, &linear, modulus, &value)?);
            }
        }
        Ok(residues)
    }

    /// A value that an atom does not fall below and that it exceeds by less than `modulus`, where a
    /// quotient of it, or of its sum with what is known, says that.
    fn least_by_quotient(&self, atom: &Atom, modulus: i64) -> Checked<Option<IndexExpr>> {
        for (digit, value) in self.sorted_digits() {
            let Atom::FloorDiv(division) = digit else {
                continue;
            };
            let divisor = division.divisor.as_constant();
            let Some(divisor) = divisor.filter(|it| *it <= modulus) else {
                continue;
            };
            let numerator = &division.numerator;
            let is_atom = |it: &&Term| it.atom == *atom && it.coefficient == 1;
            let Some(position) = numerator.terms.iter().position(|it| is_atom(&it)) else {
                continue;
            };
            if let Some(others) = self.known_value(&numerator.without(position))? {
                return value.scaled(divisor)?.minus(&others).map(Some);
            }
        }
        Ok(None)
    }

    /// What `numerator mod modulus = value` says of an atom: where `a * x` leaves `v`, and `g` is
    /// the greatest common divisor of `a` and the modulus, `x` leaves `v / g` times the inverse of
    /// `a / g` by the modulus over `g`.
    fn residue(
        &self,
        atom: &Atom,
        numerator: &Linear,
        modulus: i64,
        value: &IndexExpr,
    ) -> Checked<Option<Residue>> {
        let position = numerator.terms.iter().position(|it| it.atom == *atom);
        let term = position.and_then(|it| Some((it, numerator.terms.get(it)?)));
        let Some((position, term)) = term else {
            return Ok(None);
        };
        let mut others = numerator.without(position);
        others.terms.retain(|it| it.coefficient % modulus != 0);
        let Some(others) = self.known_value(&others)? else {
            return Ok(None);
        };
        let value = value.minus(&others)?;
        let common = common_divisor(term.coefficient, modulus);
        let modulus = modulus / common;
        let factor = inverse((term.coefficient / common).rem_euclid(modulus), modulus);
        let factor = match factor {
            it if it == modulus - 1 => -1,
            it => it,
        };
        let value = value.floordiv(&common.into())?.scaled(factor)?;
        Ok(Some(Residue { modulus, value }))
    }
}

/// Something leaves the same remainder by `modulus` as `value`.
struct Residue {
    modulus: i64,
    value: IndexExpr,
}

impl Residue {
    /// Both residues as one, by the Chinese remainder theorem; `self` alone where that takes
    /// numbers beyond 64 bits.
    fn and(self, other: &Self) -> Checked<Self> {
        let common = common_divisor(self.modulus, other.modulus);
        let (ours, theirs) = (self.modulus / common, other.modulus / common);
        // With `a * ours + b * theirs = 1`, what leaves `u` and `v` is
        // `b * theirs * u + a * ours * v`: they differ by a multiple of the common divisor where
        // anything leaves both.
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
