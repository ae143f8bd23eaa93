//! Pointers that are declared, moved and compared.
//!
//! A pointer that is never assigned again is a name for what it was set to. One that moves is a
//! *cursor*: the subscripts it has at the moment are in variables; the array is the same wherever
//! it moves.

use super::reference::{Reference, Target};
use super::value::{self, Typed};
use super::{Binding, Lowering};
use crate::ast::{BinaryOp as Operator, Declarator, Expr, ExprKind, Name, UnaryOp};
use crate::problem::{
    ExpressionProblem, PointerProblem, Problem, SubscriptProblem, Unsupported,
    UnsupportedDeclaration,
};
use crate::types::Named;
use strew_affine::{BinaryOp, CompareOp, Expr as Computation, LocalId, Node, Span, Type, Value};

/// A pointer that is assigned again.
#[derive(Clone, Debug)]
pub(super) struct Cursor {
    pub(super) target: Target,
    /// Whether what it points to is `const`.
    is_const: bool,
    /// Whether the pointer itself is.
    is_fixed: bool,
    /// The subscripts in front of the one that moves.
    pub(super) rows: Vec<Row>,
    /// The subscript that moves.
    offset: LocalId,
}

/// A subscript in front of the one that moves.
#[derive(Clone, Debug)]
pub(super) enum Row {
    /// It stays what it is.
    Fixed(Typed),
    /// It is what this variable holds.
    Moving(LocalId),
}

/// A pointer that is declared and not set yet.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    /// The variables for the subscripts that it will have, more than enough.
    rows: Vec<LocalId>,
    offset: LocalId,
    is_const: bool,
    /// How many blocks are around it.
    nesting: usize,
}

impl Cursor {
    pub(super) fn reference(&self, span: Span) -> Reference {
        let variable = |local: LocalId| Typed::any(Computation::Local(local), Type::I64);
        let rows = self.rows.iter().map(|row| match row {
            Row::Fixed(value) => value.clone(),
            Row::Moving(local) => variable(*local),
        });
        let subscripts = rows.chain([variable(self.offset)]);
        Reference {
            target: self.target.clone(),
            is_const: self.is_const,
            subscripts: subscripts.map(|it| (it, span)).collect(),
            has_offset: true,
        }
    }
}

impl Target {
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Array(left), Self::Array(right)) => left == right,
            (Self::Record(left), Self::Record(right)) => {
                left.fields == right.fields && left.structure == right.structure
            }
            (Self::Cell(left), Self::Cell(right)) => left.is(right),
            _ => false,
        }
    }
}

