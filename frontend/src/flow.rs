//! How statements can end.

use crate::ast::{Expr, ExprKind, Statement, StatementKind};

/// Where control can go from a statement, as far as its form says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    /// To what follows it.
    pub(crate) completes: bool,
    /// Behind the loop or `switch` around it.
    pub(crate) breaks: bool,
    /// To the next turn of the loop around it.
    pub(crate) continues: bool,
    /// Out of the function.
    pub(crate) returns: bool,
}

impl Flow {
    /// To what follows it, and nowhere else.
    pub(crate) const ON: Self = Self {
        completes: true,
        breaks: false,
        continues: false,
        returns: false,
    };

    const NOWHERE: Self = Self {
        completes: false,
        ..Self::ON
    };

    /// The flow of a statement whose parts have theirs already.
    pub(crate) fn of(kind: &StatementKind) -> Self {
        match kind {
            StatementKind::Block(statements) => Self::of_list(statements),
            StatementKind::If {
                then, otherwise, ..
            } => {
                let otherwise = otherwise.as_ref().map_or(Self::ON, |it| it.flow);
                then.flow.or(otherwise)
            }
            StatementKind::For(it) => it.body.flow.of_loop(it.condition.as_ref()),
            StatementKind::While { condition, body } => body.flow.of_loop(Some(condition)),
            StatementKind::DoWhile { body, condition } => {
                let ends = body.flow.completes || body.flow.continues;
                let flow = body.flow.of_loop(Some(condition));
                Self {
                    completes: body.flow.breaks || (ends && flow.completes),
                    ..flow
                }
            }
            StatementKind::Switch { body, .. } => Self::of_switch(body),
            StatementKind::Break => Self {
                breaks: true,
                ..Self::NOWHERE
            },
            StatementKind::Continue => Self {
                continues: true,
                ..Self::NOWHERE
            },
            StatementKind::Return(_) => Self {
                returns: true,
                ..Self::NOWHERE
            },
            StatementKind::Empty
            | StatementKind::Declaration(_)
            | StatementKind::Assertion(_)
            | StatementKind::Expression(_)
            | StatementKind::Goto(_)
            | StatementKind::Invalid => Self::ON,
        }
    }

    /// One after the other.
    pub(crate) fn of_list(statements: &[Statement]) -> Self {
        let all = statements
            .iter()
            .fold(Self::ON, |it, next| it.or(next.flow));
        Self {
            completes: statements.iter().all(|it| it.flow.completes),
            ..all
        }
    }

    /// One or the other.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            completes: self.completes || other.completes,
            breaks: self.breaks || other.breaks,
            continues: self.continues || other.continues,
            returns: self.returns || other.returns,
        }
    }

    /// The loop whose body has this flow.
    fn of_loop(self, condition: Option<&Expr>) -> Self {
        Self {
            completes: self.breaks || !is_endless(condition),
            returns: self.returns,
            ..Self::ON
        }
    }

    fn of_switch(body: &Statement) -> Self {
        let one = std::slice::from_ref(body);
        let statements = match &body.kind {
            StatementKind::Block(statements) => statements.as_slice(),
            _ => one,
        };
        let mut cases = statements.iter().flat_map(|it| &it.cases);
        let has_default = cases.any(|it| it.value.is_none());
        let ends = statements.last().is_none_or(|it| it.flow.completes);
        Self {
            completes: body.flow.breaks || !has_default || ends,
            breaks: false,
            ..body.flow
        }
    }

    /// Whether control can go anywhere but to what follows.
    pub(crate) fn jumps(self) -> bool {
        self.breaks || self.continues || self.returns
    }

    /// Whether it can leave the loop that it is the body of.
    pub(crate) fn leaves(self) -> bool {
        self.breaks || self.returns
    }
}

/// Whether a loop with this condition, or without one, only ends where it is left.
pub(crate) fn is_endless(condition: Option<&Expr>) -> bool {
    match condition.map(|it| &it.kind) {
        None => true,
        Some(ExprKind::Constant(value)) => value.as_integer().is_some_and(|it| it != 0),
        Some(_) => false,
    }
}
