//! Values with what is known of them, and C's operators on them.
//!
//! Every operator follows three rules: the operands are converted as C converts them, each conversion visible in the
//! expression; the range of the mathematical result is computed; and if that range fits the type, no wrap can happen, so the
//! result is also the affine function that the operator makes of its operands.

use super::interval::{Interval, Ranges};
use crate::types::{common, promoted};
use strew_affine::{
    AffineExpr, BinaryOp, CompareOp, Condition, Expr, Overflow, Relation, Span, Type, UnaryOp,
    Value, Variable,
};

/// An expression with its type and what is known of its value.
#[derive(Clone, Debug)]
pub(crate) struct Typed {
    pub(crate) expr: Expr,
    /// A comparison is a `bool` until it is converted to `int`.
    pub(crate) ty: Type,
    pub(crate) known: Known,
}

/// What is known of a value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// `None` for floats.
    pub(crate) range: Option<Interval>,
    /// The mathematical value, when it is affine, stays within 64 bits and is never wrapped.
    pub(crate) affine: Option<AffineExpr>,
    /// A `bool` that is the conjunction of these.
    pub(crate) conditions: Option<Vec<Condition>>,
}

impl Known {
    /// Nothing but the type.
    pub(crate) fn any(ty: Type) -> Self {
        Self {
            range: Interval::of(ty),
            ..Self::default()
        }
    }
}

impl Typed {
    /// A value of which nothing is known but its type.
    pub(crate) fn any(expr: Expr, ty: Type) -> Self {
        let known = Known::any(ty);
        Self { expr, ty, known }
    }

    pub(crate) fn constant(value: Value) -> Self {
        let integer = value.as_integer();
        let affine = integer
            .and_then(|it| i64::try_from(it).ok())
            .map(AffineExpr::from);
        Self {
            expr: Expr::Constant(value),
            ty: value.ty(),
            known: Known {
                range: integer.map(Interval::point),
                affine,
                conditions: None,
            },
        }
    }

    /// The value of a variable whose range is known.
    pub(crate) fn variable(expr: Expr, ty: Type, variable: Variable, range: Interval) -> Self {
        let is_small = range.is_within(Interval::i64());
        Self {
            expr,
            ty,
            known: Known {
                range: Some(range),
                affine: is_small.then(|| variable.into()),
                conditions: None,
            },
        }
    }

    fn range(&self) -> Interval {
        self.known.range.unwrap_or(Interval::i64())
    }

    /// The value, when it is an integer that is always the same.
    pub(crate) fn as_constant(&self) -> Option<i128> {
        self.known.range.and_then(Interval::as_point)
    }

    /// The value as C converts it to `to`.
    pub(crate) fn convert(self, to: Type) -> Self {
        if self.ty == to {
            return self;
        }
        if let Expr::Constant(value) = self.expr
            && let Some(value) = converted(value, to)
        {
            return Self::constant(value);
        }
        if self.ty == Type::Bool && to != Type::I32 {
            // In C the comparison was an `int` before anything else happened to it.
            return self.convert(Type::I32).convert(to);
        }
        let keeps = self.known.range.is_some_and(|range| range.fits(to));
        let affine = self.known.affine.as_ref();
        let iterator = affine.and_then(AffineExpr::as_variable);
        let expr = match self.expr {
            // The iterator is an `i64` itself: a conversion that kept its value can go when it is widened again.
            Expr::Cast(_, inner)
                if to == Type::I64
                    && matches!(*inner, Expr::Iter(iter) if iterator == Some(Variable::Iter(iter))) =>
            {
                *inner
            }
            other => Expr::Cast(to, Box::new(other)),
        };
        if !keeps {
            return Self::any(expr, to);
        }
        Self {
            expr,
            ty: to,
            known: Known {
                conditions: None,
                ..self.known
            },
        }
    }

    /// The value as a condition: whether it is not zero.
    pub(crate) fn condition(self) -> Self {
        if self.ty == Type::Bool {
            return self;
        }
        Self::any(Expr::Cast(Type::Bool, Box::new(self.expr)), Type::Bool)
    }

    fn promote(self) -> Self {
        let ty = promoted(self.ty);
        self.convert(ty)
    }
}

/// The constant in another type, where that is not a conversion from float to integer.
fn converted(value: Value, to: Type) -> Option<Value> {
    match (value.as_integer(), value.as_float()) {
        _ if to == Type::Bool => None,
        (Some(integer), _) => Some(match to {
            // By way of `f64` a large integer would be rounded twice.
            Type::F32 => Value::f32(integer as f32),
            Type::F64 => Value::f64(integer as f64),
            _ => Value::integer(to, integer),
        }),
        (None, Some(float)) if to.is_float() => Some(Value::float(to, float)),
        _ => None,
    }
}

