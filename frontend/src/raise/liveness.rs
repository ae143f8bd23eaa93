//! Whether the value that a variable has after a loop is ever read.

use std::collections::HashMap;
use strew_affine::visit::{declared_in, for_each_local_read, reads};
use strew_affine::{Expr, LocalId, Node, Place};

/// What runs after the current node of a block.
#[derive(Debug)]
pub(super) struct Following<'k> {
    /// The nodes behind it in the block.
    pub(super) rest: &'k [Node],
    /// The whole block, and the condition of the loop that it is the body of.
    repeats: Option<(&'k Expr, &'k [Node])>,
}

impl<'k> Following<'k> {
    pub(super) fn new(nodes: &'k [Node], repeats: Option<&'k Expr>) -> Self {
        Self {
            rest: nodes,
            repeats: repeats.map(|condition| (condition, nodes)),
        }
    }

    /// Whether the block is the body of a loop.
    pub(super) fn repeats(&self) -> bool {
        self.repeats.is_some()
    }
}

/// What becomes of a variable's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Read,
    Replaced,
    Kept,
}

/// More nodes than this are not searched: a value that nobody reads then costs a store.
const BUDGET: usize = 2_000;

/// Whether the value that `local` has now may be read after the current node, by the result in the
/// end.
pub(super) fn is_live(local: LocalId, following: &[Following<'_>], result: Option<&Expr>) -> bool {
    let mut search = Search {
        local,
        budget: BUDGET,
    };
    for block in following.iter().rev() {
        match search.nodes(block.rest) {
            Fate::Read => return true,
            Fate::Replaced => return false,
            Fate::Kept => {}
        }
        if let Some((condition, body)) = block.repeats {
            if reads(condition, local) || search.nodes(body) == Fate::Read {
                return true;
            }
            if declared_in(body, local).is_some() {
                // Nothing behind the block sees it.
                return false;
            }
        }
    }
    result.is_some_and(|it| reads(it, local))
}

struct Search {
    local: LocalId,
    budget: usize,
}

impl Search {
    fn nodes(&mut self, nodes: &[Node]) -> Fate {
        for node in nodes {
            let fate = self.node(node);
            if fate != Fate::Kept {
                return fate;
            }
        }
        Fate::Kept
    }

    fn node(&mut self, node: &Node) -> Fate {
        let Some(budget) = self.budget.checked_sub(1) else {
            return Fate::Read;
        };
        self.budget = budget;
        if is_read_by(node, self.local) {
            return Fate::Read;
        }
        match node {
            Node::Declare { local, .. }
            | Node::Assign {
                place: Place::Local(local),
                ..
            } if *local == self.local => Fate::Replaced,
            Node::Reduce { places, .. } if places.contains(&Place::Local(self.local)) => Fate::Read,
            _ => {
                let fates = node.blocks().map(|block| self.nodes(block));
                let fates: Vec<Fate> = fates.collect();
                if fates.contains(&Fate::Read) {
                    Fate::Read
                } else if fates.len() == 2 && fates.iter().all(|it| *it == Fate::Replaced) {
                    Fate::Replaced
                } else {
                    Fate::Kept
                }
            }
        }
    }
}

/// How often each local is read in `nodes`; an update reads what it updates only for itself.
pub(super) fn count_reads(nodes: &[Node]) -> HashMap<LocalId, usize> {
    let mut counts = HashMap::new();
    strew_affine::visit::walk(nodes, &mut |node, _| {
        for_each_local_read(node, &mut |local| *counts.entry(local).or_default() += 1);
    });
    counts
}

fn is_read_by(node: &Node, local: LocalId) -> bool {
    let mut found = false;
    for_each_local_read(node, &mut |it| found |= it == local);
    found
}
