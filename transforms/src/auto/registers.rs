//! What stays in registers: elements that all iterations of an innermost loop update or the next
//! ones read, and what several iterations of the loops around it use alike.

use super::order::{Reach, accesses, moves, reach};
use super::traffic::{Traffic, rows};
use super::{Choice, Saving, Scheduler, path_to, trips};
use crate::scalar_replace::carried_arrays;
use crate::tree::Nested;
use crate::{LoopPath, ScalarReplace, Separate, UnrollAndJam, tree};
use std::collections::BTreeSet;
use strew_affine::visit::{Loop, for_each_load, walk};
use strew_affine::{
    Access, AffineFor, ArrayId, Bound, IterId, Kernel, LocalId, Node, Place, Subscript, Variable,
};

/// How many iterations of the loop around an innermost one are made together, and of the one around
/// that: the elements that they update and the factors that they share fit sixteen vectors.
const TOGETHER: [u64; 2] = [4, 2];

/// More statements than this, one behind the other, need more registers than there are.
pub(super) const MOST_STATEMENTS: u64 = 8;

/// The same for iterations of one statement that are made together: those of a window of 3 × 3
/// points share what they update.
const MOST_TOGETHER: u64 = 9;

/// Rows have an address each, in registers beside those of the loop itself.
const MOST_ROWS: usize = 12;

impl Scheduler<'_> {
    /// Makes several iterations of loops around innermost ones together where they share what they
    /// load or update, and keeps in scalars what does not move with an innermost loop.
    pub(super) fn use_registers(&mut self) {
        for Together {
            request,
            saving,
            tiles,
            ..
        } in jammed(&self.found.kernel)
        {
            let why = || {
                let (step, saving) = (request.clone().into(), Some(saving.clone()));
                [Choice::Inside { step, saving }]
            };
            if self.attempt_for(why(), |attempt| attempt.step(request.clone())) {
                continue;
            }
            // Whole tiles have as many iterations as their size says.
            for tiles in tiles {
                self.attempt_for(why(), |attempt| {
                    attempt.step(Separate::new(tiles))?;
                    attempt.step(request.clone())
                });
            }
        }
        for array in kept_in_scalars(&self.found.kernel) {
            let name = self.found.kernel.arrays[array].name.clone();
            self.attempt(|attempt| attempt.step(ScalarReplace::new(name)));
        }
    }
}

/// Iterations to make together.
struct Together {
    request: UnrollAndJam,
    saving: Saving,
    /// The loops around that may be those over tiles.
    tiles: Vec<LoopPath>,
    /// Whether they are all iterations of their loop.
    goes_away: bool,
}

impl Together {
    /// Elements that are loaded and stored for an iteration then.
    fn moved(&self) -> Option<f64> {
        match self.saving {
            Saving::Traffic { after, .. } => Some(after.loads + after.stores),
            _ => None,
        }
    }
}

/// For each innermost loop those to make together, from outside to inside.
fn jammed(kernel: &Kernel) -> Vec<Together> {
    let loops = tree::loops(kernel);
    let straight = loops.iter().filter_map(|nested| match nested.it {
        Loop::Affine(it) if is_straight(&it.body) && !is_only_sums(it) => Some((it, nested)),
        _ => None,
    });
    let mut requests = Vec::new();
    for (innermost, nested) in straight {
        let whole = block(kernel, innermost, &nested.around, 1);
        let is_known =
            matches!(nested.around.last(), Some(Loop::Affine(it)) if trips(it).is_some());
        let in_halves = is_known.then(|| block(kernel, innermost, &nested.around, 2));
        // Half of a short loop lets the loop around it share something, too: four by two iterations
        // load less than eight by one.
        let moved = |it: &[Together]| it.last().and_then(Together::moved);
        let is_less = |halves: &[Together]| {
            moved(halves)
                .zip(moved(&whole))
                .is_some_and(|(it, whole)| it < whole)
        };
        let found = in_halves.filter(|it| is_less(it)).unwrap_or(whole);
        // Those that go away do so from inside to outside: what is around one of them has its order
        // once it is gone.
        let (gone, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|it| it.goes_away);
        requests.extend(gone.into_iter().chain(others.into_iter().rev()));
    }
    requests
}

