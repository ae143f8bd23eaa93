//! Operations on whole arrays, as HLO has them, and the indexing maps between the elements of their operands and results.

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
