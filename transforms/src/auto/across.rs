//! Inner loops that go across the rows of what they read, in a loop that goes along them and does
//! more than that: what it does comes apart, and the two change places.

use super::attempt::Attempt;
use super::nests::{Nests, band};
use super::{Choice, Scheduler, order};
use crate::Distribute;
use crate::distribute::keeps_updates;
use crate::tree::{self, Nested, find_affine_loop};
use strew_affine::visit::{Loop, has_loops};
use strew_affine::{AffineFor, IterId, Kernel, LocalId, Node};

/// The inner loop touches at least so many times as many cache lines as the outer one would in its
/// place.
const TIMES: f64 = 2.0;

impl Scheduler<'_> {
    /// Lets loops walk along memory that stand around what does not, beside other statements.
    /// Updates keep their order.
    pub(super) fn walk_along(&mut self) {
        let found = tree::loops(&self.found.kernel).into_iter();
        let found: Vec<IterId> = found
            .filter_map(|it| goes_along(&self.found.kernel, &it))
            .collect();
        for target in found.into_iter().rev() {
            let path = self.found.kernel.iters[target].name.clone();
            self.attempt_for([Choice::Across { path }], |attempt| {
                exchanged(attempt, target)
            });
        }
    }
}

/// The iterator of the loop, if a loop directly inside goes across memory where this one goes along
/// it, and there is more in it.
fn goes_along(kernel: &Kernel, nested: &Nested<'_>) -> Option<IterId> {
    let Loop::Affine(target) = nested.it else {
        return None;
    };
    let is_known = |it: &Loop<'_>| matches!(it, Loop::Affine(_));
    let is_plain = |node: &Node| match node {
        Node::AffineFor(it) => !has_loops(&it.body),
        Node::Assign { .. } | Node::Reduce { .. } | Node::Declare { .. } => true,
        _ => false,
    };
    let may = target.body.len() > 1
        && nested.around.iter().all(is_known)
        && target.body.iter().all(is_plain)
        && order::accesses(&target.body)
            .iter()
            .all(|it| it.is_affine());
    let mut inner = inner_loops(target);
    (may && inner.any(|it| is_across(kernel, target, it))).then_some(target.iter)
}

fn inner_loops(target: &AffineFor) -> impl Iterator<Item = &AffineFor> {
    target.body.iter().filter_map(|node| match node {
        Node::AffineFor(it) => Some(it),
        _ => None,
    })
}

fn is_across(kernel: &Kernel, outer: &AffineFor, inner: &AffineFor) -> bool {
    match order::costs(kernel, &[outer, inner])[..] {
        [outer, inner] => inner > TIMES * outer,
        _ => false,
    }
}

/// The statements of `target` in loops of their own, each around what goes along memory there;
/// `None` if none of those is.
fn exchanged(attempt: &mut Attempt, target: IterId) -> Option<()> {
    for local in shared(find_affine_loop(attempt.kernel(), target)?) {
        attempt.expand(local, target)?;
    }
    let path = attempt.path(target);
    keeps_updates(attempt.kernel(), &path).then_some(())?;
    attempt.step(Distribute::new(path))?;
    let parts: Vec<_> = [target].into_iter().chain(attempt.made()).collect();
    let done = parts.into_iter().filter(|it| exchange(attempt, *it));
    (done.count() > 0).then_some(())
}

/// The scalars that `target` declares and that its statements use.
fn shared(target: &AffineFor) -> Vec<LocalId> {
    let declared = target.body.iter().filter_map(|node| match node {
        Node::Declare { local, .. } => Some(*local),
        _ => None,
    });
    let declared: Vec<_> = declared.collect();
    let is_used = |local: &LocalId| tree::uses(&target.body, *local);
    declared.into_iter().filter(is_used).collect()
}

/// Whether the loop over `outer` and the only one in it have changed places.
fn exchange(attempt: &mut Attempt, outer: IterId) -> bool {
    let done = attempt.together(|attempt| {
        let kernel = attempt.kernel().clone();
        let target = find_affine_loop(&kernel, outer)?;
        let [_, inner] = band(target)[..] else {
            return None;
        };
        is_across(&kernel, target, inner).then_some(())?;
        let mut loops = tree::loops(&kernel).into_iter();
        let nested = loops.find(|it| it.it.iter() == outer)?;
        Nests::of(&kernel).reorder(attempt, target, nested.around.len())
    });
    done.is_some()
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;

    /// The sums of a row of `c` go on together, row by row of `x`.
    #[test]
    fn sums_over_columns_go_row_by_row() {
        schedules(
            "kernel @k(n: i64, m: i64, x: f64[n, m], c: f64[m, m]) {
               affine.for j in 0..m { affine.for k in j..m {
                 c[j, k] = 0.0
                 affine.for i in 0..n { c[j, k] reduce(add) x[i, j] * x[i, k] }
                 c[k, j] = c[j, k]
               } }
             }",
            &[
                "distribute(k)",
                "permute(i, k_2)",
                "parallelize(j)",
                "unroll_and_jam(i, 4)",
                "vectorize(k, 4)",
                "vectorize(k_2, 2)",
                "vectorize(k_2_1, 4)",
            ],
        );
    }

    /// Where that is out of range and skipped, what reads `s` is, too: of an element of its own it
    /// could not know.
    #[test]
    fn scalars_that_may_have_no_value_stay_scalars() {
        schedules(
            "kernel @k(n: i64, m: i64, b: i64, x: f64[n + 8], y: f64[n], z: f64[m, n]) {
               affine.for i in 0..n {
                 let s: f64 = x[i + b]
                 affine.for t in 0..m { z[t, i] = 1.0 }
                 y[i] = s
               }
             }",
            &["parallelize(i)"],
        );
    }

    /// Each column has a sum of its own meanwhile, also where there are fewer of them in each row.
    #[test]
    fn scalars_become_elements() {
        schedules(
            "kernel @k(n: i64, m: i64, x: f64[n, m], c: f64[m, m]) {
               affine.for j in 0..m { affine.for k in j..m {
                 var s: f64 = 0.0
                 affine.for i in 0..n { s reduce(add) x[i, j] * x[i, k] }
                 c[j, k] = s
               } }
             }",
            &[
                "expand(s, k)",
                "distribute(k)",
                "permute(i, k_2)",
                "parallelize(j)",
                "unroll_and_jam(i, 4)",
                "vectorize(k, 4)",
                "vectorize(k_2, 2)",
                "vectorize(k_2_1, 4)",
                "vectorize(k_3, 4)",
            ],
        );
    }

    #[test]
    fn what_walks_along_memory_stays() {
        schedules(
            "kernel @k(n: i64, m: i64, x: f64[n, m], y: f64[n]) {
               affine.for i in 0..n {
                 y[i] = 0.0
                 affine.for j in 0..m { y[i] reduce(add) x[i, j] }
               }
             }",
            &["parallelize(i)", "scalar_replace(y)", "vectorize(j, 8)"],
        );
    }
}
