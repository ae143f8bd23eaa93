//! Loops over the elements of rows, and those around them over all rows, become one loop where
//! nothing else is done: the rows follow each other in memory, so lanes go on from one to the next,
//! however short they are.
//!
//! 20,000 rows of three floats to which others are added take 4 µs instead of 17; where a parameter
//! says how long they are, 7 instead of 41.

use super::attempt::Attempt;
use super::order::{accesses, mentions};
use super::{Choice, Scheduler, lanes, path_to, trips, turns};
use crate::Coalesce;
use crate::tree::{self, find_affine_loop};
use strew_affine::lanes::{Lanes, MOST_LANES};
use strew_affine::visit::{Loop, has_loops};
use strew_affine::{Access, AffineFor, IterId, Kernel, Subscript};

/// Rows of so many elements are long: those of 50 take 4.9 µs as one loop and 5.6 by themselves,
/// 50,000 elements in all, and those of 100 as long.
const LONG_ROW: u64 = 64;

impl Scheduler<'_> {
    /// Makes one loop of those that go through rows and the elements of these.
    pub(super) fn go_through_rows(&mut self) {
        let loops = tree::loops(&self.found.kernel).into_iter();
        let innermost = loops.filter(|it| !has_loops(it.it.body()) && !it.around.is_empty());
        let innermost: Vec<_> = innermost.map(|it| it.it.iter()).collect();
        for inner in innermost {
            let path = self.found.kernel.iters[inner].name.clone();
            self.attempt_for([Choice::ThroughRows { path }], |attempt| {
                through_rows(attempt, inner)
            });
        }
    }
}

/// Makes one loop of that over `inner` and those around it, as far as they go through short rows,
/// or such as may be. Rows of which nobody knows how short they are stay where there are loops
/// around: these may have few iterations, and threads share rows then.
fn through_rows(attempt: &mut Attempt, inner: IterId) -> Option<()> {
    let is_known = trips(find_affine_loop(attempt.kernel(), inner)?).is_some();
    let mut made = inner;
    while let Some(next) = joined(attempt, made) {
        made = next;
    }
    let nested = tree::loops_over(attempt.kernel(), &[made]).pop()?;
    let is_outermost = nested.around.is_empty();
    (made != inner && (is_known || is_outermost)).then_some(())
}

/// Makes one loop of that over `inner`, if its rows may be short, and the one around it; its
/// iterator.
fn joined(attempt: &mut Attempt, inner: IterId) -> Option<IterId> {
    let kernel = attempt.kernel();
    let nested = tree::loops_over(kernel, &[inner]).pop()?;
    let (Loop::Affine(target), Loop::Affine(outer)) = (nested.it, *nested.around.last()?) else {
        return None;
    };
    let may_be_short = trips(target).is_none_or(|it| it < LONG_ROW);
    let accesses = accesses(&target.body);
    let is_plain = accesses.iter().all(|it| it.is_affine());
    (may_be_short && is_plain && outer.body.len() == 1).then_some(())?;
    // To find out what the subscripts would be takes much longer.
    let may_follow = accesses
        .iter()
        .all(|it| may_follow(kernel, [outer, target], it).unwrap_or(true));
    may_follow.then_some(())?;
    let [outer, inner] = [outer.iter, inner].map(|it| path_to(kernel, it));
    attempt.together(|attempt| {
        attempt.step(Coalesce::new(outer, inner))?;
        let made = *attempt.made().first()?;
        let target = find_affine_loop(attempt.kernel(), made)?;
        follows(attempt.kernel(), target).then_some(made)
    })
}

/// Whether the first element of the next row may follow the last one that `access` comes to in the
/// loop `target` over a row, which stands in the loop `outer` over rows: whether this goes through
/// whole rows. Nothing is said where subscripts are others than those of a row and an element.
fn may_follow(kernel: &Kernel, [outer, target]: [&AffineFor; 2], access: &Access) -> Option<bool> {
    let (last, others) = access.subscripts.split_last()?;
    let is_other = mentions(last, outer.iter) || others.iter().any(|it| mentions(it, target.iter));
    let (Subscript::Affine(last), false) = (last, is_other) else {
        return None;
    };
    let (1, _) = last.split_off(target.iter)? else {
        return None;
    };
    let extent = kernel.arrays[access.array].extents.last()?;
    Some(*extent == turns(target)?)
}

