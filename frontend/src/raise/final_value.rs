//! Induction variables as functions of the turns, inside of the loop and behind it.

use super::counted::{Bounds, Counted, Induction};
use crate::lower::value::product;
use strew_affine::{
    AffineExpr, BinaryOp, CompareOp, Expr, Factor, Span, Term, Type, Value, Variable,
};

/// The affine form after `distance / step` turns, up to multiples of two to the width.
pub(super) fn closed_form(
    induction: &Induction,
    distance: &AffineExpr,
    step: i64,
) -> Option<AffineExpr> {
    let first = induction.first.known.affine.as_ref()?;
    if !first.provided.is_empty() {
        return None;
    }
    let travelled = match induction.constant_step() {
        Some(each) if each % step == 0 => distance.scaled(each / step),
        _ => {
            let turns = distance.floordiv(&step.into()).ok()?;
            product(&turns, &induction.form)
        }
    };
    first.expr.plus(&travelled.ok()?).ok()
}

/// The value after `turns` turns, an `i64`, computed in the variable's type: wrapping is part of
/// it.
pub(super) fn closed_value(induction: &Induction, turns: Expr) -> Expr {
    let ty = induction.ty;
    let turns = in_type(turns, ty);
    let times = |factor: Expr, turns| operate(BinaryOp::Mul, factor, turns);
    let constant = |value: i64| Expr::Constant(Value::integer(ty, value.into()));
    let first = induction.first.expr.clone();
    match induction.constant_step() {
        Some(1) if is_zero(&first) => turns,
        Some(1) => operate(BinaryOp::Add, first, turns),
        Some(-1) => operate(BinaryOp::Sub, first, turns),
        Some(step) if step > 0 && is_zero(&first) => times(constant(step), turns),
        Some(step) if step > 0 => operate(BinaryOp::Add, first, times(constant(step), turns)),
        Some(step) => operate(
            BinaryOp::Sub,
            first,
            times(constant(step.wrapping_neg()), turns),
        ),
        None => {
            let step = induction.step.expr.clone();
            operate(BinaryOp::Add, first, times(step, turns))
        }
    }
}

impl Counted {
    /// How many turns were before this one, an `i64`.
    pub(super) fn turn(&self) -> Expr {
        let iter = Expr::Iter(self.iter);
        if !self.is_itself {
            return iter;
        }
        self.turns_to(iter)
    }

    /// How far the iterator is from its lower bound, and how far a turn takes it.
    pub(super) fn affine_distance(&self) -> Option<(AffineExpr, i64)> {
        let iter = AffineExpr::from(self.iter);
        if !self.is_itself {
            return Some((iter, 1));
        }
        let [lower] = self.least.as_slice() else {
            return None;
        };
        Some((iter.minus(lower).ok()?, self.step))
    }

    fn turns_to(&self, iter: Expr) -> Expr {
        let distance = match self.lower() {
            lower if is_zero(&lower) => iter,
            lower => operate(BinaryOp::Sub, iter, lower),
        };
        match self.step {
            1 => distance,
            step => operate(BinaryOp::Div, distance, Expr::i64(step)),
        }
    }

    /// How many turns the loop takes, an `i64`. `runs` says that the upper bound is never a whole
    /// step below the lower one.
    pub(super) fn turns(&self, runs: bool) -> Expr {
        let end = self.upper();
        let rounded = match self.step {
            1 => end.clone(),
            step => operate(BinaryOp::Add, end.clone(), Expr::i64(step - 1)),
        };
        let turns = self.turns_to(rounded);
        if runs {
            return turns;
        }
        let is_entered = Expr::compare(CompareOp::Lt, self.lower(), end);
        Expr::select(is_entered, turns, Expr::i64(0))
    }

    /// The same as an affine expression, if the loop is over one upper bound that is never a whole
    /// step below the lower one.
    pub(super) fn affine_turns(&self) -> Option<AffineExpr> {
        let Bounds::Affine { lower, upper } = &self.bounds else {
            return None;
        };
        let ([lower], [upper]) = (lower.as_slice(), upper.as_slice()) else {
            return None;
        };
        upper.minus(lower).ok()?.ceildiv(&self.step.into()).ok()
    }

