//! Loops in which conditions hold but at their borders, as of those points of a grid that have all
//! neighbours: what is at the borders comes apart, so that the others run in lanes.

use super::attempt::Attempt;
use super::flatten::{MOST_IN_KERNEL, statements};
use super::panels::decides;
use super::profit::most_trips;
use super::{Choice, Scheduler, lanes, path_to};
use crate::{Separate, separate, tree};
use strew_affine::visit::Loop;
use strew_affine::{AffineFor, IterId, Kernel, Node};

/// A loop is cut so often at most, with those in it.
const MOST_CUTS: usize = 8;

/// To look for a cut takes as long as there are statements in the kernel. So many are looked at for
/// all cuts together: those of a long kernel would take longer than all else.
const MOST_LOOKED_AT: usize = 1 << 12;

/// Loops of so many iterations are borders, and stay as they are.
const BORDER: u64 = 8;

impl Scheduler<'_> {
    /// Lets borders come apart from what runs in lanes without them.
    pub(super) fn separate_borders(&mut self) {
        let outermost = self.found.kernel.body.iter().filter_map(|node| match node {
            Node::AffineFor(it) => Some(it.iter),
            _ => None,
        });
        let outermost: Vec<_> = outermost.collect();
        let mut left = MOST_LOOKED_AT;
        for iter in outermost {
            let path = self.found.kernel.iters[iter].name.clone();
            self.attempt_for([Choice::Borders { path }], |attempt| {
                separated(attempt, iter, &mut left)
            });
        }
    }
}

/// Cuts the loop over `outermost` and those in it where conditions change; `None` if none of them
/// runs in lanes then.
fn separated(attempt: &mut Attempt, outermost: IterId, left: &mut usize) -> Option<()> {
    let mut parts = vec![outermost];
    for _ in 0..MOST_CUTS {
        *left = left.checked_sub(statements(&attempt.kernel().body))?;
        let Some(iter) = next(attempt.kernel(), &parts) else {
            break;
        };
        attempt.step(Separate::new(attempt.path(iter)))?;
        parts.extend(attempt.made());
    }
    (parts.len() > 1).then_some(())?;
    let kernel = attempt.kernel();
    let is_small = statements(&kernel.body) <= MOST_IN_KERNEL;
    let mut inside = loops(kernel, &parts).into_iter();
    inside
        .any(|it| lanes::are_meant(kernel, it) || is_small && goes_on(it))
        .then_some(())
}

/// Whether `target` is a loop inside of others that nothing is asked in any more.
fn goes_on(target: &AffineFor) -> bool {
    let [Node::AffineFor(inner)] = target.body.as_slice() else {
        return false;
    };
    let is_asked = |node: &Node| matches!(node, Node::AffineIf { .. }) || node.holds_loops();
    !inner.body.iter().any(is_asked)
}

/// The next loop to cut, those inside before those around them.
fn next(kernel: &Kernel, parts: &[IterId]) -> Option<IterId> {
    let may = |it: &&AffineFor| {
        let request = Separate::new(path_to(kernel, it.iter));
        decides(it) && separate::plan(kernel, &request).is_ok()
    };
    let mut inside_first = loops(kernel, parts).into_iter().rev();
    inside_first.find(may).map(|it| it.iter)
}

/// The loops over `parts` and those in them, without borders.
fn loops<'k>(kernel: &'k Kernel, parts: &[IterId]) -> Vec<&'k AffineFor> {
    let all = tree::loops(kernel).into_iter();
    let found = all.filter_map(|it| match it.it {
        Loop::Affine(target) => {
            let mut with_it = it.around.iter().map(|it| it.iter()).chain([target.iter]);
            let is_inside = with_it.any(|it| parts.contains(&it));
            let is_long = most_trips(target, &it.around).is_none_or(|it| it > BORDER);
            (is_inside && is_long).then_some(target)
        }
        Loop::Forall(_) | Loop::Scf(_) => None,
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;

    #[test]
    fn points_without_all_neighbours_come_apart() {
        let grid = "kernel @k(n: i64, m: i64, a: f32[n, m], b: f32[n, m]) {
          affine.for y in 0..n { affine.for x in 0..m {
            var s: f32 = a[y, x]
            affine.if (0 < x) { s reduce(add) a[y, x - 1] }
            affine.if (x < m - 1) { s reduce(add) a[y, x + 1] }
            affine.if (0 < y) { s reduce(add) a[y - 1, x] }
            b[y, x] = s
          } }
        }";
        schedules(
            grid,
            &[
                "separate(x)",
                "separate(x_r)",
                "separate(y)",
                "parallelize(y)",
                "parallelize(y_r)",
                "vectorize(x_r, 4)",
                "vectorize(x_r_1, 4)",
            ],
        );
    }

    #[test]
    fn windows_are_whole_but_at_the_ends() {
        let window = "kernel @k(n: i64, w: f32[3], a: f32[n], b: f32[n]) {
          affine.for i in 0..n {
            var s: f32 = 0.0
            affine.for q in 0..3 { affine.if (0 <= i + q - 1, i + q - 1 < n) { s reduce(add) w[q] * a[i + q - 1] } }
            b[i] = s
          }
        }";
        schedules(
            window,
            &[
                "unroll(q, 3)",
                "separate(i)",
                "separate(i_r)",
                "strip_mine(i_r = 4096)",
                "parallelize(i_r_t)",
                "vectorize(i_r_p, 4)",
            ],
        );
    }

    #[test]
    fn conditions_stay_where_nothing_would_run_in_lanes() {
        let searched = "kernel @k(n: i64, m: i64, a: f32[n], key: i32[n], b: f32[m]) {
          affine.for i in 0..n { affine.if (0 < i) { b[key[i]] = a[i - 1] } }
        }";
        let tiled = "tile_indirection_using_forall(i, chunks = 8, strategy = auto)";
        schedules(searched, &[tiled]);
    }
}
