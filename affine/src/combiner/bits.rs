use super::{Combine, Order, binary, held, incoming, only};
use crate::{BinaryOp, CompareOp, Expr, Type, Value};

/// An operation on the bits of integers, and its like on `bool`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bitwise {
    /// Bitwise and; of `bool`, whether both hold.
    And,
    /// Bitwise or; of `bool`, whether one of them holds.
    Or,
    /// Bitwise exclusive or; of `bool`, whether they differ.
    Xor,
}

impl Bitwise {
    fn of_bool(self, held: Expr, incoming: Expr) -> Expr {
        match self {
            Self::And => Expr::And(Box::new(held), Box::new(incoming)),
            Self::Or => Expr::Or(Box::new(held), Box::new(incoming)),
            Self::Xor => Expr::compare(CompareOp::Ne, held, incoming),
        }
    }

    fn op(self) -> BinaryOp {
        match self {
            Self::And => BinaryOp::BitAnd,
            Self::Or => BinaryOp::BitOr,
            Self::Xor => BinaryOp::BitXor,
        }
    }
}

impl Combine for Bitwise {
    fn name(&self) -> &str {
        match self {
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
        }
    }

    fn identity(&self, types: &[Type]) -> Option<Vec<Value>> {
        let ty = only(types).filter(|ty| !ty.is_float())?;
        let bits = match self {
            Self::And => -1,
            Self::Or | Self::Xor => 0,
        };
        Some(vec![Value::integer(ty, bits)])
    }

    fn has_two_sided_identity(&self, types: &[Type]) -> bool {
        self.identity(types).is_some()
    }

    fn order(&self, types: &[Type]) -> Order {
        Order::any_if(self.identity(types).is_some())
    }

    fn bodies(&self, types: &[Type]) -> Option<Vec<Expr>> {
        match only(types)? {
            ty if ty.is_float() => None,
            Type::Bool => Some(vec![self.of_bool(held(0), incoming(0))]),
            _ => Some(vec![binary(self.op(), held(0), incoming(0))]),
        }
    }

    fn is_exact(&self, _: &[Type]) -> bool {
        true
    }
}
