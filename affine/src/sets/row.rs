use super::number::{Checked, add, common_divisor, floor_div, multiply, negate};
use smallvec::SmallVec;

/// A linear expression over numbered columns: a sum of `coefficient * column` and a constant.
///
/// Which column is which parameter, dimension or existential is for whoever holds the row to know.
#[derive(Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Row {
    /// The last of them is not zero, so that equal rows have equal parts.
    coefficients: SmallVec<[i128; 8]>,
    constant: i128,
}

/// Rows are cloned all the time. What is derived takes the coefficients one by one, this all of
/// them at once.
impl Clone for Row {
    fn clone(&self) -> Self {
        Self {
            coefficients: SmallVec::from_slice(&self.coefficients),
            constant: self.constant,
        }
    }
}

impl From<i128> for Row {
    fn from(constant: i128) -> Self {
        Self {
            coefficients: SmallVec::new(),
            constant,
        }
    }
}

impl Row {
    /// The value of one column.
    pub fn column(column: usize) -> Self {
        let mut row = Self::default();
        row.set(column, 1);
        row
    }

    /// The row with these coefficients, those of further columns zero.
    pub fn new(coefficients: impl IntoIterator<Item = i128>, constant: i128) -> Self {
        let mut row = Self {
            coefficients: coefficients.into_iter().collect(),
            constant,
        };
        row.trim();
        row
    }

    fn trim(&mut self) {
        while self.coefficients.last() == Some(&0) {
            self.coefficients.pop();
        }
    }

    /// The coefficient of a column.
    pub fn coefficient(&self, column: usize) -> i128 {
        self.coefficients.get(column).copied().unwrap_or(0)
    }

    /// The constant part.
    pub fn constant(&self) -> i128 {
        self.constant
    }

    /// One more than the last column that occurs.
    pub fn width(&self) -> usize {
        self.coefficients.len()
    }

