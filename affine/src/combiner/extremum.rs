use super::{Combine, extreme, held, incoming, is_number, only};
use crate::{CompareOp, Expr, Type, Value};

/// `incoming op held ? incoming : held`: what `if (x > h) h = x` means. A NaN that comes is ignored, a NaN that is held stays. Of
/// equal values (zeros of both signs) a strict comparison keeps the first, the others take the last.
fn replace_if(op: CompareOp) -> Expr {
    Expr::select(
        Expr::compare(op, incoming(0), held(0)),
        incoming(0),
        held(0),
    )
}

/// C's `fmax` or `fmin`: a NaN loses against everything, and of equal values the second operand is taken, which is what the
/// platform's library does with zeros of both signs. So what is held stays when it stands second and `op` says so for equal values.
fn ignoring_nan(op: CompareOp) -> Expr {
    let is_nan = Expr::compare(CompareOp::Ne, incoming(0), incoming(0));
    let stays = Expr::compare(op, held(0), incoming(0));
    Expr::select(is_nan, held(0), Expr::select(stays, held(0), incoming(0)))
}

/// All of these are exact: which of the updates is left depends on their order, and not on how they are grouped.
macro_rules! extremum {
    ($(#[$doc:meta])* $combiner:ident, $name:literal, $op:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $combiner;

        impl Combine for $combiner {
            fn name(&self) -> &str {
                $name
            }

            fn identity(&self, types: &[Type]) -> Option<Vec<Value>> {
                Some(vec![extreme(only(types)?, $op)?])
            }

            fn bodies(&self, types: &[Type]) -> Option<Vec<Expr>> {
                is_number(only(types)?).then(|| vec![replace_if($op)])
            }

            fn is_exact(&self, _: &[Type]) -> bool {
                true
            }
        }
    };
}

extremum!(
    /// The least value, as `if (x < h) h = x`: the first of equals stays.
    Min,
    "min",
    CompareOp::Lt
);
extremum!(
    /// The greatest value, as `if (x > h) h = x`: the first of equals stays.
    Max,
    "max",
    CompareOp::Gt
);
extremum!(
    /// The least value, as `if (x <= h) h = x`: the last of equals is taken, which differs from [`Min`] for zeros of both signs.
    MinLast,
    "min_last",
    CompareOp::Le
);
extremum!(
    /// The greatest value, as `if (x >= h) h = x`: the last of equals is taken, which differs from [`Max`] for zeros of both signs.
    MaxLast,
    "max_last",
    CompareOp::Ge
);

macro_rules! library_extremum {
    ($(#[$doc:meta])* $combiner:ident, $name:literal, $op:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $combiner;

        impl Combine for $combiner {
            fn name(&self) -> &str {
                $name
            }

            /// NaN: infinity would replace a NaN that is held.
            fn identity(&self, types: &[Type]) -> Option<Vec<Value>> {
                let ty = only(types).filter(|ty| ty.is_float())?;
                Some(vec![Value::float(ty, f64::NAN)])
            }

            fn bodies(&self, types: &[Type]) -> Option<Vec<Expr>> {
                only(types).filter(|ty| ty.is_float())?;
                Some(vec![ignoring_nan($op)])
            }

            fn is_exact(&self, _: &[Type]) -> bool {
                true
            }
        }
    };
}

library_extremum!(
    /// The least number, as `h = fmin(x, h)`: the first of equals stays.
    FMinFirst,
    "fmin_first",
    CompareOp::Le
);
library_extremum!(
    /// The greatest number, as `h = fmax(x, h)`: the first of equals stays.
    FMaxFirst,
    "fmax_first",
    CompareOp::Ge
);
library_extremum!(
    /// The least number, as `h = fmin(h, x)`: the last of equals is taken.
    FMin,
    "fmin",
    CompareOp::Lt
);
library_extremum!(
    /// The greatest number, as `h = fmax(h, x)`: the last of equals is taken.
    FMax,
    "fmax",
    CompareOp::Gt
);
