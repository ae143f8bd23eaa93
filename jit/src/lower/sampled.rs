//! How many turns loops have whose bounds are data, by what these say in a few iterations of the
//! loop around them.

use super::convert::extend;
use super::function::FunctionLowering;
use super::trips::{inner_loop, written_out};
use crate::compiled::Faults;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};
use strew_affine::visit::{Loop, for_each_load};
use strew_affine::{AffineFor, BinaryOp, Expr, IterId, Node, Subscript, Variable};

/// In so many iterations, evenly far apart: more of them cost as much as a few hundred updates
/// where their bounds are in no cache.
const SAMPLED: i64 = 8;

impl FunctionLowering<'_, '_, '_> {
    /// How many turns the innermost of the loops in `outer` has in all iterations together, which
    /// go a distance of `turns` from `first` on, about; `None` where all bounds in there are
    /// affine, or where not all of them can be found before `outer` runs.
    pub(super) fn sampled_turns(
        &mut self,
        outer: &AffineFor,
        (first, turns): (Value, Value),
    ) -> Option<Value> {
        // Where a fault is told in full, nobody asks how much there is to do.
        if self.program.faults != Faults::Bare || !self.can_look_inside(outer) {
            return None;
        }
        let [sample, unknown, done] = [(); 3].map(|()| self.builder.create_block());
        let [number, sum] = [(); 2].map(|()| self.builder.append_block_param(sample, types::I64));
        let all = self.builder.append_block_param(done, types::I64);
        let zero = self.builder.ins().iconst(types::I64, 0);
        let some = (self.builder.ins()).icmp(IntCC::SignedGreaterThan, turns, zero);
        let [begin, none] = [[zero, zero].as_slice(), &[zero]].map(arguments);
        self.builder.ins().brif(some, sample, &begin, done, &none);
        self.builder.switch_to_block(sample);
        let row = self.sampled_row((first, turns), number);
        self.iters.insert(outer.iter, row);
        let inside = self.scoped(|function| function.turns_here(&outer.body, unknown));
        let sum = self.builder.ins().iadd(sum, inside);
        let next = self.builder.ins().iadd_imm_s(number, 1);
        let more = (self.builder.ins()).icmp_imm_s(IntCC::SignedLessThan, next, SAMPLED);
        let total = self.times_mean(turns, sum);
        let [again, total] = [[next, sum].as_slice(), &[total]].map(arguments);
        self.builder.ins().brif(more, sample, &again, done, &total);
        self.builder.switch_to_block(unknown);
        let as_if_one = arguments(&[turns]);
        self.builder.ins().jump(done, &as_if_one);
        self.builder.switch_to_block(done);
        Some(all)
    }

    /// The iteration in the middle of the part of all `turns` that has this `number`.
    fn sampled_row(&mut self, (first, turns): (Value, Value), number: Value) -> Value {
        let ins = &mut self.builder;
        let doubled = ins.ins().iadd(number, number);
        let halves = ins.ins().iadd_imm_s(doubled, 1);
        let behind = ins.ins().imul(turns, halves);
        let behind = ins.ins().sdiv_imm_s(behind, 2 * SAMPLED);
        ins.ins().iadd(first, behind)
    }

    /// As much as `turns` have of which all samples together have `sum`.
    fn times_mean(&mut self, turns: Value, sum: Value) -> Value {
        let all = self.builder.ins().imul(turns, sum);
        self.builder.ins().sdiv_imm_s(all, SAMPLED)
    }

    /// How many turns the innermost loop in `body` has where the iterators around are what they
    /// are, and those of loops in between are in the middle. Goes on in `unknown` where what bounds
    /// are made of is not there.
    fn turns_here(&mut self, body: &[Node], unknown: Block) -> Value {
        let turns = match inner_loop(body) {
            Some(Loop::Affine(inner)) => self.enter_middle(inner, body),
            Some(Loop::Scf(inner)) => {
                let [lower, upper] = [&inner.lower, &inner.upper].map(|bound| {
                    let bound = written_out(self.program.kernel, bound);
                    self.look(&bound, unknown);
                    self.expr(&bound)
                });
                self.middle_between(inner.iter, lower, upper)
            }
            Some(Loop::Forall(_)) | None => return self.builder.ins().iconst(types::I64, 1),
        };
        let inside = inner_loop(body).map_or(&[][..], Loop::body);
        let inside = self.turns_here(inside, unknown);
        self.builder.ins().imul(turns, inside)
    }

    /// Whether some loop inside of `outer` has bounds that are data, and all of them can be found
    /// where iterators around them are known.
    fn can_look_inside(&self, outer: &AffineFor) -> bool {
        let mut around = vec![outer.iter];
        around.extend(self.loops.iter().map(|it| it.iter()));
        let mut has_data = false;
        let mut body: &[Node] = &outer.body;
        while let Some(inner) = inner_loop(body) {
            if let Loop::Scf(it) = inner {
                has_data = true;
                let mut bounds = [&it.lower, &it.upper].into_iter();
                if !bounds.all(|it| self.can_look(&written_out(self.program.kernel, it), &around)) {
                    return false;
                }
            }
            around.push(inner.iter());
            body = inner.body();
        }
        has_data
    }

    /// Whether [`look`](Self::look) finds out all that could go wrong with `expr`, of which `iters`
    /// are known.
    fn can_look(&self, expr: &Expr, iters: &[IterId]) -> bool {
        let is_known = |it: Variable| match it {
            Variable::Iter(iter) => iters.contains(&iter),
            Variable::Param(_) => true,
        };
        match expr {
            Expr::Constant(_) | Expr::Param(_) => true,
            Expr::Iter(iter) => iters.contains(iter),
            Expr::Load(access) => {
                let mut subscripts = access.subscripts.iter();
                self.arrays.get(access.array).is_some()
                    && subscripts.all(|it| match it {
                        Subscript::Affine(place) => {
                            let mut all = true;
                            place.for_each_variable(&mut |it| all &= is_known(it));
                            all
                        }
                        Subscript::Computed(place) => self.can_look(place, iters),
                    })
            }
            Expr::Cast(_, operand) => self.can_look(operand, iters),
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, left, right, _) => {
                self.can_look(left, iters) && self.can_look(right, iters)
            }
            _ => false,
        }
    }

    /// Goes on in `otherwise` unless all elements that `expr` reads are there.
    pub(super) fn look(&mut self, expr: &Expr, otherwise: Block) {
        let mut read = Vec::new();
        for_each_load(expr, &mut |access| read.push(access.clone()));
        // What a subscript is computed from comes before what it is of.
        for access in read {
            let Some(array) = self.arrays.get(access.array).cloned() else {
                continue;
            };
            for (subscript, extent) in access.subscripts.iter().zip(array.extents) {
                let place = match subscript {
                    Subscript::Affine(place) => self.exact_affine(place),
                    Subscript::Computed(place) => {
                        let value = self.expr(place);
                        let ty = place.ty(self.program.kernel);
                        extend(&mut self.builder, value, ty)
                    }
                };
                let below = IntCC::UnsignedLessThan;
                let is_there = self.builder.ins().icmp(below, place, extent);
                let next = self.builder.create_block();
                let ins = self.builder.ins();
                ins.brif(is_there, next, &[], otherwise, &[]);
                self.builder.switch_to_block(next);
            }
        }
    }
}

fn arguments(values: &[Value]) -> Vec<BlockArg> {
    values.iter().copied().map(BlockArg::Value).collect()
}
