//! Subscripts that differ by constants, as `i` and `i + 1` do: one check holds for all of them, and
//! one value serves all.
//!
//! A particle that is divided between the corners of its cell updates `[j, i]`, `[j, i + 1]`,
//! `[j + 1, i]` and `[j + 1, i + 1]`. If all of that happens in the same turn, all of it is in
//! range where the least of `i` and `i + 1` is not negative and the largest is below the extent;
//! where it is not, the turn fails at one of them, so that the call ends with a fault in any case.
//! Which one is the first is found by the code that tells faults in full, where nothing is checked
//! ahead.

use super::access::Index;
use super::ahead::sure_accesses;
use super::function::FunctionLowering;
use crate::compiled::Faults;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use strew_affine::interpret::Oob;
use strew_affine::visit::{
    declared_in, for_each_load_of, for_each_local_in_subscripts, scalars_set_in, walk,
};
use strew_affine::{Access, AffineExpr, Expr, LocalId, Node, Subscript, Type};
use strew_runtime::abi::Status;

/// So many groups of a body are looked for: each subscript is compared with all of them.
const MOST: usize = 16;

/// In a body of more statements nobody looks whether a scalar is set again: each subscript would be
/// compared with all of them.
const MOST_STATEMENTS: usize = 64;

/// Subscripts of one body, each the same integer and a constant, that are checked against the same
/// extent.
#[derive(Debug)]
pub(super) struct Offsets {
    base: Expr,
    bound: AffineExpr,
    least: i64,
    most: i64,
}

/// An integer that subscripts add constants to, of which all are looked at together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base<'e> {
    pub(super) expr: &'e Expr,
    /// What all sums are compared with.
    pub(super) bound: &'e AffineExpr,
    /// The least and the most of what is added.
    pub(super) offsets: (i64, i64),
}

impl Base<'_> {
    /// The scalar that it is.
    pub(super) fn local(&self) -> Option<LocalId> {
        match self.expr {
            Expr::Local(local) => Some(*local),
            _ => None,
        }
    }

    pub(super) fn is_same(&self, other: &Base<'_>) -> bool {
        self.expr.is_same(other.expr) && self.bound == other.bound && self.offsets == other.offsets
    }
}

