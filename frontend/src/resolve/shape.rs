//! What kind of thing an expression designates, as far as `sizeof` needs it.

use super::Resolver;
use crate::ast::{BinaryOp as Operator, Declarator, Expr, ExprKind, Length, TypeName, UnaryOp};
use crate::constant;
use crate::structure::{MemberElement, Structure, StructureMember};
use crate::types::{self, Named, Position, common, promoted};
use std::rc::Rc;
use strew_affine::{BinaryOp, Type};

/// What kind of thing something is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Scalar(Type),
    Structure(Rc<Structure>),
    /// `None` for a length that is not constant.
    Array(Box<Shape>, Option<u64>),
    Pointer(Box<Shape>),
    Unknown,
}

impl Shape {
    pub(super) fn of_type(name: &TypeName, position: Position) -> Self {
        match types::named(name, position) {
            Ok(Named {
                structure: Some(it),
                ..
            }) => Self::Structure(it),
            Ok(Named { ty: Some(ty), .. }) => Self::Scalar(ty),
            _ => Self::Unknown,
        }
    }

    pub(super) fn declared(base: Self, declarator: &Declarator, is_parameter: bool) -> Self {
        let pointers = declarator.pointers.iter();
        let element = pointers.fold(base, |it, _| Self::Pointer(Box::new(it)));
        match with_lengths(element, &declarator.lengths) {
            Self::Array(element, _) if is_parameter => Self::Pointer(element),
            other => other,
        }
    }

    /// In bytes, where that is constant.
    pub(super) fn size(&self) -> Option<u64> {
        match self {
            Self::Scalar(ty) => Some(u64::from(ty.bytes())),
            Self::Structure(it) => Some(u64::from(it.bytes())),
            Self::Array(element, length) => element.size()?.checked_mul((*length)?),
            Self::Pointer(_) => Some(8),
            Self::Unknown => None,
        }
    }

    fn of_member(member: &StructureMember) -> Self {
        let element = match &member.element {
            MemberElement::Scalar(ty) => Self::Scalar(*ty),
            MemberElement::Structure(it) => Self::Structure(Rc::clone(it)),
        };
        let lengths = member.lengths.iter();
        let lengths: Vec<_> = lengths.map(|it| Some(u64::from(*it))).collect();
        array(element, &lengths)
    }

    fn element(self) -> Self {
        match self {
            Self::Array(element, _) | Self::Pointer(element) => *element,
            _ => Self::Unknown,
        }
    }

    fn scalar(&self) -> Option<Type> {
        match self {
            Self::Scalar(ty) => Some(*ty),
            _ => None,
        }
    }
}

pub(super) fn array(element: Shape, lengths: &[Option<u64>]) -> Shape {
    let lengths = lengths.iter().rev();
    lengths.fold(element, |it, length| Shape::Array(Box::new(it), *length))
}

pub(super) fn with_lengths(element: Shape, lengths: &[Length]) -> Shape {
    let lengths = lengths.iter();
    let lengths: Vec<_> = lengths
        .map(|it| it.length.as_ref().and_then(constant_length))
        .collect();
    array(element, &lengths)
}

fn constant_length(expr: &Expr) -> Option<u64> {
    u64::try_from(constant::evaluate(expr)?.as_integer()?).ok()
}

impl Resolver<'_> {
    pub(super) fn shape(&self, expr: &Expr) -> Shape {
        match &expr.kind {
            ExprKind::Constant(value) => Shape::Scalar(value.ty()),
            ExprKind::Name(name) => {
                let id = name.declaration;
                let shape = id.and_then(|id| self.shapes.get(id.0));
                shape.cloned().unwrap_or(Shape::Unknown)
            }
            ExprKind::Index(base, _) | ExprKind::Unary(UnaryOp::Dereference, base) => {
                self.shape(base).element()
            }
            ExprKind::Unary(UnaryOp::AddressOf, operand) => {
                Shape::Pointer(Box::new(self.shape(operand)))
            }
            ExprKind::Unary(UnaryOp::Not, _)
            | ExprKind::Binary(Operator::Compare(_) | Operator::And | Operator::Or, ..) => {
                Shape::Scalar(Type::I32)
            }
            ExprKind::Unary(_, operand) => match self.shape(operand) {
                Shape::Scalar(ty) => Shape::Scalar(promoted(ty)),
                _ => Shape::Unknown,
            },
            ExprKind::Binary(Operator::Arithmetic(op), left, right) => {
                sum(*op, self.shape(left), self.shape(right))
            }
            ExprKind::Conditional(_, then, otherwise) => {
                let (then, otherwise) = (self.shape(then), self.shape(otherwise));
                match (then.scalar(), otherwise.scalar()) {
                    (Some(left), Some(right)) => Shape::Scalar(common(left, right)),
                    _ => then,
                }
            }
            ExprKind::Cast(name, operand) if !name.pointers.is_empty() => self.shape(operand),
            ExprKind::Cast(name, _) => Shape::of_type(name, Position::Cast),
            ExprKind::Compound(name, initial) => self.literal_shape(name, initial),
            ExprKind::Assign(_, operand, _)
            | ExprKind::Step(_, operand)
            | ExprKind::Comma(_, operand) => self.shape(operand),
            ExprKind::Member(base, member, _) => {
                let structure = match self.shape(base) {
                    Shape::Pointer(inner) | Shape::Array(inner, _) => *inner,
                    other => other,
                };
                match structure {
                    Shape::Structure(it) => it
                        .member(&member.text)
                        .map_or(Shape::Unknown, |it| Shape::of_member(it.member)),
                    _ => Shape::Unknown,
                }
            }
            ExprKind::SizeOf(_) | ExprKind::SizeOfType(_) => Shape::Scalar(Type::U64),
            ExprKind::Call(..) | ExprKind::Braced(_) | ExprKind::Text | ExprKind::Invalid => {
                Shape::Unknown
            }
        }
    }
}

fn sum(op: BinaryOp, left: Shape, right: Shape) -> Shape {
    match (left.scalar(), right.scalar()) {
        (Some(left), Some(_)) if matches!(op, BinaryOp::Shl | BinaryOp::Shr) => {
            Shape::Scalar(promoted(left))
        }
        (Some(left), Some(right)) => Shape::Scalar(common(left, right)),
        (None, Some(_)) => Shape::Pointer(Box::new(left.element())),
        (Some(_), None) => Shape::Pointer(Box::new(right.element())),
        (None, None) => Shape::Scalar(Type::I64),
    }
}
