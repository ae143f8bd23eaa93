//! Values that several conditions are followed by uses of, made in front of all of them.
//!
//! The code generator makes a value where it is used. Blocks behind different conditions do not see
//! each other's, so that each of them makes it anew, though all of them may run: of an image that
//! is warped, each of four corners whose place is in the image would round the place again. What is
//! handed to a block that can be entered from two sides is made before.

use super::function::{Binding, FunctionLowering};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Value};
use std::collections::{BTreeMap, BTreeSet};
use strew_affine::interpret::Oob;
use strew_affine::visit::{for_each_local_read, has_loops, walk};
use strew_affine::{Expr, LocalId, Node};

/// To hand values on takes a jump that is never taken, and registers: what is saved takes at least
/// so many instructions.
const LEAST_SAVED: u32 = 4;

/// What some nodes, one after the other, are to hand on.
pub(super) struct Siblings<'k> {
    /// How many blocks behind the conditions that are left use each scalar.
    uses: BTreeMap<LocalId, u32>,
    /// The scalars that were declared and not handed on yet, but for those that nothing is saved
    /// by.
    declared: Vec<(LocalId, &'k Expr)>,
    /// What stood for those that were.
    stood: Vec<(LocalId, Binding)>,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// What `nodes` may hand on from condition to condition.
    pub(super) fn siblings(&self, nodes: &'k [Node]) -> Siblings<'k> {
        let may = self.program.oob == Oob::Error && !self.loops.is_empty();
        let mut uses = BTreeMap::new();
        if may && !has_loops(nodes) {
            for local in nodes.iter().flat_map(used_behind) {
                *uses.entry(local).or_default() += 1;
            }
        }
        Siblings {
            uses,
            declared: Vec::new(),
            stood: Vec::new(),
        }
    }

    /// Before `node`, the next one: if it is a condition, makes those scalars declared before it
    /// that blocks behind several conditions use.
    pub(super) fn make_for_siblings(&mut self, siblings: &mut Siblings<'k>, node: &'k Node) {
        if siblings.uses.is_empty() {
            return;
        }
        if let Node::Declare { local, value } = node {
            siblings.declared.push((*local, value));
        }
        if sides(node).is_none() {
            return;
        }
        let saved = |(local, value): &(LocalId, &Expr)| {
            let uses = siblings.uses.get(local).copied().unwrap_or(0);
            uses.saturating_sub(1) * instructions(value)
        };
        let is_let = |local| matches!(self.locals.get(local), Some(Binding::Let(_)));
        let mut shared = std::mem::take(&mut siblings.declared);
        // What stands for one that is idle here is left from elsewhere.
        shared.retain(|it| saved(it) > 0 && is_let(it.0) && !self.is_idle(it.0));
        match shared.iter().map(saved).sum::<u32>() {
            ..LEAST_SAVED => siblings.declared = shared,
            _ => {
                let locals = shared.into_iter().map(|it| it.0);
                let handed = self.hand_on(locals.collect());
                siblings.stood.extend(handed);
            }
        }
        for local in used_behind(node) {
            if let Some(uses) = siblings.uses.get_mut(&local) {
                *uses -= 1;
            }
        }
    }

    /// Goes on in a block to which the values of `locals` are handed. What stood for these before.
    fn hand_on(&mut self, locals: Vec<LocalId>) -> Vec<(LocalId, Binding)> {
        let turn = match self.loops.last() {
            Some(innermost) => self.iter(innermost.iter()),
            None => return Vec::new(),
        };
        let [second, join] = [(); 2].map(|()| self.builder.create_block());
        let values = locals.iter().map(|it| self.held(*it)).collect::<Vec<_>>();
        let handed: Vec<_> = values.iter().copied().map(BlockArg::Value).collect();
        // Hardly any loop counts from below zero, and one that does computes the same.
        let below = IntCC::SignedLessThan;
        let is_below = self.builder.ins().icmp_imm_s(below, turn, 0);
        self.builder
            .ins()
            .brif(is_below, second, &[], join, &handed);
        self.builder.switch_to_block(second);
        self.builder.set_cold_block(second);
        self.hand_copies(&values, join);
        self.builder.switch_to_block(join);
        let bind = |(local, value)| {
            let ty = self.builder.func.dfg.value_type(value);
            let made = self.builder.append_block_param(join, ty);
            self.locals.insert(local, Binding::Let(made));
            (local, Binding::Let(value))
        };
        locals.into_iter().zip(values).map(bind).collect()
    }

    /// Behind the nodes, which may be lowered once more for another lane, without what they
    /// declare.
    pub(super) fn let_go_of_siblings(&mut self, siblings: Siblings<'k>) {
        for (local, binding) in siblings.stood {
            self.locals.insert(local, binding);
        }
    }

    /// Jumps to `join` with the same values under other names: one that came by the same name from
    /// all sides would be no parameter.
    fn hand_copies(&mut self, values: &[Value], join: Block) {
        let flags = MemFlagsData::new();
        let copies = values.iter().map(|value| {
            let ty = self.builder.func.dfg.value_type(*value);
            let bits = self.builder.ins().bitcast(ty.as_int(), flags, *value);
            BlockArg::Value(self.builder.ins().bitcast(ty, flags, bits))
        });
        let copies: Vec<_> = copies.collect();
        self.builder.ins().jump(join, &copies);
    }
}

/// What a condition decides on, if it is not about values alone.
fn sides(node: &Node) -> Option<[&[Node]; 2]> {
    let Node::ScfIf {
        then, otherwise, ..
    } = node
    else {
        return None;
    };
    let mut writes = false;
    walk(std::slice::from_ref(node), &mut |it, _| {
        writes |= it.written_elements().next().is_some();
    });
    writes.then_some([then, otherwise])
}

/// The scalars that are used in each of the blocks behind `node`, if it is a condition.
fn used_behind(node: &Node) -> Vec<LocalId> {
    let sides = sides(node).into_iter().flatten();
    let used = sides.flat_map(|side| {
        let mut used = BTreeSet::new();
        walk(side, &mut |node, _| {
            for_each_local_read(node, &mut |it| {
                used.insert(it);
            });
        });
        used
    });
    used.collect()
}

/// About how many instructions make `expr` of what is in registers. What may fail is made where it
/// stands in any case.
fn instructions(expr: &Expr) -> u32 {
    let operands: u32 = expr.operands().into_iter().map(instructions).sum();
    let own = match expr {
        Expr::Constant(_) | Expr::Iter(_) | Expr::Param(_) | Expr::Local(_) | Expr::Load(_) => 0,
        Expr::Cast(..) => 2,
        _ => 1,
    };
    operands + own
}