/// A result with what the rules in the head comment give for it. `exact` is the mathematical result.
fn integer_result(expr: Expr, ty: Type, exact: Option<Exact>, ranges: &Ranges) -> Typed {
    let Some(exact) = exact.filter(|it| it.range.fits(ty)) else {
        return Typed::any(expr, ty);
    };
    let mut range = exact.range;
    let mut affine = None;
    if let Some(candidate) = exact.affine
        && let Some(of_terms) = ranges.of(&candidate)
    {
        range = range.narrowed(of_terms);
        affine = Some(candidate);
    }
    if let Some(constant) = affine.as_ref().and_then(AffineExpr::as_constant) {
        // Affine operands load nothing and divide by nothing: no fault is lost.
        return Typed::constant(Value::integer(ty, constant.into()));
    }
    let known = Known {
        range: Some(range),
        affine,
        conditions: None,
    };
    Typed { expr, ty, known }
}

/// A result before any wrap.
struct Exact {
    range: Interval,
    affine: Option<AffineExpr>,
}

impl Exact {
    fn new(range: Interval, affine: Option<Result<AffineExpr, Overflow>>) -> Option<Self> {
        let affine = affine.and_then(Result::ok);
        Some(Self { range, affine })
    }
}

/// `left op right` on operands that are numbers; those that need integers have some.
pub(crate) fn arithmetic(
    op: BinaryOp,
    left: Typed,
    right: Typed,
    span: Span,
    ranges: &Ranges,
) -> Typed {
    let is_shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
    let ty = if is_shift {
        promoted(left.ty)
    } else {
        common(left.ty, right.ty)
    };
    // The count of a shift may be narrowed: it is taken modulo the width, which divides every power of two that is cut off.
    let (left, right) = (left.convert(ty), right.convert(ty));
    let exact = if ty.is_float() {
        None
    } else {
        exact(op, &left, &right)
    };
    let expr = Expr::binary(op, left.expr, right.expr, span);
    integer_result(expr, ty, exact, ranges)
}

fn exact(op: BinaryOp, left: &Typed, right: &Typed) -> Option<Exact> {
    let (x, y) = (left.range(), right.range());
    let affine = left.known.affine.as_ref().zip(right.known.affine.as_ref());
    let constant = right.as_constant();
    // A greater count would be taken modulo the width.
    let count = || constant.filter(|it| (0..i128::from(left.ty.bits().min(62))).contains(it));
    match op {
        BinaryOp::Add => Exact::new(x.plus(y), affine.map(|(l, r)| l.plus(r))),
        BinaryOp::Sub => Exact::new(x.minus(y), affine.map(|(l, r)| l.minus(r))),
        BinaryOp::Mul => Exact::new(
            x.times(y),
            affine
                .filter(|(l, r)| !(mentions_iterator(l) && mentions_iterator(r)))
                .map(|(l, r)| product(l, r)),
        ),
        BinaryOp::Div => divided(left, constant.filter(|it| *it > 0)?),
        BinaryOp::Rem => remainder(left, constant.filter(|it| *it > 0)?),
        BinaryOp::BitAnd => masked(left, constant.filter(|it| *it >= 0)?),
        BinaryOp::Shl => {
            let factor = 1_i128 << count()?;
            let affine = left.known.affine.as_ref();
            Exact::new(
                x.times(Interval::point(factor)),
                affine.map(|it| it.scaled(factor as i64)),
            )
        }
        BinaryOp::Shr => {
            let divisor = 1_i128 << count()?;
            let affine = left.known.affine.as_ref();
            let affine = affine.map(|it| it.floordiv(&(divisor as i64).into()));
            Exact::new(x.monotone(|value| value.div_euclid(divisor)), affine)
        }
        BinaryOp::BitOr | BinaryOp::BitXor => None,
    }
}

/// A product of sums is multiplied out, which is exponential in the number of its factors: no product gets more terms.
const MOST_TERMS: usize = 256;

/// `left * right`
pub(crate) fn product(left: &AffineExpr, right: &AffineExpr) -> Result<AffineExpr, Overflow> {
    let terms = |it: &AffineExpr| it.terms().len() + 1;
    if terms(left).saturating_mul(terms(right)) > MOST_TERMS {
        return Err(Overflow);
    }
    left.times(right)
}

/// C rounds towards zero: the same as rounding down where nothing is negative.
fn divided(left: &Typed, divisor: i128) -> Option<Exact> {
    let rounds_down = left.range().low >= 0;
    let affine = left.known.affine.as_ref().filter(|_| rounds_down);
    let divisor_i64 = i64::try_from(divisor).ok()?;
    Exact::new(
        left.range().monotone(|value| value / divisor),
        affine.map(|it| it.floordiv(&divisor_i64.into())),
    )
}

fn remainder(left: &Typed, divisor: i128) -> Option<Exact> {
    let x = left.range();
    let affine = left.known.affine.as_ref().filter(|_| x.low >= 0);
    let divisor_i64 = i64::try_from(divisor).ok()?;
    let low = x.low.clamp(1 - divisor, 0);
    let high = x.high.clamp(0, divisor - 1);
    Exact::new(
        Interval::new(low, high),
        affine.map(|it| it.modulo(&divisor_i64.into())),
    )
}

