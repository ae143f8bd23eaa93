//! The range of an affine expression over the loops around it, when its parameters have values.
//!
//! The loops are the domain of an indexing map whose dimensions are their iterators: bounds that
//! are numbers bound the dimension, and others are constraints too, so that what they share with
//! the expression cancels: `i - j` for `j in 0..i + 1` is at least `0`, and not `0 - i`. The range
//! is then that of the map's result.

mod greatest;
mod nest;

pub use greatest::greatest_inside;

use crate::indexing::IndexingError;
use crate::visit::Loop;
use crate::{AffineExpr, Condition, IterId, Node, Overflow, ScalarId, Variable};
use nest::Nest;
use std::collections::BTreeSet;

/// What is around a statement and decides about iterators.
#[derive(Clone, Copy, Debug)]
pub enum Around<'k> {
    /// A loop.
    Loop(Loop<'k>),
    /// Conditions of an `affine.if`, all of which hold.
    Conditions(&'k [Condition]),
}

impl<'k> Around<'k> {
    /// What is around `node` in `body`, outermost first; `None` if it does not stand there.
    pub fn of(body: &'k [Node], node: &Node) -> Option<Vec<Self>> {
        let mut around = Vec::new();
        find(body, node, &mut around).then_some(around)
    }

    /// Calls `visit` for all that bounds an iterator, or is known to hold.
    fn for_each_expr(self, visit: &mut impl FnMut(&AffineExpr)) {
        match self {
            Self::Loop(Loop::Affine(affine)) => {
                affine.bounds().for_each(visit);
            }
            Self::Loop(Loop::Forall(forall)) => visit(&forall.count),
            Self::Loop(Loop::Scf(_)) => {}
            Self::Conditions(conditions) => {
                let sides = conditions.iter().flat_map(|it| [&it.left, &it.right]);
                sides.for_each(visit);
            }
        }
    }
}

fn find<'k>(body: &'k [Node], wanted: &Node, around: &mut Vec<Around<'k>>) -> bool {
    body.iter().any(|node| {
        if std::ptr::eq(node, wanted) {
            return true;
        }
        let known = around.len();
        around.extend(Loop::of(node).map(Around::Loop));
        let found = match node {
            Node::AffineIf {
                conditions,
                then,
                otherwise,
            } => {
                find(otherwise, wanted, around) || {
                    around.push(Around::Conditions(conditions));
                    find(then, wanted, around)
                }
            }
            _ => node.blocks().any(|block| find(block, wanted, around)),
        };
        if !found {
            around.truncate(known);
        }
        found
    })
}

