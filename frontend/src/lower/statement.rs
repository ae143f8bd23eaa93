//! Statements.

use super::value::Typed;
use super::{Binding, Lowering};
use crate::ast::{Declaration, Declarator, Expr, Statement, StatementKind};
use crate::initializer;
use crate::problem::{
    ControlFlowProblem, DeclarationProblem, InitializerProblem, Problem, Unsupported,
};
use crate::recognize;
use crate::types::{self, Named, Position};
use strew_affine::{CompareOp, Expr as Computation, Label, Node, Span, Type, UnaryOp, Value};

impl Lowering<'_> {
    pub(super) fn statement(&mut self, statement: &Statement, body: &mut Vec<Node>) {
        let span = statement.span;
        self.check_prefixes(statement);
        self.label(statement);
        match &statement.kind {
            StatementKind::Empty | StatementKind::Assertion(_) | StatementKind::Invalid => {}
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
            StatementKind::Switch { value, body: cases } => self.switch(value, cases, span, body),
            StatementKind::Goto(_) => {
                let problem = Problem::Unsupported(Unsupported::Goto);
                self.diagnostics.report(problem, span);
            }
            StatementKind::Break => self.jump(true, span, body),
            StatementKind::Continue => self.jump(false, span, body),
            StatementKind::Return(value) => self.return_from(value.as_ref(), span, body),
        }
    }

    /// Keeps the labels of what is no loop.
    fn label(&mut self, statement: &Statement) {
        let is_loop = matches!(
            statement.kind,
            StatementKind::For(_) | StatementKind::While { .. } | StatementKind::DoWhile { .. }
        );
        let labels = statement.labels.iter().filter(|_| !is_loop);
        self.kernel.labels.extend(labels.map(|it| Label {
            name: it.text.clone(),
            span: statement.span,
        }));
    }

    /// Whether what stands in front of the statement means something there.
    pub(super) fn check_prefixes(&mut self, statement: &Statement) {
        if matches!(
            statement.kind,
            StatementKind::For(_) | StatementKind::Invalid
        ) {
            return;
        }
        for pragma in &statement.pragmas {
            self.diagnostics
                .report(ControlFlowProblem::PragmaWithoutLoop, pragma.span);
        }
    }

    pub(super) fn declaration(&mut self, declaration: &Declaration, body: &mut Vec<Node>) {
        if declaration.declares_nothing() {
            return;
        }
        match types::named(&declaration.ty, Position::Variable) {
            Ok(named) => {
                for declarator in &declaration.declarators {
                    self.declared(declarator, &named, declaration.ty.span, body);
                }
            }
            Err(problem) => self.diagnostics.report(problem, declaration.ty.span),
        }
    }

    fn declared(
        &mut self,
        declarator: &Declarator,
        named: &Named,
        span: Span,
        body: &mut Vec<Node>,
    ) {
        if !declarator.pointers.is_empty() {
            return self.local_pointer(declarator, named, body);
        }
        match named {
            Named {
                structure: Some(structure),
                is_const,
                ..
            } => self.local_structure(declarator, structure, *is_const, body),
            Named {
                ty: Some(ty),
                is_const,
                ..
            } => self.local(declarator, *ty, *is_const, body),
            _ => self.diagnostics.report(DeclarationProblem::VoidValue, span),
        }
    }

    fn local(&mut self, declarator: &Declarator, ty: Type, is_const: bool, body: &mut Vec<Node>) {
        if !declarator.lengths.is_empty() {
            self.local_array(declarator, ty, is_const, body);
            return;
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

    /// While the initial value is computed the local has none: reading it, of which the user was
    /// warned, gives 0.
    fn initial(
        &mut self,
        declarator: &Declarator,
        initial: &Expr,
        ty: Type,
        body: &mut Vec<Node>,
    ) -> Option<Typed> {
        self.bind(&declarator.name, Binding::Unset(ty));
        let initial = match initializer::scalar(initial) {
            Some(initial) => initial,
            None => {
                let problem = InitializerProblem::MisplacedBraces;
                self.diagnostics.report(problem, initial.span);
                return None;
            }
        };
        Some(self.expression(initial, body)?.convert(ty))
    }

    fn branch(
        &mut self,
        tree: &Expr,
        then: &Statement,
        otherwise: Option<&Statement>,
        body: &mut Vec<Node>,
    ) {
        let condition = self.condition(tree, body);
        if let Some(Computation::Constant(known)) = condition.as_ref().map(|it| &it.expr)
            && self.is_null_check(tree)
        {
            // What is done about memory that is not there need not be in the language.
            let side = match *known == Value::bool(true) {
                true => Some(then),
                false => otherwise,
            };
            return body.extend(side.map(|it| self.block(it)).unwrap_or_default());
        }
        let then = self.block(then);
        let otherwise = otherwise.map(|it| self.block(it)).unwrap_or_default();
        let span = tree.span;
        body.extend(condition.map(|it| self.when((it, span), then, otherwise)));
    }

    /// `if (condition) then else otherwise`, a reduction if it is one, for a condition at `span`.
    pub(super) fn when(
        &self,
        (condition, span): (Typed, Span),
        then: Vec<Node>,
        otherwise: Vec<Node>,
    ) -> Node {
        // What is not the conjunction of anything would not be affine.
        let is_inverse = then.is_empty() && !otherwise.is_empty();
        let (condition, then, otherwise) =
            if is_inverse && !matches!(condition.expr, Computation::And(..)) {
                (self.inverted(condition.expr), otherwise, then)
            } else {
                (condition.expr, then, otherwise)
            };
        let (then, otherwise) = (then.into(), otherwise.into());
        recognize::branch(&self.kernel, (condition, span), then, otherwise)
    }

    /// `!condition`. A comparison is turned round, which on floats only `==` and `!=` can be: a NaN
    /// is not less than anything, and not greater or equal either.
    pub(super) fn inverted(&self, condition: Computation) -> Computation {
        match condition {
            Computation::Compare(op, left, right)
                if !left.ty(&self.kernel).is_float()
                    || matches!(op, CompareOp::Eq | CompareOp::Ne) =>
            {
                Computation::Compare(op.opposite(), left, right)
            }
            Computation::Unary(UnaryOp::Not, operand) => *operand,
            Computation::Or(left, right) => {
                let (left, right) = (self.inverted(*left), self.inverted(*right));
                Computation::And(Box::new(left), Box::new(right))
            }
            other => Computation::unary(UnaryOp::Not, other),
        }
    }
}
