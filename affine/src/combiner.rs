use crate::{BinaryOp, CompareOp, Expr, Operand, Span, Type, Value};
use std::fmt;
use std::sync::Arc;

/// How updates of one element are combined.
///
/// # Laws
/// For every type with an [`identity`](Combine::identity) `e`, writing `a ∘ b` for the value of [`body`](Combine::body) with `a`
/// held and `b` incoming, and any NaN equal to any NaN:
/// * `a ∘ e` is `a`, and `a ∘ (e ∘ b)` is `a ∘ b`, bit for bit. (`e ∘ b` may differ from `b` where `b` never changes anything, as a
///   NaN does not in a maximum.)
/// * `a ∘ (b ∘ c)` is `(a ∘ b) ∘ c` for `b` and `c` combined into `e` first: bit for bit where [`is_exact`](Combine::is_exact),
///   else up to rounding.
/// * Operands are never exchanged: strategies keep the order of the iterations, so commutativity is not asked for.
pub trait Combine: fmt::Debug + Send + Sync {
    /// The name in the kernel text and in schedules.
    fn name(&self) -> &str;

    /// The neutral element for elements of type `ty`; `None` when the combiner is not defined there.
    fn identity(&self, ty: Type) -> Option<Value>;

    /// The combined value as an expression over [`Expr::Operand`] and constants, both operands of type `ty`.
    fn body(&self, ty: Type) -> Expr;

    /// Whether regrouping never changes a bit of the result on elements of type `ty`.
    fn is_exact(&self, ty: Type) -> bool;
}

/// A shared handle on a combiner. Two handles are equal when their names are.
#[derive(Clone, Debug)]
pub struct Combiner(Arc<dyn Combine>);

impl Combiner {
    /// A handle on `combine`.
    pub fn new(combine: impl Combine + 'static) -> Self {
        Self(Arc::new(combine))
    }

    /// The combiners that need no declaration.
    pub fn built_in() -> [Self; 7] {
        [
            Self::new(Add),
            Self::new(Mul),
            Self::new(Min),
            Self::new(Max),
            Self::new(And),
            Self::new(Or),
            Self::new(Xor),
        ]
    }

    /// The built-in combiner called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::built_in().into_iter().find(|it| it.name() == name)
    }
}

