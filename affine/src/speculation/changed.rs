//! What may be another thing in each turn of a loop.

use crate::visit::{Loop, for_each_load_in_subscripts, for_each_local, walk};
use crate::{Access, ArrayId, Expr, IterId, LocalId, Node, Place, Subscript, Variable};
use std::collections::BTreeSet;

/// The iterators, scalars and elements that some nodes bind or set.
#[derive(Debug, Default)]
pub(super) struct Changed {
    iters: BTreeSet<IterId>,
    /// Scalars that get a value where they are declared.
    declared: BTreeSet<LocalId>,
    /// Those that get another one later.
    set: BTreeSet<LocalId>,
    arrays: BTreeSet<ArrayId>,
}

impl Changed {
    /// By `nodes`, and by the loop over `around` whose body they are.
    pub(super) fn by(nodes: &[Node], around: Option<IterId>) -> Self {
        let mut changed = Self::default();
        changed.iters.extend(around);
        walk(nodes, &mut |node, _| {
            changed.iters.extend(Loop::of(node).map(Loop::iter));
            match node {
                Node::Declare { local, .. } => drop(changed.declared.insert(*local)),
                Node::Alloc { array } => drop(changed.arrays.insert(*array)),
                _ => {}
            }
            for place in node.places() {
                match place {
                    Place::Local(local) => drop(changed.set.insert(*local)),
                    Place::Element(access) => drop(changed.arrays.insert(access.array)),
                }
            }
        });
        changed
    }

    /// The same where the elements of some arrays stay as they are.
    pub(super) fn but(mut self, stays: impl Fn(ArrayId) -> bool) -> Self {
        self.arrays.retain(|it| !stays(*it));
        self
    }

    /// Whether `access` is at one place in all turns.
    pub(super) fn is_steady(&self, access: &Access) -> bool {
        access.subscripts.iter().all(|subscript| match subscript {
            Subscript::Affine(expr) => {
                let mut iters = self.iters.iter();
                !iters.any(|it| expr.mentions(Variable::Iter(*it)))
            }
            Subscript::Computed(expr) => self.is_steady_value(expr),
        })
    }

    /// Whether `expr` has one value in all turns.
    pub(super) fn is_steady_value(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Iter(iter) => !self.iters.contains(iter),
            Expr::Local(local) => !self.declared.contains(local) && !self.set.contains(local),
            Expr::Load(access) => !self.arrays.contains(&access.array) && self.is_steady(access),
            _ => {
                let mut operands = expr.operands().into_iter();
                operands.all(|it| self.is_steady_value(it))
            }
        }
    }

    /// Whether `access`, wherever it stands in one turn of the loops around it, is at one place.
    pub(super) fn keeps_place(&self, access: &Access) -> bool {
        let mut keeps = true;
        for_each_load_in_subscripts(access, &mut |it| keeps &= !self.arrays.contains(&it.array));
        for subscript in &access.subscripts {
            if let Subscript::Computed(expr) = subscript {
                for_each_local(expr, &mut |it| keeps &= !self.set.contains(&it));
            }
        }
        keeps
    }
}
