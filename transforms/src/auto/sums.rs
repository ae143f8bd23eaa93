//! Sums that wait for themselves alone go on beside each other.

use super::registers::{MOST_STATEMENTS, is_only_sums, is_straight};
use super::{Saving, Scheduler, path_to, trips};
use crate::tree::{self, Nested};
use crate::{LoopPath, Step, UnrollAndJam};
use std::collections::BTreeSet;
use strew_affine::dependence::Target;
use strew_affine::lanes::elects;
use strew_affine::visit::{Loop, has_loops, walk};
use strew_affine::{AffineFor, Expr, Kernel, Node, Place};

/// An addition of floats takes as long as a processor needs to begin about so many.
const TOGETHER: u64 = 4;

impl Scheduler<'_> {
    /// Makes several iterations together of loops around innermost ones that do nothing but sum up
    /// into scalars of these iterations.
    pub(super) fn sum_together(&mut self) {
        for target in summing(&self.found.kernel) {
            let saving = Saving::Chains { together: TOGETHER };
            let request = UnrollAndJam::new(target, TOGETHER);
            self.consider_for(Step::UnrollAndJam(request), Some(saving));
        }
    }
}

/// The loops directly around an innermost one that sums up and around few other statements.
fn summing(kernel: &Kernel) -> Vec<LoopPath> {
    let loops = tree::loops(kernel);
    // In lanes, sums of several iterations go on beside each other as it is.
    let in_lanes = |nested: &Nested<'_>| nested.around.iter().any(|it| it.lanes() > 1);
    let affine = loops.iter().filter_map(|nested| match nested.it {
        Loop::Affine(it) if !in_lanes(nested) => Some(it),
        Loop::Affine(_) | Loop::Forall(_) | Loop::Scf(_) => None,
    });
    let summing = affine.filter(|it| it.step == 1 && is_long(it) && sums_inside(kernel, it));
    summing.map(|it| path_to(kernel, it.iter)).collect()
}

fn is_long(target: &AffineFor) -> bool {
    target.lanes == 1 && trips(target).is_none_or(|trips| trips >= TOGETHER)
}

fn sums_inside(kernel: &Kernel, target: &AffineFor) -> bool {
    let mut body = target.body.iter();
    let position = body.position(Node::holds_loops).unwrap_or(0);
    let (before, rest) = target.body.split_at(position);
    let Some((Node::AffineFor(inner), after)) = rest.split_first() else {
        return false;
    };
    let is_few = (inner.body.len() as u64).saturating_mul(TOGETHER) <= MOST_STATEMENTS;
    let others = (before.len() + after.len()) as u64;
    let others_are_few = others.saturating_mul(TOGETHER) <= 2 * MOST_STATEMENTS;
    is_few
        && others_are_few
        && !has_loops(after)
        && updated(before).is_disjoint(&updated(after))
        && is_long(inner)
        && !calls(inner)
        && is_straight(&inner.body)
        && is_only_sums(inner)
        && !inner.body.iter().any(|it| keeps_turns(kernel, it))
        && are_own(inner, target)
}

/// What `nodes` update. Updates before a loop and behind it would change places with those of other
/// iterations, and round in another way.
fn updated(nodes: &[Node]) -> BTreeSet<Target> {
    let mut updated = BTreeSet::new();
    walk(nodes, &mut |node, _| {
        if let Node::Reduce { places, .. } = node {
            updated.extend(places.iter().map(Target::from));
        }
    });
    updated
}

/// Whether what is summed up takes longer than to wait for an addition.
fn calls(inner: &AffineFor) -> bool {
    fn is_call(expr: &Expr) -> bool {
        matches!(expr, Expr::Call(function, _) if !function.is_inline())
            || expr.operands().into_iter().any(is_call)
    }
    let mut expressions = inner.body.iter().flat_map(Node::expressions);
    expressions.any(is_call)
}

/// Whether lanes keep the turn that `node` takes what comes with an extremum from: there are too
/// many vectors for several of these.
fn keeps_turns(kernel: &Kernel, node: &Node) -> bool {
    let Node::Reduce {
        places, combiner, ..
    } = node
    else {
        return false;
    };
    let types: Vec<_> = places.iter().map(|it| it.ty(kernel)).collect();
    elects(combiner, &types)
}

/// Whether `inner` sums up, and into nothing but scalars that each iteration of `target` has of its
/// own.
fn are_own(inner: &AffineFor, target: &AffineFor) -> bool {
    let declares = |place: &Place, body: &[Node]| {
        let mut body = body.iter();
        matches!(place, Place::Local(local)
            if body.any(|it| matches!(it, Node::Declare { local: own, .. } if own == local)))
    };
    let mut places = inner.body.iter().flat_map(Node::places).peekable();
    places.peek().is_some() && places.all(|it| declares(it, &target.body))
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;
    use crate::auto::{Machine, auto};
    use crate::test_support::kernel;

    fn nearest(bounds: &str, sum: &str, others: &str) -> String {
        format!(
            "kernel @k(n: i64, k: i64, d: i64, x: f32[d], y: f32[k, d], near: i64[n], at: f32[n]) {{
               affine.for i in 0..n {{
                 var best: f32 = 1000.0
                 var a: i64 = 0
                 affine.for c in 0..k {{
                   var s: f32 = 0.0
                   affine.for j in {bounds} {{ {sum} }}
                   (best, a) reduce(argmin) (s, c)
                   {others}
                 }}
                 near[i] = a
                 at[i] = best
               }}
             }}"
        )
    }

    /// The schedule that is found.
    fn told(source: &str) -> String {
        let found = auto(&kernel(source), &Machine::default(), &mut ());
        found.schedule.to_string()
    }

    const SUM: &str = "s reduce(add) x[j] * y[c, j]";

    #[test]
    fn sums_of_several_iterations_go_on_beside_each_other() {
        let steps = [
            "parallelize(i)",
            "unroll_and_jam(c, 4)",
            "vectorize(j, 4)",
            "vectorize(j_1, 16)",
        ];
        schedules(&nearest("0..d", SUM, ""), &steps);
    }

    #[test]
    fn others_stay() {
        let alone = ["parallelize(i)", "vectorize(j, 16)"];
        schedules(&nearest("c..d", SUM, ""), &alone);
        schedules(
            &nearest(
                "0..d",
                SUM,
                "affine.for l in 0..d { at[i] reduce(max) y[c, l] }",
            ),
            &[
                "parallelize(i)",
                "scalar_replace(at)",
                "vectorize(j, 16)",
                "vectorize(l, 16)",
            ],
        );
        schedules(
            &nearest("0..d", "s reduce(add) sin(x[j])", ""),
            &["parallelize(i)"],
        );
        // Updates around the sum would change places with those of other iterations.
        let around = nearest("0..d", SUM, "at[0] reduce(add) s");
        let around = around.replace("var s:", "at[0] reduce(add) y[c, 0] var s:");
        assert!(!told(&around).contains("unroll_and_jam"));
        // Each sum begins with what the one before came to.
        schedules(&nearest("0..d", "best reduce(add) x[j]", ""), &alone);
    }
}
