//! Loops of which several iterations run at once, in the lanes of vectors: groups of whole vectors first, then one by one what is left.
//!
//! What a group checks does not differ between its lanes, so the first fault in the order of the loop is still the first: subscripts
//! that go along with the lanes were proved before the call. Where they were not, and where updates do not just go to memory, the loop
//! runs as if nothing had been said of lanes.

mod gather;
mod held;
mod value;

use super::call::instruction;
use super::function::{FunctionLowering, Stride};
use super::loops::Counted;
use super::operation;
use crate::CompileError;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, Function, InstBuilder, InstructionData, MemFlagsData, Opcode, Value,
};
use cranelift_frontend::{FunctionBuilder, Variable};
use held::Held;
use std::collections::BTreeMap;
use strew_affine::interpret::Oob;
use strew_affine::lanes::{Lanes, VECTOR_BYTES};
use strew_affine::visit::{Loop, for_each_load};
use strew_affine::{
    Access, AffineFor, BinaryOp, Combiner, Expr, IterId, LocalId, Node, Place, Subscript, Type,
    UnaryOp, Value as Constant,
};
use value::InLanes;

/// What a turn that makes several iterations needs.
#[derive(Clone, Debug)]
pub(super) struct Group<'k> {
    lanes: Lanes<'k>,
    count: u32,
    /// What is the same in all turns, by the expression.
    known: BTreeMap<*const Expr, Value>,
    /// What each lane has gathered, vector by vector, of the scalars of which it can.
    gathered: BTreeMap<LocalId, Vec<Variable>>,
    /// Where the elements would be of which the iterator is 0, by the access.
    rows: BTreeMap<*const Access, Row>,
}

