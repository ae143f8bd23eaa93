//! Expressions. `None` means that an error has been reported.

use super::interval::Interval;
use super::value::{self, Typed};
use super::{Binding, Lowering};
use crate::ast::{BinaryOp as Operator, Expr, ExprKind, Name, TypeName, UnaryOp};
use crate::problem::{Problem, Unsupported};
use crate::types::{self, Named, Position};
use strew_affine::{
    Access, ArrayId, BinaryOp, Expr as Computation, Place, Span, Subscript, Type, Value,
};

impl Lowering<'_> {
    fn report<T>(&mut self, problem: Problem, span: Span) -> Option<T> {
        self.diagnostics.report(problem, span);
        None
    }

    fn unsupported<T>(&mut self, what: Unsupported, span: Span) -> Option<T> {
        self.report(Problem::Unsupported(what), span)
    }

    /// The value of an expression.
    pub(super) fn expression(&mut self, expr: &Expr) -> Option<Typed> {
        match &expr.kind {
            ExprKind::Constant(value) => Some(Typed::constant(*value)),
            ExprKind::Name(name) => self.name(name),
            ExprKind::Index(..) => self.element(expr),
            ExprKind::Unary(op, operand) => self.unary(*op, operand, expr.span),
            ExprKind::Binary(..) => self.binary(expr),
            ExprKind::Conditional(condition, then, otherwise) => {
                self.conditional(condition, then, otherwise)
            }
            ExprKind::Cast(name, operand) => self.cast(name, operand),
            ExprKind::Call(function, _) => self.call(function),
            ExprKind::Assign(..) | ExprKind::Step(..) => {
                self.unsupported(Unsupported::NestedAssignment, expr.span)
            }
            ExprKind::Member(..) => self.unsupported(Unsupported::Word(".".to_owned()), expr.span),
            ExprKind::SizeOf(_) | ExprKind::SizeOfType(_) => {
                self.unsupported(Unsupported::Word("sizeof".to_owned()), expr.span)
            }
            ExprKind::Braced(_) => self.report(Problem::MisplacedBraces, expr.span),
            ExprKind::Comma(..) => self.unsupported(Unsupported::Comma, expr.span),
            ExprKind::Invalid => None,
        }
    }

    fn name(&mut self, name: &Name) -> Option<Typed> {
        match self.binding(name) {
            Binding::Unbound => None,
            Binding::Parameter(scalar) => Some(self.parameter(*scalar)),
            Binding::Iterator { iter, ty } => Some(self.iterator(*iter, *ty)),
            Binding::Unset(ty) => Some(Typed::constant(Value::zero(*ty))),
            Binding::Let { local, known } => {
                let ty = self.kernel.locals[*local].ty;
                let expr = match known.range.and_then(Interval::as_point) {
                    Some(value) => Computation::Constant(Value::integer(ty, value)),
                    None => Computation::Local(*local),
                };
                let known = known.clone();
                Some(Typed { expr, ty, known })
            }
            Binding::Variable { local, .. } => {
                let ty = self.kernel.locals[*local].ty;
                Some(Typed::any(Computation::Local(*local), ty))
            }
            Binding::Array { .. } => {
                let array = name.text.clone();
                self.report(Problem::ArrayAsValue { array }, name.span)
            }
        }
    }

    fn element(&mut self, expr: &Expr) -> Option<Typed> {
        let (access, _) = self.access(expr)?;
        let ty = self.kernel.arrays[access.array].element;
        Some(Typed::any(Computation::Load(access), ty))
    }

    fn conditional(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Option<Typed> {
        let condition = self.expression(condition);
        let (then, otherwise) = (self.expression(then), self.expression(otherwise));
        Some(value::select(condition?, then?, otherwise?))
    }

    fn cast(&mut self, name: &TypeName, operand: &Expr) -> Option<Typed> {
        let operand = self.expression(operand);
        match types::named(name, Position::Cast) {
            Ok(Named { ty: Some(ty), .. }) => Some(operand?.convert(ty)),
            Ok(_) => self.report(Problem::VoidValue, name.span),
            Err(problem) => self.report(problem, name.span),
        }
    }

    fn call(&mut self, function: &Name) -> Option<Typed> {
        let name = function.text.clone();
        if name == self.kernel.name {
            return self.report(Problem::Recursion { function: name }, function.span);
        }
        let what = if self.functions.contains(&name) {
            Unsupported::Call { function: name }
        } else {
            Unsupported::OutsideCall { function: name }
        };
        self.unsupported(what, function.span)
    }

    fn unary(&mut self, op: UnaryOp, operand: &Expr, span: Span) -> Option<Typed> {
        if matches!(op, UnaryOp::Dereference | UnaryOp::AddressOf) {
            return self.unsupported(Unsupported::PointerOperator(op.symbol()), span);
        }
        let position = operand.span;
        let operand = self.expression(operand)?;
        if op == UnaryOp::BitNot {
            self.need_integer(&operand, op.symbol(), position)?;
        }
        Some(match op {
            UnaryOp::Plus => value::plus(operand),
            UnaryOp::Minus => value::negated(operand, &self.ranges),
            UnaryOp::BitNot => value::complement(operand, &self.ranges),
            UnaryOp::Not => value::not(operand),
            UnaryOp::Dereference | UnaryOp::AddressOf => return None,
        })
    }

    /// Goes down the left operands in a loop: sums of many terms lean that way, and would need much stack otherwise.
    fn binary(&mut self, expr: &Expr) -> Option<Typed> {
        let mut pending = Vec::new();
        let mut leftmost = expr;
        while let ExprKind::Binary(op, left, right) = &leftmost.kind {
            pending.push((*op, right, [left.span, right.span], leftmost.span));
            leftmost = left;
        }
        let mut value = self.expression(leftmost);
        for (op, right, spans, span) in pending.into_iter().rev() {
            let right = self.expression(right);
            value = match (value, right) {
                (Some(left), Some(right)) => self.operate(op, left, right, spans, span),
                _ => None,
            };
        }
        value
    }

    fn operate(
        &mut self,
        op: Operator,
        left: Typed,
        right: Typed,
        spans: [Span; 2],
        span: Span,
    ) -> Option<Typed> {
        match op {
            Operator::Arithmetic(op) => self.arithmetic(op, left, right, spans, span),
            Operator::Compare(op) => Some(value::compare(op, left, right)),
            Operator::And => Some(value::and(left, right)),
            Operator::Or => Some(value::or(left, right)),
        }
    }

    /// `left op right`, each operand with its own span.
    pub(super) fn arithmetic(
        &mut self,
        op: BinaryOp,
        left: Typed,
        right: Typed,
        spans: [Span; 2],
        span: Span,
    ) -> Option<Typed> {
        if op.is_integer_only() {
            for (operand, position) in [&left, &right].into_iter().zip(spans) {
                self.need_integer(operand, op.symbol(), position)?;
            }
        }
        Some(value::arithmetic(op, left, right, span, &self.ranges))
    }

    fn need_integer(&mut self, operand: &Typed, operator: &'static str, span: Span) -> Option<()> {
        if operand.ty.is_float() {
            let ty = operand.ty;
            return self.report(Problem::IntegerOperator { operator, ty }, span);
        }
        Some(())
    }

    /// An array element, and whether it is `const`.
    fn access(&mut self, expr: &Expr) -> Option<(Access, bool)> {
        let mut subscripts = Vec::new();
        let mut base = expr;
        while let ExprKind::Index(inner, subscript) = &base.kind {
            subscripts.push(&**subscript);
            base = inner;
        }
        subscripts.reverse();
        // Mistakes in the subscripts are reported even if there is nothing to subscript.
        let values: Vec<_> = subscripts
            .iter()
            .map(|it| (it.span, self.expression(it)))
            .collect();
        let (array, is_const) = self.subscripted(base, expr.span)?;
        let name = &self.kernel.arrays[array].name;
        let dimensions = self.kernel.arrays[array].extents.len();
        if dimensions != values.len() {
            let problem = Problem::SubscriptCount {
                array: name.clone(),
                dimensions,
                found: values.len(),
            };
            return self.report(problem, expr.span);
        }
        let mut subscripts = Vec::with_capacity(dimensions);
        for (span, value) in values {
            subscripts.push(self.subscript(array, value?, span)?);
        }
        let span = expr.span;
        let access = Access {
            array,
            subscripts,
            span,
        };
        Some((access, is_const))
    }

    fn subscripted(&mut self, base: &Expr, span: Span) -> Option<(ArrayId, bool)> {
        let Some(name) = base.as_name() else {
            self.expression(base)?;
            return self.report(Problem::NotAnArray { name: None }, span);
        };
        match self.binding(name) {
            Binding::Array { array, is_const } => Some((*array, *is_const)),
            Binding::Unbound => None,
            _ => {
                let name = Some(name.text.clone());
                self.report(Problem::NotAnArray { name }, span)
            }
        }
    }

    fn subscript(&mut self, array: ArrayId, value: Typed, span: Span) -> Option<Subscript> {
        if value.ty.is_float() {
            let array = self.kernel.arrays[array].name.clone();
            let ty = value.ty;
            return self.report(Problem::SubscriptNotInteger { array, ty }, span);
        }
        let value = match value.ty {
            Type::Bool => value.convert(Type::I32),
            _ => value,
        };
        Some(match value.known.affine {
            Some(affine) => Subscript::Affine(affine),
            None => Subscript::Computed(value.expr),
        })
    }

    /// Something that a statement can write, and its type.
    pub(super) fn place(&mut self, expr: &Expr) -> Option<(Place, Type)> {
        match &expr.kind {
            ExprKind::Index(..) => {
                let (access, is_const) = self.access(expr)?;
                let array = &self.kernel.arrays[access.array];
                if is_const {
                    let name = array.name.clone();
                    return self.report(Problem::AssignToConst { name }, expr.span);
                }
                let ty = array.element;
                Some((Place::Element(access), ty))
            }
            ExprKind::Name(name) => self.variable(name),
            ExprKind::Invalid => None,
            _ => {
                self.expression(expr)?;
                self.report(Problem::NotAssignable, expr.span)
            }
        }
    }

    fn variable(&mut self, name: &Name) -> Option<(Place, Type)> {
        match *self.binding(name) {
            Binding::Variable { local, is_const } => {
                if is_const {
                    let text = name.text.clone();
                    return self.report(Problem::AssignToConst { name: text }, name.span);
                }
                Some((Place::Local(local), self.kernel.locals[local].ty))
            }
            Binding::Array { .. } => {
                let array = name.text.clone();
                self.report(Problem::ArrayAsValue { array }, name.span)
            }
            // Everything that is assigned anywhere is a variable.
            Binding::Unbound
            | Binding::Parameter(_)
            | Binding::Iterator { .. }
            | Binding::Unset(_)
            | Binding::Let { .. } => None,
        }
    }
}
