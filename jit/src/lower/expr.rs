//! Scalar expressions.

use super::blend::{Blend, choose_bits, looks_for_nan};
use super::convert::{clif_type, convert};
use super::division::{divided, divides, for_each_division, remainder};
use super::function::FunctionLowering;
use super::known::Mark;
use super::operation;
use super::shift::count_in;
use crate::site::Site;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, Block, InstBuilder, Value, types};
use std::mem::offset_of;
use strew_affine::interpret::Oob;
use strew_affine::{BinaryOp, Expr, IterId, ScalarId, Span, Type, UnaryOp, Value as Constant};
use strew_runtime::abi::Call;

/// So many operations take less than half of the jumps that nobody can foretell: of points of which
/// two thirds are outside of a grid, 2 million take 26 ms with a jump for each of four comparisons,
/// and 15 with one.
const MOST_QUICK: usize = 2;

impl FunctionLowering<'_, '_, '_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Constant(value) => operation::constant(&mut self.builder, *value),
            Expr::Iter(iter) => self.iter(*iter),
            Expr::Param(param) => self.scalar(*param),
            Expr::Local(local) => self.local(*local),
            Expr::Threads => self.threads(),
            Expr::Load(access) => self.load(access),
            // Only combiner bodies have operands, and those go through `combine`.
            Expr::Operand(_) => self.builder.ins().iconst(types::I64, 0),
            Expr::Unary(op, operand) => {
                let ty = operand.ty(self.program.kernel);
                let operand = self.expr(operand);
                operation::unary(&mut self.builder, *op, operand, ty)
            }
            Expr::Binary(op, left, right, span) => self.binary_expr(*op, left, right, *span),
            Expr::Compare(op, left, right) => {
                let ty = left.ty(self.program.kernel);
                let (left, right) = (self.expr(left), self.expr(right));
                operation::compare(&mut self.builder, *op, left, right, ty)
            }
            Expr::And(left, right) if self.needs_branch(right) => {
                let no = Expr::Constant(Constant::bool(false));
                self.select(left, right, &no)
            }
            Expr::Or(left, right) if self.needs_branch(right) => {
                let yes = Expr::Constant(Constant::bool(true));
                self.select(left, &yes, right)
            }
            Expr::And(left, right) => {
                let (left, right) = (self.expr(left), self.expr(right));
                self.builder.ins().band(left, right)
            }
            Expr::Or(left, right) => {
                let (left, right) = (self.expr(left), self.expr(right));
                self.builder.ins().bor(left, right)
            }
            Expr::Select(condition, then, otherwise) => self.select(condition, then, otherwise),
            Expr::Cast(ty, operand) => self.cast(*ty, operand),
            Expr::Call(function, operands) => {
                let ty = expr.ty(self.program.kernel);
                let operands: Vec<_> = operands.iter().map(|it| self.expr(it)).collect();
                let mut calls = self.program.calls();
                calls.emit(&mut self.builder, *function, &operands, ty)
            }
        }
    }

    pub(super) fn iter(&mut self, iter: IterId) -> Value {
        match self.iters.get(iter).copied() {
            Some(value) => value,
            // A verified kernel uses an iterator only inside its loop, and what is computed in
            // front of it says which turn is meant.
            None => self.builder.ins().iconst(types::I64, 0),
        }
    }

    pub(super) fn scalar(&mut self, param: ScalarId) -> Value {
        match self.scalars.get(param).copied() {
            Some(value) => value,
            // Every scalar of a verified kernel is a parameter, and the prologue reads all of them.
            None => self.builder.ins().iconst(types::I64, 0),
        }
    }

    fn threads(&mut self) -> Value {
        match self.program.oob {
            Oob::Error => self.call_field(offset_of!(Call, threads)),
            Oob::Skip => self.builder.ins().iconst(types::I64, 1),
        }
    }

    fn cast(&mut self, ty: Type, operand: &Expr) -> Value {
        let from = operand.ty(self.program.kernel);
        match operand {
            Expr::Load(access) if from.is_integer() && from.bytes() < 8 && is_wide(ty) => {
                let wide = self.load_extended(access);
                convert(&mut self.builder, wide, Type::I64, ty)
            }
            _ => {
                let value = self.expr(operand);
                convert(&mut self.builder, value, from, ty)
            }
        }
    }

    fn binary_expr(&mut self, op: BinaryOp, left: &Expr, right: &Expr, span: Span) -> Value {
        let ty = left.ty(self.program.kernel);
        if divides(op, ty) {
            return self.integer_division(op, left, right, span);
        }
        let right = match op {
            BinaryOp::Shl | BinaryOp::Shr => count_in(self.program.kernel, right, ty),
            _ => right,
        };
        let left = match (op, left) {
            (BinaryOp::Sub | BinaryOp::Div, Expr::Constant(value)) => {
                operation::kept_constant(&mut self.builder, *value)
            }
            _ => self.expr(left),
        };
        let right = self.expr(right);
        operation::binary(&mut self.builder, op, left, right, ty)
    }

    /// Division and remainder. A zero divisor is a fault.
    fn integer_division(&mut self, op: BinaryOp, left: &Expr, right: &Expr, span: Span) -> Value {
        let ty = left.ty(self.program.kernel);
        let known = right.as_divisor();
        let operands = [self.expr(left), self.expr(right)];
        if known.is_some() {
            return divided(&mut self.builder, op, operands, ty, known);
        }
        let reciprocal = self.known.reciprocal(right);
        let quotient = self.known_quotient([left, right]);
        if quotient.is_none() {
            self.check_divisor(right, operands[1], span);
            if op == BinaryOp::Rem && reciprocal.is_none() && !self.is_divided(left, right) {
                return divided(&mut self.builder, op, operands, ty, None);
            }
        }
        let quotient = quotient.unwrap_or_else(|| {
            let quotient = match reciprocal {
                Some(reciprocal) => self.quotient_by(operands, ty, reciprocal),
                None => divided(&mut self.builder, BinaryOp::Div, operands, ty, None),
            };
            self.keep_quotient([left, right], quotient);
            quotient
        });
        match op {
            BinaryOp::Div => quotient,
            _ => remainder(&mut self.builder, operands, quotient),
        }
    }

    fn check_divisor(&mut self, divisor: &Expr, value: Value, span: Span) {
        if self.is_known_divisor(divisor) {
            return;
        }
        let zero = (self.builder.ins()).icmp_imm_s(IntCC::Equal, value, 0);
        let site = Site::division(span, &self.enclosing_counters());
        self.fault_if(zero, site, None);
        self.keep_divisor(divisor);
    }

    /// Whether the innermost loop asks for the quotient of these numbers, too.
    fn is_divided(&self, left: &Expr, right: &Expr) -> bool {
        let kernel = self.program.kernel;
        let innermost = self.loops.last();
        let body = innermost.map_or(kernel.body.as_slice(), |it| it.body());
        let mut found = false;
        for_each_division(body, &mut |op, [number, divisor]| {
            found |= op == BinaryOp::Div && number.is_same(left) && divisor.is_same(right);
        });
        found
    }

    /// Both sides are computed when neither can fault or costs more than a branch that is taken at
    /// random.
    fn select(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Value {
        if !self.needs_branch(then) && !self.needs_branch(otherwise) {
            return self.picked(condition, [then, otherwise]);
        }
        let ty = clif_type(then.ty(self.program.kernel));
        let blocks = [self.builder.create_block(), self.builder.create_block()];
        let join = self.builder.create_block();
        let result = self.builder.append_block_param(join, ty);
        let mark = self.jump_on(condition, blocks);
        for (block, side) in blocks.into_iter().zip([then, otherwise]) {
            self.builder.switch_to_block(block);
            let value = self.expr(side);
            self.forget_since(mark);
            self.builder.ins().jump(join, &[ir::BlockArg::Value(value)]);
        }
        self.builder.switch_to_block(join);
        result
    }

    /// One of two values, both of which are computed.
    pub(super) fn picked(&mut self, condition: &Expr, sides: [&Expr; 2]) -> Value {
        let kernel = self.program.kernel;
        if let Some(blend) = Blend::of(condition, sides, |it| it.ty(kernel)) {
            let values = blend.operands.map(|it| self.expr(it));
            return blend.of_values(&mut self.builder, values);
        }
        let ty = sides[0].ty(kernel);
        let compares_floats =
            matches!(condition, Expr::Compare(_, left, _) if left.ty(kernel) == ty);
        let is_left_alone = compares_floats || looks_for_nan(condition);
        let condition = self.expr(condition);
        let [then, otherwise] = sides.map(|it| self.expr(it));
        match is_left_alone {
            true => self.builder.ins().select(condition, then, otherwise),
            false => choose_bits(&mut self.builder, condition, [then, otherwise]),
        }
    }

    /// Goes on in the first of `blocks` where `condition` holds, else in the second. What becomes
    /// known behind the mark holds in the first block alone. A condition of several parts is never
    /// made a number only to be looked at again.
    pub(super) fn jump_on(&mut self, condition: &Expr, blocks: [Block; 2]) -> Mark {
        if let Some(mark) = self.jump_in_range(condition, blocks) {
            return mark;
        }
        let [yes, no] = blocks;
        match condition {
            Expr::And(left, right) | Expr::Or(left, right)
                if self.is_quick(right) && !self.needs_branch(left) =>
            {
                let holds = self.expr(condition);
                self.jump_if(holds, blocks);
            }
            Expr::And(left, right) => {
                let next = self.builder.create_block();
                let mark = self.jump_on(left, [next, no]);
                self.builder.switch_to_block(next);
                self.jump_on(right, blocks);
                return mark;
            }
            Expr::Or(left, right) => {
                let next = self.builder.create_block();
                let mark = self.jump_on(left, [yes, next]);
                self.forget_since(mark);
                self.builder.switch_to_block(next);
                self.scoped(|function| function.jump_on(right, blocks));
            }
            Expr::Unary(UnaryOp::Not, operand) => {
                let mark = self.jump_on(operand, [no, yes]);
                self.forget_since(mark);
            }
            _ => {
                let holds = self.expr(condition);
                self.jump_if(holds, blocks);
            }
        }
        self.mark()
    }

    /// A jump that is no choice where it is known already what `holds` is.
    fn jump_if(&mut self, holds: Value, [yes, no]: [Block; 2]) {
        match self.constant(holds) {
            Some(0) => self.builder.ins().jump(no, &[]),
            Some(_) => self.builder.ins().jump(yes, &[]),
            None => self.builder.ins().brif(holds, yes, &[], no, &[]),
        };
    }

    /// Whether evaluating `expr` takes less than a jump that may be foretold wrongly, on average.
    pub(super) fn is_quick(&self, expr: &Expr) -> bool {
        operations_of(expr) <= MOST_QUICK && !self.needs_branch(expr)
    }

    /// Whether evaluating `expr` can leave the function, or takes long.
    pub(super) fn needs_branch(&self, expr: &Expr) -> bool {
        let here = match expr {
            Expr::Call(function, _) => !function.is_inline(),
            Expr::Load(access) => {
                return !self.is_proved(access) && self.known_element(access).is_none();
            }
            Expr::Local(local) => return self.program.uncertain.contains(local),
            _ => expr.may_divide_by_zero(self.program.kernel),
        };
        here || expr
            .operands()
            .into_iter()
            .any(|operand| self.needs_branch(operand))
    }
}

/// How many operations it takes to compute `expr`, its loads among them.
pub(super) fn operations_of(expr: &Expr) -> usize {
    let is_there = matches!(
        expr,
        Expr::Local(_) | Expr::Iter(_) | Expr::Param(_) | Expr::Constant(_)
    );
    let inside = expr.operands().into_iter().map(operations_of);
    usize::from(!is_there) + inside.sum::<usize>()
}

/// A 64-bit integer type, to which a load can extend by itself.
fn is_wide(ty: Type) -> bool {
    matches!(ty, Type::I64 | Type::U64)
}
