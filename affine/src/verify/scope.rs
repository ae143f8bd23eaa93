use crate::{ArrayId, IterId, LocalId, RecordId, ScalarId};
use std::collections::HashSet;

/// What is visible at a point of the text, and what was declared so far.
#[derive(Default)]
pub(super) struct Scope<'k> {
    pub(super) scalars: HashSet<ScalarId>,
    pub(super) arrays: HashSet<ArrayId>,
    pub(super) records: HashSet<RecordId>,
    pub(super) iters: Vec<IterId>,
    pub(super) locals: Vec<LocalId>,
    /// The local arrays among `arrays`.
    pub(super) allocated: Vec<ArrayId>,
    /// The targets of the foralls around.
    frozen: Vec<ArrayId>,
    /// How many of `locals` were declared outside of the innermost forall.
    outside_forall: usize,
    names: HashSet<&'k str>,
    bound: HashSet<IterId>,
    declared: HashSet<LocalId>,
    owned: HashSet<ArrayId>,
}

/// What [`Scope::leave_forall`] puts back.
pub(super) struct OuterForall {
    frozen: usize,
    outside_forall: usize,
}

impl<'k> Scope<'k> {
    /// Whether the name was free.
    pub(super) fn take_name(&mut self, name: &'k str) -> bool {
        self.names.insert(name)
    }

    /// Whether no loop bound the iterator before.
    pub(super) fn bind(&mut self, iter: IterId) -> bool {
        self.bound.insert(iter)
    }

    /// Makes the local visible; whether it was not declared before.
    pub(super) fn declare(&mut self, local: LocalId) -> bool {
        self.locals.push(local);
        self.declared.insert(local)
    }

    /// Makes the buffer visible; whether it is neither a parameter nor another forall's.
    pub(super) fn own(&mut self, buffer: ArrayId) -> bool {
        self.owned.insert(buffer) && self.arrays.insert(buffer)
    }

    /// Makes the local array visible; whether it is neither a parameter, nor a private buffer, nor
    /// allocated elsewhere.
    pub(super) fn allocate(&mut self, array: ArrayId) -> bool {
        let is_new = self.own(array);
        if is_new {
            self.allocated.push(array);
        }
        is_new
    }

    /// Ends a block in which the local arrays after the first `outer` were allocated.
    pub(super) fn free(&mut self, outer: usize) {
        for array in self.allocated.split_off(outer.min(self.allocated.len())) {
            self.arrays.remove(&array);
        }
    }

    /// Forbids accesses to the target; whether they were allowed.
    pub(super) fn freeze(&mut self, target: ArrayId) -> bool {
        let was_free = !self.is_frozen(target);
        self.frozen.push(target);
        was_free
    }

    pub(super) fn is_frozen(&self, array: ArrayId) -> bool {
        self.frozen.contains(&array)
    }

    pub(super) fn enter_forall(&mut self) -> OuterForall {
        let outer = OuterForall {
            frozen: self.frozen.len(),
            outside_forall: self.outside_forall,
        };
        self.outside_forall = self.locals.len();
        outer
    }

    pub(super) fn leave_forall(&mut self, outer: OuterForall) {
        self.frozen.truncate(outer.frozen);
        self.outside_forall = outer.outside_forall;
    }

    pub(super) fn is_outside_forall(&self, local: LocalId) -> bool {
        let outside = self.locals.iter().take(self.outside_forall);
        outside.copied().any(|it| it == local)
    }
}
