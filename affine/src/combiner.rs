use crate::{BinaryOp, CompareOp, Expr, Operand, Span, Type, Value};
use std::fmt;
use std::sync::Arc;

/// How updates of one element are combined.
///
/// # Laws
/// For every type with an [`identity`](Combine::identity), writing `a ∘ b` for the value of [`body`](Combine::body) with `a`
/// held and `b` incoming:
/// * `identity ∘ b` is `b`, and `a ∘ identity` is `a`, bit for bit (any NaN equal to any NaN);
/// * `(a ∘ b) ∘ c` is `a ∘ (b ∘ c)`: bit for bit where [`is_exact`](Combine::is_exact), else up to rounding;
/// * operands are never exchanged: strategies keep the order of the iterations, so commutativity is not asked for.
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
