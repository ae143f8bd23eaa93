//! Random indexing maps: each prints as text that reads back, and its simplified form is equal at
//! every point, no larger, and stays as it is when it is simplified again.

use strew_affine::indexing::{
    Constraint, Declaration, Emptiness, IndexExpr, IndexingError, IndexingMap, Interval, Variable,
    VariableKind, parse_map,
};

/// Draws maps. xorshift64: any source will do, and this one needs no crate.
struct Generator {
    seed: u64,
    /// How many variables of each kind there are.
    counts: [usize; 3],
    /// Whether numbers are drawn from the ends of what 64 bits hold.
    is_extreme: bool,
}

impl Generator {
    fn new(seed: u64) -> Self {
        let mut generator = Self {
            seed: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            counts: [0; 3],
            is_extreme: false,
        };
        for _ in 0..4 {
            generator.below(2);
        }
        generator
    }

    fn below(&mut self, bound: usize) -> usize {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        (self.seed >> 11) as usize % bound.max(1)
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }

    /// Numbers with many common divisors.
    fn scale(&mut self) -> i64 {
        if self.is_extreme && self.below(3) == 0 {
            let ends = [
                i64::MIN,
                i64::MIN + 1,
                i64::MAX,
                i64::MAX - 1,
                1 << 62,
                -(1 << 40),
                1 << 32,
            ];
            return ends[self.below(ends.len())];
        }
        let scales = [1, 2, 2, 3, 4, 4, 5, 6, 8, 8, 10, 12, 16, 20, 24, 100];
        let scale = scales[self.below(scales.len())];
        if self.below(4) == 0 { -scale } else { scale }
    }

    fn variable(&mut self) -> IndexExpr {
        let drawn = self.below(self.counts.iter().sum());
        let mut position = drawn;
        for (kind, count) in VariableKind::ALL.into_iter().zip(self.counts) {
            if position < count {
                return Variable::new(kind, position).into();
            }
            position -= count;
        }
        3.into()
    }

    fn expr(&mut self, depth: usize) -> Result<IndexExpr, IndexingError> {
        if depth == 0 || self.below(6) == 0 {
            return Ok(match self.below(5) {
                0 => self.between(-12, 12).into(),
                _ => self.variable(),
            });
        }
        let left = self.expr(depth - 1)?;
        match self.below(14) {
            0..=3 => {
                let right = self.expr(depth - 1)?.scaled(self.scale())?;
                left.scaled(self.scale())?.plus(&right)
            }
            4 => left.minus(&self.expr(depth - 1)?),
            5 => left.scaled(self.scale())?.offset(self.between(-20, 20)),
            6 | 7 => left.floordiv(&self.scale().into()),
            8 => left.ceildiv(&self.scale().into()),
            9 | 10 => left.modulo(&self.scale().into()),
            11 => Ok(IndexExpr::least([left, self.expr(depth - 1)?])),
            12 => Ok(IndexExpr::greatest([left, self.expr(depth - 1)?])),
            _ => {
                let right = self.expr(depth - 1)?;
                match self.below(4) {
                    0 => left.times(&right),
                    1 => left.floordiv(&right),
                    2 => left.modulo(&right),
                    _ => {
                        let divisor = IndexExpr::from(self.scale());
                        let quotient = left.floordiv(&divisor)?;
                        quotient.times(&divisor)?.plus(&left.modulo(&divisor)?)
                    }
                }
            }
        }
    }

    fn declarations(&mut self, count: usize) -> Vec<Declaration> {
        let mut bounds = || {
            let low = match self.below(3) {
                0 => self.between(-9, 4),
                _ => 0,
            };
            let size = [0, 1, 3, 4, 7, 9][self.below(6)];
            if self.is_extreme && self.below(2) == 0 {
                let (left, right) = (self.scale(), self.scale());
                return Declaration::new(Interval::new(left.min(right), left.max(right)));
            }
            Declaration::new(Interval::new(low, low + size))
        };
        (0..count).map(|_| bounds()).collect()
    }