/// `x & (2^k - 1)` is `x mod 2^k`, in two's complement for negative `x` too.
fn masked(left: &Typed, mask: i128) -> Option<Exact> {
    let modulus = mask + 1;
    let is_power = modulus & mask == 0;
    let affine = left.known.affine.as_ref().filter(|_| is_power);
    let modulus = i64::try_from(modulus).ok()?;
    Exact::new(
        Interval::new(0, mask),
        affine.map(|it| it.modulo(&modulus.into())),
    )
}

fn mentions_iterator(expr: &AffineExpr) -> bool {
    let mut found = false;
    expr.for_each_variable(&mut |variable| found |= matches!(variable, Variable::Iter(_)));
    found
}

/// `-operand`
pub(crate) fn negated(operand: Typed, ranges: &Ranges) -> Typed {
    let operand = operand.promote();
    let ty = operand.ty;
    if let Expr::Constant(value) = operand.expr
        && let Some(float) = value.as_float()
    {
        return Typed::constant(Value::float(ty, -float));
    }
    let affine = operand.known.affine.as_ref().map(|it| it.scaled(-1));
    let exact = operand.known.range;
    let exact = exact.and_then(|range| Exact::new(range.negated(), affine));
    integer_result(Expr::unary(UnaryOp::Neg, operand.expr), ty, exact, ranges)
}

/// `+operand`
pub(crate) fn plus(operand: Typed) -> Typed {
    operand.promote()
}

/// `~operand`, an integer; it is `-1 - operand`.
pub(crate) fn complement(operand: Typed, ranges: &Ranges) -> Typed {
    let operand = operand.promote();
    let ty = operand.ty;
    let affine = operand.known.affine.as_ref();
    let affine = affine.map(|it| it.scaled(-1).and_then(|it| it.offset(-1)));
    let range = operand.range().negated().minus(Interval::point(1));
    let exact = Exact::new(range, affine);
    integer_result(
        Expr::unary(UnaryOp::BitNot, operand.expr),
        ty,
        exact,
        ranges,
    )
}

/// `!operand`
pub(crate) fn not(operand: Typed) -> Typed {
    let operand = operand.condition();
    let conditions = match operand.known.conditions.as_deref() {
        Some([one]) => opposite(one).map(|it| vec![it]),
        _ => None,
    };
    boolean(Expr::unary(UnaryOp::Not, operand.expr), conditions)
}

fn opposite(condition: &Condition) -> Option<Condition> {
    let relation = match condition.relation {
        Relation::Less => Relation::LessOrEqual,
        Relation::LessOrEqual => Relation::Less,
        Relation::Equal => return None,
    };
    Some(Condition {
        left: condition.right.clone(),
        relation,
        right: condition.left.clone(),
    })
}

fn boolean(expr: Expr, conditions: Option<Vec<Condition>>) -> Typed {
    let mut value = Typed::any(expr, Type::Bool);
    value.known.conditions = conditions;
    value
}

/// `left op right`
pub(crate) fn compare(op: CompareOp, left: Typed, right: Typed) -> Typed {
    let ty = common(left.ty, right.ty);
    let (left, right) = (left.convert(ty), right.convert(ty));
    let affine = left.known.affine.zip(right.known.affine);
    let conditions = affine.and_then(|(left, right)| condition(op, left, right));
    boolean(
        Expr::compare(op, left.expr, right.expr),
        conditions.map(|it| vec![it]),
    )
}

fn condition(op: CompareOp, left: AffineExpr, right: AffineExpr) -> Option<Condition> {
    let (left, relation, right) = match op {
        CompareOp::Lt => (left, Relation::Less, right),
        CompareOp::Le => (left, Relation::LessOrEqual, right),
        CompareOp::Gt => (right, Relation::Less, left),
        CompareOp::Ge => (right, Relation::LessOrEqual, left),
        CompareOp::Eq => (left, Relation::Equal, right),
        CompareOp::Ne => return None,
    };
    Some(Condition {
        left,
        relation,
        right,
    })
}

/// `left && right`
pub(crate) fn and(left: Typed, right: Typed) -> Typed {
    let (left, right) = (left.condition(), right.condition());
    let conditions = left.known.conditions.zip(right.known.conditions);
    let conditions = conditions.map(|(left, right)| [left, right].concat());
    boolean(
        Expr::And(Box::new(left.expr), Box::new(right.expr)),
        conditions,
    )
}

/// `left || right`
pub(crate) fn or(left: Typed, right: Typed) -> Typed {
    let (left, right) = (left.condition(), right.condition());
    boolean(Expr::Or(Box::new(left.expr), Box::new(right.expr)), None)
}

/// `condition ? then : otherwise`
pub(crate) fn select(condition: Typed, then: Typed, otherwise: Typed) -> Typed {
    let ty = common(then.ty, otherwise.ty);
    let condition = condition.condition();
    let (then, otherwise) = (then.convert(ty), otherwise.convert(ty));
    let range = then.known.range.zip(otherwise.known.range);
    Typed {
        expr: Expr::select(condition.expr, then.expr, otherwise.expr),
        ty,
        known: Known {
            range: range.map(|(then, otherwise)| then.hull(otherwise)),
            ..Known::default()
        },
    }
}
