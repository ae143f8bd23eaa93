//! `sizeof`: a constant where the size is known, and otherwise a product of lengths.

use super::Resolver;
use super::shape::{self, Shape};
use crate::ast::{BinaryOp as Operator, Expr, ExprKind, Specifier, TypeName};
use crate::initializer;
use crate::problem::DeclarationProblem;
use crate::structure::MemberElement;
use crate::token::TypeWord;
use crate::types::Position;
use strew_affine::{BinaryOp, Span, Type, Value};

impl Resolver<'_> {
    /// `sizeof (type)`
    pub(super) fn size_of_type(&mut self, expr: &mut Expr) {
        let ExprKind::SizeOfType(name) = &mut expr.kind else {
            return;
        };
        self.type_name(name);
        let element = if name.pointers.is_empty() {
            Shape::of_type(&name.element(), Position::Member).size()
        } else {
            Shape::Pointer(Box::new(Shape::Unknown)).size()
        };
        let lengths = name.lengths.iter().map(|it| it.length.clone());
        let lengths: Option<Vec<Expr>> = lengths.collect();
        let (Some(element), Some(lengths)) = (element, lengths) else {
            return self.unknown_size(expr);
        };
        let mut size = constant(element, expr.span);
        for length in lengths {
            size = product(size, length);
        }
        if let Some(value) = crate::constant::evaluate(&size) {
            size.kind = ExprKind::Constant(value);
        }
        expr.kind = size.kind;
        expr.depth = size.depth;
    }

    /// `sizeof operand`; the size of an array of variable length is found where it is known what
    /// the array is.
    pub(super) fn size_of(&mut self, expr: &mut Expr) {
        let ExprKind::SizeOf(operand) = &mut expr.kind else {
            return;
        };
        self.unevaluated(operand);
        let shape = self.shape(operand);
        match shape.size() {
            Some(size) => expr.kind = constant(size, expr.span).kind,
            // C evaluates such an operand, which then must not do anything here.
            None if matches!(shape, Shape::Array(..)) && !operand.has_effects() => {}
            None => self.unknown_size(expr),
        }
    }

    fn unknown_size(&mut self, expr: &mut Expr) {
        self.diagnostics
            .report(DeclarationProblem::SizeUnknown, expr.span);
        expr.kind = ExprKind::Invalid;
    }

    /// Nothing in the operand of `sizeof` happens: what is read or written there is not.
    fn unevaluated(&mut self, operand: &mut Expr) {
        let outside = std::mem::replace(&mut self.is_evaluated, false);
        self.expression(operand);
        self.is_evaluated = outside;
    }

    /// The shape of something with this initial value, which gives an array its first length where
    /// that is left out.
    pub(super) fn completed(&self, shape: Shape, initial: &Expr) -> Shape {
        let Shape::Array(row, None) = shape else {
            return shape;
        };
        let mut lengths = vec![None];
        let mut inner = &*row;
        while let Shape::Array(element, length) = inner {
            lengths.push(length.and_then(|it| i64::try_from(it).ok()));
            inner = element;
        }
        let element = match inner {
            Shape::Scalar(ty) => Some(MemberElement::Scalar(*ty)),
            Shape::Structure(it) => Some(MemberElement::Structure(it.clone())),
            _ => None,
        };
        let structure_of = |it: &Expr| match self.shape(it) {
            Shape::Structure(it) => Some(it),
            _ => None,
        };
        if let Some(element) = element
            && !lengths.iter().skip(1).any(Option::is_none)
        {
            // What is wrong with the values is said where they are stored.
            let _ = initializer::numbers(initial, &mut lengths, &element, &structure_of);
        }
        let first = lengths.first().copied().flatten();
        Shape::Array(row, first.and_then(|it| u64::try_from(it).ok()))
    }

    /// What `(type[]){ elements }` is.
    pub(super) fn literal_shape(&self, name: &TypeName, initial: &Expr) -> Shape {
        let element = Shape::of_type(&name.element(), Position::Member);
        self.completed(shape::with_lengths(element, &name.lengths), initial)
    }
}

fn constant(size: u64, span: Span) -> Expr {
    Expr {
        kind: ExprKind::Constant(Value::integer(Type::U64, size.into())),
        span,
        depth: 1,
    }
}

/// `size * (size_t)length`
fn product(size: Expr, length: Expr) -> Expr {
    let (span, depth) = (size.span, size.depth.max(length.depth + 1) + 1);
    let ty = TypeName {
        words: vec![Specifier::Type(TypeWord::Size)],
        pointers: Vec::new(),
        lengths: Vec::new(),
        span,
    };
    let length = Expr {
        depth: length.depth + 1,
        kind: ExprKind::Cast(ty, Box::new(length)),
        span,
    };
    let op = Operator::Arithmetic(BinaryOp::Mul);
    let kind = ExprKind::Binary(op, Box::new(size), Box::new(length));
    Expr { kind, span, depth }
}
