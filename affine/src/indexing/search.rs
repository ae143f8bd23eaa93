//! Points of domains: whether there is one, some of them, all of them, and the extreme values at
//! them.
//!
//! The box of the variables is split again and again; parts in which a constraint cannot hold are
//! dropped. What is found is exact; a search that takes too long says so.

use super::simplify::constraint::Domain;
use super::simplify::context::{Context, Span};
use super::simplify::linear::{Linear, Unsimplified};
use super::simplify::normalize::{Normalizer, Style};
use super::{IndexExpr, IndexingError, IndexingMap, Interval, Variable};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// So many boxes are looked at in one search.
const BOXES: usize = 4_000;

/// Fewer boxes where a box takes more steps than others: so many in all, and so many boxes at
/// least.
const BOX_STEPS: usize = 4_000_000;
const FEWEST_BOXES: usize = 32;

/// So often the interval in which an end of a range is sought is cut in half.
const BISECTIONS: usize = 16;

/// The steps that one expression may take.
const STEPS: usize = 1_000_000;

/// Whether a domain has a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emptiness {
    /// It has none.
    Empty,
    /// It has at least one.
    Inhabited,
    /// The search took too long.
    Unknown,
}

impl IndexingMap {
    /// Whether the domain has a point.
    pub fn emptiness(&self) -> Emptiness {
        match Search::of(self) {
            None => Emptiness::Empty,
            Some(search) => match search.point(0) {
                Found::Point(_) => Emptiness::Inhabited,
                Found::Nothing => Emptiness::Empty,
                Found::Unknown => Emptiness::Unknown,
            },
        }
    }

    /// Up to `count` points of the domain, drawn by `seed`; a point may come more than once. None
    /// when the domain is empty or no point was found.
    pub fn sample(&self, count: usize, seed: u64) -> Vec<Vec<i64>> {
        let Some(search) = Search::of(self) else {
            return Vec::new();
        };
        let mut points = Vec::new();
        for draw in 0..count as u64 {
            match search.point(seed.wrapping_add(draw).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1) {
                Found::Point(point) => points.push(point),
                Found::Nothing | Found::Unknown => break,
            }
        }
        points
    }

    /// All points of the domain in lexicographic order, each with a value for each of
    /// [`IndexingMap::variables`]. Points at which a constraint has no value are left out.
    ///
    /// # Errors
    /// The box of the variables has more than `limit` points.
    pub fn points(
        &self,
        limit: usize,
    ) -> Result<impl Iterator<Item = Vec<i64>> + '_, IndexingError> {
        let bounds = if self.known_empty {
            vec![Interval::new(1, 0)]
        } else {
            self.box_bounds()
        };
        let counts = bounds.iter().map(|it| it.count());
        let count = counts.fold(1, u128::saturating_mul);
        if count > limit as u128 {
            return Err(IndexingError::TooManyPoints(limit));
        }
        let first: Vec<i64> = bounds.iter().map(|it| it.low).collect();
        let first = (count > 0).then_some(first);
        let all = std::iter::successors(first, move |point| following(point, &bounds));
        Ok(all.filter(|point| self.contains(point) == Ok(true)))
    }

    /// The least and the greatest value of each result over the domain; `None` when the domain is
    /// empty. A range is as tight as can be unless the search for its ends takes too long: then it
    /// never misses a value, but may hold others.
    ///
    /// # Errors
    /// A result leaves 64 bits.
    pub fn result_ranges(&self) -> Result<Option<Vec<Interval>>, IndexingError> {
        self.result_ranges_within(BOXES)
    }

    /// The same, after at most so many parts of the domain were looked at for each end.
    pub(crate) fn result_ranges_within(
        &self,
        parts: usize,
    ) -> Result<Option<Vec<Interval>>, IndexingError> {
        let Some(mut search) = Search::of(self) else {
            return Ok(None);
        };
        search.parts = search.parts.min(parts);
        if parts < BOXES {
            search.bisections = 0;
        }
        if matches!(search.point(0), Found::Nothing) {
            return Ok(None);
        }
        let ranges = search.map.results.iter().map(|it| search.range(it));
        ranges.collect::<Result<_, _>>().map(Some)
    }
}

