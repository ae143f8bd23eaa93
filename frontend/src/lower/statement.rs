//! Statements.

use super::expression;
use super::value::Typed;
use super::{Binding, Lowering};
use crate::ast::{Declaration, Declarator, Expr, Statement, StatementKind};
use crate::problem::{Problem, Unsupported};
use crate::recognize;
use crate::types::{self, Named, Position};
use strew_affine::{Node, Span, Type, Value};

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
                self.while_loop(Some(condition), turn, None, span, body);
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
            Some(initial) => self.initial(declarator, initial, ty, body),
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
    fn initial(
        &mut self,
        declarator: &Declarator,
        initial: &Expr,
        ty: Type,
        body: &mut Vec<Node>,
    ) -> Option<Typed> {
        self.bind(&declarator.name, Binding::Unset(ty));
        Some(self.expression(initial, body)?.convert(ty))
    }

    fn branch(
        &mut self,
        condition: &Expr,
        then: &Statement,
        otherwise: Option<&Statement>,
        body: &mut Vec<Node>,
    ) {
        let condition = self.expression(condition, body).map(Typed::condition);
        let then = self.block(then);
        let otherwise = otherwise.map(|it| self.block(it)).unwrap_or_default();
        let Some(condition) = condition else {
            return;
        };
        if otherwise.is_empty()
            && let Some(reduction) = recognize::guarded(&self.kernel, &condition.expr, &then)
        {
            return body.push(reduction);
        }
        body.push(expression::branch(condition, then, otherwise));
    }
}
