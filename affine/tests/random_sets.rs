//! Random small sets against the enumeration of all their points.

use std::collections::BTreeSet;
use strew_affine::sets::{BoundRow, Budget, Conjunction, Row, Set, Space, parse_set};

/// Numbers from a seed (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % count
    }

    fn within(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }
}

/// Dimensions and existentials lie in `-EDGE..=EDGE`.
const EDGE: i64 = 3;

/// Rows over dimensions and existentials, kept apart from the library's so that the enumeration is
/// independent of it.
#[derive(Clone, Debug)]
struct Rows {
    dimensions: usize,
    existentials: usize,
    equalities: Vec<(Vec<i64>, i64)>,
    inequalities: Vec<(Vec<i64>, i64)>,
}

impl Rows {
    fn random(random: &mut Random, dimensions: usize) -> Self {
        let existentials = random.below(3) as usize;
        let columns = dimensions + existentials;
        let row = |random: &mut Random, most: i64| {
            let coefficient = |random: &mut Random| match random.below(3) {
                0 => 0,
                _ => random.within(-4, 4),
            };
            let coefficients: Vec<i64> = (0..columns).map(|_| coefficient(random)).collect();
            (coefficients, random.within(-most, most))
        };
        let equalities = (0..random.below(3)).map(|_| row(random, 3)).collect();
        let inequalities = (0..random.below(4)).map(|_| row(random, 6)).collect();
        Self {
            dimensions,
            existentials,
            equalities,
            inequalities,
        }
    }

    fn conjunction(&self) -> Conjunction {
        let mut conjunction = Conjunction::universe(self.dimensions);
        for _ in 0..self.existentials {
            conjunction.add_existential();
        }
        for column in 0..self.dimensions + self.existentials {
            let value = Row::column(column);
            conjunction.add_inequality(value.offset(EDGE.into()).expect("small"));
            let below = value.scaled(-1).and_then(|it| it.offset(EDGE.into()));
            conjunction.add_inequality(below.expect("small"));
        }
        let row = |(coefficients, constant): &(Vec<i64>, i64)| {
            Row::new(
                coefficients.iter().map(|it| i128::from(*it)),
                i128::from(*constant),
            )
        };
        self.equalities
            .iter()
            .for_each(|it| conjunction.add_equality(row(it)));
        self.inequalities
            .iter()
            .for_each(|it| conjunction.add_inequality(row(it)));
        conjunction
    }

    fn points(&self) -> BTreeSet<Vec<i64>> {
        let value = |(coefficients, constant): &(Vec<i64>, i64), point: &[i64]| {
            let terms = coefficients.iter().zip(point).map(|(c, x)| c * x);
            terms.sum::<i64>() + constant
        };
        let mut points = BTreeSet::new();
        for point in grid(self.dimensions + self.existentials) {
            let holds = self.equalities.iter().all(|it| value(it, &point) == 0)
                && self.inequalities.iter().all(|it| value(it, &point) >= 0);
            if holds {
                points.insert(point[..self.dimensions].to_vec());
            }
        }
        points
    }
}

fn grid(columns: usize) -> Vec<Vec<i64>> {
    let mut points = vec![Vec::new()];
    for _ in 0..columns {
        let longer = points
            .iter()
            .flat_map(|point| (-EDGE..=EDGE).map(|value| [point.as_slice(), &[value]].concat()));
        points = longer.collect();
    }
    points
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|it| format!("x{it}")).collect()
}

/// One to three conjunctions, and their points.
fn random_set(random: &mut Random, dimensions: usize) -> (Set, BTreeSet<Vec<i64>>) {
    let parts: Vec<Rows> = (0..=random.below(2))
        .map(|_| Rows::random(random, dimensions))
        .collect();
    let conjunctions = parts.iter().map(Rows::conjunction).collect();
    let points = parts.iter().flat_map(Rows::points).collect();
    (
        Set::new(Space::new(vec![], names(dimensions)), conjunctions),
        points,
    )
}

fn wide(point: &[i64]) -> Vec<i128> {
    point.iter().map(|it| i128::from(*it)).collect()
}

fn narrow(point: &[i128]) -> Vec<i64> {
    let values = point.iter().map(|it| i64::try_from(*it).expect("small"));
    values.collect()
}

#[track_caller]
fn holds_exactly(set: &Set, points: &BTreeSet<Vec<i64>>, what: &str, from: &Set) {
    for point in grid(set.space().dimensions().len()) {
        let found = set.contains(&wide(&point), &mut Budget::default());
        assert_eq!(
            found,
            Ok(points.contains(&point)),
            "{what} of {from} at {point:?}"
        );
    }
}

