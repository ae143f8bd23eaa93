//! Long loops tell how far they are, each time they look at the stop token.

use super::function::FunctionLowering;
use super::loops::Counted;
use cranelift_codegen::ir::{AtomicRmwOp, InstBuilder, MemFlagsData, Value, types};
use std::mem::offset_of;
use strew_affine::visit::{Loop, has_forall};
use strew_runtime::abi::{Call, Work};

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Whether the turns of this loop count as work: it is the outermost one of its function, its
    /// bounds are known when it begins, and no forall in it counts for itself. Outside of foralls
    /// nobody else has told how many turns there are.
    pub(super) fn begin_work(&mut self, counted: &Counted<'k>) -> bool {
        let around = self.loops.last().copied();
        let is_outermost = around.is_none_or(|it| matches!(it, Loop::Forall(_)));
        let is_affine = matches!(counted.around, Loop::Affine(_));
        if !is_outermost || !is_affine || has_forall(counted.body) {
            return false;
        }
        if around.is_none() {
            let turns = self.turns(counted.lower, counted.upper, counted.step);
            let inside = self.turns_inside(counted.body);
            let total = self.builder.ins().imul(turns, inside);
            self.add_to_work(offset_of!(Work, total), total);
        }
        true
    }

    /// Tells that so many turns are done.
    pub(super) fn add_work(&mut self, counted: &Counted<'k>, turns: Value) {
        let inside = self.turns_inside(counted.body);
        let done = self.builder.ins().imul(inside, turns);
        self.add_to_work(offset_of!(Work, done), done);
        self.add_to_call(offset_of!(Call, worked), done);
    }

    fn add_to_work(&mut self, field: usize, count: Value) {
        let flags = MemFlagsData::trusted();
        let work = self.call_field(offset_of!(Call, work));
        let place = self.builder.ins().iadd_imm_s(work, field as i64);
        let add = AtomicRmwOp::Add;
        self.builder
            .ins()
            .atomic_rmw(types::I64, flags, add, place, count);
    }
}
