//! Statements that mean something else than they look like.

use super::Resolver;
use crate::ast::{Expr, Statement, StatementKind};
use crate::problem::ControlFlowProblem;

impl Resolver<'_> {
    /// `if (condition);`, where nothing between the parenthesis and the semicolon shows that it is
    /// meant.
    pub(super) fn empty_branch(&mut self, condition: &Expr, then: &Statement, has_else: bool) {
        let is_close = then.span.range().start == condition.span.range().end + 1;
        if is_empty(then) && !has_else && is_close {
            self.diagnostics
                .report(ControlFlowProblem::EmptyBody("if"), then.span);
        }
    }

    /// `for (…; …; …); { … }`
    pub(super) fn loops_without_body(&mut self, statements: &[Statement]) {
        for pair in statements.windows(2) {
            let [first, second] = pair else { continue };
            let (word, body) = match &first.kind {
                StatementKind::For(it) => ("for", &it.body),
                StatementKind::While { body, .. } => ("while", &**body),
                _ => continue,
            };
            if is_empty(body) && matches!(second.kind, StatementKind::Block(_)) {
                self.diagnostics
                    .report(ControlFlowProblem::EmptyBody(word), body.span);
            }
        }
    }
}

fn is_empty(statement: &Statement) -> bool {
    matches!(statement.kind, StatementKind::Empty)
}