fn following(point: &[i64], bounds: &[Interval]) -> Option<Vec<i64>> {
    let mut next = point.to_vec();
    for (value, bounds) in next.iter_mut().zip(bounds).rev() {
        if *value < bounds.high {
            *value += 1;
            return Some(next);
        }
        *value = bounds.low;
    }
    None
}

enum Found<T> {
    Point(T),
    Nothing,
    Unknown,
}

struct Search {
    /// Simplified.
    map: IndexingMap,
    context: Context,
    /// With what the constraints say.
    facts: Context,
    /// What can be said of a box without trying its points.
    constraints: Vec<(Linear, Interval)>,
    /// The variables that occur in constraints.
    constrained: Vec<Variable>,
    /// So many boxes are looked at.
    parts: usize,
    /// None where the search is to be short: each begins another.
    bisections: usize,
}

/// So many boxes can be looked at: each constraint is held against each of its terms, as large as
/// all of it.
fn affordable(map: &IndexingMap, constraints: &[(Linear, Interval)]) -> usize {
    let steps = constraints.iter().map(|(linear, _)| {
        let terms = linear.terms.len().max(1);
        terms.saturating_mul(linear.size().nodes)
    });
    let steps = steps.fold(map.size().nodes, usize::saturating_add);
    (BOX_STEPS / steps.max(1)).clamp(FEWEST_BOXES, BOXES)
}

/// A box, its variables in their order.
type Bounds = Vec<Interval>;

impl Search {
    /// `None` when the domain is known to be empty.
    fn of(map: &IndexingMap) -> Option<Self> {
        let map = map.simplified();
        if map.known_empty {
            return None;
        }
        let context = Context::of_bounds(&map);
        let facts = map.context();
        let normal = map.constraints.iter().filter_map(|it| {
            let linear = normal(&it.expr, &context)?;
            Some((linear, it.bounds))
        });
        let constraints: Vec<_> = normal.collect();
        let mut constrained = Vec::new();
        for it in &map.constraints {
            it.expr.for_each_variable(&mut |variable| {
                if !constrained.contains(&variable) {
                    constrained.push(variable);
                }
            });
        }
        Some(Self {
            context,
            facts,
            parts: affordable(&map, &constraints),
            constraints,
            constrained,
            map,
            bisections: BISECTIONS,
        })
    }

    fn context(&self, bounds: &Bounds) -> Context {
        let mut context = self.context.clone();
        for (variable, bounds) in self.map.variables().zip(bounds) {
            context.set_bounds(variable, *bounds);
        }
        context
    }

    /// The box cut down to what the constraints leave; `None` when they leave nothing.
    fn cut(&self, bounds: Bounds) -> Option<Bounds> {
        if self.constraints.is_empty() {
            return Some(bounds);
        }
        let context = Domain::cut(self.context(&bounds), &self.constraints)?;
        let cut: Bounds = self.map.variables().map(|it| context.bounds(it)).collect();
        Some(cut)
    }

    /// A point of the domain: the halves of boxes are tried in the order that the bits of `seed`
    /// give.
    fn point(&self, seed: u64) -> Found<Vec<i64>> {
        let mut random = seed;
        let mut boxes = vec![self.map.box_bounds()];
        let mut has_no_value = false;
        for _ in 0..self.parts {
            let Some(bounds) = boxes.pop() else {
                return if has_no_value {
                    Found::Unknown
                } else {
                    Found::Nothing
                };
            };
            let Some(bounds) = self.cut(bounds) else {
                continue;
            };
            for point in [drawn(&bounds, &mut random), corner(&bounds, |_| false)] {
                match self.map.contains(&point) {
                    Ok(true) => return Found::Point(point),
                    Ok(false) => {}
                    Err(_) => has_no_value = true,
                }
            }
            if let Some((left, right)) = self.halves(&bounds, &self.constrained) {
                let left_first = next(&mut random) & 1 == 0;
                boxes.extend(if left_first {
                    [right, left]
                } else {
                    [left, right]
                });
            }
        }
        Found::Unknown
    }