impl std::ops::Deref for Combiner {
    type Target = dyn Combine;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for Combiner {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Combiner {}

impl fmt::Display for Combiner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn operation(op: BinaryOp) -> Expr {
    let (held, incoming) = operands();
    Expr::binary(op, held, incoming, Span::default())
}

fn operands() -> (Expr, Expr) {
    (
        Expr::Operand(Operand::Held),
        Expr::Operand(Operand::Incoming),
    )
}

/// `incoming op held ? incoming : held`: what `if (x > h) h = x` means. A NaN that comes is ignored, a NaN that is held
/// stays, and of equal values (zeros of both signs) the first stays.
fn replace_if(op: CompareOp) -> Expr {
    let (held, incoming) = operands();
    Expr::select(
        Expr::compare(op, incoming.clone(), held.clone()),
        incoming,
        held,
    )
}

fn number(ty: Type, integer: i128, float: f64) -> Option<Value> {
    if ty.is_float() {
        Some(Value::float(ty, float))
    } else {
        ty.is_integer().then(|| Value::integer(ty, integer))
    }
}

/// Addition.
#[derive(Debug)]
pub struct Add;

impl Combine for Add {
    fn name(&self) -> &str {
        "add"
    }

    /// `-0.0` for floats: `+0.0` would turn an untouched `-0.0` into `+0.0`.
    fn identity(&self, ty: Type) -> Option<Value> {
        number(ty, 0, -0.0)
    }

    fn body(&self, _: Type) -> Expr {
        operation(BinaryOp::Add)
    }

    fn is_exact(&self, ty: Type) -> bool {
        ty.is_integer()
    }
}

/// Multiplication.
#[derive(Debug)]
pub struct Mul;

impl Combine for Mul {
    fn name(&self) -> &str {
        "mul"
    }

    fn identity(&self, ty: Type) -> Option<Value> {
        number(ty, 1, 1.0)
    }

    fn body(&self, _: Type) -> Expr {
        operation(BinaryOp::Mul)
    }

    fn is_exact(&self, ty: Type) -> bool {
        ty.is_integer()
    }
}

/// The least value, as `if (x < h) h = x`.
#[derive(Debug)]
pub struct Min;

impl Combine for Min {
    fn name(&self) -> &str {
        "min"
    }

    fn identity(&self, ty: Type) -> Option<Value> {
        number(
            ty,
            ty.integer_range().map_or(0, |range| range.1),
            f64::INFINITY,
        )
    }

    fn body(&self, _: Type) -> Expr {
        replace_if(CompareOp::Lt)
    }

    /// Of equal values the first stays, in any grouping that keeps the order.
    fn is_exact(&self, _: Type) -> bool {
        true
    }
}

/// The greatest value, as `if (x > h) h = x`.
#[derive(Debug)]
pub struct Max;

impl Combine for Max {
    fn name(&self) -> &str {
        "max"
    }

    fn identity(&self, ty: Type) -> Option<Value> {
        number(
            ty,
            ty.integer_range().map_or(0, |range| range.0),
            f64::NEG_INFINITY,
        )
    }

    fn body(&self, _: Type) -> Expr {
        replace_if(CompareOp::Gt)
    }

    /// As for [`Min`].
    fn is_exact(&self, _: Type) -> bool {
        true
    }
}

/// Bitwise and.
#[derive(Debug)]
pub struct And;

impl Combine for And {
    fn name(&self) -> &str {
        "and"
    }

    fn identity(&self, ty: Type) -> Option<Value> {
        ty.is_integer().then(|| Value::integer(ty, -1))
    }

    fn body(&self, _: Type) -> Expr {
        operation(BinaryOp::BitAnd)
    }

    fn is_exact(&self, _: Type) -> bool {
        true
    }
}

/// Bitwise or.
#[derive(Debug)]
pub struct Or;

impl Combine for Or {
    fn name(&self) -> &str {
        "or"
    }

    fn identity(&self, ty: Type) -> Option<Value> {
        ty.is_integer().then(|| Value::zero(ty))
    }

    fn body(&self, _: Type) -> Expr {
        operation(BinaryOp::BitOr)
    }

    fn is_exact(&self, _: Type) -> bool {
        true
    }
}

/// Bitwise exclusive or.
#[derive(Debug)]
pub struct Xor;

impl Combine for Xor {
    fn name(&self) -> &str {
        "xor"
    }

    fn identity(&self, ty: Type) -> Option<Value> {
        ty.is_integer().then(|| Value::zero(ty))
    }

    fn body(&self, _: Type) -> Expr {
        operation(BinaryOp::BitXor)
    }

    fn is_exact(&self, _: Type) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate;

    fn apply(body: &Expr, held: Value, incoming: Value) -> Value {
        let on = |expr: &Expr| apply(expr, held, incoming);
        match body {
            Expr::Operand(Operand::Held) => held,
            Expr::Operand(Operand::Incoming) => incoming,
            Expr::Binary(op, left, right, _) => {
                evaluate::binary(*op, on(left), on(right)).unwrap_or(held)
            }
            Expr::Compare(op, left, right) => {
                Value::bool(evaluate::compare(*op, on(left), on(right)))
            }
            Expr::Select(condition, then, otherwise) => on(if on(condition) == Value::bool(true) {
                then
            } else {
                otherwise
            }),
            other => unreachable!("{other:?} is in no built-in body"),
        }
    }

    fn samples(ty: Type) -> Vec<Value> {
        let floats = [
            0.0,
            -0.0,
            1.5,
            -2.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            1e-320,
        ];
        let integers = [
            0,
            1,
            -1,
            2,
            5,
            77,
            i128::from(i64::MIN),
            i128::from(i64::MAX),
        ];
        if ty.is_float() {
            floats.map(|it| Value::float(ty, it)).to_vec()
        } else {
            integers.map(|it| Value::integer(ty, it)).to_vec()
        }
    }

    fn same(left: Value, right: Value) -> bool {
        let nan = |it: Value| it.as_float().is_some_and(f64::is_nan);
        left == right || nan(left) && nan(right)
    }

    #[test]
    fn the_laws_hold_for_every_built_in_combiner_on_every_type() {
        for combiner in Combiner::built_in() {
            for ty in Type::ELEMENTS {
                let Some(e) = combiner.identity(ty) else {
                    continue;
                };
                let body = combiner.body(ty);
                let on = |held, incoming| apply(&body, held, incoming);
                for a in samples(ty) {
                    assert!(same(on(a, e), a), "{combiner} on {ty}: {a:?} ∘ e");
                    for b in samples(ty) {
                        assert!(
                            same(on(a, on(e, b)), on(a, b)),
                            "{combiner} {ty}: {a:?} {b:?}"
                        );
                        for c in samples(ty) {
                            let grouped = on(a, on(on(e, b), c));
                            let in_order = on(on(a, b), c);
                            let exact = same(grouped, in_order);
                            assert!(exact || !combiner.is_exact(ty), "{combiner} on {ty}");
                        }
                    }
                }
            }
        }
    }
}
