//! Innermost loops of few statements that update through an indirection, several turns at once.

use super::{
    MOST_UNROLLED, Machine, computed, goes_through_indirection, has_local_arrays, is_update,
    path_to, trips,
};
use crate::scalars::set_in;
use crate::{Unroll, tree};
use strew_affine::visit::{self, Loop};
use strew_affine::{Access, AffineFor, IterId, Kernel, Node};

/// So many updates behind conditions are made in a turn: of integers that are kept in range
/// 2,000,000 take 0.91 ms instead of 1.12, with four 1.22.
const MOST_GUARDED: u64 = 2;

/// These loops, each with how it is unrolled.
pub(super) fn unrollable(kernel: &Kernel, machine: &Machine) -> Vec<(IterId, Unroll)> {
    let loops = tree::loops(kernel).into_iter();
    let short = loops.filter_map(|nested| match nested.it {
        Loop::Affine(it)
            if it.lanes == 1
                && is_short(&it.body)
                && goes_through_indirection(&it.body, is_update) =>
        {
            Some(it)
        }
        _ => None,
    });
    let factors = short.map(|it| (it, factor(it, machine)));
    factors
        .filter(|(_, factor)| *factor > 1)
        .map(|(it, factor)| (it.iter, Unroll::new(path_to(kernel, it.iter), factor)))
        .collect()
}

/// As many turns as fill [`Machine::updates_in_flight`]; more would only be more code, and what a
/// turn has loaded would wait in memory for its use. A loop that is known to be short goes away
/// altogether.
fn factor(target: &AffineFor, machine: &Machine) -> u64 {
    let few = trips(target).filter(|trips| *trips <= MOST_UNROLLED as u64);
    let updates = target.body.iter().filter(|it| is_update(it)).count();
    let each = updates.max(keys(&target.body)).max(1) as u64;
    let most = match target.body.iter().any(is_guarded) {
        true => MOST_GUARDED,
        false => u64::MAX,
    };
    few.unwrap_or_else(|| match hands_on(target) {
        true => 1,
        false => machine.updates_in_flight.div_ceil(each).min(most),
    })
}

/// Whether each turn waits for a scalar from the one before: nothing is loaded ahead of that, and
/// turns by fours take 1.15 times as long where they count pairs of letters, or words of ten.
fn hands_on(target: &AffineFor) -> bool {
    let set = set_in(target);
    set.iter()
        .any(|(local, _)| visit::reads_local(&target.body, *local))
}

/// How many elements `body` loads for subscripts, be it by scalars that it declares.
fn keys<'k>(body: &'k [Node]) -> usize {
    let mut keys: Vec<&Access> = Vec::new();
    let mut add = |key: &'k Access| {
        if keys.iter().all(|it| !it.is_same(key)) {
            keys.push(key);
        }
    };
    let mut subscripts = Vec::new();
    let mut collect = |access: &'k Access| subscripts.extend(computed(access));
    for node in body {
        visit::for_each_load_of(node, &mut collect);
        node.written_elements().for_each(&mut collect);
    }
    for subscript in subscripts {
        visit::for_each_load(subscript, &mut add);
        visit::for_each_local(subscript, &mut |local| {
            let declared = visit::declared_in(body, local);
            declared
                .into_iter()
                .for_each(|it| visit::for_each_load(it, &mut add));
        });
    }
    keys.len()
}

fn is_short(body: &[Node]) -> bool {
    let mut nodes = body.iter();
    body.len() <= MOST_UNROLLED
        && !has_local_arrays(body)
        && nodes.all(|it| it.is_statement() || is_guarded(it))
}

/// Whether `node` does something where a condition holds that asks for scalars alone: most often it
/// keeps keys in range, and the jump is foretold.
fn is_guarded(node: &Node) -> bool {
    let Node::ScfIf {
        condition,
        then,
        otherwise,
        ..
    } = node
    else {
        return false;
    };
    let mut reads = false;
    visit::for_each_load(condition, &mut |_| reads = true);
    !reads && otherwise.is_empty() && then.iter().all(Node::is_statement)
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;

    #[test]
    fn updates_of_keys_that_are_kept_in_range_are_made_two_by_two() {
        let guarded = |condition: &str| {
            format!(
                "kernel @k(n: i64, m: i32, key: i32[n], x: f32[n], h: i32[m]) {{
                   affine.for i in 0..n {{ let b: i32 = key[i] scf.if {condition} {{ h[b] reduce(add) 1 }} }}
                 }}"
            )
        };
        let tiled = "tile_indirection_using_forall(i, chunks = 8, strategy = auto)";
        schedules(&guarded("b >= 0 && b < m"), &[tiled, "unroll(i, 2)"]);
        schedules(&guarded("x[i] > 0.5"), &[tiled]);
    }

    #[test]
    fn turns_that_wait_for_the_one_before_stay_one_by_one() {
        let kernel = |next: &str| {
            format!(
                "kernel @k(n: i64, m: i32, key: i32[n], h: i32[m]) {{
                   var at: i32 = 0
                   affine.for i in 1..n {{
                     affine.for j in 0..i {{ h[{next}] reduce(add) 1 at reduce(add) key[j] }}
                   }}
                 }}"
            )
        };
        schedules(&kernel("at"), &[]);
        let together = "tile_reduction_using_forall(i, chunks = 8)";
        schedules(&kernel("key[j]"), &[together, "unroll(j, 2)"]);
    }
}
