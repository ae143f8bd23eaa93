//! Which loops around others run in the lanes of vectors: each lane has the scalars of an iteration
//! of its own, and the loops inside run once for all of them.
//!
//! That pays where iterations of the loops inside wait for each other, or add up what lanes would
//! add up in another order, or reach elements that lie far from each other.

use super::attempt::Attempt;
use super::flatten::gone;
use super::lanes::{self, Elements};
use super::order::{accesses, moves};
use super::packed::pack_rows;
use super::registers::kept_in_scalars;
use super::{Choice, MOST_UNROLLED, Saving, Scheduler, path_to, trips};
use crate::tree::{find_affine_loop, loops_in};
use crate::{Parallelize, ScalarReplace, Step, StripMine, Unroll, Vectorize, tree};
use std::collections::BTreeSet;
use strew_affine::lanes::{Lanes, MOST_LANES, VECTOR_BYTES};
use strew_affine::visit::{Loop, arrays_written_in, for_each_local_read, has_loops, walk};
use strew_affine::{Access, AffineFor, ArrayId, IterId, Kernel, LocalId, Node, Place, Type};

/// So many vectors stay in registers while the loops inside run. There are no more; what is
/// computed pushes some out, which costs less than to wait: 50 steps of `z * z + c` take 882 µs for
/// 60,000 points with four vectors of each of four values, and 1,407 with two.
const MOST_KEPT: u32 = 16;

/// So many vectors are made at a time: what one of them waits for, another one does meanwhile.
const IN_FLIGHT: u32 = 4;

/// So many iterations are one of the loop that runs at once: the loops inside make them long.
const POINTS: i64 = 64;
/// The same where there are not many.
const FEW_POINTS: i64 = 16;

/// How many lanes there are.
struct Count {
    all: u32,
    /// In a vector of the widest type.
    of_vector: u32,
}

/// How many iterations of `target`, a loop around others, lanes make at once where that pays.
fn count(kernel: &Kernel, target: &AffineFor) -> Option<Count> {
    let lanes = lanes_of(kernel, target)?;
    let (together, in_turn) = lanes.split(&target.body);
    let is_short = trips(target).is_some_and(|it| it <= MOST_UNROLLED as u64);
    // What updates where keys say goes away.
    if is_short && !in_turn.is_empty() {
        return None;
    }
    let inside = loops_in(target);
    if !pay_inside(kernel, &lanes, target, &inside) {
        return None;
    }
    let types = lanes.types(together).into_iter().map(Type::bytes);
    let (widest, narrowest) = (types.clone().max()?, types.min()?);
    let kept = kept(kernel, &lanes, &inside).max(1);
    let vectors = (MOST_KEPT / kept).clamp(1, IN_FLIGHT).ilog2();
    let least = VECTOR_BYTES / narrowest;
    let of_vector = VECTOR_BYTES / widest;
    let usual = (of_vector << vectors).clamp(least, MOST_LANES);
    let trips = trips(target).and_then(|it| u32::try_from(it).ok());
    let all = trips.map_or(usual, |trips| usual.min(1 << trips.max(1).ilog2()));
    (all >= least).then_some(Count { all, of_vector })
}

/// Whether no loop `inside` of `target` is better in lanes than that, and innermost ones find their
/// elements side by side, or the same ones in all turns.
fn pay_inside(kernel: &Kernel, lanes: &Lanes<'_>, target: &AffineFor, inside: &[Loop<'_>]) -> bool {
    let written = arrays_written_in(&target.body);
    let is_whole = |access: &&Access| {
        let stays = inside.iter().all(|it| !moves(access, it.iter()));
        !lanes.is_strided(access) || stays && !written.contains(&access.array)
    };
    let differs = |node: &Node| node.expressions().iter().any(|it| lanes.varies(it));
    inside.iter().all(|it| match it {
        _ if !has_loops(it.body()) => {
            accesses(it.body()).iter().all(is_whole)
                && it.body().iter().any(differs)
                && !lanes_inside_pay(kernel, *it)
        }
        Loop::Affine(it) => count(kernel, it).is_none(),
        Loop::Forall(_) | Loop::Scf(_) => true,
    })
}

fn lanes_of<'k>(kernel: &'k Kernel, target: &'k AffineFor) -> Option<Lanes<'k>> {
    let may = target.lanes == 1 && has_loops(&target.body);
    may.then(|| Lanes::of(kernel, Loop::Affine(target), MOST_LANES).ok())?
}

