//! Scalars, and elements that are the same in all turns, that every lane updates in one of its own:
//! all of these are combined when the groups are over. A sum then waits for the one before it only
//! once a group.

use super::super::function::FunctionLowering;
use super::super::operation;
use super::Group;
use super::elected::Elected;
use super::value::{self, InLanes};
use super::vectors::{Side, Vectors};
use crate::CompileError;
use crate::lower::loops::Counted;
use crate::promoted::few_elements;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};
use cranelift_frontend::Variable;
use strew_affine::lanes::{Gathering, Lanes};
use strew_affine::visit::{Loop, walk};
use strew_affine::{Access, Combiner, Expr, Node, Order, Place, Type, Value as Constant};

/// What is gathered for a scalar or an element.
pub(super) struct Gathered<'k> {
    update: Update<'k>,
    held: InRegisters,
}

/// A statement that updates.
#[derive(Clone, Copy)]
struct Update<'k> {
    statement: &'k Node,
    places: &'k [Place],
    combiner: &'k Combiner,
}

impl Gathered<'_> {
    /// Whether all turns may have to be made again, in their order.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.held.gathering.is_in_doubt()
    }

    /// The type of what tells which turn is taken, if lanes keep the numbers of turns.
    pub(super) fn elects_by(&self) -> Option<Type> {
        self.held.elected.as_ref().map(|_| self.held.ty())
    }
}

/// Where it is gathered.
#[derive(Clone, Debug)]
pub(super) struct InRegisters {
    gathering: Gathering,
    /// What changes nothing.
    identity: Constant,
    /// The same in all lanes.
    nothing: Value,
    vectors: Vec<Variable>,
    /// Which lanes have met a NaN, all ones where one has, if somebody wants to know.
    unordered: Option<Variable>,
    /// Which turns the lanes have it from, if somebody wants to know.
    elected: Option<Elected>,
}

impl InRegisters {
    pub(super) fn ty(&self) -> Type {
        self.gathering.ty
    }

    pub(super) fn gathering(&self) -> &Gathering {
        &self.gathering
    }

