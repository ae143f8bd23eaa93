//! Whether a forall has enough to do to be shared among threads.

use super::affine::Wanted;
use super::body::is_separate;
use super::forall::strategy_number;
use super::function::FunctionLowering;
use super::trips::ends;
use super::weight::own_calls;
use crate::CompileError;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, FuncRef, InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use std::mem::offset_of;
use strew_affine::lanes::turns_at_once;
use strew_affine::visit::{Loop, has_computed_loops};
use strew_affine::{AffineExpr, AffineFor, Expr, Forall, Node, Variable};
use strew_runtime::abi::{AUTO, Call};

/// So many times as much may be done in order without being handed to the runtime where nothing can
/// fail: there are no keys that would tell it how to do better, and what it would find out takes as
/// long as a thousand statements.
const TIMES_WITHOUT_FAULTS: i64 = 4;

/// A loop has at most so many turns here, and there are at most so many in all: no product leaves
/// 64 bits.
const MOST_TURNS: i64 = 1 << 30;

/// So many turns has a loop whose bounds are found as it is reached.
const COMPUTED_TURNS: i64 = 64;

/// A number of turns or statements. What is known while the code is made takes no instructions when
/// it runs.
#[derive(Clone, Copy)]
enum Count {
    Known(i64),
    Computed(Value),
}

impl Count {
    fn value(self, builder: &mut FunctionBuilder<'_>) -> Value {
        match self {
            Self::Known(count) => builder.ins().iconst(types::I64, count),
            Self::Computed(count) => count,
        }
    }

    /// Between none and [`MOST_TURNS`].
    fn bounded(self, builder: &mut FunctionBuilder<'_>) -> Self {
        let count = match self {
            Self::Known(count) => return Self::Known(count.clamp(0, MOST_TURNS)),
            Self::Computed(count) => count,
        };
        let [least, most] = [0, MOST_TURNS].map(|it| builder.ins().iconst(types::I64, it));
        let count = builder.ins().smax(count, least);
        Self::Computed(builder.ins().smin(count, most))
    }

    /// What `known` makes of two counts that are known, and `computed` of any others.
    fn with<'f>(
        self,
        other: Self,
        builder: &mut FunctionBuilder<'f>,
        known: fn(i64, i64) -> i64,
        computed: fn(&mut FunctionBuilder<'f>, Value, Value) -> Value,
    ) -> Self {
        if let (Self::Known(one), Self::Known(other)) = (self, other) {
            return Self::Known(known(one, other));
        }
        let [one, other] = [self, other].map(|it| it.value(builder));
        Self::Computed(computed(builder, one, other))
    }

    fn plus(self, other: Self, builder: &mut FunctionBuilder<'_>) -> Self {
        let computed = |it: &mut FunctionBuilder<'_>, one, other| it.ins().iadd(one, other);
        self.with(other, builder, i64::saturating_add, computed)
    }

    fn times(self, other: Self, builder: &mut FunctionBuilder<'_>) -> Self {
        let computed = |it: &mut FunctionBuilder<'_>, one, other| it.ins().imul(one, other);
        self.with(other, builder, i64::saturating_mul, computed)
    }

    fn min(self, other: Self, builder: &mut FunctionBuilder<'_>) -> Self {
        let computed = |it: &mut FunctionBuilder<'_>, one, other| it.ins().smin(one, other);
        self.with(other, builder, i64::min, computed)
    }
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Calls the body at once, for all of its iterations, where there is little to do; else does
    /// what `share` does, which is told how many statements there are about. Both give a status.
    pub(super) fn by_work(
        &mut self,
        forall: &'k Forall,
        (body, frame): (FuncRef, Value),
        share: impl FnOnce(&mut Self, Value) -> Result<Value, CompileError>,
    ) -> Result<Value, CompileError> {
        let count = self.exact_affine(&forall.count);
        let work = self.work(forall, count);
        let most = self.call_field(offset_of!(Call, most_alone));
        let ins = self.builder.ins();
        let is_little = ins.icmp(IntCC::SignedLessThan, work, most);
        let no_buffers = |function: &mut Self| function.builder.ins().iconst(types::I64, 0);
        let body = (body, frame, count);
        self.at_once_or(is_little, body, no_buffers, |it| share(it, work))
    }