/// Whether the iterations of `innermost` are better made in lanes themselves: they write elements
/// that follow each other, and read no others.
fn lanes_inside_pay(kernel: &Kernel, innermost: Loop<'_>) -> bool {
    let body = innermost.body();
    let mut written = body.iter().flat_map(Node::written_elements);
    let Some(count) = lanes::count(kernel, innermost) else {
        return false;
    };
    let lanes = Lanes::of(kernel, innermost, count);
    let is_whole = lanes.is_ok_and(|it| Elements::read(&it, body).are_whole());
    is_whole && written.any(|it| moves(it, innermost.iter()))
}

/// How many values of each lane stay in registers while the loops `inside` run: scalars that they
/// set, and what they use of those around and of elements that are the same in all of their
/// iterations.
fn kept(kernel: &Kernel, lanes: &Lanes<'_>, inside: &[Loop<'_>]) -> u32 {
    let mut scalars = BTreeSet::<LocalId>::new();
    let mut elements: Vec<&Access> = Vec::new();
    for it in inside.iter().filter(|it| !has_loops(it.body())) {
        walk(it.body(), &mut |node, _| {
            for_each_local_read(node, &mut |it| scalars.extend([it]));
            scalars.extend(node.places().iter().filter_map(Place::local));
        });
        for access in accesses(it.body()) {
            let stays = inside.iter().all(|it| !moves(access, it.iter()));
            let is_new = elements.iter().all(|it| !it.is_same(access));
            if stays && is_new && lanes.is_varying(access) {
                elements.push(access);
            }
        }
    }
    let declared = inside.iter().flat_map(|it| it.body());
    for node in declared {
        if let Node::Declare { local, .. } = node
            && !kernel.locals[*local].mutable
        {
            scalars.remove(local);
        }
    }
    scalars.retain(|it| lanes.is_own(*it));
    (scalars.len() + elements.len()) as u32
}

/// The next innermost loop of few iterations in `target`, beside others or in them, which goes
/// away: what is left of it can run in lanes, or be made lane by lane where it updates what keys
/// say.
fn short(kernel: &Kernel, target: &AffineFor) -> Option<Unroll> {
    let inside = loops_in(target);
    if inside.len() == 1 {
        return None;
    }
    let mut innermost = inside.into_iter().filter(|it| !has_loops(it.body()));
    innermost.find_map(|it| match it {
        Loop::Affine(it) => gone(kernel, it, MOST_UNROLLED),
        Loop::Forall(_) | Loop::Scf(_) => None,
    })
}

/// The arrays of which loops in `target` update one element at a time, over and over.
fn updated(kernel: &Kernel, target: &AffineFor) -> Vec<ArrayId> {
    let kept = kept_in_scalars(kernel);
    let written = arrays_written_in(&target.body);
    kept.intersection(&written).copied().collect()
}

/// Lets iterations of the loop over `iter` run in lanes if that pays, what loops inside update in
/// scalars.
fn in_lanes(attempt: &mut Attempt, iter: IterId) -> Option<(Vectorize, Saving)> {
    while let Some(request) = short(attempt.kernel(), find_affine_loop(attempt.kernel(), iter)?) {
        attempt.step(request)?;
    }
    // Where a copy cannot be made, lanes may load what they need one by one.
    attempt.together(|attempt| pack_rows(attempt, iter));
    let target = find_affine_loop(attempt.kernel(), iter)?;
    lanes_of(attempt.kernel(), target)?;
    for array in updated(attempt.kernel(), target) {
        let name = attempt.kernel().arrays[array].name.clone();
        // Where it cannot be in one, it stays in memory.
        let _ = attempt.step(ScalarReplace::new(name));
    }
    let kernel = attempt.kernel();
    let target = find_affine_loop(kernel, iter)?;
    let Count { all, of_vector } = count(kernel, target)?;
    let request = Vectorize::new(path_to(kernel, iter), u64::from(all));
    attempt.step(request.clone())?;
    let saving = Saving::Lanes {
        vectors: all / of_vector.max(1),
        lanes: of_vector,
    };
    Some((request, saving))
}

/// Whether iterations of the loop over `iter` are to run in lanes, so that they cannot all be those
/// of a parallel loop.
pub(super) fn pay(attempt: &mut Attempt, iter: IterId) -> bool {
    let mut pay = false;
    attempt.together(|it| {
        pay = in_lanes(it, iter).is_some();
        None::<()>
    });
    pay
}