    fn map(&mut self) -> Result<IndexingMap, IndexingError> {
        self.counts = [1 + self.below(2), self.below(2), self.below(2)];
        let [dimensions, ranges, runtimes] = self.counts.map(|count| self.declarations(count));
        let depth = 1 + self.below(4);
        let results = (0..1 + self.below(2)).map(|_| self.expr(depth));
        let results = results.collect::<Result<_, _>>()?;
        let constraints = (0..self.below(4)).map(|_| {
            let low = self.between(-10, 10);
            let size = [0, 0, 1, 5, 20][self.below(5)];
            let depth = 1 + self.below(3);
            Ok(Constraint {
                expr: self.expr(depth)?,
                bounds: Interval::new(low, low + size),
            })
        });
        let constraints = constraints.collect::<Result<_, _>>()?;
        IndexingMap::new(dimensions, ranges, runtimes, results, constraints)
    }
}

impl Generator {
    fn shuffled<T>(&mut self, mut items: Vec<T>) -> Vec<T> {
        for last in (1..items.len()).rev() {
            let other = self.below(last + 1);
            items.swap(last, other);
        }
        items
    }

    /// A map whose domain says much: equal sums, residues, quotients in an interval.
    fn constrained_map(&mut self) -> Result<IndexingMap, IndexingError> {
        self.counts = [2 + self.below(2), self.below(2), 0];
        let [dimensions, ranges, _] = self.counts.map(|count| self.declarations(count));
        let constraints = (0..1 + self.below(3)).map(|_| {
            let sum = self.expr(1)?.plus(&self.variable())?;
            let modulus = self.between(2, 8);
            let (expr, low, size) = match self.below(4) {
                0 => (sum, self.between(-4, 9), 0),
                1 => (sum.floordiv(&modulus.into())?, self.between(-2, 3), 1),
                _ => {
                    let residue = sum.modulo(&modulus.into())?;
                    (residue, self.between(0, modulus - 1), 0)
                }
            };
            let bounds = Interval::new(low, low + size);
            Ok(Constraint { expr, bounds })
        });
        let constraints = constraints.collect::<Result<_, IndexingError>>()?;
        let results = (0..2).map(|_| {
            let sum = self.expr(2)?.plus(&self.variable())?;
            match self.below(3) {
                0 => Ok(sum),
                1 => sum.floordiv(&self.scale().into()),
                _ => sum.modulo(&self.scale().into()),
            }
        });
        let results = results.collect::<Result<_, _>>()?;
        IndexingMap::new(dimensions, ranges, Vec::new(), results, constraints)
    }

    /// The same expression with operands in another order and parentheses in other places.
    fn reordered(&mut self, expr: &IndexExpr) -> Result<IndexExpr, IndexingError> {
        match expr {
            IndexExpr::Constant(_) | IndexExpr::Variable(_) => Ok(expr.clone()),
            IndexExpr::Product(factors) => {
                let factors = self.operands(factors)?;
                let first = self.below(factors.len());
                let (left, right) = factors.split_at(first);
                let [left, right] = [left, right].map(|it| IndexExpr::product(it.to_vec()));
                left?.times(&right?)
            }
            IndexExpr::FloorDiv(pair) => {
                let [left, right] = self.pair(pair)?;
                left.floordiv(&right)
            }
            IndexExpr::CeilDiv(pair) => {
                let [left, right] = self.pair(pair)?;
                left.ceildiv(&right)
            }
            IndexExpr::Mod(pair) => {
                let [left, right] = self.pair(pair)?;
                left.modulo(&right)
            }
            IndexExpr::Min(operands) => Ok(IndexExpr::least(self.operands(operands)?)),
            IndexExpr::Max(operands) => Ok(IndexExpr::greatest(self.operands(operands)?)),
            IndexExpr::Sum(sum) => {
                let terms = sum.terms().iter();
                let terms = terms.map(|it| Ok((self.reordered(&it.expr)?, it.coefficient)));
                let terms = terms.collect::<Result<Vec<_>, IndexingError>>()?;
                let terms = self.shuffled(terms);
                let first = self.below(terms.len());
                let (left, right) = terms.split_at(first);
                let right = IndexExpr::sum(right.to_vec(), sum.constant())?;
                IndexExpr::sum(left.to_vec(), 0)?.plus(&right)
            }
        }
    }

