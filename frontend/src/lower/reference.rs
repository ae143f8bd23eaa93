//! What pointers, arrays and elements are: an array with some of its subscripts.
//!
//! A pointer always points into one array that is known when the kernel is compiled. `a` has no
//! subscripts yet, `m[i]` has one of two, and adding to a pointer adds to the subscript that comes
//! next. So a pointer is no value of its own: subscripts behind a pointer that is never assigned
//! again stay as affine as they are without it.

use super::cell::Cell;
use super::structure_value::unnamed;
use super::value::{self, Typed};
use super::{Binding, Lowering};
use crate::ast::{BinaryOp as Operator, Expr, ExprKind, Name, TypeName, UnaryOp};
use crate::problem::{
    ExpressionProblem, PointerProblem, SubscriptProblem, Unsupported, UnsupportedDeclaration,
};
use crate::structure::Structure;
use crate::types;
use std::rc::Rc;
use strew_affine::{
    Access, ArrayId, BinaryOp, Expr as Computation, Node, Place, Span, Subscript, Type, Value,
};

/// What the elements of an array are made of.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// Numbers.
    Array(ArrayId),
    /// Structures, whose fields are arrays of their own.
    Record(Rc<Record>),
    /// One thing alone.
    Cell(Rc<Cell>),
}

/// An array of structures.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) name: String,
    pub(super) structure: Rc<Structure>,
    /// By field, each with the extents of the array and, behind them, its own.
    pub(super) fields: Vec<ArrayId>,
    /// How many subscripts make an element.
    pub(super) dimensions: usize,
}

/// An array with some of its subscripts: a pointer, or an element when none is missing.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    pub(super) target: Target,
    pub(super) is_const: bool,
    /// The subscripts, outermost first.
    pub(super) subscripts: Vec<(Typed, Span)>,
    /// Whether the last of them is added to the next one.
    pub(super) has_offset: bool,
}

impl Target {
    /// The array, or one that begins with the same extents.
    pub(super) fn first(&self) -> Option<ArrayId> {
        match self {
            Self::Array(array) => Some(*array),
            Self::Record(record) => record.fields.first().copied(),
            Self::Cell(_) => None,
        }
    }
}

impl Reference {
    pub(super) fn new(target: Target, is_const: bool) -> Self {
        Self {
            target,
            is_const,
            subscripts: Vec::new(),
            has_offset: false,
        }
    }

    /// How many subscripts there are that nothing is added to any more.
    pub(super) fn complete(&self) -> usize {
        self.subscripts.len() - usize::from(self.has_offset)
    }
}

