//! The intermediate representation of strew and everything that is said about it without knowing C,
//! Cranelift or threads.
//!
//! Reading order: [`Type`] and [`Value`] (what is computed with), [`AffineExpr`] (what bounds and
//! subscripts are made of), [`Expr`] (what statements compute), [`Access`], [`Node`] (loops and
//! statements), [`Kernel`]. Then [`text`] (print and parse), [`verify`] (the invariants),
//! [`interpret`](mod@interpret) (the reference for every later stage).
//!
//! A kernel is a tree whose loops, arrays and scalars are named by small `Copy` ids in typed
//! arenas. Clones of it share their [blocks](Block) until they are written: cloning is cheap, so
//! transforms are pure functions. What can be derived from a kernel is computed when asked for and
//! never stored in it.

#![forbid(unsafe_code)]

mod access;
mod affine_expr;
mod affine_value;
mod block;
pub mod bounded;
pub mod bounds;
pub mod changed;
pub mod clamped;
pub mod classify;
mod combiner;
mod counter;
pub mod dependence;
mod element;
pub mod evaluate;
mod expr;
pub mod flat;
pub mod footprint;
pub mod forgetting;
mod function;
pub mod indexing;
mod inferred;
pub mod interpret;
mod kernel;
pub mod known_sizes;
pub mod lanes;
pub mod marks;
mod math;
pub mod mlir;
mod node;
pub mod operation;
mod rejected;
mod same;
pub mod sets;
pub mod slice;
mod span;
pub mod speculation;
pub mod spelling;
mod strategy;
#[cfg(test)]
mod test_kernels;
pub mod text;
pub mod tickets;
mod types;
pub mod value_range;
pub mod verify;
mod view;
pub mod visit;

pub use access::{Access, Subscript};
pub use affine_expr::{AffineExpr, Factor, Overflow, Term, Variable};
pub use affine_value::AffineValues;
pub use block::Block;
pub use combiner::{
    Add, AddSaturating, ArgExtremum, Bitwise, BrokenLaw, Combine, CombineError, Combiner, Declared,
    Extreme, Extremum, Host, HostAddress, HostFunction, KeptExtremum, Last, LibraryExtremum,
    Logical, Mul, Order, Panicked, Ties, broken_law,
};
pub use counter::{Counter, Whiles, variable_of_while};
pub use element::Elements;
pub use expr::{BinaryOp, CompareOp, Expr, Operand, UnaryOp};
pub use function::Function;
pub use kernel::{
    Array, ArrayId, Field, Iter, IterId, Kernel, Label, Local, LocalId, Parameter, Record,
    RecordId, Scalar, ScalarId, ViewId,
};
pub use math::{Math, NotComputed, StdMath};
pub use node::{
    AffineFor, Bound, Condition, Disjoint, Forall, Node, Place, Private, Relation, ScfFor,
};
pub use span::Span;
pub use strategy::STRATEGIES;
pub use types::{Type, Value};
pub use view::View;
