use super::{Resolver, Symbol};
use crate::text::error::ParseErrorKind;
use crate::text::tree::{Infix, Literal, LiteralKind, Tree, TreeKind};
use crate::{AffineExpr, BinaryOp, CompareOp, Condition, Overflow, Relation, Span, UnaryOp};

impl<'a> Resolver<'a, '_> {
    /// Whether the expression has the form of an affine one, whatever its numbers.
    pub(super) fn has_affine_form(&self, tree: &Tree<'a>) -> bool {
        match &tree.kind {
            TreeKind::Literal(literal) => literal.kind == LiteralKind::Integer,
            TreeKind::Name(name) => match self.scope.lookup(name) {
                Ok(Symbol::Iter(_)) => true,
                Ok(Symbol::Scalar(scalar)) => self.kernel.scalars[scalar].ty.is_integer(),
                Ok(Symbol::Array(_) | Symbol::Record | Symbol::View(_) | Symbol::Local(_))
                | Err(_) => false,
            },
            TreeKind::Unary(UnaryOp::Neg, operand) | TreeKind::Group(operand) => {
                self.has_affine_form(operand)
            }
            TreeKind::Infix(op, left, right) => {
                is_affine_operator(*op) && self.has_affine_form(left) && self.has_affine_form(right)
            }
            TreeKind::Bool(_)
            | TreeKind::Index(..)
            | TreeKind::Unary(..)
            | TreeKind::Select(..)
            | TreeKind::Cast(..)
            | TreeKind::Call(..)
            | TreeKind::Error => false,
        }
    }

    /// The affine expression; 0 where it is none, which is then reported.
    pub(super) fn affine(&mut self, tree: &Tree<'a>) -> AffineExpr {
        self.try_affine(tree).unwrap_or_default()
    }

    fn try_affine(&mut self, tree: &Tree<'a>) -> Option<AffineExpr> {
        match &tree.kind {
            TreeKind::Literal(literal) if literal.kind == LiteralKind::Integer => {
                let value = integer(*literal);
                self.in_range(value.ok_or(Overflow), tree.span)
            }
            TreeKind::Name(name) => self.affine_name(name, tree.span),
            TreeKind::Group(inner) => self.try_affine(inner),
            TreeKind::Unary(UnaryOp::Neg, operand) => {
                let operand = self.try_affine(operand)?;
                self.in_range(operand.scaled(-1), tree.span)
            }
            TreeKind::Infix(op, left, right) if is_affine_operator(*op) => {
                let (left, right) = (self.try_affine(left), self.try_affine(right));
                self.affine_operation(*op, &left?, &right?, tree.span)
            }
            TreeKind::Error => None,
            _ => {
                self.report(tree.span, ParseErrorKind::NotAffine);
                None
            }
        }
    }

    pub(super) fn in_range(
        &mut self,
        result: Result<AffineExpr, Overflow>,
        span: Span,
    ) -> Option<AffineExpr> {
        if result.is_err() {
            self.report(span, ParseErrorKind::AffineTooLarge);
        }
        result.ok()
    }

    fn affine_name(&mut self, name: &str, span: Span) -> Option<AffineExpr> {
        match self.lookup(name, span)? {
            Symbol::Iter(iter) => Some(iter.into()),
            Symbol::Scalar(scalar) if self.kernel.scalars[scalar].ty.is_integer() => {
                Some(scalar.into())
            }
            Symbol::Scalar(_)
            | Symbol::Array(_)
            | Symbol::Record
            | Symbol::View(_)
            | Symbol::Local(_) => {
                self.wrong_kind(name, span, "an iterator or an integer parameter")
            }
        }
    }

    fn affine_operation(
        &mut self,
        op: Infix,
        left: &AffineExpr,
        right: &AffineExpr,
        span: Span,
    ) -> Option<AffineExpr> {
        if matches!(op, Infix::FloorDiv | Infix::CeilDiv | Infix::Mod) && !is_divisor(right) {
            self.report(span, ParseErrorKind::Divisor);
            return None;
        }
        let result = match op {
            Infix::Binary(BinaryOp::Add) => left.plus(right),
            Infix::Binary(BinaryOp::Sub) => left.minus(right),
            Infix::FloorDiv => left.floordiv(right),
            Infix::CeilDiv => left.ceildiv(right),
            Infix::Mod => left.modulo(right),
            _ => left.times_written(right),
        };
        self.in_range(result, span)
    }

    pub(super) fn condition(&mut self, tree: &Tree<'a>) -> Option<Condition> {
        let TreeKind::Infix(Infix::Compare(op), left, right) = &tree.ungrouped().kind else {
            self.report(tree.span, ParseErrorKind::NotACondition);
            return None;
        };
        let (relation, is_swapped) = match op {
            CompareOp::Le => (Relation::LessOrEqual, false),
            CompareOp::Lt => (Relation::Less, false),
            CompareOp::Eq => (Relation::Equal, false),
            CompareOp::Ge => (Relation::LessOrEqual, true),
            CompareOp::Gt => (Relation::Less, true),
            CompareOp::Ne => {
                self.report(tree.span, ParseErrorKind::NotACondition);
                return None;
            }
        };
        let (mut left, mut right) = (self.affine(left), self.affine(right));
        if is_swapped {
            std::mem::swap(&mut left, &mut right);
        }
        Some(Condition {
            left,
            relation,
            right,
        })
    }
}

fn is_affine_operator(op: Infix) -> bool {
    match op {
        Infix::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul)
        | Infix::FloorDiv
        | Infix::CeilDiv
        | Infix::Mod => true,
        Infix::Binary(_) | Infix::Compare(_) | Infix::And | Infix::Or => false,
    }
}

fn integer(literal: Literal<'_>) -> Option<AffineExpr> {
    let magnitude: i128 = literal.digits.parse().ok()?;
    let value = if literal.is_negative {
        -magnitude
    } else {
        magnitude
    };
    i64::try_from(value).ok().map(AffineExpr::from)
}

/// A positive number, or parameters alone: whether those are positive is seen when the kernel runs.
fn is_divisor(expr: &AffineExpr) -> bool {
    expr.is_over_parameters() && expr.as_constant().is_none_or(|value| value > 0)
}