impl Lowering<'_> {
    pub(super) fn dimensions(&self, target: &Target) -> usize {
        match target {
            Target::Array(array) => self.kernel.arrays[*array].extents.len(),
            Target::Record(record) => record.dimensions,
            Target::Cell(_) => 1,
        }
    }

    pub(super) fn target_name(&self, target: &Target) -> String {
        match target {
            Target::Array(array) => match self.members.get(array) {
                Some(name) => name.clone(),
                None => self.kernel.arrays[*array].name.clone(),
            },
            Target::Record(record) => record.name.clone(),
            Target::Cell(cell) => cell.name.clone(),
        }
    }

    /// How many subscripts make an element of what `expr` is; 0 if it is no pointer and no array.
    pub(super) fn rank(&self, expr: &Expr) -> usize {
        match &expr.kind {
            ExprKind::Name(name) => match self.binding(name) {
                Binding::Array { array, .. } => self.kernel.arrays[*array].extents.len(),
                Binding::Reference(it) => self.dimensions(&it.target) - it.complete(),
                Binding::Cursor(it) => self.dimensions(&it.target) - it.rows.len(),
                Binding::Pending(_) => 1,
                _ => 0,
            },
            ExprKind::Index(base, subscript) => {
                let rank = self.rank(base);
                let rank = if rank == 0 {
                    self.rank(subscript)
                } else {
                    rank
                };
                rank.saturating_sub(1)
            }
            ExprKind::Unary(UnaryOp::Dereference, base) => self.rank(base).saturating_sub(1),
            ExprKind::Unary(UnaryOp::AddressOf, operand) => self.rank(operand) + 1,
            ExprKind::Binary(Operator::Arithmetic(BinaryOp::Add), left, right) => {
                self.rank(left).max(self.rank(right))
            }
            ExprKind::Binary(Operator::Arithmetic(BinaryOp::Sub), left, right) => {
                if self.rank(right) > 0 {
                    0
                } else {
                    self.rank(left)
                }
            }
            ExprKind::Assign(_, operand, _)
            | ExprKind::Step(_, operand)
            | ExprKind::Comma(_, operand) => self.rank(operand),
            ExprKind::Conditional(_, then, otherwise) => self.rank(then).max(self.rank(otherwise)),
            ExprKind::Cast(name, operand) if !name.pointers.is_empty() => self.rank(operand),
            ExprKind::Compound(name, _) => name.lengths.len(),
            ExprKind::Member(base, member, _) => {
                let structure = self.structure_of(base);
                let part = structure.as_ref().and_then(|it| it.member(&member.text));
                part.map_or(0, |it| it.member.lengths.len())
            }
            _ => 0,
        }
    }

    /// What a pointer, an array or an element is.
    pub(super) fn reference(&mut self, expr: &Expr, body: &mut Vec<Node>) -> Option<Reference> {
        match &expr.kind {
            ExprKind::Name(name) => self.named_reference(name),
            ExprKind::Index(base, subscript) => {
                // C lets `2[a]` be `a[2]`.
                let is_swapped = self.rank(base) == 0 && self.rank(subscript) > 0;
                let (base, subscript) = if is_swapped {
                    (subscript, base)
                } else {
                    (base, subscript)
                };
                // Mistakes in the subscript are reported even if there is nothing to subscript.
                let base = self.subscripted(base, expr.span, body);
                let before = body.len();
                let value = self.expression(subscript, body);
                let (mut base, value) = (base?, value?);
                self.keep_before(before, &mut base.subscripts, body);
                self.indexed(base, value, subscript.span, expr.span)
            }
            ExprKind::Unary(UnaryOp::Dereference, base) => {
                let base = self.subscripted(base, expr.span, body)?;
                let zero = Typed::constant(Value::i64(0));
                self.indexed(base, zero, expr.span, expr.span)
            }
            ExprKind::Unary(UnaryOp::AddressOf, operand) => self.address(operand, expr.span, body),
            ExprKind::Binary(Operator::Arithmetic(op), left, right) => {
                self.moved_reference(*op, left, right, expr.span, body)
            }
            ExprKind::Assign(..) | ExprKind::Step(..) => self.pointer_effect(expr, body),
            ExprKind::Comma(first, second) => {
                self.effect(first, body);
                self.reference(second, body)
            }
            ExprKind::Cast(name, operand) if !name.pointers.is_empty() => {
                self.cast_reference(name, operand, body)
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                self.chosen_pointer([condition, then, otherwise], expr.span, body)
            }
            ExprKind::Member(..) => self.member_reference(expr, body),
            ExprKind::Compound(name, initial) if !name.lengths.is_empty() => {
                self.literal_array(name, initial, expr.span, body)
            }
            ExprKind::Invalid => None,
            _ => {
                self.expression(expr, body)?;
                self.report(PointerProblem::NumberAsPointer, expr.span)
            }
        }
    }

    /// What a pointer points to now, whatever happens later.
    pub(super) fn kept_reference(
        &mut self,
        pointer: &Expr,
        body: &mut Vec<Node>,
    ) -> Option<Reference> {
        let mut reference = self.reference(pointer, body)?;
        for (value, span) in &mut reference.subscripts {
            *value = self.kept(value.clone(), *span, body);
        }
        Some(reference)
    }

    /// `(type *)operand`, which may say what is so anyway.
    fn cast_reference(
        &mut self,
        name: &TypeName,
        operand: &Expr,
        body: &mut Vec<Node>,
    ) -> Option<Reference> {
        let reference = self.reference(operand, body)?;
        let mut plain = name.clone();
        plain.pointers.clear();
        let named = types::named(&plain, types::Position::Member);
        let is_same = |it| reference.target.has_elements(it, &self.kernel);
        match &named {
            Ok(named) if is_same(named) && name.pointers.len() == 1 => Some(reference),
            _ => self.unsupported(
                Unsupported::Declaration(UnsupportedDeclaration::PointerType),
                name.span,
            ),
        }
    }

    /// The pointer or array that subscripts stand behind.
    pub(super) fn subscripted(
        &mut self,
        base: &Expr,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Reference> {
        match &base.kind {
            _ if self.rank(base) > 0 => {}
            ExprKind::Name(name) if !matches!(self.binding(name), Binding::Unbound) => {
                let name = Some(name.text.clone());
                return self.report(SubscriptProblem::NotAnArray { name }, span);
            }
            ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Invalid => {}
            _ => {
                self.expression(base, body)?;
                return self.report(SubscriptProblem::NotAnArray { name: None }, span);
            }
        }
        self.reference(base, body)
    }

    fn named_reference(&mut self, name: &Name) -> Option<Reference> {
        match self.binding(name) {
            Binding::Array { array, is_const } => {
                Some(Reference::new(Target::Array(*array), *is_const))
            }
            Binding::Reference(it) => Some(it.clone()),
            Binding::Cursor(it) => Some(it.reference(name.span)),
            Binding::Pending(_) => {
                let name_text = name.text.clone();
                self.report(PointerProblem::PointerUnset { name: name_text }, name.span)
            }
            Binding::Unbound => None,
            _ => self.report(PointerProblem::NumberAsPointer, name.span),
        }
    }

    /// `base[value]`
    pub(super) fn indexed(
        &mut self,
        base: Reference,
        value: Typed,
        at: Span,
        span: Span,
    ) -> Option<Reference> {
        let mut base = base;
        let dimensions = self.dimensions(&base.target);
        if base.complete() >= dimensions {
            let array = self.target_name(&base.target);
            let found = base.complete() + 1;
            let problem = SubscriptProblem::SubscriptCount {
                array,
                dimensions,
                found,
            };
            return self.report(problem, span);
        }
        if value.ty.is_float() {
            let array = self.target_name(&base.target);
            let ty = value.ty;
            return self.report(SubscriptProblem::SubscriptNotInteger { array, ty }, at);
        }
        let value = match base.subscripts.pop() {
            Some((offset, _)) if base.has_offset => self.shifted(BinaryOp::Add, offset, value, at),
            last => {
                base.subscripts.extend(last);
                value
            }
        };
        base.subscripts.push((value, at));
        base.has_offset = false;
        self.of_cell(base, at)
    }

    /// `&operand`
    fn address(&mut self, operand: &Expr, span: Span, body: &mut Vec<Node>) -> Option<Reference> {
        match &operand.kind {
            ExprKind::Index(base, subscript) => {
                let base = self.subscripted(base, span, body);
                let before = body.len();
                let value = self.expression(subscript, body);
                let (mut base, value) = (base?, value?);
                self.keep_before(before, &mut base.subscripts, body);
                self.moved(base, BinaryOp::Add, value, subscript.span)
            }
            ExprKind::Unary(UnaryOp::Dereference, pointer) => self.reference(pointer, body),
            _ => self.address_of_one(operand, span, body),
        }
    }

    fn moved_reference(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Reference> {
        if !matches!(op, BinaryOp::Add | BinaryOp::Sub) || self.rank(left) * self.rank(right) > 0 {
            let operator = op.symbol();
            return self.report(PointerProblem::PointerOperands { operator }, span);
        }
        if self.rank(left) > 0 {
            let base = self.reference(left, body);
            let before = body.len();
            let value = self.expression(right, body);
            let (mut base, value) = (base?, value?);
            self.keep_before(before, &mut base.subscripts, body);
            return self.moved(base, op, value, right.span);
        }
        let value = self.expression(left, body);
        let before = body.len();
        let base = self.reference(right, body);
        let mut value = [(value?, left.span)];
        self.keep_before(before, &mut value, body);
        let [(value, at)] = value;
        self.moved(base?, op, value, at)
    }

    /// `base + value` or `base - value`
    pub(super) fn moved(
        &mut self,
        base: Reference,
        op: BinaryOp,
        value: Typed,
        at: Span,
    ) -> Option<Reference> {
        let mut base = base;
        if value.ty.is_float() {
            let array = self.target_name(&base.target);
            let ty = value.ty;
            return self.report(SubscriptProblem::SubscriptNotInteger { array, ty }, at);
        }
        if base.complete() >= self.dimensions(&base.target) {
            let name = Some(self.target_name(&base.target));
            return self.report(SubscriptProblem::NotAnArray { name }, at);
        }
        let offset = match base.subscripts.pop() {
            Some((offset, _)) if base.has_offset => offset,
            last => {
                base.subscripts.extend(last);
                Typed::constant(Value::i64(0))
            }
        };
        let offset = self.shifted(op, offset, value, at);
        base.subscripts.push((offset, at));
        base.has_offset = true;
        Some(base)
    }

    /// `offset + value` or `offset - value`, an i64.
    fn shifted(&self, op: BinaryOp, offset: Typed, value: Typed, at: Span) -> Typed {
        let value = value.convert(Type::I64);
        match (offset.as_constant(), value.as_constant()) {
            (Some(0), _) if op == BinaryOp::Add => value,
            (_, Some(0)) => offset,
            _ => value::arithmetic(op, offset, value, at, &self.ranges),
        }
    }

    /// The place in memory of an element that is a number.
    fn access(&mut self, reference: &Reference, span: Span) -> Option<Access> {
        match (&reference.target, reference.target.structure()) {
            (Target::Array(array), _) => self.element_access(reference, *array, span),
            (_, Some(structure)) => {
                let name = structure.name.clone();
                self.report(ExpressionProblem::StructureAsValue { name }, span)
            }
            (_, None) => None,
        }
    }

    /// The element of `array`, which is the target or one of its fields.
    pub(super) fn element_access(
        &mut self,
        reference: &Reference,
        array: ArrayId,
        span: Span,
    ) -> Option<Access> {
        let dimensions = self.dimensions(&reference.target);
        let found = reference.complete();
        if reference.has_offset || found != dimensions {
            let array = self.target_name(&reference.target);
            let problem = if found == 0 {
                SubscriptProblem::ArrayAsValue { array }
            } else {
                SubscriptProblem::SubscriptCount {
                    array,
                    dimensions,
                    found,
                }
            };
            return self.report(problem, span);
        }
        let subscripts = reference.subscripts.iter();
        Some(Access {
            array,
            subscripts: subscripts
                .map(|(value, _)| subscript(value.clone()))
                .collect(),
            span,
        })
    }

    /// The number that an element, or a member of one, holds.
    pub(super) fn element(&mut self, expr: &Expr, body: &mut Vec<Node>) -> Option<Typed> {
        let reference = self.reference(expr, body)?;
        if let Some(binding) = reference.variable() {
            return self.bound(&binding, &unnamed(expr.span));
        }
        let access = self.access(&reference, expr.span)?;
        let constant = self.table_value(&access).map(Typed::constant);
        Some(constant.unwrap_or_else(|| self.loaded(access)))
    }

    pub(super) fn loaded(&self, access: Access) -> Typed {
        let ty = self.kernel.arrays[access.array].element;
        Typed::any(Computation::Load(access), ty)
    }

    /// An element as something that can be stored to.
    pub(super) fn element_place(
        &mut self,
        expr: &Expr,
        body: &mut Vec<Node>,
    ) -> Option<(Place, Type)> {
        let reference = self.reference(expr, body)?;
        if let Some(binding) = reference.variable() {
            let text = self.target_name(&reference.target);
            return self.bound_place(
                &binding,
                &Name {
                    text,
                    ..unnamed(expr.span)
                },
            );
        }
        let access = self.access(&reference, expr.span)?;
        if reference.is_const {
            let name = self.target_name(&reference.target);
            return self.report(ExpressionProblem::AssignToConst { name }, expr.span);
        }
        let ty = self.kernel.arrays[access.array].element;
        Some((Place::Element(access), ty))
    }
}

impl Target {
    /// What the elements are, if they are structures.
    pub(super) fn structure(&self) -> Option<Rc<Structure>> {
        match self {
            Self::Record(record) => Some(Rc::clone(&record.structure)),
            Self::Array(_) => None,
            Self::Cell(cell) => cell.structure(),
        }
    }
}

fn subscript(value: Typed) -> Subscript {
    let value = match value.ty {
        Type::Bool => value.convert(Type::I32),
        _ => value,
    };
    Subscript::Computed(value.expr)
}
