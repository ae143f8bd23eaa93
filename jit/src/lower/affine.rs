//! Affine expressions, bounds and conditions, as `i64`.
//!
//! Before a call its sizes are looked at: where it is proved that neither the value nor a numerator
//! leaves 64 bits and that no divisor is below one, plain wrapping instructions give the
//! mathematical value. Elsewhere every step is checked.

use super::convert::extend;
use super::function::FunctionLowering;
use super::known::Division;
use crate::facts::Checks;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use strew_affine::{Access, AffineExpr, Bound, Condition, Factor, Relation, Term, Variable};

/// Which result of a division is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Quotient,
    Remainder,
}

impl FunctionLowering<'_, '_, '_> {
    /// The value of `expr`, a subscript of `access` or, without one, a bound or a condition.
    pub(super) fn affine(&mut self, expr: &AffineExpr, access: Option<&Access>) -> Value {
        if self.program.checks.is_exact(expr, &self.loops) {
            self.exact_affine(expr)
        } else {
            self.checked_affine(expr, access)
        }
    }

    /// Whether all that `expr` is over has a value here: there is nothing in it but parameters and
    /// iterators of loops around.
    pub(super) fn is_known_here(&self, expr: &AffineExpr) -> bool {
        let mut is_known = true;
        expr.for_each_variable(&mut |variable| {
            is_known &= match variable {
                Variable::Param(_) => true,
                Variable::Iter(iter) => self.loops.iter().any(|it| it.iter() == iter),
            };
        });
        is_known
    }

    /// The value modulo 2^64, if nothing in it has to be checked or it does not have to be right.
    pub(super) fn exact_affine(&mut self, expr: &AffineExpr) -> Value {
        if let Some(constant) = expr.as_constant() {
            return self.builder.ins().iconst(types::I64, constant);
        }
        let sum = self.affine_terms(expr);
        match expr.constant() {
            0 => sum,
            constant => self.builder.ins().iadd_imm_s(sum, constant),
        }
    }

    /// The value without the constant part.
    pub(super) fn affine_terms(&mut self, expr: &AffineExpr) -> Value {
        let sum = expr
            .terms()
            .iter()
            .fold(None, |sum, term| Some(self.add_term(sum, term)));
        sum.unwrap_or_else(|| self.builder.ins().iconst(types::I64, 0))
    }

    fn add_term(&mut self, sum: Option<Value>, term: &Term) -> Value {
        let product = self.product(&term.factors);
        match (sum, term.coefficient) {
            (None, 1) => product,
            (Some(sum), 1) => self.builder.ins().iadd(sum, product),
            (Some(sum), -1) => self.builder.ins().isub(sum, product),
            (sum, coefficient) => {
                let scaled = self.scaled(product, coefficient);
                match sum {
                    Some(sum) => self.builder.ins().iadd(sum, scaled),
                    None => scaled,
                }
            }
        }
    }

    /// A product with a constant; a power of two as a shift, which addressing can absorb.
    fn scaled(&mut self, value: Value, factor: i64) -> Value {
        if factor > 0 && factor & (factor - 1) == 0 {
            let count = i64::from(factor.trailing_zeros());
            self.builder.ins().ishl_imm_u(value, count)
        } else {
            self.builder.ins().imul_imm_s(value, factor)
        }
    }

    fn product(&mut self, factors: &[Factor]) -> Value {
        let values: Vec<_> = factors.iter().map(|factor| self.factor(factor)).collect();
        let product = values
            .into_iter()
            .reduce(|left, right| self.builder.ins().imul(left, right));
        product.unwrap_or_else(|| self.builder.ins().iconst(types::I64, 1))
    }

    /// The value of a factor; that of a division is kept, since the bounds of neighbouring loops
    /// share them.
    fn factor(&mut self, factor: &Factor) -> Value {
        if let Some(value) = self.known_division(factor) {
            return value;
        }
        let value = self.new_factor(factor);
        if !matches!(factor, Factor::Variable(_)) {
            self.known.divisions.push(Division {
                factor: factor.clone(),
                value,
                turn: None,
            });
        }
        value
    }

    fn new_factor(&mut self, factor: &Factor) -> Value {
        match factor {
            Factor::Variable(variable) => self.variable(*variable),
            Factor::FloorDiv(numerator, denominator) => {
                self.exact_division(numerator, denominator, Wanted::Quotient)
            }
            Factor::Mod(numerator, denominator) => {
                self.exact_division(numerator, denominator, Wanted::Remainder)
            }
        }
    }

    pub(super) fn variable(&mut self, variable: Variable) -> Value {
        match variable {
            Variable::Iter(iter) => self.iter(iter),
            Variable::Param(param) => {
                let ty = self.program.kernel.scalars[param].ty;
                let value = self.scalar(param);
                extend(&mut self.builder, value, ty)
            }
        }
    }

    fn exact_division(
        &mut self,
        numerator: &AffineExpr,
        denominator: &AffineExpr,
        wanted: Wanted,
    ) -> Value {
        let left = self.exact_affine(numerator);
        if let Some(divisor) = denominator.as_constant() {
            return self.divided_by_constant(left, divisor, wanted);
        }
        let mut right = self.exact_affine(denominator);
        if self.program.checks == Checks::All {
            // The divisor was not proved to be positive, and must not trap even where the quotient
            // is a mere estimate.
            let one = self.builder.ins().iconst(types::I64, 1);
            right = self.builder.ins().smax(right, one);
        }
        self.divided(left, right, wanted)
    }

    pub(super) fn divided_by_constant(
        &mut self,
        left: Value,
        divisor: i64,
        wanted: Wanted,
    ) -> Value {
        if divisor & (divisor - 1) == 0 {
            let ins = self.builder.ins();
            return match wanted {
                Wanted::Quotient => ins.sshr_imm_u(left, i64::from(divisor.trailing_zeros())),
                Wanted::Remainder => ins.band_imm_s(left, divisor - 1),
            };
        }
        let right = self.builder.ins().iconst(types::I64, divisor);
        self.divided(left, right, wanted)
    }

    /// A result of the division that rounds towards minus infinity, by a positive divisor.
    pub(super) fn divided(&mut self, left: Value, right: Value, wanted: Wanted) -> Value {
        let ins = &mut self.builder;
        let truncated = ins.ins().sdiv(left, right);
        let product = ins.ins().imul(truncated, right);
        let rest = ins.ins().isub(left, product);
        let negative = ins.ins().icmp_imm_s(IntCC::SignedLessThan, rest, 0);
        let (truncated, corrected) = match wanted {
            Wanted::Quotient => (truncated, ins.ins().iadd_imm_s(truncated, -1)),
            Wanted::Remainder => (rest, ins.ins().iadd(rest, right)),
        };
        ins.ins().select(negative, corrected, truncated)
    }

    /// The greatest of the alternatives.
    pub(super) fn lower_bound(&mut self, bound: &Bound) -> Value {
        self.greatest(bound, |function, it| function.affine(it, None))
    }

    /// The least of the alternatives.
    pub(super) fn upper_bound(&mut self, bound: &Bound) -> Value {
        self.least(bound, |function, it| function.affine(it, None))
    }

    /// The greatest of the alternatives, each of which is what `value` makes.
    pub(super) fn greatest(
        &mut self,
        bound: &Bound,
        value: fn(&mut Self, &AffineExpr) -> Value,
    ) -> Value {
        self.bound(bound, value, |function, left, right| {
            function.builder.ins().smax(left, right)
        })
    }

    /// The least of them.
    pub(super) fn least(
        &mut self,
        bound: &Bound,
        value: fn(&mut Self, &AffineExpr) -> Value,
    ) -> Value {
        self.bound(bound, value, |function, left, right| {
            function.builder.ins().smin(left, right)
        })
    }

    fn bound(
        &mut self,
        bound: &Bound,
        value: fn(&mut Self, &AffineExpr) -> Value,
        pick: fn(&mut Self, Value, Value) -> Value,
    ) -> Value {
        let values: Vec<_> = bound.0.iter().map(|it| value(self, it)).collect();
        let picked = values
            .into_iter()
            .reduce(|left, right| pick(self, left, right));
        picked.unwrap_or_else(|| self.builder.ins().iconst(types::I64, 0))
    }

    /// Whether all conditions hold.
    pub(super) fn affine_conditions(&mut self, conditions: &[Condition]) -> Value {
        let values: Vec<_> = conditions
            .iter()
            .map(|it| self.affine_condition(it))
            .collect();
        let all = values
            .into_iter()
            .reduce(|left, right| self.builder.ins().band(left, right));
        all.unwrap_or_else(|| self.builder.ins().iconst(types::I8, 1))
    }

    fn affine_condition(&mut self, condition: &Condition) -> Value {
        let code = match condition.relation {
            Relation::LessOrEqual => IntCC::SignedLessThanOrEqual,
            Relation::Less => IntCC::SignedLessThan,
            Relation::Equal => IntCC::Equal,
        };
        let left = self.affine(&condition.left, None);
        let right = self.affine(&condition.right, None);
        self.builder.ins().icmp(code, left, right)
    }
}
