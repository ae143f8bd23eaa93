//! Loops, each with a guard, a preheader of its own and its test at the end.
//!
//! The preheader matters: loads that are hoisted out of a loop land there, behind the test that the
//! loop runs at all.

use super::bounded::is_bounded;
use super::divided::Divided;
use super::early::{EarlyRead, Reach};
use super::frame::InFrame;
use super::function::FunctionLowering;
use super::lanes::Group;
use super::strips::is_short;
use crate::CompileError;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, InstructionData, Opcode, Value, types};
use std::ops::Range;
use strew_affine::visit::{Loop, has_loops, walk};
use strew_affine::{AffineExpr, AffineFor, Expr, IterId, Node, Place, ScfFor, variable_of_while};

/// So many statements of all turns of a loop that is known to have few stand one behind the other
/// instead.
const MOST_APART: i64 = 8;

/// What every counted loop has.
#[derive(Clone)]
pub(super) struct Counted<'k> {
    pub(super) iter: IterId,
    pub(super) around: Loop<'k>,
    pub(super) lower: Value,
    pub(super) upper: Value,
    pub(super) step: i64,
    pub(super) body: &'k [Node],
    /// How several turns are made at once.
    pub(super) group: Option<Group<'k>>,
    /// Extents over parameters alone, which the iterator was found to be below, and not below zero,
    /// in all turns.
    pub(super) in_range: Vec<AffineExpr>,
    /// What its iterator is divided by.
    pub(super) divided: Vec<Divided>,
}

impl<'k> Counted<'k> {
    /// The turns of `around` from `lower` up to `upper`, one by one.
    pub(super) fn of(around: Loop<'k>, (lower, upper): (Value, Value)) -> Self {
        Self {
            iter: around.iter(),
            around,
            lower,
            upper,
            step: around.step(),
            body: around.body(),
            group: None,
            in_range: Vec::new(),
            divided: Vec::new(),
        }
    }

    /// Whether the last turn ends where the loop does, so that the value behind it fits. Groups of
    /// turns are whole.
    pub(super) fn meets_end(&self) -> bool {
        self.step == 1 || self.group.is_some()
    }
}

/// What values of an iterator are compared with.
#[derive(Clone, Copy)]
pub(super) enum Limit {
    Value(Value),
    /// What waits in the frame.
    Kept(InFrame),
}

/// What comes behind a turn of a loop.
pub(super) struct Tail {
    /// The next turn, of these values and that of the iterator.
    pub(super) turn: Block,
    pub(super) carried: Vec<Value>,
    /// What decides whether there is one.
    pub(super) limit: Limit,
    /// Whether the next value fits wherever there is a turn before the limit, so that it is what is
    /// compared: the iterator's own value would have to be kept beside it, in a register that each
    /// turn copies.
    pub(super) next_fits: bool,
    /// What comes behind the last one. It may want what was compared with the limit.
    pub(super) exit: Block,
}

/// Whether no turn of `body` goes on with scalars of the one before. Several sums, turn by turn, go
/// on beside each other; where all turns are known, the code generator makes one sum after the
/// other.
pub(super) fn writes_elements_alone(body: &[Node]) -> bool {
    let mut alone = true;
    walk(body, &mut |node, _| {
        alone &= node
            .places()
            .iter()
            .all(|it| matches!(it, Place::Element(_)));
    });
    alone
}