    /// Whether the body of `forall` may update the targets in order where it has little to do: it
    /// is reached again and again, and whoever starts the kernel puts them back after a fault; or
    /// there are no faults.
    pub(super) fn may_update_targets(&self, forall: &Forall) -> bool {
        let is_plain = !forall.is_speculative() && forall.disjoint.is_empty();
        let is_inside = !self.loops.is_empty();
        // How long those are nobody knows before the runtime looks.
        (is_inside && self.program.facts.is_guarded() || self.cannot_fail())
            && is_plain
            && !has_computed_loops(&forall.body)
            && strategy_number(&forall.strategy) == Ok(AUTO)
            && !is_separate(forall)
    }

    fn cannot_fail(&self) -> bool {
        self.program.facts.cannot_fail(self.program.checks)
    }

    /// Calls the body at once, for all of its iterations and with the targets in the place of
    /// private buffers, where there is little to do and nobody has asked for a strategy; else does
    /// what `share` does.
    pub(super) fn by_updates(
        &mut self,
        forall: &'k Forall,
        (body, frame): (FuncRef, Value),
        share: impl FnOnce(&mut Self) -> Result<Value, CompileError>,
    ) -> Result<Value, CompileError> {
        let count = self.exact_affine(&forall.count);
        let work = self.work(forall, count);
        let most = self.call_field(offset_of!(Call, most_in_order));
        let most = match self.cannot_fail() {
            true => self.builder.ins().imul_imm_s(most, TIMES_WITHOUT_FAULTS),
            false => most,
        };
        let ins = self.builder.ins();
        let is_little = ins.icmp(IntCC::SignedLessThan, work, most);
        let targets = |function: &mut Self| function.targets(forall);
        self.at_once_or(is_little, (body, frame, count), targets, share)
    }

    /// Calls the body for all of its `count` iterations with what `buffers` makes, where
    /// `is_little`, else does what `share` does.
    fn at_once_or(
        &mut self,
        is_little: Value,
        (body, frame, count): (FuncRef, Value, Value),
        buffers: impl FnOnce(&mut Self) -> Value,
        share: impl FnOnce(&mut Self) -> Result<Value, CompileError>,
    ) -> Result<Value, CompileError> {
        let [at_once, shared, done] = [(); 3].map(|()| self.builder.create_block());
        let status = self.builder.append_block_param(done, types::I32);
        self.builder
            .ins()
            .brif(is_little, at_once, &[], shared, &[]);
        self.go_on_in(at_once);
        let zero = self.builder.ins().iconst(types::I64, 0);
        // What is computed on one way is not known where they meet.
        let buffers = self.scoped(buffers);
        let arguments = [self.call, frame, buffers, zero, count];
        let call = self.builder.ins().call(body, &arguments);
        let ran = self.builder.inst_results(call)[0];
        self.builder.ins().jump(done, &[BlockArg::Value(ran)]);
        self.go_on_in(shared);
        let ran = self.scoped(share)?;
        self.builder.ins().jump(done, &[BlockArg::Value(ran)]);
        self.go_on_in(done);
        Ok(status)
    }

    /// About how many statements all iterations run, and at least one where there are iterations.
    fn work(&mut self, forall: &'k Forall, count: Value) -> Value {
        let middle = forall.count.floordiv(&2.into()).ok();
        let middle = |variable| {
            (variable == Variable::Iter(forall.iter))
                .then(|| middle.clone())
                .flatten()
        };
        let (turns, each) = match self.parted(forall) {
            // Of fewer iterations than there are parts, the one in the middle may have none.
            Some((target, distance)) => {
                let here = |variable| match variable {
                    Variable::Iter(iter) if iter == target.iter => middle_of(target, &middle),
                    _ => middle(variable),
                };
                let turns = self.groups_of(target, Count::Computed(distance));
                (turns, self.statements(&target.body, &here))
            }
            None => (
                Count::Computed(count),
                self.statements(&forall.body, &middle),
            ),
        };
        let builder = &mut self.builder;
        let turns = turns.bounded(builder);
        let all = turns.times(each, builder).bounded(builder);
        all.value(builder)
    }

