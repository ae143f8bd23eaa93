//! What quotients of sums say of these.

use super::{Checked, LARGEST, Solver};
use crate::indexing::IndexExpr;
use crate::indexing::simplify::linear::{Atom, Division};

impl Solver<'_> {
    /// Adds the equations that quotients give: all multiples of a number `g` that have one quotient
    /// by `c`, which is at most `g`, are one.
    pub(super) fn read_quotients(&mut self) -> Checked<()> {
        let mut found = Vec::new();
        for (digit, value) in self.sorted_digits() {
            let Atom::FloorDiv(division) = digit else {
                continue;
            };
            let Some(divisor) = division.divisor.as_constant() else {
                continue;
            };
            // From `c * v <= sum + known <= c * v + c - 1` on.
            let most = value.scaled(divisor)?.offset(divisor - 1)?;
            let (sum, most) = self.without_known(&division.numerator, &most)?;
            let content = sum.content();
            if content >= divisor {
                let value = most.floordiv(&content.into())?;
                found.push((sum.divided(content), value));
            }
        }
        for (linear, value) in found {
            self.add_equation(linear, value);
        }
        Ok(())
    }

    /// The value of a quotient or remainder whose numerator is known, or of a quotient by a
    /// multiple of what its numerator is known to be divided by.
    pub(super) fn divided_value(&self, atom: &Atom) -> Checked<Option<IndexExpr>> {
        let (Atom::FloorDiv(division) | Atom::Mod(division)) = atom else {
            return Ok(None);
        };
        let parts = (
            self.known_value(&division.numerator)?,
            self.known_value(&division.divisor)?,
        );
        let value = match (parts, atom) {
            ((Some(numerator), Some(divisor)), Atom::Mod(_)) => numerator.modulo(&divisor)?,
            ((Some(numerator), Some(divisor)), _) => numerator.floordiv(&divisor)?,
            (_, Atom::FloorDiv(_)) => return self.by_finer_quotient(division),
            _ => return Ok(None),
        };
        Ok((value.size().nodes <= LARGEST).then_some(value))
    }

    /// `n floordiv (c * m)` as `(n floordiv c) floordiv m`.
    fn by_finer_quotient(&self, division: &Division) -> Checked<Option<IndexExpr>> {
        let Some(divisor) = division.divisor.as_constant() else {
            return Ok(None);
        };
        for (digit, value) in self.sorted_digits() {
            let Atom::FloorDiv(finer) = digit else {
                continue;
            };
            let by = finer.divisor.as_constant().filter(|it| divisor % it == 0);
            let (Some(by), Ok(difference)) = (by, division.numerator.minus(&finer.numerator))
            else {
                continue;
            };
            if by < divisor
                && let Some(steps) = difference.as_constant().filter(|it| it % by == 0)
            {
                let whole = value.offset(steps / by)?;
                return whole.floordiv(&(divisor / by).into()).map(Some);
            }
        }
        Ok(None)
    }
}
