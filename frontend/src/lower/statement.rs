//! Statements.

use super::value::{self, Typed};
use super::{Binding, Lowering};
use crate::ast::{Declaration, Declarator, Expr, ExprKind, Name, Statement, StatementKind};
use crate::problem::{Problem, Unsupported};
use crate::recognize;
use crate::types::{self, Named, Position};
use strew_affine::{BinaryOp, Expr as Computation, LocalId, Node, Place, Span, Type, Value};

impl Lowering<'_> {
    pub(super) fn statements(&mut self, statements: &[Statement], body: &mut Vec<Node>) {
        for statement in statements {
            self.statement(statement, body);
        }
    }

    /// The statement as a block of its own.
    pub(super) fn block(&mut self, statement: &Statement) -> Vec<Node> {
        let mut block = Vec::new();
        self.statement(statement, &mut block);
        block
    }

    fn statement(&mut self, statement: &Statement, body: &mut Vec<Node>) {
        let span = statement.span;
        if !matches!(
            statement.kind,
            StatementKind::For(_) | StatementKind::Invalid
        ) {
            for pragma in &statement.pragmas {
                self.diagnostics
                    .report(Problem::PragmaWithoutLoop, pragma.span);
            }
        }
        if let Some(case) = statement.cases.first() {
            let problem = Problem::Unsupported(Unsupported::Switch);
            self.diagnostics.report(problem, case.span);
        }
        match &statement.kind {
            StatementKind::Empty | StatementKind::Invalid => {}
            StatementKind::Block(statements) => self.statements(statements, body),
            StatementKind::Declaration(declaration) => self.declaration(declaration, body),
            StatementKind::Expression(expr) => self.effect(expr, body),
            StatementKind::If {
                condition,
                then,
                otherwise,
            } => self.branch(condition, then, otherwise.as_deref(), body),
            StatementKind::For(it) => self.for_loop(statement, it, body),
            StatementKind::While {
                condition,
                body: turn,
            } => {
                let condition = self.expression(condition);
                let turn = self.block(turn);
                if let Some(condition) = condition {
                    let condition = condition.condition().expr;
                    body.push(Node::ScfWhile {
                        condition,
                        body: turn,
                    });
                }
            }
            StatementKind::DoWhile {
                body: turn,
                condition,
            } => self.do_while(turn, condition, span, body),
            StatementKind::Switch { .. } => {
                let problem = Problem::Unsupported(Unsupported::Switch);
                self.diagnostics.report(problem, span);
            }
            StatementKind::Goto(_) => {
                let problem = Problem::Unsupported(Unsupported::Goto);
                self.diagnostics.report(problem, span);
            }
            StatementKind::Break => self.jump("break", span),
            StatementKind::Continue => self.jump("continue", span),
            StatementKind::Return(_) => {
                let problem = Problem::Unsupported(Unsupported::Return);
                self.diagnostics.report(problem, span);
            }
        }
    }

    fn jump(&mut self, word: &'static str, span: Span) {
        let problem = Problem::Unsupported(Unsupported::Jump(word));
        self.diagnostics.report(problem, span);
    }

    /// `do turn while (condition)` with a variable that says whether there is another turn.
    fn do_while(&mut self, turn: &Statement, condition: &Expr, span: Span, body: &mut Vec<Node>) {
        let name = Name {
            text: "again".to_owned(),
            span,
            declaration: None,
        };
        let yes = Typed::constant(Value::bool(true));
        let (again, declare) = self.declare(&name, true, yes);
        let mut turn = self.block(turn);
        let Some(condition) = self.expression(condition) else {
            return;
        };
        turn.push(Node::Assign {
            place: Place::Local(again),
            value: condition.condition().expr,
            span,
        });
        body.push(declare);
        body.push(Node::ScfWhile {
            condition: Computation::Local(again),
            body: turn,
        });
    }

    pub(super) fn declaration(&mut self, declaration: &Declaration, body: &mut Vec<Node>) {
        match types::named(&declaration.ty, Position::Variable) {
            Ok(Named {
                ty: Some(ty),
                is_const,
            }) => {
                for declarator in &declaration.declarators {
                    self.local(declarator, ty, is_const, body);
                }
            }
            Ok(_) => self
                .diagnostics
                .report(Problem::VoidValue, declaration.ty.span),
            Err(problem) => self.diagnostics.report(problem, declaration.ty.span),
        }
    }

    fn local(&mut self, declarator: &Declarator, ty: Type, is_const: bool, body: &mut Vec<Node>) {
        let name = declarator.name.text.clone();
        let unsupported = if !declarator.pointers.is_empty() {
            Some(Unsupported::Pointer { name })
        } else if declarator.lengths.is_empty() {
            None
        } else {
            Some(Unsupported::LocalArray { name })
        };
        if let Some(unsupported) = unsupported {
            let problem = Problem::Unsupported(unsupported);
            return self.diagnostics.report(problem, declarator.span);
        }
        let initial = match &declarator.initial {
            Some(initial) => self.initial(declarator, initial, ty),
            None => Some(Typed::constant(Value::zero(ty))),
        };
        let name = &declarator.name;
        let mutable = self.is_assigned(name);
        // After an error the local still exists, so that its uses are not errors too.
        let value = initial.unwrap_or_else(|| Typed::constant(Value::zero(ty)));
        let known = value.known.clone();
        let (local, node) = self.declare(name, mutable, value);
        body.push(node);
        let binding = if mutable {
            Binding::Variable { local, is_const }
        } else {
            Binding::Let { local, known }
        };
        self.bind(name, binding);
    }

    /// While the initial value is computed the local has none: reading it, of which the user was warned, gives 0.
    fn initial(&mut self, declarator: &Declarator, initial: &Expr, ty: Type) -> Option<Typed> {
        self.bind(&declarator.name, Binding::Unset(ty));
        Some(self.expression(initial)?.convert(ty))
    }

    /// An expression that is there for what it does.
    pub(super) fn effect(&mut self, expr: &Expr, body: &mut Vec<Node>) {
        match &expr.kind {
            ExprKind::Assign(op, place, value) => {
                self.assignment(*op, place, value, expr.span, body);
            }
            ExprKind::Step(step, place) => {
                let op = if step.up {
                    BinaryOp::Add
                } else {
                    BinaryOp::Sub
                };
                let one = Typed::constant(Value::integer(Type::I32, 1));
                if let Some(place_and_type) = self.place(place) {
                    self.update(
                        Some(op),
                        place_and_type,
                        one,
                        [place.span; 2],
                        expr.span,
                        body,
                    );
                }
            }
            ExprKind::Comma(first, second) => {
                self.effect(first, body);
                self.effect(second, body);
            }
            ExprKind::Invalid => {}
            _ => {
                if self.expression(expr).is_some() {
                    self.diagnostics.report(Problem::NoEffect, expr.span);
                }
            }
        }
    }

    fn assignment(
        &mut self,
        op: Option<BinaryOp>,
        place: &Expr,
        value: &Expr,
        span: Span,
        body: &mut Vec<Node>,
    ) {
        let spans = [place.span, value.span];
        let place = self.place(place);
        let value = self.expression(value);
        if let (Some(place), Some(value)) = (place, value) {
            self.update(op, place, value, spans, span, body);
        }
    }

    /// `place = place op value`, or `place = value`, converted to the type of the place.
    fn update(
        &mut self,
        op: Option<BinaryOp>,
        (place, ty): (Place, Type),
        value: Typed,
        spans: [Span; 2],
        span: Span,
        body: &mut Vec<Node>,
    ) {
        let value = match op {
            None => Some(value),
            Some(op) => {
                let held = match &place {
                    Place::Element(access) => Computation::Load(access.clone()),
                    Place::Local(local) => Computation::Local(*local),
                };
                self.arithmetic(op, Typed::any(held, ty), value, spans, span)
            }
        };
        if let Some(value) = value {
            let value = value.convert(ty).expr;
            body.push(recognize::assignment(&self.kernel, place, value, span));
        }
    }

    /// Stores `value`, of the local's type.
    pub(super) fn set(&self, local: LocalId, value: Computation, span: Span) -> Node {
        Node::Assign {
            place: Place::Local(local),
            value,
            span,
        }
    }

    fn branch(
        &mut self,
        condition: &Expr,
        then: &Statement,
        otherwise: Option<&Statement>,
        body: &mut Vec<Node>,
    ) {
        let condition = self.expression(condition).map(Typed::condition);
        let then = self.block(then);
        let otherwise = otherwise.map(|it| self.block(it)).unwrap_or_default();
        let Some(value::Typed { expr, known, .. }) = condition else {
            return;
        };
        if otherwise.is_empty()
            && let Some(reduction) = recognize::guarded(&self.kernel, &expr, &then)
        {
            return body.push(reduction);
        }
        body.push(match known.conditions {
            Some(conditions) => Node::AffineIf {
                conditions,
                then,
                otherwise,
            },
            None => Node::ScfIf {
                condition: expr,
                then,
                otherwise,
            },
        });
    }
}