    pub(super) fn vectors(&self) -> &[Variable] {
        &self.vectors
    }
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Fills what each lane gathers of the scalars and elements that `body` updates, where that is
    /// the same or may be grouped otherwise.
    pub(super) fn begin_gathering(
        &mut self,
        body: &'k [Node],
        group: &mut Group<'k>,
    ) -> Vec<Gathered<'k>> {
        let mut found = Vec::new();
        for update in updates(group.lanes.split(body).0) {
            let gathering = group.lanes.gathering(update.places, update.combiner);
            let may = |it: &Gathering| {
                self.may_gather(&group.lanes, body, update.places, it, group.may_begin_again)
            };
            let Some(gathering) = gathering.filter(may) else {
                continue;
            };
            // What is the same in all lanes may be narrower than what has to fill vectors.
            let vectors = group.count / value::per_vector(gathering.ty);
            let identity = gathering.by.identity(&[gathering.ty]).unwrap_or_default();
            if let Some(identity) = identity.first().filter(|_| vectors > 0) {
                let held = self.begin_registers(gathering, *identity, vectors);
                group.gathered.insert(update.places.as_ptr(), held.clone());
                found.push(Gathered { update, held });
            }
        }
        found
    }

    fn begin_registers(
        &mut self,
        gathering: Gathering,
        identity: Constant,
        vectors: u32,
    ) -> InRegisters {
        let vector = operation::vector_of(gathering.ty);
        let nothing = value::in_all_lanes(&mut self.builder, identity);
        let mut begin = |ty, value| {
            let variable = self.builder.declare_var(ty);
            self.builder.def_var(variable, value);
            variable
        };
        let count = vectors;
        let vectors = (0..count).map(|_| begin(vector, nothing)).collect();
        let (mut unordered, mut elected) = (None, None);
        match gathering.order {
            Order::AnyButOfZerosAndNan(_) => {
                let mask = vector.as_truthy();
                let none = self.builder.ins().iconst(mask.lane_type(), 0);
                let none = self.builder.ins().splat(mask, none);
                let variable = self.builder.declare_var(mask);
                self.builder.def_var(variable, none);
                unordered = Some(variable);
            }
            Order::AnyOfTurns(by) => {
                elected = Some(Elected::none(&mut self.builder, by, gathering.ty, count));
            }
            Order::Any | Order::AnyButOfZeros | Order::OfLoop => {}
        }
        InRegisters {
            gathering,
            identity,
            nothing,
            vectors,
            unordered,
            elected,
        }
    }

    /// Whether lanes may gather updates of `places` in `body`, of which all turns may be made again
    /// or not.
    pub(super) fn may_gather(
        &self,
        lanes: &Lanes<'_>,
        body: &[Node],
        places: &[Place],
        gathering: &Gathering,
        may_begin_again: bool,
    ) -> bool {
        let may = match gathering.order {
            Order::Any => true,
            Order::AnyButOfZeros | Order::AnyButOfZerosAndNan(_) => may_begin_again,
            Order::AnyOfTurns(_) => lanes.may_pick_turns(body),
            Order::OfLoop => false,
        };
        may && self.may_group(lanes, body, places, gathering)
    }

    /// Whether all turns of `body` may be made again when lanes have gathered what they update: all
    /// of that is gathered, so nothing is updated by then.
    pub(super) fn may_begin_again(&self, lanes: &Lanes<'_>, body: &[Node]) -> bool {
        let gathers = |it: &Update<'_>| {
            let gathering = lanes.gathering(it.places, it.combiner);
            gathering.is_some_and(|gathering| self.may_group(lanes, body, it.places, &gathering))
        };
        lanes.may_begin_again(body) && updates(body).iter().all(gathers)
    }

    /// Whether the updates of `places` may be grouped by lanes. In some shapes of the body of a
    /// forall the loop has no lanes if it updates private buffers, and is to add up in the same
    /// order: which shape runs may depend on threads and memory where nothing else decides bits.
    /// For a sum that is all of its buffer, sizes alone decide.
    fn may_group(
        &self,
        lanes: &Lanes<'_>,
        body: &[Node],
        places: &[Place],
        gathering: &Gathering,
    ) -> bool {
        let is_exact = gathering.by.is_exact(&[gathering.ty]);
        is_exact || self.may_round(lanes, body, places, gathering)
    }

    fn may_round(
        &self,
        lanes: &Lanes<'_>,
        body: &[Node],
        places: &[Place],
        gathering: &Gathering,
    ) -> bool {
        let kernel = self.program.kernel;
        let is_private = |it: &Access| {
            let mut loops = self.loops.iter();
            loops
                .any(|around| matches!(around, Loop::Forall(forall) if forall.has_buffer(it.array)))
        };
        let is_whole = |it: &Access| few_elements(kernel, it.array) == Some(1);
        let is_own = |it: &Place| matches!(it, Place::Element(access) if is_private(access) && is_whole(access));
        let are_own = places.iter().all(is_own);
        let may_be = |it: &Access| !is_private(it) || are_own && !lanes.is_varying(it);
        let may = self.program.rounding.regroups(&gathering.by, gathering.ty);
        may && updates(body).iter().all(|it| {
            let mut elements = it.places.iter().filter_map(Place::element);
            elements.all(may_be)
        })
    }

    /// Updates the scalars and elements with what all lanes of groups have gathered. Where that
    /// tells the order of the turns of `counted`, nothing is updated, and they begin again, at the
    /// first one, in the block `rest`; `updates` were made before them.
    pub(super) fn end_gathering(
        &mut self,
        gathered: Vec<Gathered<'k>>,
        (counted, group): (&Counted<'k>, &Group<'k>),
        (rest, updates): (Block, Value),
    ) -> Result<(), CompileError> {
        let is_in_doubt = gathered.iter().any(Gathered::is_in_doubt);
        let again = self.builder.create_block();
        let mut combined = Vec::new();
        for it in &gathered {
            let all = match it.held.elected {
                Some(_) => None,
                None => self.of_all_lanes(&it.held),
            };
            if let Some(all) = all.filter(|_| it.is_in_doubt()) {
                self.settle_doubts(it, all, again);
            }
            combined.push(all);
        }
        if is_in_doubt {
            self.begin_again(again, (rest, counted.lower), updates);
        }
        for (Gathered { update, held }, all) in gathered.into_iter().zip(combined) {
            if let Some(elected) = &held.elected {
                self.update_by_elected((&held, elected), update.statement, (counted, group))?;
            } else if let Some(all) = all {
                self.update_by(update.places, update.combiner, &[all]);
            }
        }
        Ok(())
    }

    /// Fills the block `again`: so many `updates` were made, and the turns are made again from the
    /// `first` one on.
    fn begin_again(&mut self, again: Block, (rest, first): (Block, Value), updates: Value) {
        let next = self.builder.create_block();
        self.builder.ins().jump(next, &[]);
        self.builder.set_cold_block(again);
        self.builder.switch_to_block(again);
        self.builder.def_var(self.updates, updates);
        let first = [BlockArg::Value(first)];
        self.builder.ins().jump(rest, &first);
        self.builder.switch_to_block(next);
    }

    /// What all lanes have gathered, by a tree: vectors first, then the lanes of the last one.
    fn of_all_lanes(&mut self, held: &InRegisters) -> Option<Value> {
        let vectors = held.vectors.iter();
        let vectors = vectors.map(|it| self.builder.use_var(*it)).collect();
        let vector = self.tree(&held.gathering, vectors)?;
        let lanes = InLanes::Each(vec![vector]);
        let numbers = 0..value::per_vector(held.gathering.ty);
        let lanes = numbers.filter_map(|number| value::lane(&mut self.builder, &lanes, number));
        let lanes = lanes.collect();
        self.tree(&held.gathering, lanes)
    }

    /// Goes to the block `again` if `all` that lanes hold would be another value in another order.
    ///
    /// Each lane keeps its order. So if all lanes that end with a zero end with that of one sign,
    /// the one that the loop is left with, which is the first or the last one of a lane, has this
    /// sign. And where no lane has met a NaN, the combiner that has an identity differs from the
    /// other one in nothing but what it does to a NaN that was held before if no update came.
    fn settle_doubts(&mut self, it: &Gathered<'k>, all: Value, again: Block) {
        let held = &it.held;
        if let Some(unordered) = held.unordered {
            let unordered = self.builder.use_var(unordered);
            let unordered = self.builder.ins().vany_true(unordered);
            let identity = operation::constant(&mut self.builder, held.identity);
            let is_nothing = self.builder.ins().fcmp(FloatCC::Equal, all, identity);
            let is_nothing = match self.is_unordered(it.update.places) {
                Some(is_nan) => self.builder.ins().band(is_nothing, is_nan),
                None => is_nothing,
            };
            let is_told = self.builder.ins().bor(unordered, is_nothing);
            let next = self.builder.create_block();
            self.builder.ins().brif(is_told, again, &[], next, &[]);
            self.builder.switch_to_block(next);
        }
        let [look, next] = [(); 2].map(|()| self.builder.create_block());
        self.builder.set_cold_block(look);
        let zero = operation::zero(&mut self.builder, held.gathering.ty);
        let is_zero = self.builder.ins().fcmp(FloatCC::Equal, all, zero);
        self.builder.ins().brif(is_zero, look, &[], next, &[]);
        self.builder.switch_to_block(look);
        let is_told = self.has_both_zeros(held);
        self.builder.ins().brif(is_told, again, &[], next, &[]);
        self.builder.switch_to_block(next);
    }

    /// Whether the only one of `places` holds a NaN, unless a register may hold it, or nothing yet.
    fn is_unordered(&mut self, places: &'k [Place]) -> Option<Value> {
        let [place] = places else { return None };
        if self.run_of(places).is_some() || !self.pages.is_empty() {
            return None;
        }
        let held = self.value_at(place);
        Some(self.builder.ins().fcmp(FloatCC::Unordered, held, held))
    }

    /// Whether some lanes hold a zero with a sign, and others one without.
    fn has_both_zeros(&mut self, held: &InRegisters) -> Value {
        let bits = operation::vector_of(held.gathering.ty).as_truthy();
        let sign = 1_i64 << (bits.lane_bits() - 1);
        let signs = [0, sign].map(|zero| {
            let zero = self.builder.ins().iconst(bits.lane_type(), zero);
            let zero = self.builder.ins().splat(bits, zero);
            let any = held.vectors.iter().map(|it| {
                let vector = self.builder.use_var(*it);
                let vector = value::bits_as(&mut self.builder, bits, vector);
                self.builder.ins().icmp(IntCC::Equal, vector, zero)
            });
            let any: Vec<_> = any.collect();
            let any = any
                .into_iter()
                .reduce(|one, other| self.builder.ins().bor(one, other));
            any.map(|it| self.builder.ins().vany_true(it))
        });
        match signs {
            [Some(plus), Some(minus)] => self.builder.ins().band(plus, minus),
            _ => self.builder.ins().iconst(types::I8, 1),
        }
    }

    /// All of `values` combined: each of the first half with one of the second, until there is one
    /// left.
    pub(super) fn tree(&mut self, by: &Gathering, mut values: Vec<Value>) -> Option<Value> {
        while values.len() > 1 {
            let second = values.split_off(values.len().div_ceil(2));
            for (held, incoming) in values.iter_mut().zip(second) {
                *held = self.combined_values((&by.by, by.ty), *held, incoming);
            }
        }
        values.first().copied()
    }
}

