//! Scalars that each iteration of an outermost loop hands on to the next one, as the letter before
//! is in a count of pairs: tiles that find out by themselves what was left for them run at once.

use super::Scheduler;
use crate::scalars::set_in;
use crate::{Parallelize, Rematerialize, Step, TileIndirection};
use strew_affine::visit::{for_each_local_read, scalars_set_in, walk, writes_elements};
use strew_affine::{AffineFor, IterId, LocalId, Node};

/// What a tile computes anew is nothing beside so many iterations.
const TILE: u64 = 4096;

impl Scheduler<'_> {
    /// Runs tiles of loops at once that one scalar alone keeps in order.
    pub(super) fn hand_on(&mut self) {
        let kernel = &self.found.kernel;
        let loops = kernel.body.iter().filter_map(|node| match node {
            Node::AffineFor(it) => Some(it),
            _ => None,
        });
        let found: Vec<_> = loops.filter_map(handing_on).collect();
        for (target, local) in found {
            self.attempt(|attempt| {
                let name = attempt.kernel().locals[local].name.clone();
                attempt.first_of([Rematerialize::new(name, attempt.path(target), TILE)])?;
                let tiles = attempt.path(*attempt.made().first()?);
                attempt.first_of([
                    Step::from(TileIndirection::new(tiles.clone())),
                    Step::from(Parallelize::new(tiles)),
                ])
            });
        }
    }
}

/// The only scalar from outside that `target` sets, if it reads that before, and writes anything
/// besides.
fn handing_on(target: &AffineFor) -> Option<(IterId, LocalId)> {
    let set = set_in(target);
    let (local, _) = set.first()?;
    let is_one = set.iter().all(|(it, _)| it == local);
    let sets = |node: &Node| scalars_set_in(std::slice::from_ref(node)).contains(local);
    let before = target.body.iter().take_while(|it| !sets(it)).count();
    let mut is_read = false;
    walk(target.body.get(..=before)?, &mut |node, _| {
        for_each_local_read(node, &mut |it| is_read |= it == *local);
    });
    let is_meant = is_one && is_read && writes_elements(&target.body);
    is_meant.then_some((target.iter, *local))
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;

    #[test]
    fn pairs_of_what_follows_each_other_are_counted_at_once() {
        schedules(
            "kernel @k(n: i64, m: i64, x: i32[n], pairs: i32[m, m]) {
               var before: i32 = 0
               affine.for i in 0..n {
                 let now: i32 = x[i]
                 pairs[before, now] reduce(add) 1
                 before = now
               }
             }",
            &[
                "rematerialize(before, i, tile = 4096)",
                "tile_indirection_using_forall(i_t, chunks = 8, strategy = auto)",
                "unroll(i_p, 4)",
            ],
        );
    }

    #[test]
    fn differences_run_at_once_and_sums_do_not() {
        let kernel = |next: &str| {
            format!(
                "kernel @k(n: i64, x: f64[n], y: f64[n]) {{
                   var before: f64 = 0.0
                   affine.for i in 0..n {{ y[i] = x[i] - before before = {next} }}
                 }}"
            )
        };
        let taken = ["rematerialize(before, i, tile = 4096)", "parallelize(i_t)"];
        schedules(&kernel("x[i]"), &taken);
        schedules(&kernel("before + x[i]"), &[]);
    }
}
