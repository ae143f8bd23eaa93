//! The statements of a group of turns, in vectors.

use super::super::function::FunctionLowering;
use super::super::offsets::Base;
use super::super::operation;
use super::Group;
use super::held::Held;
use super::looked::Key;
use super::quotient;
use super::settle::Progress;
use super::value::{self, Beyond, InLanes};
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;
use std::collections::BTreeMap;
use strew_affine::lanes::{VECTOR_BYTES, divisor};
use strew_affine::{
    Access, BinaryOp, Combiner, Expr, Function, IterId, LocalId, Node, Order, Place, Type, UnaryOp,
    Value as Constant,
};

/// One of both sides of a condition.
#[derive(Clone, Copy, Debug)]
pub(super) enum Side {
    Then,
    Otherwise,
}

/// A group of turns while it is lowered.
pub(super) struct Vectors<'a, 'p, 'k, 'f> {
    pub(super) function: &'a mut FunctionLowering<'p, 'k, 'f>,
    pub(super) group: &'a Group<'k>,
    pub(super) iter: IterId,
    /// The statements that are made in vectors.
    pub(super) together: &'k [Node],
    /// The scalars that differ from lane to lane.
    pub(super) locals: BTreeMap<LocalId, InLanes>,
    pub(super) held: Vec<Held<'k>>,
    pub(super) progress: Progress,
    /// Numbers that were found to be in range in all lanes, each below what.
    pub(super) looked: Vec<Base<'k>>,
    /// The condition that statements are on a side of.
    pub(super) meant: Option<(InLanes, Side)>,
    /// The scalars that are looked at before statements behind those in vectors go by them.
    pub(super) keys: &'a [Key<'k>],
}