    fn operands(&mut self, operands: &[IndexExpr]) -> Result<Vec<IndexExpr>, IndexingError> {
        let operands = operands.iter().map(|it| self.reordered(it));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        Ok(self.shuffled(operands))
    }

    fn pair(&mut self, pair: &[IndexExpr; 2]) -> Result<[IndexExpr; 2], IndexingError> {
        Ok([self.reordered(&pair[0])?, self.reordered(&pair[1])?])
    }

    /// The same map written in another way, its variables with other names.
    fn rewritten(&mut self, map: &IndexingMap) -> Result<IndexingMap, IndexingError> {
        let mut named = |kind: VariableKind| -> Vec<Declaration> {
            let declared = map.declarations(kind).iter().enumerate();
            let named = declared.map(|(position, it)| {
                let name = format!("{}{position}_{}", kind.prefix(), self.below(9));
                Declaration::named(name, it.bounds)
            });
            named.collect()
        };
        let [dimensions, ranges, runtimes] = VariableKind::ALL.map(&mut named);
        let constraints = map.constraints().iter().map(|it| {
            let expr = self.reordered(&it.expr)?;
            Ok(Constraint { expr, ..*it })
        });
        let constraints = constraints.collect::<Result<Vec<_>, IndexingError>>()?;
        let constraints = self.shuffled(constraints);
        let results = map.results().iter().map(|it| self.reordered(it));
        let results = results.collect::<Result<Vec<_>, _>>()?;
        IndexingMap::new(dimensions, ranges, runtimes, results, constraints)
    }
}

/// Every point of the box, and one step outside of it.
fn points(map: &IndexingMap) -> Vec<Vec<i64>> {
    let mut points = vec![Vec::new()];
    for bounds in map.box_bounds() {
        let longer = |point: &Vec<i64>| {
            let point = point.clone();
            let values = bounds.low - 1..=bounds.high + 1;
            values.map(move |value| [point.as_slice(), &[value]].concat())
        };
        points = points.iter().flat_map(longer).collect();
    }
    points
}

#[track_caller]
fn is_equal_everywhere(map: &IndexingMap, simplified: &IndexingMap) {
    for point in points(map) {
        let Ok(value) = map.evaluate(&point) else {
            continue;
        };
        assert_eq!(
            simplified.evaluate(&point),
            Ok(value),
            "at {point:?}\n{map}\n{simplified}"
        );
    }
}

fn maps(seeds: std::ops::Range<u64>) -> impl Iterator<Item = IndexingMap> {
    seeds.filter_map(|seed| Generator::new(seed).map().ok())
}

const MAPS: u64 = 30_000;

#[test]
fn simplified_maps_are_equal_at_every_point_and_no_larger() {
    for map in maps(0..MAPS) {
        let simplified = map.simplified();
        assert!(simplified.size() <= map.size(), "{map}\n{simplified}");
        is_equal_everywhere(&map, &simplified);
    }
}

#[test]
fn simplifying_twice_changes_nothing() {
    for map in maps(0..MAPS) {
        let simplified = map.simplified();
        assert_eq!(
            simplified.simplified().to_string(),
            simplified.to_string(),
            "{map}"
        );
    }
}

#[test]
fn maps_that_are_equal_but_for_names_and_order_print_equally() {
    for seed in 0..MAPS {
        let mut generator = Generator::new(seed);
        let Ok(map) = generator.map() else {
            continue;
        };
        let Ok(rewritten) = generator.rewritten(&map) else {
            continue;
        };
        let (one, other) = (rewritten.simplified().unnamed(), map.simplified());
        // Which constraint is dropped first shows where it has no value.
        if one.to_string() != other.to_string() && !points_without_value(&map) {
            panic!("{map}\n{rewritten}\n{one}\n{other}");
        }
    }
}

