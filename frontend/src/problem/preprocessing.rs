//! Comments, numbers, directives and macros.

use super::wording::clipped;
use std::fmt;
use strew_affine::spelling::counted;

/// What is wrong with the text before it is parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreprocessingProblem {
    /// A character that no C token starts with.
    UnexpectedCharacter(char),
    /// `/*` without `*/`.
    UnterminatedComment,
    /// Something that starts like a number and is none.
    BadNumber {
        /// As written.
        text: String,
        /// What the number is not.
        why: NumberFault,
    },
    /// A preprocessing directive that cannot be carried out.
    Directive {
        /// The word behind the `#`.
        name: String,
        /// What is wrong with it.
        why: DirectiveFault,
    },
    /// An `#error` line.
    ErrorDirective {
        /// What it says.
        text: String,
    },
    /// A `#warning` line.
    WarningDirective {
        /// What it says.
        text: String,
    },
    /// An `#include` of something that is no standard header: it is not read.
    UnreadHeader {
        /// The header.
        name: String,
        /// The standard header that is spelled most like it.
        nearest: Option<String>,
    },
    /// A use of a macro with too few or too many arguments.
    MacroArguments {
        /// The macro.
        name: String,
        /// How many parameters it has.
        expected: usize,
        /// How many arguments there are.
        found: usize,
    },
    /// A use of a macro whose parenthesis is not closed.
    MacroCallOpen {
        /// The macro.
        name: String,
    },
    /// `##` between two things that together are no token.
    BadPaste {
        /// What stands before it.
        left: String,
        /// What stands behind it.
        right: String,
    },
    /// Macros expand to more tokens than are accepted.
    ExpansionTooLong {
        /// How many tokens are accepted.
        limit: usize,
    },
    /// Macros expand to macros too many times.
    ExpansionTooDeep {
        /// How many levels are accepted.
        limit: usize,
    },
}

impl PreprocessingProblem {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::UnexpectedCharacter(_) => "E001",
            Self::UnterminatedComment => "E002",
            Self::BadNumber { .. } => "E003",
            Self::Directive { .. } => "E004",
            Self::ErrorDirective { .. } => "E009",
            Self::UnreadHeader { .. } => "W010",
            Self::MacroArguments { .. } => "E013",
            Self::MacroCallOpen { .. } => "E014",
            Self::BadPaste { .. } => "E017",
            Self::WarningDirective { .. } => "W011",
            Self::ExpansionTooLong { .. } => "E005",
            Self::ExpansionTooDeep { .. } => "E006",
        }
    }

    pub(super) fn help(&self) -> Option<String> {
        let help = match self {
            Self::UnterminatedComment => "close the comment with `*/`".to_owned(),
            Self::Directive { why, .. } => return why.help().map(str::to_owned),
            Self::UnreadHeader {
                nearest: Some(nearest),
                ..
            } => format!("did you mean `{nearest}`?"),
            Self::UnreadHeader { .. } => {
                "put what the kernels need from it into this file".to_owned()
            }
            Self::MacroCallOpen { .. } => "close it with `)`".to_owned(),
            _ => return None,
        };
        Some(help)
    }
}

impl fmt::Display for PreprocessingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnexpectedCharacter(it) => write!(f, "no C token starts with {it:?}"),
            Self::UnterminatedComment => f.write_str("this comment is not closed"),
            Self::BadNumber { text, why } => write!(f, "`{}` {why}", clipped(text)),
            Self::Directive { name, why } if name.is_empty() => write!(f, "this directive {why}"),
            Self::Directive { name, why } => write!(f, "`#{}` {why}", clipped(name)),
            Self::ErrorDirective { text } | Self::WarningDirective { text } => {
                write!(f, "{}", clipped(text))
            }
            Self::BadPaste { left, right } => write!(
                f,
                "`{}` and `{}` make no word together",
                clipped(left),
                clipped(right)
            ),
            Self::UnreadHeader { name, .. } => {
                write!(
                    f,
                    "`{}` is not read: it is no standard header",
                    clipped(name)
                )
            }
            Self::MacroArguments {
                name,
                expected,
                found,
            } => write!(
                f,
                "the macro `{}` has {}, here it has {}",
                clipped(name),
                counted(*expected, "parameter"),
                counted(*found, "argument")
            ),
            Self::MacroCallOpen { name } => {
                write!(
                    f,
                    "the arguments of the macro `{}` do not end",
                    clipped(name)
                )
            }
            Self::ExpansionTooLong { limit } => {
                write!(f, "macros expand to more than {limit} tokens")
            }
            Self::ExpansionTooDeep { limit } => {
                write!(f, "macros expand to macros more than {limit} times")
            }
        }
    }
}