/// The values that `expr` can take in the loops `loops` (outermost first), as least and greatest,
/// when the parameters have the values that `value_of` gives.
///
/// The range never misses a value, and may hold values that are not taken. If the first number is
/// greater than the second, the innermost body never runs. `None` means that the range is not
/// known: an iterator of an `scf.for`, whose bounds are computed, or of none of `loops` occurs, or
/// the expression is nested too deep for a map.
///
/// # Errors
/// A number leaves 64 bits, or a divisor is not positive.
pub fn numeric_range(
    expr: &AffineExpr,
    loops: &[Loop<'_>],
    value_of: &dyn Fn(ScalarId) -> i64,
) -> Result<Option<(i64, i64)>, Overflow> {
    let around: Vec<_> = loops.iter().copied().map(Around::Loop).collect();
    numeric_range_where(expr, &around, value_of)
}

/// The same inside of `around`, outermost first, where conditions hold, too.
///
/// # Errors
/// As for [`numeric_range`].
pub fn numeric_range_where(
    expr: &AffineExpr,
    around: &[Around<'_>],
    value_of: &dyn Fn(ScalarId) -> i64,
) -> Result<Option<(i64, i64)>, Overflow> {
    match needed(expr, around) {
        Some(needed) => range_in(expr, needed, value_of),
        None => Ok(None),
    }
}

/// The values that `expr` can take in the innermost of the `loops` (outermost first) that it speaks
/// of, which is only where all loops around that one run: their bounds, too, say of which
/// iterations of those outside there are any.
///
/// Loops further inside count for nothing, so that what is computed once for all of their
/// iterations has these values even if there are none.
///
/// # Errors
/// As for [`numeric_range`].
pub fn numeric_range_inside(
    expr: &AffineExpr,
    loops: &[Loop<'_>],
    value_of: &dyn Fn(ScalarId) -> i64,
) -> Result<Option<(i64, i64)>, Overflow> {
    let is_meant = |it: &Loop<'_>| expr.mentions(Variable::Iter(it.iter()));
    let innermost = loops.iter().rposition(is_meant);
    let around = loops.iter().take(innermost.map_or(0, |it| it + 1));
    let is_known = |it: &Loop<'_>| !matches!(it, Loop::Scf(_));
    match around.clone().all(is_known) {
        true => range_in(expr, around.copied().map(Around::Loop).collect(), value_of),
        false => Ok(None),
    }
}

fn range_in(
    expr: &AffineExpr,
    around: Vec<Around<'_>>,
    value_of: &dyn Fn(ScalarId) -> i64,
) -> Result<Option<(i64, i64)>, Overflow> {
    match Nest::new(value_of).range_in(expr, around) {
        Ok(range) => Ok(Some(range.map_or((0, -1), |it| (it.low, it.high)))),
        Err(IndexingError::TooDeep | IndexingError::TooLarge) => Ok(None),
        Err(_) => Err(Overflow),
    }
}

/// The loops whose iterators decide about the value of `expr`, and the conditions that speak of
/// these alone, outermost first; `None` where the bounds of one are not known.
fn needed<'k>(expr: &AffineExpr, around: &[Around<'k>]) -> Option<Vec<Around<'k>>> {
    let mut open = iterators(expr);
    for it in around.iter().rev() {
        if let Around::Loop(around) = it
            && open.contains(&around.iter())
        {
            it.for_each_expr(&mut |it| open.extend(iterators(it)));
        }
    }
    let (mut needed, mut known) = (Vec::new(), BTreeSet::new());
    for it in around {
        match it {
            Around::Loop(around) if !open.contains(&around.iter()) => {}
            Around::Loop(Loop::Scf(_)) => return None,
            Around::Loop(around) => {
                known.insert(around.iter());
                needed.push(*it);
            }
            Around::Conditions(conditions) => {
                let alone = conditions.iter().map(std::slice::from_ref);
                needed.extend(alone.map(Around::Conditions).filter(|it| {
                    let mut of = BTreeSet::new();
                    it.for_each_expr(&mut |it| of.extend(iterators(it)));
                    !of.is_empty() && of.is_subset(&open)
                }));
            }
        }
    }
    open.is_subset(&known).then_some(needed)
}

