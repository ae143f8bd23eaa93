//! The simplifier.
//!
//! Expressions are brought into a normal form over the bounds and constraints of their map
//! (`linear`, `normalize`, `division`, `recombine`, `extreme`) and printed from it as small as can
//! be had (`express`). The form that was written is kept where the normal form is larger.
//! Constraints become bounds or merge (`constraint`, `congruence`).
//!
//! Every step keeps the set of points of the domain and the results at each of them, and none makes
//! the map larger. It is repeated until nothing changes, so a second simplification changes
//! nothing.

pub(super) mod congruence;
pub(super) mod constraint;
pub(super) mod context;
mod division;
pub(super) mod express;
mod extreme;
pub(super) mod linear;
pub(super) mod normalize;
mod ordered;
mod propagate;
mod recombine;
mod symbolic;

use super::{IndexExpr, IndexingMap, MAX_DEPTH};
use constraint::Domain;
use context::Context;
use normalize::{Normalizer, Style};

/// What is left unchanged after so many rounds is not simplified any further.
const ROUNDS: usize = 8;

/// The steps that one expression may take, by its nodes, and at least.
const STEPS_A_NODE: usize = 200;
const STEPS: usize = 20_000;

impl IndexingMap {
    /// A map with the same variables that is equal at every point, and no larger: fewer divisions
    /// and remainders, or as many of them and no more nodes. The bounds of variables are as tight
    /// as each constraint by itself makes them, and a map whose domain is found to be empty is
    /// known to be so. Simplifying twice changes nothing.
    ///
    /// Where the original has no value, for a number that leaves 64 bits or a division by zero, the
    /// simplified map may have one.
    pub fn simplified(&self) -> Self {
        if self.is_known_empty() {
            return self.emptied();
        }
        let Some(mut map) = self.with_simplified_domain() else {
            return self.emptied();
        };
        let context = map.context();
        for result in &mut map.results {
            *result = simplified(result, &context);
        }
        map
    }

    /// The map with its domain simplified until nothing changes; `None` when there is no point in
    /// it.
    fn with_simplified_domain(&self) -> Option<Self> {
        let mut map = self.clone();
        if self.constraints.is_empty() {
            return Some(map);
        }
        for _ in 0..ROUNDS {
            let domain = Domain::of(&map).simplified()?;
            let mut next = map.clone();
            domain.write_to(&mut next);
            if next.constraints == map.constraints && next.box_bounds() == map.box_bounds() {
                break;
            }
            map = next;
        }
        Some(map)
    }

    /// What is known at every point of the domain of a simplified map.
    pub(super) fn context(&self) -> Context {
        let domain = Domain::of(self).simplified();
        domain.map_or_else(|| Context::of_bounds(self), |it| it.context())
    }

    /// The same variables and as many results, over an empty domain.
    fn emptied(&self) -> Self {
        Self {
            results: vec![IndexExpr::Constant(0); self.results.len()],
            constraints: Vec::new(),
            known_empty: true,
            ..self.clone()
        }
    }
}

/// The smallest form of `expr` that is known.
fn simplified(expr: &IndexExpr, context: &Context) -> IndexExpr {
    let mut expr = expr.clone();
    let mut seen: Vec<IndexExpr> = Vec::new();
    for _ in 0..ROUNDS {
        let next = simplified_once(&expr, context);
        // A sum of variables is what it is, unless a constraint says more of it.
        let is_plain = next.size().divisions == 0 && context.facts.is_empty();
        if next == expr || is_plain {
            return next;
        }
        if let Some(start) = seen.iter().position(|it| *it == next) {
            // Forms of one size that lead to each other: the least of them stands for all.
            let cycle = seen.drain(start..).chain([expr]);
            return cycle.min().unwrap_or(next);
        }
        seen.push(std::mem::replace(&mut expr, next));
    }
    expr
}

fn simplified_once(expr: &IndexExpr, context: &Context) -> IndexExpr {
    let size = expr.size();
    let fuel = STEPS + size.nodes.saturating_mul(STEPS_A_NODE);
    let mut best: Option<(IndexExpr, super::Size)> = None;
    for style in [Style::Eager, Style::Careful] {
        let normalizer = Normalizer::new(context, style, fuel);
        let normal = normalizer.linear(expr).ok();
        let candidate = normal.and_then(|it| express::expression(&it));
        if let Some(candidate) = candidate.filter(|it| it.depth() <= MAX_DEPTH) {
            let candidate_size = candidate.size();
            let is_better = best.as_ref().is_none_or(|(_, it)| candidate_size < *it);
            if candidate_size <= size && is_better {
                best = Some((candidate, candidate_size));
            }
        }
        if !normalizer.has_chosen.get() && best.is_some() {
            break;
        }
    }
    best.map_or_else(|| ordered::ordered(expr), |(best, _)| best)
}
