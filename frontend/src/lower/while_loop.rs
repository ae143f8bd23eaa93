//! Loops whose turns are not counted.

use super::Lowering;
use super::value::{self, Typed};
use crate::ast::{Expr, ExprKind, Statement};
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
