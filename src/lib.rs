//! Compiles C loops that scatter: see README.md.
#![forbid(unsafe_code)]

mod diagnostic;
mod source;

pub use diagnostic::{Diagnostic, Diagnostics, Severity, Style};
pub use source::{Language, Position, Source};