/// What is updated by what in `body`, conditions in it included.
fn updates(body: &[Node]) -> Vec<Update<'_>> {
    let mut found = Vec::new();
    walk(body, &mut |statement, _| {
        if let Node::Reduce {
            places, combiner, ..
        } = statement
        {
            found.push(Update {
                statement,
                places,
                combiner,
            });
        }
    });
    found
}

impl<'k> Vectors<'_, '_, 'k, '_> {
    /// What is `incoming` where the statement is meant, and elsewhere what changes nothing.
    fn where_meant(&mut self, held: &InRegisters, incoming: Vec<Value>) -> Vec<Value> {
        let Some((condition, side)) = self.meant.clone() else {
            return incoming;
        };
        let nothing = vec![held.nothing; incoming.len()];
        let (then, otherwise) = match side {
            Side::Then => (incoming, nothing),
            Side::Otherwise => (nothing, incoming),
        };
        self.selected(condition, then, otherwise, held.gathering.ty)
    }

    /// In which lanes the statement is meant, as masks for lanes of so many bytes; none where it is
    /// meant in all of them.
    pub(super) fn meant_lanes(&mut self, bytes: u32) -> Vec<Value> {
        let Some((condition, side)) = self.meant.clone() else {
            return Vec::new();
        };
        let masks = self.mask(condition, bytes);
        match side {
            Side::Then => masks,
            Side::Otherwise => {
                let builder = &mut self.function.builder;
                masks.into_iter().map(|it| builder.ins().bnot(it)).collect()
            }
        }
    }

    /// Combines `values` into what is gathered.
    pub(super) fn gather(&mut self, held: &InRegisters, values: &'k [Expr]) {
        if let Some(elected) = &held.elected {
            return self.elect(held, elected, values);
        }
        let [incoming] = values else { return };
        let incoming = self.expr(incoming);
        let incoming = self.spread(incoming, held.gathering.ty);
        let incoming = self.where_meant(held, incoming);
        for (vector, incoming) in held.vectors.iter().zip(incoming) {
            self.note_unordered(held, incoming);
            let before = self.function.builder.use_var(*vector);
            let by = (&held.gathering.by, held.gathering.ty);
            let value = self.function.combined_values(by, before, incoming);
            self.function.builder.def_var(*vector, value);
        }
    }

    /// Keeps in mind which lanes of `incoming` are a NaN, if somebody wants to know.
    fn note_unordered(&mut self, held: &InRegisters, incoming: Value) {
        let Some(unordered) = held.unordered else {
            return;
        };
        let builder = &mut self.function.builder;
        let here = (builder.ins()).fcmp(FloatCC::Unordered, incoming, incoming);
        let before = builder.use_var(unordered);
        let any = builder.ins().bor(before, here);
        builder.def_var(unordered, any);
    }
}