    /// Both halves of a box along the widest of these variables.
    fn halves(&self, bounds: &Bounds, along: &[Variable]) -> Option<(Bounds, Bounds)> {
        let slots = along.iter().map(|it| self.map.slot(*it));
        let width = |slot: &usize| bounds.get(*slot).map_or(0, |it| it.count());
        let slot = slots.max_by_key(|slot| (width(slot), Reverse(*slot)))?;
        let bound = *bounds.get(slot)?;
        if bound.count() < 2 {
            return None;
        }
        let middle = (i128::from(bound.low) + i128::from(bound.high)).div_euclid(2);
        let middle = i64::try_from(middle).ok()?;
        let (mut left, mut right) = (bounds.clone(), bounds.clone());
        left[slot] = Interval::new(bound.low, middle);
        right[slot] = Interval::new(middle + 1, bound.high);
        Some((left, right))
    }

    fn range(&self, result: &IndexExpr) -> Result<Interval, IndexingError> {
        let normalizer = Normalizer::new(&self.context, Style::Careful, STEPS);
        let linear = normalizer.linear(result).map_err(|error| match error {
            Unsimplified::DivisionByZero => IndexingError::DivisionByZero,
            Unsimplified::Overflow | Unsimplified::OutOfFuel => IndexingError::Overflow,
        })?;
        let least = self.least(result, &linear, 1)?;
        let greatest = self.least(result, &linear, -1)?;
        let narrow = |value: i128| i64::try_from(value).map_err(|_| IndexingError::Overflow);
        let negated = greatest.checked_neg().ok_or(IndexingError::Overflow)?;
        Ok(Interval::new(narrow(least)?, narrow(negated)?))
    }

    /// A value of `sign * result` in `within`, if there is one.
    fn value_in(&self, result: &IndexExpr, sign: i128, within: Span) -> Found<i128> {
        let within = within.scaled(sign);
        let (Ok(low), Ok(high)) = (i64::try_from(within.low), i64::try_from(within.high)) else {
            return Found::Unknown;
        };
        let Ok(map) = (self.map.clone()).constrained(result.clone(), Interval::new(low, high))
        else {
            return Found::Unknown;
        };
        let Some(search) = Self::of(&map) else {
            return Found::Nothing;
        };
        let point = match search.point(0) {
            Found::Point(point) => point,
            Found::Nothing => return Found::Nothing,
            Found::Unknown => return Found::Unknown,
        };
        let value_of = |it| point.get(self.map.slot(it)).copied().unwrap_or(0);
        match result.wide_value(&value_of) {
            Ok(value) => Found::Point(value * sign),
            Err(_) => Found::Unknown,
        }
    }

    /// The least value of `sign * result`, which is not below `low` and not above `high`. The
    /// interval is cut in half as long as it is known in which half there is a value.
    fn bisected(&self, result: &IndexExpr, sign: i128, mut low: i128, mut high: i128) -> i128 {
        // The end itself first: mostly it is a value.
        let mut middle = low;
        for _ in 0..self.bisections {
            if high <= low {
                break;
            }
            match self.value_in(result, sign, Span { low, high: middle }) {
                Found::Point(value) => high = value,
                Found::Nothing => low = middle + 1,
                Found::Unknown => break,
            }
            middle = low + high.saturating_sub(low).max(0) / 2;
        }
        low
    }

