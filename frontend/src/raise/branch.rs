//! Branches, which become affine where their conditions are, or reductions where assumptions make
//! them some.

use super::Raising;
use super::assume::Assumption;
use crate::lower::interval::Interval;
use crate::lower::value::{self, Guard};
use crate::recognize::{self, Sizes};
use strew_affine::{
    AffineExpr, Block, CompareOp, Condition, Expr, Factor, Node, Place, Relation, Span,
};

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
        let parts = condition.disjuncts();
        if let [first, others @ ..] = parts.as_slice()
            && !others.is_empty()
            && is_short(then)
            && parts.iter().all(|it| self.is_affine(it))
        {
            let others = others.iter().map(|it| (*it).clone());
            let others = others.reduce(|one, other| Expr::Or(one.into(), other.into()));
            return self.branches((first, span), then, raised, |raising, raised| {
                if let Some(others) = others {
                    raising.branch((&others, span), then, otherwise, raised);
                }
            });
        }
        self.branches((condition, span), then, raised, |raising, raised| {
            raised.extend(raising.block(otherwise, None, &[]));
        });
    }

    /// Whether `condition` could be one of an `affine.if`.
    fn is_affine(&mut self, condition: &Expr) -> bool {
        let guards = self.value(condition).known.conditions;
        guards.is_some_and(|it| !it.is_empty())
    }

    /// The same, the other side of which `otherwise` raises.
    fn branches(
        &mut self,
        (condition, span): (&Expr, Span),
        then: &'k [Node],
        raised: &mut Vec<Node>,
        otherwise: impl FnOnce(&mut Self, &mut Vec<Node>),
    ) {
        let condition = self.value(condition);
        match condition.truth() {
            Some(true) => return raised.extend(self.block(then, None, &[])),
            Some(false) => return otherwise(self, raised),
            None => {}
        }
        let facts = self.facts.mark();
        let outside = self.context.mark();
        let guards = condition.known.conditions.unwrap_or_default();
        let conditions = self.conditions(&guards);
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
        let mut other_side = Vec::new();
        otherwise(self, &mut other_side);
        let otherwise = other_side;
        self.context.return_to(outside);
        changed.extend(self.facts.undo(facts));
        self.facts.forget(changed);

        raised.push(if is_affine {
            Node::AffineIf {
                conditions,
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
        let conditions = self.conditions(&guards);
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
            conditions,
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
        if let ([then], [otherwise]) = (then.as_slice(), otherwise.as_slice())
            && let Some(chosen) = chosen(&condition, then, otherwise)
        {
            return chosen;
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

    /// What `guards` say. That something is at one of its ends holds on one side of a border, so
    /// that a loop can be cut there.
    fn conditions(&self, guards: &[Guard]) -> Vec<Condition> {
        let conditions = guards.iter().map(|Guard { condition, .. }| {
            let Condition { left, right, .. } = condition;
            let is_linear = |it: &AffineExpr| {
                let mut factors = it.terms().iter().flat_map(|it| &it.factors);
                factors.all(|it| matches!(it, Factor::Variable(_)))
            };
            let is_end =
                condition.relation == Relation::Equal && is_linear(left) && is_linear(right);
            let (least, most) = (
                self.never_exceeds(right, left),
                self.never_exceeds(left, right),
            );
            match (is_end, least, most) {
                (true, true, false) => (left, Relation::LessOrEqual, right),
                (true, false, true) => (right, Relation::LessOrEqual, left),
                _ => (left, condition.relation, right),
            }
        });
        let conditions = conditions.map(|(left, relation, right)| Condition {
            left: left.clone(),
            relation,
            right: right.clone(),
        });
        conditions.collect()
    }

    /// Whether `one` is at most `other` whatever the parameters are.
    fn never_exceeds(&self, one: &AffineExpr, other: &AffineExpr) -> bool {
        let not_negative = Interval::new(0, i128::MAX);
        let slack = other.minus(one).ok();
        let needed = slack.and_then(|it| self.context.requirements(&it, not_negative));
        needed.is_some_and(|it| it.is_empty())
    }

    /// Whether all `guards` mean what they say, each where those before it hold; then they hold
    /// from here on. Else nothing follows from them: they say it of numbers that the condition is
    /// not about.
    fn assume_all(&mut self, guards: &[Guard]) -> bool {
        let before = self.context.mark();
        let holds = self.assume_each(guards);
        if !holds {
            self.context.return_to(before);
        }
        holds
    }

    fn assume_each(&mut self, guards: &[Guard]) -> bool {
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

/// Whether to have `nodes` several times is better than a condition that is not affine.
fn is_short(nodes: &[Node]) -> bool {
    matches!(nodes, [Node::Assign { .. }])
}

/// What both sides of a condition assign to one element, as one assignment of a value that is
/// chosen: other statements then see one write, and often no jump is needed.
fn chosen(condition: &Expr, then: &Node, otherwise: &Node) -> Option<Node> {
    let (
        Node::Assign { place, value, span },
        Node::Assign {
            place: other,
            value: other_value,
            ..
        },
    ) = (then, otherwise)
    else {
        return None;
    };
    let is_same = match (place, other) {
        (Place::Element(one), Place::Element(other)) => one.is_same(other),
        _ => false,
    };
    is_same.then(|| Node::Assign {
        place: place.clone(),
        value: Expr::select(condition.clone(), value.clone(), other_value.clone()),
        span: *span,
    })
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
