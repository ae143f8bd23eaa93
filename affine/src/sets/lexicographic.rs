//! First points in lexicographic order.

use super::number::{Checked, add, ceil_div, negate};
use super::{Budget, Conjunction, Row, Set, Unknown};

/// The points of `set` before which there is another of its points.
pub(super) fn later_points(set: &Set, budget: &mut Budget) -> Checked<Set> {
    let space = set.space();
    let count = space.dimensions().len();
    let mut later = Set::empty(space.clone());
    for earlier in set.conjunctions() {
        for point in set.conjunctions() {
            let mut both = point.clone();
            let copies: Vec<usize> = (0..count).map(|_| both.add_existential()).collect();
            let width = space.width();
            let behind = both.existentials();
            let place = |column: usize| match column.checked_sub(space.dimension(0)) {
                None => column,
                Some(_) if column >= width => column + behind,
                Some(position) => copies.get(position).copied().unwrap_or(column),
            };
            for _ in 0..earlier.existentials() {
                both.add_existential();
            }
            for row in earlier.equalities() {
                both.add_equality(row.moved(place));
            }
            for row in earlier.inequalities() {
                both.add_inequality(row.moved(place));
            }
            later = later.union(&before(set, &both, &copies)?);
        }
    }
    later.without_existentials(budget)
}

/// `both` where the copies of the dimensions come before the dimensions: at each of them first.
fn before(set: &Set, both: &Conjunction, copies: &[usize]) -> Checked<Set> {
    let space = set.space();
    let mut parts = Vec::new();
    let mut equal = both.clone();
    for (position, copy) in copies.iter().enumerate() {
        let difference = Row::column(space.dimension(position)).minus(&Row::column(*copy))?;
        let mut part = equal.clone();
        part.add_inequality(difference.offset(-1)?);
        parts.push(part);
        equal.add_equality(difference);
    }
    Ok(Set::new(space.clone(), parts))
}

/// The least value of a column; `None` when the set has no point.
pub(super) fn least_value(set: &Set, column: usize, budget: &mut Budget) -> Checked<Option<i128>> {
    let Some(sample) = set.sample(budget)? else {
        return Ok(None);
    };
    let mut high = sample.get(column).copied().unwrap_or(0);
    let Some(mut low) = lower_bound(set, column, budget)? else {
        return Err(Unknown::Budget);
    };
    while low < high {
        let middle = add(low, high)?.div_euclid(2);
        let below = Row::new([], middle).minus(&Row::column(column))?;
        match set.with_inequality(&below).sample(budget)? {
            Some(found) => high = found.get(column).copied().unwrap_or(0).min(middle),
            None => low = middle + 1,
        }
    }
    Ok(Some(high))
}

/// A value below which the column has none; `None` when its values have no end.
fn lower_bound(set: &Set, column: usize, budget: &mut Budget) -> Checked<Option<i128>> {
    let mut least = None;
    for conjunction in set.conjunctions() {
        if conjunction.is_empty(budget)? {
            continue;
        }
        let Some(bound) = lower_bound_of(conjunction, column, budget)? else {
            return Ok(None);
        };
        least = Some(least.map_or(bound, |it: i128| it.min(bound)));
    }
    Ok(least)
}

/// The least value of the real points of the conjunction in that column, rounded up.
fn lower_bound_of(
    conjunction: &Conjunction,
    column: usize,
    budget: &mut Budget,
) -> Checked<Option<i128>> {
    let bounds = super::bounds::shadow(conjunction, |it| it == column, budget)?;
    let mut low = None;
    for row in &bounds.system.equalities {
        let coefficient = row.coefficient(column);
        if coefficient != 0 {
            let value = negate(row.constant())?;
            let bound = ceil_div(value * coefficient.signum(), coefficient.abs());
            low = Some(low.map_or(bound, |it: i128| it.max(bound)));
        }
    }
    for row in &bounds.system.inequalities {
        let coefficient = row.coefficient(column);
        if coefficient > 0 {
            let bound = ceil_div(negate(row.constant())?, coefficient);
            low = Some(low.map_or(bound, |it: i128| it.max(bound)));
        }
    }
    Ok(low)
}
