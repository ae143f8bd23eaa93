//! Operations on whole arrays, as HLO has them, and the indexing maps between the elements of their
//! operands and results.
//!
//! ```
//! use strew_affine::operation::{Analysis, Module};
//!
//! let module = Module::parse("p0 = f32[4,8] parameter(0)\nr = f32[32] reshape(p0)").expect("a module");
//! let maps = Analysis::new(&module).root().expect("maps");
//! let to_input = maps.output_to_input[0][0].as_ref().expect("known maps");
//! assert_eq!(
//!     to_input[0].indexing.map().to_string(),
//!     "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]"
//! );
//! ```
//!
//! Reading order: [`Module`] (what a text holds, its names, shapes and attributes checked),
//! `family` (one file for each family of operations), `relation` (what they read, as equations that
//! are solved for either side), then [`Analysis`], which composes along all ways through a
//! computation. What is known of a map besides: [`Indexing::runtime`], [`utilization`],
//! [`coalescing()`], [`tile()`].

mod analysis;
mod attributes;
mod call;
mod error;
mod family;
mod module;
mod recount;
mod relation;
mod resolve;
mod shape;
#[cfg(test)]
mod tests;
mod text;

pub use analysis::{
    Analysis, Coalescing, ElementMaps, Indexing, Input, KnownMaps, PartMap, RuntimeSource, Tile,
    Value, coalescing, tile, utilization,
};
pub use error::{ModuleError, ModuleErrorKind};
pub use module::{Computation, Instruction, Module};
pub use shape::{ArrayShape, ElementType, Shape};
