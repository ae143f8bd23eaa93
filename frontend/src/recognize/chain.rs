//! `h = h + x - y` and its like.
//!
//! Integers wrap, so that sums and products may be put together in any order: all but what is held
//! is one incoming value. Of floats each operation rounds; the same operations in the same order
//! are as many updates, one after the other.

use super::Update;
use super::held::Held;
use strew_affine::{BinaryOp, Combiner, Expr, Type, UnaryOp};

/// More updates of one place than this cost more than they may bring.
const MOST_STEPS: usize = 4;

/// What is left of an expression without what is held.
enum Rest {
    Nothing,
    Value(Expr),
}

impl Held<'_> {
    /// `x + held - y` of integers, as one update.
    pub(super) fn updated_by_sum(&self, value: &Expr) -> Option<Update> {
        let op = commutative(outermost(value)?);
        if !self.ty.is_integer() {
            return None;
        }
        let name = combiner_of(op)?;
        match self.without_held(op, value)? {
            Rest::Value(incoming) => Some((Combiner::from_name(name)?, self.incoming(&incoming)?)),
            Rest::Nothing => None,
        }
    }

    /// `expr`, in which what is held is one operand of `op`s, without it.
    fn without_held(&self, op: BinaryOp, expr: &Expr) -> Option<Rest> {
        if self.has_held_bits(expr) {
            return Some(Rest::Nothing);
        }
        let keeps_low_bits = |ty: Type| ty.is_integer() && ty.bits() >= self.ty.bits();
        match expr {
            Expr::Cast(to, inner)
                if keeps_low_bits(*to) && keeps_low_bits(inner.ty(self.kernel)) =>
            {
                Some(match self.without_held(op, inner)? {
                    Rest::Nothing => Rest::Nothing,
                    Rest::Value(rest) => Rest::Value(Expr::Cast(*to, Box::new(rest))),
                })
            }
            Expr::Binary(this, left, right, span)
                if commutative(*this) == op && keeps_low_bits(left.ty(self.kernel)) =>
            {
                let is_left = self.is_unread_by(right);
                let (with, other) = if is_left {
                    (left, right)
                } else {
                    (right, left)
                };
                if !self.is_unread_by(other) || (!is_left && *this != op) {
                    return None;
                }
                let other = (**other).clone();
                Some(Rest::Value(match self.without_held(op, with)? {
                    Rest::Nothing if *this == op => other,
                    Rest::Nothing => Expr::unary(UnaryOp::Neg, other),
                    Rest::Value(rest) => Expr::binary(*this, rest, other, *span),
                }))
            }
            _ => None,
        }
    }

    /// `(held + x) - y` of floats, as an update by `x` and one by `-y`.
    pub(super) fn updated_step_by_step(&self, value: &Expr) -> Option<Vec<Update>> {
        let op = commutative(outermost(value)?);
        let name = combiner_of(op).filter(|_| self.ty.is_float())?;
        let mut operands = Vec::new();
        let mut rest = value;
        while !rest.is_same(&self.load) {
            let Expr::Binary(this, left, right, _) = rest else {
                return None;
            };
            let is_left = self.is_unread_by(right);
            let (with, other) = if is_left {
                (left, right)
            } else {
                (right, left)
            };
            let fits = commutative(*this) == op && left.ty(self.kernel) == self.ty;
            if !fits || !self.is_unread_by(other) || (!is_left && *this != op) {
                return None;
            }
            operands.push((*this, &**other));
            rest = with;
        }
        let updates = operands.iter().rev().map(|(this, operand)| {
            let incoming = self.incoming(operand)?;
            let incoming = match this {
                BinaryOp::Sub => self.negated(incoming),
                _ => incoming,
            };
            Some((Combiner::from_name(name)?, incoming))
        });
        (operands.len() <= MOST_STEPS).then(|| updates.collect())?
    }
}

/// The operation of `value` under its conversions.
fn outermost(value: &Expr) -> Option<BinaryOp> {
    match value {
        Expr::Cast(_, inner) => outermost(inner),
        Expr::Binary(op, ..) => Some(*op),
        _ => None,
    }
}

/// A subtraction is an addition of something else.
fn commutative(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Sub => BinaryOp::Add,
        other => other,
    }
}

pub(super) fn combiner_of(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Add | BinaryOp::Sub => "add",
        BinaryOp::Mul => "mul",
        BinaryOp::BitAnd => "and",
        BinaryOp::BitOr => "or",
        BinaryOp::BitXor => "xor",
        BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => return None,
    })
}
