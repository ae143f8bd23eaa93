//! Loops whose turns are not counted.

use super::value::{self, Typed};
use super::{Binding, Lowering};
use crate::ast::{BinaryOp as Operator, Expr, ExprKind, Statement, StatementKind, Step};
use crate::flow::{Flow, is_endless};
use strew_affine::{Expr as Computation, LocalId, Node, Span, Type, Value};

/// A condition that tests a variable and steps it.
struct Counting<'s> {
    /// The condition without the step.
    test: Expr,
    /// The step.
    by: &'s Expr,
    /// Whether the step comes before the test.
    first: bool,
}

/// What decides whether there is another turn, and the turn.
pub(super) struct Header<'s> {
    condition: Condition<'s>,
    turn: &'s [Statement],
    /// How the turn can end.
    pub(super) flow: Flow,
}

enum Condition<'s> {
    None,
    Holds(&'s Expr),
    Fails(&'s Expr),
}

impl<'s> Header<'s> {
    /// A loop without a condition that begins with `if (condition) break;` runs while that does not
    /// hold.
    pub(super) fn of(condition: Option<&'s Expr>, turn: &'s Statement) -> Self {
        let condition = condition.filter(|it| !is_endless(Some(it)));
        if condition.is_none()
            && turn.pragmas.is_empty()
            && let StatementKind::Block(statements) = &turn.kind
            && let [first, rest @ ..] = statements.as_slice()
            && let Some(fails) = leaving(first)
        {
            return Self {
                condition: Condition::Fails(fails),
                turn: rest,
                flow: Flow::of_list(rest),
            };
        }
        Self {
            condition: condition.map_or(Condition::None, Condition::Holds),
            turn: std::slice::from_ref(turn),
            flow: turn.flow,
        }
    }
}

/// The condition of `if (condition) break;`.
fn leaving(statement: &Statement) -> Option<&Expr> {
    let StatementKind::If {
        condition,
        then,
        otherwise: None,
    } = &statement.kind
    else {
        return None;
    };
    let then = match &then.kind {
        StatementKind::Block(statements) => match statements.as_slice() {
            [only] => &only.kind,
            _ => return None,
        },
        other => other,
    };
    let is_plain = statement.pragmas.is_empty() && statement.cases.is_empty();
    (is_plain && matches!(then, StatementKind::Break)).then_some(condition)
}

impl Lowering<'_> {
    /// `for (; condition; step) turn`, where a missing condition holds.
    ///
    /// A condition that does something is evaluated inside of the loop, which runs while a variable
    /// says so; and so does a loop that can be left.
    pub(super) fn while_loop(
        &mut self,
        condition: Option<&Expr>,
        turn: &Statement,
        step: Option<&Expr>,
        span: Span,
        body: &mut Vec<Node>,
    ) {
        match condition.and_then(|it| self.counting(it)) {
            Some(Counting { test, by, first }) if first && step.is_none() => {
                self.effect(by, body);
                self.tested_loop(Header::of(Some(&test), turn), Some(by), span, body);
            }
            Some(Counting { test, by, first }) if !first && !turn.flow.leaves() => {
                self.counting_loop(&test, by, turn, step, span, body);
            }
            _ => self.tested_loop(Header::of(condition, turn), step, span, body),
        }
    }

    fn tested_loop(
        &mut self,
        header: Header<'_>,
        step: Option<&Expr>,
        span: Span,
        body: &mut Vec<Node>,
    ) {
        let mut test = Vec::new();
        let condition = self.condition_of(&header, &mut test);
        let leaves = header.flow.leaves();
        let again = (leaves || !test.is_empty()).then(|| self.again(span, body));
        let levels = usize::from(!test.is_empty());
        self.nesting += levels;
        let mut turn = self.turn(header.turn, span, again);
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
                test.push(self.when((holds(again), span), turn, Vec::new()));
                turn = test;
                Computation::Local(again)
            }
        };
        body.push(Node::ScfWhile {
            condition,
            body: turn.into(),
            span,
        });
    }

    fn condition_of(&mut self, header: &Header<'_>, test: &mut Vec<Node>) -> Option<Typed> {
        match header.condition {
            Condition::None => Some(Typed::constant(Value::bool(true))),
            Condition::Holds(it) => self.condition(it, test),
            Condition::Fails(it) => {
                let fails = self.condition(it, test)?;
                Some(Typed::any(self.inverted(fails.expr), Type::Bool))
            }
        }
    }

    /// `i-- > bound` as `i > bound` and `i--`; `i--` as `i` and `i--`; and the same of `--i`.
    fn counting<'s>(&self, condition: &'s Expr) -> Option<Counting<'s>> {
        let (by, right) = match &condition.kind {
            ExprKind::Binary(Operator::Compare(_), left, right) => (&**left, Some(&**right)),
            _ => (condition, None),
        };
        let ExprKind::Step(Step { prefix: first, .. }, place) = &by.kind else {
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
        let first = *first;
        (is_variable && is_apart).then_some(Counting { test, by, first })
    }

    /// A loop whose condition tests a variable and then steps it: every turn begins with that step,
    /// and so does what follows the loop. Nothing else may leave it.
    fn counting_loop(
        &mut self,
        test: &Expr,
        counter: &Expr,
        turn: &Statement,
        step: Option<&Expr>,
        span: Span,
        body: &mut Vec<Node>,
    ) {
        let condition = self.condition(test, body);
        let mut nodes = Vec::new();
        self.effect(counter, &mut nodes);
        nodes.extend(self.turn(std::slice::from_ref(turn), turn.span, None));
        if let Some(step) = step {
            self.effect(step, &mut nodes);
        }
        if let Some(condition) = condition {
            let condition = condition.expr;
            body.push(Node::ScfWhile {
                condition,
                body: nodes.into(),
                span,
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
        let mut turn = self.turn(std::slice::from_ref(turn), turn.span, Some(again));
        self.while_again(leaves, span, &mut turn, |it, block| {
            if let Some(condition) = it.expression(condition, block) {
                block.push(it.set(again, condition.condition().expr, span));
            }
        });
        body.push(Node::ScfWhile {
            condition: Computation::Local(again),
            body: turn.into(),
            span,
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
                body.push(self.when((holds(again), span), block, Vec::new()));
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
