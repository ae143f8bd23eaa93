use crate::spelling::counted;
use crate::verify::MAX_NESTING;
use crate::{Function, Span, Type};

/// What is wrong with a kernel text, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct ParseError {
    /// The part of the text that is meant.
    pub span: Span,
    /// What is wrong with it.
    pub kind: ParseErrorKind,
}

/// The ways in which a kernel text can be wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseErrorKind {
    /// The text has 4 GiB or more.
    #[error("the text is longer than 4 GiB")]
    TooLong,
    /// Brackets, operators or blocks are nested too deep.
    #[error("this is nested deeper than {} levels", MAX_NESTING)]
    TooDeep,
    /// Characters that start no token.
    #[error("`{0}` is not part of the kernel text")]
    Unknown(String),
    /// A token that cannot stand here.
    #[error("{}", unexpected(.found.as_deref(), .expected))]
    Unexpected {
        /// The token; `None` is the end of the text.
        found: Option<String>,
        /// What can stand here.
        expected: Vec<String>,
    },
    /// A name that nothing visible here has.
    #[error("nothing is called `{name}`{}", proposal(.nearest.as_deref()))]
    UnknownName {
        /// The name.
        name: String,
        /// The visible name most like it.
        nearest: Option<String>,
    },
    /// A name that is known but not visible here: outside of its loop, forall or block.
    #[error("`{0}` is not visible here")]
    NotVisible(String),
    /// A name given a second time. All names of a kernel are different.
    #[error("the name `{name}` is taken; all names of a kernel are different")]
    Duplicate {
        /// The name.
        name: String,
        /// Where it was given first.
        first: Span,
    },
    /// A name that stands for something else than what is needed here.
    #[error("`{name}` is not {expected}")]
    WrongKind {
        /// The name.
        name: String,
        /// What is needed.
        expected: &'static str,
    },
    /// More or fewer subscripts than dimensions.
    #[error("`{array}` has {}, but is given {}", counted(*.expected, "dimension"), counted(*.found, "subscript"))]
    WrongSubscriptCount {
        /// The array.
        array: String,
        /// The number of its dimensions.
        expected: usize,
        /// The number of subscripts.
        found: usize,
    },
    /// More or fewer operands than a function takes.
    #[error("`{function}` takes {}, but is given {found}", counted(.function.operand_count(), "operand"))]
    WrongOperandCount {
        /// The function.
        function: Function,
        /// How many it is given.
        found: usize,
    },
    /// An expression of the wrong type.
    #[error("this has type {found}, but {expected} is needed; `{expected}(…)` converts")]
    WrongType {
        /// What is needed here.
        expected: Type,
        /// What is there.
        found: Type,
    },
    /// Operands of different types.
    #[error("the operands have different types, {left} and {right}; convert one of them")]
    OperandsDiffer {
        /// The left one's.
        left: Type,
        /// The right one's.
        right: Type,
    },
    /// An operation on a type that it is not defined on.
    #[error("`{operation}` is not defined on {ty}")]
    NotDefinedOn {
        /// The operator or combiner.
        operation: String,
        /// The type.
        ty: Type,
    },
    /// A subscript that is not an integer.
    #[error("a subscript is an integer, but this has type {0}")]
    NotAnInteger(Type),
    /// A number that its type cannot hold.
    #[error("{literal} is not a value of type {ty}")]
    LiteralOutOfRange {
        /// The number.
        literal: String,
        /// The type.
        ty: Type,
    },
    /// A `return` in a kernel that does not say the type of its result.
    #[error("a kernel that returns a value says its type before its block, as in `-> f64 {{`")]
    ResultWithoutType,
    /// A kernel that says the type of its result and does not end with a `return`.
    #[error("the kernel returns a value of type {0}, so its last statement is a `return`")]
    NoReturn(Type),
    /// Something that an affine expression cannot contain.
    #[error(
        "an affine expression is made of iterators, integer parameters and integers with + - * floordiv ceildiv mod"
    )]
    NotAffine,
    /// A `floordiv`, `ceildiv` or `mod` outside of affine expressions.
    #[error("`{0}` can only stand in affine expressions; this one is not affine")]
    AffineOnly(&'static str),
    /// An affine divisor that is not positive or not made of parameters alone.
    #[error("an affine divisor is a positive integer or made of parameters alone")]
    Divisor,
    /// More or fewer sizes than indices.
    #[error("`linearize_index` takes as many sizes as indices, here {indices} and {sizes}")]
    BasisCount {
        /// The number of indices.
        indices: usize,
        /// The number of sizes.
        sizes: usize,
    },
    /// The number of an index that there is not.
    #[error("the indices of `delinearize_index` into {0} sizes have numbers from 0 to below {0}")]
    NoSuchIndex(usize),
    /// `delinearize_index` without a number, outside of subscripts.
    #[error(
        "without `#` and a number `delinearize_index` gives several indices, which can only stand as subscripts"
    )]
    SeveralIndices,
    /// An affine expression whose coefficients leave 64 bits or that has too many terms.
    #[error("this affine expression has too many terms, or a coefficient beyond 64 bits")]
    AffineTooLarge,
    /// A condition of an `affine.if` or an assumption that is no comparison, or `!=`.
    #[error(
        "a condition of `affine.if` or `assume` compares two affine expressions with <= < == >= or >; `scf.if` takes others"
    )]
    NotACondition,
    /// A forall that does not count from 0.
    #[error("an `scf.forall` counts from 0")]
    ForallFromZero,
    /// A label in front of something that no schedule names.
    #[error("a label stands in front of a loop with an iterator, or of a statement")]
    LabelOfNothing,
    /// A combiner that nothing declares.
    #[error("no combiner is called `{0}`; there are {known}, and what a `reduction` in front of the kernel declares", known = known_combiners())]
    UnknownCombiner(String),
    /// A declared combiner with the name of one that is built in.
    #[error("`{0}` is built in; a combiner that is declared needs another name")]
    BuiltInCombiner(String),
    /// An identity that is no literal.
    #[error("an identity is a literal")]
    IdentityNotConstant,
    /// A private buffer without extents, or an array without dimensions.
    #[error("`{0}` needs extents, as in `{0}: f64[n]`")]
    NoExtents(String),
    /// A view that does not name every dimension once and in order.
    #[error(
        "a collapse names each of the {0} dimensions once, in their order, as in `[[0, 1], [2]]`"
    )]
    Collapse(usize),
    /// A view that does not say of every dimension what is taken.
    #[error("a slice has a list of {0} offsets, one of {0} sizes and, perhaps, one of {0} strides")]
    Slice(usize),
    /// An access of a view whose subscripts in the array cannot be written.
    #[error(
        "the subscripts that this has in the array need a divisor that is not positive, or a number beyond 64 bits"
    )]
    ViewTooLarge,
    /// A private buffer that is merged nowhere, twice, or with another combiner than it was filled
    /// for.
    #[error("`{0}` needs one merge, with the combiner whose identity fills it")]
    Merge(String),
}

/// More alternatives than this help nobody.
const EXPECTED_SHOWN: usize = 6;

/// Says that a token cannot stand where it is found.
pub(crate) fn unexpected(found: Option<&str>, expected: &[String]) -> String {
    let found = match found {
        Some(found) => format!("`{found}` cannot stand here"),
        None => "the text ends too early".to_owned(),
    };
    let shown = expected.iter().take(EXPECTED_SHOWN);
    let shown: Vec<_> = shown.map(|it| quoted(it)).collect();
    match expected.len() {
        0 => found,
        1..=EXPECTED_SHOWN => format!("{found}; expected {}", shown.join(", ")),
        _ => format!("{found}; expected {}, …", shown.join(", ")),
    }
}

fn known_combiners() -> String {
    crate::Combiner::known_names().join(", ")
}

/// Appended to what says that a name is not known.
pub(crate) fn proposal(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |it| format!("; did you mean `{it}`?"))
}

/// Kinds of tokens are described, tokens quoted.
fn quoted(expected: &str) -> String {
    if expected.contains(' ') {
        expected.to_owned()
    } else {
        format!("`{expected}`")
    }
}