impl Lowering<'_> {
    pub(super) fn local_pointer(
        &mut self,
        declarator: &Declarator,
        named: &Named,
        body: &mut Vec<Node>,
    ) {
        let name = &declarator.name;
        let [pointer] = declarator.pointers.as_slice() else {
            return self.refuse_pointer(name, declarator.span);
        };
        if !declarator.lengths.is_empty() {
            return self.refuse_pointer(name, declarator.span);
        }
        let Some(initial) = &declarator.initial else {
            let pending = self.pending(name, named.is_const, body);
            return self.bind(name, Binding::Pending(pending));
        };
        let allocated = self.allocated(name, named, initial, body);
        let rank = allocated.as_ref().map_or_else(|| self.rank(initial), |_| 1);
        let reference = allocated.unwrap_or_else(|| self.reference(initial, body));
        let Some(mut reference) = reference else {
            return;
        };
        let is_element = reference.target.has_elements(named, &self.kernel);
        if !is_element || rank != 1 {
            let name_text = name.text.clone();
            let array = self.target_name(&reference.target);
            let problem = PointerProblem::PointerMismatch {
                name: name_text,
                array,
            };
            return self.diagnostics.report(problem, initial.span);
        }
        reference.is_const |= named.is_const;
        if self.is_assigned(name) {
            let cursor = self.cursor(name, reference, pointer.is_const, body);
            self.bind(name, Binding::Cursor(cursor));
        } else {
            for (value, span) in &mut reference.subscripts {
                *value = self.kept_again(value.clone(), *span, body);
            }
            self.bind(name, Binding::Reference(reference));
        }
    }

    fn is_replaced(&self, name: &Name) -> bool {
        let symbols = self.active.symbols;
        name.declaration.is_some_and(|id| symbols.is_replaced(id))
    }

    /// The variables of a pointer that is declared without a value: what is not needed in the end
    /// goes with everything unused.
    fn pending(&mut self, name: &Name, is_const: bool, body: &mut Vec<Node>) -> Pending {
        let arrays = self.kernel.arrays.values();
        let most = arrays.map(|it| it.extents.len()).max().unwrap_or(1);
        let zero = Typed::constant(Value::i64(0));
        let text = format!("{}_row", name.text);
        let rows = (1..most).map(|_| self.variable_of(&text, zero.clone(), name.span, body));
        let rows = rows.collect();
        let offset = self.variable_of(&name.text, zero, name.span, body);
        Pending {
            rows,
            offset,
            is_const,
            nesting: self.nesting,
        }
    }

    fn refuse_pointer(&mut self, name: &Name, span: Span) {
        let name = name.text.clone();
        let problem =
            Problem::Unsupported(Unsupported::Declaration(UnsupportedDeclaration::Pointer {
                name,
            }));
        self.diagnostics.report(problem, span);
    }

    /// A cursor that starts at `reference`.
    pub(super) fn cursor(
        &mut self,
        name: &Name,
        reference: Reference,
        is_fixed: bool,
        body: &mut Vec<Node>,
    ) -> Cursor {
        let Reference {
            target,
            is_const,
            mut subscripts,
            has_offset,
        } = reference;
        if !has_offset {
            subscripts.push((Typed::constant(Value::i64(0)), name.span));
        }
        let zero = || (Typed::constant(Value::i64(0)), name.span);
        let (offset, at) = subscripts.pop().unwrap_or_else(zero);
        let is_replaced = self.is_replaced(name);
        let mut rows = Vec::with_capacity(subscripts.len());
        for (value, span) in subscripts {
            rows.push(if is_replaced {
                let value = value.convert(Type::I64);
                let text = format!("{}_row", name.text);
                Row::Moving(self.variable_of(&text, value, span, body))
            } else {
                Row::Fixed(self.kept_again(value, span, body))
            });
        }
        let offset = self.variable_of(&name.text, offset.convert(Type::I64), at, body);
        Cursor {
            target,
            is_const,
            is_fixed,
            rows,
            offset,
        }
    }

    /// An array parameter that the function moves like a pointer.
    pub(super) fn parameter_cursor(&mut self, name: &Name, body: &mut Vec<Node>) {
        if self.rank_of_name(name) == 0 || !self.is_assigned(name) {
            return;
        }
        let reference = match self.binding(name) {
            Binding::Array { array, is_const } => Reference::new(Target::Array(*array), *is_const),
            Binding::Reference(it) => it.clone(),
            _ => return,
        };
        let cursor = self.cursor(name, reference, false, body);
        self.bind(name, Binding::Cursor(cursor));
    }

    fn rank_of_name(&self, name: &Name) -> usize {
        match self.binding(name) {
            Binding::Array { .. } | Binding::Reference(_) | Binding::Cursor(_) => 1,
            _ => 0,
        }
    }

    /// An assignment to a pointer, or an increment; what it points to afterwards, or before where C
    /// says so.
    pub(super) fn pointer_effect(
        &mut self,
        expr: &Expr,
        body: &mut Vec<Node>,
    ) -> Option<Reference> {
        match &expr.kind {
            ExprKind::Step(step, place) => {
                let cursor = self.moving(place)?;
                let mut before = cursor.reference(place.span);
                let op = if step.up {
                    BinaryOp::Add
                } else {
                    BinaryOp::Sub
                };
                let one = Typed::constant(Value::i64(1));
                let after = self.moved(before.clone(), op, one, expr.span)?;
                if !step.prefix {
                    for (value, span) in &mut before.subscripts {
                        *value = self.kept(value.clone(), *span, body);
                    }
                }
                self.set_cursor(&cursor, after, expr.span, body)?;
                Some(if step.prefix {
                    cursor.reference(expr.span)
                } else {
                    before
                })
            }
            ExprKind::Assign(Some(op), place, value) => {
                let cursor = self.moving(place)?;
                let value_now = self.expression(value, body)?;
                if !matches!(op, BinaryOp::Add | BinaryOp::Sub) {
                    let operator = op.symbol();
                    return self.report(PointerProblem::PointerOperands { operator }, expr.span);
                }
                let from = cursor.reference(place.span);
                let after = self.moved(from, *op, value_now, value.span)?;
                self.set_cursor(&cursor, after, expr.span, body)?;
                Some(cursor.reference(expr.span))
            }
            ExprKind::Assign(None, place, value) => {
                self.need_pointer(place)?;
                let after = self.reference(value, body)?;
                self.settle_pending(place, &after, expr.span)?;
                let cursor = self.moving(place)?;
                self.set_cursor(&cursor, after, expr.span, body)?;
                Some(cursor.reference(expr.span))
            }
            _ => None,
        }
    }

    /// Reports an array, or a row of one, that stands where something is assigned to.
    fn need_pointer(&mut self, place: &Expr) -> Option<()> {
        let mut base = place;
        let mut found = 0;
        while let ExprKind::Index(inner, _) = &base.kind {
            base = inner;
            found += 1;
        }
        let Some(name) = base.as_name() else {
            return Some(());
        };
        let Binding::Array { array, .. } = self.binding(name) else {
            return Some(());
        };
        let dimensions = self.kernel.arrays[*array].extents.len();
        let array = name.text.clone();
        let problem = if found == 0 {
            SubscriptProblem::ArrayAsValue { array }
        } else {
            SubscriptProblem::SubscriptCount {
                array,
                dimensions,
                found,
            }
        };
        self.report(problem, place.span)
    }

    /// The first assignment to a pointer says which array it points into.
    fn settle_pending(&mut self, place: &Expr, reference: &Reference, span: Span) -> Option<()> {
        let Some(name) = place.as_name() else {
            return Some(());
        };
        let Binding::Pending(pending) = self.binding(name).clone() else {
            return Some(());
        };
        let home = reference.target.first().and_then(|it| self.homes.get(&it));
        let is_variable = matches!(reference.target, Target::Cell(_));
        if is_variable || home.is_some_and(|it| *it > pending.nesting) {
            let (name, target) = (name.text.clone(), self.target_name(&reference.target));
            return self.report(PointerProblem::PointerOutlives { name, target }, span);
        }
        if reference.complete() <= pending.rows.len() {
            let rows = pending.rows.into_iter().take(reference.complete());
            let cursor = Cursor {
                target: reference.target.clone(),
                is_const: pending.is_const || reference.is_const,
                is_fixed: false,
                rows: rows.map(Row::Moving).collect(),
                offset: pending.offset,
            };
            self.bind(name, Binding::Cursor(cursor));
        }
        Some(())
    }

    fn moving(&mut self, place: &Expr) -> Option<Cursor> {
        let Some(name) = place.as_name() else {
            return self.report(ExpressionProblem::NotAssignable, place.span);
        };
        match self.binding(name) {
            Binding::Cursor(cursor) if cursor.is_fixed => {
                let name = name.text.clone();
                self.report(ExpressionProblem::AssignToConst { name }, place.span)
            }
            Binding::Cursor(cursor) => Some(cursor.clone()),
            Binding::Pending(_) => {
                let name = name.text.clone();
                self.report(PointerProblem::PointerUnset { name }, place.span)
            }
            Binding::Array { .. } => {
                let array = name.text.clone();
                self.report(SubscriptProblem::ArrayAsValue { array }, place.span)
            }
            _ => None,
        }
    }

    fn set_cursor(
        &mut self,
        cursor: &Cursor,
        after: Reference,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<()> {
        let is_fixed_row = |(row, (value, _)): (&Row, &(Typed, Span))| match row {
            Row::Fixed(held) => held.expr == value.expr,
            Row::Moving(_) => true,
        };
        let stays = cursor.target.is(&after.target)
            && after.complete() == cursor.rows.len()
            && cursor.rows.iter().zip(&after.subscripts).all(is_fixed_row);
        if !stays {
            let problem = PointerProblem::PointerElsewhere {
                from: self.target_name(&cursor.target),
                to: self.target_name(&after.target),
            };
            return self.report(problem, span);
        }
        let mut values = after.subscripts;
        if !after.has_offset {
            values.push((Typed::constant(Value::i64(0)), span));
        }
        let rows = cursor.rows.iter().map(|row| match row {
            Row::Fixed(_) => None,
            Row::Moving(local) => Some(*local),
        });
        let mut stores = Vec::new();
        for (local, (value, at)) in rows.chain([Some(cursor.offset)]).zip(values) {
            let value = value.convert(Type::I64);
            if let Some(local) = local
                && value.expr != Computation::Local(local)
            {
                stores.push((local, value, at));
            }
        }
        // One of the variables may be in the value of another.
        if stores.len() > 1 {
            for (_, value, at) in &mut stores {
                *value = self.kept(value.clone(), *at, body);
            }
        }
        for (local, value, at) in stores {
            body.push(self.set(local, value.expr, at));
        }
        Some(())
    }

    /// `condition ? then : otherwise` of pointers into one array.
    pub(super) fn chosen_pointer(
        &mut self,
        [condition, then, otherwise]: [&Expr; 3],
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Reference> {
        let condition = self.condition(condition, body);
        let [then, otherwise] = [then, otherwise].map(|side| {
            let mut found = None;
            let walk = |it: &mut Self, block: &mut Vec<Node>| found = it.reference(side, block);
            let block = self.nested(side.span, walk);
            found.map(|it| (block, it))
        });
        let ((first, then), (second, otherwise)) = (then?, otherwise?);
        self.check_together(&then, &otherwise, span)?;
        let has_offset = then.has_offset || otherwise.has_offset;
        let (target, is_const) = (then.target.clone(), then.is_const || otherwise.is_const);
        let sides = [(first, then), (second, otherwise)].map(|(block, side)| {
            let (rows, offset) = side.split(span);
            let rows = rows.into_iter().map(|(row, _)| row.convert(Type::I64));
            (block, rows.chain(has_offset.then_some(offset)).collect())
        });
        let chosen = self.all_chosen(condition?, sides, span, body);
        Some(Reference {
            target,
            is_const,
            subscripts: chosen.into_iter().map(|it| (it, span)).collect(),
            has_offset,
        })
    }

    /// Whether two pointers point into one array, with as many subscripts.
    fn check_together(&mut self, left: &Reference, right: &Reference, span: Span) -> Option<()> {
        if left.target.is(&right.target) && left.complete() == right.complete() {
            return Some(());
        }
        let problem = PointerProblem::PointerElsewhere {
            from: self.target_name(&left.target),
            to: self.target_name(&right.target),
        };
        self.report(problem, span)
    }

    /// Whether `condition` asks if a pointer points to anything, which it always does.
    pub(super) fn is_null_check(&self, condition: &Expr) -> bool {
        match &condition.kind {
            ExprKind::Unary(UnaryOp::Not, operand) => self.is_null_check(operand),
            ExprKind::Binary(Operator::Compare(CompareOp::Eq | CompareOp::Ne), left, right) => {
                let is_one = |pointer, null| self.rank(pointer) > 0 && is_null(null);
                is_one(left, right) || is_one(right, left)
            }
            ExprKind::Binary(Operator::And | Operator::Or, left, right) => {
                self.is_null_check(left) && self.is_null_check(right)
            }
            _ => self.rank(condition) > 0,
        }
    }

    /// A comparison or difference of two pointers; `None` also when it is neither.
    pub(super) fn pointer_operation(
        &mut self,
        op: Operator,
        left: &Expr,
        right: &Expr,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Typed> {
        if let Operator::And | Operator::Or = op {
            let left = self.condition(left, body);
            return self.logical(op == Operator::And, left, right, span, body);
        }
        if let Operator::Compare(op @ (CompareOp::Eq | CompareOp::Ne)) = op
            && let Some(pointer) = [(left, right), (right, left)]
                .into_iter()
                .find_map(|(pointer, null)| is_null(null).then_some(pointer))
        {
            self.reference(pointer, body)?;
            return Some(Typed::constant(Value::bool(op == CompareOp::Ne)));
        }
        let is_difference = op == Operator::Arithmetic(BinaryOp::Sub);
        let is_known = is_difference || matches!(op, Operator::Compare(_));
        if !is_known || self.rank(left) == 0 || self.rank(right) == 0 {
            let operator = op.symbol();
            return self.report(PointerProblem::PointerOperands { operator }, span);
        }
        let first = self.reference(left, body);
        let before = body.len();
        let second = self.reference(right, body);
        let (mut first, second) = (first?, second?);
        self.keep_before(before, &mut first.subscripts, body);
        let (first_rows, first_offset) = first.split(left.span);
        let (second_rows, second_offset) = second.split(right.span);
        let same_rows = first_rows.len() == second_rows.len()
            && first_rows
                .iter()
                .zip(&second_rows)
                .all(|((left, _), (right, _))| left.expr == right.expr);
        let is_one = first.target.is(&second.target);
        if let Operator::Compare(op) = op
            && is_one
        {
            let compared = value::compare(op, first_offset.clone(), second_offset.clone());
            let rows = (first_rows.as_slice(), second_rows.as_slice());
            if let Some(compared) = self.compared_in_rows(op, rows, compared) {
                return Some(compared);
            }
        }
        if !is_one || !same_rows {
            let problem = PointerProblem::PointerElsewhere {
                from: self.target_name(&first.target),
                to: self.target_name(&second.target),
            };
            return self.report(problem, span);
        }
        let ranges = &self.ranges;
        let difference = BinaryOp::Sub;
        Some(value::arithmetic(
            difference,
            first_offset,
            second_offset,
            span,
            ranges,
        ))
    }
}

/// `0`, which C takes for a pointer to nothing.
fn is_null(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Constant(value) if value.as_integer() == Some(0))
}

impl Reference {
    /// The complete subscripts, and the one that moves.
    pub(super) fn split(&self, span: Span) -> (Vec<(Typed, Span)>, Typed) {
        let mut rows = self.subscripts.clone();
        let offset = if self.has_offset { rows.pop() } else { None };
        let zero = || (Typed::constant(Value::i64(0)), span);
        let (offset, _) = offset.unwrap_or_else(zero);
        (rows, offset.convert(Type::I64))
    }
}
