//! Nests all of whose loops carry dependences: tiles of them, of which those on a diagonal run at
//! once.

use super::attempt::Attempt;
use super::nests::Nests;
use super::order::Vectors;
use crate::tree::find_affine_loop;
use crate::{Interchange, Normalize, Parallelize, Skew, Tile};
use strew_affine::dependence::{Component, Direction};
use strew_affine::{AffineFor, IterId, Kernel, Variable};

/// So many iterations of the outer loop are in a tile: many points, so that a diagonal of tiles is
/// worth sharing.
const ROWS: i64 = 64;

/// So many of the inner one: rows along memory that are long enough to be fetched in advance.
const ROW: i64 = 256;

/// The same of loops that are skewed: their tiles lie slantwise, so that half as many are on a
/// diagonal. Two threads take 1.9 ms for 4 steps of `seidel_2d` with 600 by 600 points, 2.4 with
/// rows twice as long.
const SLANTING_ROW: i64 = 128;

/// How many iterations of the outer and of the inner loop make a tile where the inner one is skewed
/// by `factor`.
pub(super) fn points(factor: i64) -> [i64; 2] {
    [ROWS, if factor > 0 { SLANTING_ROW } else { ROW }]
}

/// Tiles move by at most so many for each one of the loop around.
const MOST_SKEW: i64 = 3;

/// How far the inner of two loops has to move with the outer one so that no dependence goes back in
/// it; `None` where no number does.
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

/// The difference between the iterations, where it is one: what goes far in the inner loop leaves
/// little to run at once.
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
    attempt.step(Tile::new(sizes.into_iter().zip(points(factor))))?;
    let [across, along] = attempt.made()[..] else {
        return None;
    };
    let across = normalized(attempt, across)?;
    let along = normalized(attempt, along)?;
    // Tiles of loops that are skewed lie slantwise, and have to be skewed once more.
    let first = if factor > 0 { 2 } else { 1 };
    diagonal(attempt, [across, along], first, |_| true)
}

/// Loops over tiles that the source has: those on a diagonal at once. Updates keep their order,
/// too, since nothing goes back from a diagonal to one before.
pub(super) fn of_tiles(
    attempt: &mut Attempt,
    [outer, inner]: [&AffineFor; 2],
    depth: usize,
) -> Option<()> {
    let across = normalized(attempt, outer.iter)?;
    let along = normalized(attempt, inner.iter)?;
    diagonal(attempt, [across, along], 1, |kernel| {
        let target = find_affine_loop(kernel, across);
        target.is_some_and(|it| Nests::of(kernel).are_forward(it, depth, 2))
    })
}

/// Whether the loops inside of the first two go over tiles that these two count.
pub(super) fn has_tiles(band: &[&AffineFor]) -> bool {
    let [outer, inner, points @ ..] = band else {
        return false;
    };
    if points.len() < 2 {
        return false;
    }
    [outer, inner].into_iter().all(|tiles| {
        let mut bounds = points.iter().flat_map(|it| it.bounds());
        bounds.any(|it| it.mentions(Variable::Iter(tiles.iter)))
    })
}

/// The loop over `along` moved by so many iterations for each of the one around that diagonals of
/// both run at once, if that is legal and `keeps_order` says of the kernel with the first of these
/// that it is wanted.
fn diagonal(
    attempt: &mut Attempt,
    [across, along]: [IterId; 2],
    least: i64,
    keeps_order: impl Fn(&Kernel) -> bool,
) -> Option<()> {
    (least..=MOST_SKEW).find_map(|factor| {
        attempt.together(|attempt| {
            let diagonal = skewed(attempt, along, across, factor)?;
            keeps_order(attempt.kernel()).then_some(())?;
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

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;

    #[test]
    fn tiles_that_the_source_has_run_along_diagonals() {
        schedules(
            "kernel @jacobi(t: i64, n: i64, a: i64[t + 1, n]) {
               affine.for k_t in 0..t step 8 { affine.for i_t in k_t..n + t step 32 {
                 affine.for k in k_t..min(k_t + 8, t) { affine.for i in max(i_t, k + 1)..min(i_t + 32, n - 1 + k) {
                   a[k + 1, i - k] = a[k, i - k - 1] + a[k, i - k] + a[k, i - k + 1]
                 } }
               } }
             }",
            &[
                "normalize(k_t)",
                "normalize(i_t)",
                "skew(i_t_c by k_t_c, 2)",
                "interchange(k_t_c, i_t_c_s)",
                "parallelize(k_t_c)",
                "vectorize(i, 4)",
            ],
        );
    }
}
