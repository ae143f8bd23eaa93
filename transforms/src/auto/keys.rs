//! What nests of loops compute in each iteration of a loop before it updates where that says: they
//! get a loop of their own, which runs at once in any mode, and whose iterations run in lanes.

use super::attempt::Attempt;
use super::order::{accesses, goes_with};
use super::{Choice, Scheduler, computed};
use crate::distribute::keeps_updates;
use crate::tree::{self, Nested, find_affine_loop, uses};
use crate::{Distribute, Fuse, ScalarReplace};
use std::collections::BTreeSet;
use std::slice::from_ref;
use strew_affine::visit::{Loop, for_each_local, scalars_set_in, walk, writes_elements};
use strew_affine::{AffineFor, IterId, LocalId, Node};

/// So many scalars go from one loop to the other, each by an array.
const MOST_KEPT: usize = 4;

impl Scheduler<'_> {
    /// Gives what nests compute a loop of its own where updates that follow go by it.
    pub(super) fn compute_keys_first(&mut self) {
        let kernel = &self.found.kernel;
        let mut found: Vec<IterId> = Vec::new();
        for Nested { it, around } in tree::loops(kernel) {
            let is_inside = around.iter().any(|it| found.contains(&it.iter()));
            if let Loop::Affine(target) = it
                && !is_inside
                && goes_with_none(target, &around)
                && cut(target).is_some()
            {
                found.push(target.iter);
            }
        }
        for target in found {
            let path = self.found.kernel.iters[target].name.clone();
            self.attempt_for([Choice::KeysFirst { path }], |attempt| {
                apart(attempt, target)
            });
        }
    }
}

