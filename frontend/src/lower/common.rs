//! Values that are computed again are those of the first time: `h[abs(k[i])] = h[abs(k[i])] + 1`
//! finds one element.
//!
//! A `let` with the value of one that is in scope is that one, where nothing in between writes what
//! the value is computed from: common subexpressions, as C spells them twice. Statements that come
//! to speak of one element may be reductions then.

use crate::locals::{for_each_local_mut, for_each_own_use_mut};
use crate::recognize;
use std::collections::{BTreeSet, HashMap};
use strew_affine::visit::{arrays_written_in, for_each_load, reads, scalars_set_in};
use strew_affine::{Expr, Kernel, LocalId, Node};

/// A value is looked for among so many of the last ones: each would be compared with all before it.
const MOST_BEFORE: usize = 32;

/// Lets what is computed again in `kernel` be computed once.
pub(super) fn compute_once(kernel: &mut Kernel) {
    let mut body = std::mem::take(&mut kernel.body);
    let mut values = Values {
        kernel,
        known: Vec::new(),
        instead: HashMap::new(),
    };
    values.block(&mut body);
    let instead = values.instead;
    if let Some(result) = &mut kernel.result {
        for_each_local_mut(result, &mut |local| {
            *local = instead.get(local).copied().unwrap_or(*local);
        });
    }
    kernel.body = body;
}

struct Values<'k> {
    kernel: &'k Kernel,
    /// The `let`s in scope whose values would be the same if they were computed here, the last one
    /// behind.
    known: Vec<(LocalId, Expr)>,
    /// The locals that are gone, and those that have their values.
    instead: HashMap<LocalId, LocalId>,
}

impl Values<'_> {
    /// Whether anything in `nodes` was put in place of something else.
    fn block(&mut self, nodes: &mut Vec<Node>) -> bool {
        let mut is_other = false;
        let mut done = Vec::with_capacity(nodes.len());
        for mut node in std::mem::take(nodes) {
            let is_renamed = self.rename(&mut node);
            match self.known_local(&node) {
                Some((again, first)) => {
                    self.instead.insert(again, first);
                    is_other = true;
                }
                None => {
                    let is_other_inside = self.inside(&mut node);
                    self.forget_written(std::slice::from_ref(&node));
                    self.learn(&node);
                    let is_changed = is_renamed || is_other_inside;
                    is_other |= is_changed;
                    match is_changed {
                        true => done.extend(recognized(self.kernel, node)),
                        false => done.push(node),
                    }
                }
            }
        }
        *nodes = done;
        is_other
    }

    /// The same for the blocks in `node`, of which none knows what another one declares.
    fn inside(&mut self, node: &mut Node) -> bool {
        let repeats = matches!(
            node,
            Node::AffineFor(_) | Node::Forall(_) | Node::ScfFor(_) | Node::ScfWhile { .. }
        );
        if repeats {
            self.forget_written(std::slice::from_ref(node));
        }
        let mut is_other = false;
        for block in node.blocks_mut() {
            let before = self.known.clone();
            is_other |= self.block(block);
            self.known = before;
        }
        is_other
    }

    fn rename(&self, node: &mut Node) -> bool {
        let mut is_renamed = false;
        for_each_own_use_mut(node, &mut |local| {
            if let Some(first) = self.instead.get(local) {
                *local = *first;
                is_renamed = true;
            }
        });
        is_renamed
    }

    /// What `node` declares, and the `let` that has its value already.
    fn known_local(&self, node: &Node) -> Option<(LocalId, LocalId)> {
        let (again, value) = self.constant(node)?;
        let ty = self.kernel.locals[again].ty;
        let mut last = self.known.iter().rev();
        let is_it = |(local, known): &&(LocalId, Expr)| {
            self.kernel.locals[*local].ty == ty && known.is_same(value)
        };
        Some((again, last.find(is_it)?.0))
    }

    /// The local that `node` declares for good, and its value.
    fn constant<'n>(&self, node: &'n Node) -> Option<(LocalId, &'n Expr)> {
        match node {
            Node::Declare { local, value } if !self.kernel.locals[*local].mutable => {
                Some((*local, value))
            }
            _ => None,
        }
    }

    fn learn(&mut self, node: &Node) {
        if let Some((local, value)) = self.constant(node) {
            if self.known.len() == MOST_BEFORE {
                self.known.remove(0);
            }
            self.known.push((local, value.clone()));
        }
    }

    fn forget_written(&mut self, nodes: &[Node]) {
        let written = arrays_written_in(nodes);
        let set: BTreeSet<LocalId> = scalars_set_in(nodes).into_iter().collect();
        if written.is_empty() && set.is_empty() {
            return;
        }
        self.known.retain(|(_, value)| {
            let mut stays = !set.iter().any(|it| reads(value, *it));
            for_each_load(value, &mut |it| stays &= !written.contains(&it.array));
            stays
        });
    }
}

/// `node`, as reductions if it is any by now.
fn recognized(kernel: &Kernel, node: Node) -> Vec<Node> {
    match node {
        Node::Assign { place, value, span } => recognize::assignment(kernel, place, value, span),
        Node::ScfIf {
            condition,
            then,
            otherwise,
            span,
        } => vec![recognize::branch(
            kernel,
            (condition, span),
            then,
            otherwise,
        )],
        _ => vec![node],
    }
}
