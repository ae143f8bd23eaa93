//! Which variables and arrays expressions and statements name.

use crate::ast::{Declaration, Expr, ExprKind, Name, Start, Statement, StatementKind};

impl Expr {
    /// The name, when the expression is just one.
    pub(crate) fn as_name(&self) -> Option<&Name> {
        match &self.kind {
            ExprKind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Calls `visit` for every variable and array that is named.
    pub(crate) fn for_each_name(&self, visit: &mut impl FnMut(&Name)) {
        self.for_each(&mut |expr| expr.as_name().into_iter().for_each(&mut *visit));
    }

    /// Calls `visit` for this expression and all that are in it.
    pub(crate) fn for_each(&self, visit: &mut impl FnMut(&Self)) {
        visit(self);
        for operand in self.kind.operands() {
            operand.for_each(visit);
        }
    }
}

impl Declaration {
    fn for_each_expr(&self, visit: &mut impl FnMut(&Expr)) {
        for declarator in &self.declarators {
            let lengths = declarator
                .lengths
                .iter()
                .filter_map(|it| it.length.as_ref());
            for expr in lengths.chain(&declarator.initial) {
                expr.for_each(visit);
            }
        }
    }
}

impl Statement {
    /// Calls `visit` for every variable and array that is named in it.
    pub(crate) fn for_each_name(&self, visit: &mut impl FnMut(&Name)) {
        self.for_each_expr(&mut |expr| expr.as_name().into_iter().for_each(&mut *visit));
    }

    /// Calls `visit` for every expression in it, and all that are in these.
    pub(crate) fn for_each_expr(&self, visit: &mut impl FnMut(&Expr)) {
        match &self.kind {
            StatementKind::Declaration(declaration) => declaration.for_each_expr(visit),
            StatementKind::Expression(expr) | StatementKind::Return(Some(expr)) => {
                expr.for_each(visit);
            }
            StatementKind::If { condition, .. }
            | StatementKind::While { condition, .. }
            | StatementKind::DoWhile { condition, .. } => condition.for_each(visit),
            StatementKind::Switch { value, .. } => value.for_each(visit),
            StatementKind::For(it) => {
                match &it.start {
                    Start::Nothing => {}
                    Start::Declaration(declaration) => declaration.for_each_expr(visit),
                    Start::Expression(expr) => expr.for_each(visit),
                }
                for expr in it.condition.iter().chain(&it.step) {
                    expr.for_each(visit);
                }
            }
            StatementKind::Empty
            | StatementKind::Block(_)
            | StatementKind::Assertion(_)
            | StatementKind::Goto(_)
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Return(None)
            | StatementKind::Invalid => {}
        }
        for child in self.kind.children() {
            child.for_each_expr(visit);
        }
    }
}
