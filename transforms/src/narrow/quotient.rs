//! Quotients by constants as vectors have them.

use super::cut::{Cutting, cast, constant};
use strew_affine::{BinaryOp, Expr, Span, Type, Value};

/// Floats have all integers up to here.
const EXACT: i128 = 1 << 24;

/// What `left / right` is where `right` is a constant and no power of two, and of what type. `None`
/// where there is no such constant, or `left` may be too large.
pub(super) fn by_constant(
    cutting: &Cutting<'_>,
    left: &Expr,
    right: &Expr,
    span: Span,
) -> Option<(Expr, Type)> {
    let divisor = right.as_divisor().filter(|it| *it > 0 && !is_power(*it))?;
    if cutting.changed.expr_stays(left) {
        return None;
    }
    let product = as_product(cutting, left, divisor, span);
    product.or_else(|| as_float(cutting, left, divisor, span))
}

/// What `left op right`, a quotient or a remainder, is by operations that vectors have, or by a
/// quotient that has such a form.
pub(super) fn in_other_words(
    cutting: &Cutting<'_>,
    (op, span): (BinaryOp, Span),
    left: &Expr,
    right: &Expr,
) -> Option<Expr> {
    let divisor = right.as_divisor().filter(|it| *it > 0)?;
    if cutting.changed.expr_stays(left) {
        return None;
    }
    match op {
        BinaryOp::Div if divisor == 1 => Some(left.clone()),
        BinaryOp::Div if is_power(divisor) => as_shift(cutting, left, divisor, span),
        BinaryOp::Rem => remainder(cutting, left, right, span),
        _ => None,
    }
}

/// Expressions of more parts than these are not computed twice.
const MOST_TWICE: usize = 12;

fn size(expr: &Expr) -> usize {
    let operands = expr.operands().into_iter().map(size);
    1 + operands.sum::<usize>()
}

fn is_power(divisor: i128) -> bool {
    divisor & (divisor - 1) == 0
}

/// A shift to the right, of the same type. It goes to the next number below, and the quotient to
/// the one nearer to zero: numbers below zero are made larger by all that is cut off of them.
fn as_shift(cutting: &Cutting<'_>, left: &Expr, divisor: i128, span: Span) -> Option<Expr> {
    let ty = left.ty(cutting.kernel);
    let number = |it: i128| Expr::Constant(Value::integer(ty, it));
    let combine = |op, left: Expr, right: Expr| Expr::binary(op, left, right, span);
    let (least, _) = cutting.range(left)?;
    let count = number(divisor.trailing_zeros().into());
    let raised = match least >= 0 {
        true => left.clone(),
        // It stands there twice.
        false if size(left) > MOST_TWICE => return None,
        false => {
            let last = number((ty.bits() - 1).into());
            let sign = combine(BinaryOp::Shr, left.clone(), last);
            let more = combine(BinaryOp::BitAnd, sign, number(divisor - 1));
            combine(BinaryOp::Add, left.clone(), more)
        }
    };
    Some(combine(BinaryOp::Shr, raised, count))
}

/// A product, shifted to the right, as far as the greatest `left`, if none is negative, leaves room
/// for it.
fn as_product(
    cutting: &Cutting<'_>,
    left: &Expr,
    divisor: i128,
    span: Span,
) -> Option<(Expr, Type)> {
    let (least, most) = cutting.range(left)?;
    let mut found = [Type::U16, Type::U32].into_iter().filter_map(|ty| {
        let (factor, shift) = factor(most, divisor, ty)?;
        let left = dividend(cutting, left, most, ty)?;
        let product = Expr::binary(BinaryOp::Mul, left, constant(ty, factor), span);
        let quotient = Expr::binary(BinaryOp::Shr, product, constant(ty, shift), span);
        Some((quotient, ty))
    });
    (least >= 0).then(|| found.next())?
}

