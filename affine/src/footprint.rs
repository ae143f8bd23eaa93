//! How much of an array accesses touch while some of the loops around them run: what the sizes of
//! tiles are chosen by.
//!
//! An access is an indexing map from the iterators that move; whatever stands still meanwhile,
//! parameters and other iterators, is a runtime variable, and so is where a loop begins. Then
//! [`IndexingMap::footprint`] says the rest.

use crate::indexing::{
    Count, Declaration, Footprint, IndexExpr, IndexingError, IndexingMap, Interval, Memory,
    UpperBound, VariableKind, linearize_index,
};
use crate::sets::common_divisor;
use crate::visit::bound_to;
use crate::{Access, AffineExpr, Array, Expr, IterId, Kernel, Subscript, Variable};
use std::collections::BTreeSet;

/// How far a loop runs, from anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trip {
    /// Its iterator.
    pub iter: IterId,
    /// How many values the iterator takes.
    pub count: i64,
    /// How far they are apart.
    pub step: i64,
}

impl Trip {
    /// So many iterations of a loop whose iterator goes up by one.
    pub const fn new(iter: IterId, count: i64) -> Self {
        Self {
            iter,
            count,
            step: 1,
        }
    }
}

/// What `accesses`, all of one array, touch while the loops of `trips` run through all combinations
/// of their iterations and everything else stands still. Lines are of `line_bytes`. Accesses that
/// differ by constant distances alone, like those of a stencil, are counted together. There are as
/// many points as accesses in all iterations.
///
/// ```
/// use strew_affine::footprint::{Trip, footprint};
/// use strew_affine::{text, visit};
///
/// let source = "kernel @k(n: i64, a: f32[n, n], out: f32[n, n]) {
///   affine.for i in 1..n - 1 { affine.for j in 1..n - 1 { out[i, j] = a[i - 1, j] + a[i + 1, j] } }
/// }";
/// let kernel = &text::parse(source).expect("a kernel")[0];
/// let sites = visit::accesses(kernel);
/// let reads = [sites[0].access, sites[1].access];
/// let tile: Vec<_> = sites[0].loops.iter().map(|it| Trip::new(it.iter(), 32)).collect();
/// let footprint = footprint(kernel, &reads, &tile, 64)?;
/// assert_eq!(footprint.points.value, 2 * 32 * 32);
/// assert_eq!(footprint.elements.to_string(), "1088"); // 34 rows of 32
/// assert_eq!(footprint.lines.to_string(), "at most 102"); // 34 rows of 128 bytes that begin anywhere
/// # Ok::<(), strew_affine::indexing::IndexingError>(())
/// ```
///
/// # Errors
/// A number leaves its range, or a subscript is nested too deep.
pub fn footprint(
    kernel: &Kernel,
    accesses: &[&Access],
    trips: &[Trip],
    line_bytes: u64,
) -> Result<Footprint, IndexingError> {
    let mut sum = Footprint::NOTHING;
    let mut groups: Vec<Alike<'_>> = Vec::new();
    for access in accesses {
        if !groups.iter_mut().any(|it| it.takes(access)) {
            groups.push(Alike::new(access));
        }
    }
    for group in &groups {
        let touched = group.footprint(kernel, trips, line_bytes)?;
        sum = sum.plus(touched, UpperBound::Accesses)?;
    }
    Ok(sum)
}

/// Accesses whose subscripts differ by constants.
struct Alike<'k> {
    first: &'k Access,
    /// The distance of each from the first, the first included.
    distances: BTreeSet<Vec<i64>>,
    count: u128,
}

impl<'k> Alike<'k> {
    fn new(first: &'k Access) -> Self {
        Self {
            first,
            distances: BTreeSet::from([vec![0; first.subscripts.len()]]),
            count: 1,
        }
    }

    /// Takes `access` in, if it is alike.
    fn takes(&mut self, access: &Access) -> bool {
        let pairs = self.first.subscripts.iter().zip(&access.subscripts);
        let distances = pairs.map(|(first, other)| match (first, other) {
            (Subscript::Affine(first), Subscript::Affine(other)) => {
                other.minus(first).ok()?.as_constant()
            }
            _ => (first == other).then_some(0),
        });
        let distance: Option<Vec<i64>> = distances.collect();
        let is_alike = distance.is_some() && access.array == self.first.array;
        if is_alike {
            self.distances.extend(distance);
            self.count += 1;
        }
        is_alike
    }