fn cases(seed: u64, count: u64, mut check: impl FnMut(&mut Random, usize)) {
    for case in 0..count {
        let mut random = Random(seed * 1_000_003 + case);
        let dimensions = 1 + random.below(3) as usize;
        check(&mut random, dimensions);
    }
}

#[test]
fn emptiness_and_samples_are_exact() {
    let mut empty = 0;
    cases(1, 3000, |random, dimensions| {
        let (set, points) = random_set(random, dimensions);
        match set.sample(&mut Budget::default()).expect("an answer") {
            Some(point) => assert!(points.contains(&narrow(&point)), "{point:?} in {set}"),
            None => {
                empty += 1;
                assert!(points.is_empty(), "{set}");
            }
        }
    });
    assert!(empty > 300, "{empty} of the sets are empty");
}

#[test]
fn projections_are_exact() {
    cases(2, 700, |random, dimensions| {
        let (set, points) = random_set(random, dimensions);
        let whole = set
            .without_existentials(&mut Budget::default())
            .expect("an answer");
        holds_exactly(&whole, &points, "all", &set);
        let removed = random.below(dimensions as u64) as usize;
        let projected = set.project_out(removed..removed + 1, &mut Budget::default());
        let projected = projected.expect("an answer");
        let without = points.iter().map(|point| {
            let mut point = point.clone();
            point.remove(removed);
            point
        });
        holds_exactly(&projected, &without.collect(), "a projection", &set);
        for conjunction in projected.conjunctions() {
            let rows = conjunction.inequalities().iter();
            assert!(
                rows.clone().all(|row| row.width() <= conjunction.width()),
                "{projected}"
            );
        }
    });
}

#[test]
fn differences_are_exact() {
    let mut unknown = 0;
    cases(3, 500, |random, dimensions| {
        let ((left, in_left), (right, in_right)) = (
            random_set(random, dimensions),
            random_set(random, dimensions),
        );
        let Ok(minus) = left.minus(&right, &mut Budget::default()) else {
            unknown += 1;
            return;
        };
        holds_exactly(&minus, &(&in_left - &in_right), "a difference", &left);
    });
    assert!(unknown < 10, "{unknown} differences are not known");
}

#[test]
fn intersections_unions_and_subsets_are_exact() {
    let mut unknown = 0;
    cases(7, 500, |random, dimensions| {
        let ((left, in_left), (right, in_right)) = (
            random_set(random, dimensions),
            random_set(random, dimensions),
        );
        let both = left.intersection(&right).expect("an answer");
        holds_exactly(&both, &(&in_left & &in_right), "an intersection", &left);
        let either = left.union(&right);
        holds_exactly(&either, &(&in_left | &in_right), "a union", &left);
        let budget = &mut Budget::default();
        for (part, whole, holds) in [
            (&left, &right, in_left.is_subset(&in_right)),
            (&both, &left, true),
            (&left, &either, true),
        ] {
            match part.is_subset(whole, budget) {
                Ok(found) => assert_eq!(found, holds, "{part} in {whole}"),
                Err(_) => unknown += 1,
            }
        }
        if let Ok(simplified) = left.simplified(budget) {
            holds_exactly(&simplified, &in_left, "a simplification", &left);
        } else {
            unknown += 1;
        }
    });
    assert!(unknown < 40, "{unknown} of 2000 answers are not known");
}

#[test]
fn first_points_are_the_first() {
    cases(4, 700, |random, dimensions| {
        let (set, points) = random_set(random, dimensions);
        let first = set.first_point(&[], &mut Budget::default());
        let first = first.expect("an answer");
        assert_eq!(
            first.map(|it| narrow(&it)).as_ref(),
            points.first(),
            "{set}"
        );
    });
}

/// With a parameter: for each value of it another point.
#[test]
fn minima_are_the_first_points_for_each_parameter() {
    let mut unknown = 0;
    for case in 0..300 {
        let mut random = Random(7_000_000 + case);
        let rows = Rows::random(&mut random, 2);
        let space = Space::new(names(1), vec!["x1".to_owned()]);
        let set = Set::new(space, vec![rows.conjunction()]);
        let points = rows.points();
        let Ok(minimum) = set.lexicographic_minimum(&mut Budget::default()) else {
            unknown += 1;
            continue;
        };
        for point in grid(2) {
            let mut before = points.range(vec![point[0]]..=point.clone());
            let is_first = before.next() == Some(&point);
            let found = minimum.contains(&wide(&point), &mut Budget::default());
            assert_eq!(found, Ok(is_first), "{set} at {point:?}");
        }
    }
    assert!(unknown < 6, "{unknown} minima are not known");
}

