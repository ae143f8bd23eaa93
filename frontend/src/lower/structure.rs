//! Structures: a local one is a variable for each member, an array of them an array for each member.

use super::reference::{Record, Reference, Target};
use super::value::Typed;
use super::{Binding, Lowering};
use crate::ast::{Declarator, Expr, ExprKind, Name, UnaryOp};
use crate::problem::{ExpressionProblem, InitializerProblem, Problem, Unsupported};
use crate::structure::Structure;
use std::rc::Rc;
use strew_affine::{
    Array, ArrayId, Field, Node, Parameter, Place, Record as KernelRecord, Span, Type, Value,
};

/// A structure whose members are variables of their own.
#[derive(Clone, Debug)]
pub(super) struct Members {
    pub(super) structure: Rc<Structure>,
    /// By member.
    pub(super) bindings: Vec<Binding>,
}

impl Lowering<'_> {
    pub(super) fn local_structure(
        &mut self,
        declarator: &Declarator,
        structure: &Rc<Structure>,
        is_const: bool,
        body: &mut Vec<Node>,
    ) {
        if !declarator.lengths.is_empty() {
            return self.local_record(declarator, structure, is_const, body);
        }
        let name = &declarator.name;
        let values = match &declarator.initial {
            Some(initial) => match self.initial_members(structure, initial, body) {
                Some(values) => values,
                None => return,
            },
            None => zeros(structure),
        };
        let mutable = self.is_assigned(name);
        let mut bindings = Vec::with_capacity(values.len());
        for (member, value) in structure.members.iter().zip(values) {
            let known = value.known.clone();
            let text = format!("{}_{}", name.text, member.name);
            let (local, node) = self.unnamed(&text, mutable, value, name.span);
            body.push(node);
            bindings.push(if mutable {
                Binding::Variable { local, is_const }
            } else {
                Binding::Let { local, known }
            });
        }
        let structure = Rc::clone(structure);
        self.bind(
            name,
            Binding::Structure(Members {
                structure,
                bindings,
            }),
        );
    }

    fn local_record(
        &mut self,
        declarator: &Declarator,
        structure: &Rc<Structure>,
        is_const: bool,
        body: &mut Vec<Node>,
    ) {
        let name = &declarator.name;
        if let Some(initial) = &declarator.initial {
            let name = name.text.clone();
            let problem = Problem::Unsupported(Unsupported::InitializedRecord { name });
            return self.diagnostics.report(problem, initial.span);
        }
        let mut extents = Vec::new();
        for length in &declarator.lengths {
            match self.length(&name.text, length.length.as_ref()) {
                Ok(extent) => extents.extend(extent),
                Err(problem) => return self.diagnostics.report(problem, length.span),
            }
        }
        if extents.len() < declarator.lengths.len() {
            return;
        }
        let mut fields = Vec::with_capacity(structure.members.len());
        for member in &structure.members {
            let array = self.kernel.arrays.alloc(Array {
                name: format!("{}_{}", name.text, member.name),
                element: member.ty,
                extents: extents.clone(),
                field: None,
                span: name.span,
            });
            body.push(Node::Alloc { array });
            fields.push(array);
        }
        let record = Record {
            name: name.text.clone(),
            structure: Rc::clone(structure),
            fields,
        };
        let target = Target::Record(Rc::new(record));
        self.bind(name, Binding::Reference(Reference::new(target, is_const)));
    }

    /// An array of structures that the caller hands over.
    pub(super) fn structure_parameter(
        &mut self,
        declarator: &Declarator,
        structure: &Rc<Structure>,
        is_const: bool,
    ) {
        let name = &declarator.name;
        let is_array = !declarator.lengths.is_empty() || !declarator.pointers.is_empty();
        if !is_array || structure.members.is_empty() {
            let name = name.text.clone();
            let problem = Problem::Unsupported(Unsupported::Structure { name });
            return self.diagnostics.report(problem, declarator.span);
        }
        let Some(extents) = self.parameter_extents(declarator) else {
            return;
        };
        let record = self.kernel.records.alloc(KernelRecord {
            name: name.text.clone(),
            bytes: structure.bytes(),
            fields: Vec::new(),
            span: name.span,
        });
        let mut fields = Vec::with_capacity(structure.members.len());
        for member in &structure.members {
            let offset = member.offset;
            fields.push(self.kernel.arrays.alloc(Array {
                name: format!("{}.{}", name.text, member.name),
                element: member.ty,
                extents: extents.clone(),
                field: Some(Field {
                    record,
                    offset,
                    own_dimensions: 0,
                }),
                span: name.span,
            }));
        }
        self.kernel.records[record].fields.clone_from(&fields);
        self.kernel.params.push(Parameter::Record(record));
        let record = Record {
            name: name.text.clone(),
            structure: Rc::clone(structure),
            fields,
        };
        let target = Target::Record(Rc::new(record));
        self.bind(name, Binding::Reference(Reference::new(target, is_const)));
    }

    /// The values of a new structure, by member.
    fn initial_members(
        &mut self,
        structure: &Rc<Structure>,
        initial: &Expr,
        body: &mut Vec<Node>,
    ) -> Option<Vec<Typed>> {
        let ExprKind::Braced(elements) = &initial.kind else {
            return self.members_of(initial, structure, body);
        };
        let mut values = zeros(structure);
        let mut next = 0;
        for element in elements {
            if let [crate::ast::Designator::Member(member)] = element.designators.as_slice() {
                next = self.member_index(structure, member)?;
            } else if !element.designators.is_empty() {
                return self.report(InitializerProblem::TooManyBraces, element.value.span);
            }
            let Some(member) = structure.members.get(next) else {
                return self.report(InitializerProblem::TooManyInitializers, element.value.span);
            };
            let value = crate::initializer::scalar(&element.value);
            let Some(value) = value else {
                return self.report(InitializerProblem::TooManyBraces, element.value.span);
            };
            let before = body.len();
            let value = self.expression(value, body)?.convert(member.ty);
            let mut spanned: Vec<_> = values.into_iter().map(|it| (it, initial.span)).collect();
            self.keep_before(before, &mut spanned, body);
            values = spanned.into_iter().map(|(it, _)| it).collect();
            if let Some(slot) = values.get_mut(next) {
                *slot = value;
            }
            next += 1;
        }
        Some(values)
    }

    fn member_index(&mut self, structure: &Structure, member: &Name) -> Option<usize> {
        match structure.member(&member.text) {
            Some((index, _)) => Some(index),
            None => {
                let problem = ExpressionProblem::UnknownMember {
                    name: member.text.clone(),
                    of: Some(structure.name.clone()),
                };
                self.report(problem, member.span)
            }
        }
    }

    /// The structure that an expression is, if it is one.
    pub(super) fn structure_of(&self, expr: &Expr) -> Option<Rc<Structure>> {
        let mut base = expr;
        loop {
            base = match &base.kind {
                ExprKind::Name(name) => {
                    return match self.binding(name) {
                        Binding::Structure(it) => Some(Rc::clone(&it.structure)),
                        Binding::Reference(it) => it.target.structure(),
                        Binding::Cursor(it) => it.target.structure(),
                        _ => None,
                    };
                }
                ExprKind::Index(inner, _)
                | ExprKind::Unary(UnaryOp::Dereference | UnaryOp::AddressOf, inner)
                | ExprKind::Step(_, inner)
                | ExprKind::Assign(_, inner, _)
                | ExprKind::Cast(_, inner) => inner,
                ExprKind::Binary(_, left, right) => {
                    if self.rank(left) > 0 {
                        left
                    } else {
                        right
                    }
                }
                _ => return None,
            };
        }
    }

    /// The values of the members of a structure.
    pub(super) fn members_of(
        &mut self,
        expr: &Expr,
        expected: &Rc<Structure>,
        body: &mut Vec<Node>,
    ) -> Option<Vec<Typed>> {
        let is_same = self.structure_of(expr).is_some_and(|it| it == *expected);
        if !is_same || self.rank(expr) > 0 {
            let name = expected.name.clone();
            return self.report(ExpressionProblem::NotTheStructure { name }, expr.span);
        }
        if let ExprKind::Name(name) = &expr.kind
            && let Binding::Structure(members) = self.binding(name).clone()
        {
            let bindings = members.bindings.iter();
            return bindings.map(|it| self.bound(it, name)).collect();
        }
        let reference = self.reference(expr, body)?;
        let Target::Record(record) = reference.target.clone() else {
            return None;
        };
        let mut values = Vec::with_capacity(record.fields.len());
        for field in &record.fields {
            let access = self.element_access(&reference, *field, expr.span)?;
            values.push(self.loaded(access));
        }
        Some(values)
    }

    /// `place = value` of structures.
    pub(super) fn assign_structure(
        &mut self,
        place: &Expr,
        value: &Expr,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<()> {
        let structure = self.structure_of(place)?;
        let values = self.members_of(value, &structure, body)?;
        // What is read may be what is written next.
        let mut kept = Vec::with_capacity(values.len());
        for value in values {
            kept.push(self.kept(value, span, body));
        }
        let places = self.member_places(place, body)?;
        for (place, value) in places.into_iter().zip(kept) {
            let value = value.expr;
            body.push(Node::Assign { place, value, span });
        }
        Some(())
    }

    fn member_places(&mut self, expr: &Expr, body: &mut Vec<Node>) -> Option<Vec<Place>> {
        if let ExprKind::Name(name) = &expr.kind
            && let Binding::Structure(members) = self.binding(name).clone()
        {
            let bindings = members.bindings.iter();
            return bindings
                .map(|it| self.bound_place(it, name).map(|(place, _)| place))
                .collect();
        }
        let reference = self.reference(expr, body)?;
        if reference.is_const {
            let name = self.target_name(&reference.target);
            return self.report(ExpressionProblem::AssignToConst { name }, expr.span);
        }
        let Target::Record(record) = reference.target.clone() else {
            return None;
        };
        let fields = record.fields.iter();
        fields
            .map(|field| {
                let access = self.element_access(&reference, *field, expr.span)?;
                Some(Place::Element(access))
            })
            .collect()
    }

    /// `base.member` of a local structure.
    fn local_member(&mut self, base: &Expr, member: &Name) -> Option<Option<(Name, Binding)>> {
        let name = base.as_name()?;
        let Binding::Structure(members) = self.binding(name) else {
            return None;
        };
        let members = members.clone();
        let index = self.member_index(&members.structure, member);
        let binding = index.and_then(|index| members.bindings.get(index).cloned());
        Some(binding.map(|binding| (name.clone(), binding)))
    }

    /// The value of `base.member` or `base->member`.
    pub(super) fn member(&mut self, expr: &Expr, body: &mut Vec<Node>) -> Option<Typed> {
        if let ExprKind::Member(base, member, false) = &expr.kind
            && let Some(found) = self.local_member(base, member)
        {
            let (name, binding) = found?;
            return self.bound(&binding, &name);
        }
        self.element(expr, body)
    }

    /// `base.member` or `base->member` as something that can be stored to.
    pub(super) fn member_place(
        &mut self,
        expr: &Expr,
        body: &mut Vec<Node>,
    ) -> Option<(Place, Type)> {
        if let ExprKind::Member(base, member, false) = &expr.kind
            && let Some(found) = self.local_member(base, member)
        {
            let (name, binding) = found?;
            return self.bound_place(&binding, &name);
        }
        self.element_place(expr, body)
    }

    /// The member of an element of an array of structures.
    pub(super) fn member_reference(
        &mut self,
        base: &Expr,
        member: &Name,
        is_arrow: bool,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Reference> {
        if self.structure_of(base).is_none() {
            let is_missing = base
                .as_name()
                .is_some_and(|it| matches!(self.binding(it), Binding::Unbound));
            return if is_missing || matches!(base.kind, ExprKind::Invalid) {
                None
            } else {
                let name = member.text.clone();
                self.report(ExpressionProblem::UnknownMember { name, of: None }, span)
            };
        }
        let mut reference = if is_arrow {
            let zero = Typed::constant(Value::i64(0));
            let pointer = self.subscripted(base, span, body)?;
            self.indexed(pointer, zero, base.span, span)?
        } else {
            self.reference(base, body)?
        };
        let Target::Record(record) = reference.target.clone() else {
            return None;
        };
        let index = self.member_index(&record.structure, member)?;
        let field: ArrayId = record.fields.get(index).copied()?;
        // The array of the member has the same extents.
        self.element_access(&reference, field, span)?;
        reference.target = Target::Array(field);
        Some(reference)
    }
}

impl Target {
    pub(super) fn structure(&self) -> Option<Rc<Structure>> {
        match self {
            Self::Record(record) => Some(Rc::clone(&record.structure)),
            Self::Array(_) => None,
        }
    }
}

fn zeros(structure: &Structure) -> Vec<Typed> {
    let members = structure.members.iter();
    members
        .map(|it| Typed::constant(Value::zero(it.ty)))
        .collect()
}
