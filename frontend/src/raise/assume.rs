//! What a kernel assumes of its parameters.

use super::Raising;
use super::context::{Context, Requirement};
use crate::lower::affine_value::{Affine, Proviso};
use crate::lower::interval::Interval;
use strew_affine::{AffineExpr, Condition};

/// A kernel that assumes more than this is better off without.
const MOST: usize = 32;

/// What was assumed so far.
#[derive(Debug)]
pub(super) struct Assumptions {
    are_allowed: bool,
    all: Vec<Assumption>,
}

/// A requirement, with what holds where it is needed: elsewhere it may be broken.
#[derive(Clone, Debug)]
pub(super) struct Assumption {
    requirement: Requirement,
    inside: Context,
}

impl Assumptions {
    pub(super) fn new(are_allowed: bool) -> Self {
        Self {
            are_allowed,
            all: Vec::new(),
        }
    }

    pub(super) fn are_allowed(&self) -> bool {
        self.are_allowed
    }

    /// Whether all of `needed` hold from now on: with no need there is nothing to assume.
    pub(super) fn add(&mut self, needed: Vec<Assumption>) -> bool {
        let mut new: Vec<Assumption> = Vec::new();
        for assumption in needed {
            let is_known = |it: &Assumption| it.requirement == assumption.requirement;
            if !new.iter().any(is_known) && !self.all.iter().any(is_known) {
                new.push(assumption);
            }
        }
        let fits = new.is_empty() || (self.are_allowed && self.all.len() + new.len() <= MOST);
        if fits {
            self.all.extend(new);
        }
        fits
    }

    /// The conditions, without those that follow from others wherever they are needed.
    pub(super) fn conditions(&self) -> Vec<Condition> {
        let mut kept = vec![true; self.all.len()];
        // Whatever lets another one go stays itself.
        let mut is_pillar = vec![false; self.all.len()];
        for (position, assumption) in self.all.iter().enumerate() {
            if is_pillar[position] {
                continue;
            }
            let pillar = self.all.iter().enumerate().position(|(other, it)| {
                other != position
                    && kept[other]
                    && assumption
                        .inside
                        .follows(&assumption.requirement, &it.requirement)
            });
            if let Some(pillar) = pillar {
                kept[position] = false;
                is_pillar[pillar] = true;
            }
        }
        let kept = self.all.iter().zip(kept).filter(|(_, kept)| *kept);
        joined(kept.map(|(it, _)| &it.requirement).collect())
    }
}

/// The conditions; two that bound the same from both sides are one.
fn joined(mut requirements: Vec<&Requirement>) -> Vec<Condition> {
    requirements.reverse();
    let mut conditions = Vec::new();
    while let Some(requirement) = requirements.pop() {
        let opposite = requirements
            .iter()
            .position(|it| it.is_opposite(requirement));
        conditions.push(match opposite {
            Some(position) => {
                requirements.remove(position);
                requirement.equality()
            }
            None => requirement.condition(),
        });
    }
    conditions
}

impl Raising<'_> {
    /// The affine form of a subscript or a bound, with what it needs assumed. Assuming pays only in
    /// loops.
    pub(super) fn settled(&mut self, affine: &Affine) -> Option<AffineExpr> {
        let needed = self.requirements(&[&affine.expr], &affine.provided)?;
        self.assume_in_loops(needed).then(|| affine.expr.clone())
    }

    pub(super) fn assume_in_loops(&mut self, needed: Vec<Assumption>) -> bool {
        (needed.is_empty() || self.context.is_in_loop()) && self.assumptions.add(needed)
    }

    /// What `exprs` need to be evaluated in 64 bits, and what the provisos need; `None` where no
    /// parameters give them that.
    pub(super) fn requirements(
        &self,
        exprs: &[&AffineExpr],
        provided: &[Proviso],
    ) -> Option<Vec<Assumption>> {
        let mut requirements = Vec::new();
        for Proviso { expr, within } in provided {
            requirements.extend(self.context.requirements(expr, *within)?);
        }
        for expr in exprs {
            for part in self.context.partial_sums(expr)? {
                requirements.extend(self.context.requirements(&part, Interval::i64())?);
            }
        }
        Some(self.assumptions_for(requirements))
    }

    pub(super) fn assumptions_for(&self, requirements: Vec<Requirement>) -> Vec<Assumption> {
        let assumption = |requirement| Assumption {
            requirement,
            inside: self.context.of_parameters(),
        };
        requirements.into_iter().map(assumption).collect()
    }
}
