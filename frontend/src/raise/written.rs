//! What nodes write.

use std::collections::{HashMap, HashSet};
use strew_affine::visit::for_each_load;
use strew_affine::{ArrayId, Expr, LocalId, Node, Place, Subscript};

/// What some nodes, and those inside them, write.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// How often each local is set or declared.
    locals: HashMap<LocalId, usize>,
    declared: HashSet<LocalId>,
    arrays: HashSet<ArrayId>,
}

impl Written {
    pub(super) fn of(nodes: &[Node]) -> Self {
        let mut written = Self::default();
        strew_affine::visit::walk(nodes, &mut |node, _| written.add(node));
        written
    }

    fn add(&mut self, node: &Node) {
        if let Node::Declare { local, .. } = node {
            self.declared.insert(*local);
            *self.locals.entry(*local).or_default() += 1;
        }
        for place in node.places() {
            match place {
                Place::Local(local) => *self.locals.entry(*local).or_default() += 1,
                Place::Element(access) => {
                    self.arrays.insert(access.array);
                }
            }
        }
    }

    pub(super) fn locals(&self) -> impl Iterator<Item = LocalId> + '_ {
        self.locals.keys().copied()
    }

    /// Whether `local`, declared outside, is set exactly once.
    pub(super) fn is_set_once(&self, local: LocalId) -> bool {
        self.locals.get(&local) == Some(&1) && !self.declared.contains(&local)
    }

    /// Whether `local` is set several times.
    pub(super) fn is_set_again(&self, local: LocalId) -> bool {
        self.locals.get(&local).is_some_and(|times| *times > 1)
    }

    /// Whether `expr` reads nothing that is written.
    pub(super) fn leaves(&self, expr: &Expr) -> bool {
        let mut leaves = true;
        for_each_load(expr, &mut |load| {
            leaves &= !self.arrays.contains(&load.array);
        });
        leaves && self.leaves_locals(expr)
    }

    fn leaves_locals(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Local(local) => !self.locals.contains_key(local),
            Expr::Load(access) => access.subscripts.iter().all(|it| match it {
                Subscript::Affine(_) => true,
                Subscript::Computed(expr) => self.leaves_locals(expr),
            }),
            other => other
                .operands()
                .into_iter()
                .all(|it| self.leaves_locals(it)),
        }
    }
}
