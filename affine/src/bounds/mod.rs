//! The range of an affine expression over the loops around it.
//!
//! Iterators are eliminated innermost first: an iterator is at most `upper - 1` and at least `lower`, and which of the two
//! bounds the expression from above follows from the sign of its coefficient. The bounds are put in *symbolically*, so that what
//! they share with the rest of the expression cancels: `i - j` for `j in 0..i + 1` is at least `i - i`, hence `0`, and not `0 - i`.
//! Substituting a bound that holds at every iteration is sound whatever the nest; it is exact where each iterator met on the way
//! has one bound and no step.

mod linear;

use crate::visit::Loop;
use crate::{AffineExpr, Bound, Factor, IterId, Overflow, ScalarId, Variable};
use linear::{Linear, Side, add, multiply};

/// The values that `expr` can take in the loops `loops` (outermost first), as least and greatest, when the parameters have the
/// values that `value_of` gives.
///
/// The range never misses a value, and may hold values that are not taken. If the first number is greater than the second, the
/// innermost body never runs. `None` means that the range is not known: an iterator of an `scf.for`, whose bounds are computed,
/// or of none of `loops` occurs, or the expression is too contrived to be worth the search.
///
/// # Errors
/// The bounds leave the range of 128-bit integers, or a divisor is not positive.
pub fn numeric_range(
    expr: &AffineExpr,
    loops: &[Loop<'_>],
    value_of: &dyn Fn(ScalarId) -> i64,
) -> Result<Option<(i128, i128)>, Overflow> {
    let mut search = Search {
        value_of,
        budget: BUDGET,
    };
    search.range(expr, loops)
}

/// How many expressions are looked at in one search. Alternatives of bounds and nested divisions multiply; what a compiler or a
/// person writes needs some dozens.
const BUDGET: u32 = 10_000;

/// What stands for `a floordiv d` where a linear expression is wanted. Neither is always the tighter one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Division {
    /// Its own range: exact where nothing else in the expression moves with it.
    Range,
    /// `(a - d + 1) / d` from below, `a / d` from above: keeps what it shares with the rest, as in `i - 32 * (i floordiv 32)`.
    Relaxed,
}

struct Search<'a> {
    value_of: &'a dyn Fn(ScalarId) -> i64,
    budget: u32,
}

type Known<T> = Result<Option<T>, Overflow>;