/// What the iterator, counted in elements, is to be added to.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Where the element of the first turn is.
    first: Value,
    address: Value,
    displacement: i32,
    flags: MemFlagsData,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// How to run `node` in lanes, where it says so and that is the same.
    pub(super) fn group(&self, node: &'k AffineFor) -> Option<Group<'k>> {
        let is_plain = node.lanes > 1 && self.program.oob == Oob::Error && self.disjoint.is_empty();
        let each = |it: &&Node| self.goes_to_memory(it.places()) && self.is_safe(it, node);
        if !is_plain || !node.body.iter().all(|it| each(&it)) {
            return None;
        }
        let lanes = Lanes::of(self.program.kernel, node, node.lanes).ok()?;
        Some(Group {
            lanes,
            count: node.lanes,
            known: BTreeMap::new(),
            gathered: BTreeMap::new(),
            rows: BTreeMap::new(),
        })
    }

    pub(in crate::lower) fn goes_to_memory(&self, places: &[Place]) -> bool {
        self.stream_of(places).is_none()
            && !self.is_only_checked(places)
            && self.run_of(places).is_none()
            && self.partials_of(places).is_none()
            && self.within_of(places).is_none()
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
            function.prepare(counted, grouped, &mut group)?;
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
        for node in counted.body {
            match node {
                Node::Declare { local, .. } if !group.lanes.is_own(*local) => {
                    self.statement(node)?;
                    continue;
                }
                _ => {}
            }
            for expr in node.expressions() {
                self.prepare_expr(expr, counted.lower, group);
            }
            for access in node.written_elements() {
                self.prepare_row(access, counted.lower, group);
                self.reach_row(access, turns, group);
            }
        }
        self.loops.pop();
        Ok(())
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

    /// Sees to it that `turns` elements of a private buffer hold something: what lies between the first and the last does then, too.
    fn reach_row(&mut self, access: &Access, turns: Value, group: &Group<'k>) {
        let row = group.rows.get(&std::ptr::from_ref(access)).copied();
        let Some(row) = row.filter(|_| !self.windows.is_empty()) else {
            return;
        };
        let bytes = i64::from(self.program.kernel.arrays[access.array].element.bytes());
        self.reach(access.array, row.first);
        let last = self.builder.ins().iadd_imm_s(turns, -1);
        let last = self.builder.ins().imul_imm_s(last, bytes);
        let last = self.builder.ins().iadd(row.first, last);
        self.reach(access.array, last);
    }

    fn prepare_row(&mut self, access: &'k Access, first: Value, group: &mut Group<'k>) {
        let bytes = self.program.kernel.arrays[access.array].element.bytes();
        let element = self.element(access);
        let (address, displacement) =
            self.back((element.address, element.displacement), first, bytes);
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
        };
        group.rows.insert(access, row);
    }

    /// What lies `elements` elements of `bytes` bytes in front of `displacement` bytes behind `address`. A number of them that is known
    /// goes into the displacement: taken from the address, it would be so again in every turn.
    fn back(
        &mut self,
        (address, displacement): (Value, i32),
        elements: Value,
        bytes: u32,
    ) -> (Value, i32) {
        let known = constant(self.builder.func, elements);
        let known = known.and_then(|it| i32::try_from(it.checked_mul(i64::from(bytes))?).ok());
        if let Some(known) = known.and_then(|it| displacement.checked_sub(it)) {
            return (address, known);
        }
        let before = self.builder.ins().imul_imm_s(elements, i64::from(bytes));
        (self.builder.ins().isub(address, before), displacement)
    }

    /// The statements of a group of turns.
    pub(super) fn statements_in_lanes(
        &mut self,
        group: &Group<'k>,
        (iter, body): (IterId, &'k [Node]),
    ) {
        let mut vectors = Vectors {
            function: self,
            group,
            iter,
            locals: BTreeMap::new(),
            held: Vec::new(),
        };
        body.iter().for_each(|node| vectors.statement(node));
        vectors.store_held(|_| true);
    }
}

/// A group of turns while it is lowered.
struct Vectors<'a, 'p, 'k, 'f> {
    function: &'a mut FunctionLowering<'p, 'k, 'f>,
    group: &'a Group<'k>,
    iter: IterId,
    /// The scalars that differ from lane to lane.
    locals: BTreeMap<LocalId, InLanes>,
    held: Vec<Held<'k>>,
}

impl<'k> Vectors<'_, '_, 'k, '_> {
    fn statement(&mut self, node: &'k Node) {
        match node {
            Node::Declare { local, value }
            | Node::Assign {
                place: Place::Local(local),
                value,
                ..
            } if self.group.lanes.is_own(*local) => {
                let value = self.expr(value);
                self.locals.insert(*local, value);
            }
            Node::Assign {
                place: Place::Element(access),
                value,
                ..
            } => {
                let ty = self.element_type(access);
                let value = self.expr(value);
                let vectors = self.spread(value, ty);
                self.set(access, vectors);
            }
            Node::Reduce {
                places,
                combiner,
                values,
                ..
            } => match places.as_slice() {
                [Place::Element(access)] => {
                    let ty = self.element_type(access);
                    let held = |vectors: &mut Self| vectors.get(access);
                    let combined = self.combined((combiner, ty), held, values);
                    self.set(access, combined);
                }
                [Place::Local(local)] if self.group.lanes.is_own(*local) => {
                    let ty = self.function.program.kernel.locals[*local].ty;
                    let held = |vectors: &mut Self| {
                        let held = vectors.expr_of(*local);
                        vectors.spread(held, ty)
                    };
                    let combined = self.combined((combiner, ty), held, values);
                    self.locals.insert(*local, InLanes::Each(combined));
                }
                [Place::Local(local)] if self.group.gathered.contains_key(local) => {
                    self.gather(*local, combiner, values);
                }
                _ => self.update_scalars(places, combiner, values),
            },
            // What is the same in all lanes was declared before, and what has no vector form is in no group.
            _ => {}
        }
    }

    fn element_type(&self, access: &Access) -> Type {
        self.function.program.kernel.arrays[access.array].element
    }

    /// What is `held` when the values are known, combined with them.
    fn combined(
        &mut self,
        (combiner, ty): (&Combiner, Type),
        held: impl FnOnce(&mut Self) -> Vec<Value>,
        values: &'k [Expr],
    ) -> Vec<Value> {
        let [incoming] = values else {
            return Vec::new();
        };
        let incoming = self.expr(incoming);
        let incoming = self.spread(incoming, ty);
        let pairs = held(self).into_iter().zip(incoming);
        let by = (combiner, ty);
        pairs
            .map(|(held, incoming)| self.function.combined_lanes(by, held, incoming))
            .collect()
    }

    /// The scalar in all lanes.
    fn expr_of(&mut self, local: LocalId) -> InLanes {
        match self.locals.get(&local) {
            Some(known) => known.clone(),
            // What differs from lane to lane was declared in the group.
            None => InLanes::Same(self.function.local(local)),
        }
    }

    /// Lane by lane, in the order of the loop.
    fn update_scalars(&mut self, places: &'k [Place], combiner: &Combiner, values: &'k [Expr]) {
        let values: Vec<_> = values.iter().map(|it| self.expr(it)).collect();
        for number in 0..self.group.count {
            let builder = &mut self.function.builder;
            let incoming = values.iter().map(|it| value::lane(builder, it, number));
            let incoming: Option<Vec<_>> = incoming.collect();
            if let Some(incoming) = incoming {
                self.function.update_locals(places, combiner, &incoming);
            }
        }
    }

    /// `value`, of type `ty`, as vectors.
    fn spread(&mut self, value: InLanes, ty: Type) -> Vec<Value> {
        match value {
            InLanes::Each(vectors) | InLanes::Mask(vectors) => vectors,
            InLanes::Same(value) => {
                let vector = self
                    .function
                    .builder
                    .ins()
                    .splat(operation::vector_of(ty), value);
                vec![vector; (self.group.count / value::per_vector(ty)) as usize]
            }
        }
    }

    fn expr(&mut self, expr: &'k Expr) -> InLanes {
        if let Some(known) = self.group.known.get(&std::ptr::from_ref(expr)) {
            return InLanes::Same(*known);
        }
        let kernel = self.function.program.kernel;
        let ty = expr.ty(kernel);
        match expr {
            Expr::Iter(iter) => self.iterator(*iter, Type::I64),
            Expr::Local(local) => self.expr_of(*local),
            Expr::Load(access) => InLanes::Each(self.get(access)),
            Expr::Unary(op, operand) => self.unary(*op, operand),
            Expr::Binary(op, left, right, _) if matches!(op, BinaryOp::Shl | BinaryOp::Shr) => {
                let left = self.expr(left);
                let left = self.spread(left, ty);
                let InLanes::Same(right) = self.expr(right) else {
                    return InLanes::Each(left);
                };
                self.each(left, |builder, it| {
                    operation::binary(builder, *op, it, right, ty)
                })
            }
            Expr::Binary(op, left, right, _) => {
                let (left, right) = self.both(left, right, ty);
                self.pairs(left, right, |builder, left, right| {
                    operation::binary(builder, *op, left, right, ty)
                })
            }
            Expr::Compare(op, left, right) => {
                let of = left.ty(kernel);
                let (left, right) = self.both(left, right, of);
                let mask = self.pairs(left, right, |builder, left, right| {
                    operation::compare(builder, *op, left, right, of)
                });
                as_mask(mask)
            }
            Expr::And(left, right) | Expr::Or(left, right) => {
                let (left, right) = (self.expr(left), self.expr(right));
                self.logical(matches!(expr, Expr::And(..)), left, right)
            }
            Expr::Select(condition, then, otherwise) => {
                let condition = self.expr(condition);
                let (then, otherwise) = self.both(then, otherwise, ty);
                self.select(condition, then, otherwise, ty)
            }
            Expr::Cast(to, operand) => self.cast(*to, operand),
            Expr::Call(function, operands) => {
                let first = operands.first().map(|it| self.expr(it));
                let vectors = first.map(|it| self.spread(it, ty)).unwrap_or_default();
                self.each(vectors, |builder, it| {
                    instruction(builder, *function, &[it]).unwrap_or(it)
                })
            }
            Expr::Constant(_) | Expr::Param(_) | Expr::Operand(_) => {
                InLanes::Same(self.function.expr(expr))
            }
        }
    }

    fn iterator(&mut self, iter: IterId, ty: Type) -> InLanes {
        let first = self.function.iter(iter);
        let builder = &mut self.function.builder;
        InLanes::Each(value::counted(builder, first, ty, self.group.count))
    }

    fn unary(&mut self, op: UnaryOp, operand: &'k Expr) -> InLanes {
        let ty = operand.ty(self.function.program.kernel);
        match (op, self.expr(operand)) {
            (UnaryOp::Not, InLanes::Mask(vectors)) => {
                as_mask(self.each(vectors, |builder, it| builder.ins().bnot(it)))
            }
            (_, value) => {
                let vectors = self.spread(value, ty);
                self.each(vectors, |builder, it| operation::unary(builder, op, it, ty))
            }
        }
    }

    fn both(&mut self, left: &'k Expr, right: &'k Expr, ty: Type) -> (Vec<Value>, Vec<Value>) {
        let (left, right) = (self.expr(left), self.expr(right));
        (self.spread(left, ty), self.spread(right, ty))
    }

    fn each(
        &mut self,
        vectors: Vec<Value>,
        mut apply: impl FnMut(&mut FunctionBuilder<'_>, Value) -> Value,
    ) -> InLanes {
        let builder = &mut self.function.builder;
        let applied = vectors.into_iter().map(|it| apply(builder, it));
        InLanes::Each(applied.collect())
    }

    fn pairs(
        &mut self,
        left: Vec<Value>,
        right: Vec<Value>,
        mut apply: impl FnMut(&mut FunctionBuilder<'_>, Value, Value) -> Value,
    ) -> InLanes {
        let builder = &mut self.function.builder;
        let pairs = left.into_iter().zip(right);
        InLanes::Each(
            pairs
                .map(|(left, right)| apply(builder, left, right))
                .collect(),
        )
    }

    /// `value`, a `bool`, as a mask of so many bytes a lane.
    fn mask(&mut self, value: InLanes, bytes: u32) -> Vec<Value> {
        let builder = &mut self.function.builder;
        match value {
            InLanes::Same(value) => {
                let vector = value::splat_bool(builder, value, bytes);
                vec![vector; (self.group.count * bytes / VECTOR_BYTES) as usize]
            }
            InLanes::Each(vectors) | InLanes::Mask(vectors) => {
                value::mask_of_width(builder, vectors, bytes)
            }
        }
    }

    fn logical(&mut self, is_and: bool, left: InLanes, right: InLanes) -> InLanes {
        let width = |it: &InLanes| match it {
            InLanes::Same(_) => 0,
            // One lane more to each vector, one byte less to each lane.
            InLanes::Each(vectors) | InLanes::Mask(vectors) => {
                vectors.len() as u32 * VECTOR_BYTES / self.group.count
            }
        };
        let bytes = width(&left).max(width(&right));
        let (left, right) = (self.mask(left, bytes), self.mask(right, bytes));
        as_mask(
            self.pairs(left, right, |builder, left, right| match is_and {
                true => builder.ins().band(left, right),
                false => builder.ins().bor(left, right),
            }),
        )
    }

    fn select(
        &mut self,
        condition: InLanes,
        then: Vec<Value>,
        otherwise: Vec<Value>,
        ty: Type,
    ) -> InLanes {
        let masks = self.mask(condition, ty.bytes());
        let builder = &mut self.function.builder;
        let sides = then.into_iter().zip(otherwise);
        let chosen = masks
            .into_iter()
            .zip(sides)
            .map(|(mask, (then, otherwise))| operation::choose(builder, mask, then, otherwise));
        InLanes::Each(chosen.collect())
    }

    fn cast(&mut self, to: Type, operand: &'k Expr) -> InLanes {
        let from = operand.ty(self.function.program.kernel);
        if let Expr::Iter(iter) = operand
            && to.is_integer()
        {
            return self.iterator(*iter, to);
        }
        let value = self.expr(operand);
        if from == Type::Bool && to != Type::Bool {
            let mask = self.mask(value, to.bytes());
            let one = operation::constant(&mut self.function.builder, Constant::integer(to, 1));
            let one = self
                .function
                .builder
                .ins()
                .splat(operation::vector_of(to), one);
            return self.each(mask, |builder, it| builder.ins().band(it, one));
        }
        if from == Type::Bool {
            return value;
        }
        let vectors = self.spread(value, from);
        let builder = &mut self.function.builder;
        match to {
            Type::Bool => InLanes::Mask(value::is_not_zero(builder, vectors, from)),
            _ => InLanes::Each(value::convert(builder, vectors, from, to)),
        }
    }
}

/// The number that `value` is, if it was written as one.
fn constant(function: &Function, value: Value) -> Option<i64> {
    let made = function.dfg.value_def(value).inst()?;
    match function.dfg.insts[made] {
        InstructionData::UnaryImm {
            opcode: Opcode::Iconst,
            imm,
        } => Some(imm.bits()),
        _ => None,
    }
}

fn as_mask(values: InLanes) -> InLanes {
    match values {
        InLanes::Each(vectors) => InLanes::Mask(vectors),
        other => other,
    }
}
