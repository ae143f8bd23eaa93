use super::{Combine, binary, held, incoming, only};
use crate::{BinaryOp, Expr, Type, Value};

macro_rules! bitwise {
    ($(#[$doc:meta])* $combiner:ident, $name:literal, $op:expr, $identity:literal) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $combiner;

        impl Combine for $combiner {
            fn name(&self) -> &str {
                $name
            }

            fn identity(&self, types: &[Type]) -> Option<Vec<Value>> {
                let ty = only(types).filter(|ty| ty.is_integer())?;
                Some(vec![Value::integer(ty, $identity)])
            }

            fn bodies(&self, types: &[Type]) -> Option<Vec<Expr>> {
                only(types).filter(|ty| ty.is_integer())?;
                Some(vec![binary($op, held(0), incoming(0))])
            }

            fn is_exact(&self, _: &[Type]) -> bool {
                true
            }
        }
    };
}

bitwise!(
    /// Bitwise and.
    And,
    "and",
    BinaryOp::BitAnd,
    -1
);
bitwise!(
    /// Bitwise or.
    Or,
    "or",
    BinaryOp::BitOr,
    0
);
bitwise!(
    /// Bitwise exclusive or.
    Xor,
    "xor",
    BinaryOp::BitXor,
    0
);
