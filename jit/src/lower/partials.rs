//! Bodies that keep several partial values of the element they update in registers for as long as
//! it is the same one.
//!
//! In a register, too, a rounded sum waits for the update before it. Here statements combine into
//! one of several values by turns, and those are combined when another element comes. What comes
//! out is a grouping that follows from the keys and the body alone: whether an update is found to
//! go to the same element alone or together with those next to it, it takes the same turn.

use super::combine;
use super::convert::clif_type;
use super::function::FunctionLowering;
use super::loops::{Counted, Tail};
use super::operation;
use super::run_length::Buffers;
use super::tables::Turns;
use crate::CompileError;
use cranelift_codegen::ir::{AliasRegion, BlockArg, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::Variable;
use strew_affine::interpret::Oob;
use strew_affine::visit::walk;
use strew_affine::{
    Access, ArrayId, BinaryOp, Combiner, Expr, Forall, Node, Place, Private, Subscript, Type,
};
use strew_runtime::abi::PARTIALS;

/// The element that was updated last, of buffers that are merged together.
#[derive(Clone, Debug)]
pub(super) struct Partials {
    buffer: ArrayId,
    types: Vec<Type>,
    /// What combines two values.
    bodies: Vec<Expr>,
    identity: Vec<strew_affine::Value>,
    /// Not 0 before there is an element.
    is_none: Variable,
    /// Its subscripts.
    subscripts: Vec<Variable>,
    /// Where it is in each of the buffers.
    parts: Vec<Part>,
    /// Turn by turn, the values of each part, which memory does not have yet.
    held: Vec<Vec<Variable>>,
    turns: Turns,
}

#[derive(Clone, Debug)]
struct Part {
    /// That of the buffer: with any other, what is stored would not be seen by loads of its
    /// elements.
    region: Option<AliasRegion>,
    place: Variable,
}

/// A turn of a loop that consists of updates, behind what they use.
pub(super) struct Turn<'k> {
    declared: &'k [Node],
    updates: Vec<Update<'k>>,
}

