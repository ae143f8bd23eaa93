//! How many points a linear map takes a box of integers to.

use crate::indexing::image::filled;
use crate::sets::common_divisor;
use std::collections::BTreeMap;

/// What one variable does: what it adds to each result with each of its values but the first.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) steps: Vec<i128>,
    /// How many values it has.
    pub(super) count: i128,
}

/// How many different results there are, when the variables have all combinations of their values;
/// `None` where no closed form is known or a number leaves 128 bits.
///
/// Variables that move the results along the same line are one variable, where they leave no gaps.
/// Of the others, two points have the same results where they differ by a vector that the map takes
/// to zero. If there are none, all results differ. If they are the multiples of one vector, then
/// the points with the same results form a chain of such steps, without gaps as a box is convex,
/// and there are as many chains as there are points less the points that have a successor.
pub(super) fn distinct(columns: &[Column]) -> Option<i128> {
    let columns = merged(columns)?;
    let mut points = 1_i128;
    for column in &columns {
        points = points.checked_mul(column.count)?;
    }
    let Kernel::Line(vector) = kernel(&columns)? else {
        return Some(points);
    };
    let mut successors = 1_i128;
    for (column, step) in columns.iter().zip(vector) {
        let left = column.count.checked_sub(step.checked_abs()?)?;
        successors = successors.checked_mul(left.max(0))?;
    }
    points.checked_sub(successors)
}

/// The columns, those of one direction as few as can be.
fn merged(columns: &[Column]) -> Option<Vec<Column>> {
    let mut directions: BTreeMap<Vec<i128>, Vec<(i128, i128)>> = BTreeMap::new();
    for Column { steps, count } in columns {
        let Some(first) = steps.iter().find(|it| **it != 0) else {
            continue;
        };
        if *count == 1 {
            continue;
        }
        let length = steps.iter().fold(0, |all, it| common_divisor(all, *it));
        let direction = steps.iter().map(|it| it / length * first.signum());
        let scales = directions.entry(direction.collect()).or_default();
        scales.push((length, *count));
    }
    let mut merged = Vec::new();
    for (direction, scales) in directions {
        for (length, count) in filled(scales)? {
            let steps = direction.iter().map(|it| it.checked_mul(length));
            merged.push(Column {
                steps: steps.collect::<Option<_>>()?,
                count,
            });
        }
    }
    Some(merged)
}

/// The vectors that a linear map takes to zero.
enum Kernel {
    Zero,
    /// The multiples of one, whose entries have no common divisor.
    Line(Vec<i128>),
}

/// `None` where the vectors are multiples of several, or a number leaves 128 bits.
fn kernel(columns: &[Column]) -> Option<Kernel> {
    let results = columns.first().map_or(0, |it| it.steps.len());
    let row = |at: usize| columns.iter().filter_map(move |it| it.steps.get(at));
    let mut rows: Vec<Vec<i128>> = (0..results).map(|at| row(at).copied().collect()).collect();
    let mut pivots: Vec<usize> = Vec::new();
    let mut free = Vec::new();
    for column in 0..columns.len() {
        let of = |row: &Vec<i128>| row.get(column).copied().unwrap_or(0);
        let pivot = rows.iter().skip(pivots.len()).position(|it| of(it) != 0);
        let Some(below) = pivot else {
            free.push(column);
            continue;
        };
        let done = pivots.len();
        rows.swap(done, done + below);
        let pivot = rows.get(done)?.clone();
        for (at, row) in rows.iter_mut().enumerate() {
            if at != done && of(row) != 0 {
                *row = combined(row, of(&pivot), &pivot, of(row))?;
            }
        }
        pivots.push(column);
    }
    let [free] = free.as_slice() else {
        return free.is_empty().then_some(Kernel::Zero);
    };
    let mut vector = vec![0; columns.len()];
    let mut length = 1_i128;
    let solved = rows.iter().zip(&pivots).map(|(row, pivot)| {
        let (moves, by) = (*row.get(*free)?, *row.get(*pivot)?);
        let common = common_divisor(moves, by);
        Some((*pivot, moves / common, by / common))
    });
    let solved: Vec<_> = solved.collect::<Option<_>>()?;
    for (_, _, by) in &solved {
        length = (length / common_divisor(length, *by)).checked_mul(by.checked_abs()?)?;
    }
    for (pivot, moves, by) in solved {
        *vector.get_mut(pivot)? = (length / by).checked_mul(moves)?.checked_neg()?;
    }
    *vector.get_mut(*free)? = length;
    Some(Kernel::Line(vector))
}

/// `row * by - other * times`, without common divisors.
fn combined(row: &[i128], by: i128, other: &[i128], times: i128) -> Option<Vec<i128>> {
    let pairs = row.iter().zip(other);
    let combined = pairs.map(|(ours, theirs)| {
        let taken = theirs.checked_mul(times)?;
        ours.checked_mul(by)?.checked_sub(taken)
    });
    let mut combined = combined.collect::<Option<Vec<_>>>()?;
    let common = combined.iter().fold(0, |all, it| common_divisor(all, *it));
    if common > 1 {
        combined.iter_mut().for_each(|it| *it /= common);
    }
    Some(combined)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn enumerated(columns: &[Column], results: usize) -> usize {
        let mut sums = BTreeSet::from([vec![0; results]]);
        for column in columns {
            let moved = sums.iter().flat_map(|sum| {
                (0..column.count).map(move |times| {
                    let pairs = sum.iter().zip(&column.steps);
                    pairs.map(|(sum, step)| sum + times * step).collect()
                })
            });
            sums = moved.collect::<BTreeSet<Vec<i128>>>();
        }
        sums.len()
    }

    proptest! {
        #[test]
        fn counts_are_those_of_enumeration(
            columns in proptest::collection::vec(
                (proptest::collection::vec(-3_i128..=6, 2), 1_i128..7), 1..5,
            ),
        ) {
            let columns = columns.into_iter().map(|(steps, count)| Column { steps, count });
            let columns: Vec<_> = columns.collect();
            if let Some(found) = distinct(&columns) {
                prop_assert_eq!(found, enumerated(&columns, 2) as i128);
            }
        }
    }

    #[test]
    fn closed_forms() {
        let column = |steps: &[i128], count| Column {
            steps: steps.to_vec(),
            count,
        };
        let million = 1_000_000;
        for (columns, expected) in [
            (vec![], Some(1)),
            (
                vec![column(&[1], million), column(&[1], 3)],
                Some(million + 2),
            ),
            // No step of 3 and 10 is the other: 10 times the one and 3 times the other meet.
            (
                vec![column(&[10], million), column(&[3], million)],
                Some(million * million - (million - 3) * (million - 10)),
            ),
            (
                vec![column(&[1, 0], 8), column(&[1, 1], 8), column(&[0, 1], 8)],
                Some(512 - 343),
            ),
            (
                vec![column(&[6], 9), column(&[10], 9), column(&[15], 9)],
                None,
            ),
            (vec![column(&[i128::MAX, 1], 5), column(&[2, 3], 5)], None),
        ] {
            assert_eq!(distinct(&columns), expected, "{columns:?}");
        }
    }
}
