//! Records of few elements, as points, colours and quaternions are: the loops over the elements of
//! one go away, and each lane has a record.
//!
//! Vectors that have the same element of several records come from whole vectors of the array, and
//! go there. That pays where a record does not fill vectors by itself, or is summed up before it is
//! written: 20,000 products of points with a matrix take 14 µs instead of 38.

use super::attempt::Attempt;
use super::flatten::gone;
use super::order::{Reach, accesses, moves, reach};
use super::{Choice, LONG, Scheduler, lanes, trips};
use crate::tree::{self, find_affine_loop, loops_in};
use crate::{ScalarReplace, Unroll};
use strew_affine::lanes::VECTOR_BYTES;
use strew_affine::visit::{Loop, allocated_arrays, has_loops, walk};
use strew_affine::{Access, AffineFor, IterId, Kernel};

/// Rows of more elements are none where they have lanes of their own: 20,000 of eight floats take
/// 40 µs there and 43 as records.
const MOST_ELEMENTS: usize = 7;

/// Other rows of more elements are none, for each of them is code: 20,000 rows of sixteen bytes
/// take 43 µs instead of 145 to be hashed with one in each lane.
const MOST_OF_OTHERS: usize = 16;

impl Scheduler<'_> {
    /// Lets the loops over the elements of records go away.
    pub(super) fn flatten_records(&mut self) {
        let around = tree::affine_loops(&self.found.kernel).filter(|it| has_loops(&it.body));
        let around: Vec<_> = around.map(|it| it.iter).collect();
        for iter in around.into_iter().rev() {
            let path = self.found.kernel.iters[iter].name.clone();
            self.attempt_for([Choice::Records { path }], |attempt| {
                flattened(attempt, iter)
            });
        }
    }
}

/// Lets all loops in that over `iter` go away, if they go over the elements of records, and lanes
/// have one each then.
fn flattened(attempt: &mut Attempt, iter: IterId) -> Option<()> {
    let target = find_affine_loop(attempt.kernel(), iter)?;
    has_records(attempt.kernel(), target).then_some(())?;
    while let Some(request) = next(attempt.kernel(), iter)? {
        attempt.step(request)?;
    }
    own_in_scalars(attempt, iter)?;
    let target = find_affine_loop(attempt.kernel(), iter)?;
    lanes::are_meant(attempt.kernel(), target).then_some(())
}

/// How the next loop in that over `iter` goes away, if there is any; `None` if one of them stays. A
/// loop whose inner ones have other lengths in each of its iterations goes before these.
fn next(kernel: &Kernel, iter: IterId) -> Option<Option<Unroll>> {
    let inside = loops_in(find_affine_loop(kernel, iter)?);
    let gone = |it: &Loop<'_>| match it {
        Loop::Affine(it) => gone(kernel, it, most(kernel, it)),
        Loop::Forall(_) | Loop::Scf(_) => None,
    };
    match inside.is_empty() {
        true => Some(None),
        false => inside.iter().find_map(gone).map(Some),
    }
}

/// The arrays that each iteration of the loop over `iter` has of its own become scalars.
fn own_in_scalars(attempt: &mut Attempt, iter: IterId) -> Option<()> {
    let own = allocated_arrays(&find_affine_loop(attempt.kernel(), iter)?.body);
    let mut own = own.into_iter();
    own.try_for_each(|array| {
        let name = attempt.kernel().arrays[array].name.clone();
        attempt.step(ScalarReplace::new(name))
    })
}

/// The most turns of a loop that goes away.
fn most(kernel: &Kernel, inner: &AffineFor) -> usize {
    match lanes::count(kernel, Loop::Affine(inner)) {
        Some(_) => MOST_ELEMENTS,
        None => MOST_OF_OTHERS,
    }
}