#[test]
fn what_constraints_say_is_used_where_it_holds() {
    for seed in 0..MAPS / 2 {
        let mut generator = Generator::new(seed);
        let Ok(map) = generator.constrained_map() else {
            continue;
        };
        let simplified = map.simplified();
        assert!(simplified.size() <= map.size(), "{map}\n{simplified}");
        is_equal_everywhere(&map, &simplified);
        assert_eq!(simplified.simplified(), simplified, "{map}");
        let Ok(rewritten) = generator.rewritten(&map) else {
            continue;
        };
        let rewritten = rewritten.simplified().unnamed();
        if rewritten != simplified && !points_without_value(&map) {
            panic!("{map}\n{rewritten}\n{simplified}");
        }
    }
}

#[test]
fn numbers_at_the_ends_of_64_bits_are_no_trap() {
    for seed in 0..MAPS / 20 {
        let mut generator = Generator::new(seed);
        generator.is_extreme = true;
        let Ok(map) = generator.map() else {
            continue;
        };
        let simplified = map.simplified();
        assert!(simplified.size() <= map.size(), "{map}\n{simplified}");
        assert_eq!(simplified.simplified(), simplified, "{map}");
        let text = map.to_string();
        assert_eq!(parse_map(&text).as_ref(), Ok(&map), "{text}");
        let _ = (
            map.emptiness(),
            map.result_ranges(),
            map.inverse(),
            map.then(&map),
        );
        let corners = [|it: Interval| it.low, |it: Interval| it.high];
        let corners = corners.map(|end| map.box_bounds().into_iter().map(end).collect::<Vec<_>>());
        let samples = map.sample(2, seed);
        for point in corners.into_iter().chain(samples) {
            if let Ok(value) = map.evaluate(&point) {
                assert_eq!(
                    simplified.evaluate(&point),
                    Ok(value),
                    "at {point:?}\n{map}\n{simplified}"
                );
            }
        }
    }
}

#[test]
fn deep_and_long_maps_are_simplified_in_bounded_time() {
    let d0 = IndexExpr::dimension(0);
    type Step = fn(&IndexExpr) -> Result<IndexExpr, IndexingError>;
    let steps: [Step; 6] = [
        |it| it.scaled(3)?.modulo(&7.into())?.offset(1),
        |it| it.floordiv(&2.into())?.plus(&it.modulo(&2.into())?),
        |it| it.offset(1)?.times(&it.offset(2)?),
        |it| Ok(IndexExpr::least([it.scaled(-2)?, it.offset(5)?])),
        |it| {
            let least = IndexExpr::least([it.clone(), IndexExpr::dimension(1)]);
            let floor = IndexExpr::dimension(1).scaled(-1)?;
            IndexExpr::greatest([least.offset(1)?, floor]).offset(-2)
        },
        |it| {
            it.plus(&IndexExpr::dimension(1))?
                .ceildiv(&(-3).into())?
                .scaled(2)
        },
    ];
    for step in steps {
        let mut expr = d0.clone();
        while let Ok(next) = step(&expr) {
            if next.depth() > 90 || next.size().nodes > 3_000 {
                break;
            }
            expr = next;
        }
        let map = IndexingMap::from_sizes(vec![expr.clone(), expr], &[100, 5], &[]).expect("a map");
        let constrained = map.results()[0].clone();
        let cut = map.clone().constrained(constrained, Interval::new(-9, 50));
        for map in [map, cut.expect("a map")] {
            let simplified = map.simplified();
            assert!(simplified.size() <= map.size());
            assert_eq!(simplified.simplified(), simplified);
        }
    }
    let long = |count: usize| {
        let terms = (0..count).map(|it| {
            let quotient = d0
                .offset(it as i64)?
                .floordiv(&(it as i64 % 9 + 2).into())?;
            Ok((quotient, it as i64 % 7 - 3))
        });
        let sum = IndexExpr::sum(terms.collect::<Result<Vec<_>, IndexingError>>()?, 0)?;
        let quotient = sum.floordiv(&12.into())?;
        IndexingMap::from_sizes(vec![quotient], &[1000], &[])
    };
    let map = long(5_000).expect("a map");
    let simplified = map.simplified();
    for point in [0, 1, 17, 499, 999] {
        assert_eq!(simplified.evaluate(&[point]), map.evaluate(&[point]));
    }
}

