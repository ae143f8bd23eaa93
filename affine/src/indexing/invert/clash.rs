//! Why a map has no inverse: two points that it takes to one.

use super::Checked;
use crate::indexing::{IndexingMap, Interval, VariableKind};
use std::collections::HashMap;
use std::fmt;

/// Larger domains are looked at in part.
const MAX_POINTS: usize = 1 << 14;

/// So many points of a larger domain are tried.
const SAMPLES: usize = 32;

/// Two points with the same results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The points, each with a value for each of [`IndexingMap::variables`].
    pub points: [Vec<i64>; 2],
    /// What both are taken to.
    pub results: Vec<i64>,
}

impl fmt::Display for Clash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tuple = |values: &[i64]| {
            let values: Vec<_> = values.iter().map(ToString::to_string).collect();
            format!("({})", values.join(", "))
        };
        let [one, other] = &self.points;
        let results = tuple(&self.results);
        write!(
            f,
            "{} and {} are both taken to {results}",
            tuple(one),
            tuple(other)
        )
    }
}

impl IndexingMap {
    /// Two points that are taken to one, of a domain or of the corner of a large one. Range
    /// variables without a part in the map do not tell points apart, and runtime variables are the
    /// same for both.
    pub fn clash(&self) -> Option<Clash> {
        let corner = self.corner();
        let mut seen: HashMap<Vec<i64>, Vec<i64>> = HashMap::new();
        let kinds: Vec<_> = self.variables().collect();
        let part = |point: &[i64], is_meant: &dyn Fn(VariableKind) -> bool| -> Vec<i64> {
            let values = point.iter().zip(&kinds).filter(|(_, it)| {
                is_meant(it.kind) && (it.kind != VariableKind::Range || self.mentions(**it))
            });
            values.map(|(value, _)| *value).collect()
        };
        for point in corner.points(MAX_POINTS).ok()? {
            let Ok(Some(results)) = self.evaluate(&point) else {
                continue;
            };
            let mut there = results.clone();
            there.extend(part(&point, &|it| it == VariableKind::Runtime));
            let Some(before) = seen.insert(there, point.clone()) else {
                continue;
            };
            let is_moved = |it: VariableKind| it != VariableKind::Runtime;
            if part(&before, &is_moved) != part(&point, &is_moved) {
                return Some(Clash {
                    points: [before, point],
                    results,
                });
            }
        }
        None
    }

    /// The map on the first values of each variable, as many as can be looked at.
    fn corner(&self) -> Self {
        let mut corner = self.clone();
        let mut left = MAX_POINTS as u128;
        let mut variables: Vec<_> = self.variables().collect();
        let count = |map: &Self, it| map.declaration(it).map_or(0, |it| it.bounds.count());
        variables.sort_by_key(|it| count(self, *it));
        for (done, variable) in variables.iter().enumerate() {
            let open = u32::try_from(variables.len() - done).unwrap_or(u32::MAX);
            let share = nth_root(left, open).max(1);
            if let Some(declaration) = corner.declaration_mut(*variable) {
                let Interval { low, high } = declaration.bounds;
                let most = i64::try_from(share - 1).unwrap_or(i64::MAX);
                declaration.bounds.high = high.min(low.saturating_add(most));
            }
            left /= count(&corner, *variable).max(1);
        }
        corner
    }

    /// Whether `inverse` takes the results of this map back, at all points of a small domain and at
    /// some of a large one.
    pub(super) fn is_taken_back_by(&self, inverse: &Self) -> Checked<bool> {
        let points: Vec<_> = match self.points(MAX_POINTS) {
            Ok(points) => points.collect(),
            Err(_) => self.sample(SAMPLES, 1),
        };
        let counted = self.dimensions().len() + self.ranges().len();
        for point in points {
            let Some(mut there) = self.evaluate(&point)? else {
                continue;
            };
            there.extend(point.iter().skip(counted));
            let back = inverse.evaluate(&there);
            let dimensions = point.get(..self.dimensions().len());
            if back.ok().flatten().as_deref() != dimensions {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The greatest number whose `n`-th power is at most `value`.
fn nth_root(value: u128, n: u32) -> u128 {
    let is_within = |it: &u128| it.checked_pow(n).is_some_and(|it| it <= value);
    (1..=value).take_while(is_within).last().unwrap_or(0)
}
