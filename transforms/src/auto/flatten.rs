//! Which loops go away altogether: those of few turns inside of a forall, where what they cost
//! counts in every iteration, or elements could stay in registers.

use super::order::{Reach, accesses, moves, reach};
use super::{LONG, MOST_UNROLLED, held, path_to, trips};
use crate::{Unroll, tree};
use std::collections::HashSet;
use strew_affine::visit::{self, Loop};
use strew_affine::{Access, AffineFor, IterId, Kernel, Node, Subscript, Variable};

/// A loop stays when its turns are more statements than this: what its own instructions cost is
/// then little beside them.
const MOST_STATEMENTS: usize = 64;

/// A kernel does not grow beyond so many statements, since each of them takes time to compile.
pub(super) const MOST_IN_KERNEL: usize = 96;

/// So many turns, too, where all that they read lies one behind the other in the lanes of the loop
/// around: coefficients of a polynomial, say, and where it is taken.
const MOST_IN_LANES: usize = 16;

/// Finds the loops to flatten, one after the other: what is around a loop that went away may be
/// next.
#[derive(Debug, Default)]
pub(super) struct Flattening {
    /// The loops that were asked for, or that have been unrolled as far as pays.
    settled: HashSet<IterId>,
}

impl Flattening {
    /// Leaves the loop over `iter` alone.
    pub(super) fn settle(&mut self, iter: IterId) {
        self.settled.insert(iter);
    }

    /// The next loop of `kernel` to unroll, the innermost ones first.
    pub(super) fn next(&mut self, kernel: &Kernel) -> Option<Unroll> {
        self.find(kernel, |_, around| {
            let is_inside = around.iter().any(|it| matches!(it, Loop::Forall(_)));
            is_inside.then_some(MOST_UNROLLED)
        })
    }

    /// The next one that keeps a loop around it from running in lanes.
    pub(super) fn before_lanes(&mut self, kernel: &Kernel) -> Option<Unroll> {
        self.find(kernel, |target, around| {
            let across = || goes_across(kernel, target, around).then_some(MOST_UNROLLED);
            most_in_way(target, around).or_else(across)
        })
    }

    /// The next one that keeps elements of small private buffers from staying in registers.
    pub(super) fn before_registers(&mut self, kernel: &Kernel) -> Option<Unroll> {
        let indexing = held::iterators(kernel);
        self.find(kernel, |target, _| {
            indexing.contains(&target.iter).then_some(MOST_UNROLLED)
        })
    }

