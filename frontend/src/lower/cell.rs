//! Pointers to one thing alone: `&x` of a variable, of a member, or of a structure that is a
//! variable.
//!
//! Such a pointer is a name for what it points to, so that a function of the file that stores its
//! result there stores to the variable itself.

use super::member::VariablePart;
use super::reference::{Reference, Target};
use super::structure::Members;
use super::{Binding, Lowering};
use crate::ast::{Expr, ExprKind, UnaryOp};
use crate::problem::{PointerProblem, Unsupported};
use crate::structure::Structure;
use crate::types::Named;
use std::rc::Rc;
use strew_affine::{Kernel, Node, Span, Type};

/// Something that a pointer points to and beside which nothing lies.
#[derive(Debug)]
pub(super) struct Cell {
    /// What it is called.
    pub(super) name: String,
    pub(super) content: Content,
}

/// What a [`Cell`] is.
#[derive(Debug)]
pub(super) enum Content {
    /// A variable of the kernel.
    Variable(Binding),
    /// A structure whose members are variables.
    Structure(Members),
    /// A member of an element of an array of structures, with all of its subscripts.
    Element(Reference),
}

impl Cell {
    /// The structure that it is, if it is one.
    pub(super) fn structure(&self) -> Option<Rc<Structure>> {
        match &self.content {
            Content::Variable(_) => None,
            Content::Structure(members) => Some(Rc::clone(&members.structure)),
            Content::Element(reference) => reference.target.structure(),
        }
    }

    /// The type of the number that it is, if it is one.
    pub(super) fn number(&self, kernel: &Kernel) -> Option<Type> {
        match &self.content {
            Content::Variable(Binding::Variable { local, .. }) => Some(kernel.locals[*local].ty),
            Content::Variable(_) | Content::Structure(_) => None,
            Content::Element(reference) => reference.target.number(kernel),
        }
    }

    /// Whether both are certainly the same.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (&self.content, &other.content) {
            (Content::Variable(left), Content::Variable(right)) => left.is(right),
            (Content::Structure(left), Content::Structure(right)) => {
                let pairs = left.bindings.iter().zip(&right.bindings);
                left.structure == right.structure
                    && pairs.into_iter().all(|(left, right)| left.is(right))
            }
            _ => false,
        }
    }
}

impl Binding {
    /// Whether both are the same variable or array.
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Variable { local: left, .. }, Self::Variable { local: right, .. }) => {
                left == right
            }
            (Self::Array { array: left, .. }, Self::Array { array: right, .. }) => left == right,
            _ => false,
        }
    }

    /// The same, where nothing may be stored.
    fn read_only(self) -> Self {
        let is_const = true;
        match self {
            Self::Structure(members) => Self::Structure(members.read_only()),
            Self::Variable { local, .. } => Self::Variable { local, is_const },
            Self::Array { array, .. } => Self::Array { array, is_const },
            other => other,
        }
    }
}

impl Target {
    /// The type of its elements, if they are numbers.
    pub(super) fn number(&self, kernel: &Kernel) -> Option<Type> {
        match self {
            Self::Array(array) => Some(kernel.arrays[*array].element),
            Self::Record(_) => None,
            Self::Cell(cell) => cell.number(kernel),
        }
    }

    /// The size of an element.
    pub(super) fn bytes(&self, kernel: &Kernel) -> Option<u32> {
        match self.structure() {
            Some(structure) => Some(structure.bytes()),
            None => self.number(kernel).map(Type::bytes),
        }
    }

    /// Whether its elements are of the type that `named` is.
    pub(super) fn has_elements(&self, named: &Named, kernel: &Kernel) -> bool {
        match self.structure() {
            Some(structure) => named.structure.as_ref() == Some(&structure),
            None => named.ty.is_some() && named.ty == self.number(kernel),
        }
    }
}

impl Reference {
    /// The cell that this points to, where nothing was added to the pointer.
    fn cell(&self) -> Option<&Rc<Cell>> {
        let stays = self
            .subscripts
            .iter()
            .all(|(it, _)| it.as_constant() == Some(0));
        match &self.target {
            Target::Cell(cell) if stays => Some(cell),
            _ => None,
        }
    }

