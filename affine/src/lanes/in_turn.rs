//! The end of a loop's body that runs turn by turn, behind what all turns of a group do at once.

use crate::visit::{for_each_load, for_each_load_in_subscripts, for_each_local_read, walk};
use crate::{ArrayId, LocalId, Node, Place};
use std::collections::BTreeSet;

/// Whether the turns of a group may make `first`, all of them, before any makes `then`, which they
/// make one after the other: nothing that one of both writes is used by the other, but for what
/// `first` declares, and `then` holds no loop.
pub(super) fn may_follow(first: &[Node], then: &[Node]) -> bool {
    let (first, then) = (Uses::of(first), Uses::of(then));
    let in_memory =
        first.written.is_disjoint(&then.elements()) && then.written.is_disjoint(&first.elements());
    let carried: BTreeSet<_> = first.set.difference(&first.declared).copied().collect();
    let in_scalars = then.set.is_disjoint(&first.scalars()) && carried.is_disjoint(&then.scalars());
    !then.has_blocks && in_memory && in_scalars
}

/// What statements use.
#[derive(Default)]
struct Uses {
    written: BTreeSet<ArrayId>,
    read: BTreeSet<ArrayId>,
    declared: BTreeSet<LocalId>,
    set: BTreeSet<LocalId>,
    used: BTreeSet<LocalId>,
    /// Loops, or arrays of their own.
    has_blocks: bool,
}

impl Uses {
    fn of(body: &[Node]) -> Self {
        let mut uses = Self::default();
        walk(body, &mut |node, _| uses.statement(node));
        uses
    }

    fn statement(&mut self, node: &Node) {
        self.has_blocks |= !matches!(
            node,
            Node::Declare { .. }
                | Node::Assign { .. }
                | Node::Reduce { .. }
                | Node::ScfIf { .. }
                | Node::AffineIf { .. }
        );
        if let Node::Declare { local, .. } = node {
            self.declared.insert(*local);
        }
        for expr in node.expressions() {
            for_each_load(expr, &mut |it| {
                self.read.insert(it.array);
            });
        }
        for_each_local_read(node, &mut |it| {
            self.used.insert(it);
        });
        for place in node.places() {
            match place {
                Place::Local(local) => {
                    self.set.insert(*local);
                }
                Place::Element(access) => {
                    self.written.insert(access.array);
                    for_each_load_in_subscripts(access, &mut |it| {
                        self.read.insert(it.array);
                    });
                }
            }
        }
    }

    fn elements(&self) -> BTreeSet<ArrayId> {
        &self.written | &self.read
    }

    fn scalars(&self) -> BTreeSet<LocalId> {
        &(&self.declared | &self.set) | &self.used
    }
}