impl FunctionLowering<'_, '_, '_> {
    /// Lowers with `lower` what has `body` in it, of which subscripts that differ by constants are
    /// checked together.
    pub(super) fn with_offsets<R>(
        &mut self,
        body: &[Node],
        lower: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let mut offsets = self.offsets_of(body);
        offsets.retain(|it| it.least < it.most);
        self.with_these_offsets(offsets, lower)
    }

    /// The same for lanes of `body`, of which one check is enough for each of those.
    pub(super) fn with_offsets_of_lanes<R>(
        &mut self,
        body: &[Node],
        lower: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let offsets = self.offsets_of(body);
        self.with_these_offsets(offsets, lower)
    }

    fn with_these_offsets<R>(
        &mut self,
        offsets: Vec<Offsets>,
        lower: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let around = std::mem::replace(&mut self.offsets, offsets);
        let lowered = lower(self);
        self.offsets = around;
        lowered
    }

    fn offsets_of(&self, body: &[Node]) -> Vec<Offsets> {
        let mut found: Vec<Offsets> = Vec::new();
        if self.program.faults != Faults::Bare || self.program.oob != Oob::Error {
            return found;
        }
        for access in sure_accesses(body) {
            let declared = &self.program.kernel.arrays[access.array].extents;
            for (subscript, bound) in access.subscripts.iter().zip(declared) {
                let Some((base, constant)) = self.base_of(subscript) else {
                    continue;
                };
                if let Some(known) = found.iter_mut().find(|it| it.is_of(base, bound)) {
                    known.least = known.least.min(constant);
                    known.most = known.most.max(constant);
                } else if found.len() < MOST && self.is_settled(base, body) {
                    found.push(Offsets {
                        base: base.clone(),
                        bound: bound.clone(),
                        least: constant,
                        most: constant,
                    });
                }
            }
        }
        found
    }

    /// From which number on, and how many of them, `base`, a 32-bit integer, is in range whichever
    /// of its offsets is added to it; `extent` is the value of its bound.
    pub(super) fn numbers_in_range(&mut self, base: &Base<'_>, extent: Value) -> (i64, Value) {
        let (least, most) = base.offsets;
        let ins = &mut self.builder;
        // A sum beyond the type has wrapped.
        let end = ins.ins().iadd_imm_s(extent, -most);
        let beyond = ins.ins().iconst(types::I64, 1 << 31);
        let end = ins.ins().smin(end, beyond);
        let count = ins.ins().iadd_imm_s(end, least);
        let none = ins.ins().iconst(types::I64, 0);
        (-least, ins.ins().smax(count, none))
    }

    /// What `subscript`, which is compared with `bound`, adds a constant to, if that is looked at
    /// together with others; and the constant.
    pub(super) fn base_checked_together<'e>(
        &self,
        subscript: &'e Subscript,
        bound: &'e AffineExpr,
    ) -> Option<(Base<'e>, i64)> {
        let (expr, constant) = self.base_of(subscript)?;
        let mut offsets = self.offsets.iter();
        let offsets = offsets.find(|it| it.has((expr, constant), bound))?;
        let base = Base {
            expr,
            bound,
            offsets: (offsets.least, offsets.most),
        };
        Some((base, constant))
    }

    /// What `subscript` adds a constant to, and that constant.
    fn base_of<'e>(&self, subscript: &'e Subscript) -> Option<(&'e Expr, i64)> {
        let Subscript::Computed(expr) = subscript else {
            return None;
        };
        let ty = expr.ty(self.program.kernel);
        let (base, constant) = expr.split_constant();
        // Numbers without signs wrap at zero, where sums of others would be in range.
        let is_near = constant.unsigned_abs() < 1 << 16;
        let is_scalar = matches!(base, Expr::Local(_));
        (is_scalar && is_near && matches!(ty, Type::I32 | Type::I64)).then_some((base, constant))
    }

    /// Whether `base`, a scalar, is the same wherever an access in `body` has it in a subscript:
    /// for good, or since nothing there sets it any more once the first one has.
    fn is_settled(&self, base: &Expr, body: &[Node]) -> bool {
        let Expr::Local(local) = base else {
            return false;
        };
        if !self.program.kernel.locals[*local].mutable {
            return true;
        }
        if body.len() > MOST_STATEMENTS {
            return false;
        }
        let uses = |node: &Node| {
            let mut uses = false;
            let mut look = |access: &Access| {
                for_each_local_in_subscripts(access, &mut |it| uses |= it == *local);
            };
            walk(std::slice::from_ref(node), &mut |inner, _| {
                for_each_load_of(inner, &mut look);
                inner.written_elements().for_each(&mut look);
            });
            uses
        };
        let sets = |node: &Node| scalars_set_in(std::slice::from_ref(node)).contains(local);
        let first = body.iter().position(uses).unwrap_or(body.len());
        declared_in(body, *local).is_some() && !body.iter().skip(first).any(sets)
    }

    /// The value of `subscript`, which is below `extent`, the value of `bound`, if it is checked
    /// together with others.
    pub(super) fn checked_together(
        &mut self,
        subscript: &Subscript,
        bound: &AffineExpr,
        extent: Value,
    ) -> Option<Index> {
        let (base, constant) = self.base_checked_together(subscript, bound)?;
        let value = match self.known_base(&base) {
            Some(value) => value,
            None => {
                let value = match self.is_base_said_in_range(&base) {
                    true => self.extended(base.expr),
                    false => self.check_together(&base, extent),
                };
                self.keep_base(&base, value);
                value
            }
        };
        Some(Index::in_range(value, constant))
    }

    /// Checks that `base` is below `extent` and not negative, whichever of its offsets is added to
    /// it; its value.
    fn check_together(&mut self, base: &Base<'_>, extent: Value) -> Value {
        let (least, most) = base.offsets;
        let value = self.extended(base.expr);
        let ty = base.expr.ty(self.program.kernel);
        let ins = &mut self.builder;
        // What is beyond the type has wrapped, and is negative.
        let room = match ty {
            Type::I32 => {
                let beyond = ins.ins().iconst(types::I64, 1 << 31);
                ins.ins().smin(extent, beyond)
            }
            _ => extent,
        };
        let room = ins.ins().iadd_imm_s(room, least - most);
        let none = ins.ins().iconst(types::I64, 0);
        let room = ins.ins().smax(room, none);
        let first = ins.ins().iadd_imm_s(value, least);
        let beyond = IntCC::UnsignedGreaterThanOrEqual;
        let outside = ins.ins().icmp(beyond, first, room);
        self.leave_with(outside, Status::Fault);
        value
    }
}

impl Offsets {
    fn is_of(&self, base: &Expr, bound: &AffineExpr) -> bool {
        self.base.is_same(base) && self.bound == *bound
    }

    /// Whether `base` and `constant` together are looked at: what is not sure to be evaluated may
    /// add others.
    fn has(&self, (base, constant): (&Expr, i64), bound: &AffineExpr) -> bool {
        (self.least..=self.most).contains(&constant) && self.is_of(base, bound)
    }
}
