//! Indexing maps: how the elements of one array, or the iterations of a loop nest, are taken to the
//! elements of another.
//!
//! An [`IndexingMap`] is a function from *dimension variables*, *range variables* (which stand for
//! all of their values at once) and *runtime variables* (values that are only known when the
//! program runs) to a list of results. Variables have inclusive bounds, further [`Constraint`]s cut
//! the domain down. Results and constraints are [`IndexExpr`]s.
//!
//! Reading order: [`Interval`], [`Variable`], [`IndexExpr`], [`IndexingMap`], then what is done
//! with maps: [`text`] (print and parse), composition ([`IndexingMap::then`]), evaluation, and
//! `affine`, which says how an [`IndexExpr`] and an [`AffineExpr`](crate::AffineExpr) of a kernel
//! differ and takes one to the other. Values are mathematical integers; a number of a map, or a
//! value that is asked for, that leaves 64 bits is an [`IndexingError`].
//!
//! ```
//! use strew_affine::indexing::{IndexExpr, IndexingMap, parse_map};
//!
//! let row = parse_map("(i, j) -> (i * 32 + j), domain: i in [0, 9], j in [0, 31]")?;
//! let back = row.inverse()?;
//! assert_eq!(back.to_string(), "(d0) -> (d0 floordiv 32, d0 mod 32), domain: d0 in [0, 319]");
//! assert_eq!(row.then(&back)?.simplified(), IndexingMap::identity(&[10, 32]).with_name(0, "i").with_name(1, "j"));
//! assert_eq!(row.evaluate(&[2, 3])?, Some(vec![67]));
//!
//! let indices = strew_affine::indexing::delinearize_index(&IndexExpr::dimension(0), &[10.into(), 32.into()])?;
//! assert_eq!(indices[1].to_string(), "d0 mod 32");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod affine;
mod compose;
mod delinearize;
mod error;
mod evaluate;
mod expression;
mod fold;
mod footprint;
pub(crate) mod image;
mod interval;
mod invert;
mod map;
mod relation;
mod remove;
mod search;
mod simplify;
#[cfg(test)]
mod test_maps;
pub mod text;
mod variable;

pub(crate) use affine::Dimensions;
pub use delinearize::{delinearize_index, linearize_index};
pub use error::IndexingError;
pub use expression::{IndexExpr, IndexTerm, MAX_DEPTH, Size, Sum};
pub use footprint::{Count, Footprint, Memory, UpperBound};
pub use interval::Interval;
pub use invert::Clash;
pub use map::{Constraint, IndexingMap, MAX_SIZE};
pub use relation::ConversionError;
pub use search::Emptiness;
pub use text::{MapParseError, MapParseErrorKind, parse_expression, parse_map};
pub use variable::{Declaration, Variable, VariableKind};