    /// The columns that occur, with their coefficients.
    pub fn terms(&self) -> impl DoubleEndedIterator<Item = (usize, i128)> + '_ {
        let all = self.coefficients.iter().copied().enumerate();
        all.filter(|(_, coefficient)| *coefficient != 0)
    }

    /// Whether no column occurs.
    pub fn is_constant(&self) -> bool {
        self.coefficients.is_empty()
    }

    /// Gives a column another coefficient.
    pub fn set(&mut self, column: usize, coefficient: i128) {
        if column >= self.coefficients.len() {
            if coefficient == 0 {
                return;
            }
            self.coefficients.resize(column + 1, 0);
        }
        if let Some(slot) = self.coefficients.get_mut(column) {
            *slot = coefficient;
        }
        self.trim();
    }

    /// `self * scale + other * factor`.
    ///
    /// # Errors
    /// A coefficient leaves 128 bits.
    pub fn combined(&self, scale: i128, other: &Self, factor: i128) -> Checked<Self> {
        let width = self.width().max(other.width());
        let mix = |left, right| add(multiply(left, scale)?, multiply(right, factor)?);
        let mut coefficients = SmallVec::with_capacity(width);
        for column in 0..width {
            coefficients.push(mix(self.coefficient(column), other.coefficient(column))?);
        }
        let constant = mix(self.constant, other.constant)?;
        let mut row = Self {
            coefficients,
            constant,
        };
        row.trim();
        Ok(row)
    }

    /// `self + other`.
    ///
    /// # Errors
    /// A coefficient leaves 128 bits.
    pub fn plus(&self, other: &Self) -> Checked<Self> {
        self.combined(1, other, 1)
    }

    /// `self - other`.
    ///
    /// # Errors
    /// A coefficient leaves 128 bits.
    pub fn minus(&self, other: &Self) -> Checked<Self> {
        self.combined(1, other, -1)
    }

    /// `self * factor`.
    ///
    /// # Errors
    /// A coefficient leaves 128 bits.
    pub fn scaled(&self, factor: i128) -> Checked<Self> {
        self.combined(factor, &Self::default(), 0)
    }

    /// `self + constant`.
    ///
    /// # Errors
    /// The constant leaves 128 bits.
    pub fn offset(&self, constant: i128) -> Checked<Self> {
        Ok(Self {
            constant: add(self.constant, constant)?,
            ..self.clone()
        })
    }

    /// The row with `column` replaced by `value`, which may mention the column itself.
    ///
    /// # Errors
    /// A coefficient leaves 128 bits.
    pub fn substituted(&self, column: usize, value: &Self) -> Checked<Self> {
        let coefficient = self.coefficient(column);
        if coefficient == 0 {
            return Ok(self.clone());
        }
        let mut rest = self.clone();
        rest.set(column, 0);
        rest.combined(1, value, coefficient)
    }

    /// The value when the columns have these values, those that are missing zero.
    ///
    /// # Errors
    /// The value leaves 128 bits.
    pub fn value(&self, values: &[i128]) -> Checked<i128> {
        self.terms()
            .try_fold(self.constant, |sum, (column, coefficient)| {
                let value = values.get(column).copied().unwrap_or(0);
                add(sum, multiply(coefficient, value)?)
            })
    }

    /// The row with each column moved to where `place` says.
    pub fn moved(&self, place: impl Fn(usize) -> usize) -> Self {
        let mut row = Self::from(self.constant);
        for (column, coefficient) in self.terms().rev() {
            row.set(place(column), coefficient);
        }
        row
    }

    /// The greatest common divisor of the coefficients; zero when there are none.
    pub(super) fn content(&self) -> i128 {
        let mut content = 0;
        for coefficient in &self.coefficients {
            content = common_divisor(content, *coefficient);
            if content == 1 {
                break;
            }
        }
        content
    }

    /// What `self >= 0` says of integers, with the least coefficients.
    pub(super) fn tightened(mut self) -> Self {
        let content = self.content();
        if content > 1 {
            self.divide_coefficients(content);
            self.constant = floor_div(self.constant, content);
        }
        self
    }

    /// `self == 0` with the least coefficients, the first of them positive; `None` when no integers
    /// satisfy it.
    pub(super) fn reduced(mut self) -> Checked<Option<Self>> {
        let content = self.content();
        if content == 0 {
            return Ok((self.constant == 0).then_some(self));
        }
        if self.constant % content != 0 {
            return Ok(None);
        }
        if content > 1 {
            self.divide_coefficients(content);
            self.constant /= content;
        }
        if self.sign() < 0 {
            self = self.scaled(-1)?;
        }
        Ok(Some(self))
    }

    fn divide_coefficients(&mut self, divisor: i128) {
        for coefficient in &mut self.coefficients {
            if *coefficient != 0 {
                *coefficient = floor_div(*coefficient, divisor);
            }
        }
    }

    /// The sign of the first coefficient that is not zero.
    pub(super) fn sign(&self) -> i128 {
        let first = self.coefficients.iter().find(|it| **it != 0);
        first.map_or(0, |it| it.signum())
    }

    /// How the coefficients compare when both rows are turned so that the first one is positive.
    pub(super) fn compare_direction(&self, other: &Self) -> std::cmp::Ordering {
        let same = self.sign() == other.sign();
        let width = self.width().cmp(&other.width());
        width.then_with(|| {
            let (left, right) = (self.coefficients.iter(), other.coefficients.iter());
            if same {
                let order = left.cmp(right);
                if self.sign() < 0 {
                    order.reverse()
                } else {
                    order
                }
            } else {
                let (turn_left, turn_right) = (self.sign(), other.sign());
                // Coefficients are kept from the least integer by the checks that made them.
                let left = left.map(|it| it.wrapping_mul(turn_left));
                left.cmp(right.map(|it| it.wrapping_mul(turn_right)))
            }
        })
    }

    /// `-1 - self`, which is not negative exactly where `self` is.
    pub(super) fn complement(&self) -> Checked<Self> {
        let mut row = self.scaled(-1)?;
        row.constant = add(row.constant, -1)?;
        Ok(row)
    }

    /// `self * -1`.
    pub(super) fn negated(&self) -> Checked<Self> {
        let mut row = self.clone();
        for coefficient in &mut row.coefficients {
            *coefficient = negate(*coefficient)?;
        }
        row.constant = negate(row.constant)?;
        Ok(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_what_their_columns_add_up_to() -> Checked<()> {
        let row = Row::new([2, 0, -3, 0], 5);
        assert_eq!(row.width(), 3);
        assert_eq!(row.value(&[1, 9, 2])?, 1);
        let by = Row::new([0, 1, 1], -1);
        assert_eq!(row.substituted(2, &by)?, Row::new([2, -3, -3], 8));
        assert_eq!(row.minus(&row)?, Row::default());
        assert_eq!(row.moved(|it| it + 1), Row::new([0, 2, 0, -3], 5));
        Ok(())
    }

    #[test]
    fn integers_tighten_and_rule_out() -> Checked<()> {
        assert_eq!(Row::new([2, -4], 5).tightened(), Row::new([1, -2], 2));
        assert_eq!(Row::new([2, -4], -5).tightened(), Row::new([1, -2], -3));
        assert_eq!(Row::new([2, -4], 5).reduced()?, None);
        assert_eq!(Row::new([-2, 4], 6).reduced()?, Some(Row::new([1, -2], -3)));
        assert_eq!(Row::from(3).reduced()?, None);
        Ok(())
    }

    #[test]
    fn opposite_rows_have_one_direction() {
        use std::cmp::Ordering::Equal;
        let row = Row::new([0, 2, -3], 4);
        assert_eq!(row.compare_direction(&Row::new([0, -2, 3], 1)), Equal);
        assert_ne!(row.compare_direction(&Row::new([0, 2, 3], 4)), Equal);
        let (left, right) = (Row::new([-1, 2], 0), Row::new([1, 2], 0));
        assert_eq!(
            left.compare_direction(&right),
            right.compare_direction(&left).reverse()
        );
    }
}
