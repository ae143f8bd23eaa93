//! Combiners: how updates of one place, or of several places together, are combined.

mod apply;
mod arithmetic;
mod bits;
mod declared;
mod extremum;
mod host;
mod last;
mod laws;
mod order;
mod pair;
mod saturating;
mod trial;
mod truth;

pub use apply::CombineError;
pub use arithmetic::{Add, Mul};
pub use bits::Bitwise;
pub use declared::Declared;
pub(crate) use declared::{HELD, INCOMING, replace_leaves};
pub use extremum::{Extreme, Extremum, KeptExtremum, LibraryExtremum, Ties};
pub use host::{Host, HostAddress, HostFunction, Panicked};
pub use last::Last;
pub use order::Order;
pub use pair::ArgExtremum;
pub use saturating::AddSaturating;
pub use trial::{BrokenLaw, broken_law};
pub use truth::Logical;

use crate::{BinaryOp, Expr, Operand, Span, Type, Value};
use std::fmt;
use std::sync::Arc;

/// How updates of one place, or of several places together, are combined.
///
/// A combiner works on tuples of [`parts`](Combine::parts) values, mostly of one: a maximum alone
/// is a tuple of one, a maximum with the position where it stands a tuple of two.
///
/// # Laws
/// For all types with an [`identity`](Combine::identity) `e`, writing `a ∘ b` for the tuple of the
/// values of [`bodies`](Combine::bodies) with `a` held and `b` incoming, and any NaN equal to any
/// NaN:
/// * `a ∘ e` is `a`, and `a ∘ (e ∘ b)` is `a ∘ b`, bit for bit. (`e ∘ b` may differ from `b` where
///   `b` never changes anything, as a NaN does not in a maximum.)
/// * `a ∘ ((e ∘ b) ∘ c)` is `(a ∘ b) ∘ c`: bit for bit where [`is_exact`](Combine::is_exact), else
///   up to rounding.
/// * Operands are exchanged only where [`is_commutative`](Combine::is_commutative) says so; else
///   strategies keep the order of the iterations.
///
/// From these follows what private buffers rest on, for any number of updates: that
/// `a ∘ b1 ∘ … ∘ bn`, in order, is `a` with the updates combined into `e` first.
pub trait Combine: fmt::Debug + Send + Sync {
    /// The name in the kernel text and in schedules.
    fn name(&self) -> &str;

    /// The number in parentheses behind the name, for a family of combiners.
    fn parameter(&self) -> Option<i128> {
        None
    }

    /// What declares it, for a combiner that is not built in: the kernel text says this in front of
    /// a kernel that uses it.
    fn declaration(&self) -> Option<&Declared> {
        None
    }

    /// How many values make a tuple.
    fn parts(&self) -> usize {
        1
    }

    /// The neutral tuple for parts of these types; `None` when the combiner is not defined there or
    /// has none: then updates cannot be collected apart, but are made in the order of the
    /// iterations.
    fn identity(&self, types: &[Type]) -> Option<Vec<Value>>;

    /// Whether `e ∘ b` is `b` for every `b`, bit for bit, so that whatever is assigned to a private
    /// buffer comes out of a merge. `false` also where nobody could tell.
    fn has_two_sided_identity(&self, _types: &[Type]) -> bool {
        false
    }

    /// The combined tuple, each part an expression over [`Expr::Operand`] and constants, operands
    /// having `types`; `None` when the combiner is not defined there.
    fn bodies(&self, types: &[Type]) -> Option<Vec<Expr>>;

    /// In which order updates may be combined, if somebody looks afterwards whether another one was
    /// told. In any only where `a ∘ b` is `b ∘ a` for every `a` and `b`, bit for bit, and there is
    /// an identity. Of the loop also where nobody could tell.
    fn order(&self, _types: &[Type]) -> Order {
        Order::OfLoop
    }

    /// Whether updates may be made in any order.
    fn is_commutative(&self, types: &[Type]) -> bool {
        self.order(types) == Order::Any
    }

    /// Whether regrouping never changes a bit of the result on parts of these types.
    fn is_exact(&self, types: &[Type]) -> bool;
}

/// A shared handle on a combiner. Two handles are equal when their names, parameters and
/// declarations are.
#[derive(Clone, Debug)]
pub struct Combiner(Arc<dyn Combine>);

impl Combiner {
    /// A handle on `combine`.
    pub fn new(combine: impl Combine + 'static) -> Self {
        Self(Arc::new(combine))
    }

    /// The combiners that need no declaration and have no parameter.
    pub fn built_in() -> Vec<Self> {
        let ends = [
            (Extreme::Least, Ties::First),
            (Extreme::Greatest, Ties::First),
            (Extreme::Least, Ties::Last),
            (Extreme::Greatest, Ties::Last),
        ];
        let mut all = vec![Self::new(Add), Self::new(Mul)];
        all.extend(ends.map(|(extreme, ties)| Self::new(Extremum { extreme, ties })));
        all.extend(ends.map(|(extreme, ties)| Self::new(LibraryExtremum { extreme, ties })));
        all.extend(ends.map(|(extreme, ties)| Self::new(KeptExtremum { extreme, ties })));
        all.extend([Bitwise::And, Bitwise::Or, Bitwise::Xor].map(Self::new));
        all.extend(ends.map(|(extreme, ties)| Self::new(ArgExtremum { extreme, ties })));
        all.extend([Logical::And, Logical::Or].map(Self::new));
        all.push(Self::new(Last));
        all
    }

    /// What can be written for a built-in combiner.
    pub fn known_names() -> Vec<String> {
        let plain = Self::built_in().into_iter().map(|it| it.to_string());
        plain
            .chain([format!("{}(LIMIT)", saturating::NAME)])
            .collect()
    }

    /// Whether a built-in combiner has this name.
    pub fn is_built_in(name: &str) -> bool {
        name == saturating::NAME || Self::from_name(name).is_some()
    }

    /// The built-in combiner that is written as `text`: a name, with a number in parentheses where
    /// the combiner has one.
    pub fn from_name(text: &str) -> Option<Self> {
        match text.strip_suffix(')').and_then(|it| it.split_once('(')) {
            Some((name, parameter)) => Self::with_parameter(name, parameter.parse().ok()?),
            None => Self::built_in().into_iter().find(|it| it.name() == text),
        }
    }

    /// The built-in combiner called `name` that has `parameter`.
    pub fn with_parameter(name: &str, parameter: i128) -> Option<Self> {
        (name == saturating::NAME).then(|| Self::new(AddSaturating { limit: parameter }))
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
            && self.parameter() == other.parameter()
            && self.declaration() == other.declaration()
    }
}

impl fmt::Display for Combiner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parameter() {
            Some(parameter) => write!(f, "{}({parameter})", self.name()),
            None => f.write_str(self.name()),
        }
    }
}

fn held(part: usize) -> Expr {
    Expr::Operand(Operand::Held(part))
}

fn incoming(part: usize) -> Expr {
    Expr::Operand(Operand::Incoming(part))
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, left, right, Span::default())
}

/// The type of a tuple of one.
fn only(types: &[Type]) -> Option<Type> {
    match types {
        [ty] => Some(*ty),
        _ => None,
    }
}

fn is_number(ty: Type) -> bool {
    ty.is_float() || ty.is_integer()
}

fn number(ty: Type, integer: i128, float: f64) -> Option<Value> {
    if ty.is_float() {
        Some(Value::float(ty, float))
    } else {
        ty.is_integer().then(|| Value::integer(ty, integer))
    }
}
