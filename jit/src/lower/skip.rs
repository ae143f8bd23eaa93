//! Statements that do nothing where an index in them is out of range, under [`Oob::Skip`].
//!
//! A range check then jumps behind the innermost statement around it instead of leaving the
//! function. That is possible anywhere, since a statement writes nothing before all its indices are
//! checked. A scalar whose declaration may be skipped has a flag beside it that says whether it has
//! a value, which every use of it looks at.

use super::function::{Binding, FunctionLowering, offset};
use crate::CompileError;
use crate::facts::Checks;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::Variable;
use la_arena::ArenaMap;
use std::collections::BTreeSet;
use std::mem::offset_of;
use strew_affine::interpret::Oob;
use strew_affine::visit::{Loop, walk};
use strew_affine::{Expr, Kernel, LocalId, Node};
use strew_runtime::abi::Call;

/// A body that makes updates hands over what it has after so many statements that made none, for
/// somebody may wait for a few.
const SKIPS_BETWEEN_LOOKS: i64 = 1 << 12;

/// What a function knows of its skipped statements.
#[derive(Debug, Default)]
pub(super) struct Skips {
    /// Where the statement that is being lowered goes to do nothing.
    target: Option<Block>,
    /// Whether anything goes there.
    is_used: bool,
    /// How many statements did nothing; `None` where an index out of range is a fault.
    count: Option<Variable>,
    /// For each scalar that may have no value, what is not 0 if it has one.
    has_value: ArenaMap<LocalId, Variable>,
}

/// The scalars of `kernel` whose declarations may be skipped.
pub(super) fn uncertain(kernel: &Kernel, oob: Oob, checks: Checks) -> BTreeSet<LocalId> {
    let mut uncertain = BTreeSet::new();
    if oob == Oob::Skip {
        walk(&kernel.body, &mut |node, loops| {
            if let Node::Declare { local, value } = node
                && may_skip(value, &uncertain, checks, loops)
            {
                uncertain.insert(*local);
            }
        });
    }
    uncertain
}

