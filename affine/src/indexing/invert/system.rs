//! Systems of linear equations whose unknowns are atoms.

use super::Checked;
use crate::indexing::IndexExpr;
use crate::indexing::simplify::linear::{Atom, Linear};
use std::collections::BTreeSet;

/// Systems with more equations or unknowns are not solved: each step looks at all coefficients.
const MAX_EQUATIONS: usize = 16;

/// One equation: the coefficients of the unknowns, and of the values on the right side of the first
/// equations.
#[derive(Clone)]
struct Row {
    unknowns: Vec<i128>,
    values: Vec<i128>,
}

impl Row {
    /// `self * by - other * times`, without common divisors; `None` when a number leaves 128 bits.
    fn combined(&self, by: i128, other: &Self, times: i128) -> Option<Self> {
        let all = |ours: &[i128], theirs: &[i128]| -> Option<Vec<i128>> {
            let pairs = ours.iter().zip(theirs);
            let combined = pairs.map(|(ours, theirs)| {
                ours.checked_mul(by)?
                    .checked_sub(theirs.checked_mul(times)?)
            });
            combined.collect()
        };
        let mut row = Self {
            unknowns: all(&self.unknowns, &other.unknowns)?,
            values: all(&self.values, &other.values)?,
        };
        let numbers = row.unknowns.iter().chain(&row.values);
        let common = numbers.fold(0, |common, it| common_divisor(common, it.unsigned_abs()));
        if let Ok(common @ 2..) = i128::try_from(common) {
            let numbers = row.unknowns.iter_mut().chain(&mut row.values);
            numbers.for_each(|it| *it /= common);
        }
        Some(row)
    }
}

fn common_divisor(mut left: u128, mut right: u128) -> u128 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

/// The atoms that equations `linear = value` determine. A quotient that is not whole means that no
/// point has these values.
pub(super) fn solved(equations: &[(Linear, IndexExpr)]) -> Checked<Vec<(Atom, IndexExpr)>> {
    let atoms = equations.iter().flat_map(|(linear, _)| &linear.terms);
    let atoms: BTreeSet<&Atom> = atoms.map(|it| &it.atom).collect();
    let atoms: Vec<&Atom> = atoms.into_iter().collect();
    if atoms.len() > MAX_EQUATIONS || equations.len() > MAX_EQUATIONS {
        return Ok(Vec::new());
    }
    let rows = equations.iter().enumerate().map(|(at, (linear, _))| Row {
        unknowns: atoms.iter().map(|it| coefficient(linear, it)).collect(),
        values: (0..equations.len())
            .map(|it| i128::from(it == at))
            .collect(),
    });
    let Some(rows) = eliminated(rows.collect(), atoms.len()) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for row in rows {
        let mut left = row.unknowns.iter().zip(&atoms).filter(|(it, _)| **it != 0);
        let (Some((divisor, atom)), None) = (left.next(), left.next()) else {
            continue;
        };
        let Ok(divisor) = i64::try_from(*divisor) else {
            continue;
        };
        let terms = row.values.iter().zip(equations).map(|(by, (_, value))| {
            let by = i64::try_from(*by).ok()?.checked_mul(divisor.signum())?;
            Some((value.clone(), by))
        });
        let Some(terms) = terms.collect::<Option<Vec<_>>>() else {
            continue;
        };
        let value = IndexExpr::sum(terms, 0)?.floordiv(&divisor.saturating_abs().into())?;
        found.push(((*atom).clone(), value));
    }
    Ok(found)
}

fn coefficient(linear: &Linear, atom: &Atom) -> i128 {
    let term = linear.terms.iter().find(|it| it.atom == *atom);
    term.map_or(0, |it| it.coefficient.into())
}

/// The rows with each unknown in one of them alone, as far as that can be had.
fn eliminated(mut rows: Vec<Row>, unknowns: usize) -> Option<Vec<Row>> {
    let mut done = 0;
    for column in 0..unknowns {
        let of = |row: &Row| row.unknowns.get(column).copied().unwrap_or(0);
        let pivot = rows.iter().enumerate().skip(done);
        let pivot = pivot.filter(|(_, it)| of(it) != 0);
        let Some(at) = pivot
            .min_by_key(|(_, it)| of(it).unsigned_abs())
            .map(|(at, _)| at)
        else {
            continue;
        };
        rows.swap(done, at);
        let pivot = rows.get(done)?.clone();
        for (at, row) in rows.iter_mut().enumerate() {
            if at != done && of(row) != 0 {
                *row = row.combined(of(&pivot), &pivot, of(row))?;
            }
        }
        done += 1;
    }
    Some(rows)
}
