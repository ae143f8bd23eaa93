use super::{Combine, Order, binary, held, incoming, only};
use crate::{BinaryOp, CompareOp, Expr, Type, Value};

pub(super) const NAME: &str = "add_sat";

/// Counting up to a limit, as `if (h < limit) h++`: what is at the limit or beyond it stays.
///
/// What is incoming says how many steps to go by its distance from the least value of the type: `1`
/// is one step on an unsigned type, `-127` on an `i8`. So the identity, no step at all, is the
/// least value, a private buffer can count as many steps as it takes from there to the limit, and
/// more are never needed.
///
/// With `m` the least value and `s(x) = x - m`: a held `a` below the limit `l` becomes
/// `min(a + s(b), l)`. That is exact in any grouping: `min(min(a + s(b), l) + s(c), l)` is
/// `min(a + min(s(b) + s(c), s(l)), l)`, since `a + s(l)` is `l` or more.
#[derive(Debug)]
pub struct AddSaturating {
    /// Where counting ends; above the least value of the type, and one of its values.
    pub limit: i128,
}

impl AddSaturating {
    /// The least value of `ty` and the limit as one of its values.
    fn ends(&self, ty: Type) -> Option<(Value, Value)> {
        let (low, high) = ty.integer_range()?;
        let is_defined = ty.is_integer() && low < self.limit && self.limit <= high;
        is_defined.then(|| (Value::integer(ty, low), Value::integer(ty, self.limit)))
    }
}

impl Combine for AddSaturating {
    fn name(&self) -> &str {
        NAME
    }

    fn parameter(&self) -> Option<i128> {
        Some(self.limit)
    }

    fn identity(&self, types: &[Type]) -> Option<Vec<Value>> {
        let (least, _) = self.ends(only(types)?)?;
        Some(vec![least])
    }

    /// What is beyond the limit comes out as the limit.
    fn has_two_sided_identity(&self, types: &[Type]) -> bool {
        let greatest = only(types).and_then(Type::integer_range);
        self.identity(types).is_some() && greatest.is_some_and(|(_, it)| it == self.limit)
    }

    /// The steps of both are added up, unless what is held is beyond the limit.
    fn order(&self, types: &[Type]) -> Order {
        Order::any_if(self.has_two_sided_identity(types))
    }

    /// `held >= limit ? held : steps > room ? limit : held + steps`, where the room up to the limit
    /// and the steps wrap to the right value as unsigned numbers: comparing `steps + least` with
    /// `room + least` as signed ones is the same.
    fn bodies(&self, types: &[Type]) -> Option<Vec<Expr>> {
        let (least, limit) = self.ends(only(types)?)?;
        let (least, limit) = (Expr::Constant(least), Expr::Constant(limit));
        let room = binary(BinaryOp::Sub, limit.clone(), held(0));
        let room_from_least = binary(BinaryOp::Add, room, least.clone());
        let steps = binary(BinaryOp::Sub, incoming(0), least);
        let counted = Expr::select(
            Expr::compare(CompareOp::Gt, incoming(0), room_from_least),
            limit.clone(),
            binary(BinaryOp::Add, held(0), steps),
        );
        let is_full = Expr::compare(CompareOp::Ge, held(0), limit);
        Some(vec![Expr::select(is_full, held(0), counted)])
    }

    fn is_exact(&self, _: &[Type]) -> bool {
        true
    }
}