#[test]
fn maps_print_as_they_read() {
    for map in maps(0..MAPS / 4) {
        let text = map.to_string();
        assert_eq!(parse_map(&text), Ok(map), "{text}");
    }
}

#[test]
fn ranges_emptiness_and_samples_agree_with_all_points() {
    for map in maps(0..MAPS / 8) {
        let Ok(points) = map.points(100_000) else {
            continue;
        };
        let values: Vec<_> = points.map(|it| (map.evaluate(&it), it)).collect();
        let has_faults = points_without_value(&map);
        let emptiness = map.emptiness();
        if !values.is_empty() {
            assert_ne!(emptiness, Emptiness::Empty, "{map}");
        } else if !has_faults {
            assert_eq!(emptiness, Emptiness::Empty, "{map}");
        }
        for point in map.sample(3, 5) {
            assert_eq!(
                map.contains(&point).or(Ok::<_, ()>(true)),
                Ok(true),
                "{map}"
            );
        }
        let Ok(Some(ranges)) = map.result_ranges() else {
            continue;
        };
        for (position, range) in ranges.iter().enumerate() {
            let of_result = values.iter().map(|(value, _)| match value {
                Ok(Some(value)) => Ok(value[position]),
                _ => Err(()),
            });
            let Ok(of_result) = of_result.collect::<Result<Vec<_>, _>>() else {
                continue;
            };
            assert!(of_result.iter().all(|it| range.contains(*it)), "{map}");
            if let (false, Some(low), Some(high)) =
                (has_faults, of_result.iter().min(), of_result.iter().max())
            {
                assert_eq!(*range, Interval::new(*low, *high), "{map}");
            }
        }
    }
}

/// Whether a constraint or a result has no value somewhere in the box.
fn points_without_value(map: &IndexingMap) -> bool {
    let boxed = map.clone().with_results(Vec::new());
    let boxed = boxed.map(|it| it.points(100_000).map(|_| ()));
    boxed.is_err() || points(map).iter().any(|it| map.evaluate(it).is_err())
}

#[test]
fn an_inverse_takes_results_back_and_nothing_else() {
    let mut inverted = 0;
    for map in maps(0..MAPS) {
        let Ok(inverse) = map.inverse() else {
            continue;
        };
        if inverse.is_known_empty() || points_without_value(&map) {
            continue;
        }
        inverted += 1;
        let mut images = std::collections::BTreeMap::new();
        for point in map.points(100_000).expect("few points") {
            let (variables, runtimes) = point.split_at(map.dimensions().len() + map.ranges().len());
            let results = map.evaluate(&point).expect("a value").expect("a point");
            let before = images.insert(
                [results.as_slice(), runtimes].concat(),
                variables[..map.dimensions().len()].to_vec(),
            );
            assert!(
                before.is_none_or(|it| it == variables[..map.dimensions().len()]),
                "{map}"
            );
        }
        for (image, back) in &images {
            assert_eq!(
                inverse.evaluate(image),
                Ok(Some(back.clone())),
                "{map}\n{inverse}"
            );
        }
        if let Ok(points) = inverse.points(20_000) {
            assert_eq!(points.count(), images.len(), "{map}\n{inverse}");
        }
    }
    assert!(inverted > 500, "{inverted}");
}
