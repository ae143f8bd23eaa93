//! What expressions do: assignments, increments, and the order in which operands are evaluated
//! around them.
//!
//! C leaves much of that order open; here operands are evaluated left to right, and the value of a
//! right side before the place is written. A node that the evaluation of an operand leaves in the
//! body runs before the expression that the value is part of: whatever was evaluated earlier and
//! could see the difference is kept in a `let` in front of that node.

use super::Lowering;
use super::unused::may_divide_by_zero;
use super::value::Typed;
use crate::ast::{BinaryOp as Operator, Expr, ExprKind, Step};
use crate::problem::ExpressionProblem;
use crate::recognize;
use crate::types::{self, Named, Position};
use strew_affine::{
    BinaryOp, Expr as Computation, Kernel, Local, LocalId, Node, Place, Span, Subscript, Type,
    Value,
};

impl Lowering<'_> {
    /// An expression that is there for what it does.
    pub(super) fn effect(&mut self, expr: &Expr, body: &mut Vec<Node>) {
        match &expr.kind {
            ExprKind::Comma(first, second) => {
                self.effect(first, body);
                self.effect(second, body);
            }
            _ if expr.has_effects() || is_void_cast(expr) => self.perform(expr, body),
            _ => {
                let value = self.expression(expr, body);
                if value.is_some() {
                    self.diagnostics
                        .report(ExpressionProblem::NoEffect, expr.span);
                }
            }
        }
    }

    /// Evaluates an expression and drops the value.
    fn perform(&mut self, expr: &Expr, body: &mut Vec<Node>) {
        match &expr.kind {
            ExprKind::Assign(..) | ExprKind::Step(..) if self.rank(expr) > 0 => {
                self.pointer_effect(expr, body);
            }
            ExprKind::Assign(None, place, value) if self.structure_value(place).is_some() => {
                self.assign_structure(place, value, expr.span, body);
            }
            ExprKind::Assign(op, place, value) => {
                self.assignment(*op, place, value, expr.span, body);
            }
            ExprKind::Step(step, place) => {
                if let Some(target) = self.place(place, body) {
                    let spans = [place.span; 2];
                    self.update(Some(step.operator()), target, one(), spans, expr.span, body);
                }
            }
            ExprKind::Comma(first, second) => {
                self.perform(first, body);
                self.perform(second, body);
            }
            ExprKind::Conditional(tree, then, otherwise) => {
                let condition = self.condition(tree, body);
                let first = self.nested(then.span, |it, block| it.perform(then, block));
                let second = self.nested(otherwise.span, |it, block| it.perform(otherwise, block));
                body.extend(condition.map(|it| self.when((it, tree.span), first, second)));
            }
            ExprKind::Binary(op @ (Operator::And | Operator::Or), left, right) => {
                let span = left.span;
                let left = self.condition(left, body);
                let second = self.nested(right.span, |it, block| it.perform(right, block));
                body.extend(left.map(|left| match op {
                    Operator::And => self.when((left, span), second, Vec::new()),
                    _ => self.when((left, span), Vec::new(), second),
                }));
            }
            ExprKind::Call(function, arguments) => {
                if let Some(memory) = self.memory_function(function) {
                    self.memory_call(memory, (function, arguments), expr.span, body);
                    return;
                }
                for value in self
                    .call_numbers(function, arguments, expr.span, body)
                    .unwrap_or_default()
                {
                    self.kept(value, expr.span, body);
                }
            }
            ExprKind::Cast(_, operand) if is_void_cast(expr) => self.perform(operand, body),
            _ => {
                if let Some(value) = self.expression(expr, body) {
                    // Nobody reads it, but it may fault.
                    self.kept(value, expr.span, body);
                }
            }
        }
    }

    fn assignment(
        &mut self,
        op: Option<BinaryOp>,
        place: &Expr,
        value: &Expr,
        span: Span,
        body: &mut Vec<Node>,
    ) {
        let spans = [place.span, value.span];
        if let (None, ExprKind::Call(name, arguments)) = (op, &value.kind)
            && let Some(combiner) = self.host_combiner(&name.text).cloned()
        {
            let call = (arguments.as_slice(), value.span);
            return self.update_by_host(combiner, place, call, span, body);
        }
        let before = body.len();
        let Some(((place, ty), value)) = self.sides(place, value, body) else {
            return;
        };
        let Some(value) = self.updated(op, &place, ty, value, spans, span) else {
            return;
        };
        // Nothing but the statement reads what its parts left in front of it.
        let lets = body.get(before..).unwrap_or_default();
        let kernel = &self.kernel;
        if let Some(nodes) = recognize::behind(kernel, lets, &place, &value.expr, span) {
            body.truncate(before);
            return body.extend(nodes);
        }
        let nodes = recognize::assignment(kernel, place.clone(), value.expr.clone(), span);
        if let [Node::Assign { .. }] = nodes.as_slice()
            && let Some(nodes) =
                recognize::declared(kernel, self.combiners, lets, &place, &value.expr, span)
        {
            body.truncate(before);
            return body.extend(nodes);
        }
        body.extend(nodes);
    }

    /// The place and the value of an assignment.
    fn sides(
        &mut self,
        place: &Expr,
        value: &Expr,
        body: &mut Vec<Node>,
    ) -> Option<((Place, Type), Typed)> {
        let target = self.place(place, body);
        let before = body.len();
        let value = self.expression(value, body);
        let (mut place, ty) = target?;
        self.keep_place_before(before, &mut place, body);
        Some(((place, ty), value?))
    }

    /// `place = place op value`, or `place = value`, converted to the type of the place.
    fn update(
        &mut self,
        op: Option<BinaryOp>,
        (place, ty): (Place, Type),
        value: Typed,
        spans: [Span; 2],
        span: Span,
        body: &mut Vec<Node>,
    ) {
        if let Some(value) = self.updated(op, &place, ty, value, spans, span) {
            body.extend(recognize::assignment(&self.kernel, place, value.expr, span));
        }
    }

    /// What `place op= value` stores, or `place = value`, in the type of the place.
    fn updated(
        &mut self,
        op: Option<BinaryOp>,
        place: &Place,
        ty: Type,
        value: Typed,
        spans: [Span; 2],
        span: Span,
    ) -> Option<Typed> {
        let value = match op {
            None => Some(value),
            Some(op) => self.arithmetic(op, Typed::any(held(place), ty), value, spans, span),
        };
        Some(value?.convert(ty))
    }

    /// The value of an assignment: what the place holds after it.
    pub(super) fn assigned(
        &mut self,
        op: Option<BinaryOp>,
        place: &Expr,
        value: &Expr,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Typed> {
        let spans = [place.span, value.span];
        let ((place, ty), value) = self.sides(place, value, body)?;
        let value = self.updated(op, &place, ty, value, spans, span)?;
        Some(self.stored(place, value, span, body))
    }

    /// Stores `value` and gives it back.
    fn stored(&mut self, place: Place, value: Typed, span: Span, body: &mut Vec<Node>) -> Typed {
        if let Place::Local(local) = place
            && !is_settled_leaf(&self.kernel, &value.expr)
        {
            let nodes = recognize::assignment(&self.kernel, place, value.expr, span);
            body.extend(nodes);
            return Typed {
                expr: Computation::Local(local),
                ..value
            };
        }
        let value = self.kept(value, span, body);
        body.push(Node::Assign {
            place,
            value: value.expr.clone(),
            span,
        });
        value
    }

    /// The value of `++` or `--`: behind the place, what it held before.
    pub(super) fn stepped(
        &mut self,
        step: Step,
        operand: &Expr,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Typed> {
        let (place, ty) = self.place(operand, body)?;
        let spans = [operand.span; 2];
        let op = Some(step.operator());
        if step.prefix {
            let value = self.updated(op, &place, ty, one(), spans, span)?;
            return Some(self.stored(place, value, span, body));
        }
        let before = self.kept(Typed::any(held(&place), ty), operand.span, body);
        self.update(op, (place, ty), one(), spans, span, body);
        Some(before)
    }

    /// Stores `value`, of the local's type.
    pub(super) fn set(&self, local: LocalId, value: Computation, span: Span) -> Node {
        Node::Assign {
            place: Place::Local(local),
            value,
            span,
        }
    }

    /// A local that the source does not name, and the node that declares it.
    pub(super) fn unnamed(
        &mut self,
        name: &str,
        mutable: bool,
        value: Typed,
        span: Span,
    ) -> (LocalId, Node) {
        let local = self.kernel.locals.alloc(Local {
            name: name.to_owned(),
            ty: value.ty,
            mutable,
            is_element: false,
            span,
        });
        let value = value.expr;
        (local, Node::Declare { local, value })
    }

    /// Declares a variable that the source does not name.
    pub(super) fn variable_of(
        &mut self,
        name: &str,
        value: Typed,
        span: Span,
        body: &mut Vec<Node>,
    ) -> LocalId {
        let (local, node) = self.unnamed(name, true, value, span);
        body.push(node);
        local
    }

    /// The value as it is now, computed once whatever happens later.
    pub(super) fn kept(&mut self, value: Typed, span: Span, body: &mut Vec<Node>) -> Typed {
        self.kept_as("value", value, span, body)
    }

    /// The same, under a name that tells what it is.
    pub(super) fn kept_as(
        &mut self,
        name: &str,
        value: Typed,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Typed {
        if is_settled_leaf(&self.kernel, &value.expr) {
            return value;
        }
        let mut value = value;
        body.push(self.keep(name, &mut value, span));
        value
    }

    /// Replaces `value` by a `let`.
    fn keep(&mut self, name: &str, value: &mut Typed, span: Span) -> Node {
        let (local, node) = self.unnamed(name, false, value.clone(), span);
        self.kept.insert(local, value.expr.clone());
        value.expr = Computation::Local(local);
        node
    }

    /// Keeps values that were evaluated when the body had `before` nodes, if it has more now.
    pub(super) fn keep_before(
        &mut self,
        before: usize,
        values: &mut [(Typed, Span)],
        body: &mut Vec<Node>,
    ) {
        if body.len() == before {
            return;
        }
        let mut kept = Vec::new();
        for (value, span) in values {
            if !is_settled(&self.kernel, &value.expr) {
                kept.push(self.keep("value", value, *span));
            }
        }
        body.splice(before..before, kept);
    }

    fn does_something(&self, node: &Node) -> bool {
        match node {
            Node::Declare { local, .. } => self.kernel.locals[*local].mutable,
            _ => true,
        }
    }

    /// Keeps the subscripts of a place that was found when the body had `before` nodes, if it has
    /// more now.
    pub(super) fn keep_place_before(
        &mut self,
        before: usize,
        place: &mut Place,
        body: &mut Vec<Node>,
    ) {
        let Place::Element(access) = place else {
            return;
        };
        // A value is evaluated before the subscripts of its place anyway: only what it does
        // matters.
        let added = body.get(before..).unwrap_or_default();
        if !added.iter().any(|it| self.does_something(it)) {
            return;
        }
        let mut kept = Vec::new();
        for subscript in &mut access.subscripts {
            if let Subscript::Computed(expr) = subscript
                && !is_settled(&self.kernel, expr)
            {
                let ty = expr.ty(&self.kernel);
                let mut value = Typed::any(expr.clone(), ty);
                kept.push(self.keep("value", &mut value, access.span));
                *expr = value.expr;
            }
        }
        body.splice(before..before, kept);
    }
}

impl Step {
    fn operator(self) -> BinaryOp {
        if self.up {
            BinaryOp::Add
        } else {
            BinaryOp::Sub
        }
    }
}

fn one() -> Typed {
    Typed::constant(Value::integer(Type::I32, 1))
}

pub(super) fn held(place: &Place) -> Computation {
    match place {
        Place::Element(access) => Computation::Load(access.clone()),
        Place::Local(local) => Computation::Local(*local),
    }
}

/// `(void)value` says that the value is dropped on purpose.
fn is_void_cast(expr: &Expr) -> bool {
    let ExprKind::Cast(name, _) = &expr.kind else {
        return false;
    };
    matches!(
        types::named(name, Position::Cast),
        Ok(Named { ty: None, .. })
    )
}

/// Whether the expression has the same value everywhere below here, and evaluating it later or not
/// at all makes no difference.
fn is_settled(kernel: &Kernel, expr: &Computation) -> bool {
    match expr {
        Computation::Load(_) => false,
        Computation::Local(local) => !kernel.locals[*local].mutable,
        Computation::Binary(op, _, divisor, _) if may_divide_by_zero(*op, divisor) => false,
        other => other
            .operands()
            .into_iter()
            .all(|operand| is_settled(kernel, operand)),
    }
}

/// Whether the expression is settled and costs nothing to evaluate again.
fn is_settled_leaf(kernel: &Kernel, expr: &Computation) -> bool {
    let is_leaf = match expr {
        Computation::Cast(_, operand) => operand.operands().is_empty(),
        other => other.operands().is_empty(),
    };
    is_leaf && is_settled(kernel, expr)
}
