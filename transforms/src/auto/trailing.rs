//! Nests each of whose outermost iterations goes into all behind it, as in factorizations and in
//! solves for many right-hand sides: groups of them go into the rows that trail them together, as a
//! product.

use super::attempt::Attempt;
use super::nests::{Nests, band};
use super::panels::{SETTLED, end_of, nested, sink};
use super::parts::is_tiled;
use crate::distribute::keeps_updates;
use crate::tree::{self, find_affine_loop};
use crate::{Distribute, Fuse, Permute, Separate, Size, Split, StripMine};
use strew_affine::visit::{Loop, has_loops, has_updates};
use strew_affine::{IterId, Kernel, Node, Variable};

/// The nest of `target`, an outermost loop, in groups of the iterations that go into the rows
/// behind, each row with those of a group one after the other, and the rows that trail the group
/// apart. The loop over groups, if there is a product to tile among these.
///
/// ```text
/// affine.for k in 0..n {                        affine.for k_t in 0..n step 64 {
///   affine.for i in k + 1..n {                    affine.for i in k_t + 1..min(n, k_t + 64) { affine.for k in k_t..i {
///     a[i, k] = a[i, k] / a[k, k]                   a[i, k] = a[i, k] / a[k, k]
///     affine.for j in k + 1..n {          →         affine.for j in k + 1..min(n, k_t + 64) { … }
///       a[i, j] = a[i, j] - a[i, k] * a[k, j]     } }
///     }                                           …
///   }                                             affine.for i in k_t + 64..n { affine.for k in k_t..k_t + 64 {
/// }                                                 affine.for j in k_t + 64..n { a[i, j] = a[i, j] - a[i, k] * a[k, j] }
///                                                 } }
///                                               }
/// ```
///
/// Sums keep their order: dependences, those between updates among them, go forward in both loops.
pub(super) fn updated(attempt: &mut Attempt, target: IterId) -> Option<IterId> {
    let [points, rows] = going_behind(attempt, target)?;
    attempt.step(StripMine::new(attempt.path(points), SETTLED))?;
    let groups = *attempt.made().first()?;
    nested(attempt, &[rows, points])?;
    let end = end_of(attempt, groups);
    for part in beside_the_group(attempt, [rows, points], &end)? {
        attempt.step(Split::new(attempt.path(part), end.clone()))?;
        let trailing = *attempt.made().first()?;
        let path = attempt.path(trailing);
        // Of the bounds of inner loops one alternative is left.
        attempt.together(|attempt| attempt.step(Separate::new(path)));
    }
    let kernel = attempt.kernel();
    let products = tree::loops_where(kernel, |it, around| {
        let is_inside = around.iter().any(|it| it.iter() == groups);
        is_inside && matches!(it, Loop::Affine(it) if is_tiled(kernel, it))
    });
    (!products.is_empty()).then_some(groups)
}

/// The loop whose iterations go into others, outermost, and that over the rows that they go into,
/// all that it does; if dependences go back in neither.
fn going_behind(attempt: &mut Attempt, target: IterId) -> Option<[IterId; 2]> {
    let outermost = find_affine_loop(attempt.kernel(), target)?;
    if let [points, rows] = band(outermost)[..] {
        let found = [points.iter, rows.iter];
        let is_deep = has_loops(&rows.body);
        return (is_deep && is_forward(attempt.kernel(), target, 2)).then_some(found);
    }
    let [rows, columns, points] = rows_of_columns(attempt, target)?;
    is_forward(attempt.kernel(), rows, 3).then_some(())?;
    nested(attempt, &[points, rows, columns])?;
    Some([points, rows])
}

fn is_forward(kernel: &Kernel, target: IterId, count: usize) -> bool {
    let target = find_affine_loop(kernel, target);
    target.is_some_and(|it| Nests::of(kernel).are_forward(it, 0, count))
}

/// A nest of several loops over columns made perfect, each row column by column: the loops over
/// rows, columns, and what goes into a row.
///
/// Dependences alone keep what it does in order, so nothing may be an update.
fn rows_of_columns(attempt: &mut Attempt, target: IterId) -> Option<[IterId; 3]> {
    let outermost = find_affine_loop(attempt.kernel(), target)?;
    let statements = outermost.body.iter().map(|node| match node {
        Node::AffineFor(it) if outermost.body.len() > 1 => {
            let loops = band(it);
            let is_straight = loops.last().is_some_and(|it| !has_loops(&it.body));
            is_straight.then(|| loops.iter().map(|it| it.iter).collect::<Vec<_>>())
        }
        _ => None,
    });
    let statements = statements.collect::<Option<Vec<_>>>()?;
    let several = statements.iter().filter(|loops| loops.len() > 1);
    (several.count() == 1 && !has_updates(&outermost.body)).then_some(())?;
    let mut columns = Vec::new();
    for loops in &statements {
        let (innermost, others) = loops.split_last()?;
        columns.push(*innermost);
        if !others.is_empty() {
            let order = [innermost].into_iter().chain(others);
            attempt.step(Permute::new(order.map(|it| attempt.path(*it))))?;
        }
    }
    let (first, others) = columns.split_first()?;
    for other in others {
        attempt.step(Fuse::new(attempt.path(*first), attempt.path(*other)))?;
    }
    sink(attempt, target)?;
    match band(find_affine_loop(attempt.kernel(), target)?)[..] {
        [rows, columns, points] if !has_loops(&points.body) => {
            Some([rows, columns, points].map(|it| it.iter))
        }
        _ => None,
    }
}