/// Runs groups of iterations of `target` at once, whose own run in lanes.
pub(super) fn at_once(attempt: &mut Attempt, target: &AffineFor) -> Option<()> {
    let points = match trips(target) {
        Some(trips) if trips < 8 * POINTS as u64 => FEW_POINTS,
        _ => POINTS,
    };
    attempt.step(StripMine::new(attempt.path(target.iter), points))?;
    let groups = *attempt.made().first()?;
    attempt.step(Parallelize::new(attempt.path(groups)))
}

impl Scheduler<'_> {
    /// Lets loops around others run in lanes where that pays, those inside first.
    pub(super) fn use_outer_lanes(&mut self) {
        let loops = tree::loops(&self.found.kernel).into_iter().rev();
        let found = loops.filter(|it| has_loops(it.it.body()));
        let found: Vec<_> = found.map(|it| it.it.iter()).collect();
        for iter in found {
            let mut why = None;
            let is_taken = self.attempt(|attempt| {
                why = Some(in_lanes(attempt, iter)?);
                Some(())
            });
            if let Some((request, saving)) = why.filter(|_| is_taken) {
                let (step, saving) = (Step::Vectorize(request), Some(saving));
                self.tell(Choice::Inside { step, saving });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;

    /// Loops over points that each compute something in a loop over `m` or `d`.
    fn points(inside: &str, behind: &str) -> String {
        format!(
            "kernel @k(n: i64, m: i64, d: i64, x: f32[n], p: f32[n, 3], q: f32[n, d], row: i64[n + 1], c: f32[m], e: f32[m, 3], g: f32[d], z: f32[m, n], y: f32[n], h: i32[m]) {{
               affine.for i in 0..n {{ var s: f32 = 0.0 var at: i32 = 0 {inside} {behind} }}
             }}"
        )
    }

    const IN_GROUPS: [&str; 2] = ["strip_mine(i = 64)", "parallelize(i_t)"];

    #[test]
    fn what_waits_for_itself_does_so_in_lanes() {
        let horner = points("affine.for t in 0..m { s = s * x[i] + c[t] }", "y[i] = s");
        let steps = [&IN_GROUPS[..], &["vectorize(i_p, 16)"]];
        schedules(&horner, &steps.concat());
    }

    /// What is left over runs in the lanes of the loop inside.
    #[test]
    fn sums_keep_their_order_in_lanes() {
        let window = "kernel @k(n: i64, m: i64, w: f32[m], x: f32[n + m], y: f32[n]) {
          affine.for i in 0..n { affine.for b in 0..m { y[i] reduce(add) w[b] * x[i + b] } }
        }";
        let steps = [
            &IN_GROUPS[..],
            &[
                "scalar_replace(y)",
                "vectorize(i_p, 16)",
                "vectorize(b, 16)",
            ],
        ];
        schedules(window, &steps.concat());
    }

    /// The coordinates of a point stay in registers, wherever they come from.
    #[test]
    fn the_nearest_is_found_in_lanes_and_counted_behind() {
        let nearest = points(
            "affine.for t in 0..m {
               var l: f32 = 0.0
               affine.for r in 0..3 { l reduce(add) (p[i, r] - e[t, r]) * (p[i, r] - e[t, r]) }
               scf.if l < s { s = l at = i32(t) }
             }",
            "h[at] reduce(add) 1",
        );
        schedules(
            &nearest,
            &[
                "expand(at, i)",
                "scalar_replace(at_x)",
                "distribute(i)",
                "strip_mine(i = 64)",
                "parallelize(i_t)",
                "tile_indirection_using_forall(i_2, chunks = 8, strategy = auto)",
                "unroll(r, 3)",
                "vectorize(i_p, 8)",
                "vectorize(t, 4)",
                "unroll(i_2, 4)",
            ],
        );
    }

    #[test]
    fn loops_inside_that_go_along_rows_run_in_lanes_themselves() {
        for inside in [
            "affine.for t in 0..d { s reduce(add) q[i, t] * g[t] }",
            "affine.for t in 0..d { q[i, t] = q[i, t] * x[i] }",
        ] {
            let rows = points(inside, "y[i] = s");
            let found = crate::test_support::kernel(&rows);
            let found = crate::auto::auto(&found, &crate::auto::Machine::default(), &mut ());
            let steps = found.schedule.to_string();
            assert!(steps.contains("vectorize(t"), "{steps}");
            assert!(!steps.contains("vectorize(i"), "{steps}");
        }
    }

    #[test]
    fn loops_inside_of_other_lengths_keep_iterations_apart() {
        let lists = points(
            "scf.for t in row[i]..row[i + 1] { s = s * 0.5 + c[t] }",
            "y[i] = s",
        );
        schedules(&lists, &["parallelize(i)"]);
    }
}
