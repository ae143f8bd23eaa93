//! The part of a body that some of its statements follow from.

use crate::visit::{for_each_local_read, walk};
use crate::{Block, LocalId, Node, Place};
use std::collections::BTreeSet;

/// As much of `body` as decides what the statements do that `wanted` makes of some of its own, and
/// how often: these, the statements that set or declare scalars they read, and the loops and
/// conditions around all of them. (This is what Weiser calls a slice, *Program slicing*, 1984, but
/// for elements of arrays: who wrote those that it reads is for the caller to ask.)
pub fn slice(body: &[Node], wanted: &dyn Fn(&Node) -> Option<Node>) -> Vec<Node> {
    let mut needed = BTreeSet::new();
    loop {
        let kept = kept(body, wanted, &needed);
        let known = needed.len();
        walk(&kept, &mut |node, _| {
            for_each_local_read(node, &mut |it| needed.extend([it]));
        });
        if needed.len() == known {
            return kept;
        }
    }
}

fn kept(
    nodes: &[Node],
    wanted: &dyn Fn(&Node) -> Option<Node>,
    needed: &BTreeSet<LocalId>,
) -> Vec<Node> {
    let is_needed = |it: &Place| it.local().is_some_and(|it| needed.contains(&it));
    let mut found = Vec::new();
    for node in nodes {
        match (wanted(node), node) {
            (Some(wanted), _) => found.push(wanted),
            (None, Node::Declare { local, .. }) if needed.contains(local) => {
                found.push(node.clone());
            }
            _ if node.places().iter().any(is_needed) => found.push(node.clone()),
            _ => found.extend(around(node, |block| kept(block, wanted, needed))),
        }
    }
    found
}

/// The loop, or the condition, `node` around what `kept` leaves of its blocks, if that is anything.
fn around(node: &Node, kept: impl Fn(&[Node]) -> Vec<Node>) -> Option<Node> {
    let blocks: Vec<Block> = node.blocks().map(|it| kept(it).into()).collect();
    if blocks.iter().all(|it| it.is_empty()) {
        return None;
    }
    let mut node = node.clone();
    for (block, kept) in node.blocks_mut().into_iter().zip(blocks) {
        *block = kept;
    }
    Some(node)
}
