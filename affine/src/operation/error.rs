use crate::Span;
use crate::text::{proposal, unexpected};
use crate::verify::MAX_NESTING;

/// What is wrong with an HLO-like text, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct ModuleError {
    /// The part of the text that is meant.
    pub span: Span,
    /// What is wrong with it.
    pub kind: ModuleErrorKind,
}

/// The ways in which an HLO-like text can be wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModuleErrorKind {
    /// The text has 4 GiB or more.
    #[error("the text is longer than 4 GiB")]
    TooLong,
    /// Brackets are nested too deep.
    #[error("this is nested deeper than {} levels", MAX_NESTING)]
    TooDeep,
    /// Characters that start no token.
    #[error("`{0}` is not part of an HLO text")]
    Unknown(String),
    /// A token that cannot stand here.
    #[error("{}", unexpected(.found.as_deref(), .expected))]
    Unexpected {
        /// The token; `None` is the end of the text.
        found: Option<String>,
        /// What can stand here.
        expected: Vec<String>,
    },
    /// No instruction at all.
    #[error("there is no instruction")]
    Empty,
    /// A word that is no name.
    #[error("`{0}` is not a name; one begins with a letter or `_`")]
    NotAName(String),
    /// A name that no instruction above has.
    #[error("no instruction above is called `{name}`{}", proposal(.nearest.as_deref()))]
    UnknownInstruction {
        /// The name.
        name: String,
        /// The name above most like it.
        nearest: Option<String>,
    },
    /// A name that no computation above has.
    #[error("no computation above is called `{name}`{}", proposal(.nearest.as_deref()))]
    UnknownComputation {
        /// The name.
        name: String,
        /// The name above most like it.
        nearest: Option<String>,
    },
    /// A name given a second time.
    #[error("the name `{name}` is taken")]
    Duplicate {
        /// The name.
        name: String,
        /// Where it was given first.
        first: Span,
    },
    /// A second `ENTRY` or a second `ROOT`.
    #[error("there is one `{0}` already")]
    Second(&'static str),
    /// An operation that does not exist.
    #[error("`{name}` is not an operation{}", proposal(.nearest.as_deref()))]
    UnknownOperation {
        /// The name.
        name: String,
        /// The operation most like it.
        nearest: Option<String>,
    },
    /// A type of elements that does not exist.
    #[error("`{0}` is not a type of elements, as `f32` and `s64` are")]
    UnknownElement(String),
    /// Something else than a number of positions.
    #[error("`{0}` is not an extent; one is a number from 0 to 9223372036854775807")]
    NotAnExtent(String),
    /// An array or a tuple that cannot be counted.
    #[error("this has more elements than 64 bits count")]
    TooLarge,
    /// A tuple with too many arrays in it.
    #[error("this tuple holds more than {0} arrays")]
    TooManyParts(usize),
    /// A layout that is no order of the dimensions.
    #[error("a layout of {0} dimensions names each of them once, from 0, the fastest first")]
    NotALayout(usize),
    /// A shape that cannot be told from the operands.
    #[error(
        "the operands of `{0}` do not tell its shape; write it in front, as in `f32[2,3] {0}(…)`"
    )]
    NoShape(String),
    /// A shape that the operation does not have.
    #[error("this is said to be {stated}, but it is {actual}")]
    WrongShape {
        /// The shape in the text.
        stated: String,
        /// The shape that follows from the operands and attributes.
        actual: String,
    },
    /// A number of elements that an operation cannot change.
    #[error(
        "`{operation}` keeps the number of elements, but {from} has {before} and {to} has {after}"
    )]
    CountChanges {
        /// The operation.
        operation: String,
        /// The operand.
        from: String,
        /// The result.
        to: String,
        /// The elements of the operand.
        before: i64,
        /// The elements of the result.
        after: i64,
    },
    /// More or fewer operands than an operation takes.
    #[error("`{operation}` takes {expected}, but {found} are given")]
    OperandCount {
        /// The operation.
        operation: String,
        /// How many it takes, in words.
        expected: &'static str,
        /// How many there are.
        found: usize,
    },
    /// An operand that does not fit to the others or to the attributes.
    #[error("this operand is {found}, but {expected} is needed")]
    OperandShape {
        /// Its shape.
        found: String,
        /// What fits, in words.
        expected: String,
    },
    /// An attribute that an operation cannot do without.
    #[error("`{operation}` needs `{attribute}`, as in `{example}`")]
    MissingAttribute {
        /// The operation.
        operation: String,
        /// The attribute.
        attribute: &'static str,
        /// How it is written.
        example: &'static str,
    },
    /// An attribute whose value has another form.
    #[error("`{attribute}` is written as in `{example}`")]
    Malformed {
        /// The attribute.
        attribute: String,
        /// How it is written.
        example: &'static str,
    },
    /// A list of another length than there are dimensions for it.
    #[error("`{attribute}` lists {found}, but there are {expected} {what}")]
    ListLength {
        /// The attribute.
        attribute: &'static str,
        /// How many it lists.
        found: usize,
        /// How many there are.
        expected: usize,
        /// Of what.
        what: &'static str,
    },
    /// A dimension that is not there, or named twice.
    #[error(
        "`{attribute}` names different dimensions from 0 and below {rank}, but here is {found}"
    )]
    BadDimension {
        /// The attribute.
        attribute: &'static str,
        /// The number.
        found: i64,
        /// How many dimensions there are.
        rank: usize,
    },
    /// A number of an attribute that is out of its range.
    #[error("{found} cannot stand here: {expected}")]
    BadNumber {
        /// The number.
        found: i64,
        /// What can, in words.
        expected: String,
    },
    /// Parameters that are not numbered from 0 without a gap.
    #[error(
        "the parameters of a computation are numbered from 0, each number once; {0} is missing"
    )]
    ParameterNumbers(usize),
    /// Operands of a fusion or a call that are not those of the computation.
    #[error("`{computation}` has {expected} parameters, but {found} operands are given")]
    ParameterCount {
        /// The computation.
        computation: String,
        /// How many parameters it has.
        expected: usize,
        /// How many operands there are.
        found: usize,
    },
    /// Labels of the dimensions of a convolution that do not fit.
    #[error(
        "with {spatial} spatial dimensions the labels of input and output are `b`, `f` and the numbers from 0, and those of the kernel `i`, `o` and these numbers, as in `dim_labels=b01f_01io->b01f`"
    )]
    BadLabels {
        /// The number of spatial dimensions that the input has.
        spatial: usize,
    },
    /// A bitcast of bytes whose order the layout does not tell alone.
    #[error(
        "where elements lie in tiles, their order in memory is not known, and so is what this bitcast reads"
    )]
    TiledBitcast,
    /// An array with too many dimensions.
    #[error("an array has at most {0} dimensions")]
    TooManyDimensions(usize),
    /// An operation between whose elements no map can be written.
    #[error("the maps of this instruction cannot be written: {0}")]
    Unmappable(crate::indexing::IndexingError),
    /// More maps than anybody reads.
    #[error("the instructions from here on read one array in too many different ways")]
    TooManyMaps,
}

impl ModuleErrorKind {
    pub(super) fn at(self, span: Span) -> ModuleError {
        ModuleError { span, kind: self }
    }
}
