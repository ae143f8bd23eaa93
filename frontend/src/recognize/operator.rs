//! `h = h + x` and its like.

use super::Update;
use super::chain::combiner_of;
use super::held::{Held, uncast};
use strew_affine::{BinaryOp, Combiner, Expr, Type, UnaryOp, Value};

impl Held<'_> {
    /// `held op value`, `value op held`, with the conversions around it.
    pub(super) fn updated_by_operator(&self, value: &Expr) -> Option<Update> {
        let (op, incoming) = self.operation(value)?;
        let name = combiner_of(op)?;
        let incoming = self.incoming(incoming)?;
        let incoming = match op {
            BinaryOp::Sub => self.negated(incoming),
            _ => incoming,
        };
        Some((Combiner::from_name(name)?, incoming))
    }

    /// The operation that `value` applies to what is held, and its other operand.
    pub(super) fn operation<'e>(&self, value: &'e Expr) -> Option<(BinaryOp, &'e Expr)> {
        let (Expr::Binary(op, left, right, _), common) = uncast(value, self.kernel) else {
            return None;
        };
        if !self.conversions_commute(common) {
            return None;
        }
        let is_commutative = !matches!(
            op,
            BinaryOp::Sub | BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr
        );
        if self.has_held_bits(left) {
            Some((*op, right))
        } else if is_commutative && self.has_held_bits(right) {
            Some((*op, left))
        } else {
            None
        }
    }

    /// Arithmetic modulo a power of two commutes with cutting high bits off; floats must not be
    /// rounded twice.
    fn conversions_commute(&self, common: Type) -> bool {
        common == self.ty || (common.is_integer() && self.ty.is_integer())
    }

    pub(super) fn negated(&self, incoming: Expr) -> Expr {
        let negative = match &incoming {
            Expr::Constant(value) => match (value.as_integer(), value.as_float()) {
                (Some(integer), _) => Some(Value::integer(self.ty, -integer)),
                (None, float) => float.map(|float| Value::float(self.ty, -float)),
            },
            _ => None,
        };
        match negative {
            Some(value) => Expr::Constant(value),
            None => Expr::unary(UnaryOp::Neg, incoming),
        }
    }

    /// The value in the type of the element, if it does not read what is updated.
    pub(super) fn incoming(&self, value: &Expr) -> Option<Expr> {
        if !self.is_unread_by(value) {
            return None;
        }
        // Widening and cutting off again gives back the bits that were there.
        let value = match value {
            Expr::Cast(_, inner) if inner.ty(self.kernel) == self.ty && self.ty.is_integer() => {
                inner
            }
            other => other,
        };
        Some(self.in_type_of_held(value))
    }
}