    fn lower(&self) -> Expr {
        match &self.bounds {
            Bounds::Affine { lower, .. } => extreme(CompareOp::Gt, lower),
            Bounds::Computed { lower, .. } => lower.clone(),
        }
    }

    fn upper(&self) -> Expr {
        match &self.bounds {
            Bounds::Affine { upper, .. } => extreme(CompareOp::Lt, upper),
            Bounds::Computed { upper, .. } => upper.clone(),
        }
    }
}

/// The value that is `op` all others.
fn extreme(op: CompareOp, exprs: &[AffineExpr]) -> Expr {
    let mut values = exprs.iter().map(computed);
    let first = values.next().unwrap_or_else(|| Expr::i64(0));
    values.fold(first, |best, value| {
        let is_better = Expr::compare(op, best.clone(), value.clone());
        Expr::select(is_better, best, value)
    })
}

/// An affine expression as a computation in `i64`, in which it is known not to wrap.
pub(crate) fn computed(expr: &AffineExpr) -> Expr {
    let mut sum: Option<Expr> = None;
    // Positive terms first: `n - i` rather than `-i + n`.
    let (positive, negative): (Vec<&Term>, Vec<&Term>) =
        expr.terms().iter().partition(|it| it.coefficient > 0);
    for term in positive.into_iter().chain(negative) {
        let magnitude = term.coefficient.wrapping_abs();
        let is_negative = term.coefficient < 0;
        let mut factors = term.factors.iter().map(computed_factor);
        let first = factors.next().unwrap_or_else(|| Expr::i64(1));
        let first = match magnitude {
            1 => first,
            _ => operate(BinaryOp::Mul, first, Expr::i64(magnitude)),
        };
        let product = factors.fold(first, |left, right| operate(BinaryOp::Mul, left, right));
        sum = Some(match (sum, is_negative) {
            (None, false) => product,
            (None, true) => operate(BinaryOp::Sub, Expr::i64(0), product),
            (Some(sum), false) => operate(BinaryOp::Add, sum, product),
            (Some(sum), true) => operate(BinaryOp::Sub, sum, product),
        });
    }
    let constant = expr.constant();
    match sum {
        None => Expr::i64(constant),
        Some(sum) if constant == 0 => sum,
        Some(sum) if constant > 0 => operate(BinaryOp::Add, sum, Expr::i64(constant)),
        Some(sum) => operate(BinaryOp::Sub, sum, Expr::i64(constant.wrapping_neg())),
    }
}

fn computed_factor(factor: &Factor) -> Expr {
    match factor {
        Factor::Variable(Variable::Iter(iter)) => Expr::Iter(*iter),
        Factor::Variable(Variable::Param(param)) => {
            Expr::Cast(Type::I64, Box::new(Expr::Param(*param)))
        }
        Factor::FloorDiv(left, right) => {
            let remainder = floor_remainder(left, right);
            let whole = operate(BinaryOp::Sub, computed(left), remainder);
            operate(BinaryOp::Div, whole, computed(right))
        }
        Factor::Mod(left, right) => floor_remainder(left, right),
    }
}

/// `left % right`, plus `right` where that is negative; `right` is positive.
fn floor_remainder(left: &AffineExpr, right: &AffineExpr) -> Expr {
    let remainder = operate(BinaryOp::Rem, computed(left), computed(right));
    let is_negative = Expr::compare(CompareOp::Lt, remainder.clone(), Expr::i64(0));
    let positive = operate(BinaryOp::Add, remainder.clone(), computed(right));
    Expr::select(is_negative, positive, remainder)
}

fn operate(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, left, right, Span::default())
}

fn is_zero(expr: &Expr) -> bool {
    matches!(expr, Expr::Constant(value) if value.as_integer() == Some(0))
}

/// An `i64` in another type.
pub(super) fn in_type(value: Expr, ty: Type) -> Expr {
    match (value, ty) {
        (value, Type::I64) => value,
        (Expr::Constant(value), _) => match value.as_integer() {
            Some(integer) => Expr::Constant(Value::integer(ty, integer)),
            None => Expr::Constant(value),
        },
        (value, _) => Expr::Cast(ty, Box::new(value)),
    }
}
