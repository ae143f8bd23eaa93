//! Updates of short loops that all bring the same value, as those along the edges of a vertex do.
//!
//! How often such a loop turns is hard to foretell, and a processor that has foretold it wrongly
//! loses more time than a few updates take. So values are stored first, some at a time without a
//! look at how many are wanted, and put into their lines later, many in one loop. This is done
//! where the ranges of all updates are listed: the keys are not needed.

use super::ahead::changed_inside;
use super::function::{FunctionLowering, offset};
use super::loops::Counted;
use super::sort::LinesValue;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::Variable;
use strew_affine::changed::Changed;
use strew_affine::interpret::Oob;
use strew_affine::visit::{Loop, walk};
use strew_affine::{Expr, Forall, IterId, Node, Place, Private};

/// So many values are put at once: a call is little beside them, and they stay in the nearest
/// cache.
const ENOUGH: i64 = 512;

/// So many are stored without a look: few vertices of a graph with two edges each in the mean have
/// more.
const AT_A_TIME: i64 = 4;

/// A function has no more of such rooms in its frame: a forall inside of another runs on the same
/// stack.
const MOST_ROOMS: usize = 2;

/// Values on their way to their lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Staged {
    /// Their address.
    values: Value,
    /// How many there are.
    count: Variable,
    /// The bytes of one.
    bytes: u32,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Room for values of updates of `private`, if loops are there for which that pays.
    pub(super) fn begin_staged(&mut self, forall: &Forall, private: &Private) -> Option<Staged> {
        let [buffer] = private.buffers.as_slice() else {
            return None;
        };
        let mut pays = false;
        walk(&forall.body, &mut |node, around| {
            // A loop that nothing is around is long.
            let inner = Loop::of(node).filter(|_| !around.is_empty());
            let update = inner.and_then(|it| update_of_one_value(it.iter(), it.body()));
            pays |= matches!(update, Some(([Place::Element(it)], _)) if it.array == *buffer);
        });
        let may = self.program.oob == Oob::Error && self.rooms() < MOST_ROOMS;
        (pays && may).then(|| {
            let bytes = self.program.kernel.arrays[*buffer].element.bytes();
            let values = self.stack((ENOUGH + AT_A_TIME) as usize * bytes as usize);
            let count = self.builder.declare_var(types::I64);
            let none = self.builder.ins().iconst(types::I64, 0);
            self.builder.def_var(count, none);
            Staged {
                values,
                count,
                bytes,
            }
        })
    }

    /// How many buffers have room for values that wait.
    fn rooms(&self) -> usize {
        let rooms = self.lines.iter().filter(|it| it.staged().is_some());
        rooms.count()
    }

    /// Lowers the loop, if its updates all bring one value that can be staged; whether it has.
    pub(super) fn stage_loop(&mut self, counted: &Counted<'k>) -> bool {
        let is_inner = !matches!(self.loops.last(), None | Some(Loop::Forall(_)));
        if !is_inner || self.rooms() == 0 {
            return false;
        }
        let update = update_of_one_value(counted.iter, counted.body);
        // The value is computed also where the loop does not turn.
        let Some((places, value)) = update.filter(|(_, value)| !self.needs_branch(value)) else {
            return false;
        };
        let lines = self.lines_of(places);
        let Some((staged, lines)) = lines.and_then(|it| it.staged().zip(Some(it))) else {
            return false;
        };
        let turns = self.turns_if_any(counted);
        self.count_updates(counted.body, Some(turns));
        let value = self.expr(value);
        self.stage_many((&lines, &staged), value, turns);
        true
    }

    fn turns_if_any(&mut self, counted: &Counted<'k>) -> Value {
        let (lower, upper) = (counted.lower, counted.upper);
        let turns = self.turns(lower, upper, counted.step);
        let none = self.builder.ins().iconst(types::I64, 0);
        let some = self.builder.ins().icmp(IntCC::SignedLessThan, lower, upper);
        self.builder.ins().select(some, turns, none)
    }

    /// Stores `value` for each of the next `turns` updates, of which there need not be any.
    fn stage_many(&mut self, (lines, staged): (&LinesValue, &Staged), value: Value, turns: Value) {
        let [some, done] = [(); 2].map(|()| self.builder.create_block());
        let left = self.builder.append_block_param(some, types::I64);
        self.builder.ins().jump(some, &[BlockArg::Value(turns)]);
        self.builder.switch_to_block(some);
        let most = self.builder.ins().iconst(types::I64, AT_A_TIME);
        let stored = self.builder.ins().umin(left, most);
        self.store_staged(staged, value, AT_A_TIME);
        self.stage(lines, staged, stored);
        let left = self.builder.ins().isub(left, stored);
        let again = [BlockArg::Value(left)];
        self.builder.ins().brif(left, some, &again, done, &[]);
        self.builder.switch_to_block(done);
    }

    /// Stages the value of one update.
    pub(super) fn stage_one(&mut self, lines: &LinesValue, staged: &Staged, value: Value) {
        self.store_staged(staged, value, 1);
        let one = self.builder.ins().iconst(types::I64, 1);
        self.stage(lines, staged, one);
    }

    fn store_staged(&mut self, staged: &Staged, value: Value, times: i64) {
        let count = self.builder.use_var(staged.count);
        let at = self.behind(staged.values, count, staged.bytes);
        let flags = MemFlagsData::trusted();
        for number in 0..times as usize {
            let displacement = offset(number * staged.bytes as usize);
            self.builder.ins().store(flags, value, at, displacement);
        }
    }

    /// Counts `stored` more values, and puts all into their lines if they are many. Such loops do
    /// not look at the stop token otherwise.
    fn stage(&mut self, lines: &LinesValue, staged: &Staged, stored: Value) {
        let [full, go_on] = [(); 2].map(|()| self.builder.create_block());
        let count = self.builder.use_var(staged.count);
        let count = self.builder.ins().iadd(count, stored);
        self.builder.def_var(staged.count, count);
        let enough = IntCC::UnsignedGreaterThanOrEqual;
        let is_enough = self.builder.ins().icmp_imm_u(enough, count, ENOUGH);
        self.builder.ins().brif(is_enough, full, &[], go_on, &[]);
        self.builder.set_cold_block(full);
        self.builder.switch_to_block(full);
        self.put_staged(lines, staged);
        self.poll_stop();
        self.builder.ins().jump(go_on, &[]);
        self.builder.switch_to_block(go_on);
    }

    /// Puts all values into their lines.
    pub(super) fn put_staged(&mut self, lines: &LinesValue, staged: &Staged) {
        let count = self.builder.use_var(staged.count);
        let none = self.builder.ins().iconst(types::I64, 0);
        self.builder.def_var(staged.count, none);
        let bytes = i64::from(staged.bytes);
        let bytes = self.builder.ins().iconst(types::I64, bytes);
        let arguments = [self.call, lines.address(), staged.values, count, bytes];
        self.call_or_leave(self.program.put_values, &arguments);
    }
}

/// The place of the update that `body`, of a loop over `iter`, consists of, and its value, if that
/// is the same in all turns. What the body declares before are parts of the key.
fn update_of_one_value(iter: IterId, body: &[Node]) -> Option<(&[Place], &Expr)> {
    let (Node::Reduce { places, values, .. }, before) = body.split_last()? else {
        return None;
    };
    let ([Place::Element(access)], [value]) = (places.as_slice(), values.as_slice()) else {
        return None;
    };
    let is_of_key = |node: &Node| match node {
        Node::Declare { local, .. } => {
            let around = Changed::of_local(*local);
            !access.subscripts.iter().all(|it| around.stays(it))
        }
        _ => false,
    };
    let is_one = changed_inside(iter, body).expr_stays(value) && before.iter().all(is_of_key);
    is_one.then_some((places, value))
}
