//! Values that are structures: their numbers, one after the other. There are few, so that a copy is
//! a statement for each.

use super::reference::{Reference, Target};
use super::structure::Members;
use super::value::{self, Typed};
use super::{Binding, Lowering};
use crate::ast::{Expr, ExprKind, Name, TypeName, UnaryOp};
use crate::problem::ExpressionProblem;
use crate::structure::Structure;
use crate::types::{self, Named, Position};
use std::rc::Rc;
use strew_affine::{Access, Node, Place, Span, Type};

/// How many numbers a structure may have that is copied.
const MOST_NUMBERS: u64 = 256;

/// An element of a field of a structure.
#[derive(Clone, Debug)]
pub(super) struct Number {
    /// The number of the field.
    pub(super) field: usize,
    /// Which of its elements.
    pub(super) subscripts: Vec<i64>,
    pub(super) ty: Type,
}

impl Lowering<'_> {
    /// The numbers of a structure that is copied.
    pub(super) fn numbers(&mut self, structure: &Structure, span: Span) -> Option<Vec<Number>> {
        let count = structure.number_count();
        if count > MOST_NUMBERS {
            let name = structure.name.clone();
            let limit = MOST_NUMBERS;
            return self.report(ExpressionProblem::CopyTooLarge { name, limit }, span);
        }
        let mut numbers = Vec::new();
        for (position, field) in structure.fields().into_iter().enumerate() {
            let elements = field.subscripts().into_iter();
            numbers.extend(elements.map(|subscripts| Number {
                field: position,
                subscripts,
                ty: field.ty,
            }));
        }
        Some(numbers)
    }

    /// The structure that an expression is made of, through pointers and arrays, if there is one.
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
                ExprKind::Member(inner, member, _) => {
                    let structure = self.structure_of(inner)?;
                    let part = structure.member(&member.text)?;
                    return part.member.element.structure().cloned();
                }
                ExprKind::Call(function, _) => {
                    let callee = self.functions.get(&function.text)?;
                    return named_structure(&callee.function.returns, Position::Function);
                }
                ExprKind::Compound(name, _) => {
                    return named_structure(&name.element(), Position::Member);
                }
                ExprKind::Index(inner, _)
                | ExprKind::Unary(UnaryOp::Dereference | UnaryOp::AddressOf, inner)
                | ExprKind::Step(_, inner)
                | ExprKind::Assign(_, inner, _)
                | ExprKind::Conditional(_, inner, _)
                | ExprKind::Comma(_, inner)
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

    /// The structure that the value of an expression is, if it is one.
    pub(super) fn structure_value(&self, expr: &Expr) -> Option<Rc<Structure>> {
        self.structure_of(expr).filter(|_| self.rank(expr) == 0)
    }

    /// The numbers of a structure.
    pub(super) fn numbers_of(
        &mut self,
        expr: &Expr,
        expected: &Rc<Structure>,
        body: &mut Vec<Node>,
    ) -> Option<Vec<Typed>> {
        if self.structure_value(expr).as_ref() != Some(expected) {
            let is_reported = expr
                .as_name()
                .is_some_and(|it| matches!(self.binding(it), Binding::Unbound));
            if is_reported || matches!(expr.kind, ExprKind::Invalid) {
                return None;
            }
            let name = expected.name.clone();
            return self.report(ExpressionProblem::NotTheStructure { name }, expr.span);
        }
        match &expr.kind {
            ExprKind::Call(function, arguments) => {
                self.call_numbers(function, arguments, expr.span, body)
            }
            ExprKind::Compound(_, initial) => self.initial_numbers(expected, initial, body),
            ExprKind::Conditional(condition, then, otherwise) => {
                self.chosen_numbers([condition, then, otherwise], expected, expr.span, body)
            }
            ExprKind::Comma(first, second) => {
                self.effect(first, body);
                self.numbers_of(second, expected, body)
            }
            ExprKind::Assign(None, place, value) => {
                self.assign_structure(place, value, expr.span, body)
            }
            _ if self.is_variable_part(expr) => {
                let members = self.structure_part(expr, body)?;
                self.numbers_of_members(&members, expr.span)
            }
            _ => {
                let reference = self.reference(expr, body)?;
                let accesses = self.number_accesses(&reference, expr.span)?;
                Some(accesses.into_iter().map(|it| self.loaded(it)).collect())
            }
        }
    }

    pub(super) fn numbers_of_members(
        &mut self,
        members: &Members,
        span: Span,
    ) -> Option<Vec<Typed>> {
        let numbers = self.numbers(&members.structure, span)?;
        let name = unnamed(span);
        let values =
            numbers
                .into_iter()
                .map(|number| match members.bindings.get(number.field)? {
                    Binding::Array { array, .. } => {
                        let subscripts = number.subscripts.into_iter();
                        Some(self.loaded(Access {
                            array: *array,
                            subscripts: subscripts.map(constant_subscript).collect(),
                            span,
                        }))
                    }
                    binding => self.bound(&binding.clone(), &name),
                });
        values.collect()
    }

    /// The places of the numbers of an element of an array of structures.
    pub(super) fn number_accesses(
        &mut self,
        reference: &Reference,
        span: Span,
    ) -> Option<Vec<Access>> {
        let Target::Record(record) = reference.target.clone() else {
            return None;
        };
        let numbers = self.numbers(&record.structure, span)?;
        let element = self.complete_subscripts(reference, span)?;
        let accesses = numbers.into_iter().map(|number| {
            let own = number.subscripts.into_iter().map(constant_subscript);
            Some(Access {
                array: *record.fields.get(number.field)?,
                subscripts: element.iter().cloned().chain(own).collect(),
                span,
            })
        });
        accesses.collect()
    }

    fn chosen_numbers(
        &mut self,
        [condition, then, otherwise]: [&Expr; 3],
        expected: &Rc<Structure>,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Vec<Typed>> {
        let condition = self.condition(condition, body);
        let mut sides = [then, otherwise].map(|side| {
            let mut values = None;
            let block = self.nested(side.span, |it, block| {
                values = it.numbers_of(side, expected, block);
            });
            values.map(|values| (block, values))
        });
        let [then, otherwise] = [sides[0].take()?, sides[1].take()?];
        Some(self.all_chosen(condition?, [then, otherwise], span, body))
    }

    /// The values of one of two sides, each with what has to be done for them. Sides have the same
    /// types, and so has what is chosen: a `?:` between members is none of the source's, whose
    /// operands would be promoted.
    pub(super) fn all_chosen(
        &mut self,
        condition: Typed,
        [(mut first, then), (mut second, otherwise)]: [(Vec<Node>, Vec<Typed>); 2],
        span: Span,
        body: &mut Vec<Node>,
    ) -> Vec<Typed> {
        if let ([one], [other]) = (then.as_slice(), otherwise.as_slice()) {
            let sides = [(first, one.clone()), (second, other.clone())];
            return vec![self.chosen(condition, sides, span, body).convert(one.ty)];
        }
        let is_plain = first.is_empty() && second.is_empty();
        let pairs = then.into_iter().zip(otherwise);
        let mut chosen = Vec::new();
        if is_plain {
            let condition = self.kept(condition.condition(), span, body);
            for (then, otherwise) in pairs {
                let ty = then.ty;
                chosen.push(value::select(condition.clone(), then, otherwise).convert(ty));
            }
            return chosen;
        }
        for (then, otherwise) in pairs {
            let ty = then.ty;
            let zero = Typed::constant(strew_affine::Value::zero(ty));
            let local = self.variable_of("chosen", zero, span, body);
            first.push(self.set(local, then.expr, span));
            second.push(self.set(local, otherwise.expr, span));
            chosen.push(Typed::any(strew_affine::Expr::Local(local), ty));
        }
        body.push(self.when((condition.condition(), span), first, second));
        chosen
    }

    /// `place = value` of structures, and the numbers that it stores.
    pub(super) fn assign_structure(
        &mut self,
        place: &Expr,
        value: &Expr,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Vec<Typed>> {
        let structure = self.structure_value(place)?;
        let values = self.numbers_of(value, &structure, body)?;
        // What is read may be what is written next.
        let mut kept = Vec::with_capacity(values.len());
        for value in values {
            kept.push(self.kept(value, span, body));
        }
        let places = self.number_places(place, body)?;
        for (place, value) in places.into_iter().zip(&kept) {
            let value = value.expr.clone();
            body.push(Node::Assign { place, value, span });
        }
        Some(kept)
    }

    fn number_places(&mut self, expr: &Expr, body: &mut Vec<Node>) -> Option<Vec<Place>> {
        if self.is_variable_part(expr) {
            let members = self.structure_part(expr, body)?;
            return self.places_of_members(&members, expr);
        }
        let reference = self.reference(expr, body)?;
        if reference.is_const {
            let name = self.target_name(&reference.target);
            return self.report(ExpressionProblem::AssignToConst { name }, expr.span);
        }
        let accesses = self.number_accesses(&reference, expr.span)?;
        Some(accesses.into_iter().map(Place::Element).collect())
    }

    fn places_of_members(&mut self, members: &Members, expr: &Expr) -> Option<Vec<Place>> {
        let numbers = self.numbers(&members.structure, expr.span)?;
        let name = match expr.as_name() {
            Some(name) => name.clone(),
            None => unnamed(expr.span),
        };
        let mut places = Vec::with_capacity(numbers.len());
        for number in numbers {
            places.push(match members.bindings.get(number.field)? {
                Binding::Array { is_const: true, .. } => {
                    let name = name.text;
                    return self.report(ExpressionProblem::AssignToConst { name }, expr.span);
                }
                Binding::Array { array, .. } => {
                    let subscripts = number.subscripts.into_iter();
                    Place::Element(Access {
                        array: *array,
                        subscripts: subscripts.map(constant_subscript).collect(),
                        span: expr.span,
                    })
                }
                binding => self.bound_place(&binding.clone(), &name)?.0,
            });
        }
        Some(places)
    }
}

fn named_structure(name: &TypeName, position: Position) -> Option<Rc<Structure>> {
    match types::named(name, position) {
        Ok(Named { structure, .. }) => structure,
        Err(_) => None,
    }
}

fn constant_subscript(index: i64) -> strew_affine::Subscript {
    strew_affine::Subscript::Affine(index.into())
}

/// What has no name in the source.
pub(super) fn unnamed(span: Span) -> Name {
    Name {
        text: "value".to_owned(),
        span,
        declaration: None,
    }
}