impl<'k> Vectors<'_, '_, 'k, '_> {
    pub(super) fn statement(&mut self, node: &'k Node) {
        match node {
            Node::Declare { local, value }
            | Node::Assign {
                place: Place::Local(local),
                value,
                ..
            } if self.group.lanes.is_own(*local) => {
                let value = match self.float_of_key(*local, value) {
                    Some(operand) => self.key(operand),
                    None => self.expr(value),
                };
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
                self.set_where_meant(access, vectors);
            }
            Node::Reduce {
                places,
                combiner,
                values,
                ..
            } => self.update(places, combiner, values),
            Node::ScfIf {
                condition,
                then,
                otherwise,
                ..
            } => self.choose(condition, [then, otherwise]),
            Node::AffineFor(_) | Node::ScfFor(_) => self.inner_loop(node),
            Node::AffineIf {
                conditions,
                then,
                otherwise,
            } => self.one_side(conditions, [then, otherwise]),
            Node::Declare { local, value } if self.group.lanes.has_loops() => {
                self.function.declare(*local, value);
            }
            // What is the same in all lanes was declared before, and what has no vector form is in
            // no group.
            _ => {}
        }
    }

    /// The float that `local` is made of, if what that is counts only where it is in range: this
    /// code ends with a fault where it is not.
    fn float_of_key(&self, local: LocalId, value: &'k Expr) -> Option<&'k Expr> {
        let is_looked_at = || {
            let mut keys = self.keys.iter();
            keys.any(|it| it.base.local() == Some(local))
        };
        match value {
            Expr::Cast(Type::I32, operand)
                if operand.ty(self.function.program.kernel) == Type::F32 && is_looked_at() =>
            {
                Some(operand)
            }
            _ => None,
        }
    }

    /// `operand`, a float of 32 bits, as a key.
    fn key(&mut self, operand: &'k Expr) -> InLanes {
        let number = self.expr(operand);
        let numbers = self.spread(number, Type::F32);
        self.each(numbers, |builder, it| {
            value::truncated_single(builder, it, Beyond::Least)
        })
    }

    /// `places` of each lane, or what all of them have in common.
    fn update(&mut self, places: &'k [Place], combiner: &'k Combiner, values: &'k [Expr]) {
        match places {
            [place, ..] if let Some(held) = self.group.gathered.get(&std::ptr::from_ref(place)) => {
                self.gather(held, values);
            }
            [place] if self.is_own(place) => {
                let ty = self.function.type_of(place);
                let held = |vectors: &mut Self| vectors.held(place);
                let combined = self.combined((combiner, ty), held, values);
                self.replace(place, combined);
            }
            [first, others @ ..] if places.iter().all(|it| self.is_own(it)) => {
                self.replace_together(combiner, (first, others), values);
            }
            _ => self.update_scalars(places, combiner, values),
        }
    }

    /// Both sides of a condition, which picks what the scalars that they set become.
    fn choose(&mut self, condition: &'k Expr, sides: [&'k [Node]; 2]) {
        let condition = self.expr(condition);
        let before = self.locals.clone();
        let [then, otherwise] =
            [(Side::Then, sides[0]), (Side::Otherwise, sides[1])].map(|(side, nodes)| {
                self.locals.clone_from(&before);
                self.count_side(&condition, side, nodes);
                // There is no condition on a side of one: `Lanes` accepts none.
                self.meant = Some((condition.clone(), side));
                nodes.iter().for_each(|node| self.statement(node));
                self.meant = None;
                std::mem::take(&mut self.locals)
            });
        for (local, before) in before {
            let side = |of: &BTreeMap<_, InLanes>| of.get(&local).unwrap_or(&before).clone();
            let sides = (side(&then), side(&otherwise));
            let chosen = match sides.0 == sides.1 {
                true => sides.0,
                false => {
                    let ty = self.function.program.kernel.locals[local].ty;
                    let (then, otherwise) = (self.spread(sides.0, ty), self.spread(sides.1, ty));
                    InLanes::Each(self.selected(condition.clone(), then, otherwise, ty))
                }
            };
            self.locals.insert(local, chosen);
        }
    }

    pub(super) fn element_type(&self, access: &Access) -> Type {
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
            .map(|(held, incoming)| self.function.combined_values(by, held, incoming))
            .collect()
    }

    /// Whether each lane has a `place` of its own.
    fn is_own(&self, place: &Place) -> bool {
        match place {
            Place::Element(access) => self.group.lanes.is_varying(access),
            Place::Local(local) => self.group.lanes.is_own(*local),
        }
    }

    /// What each lane holds in its `place`.
    fn held(&mut self, place: &'k Place) -> Vec<Value> {
        match place {
            Place::Element(access) => self.get(access),
            Place::Local(local) => self.vectors_of(*local),
        }
    }

    /// Puts `values` into the `place` of each lane.
    fn replace(&mut self, place: &'k Place, values: Vec<Value>) {
        match place {
            Place::Element(access) => self.set_where_meant(access, values),
            Place::Local(local) => {
                self.locals.insert(*local, InLanes::Each(values));
                self.settle();
            }
        }
    }

    /// The elements of `access` become `vectors` in the lanes that are meant; of others they stay
    /// what they are.
    fn set_where_meant(&mut self, access: &'k Access, vectors: Vec<Value>) {
        let vectors = match self.meant.clone() {
            None => vectors,
            Some((condition, side)) => {
                let held = self.get(access);
                let (then, otherwise) = match side {
                    Side::Then => (vectors, held),
                    Side::Otherwise => (held, vectors),
                };
                let ty = self.element_type(access);
                self.selected(condition, then, otherwise, ty)
            }
        };
        self.set(access, vectors);
    }

    /// Updates several places of each lane, all or none, as a comparison of the first value with
    /// what is held says.
    fn replace_together(
        &mut self,
        combiner: &Combiner,
        (first, others): (&'k Place, &'k [Place]),
        values: &'k [Expr],
    ) {
        let places: Vec<_> = std::iter::once(first).chain(others).collect();
        let types: Vec<_> = places.iter().map(|it| self.function.type_of(it)).collect();
        let Order::AnyOfTurns(by) = combiner.order(&types) else {
            return;
        };
        let mut sides = Vec::new();
        for ((place, ty), value) in places.iter().zip(&types).zip(values) {
            let incoming = self.expr(value);
            let incoming = self.spread(incoming, *ty);
            sides.push((self.held(place), incoming));
        }
        let Some(((held, incoming), ty)) = sides.first().cloned().zip(types.first()) else {
            return;
        };
        let wins = self.pairs(incoming, held, |builder, incoming, held| {
            operation::compare(builder, by.replaces(), incoming, held, *ty)
        });
        let wins = as_mask(wins);
        for ((place, ty), (held, incoming)) in places.into_iter().zip(types).zip(sides) {
            let chosen = self.selected(wins.clone(), incoming, held, ty);
            self.replace(place, chosen);
        }
    }

    /// What the scalar is in all lanes, as vectors.
    pub(super) fn vectors_of(&mut self, local: LocalId) -> Vec<Value> {
        let ty = self.function.program.kernel.locals[local].ty;
        let held = self.expr_of(local);
        self.spread(held, ty)
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
                self.function.update_by(places, combiner, &incoming);
            }
        }
    }

    /// `value`, of type `ty`, as vectors.
    pub(super) fn spread(&mut self, value: InLanes, ty: Type) -> Vec<Value> {
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

    pub(super) fn expr(&mut self, expr: &'k Expr) -> InLanes {
        if let Some(known) = self.group.known.get(&std::ptr::from_ref(expr)) {
            return InLanes::Same(*known);
        }
        if self.group.lanes.has_loops() && !self.group.lanes.varies(expr) {
            return InLanes::Same(self.function.expr(expr));
        }
        let kernel = self.function.program.kernel;
        let ty = expr.ty(kernel);
        match expr {
            Expr::Iter(iter) => self.iterator(*iter, Type::I64),
            Expr::Local(local) => self.expr_of(*local),
            Expr::Load(access) if self.group.lanes.is_picked(access) => {
                InLanes::Each(self.pick(access))
            }
            Expr::Load(access) => InLanes::Each(self.get(access)),
            Expr::Unary(op, operand) => self.unary(*op, operand),
            Expr::Binary(op, left, right, _) => self.binary(*op, left, right, ty),
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
                InLanes::Each(self.selected(condition, then, otherwise, ty))
            }
            Expr::Cast(to, operand) => self.cast(*to, operand),
            Expr::Call(function, operands) => {
                let operands = operands.iter().map(|it| {
                    let value = self.expr(it);
                    self.spread(value, ty)
                });
                let operands: Vec<_> = operands.collect();
                self.called(*function, &operands, ty)
            }
            Expr::Constant(_) | Expr::Param(_) | Expr::Operand(_) | Expr::Threads => {
                InLanes::Same(self.function.expr(expr))
            }
        }
    }

    /// `function`, which takes a few instructions, on the vectors of its operands.
    fn called(&mut self, function: Function, operands: &[Vec<Value>], ty: Type) -> InLanes {
        let mut calls = self.function.program.calls();
        let count = operands.first().map_or(0, Vec::len);
        let vectors = (0..count).map(|number| {
            let beside = operands.iter().filter_map(|it| it.get(number)).copied();
            let beside: Vec<_> = beside.collect();
            calls.emit(&mut self.function.builder, function, &beside, ty)
        });
        InLanes::Each(vectors.collect())
    }

    fn iterator(&mut self, iter: IterId, ty: Type) -> InLanes {
        let first = self.function.iter(iter);
        let builder = &mut self.function.builder;
        InLanes::Each(value::counted(builder, first, ty, self.group.count))
    }

    fn binary(&mut self, op: BinaryOp, left: &'k Expr, right: &'k Expr, ty: Type) -> InLanes {
        let number = divisor(op, right);
        if number.is_none() && !matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            let (left, right) = self.both(left, right, ty);
            return self.pairs(left, right, |builder, left, right| {
                operation::binary(builder, op, left, right, ty)
            });
        }
        let left = self.expr(left);
        let left = self.spread(left, ty);
        if let Some(number) = number {
            return self.each(left, |builder, it| {
                quotient::divided(builder, op, it, number, ty.is_signed())
            });
        }
        let InLanes::Same(right) = self.expr(right) else {
            return InLanes::Each(left);
        };
        self.each(left, |builder, it| {
            operation::binary(builder, op, it, right, ty)
        })
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
    pub(super) fn mask(&mut self, value: InLanes, bytes: u32) -> Vec<Value> {
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

    pub(super) fn selected(
        &mut self,
        condition: InLanes,
        then: Vec<Value>,
        otherwise: Vec<Value>,
        ty: Type,
    ) -> Vec<Value> {
        let masks = self.mask(condition, ty.bytes());
        let builder = &mut self.function.builder;
        let sides = then.into_iter().zip(otherwise);
        let chosen = masks
            .into_iter()
            .zip(sides)
            .map(|(mask, (then, otherwise))| operation::choose(builder, mask, then, otherwise));
        chosen.collect()
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
            let one = Constant::integer(to, 1);
            let one = value::in_all_lanes(&mut self.function.builder, one);
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

fn as_mask(values: InLanes) -> InLanes {
    match values {
        InLanes::Each(vectors) => InLanes::Mask(vectors),
        other => other,
    }
}
