//! Nests in which a row needs all rows before it, as in triangular solves and factorizations that
//! go row by row: what a group of rows has settled goes into all others at once.

use super::attempt::Attempt;
use super::nests::{Nests, band};
use crate::distribute::keeps_updates;
use crate::tree::find_affine_loop;
use crate::{Distribute, Parallelize, Permute, Separate, Sink, Size, Split, StripMine, tree};
use std::collections::BTreeSet;
use strew_affine::visit::{self, Loop, has_loops};
use strew_affine::{AffineFor, IterId, Kernel, LocalId, Node, Place, Variable};

/// So many iterations of the innermost loop are settled before the others use them: what they
/// settle stays in the first cache, and what is done one by one is little beside the rest.
pub(super) const SETTLED: i64 = 64;

/// Conditions are taken out of so many loops: each makes two of them.
const MOST_SETTLED: usize = 24;

/// Solves and factorizations are nests of fewer loops than this: more of them, as the sweeps in
/// each time step of a simulation are, would be sunk into each other one by one to no end.
const MOST_LOOPS: usize = 12;

/// Whether `target` may be a nest of this kind, or of that in [`trailing`](super::trailing).
pub(super) fn is_meant(target: &AffineFor) -> bool {
    let mut loops = 0;
    visit::walk(&target.body, &mut |node, _| {
        loops += usize::from(Loop::of(node).is_some());
    });
    loops <= MOST_LOOPS
}

/// Groups of the iterations of `target`, or of a loop inside of it: what one has settled the others
/// use at once.
pub(super) fn at_once(attempt: &mut Attempt, target: IterId) -> Option<()> {
    let target = apart_from_beginnings(attempt, target)?;
    let is_done = attempt.together(|attempt| groups_of_rows(attempt, target));
    is_done.or_else(|| attempt.together(|attempt| groups_of_columns(attempt, target)))
}

/// The nest of `target`, a loop over rows with one over columns in it, in groups of rows, each of
/// which first uses what is settled, all of its rows at once, and then settles the rest row by row.
/// It reads each row from one end to the other.
///
/// ```text
/// affine.for i in 0..n {                        affine.for i_t in 0..n step 64 {
///   affine.for j in 0..i {                        scf.forall i in i_t..min(n, i_t + 64) {
///     x[i] = x[i] - l[i, j] * x[j]                  affine.for j in 0..i_t { x[i] = x[i] - l[i, j] * x[j] }
///   }                                             }
///   x[i] = x[i] / l[i, i]               →         affine.for i in i_t..min(n, i_t + 64) {
/// }                                                 affine.for j in i_t..i { x[i] = x[i] - l[i, j] * x[j] }
///                                                   x[i] = x[i] / l[i, i]
///                                                 }
///                                               }
/// ```
fn groups_of_rows(attempt: &mut Attempt, rows: IterId) -> Option<()> {
    let body = &find_affine_loop(attempt.kernel(), rows)?.body;
    let (first, others) = body.split_first()?;
    let Node::AffineFor(columns) = first else {
        return None;
    };
    let is_straight = !has_loops(&columns.body) && !has_loops(others);
    let columns = is_straight.then_some(columns.iter)?;
    attempt.step(StripMine::new(attempt.path(rows), SETTLED))?;
    let groups = *attempt.made().first()?;
    let begin: Size = attempt.path(groups).to_string().as_str().into();
    attempt.step(Split::new(attempt.path(columns), begin))?;
    let path = attempt.path(rows);
    keeps_updates(attempt.kernel(), &path).then_some(())?;
    attempt.step(Distribute::new(path))?;
    // No row of a group ends before the group begins.
    let path = attempt.path(rows);
    attempt.together(|attempt| attempt.step(Separate::new(path)));
    let first = find_affine_loop(attempt.kernel(), groups)?.body.first()?;
    let settled = Loop::of(first)?.iter();
    attempt.step(Parallelize::new(attempt.path(settled)))
}