/// Whether the iterations of `target`, of which there may be many, each write elements of their
/// own, all at affine places, loops in it go along rows where it goes from row to row, or elements
/// of arrays that each iteration has, and lanes of theirs would not be better.
fn has_records(kernel: &Kernel, target: &AffineFor) -> bool {
    let is_long = trips(target).is_none_or(|it| it >= LONG);
    let own = allocated_arrays(&target.body);
    let mut written = Vec::new();
    walk(&target.body, &mut |node, _| {
        let elements = node.written_elements();
        written.extend(elements.filter(|it| !own.contains(&it.array)));
    });
    let is_own = |it: &&Access| moves(it, target.iter);
    let inside = loops_in(target);
    let is_record = |it: &&Access| {
        let is_along = |inner: &Loop<'_>| reach(kernel, it, inner.iter()) == Reach::Next(1.0);
        reach(kernel, it, target.iter) == Reach::Far && inside.iter().any(is_along)
    };
    let accesses = accesses(&target.body);
    is_long
        && target.lanes == 1
        && !written.is_empty()
        && written.iter().all(is_own)
        && accesses.iter().all(|it| it.is_affine())
        && (accesses.iter().any(is_record) || !own.is_empty())
        && !fills_vectors(kernel, target)
}

/// Whether all that `target` does is one loop, and rows that this or loops in it write fill
/// vectors.
fn fills_vectors(kernel: &Kernel, target: &AffineFor) -> bool {
    let mut fills = false;
    walk(&target.body, &mut |node, loops| {
        for access in node.written_elements() {
            let lanes = u64::from(VECTOR_BYTES / kernel.arrays[access.array].element.bytes());
            fills |= loops.iter().any(|it| {
                let Loop::Affine(it) = it else { return false };
                let is_whole = trips(it).is_some_and(|it| it.is_multiple_of(lanes));
                is_whole && reach(kernel, access, it.iter) == Reach::Next(1.0)
            });
        }
    });
    fills && target.body.len() == 1
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;

    fn kernel(body: &str) -> String {
        format!(
            "kernel @k(n: i64, p: f32[n, 3], q: f32[n, 3], m: f32[3, 3], s: f32[n, 4], t: f32[n, 4], w: f32[4], d: u8[n, 16], o: u32[n]) {{ {body} }}"
        )
    }

    fn strips(lanes: u32) -> [String; 3] {
        [
            "strip_mine(i = 4096)".to_owned(),
            "parallelize(i_t)".to_owned(),
            format!("vectorize(i_p, {lanes})"),
        ]
    }

    #[test]
    fn points_and_what_is_summed_up_before_it_is_written_have_a_lane() {
        let product = "affine.for i in 0..n { affine.for j in 0..3 {
          var c: f32 = 0.0
          affine.for k in 0..3 { c reduce(add) m[j, k] * p[i, k] }
          q[i, j] = c
        } }";
        let [first, second, third] = &strips(4);
        let steps = ["unroll(k, 3)", "unroll(j, 3)", first, second, third];
        schedules(&kernel(product), &steps);
        let parts = "affine.for i in 0..n {
          var c: f32 = 0.0
          affine.for j in 0..4 { c reduce(add) t[i, j] }
          affine.for k in 0..4 { t[i, k] = t[i, k] / c }
        }";
        let steps = ["unroll(j, 4)", "unroll(k, 4)", first, second, third];
        schedules(&kernel(parts), &steps);
    }

    #[test]
    fn rows_that_no_lanes_of_their_own_go_along_have_one_each() {
        let hash = "affine.for i in 0..n {
          var h: u32 = 7
          affine.for j in 0..16 { h = (h ^ u32(d[i, j])) * 31 }
          o[i] = h
        }";
        let [first, second, third] = &strips(16);
        schedules(&kernel(hash), &["unroll(j, 16)", first, second, third]);
    }

    #[test]
    fn rows_that_fill_vectors_stay() {
        let product = "affine.for i in 0..n { affine.for j in 0..4 { affine.for k in 0..4 { t[i, j] reduce(add) s[i, k] * w[j] } } }";
        let steps = ["parallelize(i)", "vectorize(j, 4)", "unroll(k, 4)"];
        schedules(&kernel(product), &steps);
    }
}
