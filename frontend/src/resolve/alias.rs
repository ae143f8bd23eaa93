//! Which names may stand for the same elements.
//!
//! A pointer is another name for the arrays that its values are made from. Which of them, and when, is not followed: names that
//! may stand for the same elements form a group, and a store through one of them counts for all.

use super::{Resolver, Symbol};
use crate::ast::{DeclarationId, Expr, ExprKind, UnaryOp};
use std::collections::HashMap;

/// The groups, as a forest of links.
#[derive(Debug, Default)]
pub(super) struct Aliases {
    links: HashMap<usize, usize>,
}

impl Aliases {
    fn root(&mut self, id: usize) -> usize {
        let mut root = id;
        while let Some(next) = self.links.get(&root) {
            root = *next;
        }
        // The next search is short.
        let mut at = id;
        while let Some(next) = self.links.get(&at).copied() {
            self.links.insert(at, root);
            at = next;
            if at == root {
                break;
            }
        }
        root
    }

    fn join(&mut self, left: DeclarationId, right: DeclarationId) {
        let (left, right) = (self.root(left.0), self.root(right.0));
        if left != right {
            self.links.insert(left, right);
        }
    }

    /// Gives every member of a group the stores through all of them.
    pub(super) fn share(mut self, symbols: &mut [Symbol]) {
        let members: Vec<usize> = self.links.keys().copied().collect();
        let mut groups: HashMap<usize, Vec<usize>> = HashMap::new();
        for member in members {
            let root = self.root(member);
            groups
                .entry(root)
                .or_insert_with(|| vec![root])
                .push(member);
        }
        for group in groups.values() {
            let members = group.iter().filter_map(|it| symbols.get(*it));
            let mut writes: Vec<u32> = members
                .flat_map(|it| it.element_writes.iter().copied())
                .collect();
            writes.sort_unstable();
            for member in group {
                if let Some(symbol) = symbols.get_mut(*member) {
                    symbol.element_writes.clone_from(&writes);
                }
            }
        }
    }
}

impl Resolver<'_> {
    /// `id` was set to a value: if that is a pointer, both may stand for the same elements from now on.
    pub(super) fn alias(&mut self, id: DeclarationId, value: &Expr) {
        let is_reference = self.shapes.get(id.0).is_some_and(|it| it.is_reference());
        if !is_reference || !self.is_evaluated {
            return;
        }
        for other in self.references(value) {
            self.aliases.join(id, other);
        }
    }

    /// Whatever the value of `pointer` may point to is stored to.
    pub(super) fn write_through(&mut self, pointer: &Expr) {
        let references = self.references(pointer);
        if references.is_empty() || !self.is_evaluated {
            return;
        }
        let time = self.tick();
        for id in references {
            if let Some(symbol) = self.symbols.declarations.get_mut(id.0) {
                symbol.element_writes.push(time);
            }
        }
    }

    /// The arrays and pointers from which a pointer or a place is made; those in subscripts do not count.
    fn references(&self, expr: &Expr) -> Vec<DeclarationId> {
        let mut found = Vec::new();
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            match &expr.kind {
                ExprKind::Name(name) => {
                    let id = name.declaration;
                    let is_reference = |id: &DeclarationId| {
                        self.shapes.get(id.0).is_some_and(|it| it.is_reference())
                    };
                    found.extend(id.filter(is_reference));
                }
                ExprKind::Index(base, _)
                | ExprKind::Member(base, _, _)
                | ExprKind::Step(_, base)
                | ExprKind::Cast(_, base)
                | ExprKind::Assign(_, base, _)
                | ExprKind::Comma(_, base)
                | ExprKind::Unary(UnaryOp::Dereference | UnaryOp::AddressOf, base) => {
                    pending.push(base);
                }
                ExprKind::Binary(_, left, right) | ExprKind::Conditional(_, left, right) => {
                    pending.extend([&**left, &**right]);
                }
                _ => {}
            }
        }
        found
    }
}