/// The nest of `target` made perfect, with groups of iterations of its innermost loop around all
/// others, those behind the group at once.
///
/// Sums keep their order: dependences, those between updates among them, go forward in all loops.
fn groups_of_columns(attempt: &mut Attempt, target: IterId) -> Option<()> {
    sink(attempt, target)?;
    let loops = forward_band(attempt.kernel(), target)?;
    let (innermost, outer) = loops.split_last()?;
    let around = |first: IterId, others: &[IterId]| -> Vec<IterId> {
        [first].into_iter().chain(others.iter().copied()).collect()
    };
    nested(attempt, &around(*innermost, outer))?;
    attempt.step(StripMine::new(attempt.path(*innermost), SETTLED))?;
    let groups = *attempt.made().first()?;
    nested(attempt, &loops)?;
    panels(attempt, outer, groups)?;
    settle_conditions(attempt, groups)
}

pub(super) fn nested(attempt: &mut Attempt, loops: &[IterId]) -> Option<()> {
    let paths: Vec<_> = loops.iter().map(|it| attempt.path(*it)).collect();
    attempt.step(Permute::new(paths))
}

/// Gives each iteration elements of its own instead of the scalars in which it gathers something,
/// and what begins these a loop of its own, in which updates keep their order. The loop that is
/// then left of `target`.
fn apart_from_beginnings(attempt: &mut Attempt, target: IterId) -> Option<IterId> {
    let body = &find_affine_loop(attempt.kernel(), target)?.body;
    if matches!(body.first(), Some(Node::AffineFor(_))) {
        return Some(target);
    }
    for local in gathered(body) {
        attempt.expand(local, target)?;
    }
    let path = attempt.path(target);
    keeps_updates(attempt.kernel(), &path).then_some(())?;
    attempt.step(Distribute::new(path))?;
    attempt.made().last().copied()
}

/// The scalars that loops in `body` update and do not declare.
fn gathered(body: &[Node]) -> BTreeSet<LocalId> {
    let (mut updated, mut declared) = (BTreeSet::new(), BTreeSet::new());
    visit::walk(body, &mut |node, around| {
        if around.is_empty() {
            return;
        }
        if let Node::Declare { local, .. } = node {
            declared.insert(*local);
        }
        updated.extend(node.places().iter().filter_map(|it| match it {
            Place::Local(local) => Some(*local),
            Place::Element(_) => None,
        }));
    });
    &updated - &declared
}

/// Sinks what stands behind loops into them, from the inside out and from the last to the first,
/// until the nest is perfect.
pub(super) fn sink(attempt: &mut Attempt, target: IterId) -> Option<()> {
    loop {
        let body = &find_affine_loop(attempt.kernel(), target)?.body;
        let last = innermost_before_something(body);
        match last {
            Some(iter) => attempt.step(Sink::new(attempt.path(iter)))?,
            None => return Some(()),
        }
    }
}

/// The last loop with something behind it, in it or in the loops inside of others first.
fn innermost_before_something(nodes: &[Node]) -> Option<IterId> {
    let inside = nodes.iter().rev().flat_map(Node::blocks);
    let mut inside = inside.filter_map(|it| innermost_before_something(it));
    inside.next().or_else(|| {
        let mut followed = nodes.iter().rev().skip(1);
        followed.find_map(|node| match node {
            Node::AffineFor(it) => Some(it.iter),
            _ => None,
        })
    })
}

/// The loops of the perfect nest of `target`, if there are several and dependences go back in none.
fn forward_band(kernel: &Kernel, target: IterId) -> Option<Vec<IterId>> {
    let target = find_affine_loop(kernel, target)?;
    let loops = band(target);
    let is_straight = loops.last().is_some_and(|it| !has_loops(&it.body));
    let nests = Nests::of(kernel);
    let is_forward = || nests.are_forward(target, 0, loops.len());
    (loops.len() > 1 && is_straight && is_forward())
        .then(|| loops.iter().map(|it| it.iter).collect())
}