/// A quotient of floats, cut off. Of a number and a divisor below 2^24 it is no integer that the
/// true one is not, which is at least `1 / divisor` away from all others: more than half of the
/// distance between floats of that size.
fn as_float(cutting: &Cutting<'_>, left: &Expr, divisor: i128, span: Span) -> Option<(Expr, Type)> {
    let (least, most) = cutting.range(left)?;
    let is_exact = |it: i128| (-EXACT..=EXACT).contains(&it);
    if ![least, most, divisor].into_iter().all(is_exact) {
        return None;
    }
    let convert = |it: Expr, to: Type| Expr::Cast(to, Box::new(it));
    let left = cast(cutting.exact(left), left.ty(cutting.kernel), Type::I32);
    let divisor = Expr::Constant(Value::f32(divisor as f32));
    let quotient = Expr::binary(BinaryOp::Div, convert(left, Type::F32), divisor, span);
    Some((convert(quotient, Type::I32), Type::I32))
}

/// What `left % right` is, by bits where `right` is a power of two and `left` not negative, and
/// else by the quotient, if vectors have that and `left` is no more than an element or a scalar.
fn remainder(cutting: &Cutting<'_>, left: &Expr, right: &Expr, span: Span) -> Option<Expr> {
    let divisor = right.as_divisor()?;
    let (least, _) = cutting.range(left)?;
    let ty = left.ty(cutting.kernel);
    let combine = |op, left: &Expr, right: Expr| Expr::binary(op, left.clone(), right, span);
    if least >= 0 && is_power(divisor) {
        let mask = Expr::Constant(Value::integer(ty, divisor - 1));
        return Some(combine(BinaryOp::BitAnd, left, mask));
    }
    // Looked at in this order, since quotients of what is computed look at all of that.
    let has_quotient = || is_power(divisor) || by_constant(cutting, left, right, span).is_some();
    if !is_at_hand(left) || !has_quotient() {
        return None;
    }
    let quotient = combine(BinaryOp::Div, left, right.clone());
    let product = combine(BinaryOp::Mul, &quotient, right.clone());
    Some(combine(BinaryOp::Sub, left, product))
}

fn is_at_hand(expr: &Expr) -> bool {
    match expr {
        Expr::Cast(_, operand) => is_at_hand(operand),
        _ => matches!(expr, Expr::Local(_) | Expr::Load(_) | Expr::Iter(_)),
    }
}

/// `left`, at most `most`, in type `ty`, computed in a narrower one where that gives it.
fn dividend(cutting: &Cutting<'_>, left: &Expr, most: i128, ty: Type) -> Option<Expr> {
    let (_, largest) = Type::U16.integer_range()?;
    let narrow = (ty != Type::U16 && most <= largest).then(|| cutting.cut(left, Type::U16));
    match narrow.flatten() {
        Some(left) => Some(cast(left, Type::U16, ty)),
        None => cutting.cut(left, ty),
    }
}

/// By what to multiply a number from 0 to `most` and by how many bits to shift the product for its
/// quotient by `divisor`, so that the product has room in `ty`.
///
/// With a factor `(2^shift + excess) / divisor` the product is too large by
/// `number * excess / divisor`, and the quotient is right as long as that is less than
/// `2^shift / divisor`: T. Granlund, P. L. Montgomery, *Division by invariant integers using
/// multiplication*, PLDI 1994.
fn factor(most: i128, divisor: i128, ty: Type) -> Option<(u32, u32)> {
    let (_, largest) = ty.integer_range()?;
    let mut found = (0..ty.bits()).filter_map(|shift| {
        let power = 1_i128 << shift;
        let factor = power / divisor + i128::from(power % divisor != 0);
        let excess = factor.checked_mul(divisor)? - power;
        let is_right = excess.checked_mul(most)? < power;
        let fits = factor.checked_mul(most)? <= largest;
        (is_right && fits).then(|| Some((u32::try_from(factor).ok()?, shift)))?
    });
    found.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_right_for_every_number() {
        let mut known = 0;
        for divisor in [
            1, 2, 3, 5, 7, 9, 10, 16, 25, 49, 100, 255, 256, 1000, 65_535,
        ] {
            for most in [0, 1, 254, 255, 2295, 65_025, 65_535, 70_000] {
                for ty in [Type::U16, Type::U32] {
                    let Some((factor, shift)) = factor(most, divisor, ty) else {
                        continue;
                    };
                    known += 1;
                    let (_, largest) = ty.integer_range().unwrap();
                    for number in 0..=most {
                        let product = number * i128::from(factor);
                        assert!(product <= largest);
                        assert_eq!(product >> shift, number / divisor, "{number} / {divisor}");
                    }
                }
            }
        }
        assert!(known > 150, "{known}");
    }
}
