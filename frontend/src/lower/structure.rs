//! Structures: a local one is a variable for each number and a local array for each array in it, an
//! array of them an array for each field.

use super::local_array::element_store;
use super::reference::{Record, Reference, Target};
use super::value::Typed;
use super::{Binding, Lowering};
use crate::ast::{Declarator, Expr, ExprKind, Name};
use crate::initializer;
use crate::problem::{
    ExpressionProblem, InitializerProblem, Problem, Unsupported, UnsupportedDeclaration,
};
use crate::structure::{Field, MemberElement, Structure};
use std::rc::Rc;
use strew_affine::{
    AffineExpr, Array, ArrayId, Field as KernelField, Node, Parameter, Record as KernelRecord, Span,
};

/// A structure whose fields are variables and local arrays of their own.
#[derive(Clone, Debug)]
pub(super) struct Members {
    pub(super) structure: Rc<Structure>,
    /// By field.
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
            self.local_record(declarator, structure, is_const, body);
            return;
        }
        let name = &declarator.name;
        let values = match &declarator.initial {
            Some(initial) => match self.initial_numbers(structure, initial, body) {
                Some(values) => Some(values),
                None => return,
            },
            None => None,
        };
        let is_mutable = self.is_assigned(name);
        let members = self.members(name, structure, values, (is_mutable, is_const), body);
        self.bind(name, Binding::Structure(members));
    }

    /// Declares a structure that holds `values`, or zeros; whether it is assigned again, and
    /// whether it may be.
    pub(super) fn members(
        &mut self,
        name: &Name,
        structure: &Rc<Structure>,
        values: Option<Vec<Typed>>,
        (is_mutable, is_const): (bool, bool),
        body: &mut Vec<Node>,
    ) -> Members {
        let mut values = values.map(Vec::into_iter);
        let mut bindings = Vec::new();
        for field in structure.fields() {
            let text = joined(&name.text, &field);
            let mut value = || values.as_mut().and_then(Iterator::next);
            if !field.lengths.is_empty() {
                let array = self.field_array(text, &field, Vec::new(), name.span);
                self.allocate(array, body);
                self.members
                    .insert(array, format!("{}.{}", name.text, field.name));
                if values.is_some() {
                    for subscripts in field.subscripts() {
                        let value = values.as_mut().and_then(Iterator::next);
                        let store =
                            |it: Typed| element_store(array, &subscripts, it.expr, name.span);
                        body.extend(value.map(store));
                    }
                }
                bindings.push(Binding::Array { array, is_const });
                continue;
            }
            let value = value().unwrap_or_else(|| zero(&field));
            let known = value.known.clone();
            let (local, node) = self.unnamed(&text, is_mutable, value, name.span);
            body.push(node);
            bindings.push(if is_mutable {
                Binding::Variable { local, is_const }
            } else {
                Binding::Let { local, known }
            });
        }
        Members {
            structure: Rc::clone(structure),
            bindings,
        }
    }

    /// An array of this field of structures with these extents.
    fn field_array(
        &mut self,
        name: String,
        field: &Field,
        extents: Vec<AffineExpr>,
        span: Span,
    ) -> ArrayId {
        let own = field.lengths.iter().map(|it| i64::from(*it).into());
        self.kernel.arrays.alloc(Array {
            name,
            element: field.ty,
            extents: extents.into_iter().chain(own).collect(),
            length: None,
            field: None,
            span,
        })
    }

    /// An array of structures that lives in the kernel; nothing after an error.
    pub(super) fn local_record(
        &mut self,
        declarator: &Declarator,
        structure: &Rc<Structure>,
        is_const: bool,
        body: &mut Vec<Node>,
    ) -> Option<Reference> {
        let name = &declarator.name;
        let element = MemberElement::Structure(Rc::clone(structure));
        let (extents, given) = self.contents(declarator, &element)?;
        let mut fields = Vec::new();
        for field in structure.fields() {
            let text = joined(&name.text, &field);
            let array = self.field_array(text, &field, extents.clone(), name.span);
            self.allocate(array, body);
            self.members
                .insert(array, format!("{}.{}", name.text, field.name));
            fields.push(array);
        }
        let inner: Vec<i64> = extents
            .iter()
            .skip(1)
            .map(|it| it.as_constant().unwrap_or(1))
            .collect();
        self.initial_stores(structure, &fields, &inner, given, body);
        let record = Record {
            name: name.text.clone(),
            structure: Rc::clone(structure),
            fields,
            dimensions: extents.len(),
        };
        let reference = Reference::new(Target::Record(Rc::new(record)), is_const);
        self.bind(name, Binding::Reference(reference.clone()));
        Some(reference)
    }

    /// Stores initial values to the elements that they are for; an array of structures has so many
    /// in each dimension but the first.
    fn initial_stores(
        &mut self,
        structure: &Rc<Structure>,
        arrays: &[ArrayId],
        inner: &[i64],
        given: Vec<initializer::Given<'_>>,
        body: &mut Vec<Node>,
    ) {
        if given.is_empty() {
            return;
        }
        let Some(numbers) = self.numbers(
            structure,
            given.first().map_or(Span::default(), |it| it.value.span),
        ) else {
            return;
        };
        let count = (numbers.len() as u64).max(1);
        for given in given {
            let span = given.value.span;
            let Some(values) = self.given_values(&given, body) else {
                continue;
            };
            for (value, position) in values.into_iter().zip(given.first..) {
                let number = usize::try_from(position % count).unwrap_or(usize::MAX);
                let Some(number) = numbers.get(number) else {
                    continue;
                };
                let mut subscripts = initializer::unravelled(position / count, inner);
                subscripts.extend(&number.subscripts);
                if let Some(array) = arrays.get(number.field) {
                    let value = value.convert(number.ty).expr;
                    body.push(element_store(*array, &subscripts, value, span));
                }
            }
        }
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
        let fields = structure.fields();
        if fields.is_empty() && self.diagnostics.has_errors() {
            return;
        }
        if fields.is_empty() {
            let name = structure.name.clone();
            let problem = Problem::Unsupported(Unsupported::Declaration(
                UnsupportedDeclaration::NoMembers { name },
            ));
            return self.diagnostics.report(problem, declarator.span);
        }
        if !is_array {
            return self.parameter_by_value(name, structure, &fields);
        }
        if let Some(apart) = fields.iter().find(|it| !it.is_dense) {
            let member = apart.name.clone();
            let problem = Problem::Unsupported(Unsupported::Declaration(
                UnsupportedDeclaration::StructuresInMember { member },
            ));
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
        let mut arrays = Vec::with_capacity(fields.len());
        for field in &fields {
            let text = format!("{}.{}", name.text, field.name);
            let array = self.field_array(text, field, extents.clone(), name.span);
            self.kernel.arrays[array].field = Some(KernelField {
                record,
                offset: field.offset,
                own_dimensions: field.lengths.len(),
            });
            arrays.push(array);
        }
        self.kernel.records[record].fields.clone_from(&arrays);
        self.kernel.params.push(Parameter::Record(record));
        let record = Record {
            name: name.text.clone(),
            structure: Rc::clone(structure),
            fields: arrays,
            dimensions: extents.len(),
        };
        let target = Target::Record(Rc::new(record));
        self.bind(name, Binding::Reference(Reference::new(target, is_const)));
    }

    /// A structure that the caller hands over by value: its members are parameters of their own,
    /// called `name.member`. Nothing stores to the arrays in it; where something may,
    /// [`Self::copy_structure`] puts variables in their place.
    fn parameter_by_value(&mut self, name: &Name, structure: &Rc<Structure>, fields: &[Field]) {
        let mut bindings = Vec::with_capacity(fields.len());
        for field in fields {
            let text = format!("{}.{}", name.text, field.name);
            bindings.push(if field.lengths.is_empty() {
                Binding::Parameter(self.declare_scalar(text, field.ty, name.span))
            } else {
                let array = self.field_array(text, field, Vec::new(), name.span);
                self.kernel.params.push(Parameter::Array(array));
                let is_const = true;
                Binding::Array { array, is_const }
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

    /// A structure parameter that the function changes becomes a variable with the same members.
    pub(super) fn copy_structure(&mut self, name: &Name, is_const: bool, body: &mut Vec<Node>) {
        let Binding::Structure(members) = self.binding(name).clone() else {
            return;
        };
        if let Some(values) = self.numbers_of_members(&members, name.span) {
            let kinds = (true, is_const);
            let members = self.members(name, &members.structure, Some(values), kinds, body);
            self.bind(name, Binding::Structure(members));
        }
    }

    /// The numbers of a new structure.
    pub(super) fn initial_numbers(
        &mut self,
        structure: &Rc<Structure>,
        initial: &Expr,
        body: &mut Vec<Node>,
    ) -> Option<Vec<Typed>> {
        if !matches!(initial.kind, ExprKind::Braced(_)) {
            return self.numbers_of(initial, structure, body);
        }
        let numbers = self.numbers(structure, initial.span)?;
        let element = MemberElement::Structure(Rc::clone(structure));
        let structure_of = |it: &Expr| self.structure_value(it);
        let given = match initializer::numbers(initial, &mut [], &element, &structure_of) {
            Ok(given) => given,
            Err((problem, span)) => return self.report(problem, span),
        };
        let zeros = numbers
            .iter()
            .map(|it| Typed::constant(strew_affine::Value::zero(it.ty)));
        let mut values: Vec<_> = zeros.map(|it| (it, initial.span)).collect();
        for given in given {
            let before = body.len();
            let found = self.given_values(&given, body)?;
            self.keep_before(before, &mut values, body);
            let first = usize::try_from(given.first).unwrap_or(usize::MAX);
            let slots = values.iter_mut().zip(&numbers).skip(first);
            for ((slot, number), value) in slots.zip(found) {
                *slot = (value.convert(number.ty), given.value.span);
            }
        }
        Some(values.into_iter().map(|(value, _)| value).collect())
    }

    /// The numbers that an initial value gives.
    fn given_values(
        &mut self,
        given: &initializer::Given<'_>,
        body: &mut Vec<Node>,
    ) -> Option<Vec<Typed>> {
        match &given.structure {
            Some(structure) => self.numbers_of(given.value, structure, body),
            None => Some(vec![self.expression(given.value, body)?]),
        }
    }

    /// What an array with initial values is given, and its first length if it has none.
    pub(super) fn initial_elements<'e>(
        &mut self,
        declarator: &Declarator,
        initial: &'e Expr,
        element: &MemberElement,
        extents: &mut [Option<AffineExpr>],
    ) -> Option<Vec<initializer::Given<'e>>> {
        let mut lengths = Vec::with_capacity(extents.len());
        for extent in &*extents {
            let length = extent.as_ref().map(AffineExpr::as_constant);
            if length == Some(None) {
                let array = declarator.name.text.clone();
                let problem = InitializerProblem::InitializedVariableLength { array };
                return self.report(problem, initial.span);
            }
            lengths.push(length.flatten());
        }
        let structure_of = |it: &Expr| self.structure_value(it);
        match initializer::numbers(initial, &mut lengths, element, &structure_of) {
            Ok(given) => {
                if let (Some(slot @ None), Some(length)) = (extents.first_mut(), lengths.first()) {
                    *slot = length.map(AffineExpr::from);
                }
                Some(given)
            }
            Err((problem, span)) => self.report(problem, span),
        }
    }

    /// Reports a member that a structure does not have.
    pub(super) fn unknown_member<T>(&mut self, structure: &Structure, member: &Name) -> Option<T> {
        if structure.lost.contains(&member.text) {
            return None;
        }
        let problem = ExpressionProblem::UnknownMember {
            name: member.text.clone(),
            of: Some(structure.name.clone()),
            instead: structure.instead_of(&member.text),
        };
        self.report(problem, member.span)
    }
}

fn zero(field: &Field) -> Typed {
    Typed::constant(strew_affine::Value::zero(field.ty))
}

/// What the field of something called `name` is called where names have no dots.
fn joined(name: &str, field: &Field) -> String {
    format!("{name}_{}", field.name.replace('.', "_"))
}

impl Field {
    /// The subscripts of its elements, row by row.
    pub(super) fn subscripts(&self) -> Vec<Vec<i64>> {
        let mut all = vec![Vec::new()];
        for length in &self.lengths {
            let longer = all.iter().flat_map(|outer: &Vec<i64>| {
                (0..i64::from(*length)).map(|index| [&outer[..], &[index]].concat())
            });
            all = longer.collect();
        }
        all
    }
}
