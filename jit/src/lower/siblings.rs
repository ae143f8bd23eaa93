//! Values that several conditions are followed by uses of, made in front of all of them.
//!
//! The code generator makes a value where it is used. Blocks behind different conditions do not see
//! each other's, so that each of them makes it anew, though all of them may run: of an image that
//! is warped, each of four corners whose place is in the image would round the place again. What is
//! handed to a block that can be entered from two sides is made before.

use super::function::{Binding, FunctionLowering};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Value};
use std::collections::BTreeMap;
use strew_affine::interpret::Oob;
use strew_affine::visit::{for_each_local_read, has_loops, walk};
use strew_affine::{Expr, LocalId, Node};

/// To hand values on takes a jump that is never taken, and registers: what is saved takes at least
/// so many instructions.
const LEAST_SAVED: u32 = 4;

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// If a condition comes next among `nodes`, at `position`: makes those scalars declared before
    /// it that blocks behind several conditions use. What stood for these, which has to stand for
    /// them again behind the nodes.
    pub(super) fn make_for_siblings(
        &mut self,
        nodes: &'k [Node],
        position: usize,
    ) -> Vec<(LocalId, Binding)> {
        let (before, next) = nodes.split_at(position);
        let is_sibling = next.first().and_then(sides).is_some();
        let Some(innermost) = self.loops.last().filter(|_| is_sibling) else {
            return Vec::new();
        };
        let iter = innermost.iter();
        if self.program.oob != Oob::Error || has_loops(nodes) {
            return Vec::new();
        }
        let shared = self.shared_values(before, next);
        let saved: u32 = shared.iter().map(|it| it.1).sum();
        if saved < LEAST_SAVED {
            return Vec::new();
        }
        let turn = self.iter(iter);
        let locals: Vec<_> = shared.into_iter().map(|it| it.0).collect();
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
        let mut stood = Vec::new();
        for (local, value) in locals.into_iter().zip(values) {
            let ty = self.builder.func.dfg.value_type(value);
            let made = self.builder.append_block_param(join, ty);
            self.locals.insert(local, Binding::Let(made));
            stood.push((local, Binding::Let(value)));
        }
        stood
    }

    /// Behind the nodes, which may be lowered once more for another lane, without what they
    /// declare.
    pub(super) fn let_go_of_siblings(&mut self, stood: Vec<(LocalId, Binding)>) {
        for (local, binding) in stood {
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

    /// The scalars that `before` declares and several conditions of `next` are followed by uses of,
    /// and how many instructions it saves to make them once.
    fn shared_values(&self, before: &'k [Node], next: &'k [Node]) -> Vec<(LocalId, u32)> {
        let mut uses = BTreeMap::<LocalId, u32>::new();
        for sides in next.iter().filter_map(sides) {
            for side in sides {
                let mut used: Vec<LocalId> = Vec::new();
                walk(side, &mut |node, _| {
                    for_each_local_read(node, &mut |it| used.push(it))
                });
                used.sort_unstable();
                used.dedup();
                for local in used {
                    *uses.entry(local).or_default() += 1;
                }
            }
        }
        let declared = before.iter().filter_map(|node| match node {
            Node::Declare { local, value } => Some((*local, value)),
            _ => None,
        });
        let shared = declared.filter_map(|(local, value)| {
            let again = uses.get(&local)?.checked_sub(1)?;
            let saved = again * instructions(value);
            let is_let = matches!(self.locals.get(local), Some(Binding::Let(_)));
            // What stands for one that is idle here is left from elsewhere.
            (is_let && saved > 0 && !self.is_idle(local)).then_some((local, saved))
        });
        shared.collect()
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
