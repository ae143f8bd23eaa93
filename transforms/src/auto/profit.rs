//! Whether it pays to run a loop at once, as far as that is known before the kernel is called.
//!
//! What depends on sizes is asked again when the loop is reached: one with little to do then runs in order, at the cost of some
//! instructions. So only what never has much to do is left alone here.

use super::trips;
use strew_affine::{AffineFor, Node};

/// A loop that runs fewer statements than this ends before a thread has woken up.
const LITTLE: u64 = 1 << 12;

/// Fewer iterations than these give some threads much more to do than others.
const FEWEST_ITERATIONS: u64 = 8;

/// Whether `target` may have enough iterations for all threads.
pub(super) fn is_shareable(target: &AffineFor) -> bool {
    trips(target).is_none_or(|it| it >= FEWEST_ITERATIONS)
}

/// Whether `target` may have enough to do to be worth sharing among threads.
pub(super) fn may_be_long(target: &AffineFor) -> bool {
    most(target).is_none_or(|statements| statements >= LITTLE)
}

/// How many statements `target` runs at most, if no size decides that.
fn most(target: &AffineFor) -> Option<u64> {
    trips(target)?.checked_mul(most_in(&target.body)?)
}

fn most_in(nodes: &[Node]) -> Option<u64> {
    let mut all: u64 = 0;
    for node in nodes {
        let statements = match node {
            Node::AffineFor(it) => most(it)?,
            Node::Forall(_) | Node::ScfFor(_) | Node::ScfWhile { .. } => return None,
            _ => {
                let blocks = node.blocks().into_iter().map(most_in);
                blocks.sum::<Option<u64>>()?.checked_add(1)?
            }
        };
        all = all.checked_add(statements)?;
    }
    Some(all)
}
