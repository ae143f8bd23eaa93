//! Rows of which nothing is wanted but whether all their elements are in range, and where updates
//! go.
//!
//! Elements that go along with the turns are where those of the first turn and the last one are,
//! and all that lies between.

use super::Group;
use super::ahead::Turns;
use crate::CompileError;
use crate::lower::function::FunctionLowering;
use crate::lower::loops::Counted;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use strew_affine::lanes::Lanes;
use strew_affine::visit::for_each_load_of;
use strew_affine::{Access, Expr, Node};

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// How to check the turns of `counted` all at once, if that is all to do.
    pub(in crate::lower) fn checked_row(&self, counted: &Counted<'k>) -> Option<Group<'k>> {
        let count = counted.around.lanes();
        let is_plain = count > 1 && !self.checked.is_empty() && self.is_in_lanes();
        let is_idle = |node: &Node| match node {
            Node::Declare { .. } => true,
            Node::Assign { place, .. } => self.are_idle(std::slice::from_ref(place)),
            Node::Reduce { places, .. } => self.is_only_checked(places) || self.are_idle(places),
            _ => false,
        };
        if !is_plain || !counted.body.iter().all(is_idle) {
            return None;
        }
        let lanes = Lanes::of(self.program.kernel, counted.around, count).ok()?;
        let (together, in_turn) = lanes.split(counted.body);
        let mut is_whole = in_turn.is_empty();
        // Nothing tells where those are but to look at each.
        for node in together {
            for_each_load_of(node, &mut |it| is_whole &= !lanes.is_picked(it));
        }
        let reach = self.reach_of(&lanes, counted.around)?;
        is_whole.then(|| Group::new(lanes, count, reach, false))
    }

    /// Checks the `turns` of `counted`, one or more: all at once, or one by one where one of them
    /// may fail.
    pub(in crate::lower) fn check_row(
        &mut self,
        counted: &Counted<'k>,
        mut group: Group<'k>,
        turns: Value,
        done: Block,
    ) -> Result<(), CompileError> {
        let one_by_one = self.builder.create_block();
        self.builder.append_block_param(one_by_one, types::I64);
        self.scoped(|function| {
            function.turning.push((counted.iter, function.conditions));
            let these = Turns {
                first: counted.lower,
                count: turns,
                otherwise: one_by_one,
                body: counted.body,
            };
            function.check_statements(counted, &these, &mut group);
            function.note_row(counted, turns, &group);
            function.turning.pop();
            function.builder.ins().jump(done, &[]);
        });
        match group.looks_ahead() {
            true => {
                self.builder.switch_to_block(one_by_one);
                self.looking_turns(counted, done)
            }
            false => Ok(()),
        }
    }

    /// Checks what the first turn does, and that the others reach no further than they may.
    fn check_statements(
        &mut self,
        counted: &Counted<'k>,
        turns: &Turns<'k>,
        group: &mut Group<'k>,
    ) {
        self.iters.insert(counted.iter, counted.lower);
        self.loops.push(counted.around);
        for node in counted.body {
            match node {
                Node::Declare { local, value } if !group.lanes.is_own(*local) => {
                    self.declare(*local, value);
                }
                _ => {
                    for expr in node.expressions() {
                        self.check_in_row(expr, turns, group);
                    }
                    for access in node.written_elements() {
                        self.check_element_in_row(access, turns, group);
                    }
                }
            }
            self.declare_along(node, group);
        }
        self.loops.pop();
    }

    fn check_in_row(&mut self, expr: &'k Expr, turns: &Turns<'k>, group: &mut Group<'k>) {
        match expr {
            _ if !group.lanes.varies(expr) => self.check_expr(expr),
            Expr::Load(access) => self.check_element_in_row(access, turns, group),
            _ => {
                let operands = expr.operands().into_iter();
                operands.for_each(|it| self.check_in_row(it, turns, group));
            }
        }
    }

    fn check_element_in_row(
        &mut self,
        access: &'k Access,
        turns: &Turns<'k>,
        group: &mut Group<'k>,
    ) {
        self.look_ahead(access, turns, group);
        self.check_access(access);
    }

    /// Notes where the first of `turns` turns and the last one update. Of several updates the first
    /// one of a turn may lie before the last one of the turn before: so that it is seen to, the
    /// first turn is noted again.
    fn note_row(&mut self, counted: &Counted<'k>, turns: Value, group: &Group<'k>) {
        if self.bounds.is_empty() {
            return;
        }
        let before_last = self.builder.ins().iadd_imm_s(turns, -1);
        let last = self.builder.ins().iadd(counted.lower, before_last);
        let updates = counted.body.iter().map(Node::places);
        let updates = updates.filter(|it| self.is_only_checked(it)).count();
        let again = (updates > 1).then_some(counted.lower);
        self.loops.push(counted.around);
        for turn in [Some(counted.lower), again, Some(last)]
            .into_iter()
            .flatten()
        {
            self.forget_turn(counted.iter, counted.body);
            self.iters.insert(counted.iter, turn);
            for node in counted.body {
                self.declare_along(node, group);
                if self.is_only_checked(node.places()) {
                    let key = self.key(node.places());
                    self.note_bounds(node.places(), key);
                }
            }
        }
        self.loops.pop();
    }
}
