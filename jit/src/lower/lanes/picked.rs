//! Elements that each lane picks for itself, `x[col[p]]`: they are loaded one by one, and put into vectors.

use super::Group;
use super::ahead::Turns;
use super::value;
use super::vectors::Vectors;
use crate::lower::function::FunctionLowering;
use cranelift_codegen::ir::Value;
use std::collections::BTreeSet;
use strew_affine::visit::{for_each_load_in_subscripts, for_each_local_in_subscripts};
use strew_affine::{Access, AffineExpr, Expr, Node, Type};

/// An integer, what it is compared with, and the least and the most of what is added to it.
pub(super) type Base<'k> = (&'k Expr, &'k AffineExpr, (i64, i64));

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Looks whether all that the subscripts of `access` are computed from is in range.
    pub(super) fn prepare_picked(
        &mut self,
        access: &'k Access,
        turns: &Turns<'k>,
        group: &mut Group<'k>,
    ) {
        for_each_load_in_subscripts(access, &mut |it| {
            if !group.lanes.is_picked(it) {
                self.look_ahead(it, turns, group);
            }
        });
    }
}

impl<'k> Vectors<'_, '_, 'k, '_> {
    /// The elements of `access`, one for each lane.
    pub(super) fn pick(&mut self, access: &'k Access) -> Vec<Value> {
        let ty = self.element_type(access);
        let declared = self.wanted_for(access);
        let looked = self.look_together(access);
        let lanes = (0..self.group.count).map(|number| {
            self.function.in_lane(self.iter, number, |function, turn| {
                for extent in &self.group.in_range {
                    function.keep_in_range(turn, extent);
                }
                function.bind_lane(declared.iter().copied(), &self.locals, number);
                for (base, bound, offsets) in &looked {
                    let value = function.extended(base);
                    function.keep_base(base, bound, *offsets, value);
                }
                function.load(access)
            })
        });
        let lanes: Vec<_> = lanes.collect();
        let vectors = lanes.chunks(value::per_vector(ty) as usize);
        let builder = &mut self.function.builder;
        vectors
            .filter_map(|it| value::vector(builder, ty, it))
            .collect()
    }

    /// Looks at all lanes at once whether what the subscripts of `access` add constants to is in range, if that is not known: which numbers are, each
    /// below what. Where one of them is not, its turn fails at one of its elements, so that the call ends with a fault in any case.
    fn look_together(&mut self, access: &'k Access) -> Vec<Base<'k>> {
        let function = &*self.function;
        let Some(array) = function.arrays.get(access.array).cloned() else {
            return Vec::new();
        };
        let declared = &function.program.kernel.arrays[access.array].extents;
        let dimensions = access.subscripts.iter().zip(declared).zip(array.extents);
        let mut in_range = Vec::new();
        for (dimension, ((subscript, bound), extent)) in dimensions.enumerate() {
            if self.function.stays_in(access, dimension) || !self.group.lanes.is_moving(subscript) {
                continue;
            }
            let together = self.function.base_checked_together(subscript, bound);
            let numbers = self.function.numbers_in_range(subscript, bound, extent);
            let (Some((base, offsets)), Some((_, first, count))) = (together, numbers) else {
                continue;
            };
            let is_known =
                |it: &Base<'_>| (it.0.is_same(base), it.1, it.2) == (true, bound, offsets);
            if !self.looked.iter().any(is_known) {
                self.look(base, (first, count));
                self.looked.push((base, bound, offsets));
            }
            in_range.push((base, bound, offsets));
        }
        in_range
    }

    /// Leaves unless `base`, a 32-bit integer, is in `range` in all lanes: the first number, and how many there are.
    fn look(&mut self, base: &'k Expr, range: (i64, Value)) {
        let lanes = self.expr(base);
        let lanes = self.spread(lanes, Type::I32);
        self.function.look_in_lanes(&lanes, range);
    }

    /// What declares the scalars that the subscripts of `access` are computed from.
    fn wanted_for(&self, access: &'k Access) -> Vec<&'k Node> {
        let mut wanted = BTreeSet::new();
        for_each_local_in_subscripts(access, &mut |it| wanted.extend([it]));
        let mut declared = Vec::new();
        for node in self.together.iter().rev() {
            if let Node::Declare { local, value } = node
                && wanted.contains(local)
            {
                // A load is made again, by scalars that it needs itself.
                if let Expr::Load(access) = value {
                    for_each_local_in_subscripts(access, &mut |it| wanted.extend([it]));
                }
                declared.push(node);
            }
        }
        declared.reverse();
        declared
    }
}
