//! Elements that follow each other, of which nobody has proved that they are in range: whether all
//! of a row are is looked at before its first group. Where they are not, the turns run one by one,
//! and fail where they do.

use super::Group;
use crate::compiled::Faults;
use crate::lower::ahead::{is_iter, sure_accesses};
use crate::lower::convert::{convert, extend};
use crate::lower::function::{FunctionLowering, Stride};
use crate::lower::operation;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};
use strew_affine::lanes::Lanes;
use strew_affine::visit::{Loop, declared_in, for_each_load_of, walk};
use strew_affine::{Access, Expr, Node, Subscript};

/// Why elements of all turns are in range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// It was proved before the call.
    Proved,
    /// It is looked at before the first group.
    Ahead,
}

/// Turns that are made in groups.
pub(super) struct Turns<'k> {
    pub(super) first: Value,
    pub(super) count: Value,
    /// Where they run one by one, from the first one on, which it is told.
    pub(super) otherwise: Block,
    /// The statements that are made in lanes.
    pub(super) body: &'k [Node],
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Why the elements of all turns of `around` are in range, if that is known or can be looked
    /// at, and those that follow each other do so in memory.
    pub(super) fn reach_of(&self, lanes: &Lanes<'_>, around: Loop<'k>) -> Option<Reach> {
        let loops = [self.loops.as_slice(), &[around]].concat();
        let has_loops = lanes.has_loops();
        let (together, _) = lanes.split(around.body());
        let mut sure = sure_accesses(together);
        walk(together, &mut |node, _| {
            if let Some(inner) = Loop::of(node) {
                sure.extend(sure_accesses(inner.body()));
            }
        });
        let (mut reach, mut is_safe) = (Reach::Proved, true);
        let mut look = |access: &Access, loops: &[Loop<'_>]| {
            let is_sure = || sure.iter().any(|it| std::ptr::eq(*it, access));
            if lanes.is_picked(access) {
                // The first element that is out of range may be that of a later turn than another
                // one.
                is_safe &= is_sure() && self.program.faults == Faults::Bare;
                return;
            }
            for subscript in &access.subscripts {
                let is_proved = self.program.checks.is_proved(subscript, loops);
                let is_along = match subscript {
                    Subscript::Affine(expr) => lanes.follows(expr),
                    Subscript::Computed(expr) => lanes.goes_along(expr),
                };
                match (is_proved, lanes.is_moving(subscript)) {
                    (true, _) => {}
                    // What is the same in all lanes is checked once, where the first turn does.
                    (false, false) => {
                        is_safe &= is_sure() || matches!(subscript, Subscript::Computed(_))
                    }
                    (false, true) => {
                        is_safe &= !has_loops && is_sure() && is_along;
                        reach = Reach::Ahead;
                    }
                }
            }
            let declared = self.program.kernel.stride_bytes(access.array);
            is_safe &= self.arrays.get(access.array).is_none_or(
                |array| matches!(array.stride, Stride::Fixed(bytes) if bytes == declared),
            );
        };
        walk(together, &mut |node, inside| {
            let loops = [loops.as_slice(), inside].concat();
            for_each_load_of(node, &mut |it| look(it, &loops));
            node.written_elements().for_each(|it| look(it, &loops));
        });
        is_safe.then_some(reach)
    }

    /// Goes on with `turns` one by one unless all subscripts of `access` that go along with the
    /// lanes are in range in all of them.
    pub(super) fn look_ahead(
        &mut self,
        access: &'k Access,
        turns: &Turns<'k>,
        group: &mut Group<'k>,
    ) {
        let Some(array) = self.arrays.get(access.array).cloned() else {
            return;
        };
        if !group.looks_ahead() {
            return;
        }
        let declared = &self.program.kernel.arrays[access.array].extents;
        let dimensions = declared.iter().zip(array.extents);
        for (subscript, (bound, extent)) in access.subscripts.iter().zip(dimensions) {
            if !group.lanes.is_moving(subscript) || self.is_proved_subscript(subscript) {
                continue;
            }
            let first = self.subscript_value(access, subscript);
            // Of other turns than the first one, what is known of that says nothing.
            let looked = (first, bound.clone());
            if group.looked.contains(&looked) {
                continue;
            }
            let within = self.stays_within((first, subscript), extent, (turns, group));
            let next = self.builder.create_block();
            let from_first = [BlockArg::Value(turns.first)];
            let ins = self.builder.ins();
            ins.brif(within, next, &[], turns.otherwise, &from_first);
            self.builder.switch_to_block(next);
            self.keep_in_range(first, bound);
            group.looked.push(looked);
            if is_iter(subscript, group.lanes.iter()) && !group.in_range.contains(bound) {
                group.in_range.push(bound.clone());
            }
        }
    }

    /// Whether `subscript`, which is `first` in the first of the turns, is below `extent` and not
    /// below zero in all of them.
    fn stays_within(
        &mut self,
        (first, subscript): (Value, &'k Subscript),
        extent: Value,
        (turns, group): (&Turns<'k>, &Group<'k>),
    ) -> Value {
        let ins = &mut self.builder;
        let begins = ins.ins().icmp(IntCC::UnsignedLessThan, first, extent);
        let room = ins.ins().isub(extent, first);
        let ends = ins
            .ins()
            .icmp(IntCC::UnsignedLessThanOrEqual, turns.count, room);
        let within = ins.ins().band(begins, ends);
        let Subscript::Computed(expr) = subscript else {
            return within;
        };
        let before_last = self.builder.ins().iadd_imm_s(turns.count, -1);
        let turn = self.builder.ins().iadd(turns.first, before_last);
        let last = self.in_turn(expr, turn, (turns, group));
        let last = extend(&mut self.builder, last, expr.ty(self.program.kernel));
        let distance = self.builder.ins().isub(last, first);
        let goes_on = self.builder.ins().icmp(IntCC::Equal, distance, before_last);
        self.builder.ins().band(within, goes_on)
    }

    /// `expr`, which goes along with the lanes, in the turn `turn`.
    fn in_turn(&mut self, expr: &'k Expr, turn: Value, of: (&Turns<'k>, &Group<'k>)) -> Value {
        let kernel = self.program.kernel;
        let ty = expr.ty(kernel);
        let (turns, group) = of;
        match expr {
            _ if !group.lanes.varies(expr) => self.expr(expr),
            Expr::Local(local) => match declared_in(turns.body, *local) {
                Some(value) => self.in_turn(value, turn, of),
                None => self.expr(expr),
            },
            Expr::Cast(to, operand) => {
                let value = self.in_turn(operand, turn, of);
                convert(&mut self.builder, value, operand.ty(kernel), *to)
            }
            Expr::Binary(op, left, right, _) => {
                let [left, right] = [left, right].map(|it| self.in_turn(it, turn, of));
                operation::binary(&mut self.builder, *op, left, right, ty)
            }
            _ => turn,
        }
    }
}
