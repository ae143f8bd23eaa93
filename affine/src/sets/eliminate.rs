//! Conjunctions without existentials, but for those that say that something is a multiple of a
//! constant.
//!
//! Over integers such multiples are all that a quantifier can leave behind: every set has this
//! form, and in it the complement of each row can be written down, which subtraction needs.

use super::number::{Checked, floor_mod, multiply, negate};
use super::solve::pivot;
use super::system::{Choice, Left, System};
use super::{Budget, Conjunction, Row};

/// Conjunctions that together are `conjunction`. In each, an existential stands in one equality and
/// nowhere else.
pub(super) fn eliminated(
    conjunction: Conjunction,
    budget: &mut Budget,
) -> Checked<Vec<Conjunction>> {
    let mut done = Vec::new();
    let mut pending = vec![conjunction];
    while let Some(next) = pending.pop() {
        let elimination = Elimination {
            width: next.width(),
            existentials: next.existentials(),
            system: next.system,
            budget,
        };
        done.extend(elimination.run(&mut pending)?);
    }
    Ok(done)
}

struct Elimination<'b> {
    width: usize,
    existentials: usize,
    system: System,
    budget: &'b mut Budget,
}

impl Elimination<'_> {
    /// What remains when all existentials are gone; where that is not all, the rest is `pending`.
    fn run(mut self, pending: &mut Vec<Conjunction>) -> Checked<Option<Conjunction>> {
        loop {
            self.budget.spend(1)?;
            if self.system.tidy()? == Left::Nothing || !self.solve_equalities()? {
                return Ok(None);
            }
            let width = self.width;
            match self.system.choose(|column| column >= width) {
                None => return self.finished(),
                Some(Choice {
                    column,
                    is_exact: true,
                }) => {
                    self.system.eliminate(column, false, self.budget)?;
                }
                Some(Choice { column, .. }) => self.split(column, pending)?,
            }
        }
    }

    fn finished(self) -> Checked<Option<Conjunction>> {
        let left = Conjunction::of_system(self.width, self.existentials, self.system);
        Ok(left.tidied()?.map(Conjunction::compacted))
    }

    /// Goes on above the dark shadow; what is near the lower bounds is done later, unless there is
    /// nothing.
    fn split(&mut self, column: usize, pending: &mut Vec<Conjunction>) -> Checked<()> {
        let whole = self.system.clone();
        let bounds = self.system.eliminate(column, true, self.budget)?;
        for splinter in System::splinters(column, &bounds, self.budget)? {
            let mut near = whole.clone();
            near.equalities.push(splinter);
            let near = Conjunction::of_system(self.width, self.existentials, near);
            if !matches!(near.is_empty(self.budget), Ok(true)) {
                pending.push(near);
            }
        }
        Ok(())
    }

    /// Uses equalities to take existentials out of all other rows; says whether there can be a
    /// solution.
    fn solve_equalities(&mut self) -> Checked<bool> {
        let mut done = 0;
        while let Some(equality) = self.next_equality(done) {
            self.budget.spend(1)?;
            let Some(equality) = equality.reduced()? else {
                return Ok(false);
            };
            let width = self.width;
            let Some((column, definition)) = pivot(&equality, |column| column >= width)? else {
                self.system.equalities.insert(done, equality);
                done += 1;
                continue;
            };
            let coefficient = equality.coefficient(column);
            if coefficient.abs() == 1 {
                self.system.substitute(column, &definition, self.budget)?;
            } else if definition == Row::column(column) {
                if !self.keep_multiple(&equality, column, &mut done)? {
                    return Ok(false);
                }
            } else {
                // The same equality comes next: steps of different ones by turns need not end.
                self.system.equalities.insert(done, equality);
                self.system.substitute(column, &definition, self.budget)?;
            }
        }
        Ok(true)
    }

    /// The next equality of which it is not known yet what it says of existentials.
    fn next_equality(&mut self, done: usize) -> Option<Row> {
        (self.system.equalities.len() > done).then(|| self.system.equalities.swap_remove(done))
    }

    /// `rest + coefficient * column == 0` remains; in other rows `coefficient * column` is `-rest`.
    /// Says whether it can hold.
    fn keep_multiple(&mut self, equality: &Row, column: usize, done: &mut usize) -> Checked<bool> {
        let coefficient = equality.coefficient(column);
        self.replace_multiple(equality, column)?;
        let divisor = coefficient.abs();
        let Some(multiple) = self.least_multiple(equality, column, divisor)? else {
            return Ok(false);
        };
        if !multiple.is_constant() {
            self.system.equalities.insert(*done, multiple);
            *done += 1;
        }
        Ok(true)
    }

    /// The same divisibility with the least numbers: empty when it holds of all, `None` when of
    /// none.
    fn least_multiple(&self, equality: &Row, column: usize, divisor: i128) -> Checked<Option<Row>> {
        let mut rest = Row::from(floor_mod(equality.constant(), divisor));
        for (other, coefficient) in equality.terms().filter(|(other, _)| *other != column) {
            rest.set(other, floor_mod(coefficient, divisor));
        }
        if rest.is_constant() {
            return Ok((rest.constant() == 0).then(Row::default));
        }
        rest.set(column, divisor);
        let Some(mut row) = rest.reduced()? else {
            return Ok(None);
        };
        let divisor = row.coefficient(column);
        if divisor.abs() == 1 {
            return Ok(Some(Row::default()));
        }
        row.set(column, -divisor);
        Ok(Some(row))
    }

    fn replace_multiple(&mut self, equality: &Row, column: usize) -> Checked<()> {
        let coefficient = equality.coefficient(column);
        let mut rest = equality.clone();
        rest.set(column, 0);
        let replaced = |row: &Row| -> Checked<Row> {
            let times = row.coefficient(column);
            let mut others = row.clone();
            others.set(column, 0);
            let factor = multiply(negate(times)?, coefficient.signum())?;
            others.combined(coefficient.abs(), &rest, factor)
        };
        let rows = self.system.equalities.iter_mut();
        for row in rows.chain(&mut self.system.inequalities) {
            if row.coefficient(column) != 0 {
                self.budget.spend(1)?;
                *row = replaced(row)?;
            }
        }
        Ok(())
    }
}
