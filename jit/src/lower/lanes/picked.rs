//! Elements that each lane picks for itself, `x[col[p]]`: they are loaded one by one, and put into
//! vectors.

use super::Group;
use super::ahead::Turns;
use super::looked::Looked;
use super::stored::Stored;
use super::value;
use super::vectors::Vectors;
use crate::lower::function::FunctionLowering;
use cranelift_codegen::ir::Value;
use std::collections::BTreeSet;
use strew_affine::visit::{for_each_load_in_subscripts, for_each_local_in_subscripts};
use strew_affine::{Access, Expr, Node, Type};

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
                function.bind_lane(
                    declared.iter().copied(),
                    (&self.locals, &Stored::new()),
                    number,
                );
                function.keep_looked(&looked);
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

    /// Looks at the keys of `access` in all lanes at once, if that was not done before.
    fn look_together(&mut self, access: &'k Access) -> Vec<Looked<'k>> {
        let keys = self.function.keys_of(access, self.group);
        for key in &keys {
            if !self.looked.iter().any(|it| it.is_same(&key.base)) {
                let vectors = self.expr(key.base.expr);
                let vectors = self.spread(vectors, Type::I32);
                self.function.look_in_lanes(&vectors, key);
                self.looked.push(key.base);
            }
        }
        let looked = keys.into_iter().map(|it| Looked {
            base: it.base,
            vectors: Vec::new(),
        });
        looked.collect()
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
