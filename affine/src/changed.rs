//! What may be another thing in each turn of a loop.

use crate::visit::{Loop, for_each_load_in_subscripts, for_each_local, walk};
use crate::{Access, ArrayId, Expr, IterId, LocalId, Node, Place, Subscript, Variable};
use std::collections::BTreeSet;

/// The iterators, scalars and elements that some nodes bind or set.
#[derive(Clone, Debug, Default)]
pub struct Changed {
    iters: BTreeSet<IterId>,
    /// Scalars that get a value where they are declared.
    declared: BTreeSet<LocalId>,
    /// Those that get another one later.
    set: BTreeSet<LocalId>,
    arrays: BTreeSet<ArrayId>,
}

impl Changed {
    /// By `nodes`.
    pub fn by(nodes: &[Node]) -> Self {
        let mut changed = Self::default();
        walk(nodes, &mut |node, _| {
            changed.iters.extend(Loop::of(node).map(Loop::iter));
            match node {
                Node::Declare { local, .. } => drop(changed.declared.insert(*local)),
                Node::Alloc { array } => drop(changed.arrays.insert(*array)),
                Node::Forall(forall) => {
                    let targets = forall.buffers().map(|(_, target)| target);
                    changed.arrays.extend(targets);
                }
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

    /// By the loop over `iter` with this body.
    pub fn in_loop(iter: IterId, body: &[Node]) -> Self {
        let mut changed = Self::by(body);
        changed.iters.insert(iter);
        changed
    }

    /// `local` alone.
    pub fn of_local(local: LocalId) -> Self {
        Self {
            set: BTreeSet::from([local]),
            ..Self::default()
        }
    }

    /// The same where the elements of some arrays stay as they are.
    pub fn but(mut self, stays: impl Fn(ArrayId) -> bool) -> Self {
        self.arrays.retain(|it| !stays(*it));
        self
    }

    /// Takes it that `local` is declared before, which matters where no other node sets it.
    pub fn forget_declared(&mut self, local: LocalId) {
        self.declared.remove(&local);
    }

    /// Whether the iterator is among it.
    pub fn has_iter(&self, iter: IterId) -> bool {
        self.iters.contains(&iter)
    }

    /// Whether the scalar is among it.
    pub fn has_local(&self, local: LocalId) -> bool {
        self.declared.contains(&local) || self.set.contains(&local)
    }

    /// Whether elements of the array are among it.
    pub fn has_array(&self, array: ArrayId) -> bool {
        self.arrays.contains(&array)
    }

    /// Whether `access` is at one place in all turns.
    pub fn place_stays(&self, access: &Access) -> bool {
        access.subscripts.iter().all(|it| self.stays(it))
    }

    /// Whether `subscript` has one value in all turns.
    pub fn stays(&self, subscript: &Subscript) -> bool {
        match subscript {
            Subscript::Affine(expr) => {
                let mut iters = self.iters.iter();
                !iters.any(|it| expr.mentions(Variable::Iter(*it)))
            }
            Subscript::Computed(expr) => self.expr_stays(expr),
        }
    }

    /// Whether `expr` has one value in all turns.
    pub fn expr_stays(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Iter(iter) => !self.has_iter(*iter),
            Expr::Local(local) => !self.has_local(*local),
            Expr::Load(access) => !self.has_array(access.array) && self.place_stays(access),
            _ => expr.operands().into_iter().all(|it| self.expr_stays(it)),
        }
    }

    /// Whether `access`, wherever it stands in one turn of the loops around it, is at one place.
    pub fn keeps_place(&self, access: &Access) -> bool {
        let mut keeps = true;
        for_each_load_in_subscripts(access, &mut |it| keeps &= !self.has_array(it.array));
        for subscript in &access.subscripts {
            if let Subscript::Computed(expr) = subscript {
                for_each_local(expr, &mut |it| keeps &= !self.set.contains(&it));
            }
        }
        keeps
    }
}
