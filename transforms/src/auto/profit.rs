//! Whether it pays to run a loop at once, as far as that is known before the kernel is called.
//!
//! What depends on sizes is asked again when the loop is reached: one with little to do then runs
//! in order, at the cost of some instructions. So only what never has much to do is left alone
//! here.

use super::trips;
use strew_affine::bounds::greatest_inside;
use strew_affine::visit::Loop;
use strew_affine::{AffineFor, Node};

/// A loop that runs fewer statements than this ends before a thread has woken up.
const LITTLE: u64 = 1 << 12;

/// Fewer iterations than these give some threads much more to do than others.
const FEWEST_ITERATIONS: u64 = 8;

/// Whether `target` may have enough iterations for all threads.
pub(super) fn is_shareable(target: &AffineFor) -> bool {
    trips(target).is_none_or(|it| it >= FEWEST_ITERATIONS)
}

/// Whether `target`, in the loops `around`, may have enough to do to be worth sharing among
/// threads.
pub(super) fn may_be_long(target: &AffineFor, around: &[Loop<'_>]) -> bool {
    let mut loops = around.to_vec();
    most(target, &mut loops).is_none_or(|statements| statements >= LITTLE)
}

/// How many statements `target` runs at most, if no size decides that.
fn most<'k>(target: &'k AffineFor, around: &mut Vec<Loop<'k>>) -> Option<u64> {
    let trips = trips(target).or_else(|| most_trips(target, around))?;
    around.push(Loop::Affine(target));
    let inside = most_in(&target.body, around);
    around.pop();
    trips.checked_mul(inside?)
}

/// How many turns there are at most, wherever the loops `around` are: in what is left of a tile
/// there are no more than in the tile.
pub(super) fn most_trips(target: &AffineFor, around: &[Loop<'_>]) -> Option<u64> {
    let lowers = target.lower.0.iter();
    let distances = lowers.flat_map(|lower| {
        let uppers = target.upper.0.iter();
        uppers.filter_map(move |upper| greatest_inside(&upper.minus(lower).ok()?, around))
    });
    let turns = u64::try_from(distances.min()?.max(0)).ok()?;
    Some(turns.div_ceil(target.step.unsigned_abs().max(1)))
}

fn most_in<'k>(nodes: &'k [Node], around: &mut Vec<Loop<'k>>) -> Option<u64> {
    let mut all: u64 = 0;
    for node in nodes {
        let statements = match node {
            Node::AffineFor(it) => most(it, around)?,
            Node::Forall(_) | Node::ScfFor(_) | Node::ScfWhile { .. } => return None,
            _ => {
                let blocks = node.blocks().map(|block| most_in(block, around));
                blocks.sum::<Option<u64>>()?.checked_add(1)?
            }
        };
        all = all.checked_add(statements)?;
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;

    #[test]
    fn what_is_left_of_a_tile_is_no_longer_than_the_tile() {
        for (tile, steps) in [
            (64, &[][..]),
            (8192, &["strip_mine(j = 512)", "parallelize(j_t)"]),
        ] {
            let source = format!(
                "kernel @k(n: i64, x: i64[n], s: i64[1]) {{
                   affine.for t in 0..n step {tile} {{
                     s[0] = s[0] * 3 + x[t]
                     affine.for j in t + 1..min(n, t + {tile}) {{ x[j] = x[j] / s[0] }}
                   }}
                 }}"
            );
            schedules(&source, steps);
        }
    }
}
