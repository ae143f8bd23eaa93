use super::number::{Checked, multiply};
use super::system::{Left, System};
use super::{Budget, Row};

/// Equalities and inequalities that hold together, over the columns of a space and existentials
/// behind them: integers of which some are such that all rows hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Conjunction {
    width: usize,
    existentials: usize,
    pub(super) system: System,
}

impl Conjunction {
    /// All points of a space with so many columns.
    pub fn universe(width: usize) -> Self {
        Self {
            width,
            existentials: 0,
            system: System::default(),
        }
    }

    pub(super) fn of_system(width: usize, existentials: usize, system: System) -> Self {
        Self {
            width,
            existentials,
            system,
        }
    }

    /// The number of columns of the space.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of existentials; the first has the column behind those of the space.
    pub fn existentials(&self) -> usize {
        self.existentials
    }

    /// All columns, existentials included.
    pub fn columns(&self) -> usize {
        self.width + self.existentials
    }

    /// The rows that are zero.
    pub fn equalities(&self) -> &[Row] {
        &self.system.equalities
    }

    /// The rows that are not negative.
    pub fn inequalities(&self) -> &[Row] {
        &self.system.inequalities
    }

    /// Demands that `row` is zero.
    pub fn add_equality(&mut self, row: Row) {
        self.system.equalities.push(row);
    }

    /// Demands that `row` is not negative.
    pub fn add_inequality(&mut self, row: Row) {
        self.system.inequalities.push(row);
    }

    /// The column of a new existential.
    pub fn add_existential(&mut self) -> usize {
        self.existentials += 1;
        self.columns() - 1
    }

    /// The column of a new existential that is `row floordiv divisor`; the divisor is positive.
    ///
    /// # Errors
    /// A coefficient leaves 128 bits.
    pub fn add_quotient(&mut self, row: &Row, divisor: i128) -> Checked<usize> {
        let quotient = self.add_existential();
        let remainder = row.combined(1, &Row::column(quotient), -divisor)?;
        self.add_inequality(remainder.complement()?.offset(divisor)?);
        self.add_inequality(remainder);
        Ok(quotient)
    }

    /// Demands that `row` is a multiple of `divisor`.
    ///
    /// # Errors
    /// A coefficient leaves 128 bits.
    pub fn add_multiple(&mut self, row: &Row, divisor: i128) -> Checked<()> {
        let times = self.add_existential();
        self.add_equality(row.combined(1, &Row::column(times), -divisor)?);
        Ok(())
    }

    /// What holds in both; the existentials stay apart.
    pub fn and(&self, other: &Self) -> Self {
        let mut both = self.clone();
        let shift = self.existentials;
        let place = |column| {
            if column < other.width {
                column
            } else {
                column + shift
            }
        };
        let moved = |rows: &[Row]| -> Vec<Row> { rows.iter().map(|it| it.moved(place)).collect() };
        both.existentials += other.existentials;
        both.system
            .equalities
            .extend(moved(&other.system.equalities));
        both.system
            .inequalities
            .extend(moved(&other.system.inequalities));
        both
    }

    /// The conjunction with its columns at other places of a space of `width` columns. Those that
    /// `place` puts nowhere become existentials, in front of those that are there already.
    pub fn moved(&self, width: usize, place: impl Fn(usize) -> Option<usize>) -> Self {
        let mut next = width;
        let mut places: Vec<usize> = Vec::with_capacity(self.columns());
        for column in 0..self.columns() {
            let inside = (column < self.width).then(|| place(column)).flatten();
            places.push(inside.unwrap_or_else(|| {
                next += 1;
                next - 1
            }));
        }
        let to = |column: usize| places.get(column).copied().unwrap_or(column);
        let moved = |rows: &[Row]| rows.iter().map(|it| it.moved(to)).collect();
        Self {
            width,
            existentials: next - width,
            system: System {
                equalities: moved(&self.system.equalities),
                inequalities: moved(&self.system.inequalities),
            },
        }
    }

    /// Values for all columns, existentials included, that satisfy the rows; small ones where there
    /// is a choice. `None` when there are none.
    ///
    /// # Errors
    /// Why that is not known.
    pub fn sample(&self, budget: &mut Budget) -> Checked<Option<Vec<i128>>> {
        super::solve::solution(self.system.clone(), self.columns(), budget)
    }

    /// Whether no point satisfies the rows.
    ///
    /// # Errors
    /// Why that is not known.
    pub fn is_empty(&self, budget: &mut Budget) -> Checked<bool> {
        Ok(self.sample(budget)?.is_none())
    }

    /// Whether the rows hold at the point with these values for the columns of the space.
    ///
    /// # Errors
    /// Why that is not known.
    pub fn contains(&self, values: &[i128], budget: &mut Budget) -> Checked<bool> {
        let mut here = System::default();
        for row in self.equalities() {
            here.equalities.push(self.at(row, values)?);
        }
        for row in self.inequalities() {
            here.inequalities.push(self.at(row, values)?);
        }
        Ok(super::solve::solution(here, self.columns(), budget)?.is_some())
    }

    /// `row` with the columns of the space replaced by their values.
    fn at(&self, row: &Row, values: &[i128]) -> Checked<Row> {
        let mut left = Row::from(row.constant());
        for (column, coefficient) in row.terms() {
            match values.get(column) {
                Some(value) if column < self.width => {
                    left = left.offset(multiply(coefficient, *value)?)?
                }
                _ => left.set(column, coefficient),
            }
        }
        Ok(left)
    }

    /// Normalises the rows; nothing when they contradict each other at first sight.
    pub(crate) fn tidied(mut self) -> Checked<Option<Self>> {
        let left = self.system.tidy()?;
        Ok((left == Left::Rows).then_some(self))
    }

    /// Gives a column of the space a value.
    ///
    /// # Errors
    /// A coefficient leaves 128 bits.
    pub fn fix(&mut self, column: usize, value: i128) -> Checked<()> {
        self.add_equality(Row::column(column).offset(super::number::negate(value)?)?);
        Ok(())
    }

    /// Gives up existentials that occur nowhere and numbers the others anew.
    pub(super) fn compacted(mut self) -> Self {
        let mut used = vec![false; self.existentials];
        let rows = self
            .system
            .equalities
            .iter()
            .chain(&self.system.inequalities);
        for (column, _) in rows.flat_map(Row::terms) {
            if let Some(slot) = column
                .checked_sub(self.width)
                .and_then(|it| used.get_mut(it))
            {
                *slot = true;
            }
        }
        let count = used.iter().filter(|it| **it).count();
        if count == self.existentials {
            return self;
        }
        let mut next = self.width;
        let places: Vec<usize> = used
            .iter()
            .map(|used| {
                next += usize::from(*used);
                next - usize::from(*used)
            })
            .collect();
        let width = self.width;
        let place = |column: usize| {
            let existential = column.checked_sub(width);
            existential
                .and_then(|it| places.get(it).copied())
                .unwrap_or(column)
        };
        let rows = self.system.equalities.iter_mut();
        for row in rows.chain(&mut self.system.inequalities) {
            *row = row.moved(place);
        }
        self.existentials = count;
        self
    }
}
