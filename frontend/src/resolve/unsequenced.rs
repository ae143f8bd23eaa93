//! Variables that one expression changes and uses where C does not say which comes first:
//! `a[i] = i++`.

use crate::ast::{BinaryOp as Operator, DeclarationId, Expr, ExprKind, Name, UnaryOp};
use strew_affine::Span;

/// What evaluating an expression does with variables.
#[derive(Default)]
struct Uses<'e> {
    reads: Vec<DeclarationId>,
    /// What is written before the value is there.
    done: Vec<(DeclarationId, &'e Name)>,
    /// What may be written only behind that.
    pending: Vec<(DeclarationId, &'e Name)>,
}

/// The variables, each with the smallest expression that does not order what it does with them.
pub(super) fn conflicts(expr: &Expr) -> Vec<(&str, Span)> {
    let mut conflicts = Vec::new();
    uses(expr, &mut conflicts);
    conflicts
}

impl<'e> Uses<'e> {
    fn read(name: &Name) -> Self {
        Self {
            reads: name.declaration.into_iter().collect(),
            ..Self::default()
        }
    }

    fn written(name: &'e Name) -> Self {
        Self {
            pending: name.declaration.map(|id| (id, name)).into_iter().collect(),
            ..Self::default()
        }
    }

    fn writes(&self) -> impl Iterator<Item = &(DeclarationId, &'e Name)> {
        self.done.iter().chain(&self.pending)
    }

    /// This, and then the other.
    fn before(mut self, other: Self) -> Self {
        self.done.append(&mut self.pending);
        self.beside(other)
    }

    /// This and the other in no order.
    fn beside(mut self, other: Self) -> Self {
        self.reads.extend(other.reads);
        self.done.extend(other.done);
        self.pending.extend(other.pending);
        self
    }

    fn conflict(&self, other: &Self) -> Option<&'e Name> {
        let uses = |id| other.reads.contains(&id) || other.writes().any(|it| it.0 == id);
        let mine = self.writes().find(|it| uses(it.0));
        let theirs = || other.writes().find(|it| self.reads.contains(&it.0));
        mine.or_else(theirs).map(|it| it.1)
    }
}

type Conflicts<'e> = Vec<(&'e str, Span)>;

fn uses<'e>(expr: &'e Expr, conflicts: &mut Conflicts<'e>) -> Uses<'e> {
    match &expr.kind {
        ExprKind::Name(name) => Uses::read(name),
        ExprKind::SizeOf(_) => Uses::default(),
        ExprKind::Unary(UnaryOp::AddressOf, operand) if operand.as_name().is_some() => {
            Uses::default()
        }
        ExprKind::Step(_, place) => match place.as_name() {
            Some(name) => Uses::written(name),
            None => uses(place, conflicts),
        },
        ExprKind::Assign(_, place, value) => assignment(expr, place, value, conflicts),
        ExprKind::Comma(..)
        | ExprKind::Binary(Operator::And | Operator::Or, ..)
        | ExprKind::Conditional(..)
        | ExprKind::Braced(_) => {
            let operands = expr.kind.operands().into_iter();
            operands.fold(Uses::default(), |all, it| all.before(uses(it, conflicts)))
        }
        other => {
            let operands = other.operands().into_iter();
            operands.fold(Uses::default(), |all, operand| {
                let these = uses(operand, conflicts);
                report(expr, all.conflict(&these), conflicts);
                all.beside(these)
            })
        }
    }
}

/// A variable that is assigned is set when its new value is there, and what that reads of it is the
/// old one.
fn assignment<'e>(
    expr: &Expr,
    place: &'e Expr,
    value: &'e Expr,
    conflicts: &mut Conflicts<'e>,
) -> Uses<'e> {
    let Some(name) = place.as_name() else {
        let (place, value) = (uses(place, conflicts), uses(value, conflicts));
        report(expr, place.conflict(&value), conflicts);
        return place.beside(value);
    };
    let value = uses(value, conflicts);
    let again = value
        .pending
        .iter()
        .any(|it| Some(it.0) == name.declaration);
    report(expr, again.then_some(name), conflicts);
    value.beside(Uses::written(name))
}

fn report<'e>(expr: &Expr, name: Option<&'e Name>, conflicts: &mut Conflicts<'e>) {
    conflicts.extend(name.map(|it| (it.text.as_str(), expr.span)));
}
