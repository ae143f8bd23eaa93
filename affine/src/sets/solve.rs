//! Whether rows have an integer solution, and which: the Omega test, run backwards for the point.
//!
//! Equalities are solved by changes of columns that keep the integers (Euclid's algorithm on the
//! coefficients). Inequalities lose a column at a time; each leaves behind what bounded it, so that
//! from the last column on values can be chosen.

use super::number::{Checked, ceil_div, floor_div, nearest_div, negate};
use super::system::{Choice, Next, System};
use super::{Budget, Row, Unknown};

/// How a column gets its value, once those that were left have theirs.
enum Step {
    /// It is the value of the row, in which the column stands for what took its place.
    Defined(usize, Row),
    /// It is between these.
    Bounded(usize, Vec<Row>),
}

/// A solution with a value for each of `columns` columns: near zero, where there is a choice.
/// `None` when there is none.
pub(super) fn solution(
    system: System,
    columns: usize,
    budget: &mut Budget,
) -> Checked<Option<Vec<i128>>> {
    let columns = columns.max(system.width());
    let mut search = Search { columns, budget };
    search.solve(system)
}

struct Search<'b> {
    columns: usize,
    budget: &'b mut Budget,
}

type Solution = Checked<Option<Vec<i128>>>;

impl Search<'_> {
    fn solve(&mut self, mut system: System) -> Solution {
        let mut steps = Vec::new();
        let values = loop {
            self.budget.spend(1)?;
            match system.next()? {
                Next::Nothing => return Ok(None),
                Next::Equality(equality) => {
                    self.solve_equality(equality, &mut system, &mut steps)?;
                    continue;
                }
                Next::Inequalities => {}
            }
            match system.choose(|_| true) {
                None => break Some(vec![0; self.columns]),
                Some(Choice {
                    column,
                    is_exact: true,
                }) => {
                    let bounds = system.eliminate(column, false, self.budget)?;
                    steps.push(Step::Bounded(column, bounds));
                }
                Some(Choice { column, .. }) => break self.split(system, column, &mut steps)?,
            }
        };
        values.map(|values| chosen(values, steps)).transpose()
    }

    /// Takes the greatest step that keeps the integers towards an equality without the column of
    /// the least coefficient.
    fn solve_equality(
        &mut self,
        equality: Row,
        system: &mut System,
        steps: &mut Vec<Step>,
    ) -> Checked<()> {
        let Some((column, definition)) = pivot(&equality, |_| true)? else {
            return Ok(());
        };
        let is_solved = equality.coefficient(column).abs() == 1;
        if !is_solved {
            system.equalities.push(equality);
        }
        system.substitute(column, &definition, self.budget)?;
        steps.push(Step::Defined(column, definition));
        Ok(())
    }

    /// Looks above the dark shadow of `column` first, then near its lower bounds.
    fn split(&mut self, system: System, column: usize, steps: &mut Vec<Step>) -> Solution {
        let mut dark = system.clone();
        let bounds = dark.eliminate(column, true, self.budget)?;
        let mut unknown = None;
        match self.solve(dark) {
            Ok(Some(values)) => {
                steps.push(Step::Bounded(column, bounds));
                return Ok(Some(values));
            }
            Ok(None) => {}
            Err(why) => unknown = Some(why),
        }
        let mut real = system.clone();
        real.eliminate(column, false, self.budget)?;
        if matches!(self.solve(real), Ok(None)) {
            return Ok(None);
        }
        for splinter in System::splinters(column, &bounds, self.budget)? {
            let mut near = system.clone();
            near.equalities.push(splinter);
            match self.solve(near) {
                Ok(Some(values)) => return Ok(Some(values)),
                Ok(None) => {}
                Err(why) => unknown = Some(why),
            }
        }
        unknown.map_or(Ok(None), Err)
    }
}

