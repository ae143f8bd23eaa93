//! Scalars that stand for elements of arrays.

use crate::visit::walk;
use crate::{ArrayId, Expr, Kernel, LocalId, Node, Place};
use la_arena::ArenaMap;

/// The scalars of a kernel that [stand for elements](crate::Local::is_element), each with the array
/// of its element.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Elements(ArenaMap<LocalId, ArrayId>);

impl Elements {
    /// Those of `kernel`.
    pub fn of(kernel: &Kernel) -> Self {
        let mut found = ArenaMap::default();
        walk(&kernel.body, &mut |node, _| {
            if let Node::Declare { local, value } = node
                && kernel.locals[*local].is_element
                && let Expr::Load(access) = value
            {
                found.insert(*local, access.array);
            }
        });
        Self(found)
    }

    /// Whether `node` only puts one of them back where it came from.
    pub fn is_put_back(&self, node: &Node) -> bool {
        match node {
            Node::Assign {
                place: Place::Element(access),
                value: Expr::Local(local),
                ..
            } => self.0.get(*local) == Some(&access.array),
            _ => false,
        }
    }

    /// Whether `node` sets one of them.
    pub fn is_set(&self, node: &Node) -> bool {
        let mut places = node.places().iter();
        places.any(|it| matches!(it, Place::Local(local) if self.0.get(*local).is_some()))
    }
}
