//! Branches, which become affine where their conditions are, or reductions where assumptions make
//! them some.

use super::Raising;
use super::assume::Assumption;
use crate::lower::interval::Interval;
use crate::lower::value::{self, Guard};
use crate::recognize::{self, Sizes};
use strew_affine::{AffineExpr, Block, CompareOp, Condition, Expr, Node, Span};

impl<'k> Raising<'k> {
    pub(super) fn branch(
        &mut self,
        (condition, span): (&Expr, Span),
        then: &'k [Node],
        otherwise: &'k [Node],
        raised: &mut Vec<Node>,
    ) {
        if otherwise.is_empty()
            && let Expr::Compare(CompareOp::Ne, left, right) = condition
            && let Some(node) = self.unless_equal(left, right, then)
        {
            raised.push(node);
            return;
        }
        let condition = self.value(condition);
        if let Some(truth) = condition.truth() {
            let chosen = self.block(if truth { then } else { otherwise }, None, &[]);
            return raised.extend(chosen);
        }
        let facts = self.facts.mark();
        let outside = self.context.mark();
        let guards = condition.known.conditions.unwrap_or_default();
        let is_affine = !guards.is_empty() && self.assume_all(&guards);
        let then = self.block(then, None, &[]);
        self.context.return_to(outside);
        let mut changed = self.facts.undo(facts);

        let outside = self.context.mark();
        if let [guard] = guards.as_slice()
            && is_affine
            && let Some(opposite) = value::opposite(guard)
        {
            self.context.learn_condition(&opposite.condition);
        }
        let otherwise = self.block(otherwise, None, &[]);
        self.context.return_to(outside);
        changed.extend(self.facts.undo(facts));
        self.facts.forget(changed);

        raised.push(if is_affine {
            Node::AffineIf {
                conditions: conditions(guards),
                then: then.into(),
                otherwise: otherwise.into(),
            }
        } else {
            self.computed_branch((condition.expr, span), then, otherwise)
        });
    }

    /// `if (left != right) then`, which is the other branch of something that may be affine.
    fn unless_equal(&mut self, left: &Expr, right: &Expr, then: &'k [Node]) -> Option<Node> {
        let equal = Expr::compare(CompareOp::Eq, left.clone(), right.clone());
        let equal = self.value(&equal);
        let outside = self.context.mark();
        let guards = equal.known.conditions.unwrap_or_default();
        let is_affine = !guards.is_empty() && self.assume_all(&guards);
        self.context.return_to(outside);
        if !is_affine {
            return None;
        }
        let facts = self.facts.mark();
        let otherwise = self.block(then, None, &[]);
        let changed = self.facts.undo(facts);
        self.facts.forget(changed);
        Some(Node::AffineIf {
            conditions: conditions(guards),
            then: Block::default(),
            otherwise: otherwise.into(),
        })
    }

    fn computed_branch(
        &mut self,
        (condition, span): (Expr, Span),
        then: Vec<Node>,
        otherwise: Vec<Node>,
    ) -> Node {
        if otherwise.is_empty()
            && let Some(reduction) = self.reduction((&condition, span), &then)
        {
            return reduction;
        }
        Node::ScfIf {
            condition,
            then: then.into(),
            otherwise: otherwise.into(),
            span,
        }
    }

    /// `if (condition) body` as a reduction, if it is one with what is known, or can be assumed, of
    /// sizes.
    fn reduction(&mut self, condition: (&Expr, Span), body: &[Node]) -> Option<Node> {
        let mut sizes = AssumedSizes {
            raising: self,
            needed: Vec::new(),
        };
        let reduction = recognize::guarded(&self.kernel, condition, body, &mut sizes)?;
        let needed = sizes.needed;
        self.assume_in_loops(needed).then_some(reduction)
    }

    /// Whether all `guards` mean what they say, each where those before it hold; then they hold
    /// from here on.
    fn assume_all(&mut self, guards: &[Guard]) -> bool {
        let mut needed = Vec::new();
        for guard in guards {
            let sides = [&guard.condition.left, &guard.condition.right];
            let Some(requirements) = self.requirements(&sides, &guard.provided) else {
                return false;
            };
            needed.extend(requirements);
            self.context.learn_condition(&guard.condition);
        }
        self.assume_in_loops(needed)
    }
}

fn conditions(guards: Vec<Guard>) -> Vec<Condition> {
    guards.into_iter().map(|it| it.condition).collect()
}

/// Sizes that are as they have to be, if what is needed for that is assumed.
struct AssumedSizes<'r, 'k> {
    raising: &'r Raising<'k>,
    needed: Vec<Assumption>,
}

impl Sizes for AssumedSizes<'_, '_> {
    fn ascend(&mut self, least: &AffineExpr, most: &AffineExpr) -> bool {
        let Ok(slack) = most.minus(least) else {
            return false;
        };
        let not_negative = Interval::new(0, i128::MAX);
        match self.raising.context.requirements(&slack, not_negative) {
            Some(requirements) => {
                self.needed
                    .extend(self.raising.assumptions_for(requirements));
                true
            }
            None => false,
        }
    }
}
