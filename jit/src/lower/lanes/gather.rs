//! Scalars, and elements that are the same in all turns, that every lane updates in one of its own: all of these are combined when the
//! groups are over. A sum then waits for the one before it only once a group.

use super::super::combine;
use super::super::function::FunctionLowering;
use super::super::operation;
use super::Group;
use super::value::{self, InLanes};
use super::vectors::{Side, Vectors};
use crate::promoted::few_elements;
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::Variable;
use strew_affine::lanes::Lanes;
use strew_affine::visit::{Loop, walk};
use strew_affine::{Access, Combiner, Expr, Node, Place, Type};

/// What is gathered for a scalar or an element.
pub(super) struct Gathered<'k> {
    places: &'k [Place],
    combiner: &'k Combiner,
    held: InRegisters,
}

/// Where it is gathered.
#[derive(Clone, Debug)]
pub(super) struct InRegisters {
    ty: Type,
    /// In all lanes, what changes nothing.
    nothing: Value,
    vectors: Vec<Variable>,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Fills what each lane gathers of the scalars and elements that `body` updates, where that is the same or may be grouped otherwise.
    pub(super) fn begin_gathering(
        &mut self,
        body: &'k [Node],
        group: &mut Group<'k>,
    ) -> Vec<Gathered<'k>> {
        let mut found = Vec::new();
        for (places, combiner) in updates(group.lanes.split(body).0) {
            let Some(ty) = group.lanes.gathered(places, combiner) else {
                continue;
            };
            // What is the same in all lanes may be narrower than what has to fill vectors.
            if group.count < value::per_vector(ty) {
                continue;
            }
            let identity = combiner.identity(&[ty]).and_then(|it| it.first().copied());
            let may = self.may_gather(&group.lanes, body, (places, combiner, ty));
            let Some(identity) = identity.filter(|_| may) else {
                continue;
            };
            let identity = operation::constant(&mut self.builder, identity);
            let vector = operation::vector_of(ty);
            let identity = self.builder.ins().splat(vector, identity);
            let vectors = 0..group.count / value::per_vector(ty);
            let mut begin = || {
                let variable = self.builder.declare_var(vector);
                self.builder.def_var(variable, identity);
                variable
            };
            let held = InRegisters {
                ty,
                nothing: identity,
                vectors: vectors.map(|_| begin()).collect(),
            };
            group.gathered.insert(places.as_ptr(), held.clone());
            found.push(Gathered {
                places,
                combiner,
                held,
            });
        }
        found
    }

    /// Whether lanes may gather updates of `places` by `combiner` in `body`. In some shapes of the body of a forall the loop has no lanes if it
    /// updates private buffers, and is to add up in the same order: which shape runs may depend on threads and memory where nothing else
    /// decides bits. For a sum that is all of its buffer, sizes alone decide.
    pub(super) fn may_gather(
        &self,
        lanes: &Lanes<'_>,
        body: &[Node],
        (places, combiner, ty): (&[Place], &Combiner, Type),
    ) -> bool {
        let kernel = self.program.kernel;
        let is_private = |it: &Access| {
            let mut loops = self.loops.iter();
            loops
                .any(|around| matches!(around, Loop::Forall(forall) if forall.has_buffer(it.array)))
        };
        let is_free = combiner.is_exact(&[ty]);
        let is_whole = |it: &Access| few_elements(kernel, it.array) == Some(1);
        let is_own = |it: &Place| matches!(it, Place::Element(access) if is_private(access) && is_whole(access));
        let are_own = places.iter().all(is_own);
        let may_be = |it: &Access| !is_private(it) || are_own && !lanes.is_varying(it);
        let may = self.program.rounding.regroups(combiner, ty);
        is_free
            || may
                && updates(body).iter().all(|(places, _)| {
                    let mut elements = places.iter().filter_map(Place::element);
                    elements.all(may_be)
                })
    }

    /// Updates the scalar or element with what all lanes have gathered, by a tree: vectors first, then the lanes of the last one.
    pub(super) fn end_gathering(&mut self, it: Gathered<'k>) {
        let ty = it.held.ty;
        let vectors = it.held.vectors.iter();
        let vectors: Vec<_> = vectors.map(|it| self.builder.use_var(*it)).collect();
        let by = (it.combiner, ty);
        let Some(vector) = self.tree(by, vectors) else {
            return;
        };
        let lanes = InLanes::Each(vec![vector]);
        let numbers = 0..value::per_vector(ty);
        let lanes = numbers.filter_map(|number| value::lane(&mut self.builder, &lanes, number));
        let lanes = lanes.collect();
        if let Some(all) = self.tree(by, lanes) {
            self.update_by(it.places, it.combiner, &[all]);
        }
    }

    /// All of `values` combined: each of the first half with one of the second, until there is one left.
    fn tree(&mut self, by: (&Combiner, Type), mut values: Vec<Value>) -> Option<Value> {
        while values.len() > 1 {
            let second = values.split_off(values.len().div_ceil(2));
            for (held, incoming) in values.iter_mut().zip(second) {
                *held = self.combined_lanes(by, *held, incoming);
            }
        }
        values.first().copied()
    }

    /// One vector or value combined with another.
    pub(super) fn combined_lanes(
        &mut self,
        (combiner, ty): (&Combiner, Type),
        held: Value,
        incoming: Value,
    ) -> Value {
        let bodies = combiner.bodies(&[ty]).unwrap_or_default();
        let mut calls = self.program.calls();
        let builder = &mut self.builder;
        let types = [ty];
        let combined =
            combine::apply_all(builder, &mut calls, &bodies, &types, &[held], &[incoming]);
        combined.values.first().copied().unwrap_or(held)
    }
}

/// What is updated by what in `body`, conditions in it included.
fn updates(body: &[Node]) -> Vec<(&[Place], &Combiner)> {
    let mut found = Vec::new();
    walk(body, &mut |node, _| {
        if let Node::Reduce {
            places, combiner, ..
        } = node
        {
            found.push((places.as_slice(), combiner));
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
        self.selected(condition, then, otherwise, held.ty)
    }

    /// Combines `values` into what is gathered.
    pub(super) fn gather(&mut self, held: &InRegisters, combiner: &Combiner, values: &'k [Expr]) {
        let [incoming] = values else { return };
        let incoming = self.expr(incoming);
        let incoming = self.spread(incoming, held.ty);
        let incoming = self.where_meant(held, incoming);
        for (vector, incoming) in held.vectors.iter().zip(incoming) {
            let before = self.function.builder.use_var(*vector);
            let by = (combiner, held.ty);
            let value = self.function.combined_lanes(by, before, incoming);
            self.function.builder.def_var(*vector, value);
        }
    }
}
