//! What the parser objects to.

use std::fmt;

/// What is wrong with the shape of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyntaxProblem {
    /// Parentheses, brackets, braces, operators or statements nest too deeply.
    NestingTooDeep {
        /// How many levels are accepted.
        limit: usize,
    },
    /// One statement has too many tokens.
    StatementTooLong {
        /// How many tokens are accepted.
        limit: usize,
    },
    /// The parser met something else than what can stand there.
    Expected {
        /// What can stand there, in human words.
        expected: Vec<String>,
        /// What was met, in human words.
        found: String,
    },
    /// A statement that does not end where the next one begins.
    MissingSemicolon,
    /// A `{` without a `}`.
    UnclosedBrace,
    /// A `}` without a `{`.
    UnopenedBrace,
    /// A statement at the top of the file.
    OutsideOfFunction,
    /// The file defines no function.
    NoFunction,
}

impl SyntaxProblem {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::NestingTooDeep { .. } => "E007",
            Self::StatementTooLong { .. } => "E008",
            Self::Expected { .. } | Self::MissingSemicolon => "E010",
            Self::UnclosedBrace => "E015",
            Self::UnopenedBrace => "E016",
            Self::OutsideOfFunction => "E018",
            Self::NoFunction => "E012",
        }
    }

    pub(super) fn help(&self) -> Option<String> {
        let help = match self {
            Self::NestingTooDeep { .. } | Self::StatementTooLong { .. } => {
                "compute parts of it in statements of their own".to_owned()
            }
            Self::MissingSemicolon => "write `;` behind it".to_owned(),
            Self::UnclosedBrace => "write `}` where its block ends".to_owned(),
            Self::UnopenedBrace => {
                "leave it out, or look for a block that ends too early".to_owned()
            }
            Self::OutsideOfFunction => {
                "put it into one: `void name(int64_t n, double out[n]) { … }`; or look for a block that ends \
                 too early"
                .to_owned()
            }
            Self::NoFunction => {
                "define a kernel: `void name(int64_t n, double out[n]) { … }`".to_owned()
            }
            _ => return None,
        };
        Some(help)
    }
}

impl fmt::Display for SyntaxProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NestingTooDeep { limit } => write!(f, "this nests more than {limit} levels deep"),
            Self::StatementTooLong { limit } => {
                write!(f, "this statement has more than {limit} tokens")
            }
            Self::Expected { expected, found } => {
                write!(f, "expected {}, found {found}", alternatives(expected))
            }
            Self::MissingSemicolon => f.write_str("a `;` is missing behind this"),
            Self::UnclosedBrace => f.write_str("this `{` is not closed"),
            Self::UnopenedBrace => f.write_str("this `}` closes nothing"),
            Self::OutsideOfFunction => f.write_str("this statement stands outside of any function"),
            Self::NoFunction => f.write_str("there is no function in this file"),
        }
    }
}

/// `a`, `a or b`, `a, b or c`.
fn alternatives(words: &[String]) -> String {
    match words {
        [] => "something else".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