    /// The least value of `sign * result`. Boxes are looked at in the order of their least possible
    /// values, so that the first one whose value is taken ends the search.
    fn least(
        &self,
        result: &IndexExpr,
        linear: &Linear,
        sign: i128,
    ) -> Result<i128, IndexingError> {
        let mut along = self.constrained.clone();
        result.for_each_variable(&mut |variable| {
            if !along.contains(&variable) {
                along.push(variable);
            }
        });
        let known = self.facts.range(linear).scaled(sign);
        let bound = |bounds: &Bounds| -> i128 {
            let span: Span = self.context(bounds).range(linear).scaled(sign);
            span.low.max(known.low)
        };
        let falling = |variable: Variable| linear.falls_with(variable) == (sign > 0);
        let mut best: Option<i128> = None;
        let mut queue = BinaryHeap::new();
        let whole = self.map.box_bounds();
        queue.push(Reverse((bound(&whole), 0_u128, whole)));
        for _ in 0..self.parts {
            let Some(Reverse((low, _, bounds))) = queue.pop() else {
                break;
            };
            if best.is_some_and(|best| best <= low) {
                return Ok(best.unwrap_or(low));
            }
            let Some(bounds) = self.cut(bounds) else {
                continue;
            };
            let variables: Vec<Variable> = self.map.variables().collect();
            let best_corner = |slot: usize| variables.get(slot).is_some_and(|it| falling(*it));
            for point in [
                corner(&bounds, best_corner),
                corner(&bounds, |_| false),
                corner(&bounds, |_| true),
            ] {
                if self.map.contains(&point) == Ok(true) {
                    let value_of = |it| point.get(self.map.slot(it)).copied().unwrap_or(0);
                    if let Ok(value) = result.wide_value(&value_of) {
                        best = Some(best.map_or(value * sign, |best| best.min(value * sign)));
                    }
                }
            }
            if let Some((left, right)) = self.halves(&bounds, &along) {
                for half in [left, right] {
                    let size = half.iter().map(|it| it.count()).max().unwrap_or(0);
                    queue.push(Reverse((bound(&half), size, half)));
                }
            }
        }
        match queue.peek() {
            Some(Reverse((low, ..))) => {
                let high = best.unwrap_or(known.high);
                Ok(self.bisected(result, sign, *low, high))
            }
            None => Ok(best.unwrap_or_else(|| bound(&self.map.box_bounds()))),
        }
    }
}

fn normal(expr: &IndexExpr, context: &Context) -> Option<Linear> {
    let normalizer = Normalizer::new(context, Style::Careful, STEPS);
    normalizer.linear(expr).ok()
}

/// A corner of a box: for each variable its greatest value or its least.
fn corner(bounds: &Bounds, greatest: impl Fn(usize) -> bool) -> Vec<i64> {
    let ends = bounds.iter().enumerate();
    ends.map(|(slot, it)| if greatest(slot) { it.high } else { it.low })
        .collect()
}

/// A point of a box; its least corner for the seed zero.
fn drawn(bounds: &Bounds, random: &mut u64) -> Vec<i64> {
    let values = bounds.iter().map(|it| {
        let offset = i128::from(next(random)) % i128::try_from(it.count()).unwrap_or(1);
        i64::try_from(i128::from(it.low) + offset).unwrap_or(it.low)
    });
    values.collect()
}

