//! Affine expressions whose values were not proved to stay in 64 bits: each step is checked, in the
//! order of [`AffineExpr::evaluate`], and the function left where that would fail.

use super::affine::Wanted;
use super::function::FunctionLowering;
use crate::site::Site;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use strew_affine::{Access, AffineExpr, Factor, Term};

impl FunctionLowering<'_, '_, '_> {
    pub(super) fn checked_affine(&mut self, expr: &AffineExpr, access: Option<&Access>) -> Value {
        let mut sum = match expr.constant() {
            0 => None,
            constant => Some(self.builder.ins().iconst(types::I64, constant)),
        };
        for term in expr.terms() {
            let product = self.checked_product(term, access);
            sum = Some(match sum {
                None => product,
                Some(sum) => {
                    let (sum, overflows) = self.builder.ins().sadd_overflow(sum, product);
                    self.leave_beyond(overflows, access);
                    sum
                }
            });
        }
        sum.unwrap_or_else(|| self.builder.ins().iconst(types::I64, 0))
    }

    fn checked_product(&mut self, term: &Term, access: Option<&Access>) -> Value {
        let mut product = match term.coefficient {
            1 => None,
            coefficient => Some(self.builder.ins().iconst(types::I64, coefficient)),
        };
        for factor in &term.factors {
            let factor = self.checked_factor(factor, access);
            product = Some(match product {
                None => factor,
                Some(product) => {
                    let (product, overflows) = self.builder.ins().smul_overflow(product, factor);
                    self.leave_beyond(overflows, access);
                    product
                }
            });
        }
        product.unwrap_or_else(|| self.builder.ins().iconst(types::I64, 1))
    }

    fn checked_factor(&mut self, factor: &Factor, access: Option<&Access>) -> Value {
        match factor {
            Factor::Variable(variable) => self.variable(*variable),
            Factor::FloorDiv(left, right) => {
                self.checked_division(left, right, Wanted::Quotient, access)
            }
            Factor::Mod(left, right) => {
                self.checked_division(left, right, Wanted::Remainder, access)
            }
        }
    }

    fn checked_division(
        &mut self,
        numerator: &AffineExpr,
        denominator: &AffineExpr,
        wanted: Wanted,
        access: Option<&Access>,
    ) -> Value {
        let left = self.checked_affine(numerator, access);
        if let Some(divisor) = denominator.as_constant() {
            return self.divided_by_constant(left, divisor, wanted);
        }
        let right = self.checked_affine(denominator, access);
        let ins = self.builder.ins();
        let is_no_divisor = ins.icmp_imm_s(IntCC::SignedLessThanOrEqual, right, 0);
        self.leave_beyond(is_no_divisor, access);
        self.divided(left, right, wanted)
    }

    fn leave_beyond(&mut self, condition: Value, access: Option<&Access>) {
        let site = Site::overflow(access, &self.enclosing_counters());
        self.fault_if(condition, site, None);
    }
}
