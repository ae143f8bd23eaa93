//! The iterations of loops, and what holds in them.

use super::Around;
use crate::indexing::{Declaration, IndexExpr, IndexingError, IndexingMap, Interval, VariableKind};
use crate::visit::Loop;
use crate::{AffineExpr, Bound, Condition, IterId, Overflow, Relation, ScalarId, Variable};

/// The parts that the search for the ends of a range looks at: a call waits for it.
pub(super) const PARTS: usize = 64;

/// More limits of iterators than this do not constrain each other: without them a range only gets
/// wider.
const LIMITS: usize = 16;

/// Of so many differences two may make up a third one: all pairs are tried.
const MOST_SAID: usize = 32;

/// The iterations of some loops.
pub(super) struct Nest<'a> {
    value_of: &'a dyn Fn(ScalarId) -> i64,
    /// The iterators, each a dimension.
    iters: Vec<IterId>,
    domain: IndexingMap,
    /// Expressions without parameters that are not below zero.
    not_negative: Vec<AffineExpr>,
}

type Checked<T> = Result<T, IndexingError>;

fn beyond_64_bits(_: Overflow) -> IndexingError {
    IndexingError::Overflow
}

impl<'a> Nest<'a> {
    /// One iteration of no loop.
    pub(super) fn new(value_of: &'a dyn Fn(ScalarId) -> i64) -> Self {
        Self {
            value_of,
            iters: Vec::new(),
            domain: IndexingMap::identity(&[]),
            not_negative: Vec::new(),
        }
    }

    /// The values of `expr` inside of `around`, outermost first; `None` where there is no
    /// iteration.
    pub(super) fn range_in(
        &mut self,
        expr: &AffineExpr,
        around: Vec<Around<'_>>,
    ) -> Checked<Option<Interval>> {
        for it in around {
            match it {
                Around::Loop(it) => self.enter(it)?,
                Around::Conditions(conditions) => self.assume(conditions)?,
            }
        }
        self.range(&self.number(expr)?)
    }

    /// The expression with numbers for parameters.
    fn number(&self, expr: &AffineExpr) -> Checked<AffineExpr> {
        let number = expr.substitute(&|variable| match variable {
            Variable::Param(param) => Some((self.value_of)(param).into()),
            Variable::Iter(_) => None,
        });
        number.map_err(beyond_64_bits)
    }

    fn index(&self, expr: &AffineExpr) -> Checked<IndexExpr> {
        IndexExpr::from_affine(expr, &|variable| {
            let mut known = self.iters.iter();
            let position = known.position(|it| Variable::Iter(*it) == variable);
            crate::indexing::Variable::new(VariableKind::Dimension, position.unwrap_or(usize::MAX))
        })
    }

    /// The values of an expression without parameters; `None` where there is no iteration.
    fn range(&self, expr: &AffineExpr) -> Checked<Option<Interval>> {
        if let Some(value) = expr.as_constant() {
            return Ok(Some(Interval::point(value)));
        }
        let map = (self.domain.clone()).with_results(vec![self.index(expr)?])?;
        let ranges = map.result_ranges_within(PARTS)?;
        let range = ranges.and_then(|it| it.first().copied());
        Ok(range.map(|it| self.as_said(expr, it)))
    }

    /// As much of `range` as is left by what was said of one expression, or of two that make up
    /// `expr`. The search may give up before it has seen that.
    fn as_said(&self, expr: &AffineExpr, range: Interval) -> Interval {
        let negated = AffineExpr::from(0).minus(expr).ok();
        let greatest = negated.and_then(|it| self.least_said(&it)?.checked_neg());
        Interval {
            low: range.low.max(self.least_said(expr).unwrap_or(i64::MIN)),
            high: range.high.min(greatest.unwrap_or(i64::MAX)),
        }
    }

    /// What `expr` is not below, since it is that more than one of the expressions that are not
    /// below zero, or than two of them.
    fn least_said(&self, expr: &AffineExpr) -> Option<i64> {
        let rests = self
            .not_negative
            .iter()
            .filter_map(|it| expr.minus(it).ok());
        // What is left is to be another one of them, which are not longer than what is asked for.
        let short = rests.filter(|it| it.terms().len() <= expr.terms().len());
        let least = short.filter_map(|rest| {
            let others = self.not_negative.iter();
            let others = others.filter_map(|it| rest.minus(it).ok()?.as_constant());
            rest.as_constant().into_iter().chain(others).max()
        });
        least.max()
    }

    /// The same of a bound of a loop, of one iterator and a number by what is known of that
    /// iterator alone: most bounds are such.
    fn range_of_bound(&self, expr: &AffineExpr) -> Checked<Option<Interval>> {
        let alone = expr.minus(&expr.constant().into());
        let Some(iter) = alone.ok().and_then(|it| it.as_variable()) else {
            return self.range(expr);
        };
        let position = self.iters.iter().position(|it| Variable::Iter(*it) == iter);
        let bounds = position.and_then(|it| self.domain.dimensions().get(it));
        let bounds = bounds.map_or(Interval::ALL, |it| it.bounds);
        let shifted = |it: i64| {
            it.checked_add(expr.constant())
                .ok_or(IndexingError::Overflow)
        };
        Ok(Some(Interval::new(
            shifted(bounds.low)?,
            shifted(bounds.high)?,
        )))
    }

