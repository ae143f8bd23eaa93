//! What the body of a forall does with the arrays that the forall says something of.

use super::{Verifier, ViolationKind};
use crate::speculation::{Updated, is_contained};
use crate::visit::{allocated_arrays, for_each_load_of, walk};
use crate::{Access, AffineExpr, Array, ArrayId, Combiner, Disjoint, Forall, Node, Private, Type};

impl<'k> Verifier<'k> {
    /// That buffers are like their targets, and can be merged into them.
    pub(super) fn private(&mut self, private: &'k Private) {
        let combiner = &private.combiner;
        let (places, values) = (private.targets.len(), private.buffers.len());
        if (places, values) != (combiner.parts(), combiner.parts()) {
            return self.wrong_part_count(combiner, places, values);
        }
        let pairs = private.buffers.iter().zip(&private.targets);
        let targets: Vec<_> = pairs
            .map(|(buffer, target)| self.buffer(*buffer, *target))
            .collect();
        if let Some(targets) = targets.into_iter().collect::<Option<Vec<_>>>() {
            self.merged(&targets, combiner);
        }
    }

    /// That targets can be merged together.
    fn merged(&mut self, targets: &[&'k Array], combiner: &'k Combiner) {
        for pair in targets.windows(2) {
            if let [first, second] = pair
                && !self.are_equal(&first.extents, &second.extents)
            {
                self.report(ViolationKind::TargetsDiffer {
                    first: first.name.clone(),
                    second: second.name.clone(),
                });
            }
        }
        let types: Vec<_> = targets.iter().map(|it| it.element).collect();
        self.combiner(combiner, Some(types.clone()));
        self.identity(combiner, &types);
    }

    fn are_equal(&self, left: &[AffineExpr], right: &[AffineExpr]) -> bool {
        let mut pairs = left.iter().zip(right);
        left.len() == right.len()
            && pairs.all(|(left, right)| self.kernel.assumes_equal(left, right))
    }

    /// Checks one private buffer; the target it belongs to.
    fn buffer(&mut self, id: ArrayId, target_id: ArrayId) -> Option<&'k Array> {
        let (buffer, target) = (self.known_array(id)?, self.known_array(target_id)?);
        self.here = buffer.span;
        self.visible_array(target_id);
        if !self.scope.freeze(target_id) {
            self.report(ViolationKind::TargetTouched(target.name.clone()));
        }
        if self.scope.own(id) {
            self.new_name(&buffer.name);
            self.own_array(buffer);
        } else {
            self.report(ViolationKind::NotPrivate(buffer.name.clone()));
        }
        if (buffer.element, &buffer.extents) != (target.element, &target.extents) {
            self.report(ViolationKind::UnlikeTarget {
                buffer: buffer.name.clone(),
                target: target.name.clone(),
            });
        }
        Some(target)
    }

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

    /// Buffers that begin as what is in their targets, for want of an identity, cannot be told from
    /// them: updates are all that is done to them, and to those beside them.
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
