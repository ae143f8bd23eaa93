use super::{Combine, Combiner, Order, held, incoming, is_number, number, only};
use crate::{CompareOp, Expr, Type, Value};

/// Which end of the order is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extreme {
    /// The least value.
    Least,
    /// The greatest value.
    Greatest,
}

/// Which of equal values is left, which zeros of both signs show, and what comes with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ties {
    /// The first that came.
    First,
    /// The last that came.
    Last,
}

/// What holds of `incoming` and `held`, in this order, if what is incoming is taken.
pub(super) fn replaces(extreme: Extreme, ties: Ties) -> CompareOp {
    match (extreme, ties) {
        (Extreme::Least, Ties::First) => CompareOp::Lt,
        (Extreme::Least, Ties::Last) => CompareOp::Le,
        (Extreme::Greatest, Ties::First) => CompareOp::Gt,
        (Extreme::Greatest, Ties::Last) => CompareOp::Ge,
    }
}

/// What holds of `held` and `incoming`, in this order, if what is held is kept.
fn keeps(extreme: Extreme, ties: Ties) -> CompareOp {
    match ties {
        Ties::First => replaces(extreme, Ties::Last),
        Ties::Last => replaces(extreme, Ties::First),
    }
}

/// Zeros of both signs are equal, and the first or the last of them is left.
fn order_of(ty: Option<Type>) -> Order {
    match ty {
        Some(ty) if ty.is_float() => Order::AnyButOfZeros,
        Some(ty) if ty.is_integer() => Order::Any,
        _ => Order::OfLoop,
    }
}

/// The other end of the order of a type, which replaces nothing: an infinity, or the end of the
/// range of an integer type.
pub(super) fn furthest_from(extreme: Extreme, ty: Type) -> Option<Value> {
    let (low, high) = ty.integer_range().unwrap_or_default();
    match extreme {
        Extreme::Least => number(ty, high, f64::INFINITY),
        Extreme::Greatest => number(ty, low, f64::NEG_INFINITY),
    }
}

/// The least or greatest value, as `if (x > h) h = x` means it: a NaN that comes is ignored, a NaN
/// that is held stays.
///
/// It is exact: which of the updates is left depends on their order, and not on how they are
/// grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extremum {
    /// `<` or `>`.
    pub extreme: Extreme,
    /// Whether the comparison is strict.
    pub ties: Ties,
}

impl Extremum {
    /// What holds of what is incoming and what is held, in this order, if what is incoming is
    /// taken.
    pub fn replaces(&self) -> CompareOp {
        replaces(self.extreme, self.ties)
    }
}

impl Combine for Extremum {
    fn name(&self) -> &str {
        match (self.extreme, self.ties) {
            (Extreme::Least, Ties::First) => "min",
            (Extreme::Least, Ties::Last) => "min_last",
            (Extreme::Greatest, Ties::First) => "max",
            (Extreme::Greatest, Ties::Last) => "max_last",
        }
    }

    fn identity(&self, types: &[Type]) -> Option<Vec<Value>> {
        Some(vec![furthest_from(self.extreme, only(types)?)?])
    }

    /// A NaN that comes is ignored.
    fn has_two_sided_identity(&self, types: &[Type]) -> bool {
        only(types).is_some_and(Type::is_integer)
    }

    fn order(&self, types: &[Type]) -> Order {
        order_of(only(types))
    }

    fn bodies(&self, types: &[Type]) -> Option<Vec<Expr>> {
        let is_taken = Expr::compare(replaces(self.extreme, self.ties), incoming(0), held(0));
        is_number(only(types)?).then(|| vec![Expr::select(is_taken, incoming(0), held(0))])
    }

    fn is_exact(&self, _: &[Type]) -> bool {
        true
    }
}

/// The least or greatest number, as C's `fmin` or `fmax` of the two: a NaN loses against
/// everything, and of equal values the second operand is taken, which is what the platform's
/// library does with zeros of both signs. So the last of equals is left by `h = fmax(h, x)`, and
/// the first by `h = fmax(x, h)`.
///
/// It is exact, as [`Extremum`] is.
#[derive(Clone, Copy, Debug)]
pub struct LibraryExtremum {
    /// `fmin` or `fmax`.
    pub extreme: Extreme,
    /// Whether what is held is the second operand.
    pub ties: Ties,
}

impl Combine for LibraryExtremum {
    fn name(&self) -> &str {
        match (self.extreme, self.ties) {
            (Extreme::Least, Ties::First) => "fmin_first",
            (Extreme::Least, Ties::Last) => "fmin",
            (Extreme::Greatest, Ties::First) => "fmax_first",
            (Extreme::Greatest, Ties::Last) => "fmax",
        }
    }

    /// NaN: infinity would replace a NaN that is held.
    fn identity(&self, types: &[Type]) -> Option<Vec<Value>> {
        let ty = only(types).filter(|ty| ty.is_float())?;
        Some(vec![Value::float(ty, f64::NAN)])
    }

    fn has_two_sided_identity(&self, types: &[Type]) -> bool {
        self.identity(types).is_some()
    }

    fn order(&self, types: &[Type]) -> Order {
        order_of(only(types).filter(|ty| ty.is_float()))
    }

    fn bodies(&self, types: &[Type]) -> Option<Vec<Expr>> {
        only(types).filter(|ty| ty.is_float())?;
        let is_nan = Expr::compare(CompareOp::Ne, incoming(0), incoming(0));
        let is_kept = Expr::compare(keeps(self.extreme, self.ties), held(0), incoming(0));
        let number = Expr::select(is_kept, held(0), incoming(0));
        Some(vec![Expr::select(is_nan, held(0), number)])
    }

    fn is_exact(&self, _: &[Type]) -> bool {
        true
    }
}

/// The least or greatest value by a comparison that begins with what is held, as the macro
/// `MAX(h, x)` means it, which is `h > x ? h : x`: a NaN replaces what is held, and is replaced by
/// whatever comes next.
///
/// There is no identity, since what stands in front of a NaN counts no more. So updates by it are
/// made in their order, which several threads can do that share the elements among them.
#[derive(Clone, Copy, Debug)]
pub struct KeptExtremum {
    /// `<` or `>`.
    pub extreme: Extreme,
    /// Whether the comparison is strict: the last of equals is left then.
    pub ties: Ties,
}

impl Combine for KeptExtremum {
    fn name(&self) -> &str {
        match (self.extreme, self.ties) {
            (Extreme::Least, Ties::First) => "min_kept_first",
            (Extreme::Least, Ties::Last) => "min_kept",
            (Extreme::Greatest, Ties::First) => "max_kept_first",
            (Extreme::Greatest, Ties::Last) => "max_kept",
        }
    }

    fn identity(&self, _: &[Type]) -> Option<Vec<Value>> {
        None
    }

    fn bodies(&self, types: &[Type]) -> Option<Vec<Expr>> {
        only(types).filter(|ty| ty.is_float())?;
        let is_kept = keeps(self.extreme, self.ties);
        let is_kept = Expr::compare(is_kept, held(0), incoming(0));
        Some(vec![Expr::select(is_kept, held(0), incoming(0))])
    }

    fn order(&self, types: &[Type]) -> Order {
        let Self { extreme, ties } = *self;
        match self.bodies(types) {
            Some(_) => Order::AnyButOfZerosAndNan(Combiner::new(Extremum { extreme, ties })),
            None => Order::OfLoop,
        }
    }

    fn is_exact(&self, _: &[Type]) -> bool {
        true
    }
}
