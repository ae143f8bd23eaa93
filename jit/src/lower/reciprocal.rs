//! Division by what stays the same in a loop, as a multiplication.
//!
//! For `0 ≤ x < 2³²` and `0 < d < 2³²`, with `m = ⌊(2⁶⁴ - 1) / d⌋`, `⌊x / d⌋` is the upper half of
//! `m (x + 1)`: that is `(x + 1 - e) / d` with `0 < e = (x + 1) (1 + r) / 2⁶⁴ ≤ 1`, where `r < d`
//! is the remainder of the division that made `m` (Robison, "N-Bit Unsigned Division via N-Bit
//! Multiply-Add", 2005).
//!
//! A product takes fewer cycles than a division. It cannot trap, either, so that the code generator
//! moves it out of the loops that it stays the same in, and makes it once for all who ask for it.

use super::convert::{convert, extend};
use super::division::{divided, for_each_division};
use super::function::FunctionLowering;
use crate::guard::reads_or_divides;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use strew_affine::changed::Changed;
use strew_affine::interpret::Oob;
use strew_affine::{BinaryOp, Expr, IterId, Node, Type};

/// How to divide by a number of up to 32 bits, or of 64 bits where it is small.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reciprocal {
    /// `⌊(2⁶⁴ - 1) / |d|⌋`.
    factor: Value,
    /// 0, or -1 where the divisor is negative. Of 64 bits, only positive ones have a factor.
    sign: Value,
    /// What numbers that are not negative are divided by the factor, and below which, where these
    /// are not all.
    below: Option<Value>,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Makes the reciprocals of what turns of `body`, of a loop over `iter` if that has an
    /// iterator, divide by and do not change.
    pub(super) fn keep_reciprocals(&mut self, iter: Option<IterId>, body: &'k [Node]) {
        if self.program.oob != Oob::Error {
            return;
        }
        let changed = match iter {
            Some(iter) => Changed::in_loop(iter, body),
            None => Changed::by(body),
        };
        let kernel = self.program.kernel;
        for_each_division(body, &mut |_, [_, divisor]| {
            let ty = divisor.ty(kernel);
            // The code generator knows how to divide by numbers. What may fail stands where it is.
            let may = ty.is_integer()
                && divisor.as_divisor().is_none()
                && !reads_or_divides(kernel, divisor)
                && !self.needs_branch(divisor);
            let is_new = self.known.reciprocal(divisor).is_none();
            if may && is_new && changed.expr_stays(divisor) {
                let reciprocal = self.reciprocal(divisor, ty);
                self.known.reciprocals.push((divisor.clone(), reciprocal));
            }
        });
    }

    /// Of 0, which nothing is divided by in the end, it is that of 1.
    fn reciprocal(&mut self, divisor: &Expr, ty: Type) -> Reciprocal {
        let value = self.expr(divisor);
        let ins = &mut self.builder;
        let value = extend(ins, value, ty);
        let is_long = ty.bytes() == 8;
        let sign = match ty.is_signed() && !is_long {
            true => ins.ins().sshr_imm_u(value, 63),
            false => ins.ins().iconst(types::I64, 0),
        };
        let flipped = ins.ins().bxor(value, sign);
        let size = ins.ins().isub(flipped, sign);
        let one = ins.ins().iconst(types::I64, 1);
        let divided_by = ins.ins().umax(size, one);
        let most = ins.ins().iconst(types::I64, -1);
        let factor = ins.ins().udiv(most, divided_by);
        let below = is_long.then(|| {
            let upper = ins.ins().ushr_imm_u(size, 32);
            let is_small = ins.ins().icmp_imm_s(IntCC::Equal, upper, 0);
            let [all, none] = [1 << 32, 0].map(|it| ins.ins().iconst(types::I64, it));
            ins.ins().select(is_small, all, none)
        });
        Reciprocal {
            factor,
            sign,
            below,
        }
    }

    /// The quotient of `operands`, of type `ty`, the second of which is not 0, and has this
    /// reciprocal.
    pub(super) fn quotient_by(
        &mut self,
        operands: [Value; 2],
        ty: Type,
        reciprocal: Reciprocal,
    ) -> Value {
        let left = extend(&mut self.builder, operands[0], ty);
        let Some(below) = reciprocal.below else {
            let quotient = match ty.is_signed() {
                true => signed(&mut self.builder, left, reciprocal),
                false => unsigned(&mut self.builder, left, reciprocal),
            };
            return convert(&mut self.builder, quotient, Type::I64, ty);
        };
        let [quick, slow, join] = [(); 3].map(|()| self.builder.create_block());
        let result = self.builder.append_block_param(join, types::I64);
        let is_below = (self.builder.ins()).icmp(IntCC::UnsignedLessThan, left, below);
        self.builder.ins().brif(is_below, quick, &[], slow, &[]);
        self.builder.switch_to_block(slow);
        self.builder.set_cold_block(slow);
        let quotient = divided(&mut self.builder, BinaryOp::Div, operands, ty, None);
        let quotient = [BlockArg::Value(quotient)];
        self.builder.ins().jump(join, &quotient);
        self.builder.switch_to_block(quick);
        let quotient = [BlockArg::Value(unsigned(
            &mut self.builder,
            left,
            reciprocal,
        ))];
        self.builder.ins().jump(join, &quotient);
        self.builder.switch_to_block(join);
        result
    }
}

fn unsigned(builder: &mut FunctionBuilder<'_>, left: Value, reciprocal: Reciprocal) -> Value {
    let next = builder.ins().iadd_imm_s(left, 1);
    builder.ins().umulhi(reciprocal.factor, next)
}

/// That of the sizes, with the sign that it has: of `-2³¹ / -1`, whose size is `2³¹`, the 32 bits
/// that are wanted are those of `-2³¹`.
fn signed(builder: &mut FunctionBuilder<'_>, left: Value, reciprocal: Reciprocal) -> Value {
    let sign = builder.ins().sshr_imm_u(left, 63);
    let flipped = builder.ins().bxor(left, sign);
    let size = builder.ins().isub(flipped, sign);
    let quotient = unsigned(builder, size, reciprocal);
    let sign = builder.ins().bxor(sign, reciprocal.sign);
    let flipped = builder.ins().bxor(quotient, sign);
    builder.ins().isub(flipped, sign)
}
