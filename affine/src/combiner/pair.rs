use super::{Combine, extreme, held, incoming, is_number};
use crate::{CompareOp, Expr, Type, Value};

fn is_pair(types: &[Type]) -> bool {
    matches!(types, [key, payload] if is_number(*key) && is_number(*payload))
}

/// Both parts come or stay together, by how the first ones compare.
fn replace_both_if(op: CompareOp) -> Vec<Expr> {
    let replaces = Expr::compare(op, incoming(0), held(0));
    let part = |part| Expr::select(replaces.clone(), incoming(part), held(part));
    vec![part(0), part(1)]
}

macro_rules! first_of_equals {
    ($(#[$doc:meta])* $combiner:ident, $name:literal, $op:expr) => {
        $(#[$doc])*
        ///
        /// # The identity
        /// `e` is the pair of the value that wins no strict comparison (an infinity, or the end of an integer type's range) and a
        /// zero, which is never seen:
        /// * `a ∘ e` is `a` for every `a`, a NaN, the same infinity and the same end of the range included, since `e` does not win
        ///   the comparison with any of them. So what no update changed stays as it is.
        /// * `e ∘ b` is `b` if `b` wins against `e`, else `e`; then `b` is a NaN or compares equal to `e`, wins no comparison
        ///   at all, and `a ∘ b` is `a`, as is `a ∘ e`.
        /// * What is combined into `e` is so never a NaN, and is the first of the greatest (least) values that win against
        ///   `e`, or `e`. Combined into `a` it replaces `a` exactly if one of them does, and the first of the greatest is what
        ///   is left in order too; a NaN in `a` stays in both.
        #[derive(Debug)]
        pub struct $combiner;

        impl Combine for $combiner {
            fn name(&self) -> &str {
                $name
            }

            fn parts(&self) -> usize {
                2
            }

            fn identity(&self, types: &[Type]) -> Option<Vec<Value>> {
                match types {
                    [key, payload] if is_pair(types) => {
                        Some(vec![extreme(*key, $op)?, Value::zero(*payload)])
                    }
                    _ => None,
                }
            }

            fn bodies(&self, types: &[Type]) -> Option<Vec<Expr>> {
                is_pair(types).then(|| replace_both_if($op))
            }

            fn is_exact(&self, _: &[Type]) -> bool {
                true
            }
        }
    };
}

first_of_equals!(
    /// The least value and what comes with it, as `if (x < best) { best = x; arg = i; }`: the first of equals stays.
    ArgMin,
    "argmin",
    CompareOp::Lt
);
first_of_equals!(
    /// The greatest value and what comes with it, as `if (x > best) { best = x; arg = i; }`: the first of equals stays.
    ArgMax,
    "argmax",
    CompareOp::Gt
);

macro_rules! last_of_equals {
    ($(#[$doc:meta])* $combiner:ident, $name:literal, $op:expr) => {
        $(#[$doc])*
        ///
        /// There is no identity: it would have to lose against an infinity, or the end of an integer type's range, that is
        /// incoming and to lose against the same when that is held, which is to win and to lose one comparison.
        #[derive(Debug)]
        pub struct $combiner;

        impl Combine for $combiner {
            fn name(&self) -> &str {
                $name
            }

            fn parts(&self) -> usize {
                2
            }

            fn identity(&self, _: &[Type]) -> Option<Vec<Value>> {
                None
            }

            fn bodies(&self, types: &[Type]) -> Option<Vec<Expr>> {
                is_pair(types).then(|| replace_both_if($op))
            }

            fn is_exact(&self, _: &[Type]) -> bool {
                true
            }
        }
    };
}

last_of_equals!(
    /// The least value and what comes with it, as `if (x <= best) { best = x; arg = i; }`: the last of equals is taken.
    ArgMinLast,
    "argmin_last",
    CompareOp::Le
);
last_of_equals!(
    /// The greatest value and what comes with it, as `if (x >= best) { best = x; arg = i; }`: the last of equals is taken.
    ArgMaxLast,
    "argmax_last",
    CompareOp::Ge
);
