//! Loops that test their condition at the end of a turn: `do … while (condition)`.
//!
//! Such a loop is one that tests at the beginning if the condition holds when it starts. Where that
//! is not known it is assumed.

use super::Raising;
use super::assume::Assumption;
use super::counted::{Bounds, Counted, Induction};
use super::written::Written;
use crate::Uncounted;
use crate::locals;
use crate::lower::interval::Interval;
use strew_affine::visit;
use strew_affine::{Expr, LocalId, Node, Place, Relation};

/// A loop that runs while a variable says so, which the end of every turn sets to a condition.
pub(super) struct TestedAtEnd<'k> {
    pub(super) condition: &'k Expr,
    /// The turn without that.
    pub(super) body: &'k [Node],
    /// What has to hold for the condition to hold when the loop starts.
    needed: Vec<Assumption>,
}

impl<'k> Raising<'k> {
    /// The loop, if the condition can be known when it starts. To be asked before anything is
    /// forgotten.
    pub(super) fn tested_at_end(
        &mut self,
        condition: &Expr,
        body: &'k [Node],
    ) -> Option<TestedAtEnd<'k>> {
        let Expr::Local(again) = condition else {
            return None;
        };
        let (last, body) = body.split_last()?;
        let Node::Assign {
            place: Place::Local(set),
            value,
            ..
        } = last
        else {
            return None;
        };
        let starts = self.facts.now.get(again).and_then(|it| it.as_constant());
        let is_only_set_here = set == again && starts == Some(1) && !uses(body, *again);
        if !is_only_set_here || visit::reads(value, *again) {
            return None;
        }
        Some(TestedAtEnd {
            condition: value,
            body,
            needed: self.needed_at_start(value)?,
        })
    }

    /// What has to hold for `condition` to hold here.
    fn needed_at_start(&mut self, condition: &Expr) -> Option<Vec<Assumption>> {
        let guards = self.value(condition).known.conditions?;
        let mut needed = Vec::new();
        for guard in guards {
            let (left, right) = (&guard.condition.left, &guard.condition.right);
            needed.extend(self.requirements(&[left, right], &guard.provided)?);
            let slack = right.minus(left).ok()?;
            let within = match guard.condition.relation {
                Relation::Less => Interval::new(1, i128::MAX),
                Relation::LessOrEqual => Interval::new(0, i128::MAX),
                Relation::Equal => Interval::point(0),
            };
            let requirements = self.context.requirements(&slack, within)?;
            needed.extend(self.assumptions_for(requirements));
        }
        (needed.is_empty() || self.assumptions.are_allowed()).then_some(needed)
    }

    /// How the loop counts, if it does over affine bounds.
    pub(super) fn counted_at_end(
        &mut self,
        it: &TestedAtEnd<'_>,
        inductions: &[Induction],
        written: &Written,
    ) -> Result<Counted, Uncounted> {
        let counted = self.counted(it.condition, inductions, written)?;
        match counted.bounds {
            Bounds::Affine { .. } if self.assumptions.add(it.needed.clone()) => Ok(counted),
            _ => Err(Uncounted::Header),
        }
    }
}

fn uses(nodes: &[Node], local: LocalId) -> bool {
    let mut found = false;
    strew_affine::visit::walk(nodes, &mut |node, _| {
        locals::for_each_own_use(node, &mut |it| found |= it == local);
    });
    found
}