/// The loops of `around`, from inside to outside, of which several iterations are made together
/// around `innermost`. Where the first is short, it goes away altogether, or in so many parts.
fn block(kernel: &Kernel, innermost: &AffineFor, around: &[Loop<'_>], parts: u64) -> Vec<Together> {
    let mut copies = innermost.body.len() as u64;
    let mut inside = vec![innermost.iter];
    // Those of them that do not go away.
    let mut running = inside.clone();
    let mut found = Vec::new();
    let mut together = Vec::new();
    for (target, usual) in around.iter().rev().zip(TOGETHER) {
        let Loop::Affine(target) = target else { break };
        let parts = if together.is_empty() { parts } else { 1 };
        let factor = factor_of(target, copies, (usual, parts));
        let is_perfect = matches!(target.body.as_slice(), [Node::AffineFor(only)] if inside.last() == Some(&only.iter));
        let is_long = trips(target).is_none_or(|it| it >= factor);
        // Where others than the innermost loop move, that one would run for each iteration by
        // itself.
        let mut between = around.iter().rev().take(inside.len() - 1);
        let stay = !between.any(|it| matches!(it, Loop::Affine(it) if it.moves_with(target.iter)));
        if !is_perfect || !stay || target.step != 1 || !is_long || copies * factor > MOST_TOGETHER {
            break;
        }
        let mut more = together.clone();
        more.push((target.iter, factor));
        let saving = saving(kernel, innermost, &together, &more);
        let have_addresses = || rows(innermost, &more).is_ok_and(|it| it <= MOST_ROWS);
        let goes_away = trips(target) == Some(factor);
        if let Some(saving) = saving
            && factor > 1
            && keeps_order(innermost, target.iter, (&inside, &running))
            && have_addresses()
        {
            copies *= factor;
            together = more;
            found.push(Together {
                request: UnrollAndJam::new(path_to(kernel, target.iter), factor),
                saving,
                tiles: tiles(kernel, target, around),
                goes_away,
            });
            running.extend((!goes_away).then_some(target.iter));
        } else {
            running.push(target.iter);
        }
        inside.push(target.iter);
    }
    found
}

/// How many iterations of `target` to make together where each has so many `copies` of statements:
/// all of them, in so many parts, where it is short, and else as many as usual.
fn factor_of(target: &AffineFor, copies: u64, (usual, parts): (u64, u64)) -> u64 {
    let most = MOST_TOGETHER / copies.max(1);
    match trips(target).filter(|it| (2..=most).contains(it)) {
        Some(all) if all.is_multiple_of(parts) => all / parts,
        Some(all) => all,
        None => usual,
    }
}

/// What it saves that `more` iterations are made together than `before`, of which the last is that
/// of another loop; `None` if they share nothing.
fn saving(
    kernel: &Kernel,
    innermost: &AffineFor,
    before: &[(IterId, u64)],
    more: &[(IterId, u64)],
) -> Option<Saving> {
    let &(around, factor) = more.last()?;
    let carries = || !carried_arrays(innermost).is_empty();
    if shares(innermost, around) || carries() && meets_again(innermost, (around, factor)) {
        let [before, after] = [before, more].map(|it| Traffic::of(innermost, it).ok());
        return Some(Saving::Traffic {
            before: before?,
            after: after?,
        });
    }
    shares_lines(kernel, innermost, around).then_some(Saving::Lines { together: factor })
}

/// Those of `loops` that an alternative for the end of `target` speaks of, each of whose turns
/// moves it by several iterations.
fn tiles(kernel: &Kernel, target: &AffineFor, loops: &[Loop<'_>]) -> Vec<LoopPath> {
    let Bound(ends) = &target.upper;
    let spoken_of = loops.iter().filter_map(|it| match it {
        Loop::Affine(it) => {
            let mut ends = ends.iter();
            let is_meant = ends.any(|end| {
                let moved = end
                    .split_off(it.iter)
                    .map(|(by, _)| by.saturating_mul(it.step));
                moved.is_none_or(|by| by.saturating_abs() > 1)
            });
            (is_meant && target.upper.as_single().is_none()).then(|| path_to(kernel, it.iter))
        }
        Loop::Forall(_) | Loop::Scf(_) => None,
    });
    spoken_of.collect()
}

/// Whether iterations of the loop over `around` read or update the same elements, others in each
/// iteration of `innermost`.
fn shares(innermost: &AffineFor, around: IterId) -> bool {
    let mut used = Vec::new();
    for node in &innermost.body {
        for expr in node.expressions() {
            for_each_load(expr, &mut |access| used.push(access));
        }
        if let Node::Reduce { .. } = node {
            used.extend(node.written_elements());
        }
    }
    let mut used = used.into_iter();
    used.any(|it| moves(it, innermost.iter) && !moves(it, around))
}

/// Whether iterations of the loop over `around` use elements beside each other, which lie in
/// another line in each iteration of `innermost`: made together, they find the line where the one
/// before has left it.
fn shares_lines(kernel: &Kernel, innermost: &AffineFor, around: IterId) -> bool {
    let accesses = accesses(&innermost.body);
    accesses.iter().any(|it| {
        reach(kernel, it, innermost.iter) == Reach::Far
            && reach(kernel, it, around) == Reach::Next(1.0)
    })
}

/// Whether an iteration of the loop over `around` uses elements that one of the `factor - 1` before
/// it uses, too: made together, they load it once, and none of them waits for more than itself when
/// iterations of `innermost` wait for each other.
fn meets_again(innermost: &AffineFor, (around, factor): (IterId, u64)) -> bool {
    let accesses = accesses(&innermost.body);
    let is_later = |one: &Access, other: &Access, by: i64| {
        let mut subscripts = one.subscripts.iter().zip(&other.subscripts);
        one.array == other.array
            && subscripts.all(|pair| {
                let (Subscript::Affine(one), Subscript::Affine(other)) = pair else {
                    return false;
                };
                let distance = one.minus(other).ok().and_then(|it| it.as_constant());
                let moved = one.split_off(around).and_then(|(it, _)| it.checked_mul(by));
                distance.is_some() && distance == moved
            })
    };
    let mut pairs = accesses
        .iter()
        .flat_map(|one| accesses.iter().map(move |other| (one, other)));
    pairs.any(|(one, other)| {
        moves(one, around) && (1..factor.cast_signed()).any(|by| is_later(one, other, by))
    })
}

/// Whether no element gets its updates in another order when iterations of the loop over `around`
/// are made together in those of the loops over `inside`: no two of the former update the same
/// element, or they do in the same iterations of the latter alone, of which those that are not
/// `running` have become copies of the body, in their order. A scalar of what is around is updated
/// by all of them, so where there is one they do not.
fn keeps_order(
    innermost: &AffineFor,
    around: IterId,
    (inside, running): (&[IterId], &[IterId]),
) -> bool {
    // A number of the element that tells `iter`, whatever the loops outside of these do.
    let tells = |access: &Access, iter: IterId, others: &[IterId]| {
        access.subscripts.iter().any(|subscript| {
            let Subscript::Affine(expr) = subscript else {
                return false;
            };
            let split = expr.split_off(iter);
            split.is_some_and(|(scale, rest)| {
                let mut others = others.iter().filter(|it| **it != iter);
                scale != 0 && !others.any(|it| rest.mentions(Variable::Iter(*it)))
            })
        })
    };
    let updates = innermost.body.iter();
    let updates = updates.filter(|it| matches!(it, Node::Reduce { .. }));
    let written: Vec<_> = updates.flat_map(Node::written_elements).collect();
    let is_only = |it: &Access| {
        written
            .iter()
            .all(|other| other.array != it.array || other.is_same(it))
    };
    let is_own = |it: &LocalId| {
        let mut body = innermost.body.iter();
        body.any(|node| matches!(node, Node::Declare { local, .. } if local == it))
    };
    let mut places = innermost.body.iter().flat_map(Node::places);
    let has_others = places.any(|it| matches!(it, Place::Local(local) if !is_own(local)));
    !has_others
        && written.iter().all(|it| {
            is_only(it)
                && match moves(it, around) {
                    true => tells(it, around, inside),
                    false => running.iter().all(|iter| tells(it, *iter, inside)),
                }
        })
}

/// Whether `target` does nothing but update scalars and elements that are the same in all
/// iterations.
pub(super) fn is_only_sums(target: &AffineFor) -> bool {
    let mut written = target.body.iter().flat_map(Node::written_elements);
    !written.any(|it| moves(it, target.iter))
}

/// The arrays of which a loop without loops updates one element alone, or reads what iterations
/// before have written. Private buffers are not among them: what is assigned to one cannot be
/// combined into its target in order.
pub(super) fn kept_in_scalars(kernel: &Kernel) -> BTreeSet<ArrayId> {
    let mut found = BTreeSet::new();
    let mut buffers = BTreeSet::new();
    walk(&kernel.body, &mut |node, _| {
        if let Node::Forall(forall) = node {
            buffers.extend(forall.buffers().map(|(buffer, _)| buffer));
        }
    });
    for Nested { it, .. } in tree::loops(kernel) {
        if let Loop::Affine(innermost) = it {
            let is_short = trips(innermost).is_some_and(|it| it <= MOST_STATEMENTS);
            if is_short {
                continue;
            }
            if is_straight(&innermost.body) {
                found.extend(carried_arrays(innermost));
            }
        }
        if matches!(it, Loop::Forall(_)) || !is_plain(it.body()) {
            continue;
        }
        let accesses = accesses(it.body());
        for written in it.body().iter().flat_map(Node::written_elements) {
            let mut of_it = accesses.iter().filter(|it| it.array == written.array);
            let is_alone = of_it.all(|it| it.is_same(written));
            if is_alone && written.is_affine() && !moves(written, it.iter()) {
                found.insert(written.array);
            }
        }
    }
    &found - &buffers
}

/// Whether `body` is made of assignments and updates whose subscripts are affine.
pub(super) fn is_straight(body: &[Node]) -> bool {
    is_plain(body) && accesses(body).iter().all(|it| it.is_affine())
}

fn is_plain(body: &[Node]) -> bool {
    body.iter().all(|node| {
        matches!(
            node,
            Node::Assign { .. } | Node::Reduce { .. } | Node::Declare { .. }
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;

    #[test]
    fn rows_that_are_updated_again_are_so_at_once() {
        let product = "kernel @k(n: i64, a: f64[n, 8, 8], b: f64[n, 8, 8], c: f64[n, 8, 8]) {
          affine.for p in 0..n { affine.for i in 0..8 { affine.for l in 0..8 { affine.for j in 0..8 {
            c[p, i, j] reduce(add) a[p, i, l] * b[p, l, j]
          } } } }
        }";
        let steps = [
            "parallelize(p)",
            "unroll_and_jam(i, 2)",
            "unroll_and_jam(l, 4)",
            "vectorize(j, 2)",
        ];
        schedules(product, &steps);
    }

    /// An element gets its updates from another `b` in another iteration of `i`, and in another one
    /// of `j`.
    #[test]
    fn diagonals_keep_their_order() {
        schedules(
            "kernel @k(n: i64, m: i64, y: f32[n + 2, m + 2], w: f32[n, m], g: f32[2, m]) {
               affine.for i in 0..n { affine.for b in 0..2 { affine.for j in 0..m {
                 y[i + b, j + 2 - b] reduce(add) w[i, j] * g[b, j]
               } } }
             }",
            &[
                "tile_indirection_using_forall(i, chunks = 8, strategy = auto)",
                "unroll_and_jam(b, 2)",
                "vectorize(j, 8)",
            ],
        );
    }

    /// All nine points of a window would go along nineteen rows, each with an address.
    #[test]
    fn there_are_addresses_for_all_rows() {
        let depthwise = "kernel @k(n: i64, c: i64, x: f32[n + 2, n + 2, c], w: f32[3, 3, c], y: f32[n, n, c]) {
          affine.for i in 0..n { affine.for j in 0..n { affine.for a in 0..3 { affine.for b in 0..3 { affine.for q in 0..c {
            y[i, j, q] reduce(add) w[a, b, q] * x[i + a, j + b, q]
          } } } } }
        }";
        let steps = ["parallelize(i)", "unroll_and_jam(b, 3)", "vectorize(q, 4)"];
        schedules(depthwise, &steps);
    }

    /// Each row waits for itself alone when several are made together, and what an iteration makes
    /// is there for the next one.
    #[test]
    fn chains_run_beside_each_other() {
        let tiles = [
            "tile(i = 64, j = 256)",
            "normalize(i_t)",
            "normalize(j_t)",
            "skew(j_t_c by i_t_c, 1)",
            "interchange(i_t_c, j_t_c_s)",
            "parallelize(i_t_c)",
        ];
        let kept = ["unroll_and_jam(i_p, 4)", "scalar_replace(s)"];
        schedules(
            "kernel @sums(n: i64, m: i64, a: f64[n, m], s: f64[n + 1, m + 1]) {
               affine.for i in 0..n { affine.for j in 0..m {
                 s[i + 1, j + 1] = a[i, j] + s[i, j + 1] + s[i + 1, j] - s[i, j]
               } }
             }",
            &[tiles.as_slice(), kept.as_slice()].concat(),
        );
    }

    /// Rows that begin at different places, too, and so do time steps.
    #[test]
    fn chains_of_skewed_rows_run_beside_each_other() {
        let tiles = |outer: &str| {
            [
                format!("skew(j by {outer}, 1)"),
                format!("tile({outer} = 64, j_s = 128)"),
                format!("normalize({outer}_t)"),
                "normalize(j_s_t)".to_owned(),
                format!("skew(j_s_t_c by {outer}_t_c, 2)"),
                format!("interchange({outer}_t_c, j_s_t_c_s)"),
                format!("parallelize({outer}_t_c)"),
                format!("unroll_and_jam({outer}_p, 4)"),
                "scalar_replace(a)".to_owned(),
            ]
        };
        let rows = "kernel @rows(n: i64, a: f64[n, n]) {
          affine.for i in 1..n - 1 { affine.for j in 1..n - 1 {
            a[i, j] = (a[i - 1, j + 1] + a[i, j - 1] + a[i, j] + a[i + 1, j]) * 0.25
          } }
        }";
        let steps = "kernel @steps(m: i64, n: i64, a: f64[n]) {
          affine.for t in 0..m { affine.for j in 1..n - 1 { a[j] = (a[j - 1] + a[j] + a[j + 1]) * 0.25 } }
        }";
        for (source, outer) in [(rows, "i"), (steps, "t")] {
            let tiles = tiles(outer);
            let tiles: Vec<_> = tiles.iter().map(String::as_str).collect();
            schedules(source, &tiles);
        }
    }

    #[test]
    fn sums_are_not_rounded_in_another_order() {
        // Two iterations of `j` together would add theirs by turns.
        schedules(
            "kernel @k(n: i64, m: i64, t: f64[n, n, n], b: f64[n, m], c: f64[n, m], out: f64[n, m]) {
               affine.for i in 0..n { affine.for j in 0..n { affine.for l in 0..n { affine.for f in 0..m {
                 out[i, f] reduce(add) t[i, j, l] * b[j, f] * c[l, f]
               } } } }
             }",
            &[
                "parallelize(i)",
                "unroll_and_jam(l, 4)",
                "vectorize(f, 2)",
                "vectorize(f_1, 4)",
            ],
        );
    }

    #[test]
    fn neither_are_sums_beside_what_is_written() {
        schedules(
            "kernel @k(n: i64, x: f64[n], c: f64[n, n], o: f64[1]) {
               affine.for t in 0..1 {
                 var s: f64 = 0.0
                 affine.for i in 0..n { affine.for j in 0..n {
                   c[i, j] = x[j]
                   s reduce(add) x[j] * x[i]
                 } }
                 o[t] = s
               }
             }",
            &["vectorize(j, 4)"],
        );
    }

    #[test]
    fn a_sum_stays_in_a_scalar() {
        let sum = |bounds: &str, load: &str| {
            format!(
                "kernel @k(n: i64, m: i64, row: i64[n + 1], key: i64[m], a: f64[n, m], x: f64[m], y: f64[n]) {{
                   affine.for i in 0..n {{ {bounds} {{ y[i] reduce(add) {load} }} }}
                 }}"
            )
        };
        for (bounds, load, lanes) in [
            ("affine.for j in 0..m", "a[i, j]", Some("vectorize(j, 8)")),
            ("affine.for j in 0..m", "x[key[j]]", Some("vectorize(j, 4)")),
            ("scf.for j in row[i]..row[i + 1]", "x[key[j]]", None),
        ] {
            let steps = ["parallelize(i)", "scalar_replace(y)"];
            let steps: Vec<_> = steps.into_iter().chain(lanes).collect();
            schedules(&sum(bounds, load), &steps);
        }
    }
}