/// xorshift64; zero stays zero.
fn next(random: &mut u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random >> 11
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indexing::test_maps::map;

    #[track_caller]
    fn ranges(text: &str) -> String {
        let ranges = map(text).result_ranges().expect("values of 64 bits");
        let ranges = ranges.expect("a point").into_iter();
        ranges
            .map(|it| it.to_string())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn ranges_are_exact_where_terms_move_together() {
        assert_eq!(
            ranges("(d0) -> (d0 - d0 mod 4, d0 * 3), domain: d0 in [0, 9]"),
            "[0, 8] [0, 27]"
        );
        assert_eq!(
            ranges("(d0, d1) -> (d0 - d1), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [3, 4]"),
            "[-4, 4]"
        );
        assert_eq!(
            ranges("(d0) -> (d0 mod 7), domain: d0 in [8, 1000000000]"),
            "[0, 6]"
        );
        assert_eq!(
            ranges("(d0) -> (d0 * d0 - d0 * 4), domain: d0 in [-3, 9]"),
            "[-4, 45]"
        );
        assert_eq!(
            ranges("(d0){rt0} -> (d0 + rt0, 7), domain: d0 in [1, 3], rt0 in [-4, 4]"),
            "[-3, 7] [7, 7]"
        );
    }

    #[test]
    fn ranges_of_what_is_constrained_are_exact_in_large_boxes() {
        let large = "d0 in [0, 1000000], rt0 in [0, 1000000]";
        for (result, constraint, expected) in [
            ("d0 - rt0", "d0 - rt0 in [3, 4]", "[3, 4]"),
            ("d0 * 3 - rt0 * 3 + 1", "d0 - rt0 in [3, 4]", "[10, 13]"),
            (
                "rt0 - d0, d0",
                "d0 - rt0 in [3, 4]",
                "[-4, -3] [3, 1000000]",
            ),
            ("(d0 - rt0) * 5 + 2", "d0 + rt0 in [7, 7]", "[-33, 37]"),
            ("d0 + rt0 * 2", "d0 - rt0 in [-2, 4]", "[0, 3000000]"),
        ] {
            let text = format!("(d0){{rt0}} -> ({result}), domain: {large}, {constraint}");
            assert_eq!(ranges(&text), expected, "{text}");
        }
    }

    #[test]
    fn a_division_by_zero_is_named() {
        let divided = map("(d0, d1) -> (d0 mod d1), domain: d0 in [0, 9], d1 in [0, 0]");
        assert_eq!(divided.result_ranges(), Err(IndexingError::DivisionByZero));
        assert_eq!(
            divided.evaluate(&[3, 0]),
            Err(IndexingError::DivisionByZero)
        );
        assert_eq!(divided.inverse(), Err(IndexingError::DivisionByZero));
        assert_eq!(divided.simplified(), divided);
    }

    #[test]
    fn emptiness_is_decided_by_a_point() {
        let emptiness = |constraint: &str| {
            let text = format!(
                "(d0, d1) -> (d0), domain: d0 in [0, 1000000], d1 in [0, 1000000], {constraint}"
            );
            map(&text).emptiness()
        };
        assert_eq!(emptiness("d0 * 6 + d1 * 10 in [15, 15]"), Emptiness::Empty);
        assert_eq!(
            emptiness("d0 * 6 + d1 * 10 in [16, 16]"),
            Emptiness::Inhabited
        );
        assert_eq!(
            emptiness("d0 mod 6 in [1, 1], d0 mod 4 in [2, 2]"),
            Emptiness::Empty
        );
        assert_eq!(
            emptiness("d0 mod 1009 in [1008, 1008], d1 - d0 in [7, 7]"),
            Emptiness::Inhabited
        );
        assert_eq!(IndexingMap::known_empty().emptiness(), Emptiness::Empty);
    }

    #[test]
    fn points_and_samples_are_in_the_domain() {
        let map = map(
            "(d0, d1) -> (d0), domain: d0 in [0, 99], d1 in [-9, 9], d0 - d1 * 3 in [5, 6], d0 mod 4 in [1, 2]",
        );
        let points: Vec<_> = map.points(10_000).expect("few points").collect();
        assert!(points.is_sorted() && points.len() > 2);
        let sampled = map.sample(50, 7);
        assert_eq!(sampled.len(), 50);
        assert!(sampled.iter().all(|it| points.contains(it)));
        assert!(sampled.iter().any(|it| *it != sampled[0]));
        assert!(matches!(
            map.points(100).map(|_| ()),
            Err(IndexingError::TooManyPoints(100))
        ));
    }
}
