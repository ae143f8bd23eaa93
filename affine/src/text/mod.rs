//! Kernel text: the one notation for kernels, in which every stage of strew can be read and every
//! dump is valid input.
//!
//! [`print()`] and [`parse()`] are inverse to each other, up to the spans and the numbering of ids.
//! `docs/kernel_text.md` holds the grammar.

mod error;
mod names;
mod parse;
mod print;
mod print_affine;
mod print_expr;
mod resolve;
mod token;
mod tree;

pub use error::{ParseError, ParseErrorKind};
pub(crate) use error::{proposal, unexpected};
pub use parse::parse;
pub use print::print;

/// The condition as it stands in the text of `kernel`.
pub fn condition(kernel: &crate::Kernel, condition: &crate::Condition) -> String {
    print_affine::Order::of(kernel).condition(kernel, condition)
}

/// The expression as it stands in the text of `kernel`.
pub fn expression(kernel: &crate::Kernel, expr: &crate::Expr) -> String {
    print::expression(kernel, expr)
}

/// The views of `kernel`, each on a line of its own, as they stand at the beginning of its body.
pub(crate) fn view_lines(kernel: &crate::Kernel) -> String {
    print::view_lines(kernel)
}

/// The affine expression `expr` as it stands in the text of `kernel`.
pub fn affine(kernel: &crate::Kernel, expr: &crate::AffineExpr) -> String {
    print_affine::Order::of(kernel).expr(kernel, expr)
}
