//! Scalars that every lane updates in one of its own: all of these are combined when the groups are over. A sum then waits for the one
//! before it only once a group.

use super::super::combine;
use super::super::function::FunctionLowering;
use super::super::operation;
use super::Group;
use super::value::{self, InLanes};
use super::vectors::Vectors;
use crate::form::Rounding;
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::Variable;
use strew_affine::lanes::gathered;
use strew_affine::visit::Loop;
use strew_affine::{Combiner, Expr, LocalId, Node, Place, Type};

/// A scalar that is gathered.
pub(super) struct Gathered<'k> {
    places: &'k [Place],
    combiner: &'k Combiner,
    ty: Type,
    vectors: Vec<Variable>,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Fills what each lane gathers of the scalars that `body` updates, where that is the same or may be grouped otherwise.
    pub(super) fn begin_gathering(
        &mut self,
        body: &'k [Node],
        group: &mut Group<'k>,
    ) -> Vec<Gathered<'k>> {
        let kernel = self.program.kernel;
        let mut found = Vec::new();
        // Other shapes of the same body have no lanes, and are to add up in the same order.
        let in_foralls = self.loops.iter().filter_map(|it| match it {
            Loop::Forall(forall) => Some(forall),
            Loop::Affine(_) | Loop::Scf(_) => None,
        });
        let mut written = body.iter().flat_map(Node::written_elements);
        let has_shapes = written.any(|it| in_foralls.clone().any(|at| at.has_buffer(it.array)));
        if has_shapes {
            return found;
        }
        for node in group.lanes.split(body).0 {
            let Node::Reduce {
                places, combiner, ..
            } = node
            else {
                continue;
            };
            let Some(local) = gathered(kernel, places, combiner) else {
                continue;
            };
            if group.lanes.is_own(local) {
                continue;
            }
            let ty = kernel.locals[local].ty;
            // What is the same in all lanes may be narrower than what has to fill vectors.
            if group.count < value::per_vector(ty) {
                continue;
            }
            let may = self.program.rounding != Rounding::Written || combiner.is_exact(&[ty]);
            let identity = combiner.identity(&[ty]).and_then(|it| it.first().copied());
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
            let vectors: Vec<_> = vectors.map(|_| begin()).collect();
            group.gathered.insert(local, vectors.clone());
            found.push(Gathered {
                places,
                combiner,
                ty,
                vectors,
            });
        }
        found
    }

    /// Updates the scalar with what all lanes have gathered, by a tree: vectors first, then the lanes of the last one.
    pub(super) fn end_gathering(&mut self, it: Gathered<'k>) {
        let vectors = it.vectors.iter();
        let vectors: Vec<_> = vectors.map(|it| self.builder.use_var(*it)).collect();
        let by = (it.combiner, it.ty);
        let Some(vector) = self.tree(by, vectors) else {
            return;
        };
        let lanes = InLanes::Each(vec![vector]);
        let numbers = 0..value::per_vector(it.ty);
        let lanes = numbers.filter_map(|number| value::lane(&mut self.builder, &lanes, number));
        let lanes = lanes.collect();
        if let Some(all) = self.tree(by, lanes) {
            self.update_locals(it.places, it.combiner, &[all]);
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

impl<'k> Vectors<'_, '_, 'k, '_> {
    pub(super) fn gather(&mut self, local: LocalId, combiner: &Combiner, values: &'k [Expr]) {
        let ty = self.function.program.kernel.locals[local].ty;
        let [incoming] = values else { return };
        let incoming = self.expr(incoming);
        let incoming = self.spread(incoming, ty);
        let vectors = self.group.gathered.get(&local).cloned().unwrap_or_default();
        for (vector, incoming) in vectors.into_iter().zip(incoming) {
            let held = self.function.builder.use_var(vector);
            let value = self.function.combined_lanes((combiner, ty), held, incoming);
            self.function.builder.def_var(vector, value);
        }
    }
}
