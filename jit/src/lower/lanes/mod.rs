//! Loops of which several iterations run at once, in the lanes of vectors: groups of whole vectors
//! first, then one by one what is left.
//!
//! What a group checks does not differ between its lanes, so the first fault in the order of the
//! loop is still the first: subscripts that go along with the lanes were proved before the call, or
//! are looked at before the first group, for all of them; with loops inside they were proved, and
//! what is the same in all lanes is checked where it stands. Where one may be out of range, and
//! where updates do not just go to memory, the loop runs as if nothing had been said of lanes.

mod across;
mod ahead;
mod alike;
mod checked;
mod counts;
mod distance;
mod elected;
mod few;
mod gather;
mod held;
mod inner;
mod looked;
mod one_by_one;
mod picked;
mod quotient;
mod settle;
mod stored;
mod transposed;
mod value;
mod vectors;

use super::access::Element;
use super::function::FunctionLowering;
use super::loops::Counted;
use crate::CompileError;
pub(super) use across::Across;
use ahead::{Reach, Turns};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Value, types};
use gather::{Gathered, InRegisters};
use looked::Key;
pub(super) use one_by_one::Behind;
use one_by_one::OneByOne;
use settle::Progress;
use std::collections::BTreeMap;
pub(super) use stored::InMemory;
use strew_affine::interpret::Oob;
use strew_affine::lanes::Lanes;
use strew_affine::visit::{Loop, walk};
use strew_affine::{Access, AffineExpr, Expr, IterId, Node, Place};
use vectors::Vectors;

/// The most bytes that a row is displaced by.
const MOST_DISPLACED: u32 = 1 << 30;

/// What a turn that makes several iterations needs.
#[derive(Clone, Debug)]
pub(super) struct Group<'k> {
    lanes: Lanes<'k>,
    count: u32,
    /// What is the same in all turns, by the expression.
    known: BTreeMap<*const Expr, Value>,
    /// What each lane has gathered, vector by vector, of what updates of which it can, by their
    /// places.
    gathered: BTreeMap<*const Place, InRegisters>,
    /// Where the elements would be of which the iterator is 0, by the access.
    rows: BTreeMap<*const Access, Row<'k>>,
    reach: Reach,
    /// Whether all turns may be made again when lanes have gathered what they update.
    may_begin_again: bool,
    /// What subscripts are in the first turn that were found to be below an extent in all turns.
    looked: Vec<(Value, AffineExpr)>,
    /// Extents over parameters alone, which the iterator was found to be below, and not below zero,
    /// in all turns.
    in_range: Vec<AffineExpr>,
}

impl<'k> Group<'k> {
    fn new(lanes: Lanes<'k>, count: u32, reach: Reach, may_begin_again: bool) -> Self {
        Self {
            lanes,
            count,
            known: BTreeMap::new(),
            gathered: BTreeMap::new(),
            rows: BTreeMap::new(),
            reach,
            may_begin_again,
            looked: Vec::new(),
            in_range: Vec::new(),
        }
    }

    /// Whether it is looked at before the groups that elements of all turns are in range.
    fn looks_ahead(&self) -> bool {
        self.reach == Reach::Ahead
    }
}

/// What the iterator, counted in elements, is to be added to.
#[derive(Clone, Copy, Debug)]
struct Row<'k> {
    of: &'k Access,
    /// Where the element of the first turn is.
    first: Value,
    address: Value,
    displacement: i32,
    flags: MemFlagsData,
    /// Bytes from the element of one turn to that of the next, where those do not follow each
    /// other.
    stride: Option<Value>,
}

