use crate::Span;
use lalrpop_util::ParseError;

/// What a parser found where it expected something else.
pub(crate) struct Rejected {
    /// The part of the text that is meant.
    pub(crate) span: Span,
    /// The token; `None` is the end of the text.
    pub(crate) found: Option<String>,
    /// What can stand there, as the grammar calls it.
    pub(crate) expected: Vec<String>,
}

impl Rejected {
    /// What was rejected in `source`.
    ///
    /// # Errors
    /// The error that an action of the grammar gave.
    pub(crate) fn of<T, E>(source: &str, error: ParseError<usize, T, E>) -> Result<Self, E> {
        let (start, end, expected) = match error {
            ParseError::User { error } => return Err(error),
            ParseError::UnrecognizedToken {
                token: (start, _, end),
                expected,
            } => (start, end, expected),
            ParseError::ExtraToken {
                token: (start, _, end),
            } => (start, end, Vec::new()),
            ParseError::UnrecognizedEof { location, expected } => (location, location, expected),
            ParseError::InvalidToken { location } => (location, location, Vec::new()),
        };
        let found = source.get(start..end).filter(|it| !it.is_empty());
        let expected = expected.iter().map(|it| it.trim_matches('"').to_owned());
        Ok(Self {
            span: Span::new(start, end),
            found: found.map(str::to_owned),
            expected: expected.collect(),
        })
    }
}