    fn find(
        &mut self,
        kernel: &Kernel,
        most_turns: impl Fn(&AffineFor, &[Loop<'_>]) -> Option<usize>,
    ) -> Option<Unroll> {
        let (target, request) = tree::loops(kernel).into_iter().find_map(|nested| {
            let Loop::Affine(target) = nested.it else {
                return None;
            };
            let is_new = !self.settled.contains(&target.iter);
            let most = most_turns(target, &nested.around).filter(|_| is_new)?;
            Some((target, gone(kernel, target, most)?))
        })?;
        self.settle(target.iter);
        Some(request)
    }
}

/// The most turns that `target` may have to go away, if it does nothing but compute something in
/// each iteration of a loop around it that writes elements one behind the other.
fn most_in_way(target: &AffineFor, around: &[Loop<'_>]) -> Option<usize> {
    let writes = |it: &&Loop<'_>| {
        let Loop::Affine(it) = it else { return false };
        let mut written = it.body.iter().flat_map(Node::written_elements);
        written.any(|access| access.is_affine() && moves(access, it.iter))
    };
    let writing = around.iter().rev().find(writes)?.iter();
    let accesses = accesses(&target.body);
    let mut written = target.body.iter().flat_map(Node::written_elements);
    let is_in_way = accesses.iter().all(|it| it.is_affine()) && written.next().is_none();
    let are_along = || {
        accesses
            .iter()
            .all(|it| !moves(it, writing) || is_along(it, writing))
    };
    is_in_way.then(|| match are_along() {
        true => MOST_IN_LANES,
        false => MOST_UNROLLED,
    })
}

/// Whether what `target` uses follows each other in iterations of the loop around it, which does
/// nothing else, and not in its own: fields of records that become arrays of their own, or come
/// from them, and windows around points of a row.
fn goes_across(kernel: &Kernel, target: &AffineFor, around: &[Loop<'_>]) -> bool {
    let Some(Loop::Affine(outer)) = around.last() else {
        return false;
    };
    let follows = |it: &Access| {
        let own = reach(kernel, it, target.iter);
        is_along(it, outer.iter) && !matches!(own, Reach::Next(_))
    };
    let accesses = accesses(&target.body);
    let written = || target.body.iter().flat_map(Node::written_elements);
    // Records are written whole where the fields come from elsewhere.
    let is_field = |it: &Access| {
        reach(kernel, it, target.iter) == Reach::Next(1.0)
            && reach(kernel, it, outer.iter) == Reach::Far
    };
    let are_records = written().all(is_field) && accesses.iter().any(|it| follows(it));
    let is_alone = matches!(outer.body.as_slice(), [Node::AffineFor(_)]);
    let is_long = trips(outer).is_none_or(|it| it >= LONG);
    is_alone
        && is_long
        && accesses.iter().all(|it| it.is_affine())
        && written().next().is_some()
        && (written().all(follows) || are_records)
}

/// Whether elements of `access` follow each other in iterations of the loop over `iter`.
fn is_along(access: &Access, iter: IterId) -> bool {
    let moved = access.subscripts.iter().map(|it| match it {
        Subscript::Affine(expr) => expr.split_off(iter).map(|(by, _)| by),
        Subscript::Computed(_) => None,
    });
    let moved: Option<Vec<i64>> = moved.collect();
    moved
        .as_deref()
        .and_then(<[i64]>::split_last)
        .is_some_and(|(last, others)| *last == 1 && others.iter().all(|it| *it == 0))
}

/// The step after which `target` is gone from `kernel`, if it has so many turns at most and leaves
/// not too many statements.
pub(super) fn gone(kernel: &Kernel, target: &AffineFor, most: usize) -> Option<Unroll> {
    let turns = turns_to_flatten(target, most)?;
    let copies = turns * statements(&target.body);
    let has_room = copies <= MOST_STATEMENTS && statements(&kernel.body) + copies <= MOST_IN_KERNEL;
    has_room.then(|| Unroll::new(path_to(kernel, target.iter), turns as u64))
}

/// The number of turns, when they are few and the body is straight: without loops, but for those
/// whose lengths are only known in each copy, and without arrays that each copy would have of its
/// own.
fn turns_to_flatten(target: &AffineFor, most: usize) -> Option<usize> {
    let turns = usize::try_from(trips(target)?).ok()?;
    // The iterator of a copy is a constant, so that of the first turn has to be one.
    let begins_at_constant = target.lower.as_single()?.as_constant().is_some();
    let is_few = (2..=most).contains(&turns);
    (begins_at_constant && is_few && is_straight(target)).then_some(turns)
}

fn is_straight(target: &AffineFor) -> bool {
    let mut straight = true;
    visit::walk(&target.body, &mut |node, _| {
        straight &= match node {
            Node::AffineFor(inner) => depends(inner, target.iter),
            Node::Forall(_) | Node::ScfFor(_) | Node::ScfWhile { .. } | Node::Alloc { .. } => false,
            _ => true,
        };
    });
    straight
}

/// Whether `inner`, which is not in lanes, has other bounds in each iteration of the loop over
/// `iter`.
fn depends(inner: &AffineFor, iter: IterId) -> bool {
    let mut bounds = inner.bounds();
    inner.lanes == 1 && bounds.any(|it| it.mentions(Variable::Iter(iter)))
}

pub(super) fn statements(body: &[Node]) -> usize {
    let mut count = 0;
    visit::walk(body, &mut |_, _| count += 1);
    count
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;
    use crate::auto::{Machine, auto};
    use crate::test_support::kernel;

    const TILE: &str = "tile_indirection_using_forall(e, chunks = 8, strategy = auto)";

    /// A loop over `e`, whose iterations update elements that `key` gives, with this body.
    fn scatter(body: &str) -> String {
        format!(
            "kernel @k(n: i64, m: i64, key: i32[n, 3], x: f64[m], out: f64[m]) {{
               affine.for e in 0..n {{ {body} }}
             }}"
        )
    }

    #[test]
    fn windows_around_points_of_a_row_run_in_lanes() {
        schedules(
            "kernel @k(n: i64, w: f32[5], x: f32[n + 4], y: f32[n]) {
               affine.for i in 0..n { affine.for b in 0..5 { y[i] reduce(add) w[b] * x[i + b] } }
             }",
            &[
                "unroll(b, 5)",
                "strip_mine(i = 4096)",
                "parallelize(i_t)",
                "vectorize(i_p, 4)",
            ],
        );
    }

