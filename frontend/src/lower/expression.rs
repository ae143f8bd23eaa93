//! Expressions. `None` means that an error has been reported.
//!
//! A kernel's expressions have no side effects, C's have: what an expression does goes to `body` as
//! nodes, in C's order, and what is left is the value behind them. See [`super::effect`] for how
//! the order is kept.

use super::interval::Interval;
use super::value::{self, Typed};
use super::{Binding, Lowering};
use crate::ast::{BinaryOp as Operator, Expr, ExprKind, Name, TypeName, UnaryOp};
use crate::problem::{
    DeclarationProblem, ExpressionProblem, InitializerProblem, Problem, SubscriptProblem,
    Unsupported,
};
use crate::types::{self, Named, Position};
use strew_affine::{BinaryOp, Expr as Computation, Node, Place, Span, Type, Value};

/// How many expressions contain each other in the source before a value is kept in a `let`: every
/// operator of C becomes at most four levels of the kernel's expression, whose depth is limited.
const KEPT_EVERY: usize = 20;

/// An operator with its operands, and the whole.
type Operation<'e> = (Operator, &'e Expr, &'e Expr, &'e Expr);

impl Lowering<'_> {
    pub(super) fn report<T>(&mut self, problem: impl Into<Problem>, span: Span) -> Option<T> {
        self.diagnostics.report(problem, span);
        None
    }

    /// Whether an expression is not 0. A pointer always points into an array.
    pub(super) fn condition(&mut self, expr: &Expr, body: &mut Vec<Node>) -> Option<Typed> {
        if self.rank(expr) > 0 {
            self.reference(expr, body)?;
            return Some(Typed::constant(Value::bool(true)));
        }
        self.expression(expr, body).map(Typed::condition)
    }

    pub(super) fn unsupported<T>(&mut self, what: Unsupported, span: Span) -> Option<T> {
        self.report(Problem::Unsupported(what), span)
    }

    /// The value of an expression; what it does is appended to `body`.
    pub(super) fn expression(&mut self, expr: &Expr, body: &mut Vec<Node>) -> Option<Typed> {
        let value = match &expr.kind {
            ExprKind::Constant(value) => Some(Typed::constant(*value)),
            ExprKind::Name(name) => self.name(name),
            ExprKind::Index(..) => self.element(expr, body),
            ExprKind::Unary(UnaryOp::Dereference, _) => self.element(expr, body),
            ExprKind::Unary(op, operand) => self.unary(*op, operand, expr.span, body),
            ExprKind::Binary(..) => return self.binary(expr, body),
            ExprKind::Conditional(condition, then, otherwise) => {
                self.conditional([condition, then, otherwise], expr.span, body)
            }
            ExprKind::Cast(name, operand) => self.cast(name, operand, body),
            ExprKind::Compound(name, initial) => self.compound(name, initial, expr.span, body),
            ExprKind::Call(..) if self.structure_value(expr).is_some() => {
                let structure = self.structure_value(expr);
                let name = structure.map_or_else(String::new, |it| it.name.clone());
                self.report(ExpressionProblem::StructureAsValue { name }, expr.span)
            }
            ExprKind::Call(function, arguments) => {
                match self.call(function, arguments, expr.span, body)? {
                    Some(value) => Some(value),
                    None => self.report(DeclarationProblem::VoidValue, expr.span),
                }
            }
            ExprKind::Assign(op, place, value) => self.assigned(*op, place, value, expr.span, body),
            ExprKind::Step(step, place) => self.stepped(*step, place, expr.span, body),
            ExprKind::Comma(first, second) => {
                self.effect(first, body);
                self.expression(second, body)
            }
            ExprKind::Member(..) => self.member(expr, body),
            ExprKind::SizeOf(operand) => self.size_of(operand, expr.span),
            // A constant or a product by now.
            ExprKind::SizeOfType(_) => None,
            ExprKind::Braced(_) => self.report(InitializerProblem::MisplacedBraces, expr.span),
            ExprKind::Text => self.unsupported(Unsupported::Text, expr.span),
            ExprKind::Invalid => None,
        };
        Some(self.shallow(value?, expr, body))
    }

    /// The value of an expression that does nothing else; `None` also when it does.
    pub(super) fn plain_expression(&mut self, expr: &Expr) -> Option<Typed> {
        if expr.has_effects() {
            return None;
        }
        let mut effects = Vec::new();
        let value = self.expression(expr, &mut effects);
        value.filter(|_| effects.is_empty())
    }

    /// Keeps the value of `expr` in a `let` if many expressions are inside of it.
    fn shallow(&mut self, value: Typed, expr: &Expr, body: &mut Vec<Node>) -> Typed {
        if expr.depth.is_multiple_of(KEPT_EVERY) {
            self.kept(value, expr.span, body)
        } else {
            value
        }
    }

    fn name(&mut self, name: &Name) -> Option<Typed> {
        let binding = self.binding(name).clone();
        self.bound(&binding, name)
    }

    /// The value of a name that is bound to this.
    pub(super) fn bound(&mut self, binding: &Binding, name: &Name) -> Option<Typed> {
        match binding {
            Binding::Unbound => None,
            Binding::Parameter(scalar) => Some(self.parameter(*scalar)),
            Binding::Unset(ty) => Some(Typed::constant(Value::zero(*ty))),
            Binding::Value(value) => Some(value.clone()),
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
            Binding::Structure(_)
            | Binding::Array { .. }
            | Binding::Reference(_)
            | Binding::Cursor(_)
            | Binding::Pending(_) => self.not_a_scalar(binding, name),
        }
    }

    /// Reports that `name`, a structure or an array, stands where a number is needed.
    fn not_a_scalar<T>(&mut self, binding: &Binding, name: &Name) -> Option<T> {
        if let Binding::Structure(members) = binding {
            let structure = members.structure.name.clone();
            let problem = ExpressionProblem::StructureAsValue { name: structure };
            return self.report(problem, name.span);
        }
        let array = name.text.clone();
        self.report(SubscriptProblem::ArrayAsValue { array }, name.span)
    }

    fn conditional(
        &mut self,
        [condition, then, otherwise]: [&Expr; 3],
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Typed> {
        let condition = self.condition(condition, body);
        let (first, then) = self.inside(then);
        let (second, otherwise) = self.inside(otherwise);
        let ty = types::common(then.as_ref()?.ty, otherwise.as_ref()?.ty);
        let then = (first, then?.convert(ty));
        let otherwise = (second, otherwise?.convert(ty));
        Some(self.chosen(condition?, [then, otherwise], span, body))
    }

    /// One of two values of one type, each with what has to be done for it.
    pub(super) fn chosen(
        &mut self,
        condition: Typed,
        [(mut first, then), (mut second, otherwise)]: [(Vec<Node>, Typed); 2],
        span: Span,
        body: &mut Vec<Node>,
    ) -> Typed {
        if first.is_empty() && second.is_empty() {
            return value::select(condition, then, otherwise);
        }
        let ty = then.ty;
        let chosen = self.variable_of("chosen", Typed::constant(Value::zero(ty)), span, body);
        first.push(self.set(chosen, then.expr, span));
        second.push(self.set(chosen, otherwise.expr, span));
        body.push(self.when((condition.condition(), span), first, second));
        Typed::any(Computation::Local(chosen), ty)
    }

    /// The value of an expression, and what it does, for a block inside of the present one.
    fn inside(&mut self, expr: &Expr) -> (Vec<Node>, Option<Typed>) {
        let mut value = None;
        let block = self.nested(expr.span, |it, block| value = it.expression(expr, block));
        (block, value)
    }

    fn cast(&mut self, name: &TypeName, operand: &Expr, body: &mut Vec<Node>) -> Option<Typed> {
        let operand = self.expression(operand, body);
        match types::named(name, Position::Cast) {
            Ok(Named { ty: Some(ty), .. }) => Some(operand?.convert(ty)),
            Ok(_) => self.report(DeclarationProblem::VoidValue, name.span),
            Err(problem) => self.report(problem, name.span),
        }
    }

    /// `(type){ value }` of a number.
    fn compound(
        &mut self,
        name: &TypeName,
        initial: &Expr,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Typed> {
        match types::named(name, Position::Member) {
            Ok(Named {
                structure: Some(structure),
                ..
            }) => {
                let name = structure.name.clone();
                self.report(ExpressionProblem::StructureAsValue { name }, span)
            }
            Ok(_) => match crate::initializer::scalar(initial) {
                Some(value) => self.cast(name, value, body),
                None => self.report(InitializerProblem::MisplacedBraces, initial.span),
            },
            Err(problem) => self.report(problem, name.span),
        }
    }

    fn unary(
        &mut self,
        op: UnaryOp,
        operand: &Expr,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Typed> {
        if matches!(op, UnaryOp::Dereference | UnaryOp::AddressOf) {
            return self.unsupported(Unsupported::PointerAsValue, span);
        }
        if op == UnaryOp::Not {
            return self.condition(operand, body).map(value::not);
        }
        let position = operand.span;
        let operand = self.expression(operand, body)?;
        if op == UnaryOp::BitNot {
            self.need_integer(&operand, op.symbol(), position)?;
        }
        Some(match op {
            UnaryOp::Plus => value::plus(operand),
            UnaryOp::Minus => value::negated(operand, &self.ranges),
            UnaryOp::BitNot => value::complement(operand, &self.ranges),
            UnaryOp::Not | UnaryOp::Dereference | UnaryOp::AddressOf => return None,
        })
    }

    /// Goes down the left operands in a loop: sums of many terms lean that way, and would need much
    /// stack otherwise.
    fn binary(&mut self, expr: &Expr, body: &mut Vec<Node>) -> Option<Typed> {
        let (pending, leftmost) = self.left_spine(expr);
        let mut value = match &leftmost.kind {
            ExprKind::Binary(op, left, right) => {
                self.pointer_operation(*op, left, right, leftmost.span, body)
            }
            _ => self.expression(leftmost, body),
        };
        for (op, left, right, whole) in pending.into_iter().rev() {
            let left_span = left.span;
            let spans = [left_span, right.span];
            value = match op {
                Operator::Arithmetic(op) => {
                    let operands = self.operands(value, left_span, right, body);
                    operands.and_then(|(left, right)| {
                        self.arithmetic(op, left, right, spans, whole.span)
                    })
                }
                Operator::Compare(op) => {
                    let operands = self.operands(value, left_span, right, body);
                    operands.map(|(left, right)| value::compare(op, left, right))
                }
                Operator::And => self.logical(true, value, right, whole.span, body),
                Operator::Or => self.logical(false, value, right, whole.span, body),
            };
            value = value.map(|it| self.shallow(it, whole, body));
        }
        value
    }

    /// The operators on the way down the left operands, outermost first, and what is below the
    /// last: something else, or an operator on pointers.
    fn left_spine<'e>(&self, expr: &'e Expr) -> (Vec<Operation<'e>>, &'e Expr) {
        let mut spine = Vec::new();
        let mut leftmost = expr;
        while let ExprKind::Binary(op, left, right) = &leftmost.kind {
            spine.push((*op, &**left, &**right, leftmost));
            leftmost = left;
        }
        let mut rank = self.rank(leftmost);
        let mut outermost = None;
        for (index, (op, _, right, _)) in spine.iter().enumerate().rev() {
            let right = self.rank(right);
            if rank.max(right) > 0 {
                outermost = Some(index);
            }
            rank = match op {
                Operator::Arithmetic(BinaryOp::Add) => rank.max(right),
                Operator::Arithmetic(BinaryOp::Sub) if right == 0 => rank,
                _ => 0,
            };
        }
        if let Some((_, _, _, whole)) = outermost.and_then(|index| spine.get(index)) {
            leftmost = whole;
            spine.truncate(outermost.unwrap_or_default());
        }
        (spine, leftmost)
    }

    /// The right operand of a left one, which keeps the value it had before.
    fn operands(
        &mut self,
        left: Option<Typed>,
        left_span: Span,
        right: &Expr,
        body: &mut Vec<Node>,
    ) -> Option<(Typed, Typed)> {
        let before = body.len();
        let right = self.expression(right, body);
        let mut left = [(left?, left_span)];
        self.keep_before(before, &mut left, body);
        let [(left, _)] = left;
        Some((left, right?))
    }

    /// `left && right`, or `left || right`: where the right operand does something, it is a branch
    /// of its own.
    pub(super) fn logical(
        &mut self,
        is_and: bool,
        left: Option<Typed>,
        right: &Expr,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Typed> {
        let mut holds = None;
        let mut inner = self.nested(right.span, |it, block| holds = it.condition(right, block));
        let (left, right) = (left?.condition(), holds?);
        if inner.is_empty() {
            return Some(if is_and {
                value::and(left, right)
            } else {
                value::or(left, right)
            });
        }
        let decided = Typed::constant(Value::bool(!is_and));
        let holds = self.variable_of("holds", decided, span, body);
        inner.push(self.set(holds, right.expr, span));
        let (then, otherwise) = if is_and {
            (inner, Vec::new())
        } else {
            (Vec::new(), inner)
        };
        body.push(self.when((left, span), then, otherwise));
        Some(Typed::any(Computation::Local(holds), Type::Bool))
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
            return self.report(ExpressionProblem::IntegerOperator { operator, ty }, span);
        }
        Some(())
    }

    /// The values of several operands with their spans, evaluated left to right.
    pub(super) fn each(
        &mut self,
        operands: &[&Expr],
        body: &mut Vec<Node>,
    ) -> Option<Vec<(Typed, Span)>> {
        let mut values = Vec::with_capacity(operands.len());
        let mut is_complete = true;
        for operand in operands {
            let before = body.len();
            let value = self.expression(operand, body);
            self.keep_before(before, &mut values, body);
            is_complete &= value.is_some();
            values.extend(value.map(|it| (it, operand.span)));
        }
        is_complete.then_some(values)
    }

    /// Something that a statement can write, and its type.
    pub(super) fn place(&mut self, expr: &Expr, body: &mut Vec<Node>) -> Option<(Place, Type)> {
        match &expr.kind {
            ExprKind::Index(..) | ExprKind::Unary(UnaryOp::Dereference, _) => {
                self.element_place(expr, body)
            }
            ExprKind::Member(..) => self.member_place(expr, body),
            ExprKind::Name(name) => self.variable(name),
            ExprKind::Invalid => None,
            _ => {
                self.expression(expr, body)?;
                self.report(ExpressionProblem::NotAssignable, expr.span)
            }
        }
    }

    fn variable(&mut self, name: &Name) -> Option<(Place, Type)> {
        let binding = self.binding(name).clone();
        self.bound_place(&binding, name)
    }

    /// The place of a name that is bound to this.
    pub(super) fn bound_place(&mut self, binding: &Binding, name: &Name) -> Option<(Place, Type)> {
        match *binding {
            Binding::Variable { local, is_const } => {
                if is_const {
                    let text = name.text.clone();
                    return self.report(ExpressionProblem::AssignToConst { name: text }, name.span);
                }
                Some((Place::Local(local), self.kernel.locals[local].ty))
            }
            Binding::Structure(_)
            | Binding::Array { .. }
            | Binding::Reference(_)
            | Binding::Cursor(_)
            | Binding::Pending(_) => self.not_a_scalar(binding, name),
            // Everything that is assigned anywhere is a variable.
            Binding::Unbound
            | Binding::Parameter(_)
            | Binding::Value(_)
            | Binding::Unset(_)
            | Binding::Let { .. } => None,
        }
    }
}
