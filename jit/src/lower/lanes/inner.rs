//! Loops inside of one that runs in lanes, and branches that all lanes take: all lanes make each
//! turn together, and scalars that differ from lane to lane stay in vectors from one turn to the
//! next.

use super::value::InLanes;
use super::vectors::Vectors;
use super::{First, Group, unaligned};
use crate::lower::function::FunctionLowering;
use crate::lower::loops::{Counted, Tail};
use cranelift_codegen::ir::{InstBuilder, types};
use cranelift_frontend::Variable;
use std::collections::BTreeSet;
use strew_affine::visit::{Loop, walk};
use strew_affine::{Access, Condition, LocalId, Node, Place};

/// A scalar of each lane that a loop sets.
struct Carried {
    local: LocalId,
    vectors: Vec<Variable>,
}

impl<'k> Vectors<'_, '_, 'k, '_> {
    /// The loop `node`, which has the same turns in all lanes.
    pub(super) fn inner_loop(&mut self, node: &'k Node) {
        let Some(counted) = self.function.inner_turns(node) else {
            return;
        };
        self.store_held(|_| true);
        let carried = self.carry([counted.body]);
        let done = self.function.enter(&counted);
        let mark = self.function.mark();
        self.count_turns(&counted);
        self.function.forget_set_in(counted.body);
        match self.function.pace(&counted) {
            Some(pace) => {
                let (strips, tail) = self.function.begin_strips(&counted, pace);
                self.turn(&counted, &tail, &carried);
                self.function.end_strips(&counted, &strips, done);
            }
            None => {
                let tail = self.function.begin_turns(&counted, done);
                self.turn(&counted, &tail, &carried);
            }
        }
        self.function.forget_since(mark);
        self.function.builder.switch_to_block(done);
        self.take_up(&carried);
    }

    fn turn(&mut self, counted: &Counted<'k>, tail: &Tail, carried: &[Carried]) {
        let ins = &mut self.function.builder;
        ins.switch_to_block(tail.turn);
        let iter = ins.append_block_param(tail.turn, types::I64);
        let conditions = self.function.conditions;
        self.function.loops.push(counted.around);
        self.function.turning.push((counted.iter, conditions));
        self.function.begin_turn(counted, iter);
        self.block(counted.body, carried);
        self.function.tail(counted, iter, tail);
        self.function.turning.pop();
        self.function.loops.pop();
    }

    /// The one of both `sides` that all lanes take.
    pub(super) fn one_side(&mut self, conditions: &'k [Condition], sides: [&'k [Node]; 2]) {
        self.store_held(|_| true);
        let carried = self.carry(sides);
        let condition = self.function.affine_conditions(conditions);
        self.function.conditions += 1;
        let ins = &mut self.function.builder;
        let [then, otherwise, join] = [(); 3].map(|()| ins.create_block());
        ins.ins().brif(condition, then, &[], otherwise, &[]);
        let mark = self.function.mark();
        for (block, body) in [then, otherwise].into_iter().zip(sides) {
            let function = &mut *self.function;
            function.builder.switch_to_block(block);
            let lanes = i64::from(self.group.count);
            let lanes = function.builder.ins().iconst(types::I64, lanes);
            function.count_updates(body, Some(lanes));
            self.block(body, &carried);
            self.function.forget_since(mark);
            self.function.builder.ins().jump(join, &[]);
        }
        self.function.conditions -= 1;
        self.function.builder.switch_to_block(join);
        self.take_up(&carried);
    }

    /// The statements of a block, which begins and ends with what the variables of `carried` hold.
    fn block(&mut self, body: &'k [Node], carried: &[Carried]) {
        self.take_up(carried);
        let outside: BTreeSet<_> = self.locals.keys().copied().collect();
        body.iter().for_each(|node| self.statement(node));
        self.store_held(|_| true);
        self.put_down(carried);
        self.locals.retain(|it, _| outside.contains(it));
    }

    /// The scalars of lanes that `blocks` set and that were there before, as variables that hold
    /// what they are.
    fn carry<const N: usize>(&mut self, blocks: [&[Node]; N]) -> Vec<Carried> {
        let mut set = BTreeSet::new();
        for block in blocks {
            walk(block, &mut |node, _| {
                set.extend(node.places().iter().filter_map(Place::local));
            });
        }
        set.retain(|it| self.locals.contains_key(it));
        let carried = set.into_iter().map(|local| {
            let vectors = self.vectors_of(local).into_iter();
            let builder = &mut self.function.builder;
            let vectors = vectors.map(|it| {
                let ty = builder.func.dfg.value_type(it);
                let variable = builder.declare_var(ty);
                builder.def_var(variable, it);
                variable
            });
            let vectors = vectors.collect();
            Carried { local, vectors }
        });
        carried.collect()
    }

    fn take_up(&mut self, carried: &[Carried]) {
        for it in carried {
            let vectors = it.vectors.iter();
            let vectors = vectors.map(|it| self.function.builder.use_var(*it));
            let vectors = vectors.collect();
            self.locals.insert(it.local, InLanes::Each(vectors));
        }
    }

    fn put_down(&mut self, carried: &[Carried]) {
        for it in carried {
            let vectors = self.vectors_of(it.local);
            for (variable, vector) in it.vectors.iter().zip(vectors) {
                self.function.builder.def_var(*variable, vector);
            }
        }
    }

    fn count_turns(&mut self, counted: &Counted<'k>) {
        let function = &mut *self.function;
        let turns = function.turns(counted.lower, counted.upper, counted.step);
        let lanes = i64::from(self.group.count);
        let turns = function.builder.ins().imul_imm_s(turns, lanes);
        function.count_updates(counted.body, Some(turns));
    }
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// The turns of a loop, one by one.
    fn inner_turns(&mut self, node: &'k Node) -> Option<Counted<'k>> {
        let around = Loop::of(node)?;
        let (lower, upper) = match node {
            Node::AffineFor(it) => (self.lower_bound(&it.lower), self.upper_bound(&it.upper)),
            Node::ScfFor(it) => (self.expr(&it.lower), self.expr(&it.upper)),
            _ => return None,
        };
        Some(Counted::of(around, (lower, upper)))
    }

    /// Where the elements of `access` begin in this turn of a group with loops, wherever in these
    /// it stands.
    pub(super) fn first_here(&mut self, access: &'k Access, group: &Group<'k>) -> First {
        let element = self.element(access);
        let (address, displacement) = self.with_room(element.address, element.displacement);
        First {
            address,
            displacement,
            flags: unaligned(element.flags),
            stride: self.known_stride(access, group),
        }
    }
}
