//! Loops, each with a guard, a preheader of its own and its test at the end.
//!
//! The preheader matters: loads that are hoisted out of a loop land there, behind the test that the loop runs at all.

use super::function::FunctionLowering;
use crate::CompileError;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use strew_affine::visit::{Loop, walk};
use strew_affine::{AffineFor, Expr, IterId, Node, ScfFor};

/// A loop that looks at the stop token does so after so many turns.
const TURNS_BETWEEN_LOOKS: i64 = 1 << 20;

/// The same for a loop around loops.
const OUTER_TURNS_BETWEEN_LOOKS: i64 = 1 << 6;

/// What every counted loop has.
pub(super) struct Counted<'k> {
    pub(super) iter: IterId,
    pub(super) around: Loop<'k>,
    pub(super) lower: Value,
    pub(super) upper: Value,
    pub(super) step: i64,
    pub(super) body: &'k [Node],
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    pub(super) fn affine_for(&mut self, node: &'k AffineFor) -> Result<(), CompileError> {
        let counted = Counted {
            iter: node.iter,
            around: Loop::Affine(node),
            lower: self.lower_bound(&node.lower),
            upper: self.upper_bound(&node.upper),
            step: node.step,
            body: &node.body,
        };
        self.counted(counted)
    }

    pub(super) fn scf_for(&mut self, node: &'k ScfFor) -> Result<(), CompileError> {
        let counted = Counted {
            iter: node.iter,
            around: Loop::Scf(node),
            lower: self.expr(&node.lower),
            upper: self.expr(&node.upper),
            step: node.step,
            body: &node.body,
        };
        self.counted(counted)
    }

    pub(super) fn counted(&mut self, counted: Counted<'k>) -> Result<(), CompileError> {
        let (lower, upper) = (counted.lower, counted.upper);
        let preheader = self.builder.create_block();
        let done = self.builder.create_block();
        let some = self.builder.ins().icmp(IntCC::SignedLessThan, lower, upper);
        self.builder.ins().brif(some, preheader, &[], done, &[]);
        self.builder.switch_to_block(preheader);
        let turns = self.turns(lower, upper, counted.step);
        self.count_updates(counted.body, Some(turns));
        self.scoped(|function| match function.strip(&counted) {
            Some(strip) => function.strips(&counted, strip),
            None => function.some_turns(&counted, lower, upper),
        })?;
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
        Ok(())
    }

    /// The distance of values between two looks at the stop token, if the loop is to look. Loops over computed bounds do, since those
    /// can be anything, and the outermost loop of a function does, unless nobody could put the outputs back.
    fn strip(&self, counted: &Counted<'k>) -> Option<i64> {
        let is_inside = |around: &&Loop<'_>| !matches!(around, Loop::Forall(_));
        let looks = match counted.around {
            Loop::Scf(_) => true,
            Loop::Affine(_) => {
                self.program.facts.can_stop() && self.loops.last().filter(is_inside).is_none()
            }
            // The runtime looks between its calls of the body.
            Loop::Forall(_) => false,
        };
        let mut turns = TURNS_BETWEEN_LOOKS;
        walk(counted.body, &mut |node, _| {
            if Loop::of(node).is_some() {
                turns = OUTER_TURNS_BETWEEN_LOOKS;
            }
        });
        looks.then(|| counted.step.checked_mul(turns)).flatten()
    }

    /// The turns in strips of `strip` between the first and the last value, with a look at the stop token between two strips.
    fn strips(&mut self, counted: &Counted<'k>, strip: i64) -> Result<(), CompileError> {
        let head = self.builder.create_block();
        let look = self.builder.create_block();
        let done = self.builder.create_block();
        let first = self.builder.append_block_param(head, types::I64);
        let upper = counted.upper;
        let start = [BlockArg::Value(counted.lower)];
        self.builder.ins().jump(head, &start);
        self.builder.switch_to_block(head);
        let left = self.builder.ins().isub(upper, first);
        let beyond = IntCC::UnsignedGreaterThan;
        let is_far = self.builder.ins().icmp_imm_u(beyond, left, strip);
        let near = self.builder.ins().iadd_imm_s(first, strip);
        let end = self.builder.ins().select(is_far, near, upper);
        self.some_turns(counted, first, end)?;
        let is_over = self.builder.ins().icmp(IntCC::Equal, end, upper);
        self.builder.ins().brif(is_over, done, &[], look, &[]);
        self.builder.set_cold_block(look);
        self.builder.switch_to_block(look);
        self.poll_stop();
        self.builder.ins().jump(head, &[BlockArg::Value(end)]);
        self.builder.switch_to_block(done);
        Ok(())
    }

    /// The turns from `first`, which is below `end`.
    fn some_turns(
        &mut self,
        counted: &Counted<'k>,
        first: Value,
        end: Value,
    ) -> Result<(), CompileError> {
        let turn = self.builder.create_block();
        let done = self.builder.create_block();
        let last = self.last(end, counted.step);
        let start = [BlockArg::Value(first)];
        self.builder.ins().jump(turn, &start);
        self.builder.switch_to_block(turn);
        let iter = self.builder.append_block_param(turn, types::I64);
        self.iters.insert(counted.iter, iter);
        self.loops.push(counted.around);
        self.nodes(counted.body)?;
        self.loops.pop();
        let next = self.builder.ins().iadd_imm_s(iter, counted.step);
        let more = match last {
            Some(last) => self.builder.ins().icmp(IntCC::SignedLessThan, iter, last),
            None => self.builder.ins().icmp(IntCC::SignedLessThan, next, end),
        };
        self.builder
            .ins()
            .brif(more, turn, &[BlockArg::Value(next)], done, &[]);
        self.builder.switch_to_block(done);
        Ok(())
    }

    /// How often a loop that runs at all turns. The difference is taken as unsigned, so it never overflows.
    fn turns(&mut self, lower: Value, upper: Value, step: i64) -> Value {
        let distance = self.builder.ins().isub(upper, lower);
        if step == 1 {
            return distance;
        }
        let last = self.builder.ins().iadd_imm_s(distance, -1);
        let step = self.builder.ins().iconst(types::I64, step);
        let whole = self.builder.ins().udiv(last, step);
        self.builder.ins().iadd_imm_s(whole, 1)
    }

    /// The value that the iterator must be below for another turn, `end - step`, unless the step is one. It is compared with the value
    /// before the step, since the one after it may not fit; and it does not wrap, since `end` is raised to where it fits: no value
    /// is below the least.
    fn last(&mut self, end: Value, step: i64) -> Option<Value> {
        if step == 1 {
            return None;
        }
        let least = self.builder.ins().iconst(types::I64, i64::MIN + step);
        let raised = self.builder.ins().smax(end, least);
        Some(self.builder.ins().iadd_imm_s(raised, -step))
    }

    pub(super) fn scf_while(
        &mut self,
        condition: &'k Expr,
        body: &'k [Node],
    ) -> Result<(), CompileError> {
        let test = self.builder.create_block();
        let turn = self.builder.create_block();
        let done = self.builder.create_block();
        self.builder.ins().jump(test, &[]);
        self.builder.switch_to_block(test);
        self.poll_stop();
        let more = self.expr(condition);
        self.builder.ins().brif(more, turn, &[], done, &[]);
        self.builder.switch_to_block(turn);
        self.count_updates(body, None);
        self.scoped(|function| function.nodes(body))?;
        self.builder.ins().jump(test, &[]);
        self.builder.switch_to_block(done);
        Ok(())
    }
}
