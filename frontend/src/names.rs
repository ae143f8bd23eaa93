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
        if let ExprKind::Name(name) = &self.kind {
            visit(name);
        }
        for operand in self.kind.operands() {
            operand.for_each_name(visit);
        }
    }
}

impl Declaration {
    fn for_each_name(&self, visit: &mut impl FnMut(&Name)) {
        for declarator in &self.declarators {
            let lengths = declarator
                .lengths
                .iter()
                .filter_map(|it| it.length.as_ref());
            for expr in lengths.chain(&declarator.initial) {
                expr.for_each_name(visit);
            }
        }
    }
}

impl Statement {
    /// Calls `visit` for every variable and array that is named in it.
    pub(crate) fn for_each_name(&self, visit: &mut impl FnMut(&Name)) {
        match &self.kind {
            StatementKind::Declaration(declaration) => declaration.for_each_name(visit),
            StatementKind::Expression(expr) | StatementKind::Return(Some(expr)) => {
                expr.for_each_name(visit);
            }
            StatementKind::If { condition, .. }
            | StatementKind::While { condition, .. }
            | StatementKind::DoWhile { condition, .. } => condition.for_each_name(visit),
            StatementKind::Switch { value, .. } => value.for_each_name(visit),
            StatementKind::For(it) => {
                match &it.start {
                    Start::Nothing => {}
                    Start::Declaration(declaration) => declaration.for_each_name(visit),
                    Start::Expression(expr) => expr.for_each_name(visit),
                }
                for expr in it.condition.iter().chain(&it.step) {
                    expr.for_each_name(visit);
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
            child.for_each_name(visit);
        }
    }
}