/// Gives what an iteration of `points` does with elements behind `end` loops of its own, if loops
/// inside begin with it and go beyond, which is where what a group settles itself ends. The loops
/// over rows that there are then.
fn beside_the_group(
    attempt: &mut Attempt,
    [rows, points]: [IterId; 2],
    end: &Size,
) -> Option<Vec<IterId>> {
    let body = &find_affine_loop(attempt.kernel(), points)?.body;
    let begin_with_it = body.iter().filter_map(|node| match node {
        Node::AffineFor(it) => {
            let mut bounds = it.lower.0.iter();
            bounds
                .any(|bound| bound.mentions(Variable::Iter(points)))
                .then_some(it.iter)
        }
        _ => None,
    });
    let begin_with_it: Vec<_> = begin_with_it.collect();
    let is_updated = has_updates(&find_affine_loop(attempt.kernel(), rows)?.body);
    let mut found = vec![rows];
    for inner in &begin_with_it {
        attempt.step(Split::new(attempt.path(*inner), end.clone()))?;
    }
    if !begin_with_it.is_empty() {
        for iter in [points, rows] {
            let path = attempt.path(iter);
            (!is_updated || keeps_updates(attempt.kernel(), &path)).then_some(())?;
            attempt.step(Distribute::new(path))?;
        }
        found.extend(attempt.made());
        for rows in found.iter().skip(1) {
            let inside = &find_affine_loop(attempt.kernel(), *rows)?.body;
            if let [Node::AffineFor(points)] = inside.as_slice() {
                let path = attempt.path(points.iter);
                // They begin behind the group now, whatever the iteration.
                attempt.together(|attempt| attempt.step(Separate::new(path)));
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;

    /// What a group of columns has settled goes into the rest of the matrix as a product.
    #[test]
    fn what_trails_a_group_of_a_factorization_is_a_product() {
        schedules(
            "kernel @lu(n: i64, a: f64[n, n]) {
               affine.for k in 0..n { affine.for i in k + 1..n {
                 a[i, k] = a[i, k] / a[k, k]
                 affine.for j in k + 1..n { a[i, j] = a[i, j] - a[i, k] * a[k, j] }
               } }
             }",
            &[
                "strip_mine(k = 64)",
                "permute(i, k_p)",
                "split(j, at = k_t + 64)",
                "distribute(k_p)",
                "distribute(i)",
                "separate(k_p_2)",
                "split(i, at = k_t + 64)",
                "separate(i_r)",
                "split(i_2, at = k_t + 64)",
                "separate(i_2_r)",
                "parallelize(i_r_r)",
                "strip_mine(j_r = 128)",
                "permute(j_r_t, i_2, k_p_2)",
                "parallelize(j_r_t)",
                "tile(i_2_r_r = 32, k_p_2_1_1 = 64, j_r_1_2_1 = 1024)",
                "parallelize(i_2_r_r_t)",
                "unroll_and_jam(k_p_2, 4)",
                "unroll_and_jam(i_2_r_r_p, 2)",
                "unroll_and_jam(k_p_2_1_1_p, 4)",
                "vectorize(j, 4)",
                "vectorize(j_1_1, 4)",
                "vectorize(j_r_p, 2)",
                "vectorize(j_r_p_1, 4)",
                "vectorize(j_r_1_2_1_p, 2)",
                "vectorize(j_r_1_2_1_p_1, 4)",
            ],
        );
    }

    /// Columns of right-hand sides do not meet, so each row is solved for all of them, one after
    /// the other within a group.
    #[test]
    fn what_trails_a_group_of_a_solve_is_a_product() {
        schedules(
            "kernel @solve(n: i64, m: i64, l: f64[n, n], b: f64[n, m]) {
               affine.for i in 0..n {
                 affine.for k in 0..i { affine.for j in 0..m { b[i, j] = b[i, j] - l[i, k] * b[k, j] } }
                 affine.for j_2 in 0..m { b[i, j_2] = b[i, j_2] / l[i, i] }
               }
             }",
            &[
                "permute(j, k)",
                "fuse(j, j_2)",
                "sink(k)",
                "permute(k, i, j)",
                "strip_mine(k = 64)",
                "permute(i, k_p)",
                "split(i, at = k_t + 64)",
                "separate(i_r)",
                "strip_mine(j = 128)",
                "permute(j_t, i, k_p)",
                "parallelize(j_t)",
                "tile(i_r_r = 32, k_p_1_1 = 64, j_1_1 = 1024)",
                "parallelize(i_r_r_t)",
                "separate(k_p)",
                "unroll_and_jam(k_p, 4)",
                "unroll_and_jam(i_r_r_p, 2)",
                "unroll_and_jam(k_p_1_1_p, 4)",
                "vectorize(j_p, 2)",
                "vectorize(j_p_1_2, 4)",
                "vectorize(j_p_1, 4)",
                "vectorize(j_1_1_p, 2)",
                "vectorize(j_1_1_p_1, 4)",
            ],
        );
    }
}
