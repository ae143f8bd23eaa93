//! Sets of integer points: finite unions of conjunctions of linear equalities and inequalities over
//! parameters, dimensions and existentials, with which quotients, remainders and strides are said.
//!
//! Reading order: [`Space`] (what columns stand for), [`Row`] (linear expressions over them),
//! [`Conjunction`], [`Set`]; then [`text`] (print and parse). Questions are answered exactly, by
//! the Omega test (W. Pugh, 1991), or not at all: whatever leaves 128 bits or takes more work than
//! its [`Budget`] is [`Unknown`]. Nothing here knows of loops.
//!
//! ```
//! use strew_affine::sets::{Budget, parse_set};
//!
//! let even = parse_set("[N] -> { [i, j] : 0 <= i < N and exists e : i = 2 e and j = e }")?;
//! let halves = even.project_out(0..1, &mut Budget::default())?;
//! assert_eq!(halves.to_string(), "[N] -> { [j] : j >= 0 and 2 j < N }");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bounds;
mod budget;
mod conjunction;
mod eliminate;
mod lexicographic;
mod number;
mod row;
mod set;
mod solve;
mod solved;
mod space;
mod subtract;
mod system;
pub mod text;

pub use bounds::{BoundRow, Bounds};
pub use budget::{Budget, Unknown};
pub use conjunction::Conjunction;
pub(crate) use number::common_divisor;
pub use row::Row;
pub use set::Set;
pub(crate) use solved::Solved;
pub use space::Space;
pub use text::{SetParseError, SetParseErrorKind, parse_set};
