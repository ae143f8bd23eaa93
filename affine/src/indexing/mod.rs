//! Indexing maps: how the elements of one array, or the iterations of a loop nest, are taken to the elements of another.
//!
//! An [`IndexingMap`] is a function from *dimension variables*, *range variables* (which stand for all of their values at
//! once) and *runtime variables* (values that are only known when the program runs) to a list of results. Variables have
//! inclusive bounds, further [`Constraint`]s cut the domain down. Results and constraints are [`IndexExpr`]s.
//!
//! Reading order: [`Interval`], [`Variable`], [`IndexExpr`], [`IndexingMap`], then what is done with maps: [`text`] (print
//! and parse), composition ([`IndexingMap::then`]), evaluation. Values are mathematical integers; a
//! number of a map, or a value that is asked for, that leaves 64 bits is an [`IndexingError`].

mod compose;
mod delinearize;
mod error;
mod evaluate;
mod expression;
mod interval;
mod invert;
mod map;
mod remove;
mod search;
mod simplify;
pub mod text;
mod variable;

pub use delinearize::{delinearize_index, linearize_index};
pub use error::IndexingError;
pub use expression::{IndexExpr, IndexTerm, MAX_DEPTH, Size, Sum};
pub use interval::Interval;
pub use map::{Constraint, IndexingMap, MAX_SIZE};
pub use search::Emptiness;
pub use text::{MapParseError, MapParseErrorKind, parse_expression, parse_map};
pub use variable::{Declaration, Variable, VariableKind};