/// Whether there are loops in `body` that may turn often.
fn runs_loops(body: &[Node]) -> bool {
    let mut runs = false;
    walk(body, &mut |node, _| {
        runs |= match node {
            Node::AffineFor(inner) => !is_short(inner),
            _ => Loop::of(node).is_some(),
        };
    });
    runs
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    pub(super) fn affine_for(&mut self, node: &'k AffineFor) -> Result<(), CompileError> {
        let (lower, upper) = (self.lower_bound(&node.lower), self.upper_bound(&node.upper));
        let (lower, upper) = self.within_columns(node.iter, lower, upper);
        let upper = self.within_rows(node.iter, lower, upper);
        let upper = self.checked_turns(node, lower, upper);
        let group = self.group(Loop::Affine(node));
        let counted = Counted::of(Loop::Affine(node), (lower, upper));
        self.counted(Counted { group, ..counted })
    }

    pub(super) fn scf_for(&mut self, node: &'k ScfFor) -> Result<(), CompileError> {
        if node.body.is_empty() && self.is_looking() {
            self.count_turns(node);
            return Ok(());
        }
        let bounds = (self.expr(&node.lower), self.expr(&node.upper));
        let group = self.group(Loop::Scf(node));
        let counted = Counted::of(Loop::Scf(node), bounds);
        self.counted(Counted { group, ..counted })
    }

    pub(super) fn counted(&mut self, mut counted: Counted<'k>) -> Result<(), CompileError> {
        if self.stage_loop(&counted) {
            return Ok(());
        }
        let done = self.enter(&counted);
        let turns = self.turns(counted.lower, counted.upper, counted.step);
        self.count_updates(counted.body, Some(turns));
        self.forget_set_in(counted.body);
        self.scoped(|function| {
            // A reciprocal is a division itself.
            if function.known_turns(&counted).is_none_or(|it| it > 2) {
                function.keep_reciprocals(Some(counted.iter), counted.body);
            }
            match counted.group.clone() {
                Some(group) => function.groups(&counted, group, done),
                None if let Some(group) = function.checked_row(&counted) => {
                    function.check_row(&counted, group, turns, done)
                }
                None => {
                    counted.in_range = function.check_ahead(&counted);
                    function.one_by_one(&counted, done)
                }
            }
        })?;
        self.builder.switch_to_block(done);
        Ok(())
    }

    /// Goes on where `counted` has a turn at least; where it has none, in the block that comes
    /// behind it.
    pub(super) fn enter(&mut self, counted: &Counted<'k>) -> Block {
        let [preheader, done] = [(); 2].map(|()| self.builder.create_block());
        if self.known_turns(counted).is_some() {
            self.builder.ins().jump(preheader, &[]);
        } else {
            let below = IntCC::SignedLessThan;
            let some = (self.builder.ins()).icmp(below, counted.lower, counted.upper);
            self.builder.ins().brif(some, preheader, &[], done, &[]);
        }
        self.builder.switch_to_block(preheader);
        done
    }

    /// All turns of a loop that runs, none of them together; `done` comes next.
    fn one_by_one(&mut self, counted: &Counted<'k>, done: Block) -> Result<(), CompileError> {
        let held = self.hold_across(counted);
        let behind = match held {
            0 => done,
            _ => self.builder.create_block(),
        };
        match (self.listed(counted), self.known_turns(counted)) {
            (Some(listed), _) => self.listed_turns(counted, &listed, behind)?,
            (None, Some(turns)) if self.are_few(counted, turns) => {
                self.turns_apart(counted, 0..turns)?;
                self.builder.ins().jump(behind, &[]);
            }
            (None, _) => self.looking_turns(counted, behind)?,
        }
        if held > 0 {
            self.builder.switch_to_block(behind);
            self.let_go_across(held);
            self.builder.ins().jump(done, &[]);
        }
        Ok(())
    }

    /// How many turns `counted` has, if both ends are numbers and it has any.
    pub(super) fn known_turns(&self, counted: &Counted<'k>) -> Option<i64> {
        let [lower, upper] = [counted.lower, counted.upper].map(|it| self.constant(it));
        let distance = upper?.checked_sub(lower?)?;
        (distance > 0).then(|| (distance - 1) / counted.step + 1)
    }

    /// The number that `value` is, if it was written as one.
    pub(super) fn constant(&self, value: Value) -> Option<i64> {
        let function = &self.builder.func;
        let made = function.dfg.value_def(value).inst()?;
        match function.dfg.insts[made] {
            InstructionData::UnaryImm {
                opcode: Opcode::Iconst,
                imm,
            } => Some(imm.bits()),
            _ => None,
        }
    }

    /// `value` and `distance` together, a number where that is one.
    pub(super) fn further_on(&mut self, value: Value, distance: i64) -> Value {
        match self.constant(value).and_then(|it| it.checked_add(distance)) {
            Some(number) => self.builder.ins().iconst(types::I64, number),
            None => self.builder.ins().iadd_imm_s(value, distance),
        }
    }

    /// Whether so many turns are not worth a loop.
    fn are_few(&self, counted: &Counted<'k>, turns: i64) -> bool {
        let statements = counted.body.len() as i64;
        self.partials.is_empty()
            && !has_loops(counted.body)
            && turns <= MOST_APART / statements.max(1)
    }

    /// The turns with these numbers, one behind the other.
    pub(super) fn turns_apart(
        &mut self,
        counted: &Counted<'k>,
        turns: Range<i64>,
    ) -> Result<(), CompileError> {
        self.loops.push(counted.around);
        for turn in turns {
            let iter = self.further_on(counted.lower, turn * counted.step);
            self.begin_turn(counted, iter);
            self.nodes(counted.body)?;
            self.forget_turn(counted.iter, counted.body);
        }
        self.loops.pop();
        Ok(())
    }

    /// All turns, with looks at the stop token where there are to be some.
    pub(super) fn looking_turns(
        &mut self,
        counted: &Counted<'k>,
        done: Block,
    ) -> Result<(), CompileError> {
        let counted = &self.with_divided(counted);
        match self.pace(counted) {
            Some(pace) => self.strips(counted, pace, done),
            None => self.all_turns(counted, done),
        }
    }

    pub(super) fn all_turns(
        &mut self,
        counted: &Counted<'k>,
        done: Block,
    ) -> Result<(), CompileError> {
        let tail = self.begin_turns(counted, done);
        self.turn(counted, &tail)
    }

    /// What comes behind each turn of `counted`, of which the first one is next, and then `done`.
    pub(super) fn begin_turns(&mut self, counted: &Counted<'k>, done: Block) -> Tail {
        let turn = self.builder.create_block();
        let limit = self.limit(counted, counted.upper);
        let waits = runs_loops(counted.body) && self.constant(limit).is_none();
        let limit = match waits {
            true => Limit::Kept(self.in_frame(limit)),
            false => Limit::Value(limit),
        };
        let first = [BlockArg::Value(counted.lower)];
        self.builder.ins().jump(turn, &first);
        Tail {
            turn,
            carried: Vec::new(),
            limit,
            next_fits: counted.meets_end(),
            exit: done,
        }
    }

    /// A turn, and what comes behind it.
    pub(super) fn turn(&mut self, counted: &Counted<'k>, tail: &Tail) -> Result<(), CompileError> {
        self.builder.switch_to_block(tail.turn);
        let iter = self.builder.append_block_param(tail.turn, types::I64);
        self.loops.push(counted.around);
        self.turning.push((counted.iter, self.conditions));
        let updates = match counted.group {
            Some(_) => None,
            None => self.turn_of_updates(counted.body),
        };
        match (&counted.group, updates) {
            (None, Some(updates)) => self.turns_of_updates(counted, &updates, iter, tail)?,
            (group, _) => {
                let kept = runs_loops(counted.body).then(|| self.in_frame(iter));
                self.begin_turn(counted, iter);
                match group {
                    Some(group) => self.group_of_turns(group, (counted.iter, counted.body))?,
                    None => {
                        self.prefetch_rows(counted, iter);
                        self.prefetch_gathered(counted, iter);
                        self.begin_divided(counted);
                        self.nodes(counted.body)?;
                    }
                }
                let iter = kept.map_or(iter, |kept| self.kept(kept));
                self.tail(counted, iter, tail);
            }
        }
        self.turning.pop();
        self.loops.pop();
        Ok(())
    }

    /// Makes `iter` the iterator's value in what is lowered next.
    pub(super) fn begin_turn(&mut self, counted: &Counted<'k>, iter: Value) {
        for extent in &counted.in_range {
            self.keep_in_range(iter, extent);
        }
        self.iters.insert(counted.iter, iter);
    }

    pub(super) fn tail(&mut self, counted: &Counted<'k>, iter: Value, tail: &Tail) {
        let next = self.builder.ins().iadd_imm_s(iter, counted.step);
        let limit = match tail.limit {
            Limit::Value(limit) => limit,
            Limit::Kept(at) => self.kept(at),
        };
        let compared = if tail.next_fits { next } else { iter };
        let below = IntCC::SignedLessThan;
        let more = self.builder.ins().icmp(below, compared, limit);
        let again = tail.carried.iter().copied().chain([next]);
        let again: Vec<_> = again.map(BlockArg::Value).collect();
        let left = [BlockArg::Value(compared)];
        let wanted = self.builder.block_params(tail.exit).len().min(left.len());
        let (left, _) = left.split_at(wanted);
        self.builder
            .ins()
            .brif(more, tail.turn, &again, tail.exit, left);
    }

    /// How often a loop that runs at all turns. The difference is taken as unsigned, so it never
    /// overflows.
    pub(super) fn turns(&mut self, lower: Value, upper: Value, step: i64) -> Value {
        let distance = self.builder.ins().isub(upper, lower);
        if step == 1 {
            return distance;
        }
        let last = self.builder.ins().iadd_imm_s(distance, -1);
        let step = self.builder.ins().iconst(types::I64, step);
        let whole = self.builder.ins().udiv(last, step);
        self.builder.ins().iadd_imm_s(whole, 1)
    }

    /// What decides whether there is another turn before `end`. With a step of one the next value
    /// must be below it. With any other the value before the step must: the one after it may not
    /// fit. `end - step` does not wrap, since `end` is raised to where it fits: no value is below
    /// the least.
    pub(super) fn limit(&mut self, counted: &Counted<'k>, end: Value) -> Value {
        if counted.meets_end() {
            return end;
        }
        let step = counted.step;
        let least = self.builder.ins().iconst(types::I64, i64::MIN + step);
        let raised = self.builder.ins().smax(end, least);
        self.builder.ins().iadd_imm_s(raised, -step)
    }

    pub(super) fn scf_while(
        &mut self,
        condition: &'k Expr,
        body: &'k [Node],
    ) -> Result<(), CompileError> {
        let around = self.whiles.len();
        let variable = variable_of_while(self.program.kernel, condition, body);
        (self.whiles).extend(variable.map(|it| (self.loops.len(), it)));
        let outcome = self.turns_while(condition, body);
        self.whiles.truncate(around);
        outcome
    }

    fn turns_while(&mut self, condition: &'k Expr, body: &'k [Node]) -> Result<(), CompileError> {
        let [enter, done] = [(); 2].map(|()| self.builder.create_block());
        let mark = self.jump_on(condition, [enter, done]);
        self.builder.switch_to_block(enter);
        self.keep_reciprocals(None, body);
        let early = self.early_reads(body);
        self.load_early(&early);
        match self.are_within(condition, body, &early) {
            None => self.turn_while((condition, done), body, (&early, Reach::Checked))?,
            Some(are_within) => {
                let [within, checked] = [(); 2].map(|()| self.builder.create_block());
                self.builder
                    .ins()
                    .brif(are_within, within, &[], checked, &[]);
                for (block, reach) in [(within, Reach::Within), (checked, Reach::Checked)] {
                    self.builder.switch_to_block(block);
                    self.scoped(|function| {
                        function.turn_while((condition, done), body, (&early, reach))
                    })?;
                }
            }
        }
        self.forget_since(mark);
        self.builder.switch_to_block(done);
        Ok(())
    }

    /// Turns until `condition` no longer holds, and goes on in `done` then. What turns begin by
    /// reading is loaded already.
    fn turn_while(
        &mut self,
        (condition, done): (&'k Expr, Block),
        body: &'k [Node],
        (early, reach): (&[EarlyRead<'k>], Reach),
    ) -> Result<(), CompileError> {
        let turn = self.builder.create_block();
        let around = self.early.len();
        self.builder.ins().jump(turn, &[]);
        self.forget_set_in(body);
        self.builder.switch_to_block(turn);
        self.begin_early(early, reach);
        self.count_updates(body, None);
        let leave = self.leaving(condition, done);
        if let Some(leave) = leave {
            self.enter_turn(leave);
        }
        let outer = std::mem::replace(&mut self.leave, leave);
        self.nodes(body)?;
        self.leave = outer;
        self.early.truncate(around);
        if !is_bounded(self.program.kernel, condition, body) {
            self.poll_stop();
        }
        self.jump_on(condition, [turn, done]);
        Ok(())
    }
}