/// Whether the loops `around` do no more than to run `target` again, as time steps do: else they
/// are what runs at once.
fn goes_with_none(target: &AffineFor, around: &[Loop<'_>]) -> bool {
    let accesses = accesses(&target.body);
    let moves_none = |iter| !accesses.iter().any(|it| goes_with(it, iter));
    let is_again = |it: &Loop<'_>| !matches!(it, Loop::Forall(_)) && moves_none(it.iter());
    around.iter().all(is_again)
}

/// Behind how many statements of `target` the loop is cut, if it is worth it: before, nests compute
/// scalars alone; behind, updates go where some of these say.
///
/// Which iteration fails first is then another one, but arrays are put back when one does, and the
/// loop as it was written tells.
fn cut(target: &AffineFor) -> Option<usize> {
    let before = target
        .body
        .iter()
        .take_while(|it| !writes_elements(from_ref(*it)));
    let nests = before.enumerate().filter(|(_, it)| it.holds_loops());
    let position = nests.last()?.0 + 1;
    let (first, rest) = target.body.split_at(position);
    let (mut has_nests, mut are_counted) = (false, true);
    walk(first, &mut |node, around| {
        has_nests |= around.len() > 1;
        are_counted &= !matches!(
            node,
            Node::Alloc { .. } | Node::Forall(_) | Node::ScfWhile { .. }
        );
    });
    let kept = kept(first, rest);
    let keys = keys(rest);
    let is_key = kept.iter().any(|it| keys.contains(it));
    (has_nests && are_counted && is_key && kept.len() <= MOST_KEPT).then_some(position)
}

/// The scalars that say where updates and assignments in `nodes` go, be it by others.
fn keys(nodes: &[Node]) -> BTreeSet<LocalId> {
    let mut keys = BTreeSet::new();
    let mut declared = Vec::new();
    walk(nodes, &mut |node, _| {
        let subscripts = node.written_elements().flat_map(computed);
        subscripts.for_each(|it| {
            for_each_local(it, &mut |local| {
                keys.insert(local);
            });
        });
        if let Node::Declare { local, value } = node {
            declared.push((*local, value));
        }
    });
    for (local, value) in declared.into_iter().rev() {
        if keys.contains(&local) {
            for_each_local(value, &mut |it| {
                keys.insert(it);
            });
        }
    }
    keys
}

/// The scalars that `first` sets and `rest` uses.
fn kept(first: &[Node], rest: &[Node]) -> Vec<LocalId> {
    let declared = first.iter().filter_map(|node| match node {
        Node::Declare { local, .. } => Some(*local),
        _ => None,
    });
    declared.filter(|it| uses(rest, *it)).collect()
}

/// Lets each iteration of `target` leave what the others want of it in elements of its own, and
/// distributes the loop.
fn apart(attempt: &mut Attempt, target: IterId) -> Option<()> {
    let found = find_affine_loop(attempt.kernel(), target)?;
    let (first, rest) = found.body.split_at(cut(found)?);
    let nests = first.iter().filter(|it| it.holds_loops());
    let set_in_nests: Vec<_> = nests.flat_map(|it| scalars_set_in(from_ref(it))).collect();
    let kept = kept(first, rest);
    let statements = rest.len();
    for local in kept {
        attempt.expand(local, target)?;
        if set_in_nests.contains(&local) {
            let array = attempt.made_array()?.to_owned();
            attempt.step(ScalarReplace::new(array))?;
        }
    }
    let path = attempt.path(target);
    keeps_updates(attempt.kernel(), &path).then_some(())?;
    attempt.step(Distribute::new(path))?;
    join(attempt, statements);
    Some(())
}

/// Makes one loop again of those that have the last `statements`, each in one that the last step
/// made.
fn join(attempt: &mut Attempt, statements: usize) {
    let (mut behind, mut left) = (Vec::new(), statements);
    for iter in attempt.made().into_iter().rev() {
        let found = find_affine_loop(attempt.kernel(), iter);
        match found.and_then(|it| left.checked_sub(it.body.len())) {
            Some(others) => left = others,
            None => break,
        }
        behind.push(iter);
    }
    let Some(first) = behind.pop() else {
        return;
    };
    for second in behind.into_iter().rev() {
        let [first, second] = [first, second].map(|it| attempt.path(it));
        if attempt.step(Fuse::new(first, second)).is_none() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;
    use crate::auto::{Machine, auto, auto_for_all};
    use crate::test_support::{assert_same_meaning, assert_same_where_assumed, kernel};

    /// Finds something by a nest for each of `n` points, and then does what is `behind`.
    fn nearest(behind: &str) -> String {
        format!(
            "kernel @k(n: i64, m: i64, d: i64, x: f32[n, d], y: f32[m, d], of: i32[m], z: f32[n], h: f32[m], g: f64[m, d]) {{
               affine.for i in 0..n {{
                 var a: i32 = 0
                 var best: f32 = f32(inf)
                 affine.for c in 0..m {{
                   var s: f32 = 0.0
                   affine.for j in 0..d {{ let t: f32 = x[i, j] - y[c, j] s reduce(add) t * t }}
                   (best, a) reduce(argmin) (s, i32(c))
                 }}
                 {behind}
               }}
             }}"
        )
    }

    const FOUND: [&str; 4] = [
        "expand(a, i)",
        "scalar_replace(a_x)",
        "distribute(i)",
        "strip_mine(i = 64)",
    ];

    #[test]
    fn what_nests_find_is_found_first() {
        let sums = "h[a] reduce(add) 1.0 affine.for l in 0..d { g[a, l] reduce(add) f64(x[i, l]) }";
        let joined = [&FOUND[..3], &["fuse(i_2, i_3)"], &FOUND[3..]].concat();
        let source = nearest(sums);
        let decisions = schedules(
            &source,
            &[
                &joined[..],
                &[
                    "parallelize(i_t)",
                    "tile_indirection_using_forall(i_2, chunks = 8, strategy = auto)",
                    "strip_mine(i_p = 16)",
                    "pack(x, i_p_t, along = i_p_p)",
                    "vectorize(i_p_p, 16)",
                    "unroll_and_jam(x_1, 4)",
                    "vectorize(x_0, 4)",
                    "vectorize(x_0_1, 8)",
                    "vectorize(j, 16)",
                    "vectorize(l, 4)",
                ],
            ]
            .concat(),
        );
        assert!(decisions.iter().all(|it| it.refused.is_none()));
        let before = kernel(&source);
        let found = auto(&before, &Machine::default(), &mut ());
        assert_same_meaning(&before, &found.kernel);
    }

    /// Of how long they are nothing is known but in a call, which may have an exact length or more.
    #[test]
    fn flat_arrays_are_what_their_subscripts_show() {
        let flat = nearest("h[a] reduce(add) 1.0")
            .replace("x: f32[n, d]", "infer x_length: i64, x: f32[x_length]")
            .replace("z: f32[n], ", "")
            .replace("x[i, j]", "x[i * d + j]");
        let before = kernel(&flat);
        let found = auto(&before, &Machine::default(), &mut ());
        let steps = found.schedule.to_string();
        for step in [
            "expand(a, i)",
            "pack(x, i_p_t, along = i_p_p)",
            "vectorize(i_p_p, 16)",
            "vectorize(x_0, 4)",
        ] {
            assert!(steps.contains(step), "{steps}");
        }
        let text = found.kernel.to_string();
        assert!(
            text.contains("assume (0 <= n, n * d <= x_length)"),
            "{text}"
        );
        assert_same_where_assumed(&before, &found.kernel);
        let for_all = auto_for_all(&before, &Machine::default(), &mut ());
        assert!(for_all.kernel.assumptions.is_empty());
        let steps = for_all.schedule.to_string();
        assert!(
            steps.contains("tile_indirection_using_forall(i,"),
            "{steps}"
        );
        assert_same_meaning(&before, &for_all.kernel);
    }

    #[test]
    fn keys_may_follow_from_what_is_found() {
        for behind in [
            "z[i] = best h[of[a]] reduce(add) 1.0",
            "let k: i32 = of[a] * 2 h[k] reduce(add) best",
        ] {
            let found = auto(&kernel(&nearest(behind)), &Machine::default(), &mut ());
            let steps = found.schedule.to_string();
            assert!(steps.contains("expand(a, i)"), "{steps}");
            assert_same_meaning(&kernel(&nearest(behind)), &found.kernel);
        }
    }

    #[test]
    fn others_stay_together() {
        let told = |source: &str| {
            let found = auto(&kernel(source), &Machine::default(), &mut ());
            found.schedule.to_string()
        };
        for behind in [
            "z[i] = best",
            "h[of[i]] reduce(add) best",
            "affine.for l in 0..d { g[l, 0] reduce(add) f64(best) }",
        ] {
            let steps = told(&nearest(behind));
            assert!(!steps.contains("expand"), "{steps}");
        }
        // One loop takes no longer than to write down what it finds.
        let one = nearest("h[a] reduce(add) 1.0").replace("affine.for j in 0..d { let t", "let t");
        let one = one
            .replace("x[i, j] - y[c, j] s", "z[i] - y[c, 0] s")
            .replace("t * t }", "t * t");
        assert!(!told(&one).contains("expand"), "{}", told(&one));
    }

    /// Time steps do the same again; where loops around go through the points, these run at once.
    #[test]
    fn in_time_steps_as_well() {
        let inside = nearest("h[a] reduce(add) 1.0");
        for (around, x, is_done) in [("0..n", "x[i, j]", true), ("0..n", "x[u, j]", false)] {
            let source = inside.replace(
                "affine.for i",
                &format!("affine.for u in {around} {{ affine.for i"),
            );
            let source = format!("{source}}}").replace("x[i, j]", x);
            let found = auto(&kernel(&source), &Machine::default(), &mut ());
            let steps = found.schedule.to_string();
            assert_eq!(steps.contains("expand(a, i)"), is_done, "{steps}");
        }
    }
}
