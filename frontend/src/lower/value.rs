//! Values with what is known of them, and C's operators on them.
//!
//! Every operator follows three rules: the operands are converted as C converts them, each
//! conversion visible in the expression; the range of the mathematical result is computed, and is
//! the range of the value if it fits the type; and the affine form of the result is the one that
//! the operator makes of its operands, as [`Affine`] says it may.

mod truth;

pub(crate) use truth::{and, compare, not, opposite, or, select};

use super::affine_value::{Affine, Proviso};
use super::interval::{Interval, Ranges};
use super::unused::can_fault;
use crate::types::{common, promoted};
use strew_affine::evaluate::unary;
use strew_affine::{
    AffineExpr, BinaryOp, Condition, Expr, Overflow, Span, Type, UnaryOp, Value, Variable,
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
    /// Of an integer.
    pub(crate) affine: Option<Affine>,
    /// A `bool` that is the conjunction of these.
    pub(crate) conditions: Option<Vec<Guard>>,
    /// An integer that is the smallest or the greatest of several.
    pub(crate) extreme: Option<Box<Extreme>>,
}

/// A condition that speaks of the values that are meant if the provisos hold.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    pub(crate) condition: Condition,
    pub(crate) provided: Vec<Proviso>,
}

/// The smallest or the greatest of several values, each equal to its affine form.
#[derive(Clone, Debug)]
pub(crate) struct Extreme {
    pub(crate) is_greatest: bool,
    pub(crate) of: Vec<Affine>,
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
            .map(|it| Affine::exact(it.into()));
        Self {
            expr: Expr::Constant(value),
            ty: value.ty(),
            known: Known {
                range: integer.map(Interval::point),
                affine: affine.filter(|_| value.ty() != Type::Bool),
                ..Known::default()
            },
        }
    }

    /// The value of a variable whose range is known.
    pub(crate) fn variable(expr: Expr, ty: Type, variable: Variable, range: Interval) -> Self {
        Self {
            expr,
            ty,
            known: Known {
                range: Some(range),
                affine: Some(Affine::exact(variable.into())),
                ..Known::default()
            },
        }
    }

    /// The affine form, provided that it is the value.
    pub(crate) fn affine(&self) -> Option<Affine> {
        self.known.affine.clone()?.equal(self.ty)
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
        let affine = self.known.affine.as_ref().and_then(Affine::proved);
        let iterator = affine.and_then(AffineExpr::as_variable);
        let affine = self.known.affine.clone();
        let affine = affine.and_then(|it| it.converted(self.ty, to, keeps));
        let expr = match self.expr {
            // The iterator is an `i64` itself: a conversion that kept its value can go when it is
            // widened again.
            Expr::Cast(_, inner)
                if to == Type::I64
                    && matches!(*inner, Expr::Iter(iter) if iterator == Some(Variable::Iter(iter))) =>
            {
                *inner
            }
            other => Expr::Cast(to, Box::new(other)),
        };
        let range = if keeps {
            self.known.range
        } else {
            Interval::of(to)
        };
        let known = Known {
            range,
            affine,
            conditions: None,
            extreme: self.known.extreme.filter(|_| keeps),
        };
        Self {
            expr,
            ty: to,
            known,
        }
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

/// A result with what the rules in the head comment give for it. `exact` is the mathematical
/// result.
fn integer_result(expr: Expr, ty: Type, exact: Option<Exact>, ranges: &Ranges) -> Typed {
    let Some(exact) = exact else {
        return Typed::any(expr, ty);
    };
    let keeps = exact.range.is_some_and(|it| it.fits(ty));
    let mut known = Known::any(ty);
    if keeps {
        known.range = exact.range;
    }
    let operands: Vec<&Affine> = exact.operands.iter().collect();
    known.affine = exact
        .affine
        .and_then(|affine| Affine::combined(&operands, affine, keeps));
    if let Some(proved) = known.affine.as_ref().and_then(Affine::proved)
        && let Some(of_terms) = ranges.of(proved)
    {
        known.range = known.range.map(|range| range.narrowed(of_terms));
        if let Some(constant) = proved.as_constant()
            && !can_fault(&expr)
        {
            // Of an operand only the value may be known, as of `5 % (x[i] & 1)`, which is 0 if it
            // is anything.
            return Typed::constant(Value::integer(ty, constant.into()));
        }
    }
    Typed { expr, ty, known }
}

/// A result before any wrap.
struct Exact {
    /// `None` where it is not known.
    range: Option<Interval>,
    /// The affine form of the result, and those that it was made of.
    affine: Option<Result<AffineExpr, Overflow>>,
    operands: Vec<Affine>,
}

impl Exact {
    fn of_one(
        range: Interval,
        operand: Option<Affine>,
        make: impl FnOnce(&AffineExpr) -> Result<AffineExpr, Overflow>,
    ) -> Self {
        Self {
            range: Some(range),
            affine: operand.as_ref().map(|it| make(&it.expr)),
            operands: operand.into_iter().collect(),
        }
    }

    fn of_two(
        range: Interval,
        operands: Option<(Affine, Affine)>,
        make: impl FnOnce(&AffineExpr, &AffineExpr) -> Result<AffineExpr, Overflow>,
    ) -> Self {
        Self {
            range: Some(range),
            affine: operands
                .as_ref()
                .map(|(left, right)| make(&left.expr, &right.expr)),
            operands: operands.into_iter().flat_map(<[Affine; 2]>::from).collect(),
        }
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
    // The count of a shift may be narrowed: it is taken modulo the width, which divides every power
    // of two that is cut off.
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
    let both = || left.known.affine.clone().zip(right.known.affine.clone());
    let constant = right.as_constant();
    // A greater count would be taken modulo the width.
    let count = || constant.filter(|it| (0..i128::from(left.ty.bits().min(62))).contains(it));
    Some(match op {
        BinaryOp::Add => Exact::of_two(x.plus(y), both(), AffineExpr::plus),
        BinaryOp::Sub => Exact::of_two(x.minus(y), both(), AffineExpr::minus),
        BinaryOp::Mul => {
            let is_affine = |(l, r): &(Affine, Affine)| {
                !(mentions_iterator(&l.expr) && mentions_iterator(&r.expr))
            };
            Exact::of_two(x.times(y), both().filter(is_affine), product)
        }
        BinaryOp::Div => divided(left, right),
        BinaryOp::Rem => remainder(left, right),
        BinaryOp::BitAnd => match (constant, left.as_constant()) {
            (Some(mask), _) => masked(left, mask)?,
            (None, mask) => masked(right, mask?)?,
        },
        BinaryOp::Shl => {
            let factor = 1_i128 << count()?;
            let affine = left.known.affine.clone();
            Exact::of_one(x.times(Interval::point(factor)), affine, |it| {
                it.scaled(factor as i64)
            })
        }
        BinaryOp::Shr => {
            let divisor = 1_i128 << count()?;
            let range = x.monotone(|value| value.div_euclid(divisor));
            Exact::of_one(range, left.affine(), |it| {
                it.floordiv(&(divisor as i64).into())
            })
        }
        BinaryOp::BitOr | BinaryOp::BitXor => return None,
    })
}

/// A product of sums is multiplied out, which is exponential in the number of its factors: no
/// product gets more terms.
const MOST_TERMS: usize = 256;

/// `left * right`
pub(crate) fn product(left: &AffineExpr, right: &AffineExpr) -> Result<AffineExpr, Overflow> {
    let terms = |it: &AffineExpr| it.terms().len() + 1;
    if terms(left).saturating_mul(terms(right)) > MOST_TERMS {
        return Err(Overflow);
    }
    left.times(right)
}

/// Operands of which a C division makes what an affine one does: C rounds towards zero, which is
/// down where nothing is negative.
fn dividend_and_divisor(left: &Typed, right: &Typed) -> Option<(Affine, Affine)> {
    let (dividend, divisor) = left.affine().zip(right.affine())?;
    if mentions_iterator(&divisor.expr) {
        return None;
    }
    let at_least = |low| Interval::new(low, Interval::i64().high);
    let dividend = if left.range().low >= 0 {
        dividend
    } else {
        let expr = dividend.expr.clone();
        dividend.provided_that(expr, at_least(0))?
    };
    let divisor = if right.range().low >= 1 {
        divisor
    } else {
        let expr = divisor.expr.clone();
        divisor.provided_that(expr, at_least(1))?
    };
    Some((dividend, divisor))
}

fn divided(left: &Typed, right: &Typed) -> Exact {
    let (x, y) = (left.range(), right.range());
    let operands = dividend_and_divisor(left, right);
    let range = if y.low >= 1 {
        let [slow, fast] = [y.low, y.high].map(|by| x.monotone(|value| value / by));
        slow.hull(fast)
    } else {
        // A division by -1 may leave the type.
        x.hull(x.negated())
    };
    Exact::of_two(range, operands, AffineExpr::floordiv)
}

fn remainder(left: &Typed, right: &Typed) -> Exact {
    let (x, y) = (left.range(), right.range());
    let operands = dividend_and_divisor(left, right);
    let most = y.high.max(y.low.saturating_neg()).max(1) - 1;
    let range = Interval::new(x.low.clamp(-most, 0), x.high.clamp(0, most));
    Exact::of_two(range, operands, AffineExpr::modulo)
}

/// `x & (2^k - 1)` is `x mod 2^k`, in two's complement for negative `x` too, and does not see what
/// wrapped. `x & -2^k` is what that leaves of `x`.
fn masked(left: &Typed, mask: i128) -> Option<Exact> {
    let all = Interval::of(left.ty)?;
    let cut = if mask < 0 {
        mask.checked_neg()?
    } else {
        all.high - mask + 1
    };
    // Of an unsigned type a mask with its highest bit is as good as negative.
    let cuts = mask < 0 || (all.low == 0 && mask > all.high / 2);
    if cuts && cut.count_ones() == 1 {
        return rounded_down(left, i64::try_from(cut).ok()?);
    }
    (mask >= 0).then(|| kept(left, mask))
}

/// `x - x mod 2^k`, which is no greater than `x`, and not negative if `x` is not.
fn rounded_down(left: &Typed, modulus: i64) -> Option<Exact> {
    let range = left.range();
    let down = |value: i128| value - value.rem_euclid(modulus.into());
    let affine = left.known.affine.clone();
    Some(Exact::of_one(range.monotone(down), affine, |it| {
        it.floordiv(&modulus.into())?.scaled(modulus)
    }))
}

fn kept(left: &Typed, mask: i128) -> Exact {
    let modulus = mask + 1;
    let is_power = modulus & mask == 0;
    let range = Interval::new(0, mask);
    let modulus = i64::try_from(modulus).ok().filter(|_| is_power);
    let affine = left.known.affine.clone().filter(|_| modulus.is_some());
    let modulus = modulus.unwrap_or(1);
    // The result is equal to its form as soon as the operand is congruent to its own.
    let affine = affine.map(Affine::taken_modulo);
    Exact::of_one(range, affine, |it| it.modulo(&modulus.into()))
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
    let affine = operand.known.affine.clone();
    let exact = operand.known.range;
    let exact = exact.map(|range| Exact::of_one(range.negated(), affine, |it| it.scaled(-1)));
    integer_result(Expr::unary(UnaryOp::Neg, operand.expr), ty, exact, ranges)
}

/// How many bits of `operand`, an integer, are what `op` asks for, as an `int`.
pub(crate) fn bit_count(op: UnaryOp, operand: Typed) -> Typed {
    if let Expr::Constant(value) = operand.expr {
        return Typed::constant(unary(op, value)).convert(Type::I32);
    }
    let ty = operand.ty;
    let mut count = Typed::any(Expr::unary(op, operand.expr), ty);
    count.known.range = Some(Interval::new(0, ty.bits().into()));
    count.convert(Type::I32)
}

/// `+operand`
pub(crate) fn plus(operand: Typed) -> Typed {
    operand.promote()
}

/// `~operand`, an integer; it is `-1 - operand`.
pub(crate) fn complement(operand: Typed, ranges: &Ranges) -> Typed {
    let operand = operand.promote();
    let ty = operand.ty;
    let range = operand.range().negated().minus(Interval::point(1));
    let exact = Exact::of_one(range, operand.known.affine.clone(), |it| {
        it.scaled(-1).and_then(|it| it.offset(-1))
    });
    let expr = Expr::unary(UnaryOp::BitNot, operand.expr);
    integer_result(expr, ty, Some(exact), ranges)
}