/// Cuts each loop of a perfect nest behind the iterations of a group of `groups`, from the inside
/// out, and lets the iterations behind run at once: they use what the group has settled, and no
/// more than that.
fn panels(attempt: &mut Attempt, loops: &[IterId], groups: IterId) -> Option<()> {
    let (innermost, outer) = loops.split_last()?;
    let end = end_of(attempt, groups);
    attempt.step(Split::new(attempt.path(*innermost), end))?;
    let mut behind = *attempt.made().first()?;
    for iter in outer.iter().rev() {
        attempt.step(Distribute::new(attempt.path(*iter)))?;
        behind = *attempt.made().first()?;
    }
    attempt.step(Parallelize::new(attempt.path(behind)))?;
    match outer.is_empty() {
        true => Some(()),
        false => panels(attempt, outer, groups),
    }
}

/// The first iteration behind a group of `groups`.
pub(super) fn end_of(attempt: &Attempt, groups: IterId) -> Size {
    let sum = [
        attempt.path(groups).to_string().as_str().into(),
        SETTLED.into(),
    ];
    Size::Sum(Box::new(sum))
}

/// Takes conditions out of loops in that over `groups` where they change once in them.
pub(super) fn settle_conditions(attempt: &mut Attempt, groups: IterId) -> Option<()> {
    for _ in 0..MOST_SETTLED {
        let Some(path) = conditional(attempt.kernel(), groups).map(|it| attempt.path(it)) else {
            break;
        };
        if attempt
            .together(|attempt| attempt.step(Separate::new(path)))
            .is_none()
        {
            break;
        }
    }
    Some(())
}

/// The first loop in that over `groups` with a condition inside that its iterator and those around
/// it decide.
fn conditional(kernel: &Kernel, groups: IterId) -> Option<IterId> {
    let inside = tree::loops_where(kernel, |it, around| {
        let is_inside = around.iter().any(|it| it.iter() == groups);
        is_inside && matches!(it, Loop::Affine(it) if decides(it))
    });
    inside.first().map(|it| it.it.iter())
}

pub(super) fn decides(target: &AffineFor) -> bool {
    let mut found = false;
    visit::walk(&target.body, &mut |node, around| {
        if let Node::AffineIf { conditions, .. } = node {
            let sides = conditions.iter().flat_map(|it| [&it.left, &it.right]);
            let mentions = |iter| sides.clone().any(|it| it.mentions(Variable::Iter(iter)));
            found |= mentions(target.iter) && !around.iter().any(|it| mentions(it.iter()));
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;

    /// The sums of a row begin in one element each, and keep their order.
    #[test]
    fn what_a_group_of_rows_has_settled_goes_into_all_others_at_once() {
        schedules(
            "kernel @solve(n: i64, l: i64[n, n], b: i64[n], x: i64[n]) {
               affine.for i in 0..n {
                 var s: i64 = b[i]
                 affine.for j in 0..i { s reduce(add) l[i, j] * x[j] }
                 x[i] = s - l[i, i]
               }
             }",
            &[
                "expand(s, i)",
                "distribute(i)",
                "strip_mine(i_2 = 64)",
                "split(j, at = i_2_t)",
                "distribute(i_2_p)",
                "separate(i_2_p)",
                "parallelize(i_2_p_r)",
                "scalar_replace(s_x)",
                "vectorize(i, 4)",
                "vectorize(j_1, 8)",
                "vectorize(j_r, 8)",
            ],
        );
    }

    /// From the last row up, the first thing that is added to a row is what was settled last.
    #[test]
    fn what_needs_the_last_row_first_stays_in_order() {
        schedules(
            "kernel @solve(n: i64, u: i64[n, n], x: i64[n]) {
               affine.for r in 0..n {
                 affine.for j in n - r..n { x[n - 1 - r] = x[n - 1 - r] * 3 - u[n - 1 - r, j] * x[j] }
                 x[n - 1 - r] = x[n - 1 - r] - u[n - 1 - r, n - 1 - r]
               }
             }",
            &[],
        );
    }
}