    fn footprint(
        &self,
        kernel: &Kernel,
        trips: &[Trip],
        line_bytes: u64,
    ) -> Result<Footprint, IndexingError> {
        let array = &kernel.arrays[self.first.array];
        let memory = memory(kernel, array, line_bytes);
        let mut moving = Moving::new(kernel, trips);
        let map = moving.map(self.first, &memory)?;
        let one = map.footprint(&memory)?;
        let mut all = one;
        if self.distances.len() > 1 {
            let apart = one.times(self.distances.len())?;
            all = self.hull(map, &memory)?.least(apart)?;
        }
        all.points = one.points.times(Count::exactly(self.count))?;
        Ok(if moving.reads_data {
            all.because(UpperBound::Data)
        } else {
            all
        })
    }

    /// The footprint of an access that moves through all combinations of the distances.
    fn hull(&self, map: IndexingMap, memory: &Memory) -> Result<Footprint, IndexingError> {
        let mut results = map.results().to_vec();
        let mut ranges = Vec::new();
        let mut combinations = 1_u128;
        for (dimension, result) in results.iter_mut().enumerate() {
            let along = self.distances.iter().filter_map(|it| it.get(dimension));
            let along: BTreeSet<i64> = along.copied().collect();
            let (Some(first), Some(last)) = (along.first(), along.last()) else {
                continue;
            };
            let gaps = along.iter().map(|it| i128::from(*it) - i128::from(*first));
            let step = gaps.fold(0, common_divisor);
            if step == 0 {
                continue;
            }
            let span = i128::from(*last) - i128::from(*first);
            let narrow = |it: i128| i64::try_from(it).map_err(|_| IndexingError::Overflow);
            let moved = IndexExpr::range(ranges.len()).scaled(narrow(step)?)?;
            *result = result.plus(&moved)?.offset(*first)?;
            let steps = Interval::new(0, narrow(span / step)?);
            combinations = combinations.saturating_mul(steps.count());
            ranges.push(steps.into());
        }
        let (dimensions, runtimes) = (map.dimensions().to_vec(), map.runtimes().to_vec());
        let hull = IndexingMap::new(dimensions, ranges, runtimes, results, Vec::new())?;
        let footprint = hull.footprint(memory)?;
        Ok(if combinations == self.distances.len() as u128 {
            footprint
        } else {
            footprint.because(UpperBound::Hull)
        })
    }
}

/// How an array lies. The elements of a field count as if they filled their record: its lines are
/// read for them.
fn memory(kernel: &Kernel, array: &Array, line_bytes: u64) -> Memory {
    let element_bytes = u64::from(array.element.bytes());
    let in_record = array.field.map_or(0, |field| {
        let record_bytes = u64::from(kernel.records[field.record].bytes);
        record_bytes.div_ceil(array.elements_per_record().max(1))
    });
    Memory {
        extents: array.extents.iter().map(AffineExpr::as_constant).collect(),
        element_bytes: element_bytes.max(in_record),
        line_bytes,
    }
}

/// The iterators that move, as dimensions, and all that stands still, as runtime variables.
struct Moving<'k> {
    kernel: &'k Kernel,
    trips: &'k [Trip],
    /// Where each loop begins, then what else occurs.
    fixed: Vec<Variable>,
    reads_data: bool,
}

impl<'k> Moving<'k> {
    fn new(kernel: &'k Kernel, trips: &'k [Trip]) -> Self {
        Self {
            kernel,
            trips,
            fixed: trips.iter().map(|it| Variable::Iter(it.iter)).collect(),
            reads_data: false,
        }
    }

    fn map(&mut self, access: &Access, memory: &Memory) -> Result<IndexingMap, IndexingError> {
        let mut results = Vec::with_capacity(access.subscripts.len());
        for subscript in &access.subscripts {
            results.push(match subscript {
                Subscript::Affine(expr) => self.affine(expr)?,
                Subscript::Computed(expr) => self.computed(expr, memory)?,
            });
        }
        let counts = self.trips.iter().map(|it| Interval::of_size(it.count));
        let dimensions = counts.map(Declaration::new).collect();
        let runtimes = vec![Declaration::new(Interval::ALL); self.fixed.len()];
        IndexingMap::new(dimensions, Vec::new(), runtimes, results, Vec::new())
    }