fn may_skip(
    expr: &Expr,
    uncertain: &BTreeSet<LocalId>,
    checks: Checks,
    loops: &[Loop<'_>],
) -> bool {
    match expr {
        // What is proved is affine, so it holds no other load.
        Expr::Load(access) => {
            let mut subscripts = access.subscripts.iter();
            subscripts.any(|it| !checks.is_proved(it, loops))
        }
        Expr::Local(local) => uncertain.contains(local),
        _ => {
            let mut operands = expr.operands().into_iter();
            operands.any(|it| may_skip(it, uncertain, checks, loops))
        }
    }
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Begins to count what is skipped, if anything may be.
    pub(super) fn begin_skips(&mut self) {
        if self.program.oob == Oob::Skip {
            let count = self.builder.declare_var(types::I64);
            let zero = self.builder.ins().iconst(types::I64, 0);
            self.builder.def_var(count, zero);
            self.skips.count = Some(count);
        }
    }

    /// Leaves the count where the runtime finds it.
    pub(super) fn end_skips(&mut self) {
        if let Some(count) = self.skips.count {
            let count = self.builder.use_var(count);
            self.add_to_call(offset_of!(Call, skipped), count);
        }
    }

    pub(super) fn add_to_call(&mut self, field: usize, count: Value) {
        let before = self.call_field(field);
        let after = self.builder.ins().iadd(before, count);
        let flags = MemFlagsData::trusted();
        let ins = self.builder.ins();
        ins.store(flags, after, self.call, offset(field));
    }

    /// What the state of this call has `field` bytes behind its beginning: a number or an address.
    pub(super) fn call_field(&mut self, field: usize) -> Value {
        let flags = MemFlagsData::trusted();
        let ins = self.builder.ins();
        ins.load(types::I64, flags, self.call, offset(field))
    }

    /// Lowers `node`, of which an index out of range makes nothing.
    pub(super) fn skippable(&mut self, node: &'k Node) -> Result<(), CompileError> {
        let skipped = self.builder.create_block();
        let next = self.builder.create_block();
        let around = (self.skips.target.replace(skipped), self.skips.is_used);
        self.skips.is_used = false;
        // What is divided behind a check in there is not known behind the statement.
        self.scoped(|function| function.statement(node))?;
        self.builder.ins().jump(next, &[]);
        let is_used = self.skips.is_used;
        (self.skips.target, self.skips.is_used) = around;
        if is_used {
            self.builder.set_cold_block(skipped);
            self.builder.switch_to_block(skipped);
            self.note_skipped(node);
            self.builder.ins().jump(next, &[]);
        }
        self.builder.switch_to_block(next);
        Ok(())
    }

    /// Skips the statement that is being lowered when `condition` holds, if statements may be
    /// skipped; says whether they may.
    pub(super) fn skip_if(&mut self, condition: Value) -> bool {
        let Some(skipped) = self.skips.target else {
            return false;
        };
        self.skips.is_used = true;
        let next = self.builder.create_block();
        self.builder.ins().brif(condition, skipped, &[], next, &[]);
        self.go_on_in(next);
        true
    }

    /// Lowers what is no part of the statement, and goes on in `otherwise` where an index in that
    /// is out of range, if statements may be skipped.
    pub(super) fn beside<R>(&mut self, otherwise: Block, lower: impl FnOnce(&mut Self) -> R) -> R {
        let beside = self.skips.target.map(|_| otherwise);
        let around = (
            std::mem::replace(&mut self.skips.target, beside),
            self.skips.is_used,
        );
        let lowered = lower(self);
        (self.skips.target, self.skips.is_used) = around;
        lowered
    }

    fn note_skipped(&mut self, node: &Node) {
        let (Some(count), true) = (self.skips.count, self.program.facts.counts_skipped(node))
        else {
            return;
        };
        self.add_constant(count, 1);
        if self.program.facts.counts(node) {
            // It was counted as done.
            self.add_constant(self.updates, -1);
        }
        if !self.streams.is_empty() {
            self.hand_over_now_and_then(count);
        }
    }

    fn add_constant(&mut self, variable: Variable, constant: i64) {
        let before = self.builder.use_var(variable);
        let after = self.builder.ins().iadd_imm_s(before, constant);
        self.builder.def_var(variable, after);
    }

    fn hand_over_now_and_then(&mut self, count: Variable) {
        let look = self.builder.create_block();
        let next = self.builder.create_block();
        let skipped = self.builder.use_var(count);
        let since = SKIPS_BETWEEN_LOOKS - 1;
        let since = self.builder.ins().band_imm_s(skipped, since);
        self.builder.ins().brif(since, next, &[], look, &[]);
        self.builder.switch_to_block(look);
        for stream in self.streams.clone() {
            let staged = self.builder.use_var(stream.staged);
            self.hand_over(&stream, staged);
        }
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
    }

    /// The result of the kernel; 0, which is there already, if an index in it is out of range.
    pub(super) fn skippable_result(&mut self, result: &'k Expr) {
        let skipped = self.builder.create_block();
        self.skips.target = Some(skipped);
        self.scoped(|function| function.result(result));
        self.skips.target = None;
        self.builder.ins().jump(skipped, &[]);
        self.builder.switch_to_block(skipped);
    }

    /// Declares a scalar that has no value when an index in `value` is out of range.
    pub(super) fn declare_uncertain(&mut self, local: LocalId, value: &'k Expr) {
        let declared = &self.program.kernel.locals[local];
        let zero = super::operation::zero(&mut self.builder, declared.ty);
        let ty = self.builder.func.dfg.value_type(zero);
        let variable = self.builder.declare_var(ty);
        self.builder.def_var(variable, zero);
        self.locals.insert(local, Binding::Mutable(variable));
        let has_value = self.builder.declare_var(types::I8);
        self.skips.has_value.insert(local, has_value);
        self.set_flag(has_value, false);
        let value = self.expr(value);
        self.builder.def_var(variable, value);
        self.set_flag(has_value, true);
    }

    fn set_flag(&mut self, flag: Variable, value: bool) {
        let value = self.builder.ins().iconst(types::I8, i64::from(value));
        self.builder.def_var(flag, value);
    }

    /// From now on `local` has a value.
    pub(super) fn gets_value(&mut self, local: LocalId) {
        if let Some(flag) = self.skips.has_value.get(local).copied() {
            self.set_flag(flag, true);
        }
    }

    /// Skips the statement that is being lowered when `local` has no value.
    pub(super) fn skip_without_value(&mut self, local: LocalId) {
        if let Some(flag) = self.flag_of(local) {
            let has_none = self.builder.ins().icmp_imm_s(IntCC::Equal, flag, 0);
            self.skip_if(has_none);
        }
    }

    /// Whether `local` has a value, unless it is sure to.
    pub(super) fn flag_of(&mut self, local: LocalId) -> Option<Value> {
        let flag = self.skips.has_value.get(local).copied();
        flag.map(|flag| self.builder.use_var(flag))
    }

    /// Makes the flag of a scalar from outside of the function known.
    pub(super) fn bind_flag(&mut self, local: LocalId, value: Value) {
        let flag = self.builder.declare_var(types::I8);
        self.builder.def_var(flag, value);
        self.skips.has_value.insert(local, flag);
    }
}
