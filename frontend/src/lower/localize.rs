//! Moves the declaration of a variable into the blocks that use it.
//!
//! C's older style declares everything at the top of a function. A variable that every use of it
//! sets first, block by block, carries no value from one block to another nor from one turn of a
//! loop to the next: each such block can have a variable of its own, and a loop whose turns share
//! nothing else can run them at once.

use crate::locals::{for_each_own_use, for_each_use_mut};
use std::collections::HashMap;
use strew_affine::visit::{for_each_local, reads};
use strew_affine::{Expr, Kernel, LocalId, Node, Place};

/// Gives every block that sets a variable before it reads it a variable of its own, where no value
/// is carried out of the block.
pub(super) fn localize(kernel: &mut Kernel) {
    let mut body = std::mem::take(&mut kernel.body);
    localize_block(&mut body, kernel);
    kernel.body = body;
}

fn localize_block(nodes: &mut Vec<Node>, kernel: &mut Kernel) {
    let mut uses = Uses::of(nodes);
    if let Some(result) = &kernel.result {
        for_each_local(result, &mut |local| uses.forget(local));
    }
    let mut position = 0;
    while let Some(node) = nodes.get(position) {
        if let Node::Declare { local, value } = node
            && matches!(value, Expr::Constant(_))
            && let Some(users) = uses.blocks(*local, position)
            && users.iter().all(|user| {
                let mut blocks = nodes.get(*user).into_iter().flat_map(Node::blocks);
                blocks.all(|it| starts_with_own(it, *local))
            })
        {
            let local = *local;
            for user in users {
                for block in nodes
                    .get_mut(user)
                    .map(Node::blocks_mut)
                    .unwrap_or_default()
                {
                    own(block, local, kernel);
                }
            }
        }
        position += 1;
    }
    for node in nodes {
        for block in node.blocks_mut() {
            localize_block(block, kernel);
        }
    }
}

/// Which nodes of a block use a local, and whether only inside of their blocks.
#[derive(Default)]
struct Uses(HashMap<LocalId, Option<Vec<usize>>>);

impl Uses {
    fn of(nodes: &[Node]) -> Self {
        let mut uses = Self::default();
        for (position, node) in nodes.iter().enumerate() {
            for_each_own_use(node, &mut |local| uses.forget(local));
            for block in node.blocks() {
                strew_affine::visit::walk(block, &mut |inner, _| {
                    for_each_own_use(inner, &mut |local| uses.add(local, position));
                });
            }
        }
        uses
    }

    fn forget(&mut self, local: LocalId) {
        self.0.insert(local, None);
    }

    fn add(&mut self, local: LocalId, position: usize) {
        if let Some(positions) = self.0.entry(local).or_insert_with(|| Some(Vec::new()))
            && positions.last() != Some(&position)
        {
            positions.push(position);
        }
    }

    /// The nodes behind `declared` that use `local` in their blocks, if nothing else does.
    fn blocks(&self, local: LocalId, declared: usize) -> Option<Vec<usize>> {
        let positions = self.0.get(&local)?.as_ref()?;
        let is_behind = positions.iter().all(|it| *it > declared);
        is_behind.then(|| positions.clone())
    }
}

/// Whether the block does not use `local`, or its first use is to set it, whatever happens.
fn starts_with_own(block: &[Node], local: LocalId) -> bool {
    for node in block {
        let mut uses = false;
        strew_affine::visit::walk(std::slice::from_ref(node), &mut |inner, _| {
            for_each_own_use(inner, &mut |it| uses |= it == local);
        });
        if uses {
            return sets(node, local);
        }
    }
    true
}

/// Whether the node is `local = value`, where the value does not read it.
fn sets(node: &Node, local: LocalId) -> bool {
    let Node::Assign {
        place: Place::Local(set),
        value,
        ..
    } = node
    else {
        return false;
    };
    *set == local && !reads(value, local)
}

/// Lets the first assignment of `local` in the block declare a local of its own.
fn own(block: &mut [Node], local: LocalId, kernel: &mut Kernel) {
    let Some(first) = block.iter().position(|node| sets(node, local)) else {
        return;
    };
    let copy = kernel.locals[local].clone();
    let copy = kernel.locals.alloc(copy);
    if let Some(rest) = block.get_mut(first..) {
        for_each_use_mut(rest, &mut |it| {
            if *it == local {
                *it = copy;
            }
        });
    }
    if let Some(node) = block.get_mut(first)
        && let Node::Assign { value, .. } = node
    {
        let value = value.clone();
        *node = Node::Declare { local: copy, value };
    }
}
