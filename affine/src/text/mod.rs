//! Kernel text: the one notation for kernels, in which every stage of strew can be read and every dump is valid input.

mod names;
mod print;
mod print_affine;
mod print_expr;

pub(crate) use names::is_identifier;
pub use print::print;
