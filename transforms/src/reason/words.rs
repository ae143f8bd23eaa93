//! Parts of sentences that several reasons share.

use crate::{LoopPath, TileIndirection, TileReduction};
use strew_affine::STRATEGIES;
use strew_affine::dependence::Witness;

pub(super) fn there_are(what: &str, names: &[String]) -> String {
    if names.is_empty() {
        format!("the kernel has no {what}")
    } else {
        format!("the {what} are {}", list(names))
    }
}

pub(super) fn strategies() -> String {
    there_are("strategies", &STRATEGIES.map(str::to_owned))
}

/// What a loop combines into, for which there is another step.
pub(super) fn combines_into(path: &LoopPath, name: &str, is_scalar: bool) -> String {
    let (what, step) = match is_scalar {
        true => ("a scalar", TileReduction::NAME),
        false => ("an array", TileIndirection::NAME),
    };
    format!("`{path}` combines into {what}, `{name}`, which is for `{step}`")
}

/// The labels that there are besides, if there are any.
pub(super) fn labelled(labels: &[String]) -> String {
    match labels {
        [] => String::new(),
        [only] => format!("; the only label is `{only}`"),
        several => format!("; {}", there_are("labels", several)),
    }
}

pub(super) fn meet(witness: &Option<Box<Witness>>) -> &'static str {
    if witness.is_some() {
        "meet"
    } else {
        "may meet"
    }
}

pub(super) fn come(witness: &Option<Box<Witness>>) -> &'static str {
    if witness.is_some() {
        "would come"
    } else {
        "might come"
    }
}

pub(super) fn reads_older(witness: &Option<Box<Witness>>) -> &'static str {
    if witness.is_some() {
        "reads what another iteration"
    } else {
        "may read what another iteration, or what came before,"
    }
}

pub(super) fn is_read(witness: &Option<Box<Witness>>) -> &'static str {
    if witness.is_some() {
        "is read"
    } else {
        "may be read"
    }
}

pub(super) fn keeps_order(combiner: &Option<String>) -> String {
    combiner.as_ref().map_or_else(String::new, |it| {
        format!("; updates by `{it}` keep their order here: of operands that are equal, or NaN, the result tells which came first")
    })
}

/// `sees` where a run shows it.
pub(super) fn sees(witness: &Option<Box<Witness>>) -> &'static str {
    match witness {
        Some(_) => "sees",
        None => "may see",
    }
}

pub(super) fn example(witness: &Option<Box<Witness>>) -> String {
    witness
        .as_ref()
        .map_or_else(String::new, |it| format!("; {it}"))
}

fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// What a loop would need for parts of it to be counted ahead.
pub(super) fn no_tickets(path: &LoopPath) -> String {
    format!(
        "no counter in `{path}` hands out tickets, as `next` does in `out[next[key[i]]++] = x[i]`: one that moves by one constant alone, however often that is follows from nothing that the loop changes"
    )
}

/// What a loop would need to be unrolled and jammed.
pub(super) fn nothing_to_jam(path: &LoopPath) -> String {
    format!(
        "there is nothing to jam in `{path}`: directly inside there is no `affine.for`, or there are several loops, or the one is in lanes; or its bounds depend on `{path}`, and more than one alternative of one does, or by a division, or it has a step, or there are statements around it"
    )
}

/// What arrays that are combined together would need.
pub(super) fn not_together(array: &str, combiner: &str) -> String {
    format!(
        "`{array}` is combined by `{combiner}` together with something that is not an array cell at the same place of an array of the same extents, always the same one, so private copies could not be merged cell by cell"
    )
}

/// What two loops would need to become one.
pub(super) fn different_bounds(first: &LoopPath, second: &LoopPath) -> String {
    format!(
        "`{first}` and `{second}` do not have the same bounds and the same step, and neither goes on where the other ends or is known to stay among its iterations"
    )
}

/// What is asked for of loops that are `affine.for`.
pub(super) fn not_affine(path: &LoopPath) -> String {
    format!(
        "the bounds of `{path}` are computed when it starts (`scf.for`), so its iterations cannot be counted beforehand"
    )
}

/// What a loop that is tiled for private copies would need.
pub(super) fn nothing_reduced(path: &LoopPath) -> String {
    format!(
        "no statement in `{path}` is a reduction, and no `reduction(…)` clause names an array to make private"
    )
}

/// What a loop that is to be computed in narrower types would need.
pub(super) fn nothing_narrower(path: &LoopPath) -> String {
    format!(
        "nothing in `{path}` can be computed in a narrower type: what it computes is of the types of its elements already, or may be too large for fewer bits, or goes where data say"
    )
}

/// What a loop whose values are to be computed before the statements that need them would need.
pub(super) fn nothing_to_precompute(path: &LoopPath) -> String {
    format!(
        "nothing that statements of `{path}` put into elements takes an operation and can be computed before the first of them: it is only loaded, or in a scalar already, or reads what they write, or could fail where a condition keeps it from being computed"
    )
}

/// What a loop that is to be cut where something changes would need.
pub(super) fn nothing_to_separate(path: &LoopPath) -> String {
    format!(
        "no condition in `{path}` and no choice between alternatives of a bound depends on its iterator and on those around it alone, so there is nothing to separate"
    )
}

/// Why a loop takes in nothing of what follows it.
pub(super) fn may_end_early(path: &LoopPath) -> String {
    format!(
        "nobody could tell that `{path}` never ends before it begins; an iteration behind its last one would then be left out"
    )
}

/// What a loop that takes in what follows it would need.
pub(super) fn nothing_behind(path: &LoopPath) -> String {
    format!(
        "nothing stands behind `{path}`, in the body around it, that could become an iteration of it"
    )
}

/// What loops that run at once must not be.
pub(super) fn nested_forall(path: &LoopPath) -> String {
    format!(
        "`{path}` stands inside a `scf.forall` or has one inside; loops that run at once are not nested"
    )
}

/// What keeps two loops from changing places, or from becoming one.
pub(super) fn not_rectangular(inner: &LoopPath, outer: &LoopPath) -> String {
    format!(
        "the bounds of `{inner}` depend on `{outer}`, so it does not run as often in every turn"
    )
}

/// What loops whose bounds depend on each other would need.
pub(super) fn stepped_band(path: &LoopPath) -> String {
    format!(
        "the bounds of loops from `{path}` on depend on each other, and one of them has a step other than 1"
    )
}

/// What there would have to be to part.
pub(super) fn one_statement(path: &LoopPath) -> String {
    format!(
        "the statements of `{path}` cannot be parted: there is one, or they share what is declared in it"
    )
}

/// What an iterator cannot be divided by.
pub(super) fn moving_divisor(path: &LoopPath) -> String {
    format!(
        "how often `{path}` runs depends on a loop around, and iterators can be divided by numbers and parameters only"
    )
}