/// The column of least coefficient among those `wanted` and what it is replaced by: with a
/// coefficient of one the column solves the equality, else it is replaced so that the other
/// coefficients become less than its own. `None` when none of them occurs.
pub(super) fn pivot(
    equality: &Row,
    wanted: impl Fn(usize) -> bool,
) -> Checked<Option<(usize, Row)>> {
    let terms = equality.terms().filter(|(column, _)| wanted(*column));
    let least = terms.min_by_key(|(column, coefficient)| (coefficient.unsigned_abs(), *column));
    let Some((column, coefficient)) = least else {
        return Ok(None);
    };
    if coefficient.abs() == 1 {
        let mut rest = equality.clone();
        rest.set(column, 0);
        return Ok(Some((column, rest.scaled(-coefficient)?)));
    }
    let mut definition = Row::column(column);
    for (other, of_other) in equality.terms() {
        if other != column && wanted(other) {
            let times = nearest_div(of_other, coefficient)?;
            definition.set(other, negate(times)?);
        }
    }
    Ok(Some((column, definition)))
}

/// The values of all columns, from those that were left at the end.
fn chosen(mut values: Vec<i128>, steps: Vec<Step>) -> Checked<Vec<i128>> {
    for step in steps.into_iter().rev() {
        let (column, value) = match step {
            Step::Defined(column, row) => (column, row.value(&values)?),
            Step::Bounded(column, bounds) => {
                if let Some(slot) = values.get_mut(column) {
                    *slot = 0;
                }
                (column, between(column, &bounds, &values)?)
            }
        };
        if let Some(slot) = values.get_mut(column) {
            *slot = value;
        }
    }
    Ok(values)
}

/// The integer nearest to zero that `bounds` allow for `column`.
fn between(column: usize, bounds: &[Row], values: &[i128]) -> Checked<i128> {
    let (mut low, mut high) = (None, None);
    for row in bounds {
        let coefficient = row.coefficient(column);
        let rest = row.value(values)?;
        if coefficient > 0 {
            let bound = ceil_div(negate(rest)?, coefficient);
            low = Some(low.map_or(bound, |it: i128| it.max(bound)));
        } else {
            let bound = floor_div(rest, negate(coefficient)?);
            high = Some(high.map_or(bound, |it: i128| it.min(bound)));
        }
    }
    match (low, high) {
        // An elimination that is exact leaves room for an integer.
        (Some(low), Some(high)) if low > high => Err(Unknown::Overflow),
        (Some(low), _) if low > 0 => Ok(low),
        (_, Some(high)) if high < 0 => Ok(high),
        _ => Ok(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solved(equalities: Vec<Row>, inequalities: Vec<Row>) -> Option<Vec<i128>> {
        let system = System {
            equalities,
            inequalities,
        };
        let rows = system.clone();
        let found = solution(system, 0, &mut Budget::default()).expect("an answer");
        if let Some(values) = &found {
            for row in &rows.equalities {
                assert_eq!(row.value(values), Ok(0), "{values:?}");
            }
            for row in &rows.inequalities {
                assert!(row.value(values).is_ok_and(|it| it >= 0), "{values:?}");
            }
        }
        found
    }

    #[test]
    fn equations_over_integers() {
        assert!(solved(vec![Row::new([7, 12, 31], -17)], vec![]).is_some());
        assert!(solved(vec![Row::new([6, 10], -3)], vec![]).is_none());
        let both = vec![Row::new([7, 12, 31], -17), Row::new([3, 5, 14], -7)];
        assert!(solved(both, vec![]).is_some());
    }

    #[test]
    fn the_classic_strip_without_an_integer() {
        // 27 <= 11x + 13y <= 45 and -10 <= 7x - 9y <= 4 has real points and no integer one.
        let rows = vec![
            Row::new([11, 13], -27),
            Row::new([-11, -13], 45),
            Row::new([7, -9], 10),
            Row::new([-7, 9], 4),
        ];
        assert_eq!(solved(vec![], rows), None);
    }

    #[test]
    fn a_point_that_only_a_splinter_has() {
        // 3y <= x <= 3y + 1 and x in [4, 5].
        let rows = vec![
            Row::new([1, -3], 0),
            Row::new([-1, 3], 1),
            Row::new([1], -4),
            Row::new([-1], 5),
        ];
        assert_eq!(solved(vec![], rows), Some(vec![4, 1]));
    }

    #[test]
    fn what_takes_too_long_says_so() {
        let system = System {
            equalities: vec![],
            inequalities: (2..40)
                .flat_map(|it| {
                    [
                        Row::new([it, 7 - it, 3], 5),
                        Row::new([-it, it * 2, -7], it),
                    ]
                })
                .collect(),
        };
        let found = solution(system, 3, &mut Budget::new(50));
        assert_eq!(found, Err(Unknown::Budget));
    }
}
