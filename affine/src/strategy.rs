//! The names of strategies, which a forall says one of.

/// `auto`, and what the runtime has, in its order. This crate does not know the runtime; a test of
/// both holds one list against the other.
pub const STRATEGIES: [&str; 11] = [
    "auto", "serial", "dense", "blocked", "binned", "planned", "columns", "atomic", "apart",
    "colored", "rows",
];