    /// The variable that this, or what it points to, is.
    pub(super) fn variable(&self) -> Option<Binding> {
        let binding = match &self.cell()?.content {
            Content::Variable(binding) => binding.clone(),
            Content::Structure(members) => Binding::Structure(members.clone()),
            Content::Element(_) => return None,
        };
        Some(if self.is_const {
            binding.read_only()
        } else {
            binding
        })
    }
}

impl Lowering<'_> {
    /// `&operand` of a variable, a structure or a member.
    pub(super) fn address_of_one(
        &mut self,
        operand: &Expr,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Reference> {
        let is_variable = operand
            .as_name()
            .is_some_and(|it| matches!(self.binding(it), Binding::Variable { .. }));
        let is_part = matches!(operand.kind, ExprKind::Name(_) | ExprKind::Member(..))
            && self.is_variable_part(operand);
        let name = super::member::member_name(operand).text;
        let (content, is_const) = if is_variable {
            let binding = operand.as_name().map(|it| self.binding(it).clone())?;
            variable(binding)?
        } else if is_part {
            match self.variable_part(operand, body)? {
                VariablePart::Structure(members) => (Content::Structure(members), false),
                VariablePart::Field(binding @ Binding::Variable { .. }) => variable(binding)?,
                _ => return self.unsupported(Unsupported::AddressOf, span),
            }
        } else if matches!(operand.kind, ExprKind::Member(..)) && self.rank(operand) == 0 {
            let mut reference = self.reference(operand, body)?;
            for (value, span) in &mut reference.subscripts {
                *value = self.kept(value.clone(), *span, body);
            }
            let is_const = reference.is_const;
            (Content::Element(reference), is_const)
        } else {
            let is_unknown = |it| matches!(self.binding(it), Binding::Unbound);
            if operand.as_name().is_some_and(is_unknown) {
                return None;
            }
            return self.unsupported(Unsupported::AddressOf, span);
        };
        let cell = Rc::new(Cell { name, content });
        Some(Reference::new(Target::Cell(cell), is_const))
    }

    /// The variable or the structure that a pointer points to, if it is one.
    fn pointee(&self, pointer: &Expr) -> Option<Binding> {
        match &pointer.kind {
            ExprKind::Name(name) => match self.binding(name) {
                Binding::Reference(reference) => reference.variable(),
                _ => None,
            },
            ExprKind::Unary(UnaryOp::AddressOf, operand) => match &operand.kind {
                ExprKind::Name(name) => match self.binding(name) {
                    binding @ (Binding::Variable { .. } | Binding::Structure(_)) => {
                        Some(binding.clone())
                    }
                    _ => None,
                },
                ExprKind::Unary(UnaryOp::Dereference, inner) => self.pointee(inner),
                _ => None,
            },
            _ => None,
        }
    }

    /// What `*pointer`, `pointer[0]` or `pointer->` is, where that is a structure of variables.
    pub(super) fn structure_behind(&self, pointer: &Expr) -> Option<Members> {
        match self.pointee(pointer)? {
            Binding::Structure(members) => Some(members),
            _ => None,
        }
    }

    /// What a pointer that has a subscript now points to, if that is a cell: nothing but the first
    /// element is there.
    pub(super) fn of_cell(&mut self, reference: Reference, span: Span) -> Option<Reference> {
        let Target::Cell(cell) = &reference.target else {
            return Some(reference);
        };
        if reference.cell().is_none() {
            let name = cell.name.clone();
            return self.report(PointerProblem::BesideVariable { name }, span);
        }
        Some(match &cell.content {
            Content::Element(inner) => Reference {
                is_const: inner.is_const || reference.is_const,
                ..inner.clone()
            },
            Content::Variable(_) | Content::Structure(_) => reference,
        })
    }
}

impl Members {
    fn read_only(self) -> Self {
        let bindings = self.bindings.into_iter().map(Binding::read_only);
        Self {
            bindings: bindings.collect(),
            ..self
        }
    }
}

/// What points to a variable, and whether that may not be stored to.
fn variable(binding: Binding) -> Option<(Content, bool)> {
    match binding {
        Binding::Variable { is_const, .. } => Some((Content::Variable(binding), is_const)),
        _ => None,
    }
}
