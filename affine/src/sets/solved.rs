//! Conjunctions whose equalities are solved, for many questions about one of them.

use super::number::Checked;
use super::solve::{pivot, solution};
use super::system::{Next, System};
use super::{Budget, Conjunction, Row};
use std::collections::BTreeMap;

/// The points of a conjunction in terms of columns that no equality ties to each other.
#[derive(Clone, Debug)]
pub(crate) struct Solved {
    system: System,
    /// What each column of the conjunction is in terms of the columns that are left.
    columns: Vec<Row>,
}

impl Solved {
    /// `None` when the rows contradict each other at first sight.
    ///
    /// # Errors
    /// A coefficient leaves 128 bits, or the budget is used up.
    pub(crate) fn of(conjunction: &Conjunction, budget: &mut Budget) -> Checked<Option<Self>> {
        let solved = Self {
            system: conjunction.system.clone(),
            columns: (0..conjunction.columns()).map(Row::column).collect(),
        };
        solved.reduced(budget)
    }

    fn reduced(mut self, budget: &mut Budget) -> Checked<Option<Self>> {
        loop {
            budget.spend(1)?;
            let equality = match self.system.next()? {
                Next::Nothing => return Ok(None),
                Next::Equality(equality) => equality,
                Next::Inequalities => {
                    self.compact();
                    return Ok(Some(self));
                }
            };
            let Some((column, definition)) = pivot(&equality, |_| true)? else {
                continue;
            };
            if equality.coefficient(column).abs() != 1 {
                self.system.equalities.push(equality);
            }
            self.system.substitute(column, &definition, budget)?;
            for value in &mut self.columns {
                *value = value.substituted(column, &definition)?;
            }
        }
    }

    /// Numbers the columns that are left without gaps, so that rows are short.
    fn compact(&mut self) {
        let rows = || self.system.inequalities.iter().chain(&self.columns);
        let width = rows().map(Row::width).max().unwrap_or(0);
        let mut used = vec![false; width];
        for (column, _) in rows().flat_map(Row::terms) {
            if let Some(slot) = used.get_mut(column) {
                *slot = true;
            }
        }
        let mut places = Vec::with_capacity(width);
        let mut next = 0;
        for used in used {
            places.push(next);
            next += usize::from(used);
        }
        if next == width {
            return;
        }
        let place = |column: usize| places.get(column).copied().unwrap_or(column);
        let inequalities = self.system.inequalities.iter_mut();
        for row in inequalities.chain(&mut self.columns) {
            *row = row.moved(place);
        }
    }

    /// A row over the columns of the conjunction in terms of those that are left.
    pub(crate) fn value(&self, row: &Row) -> Checked<Row> {
        let mut value = Row::from(row.constant());
        for (column, coefficient) in row.terms() {
            match self.columns.get(column) {
                Some(of_column) => value = value.combined(1, of_column, coefficient)?,
                // Columns that came later than the rows say nothing.
                None => value.set(self.columns.len() + column, coefficient),
            }
        }
        Ok(value)
    }

    /// The value of a row over the columns of the conjunction, where equalities alone say that it
    /// is the same at all points.
    pub(crate) fn constant(&self, row: &Row) -> Checked<Option<i128>> {
        let value = self.value(row)?;
        Ok(value.is_constant().then(|| value.constant()))
    }

    /// The points at which a row over the columns of the conjunction is not negative, too.
    pub(crate) fn with_inequality(&self, row: &Row) -> Checked<Self> {
        let mut with = self.clone();
        with.system.inequalities.push(self.value(row)?);
        Ok(with)
    }

    /// The points at which these rows are zero, too.
    pub(crate) fn with_equalities(
        &self,
        rows: &[Row],
        budget: &mut Budget,
    ) -> Checked<Option<Self>> {
        let mut with = self.clone();
        for row in rows {
            with.system.equalities.push(self.value(row)?);
        }
        with.reduced(budget)
    }

