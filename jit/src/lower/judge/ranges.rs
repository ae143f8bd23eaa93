//! Arithmetic with ranges, each end of which generated code computes.

use super::{Judge, Judged};
use crate::lower::affine::Wanted;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use strew_affine::{AffineExpr, Factor, Term, Variable};

/// The least and the greatest value; one value twice where there is one alone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) low: Value,
    pub(super) high: Value,
}

impl Range {
    pub(super) fn point(value: Value) -> Self {
        Self {
            low: value,
            high: value,
        }
    }

    pub(super) fn is_point(self) -> bool {
        self.low == self.high
    }
}

impl Judge<'_, '_, '_> {
    /// The values of `expr`, whose iterators are known.
    pub(super) fn range(&mut self, expr: &AffineExpr) -> Range {
        let known = match self.known.get(expr).copied() {
            Some(known) => known,
            None => {
                let before = self.take_wrong();
                let range = self.new_range(expr);
                let wrong = std::mem::replace(&mut self.wrong, before);
                let judged = Judged { range, wrong };
                self.known.insert(expr.clone(), judged);
                judged
            }
        };
        self.blame(known.wrong);
        known.range
    }

    fn new_range(&mut self, expr: &AffineExpr) -> Range {
        let constant = self.number(expr.constant());
        let mut sum = None;
        for term in expr.terms() {
            let term = self.term(term);
            sum = Some(match sum {
                None => term,
                Some(sum) => self.sum(sum, term),
            });
        }
        match sum {
            Some(sum) if expr.constant() == 0 => sum,
            Some(sum) => self.sum(sum, Range::point(constant)),
            None => Range::point(constant),
        }
    }

    fn term(&mut self, term: &Term) -> Range {
        let mut product = None;
        for factor in &term.factors {
            let factor = self.factor(factor);
            product = Some(match product {
                None => factor,
                Some(product) => self.times(product, factor),
            });
        }
        let coefficient = self.number(term.coefficient);
        match product {
            Some(product) if term.coefficient == 1 => product,
            Some(product) => self.times(product, Range::point(coefficient)),
            None => Range::point(coefficient),
        }
    }

    fn factor(&mut self, factor: &Factor) -> Range {
        match factor {
            Factor::Variable(Variable::Iter(iter)) => match self.iters.get(iter).copied() {
                Some(known) => {
                    self.blame(known.wrong);
                    known.range
                }
                // Only expressions whose iterators are known are looked at.
                None => Range::point(self.number(0)),
            },
            Factor::Variable(variable) => Range::point(self.function.variable(*variable)),
            Factor::FloorDiv(left, right) => {
                let (left, divisor) = (self.range(left), self.divisor(right));
                self.at_both_ends(left, |judge, value| {
                    judge.function.divided(value, divisor, Wanted::Quotient)
                })
            }
            Factor::Mod(left, right) => {
                let (left, divisor) = (self.range(left), self.divisor(right));
                self.remainder(left, divisor)
            }
        }
    }

    /// A divisor, which follows from the parameters alone; one that is not positive is wrong, and
    /// does not trap.
    fn divisor(&mut self, expr: &AffineExpr) -> Value {
        let divisor = self.range(expr).low;
        let is_none = self.compare_number(IntCC::SignedLessThanOrEqual, divisor, 0);
        self.blame(is_none);
        let one = self.number(1);
        self.function.builder.ins().smax(divisor, one)
    }

    /// Where all values have one quotient, their remainders rise with them.
    fn remainder(&mut self, left: Range, divisor: Value) -> Range {
        let rest = self.at_both_ends(left, |judge, value| {
            judge.function.divided(value, divisor, Wanted::Remainder)
        });
        if left.is_point() {
            return rest;
        }
        let quotient = self.at_both_ends(left, |judge, value| {
            judge.function.divided(value, divisor, Wanted::Quotient)
        });
        let rises = self.compare(IntCC::Equal, quotient.low, quotient.high);
        let zero = self.number(0);
        let builder = &mut self.function.builder;
        let most = builder.ins().iadd_imm_s(divisor, -1);
        Range {
            low: builder.ins().select(rises, rest.low, zero),
            high: builder.ins().select(rises, rest.high, most),
        }
    }

    fn at_both_ends(&mut self, range: Range, compute: impl Fn(&mut Self, Value) -> Value) -> Range {
        let low = compute(self, range.low);
        let high = match range.is_point() {
            true => low,
            false => compute(self, range.high),
        };
        Range { low, high }
    }

    fn sum(&mut self, left: Range, right: Range) -> Range {
        let low = self.checked_sum(left.low, right.low);
        let high = match left.is_point() && right.is_point() {
            true => low,
            false => self.checked_sum(left.high, right.high),
        };
        Range { low, high }
    }

    fn checked_sum(&mut self, left: Value, right: Value) -> Value {
        let (sum, overflows) = self.function.builder.ins().sadd_overflow(left, right);
        self.blame(overflows);
        sum
    }

    pub(super) fn checked_product(&mut self, left: Value, right: Value) -> Value {
        let (product, overflows) = self.function.builder.ins().smul_overflow(left, right);
        self.blame(overflows);
        product
    }

    /// The ends of a product are among the products of the ends.
    fn times(&mut self, left: Range, right: Range) -> Range {
        if left.is_point() && right.is_point() {
            return Range::point(self.checked_product(left.low, right.low));
        }
        let mut corners = Vec::new();
        for left in ends(left) {
            for right in ends(right) {
                corners.push(self.checked_product(left, right));
            }
        }
        let mut range = Range::point(corners[0]);
        for corner in corners.into_iter().skip(1) {
            let builder = &mut self.function.builder;
            range = Range {
                low: builder.ins().smin(range.low, corner),
                high: builder.ins().smax(range.high, corner),
            };
        }
        range
    }

    /// The greater of two values.
    pub(super) fn greatest(&mut self, left: Range, right: Range) -> Range {
        let builder = &mut self.function.builder;
        let low = builder.ins().smax(left.low, right.low);
        let high = match left.is_point() && right.is_point() {
            true => low,
            false => builder.ins().smax(left.high, right.high),
        };
        Range { low, high }
    }
}

fn ends(range: Range) -> Vec<Value> {
    match range.is_point() {
        true => vec![range.low],
        false => vec![range.low, range.high],
    }
}