    fn enter(&mut self, around: Loop<'_>) -> Checked<()> {
        let numbers = |Bound(all): &Bound| -> Checked<Vec<_>> {
            all.iter().map(|it| self.number(it)).collect()
        };
        let (lower, upper) = match around {
            Loop::Affine(affine) => (numbers(&affine.lower)?, numbers(&affine.upper)?),
            Loop::Forall(forall) => (vec![0.into()], vec![self.number(&forall.count)?]),
            Loop::Scf(_) => return Ok(()),
        };
        let mut bounds = Interval::ALL;
        let mut limits = Vec::new();
        let iter = AffineExpr::from(around.iter());
        for least in &lower {
            // Without an iteration around it the loop has none either, whatever its bounds.
            let range = self.range_of_bound(least)?.unwrap_or(Interval::ALL);
            bounds.low = bounds.low.max(range.low);
            if least.as_constant().is_none() {
                limits.push(iter.minus(least).map_err(beyond_64_bits)?);
            }
        }
        for beyond in &upper {
            let last = match (around, lower.as_slice()) {
                (Loop::Affine(affine), [first]) => last_turn(first, beyond, affine.step),
                _ => beyond.offset(-1),
            };
            let last = last.map_err(beyond_64_bits)?;
            let range = self.range_of_bound(&last)?.unwrap_or(Interval::ALL);
            bounds.high = bounds.high.min(range.high);
            if last.as_constant().is_none() {
                limits.push(last.minus(&iter).map_err(beyond_64_bits)?);
            }
        }
        if let (Loop::Affine(affine), [first]) = (around, lower.as_slice())
            && let Some(first) = first.as_constant()
        {
            bounds.high = last_of(first, bounds.high, affine.step);
        }
        self.iters.push(around.iter());
        self.domain = (self.domain.clone()).with_dimension(Declaration::new(bounds));
        self.limit(&limits, Interval::new(0, i64::MAX))
    }

    /// All of `limits` lie in `range`.
    fn limit(&mut self, limits: &[AffineExpr], range: Interval) -> Checked<()> {
        let room = MOST_SAID.saturating_sub(self.not_negative.len());
        for limit in limits.iter().take(room) {
            let above = limit.minus(&range.low.into());
            let below = AffineExpr::from(range.high).minus(limit);
            let (above, below) = (above.ok(), below.ok().filter(|_| range.high < i64::MAX));
            self.not_negative.extend(above.into_iter().chain(below));
        }
        let room = LIMITS.saturating_sub(self.domain.constraints().len());
        for limit in limits.iter().take(room) {
            let limit = self.index(limit)?;
            self.domain = self.domain.clone().constrained(limit, range)?;
        }
        Ok(())
    }

    fn assume(&mut self, conditions: &[Condition]) -> Checked<()> {
        for it in conditions {
            let room = it.right.minus(&it.left).map_err(beyond_64_bits)?;
            let range = match it.relation {
                Relation::LessOrEqual => Interval::new(0, i64::MAX),
                Relation::Less => Interval::new(1, i64::MAX),
                Relation::Equal => Interval::point(0),
            };
            let room = self.number(&room)?;
            self.limit(&[room], range)?;
        }
        Ok(())
    }
}

/// The last value of an iterator that ends before `beyond`: whole steps behind `first`, where the
/// distance is a number.
pub(super) fn last_turn(
    first: &AffineExpr,
    beyond: &AffineExpr,
    step: i64,
) -> Result<AffineExpr, Overflow> {
    let last = beyond.offset(-1)?;
    match last.minus(first)?.as_constant() {
        Some(distance @ 0..) if step > 0 => first.offset(distance - distance % step),
        _ => Ok(last),
    }
}

/// The greatest of `first`, `first + step`, … up to `high`.
fn last_of(first: i64, high: i64, step: i64) -> i64 {
    let distance = high.checked_sub(first);
    match distance.and_then(|it| it.checked_rem(step)) {
        Some(beyond) if high >= first && step > 0 => high - beyond,
        _ => high,
    }
}

#[cfg(test)]
mod tests {
    use super::last_of;

    #[test]
    fn the_last_iteration_is_some_steps_from_the_first() {
        assert_eq!(last_of(0, 1023, 64), 960);
        assert_eq!(last_of(3, 10, 4), 7);
        assert_eq!(last_of(3, 2, 4), 2);
        assert_eq!(last_of(i64::MIN, i64::MAX, 2), i64::MAX);
        assert_eq!(last_of(-5, i64::MAX, 1), i64::MAX);
    }
}