    /// The loop of which each iteration of `forall` runs a part, if it does nothing else, and the
    /// distance that all parts go together.
    fn parted(&mut self, forall: &'k Forall) -> Option<(&'k AffineFor, Value)> {
        let [Node::AffineFor(target)] = forall.body.as_slice() else {
            return None;
        };
        let (lower, upper) = (target.lower.as_single()?, target.upper.as_single()?);
        let behind = AffineExpr::from(forall.iter).offset(1).ok()?;
        let is_own = |variable| variable == Variable::Iter(forall.iter);
        let next = lower.substitute(&|it| is_own(it).then(|| behind.clone()));
        let (first, end, _) = ends(forall, target)?;
        let distance = end.minus(&first).ok()?;
        let is_parted = next.is_ok_and(|it| it == *upper) && self.is_known_here(&distance);
        is_parted.then(|| (target, self.exact_affine(&distance)))
    }

    /// About how many statements `nodes` run, iterators around having the values that `middle`
    /// gives.
    fn statements(
        &mut self,
        nodes: &'k [Node],
        middle: &dyn Fn(Variable) -> Option<AffineExpr>,
    ) -> Count {
        let mut all = Count::Known(1);
        // What only hands on the value of a scalar takes no time.
        let is_work = |node: &&Node| {
            !matches!(
                node,
                Node::Assign {
                    value: Expr::Local(_),
                    ..
                }
            )
        };
        for node in nodes.iter().filter(is_work) {
            let each = match node {
                Node::AffineFor(it) => self.turns_of(it, middle),
                Node::ScfWhile { .. } => Count::Known(COMPUTED_TURNS),
                _ if Loop::of(node).is_some() => Count::Known(COMPUTED_TURNS),
                _ => Count::Known(1),
            };
            let inside = node.blocks();
            let mut inner = Count::Known(1 + own_calls(node));
            let here = |variable| match node {
                Node::AffineFor(it) if variable == Variable::Iter(it.iter) => middle_of(it, middle),
                _ => middle(variable),
            };
            for block in inside {
                let statements = self.statements(block, &here);
                inner = inner.plus(statements, &mut self.builder);
            }
            let builder = &mut self.builder;
            let statements = each.times(inner, builder).bounded(builder);
            all = all.plus(statements, builder);
        }
        all.bounded(&mut self.builder)
    }

    /// About how many turns `target` has each time: the least distance between alternatives of its
    /// bounds that parameters and the loops around the forall tell.
    fn turns_of(
        &mut self,
        target: &AffineFor,
        middle: &dyn Fn(Variable) -> Option<AffineExpr>,
    ) -> Count {
        let mut least: Option<Count> = None;
        for lower in &target.lower.0 {
            for upper in &target.upper.0 {
                let distance = upper.minus(lower).and_then(|it| it.substitute(&middle));
                let known = distance.ok().filter(|it| self.is_known_here(it));
                if let Some(distance) = known {
                    let distance = match distance.as_constant() {
                        Some(distance) => Count::Known(distance),
                        None => Count::Computed(self.exact_affine(&distance)),
                    };
                    least = Some(match least {
                        Some(least) => least.min(distance, &mut self.builder),
                        None => distance,
                    });
                }
            }
        }
        let Some(distance) = least else {
            return Count::Known(COMPUTED_TURNS);
        };
        let turns = self.groups_of(target, distance);
        turns.bounded(&mut self.builder)
    }

    /// How often `target` begins a turn, or a group of them, over `distance` iterations. One that
    /// is not whole counts, too: where tiles are longer than loops, it is all there is.
    fn groups_of(&mut self, target: &AffineFor, distance: Count) -> Count {
        let lanes = turns_at_once(self.program.kernel, Loop::Affine(target));
        let together = target.step.saturating_mul(i64::from(lanes)).max(1);
        match distance {
            _ if together == 1 => distance,
            Count::Known(distance) => {
                Count::Known(distance.saturating_add(together - 1) / together)
            }
            Count::Computed(distance) => {
                let begun = self.builder.ins().iadd_imm_s(distance, together - 1);
                Count::Computed(self.divided_by_constant(begun, together, Wanted::Quotient))
            }
        }
    }
}

/// An iteration in the middle of `target`, whose bounds have the values that `middle` gives to
/// iterators around.
fn middle_of(
    target: &AffineFor,
    middle: &dyn Fn(Variable) -> Option<AffineExpr>,
) -> Option<AffineExpr> {
    let both = target
        .lower
        .as_single()?
        .plus(target.upper.as_single()?)
        .ok()?;
    let both = both.substitute(&middle).ok()?;
    both.floordiv(&2.into()).ok()
}
