//! Affine expressions over loops as a whole: from the least of their values to the largest.
//!
//! Interval arithmetic over the ranges of the iterators, each step checked: the results hold all
//! values that the expression has, and more where iterators depend on each other. An indexing map
//! has tighter ranges, but takes microseconds for one: these are found for each part of a loop
//! anew, from the first and the last of its iterations, in some nanoseconds.

use super::{Scanner, Unknown};
use crate::lower::affine::Wanted;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use strew_affine::{AffineExpr, Factor, Term, Variable};

/// From `least` to `most`, both included; the same value twice where there is one value only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    pub(super) least: Value,
    pub(super) most: Value,
}

impl Interval {
    fn point(value: Value) -> Self {
        Self {
            least: value,
            most: value,
        }
    }

    fn is_point(self) -> bool {
        self.least == self.most
    }
}

impl Scanner<'_, '_, '_, '_> {
    /// The values of `expr` in all iterations of the loops around.
    pub(super) fn interval(&mut self, expr: &AffineExpr) -> Result<Interval, Unknown> {
        let constant = self.constant(expr.constant());
        let mut sum = Interval::point(constant);
        for term in expr.terms() {
            let term = self.term(term)?;
            sum = self.combined(sum, term, Self::sum);
        }
        Ok(sum)
    }

    fn term(&mut self, term: &Term) -> Result<Interval, Unknown> {
        let scale = self.constant(term.coefficient);
        let mut product = Interval::point(scale);
        for factor in &term.factors {
            let factor = self.factor(factor)?;
            product = self.times(product, factor)?;
        }
        Ok(product)
    }

    fn factor(&mut self, factor: &Factor) -> Result<Interval, Unknown> {
        match factor {
            Factor::Variable(Variable::Iter(iter)) => match self.ranges.get(*iter) {
                Some(range) => Ok(*range),
                None => Ok(Interval::point(self.function.iter(*iter))),
            },
            Factor::Variable(variable) => Ok(Interval::point(self.function.variable(*variable))),
            // It rises with the numerator.
            Factor::FloorDiv(numerator, divisor) => {
                let divisor = divisor.as_constant().ok_or(Unknown)?;
                let numerator = self.interval(numerator)?;
                Ok(self.mapped(numerator, |scanner, value| {
                    let function = &mut scanner.function;
                    function.divided_by_constant(value, divisor, Wanted::Quotient)
                }))
            }
            Factor::Mod(_, divisor) => {
                let divisor = divisor.as_constant().ok_or(Unknown)?;
                let (least, most) = (self.constant(0), self.constant(divisor - 1));
                Ok(Interval { least, most })
            }
        }
    }

    /// The product of an interval and a number.
    fn times(&mut self, left: Interval, right: Interval) -> Result<Interval, Unknown> {
        let (range, scale) = match (left.is_point(), right.is_point()) {
            (_, true) => (left, right.least),
            (true, false) => (right, left.least),
            (false, false) => return Err(Unknown),
        };
        let ends = self.mapped(range, |scanner, end| scanner.product(end, scale));
        if ends.is_point() {
            return Ok(ends);
        }
        let least = self.function.builder.ins().smin(ends.least, ends.most);
        let most = self.function.builder.ins().smax(ends.least, ends.most);
        Ok(Interval { least, most })
    }

    /// What `map` makes of both ends.
    fn mapped(&mut self, range: Interval, map: impl Fn(&mut Self, Value) -> Value) -> Interval {
        let least = map(self, range.least);
        match range.is_point() {
            true => Interval::point(least),
            false => Interval {
                least,
                most: map(self, range.most),
            },
        }
    }

    /// What `combine` makes of the lower ends, and of the upper ones.
    pub(super) fn combined(
        &mut self,
        left: Interval,
        right: Interval,
        combine: impl Fn(&mut Self, Value, Value) -> Value,
    ) -> Interval {
        let least = combine(self, left.least, right.least);
        match left.is_point() && right.is_point() {
            true => Interval::point(least),
            false => Interval {
                least,
                most: combine(self, left.most, right.most),
            },
        }
    }

    pub(super) fn sum(&mut self, left: Value, right: Value) -> Value {
        let (sum, overflows) = self.function.builder.ins().sadd_overflow(left, right);
        self.forbid(overflows);
        sum
    }

    pub(super) fn product(&mut self, left: Value, right: Value) -> Value {
        let (product, overflows) = self.function.builder.ins().smul_overflow(left, right);
        self.forbid(overflows);
        product
    }

    pub(super) fn constant(&mut self, value: i64) -> Value {
        self.function.builder.ins().iconst(types::I64, value)
    }

    /// Nothing is known if `condition` holds.
    fn forbid(&mut self, condition: Value) {
        let holds_not = (self.function.builder.ins()).icmp_imm_u(IntCC::Equal, condition, 0);
        self.require(holds_not);
    }
}