/// What is wrong with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberFault {
    /// No form of a number that C has.
    Malformed,
    /// An integer that no 64-bit type holds.
    TooLarge,
    /// None, several, or an unknown escape between single quotes.
    NotOneCharacter,
}

/// What is wrong with a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectiveFault {
    /// Not part of the language.
    Unsupported,
    /// Something else than names between the parentheses of a `#define`, or a name twice.
    BadParameters,
    /// `#` or `##` in a `#define` without what they need beside them.
    HashOperator,
    /// What follows `#if` or `#elif` is no integer constant expression.
    BadCondition,
    /// The condition of an `#if` divides by zero.
    DivisionByZero,
    /// `#elif`, `#else` or `#endif` without an `#if`.
    WithoutIf,
    /// `#elif` or `#else` behind an `#else`.
    AfterElse,
    /// An `#if` without an `#endif`.
    Unclosed,
    /// A directive between the arguments of a macro.
    InsideCall,
    /// `#define` or `#undef` without a name.
    MissingName,
    /// A `#` that is not the first thing on its line.
    NotFirstOnLine,
    /// `#pragma strew declare` of something else than a reduction.
    NotAReduction,
}

impl DirectiveFault {
    fn help(self) -> Option<&'static str> {
        let help = match self {
            Self::Unsupported => {
                "`#define`, `#undef`, `#if` and its relatives, `#include`, `#line`, `#error` and `#pragma` are accepted"
            }
            Self::BadParameters => "write names with commas in between, as in `#define MAX(a, b)`",
            Self::HashOperator => {
                "`#` makes a text of a parameter, `##` one word of the two beside it"
            }
            Self::BadCondition => {
                "integers, `defined(NAME)` and C's operators on them are accepted"
            }
            Self::MissingName => "a name follows, as in `#define SIZE 16`",
            Self::NotFirstOnLine => "put the directive on a line of its own",
            Self::NotAReduction => {
                "reductions can be declared: `#pragma strew declare reduction(name : double : f(a, b)) identity(0)`"
            }
            Self::Unclosed => "close it with `#endif`",
            Self::InsideCall => "put it in front of the macro's use",
            Self::DivisionByZero | Self::WithoutIf | Self::AfterElse => return None,
        };
        Some(help)
    }
}

impl fmt::Display for NumberFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "is not a number",
            Self::TooLarge => "is larger than any 64-bit integer",
            Self::NotOneCharacter => "is not one character",
        })
    }
}

impl fmt::Display for DirectiveFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unsupported => "is not in the language",
            Self::BadParameters => "needs names between its parentheses, each only once",
            Self::HashOperator => "has a `#` without a parameter or a `##` at an end",
            Self::BadCondition => "needs an integer constant expression",
            Self::DivisionByZero => "divides by zero",
            Self::WithoutIf => "has no `#if` before it",
            Self::AfterElse => "comes after the `#else`",
            Self::Unclosed => "is not closed",
            Self::InsideCall => "stands between the arguments of a macro",
            Self::MissingName => "lacks a name",
            Self::NotFirstOnLine => "is not the first thing on its line",
            Self::NotAReduction => "declares no reduction",
        })
    }
}
