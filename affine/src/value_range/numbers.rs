//! What numbers lie between, by what they are computed from and by the conditions inside of
//! expressions.

use super::Range;
use super::span::{Span, binary};
use crate::{
    AffineExpr, BinaryOp, CompareOp, Expr, IterId, Kernel, LocalId, ScalarId, Type, UnaryOp, Value,
    Variable,
};
use std::collections::BTreeMap;

/// So many parts of one expression are looked at.
const MOST_LOOKS: usize = 512;

/// So many of the newest facts are kept in mind: each part is compared with all of them.
const MOST_FACTS: usize = 16;

/// What scalars and iterators lie between; whatever is not there holds anything.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) locals: BTreeMap<LocalId, Span>,
    pub(crate) iters: BTreeMap<IterId, Span>,
}

/// An extent that numbers are compared with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extent {
    expr: AffineExpr,
    /// The parameter that it is, and what has to be added to it.
    param: Option<(ScalarId, i128)>,
    /// The least and the greatest extent.
    range: Range,
}

impl Extent {
    /// `None` for one that is never that large.
    pub(crate) fn of_at_least(least: i128, expr: &AffineExpr) -> Option<Self> {
        let range = match expr.as_constant() {
            Some(constant) => (constant.into(), constant.into()),
            None => (least, i64::MAX.into()),
        };
        let constant = expr.constant();
        let base = expr.minus(&constant.into()).ok();
        let param = match base.and_then(|it| it.as_variable()) {
            Some(Variable::Param(param)) => Some((param, constant.into())),
            _ => None,
        };
        (range.0 >= least).then(|| Self {
            expr: expr.clone(),
            param,
            range,
        })
    }
}

/// What a condition says of a number.
struct Fact<'n> {
    number: &'n Expr,
    span: Span,
}

/// The numbers of one expression.
pub(crate) struct Numbers<'n> {
    kernel: &'n Kernel,
    extent: &'n Extent,
    known: &'n Known,
    facts: Vec<Fact<'n>>,
    looks: usize,
}

impl<'n> Numbers<'n> {
    pub(crate) fn new(kernel: &'n Kernel, extent: &'n Extent, known: &'n Known) -> Self {
        Self {
            kernel,
            extent,
            known,
            facts: Vec::new(),
            looks: 0,
        }
    }

    /// Of sums of a variable and a constant, and of those that are so far from the extent.
    pub(crate) fn affine(&self, expr: &AffineExpr) -> Span {
        let constant = i128::from(expr.constant());
        let base = expr.minus(&expr.constant().into()).ok();
        let base = match base.map(|it| (it.as_constant(), it.as_variable())) {
            Some((Some(_), _)) => Span::of((0, 0)),
            Some((_, Some(Variable::Param(param)))) => self.param(param),
            Some((_, Some(Variable::Iter(iter)))) => self.iter(iter),
            _ => Span::default(),
        };
        let distance = expr.minus(&self.extent.expr).ok();
        let beside = match distance.and_then(|it| it.as_constant()) {
            Some(distance) => Span::beside((distance.into(), distance.into())),
            None => Span::default(),
        };
        self.narrowed(base.offset(constant).and(beside))
    }

    pub(crate) fn narrowed(&self, span: Span) -> Span {
        span.narrowed(self.extent.range)
    }

    fn iter(&self, iter: IterId) -> Span {
        let known = self.known.iters.get(&iter).copied();
        known.unwrap_or(Span::of(whole(Type::I64)))
    }

    fn param(&self, param: ScalarId) -> Span {
        let span = Span::of(whole(self.kernel.scalars[param].ty));
        match self.extent.param {
            Some((same, further)) if same == param => span.and(Span::beside((-further, -further))),
            _ => span,
        }
    }

    pub(crate) fn span(&mut self, expr: &'n Expr) -> Span {
        let ty = expr.ty(self.kernel);
        let whole = Span::of(whole(ty));
        self.looks += 1;
        if ty.is_float() || self.looks > MOST_LOOKS {
            return self.narrowed(whole);
        }
        let found = self.computed(expr).unwrap_or(whole);
        let found = self.narrowed(found);
        let mut span = match found.is_within(whole.number) {
            true => found,
            false => whole,
        };
        for fact in self.facts.iter().rev().take(MOST_FACTS) {
            if fact.number.is_same(expr) {
                span = span.and(fact.span);
            }
        }
        self.narrowed(span)
    }