/// Where the elements of a group begin.
#[derive(Clone, Copy, Debug)]
struct First {
    /// That of the first lane, but for the displacement.
    address: Value,
    displacement: i32,
    flags: MemFlagsData,
    /// Bytes from the element of one lane to that of the next, where those do not follow each
    /// other.
    stride: Option<Value>,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// How to run `node` in lanes, where it says so and that is the same.
    pub(super) fn group(&self, around: Loop<'k>) -> Option<Group<'k>> {
        let count = around.lanes();
        if count == 1 || !self.is_in_lanes() {
            return None;
        }
        let lanes = Lanes::of(self.program.kernel, around, count).ok()?;
        let (together, _) = lanes.split(around.body());
        let mut is_safe = true;
        let may_begin_again = self.may_begin_again(&lanes, around.body());
        walk(together, &mut |it, _| {
            let places = it.places();
            is_safe &= self.pages.is_empty()
                || !lanes.has_loops() && it.written_elements().all(|it| !lanes.is_strided(it));
            is_safe &= self.goes_to_memory(places) || self.is_one_in_run(&lanes, places);
            is_safe &= self.may_choose(&lanes, (around, may_begin_again), it);
        });
        let reach = is_safe.then(|| self.reach_of(&lanes, around)).flatten()?;
        Some(Group::new(lanes, count, reach, may_begin_again))
    }

    /// Whether this code makes anything in lanes: not where statements may be skipped, or each
    /// write is looked at.
    fn is_in_lanes(&self) -> bool {
        let is_looked_after = !self.disjoint.is_empty() || !self.marks.is_empty();
        self.program.oob == Oob::Error && !is_looked_after
    }

    /// Whether lanes may gather what `statement` of the loop `around` updates on one side of a
    /// condition: both sides are computed.
    fn may_choose(
        &self,
        lanes: &Lanes<'_>,
        (around, may_begin_again): (Loop<'_>, bool),
        statement: &Node,
    ) -> bool {
        let mut inside = statement.blocks().flatten();
        inside.all(|it| match it {
            Node::Reduce {
                places, combiner, ..
            } => {
                let gathering = lanes.gathering(places, combiner);
                gathering.is_none_or(|it| {
                    self.may_gather(lanes, around.body(), places, &it, may_begin_again)
                })
            }
            _ => true,
        })
    }

    /// Whether `places` are an element that is held in a register, the same one in all lanes.
    fn is_one_in_run(&self, lanes: &Lanes<'_>, places: &[Place]) -> bool {
        self.run_of(places).is_some() && places.iter().all(|it| lanes.is_one_element(it))
    }

    pub(in crate::lower) fn goes_to_memory(&self, places: &[Place]) -> bool {
        self.stream_of(places).is_none()
            && self.lines_of(places).is_none()
            && !self.is_only_checked(places)
            && self.run_of(places).is_none()
            && self.partials_of(places).is_none()
            && self.within_of(places).is_none()
            && self.tables_of(places).is_none()
            && !self.is_shared(places)
            && !self.are_idle(places)
    }

    /// The turns of `counted` in groups, then what is left; `done` comes next.
    pub(super) fn groups(
        &mut self,
        counted: &Counted<'k>,
        mut group: Group<'k>,
        done: Block,
    ) -> Result<(), CompileError> {
        if let Some(turns) = self.few_turns(counted, &group) {
            return self.few_groups(counted, group, turns, done);
        }
        let [whole, rest] = [(); 2].map(|()| self.builder.create_block());
        let next = self.builder.append_block_param(rest, types::I64);
        let ins = &mut self.builder;
        let distance = ins.ins().isub(counted.upper, counted.lower);
        // A power of two, and the distance is taken as unsigned.
        let grouped = ins.ins().band_imm_s(distance, -i64::from(group.count));
        let from_first = [BlockArg::Value(counted.lower)];
        ins.ins().brif(grouped, whole, &[], rest, &from_first);
        ins.switch_to_block(whole);
        let left_over = ins.ins().band_imm_s(distance, i64::from(group.count) - 1);
        // As a sum of constants it would be computed again in every turn.
        let middle = ins.ins().isub(counted.upper, left_over);
        // What is known inside of the groups is not behind them, since there may be none.
        self.scoped(|function| {
            function.turning.push((counted.iter, function.conditions));
            function.prepare(counted, (grouped, rest), &mut group);
            function.forget_turn(counted.iter, counted.body);
            function.turning.pop();
            let gathered = function.begin_gathering(counted.body, &mut group);
            let by = gathered.iter().filter_map(Gathered::elects_by);
            function.leave_if_uncounted(counted, rest, by);
            let updates = function.builder.use_var(function.updates);
            let groups = Counted {
                upper: middle,
                step: i64::from(group.count),
                group: Some(group.clone()),
                ..counted.clone()
            };
            let behind = function.builder.create_block();
            function.looking_turns(&groups, behind)?;
            function.builder.switch_to_block(behind);
            function.end_gathering(gathered, (counted, &group), (rest, updates))?;
            let from_middle = [BlockArg::Value(middle)];
            let ins = function.builder.ins();
            ins.brif(left_over, rest, &from_middle, done, &[]);
            Ok::<_, CompileError>(())
        })?;
        self.builder.switch_to_block(rest);
        let mut one_by_one = Counted {
            lower: next,
            group: None,
            ..counted.clone()
        };
        if let Some(narrowest) = self.narrowest(counted, &group) {
            return self.groups(&one_by_one, narrowest, done);
        }
        one_by_one.in_range = self.check_ahead(&one_by_one);
        self.all_turns(&one_by_one, done)
    }

    /// Computes what does not differ between turns, in the order in which the first turn does: what
    /// fails there fails here. Goes on in `otherwise`, with the first turn, where an element of the
    /// `turns` may be out of range.
    fn prepare(
        &mut self,
        counted: &Counted<'k>,
        (turns, otherwise): (Value, Block),
        group: &mut Group<'k>,
    ) {
        // What fails in a loop inside comes before what fails behind it.
        if group.lanes.has_loops() {
            return;
        }
        self.iters.insert(counted.iter, counted.lower);
        self.loops.push(counted.around);
        let (together, _) = group.lanes.split(counted.body);
        let these = Turns {
            first: counted.lower,
            count: turns,
            otherwise,
            body: together,
        };
        for node in together {
            match node {
                Node::Declare { local, value } if !group.lanes.is_own(*local) => {
                    self.declare(*local, value);
                }
                _ => self.prepare_statement(node, &these, group),
            }
            self.declare_along(node, group);
        }
        self.loops.pop();
    }

    /// Declares what `node` does, if that goes along with the lanes: subscripts may want its value
    /// in the first turn.
    fn declare_along(&mut self, node: &'k Node, group: &Group<'k>) {
        if let Node::Declare { local, value } = node
            && group.looks_ahead()
            && group.lanes.is_own(*local)
            && group.lanes.goes_along(value)
        {
            self.declare(*local, value);
        }
    }

    fn prepare_statement(&mut self, node: &'k Node, turns: &Turns<'k>, group: &mut Group<'k>) {
        for expr in node.expressions() {
            self.prepare_expr(expr, turns, group);
        }
        for access in node.written_elements() {
            if !group.lanes.is_varying(access) {
                continue;
            }
            self.prepare_row(access, turns, group);
            self.reach_row(access, turns.count, group);
        }
        for inner in node.blocks().flatten() {
            self.prepare_statement(inner, turns, group);
        }
    }

    fn prepare_expr(&mut self, expr: &'k Expr, turns: &Turns<'k>, group: &mut Group<'k>) {
        if !group.lanes.varies(expr) {
            self.is_preparing = true;
            let value = self.expr(expr);
            self.is_preparing = false;
            group.known.insert(expr, value);
            return;
        }
        match expr {
            Expr::Load(access) if group.lanes.is_picked(access) => {
                self.prepare_picked(access, turns, group);
            }
            Expr::Load(access) => self.prepare_row(access, turns, group),
            _ => {}
        }
        for operand in expr.operands() {
            self.prepare_expr(operand, turns, group);
        }
    }

    /// Sees to it that `turns` elements of a private buffer hold something.
    fn reach_row(&mut self, access: &Access, turns: Value, group: &Group<'k>) {
        let row = group.rows.get(&std::ptr::from_ref(access)).copied();
        let Some(row) = row.filter(|_| !self.pages.is_empty()) else {
            return;
        };
        let bytes = i64::from(self.program.kernel.arrays[access.array].element.bytes());
        let bytes = self.builder.ins().imul_imm_s(turns, bytes);
        self.reach_all(access.array, row.first, bytes);
    }

    fn prepare_row(&mut self, access: &'k Access, turns: &Turns<'k>, group: &mut Group<'k>) {
        self.look_ahead(access, turns, group);
        if let Some(row) = self.row_beside(access, group) {
            group.rows.insert(access, row);
            return;
        }
        let first = turns.first;
        let bytes = self.program.kernel.arrays[access.array].element.bytes();
        let element = self.element(access);
        let known = self.known_stride(access, group);
        let is_strided = group.lanes.is_strided(access);
        let stride =
            known.or_else(|| is_strided.then(|| self.stride(access, (&element, first), group)));
        let (address, displacement) = match stride {
            Some(stride) => {
                let before = self.builder.ins().imul(first, stride);
                let address = self.builder.ins().isub(element.address, before);
                (address, element.displacement)
            }
            None => self.back((element.address, element.displacement), first, bytes),
        };
        let (address, displacement) = self.with_room(address, displacement);
        let row = Row {
            of: access,
            first: self.whole_address(&element),
            address,
            displacement,
            flags: unaligned(element.flags),
            stride,
        };
        group.rows.insert(access, row);
    }

    /// The row of `access`, if elements of one of the same array that is known lie a known distance
    /// from its own, those of turns at one that is no number: what both load of a block is then
    /// seen to be the same.
    fn row_beside(&mut self, access: &'k Access, group: &Group<'k>) -> Option<Row<'k>> {
        let is_far = group.lanes.is_strided(access) && group.lanes.distance(access).is_none();
        let bytes = i64::from(self.program.kernel.arrays[access.array].element.bytes());
        let rows = group.rows.values();
        let beside = rows.filter(|it| is_far && it.of.array == access.array);
        let beside = beside.filter_map(|it| {
            let behind = group.lanes.behind(it.of, access)?.checked_mul(bytes)?;
            let displacement = i64::from(it.displacement).checked_add(behind)?;
            let is_near = displacement.unsigned_abs() <= u64::from(MOST_DISPLACED);
            is_near.then_some((*it, behind))
        });
        // They come in no order.
        let (known, behind) = beside.min_by_key(|(_, behind)| *behind)?;
        // That the other element is there says nothing of this one.
        self.check_access(access);
        Some(Row {
            of: access,
            first: self.builder.ins().iadd_imm_s(known.first, behind),
            displacement: known.displacement + behind as i32,
            ..known
        })
    }

    /// What lies `displacement` bytes behind `address`. Vectors and lanes behind it have room in
    /// the displacement, too.
    fn with_room(&mut self, address: Value, displacement: i32) -> (Value, i32) {
        if displacement.unsigned_abs() <= MOST_DISPLACED {
            return (address, displacement);
        }
        let displacement = i64::from(displacement);
        (self.builder.ins().iadd_imm_s(address, displacement), 0)
    }

    /// Bytes from an element of `access` to that of the next turn, if these do not follow each
    /// other and lie at a distance that is a number.
    fn known_stride(&mut self, access: &Access, group: &Group<'k>) -> Option<Value> {
        let bytes = self.program.kernel.arrays[access.array].element.bytes();
        let is_strided = group.lanes.is_strided(access);
        let elements = is_strided.then(|| group.lanes.distance(access))??;
        let bytes = elements.wrapping_mul(i64::from(bytes));
        Some(self.builder.ins().iconst(types::I64, bytes))
    }

    /// Bytes from `element`, that of `access` in the turn `first`, to the one of the next turn.
    fn stride(
        &mut self,
        access: &'k Access,
        (element, first): (&Element, Value),
        group: &Group<'k>,
    ) -> Value {
        let iter = group.lanes.iter();
        let next = self.builder.ins().iadd_imm_s(first, 1);
        self.iters.insert(iter, next);
        self.forget_turn(iter, &[]);
        let next = self.element(access);
        self.forget_turn(iter, &[]);
        self.iters.insert(iter, first);
        let [here, next] = [element, &next].map(|it| self.whole_address(it));
        self.builder.ins().isub(next, here)
    }

    /// What lies `elements` elements of `bytes` bytes in front of `displacement` bytes behind
    /// `address`. A number of them that is known goes into the displacement: taken from the
    /// address, it would be so again in every turn.
    fn back(
        &mut self,
        (address, displacement): (Value, i32),
        elements: Value,
        bytes: u32,
    ) -> (Value, i32) {
        let known = self.constant(elements);
        let known = known.and_then(|it| i32::try_from(it.checked_mul(i64::from(bytes))?).ok());
        if let Some(known) = known.and_then(|it| displacement.checked_sub(it)) {
            return (address, known);
        }
        let before = self.builder.ins().imul_imm_s(elements, i64::from(bytes));
        (self.builder.ins().isub(address, before), displacement)
    }

    /// The statements of a group of turns.
    pub(super) fn group_of_turns(
        &mut self,
        group: &Group<'k>,
        (iter, body): (IterId, &'k [Node]),
    ) -> Result<(), CompileError> {
        let (_, in_turn) = group.lanes.split(body);
        self.with_offsets_of_lanes(in_turn, |function| {
            let keys = function.keys_to_look_at(in_turn, group);
            let one_by_one = function.in_vectors(group, (iter, body), &keys);
            match in_turn.is_empty() {
                true => Ok(()),
                false => function.lanes_one_by_one(&one_by_one),
            }
        })
    }

    /// Makes the statements that are made in vectors, and looks at `keys`; what is left.
    fn in_vectors<'g>(
        &mut self,
        group: &'g Group<'k>,
        (iter, body): (IterId, &'k [Node]),
        keys: &[Key<'k>],
    ) -> OneByOne<'g, 'k> {
        let (together, in_turn) = group.lanes.split(body);
        let locals = self.with_offsets_of_lanes(together, |function| {
            let mut vectors = Vectors {
                function,
                group,
                iter,
                together,
                locals: BTreeMap::new(),
                held: Vec::new(),
                progress: Progress::default(),
                looked: Vec::new(),
                meant: None,
                keys,
            };
            together.iter().for_each(|node| vectors.statement(node));
            vectors.store_held(|_| true);
            vectors.locals
        });
        let looked = self.look_at_keys(keys, &locals);
        let stored = self.store_lanes((together, in_turn), &locals, &looked);
        OneByOne {
            group,
            iter,
            together,
            in_turn,
            locals,
            stored,
            looked,
        }
    }
}

/// What `flags` of an element say of a vector that begins there: elements lie at multiples of their
/// own size, not of that of vectors.
fn unaligned(element: MemFlagsData) -> MemFlagsData {
    let flags = MemFlagsData::new()
        .with_notrap()
        .with_alias_region(element.alias_region());
    match element.readonly() {
        true => flags.with_readonly().with_can_move(),
        false => flags,
    }
}
