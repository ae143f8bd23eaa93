//! Loops of which an owner of rows makes only the turns that update its own: which they are is
//! listed first, some turns at a time.
//!
//! Every other row is somebody else's, in an order that no processor foresees: a jump for each turn
//! would be foretold wrongly half of the time, and what it led to be thrown away. To list turns
//! takes no jump. And since the rows of later turns are then known, memory can be asked for those
//! that are the owner's.

use super::function::FunctionLowering;
use super::loops::Counted;
use super::prefetch::FarRows;
use super::rows::Owner;
use crate::CompileError;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Value, types};
use std::collections::BTreeSet;
use strew_affine::interpret::Oob;
use strew_affine::visit::{Loop, walk};
use strew_affine::{Access, IterId, LocalId, Node, Place};

/// So many turns are listed at a time: their list stays in the first cache.
const LISTED: i64 = 256;

/// The bytes of an entry, the iterator's value.
const ENTRY: i64 = size_of::<i64>() as i64;

/// So many entries ahead rows are asked for.
const AHEAD: i64 = 8;

/// A loop whose turns are listed.
pub(super) struct Listed {
    /// The loop over columns in it.
    inner: IterId,
    /// What that updates, as it can be known before the turn.
    row: Access,
    /// What it reads that lies in rows of its own.
    read: Vec<Access>,
}

/// The values that are the same in all turns.
struct List {
    owner: Owner,
    /// Where the entries are.
    entries: Value,
    updated: Option<FarRows>,
    read: Vec<(Access, FarRows)>,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// How to list the turns of `counted`, if a turn whose row is somebody else's does nothing.
    pub(super) fn listed(&mut self, counted: &Counted<'k>) -> Option<Listed> {
        let is_affine = matches!(counted.around, Loop::Affine(_));
        let is_plain = is_affine && counted.step == 1 && self.program.oob == Oob::Error;
        if !is_plain || self.rows.owner.is_none() {
            return None;
        }
        let mut inner = Vec::new();
        walk(counted.body, &mut |node, _| {
            let found = Loop::of(node).map(Loop::iter);
            inner.extend(found.filter(|it| self.rows.loops.contains_key(it)));
        });
        // What is proved of its keys is so inside of the loop.
        self.loops.push(counted.around);
        let rows = self.later_rows(counted);
        let read = self.read_rows(counted);
        self.loops.pop();
        let ([inner], [row]) = (inner.as_slice(), rows.as_slice()) else {
            return None;
        };
        let is_whole = sets_nothing_around(counted.body);
        is_whole.then(|| Listed {
            inner: *inner,
            row: row.clone(),
            read,
        })
    }

    /// The owner's own turns of `counted`, in their order.
    pub(super) fn listed_turns(
        &mut self,
        counted: &Counted<'k>,
        listed: &Listed,
        done: Block,
    ) -> Result<(), CompileError> {
        let Some(owner) = self.rows.owner else {
            return self.looking_turns(counted, done);
        };
        let read = listed.read.iter().filter_map(|row| {
            let far = self.far_read(row)?;
            Some((row.clone(), far))
        });
        let list = List {
            owner,
            read: read.collect(),
            updated: self.far_updated(&listed.row),
            entries: self.stack((LISTED * ENTRY) as usize),
        };
        let worked = self.begin_work(counted);
        let [begin, next] = [(); 2].map(|()| self.builder.create_block());
        let first = [BlockArg::Value(counted.lower)];
        self.builder.ins().jump(begin, &first);
        self.builder.switch_to_block(begin);
        let first = self.builder.append_block_param(begin, types::I64);
        let end = self.end_of_list(counted, first);
        let behind = self.list(counted, listed, &list, [first, end]);
        self.own_turns(counted, listed, &list, (behind, next))?;
        self.builder.switch_to_block(next);
        if worked {
            let listed = self.builder.ins().iconst(types::I64, LISTED);
            self.add_work(counted, listed);
        }
        self.poll_stop();
        let more = self
            .builder
            .ins()
            .icmp(IntCC::SignedLessThan, end, counted.upper);
        let again = [BlockArg::Value(end)];
        self.builder.ins().brif(more, begin, &again, done, &[]);
        Ok(())
    }

    /// The value behind the turns that are listed together from `first` on.
    fn end_of_list(&mut self, counted: &Counted<'k>, first: Value) -> Value {
        let left = self.builder.ins().isub(counted.upper, first);
        let most = self.builder.ins().iconst(types::I64, LISTED);
        let turns = self.builder.ins().umin(left, most);
        self.builder.ins().iadd(first, turns)
    }

