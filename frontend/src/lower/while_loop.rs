//! Loops whose turns are not counted.

use super::value::{self, Typed};
use super::{Binding, Lowering};
use crate::ast::{BinaryOp as Operator, Expr, ExprKind, Statement, Step};
use strew_affine::{Expr as Computation, LocalId, Node, Span, Type, Value};

impl Lowering<'_> {
    /// `for (; condition; step) turn`, where a missing condition holds.
    ///
    /// A condition that does something is evaluated inside of the loop, which runs while a variable says so; and so does a loop
    /// that can be left.
    pub(super) fn while_loop(
        &mut self,
        condition: Option<&Expr>,
        turn: &Statement,
        step: Option<&Expr>,
        span: Span,
        body: &mut Vec<Node>,
    ) {
        if let Some((test, counter)) = condition.and_then(|it| self.counting(it))
            && !turn.flow.leaves()
        {
            return self.counting_loop(&test, counter, turn, step, body);
        }
        let mut test = Vec::new();
        let condition = match condition.filter(|it| !is_always_true(it)) {
            Some(condition) => self.expression(condition, &mut test).map(Typed::condition),
            None => Some(Typed::constant(Value::bool(true))),
        };
        let leaves = turn.flow.leaves();
        let again = (leaves || !test.is_empty()).then(|| self.again(span, body));
        let levels = usize::from(!test.is_empty());
        self.nesting += levels;
        let mut turn = self.turn(turn, again);
        if let Some(step) = step {
            let again = again.filter(|_| leaves);
            self.while_again(again, span, &mut turn, |it, block| it.effect(step, block));
        }
        self.nesting -= levels;
        let Some(condition) = condition else {
            return;
        };
        let condition = match again {
            None => condition.expr,
            Some(again) if test.is_empty() => both(again, condition),
            Some(again) => {
                test.push(self.set(again, condition.expr, span));
                test.push(self.when(holds(again), turn, Vec::new()));
                turn = test;
                Computation::Local(again)
            }
        };
        body.push(Node::ScfWhile {
            condition,
            body: turn,
        });
    }

    /// `i-- > bound` as `i > bound` and `i--`; `i--` as `i` and `i--`.
    fn counting<'s>(&self, condition: &'s Expr) -> Option<(Expr, &'s Expr)> {
        let (counter, right) = match &condition.kind {
            ExprKind::Binary(Operator::Compare(_), left, right) => (&**left, Some(&**right)),
            _ => (condition, None),
        };
        let ExprKind::Step(Step { prefix: false, .. }, place) = &counter.kind else {
            return None;
        };
        let name = place.as_name()?;
        let is_variable = matches!(
            self.binding(name),
            Binding::Variable {
                is_const: false,
                ..
            }
        );
        let mut is_apart = true;
        if let Some(right) = right {
            is_apart = !right.has_effects();
            right.for_each_name(&mut |it| is_apart &= it.declaration != name.declaration);
        }
        let mut test = condition.clone();
        match &mut test.kind {
            ExprKind::Binary(_, left, _) => *left = place.clone(),
            _ => test = (**place).clone(),
        }
        (is_variable && is_apart).then_some((test, counter))
    }

    /// A loop whose condition tests a variable and then steps it: every turn begins with that step, and so does what follows the
    /// loop. Nothing else may leave it.
    fn counting_loop(
        &mut self,
        test: &Expr,
        counter: &Expr,
        turn: &Statement,
        step: Option<&Expr>,
        body: &mut Vec<Node>,
    ) {
        let condition = self.expression(test, body).map(Typed::condition);
        let mut nodes = Vec::new();
        self.effect(counter, &mut nodes);
        nodes.extend(self.turn(turn, None));
        if let Some(step) = step {
            self.effect(step, &mut nodes);
        }
        if let Some(condition) = condition {
            let condition = condition.expr;
            body.push(Node::ScfWhile {
                condition,
                body: nodes,
            });
        }
        self.effect(counter, body);
    }

    /// `do turn while (condition)`
    pub(super) fn do_while(
        &mut self,
        turn: &Statement,
        condition: &Expr,
        span: Span,
        body: &mut Vec<Node>,
    ) {
        let again = self.again(span, body);
        let leaves = turn.flow.leaves().then_some(again);
        let mut turn = self.turn(turn, Some(again));
        self.while_again(leaves, span, &mut turn, |it, block| {
            if let Some(condition) = it.expression(condition, block) {
                block.push(it.set(again, condition.condition().expr, span));
            }
        });
        body.push(Node::ScfWhile {
            condition: Computation::Local(again),
            body: turn,
        });
    }

    /// A variable that says whether there is another turn.
    fn again(&mut self, span: Span, body: &mut Vec<Node>) -> LocalId {
        let yes = Typed::constant(Value::bool(true));
        self.variable_of("again", yes, span, body)
    }

    /// What `walk` appends, under the condition that the loop has not been left.
    fn while_again(
        &mut self,
        again: Option<LocalId>,
        span: Span,
        body: &mut Vec<Node>,
        walk: impl FnOnce(&mut Self, &mut Vec<Node>),
    ) {
        match again {
            None => walk(self, body),
            Some(again) => {
                let block = self.nested(span, walk);
                body.push(self.when(holds(again), block, Vec::new()));
            }
        }
    }
}

fn holds(flag: LocalId) -> Typed {
    Typed::any(Computation::Local(flag), Type::Bool)
}

fn both(again: LocalId, condition: Typed) -> Computation {
    if condition.expr == Computation::Constant(Value::bool(true)) {
        Computation::Local(again)
    } else {
        value::and(holds(again), condition).expr
    }
}

fn is_always_true(condition: &Expr) -> bool {
    match &condition.kind {
        ExprKind::Constant(value) => value.as_integer().is_some_and(|it| it != 0),
        _ => false,
    }
}
