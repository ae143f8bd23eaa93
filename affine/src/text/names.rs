//! How names are written: plain where that can be read back, between backquotes where it cannot.

use crate::{Function, UnaryOp};

/// Words that the grammar keeps for itself. A name that is one of them, or a function's, is written
/// between backquotes.
pub(super) const RESERVED: [&str; 43] = [
    "kernel",
    "in",
    "step",
    "lanes",
    "private",
    "merge",
    "speculative",
    "disjoint",
    "strategy",
    "identity",
    "reduce",
    "reduction",
    "return",
    "assume",
    "infer",
    "let",
    "var",
    "element",
    "alloc",
    "record",
    "view",
    "else",
    "true",
    "false",
    "inf",
    "nan",
    "floordiv",
    "ceildiv",
    "mod",
    "linearize_index",
    "delinearize_index",
    "threads",
    "bool",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "f32",
    "f64",
];

/// Words with a dot that are no names either.
const DOTTED: [&str; 6] = [
    "affine.for",
    "affine.if",
    "scf.forall",
    "scf.for",
    "scf.while",
    "scf.if",
];

/// Whether `name` is made of identifiers with dots between them, as the name of a field is.
fn is_path(name: &str) -> bool {
    name.split('.').all(is_identifier) && !DOTTED.contains(&name)
}

/// Whether `name` has the form of an identifier: a letter or underscore, then letters, digits and
/// underscores, all ASCII.
fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// `name` as the text writes it.
pub(super) fn written(name: &str) -> String {
    if Function::from_name(name).is_some() || UnaryOp::from_name(name).is_some() {
        format!("`{name}`")
    } else {
        written_combiner(name)
    }
}

/// The name of a combiner as the text writes it: where combiners stand, no function can.
pub(super) fn written_combiner(name: &str) -> String {
    if is_path(name) && !RESERVED.contains(&name) {
        name.to_owned()
    } else {
        format!("`{name}`")
    }
}