    fn affine(&mut self, expr: &AffineExpr) -> Result<IndexExpr, IndexingError> {
        expr.for_each_variable(&mut |variable| {
            if !self.fixed.contains(&variable) {
                self.fixed.push(variable);
            }
        });
        let expr = IndexExpr::from_affine(expr, &|variable| {
            let at = self.fixed.iter().position(|it| *it == variable);
            let at = at.unwrap_or(usize::MAX);
            crate::indexing::Variable::new(VariableKind::Runtime, at)
        })?;
        let moved = self.trips.iter().enumerate().map(|(at, trip)| {
            let steps = IndexExpr::dimension(at).scaled(trip.step)?;
            IndexExpr::runtime(at).plus(&steps)
        });
        let moved: Vec<IndexExpr> = moved.collect::<Result<_, _>>()?;
        let moved = |it: crate::indexing::Variable| moved.get(it.position).cloned();
        expr.substitute(&|it| moved(it).unwrap_or_else(|| it.into()))
    }

    /// What is found through data: another line for each combination of the iterators that decide
    /// about it.
    fn computed(&mut self, expr: &Expr, memory: &Memory) -> Result<IndexExpr, IndexingError> {
        let moves = |trip: &Trip| depends_on(self.kernel, expr, trip.iter);
        let trips = self.trips.iter().enumerate().filter(|(_, it)| moves(it));
        let (indices, basis): (Vec<_>, Vec<_>) = trips
            .map(|(at, it)| (IndexExpr::dimension(at), it.count.into()))
            .unzip();
        self.reads_data |= !indices.is_empty();
        let line = memory.line_bytes / memory.element_bytes.max(1);
        let line = i64::try_from(line).map_err(|_| IndexingError::Overflow)?;
        linearize_index(&indices, &basis)?.scaled(line.max(1))
    }
}

