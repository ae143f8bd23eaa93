//! Affine expressions as values that statements compute with.

use crate::{AffineExpr, BinaryOp, CompareOp, Expr, Factor, IterId, Kernel, Span, Type, Variable};

/// Makes values of affine expressions.
#[derive(Clone, Copy, Debug)]
pub struct AffineValues<'k> {
    /// Whose variables they speak of.
    pub kernel: &'k Kernel,
    /// An iterator that is never negative, so that dividing it is what division of values does:
    /// they round towards zero.
    pub counter: Option<IterId>,
}

impl AffineValues<'_> {
    /// `affine` as a value of 64 bits.
    pub fn value(self, affine: &AffineExpr) -> Expr {
        let terms = affine.terms().iter().map(|term| {
            let factors = term.factors.iter().map(|it| self.factor(it));
            (product(factors), term.coefficient)
        });
        let mut sum: Option<Expr> = None;
        for (value, coefficient) in terms {
            sum = Some(match (sum, coefficient) {
                (None, 1) => value,
                (Some(sum), 1) => binary(BinaryOp::Add, sum, value),
                (Some(sum), -1) => binary(BinaryOp::Sub, sum, value),
                (None, _) => scaled(value, coefficient),
                (Some(sum), _) => binary(BinaryOp::Add, sum, scaled(value, coefficient)),
            });
        }
        match (sum, affine.constant()) {
            (None, constant) => Expr::i64(constant),
            (Some(sum), 0) => sum,
            (Some(sum), constant) => binary(BinaryOp::Add, sum, Expr::i64(constant)),
        }
    }

    fn factor(self, factor: &Factor) -> Expr {
        match factor {
            Factor::Variable(Variable::Iter(iter)) => Expr::Iter(*iter),
            Factor::Variable(Variable::Param(scalar)) => {
                Expr::Param(*scalar).cast_to(Type::I64, self.kernel)
            }
            Factor::FloorDiv(numerator, denominator) => {
                let [above, below] = [numerator, denominator].map(|it| self.value(it));
                let quotient = binary(BinaryOp::Div, above.clone(), below.clone());
                if self.is_counter(numerator) {
                    return quotient;
                }
                let remainder = binary(BinaryOp::Rem, above, below);
                let is_rounded_up = Expr::compare(CompareOp::Lt, remainder, Expr::i64(0));
                let one = Expr::Cast(Type::I64, Box::new(is_rounded_up));
                binary(BinaryOp::Sub, quotient, one)
            }
            Factor::Mod(numerator, denominator) => {
                let [above, below] = [numerator, denominator].map(|it| self.value(it));
                let remainder = binary(BinaryOp::Rem, above, below.clone());
                if self.is_counter(numerator) {
                    return remainder;
                }
                let positive = binary(BinaryOp::Add, remainder, below.clone());
                binary(BinaryOp::Rem, positive, below)
            }
        }
    }

    fn is_counter(self, numerator: &AffineExpr) -> bool {
        let counter = self.counter.map(Variable::Iter);
        counter.is_some() && numerator.as_variable() == counter
    }
}

fn product(factors: impl Iterator<Item = Expr>) -> Expr {
    let product = factors.reduce(|left, right| binary(BinaryOp::Mul, left, right));
    product.unwrap_or_else(|| Expr::i64(1))
}

fn scaled(value: Expr, coefficient: i64) -> Expr {
    binary(BinaryOp::Mul, value, Expr::i64(coefficient))
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, left, right, Span::default())
}
