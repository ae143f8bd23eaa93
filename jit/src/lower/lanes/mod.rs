//! Loops of which several iterations run at once, in the lanes of vectors: groups of whole vectors first, then one by one what is left.
//!
//! What a group checks does not differ between its lanes, so the first fault in the order of the loop is still the first: subscripts
//! that go along with the lanes were proved before the call. Where they were not, and where updates do not just go to memory, the loop
//! runs as if nothing had been said of lanes.

mod alike;
mod counts;
mod few;
mod gather;
mod held;
mod one_by_one;
mod settle;
mod value;
mod vectors;

use super::access::Element;
use super::function::{FunctionLowering, Stride};
use super::loops::Counted;
use crate::CompileError;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value};
use gather::InRegisters;
use one_by_one::OneByOne;
use settle::Progress;
use std::collections::BTreeMap;
use strew_affine::interpret::Oob;
use strew_affine::lanes::Lanes;
use strew_affine::visit::{Loop, for_each_load, walk};
use strew_affine::{Access, AffineFor, Expr, IterId, Node, Place, Subscript};
use vectors::Vectors;

/// What a turn that makes several iterations needs.
#[derive(Clone, Debug)]
pub(super) struct Group<'k> {
    lanes: Lanes<'k>,
    count: u32,
    /// What is the same in all turns, by the expression.
    known: BTreeMap<*const Expr, Value>,
    /// What each lane has gathered, vector by vector, of what updates of which it can, by their places.
    gathered: BTreeMap<*const Place, InRegisters>,
    /// Where the elements would be of which the iterator is 0, by the access.
    rows: BTreeMap<*const Access, Row>,
}

impl<'k> Group<'k> {
    fn new(lanes: Lanes<'k>, count: u32) -> Self {
        Self {
            lanes,
            count,
            known: BTreeMap::new(),
            gathered: BTreeMap::new(),
            rows: BTreeMap::new(),
        }
    }
}

