//! Dependences: pairs of accesses that touch one cell, in the order in which the kernel runs them.
//!
//! [`Analyzed`] borrows a kernel and answers what follows from its text: its [accesses](Site),
//! their [`Dependence`]s with direction and distance vectors over the common loops, what each loop
//! allows ([`LoopVerdict`]), and whether another order of iterations would keep all dependences
//! ([`Analyzed::order`]). Accesses that are affine are compared exactly, as integer
//! [sets](crate::sets); what is indirect or decided by data may happen, and the answer says so. A
//! dependence that is said to exist has a [`Witness`].
//!
//! ```
//! use strew_affine::dependence::Analyzed;
//! use strew_affine::text::parse;
//!
//! let kernels = parse(
//!     "kernel @smooth(n: i64, x: f64[n]) {
//!        affine.for i in 1..n { x[i] = x[i - 1] * 0.5 + x[i] }
//!      }",
//! );
//! let kernel = &kernels.expect("a kernel")[0];
//! let analyzed = Analyzed::new(kernel);
//! let dependences = analyzed.dependences();
//! let carried: Vec<String> = dependences.iter().filter(|it| it.carried_level().is_some()).map(|it| it.vector_text()).collect();
//! assert_eq!(carried, ["(1)"]);
//! ```

mod alike;
mod analyzed;
mod collapsed;
mod describe;
mod frame;
mod order;
mod pair;
mod private;
mod proven;
mod relation;
mod site;
mod vector;
mod verdict;
mod witness;

pub use analyzed::{Analyzed, Dependence, DependenceKind};
pub use describe::{AccessMap, RuntimeVariable};
pub use order::{Instance, Reversal};
pub use private::Privacy;
pub use site::{Level, Site, Target, Update};
pub use vector::{Component, Direction};
pub use verdict::{LoopVerdict, Parallelism};
pub use witness::{Contents, Witness};