    #[test]
    fn fields_that_become_arrays_of_their_own_run_in_lanes() {
        let planes = |made: &str, rows: &str| {
            format!(
                "kernel @k(n: i64, x: u8[n, 3], y: f32[3, n], c: f32[{rows}, 3], d: f32[3, {rows}]) {{
                   affine.for i in 0..{rows} {{ affine.for j in 0..3 {{ {made} }} }}
                 }}"
            )
        };
        schedules(
            &planes("y[j, i] = f32(x[i, j]) / 255.0", "n"),
            &[
                "unroll(j, 3)",
                "strip_mine(i = 4096)",
                "parallelize(i_t)",
                "vectorize(i_p, 16)",
            ],
        );
        let copies = [
            "unroll(j, 3)",
            "strip_mine(i = 4096)",
            "parallelize(i_t)",
            "vectorize(i_p, 4)",
        ];
        schedules(&planes("d[j, i] = c[i, j]", "n"), &copies);
        schedules(&planes("c[i, j] = d[j, i]", "n"), &copies);
        schedules(&planes("d[j, i] reduce(add) c[i, j]", "n"), &copies);
        // There is too little of it.
        schedules(
            &planes("d[j, i] = c[i, j] * 0.5", "8"),
            &["unroll_and_jam(i, 8)"],
        );
    }

    #[test]
    fn short_loops_in_a_tiled_one_go_away_with_what_their_subscripts_compute() {
        let source = scatter(
            "alloc b: f64[3]
             affine.for i in 0..3 { b[(i + 1) mod 3] = x[key[e, (i + 2) mod 3]] }
             affine.for k in 0..3 {
               out[key[e, k]] reduce(add) b[k]
               affine.for j in 1..6 step 2 { b[j floordiv 2] = b[j floordiv 2] + b[k] }
             }",
        );
        let expected = [TILE, "unroll(i, 3)", "unroll(j, 3)", "unroll(k, 3)"];
        schedules(&source, &expected);
        let found = auto(&kernel(&source), &Machine::default(), &mut ());
        let text = found.kernel.to_string();
        for statement in [
            "b[1] = x[key[e, 2]]",
            "b[2] = x[key[e, 0]]",
            "b[0] = x[key[e, 1]]",
            "b[0] = b[0] + b[2]",
        ] {
            assert!(text.contains(statement), "{statement}\n{text}");
        }
    }

    #[test]
    fn branches_may_stand_in_a_loop_that_goes_away() {
        let source = scatter(
            "affine.for i in 0..2 {
               affine.if (i < 1) { out[key[e, i]] reduce(add) 1.0 } else { out[key[e, 2]] reduce(add) 2.0 }
             }",
        );
        schedules(&source, &[TILE, "unroll(i, 2)"]);
    }

    #[test]
    fn loops_stay_that_are_not_short_or_straight() {
        for body in [
            "affine.for i in 0..9 { s reduce(add) sin(x[i]) }",
            "affine.for i in 0..n { s reduce(add) sin(x[i]) }",
            "affine.for i in e..e + 3 { s reduce(add) f64(i) }",
            "affine.for i in 0..1 { s reduce(add) x[i] }",
            "affine.for i in 3..0 { s reduce(add) x[i] }",
            "affine.for i in 0..3 { alloc b: f64[2] b[i mod 2] = 1.0 s reduce(add) b[0] }",
        ] {
            let source = scatter(&format!(
                "var s: f64 = 0.0\n{body}\nout[key[e, 0]] reduce(add) s"
            ));
            schedules(&source, &[TILE]);
        }
    }

    #[test]
    fn loops_around_those_that_compute_their_turns_stay() {
        for inside in [
            "scf.for j in i64(key[e, i])..4 { s reduce(add) f64(j) }",
            "scf.while s < 2.0 { s = s + 1.0 }",
        ] {
            let source = scatter(&format!(
                "var s: f64 = 0.0
                 affine.for i in 0..3 {{ {inside} }}
                 out[key[e, 0]] reduce(add) s"
            ));
            let tile = TILE.replace("= 8", "= 64");
            schedules(&source, &[&tile]);
        }
    }

    #[test]
    fn outside_of_what_is_tiled_loops_stay() {
        let source = "kernel @k(x: f64[3]) { affine.for i in 0..3 { x[i] = 2.0 * x[i] } }";
        schedules(source, &[]);
    }

    #[test]
    fn a_loop_that_would_be_too_many_statements_stays() {
        let body = |statements: usize| {
            let statements = "s reduce(add) x[i]\n".repeat(statements);
            format!(
                "var s: f64 = 0.0 affine.for i in 0..4 {{ {statements} }} out[key[e, 0]] reduce(add) s"
            )
        };
        schedules(&scatter(&body(16)), &[TILE, "unroll(i, 4)"]);
        schedules(&scatter(&body(17)), &[TILE]);
    }

    #[test]
    fn a_kernel_does_not_grow_without_end() {
        let each = |name: usize| {
            format!("affine.for t{name} in 0..8 {{ s reduce(add) x[t{name}] s = s * 0.5 }}\n")
        };
        let loops: String = (0..9).map(each).collect();
        let source = scatter(&format!(
            "var s: f64 = 0.0 {loops} out[key[e, 0]] reduce(add) s"
        ));
        let unrolled = (0..4).map(|name| format!("unroll(t{name}, 8)"));
        let steps = std::iter::once(TILE.to_owned()).chain(unrolled);
        let steps: Vec<_> = steps.chain(["vectorize(e, 8)".to_owned()]).collect();
        schedules(
            &source,
            &steps.iter().map(String::as_str).collect::<Vec<_>>(),
        );
    }

    #[test]
    fn polynomials_run_in_lanes_but_not_rows() {
        let horner = "kernel @k(n: i64, c: f64[12], x: f64[n], y: f64[n]) {
          affine.for i in 0..n {
            var s: f64 = c[0]
            affine.for l in 1..12 { s = s * x[i] + c[l] }
            y[i] = s
          }
        }";
        let cut = ["strip_mine(i = 4096)", "parallelize(i_t)"];
        schedules(
            horner,
            &["unroll(l, 11)", cut[0], cut[1], "vectorize(i_p, 4)"],
        );
        // Elements of one column are far from each other.
        let rows = "kernel @k(n: i64, x: f64[n, 12], y: f64[n]) {
          affine.for i in 0..n {
            var s: f64 = 0.0
            affine.for l in 0..12 { s reduce(add) x[i, l] }
            y[i] = s
          }
        }";
        schedules(rows, &["parallelize(i)", "vectorize(l, 8)"]);
    }
}
