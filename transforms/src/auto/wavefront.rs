//! Nests all of whose loops carry dependences: tiles of them, of which those on a diagonal run at once.

use super::attempt::Attempt;
use super::order::Vectors;
use crate::{Interchange, Normalize, Parallelize, Skew, Tile};
use strew_affine::dependence::{Component, Direction};
use strew_affine::{AffineFor, IterId};

/// Iterations of the outer and of the inner loop that make a tile: many points, so that a diagonal of tiles is worth
/// sharing, in rows along memory that are long enough to be fetched in advance.
pub(super) const POINTS: [i64; 2] = [64, 256];

/// Tiles move by at most so many for each one of the loop around.
const MOST_SKEW: i64 = 3;

/// How far the inner of two loops has to move with the outer one so that no dependence goes back in it; `None` where no number does.
pub(super) fn skew(vectors: &Vectors) -> Option<i64> {
    let mut factor = 0;
    for vector in vectors.iter() {
        let [outer, inner] = vector.get(..2)? else {
            return None;
        };
        let back = distance(*inner)?.checked_neg()?;
        let forth = match outer.direction {
            Direction::Less => outer.distance.unwrap_or(1),
            _ => distance(*outer)?,
        };
        if back <= 0 {
            continue;
        }
        if forth <= 0 {
            return None;
        }
        factor = factor.max(back.checked_add(forth - 1)? / forth);
    }
    Some(factor)
}

/// The difference between the iterations, where it is one: what goes far in the inner loop leaves little to run at once.
fn distance(component: Component) -> Option<i64> {
    match (component.distance, component.direction) {
        (Some(distance), _) => Some(distance),
        (None, Direction::Equal) => Some(0),
        (None, Direction::Less | Direction::Greater | Direction::Any) => None,
    }
}

/// Tiles of both loops, the ones on a diagonal at once.
pub(super) fn tiles(
    attempt: &mut Attempt,
    [outer, inner]: [&AffineFor; 2],
    factor: i64,
) -> Option<()> {
    let mut inner = inner.iter;
    if factor > 0 {
        inner = skewed(attempt, inner, outer.iter, factor)?;
    }
    let sizes = [outer.iter, inner].map(|it| attempt.path(it));
    attempt.step(Tile::new(sizes.into_iter().zip(POINTS)))?;
    let [across, along] = attempt.made()[..] else {
        return None;
    };
    let across = normalized(attempt, across)?;
    let along = normalized(attempt, along)?;
    // Tiles of loops that are skewed lie slantwise, and have to be skewed once more.
    let first = if factor > 0 { 2 } else { 1 };
    (first..=MOST_SKEW).find_map(|factor| {
        attempt.together(|attempt| {
            let diagonal = skewed(attempt, along, across, factor)?;
            attempt.step(Interchange::new(
                attempt.path(across),
                attempt.path(diagonal),
            ))?;
            attempt.step(Parallelize::new(attempt.path(across)))
        })
    })
}

fn skewed(attempt: &mut Attempt, it: IterId, by: IterId, factor: i64) -> Option<IterId> {
    attempt.step(Skew::new(attempt.path(it), attempt.path(by), factor))?;
    attempt.made().first().copied()
}

fn normalized(attempt: &mut Attempt, it: IterId) -> Option<IterId> {
    attempt.step(Normalize::new(attempt.path(it)))?;
    attempt.made().first().copied()
}