fn iterators(expr: &AffineExpr) -> BTreeSet<IterId> {
    let mut found = BTreeSet::new();
    expr.for_each_variable(&mut |variable| {
        if let Variable::Iter(iter) = variable {
            found.insert(iter);
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_kernels::{for_loop, iter, scalar};
    use crate::{AffineFor, Block, Bound, Kernel, Node, Relation, Span, Type};
    use proptest::prelude::*;

    fn loop_of(node: &Node) -> Loop<'_> {
        Loop::of(node).expect("a loop")
    }

    struct Nest {
        loops: Vec<AffineFor>,
        n: AffineExpr,
    }

    impl Nest {
        /// Loops whose bounds `bounds` gives from `n` and the iterators so far.
        fn new(
            depth: usize,
            bounds: impl Fn(usize, &AffineExpr, &[AffineExpr]) -> Result<(Bound, Bound), Overflow>,
        ) -> Result<(Self, Vec<AffineExpr>), Overflow> {
            let mut kernel = Kernel::new("k", Span::default());
            let n: AffineExpr = scalar(&mut kernel, "n", Type::I64).into();
            let mut iters = Vec::new();
            let mut loops = Vec::new();
            for level in 0..depth {
                let (lower, upper) = bounds(level, &n, &iters)?;
                let iter = iter(&mut kernel, &format!("i{level}"));
                iters.push(AffineExpr::from(iter));
                loops.push(AffineFor {
                    iter,
                    lower,
                    upper,
                    step: 1,
                    lanes: 1,
                    body: Block::default(),
                });
            }
            Ok((Self { loops, n }, iters))
        }

        fn range(&self, expr: &AffineExpr, n: i64) -> Result<Option<(i64, i64)>, Overflow> {
            let loops: Vec<_> = self.loops.iter().map(Loop::Affine).collect();
            numeric_range(expr, &loops, &|_| n)
        }

        fn at(&self, expr: &AffineExpr, iters: &[i64], n: i64) -> Option<i64> {
            let value = expr.evaluate(&|variable| match variable {
                Variable::Param(_) => n,
                Variable::Iter(iter) => self
                    .loops
                    .iter()
                    .position(|it| it.iter == iter)
                    .and_then(|depth| iters.get(depth).copied())
                    .unwrap_or_default(),
            });
            value.ok()
        }

        fn run(&self, iters: &mut Vec<i64>, n: i64, visit: &mut impl FnMut(&[i64])) {
            let Some(affine) = self.loops.get(iters.len()) else {
                return visit(iters);
            };
            let all = |bound: &Bound| -> Vec<i64> {
                bound
                    .0
                    .iter()
                    .filter_map(|it| self.at(it, iters, n))
                    .collect()
            };
            let lower = all(&affine.lower).into_iter().max().unwrap_or_default();
            let upper = all(&affine.upper).into_iter().min().unwrap_or_default();
            for value in lower..upper {
                iters.push(value);
                self.run(iters, n, visit);
                iters.pop();
            }
        }
    }

    fn single(lower: AffineExpr, upper: AffineExpr) -> (Bound, Bound) {
        (lower.into(), upper.into())
    }

    #[test]
    fn rectangular_and_triangular_nests_are_tight() -> Result<(), Overflow> {
        let (rectangle, i) = Nest::new(2, |_, n, _| Ok(single(0.into(), n.clone())))?;
        let flat = i[0].times(&rectangle.n)?.plus(&i[1])?;
        assert_eq!(rectangle.range(&flat, 7), Ok(Some((0, 48))));
        assert_eq!(rectangle.range(&i[0].minus(&i[1])?, 7), Ok(Some((-6, 6))));
        let (triangle, i) = Nest::new(2, |level, n, outer| {
            let upper = if level == 0 {
                n.clone()
            } else {
                outer[0].offset(1)?
            };
            Ok(single(0.into(), upper))
        })?;
        assert_eq!(triangle.range(&i[0].minus(&i[1])?, 7), Ok(Some((0, 6))));
        let packed = i[0].times(&i[0])?.plus(&i[1].scaled(2)?)?;
        assert_eq!(triangle.range(&packed, 7), Ok(Some((0, 48))));
        Ok(())
    }

    #[test]
    fn chunks_and_tiles_of_a_loop_have_the_range_of_the_loop() -> Result<(), Overflow> {
        let (chunks, i) = Nest::new(2, |level, n, outer| {
            if level == 0 {
                return Ok(single(0.into(), 8.into()));
            }
            let edge = |chunk: &AffineExpr| chunk.times(n)?.floordiv(&8.into());
            Ok(single(edge(&outer[0])?, edge(&outer[0].offset(1)?)?))
        })?;
        for n in [1, 7, 8, 1_000_003] {
            assert_eq!(chunks.range(&i[1], n), Ok(Some((0, n - 1))));
        }
        let (tiles, i) = Nest::new(2, |level, n, outer| {
            if level == 0 {
                return Ok(single(0.into(), n.ceildiv(&32.into())?));
            }
            let lower = outer[0].scaled(32)?;
            let upper = Bound(vec![lower.offset(32)?, n.clone()]);
            Ok((lower.into(), upper))
        })?;
        assert_eq!(tiles.range(&i[1], 1000), Ok(Some((0, 999))));
        let inside = i[1].minus(&i[1].floordiv(&32.into())?.scaled(32)?)?;
        assert_eq!(tiles.range(&inside, 1000), Ok(Some((0, 31))));
        assert_eq!(
            tiles.range(&i[1].modulo(&5.into())?, 1000),
            Ok(Some((0, 4)))
        );
        let small = i[0].modulo(&64.into())?.scaled(2)?.minus(&i[0])?;
        assert_eq!(tiles.range(&small, 1000), Ok(Some((0, 31))));
        Ok(())
    }

    /// Tiles on a diagonal: a tile of the second loop begins behind what the first one has come to.
    #[test]
    fn conditions_around_count() {
        let source = "kernel @k(n: i64, m: i64, x: f64[m]) {
          affine.for d in 0..n ceildiv 64 + m ceildiv 256 - 1 {
            scf.forall t in 0..n ceildiv 64 strategy(auto) {
              affine.if (d + (-m) floordiv 256 + 1 <= t, t < d + 1) {
                affine.for j in d * 256 - t * 256..min(m, d * 256 - t * 256 + 256) { x[j] = 1.0 }
              } else { x[d - t] = 0.0 }
            }
          }
        }";
        let kernel = crate::text::parse(source).expect("a kernel").remove(0);
        let sites = crate::visit::accesses(&kernel);
        let range = |number: usize, is_among: bool| {
            let site = &sites[number];
            let crate::Subscript::Affine(subscript) = &site.access.subscripts[0] else {
                panic!("an affine subscript");
            };
            let mut around = Around::of(&kernel.body, site.node.expect("a node")).expect("around");
            around.retain(|it| is_among || matches!(it, Around::Loop(_)));
            numeric_range_where(subscript, &around, &|_| 700)
        };
        assert_eq!(range(0, true), Ok(Some((0, 699))));
        assert_ne!(range(0, false), Ok(Some((0, 699))));
        assert_eq!(range(1, true), Ok(Some((-10, 12))));
    }

    /// Padding around an image: its rows and its columns are checked together.
    #[test]
    fn each_condition_counts_for_what_it_speaks_of() {
        let source = "kernel @k(n: i64, m: i64, p: i64, x: f64[n, m], y: f64[n, m]) {
          affine.for i in 0..n {
            affine.for j in 0..m {
              affine.if (0 <= i - p, i - p < n, 0 <= j - p, j - p < m) { y[i, j] = x[i - p, j - p] }
            }
          }
        }";
        let kernel = crate::text::parse(source).expect("a kernel").remove(0);
        let sites = crate::visit::accesses(&kernel);
        let site = sites
            .iter()
            .find(|it| kernel.arrays[it.access.array].name == "x");
        let site = site.expect("a read of x");
        let around = Around::of(&kernel.body, site.node.expect("a node")).expect("around");
        let value_of = |it: ScalarId| {
            if kernel.scalars[it].name == "p" {
                2
            } else {
                100
            }
        };
        for subscript in &site.access.subscripts {
            let crate::Subscript::Affine(subscript) = subscript else {
                panic!("an affine subscript");
            };
            let range = numeric_range_where(subscript, &around, &value_of);
            assert_eq!(range, Ok(Some((0, 97))));
        }
    }

    /// What loops further out are compared with counts, too, and two of such differences make up
    /// another one.
    #[test]
    fn conditions_and_bounds_add_up() {
        let source = "kernel @k(n: i64, m: i64, x: f64[m]) {
          affine.for c in 0..m { affine.for p in 0..n { affine.for r in p + 1..p + 4 {
            affine.if (p + 7 <= c, c < r + 9) { x[c - r] = 1.0 }
          } } }
        }";
        let kernel = crate::text::parse(source).expect("a kernel").remove(0);
        let site = crate::visit::accesses(&kernel).remove(0);
        let around = Around::of(&kernel.body, site.node.expect("a node")).expect("around");
        let crate::Subscript::Affine(subscript) = &site.access.subscripts[0] else {
            panic!("an affine subscript");
        };
        for size in [20, 1_000_000] {
            let range = numeric_range_where(subscript, &around, &|_| size);
            assert_eq!(range, Ok(Some((4, 8))));
        }
    }

    #[test]
    fn an_empty_loop_has_an_empty_range() -> Result<(), Overflow> {
        let (nest, i) = Nest::new(1, |_, n, _| Ok(single(0.into(), n.clone())))?;
        assert_eq!(nest.range(&i[0], 0), Ok(Some((0, -1))));
        assert_eq!(nest.range(&i[0], -5), Ok(Some((0, -1))));
        Ok(())
    }

    #[test]
    fn what_is_not_known_is_said_to_be() -> Result<(), Overflow> {
        let (nest, i) = Nest::new(1, |_, n, _| Ok(single(0.into(), n.clone())))?;
        assert_eq!(numeric_range(&i[0], &[], &|_| 1), Ok(None));
        let divided = i[0].floordiv(&nest.n)?;
        assert_eq!(nest.range(&divided, 0), Err(Overflow));
        let mut contrived = i[0].clone();
        for divisor in (3..60).rev() {
            contrived = contrived.modulo(&divisor.into())?.plus(&i[0])?;
        }
        assert!(nest.range(&contrived, 1000).is_ok());
        Ok(())
    }

    #[test]
    fn the_iterations_of_a_forall_count_from_zero() {
        let mut kernel = Kernel::new("k", Span::default());
        let chunk = iter(&mut kernel, "i_c");
        let forall = Node::Forall(crate::Forall {
            iter: chunk,
            count: 8.into(),
            privates: vec![],
            disjoint: Vec::new(),
            strategy: "auto".to_owned(),
            body: Block::default(),
        });
        let range = numeric_range(&chunk.into(), &[loop_of(&forall)], &|_| 0);
        assert_eq!(range, Ok(Some((0, 7))));
        let inner = iter(&mut kernel, "i");
        let affine = for_loop(inner, 2.into(), 5.into(), vec![]);
        let range = numeric_range(&inner.into(), &[loop_of(&affine)], &|_| 0);
        assert_eq!(range, Ok(Some((2, 4))));
    }

    /// A small recipe for an expression over `n` and the iterators so far: coefficients, and a
    /// division of what they give.
    type Recipe = (Vec<i64>, i64, u8, i64);

    fn recipe() -> impl Strategy<Value = Recipe> {
        (
            proptest::collection::vec(-2_i64..=2, 5),
            -3_i64..=3,
            0_u8..6,
            1_i64..5,
        )
    }

    fn cook(recipe: &Recipe, n: &AffineExpr, iters: &[AffineExpr]) -> Result<AffineExpr, Overflow> {
        let (coefficients, constant, shape, divisor) = recipe;
        let mut sum = n.scaled(coefficients[0])?.offset(*constant)?;
        for (iter, coefficient) in iters.iter().zip(&coefficients[1..]) {
            sum = sum.plus(&iter.scaled(*coefficient)?)?;
        }
        let divisor = AffineExpr::from(*divisor);
        match (shape, iters.first()) {
            (0, Some(first)) => sum.plus(&first.floordiv(&divisor)?.scaled(*constant)?),
            (1, Some(first)) => sum.minus(&first.offset(*constant)?.modulo(&divisor)?),
            (2, _) => sum.floordiv(&divisor),
            (3, _) => sum.modulo(&divisor),
            (4, Some(first)) => sum.plus(&first.times(&iters[iters.len() - 1])?),
            _ => Ok(sum),
        }
    }

    proptest! {
        #[test]
        fn enumeration_never_leaves_the_range(
            bounds in proptest::collection::vec((recipe(), recipe(), recipe()), 1..4),
            conditions in proptest::collection::vec((recipe(), recipe()), 0..4),
            expr in recipe(),
            n in 0_i64..6,
        ) {
            let nest = Nest::new(bounds.len(), |level, n, outer| {
                let (lower, upper, other) = &bounds[level];
                let upper = vec![cook(upper, n, outer)?.offset(3)?, cook(other, n, outer)?.offset(4)?];
                Ok((cook(lower, n, outer)?.into(), Bound(upper)))
            });
            let Ok((nest, iters)) = nest else { return Ok(()) };
            let cook = |it| cook(it, &nest.n, &iters);
            let Ok(expr) = cook(&expr) else { return Ok(()) };
            let relations = [Relation::LessOrEqual, Relation::Less, Relation::Equal];
            let conditions = conditions.iter().zip(relations).filter_map(|((left, right), relation)| {
                let (left, right) = (cook(left).ok()?, cook(right).ok()?);
                Some(Condition { left, relation, right })
            });
            let conditions: Vec<_> = conditions.collect();
            let around = nest.loops.iter().map(Loop::Affine).map(Around::Loop);
            let around: Vec<_> = around.chain([Around::Conditions(&conditions)]).collect();
            let range = numeric_range_where(&expr, &around, &|_| n);
            let Ok(Some((least, greatest))) = range else { return Ok(()) };
            nest.run(&mut Vec::new(), n, &mut |iters| {
                let holds = |it: &Condition| {
                    let sides = (nest.at(&it.left, iters, n), nest.at(&it.right, iters, n));
                    matches!(sides, (Some(left), Some(right)) if it.relation.holds(left, right))
                };
                if let (true, Some(value)) = (conditions.iter().all(holds), nest.at(&expr, iters, n)) {
                    assert!(least <= value && value <= greatest, "{value} in {least}..={greatest}");
                }
            });
        }
    }
}
