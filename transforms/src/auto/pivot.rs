//! Loops that run at once but for one iteration, whose row all others read: they are cut there.

use super::attempt::Attempt;
use crate::{Parallelize, Size, Split};
use strew_affine::visit::{self, Loop, has_loops};
use strew_affine::{Access, AffineFor, ArrayId, IterId, Kernel, Node, Subscript, Variable};

/// The iterator of a loop around `target` that says which iteration that may be: a subscript of an
/// array is the one where `target` writes the array at its own iterator.
pub(super) fn of(kernel: &Kernel, around: &[Loop<'_>], target: &AffineFor) -> Option<IterId> {
    let mut outer = around.iter().map(|it| it.iter());
    outer.find(|it| meets_at(kernel, *it, target))
}

/// Whether `outer` is a subscript of an array that `target` writes there at its own iterator.
fn meets_at(kernel: &Kernel, outer: IterId, target: &AffineFor) -> bool {
    let mut written = Vec::new();
    let mut read = Vec::new();
    visit::walk(&target.body, &mut |node, _| {
        written.extend(node.written_elements());
        for expr in node.expressions() {
            visit::for_each_load(expr, &mut |access| read.push(access));
        }
    });
    let own = Variable::Iter(target.iter);
    let dimensions: Vec<(ArrayId, usize)> = written
        .into_iter()
        .filter(|it| kernel.array_params().any(|array| array == it.array))
        .flat_map(|it| positions(it, own).map(|at| (it.array, at)))
        .collect();
    read.into_iter().any(|it| {
        let mut at = positions(it, Variable::Iter(outer));
        at.any(|at| dimensions.contains(&(it.array, at)))
    })
}

/// Which subscripts are this variable.
fn positions(access: &Access, variable: Variable) -> impl Iterator<Item = usize> {
    let subscripts = access.subscripts.iter().enumerate();
    subscripts.filter_map(move |(position, it)| match it {
        Subscript::Affine(expr) => (expr.as_variable() == Some(variable)).then_some(position),
        Subscript::Computed(_) => None,
    })
}

/// The iterations before and behind that of `pivot`, each part at once. An innermost loop that
/// meets itself there alone is cut there, too, so that it can run in lanes.
pub(super) fn around(attempt: &mut Attempt, target: &AffineFor, pivot: IterId) -> Option<()> {
    if let [Node::AffineFor(inner)] = target.body.as_slice()
        && !has_loops(&inner.body)
        && meets_at(attempt.kernel(), pivot, inner)
    {
        attempt.together(|attempt| cut(attempt, inner.iter, pivot).map(drop));
    }
    let behind = cut(attempt, target.iter, pivot)?;
    attempt.step(Parallelize::new(attempt.path(target.iter)))?;
    attempt.step(Parallelize::new(attempt.path(behind)))
}

/// Cuts the loop over `iter` in front of the iteration of `pivot`, and behind it: the loop over the
/// iterations behind.
fn cut(attempt: &mut Attempt, iter: IterId, pivot: IterId) -> Option<IterId> {
    let name = attempt.path(pivot).to_string();
    let at = Size::from(name.as_str());
    let behind = Size::Sum(Box::new([at.clone(), Size::from(1)]));
    attempt.step(Split::new(attempt.path(iter), at))?;
    let rest = *attempt.made().first()?;
    attempt.step(Split::new(attempt.path(rest), behind))?;
    attempt.made().first().copied()
}