    /// Whether `expr` wraps for none of its operands.
    pub(crate) fn is_exact(&mut self, expr: &'n Expr) -> bool {
        let whole = whole(expr.ty(self.kernel));
        self.computed(expr).is_some_and(|it| it.is_within(whole))
    }

    /// As far as the operands tell; numbers beyond the type have wrapped.
    fn computed(&mut self, expr: &'n Expr) -> Option<Span> {
        match expr {
            Expr::Constant(value) => point(value),
            Expr::Param(param) => Some(self.param(*param)),
            Expr::Iter(iter) => Some(self.iter(*iter)),
            Expr::Local(local) => self.known.locals.get(local).copied(),
            Expr::Cast(Type::Bool, _) => None,
            Expr::Cast(_, operand) => Some(self.span(operand)),
            Expr::Unary(UnaryOp::Neg, operand) => {
                let operand = self.span(operand);
                binary(BinaryOp::Sub, Span::of((0, 0)), operand, 64)
            }
            Expr::Unary(op, operand) if UnaryOp::COUNTING.contains(op) => {
                let bits = operand.ty(self.kernel).bits();
                Some(Span::of((0, bits.into())))
            }
            Expr::Binary(BinaryOp::Mul, left, right, _) if left.is_same(right) => {
                let (least, most) = self.span(left).number;
                let nearest = 0.clamp(least.min(most), most);
                let furthest = least.unsigned_abs().max(most.unsigned_abs());
                let furthest = i128::try_from(furthest).ok()?;
                Some(Span::of((
                    nearest.checked_mul(nearest)?,
                    furthest.checked_mul(furthest)?,
                )))
            }
            Expr::Binary(op, left, right, _) => {
                let left = self.span(left);
                let right = self.span(right);
                binary(*op, left, right, expr.ty(self.kernel).bits())
            }
            Expr::Select(condition, then, otherwise) => {
                let then = self.span_where((condition, true), then);
                Some(then.or(self.span_where((condition, false), otherwise)))
            }
            _ => None,
        }
    }

    fn span_where(&mut self, condition: (&'n Expr, bool), expr: &'n Expr) -> Span {
        let around = self.facts.len();
        self.learn(condition);
        let span = self.span(expr);
        self.facts.truncate(around);
        span
    }

    /// What scalars lie between where the condition holds, or where it does not.
    pub(crate) fn scalars_where(mut self, condition: (&'n Expr, bool)) -> Vec<(LocalId, Span)> {
        self.learn(condition);
        let facts = self.facts.iter().filter_map(|fact| match fact.number {
            Expr::Local(local) => Some((*local, fact.span)),
            _ => None,
        });
        facts.collect()
    }

    fn learn(&mut self, (condition, holds): (&'n Expr, bool)) {
        match condition {
            Expr::Unary(UnaryOp::Not, operand) => self.learn((operand, !holds)),
            Expr::And(left, right) if holds => {
                self.learn((left, holds));
                self.learn((right, holds));
            }
            Expr::Or(left, right) if !holds => {
                self.learn((left, holds));
                self.learn((right, holds));
            }
            Expr::Compare(op, left, right) if left.ty(self.kernel).is_integer() => {
                let op = if holds { *op } else { op.opposite() };
                let before = self.span(left);
                let after = self.span(right);
                self.note(left, before.and(related(op, before, after)));
                self.note(right, after.and(related(op.mirrored(), after, before)));
            }
            _ => {}
        }
    }

    fn note(&mut self, number: &'n Expr, span: Span) {
        let span = self.narrowed(span);
        if matches!(number, Expr::Constant(_)) {
            return;
        }
        self.facts.push(Fact { number, span });
        // A number of no fewer bits that is one of the other type is the same number there.
        if let Expr::Cast(to, inner) = number
            && let from = inner.ty(self.kernel)
            && from.is_integer()
            && to.bits() >= from.bits()
            && span.is_within(whole(from))
        {
            self.note(inner, span);
        }
    }
}

/// What of `number` it says that this holds between it and `other`.
fn related(op: CompareOp, number: Span, other: Span) -> Span {
    match op {
        CompareOp::Eq => other,
        CompareOp::Ne => number.without(other),
        CompareOp::Lt => other.offset(-1).and_less(),
        CompareOp::Le => other.and_less(),
        CompareOp::Gt => other.offset(1).and_more(),
        CompareOp::Ge => other.and_more(),
    }
}

fn point(value: &Value) -> Option<Span> {
    value.as_integer().map(|it| Span::of((it, it)))
}

/// All that a type holds; of floats nothing is said.
fn whole(ty: Type) -> Range {
    ty.integer_range().unwrap_or(Span::default().number)
}