    /// Whether the columns of each of `pairs` come in each order, in all combinations with those of
    /// the others, the rest of the columns being the same. `false` where that cannot be told: each
    /// row has to bound one of all these columns at most. What is looked for is one point of the
    /// rest at which both columns of each pair have the same two neighbouring values.
    pub(crate) fn has_all_orders(
        &self,
        pairs: &[(usize, usize)],
        budget: &mut Budget,
    ) -> Checked<bool> {
        let mut stands_for = BTreeMap::new();
        for (first, second) in pairs {
            let plain = self.plain(*first).zip(self.plain(*second));
            let Some((first, second)) = plain.filter(|(first, second)| first != second) else {
                return Ok(false);
            };
            let known = [first, second].map(|it| stands_for.insert(it, first));
            if known.iter().any(Option::is_some) {
                return Ok(false);
            }
        }
        let mut system = System::default();
        for row in &self.system.inequalities {
            let mut bounded = row.terms().filter(|(it, _)| stands_for.contains_key(it));
            match (bounded.next(), bounded.next()) {
                (None, _) => system.inequalities.push(row.clone()),
                (Some((_, coefficient)), None) => {
                    let at = row.moved(|it| stands_for.get(&it).copied().unwrap_or(it));
                    system.inequalities.push(at.offset(coefficient)?);
                    system.inequalities.push(at);
                }
                _ => return Ok(false),
            }
        }
        solution(system, 0, budget).map(|it| it.is_some())
    }

    /// The column that is left of which a column of the conjunction has the value.
    fn plain(&self, column: usize) -> Option<usize> {
        let value = self.columns.get(column)?;
        let mut terms = value.terms();
        match (terms.next(), terms.next(), value.constant()) {
            (Some((left, 1)), None, 0) => Some(left),
            _ => None,
        }
    }

    /// Values for all columns of the conjunction; `None` when it has no point.
    pub(crate) fn sample(&self, budget: &mut Budget) -> Checked<Option<Vec<i128>>> {
        let widths = self.columns.iter().map(Row::width);
        let width = widths.max().unwrap_or(0);
        let found = solution(self.system.clone(), width, budget)?;
        let Some(values) = found else {
            return Ok(None);
        };
        let all = self.columns.iter().map(|it| it.value(&values));
        all.collect::<Checked<Vec<_>>>().map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns 0 to 3 are `n`, `x`, `y` and `z`; these rows are not negative.
    fn has_all_orders(rows: &[[i128; 5]], pairs: &[(usize, usize)]) -> Checked<bool> {
        let mut conjunction = Conjunction::universe(4);
        for [constant, coefficients @ ..] in rows {
            conjunction.add_inequality(Row::new(*coefficients, *constant));
        }
        let mut budget = Budget::default();
        let solved = Solved::of(&conjunction, &mut budget)?;
        solved.map_or(Ok(false), |it| it.has_all_orders(pairs, &mut budget))
    }

    #[test]
    fn columns_of_a_box_have_all_orders() -> Checked<()> {
        let square = [
            [0, 0, 1, 0, 0],
            [-1, 1, -1, 0, 0],
            [0, 0, 0, 1, 0],
            [-1, 1, 0, -1, 0],
        ];
        let with = |row: [i128; 5]| {
            let mut rows = square.to_vec();
            rows.push(row);
            has_all_orders(&rows, &[(1, 2)])
        };
        assert!(has_all_orders(&square, &[(1, 2)])?);
        assert!(with([5, -1, 0, 0, 0])?);
        // `n` is 1, so both are 0; `x` is 0, and never above `y`; `x` and `y` are tied.
        assert!(!with([1, -1, 0, 0, 0])?);
        assert!(!with([0, 0, -1, 0, 0])?);
        assert!(!with([0, 0, -1, 1, 0])?);
        // No column comes before itself, and none is part of two pairs.
        assert!(!has_all_orders(&square, &[(1, 1)])?);
        assert!(!has_all_orders(&square, &[(1, 2), (2, 3)])?);
        Ok(())
    }
}
