//! Loops whose iterations meet in arrays alone that each of them fills before it reads them, and
//! that belong to the caller: room for intermediate results. All iterations but the last one can
//! have their own, and what the caller finds there is what the last one leaves.

use super::attempt::Attempt;
use super::order::moves;
use crate::split::last_iteration;
use crate::tile_indirection::spans;
use crate::{Parallelize, Privatize, Split};
use std::collections::BTreeSet;
use strew_affine::visit::{self, Loop, for_each_load};
use strew_affine::{Access, AffineFor, ArrayId, Kernel, Node, Subscript, Variable};

/// The parameters that may be such room for the iterations of `target`: no iteration has elements
/// of its own there, and a whole array is assigned before anything else is done with it, and read
/// then. A copy of one that is not would take longer to make than it is used.
pub(super) fn arrays(kernel: &Kernel, target: &AffineFor) -> BTreeSet<ArrayId> {
    let [mut filled, mut read, mut others] = [(); 3].map(|()| BTreeSet::new());
    let mut note = |access: &Access, is_filled: bool| {
        let is_own =
            moves(access, target.iter) || !kernel.array_params().any(|it| it == access.array);
        if is_own || !is_filled && !filled.contains(&access.array) {
            others.insert(access.array);
        } else if is_filled {
            filled.insert(access.array);
        }
    };
    visit::walk(&target.body, &mut |node, around| {
        for expr in node.expressions() {
            for_each_load(expr, &mut |access| {
                note(access, false);
                read.insert(access.array);
            });
        }
        let is_assigned = matches!(node, Node::Assign { .. });
        for access in node.written_elements() {
            note(access, is_assigned && is_whole(kernel, access, around));
        }
    });
    let is_cut = last_iteration(kernel, target).is_some();
    filled.retain(|it| is_cut && read.contains(it) && !others.contains(it));
    filled
}

/// All iterations of `target` but the last one at once, each with its own of `arrays`, and then
/// that one.
pub(super) fn all_but_last(
    attempt: &mut Attempt,
    target: &AffineFor,
    arrays: &BTreeSet<ArrayId>,
) -> Option<()> {
    let path = attempt.path(target.iter);
    let last = last_iteration(attempt.kernel(), target)?;
    attempt.step(Split::new(path.clone(), last))?;
    for array in arrays {
        let name = attempt.kernel().arrays[*array].name.clone();
        attempt.step(Privatize::new(name, path.clone()))?;
    }
    attempt.step(Parallelize::new(path))
}

/// Whether the loops `around` go over all elements of the array.
fn is_whole(kernel: &Kernel, access: &Access, around: &[Loop<'_>]) -> bool {
    let extents = &kernel.arrays[access.array].extents;
    let mut known = BTreeSet::new();
    let mut pairs = access.subscripts.iter().zip(extents);
    pairs.all(|(subscript, extent)| {
        let Subscript::Affine(expr) = subscript else {
            return false;
        };
        around.iter().any(|it| match it {
            Loop::Affine(it) => {
                let is_it = expr.as_variable() == Some(Variable::Iter(it.iter));
                is_it && known.insert(it.iter) && spans(it, expr, extent).unwrap_or(false)
            }
            Loop::Forall(_) | Loop::Scf(_) => false,
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::test_support::{assert_same_meaning, kernel};
    use crate::{Machine, auto};

    /// Whether `body` of a loop over `i` makes all iterations but the last one run at once.
    #[track_caller]
    fn is_cut(body: &str) -> bool {
        let source = format!(
            "kernel @k(n: i64, m: i64, x: f64[n, m], y: f64[n, m], t: f64[m], s: f64[m, m]) {{
               affine.for i in 0..n {{ {body} }}
             }}"
        );
        let kernel = kernel(&source);
        let found = auto(&kernel, &Machine::default(), &mut ());
        assert_same_meaning(&kernel, &found.kernel);
        let steps = found.schedule.steps().iter();
        let steps: Vec<_> = steps.map(ToString::to_string).collect();
        let is_private = |it: &&String| it.starts_with("privatize(") && it.ends_with(", i)");
        let mut others = steps.iter().filter(|it| !is_private(it));
        let first = [(); 2].map(|()| others.next().map(String::as_str));
        first == [Some("split(i, at = n - 1)"), Some("parallelize(i)")]
    }

    #[test]
    fn room_of_the_caller_that_is_filled_first_keeps_nothing_in_order() {
        for body in [
            "affine.for j in 0..m { t[j] = x[i, j] } affine.for k in 1..m { y[i, k] = t[k] + t[k - 1] }",
            "affine.for j in 0..m { t[j] = 0.0 } affine.for k in 0..m { t[k] reduce(add) x[i, k] } affine.for l in 0..m { y[i, l] = t[l] }",
            "affine.for j in 0..m { affine.for k in 0..m { s[k, j] = x[i, k] } } affine.for l in 0..m { y[i, l] = s[l, 0] }",
        ] {
            assert!(is_cut(body), "{body}");
        }
    }

    #[test]
    fn what_is_not_filled_or_not_first_does() {
        for body in [
            "affine.for j in 0..m { affine.if (j <= i) { t[j] = x[i, j] } } affine.for k in 0..m { y[i, k] = t[k] }",
            "affine.for j in 0..m { y[i, j] = t[j] } affine.for k in 0..m { t[k] = x[i, k] }",
            "affine.for j in 1..m { t[j] = x[i, j] } affine.for k in 1..m { y[i, k] = t[k] + t[k - 1] }",
            "affine.for j in 0..m { t[j] = x[i, j] } affine.for k in 1..m { t[k] = t[k - 1] + y[0, k] y[i, k] = t[k] }",
            "affine.for j in 0..m { s[j, j] = x[i, j] } affine.for k in 0..m { y[i, k] = s[k, k] }",
        ] {
            assert!(!is_cut(body), "{body}");
        }
    }
}
