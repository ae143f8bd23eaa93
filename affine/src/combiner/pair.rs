use super::extremum::{furthest_from, replaces};
use super::{Combine, Extreme, Extremum, Order, Ties, held, incoming, is_number};
use crate::{Expr, Type, Value};

/// The least or greatest value and what comes with it, as `if (x > best) { best = x; arg = i; }`.
///
/// It is exact: which of the updates is left depends on their order, and not on how they are
/// grouped.
///
/// # The identity
/// Where the first of equals is left, `e` is the pair of the value that wins no strict comparison
/// (an infinity, or the end of an integer type's range) and a zero, which is never seen:
/// * `a ∘ e` is `a` for every `a`, a NaN, the same infinity and the same end of the range included,
///   since `e` does not win the comparison with any of them. So what no update changed stays as it
///   is.
/// * `e ∘ b` is `b` if `b` wins against `e`, else `e`; then `b` is a NaN or compares equal to `e`,
///   wins no comparison at all, and `a ∘ b` is `a`, as is `a ∘ e`.
/// * What is combined into `e` is so never a NaN, and is the first of the greatest (least) values
///   that win against `e`, or `e`. Combined into `a` it replaces `a` exactly if one of them does,
///   and the first of the greatest is what is left in order too; a NaN in `a` stays in both.
///
/// Where the last of equals is left there is no identity: it would have to lose against an
/// infinity, or the end of an integer type's range, that is incoming and to lose against the same
/// when that is held, which is to win and to lose one comparison.
#[derive(Clone, Copy, Debug)]
pub struct ArgExtremum {
    /// `<` or `>`.
    pub extreme: Extreme,
    /// Whether the comparison is strict.
    pub ties: Ties,
}

impl Combine for ArgExtremum {
    fn name(&self) -> &str {
        match (self.extreme, self.ties) {
            (Extreme::Least, Ties::First) => "argmin",
            (Extreme::Least, Ties::Last) => "argmin_last",
            (Extreme::Greatest, Ties::First) => "argmax",
            (Extreme::Greatest, Ties::Last) => "argmax_last",
        }
    }

    fn parts(&self) -> usize {
        2
    }

    fn identity(&self, types: &[Type]) -> Option<Vec<Value>> {
        match (types, self.ties) {
            ([key, payload], Ties::First) if is_pair(types) => Some(vec![
                furthest_from(self.extreme, *key)?,
                Value::zero(*payload),
            ]),
            _ => None,
        }
    }

    /// Both parts come or stay together, by how the first ones compare.
    fn bodies(&self, types: &[Type]) -> Option<Vec<Expr>> {
        let is_taken = Expr::compare(replaces(self.extreme, self.ties), incoming(0), held(0));
        let part = |part| Expr::select(is_taken.clone(), incoming(part), held(part));
        is_pair(types).then(|| vec![part(0), part(1)])
    }

    fn order(&self, types: &[Type]) -> Order {
        let Self { extreme, ties } = *self;
        match is_pair(types) {
            true => Order::AnyOfTurns(Extremum { extreme, ties }),
            false => Order::OfLoop,
        }
    }

    fn is_exact(&self, _: &[Type]) -> bool {
        true
    }
}

/// Whether the first part can be compared; the second is only moved.
fn is_pair(types: &[Type]) -> bool {
    matches!(types, [key, _] if is_number(*key))
}