/// Whether `target` runs in lanes whose elements all follow each other, or are the same ones.
fn follows(kernel: &Kernel, target: &AffineFor) -> bool {
    let lanes = Lanes::of(kernel, Loop::Affine(target), MOST_LANES);
    let accesses = accesses(&target.body);
    let is_whole = lanes.is_ok_and(|lanes| accesses.iter().all(|it| !lanes.is_strided(it)));
    is_whole && lanes::are_meant(kernel, target)
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;

    fn kernel(body: &str) -> String {
        format!(
            "kernel @k(n: i64, m: i64, h: i64, p: f32[n, 3], v: f32[n, 3], w: f32[3], a: f32[n, m], b: f32[n, m], c: f32[h, n, m], d: f32[h, n, m], s: f32[n, 2, 4], t: f32[n, 2, 4], x: u8[h, n, 3], y: u8[h, n, 3], f: f32[n * 3], g: f32[n * 3]) {{ {body} }}"
        )
    }

    #[test]
    fn rows_of_few_elements_and_such_of_any_number_run_in_lanes() {
        let strips = |it: &str, lanes: u32| {
            [
                format!("strip_mine({it} = 4096)"),
                format!("parallelize({it}_t)"),
                format!("vectorize({it}_p, {lanes})"),
            ]
        };
        for (body, first, made, lanes) in [
            (
                "affine.for i in 0..n { affine.for j in 0..3 { p[i, j] = p[i, j] + 0.5 * v[i, j] } }",
                vec!["coalesce(i, j)"],
                "i_j",
                16,
            ),
            (
                "affine.for i in 0..n { affine.for j in 0..3 { f[i * 3 + j] = g[i * 3 + j] * 0.5 } }",
                vec!["coalesce(i, j)"],
                "i_j",
                16,
            ),
            (
                "affine.for i in 0..n { affine.for j in 0..m { a[i, j] = b[i, j] * 0.5 } }",
                vec!["coalesce(i, j)"],
                "i_j",
                16,
            ),
            (
                "affine.for i in 0..n { affine.for j in 0..2 { affine.for k in 0..4 { s[i, j, k] = t[i, j, k] * 0.5 } } }",
                vec!["coalesce(j, k)", "coalesce(i, j_k)"],
                "i_j_k",
                16,
            ),
        ] {
            let body = kernel(body);
            let strips = strips(made, lanes);
            let steps = first
                .into_iter()
                .chain(strips.iter().map(String::as_str))
                .collect::<Vec<_>>();
            schedules(&body, &steps);
        }
    }

    #[test]
    fn rows_that_are_not_whole_are_no_loop() {
        let body = kernel(
            "affine.for i in 0..n { affine.for j in 0..m - 1 { a[i, j] = b[i, j + 1] * 0.5 } }",
        );
        schedules(&body, &["parallelize(i)", "vectorize(j, 8)"]);
    }

    #[test]
    fn pixels_go_on_in_their_rows_where_these_are_not_whole() {
        let edges = "affine.for i in 0..h { affine.for j in 1..n - 1 { affine.for k in 0..3 {
          y[i, j, k] = x[i, j - 1, k] ^ x[i, j + 1, k]
        } } }";
        let steps = ["coalesce(j, k)", "parallelize(i)", "vectorize(j_k, 32)"];
        schedules(&kernel(edges), &steps);
    }

    #[test]
    fn rows_stay_where_not_all_elements_follow_each_other() {
        for (body, steps) in [
            (
                "affine.for i in 0..n { affine.for j in 0..m { a[i, j] = b[i, j] * c[0, 0, j] } }",
                &["parallelize(i)", "vectorize(j, 8)"][..],
            ),
            (
                "affine.for i in 0..n { affine.for j in 1..m { a[i, j] = b[i, j] * 0.5 } }",
                &["parallelize(i)", "vectorize(j, 8)"],
            ),
            (
                "affine.for i in 0..n { affine.for j in 0..m { a[i, j] = a[i, j] * 0.5 b[i, 0] reduce(add) a[i, j] } }",
                &["parallelize(i)", "scalar_replace(b)", "vectorize(j, 8)"],
            ),
        ] {
            schedules(&kernel(body), steps);
        }
    }

    /// There may be fewer of the outer loop than threads, which share rows then.
    #[test]
    fn rows_of_any_length_stay_where_loops_are_around_them() {
        let mask = "affine.for i in 0..h { affine.for j in 0..n { affine.for k in 0..m {
          c[i, j, k] = d[i, j, k] * a[j, k]
        } } }";
        let steps = [
            "permute(j, i, k)",
            "parallelize(j)",
            "unroll_and_jam(i, 4)",
            "vectorize(k, 4)",
            "vectorize(k_1, 8)",
        ];
        schedules(&kernel(mask), &steps);
    }
}
