//! Which values a machine integer can have: the proof that C's arithmetic on it does not wrap.

use std::collections::HashMap;
use strew_affine::{AffineExpr, Factor, Type, Variable};

/// The integers from `low` to `high`, both included; at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) low: i128,
    pub(crate) high: i128,
}

impl Interval {
    /// From the smaller to the greater of the two.
    pub(crate) fn new(one: i128, other: i128) -> Self {
        Self {
            low: one.min(other),
            high: one.max(other),
        }
    }

    pub(crate) fn point(value: i128) -> Self {
        Self::new(value, value)
    }

    /// The values of an integer type or `bool`; `None` for floats.
    pub(crate) fn of(ty: Type) -> Option<Self> {
        let (low, high) = ty.integer_range()?;
        Some(Self { low, high })
    }

    /// The iterators of loops and all affine values lie in here.
    pub(crate) fn i64() -> Self {
        Self::new(i128::from(i64::MIN), i128::from(i64::MAX))
    }

    pub(crate) fn is_within(self, other: Self) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    pub(crate) fn fits(self, ty: Type) -> bool {
        Self::of(ty).is_some_and(|values| self.is_within(values))
    }

    /// The only value, when there is just one.
    pub(crate) fn as_point(self) -> Option<i128> {
        (self.low == self.high).then_some(self.low)
    }

    pub(crate) fn hull(self, other: Self) -> Self {
        Self::new(self.low.min(other.low), self.high.max(other.high))
    }

    /// What lies in both; `self` when nothing does, which only unreachable code sees.
    pub(crate) fn narrowed(self, other: Self) -> Self {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        if low <= high {
            Self { low, high }
        } else {
            self
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            low: self.low.saturating_add(other.low),
            high: self.high.saturating_add(other.high),
        }
    }

    pub(crate) fn negated(self) -> Self {
        Self::new(self.low.saturating_neg(), self.high.saturating_neg())
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        self.plus(other.negated())
    }

    pub(crate) fn times(self, other: Self) -> Self {
        let products = [self.low, self.high]
            .map(|left| [other.low, other.high].map(|right| left.saturating_mul(right)));
        let [[a, b], [c, d]] = products;
        Self::new(a, b).hull(Self::new(c, d))
    }

    /// Applies a function that never falls, or never rises, to both ends.
    pub(crate) fn monotone(self, function: impl Fn(i128) -> i128) -> Self {
        Self::new(function(self.low), function(self.high))
    }
}

/// The values that iterators and parameters can have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    now: HashMap<Variable, Interval>,
    /// What each change replaced, the last change last.
    before: Vec<(Variable, Option<Interval>)>,
}

impl Ranges {
    pub(crate) fn set(&mut self, variable: Variable, range: Interval) {
        let before = self.now.insert(variable, range);
        self.before.push((variable, before));
    }

    pub(crate) fn get(&self, variable: Variable) -> Interval {
        self.now.get(&variable).copied().unwrap_or(Interval::i64())
    }

    /// Those of the parameters alone.
    pub(crate) fn of_parameters(&self) -> Self {
        let of_parameters = |it: &(Variable, Interval)| matches!(it.0, Variable::Param(_));
        let now = self.now.iter().map(|(variable, range)| (*variable, *range));
        Self {
            now: now.filter(of_parameters).collect(),
            before: Vec::new(),
        }
    }

    /// To return to.
    pub(crate) fn mark(&self) -> usize {
        self.before.len()
    }

    /// Undoes every change since `mark`.
    pub(crate) fn return_to(&mut self, mark: usize) {
        while self.before.len() > mark
            && let Some((variable, before)) = self.before.pop()
        {
            match before {
                Some(range) => self.now.insert(variable, range),
                None => self.now.remove(&variable),
            };
        }
    }

    /// The values of `expr`; `None` when one of its terms or partial sums, taken in order, can
    /// leave 64 bits.
    pub(crate) fn of(&self, expr: &AffineExpr) -> Option<Interval> {
        let mut sum = Interval::point(expr.constant().into());
        for term in expr.terms() {
            let mut product = Interval::point(term.coefficient.into());
            for factor in &term.factors {
                product = inside(product.times(self.of_factor(factor)?))?;
            }
            sum = inside(sum.plus(product))?;
        }
        Some(sum)
    }

    fn of_factor(&self, factor: &Factor) -> Option<Interval> {
        match factor {
            Factor::Variable(variable) => inside(self.get(*variable)),
            Factor::FloorDiv(left, right) => {
                let (dividend, divisor) = (self.of(left)?, self.divisor(right)?);
                let [slow, fast] = [divisor.low, divisor.high]
                    .map(|by| dividend.monotone(|value| value.div_euclid(by)));
                Some(slow.hull(fast))
            }
            Factor::Mod(left, right) => {
                self.of(left)?;
                Some(Interval::new(0, self.divisor(right)?.high - 1))
            }
        }
    }

    fn divisor(&self, expr: &AffineExpr) -> Option<Interval> {
        self.of(expr).filter(|it| it.low >= 1)
    }
}

fn inside(range: Interval) -> Option<Interval> {
    range.is_within(Interval::i64()).then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_covers_every_pair_of_members() {
        let intervals =
            [(-3, 2), (0, 4), (-5, -1), (2, 2)].map(|(low, high)| Interval { low, high });
        for left in intervals {
            for right in intervals {
                for x in left.low..=left.high {
                    for y in right.low..=right.high {
                        assert!(Interval::point(x + y).is_within(left.plus(right)));
                        assert!(Interval::point(x - y).is_within(left.minus(right)));
                        assert!(Interval::point(x * y).is_within(left.times(right)));
                    }
                }
            }
        }
    }

    #[test]
    fn extremes_saturate() {
        let huge = Interval::of(Type::U64).map(|range| range.times(range).times(range));
        assert_eq!(huge.map(|range| range.fits(Type::U64)), Some(false));
    }
}