/// An update, with the turn that it takes.
pub(super) struct Update<'k> {
    turn: usize,
    access: &'k Access,
    places: &'k [Place],
    combiner: &'k Combiner,
    values: &'k [Expr],
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Begins with no element for each of the private buffers of `forall`; where their combiners
    /// have no identity, with one element in one register.
    pub(super) fn begin_partials(&mut self, forall: &Forall) {
        for private in &forall.privates {
            match self.no_element(forall, private) {
                Some(partials) => self.partials.push(partials),
                None => self.begin_run(private, Buffers::Whole),
            }
        }
    }

    fn no_element(&mut self, forall: &Forall, private: &Private) -> Option<Partials> {
        let kernel = self.program.kernel;
        let types = private.types(kernel);
        let identity = private.combiner.identity(&types)?;
        let bodies = private.combiner.bodies(&types)?;
        if !private.combiner.is_commutative(&types) {
            return None;
        }
        let buffer = *private.buffers.first()?;
        let turns = statements(forall, buffer).min(PARTIALS);
        let parts = private.buffers.iter().map(|buffer| Part {
            region: self.arrays.get(*buffer).map(|array| array.region),
            place: self.nowhere(),
        });
        let parts = parts.collect();
        let dimensions = 0..kernel.arrays[buffer].extents.len();
        let held = (0..turns.max(1)).map(|_| self.values(&identity)).collect();
        Some(Partials {
            buffer,
            types,
            bodies,
            identity,
            is_none: self.number(1),
            subscripts: dimensions.map(|_| self.number(0)).collect(),
            parts,
            held,
            turns: Turns::default(),
        })
    }

    fn nowhere(&mut self) -> Variable {
        let nowhere = self.stack(size_of::<u64>());
        let place = self.builder.declare_var(types::I64);
        self.builder.def_var(place, nowhere);
        place
    }

    fn number(&mut self, number: i64) -> Variable {
        let variable = self.builder.declare_var(types::I64);
        let number = self.builder.ins().iconst(types::I64, number);
        self.builder.def_var(variable, number);
        variable
    }

    /// A variable for each of `values`, which it begins with.
    fn values(&mut self, values: &[strew_affine::Value]) -> Vec<Variable> {
        let variables = values.iter().map(|value| {
            let variable = self.builder.declare_var(clif_type(value.ty()));
            let value = operation::constant(&mut self.builder, *value);
            self.builder.def_var(variable, value);
            variable
        });
        variables.collect()
    }

    /// The partial values that an update of `places` belongs to, if they are private buffers that
    /// have some.
    pub(super) fn partials_of(&self, places: &[Place]) -> Option<Partials> {
        let access = element(places)?;
        let mut partials = self.partials.iter();
        partials.find(|it| it.buffer == access.array).cloned()
    }

    /// The update that takes the next turn, if it is one of private buffers that have partial
    /// values.
    pub(super) fn partial_update(
        &mut self,
        places: &'k [Place],
        combiner: &'k Combiner,
        values: &'k [Expr],
    ) -> Option<Update<'k>> {
        let access = element(places)?;
        let mut partials = self.partials.iter();
        partials
            .any(|it| it.buffer == access.array)
            .then(|| Update {
                turn: self.turn_of(access.array, places),
                access,
                places,
                combiner,
                values,
            })
    }

    /// The turn of the statement that updates `places`, in `buffer`.
    fn turn_of(&mut self, buffer: ArrayId, places: &[Place]) -> usize {
        let lane = self.lane();
        let mut all = self.partials.iter_mut();
        let turn = all.find(|it| it.buffer == buffer);
        turn.map_or(0, |it| it.turns.of(places, lane) % it.held.len().max(1))
    }

    /// The statements of a turn of a loop, if they are updates that may be looked at together
    /// before any of them is made: to find out where they go cannot fail.
    pub(super) fn turn_of_updates(&mut self, body: &'k [Node]) -> Option<Turn<'k>> {
        if self.partials.is_empty() || self.program.oob == Oob::Skip {
            return None;
        }
        let is_update = |node: &Node| !matches!(node, Node::Declare { .. });
        let (declared, updates) = body.split_at(body.iter().position(is_update)?);
        let updates: Option<Vec<_>> = updates.iter().map(|it| self.early_update(it)).collect();
        let mut updates = updates.filter(|it| it.len() > 1)?;
        for update in &mut updates {
            update.turn = self.turn_of(update.access.array, update.places);
        }
        Some(Turn { declared, updates })
    }

    fn early_update(&self, node: &'k Node) -> Option<Update<'k>> {
        let Node::Reduce {
            places,
            combiner,
            values,
            ..
        } = node
        else {
            return None;
        };
        let access = element(places)?;
        let has_partials = self.partials.iter().any(|it| it.buffer == access.array);
        let is_early = access.subscripts.iter().all(|it| self.is_early(it));
        (has_partials && is_early).then_some(Update {
            turn: 0,
            access,
            places,
            combiner,
            values,
        })
    }

    fn is_early(&self, subscript: &Subscript) -> bool {
        match subscript {
            Subscript::Affine(_) => self.is_proved_subscript(subscript),
            Subscript::Computed(expr) => self.is_sure(expr),
        }
    }

    /// Whether nothing can go wrong when `expr` is computed, and it costs little.
    fn is_sure(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Iter(_) | Expr::Param(_) | Expr::Local(_) | Expr::Constant(_) => true,
            Expr::Load(access) => self.is_proved(access),
            Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => false,
            Expr::Unary(..) | Expr::Binary(..) | Expr::Cast(..) => {
                expr.operands().into_iter().all(|it| self.is_sure(it))
            }
            _ => false,
        }
    }

    /// The turns of a loop that consists of updates. Mostly all of them go to the element of the
    /// one before, and one jump tells. Turns in which they do are a loop inside of the loop, to
    /// which what the others need is strange.
    pub(super) fn turns_of_updates(
        &mut self,
        counted: &Counted<'k>,
        updates: &Turn<'k>,
        iter: Value,
        tail: &Tail,
    ) -> Result<(), CompileError> {
        let [turn, same, others] = [(); 3].map(|()| self.builder.create_block());
        self.builder.ins().jump(turn, &[BlockArg::Value(iter)]);
        self.builder.switch_to_block(turn);
        let iter = self.builder.append_block_param(turn, types::I64);
        self.begin_turn(counted, iter);
        self.nodes(updates.declared)?;
        let differ = self.differ(&updates.updates);
        self.builder.ins().brif(differ, others, &[], same, &[]);
        self.builder.switch_to_block(same);
        self.scoped(|function| {
            for update in &updates.updates {
                function.update_same(update);
            }
        });
        let again = Tail {
            turn,
            carried: Vec::new(),
            ..*tail
        };
        self.tail(counted, iter, &again);
        self.builder.set_cold_block(others);
        self.builder.switch_to_block(others);
        self.scoped(|function| {
            for update in &updates.updates {
                function.update_any(update);
            }
        });
        self.tail(counted, iter, tail);
        Ok(())
    }

    /// What is not 0 if one of `updates` goes to another element than the one before.
    fn differ(&mut self, updates: &[Update<'k>]) -> Value {
        let mut differ = self.builder.ins().iconst(types::I64, 0);
        for update in updates {
            if let Some(partials) = self.partials_of(update.places) {
                differ = self.differs(differ, &partials, update.access);
            }
        }
        for partials in &self.partials {
            let is_none = self.builder.use_var(partials.is_none);
            differ = self.builder.ins().bor(differ, is_none);
        }
        differ
    }

    /// An update of the element that is in registers.
    fn update_same(&mut self, update: &Update<'k>) {
        if let Some(partials) = self.partials_of(update.places) {
            let (incoming, bodies) = self.incoming(update.combiner, &partials.types, update.values);
            self.combine_into(&partials, update, &bodies, &incoming);
        }
    }

    /// An update of any element.
    pub(super) fn update_any(&mut self, update: &Update<'k>) {
        let Some(partials) = self.partials_of(update.places) else {
            return;
        };
        let (incoming, bodies) = self.incoming(update.combiner, &partials.types, update.values);
        let other = self.builder.create_block();
        let next = self.builder.create_block();
        let is_none = self.builder.use_var(partials.is_none);
        let differs = self.differs(is_none, &partials, update.access);
        self.builder.ins().brif(differs, other, &[], next, &[]);
        self.builder.switch_to_block(other);
        self.scoped(|function| function.go_on(&partials, update));
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
        self.combine_into(&partials, update, &bodies, &incoming);
    }

    /// What is not 0 if `differs` is not, or `access` is another element than the last one.
    /// Subscripts are compared, and not addresses: only those of an element in range are equal to
    /// it.
    fn differs(&mut self, differs: Value, partials: &Partials, access: &Access) -> Value {
        let values = self.subscript_values(access);
        let pairs = values.into_iter().zip(&partials.subscripts);
        pairs.fold(differs, |differs, (value, last)| {
            let last = self.builder.use_var(*last);
            let difference = self.builder.ins().bxor(value, last);
            self.builder.ins().bor(differs, difference)
        })
    }

    fn combine_into(
        &mut self,
        partials: &Partials,
        update: &Update<'k>,
        bodies: &[Expr],
        incoming: &[Value],
    ) {
        let variables = partials.held.get(update.turn).into_iter().flatten();
        let held: Vec<_> = variables
            .clone()
            .map(|it| self.builder.use_var(*it))
            .collect();
        let combined = self.combined(update.places, bodies, &partials.types, &held, incoming);
        for (variable, value) in variables.zip(combined) {
            self.builder.def_var(*variable, value);
        }
    }

    /// Stores the last element, and loads the one that `update` goes to.
    fn go_on(&mut self, partials: &Partials, update: &Update<'k>) {
        let accesses = update.places.iter().filter_map(|place| match place {
            Place::Element(access) => Some(access),
            Place::Local(_) => None,
        });
        let elements: Vec<_> = accesses.map(|access| self.element(access)).collect();
        let places: Vec<_> = elements.iter().map(|it| self.whole_address(it)).collect();
        self.store_partials(partials);
        if let Some(place) = places.first() {
            self.reach(partials.buffer, *place);
        }
        for (part, place) in partials.parts.iter().zip(places) {
            self.builder.def_var(part.place, place);
        }
        let mut turns = partials.held.iter();
        let first = turns.next().into_iter().flatten();
        for ((variable, element), ty) in first.zip(&elements).zip(&partials.types) {
            let held = self.read_element(*ty, element);
            self.builder.def_var(*variable, held);
        }
        for variables in turns {
            for (variable, identity) in variables.iter().zip(&partials.identity) {
                let identity = operation::constant(&mut self.builder, *identity);
                self.builder.def_var(*variable, identity);
            }
        }
        let subscripts = self.subscript_values(update.access);
        for (variable, value) in partials.subscripts.iter().zip(subscripts) {
            self.builder.def_var(*variable, value);
        }
        let some = self.builder.ins().iconst(types::I64, 0);
        self.builder.def_var(partials.is_none, some);
    }

    fn store_partials(&mut self, partials: &Partials) {
        let values = self.joined(partials);
        for (part, value) in partials.parts.iter().zip(values) {
            let place = self.builder.use_var(part.place);
            let flags = MemFlagsData::trusted().with_alias_region(part.region);
            self.builder.ins().store(flags, value, place, 0);
        }
    }

    /// All values of each part in one: neighbours first, then neighbouring pairs.
    fn joined(&mut self, partials: &Partials) -> Vec<Value> {
        let turns = partials.held.iter().map(|variables| {
            let values = variables.iter().map(|it| self.builder.use_var(*it));
            values.collect::<Vec<_>>()
        });
        let mut turns: Vec<_> = turns.collect();
        while turns.len() > 1 {
            let pairs = turns.chunks(2).map(|pair| match pair {
                [left, right] => self.combined_partials(partials, left, right),
                _ => pair.concat(),
            });
            turns = pairs.collect();
        }
        turns.concat()
    }

    fn combined_partials(
        &mut self,
        partials: &Partials,
        left: &[Value],
        right: &[Value],
    ) -> Vec<Value> {
        let (bodies, types) = (&partials.bodies, &partials.types);
        let mut calls = self.program.calls();
        // Nobody knows of a function of the host whether it commutes, so none is called here.
        combine::apply_all(&mut self.builder, &mut calls, bodies, types, left, right).values
    }

    /// Stores what memory does not have yet.
    pub(super) fn end_partials(&mut self) {
        for partials in self.partials.clone() {
            self.store_partials(&partials);
        }
    }
}

/// The element of the first of `places`.
fn element(places: &[Place]) -> Option<&Access> {
    match places.first() {
        Some(Place::Element(access)) => Some(access),
        Some(Place::Local(_)) | None => None,
    }
}

/// How many statements of `forall` update `buffer`.
fn statements(forall: &Forall, buffer: ArrayId) -> usize {
    let mut statements = 0;
    walk(&forall.body, &mut |node, _| {
        let mut written = node.written_elements();
        statements += usize::from(written.any(|access| access.array == buffer));
    });
    statements
}
