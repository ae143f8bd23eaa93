//! Bounds of a dimension in terms of parameters and other dimensions, as a loop over it needs them.

use super::number::Checked;
use super::solve::pivot;
use super::system::{Left, System};
use super::{Budget, Conjunction, Row, Set};

/// What bounds a dimension of one conjunction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// It is at least each of these, rounded up.
    pub lower: Vec<BoundRow>,
    /// It is at most each of these, rounded down.
    pub upper: Vec<BoundRow>,
    /// The dimension takes every integer between the bounds: no integer was added by leaving the
    /// further dimensions out, and it is not confined to multiples.
    pub is_exact: bool,
}

/// `row / divisor`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BoundRow {
    /// Over parameters and the dimensions that are known.
    pub row: Row,
    /// Positive.
    pub divisor: i128,
}

impl Set {
    /// The bounds of the dimension at `position` for each conjunction, in terms of parameters and
    /// the dimensions before it: those behind it are left out. None of the bounds follows from the
    /// others. A conjunction that is empty has none.
    ///
    /// # Errors
    /// Why they are not known.
    pub fn bounds(&self, position: usize, budget: &mut Budget) -> Checked<Vec<Bounds>> {
        let column = self.space().dimension(position);
        let mut bounds = Vec::new();
        for conjunction in self.conjunctions() {
            if !conjunction.is_empty(budget)? {
                bounds.push(bounds_of(conjunction, column, budget)?);
            }
        }
        Ok(bounds)
    }
}

fn bounds_of(conjunction: &Conjunction, column: usize, budget: &mut Budget) -> Checked<Bounds> {
    let Shadow {
        mut system,
        is_exact,
    } = shadow(conjunction, |it| it <= column, budget)?;
    let mut bounds = Bounds {
        lower: Vec::new(),
        upper: Vec::new(),
        is_exact,
    };
    for row in std::mem::take(&mut system.equalities) {
        match row.coefficient(column) {
            0 => system.equalities.push(row),
            _ => {
                system.inequalities.push(row.negated()?);
                system.inequalities.push(row);
            }
        }
    }
    let alone = Conjunction::of_system(column + 1, 0, system);
    let mut needed = alone.clone();
    super::subtract::drop_implied(&mut needed, budget)?;
    for row in needed.inequalities() {
        let coefficient = row.coefficient(column);
        let mut rest = row.clone();
        rest.set(column, 0);
        let divisor = coefficient.abs();
        match coefficient.signum() {
            1 => bounds.lower.push(BoundRow {
                row: rest.negated()?,
                divisor,
            }),
            -1 => bounds.upper.push(BoundRow { row: rest, divisor }),
            _ => {}
        }
    }
    bounds.lower.sort();
    bounds.upper.sort();
    Ok(bounds)
}

/// Rows over some of the columns that hold wherever a conjunction does.
pub(super) struct Shadow {
    pub(super) system: System,
    /// Each integer point that satisfies the rows lies below one of the conjunction.
    pub(super) is_exact: bool,
}

/// The real shadow of `conjunction` on the columns `kept`.
pub(super) fn shadow(
    conjunction: &Conjunction,
    kept: impl Fn(usize) -> bool,
    budget: &mut Budget,
) -> Checked<Shadow> {
    let mut system = conjunction.system.clone();
    let mut is_exact = true;
    loop {
        budget.spend(1)?;
        if system.tidy()? == Left::Nothing {
            let nothing = System {
                equalities: Vec::new(),
                inequalities: vec![Row::from(-1)],
            };
            return Ok(Shadow {
                system: nothing,
                is_exact,
            });
        }
        if let Some(equality) = take_equality(&mut system, &kept) {
            is_exact &= solve_for_hidden(equality, &mut system, &kept, budget)?;
            continue;
        }
        let Some(choice) = system.choose(|column| !kept(column)) else {
            return Ok(Shadow { system, is_exact });
        };
        is_exact &= choice.is_exact;
        system.eliminate(choice.column, false, budget)?;
    }
}

/// An equality in which a column occurs that is not kept.
fn take_equality(system: &mut System, kept: &impl Fn(usize) -> bool) -> Option<Row> {
    let mentions = |row: &Row| row.terms().any(|(column, _)| !kept(column));
    let position = system.equalities.iter().position(mentions)?;
    Some(system.equalities.swap_remove(position))
}

/// Uses an equality to take a hidden column out, and says whether integers stay what they are:
/// where the equality only says that the rest is a multiple, that is lost.
fn solve_for_hidden(
    equality: Row,
    system: &mut System,
    kept: &impl Fn(usize) -> bool,
    budget: &mut Budget,
) -> Checked<bool> {
    let Some((column, definition)) = pivot(&equality, |column| !kept(column))? else {
        return Ok(true);
    };
    let coefficient = equality.coefficient(column);
    if coefficient.abs() == 1 || definition != Row::column(column) {
        if coefficient.abs() != 1 {
            // The same equality comes next: steps of different ones by turns need not end.
            system.equalities.insert(0, equality);
        }
        system.substitute(column, &definition, budget)?;
        return Ok(true);
    }
    let replaced = |row: &Row| {
        let times = row.coefficient(column);
        row.combined(coefficient.abs(), &equality, -times * coefficient.signum())
    };
    for row in system.equalities.iter_mut().chain(&mut system.inequalities) {
        if row.coefficient(column) != 0 {
            budget.spend(1)?;
            *row = replaced(row)?;
        }
    }
    Ok(false)
}
