use crate::Span;
use crate::indexing::IndexingError;

/// What is wrong with the text of a map, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct MapParseError {
    /// The part of the text that is meant.
    pub span: Span,
    /// What is wrong with it.
    pub kind: MapParseErrorKind,
}

impl MapParseError {
    /// The line and the column of its first character in `source`, both from 1.
    pub fn line_and_column(&self, source: &str) -> (usize, usize) {
        let before = source.get(..self.span.range().start).unwrap_or(source);
        let line_start = before.rfind('\n').map_or(0, |it| it + 1);
        let line = before.matches('\n').count() + 1;
        let column = before.get(line_start..).unwrap_or_default();
        (line, column.chars().count() + 1)
    }
}

/// The ways in which the text of a map can be wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapParseErrorKind {
    /// The text has 4 GiB or more.
    #[error("the text is longer than 4 GiB")]
    TooLong,
    /// Characters that start no token.
    #[error("`{0}` is not part of a map")]
    Unknown(String),
    /// A token that cannot stand here.
    #[error("{}", crate::text::unexpected(.found.as_deref(), .expected))]
    Unexpected {
        /// The token; `None` is the end of the text.
        found: Option<String>,
        /// What can stand here.
        expected: Vec<String>,
    },
    /// A name that the head of the map does not list.
    #[error("nothing is called `{name}`{}", crate::text::proposal(.nearest.as_deref()))]
    UnknownName {
        /// The name.
        name: String,
        /// The listed name most like it.
        nearest: Option<String>,
    },
    /// A name that is listed twice.
    #[error("the name `{0}` is taken; all variables of a map have different names")]
    Duplicate(String),
    /// A variable that the domain does not bound.
    #[error("`{0}` has no bounds; the domain says them, as in `domain: {0} in [0, 9]`")]
    Unbounded(String),
    /// An index that a basis does not have.
    #[error("the basis has {0} sizes; the indices are numbered from 0, outermost first")]
    NoIndex(usize),
    /// A number that 64 bits cannot hold.
    #[error("{0} is not a 64-bit integer")]
    IntegerOutOfRange(String),
    /// An expression or a map that cannot be built.
    #[error(transparent)]
    Indexing(#[from] IndexingError),
}
