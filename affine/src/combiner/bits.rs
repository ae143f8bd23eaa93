use super::{Combine, binary, held, incoming, only};
use crate::{BinaryOp, CompareOp, Expr, Type, Value};

macro_rules! bitwise {
    ($(#[$doc:meta])* $combiner:ident, $name:literal, $op:expr, $identity:literal, $of_bool:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $combiner;

        impl Combine for $combiner {
            fn name(&self) -> &str {
                $name
            }

            fn identity(&self, types: &[Type]) -> Option<Vec<Value>> {
                let ty = only(types).filter(|ty| !ty.is_float())?;
                Some(vec![Value::integer(ty, $identity)])
            }

            fn bodies(&self, types: &[Type]) -> Option<Vec<Expr>> {
                let of_bool: fn(Expr, Expr) -> Expr = $of_bool;
                match only(types)? {
                    ty if ty.is_float() => None,
                    Type::Bool => Some(vec![of_bool(held(0), incoming(0))]),
                    _ => Some(vec![binary($op, held(0), incoming(0))]),
                }
            }

            fn is_exact(&self, _: &[Type]) -> bool {
                true
            }
        }
    };
}

bitwise!(
    /// Bitwise and; of `bool`, whether both hold.
    And,
    "and",
    BinaryOp::BitAnd,
    -1,
    |held, incoming| Expr::And(Box::new(held), Box::new(incoming))
);
bitwise!(
    /// Bitwise or; of `bool`, whether one of them holds.
    Or,
    "or",
    BinaryOp::BitOr,
    0,
    |held, incoming| Expr::Or(Box::new(held), Box::new(incoming))
);
bitwise!(
    /// Bitwise exclusive or; of `bool`, whether they differ.
    Xor,
    "xor",
    BinaryOp::BitXor,
    0,
    |held, incoming| Expr::compare(CompareOp::Ne, held, incoming)
);