/// What the iterator, counted in elements, is to be added to.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Where the element of the first turn is.
    first: Value,
    address: Value,
    displacement: i32,
    flags: MemFlagsData,
    /// Bytes from the element of one turn to that of the next, where those do not follow each other.
    stride: Option<Value>,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// How to run `node` in lanes, where it says so and that is the same.
    pub(super) fn group(&self, node: &'k AffineFor) -> Option<Group<'k>> {
        let is_looked_after = !self.disjoint.is_empty() || !self.marks.is_empty();
        let is_plain = node.lanes > 1 && self.program.oob == Oob::Error && !is_looked_after;
        if !is_plain {
            return None;
        }
        let lanes = Lanes::of(self.program.kernel, node, node.lanes).ok()?;
        let mut is_safe = true;
        walk(lanes.split(&node.body).0, &mut |it, _| {
            let places = it.places();
            is_safe &= self.goes_to_memory(places) || self.is_one_in_run(&lanes, places);
            is_safe &= self.is_safe(it, node) && self.may_choose(&lanes, node, it);
        });
        is_safe.then(|| Group::new(lanes, node.lanes))
    }

    /// Whether lanes may gather what `statement` of the loop `around` updates on one side of a condition: both sides are computed.
    fn may_choose(&self, lanes: &Lanes<'_>, around: &AffineFor, statement: &Node) -> bool {
        let mut inside = statement.blocks().flatten();
        inside.all(|it| match it {
            Node::Reduce {
                places, combiner, ..
            } => {
                let gathered = lanes.gathered(places, combiner);
                gathered
                    .is_none_or(|ty| self.may_gather(lanes, &around.body, (places, combiner, ty)))
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

    /// Whether all that is affine in the accesses of `statement` was proved, and elements that follow each other do so in memory.
    fn is_safe(&self, statement: &Node, around: &AffineFor) -> bool {
        let loops = [self.loops.as_slice(), &[Loop::Affine(around)]].concat();
        let mut safe = true;
        let mut look = |access: &Access| {
            let mut subscripts = access.subscripts.iter();
            safe &= subscripts.all(|it| match it {
                Subscript::Affine(_) => self.program.checks.is_proved(it, &loops),
                Subscript::Computed(_) => true,
            });
            safe &= self.arrays.get(access.array).is_none_or(
                |array| matches!(array.stride, Stride::Fixed(bytes) if bytes == array.element_bytes),
            );
        };
        for expr in statement.expressions() {
            for_each_load(expr, &mut look);
        }
        statement.written_elements().for_each(&mut look);
        safe
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
        let [whole, left, rest] = [(); 3].map(|()| self.builder.create_block());
        let ins = &mut self.builder;
        let distance = ins.ins().isub(counted.upper, counted.lower);
        // A power of two, and the distance is taken as unsigned.
        let grouped = ins.ins().band_imm_s(distance, -i64::from(group.count));
        let left_over = ins.ins().band_imm_s(distance, i64::from(group.count) - 1);
        // As a sum of constants it would be computed again in every turn.
        let middle = ins.ins().isub(counted.upper, left_over);
        ins.ins().brif(grouped, whole, &[], left, &[]);
        self.builder.switch_to_block(whole);
        // What is known inside of the groups is not behind them, since there may be none.
        self.scoped(|function| {
            function.turning.push((counted.iter, function.conditions));
            function.prepare(counted, grouped, &mut group)?;
            function.turning.pop();
            let gathered = function.begin_gathering(counted.body, &mut group);
            let groups = Counted {
                upper: middle,
                step: i64::from(group.count),
                group: Some(group),
                ..counted.clone()
            };
            let behind = function.builder.create_block();
            function.looking_turns(&groups, behind)?;
            function.builder.switch_to_block(behind);
            for it in gathered {
                function.end_gathering(it);
            }
            function.builder.ins().jump(left, &[]);
            Ok::<_, CompileError>(())
        })?;
        self.builder.switch_to_block(left);
        let more = self
            .builder
            .ins()
            .icmp(IntCC::SignedLessThan, middle, counted.upper);
        self.builder.ins().brif(more, rest, &[], done, &[]);
        self.builder.switch_to_block(rest);
        let one_by_one = Counted {
            lower: middle,
            group: None,
            ..counted.clone()
        };
        self.all_turns(&one_by_one, done)
    }

    /// Computes what does not differ between turns, in the order in which the first turn does: what fails there fails here.
    fn prepare(
        &mut self,
        counted: &Counted<'k>,
        turns: Value,
        group: &mut Group<'k>,
    ) -> Result<(), CompileError> {
        self.iters.insert(counted.iter, counted.lower);
        self.loops.push(counted.around);
        let (together, _) = group.lanes.split(counted.body);
        for node in together {
            match node {
                Node::Declare { local, .. } if !group.lanes.is_own(*local) => {
                    self.statement(node)?;
                }
                _ => self.prepare_statement(node, (counted.lower, turns), group),
            }
        }
        self.loops.pop();
        Ok(())
    }

    fn prepare_statement(
        &mut self,
        node: &'k Node,
        (first, turns): (Value, Value),
        group: &mut Group<'k>,
    ) {
        for expr in node.expressions() {
            self.prepare_expr(expr, first, group);
        }
        for access in node.written_elements() {
            if !group.lanes.is_varying(access) {
                continue;
            }
            self.prepare_row(access, first, group);
            self.reach_row(access, turns, group);
        }
        for inner in node.blocks().flatten() {
            self.prepare_statement(inner, (first, turns), group);
        }
    }

    fn prepare_expr(&mut self, expr: &'k Expr, first: Value, group: &mut Group<'k>) {
        if !group.lanes.varies(expr) {
            let value = self.expr(expr);
            group.known.insert(expr, value);
            return;
        }
        if let Expr::Load(access) = expr {
            self.prepare_row(access, first, group);
        }
        for operand in expr.operands() {
            self.prepare_expr(operand, first, group);
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

    fn prepare_row(&mut self, access: &'k Access, first: Value, group: &mut Group<'k>) {
        let bytes = self.program.kernel.arrays[access.array].element.bytes();
        let element = self.element(access);
        let stride = group
            .lanes
            .is_strided(access)
            .then(|| self.stride(access, (&element, first), group));
        let (address, displacement) = match stride {
            Some(stride) => {
                let before = self.builder.ins().imul(first, stride);
                let address = self.builder.ins().isub(element.address, before);
                (address, element.displacement)
            }
            None => self.back((element.address, element.displacement), first, bytes),
        };
        // Elements lie at multiples of their own size, not of that of vectors.
        let mut flags = MemFlagsData::new()
            .with_notrap()
            .with_alias_region(element.flags.alias_region());
        if element.flags.readonly() {
            flags = flags.with_readonly().with_can_move();
        }
        let row = Row {
            first: self.whole_address(&element),
            address,
            displacement,
            flags,
            stride,
        };
        group.rows.insert(access, row);
    }

    /// Bytes from `element`, that of `access` in the turn `first`, to the one of the next turn.
    fn stride(
        &mut self,
        access: &'k Access,
        (element, first): (&Element, Value),
        group: &Group<'k>,
    ) -> Value {
        let next = self.builder.ins().iadd_imm_s(first, 1);
        self.iters.insert(group.lanes.iter(), next);
        let next = self.element(access);
        self.iters.insert(group.lanes.iter(), first);
        let [here, next] = [element, &next].map(|it| self.whole_address(it));
        self.builder.ins().isub(next, here)
    }

    /// What lies `elements` elements of `bytes` bytes in front of `displacement` bytes behind `address`. A number of them that is known
    /// goes into the displacement: taken from the address, it would be so again in every turn.
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
        let (together, in_turn) = group.lanes.split(body);
        let mut vectors = Vectors {
            function: self,
            group,
            iter,
            locals: BTreeMap::new(),
            held: Vec::new(),
            progress: Progress::default(),
            meant: None,
        };
        together.iter().for_each(|node| vectors.statement(node));
        vectors.store_held(|_| true);
        let one_by_one = OneByOne {
            group,
            iter,
            together,
            in_turn,
            locals: vectors.locals,
        };
        match in_turn.is_empty() {
            true => Ok(()),
            false => self.lanes_one_by_one(&one_by_one),
        }
    }
}