impl Search<'_> {
    fn range(&mut self, expr: &AffineExpr, loops: &[Loop<'_>]) -> Known<(i128, i128)> {
        let Some(least) = self.bound(expr, loops, Side::Least)? else {
            return Ok(None);
        };
        let greatest = self.bound(expr, loops, Side::Greatest)?;
        Ok(greatest.map(|greatest| (least, greatest)))
    }

    fn bound(&mut self, expr: &AffineExpr, loops: &[Loop<'_>], side: Side) -> Known<i128> {
        let Some(by_range) = self.bound_with(expr, loops, side, Division::Range)? else {
            return Ok(None);
        };
        // An overflow in the second opinion is no reason to lose the first.
        match self.bound_with(expr, loops, side, Division::Relaxed) {
            Ok(Some(relaxed)) => Ok(Some(side.tighter(by_range, relaxed))),
            Ok(None) | Err(Overflow) => Ok(Some(by_range)),
        }
    }

    fn bound_with(
        &mut self,
        expr: &AffineExpr,
        loops: &[Loop<'_>],
        side: Side,
        division: Division,
    ) -> Known<i128> {
        match self.linear(expr, loops, side, division)? {
            Some(linear) => self.eliminate(&linear, loops, side, division),
            None => Ok(None),
        }
    }

    /// Replaces the iterators of `linear`, innermost first, by the bounds of their loops.
    fn eliminate(
        &mut self,
        linear: &Linear,
        loops: &[Loop<'_>],
        side: Side,
        division: Division,
    ) -> Known<i128> {
        let Some(depth) = linear.coefficients.iter().rposition(|it| *it != 0) else {
            return linear.rounded(side).map(Some);
        };
        let coefficient = linear.coefficients[depth];
        let inner = side.flipped_if(coefficient < 0);
        let outside = &loops[..depth];
        let mut rest = linear.clone();
        rest.coefficients.truncate(depth);
        let mut tightest: Option<i128> = None;
        for (alternative, offset) in alternatives(loops[depth], inner) {
            let Some(mut bound) = self.linear(&alternative, outside, inner, division)? else {
                continue;
            };
            let shift = multiply(offset, bound.denominator)?;
            bound.constant = add(bound.constant, shift)?;
            // The iterator's coefficient is in units of the whole expression's denominator.
            let scaled = bound.over(linear.denominator)?;
            let replaced = rest.plus_scaled(&scaled, coefficient)?;
            if let Some(found) = self.eliminate(&replaced, outside, side, division)? {
                tightest = Some(tightest.map_or(found, |other| side.tighter(found, other)));
            }
        }
        Ok(tightest)
    }

    /// A linear expression that is `expr`, or bounds it from `side` where it is not linear.
    fn linear(
        &mut self,
        expr: &AffineExpr,
        loops: &[Loop<'_>],
        side: Side,
        division: Division,
    ) -> Known<Linear> {
        let Some(budget) = self.budget.checked_sub(1) else {
            return Ok(None);
        };
        self.budget = budget;
        let mut sum = Linear::constant(expr.constant().into(), loops.len());
        for term in expr.terms() {
            let mut scale = i128::from(term.coefficient);
            let mut factors = Vec::new();
            for factor in &term.factors {
                match self.number(factor)? {
                    Some(value) => scale = multiply(scale, value)?,
                    None => factors.push(factor),
                }
            }
            let inner = side.flipped_if(scale < 0);
            let product = match factors.as_slice() {
                [] => Some(Linear::constant(1, loops.len())),
                [factor] => self.linear_factor(factor, loops, inner, division)?,
                several => {
                    let range = self.range_of_product(several, loops)?;
                    range.map(|range| pick(range, inner, loops.len()))
                }
            };
            let Some(product) = product else {
                return Ok(None);
            };
            sum = sum.plus_scaled(&product, scale)?;
        }
        Ok(Some(sum))
    }

    /// The value of a factor in which no iterator occurs.
    fn number(&self, factor: &Factor) -> Known<i128> {
        let parts = match factor {
            Factor::Variable(Variable::Param(param)) => {
                return Ok(Some((self.value_of)(*param).into()));
            }
            Factor::Variable(Variable::Iter(_)) => return Ok(None),
            Factor::FloorDiv(left, right) | Factor::Mod(left, right) => {
                (self.value(left)?, self.value(right)?)
            }
        };
        let (Some(left), Some(right)) = parts else {
            return Ok(None);
        };
        let right = positive(right)?;
        Ok(Some(match factor {
            Factor::Mod(..) => left.rem_euclid(right),
            _ => left.div_euclid(right),
        }))
    }

    /// The value of an expression in which no iterator occurs.
    fn value(&self, expr: &AffineExpr) -> Known<i128> {
        let mut sum = i128::from(expr.constant());
        for term in expr.terms() {
            let mut product = i128::from(term.coefficient);
            for factor in &term.factors {
                match self.number(factor)? {
                    Some(value) => product = multiply(product, value)?,
                    None => return Ok(None),
                }
            }
            sum = add(sum, product)?;
        }
        Ok(Some(sum))
    }

    fn linear_factor(
        &mut self,
        factor: &Factor,
        loops: &[Loop<'_>],
        side: Side,
        division: Division,
    ) -> Known<Linear> {
        match factor {
            Factor::Variable(Variable::Iter(iter)) => Ok(position(*iter, loops).map(|depth| {
                let mut linear = Linear::constant(0, loops.len());
                linear.coefficients[depth] = 1;
                linear
            })),
            Factor::FloorDiv(left, right) if division == Division::Relaxed => {
                self.relaxed_quotient(left, right, loops, side)
            }
            Factor::Mod(left, right) => {
                if let Some(same_period) =
                    self.remainder_in_one_period(left, right, loops, side, division)?
                {
                    return Ok(Some(same_period));
                }
                let range = self.range_of_factor(factor, loops)?;
                Ok(range.map(|range| pick(range, side, loops.len())))
            }
            Factor::Variable(Variable::Param(_)) | Factor::FloorDiv(..) => {
                let range = self.range_of_factor(factor, loops)?;
                Ok(range.map(|range| pick(range, side, loops.len())))
            }
        }
    }

    fn relaxed_quotient(
        &mut self,
        left: &AffineExpr,
        right: &AffineExpr,
        loops: &[Loop<'_>],
        side: Side,
    ) -> Known<Linear> {
        let Some(divisor) = self.value(right)? else {
            return Ok(None);
        };
        let divisor = positive(divisor)?;
        let Some(mut linear) = self.linear(left, loops, side, Division::Relaxed)? else {
            return Ok(None);
        };
        if side == Side::Least {
            let slack = multiply(divisor - 1, linear.denominator)?;
            linear.constant = add(linear.constant, -slack)?;
        }
        linear.over(divisor).map(Some)
    }

    /// `left mod right` is `left - k * right` when all values of `left` lie between `k * right` and the next multiple.
    fn remainder_in_one_period(
        &mut self,
        left: &AffineExpr,
        right: &AffineExpr,
        loops: &[Loop<'_>],
        side: Side,
        division: Division,
    ) -> Known<Linear> {
        let (Some(divisor), Some((least, greatest))) =
            (self.value(right)?, self.range(left, loops)?)
        else {
            return Ok(None);
        };
        let divisor = positive(divisor)?;
        let period = least.div_euclid(divisor);
        if period != greatest.div_euclid(divisor) {
            return Ok(None);
        }
        let shift = Linear::constant(multiply(period, divisor)?, loops.len());
        match self.linear(left, loops, side, division)? {
            Some(linear) => linear.plus_scaled(&shift, -1).map(Some),
            None => Ok(None),
        }
    }

    fn range_of_factor(&mut self, factor: &Factor, loops: &[Loop<'_>]) -> Known<(i128, i128)> {
        match factor {
            Factor::Variable(variable) => self.range(&(*variable).into(), loops),
            Factor::FloorDiv(left, right) => {
                let (Some(divisor), Some((least, greatest))) =
                    (self.value(right)?, self.range(left, loops)?)
                else {
                    return Ok(None);
                };
                let divisor = positive(divisor)?;
                Ok(Some((
                    least.div_euclid(divisor),
                    greatest.div_euclid(divisor),
                )))
            }
            Factor::Mod(_, right) => match self.value(right)? {
                Some(divisor) => Ok(Some((0, positive(divisor)? - 1))),
                None => Ok(None),
            },
        }
    }

    fn range_of_product(&mut self, factors: &[&Factor], loops: &[Loop<'_>]) -> Known<(i128, i128)> {
        let mut product = (1, 1);
        for factor in factors {
            let Some(range) = self.range_of_factor(factor, loops)? else {
                return Ok(None);
            };
            let corners = [
                multiply(product.0, range.0)?,
                multiply(product.0, range.1)?,
                multiply(product.1, range.0)?,
                multiply(product.1, range.1)?,
            ];
            product = corners
                .into_iter()
                .fold((corners[0], corners[0]), |range, corner| {
                    (range.0.min(corner), range.1.max(corner))
                });
        }
        Ok(Some(product))
    }
}

fn positive(divisor: i128) -> Result<i128, Overflow> {
    if divisor > 0 {
        Ok(divisor)
    } else {
        Err(Overflow)
    }
}

fn pick(range: (i128, i128), side: Side, depth: usize) -> Linear {
    let value = match side {
        Side::Least => range.0,
        Side::Greatest => range.1,
    };
    Linear::constant(value, depth)
}

fn position(iter: IterId, loops: &[Loop<'_>]) -> Option<usize> {
    loops.iter().rposition(|it| it.iter() == iter)
}

/// What bounds the loop's iterator from `side`, each with a number to add; each holds at every iteration.
fn alternatives(around: Loop<'_>, side: Side) -> Vec<(AffineExpr, i128)> {
    let all = |bound: &Bound, offset| bound.0.iter().map(|it| (it.clone(), offset)).collect();
    match (around, side) {
        (Loop::Affine(affine), Side::Least) => all(&affine.lower, 0),
        (Loop::Affine(affine), Side::Greatest) => all(&affine.upper, -1),
        (Loop::Forall(_), Side::Least) => vec![(0.into(), 0)],
        (Loop::Forall(forall), Side::Greatest) => vec![(forall.count.clone(), -1)],
        (Loop::Scf(_), _) => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_kernels::{for_loop, iter, scalar};
    use crate::{AffineFor, Kernel, Node, Span, Type};
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
                    body: vec![],
                });
            }
            Ok((Self { loops, n }, iters))
        }

        fn range(&self, expr: &AffineExpr, n: i64) -> Known<(i128, i128)> {
            let loops: Vec<_> = self.loops.iter().map(Loop::Affine).collect();
            numeric_range(expr, &loops, &|_| n)
        }

        /// Every value of `expr`, by running the loops.
        fn values(&self, expr: &AffineExpr, n: i64) -> Vec<i64> {
            let mut values = Vec::new();
            self.run(&mut Vec::new(), n, &mut |iters| {
                values.extend(self.at(expr, iters, n));
            });
            values
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
            assert_eq!(chunks.range(&i[1], n), Ok(Some((0, i128::from(n) - 1))));
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

    #[test]
    fn an_empty_loop_has_an_empty_range() -> Result<(), Overflow> {
        let (nest, i) = Nest::new(1, |_, n, _| Ok(single(0.into(), n.clone())))?;
        assert_eq!(nest.range(&i[0], 0), Ok(Some((0, -1))));
        assert_eq!(nest.range(&i[0], -5), Ok(Some((0, -6))));
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
            body: vec![],
        });
        let range = numeric_range(&chunk.into(), &[loop_of(&forall)], &|_| 0);
        assert_eq!(range, Ok(Some((0, 7))));
        let inner = iter(&mut kernel, "i");
        let affine = for_loop(inner, 2.into(), 5.into(), vec![]);
        let range = numeric_range(&inner.into(), &[loop_of(&affine)], &|_| 0);
        assert_eq!(range, Ok(Some((2, 4))));
    }

    /// A small recipe for an expression over `n` and the iterators so far: coefficients, and a division of what they give.
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
            expr in recipe(),
            n in 0_i64..6,
        ) {
            let nest = Nest::new(bounds.len(), |level, n, outer| {
                let (lower, upper, other) = &bounds[level];
                let upper = vec![cook(upper, n, outer)?.offset(3)?, cook(other, n, outer)?.offset(4)?];
                Ok((cook(lower, n, outer)?.into(), Bound(upper)))
            });
            let Ok((nest, iters)) = nest else { return Ok(()) };
            let Ok(expr) = cook(&expr, &nest.n, &iters) else { return Ok(()) };
            let Ok(Some((least, greatest))) = nest.range(&expr, n) else { return Ok(()) };
            for value in nest.values(&expr, n) {
                prop_assert!(least <= value.into() && i128::from(value) <= greatest);
            }
        }
    }
}
