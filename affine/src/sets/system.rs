//! Rows that must hold together, and how columns are taken out of them.

use super::number::{Checked, add, multiply, negate};
use super::{Budget, Row};

/// `equalities == 0` and `inequalities >= 0`, over integers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct System {
    pub(super) equalities: Vec<Row>,
    pub(super) inequalities: Vec<Row>,
}

/// What is left of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// Rows that may have a solution.
    Rows,
    /// A contradiction.
    Nothing,
}

/// What is to be done with a system first.
pub(super) enum Next {
    /// It has no solution.
    Nothing,
    /// This equality, which was taken out, is to be solved.
    Equality(Row),
    /// There is none, and the inequalities are tidy.
    Inequalities,
}

/// The rows that bound a column, and how it can be eliminated.
pub(super) struct Choice {
    pub(super) column: usize,
    pub(super) is_exact: bool,
}

impl System {
    pub(super) fn width(&self) -> usize {
        let rows = self.equalities.iter().chain(&self.inequalities);
        rows.map(Row::width).max().unwrap_or(0)
    }

    /// Replaces `column` by `value` everywhere.
    pub(super) fn substitute(
        &mut self,
        column: usize,
        value: &Row,
        budget: &mut Budget,
    ) -> Checked<()> {
        for row in self.equalities.iter_mut().chain(&mut self.inequalities) {
            if row.coefficient(column) != 0 {
                budget.spend(1)?;
                *row = row.substituted(column, value)?;
            }
        }
        Ok(())
    }

    /// What is to be done first. Inequalities are looked at when no equality is left: each that is
    /// solved changes them again.
    pub(super) fn next(&mut self) -> Checked<Next> {
        if self.tidy_equalities()? == Left::Nothing {
            return Ok(Next::Nothing);
        }
        if let Some(equality) = self.equalities.pop() {
            return Ok(Next::Equality(equality));
        }
        Ok(match (self.tidy()?, self.equalities.pop()) {
            (Left::Nothing, _) => Next::Nothing,
            (Left::Rows, Some(equality)) => Next::Equality(equality),
            (Left::Rows, None) => Next::Inequalities,
        })
    }

    /// Normalises the rows, drops those that others imply by their direction alone, and finds
    /// equalities among inequalities.
    pub(super) fn tidy(&mut self) -> Checked<Left> {
        if self.tidy_equalities()? == Left::Nothing {
            return Ok(Left::Nothing);
        }
        let mut rows = Vec::with_capacity(self.inequalities.len());
        for row in std::mem::take(&mut self.inequalities) {
            let row = row.tightened();
            if !row.is_constant() {
                rows.push(row);
            } else if row.constant() < 0 {
                return Ok(Left::Nothing);
            }
        }
        rows.sort_by(Row::compare_direction);
        self.keep_tightest(rows)
    }

    fn tidy_equalities(&mut self) -> Checked<Left> {
        let mut equalities = Vec::with_capacity(self.equalities.len());
        for row in std::mem::take(&mut self.equalities) {
            match row.reduced()? {
                None => return Ok(Left::Nothing),
                Some(row) if row.is_constant() => {}
                Some(row) if equalities.contains(&row) => {}
                Some(row) => equalities.push(row),
            }
        }
        self.equalities = equalities;
        Ok(Left::Rows)
    }

    /// Of rows in one direction the tightest on each side.
    fn keep_tightest(&mut self, rows: Vec<Row>) -> Checked<Left> {
        let mut rest = rows.into_iter().peekable();
        while let Some(first) = rest.next() {
            let mut sides: [Option<Row>; 2] = [None, None];
            let mut next = Some(first);
            while let Some(row) = next {
                let side = &mut sides[usize::from(row.sign() < 0)];
                match side {
                    Some(seen) if seen.constant() <= row.constant() => {}
                    _ => *side = Some(row),
                }
                let group = sides.iter().flatten().next();
                next = group
                    .and_then(|group| rest.next_if(|row| row.compare_direction(group).is_eq()));
            }
            match sides {
                [Some(above), Some(below)] => {
                    let gap = add(above.constant(), below.constant())?;
                    if gap < 0 {
                        return Ok(Left::Nothing);
                    } else if gap == 0 {
                        self.equalities.push(above);
                    } else {
                        self.inequalities.extend([above, below]);
                    }
                }
                sides => self.inequalities.extend(sides.into_iter().flatten()),
            }
        }
        Ok(Left::Rows)
    }

    /// The column among those `wanted` whose elimination makes the fewest rows, exact eliminations
    /// before others; `None` when none of them occurs in an inequality.
    pub(super) fn choose(&self, wanted: impl Fn(usize) -> bool) -> Option<Choice> {
        let width = self.width();
        let mut counts = vec![Count::default(); width];
        for (column, coefficient) in self.inequalities.iter().flat_map(Row::terms) {
            if let Some(count) = counts.get_mut(column) {
                count.add(coefficient);
            }
        }
        let each = counts.iter().enumerate();
        let each = each.filter(|(column, count)| count.occurs() && wanted(*column));
        let best = each.min_by_key(|(column, count)| (!count.is_exact(), count.growth(), *column));
        best.map(|(column, count)| Choice {
            column,
            is_exact: count.is_exact(),
        })
    }

