//! Scalars that each iteration of an outermost loop hands on to the next one, as the letter before
//! is in a count of pairs: tiles that find out by themselves what was left for them run at once.
//! So do those that begin with sums over all tiles before, as places in a delta code are.

use super::attempt::Attempt;
use super::{Scheduler, chunks_of, path_to};
use crate::scalars::set_in;
use crate::tree;
use crate::{CountAhead, LoopPath, Parallelize, Prefix, Rematerialize, Step, TileIndirection};
use strew_affine::visit::{reads_local, scalars_set_in, walk, writes_elements};
use strew_affine::{AffineFor, IterId, Kernel, LocalId, Node, Place};

/// What a tile computes anew is nothing beside so many iterations.
const TILE: u64 = 4096;

impl Scheduler<'_> {
    /// Runs tiles of loops at once that scalars alone keep in order.
    pub(super) fn hand_on(&mut self) {
        let kernel = &self.found.kernel;
        let loops = kernel.body.iter().filter_map(|node| match node {
            Node::AffineFor(it) => Some(it),
            _ => None,
        });
        let found: Vec<_> = loops.filter_map(handing_on).collect();
        for (target, locals) in found {
            let _ = self.by_last(target, &locals) || self.by_sums(target, &locals);
        }
    }

    /// Where the last iterations alone decide what scalars hold.
    fn by_last(&mut self, target: IterId, locals: &[LocalId]) -> bool {
        self.attempt(|attempt| {
            let names = names(attempt.kernel(), locals);
            attempt.first_of([Rematerialize::new(names, attempt.path(target), TILE)])?;
            let tiles = attempt.path(*attempt.made().first()?);
            at_once(attempt, target, tiles)
        })
    }

    /// Where they are sums over all iterations before. To make these takes a pass of its own, which
    /// one thread does without where results have the same bits either way.
    fn by_sums(&mut self, target: IterId, locals: &[LocalId]) -> bool {
        // Counters that hand out tickets tell more: places that no two iterations write.
        let path = path_to(&self.found.kernel, target);
        if Step::from(CountAhead::new(path))
            .apply(&self.found.kernel)
            .is_ok()
        {
            return false;
        }
        let target_loop = tree::find_affine_loop(&self.found.kernel, target);
        let is_steady = target_loop.is_some_and(|it| are_combined_in_each(it, locals));
        let mut by = |threads, share: fn(&mut Attempt, IterId, LoopPath) -> Option<()>| {
            self.attempt(|attempt| {
                let names = names(attempt.kernel(), locals);
                let prefix = Prefix::new(names, attempt.path(target), TILE).threads(threads);
                attempt.first_of([prefix])?;
                let [tiles, sums, ..] = *attempt.made() else {
                    return None;
                };
                let (tiles, sums) = (attempt.path(tiles), attempt.path(sums));
                attempt.first_of([Parallelize::new(sums)])?;
                share(attempt, target, tiles)
            })
        };
        let at_once = |attempt: &mut Attempt, _: IterId, tiles: LoopPath| {
            attempt.first_of([Parallelize::new(tiles)])
        };
        is_steady && by(1, scattered) || by(2, at_once)
    }
}

/// Whether each iteration of `target` combines something into all of `locals`. A condition on that
/// is asked by the pass that sums up, by a look at where updates go, and by the loop: where jumps
/// cannot be foretold, segments of eight elements each take longer on two threads than on one.
fn are_combined_in_each(target: &AffineFor, locals: &[LocalId]) -> bool {
    let is_combined = |local: &LocalId| {
        let place = Place::Local(*local);
        let mut nodes = target.body.iter();
        nodes.any(|it| it.is_statement() && it.places().contains(&place))
    };
    locals.iter().all(is_combined)
}

fn names(kernel: &Kernel, locals: &[LocalId]) -> Vec<String> {
    let names = locals.iter().map(|it| kernel.locals[*it].name.clone());
    names.collect()
}

/// Shares tiles that update where data say among threads, in many parts where some take who knows
/// how much longer than others.
fn scattered(attempt: &mut Attempt, target: IterId, tiles: LoopPath) -> Option<()> {
    let points = tree::find_affine_loop(attempt.kernel(), target)?;
    let chunks = chunks_of(&points.body);
    attempt.first_of([TileIndirection::new(tiles).chunks(chunks)])
}

fn at_once(attempt: &mut Attempt, target: IterId, tiles: LoopPath) -> Option<()> {
    scattered(attempt, target, tiles.clone())
        .or_else(|| attempt.first_of([Parallelize::new(tiles)]))
}

