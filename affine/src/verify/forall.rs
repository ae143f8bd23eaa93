//! What the body of a forall does with the arrays that the forall says something of.

use super::{Verifier, ViolationKind};
use crate::speculation::{Updated, is_contained};
use crate::visit::{allocated_arrays, for_each_load_of, walk};
use crate::{Access, ArrayId, Disjoint, Forall, Node, Private, Type};

impl<'k> Verifier<'k> {
    pub(super) fn disjoint(&mut self, forall: &'k Forall) {
        let kernel = self.kernel;
        for Disjoint { target, met } in &forall.disjoint {
            let (Some(array), Some(marks)) =
                (self.visible_array(*target), self.visible_array(*met))
            else {
                continue;
            };
            let is_private = forall
                .buffers()
                .any(|(buffer, merged)| buffer == *target || merged == *target);
            let mut touched = false;
            walk(&forall.body, &mut |node, _| {
                touched |= matches!(node, Node::Forall(_));
                let mut touch = |access: &Access| touched |= access.array == *met;
                for_each_load_of(node, &mut touch);
                node.written_elements().for_each(touch);
            });
            let is_local = allocated_arrays(&kernel.body).contains(met);
            let is_mark = marks.element == Type::U8 && is_local && !touched;
            let is_plain = array.field.is_none() && !is_private;
            if !is_mark || !is_plain || array.extents != marks.extents {
                self.report(ViolationKind::NotDisjoint);
            }
        }
    }

    /// What the body updates itself and may read: it has to be fit to run for nothing.
    pub(super) fn speculative(&mut self, private: &'k Private, forall: &'k Forall) {
        let combiner = &private.combiner;
        let targets = private.targets.iter();
        let targets: Vec<_> = targets.map(|it| self.visible_array(*it)).collect();
        let Some(targets) = targets.into_iter().collect::<Option<Vec<_>>>() else {
            return;
        };
        if targets.len() != combiner.parts() {
            return self.wrong_part_count(combiner, targets.len(), targets.len());
        }
        self.merged(&targets, combiner);
        let is_target = |array: ArrayId| {
            let of = forall.buffers().filter(move |(_, target)| *target == array);
            of.count() == 1
        };
        let updated = forall.privates.iter().map(|it| Updated {
            arrays: &it.buffers,
            combiner: &it.combiner,
            is_read: it.is_speculative(),
        });
        let updated: Vec<_> = updated.collect();
        let has_identity = |it: &Private| it.combiner.identity(&it.types(self.kernel)).is_some();
        let is_speculative = private.targets.iter().all(|it| is_target(*it))
            && forall.privates.iter().all(has_identity)
            && forall.disjoint.is_empty()
            && is_contained(&forall.body, &updated);
        if !is_speculative {
            self.report(ViolationKind::NotSpeculative);
        }
    }

    /// Buffers that begin as what is in their targets, for want of an identity, cannot be told from them: updates are all that is done to
    /// them, and to those beside them.
    pub(super) fn in_order(&mut self, forall: &'k Forall) {
        let has_identity = |it: &Private| it.combiner.identity(&it.types(self.kernel)).is_some();
        let Some(ordered) = forall.privates.iter().find(|it| !has_identity(it)) else {
            return;
        };
        if !only_updates(forall) {
            let combiner = ordered.combiner.to_string();
            self.report(ViolationKind::NotInOrder(combiner));
        }
    }
}

/// Whether all that the body does with its private buffers is to update them by their combiners.
fn only_updates(forall: &Forall) -> bool {
    let private_of = |array: ArrayId| {
        let mut privates = forall.privates.iter();
        privates.find(|it| it.buffers.contains(&array))
    };
    let mut only = true;
    walk(&forall.body, &mut |node, _| {
        for_each_load_of(node, &mut |access| {
            only &= private_of(access.array).is_none();
        });
        let arrays: Vec<_> = node.written_elements().map(|it| it.array).collect();
        let private = arrays.iter().find_map(|array| private_of(*array));
        only &= match (node, private) {
            (Node::Forall(_), _) => false,
            (Node::Reduce { combiner, .. }, Some(private)) => {
                *combiner == private.combiner && arrays == private.buffers
            }
            (_, Some(_)) => false,
            (_, None) => true,
        };
    });
    only
}
