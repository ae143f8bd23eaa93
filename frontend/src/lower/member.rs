//! `base.member` and `base->member`.

use super::reference::{Record, Reference, Target};
use super::structure::Members;
use super::structure_value::unnamed;
use super::value::Typed;
use super::{Binding, Lowering};
use crate::ast::{Expr, ExprKind, Name, UnaryOp};
use crate::problem::ExpressionProblem;
use crate::structure::{MemberElement, Structure};
use std::rc::Rc;
use strew_affine::{Node, Place, Span, Subscript, Type, Value};

/// What a structure that is no element of an array holds somewhere.
pub(super) enum VariablePart {
    /// A structure in it, or all of it.
    Structure(Members),
    /// A member that is an array of structures.
    Structures(Record),
    /// A number, or an array of numbers.
    Field(Binding),
}

impl Lowering<'_> {
    /// Whether an expression is a structure that is a variable or a value, or part of one.
    pub(super) fn is_variable_part(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => matches!(self.binding(name), Binding::Structure(_)),
            ExprKind::Member(base, _, false) => self.is_variable_part(base),
            ExprKind::Member(pointer, _, true)
            | ExprKind::Unary(UnaryOp::Dereference, pointer)
            | ExprKind::Index(pointer, _) => self.structure_behind(pointer).is_some(),
            ExprKind::Call(..)
            | ExprKind::Compound(..)
            | ExprKind::Conditional(..)
            | ExprKind::Comma(..)
            | ExprKind::Assign(..) => self.structure_value(expr).is_some(),
            _ => false,
        }
    }

    /// What such an expression is.
    pub(super) fn variable_part(
        &mut self,
        expr: &Expr,
        body: &mut Vec<Node>,
    ) -> Option<VariablePart> {
        match &expr.kind {
            ExprKind::Name(name) => match self.binding(name) {
                Binding::Structure(members) => Some(VariablePart::Structure(members.clone())),
                _ => None,
            },
            ExprKind::Member(base, member, is_arrow) => {
                match self.base_part(base, *is_arrow, body)? {
                    VariablePart::Structure(members) => self.part_of_members(&members, member),
                    VariablePart::Structures(_) | VariablePart::Field(_) => {
                        let name = member.text.clone();
                        self.report(
                            ExpressionProblem::UnknownMember {
                                name,
                                of: None,
                                instead: Vec::new(),
                            },
                            expr.span,
                        )
                    }
                }
            }
            ExprKind::Unary(UnaryOp::Dereference, pointer) => {
                self.structure_behind(pointer).map(VariablePart::Structure)
            }
            ExprKind::Index(pointer, _) => {
                // Nothing but `pointer[0]` is there.
                self.reference(expr, body)?;
                self.structure_behind(pointer).map(VariablePart::Structure)
            }
            // A value is kept in variables of its own.
            _ => {
                let structure = self.structure_value(expr)?;
                let values = self.numbers_of(expr, &structure, body)?;
                let name = unnamed(expr.span);
                let kinds = (false, true);
                let members = self.members(&name, &structure, Some(values), kinds, body);
                Some(VariablePart::Structure(members))
            }
        }
    }

    /// What stands in front of a member.
    fn base_part(
        &mut self,
        base: &Expr,
        is_arrow: bool,
        body: &mut Vec<Node>,
    ) -> Option<VariablePart> {
        if is_arrow {
            return self.structure_behind(base).map(VariablePart::Structure);
        }
        self.variable_part(base, body)
    }

    /// The structure that such an expression is.
    pub(super) fn structure_part(&mut self, expr: &Expr, body: &mut Vec<Node>) -> Option<Members> {
        match self.variable_part(expr, body)? {
            VariablePart::Structure(members) => Some(members),
            VariablePart::Structures(_) | VariablePart::Field(_) => None,
        }
    }

    fn part_of_members(&mut self, members: &Members, member: &Name) -> Option<VariablePart> {
        let structure = Rc::clone(&members.structure);
        let Some(part) = structure.member(&member.text) else {
            return self.unknown_member(&structure, member);
        };
        let bindings = members.bindings.get(part.first..part.first + part.count)?;
        Some(match &part.member.element {
            MemberElement::Scalar(_) => VariablePart::Field(bindings.first()?.clone()),
            MemberElement::Structure(inner) if part.member.lengths.is_empty() => {
                VariablePart::Structure(Members {
                    structure: Rc::clone(inner),
                    bindings: bindings.to_vec(),
                })
            }
            MemberElement::Structure(inner) => {
                let arrays = bindings.iter().filter_map(|it| match it {
                    Binding::Array { array, .. } => Some(*array),
                    _ => None,
                });
                VariablePart::Structures(Record {
                    name: member.text.clone(),
                    structure: Rc::clone(inner),
                    fields: arrays.collect(),
                    dimensions: part.member.lengths.len(),
                })
            }
        })
    }

    /// What a name, or a member of a structure that is a variable, is.
    pub(super) fn part(&self, expr: &Expr) -> Option<Binding> {
        match &expr.kind {
            ExprKind::Name(name) => Some(self.binding(name).clone()),
            ExprKind::Member(base, member, false) => match self.part(base)? {
                Binding::Structure(members) => members.part(&member.text),
                _ => None,
            },
            _ => None,
        }
    }

    /// The value of `base.member` or `base->member`.
    pub(super) fn member(&mut self, expr: &Expr, body: &mut Vec<Node>) -> Option<Typed> {
        match self.field_binding(expr, body)? {
            Some(binding) => self.bound(&binding, &member_name(expr)),
            None => self.element(expr, body),
        }
    }

    /// `base.member` or `base->member` as something that can be stored to.
    pub(super) fn member_place(
        &mut self,
        expr: &Expr,
        body: &mut Vec<Node>,
    ) -> Option<(Place, Type)> {
        match self.field_binding(expr, body)? {
            Some(Binding::Let { .. } | Binding::Value(_)) => {
                self.report(ExpressionProblem::NotAssignable, expr.span)
            }
            Some(binding) => self.bound_place(&binding, &member_name(expr)),
            None => self.element_place(expr, body),
        }
    }

    /// The variable that a member is, `None` inside where it is an element of an array.
    fn field_binding(&mut self, expr: &Expr, body: &mut Vec<Node>) -> Option<Option<Binding>> {
        if !self.is_variable_part(expr) {
            return Some(None);
        }
        match self.variable_part(expr, body)? {
            VariablePart::Field(binding) => Some(Some(binding)),
            VariablePart::Structure(members) => Some(Some(Binding::Structure(members))),
            VariablePart::Structures(record) => {
                let target = Target::Record(Rc::new(record));
                Some(Some(Binding::Reference(Reference::new(target, true))))
            }
        }
    }

    /// A member that is an array, or the member of an element of an array of structures.
    pub(super) fn member_reference(
        &mut self,
        expr: &Expr,
        body: &mut Vec<Node>,
    ) -> Option<Reference> {
        let ExprKind::Member(base, member, is_arrow) = &expr.kind else {
            return None;
        };
        if self.is_variable_part(expr) {
            return match self.variable_part(expr, body)? {
                VariablePart::Field(Binding::Array { array, is_const }) => {
                    Some(Reference::new(Target::Array(array), is_const))
                }
                VariablePart::Structures(record) => {
                    Some(Reference::new(Target::Record(Rc::new(record)), false))
                }
                VariablePart::Field(binding) => {
                    self.bound(&binding, &member_name(expr))?;
                    self.report(crate::problem::PointerProblem::NumberAsPointer, expr.span)
                }
                VariablePart::Structure(members) => self.structure_as_value(&members, expr.span),
            };
        }
        self.check_has_members(base, member, expr.span)?;
        let reference = if *is_arrow {
            let zero = Typed::constant(Value::i64(0));
            let pointer = self.subscripted(base, expr.span, body)?;
            self.indexed(pointer, zero, base.span, expr.span)?
        } else {
            self.reference(base, body)?
        };
        self.part_of_element(reference, member, expr.span)
    }

    fn structure_as_value<T>(&mut self, members: &Members, span: Span) -> Option<T> {
        let name = members.structure.name.clone();
        self.report(ExpressionProblem::StructureAsValue { name }, span)
    }

    fn check_has_members(&mut self, base: &Expr, member: &Name, span: Span) -> Option<()> {
        if self.structure_of(base).is_some() {
            return Some(());
        }
        let is_missing = base
            .as_name()
            .is_some_and(|it| matches!(self.binding(it), Binding::Unbound));
        // A member that does not exist is reported where its own base is looked at.
        let is_inner = match &base.kind {
            ExprKind::Member(outer, inner, _) => self
                .structure_of(outer)
                .is_some_and(|it| it.member(&inner.text).is_none()),
            _ => false,
        };
        if is_missing || matches!(base.kind, ExprKind::Invalid) {
            return None;
        }
        if is_inner {
            self.reference(base, &mut Vec::new());
            return None;
        }
        let name = member.text.clone();
        self.report(
            ExpressionProblem::UnknownMember {
                name,
                of: None,
                instead: Vec::new(),
            },
            span,
        )
    }

    /// A member of an element of an array of structures, with the subscripts of the element.
    fn part_of_element(
        &mut self,
        reference: Reference,
        member: &Name,
        span: Span,
    ) -> Option<Reference> {
        let Target::Record(record) = reference.target.clone() else {
            return None;
        };
        let structure: &Structure = &record.structure;
        let Some(part) = structure.member(&member.text) else {
            return self.unknown_member(structure, member);
        };
        self.complete_subscripts(&reference, span)?;
        let fields = record.fields.get(part.first..part.first + part.count)?;
        let target = match &part.member.element {
            MemberElement::Scalar(_) => Target::Array(*fields.first()?),
            MemberElement::Structure(inner) => Target::Record(Rc::new(Record {
                name: format!("{}.{}", record.name, member.text),
                structure: Rc::clone(inner),
                fields: fields.to_vec(),
                dimensions: record.dimensions + part.member.lengths.len(),
            })),
        };
        Some(Reference {
            target,
            ..reference
        })
    }

    /// The subscripts of an element of an array of structures, none of which may be missing.
    pub(super) fn complete_subscripts(
        &mut self,
        reference: &Reference,
        span: Span,
    ) -> Option<Vec<Subscript>> {
        let first = reference.target.first()?;
        let access = self.element_access(reference, first, span)?;
        Some(access.subscripts)
    }
}

impl Members {
    /// A member that is a number, or a structure itself.
    fn part(&self, name: &str) -> Option<Binding> {
        let part = self.structure.member(name)?;
        let bindings = self.bindings.get(part.first..part.first + part.count)?;
        match &part.member.element {
            MemberElement::Structure(inner) if part.member.lengths.is_empty() => {
                Some(Binding::Structure(Self {
                    structure: Rc::clone(inner),
                    bindings: bindings.to_vec(),
                }))
            }
            MemberElement::Structure(_) => None,
            MemberElement::Scalar(_) => bindings.first().cloned(),
        }
    }
}

/// All the names of `a.b.c`, with dots between them.
pub(super) fn member_name(expr: &Expr) -> Name {
    match &expr.kind {
        ExprKind::Name(name) => name.clone(),
        ExprKind::Member(base, member, _) => Name {
            text: format!("{}.{}", member_name(base).text, member.text),
            span: expr.span,
            declaration: None,
        },
        _ => unnamed(expr.span),
    }
}
