use super::{MAX_CONJUNCTIONS, MAX_DEPTH};
use crate::Span;
use crate::sets::Unknown;

/// What is wrong with the text of a set, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct SetParseError {
    /// The part of the text that is meant.
    pub span: Span,
    /// What is wrong with it.
    pub kind: SetParseErrorKind,
}

/// The ways in which the text of a set can be wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetParseErrorKind {
    /// The text has 4 GiB or more.
    #[error("the text is longer than 4 GiB")]
    TooLong,
    /// Characters that start no token.
    #[error("`{0}` is not part of a set")]
    Unknown(String),
    /// A token that cannot stand here.
    #[error("{}", crate::text::unexpected(.found.as_deref(), .expected))]
    Unexpected {
        /// The token; `None` is the end of the text.
        found: Option<String>,
        /// What can stand here.
        expected: Vec<String>,
    },
    /// A name that nothing before it declares.
    #[error("nothing is called `{name}`{}", crate::text::proposal(.nearest.as_deref()))]
    UnknownName {
        /// The name.
        name: String,
        /// The declared name most like it.
        nearest: Option<String>,
    },
    /// A name that is declared twice.
    #[error("the name `{0}` is taken")]
    Duplicate(String),
    /// A number that does not fit.
    #[error("{0} is not a 64-bit integer")]
    IntegerOutOfRange(String),
    /// A product of two variables.
    #[error("a product needs a constant on one of its sides; products of variables are not linear")]
    NotLinear,
    /// A division by something that is not a positive constant.
    #[error("a divisor is a positive constant")]
    BadDivisor,
    /// A part with another number of dimensions than the first.
    #[error("the parts of a set have as many dimensions; this one differs from the first")]
    DifferentTuples,
    /// Expressions or formulas inside each other.
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// Many `or`s that multiply.
    #[error("the set has more than {MAX_CONJUNCTIONS} parts when its `or`s are multiplied out")]
    TooLarge,
    /// Numbers that grow too large.
    #[error(transparent)]
    Arithmetic(#[from] Unknown),
}