    /// Takes `column` out by combining each lower bound with each upper bound: its real shadow, and
    /// with `dark` those points alone above which there surely is an integer (Pugh, *The Omega
    /// test*, 1991). The rows that bounded it are returned.
    pub(super) fn eliminate(
        &mut self,
        column: usize,
        dark: bool,
        budget: &mut Budget,
    ) -> Checked<Vec<Row>> {
        let rows = std::mem::take(&mut self.inequalities);
        let (bounds, rest): (Vec<_>, Vec<_>) = rows
            .into_iter()
            .partition(|row| row.coefficient(column) != 0);
        self.inequalities = rest;
        for lower in bounds.iter().filter(|row| row.coefficient(column) > 0) {
            for upper in bounds.iter().filter(|row| row.coefficient(column) < 0) {
                budget.spend(1)?;
                let (of_lower, of_upper) = (lower.coefficient(column), upper.coefficient(column));
                let of_upper = negate(of_upper)?;
                let mut row = lower.combined(of_upper, upper, of_lower)?;
                if dark {
                    let slack = multiply(of_lower - 1, of_upper - 1)?;
                    row = row.offset(negate(slack)?)?;
                }
                self.inequalities.push(row);
            }
        }
        Ok(bounds)
    }

    /// Equalities of which at least one holds at each integer point that is not above the dark
    /// shadow of `column`, which `bounds` are about: the point is near one of the lower bounds.
    pub(super) fn splinters(
        column: usize,
        bounds: &[Row],
        budget: &mut Budget,
    ) -> Checked<Vec<Row>> {
        let most = bounds.iter().map(|row| -row.coefficient(column)).max();
        let most = most.unwrap_or(0);
        let mut splinters = Vec::new();
        for lower in bounds.iter().filter(|row| row.coefficient(column) > 1) {
            let of_lower = lower.coefficient(column);
            let last = add(multiply(most, of_lower - 1)?, negate(of_lower)?)?;
            let last = super::number::floor_div(last, most.max(1));
            for distance in 0..=last {
                budget.spend(1)?;
                splinters.push(lower.offset(negate(distance)?)?);
            }
        }
        Ok(splinters)
    }
}

#[derive(Clone, Copy, Default)]
struct Count {
    lower: u64,
    upper: u64,
    has_wide_lower: bool,
    has_wide_upper: bool,
}

impl Count {
    fn add(&mut self, coefficient: i128) {
        if coefficient > 0 {
            self.lower += 1;
            self.has_wide_lower |= coefficient != 1;
        } else {
            self.upper += 1;
            self.has_wide_upper |= coefficient != -1;
        }
    }

    fn occurs(&self) -> bool {
        self.lower + self.upper > 0
    }

    /// Whether the integers in the real shadow are those below integers.
    fn is_exact(&self) -> bool {
        self.lower == 0 || self.upper == 0 || !(self.has_wide_lower && self.has_wide_upper)
    }

    fn growth(&self) -> i128 {
        let (lower, upper) = (i128::from(self.lower), i128::from(self.upper));
        lower * upper - lower - upper
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_direction_become_the_tightest() -> Checked<()> {
        let mut system = System {
            equalities: vec![],
            inequalities: vec![
                Row::new([2, 2], -3),
                Row::new([1, 1], 4),
                Row::new([-1, -1], 9),
                Row::new([0, 1], 0),
                Row::from(3),
            ],
        };
        assert_eq!(system.tidy()?, Left::Rows);
        let rows = [
            Row::new([1, 1], -2),
            Row::new([-1, -1], 9),
            Row::new([0, 1], 0),
        ];
        assert!(rows.iter().all(|row| system.inequalities.contains(row)));
        assert_eq!(system.inequalities.len(), 3);
        system.inequalities.push(Row::new([-1, -1], 2));
        assert_eq!(system.tidy()?, Left::Rows);
        assert_eq!(system.equalities, [Row::new([1, 1], -2)]);
        system
            .inequalities
            .extend([Row::new([3], -4), Row::new([-1], 1)]);
        assert_eq!(system.tidy()?, Left::Nothing);
        Ok(())
    }

    #[test]
    fn shadows_of_a_narrow_strip() -> Checked<()> {
        // 3y <= x <= 3y + 1, over y: every x but those that leave 2.
        let strip = System {
            equalities: vec![],
            inequalities: vec![Row::new([1, -3], 0), Row::new([-1, 3], 1)],
        };
        let mut budget = Budget::default();
        let mut real = strip.clone();
        let bounds = real.eliminate(1, false, &mut budget)?;
        assert_eq!(real.tidy()?, Left::Rows);
        assert!(real.inequalities.is_empty());
        let mut dark = strip;
        dark.eliminate(1, true, &mut budget)?;
        assert_eq!(dark.tidy()?, Left::Nothing);
        let splinters = System::splinters(1, &bounds, &mut budget)?;
        assert_eq!(splinters, [Row::new([-1, 3], 1), Row::new([-1, 3], 0)]);
        Ok(())
    }
}
