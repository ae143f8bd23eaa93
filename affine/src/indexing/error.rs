use super::{Clash, MAX_DEPTH, MAX_SIZE, Variable};

/// Why an indexing map, or a value of one, cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexingError {
    /// A constant or a value leaves the range of 64-bit integers.
    #[error("a number leaves the range of 64-bit integers")]
    Overflow,
    /// A divisor is zero.
    #[error("division by zero")]
    DivisionByZero,
    /// Expressions are nested too deep.
    #[error("the expression is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// A map has too many nodes.
    #[error("the map has more than {MAX_SIZE} nodes")]
    TooLarge,
    /// The domain has too many points to enumerate.
    #[error("the domain has more than {0} points")]
    TooManyPoints(usize),
    /// A variable occurs that the map does not declare.
    #[error("the map has no variable `{}`", .0.default_name())]
    Undeclared(Variable),
    /// Another number of values than there are variables, or of results than the second map has
    /// dimensions.
    #[error("{found} values are given for {expected}")]
    WrongCount {
        /// How many are needed.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The map takes several points to one, two of which are these; or its inverse cannot be
    /// written with division and remainder, or was not found.
    #[error("not invertible")]
    NotInvertible(Option<Box<Clash>>),
}
