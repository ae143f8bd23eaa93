//! What the lanes of a group make one after the other.

use super::Group;
use super::value::{self, InLanes};
use crate::CompileError;
use crate::lower::function::{Binding, FunctionLowering};
use cranelift_codegen::ir::{InstBuilder, Value};
use std::collections::BTreeMap;
use std::ops::Range;
use strew_affine::{Expr, IterId, LocalId, Node};

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
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    pub(super) fn lanes_one_by_one(
        &mut self,
        statements: &OneByOne<'_, 'k>,
    ) -> Result<(), CompileError> {
        let all = 0..statements.group.count;
        match self.keys_of_runs(statements) {
            Some(keys) => self.together_or_not(statements, &keys),
            None => self.lanes(statements, all, |function| {
                function.nodes(statements.in_turn)
            }),
        }
    }

    /// Makes something of each of these `lanes`.
    pub(super) fn lanes(
        &mut self,
        statements: &OneByOne<'_, 'k>,
        lanes: Range<u32>,
        mut make: impl FnMut(&mut Self) -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        for number in lanes {
            self.lane = number as usize;
            self.in_lane(statements.iter, number, |function, _| {
                function.bind_lane(statements.together, &statements.locals, number);
                make(function)
            })?;
        }
        self.lane = 0;
        Ok(())
    }

    /// Makes something of one lane, in which `iter` has the value that it is told; what it finds out is known there alone.
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
        let made = self.scoped(|function| make(function, turn));
        self.iters.insert(iter, first);
        made
    }

    /// Makes the scalars that `declared` declares known as what they are in a lane. What is only loaded, and nobody writes, is loaded again:
    /// that takes no longer than to get it out of a vector.
    pub(super) fn bind_lane(
        &mut self,
        declared: impl IntoIterator<Item = &'k Node>,
        locals: &BTreeMap<LocalId, InLanes>,
        number: u32,
    ) {
        for node in declared {
            let Node::Declare { local, value } = node else {
                continue;
            };
            let is_mutable = self.program.kernel.locals[*local].mutable;
            let facts = &self.program.facts;
            let is_loaded = matches!(value, Expr::Load(it) if facts.is_read_only(it.array));
            if !is_mutable && is_loaded {
                self.declare(*local, value);
            } else if let Some(lanes) = locals.get(local)
                && let Some(value) = value::lane(&mut self.builder, lanes, number)
            {
                self.locals.insert(*local, Binding::Let(value));
            }
        }
    }
}
