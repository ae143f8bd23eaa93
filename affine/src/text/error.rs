use crate::verify::MAX_NESTING;
use crate::{Function, Span, Type};
use std::fmt;

/// What is wrong with a kernel text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The part of the text that is meant.
    pub span: Span,
    /// What is wrong with it.
    pub kind: ParseErrorKind,
}

/// The ways in which a kernel text can be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseErrorKind {
    /// The text has 4 GiB or more.
    TooLong,
    /// Brackets, operators or blocks are nested too deep.
    TooDeep,
    /// Characters that start no token.
    Unknown(String),
    /// A token that cannot stand here.
    Unexpected {
        /// The token; `None` is the end of the text.
        found: Option<String>,
        /// What can stand here.
        expected: Vec<String>,
    },
    /// A name that nothing visible here has.
    UnknownName {
        /// The name.
        name: String,
        /// The visible name most like it.
        nearest: Option<String>,
    },
    /// A name that is known but not visible here: outside of its loop, forall or block.
    NotVisible(String),
    /// A name given a second time. All names of a kernel are different.
    Duplicate {
        /// The name.
        name: String,
        /// Where it was given first.
        first: Span,
    },
    /// A name that stands for something else than what is needed here.
    WrongKind {
        /// The name.
        name: String,
        /// What is needed.
        expected: &'static str,
    },
    /// More or fewer subscripts than dimensions.
    WrongSubscriptCount {
        /// The array.
        array: String,
        /// The number of its dimensions.
        expected: usize,
        /// The number of subscripts.
        found: usize,
    },
    /// More or fewer operands than a function takes.
    WrongOperandCount {
        /// The function.
        function: Function,
        /// How many it is given.
        found: usize,
    },
    /// An expression of the wrong type.
    WrongType {
        /// What is needed here.
        expected: Type,
        /// What is there.
        found: Type,
    },
    /// Operands of different types.
    OperandsDiffer {
        /// The left one's.
        left: Type,
        /// The right one's.
        right: Type,
    },
    /// An operation on a type that it is not defined on.
    NotDefinedOn {
        /// The operator or combiner.
        operation: String,
        /// The type.
        ty: Type,
    },
    /// A subscript that is not an integer.
    NotAnInteger(Type),
    /// A number that its type cannot hold.
    LiteralOutOfRange {
        /// The number.
        literal: String,
        /// The type.
        ty: Type,
    },
    /// A `return` in a kernel that does not say the type of its result.
    ResultWithoutType,
    /// A kernel that says the type of its result and does not end with a `return`.
    NoReturn(Type),
    /// Something that an affine expression cannot contain.
    NotAffine,
    /// A `floordiv`, `ceildiv` or `mod` outside of affine expressions.
    AffineOnly(&'static str),
    /// An affine divisor that is not positive or not made of parameters alone.
    Divisor,
    /// An affine expression whose coefficients leave 64 bits or that has too many terms.
    AffineTooLarge,
    /// A condition of an `affine.if` or an assumption that is no comparison, or `!=`.
    NotACondition,
    /// A forall that does not count from 0.
    ForallFromZero,
    /// A combiner that nothing declares.
    UnknownCombiner(String),
    /// A private buffer without extents, or an array without dimensions.
    NoExtents(String),
    /// A private buffer that is merged nowhere, twice, or with another combiner than it was filled for.
    Merge(String),
}

/// More alternatives than this help nobody.
const EXPECTED_SHOWN: usize = 6;

impl fmt::Display for ParseErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => f.write_str("the text is longer than 4 GiB"),
            Self::TooDeep => write!(f, "this is nested deeper than {MAX_NESTING} levels"),
            Self::Unknown(text) => write!(f, "`{text}` is not part of the kernel text"),
            Self::Unexpected { found, expected } => unexpected(f, found.as_deref(), expected),
            Self::UnknownName { name, nearest } => {
                write!(f, "nothing is called `{name}`")?;
                match nearest {
                    Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
                    None => Ok(()),
                }
            }
            Self::NotVisible(name) => write!(f, "`{name}` is not visible here"),
            Self::Duplicate { name, .. } => write!(
                f,
                "the name `{name}` is taken; all names of a kernel are different"
            ),
            Self::WrongKind { name, expected } => {
                write!(f, "`{name}` is not {expected}")
            }
            Self::WrongSubscriptCount {
                array,
                expected,
                found,
            } => write!(
                f,
                "`{array}` has {expected} dimensions, but {found} subscripts are given"
            ),
            Self::WrongOperandCount { function, found } => write!(
                f,
                "`{function}` takes {} operands, but {found} are given",
                function.operand_count()
            ),
            Self::WrongType { expected, found } => write!(
                f,
                "this has type {found}, but {expected} is needed; `{expected}(…)` converts"
            ),
            Self::OperandsDiffer { left, right } => write!(
                f,
                "the operands have different types, {left} and {right}; convert one of them"
            ),
            Self::NotDefinedOn { operation, ty } => {
                write!(f, "`{operation}` is not defined on {ty}")
            }
            Self::NotAnInteger(ty) => {
                write!(f, "a subscript is an integer, but this has type {ty}")
            }
            Self::LiteralOutOfRange { literal, ty } => {
                write!(f, "{literal} is not a value of type {ty}")
            }
            Self::ResultWithoutType => f.write_str(
                "a kernel that returns a value says its type before its block, as in `-> f64 {`",
            ),
            Self::NoReturn(ty) => write!(
                f,
                "the kernel returns a value of type {ty}, so its last statement is a `return`"
            ),
            Self::NotAffine => f.write_str(
                "an affine expression is made of iterators, integer parameters and integers with + - * floordiv ceildiv mod",
            ),
            Self::AffineOnly(word) => write!(
                f,
                "`{word}` can only stand in affine expressions; this one is not affine"
            ),
            Self::Divisor => f.write_str(
                "an affine divisor is a positive integer or made of parameters alone",
            ),
            Self::AffineTooLarge => f.write_str(
                "this affine expression has too many terms, or a coefficient beyond 64 bits",
            ),
            Self::NotACondition => f.write_str(
                "a condition of `affine.if` or `assume` compares two affine expressions with <= < == >= or >; `scf.if` takes others",
            ),
            Self::ForallFromZero => f.write_str("an `scf.forall` counts from 0"),
            Self::UnknownCombiner(name) => {
                write!(f, "no combiner is called `{name}`; there are ")?;
                f.write_str(&crate::Combiner::known_names().join(", "))
            }
            Self::NoExtents(name) => {
                write!(f, "`{name}` needs extents, as in `{name}: f64[n]`")
            }
            Self::Merge(buffer) => write!(
                f,
                "`{buffer}` needs one merge, with the combiner whose identity fills it"
            ),
        }
    }
}

fn unexpected(f: &mut fmt::Formatter<'_>, found: Option<&str>, expected: &[String]) -> fmt::Result {
    match found {
        Some(found) => write!(f, "`{found}` cannot stand here")?,
        None => f.write_str("the text ends too early")?,
    }
    let shown: Vec<_> = expected
        .iter()
        .take(EXPECTED_SHOWN)
        .map(|it| quoted(it))
        .collect();
    if shown.is_empty() {
        return Ok(());
    }
    write!(f, "; expected {}", shown.join(", "))?;
    if expected.len() > EXPECTED_SHOWN {
        f.write_str(", …")?;
    }
    Ok(())
}

/// Kinds of tokens are described, tokens quoted.
fn quoted(expected: &str) -> String {
    if expected.contains(' ') {
        expected.to_owned()
    } else {
        format!("`{expected}`")
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for ParseError {}