    /// Lists the own turns from `first` on and before `end`, which is behind it; what comes behind
    /// the last entry.
    fn list(
        &mut self,
        counted: &Counted<'k>,
        listed: &Listed,
        list: &List,
        [first, end]: [Value; 2],
    ) -> Value {
        let [turn, behind] = [(); 2].map(|()| self.builder.create_block());
        let begin = [first, list.entries].map(BlockArg::Value);
        self.builder.ins().jump(turn, &begin);
        self.builder.switch_to_block(turn);
        let iter = self.builder.append_block_param(turn, types::I64);
        let entry = self.builder.append_block_param(turn, types::I64);
        self.iters.insert(counted.iter, iter);
        let is_own = self.scoped(|function| {
            let number = function.row_number(&listed.row);
            function.is_own(number, list.owner)
        });
        let flags = MemFlagsData::trusted();
        let ins = &mut self.builder;
        ins.ins().store(flags, iter, entry, 0);
        let is_own = ins.ins().uextend(types::I64, is_own);
        let bytes = ins.ins().imul_imm_s(is_own, ENTRY);
        let entry = ins.ins().iadd(entry, bytes);
        let iter = ins.ins().iadd_imm_s(iter, 1);
        let more = ins.ins().icmp(IntCC::SignedLessThan, iter, end);
        let again = [iter, entry].map(BlockArg::Value);
        ins.ins().brif(more, turn, &again, behind, &[]);
        self.builder.switch_to_block(behind);
        entry
    }

    /// The turns that are listed in front of `behind`; `next` comes then.
    fn own_turns(
        &mut self,
        counted: &Counted<'k>,
        listed: &Listed,
        list: &List,
        (behind, next): (Value, Block),
    ) -> Result<(), CompileError> {
        let turn = self.builder.create_block();
        let less = IntCC::UnsignedLessThan;
        let some = self.builder.ins().icmp(less, list.entries, behind);
        let first = [BlockArg::Value(list.entries)];
        self.builder.ins().brif(some, turn, &first, next, &[]);
        self.builder.switch_to_block(turn);
        let entry = self.builder.append_block_param(turn, types::I64);
        self.ask_ahead(counted, listed, list, (entry, behind));
        let iter = self.entry(entry);
        self.loops.push(counted.around);
        self.begin_turn(counted, iter);
        self.rows.decided = Some(listed.inner);
        self.scoped(|function| function.nodes(counted.body))?;
        self.rows.decided = None;
        self.loops.pop();
        let entry = self.builder.ins().iadd_imm_s(entry, ENTRY);
        let more = self.builder.ins().icmp(less, entry, behind);
        let again = [BlockArg::Value(entry)];
        self.builder.ins().brif(more, turn, &again, next, &[]);
        Ok(())
    }

    /// Asks for what the turn [`AHEAD`] entries after `entry` needs, if that is in front of
    /// `behind`.
    fn ask_ahead(
        &mut self,
        counted: &Counted<'k>,
        listed: &Listed,
        list: &List,
        (entry, behind): (Value, Value),
    ) {
        let ahead = self.builder.ins().iadd_imm_s(entry, AHEAD * ENTRY);
        let less = IntCC::UnsignedLessThan;
        let is_there = self.builder.ins().icmp(less, ahead, behind);
        self.ask_where(is_there, |function| {
            let turns = [entry, ahead].map(|it| function.entry(it));
            if let Some(far) = &list.updated {
                function.ask_where(far.pays, |function| {
                    function.ask_for_updated(&listed.row, far, counted, turns);
                });
            }
            for (row, far) in &list.read {
                function.ask_where(far.pays, |function| {
                    function.ask_for_read(row, far, counted, turns);
                });
            }
        });
    }

    fn entry(&mut self, at: Value) -> Value {
        let flags = MemFlagsData::trusted();
        self.builder.ins().load(types::I64, flags, at, 0)
    }
}

/// Whether `body` sets no scalars but those that it declares, so that nothing misses a turn that is
/// left out.
fn sets_nothing_around(body: &[Node]) -> bool {
    let mut declared: BTreeSet<LocalId> = BTreeSet::new();
    let mut sets_own = true;
    walk(body, &mut |node, _| {
        if let Node::Declare { local, .. } = node {
            declared.insert(*local);
        }
        let mut places = node.places().iter();
        sets_own &= places.all(|place| match place {
            Place::Local(local) => declared.contains(local),
            Place::Element(_) => true,
        });
    });
    sets_own
}