/// Whether the value of `expr` can change with that iterator.
fn depends_on(kernel: &Kernel, expr: &Expr, iter: IterId) -> bool {
    let in_access = |access: &Access| {
        let mut subscripts = access.subscripts.iter();
        subscripts.any(|it| match it {
            Subscript::Affine(expr) => expr.mentions(Variable::Iter(iter)),
            Subscript::Computed(expr) => depends_on(kernel, expr, iter),
        })
    };
    match expr {
        Expr::Iter(it) => *it == iter,
        Expr::Local(local) => {
            bound_to(kernel, *local).is_none_or(|value| depends_on(kernel, value, iter))
        }
        Expr::Load(access) => in_access(access),
        _ => expr
            .operands()
            .iter()
            .any(|it| depends_on(kernel, it, iter)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;
    use crate::visit::accesses;
    use proptest::prelude::*;

    /// Elements and lines of what is read of `a` when all loops of the statement run 32 times.
    #[track_caller]
    fn reads(statement: &str, expected: &str) {
        let source = format!(
            "kernel @k(n: i64, m: i64, a: f32[n, m], flat: f32[n * m], small: f32[n, 4], key: i32[n], out: f32[n, m]) {{
               affine.for i in 0..n {{ affine.for j in 0..m {{ {statement} }} }}
             }}"
        );
        let kernel = text::parse(&source).expect("a kernel").remove(0);
        let sites = accesses(&kernel);
        let names = ["a", "flat", "small"];
        let read = sites
            .iter()
            .filter(|it| names.contains(&kernel.arrays[it.access.array].name.as_str()));
        let loops = sites.last().expect("an access").loops.clone();
        let read: Vec<_> = read.map(|it| it.access).collect();
        let trips: Vec<_> = loops.iter().map(|it| Trip::new(it.iter(), 32)).collect();
        let found = footprint(&kernel, &read, &trips, 64).expect("a footprint");
        let found = format!("{} elements, {} lines", found.elements, found.lines);
        assert_eq!(found, expected, "{statement}");
    }

    #[test]
    fn affine_accesses() {
        reads("out[i, j] = a[i, j]", "1024 elements, at most 96 lines");
        reads("out[i, j] = a[j, i]", "1024 elements, at most 96 lines");
        reads("out[i, j] = a[i, 0]", "32 elements, 32 lines");
        reads("out[i, j] = a[0, 0]", "1 elements, 1 lines");
        reads(
            "out[i, j] = a[n - 1 - i, j]",
            "1024 elements, at most 96 lines",
        );
        reads("out[i, j] = a[0, i + j]", "63 elements, at most 5 lines");
        reads("out[i, j] = a[0, i * 2]", "32 elements, at most 5 lines");
        reads(
            "out[i, j] = flat[i * m + j]",
            "at most 1024 elements, at most 96 lines",
        );
        reads("out[i, j] = small[i, 0]", "32 elements, at most 9 lines");
        reads(
            "out[i, j] = a[i floordiv 8, j mod 8]",
            "at most 40 elements, at most 10 lines",
        );
    }

    #[test]
    fn accesses_that_differ_by_distances_are_counted_together() {
        reads(
            "out[i, j] = a[i - 1, j] + a[i, j] + a[i + 1, j]",
            "1088 elements, at most 102 lines",
        );
        reads(
            "out[i, j] = a[i - 1, j] + a[i, j - 1] + a[i, j] + a[i, j + 1] + a[i + 1, j]",
            "at most 1156 elements, at most 136 lines",
        );
        reads(
            "out[i, j] = a[i, j] + a[i, j]",
            "1024 elements, at most 96 lines",
        );
        reads(
            "out[i, j] = a[i, j] + a[i + 1000, j]",
            "2048 elements, at most 192 lines",
        );
        reads(
            "out[i, j] = a[i, j] + a[j, i]",
            "at most 2048 elements, at most 192 lines",
        );
    }

    #[test]
    fn what_is_found_through_data_may_lie_anywhere() {
        reads(
            "out[i, j] = a[key[i], j]",
            "at most 1024 elements, at most 96 lines",
        );
        reads(
            "out[i, j] = a[0, key[i]]",
            "at most 32 elements, at most 32 lines",
        );
        reads(
            "out[i, j] = a[key[n - 1], j]",
            "32 elements, at most 3 lines",
        );
        reads(
            "let k: i32 = key[i] \n out[i, j] = small[k, 0]",
            "at most 32 elements, at most 32 lines",
        );
    }

    proptest! {
        #[test]
        fn accesses_together_touch_what_enumeration_finds(
            (rows, columns) in (0_i64..3, 0_i64..4),
            (by_row, by_column, step) in (-2_i64..3, -3_i64..4, 1_i64..3),
            distances in proptest::collection::vec((0_i64..4, -3_i64..4), 1..5),
        ) {
            let [row, column] = [format!("i * {by_row}"), format!("i * {rows} + j * {by_column} + {columns}")];
            let reads = distances.iter().map(|(down, right)| format!("a[{row} + {down}, {column} + {right}]"));
            let statement = format!("out = out + {}", reads.collect::<Vec<_>>().join(" + "));
            let source = format!("kernel @k(n: i64, a: f64[n, n]) {{
              var out: f64 = 0.0
              affine.for i in 0..n {{ affine.for j in 0..n {{ {statement} }} }}
            }}");
            let kernel = text::parse(&source).expect("a kernel").remove(0);
            let sites = accesses(&kernel);
            let read: Vec<_> = sites.iter().map(|it| it.access).collect();
            let trips = sites[0].loops.iter().zip([5, 4]);
            let trips: Vec<_> = trips.map(|(it, count)| Trip { iter: it.iter(), count, step }).collect();
            let found = footprint(&kernel, &read, &trips, 64).expect("a footprint");
            let mut touched = BTreeSet::new();
            for (i, j) in (0..5).flat_map(|i| (0..4).map(move |j| (i * step, j * step))) {
                touched.extend(distances.iter().map(|(down, right)| {
                    (i * by_row + down, i * rows + j * by_column + right)
                }));
            }
            prop_assert_eq!(found.points, Count::exactly(20 * distances.len() as u128));
            match found.elements.bound {
                None => prop_assert_eq!(found.elements.value, touched.len() as u128, "{}", statement),
                Some(_) => prop_assert!(found.elements.value >= touched.len() as u128, "{}", statement),
            }
        }
    }
}
