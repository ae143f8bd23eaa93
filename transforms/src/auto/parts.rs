//! Nests that do more than their innermost loops: they come apart where one of the parts is then
//! worth tiling.

use super::attempt::Attempt;
use super::nests::band;
use super::{Choice, Scheduler, locality, order};
use crate::Distribute;
use crate::distribute::keeps_updates;
use strew_affine::visit::{self, Loop, has_loops};
use strew_affine::{AffineFor, IterId, Kernel, Node, Variable};

impl Scheduler<'_> {
    /// Gives the statements of outermost loops loops of their own where that makes a product of
    /// what was more. Updates keep their order.
    pub(super) fn part(&mut self) {
        let outermost = loops_of(&self.found.kernel).filter(|it| may_come_apart(it));
        let outermost: Vec<_> = outermost.map(|it| it.iter).collect();
        for target in outermost {
            let path = self.found.kernel.iters[target].name.clone();
            self.attempt_for([Choice::Apart { path }], |attempt| apart(attempt, target));
        }
    }
}

/// The outermost loops.
fn loops_of(kernel: &Kernel) -> impl Iterator<Item = &AffineFor> {
    kernel.body.iter().filter_map(|node| match node {
        Node::AffineFor(it) => Some(it),
        _ => None,
    })
}

/// Whether the innermost loop of the band does several things, loops among them, and all loops are
/// rectangular: a triangle is not tiled.
fn may_come_apart(target: &AffineFor) -> bool {
    let is_imperfect = band(target)
        .last()
        .is_some_and(|it| it.body.len() > 1 && has_loops(&it.body));
    let (mut iters, mut bounds) = (vec![target.iter], Vec::new());
    let mut is_affine = true;
    visit::walk(&target.body, &mut |node, _| {
        iters.extend(Loop::of(node).map(Loop::iter));
        match node {
            Node::AffineFor(it) => bounds.extend(it.bounds()),
            Node::Assign { .. } | Node::Reduce { .. } => {}
            _ => is_affine = false,
        }
    });
    let mentions = |iter: &IterId| bounds.iter().any(|it| it.mentions(Variable::Iter(*iter)));
    is_imperfect && is_affine && !iters.iter().any(mentions)
}

/// The loops of the band distributed, from inside to outside, if there is a nest to tile among what
/// comes out.
fn apart(attempt: &mut Attempt, outermost: IterId) -> Option<()> {
    let target = loops_of(attempt.kernel()).find(|it| it.iter == outermost)?;
    let iters: Vec<_> = band(target).iter().map(|it| it.iter).collect();
    for iter in iters.into_iter().rev() {
        let path = attempt.path(iter);
        keeps_updates(attempt.kernel(), &path).then_some(())?;
        attempt.step(Distribute::new(path))?;
    }
    let mut parts = loops_of(attempt.kernel());
    parts.any(|it| is_tiled(attempt.kernel(), it)).then_some(())
}

pub(super) fn is_tiled(kernel: &Kernel, target: &AffineFor) -> bool {
    let band = band(target);
    let order = order::best(&order::costs(kernel, &band));
    let ordered: Vec<_> = order
        .iter()
        .filter_map(|it| band.get(*it).copied())
        .collect();
    let is_straight = band.last().is_some_and(|it| !has_loops(&it.body));
    is_straight && ordered.len() == 3 && locality::sizes(kernel, &ordered).is_some()
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;

    #[test]
    fn products_come_apart_from_what_is_done_before() {
        schedules(
            "kernel @k(n: i64, a: f64[n, n], b: f64[n, n], c: f64[n, n]) {
               affine.for i in 0..n {
                 affine.for j in 0..n { c[i, j] = c[i, j] * 0.5 }
                 affine.for k in 0..n { affine.for l in 0..n { c[i, l] reduce(add) a[i, k] * b[k, l] } }
               }
             }",
            &[
                "distribute(i)",
                "parallelize(i)",
                "tile(i_2 = 32, k = 64, l = 1024)",
                "strip_mine(i_2_t = n / 1024 + 1)",
                "permute(k_t, l_t, i_2_t_p)",
                "parallelize(i_2_t_t)",
                "unroll_and_jam(i_2_p, 2)",
                "unroll_and_jam(k_p, 4)",
                "vectorize(j, 4)",
                "vectorize(l_p, 2)",
                "vectorize(l_p_1_2, 4)",
                "vectorize(l_p_1, 4)",
            ],
        );
        schedules(
            "kernel @k(n: i64, a: f64[n, n], b: f64[n, n], c: f64[n, n]) {
               affine.for i in 0..n {
                 affine.for j in 0..n {
                   c[i, j] = 0.0
                   affine.for k in 0..n { c[i, j] reduce(add) a[i, k] * b[k, j] }
                 }
               }
             }",
            &[
                "distribute(j)",
                "distribute(i)",
                "parallelize(i)",
                "permute(i_2, k, j_2)",
                "tile(i_2 = 32, k = 64, j_2 = 1024)",
                "strip_mine(i_2_t = n / 1024 + 1)",
                "permute(k_t, j_2_t, i_2_t_p)",
                "parallelize(i_2_t_t)",
                "unroll_and_jam(i_2_p, 2)",
                "unroll_and_jam(k_p, 4)",
                "vectorize(j, 4)",
                "vectorize(j_2_p, 2)",
                "vectorize(j_2_p_1_2, 4)",
                "vectorize(j_2_p_1, 4)",
            ],
        );
    }
}
