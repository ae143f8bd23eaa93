//! Loops in lanes that are known to have few turns are no loops.

use super::Group;
use super::gather::Gathered;
use crate::CompileError;
use crate::lower::function::FunctionLowering;
use crate::lower::loops::{Counted, writes_elements_alone};
use cranelift_codegen::ir::{Block, InstBuilder, types};
use std::ops::Range;
use strew_affine::lanes::{Lanes, VECTOR_BYTES};
use strew_affine::visit::walk;
use strew_affine::{Node, Type};

/// So many groups of a loop without sums stand one behind the other instead of in a loop.
const MOST_GROUPS: i64 = 4;

/// Whether turns update what others update, too: lanes may gather that, and all of them together
/// make one sum.
fn has_sums(body: &[Node], group: &Group<'_>) -> bool {
    let mut any = !writes_elements_alone(body);
    walk(body, &mut |node, _| {
        any |= node
            .written_elements()
            .any(|it| !group.lanes.is_varying(it));
    });
    any
}

impl Group<'_> {
    /// Whether so many turns of `body` are few groups and what is left over.
    pub(super) fn are_few(&self, body: &[Node], turns: i64) -> bool {
        let count = i64::from(self.count);
        // Statements that are made turn by turn take other places by turns in lanes than behind
        // them.
        let are_few = self.is_whole(body)
            && !self.lanes.has_loops()
            && turns / count <= MOST_GROUPS
            && !has_sums(body, self);
        turns == count || are_few
    }

    /// Whether all of `body` is made in vectors.
    pub(super) fn is_whole(&self, body: &[Node]) -> bool {
        self.lanes.split(body).1.is_empty()
    }
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// How many turns `counted` has, if it is known that they are few groups and what is left over.
    pub(super) fn few_turns(&self, counted: &Counted<'k>, group: &Group<'k>) -> Option<i64> {
        let turns = self.known_turns(counted);
        turns.filter(|it| group.are_few(counted.body, *it))
    }

    /// So many turns, in groups as long as there are enough of them, then in narrower ones, then
    /// one by one.
    pub(super) fn few_groups(
        &mut self,
        counted: &Counted<'k>,
        mut group: Group<'k>,
        turns: i64,
        done: Block,
    ) -> Result<(), CompileError> {
        let mut made = 0;
        loop {
            let count = i64::from(group.count);
            let behind = made + (turns - made) / count * count;
            if behind > made {
                self.whole_groups(counted, &mut group, made..behind, (turns, done))?;
                made = behind;
            }
            // Loops with sums have no other turns than those of one group.
            match self.narrower(counted, &group, turns - made) {
                Some(next) => group = next,
                None => break,
            }
        }
        self.turns_apart(counted, made..turns)?;
        self.builder.ins().jump(done, &[]);
        Ok(())
    }

    /// The turns `made`, counted from the first one of the loop, which fill groups. Where an
    /// element of theirs may be out of range, they and all behind them, up to `all`, run one by
    /// one, and `done` comes next.
    fn whole_groups(
        &mut self,
        counted: &Counted<'k>,
        group: &mut Group<'k>,
        made: Range<i64>,
        (all, done): (i64, Block),
    ) -> Result<(), CompileError> {
        let mark = self.mark();
        let [one_by_one, behind] = [(); 2].map(|()| self.builder.create_block());
        self.builder.append_block_param(one_by_one, types::I64);
        let first = self.further_on(counted.lower, made.start);
        let turns = (self.builder.ins()).iconst(types::I64, made.end - made.start);
        let these = Counted {
            lower: first,
            ..counted.clone()
        };
        self.prepare(&these, (turns, one_by_one), group);
        self.forget_turn(counted.iter, counted.body);
        let gathered = self.begin_gathering(counted.body, group);
        let updates = self.builder.use_var(self.updates);
        self.loops.push(counted.around);
        for turn in made.clone().step_by(group.count as usize) {
            let iter = self.further_on(counted.lower, turn);
            self.begin_turn(counted, iter);
            self.group_of_turns(group, (counted.iter, counted.body))?;
            self.forget_turn(counted.iter, counted.body);
        }
        self.loops.pop();
        let is_left = group.looks_ahead() || gathered.iter().any(Gathered::is_in_doubt);
        self.end_gathering(gathered, (&these, group), (one_by_one, updates))?;
        if is_left {
            self.builder.ins().jump(behind, &[]);
            self.forget_since(mark);
            self.builder.switch_to_block(one_by_one);
            self.turns_in_memory(counted, made.start..all)?;
            self.builder.ins().jump(done, &[]);
            self.forget_since(mark);
            self.builder.switch_to_block(behind);
        }
        Ok(())
    }

    /// A group of `turns` turns, or of as many of them as fill vectors.
    fn narrower(&self, counted: &Counted<'k>, group: &Group<'k>, turns: i64) -> Option<Group<'k>> {
        let count = 1 << u32::try_from(turns).ok()?.checked_ilog2()?;
        let types = group.lanes.types(group.lanes.split(counted.body).0);
        let widest = types.into_iter().map(Type::bytes).max()?;
        let fills = count < group.count && count * widest >= VECTOR_BYTES;
        fills.then(|| self.of_lanes(counted, group, count))?
    }

    fn of_lanes(&self, counted: &Counted<'k>, group: &Group<'k>, count: u32) -> Option<Group<'k>> {
        let lanes = Lanes::of(self.program.kernel, counted.around, count).ok()?;
        Some(Group::new(lanes, count, group.reach, group.may_begin_again))
    }

    /// A group of the fewest turns that fill a vector of each type, for what is left over where
    /// turns take as long as loops do.
    pub(super) fn narrowest(&self, counted: &Counted<'k>, group: &Group<'k>) -> Option<Group<'k>> {
        let types = group.lanes.types(group.lanes.split(counted.body).0);
        let narrowest = types.into_iter().map(Type::bytes).min()?;
        let count = VECTOR_BYTES / narrowest;
        let is_narrower = group.lanes.has_loops() && count < group.count;
        is_narrower.then(|| self.of_lanes(counted, group, count))?
    }
}
