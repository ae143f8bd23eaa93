//! What the lanes of a group make one after the other.

use super::Group;
use super::looked::Looked;
use super::stored::Stored;
use super::value::{self, InLanes};
use crate::CompileError;
use crate::lower::function::{Binding, FunctionLowering};
use cranelift_codegen::ir::{InstBuilder, Value};
use std::collections::BTreeMap;
use std::ops::Range;
use strew_affine::visit::for_each_local_in_subscripts;
use strew_affine::{AffineExpr, Expr, IterId, LocalId, Node};

/// The statements of a group of turns that each lane makes for itself.
#[derive(Debug)]
pub(super) struct OneByOne<'a, 'k> {
    pub(super) group: &'a Group<'k>,
    pub(super) iter: IterId,
    /// Those in front of them, which were made in vectors.
    pub(super) together: &'k [Node],
    pub(super) in_turn: &'k [Node],
    /// What the scalars are in the lanes.
    pub(super) locals: BTreeMap<LocalId, InLanes>,
    /// Those of them that are in memory.
    pub(super) stored: Stored,
    /// Those that were looked at in all lanes.
    pub(super) looked: Vec<Looked<'k>>,
}

/// A lane, which comes as many turns of the loop of `iter` behind the one in which that is `first`.
#[derive(Clone, Copy, Debug)]
pub(in crate::lower) struct Behind {
    iter: IterId,
    first: Value,
    lane: u32,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// The value of `expr` without some constant, and that constant: what lies a number of turns
    /// behind the first lane is a constant further.
    pub(in crate::lower) fn terms_and_constant(&mut self, expr: &AffineExpr) -> (Value, i64) {
        let Some((behind, constant)) = self.constant_behind(expr) else {
            return (self.affine_terms(expr), expr.constant());
        };
        let turn = self.iter(behind.iter);
        self.iters.insert(behind.iter, behind.first);
        let terms = self.affine_terms(expr);
        self.iters.insert(behind.iter, turn);
        (terms, constant)
    }

    /// What is to be added to the terms of `expr` in the first lane.
    fn constant_behind(&self, expr: &AffineExpr) -> Option<(Behind, i64)> {
        let behind = self.behind?;
        let (step, _) = expr.split_off(behind.iter)?;
        let further = step.checked_mul(i64::from(behind.lane))?;
        Some((behind, further.checked_add(expr.constant())?))
    }

    /// The lane that is lowered, where statements of a loop in lanes are made turn by turn.
    pub(in crate::lower) fn lane(&self) -> usize {
        self.behind.map_or(0, |it| it.lane as usize)
    }

    pub(super) fn lanes_one_by_one(
        &mut self,
        statements: &OneByOne<'_, 'k>,
    ) -> Result<(), CompileError> {
        match self.keys_of_runs(statements) {
            Some(keys) => self.together_or_not(statements, &keys),
            None => self.lanes(statements, 0..statements.group.count, |function| {
                function.statements_of_lane(statements)
            }),
        }
    }

    /// Makes the statements of one lane.
    pub(super) fn statements_of_lane(
        &mut self,
        statements: &OneByOne<'_, 'k>,
    ) -> Result<(), CompileError> {
        self.keep_looked(&statements.looked);
        self.nodes_with_offsets(statements.in_turn)
    }

    /// Makes something of each of these `lanes`.
    pub(super) fn lanes(
        &mut self,
        statements: &OneByOne<'_, 'k>,
        lanes: Range<u32>,
        mut make: impl FnMut(&mut Self) -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        for number in lanes {
            self.in_lane(statements.iter, number, |function, _| {
                let locals = (&statements.locals, &statements.stored);
                function.bind_lane(statements.together, locals, number);
                make(function)
            })?;
        }
        Ok(())
    }

    /// Makes something of one lane, in which `iter` has the value that it is told; what it finds
    /// out is known there alone.
    pub(super) fn in_lane<T>(
        &mut self,
        iter: IterId,
        number: u32,
        make: impl FnOnce(&mut Self, Value) -> T,
    ) -> T {
        let first = self.iter(iter);
        let turn = match number {
            0 => first,
            _ => self.builder.ins().iadd_imm_s(first, i64::from(number)),
        };
        self.iters.insert(iter, turn);
        let behind = Behind {
            iter,
            first,
            lane: number,
        };
        let around = self.behind.replace(behind);
        let made = self.scoped(|function| make(function, turn));
        self.behind = around;
        self.iters.insert(iter, first);
        made
    }

    /// Makes the scalars that `declared` declares known as what they are in a lane: in memory, or
    /// else in vectors.
    pub(super) fn bind_lane(
        &mut self,
        declared: impl IntoIterator<Item = &'k Node>,
        (locals, stored): (&BTreeMap<LocalId, InLanes>, &Stored),
        number: u32,
    ) {
        for node in declared {
            let Node::Declare { local, value } = node else {
                continue;
            };
            if self.is_loaded_again(*local, value) {
                self.declare(*local, value);
            } else if let Some(slot) = stored.get(local) {
                self.bind_stored(*local, *slot, number);
            } else if let Some(lanes) = locals.get(local)
                && let Some(value) = value::lane(&mut self.builder, lanes, number)
            {
                self.locals.insert(*local, Binding::Let(value));
            }
        }
    }

    /// Whether each lane loads the `value` of `local` itself, as it is only loaded and nobody
    /// writes it: that takes no longer than to get it out of a vector. By a scalar that is set
    /// again it would load another element by then.
    pub(super) fn is_loaded_again(&self, local: LocalId, value: &Expr) -> bool {
        let is_mutable = |it: LocalId| self.program.kernel.locals[it].mutable;
        let Expr::Load(access) = value else {
            return false;
        };
        let mut stays = !is_mutable(local);
        for_each_local_in_subscripts(access, &mut |it| stays &= !is_mutable(it));
        stays && self.program.facts.is_read_only(access.array)
    }
}