/// The scalars from outside that `target` sets, if it reads any of them before, and writes anything
/// besides.
fn handing_on(target: &AffineFor) -> Option<(IterId, Vec<LocalId>)> {
    let mut locals = Vec::new();
    for (local, _) in set_in(target) {
        if !locals.contains(&local) {
            locals.push(local);
        }
    }
    let is_meant = |it: &LocalId| begins_with(target, *it) && reads_local(&target.body, *it);
    let is_meant = locals.iter().any(is_meant) && writes_elements(&target.body);
    is_meant.then_some((target.iter, locals))
}

/// Whether what iterations do with `local` begins with what those before leave in it.
fn begins_with(target: &AffineFor, local: LocalId) -> bool {
    let place = Place::Local(local);
    let sets = |node: &&Node| scalars_set_in(std::slice::from_ref(*node)).contains(&local);
    let first = target.body.iter().find(sets);
    let before = target.body.iter().take_while(|it| !sets(it));
    let mut is_combined = false;
    walk(first.map_or(&[], std::slice::from_ref), &mut |node, _| {
        is_combined |= matches!(node, Node::Reduce { places, .. } if places.contains(&place));
    });
    let mut read = before.chain(first);
    is_combined || read.any(|it| reads_local(std::slice::from_ref(it), local))
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;

    #[test]
    fn pairs_of_what_follows_each_other_are_counted_at_once() {
        schedules(
            "kernel @k(n: i64, m: i64, x: i32[n], pairs: i32[m, m]) {
               var before: i32 = 0
               affine.for i in 0..n {
                 let now: i32 = x[i]
                 pairs[before, now] reduce(add) 1
                 before = now
               }
             }",
            &[
                "rematerialize(before, i, tile = 4096)",
                "tile_indirection_using_forall(i_t, chunks = 8, strategy = auto)",
            ],
        );
    }

    #[test]
    fn differences_run_at_once_and_sums_do_not() {
        let kernel = |next: &str| {
            format!(
                "kernel @k(n: i64, x: f64[n], y: f64[n]) {{
                   var before: f64 = 0.0
                   affine.for i in 0..n {{ y[i] = x[i] - before before = {next} }}
                 }}"
            )
        };
        let taken = ["rematerialize(before, i, tile = 4096)", "parallelize(i_t)"];
        schedules(&kernel("x[i]"), &taken);
        schedules(&kernel("before + x[i]"), &[]);
        schedules(&kernel("before * 0.5"), &[]);
    }

    #[test]
    fn the_last_letters_of_two_strands() {
        schedules(
            "kernel @k(n: i64, letter: u8[n], count: u32[64]) {
               var word: u32 = 0
               var back: u32 = 0
               affine.for i in 0..n {
                 word = (word << 2 | u32(letter[i]) & 3) & 63
                 back = back >> 2 | (3 - (u32(letter[i]) & 3)) << 4
                 count[word < back ? word : back] reduce(add) 1
               }
             }",
            &[
                "rematerialize(word, back, i, tile = 4096)",
                "tile_indirection_using_forall(i_t, chunks = 8, strategy = auto)",
            ],
        );
    }

    #[test]
    fn running_sums_of_steps() {
        schedules(
            "kernel @k(n: i64, m: i64, by: u8[n], x: f64[n], out: f64[m]) {
               var at: i32 = 0
               affine.for i in 0..n {
                 at reduce(add) i32(by[i])
                 out[at] reduce(add) x[i]
               }
             }",
            &[
                "prefix(at, i, tile = 4096)",
                "parallelize(i_s)",
                "tile_indirection_using_forall(i_t, chunks = 8, strategy = auto)",
                "vectorize(i_q, 16)",
            ],
        );
    }

    #[test]
    fn places_that_are_written_once_are_summed_up_for_several_threads() {
        schedules(
            "kernel @k(n: i64, length: i32[n], at: i64[n]) {
               var behind: i64 = 0
               affine.for i in 0..n { at[i] = behind behind reduce(add) i64(length[i]) }
             }",
            &[
                "prefix(behind, i, tile = 4096, threads = 2)",
                "parallelize(i_s)",
                "parallelize(i_t)",
                "vectorize(i_q, 8)",
            ],
        );
    }

    /// What the host makes of both nobody sees.
    #[test]
    fn what_a_program_combines_stays_in_order() {
        schedules(
            "reduction @gcd(a, b: i64) identity(0)
             kernel @k(n: i64, x: i64[n], y: i64[n]) {
               var v: i64 = 0
               affine.for i in 0..n { v reduce(gcd) x[i] y[i] = v }
             }",
            &[],
        );
    }

    #[test]
    fn segments_that_conditions_end_stay_in_order() {
        schedules(
            "kernel @k(n: i64, m: i64, x: i32[n], v: f64[n], out: f64[m]) {
               var at: i32 = 0
               affine.for i in 1..n {
                 scf.if x[i] != x[i - 1] { at reduce(add) 1 }
                 out[at] reduce(add) v[i]
               }
             }",
            &[],
        );
    }
}