#[test]
fn bounds_hold_and_are_met_where_they_are_exact() {
    let mut exact = 0;
    cases(5, 1500, |random, dimensions| {
        let rows = Rows::random(random, dimensions);
        let set = Set::new(
            Space::new(vec![], names(dimensions)),
            vec![rows.conjunction()],
        );
        let points = rows.points();
        let position = random.below(dimensions as u64) as usize;
        let all = set
            .bounds(position, &mut Budget::default())
            .expect("an answer");
        let Some(bounds) = all.first() else {
            return assert!(points.is_empty(), "{set}");
        };
        exact += u64::from(bounds.is_exact);
        for outer in grid(position) {
            let value = |bound: &BoundRow| bound.row.value(&wide(&outer)).expect("small");
            let lower = bounds
                .lower
                .iter()
                .map(|it| -(-value(it)).div_euclid(it.divisor))
                .max();
            let upper = bounds
                .upper
                .iter()
                .map(|it| value(it).div_euclid(it.divisor))
                .min();
            let (lower, upper) = (lower.expect("a bound"), upper.expect("a bound"));
            let inside = points.iter().filter(|it| it.starts_with(&outer));
            let values: BTreeSet<i128> = inside.map(|it| i128::from(it[position])).collect();
            assert!(
                values.iter().all(|it| lower <= *it && *it <= upper),
                "{set} {outer:?}"
            );
            if bounds.is_exact && !values.is_empty() {
                let bounded: BTreeSet<i128> = (lower..=upper).collect();
                assert_eq!(values, bounded, "{set} at {outer:?}");
            }
        }
    });
    assert!(exact > 500, "{exact} of the bounds are exact");
}

#[test]
fn the_text_of_a_set_reads_as_the_set() {
    cases(6, 700, |random, dimensions| {
        let (set, points) = random_set(random, dimensions);
        let text = set.to_string();
        let read = parse_set(&text).expect("a set");
        holds_exactly(&read, &points, "the text", &set);
        assert_eq!(read.to_string(), text);
        let whole = set
            .without_existentials(&mut Budget::default())
            .expect("an answer");
        let read = parse_set(&whole.to_string()).expect("a set");
        holds_exactly(&read, &points, "the text without existentials", &whole);
    });
}

/// The skewed nest `for i in 0..N, for j in 0..N` with `t1 = i + j`, `t2 = i`.
#[test]
fn bounds_of_a_skewed_nest_are_those_of_its_wavefronts() {
    let text =
        "[N] -> { [t1, t2] : exists i, j : t1 = i + j and t2 = i and 0 <= i < N and 0 <= j < N }";
    let set = parse_set(text).expect("a set");
    let budget = &mut Budget::default();
    let bounds = |position, budget: &mut Budget| {
        let all = set.bounds(position, budget).expect("bounds");
        assert!(all.len() == 1 && all[0].is_exact);
        let rows = |rows: &[BoundRow]| -> Vec<(Row, i128)> {
            rows.iter().map(|it| (it.row.clone(), it.divisor)).collect()
        };
        (rows(&all[0].lower), rows(&all[0].upper))
    };
    let n = |constant| Row::new([1], constant);
    let two_n = Row::new([2], -2);
    assert_eq!(
        bounds(0, budget),
        (vec![(Row::from(0), 1)], vec![(two_n, 1)])
    );
    let lower = vec![(Row::from(0), 1), (Row::new([-1, 1], 1), 1)];
    let upper = vec![(Row::new([0, 1], 0), 1), (n(-1), 1)];
    assert_eq!(bounds(1, budget), (lower, upper));
}

#[test]
fn numbers_that_leave_128_bits_answer_unknown() {
    let large = i128::MAX / 3;
    let mut conjunction = Conjunction::universe(3);
    for shift in 0..6_i128 {
        conjunction.add_inequality(Row::new(
            [large - shift, -large + 7 * shift, 5 + shift],
            shift,
        ));
        conjunction.add_inequality(Row::new([-large + 3 * shift, large - shift, -7], -shift));
    }
    let set = Set::new(Space::new(vec![], names(3)), vec![conjunction]);
    let budget = &mut Budget::default();
    assert!(set.sample(budget).is_err());
    assert!(set.without_existentials(budget).is_ok());
    assert!(set.project_out(0..1, budget).is_err());
}
