//! Loops whose turns are not counted.

use super::Lowering;
use super::expression::branch;
use super::value::Typed;
use crate::ast::{Expr, Statement};
use strew_affine::{Expr as Computation, Node, Span, Type, Value};

impl Lowering<'_> {
    /// `for (; condition; step) turn`, where a missing condition holds.
    ///
    /// A condition that does something is evaluated inside of the loop, which runs while a variable says so.
    pub(super) fn while_loop(
        &mut self,
        condition: Option<&Expr>,
        turn: &Statement,
        step: Option<&Expr>,
        span: Span,
        body: &mut Vec<Node>,
    ) {
        let mut test = Vec::new();
        let condition = match condition {
            Some(condition) => self.expression(condition, &mut test).map(Typed::condition),
            None => Some(Typed::constant(Value::bool(true))),
        };
        let mut turn = self.block(turn);
        if let Some(step) = step {
            self.effect(step, &mut turn);
        }
        let Some(condition) = condition else {
            return;
        };
        if test.is_empty() {
            body.push(Node::ScfWhile {
                condition: condition.expr,
                body: turn,
            });
            return;
        }
        let yes = Typed::constant(Value::bool(true));
        let again = self.variable_of("again", yes, span, body);
        test.push(self.set(again, condition.expr, span));
        let holds = Typed::any(Computation::Local(again), Type::Bool);
        test.push(branch(holds, turn, Vec::new()));
        body.push(Node::ScfWhile {
            condition: Computation::Local(again),
            body: test,
        });
    }

    /// `do turn while (condition)` with a variable that says whether there is another turn.
    pub(super) fn do_while(
        &mut self,
        turn: &Statement,
        condition: &Expr,
        span: Span,
        body: &mut Vec<Node>,
    ) {
        let yes = Typed::constant(Value::bool(true));
        let again = self.variable_of("again", yes, span, body);
        let mut turn = self.block(turn);
        let Some(condition) = self.expression(condition, &mut turn) else {
            return;
        };
        turn.push(self.set(again, condition.condition().expr, span));
        body.push(Node::ScfWhile {
            condition: Computation::Local(again),
            body: turn,
        });
    }
}
