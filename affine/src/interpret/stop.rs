use crate::evaluate::DivisionByZero;
use crate::{Condition, Kernel, NotComputed, Overflow, Span, Type, Value, text};
use std::fmt;

/// One argument, in the order of the parameters that a caller passes.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// For a scalar parameter.
    Scalar(Value),
    /// For an array, row by row.
    Array(Vec<Value>),
    /// For an array of records: one array for each field, in their order.
    Record(Vec<Vec<Value>>),
}

/// The order in which the iterations of a forall run. The result is the same in both; tests run both to see that it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForallOrder {
    /// From the first iteration to the last.
    #[default]
    Forward,
    /// From the last to the first.
    Backward,
}

/// Why a kernel did not run to its end. All arrays are then as they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The kernel did something that has no result.
    Fault(Fault),
    /// More statements ran than were allowed.
    OutOfFuel,
    /// An affine expression left 64 bits.
    Overflow,
    /// A function was called that has no value here.
    NotComputed(NotComputed),
    /// The arguments are not what the kernel takes.
    Arguments(BadArguments),
}

/// A fault: what happened, where, and in which iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// The access or the division in the source.
    pub span: Span,
    /// Names and values of the iterators around it, outermost first.
    pub iteration: Vec<(String, i64)>,
}

/// The kinds of faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A subscript below zero, or not below its extent.
    OutOfRange {
        /// The array's name.
        array: String,
        /// The subscript.
        index: i128,
        /// The extent of that dimension.
        extent: i64,
    },
    /// An integer division or remainder by zero.
    DivisionByZero,
    /// Something that the kernel assumes of its parameters does not hold. Nothing of it has run.
    Assumption {
        /// The condition, as the kernel text writes it.
        condition: String,
    },
}

impl Fault {
    /// The fault of a call whose parameters do not keep `condition`.
    pub fn assumption(kernel: &Kernel, condition: &Condition) -> Self {
        Self {
            kind: FaultKind::Assumption {
                condition: text::condition(kernel, condition),
            },
            span: kernel.span,
            iteration: Vec::new(),
        }
    }
}

/// What is wrong with the arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadArguments {
    /// Too few or too many.
    Count {
        /// How many parameters there are.
        expected: usize,
        /// How many arguments there were.
        found: usize,
    },
    /// A scalar for an array or the other way round, or another type.
    Type {
        /// The parameter's name.
        parameter: String,
        /// The type of the scalar or of the elements.
        expected: Type,
    },
    /// Something else than records of so many fields.
    Record {
        /// The parameter's name.
        parameter: String,
        /// How many fields it has.
        fields: usize,
    },
    /// An array of another length than its extents say.
    Length {
        /// The array's name.
        array: String,
        /// The number of elements that its extents make.
        expected: i64,
        /// How many there were.
        found: usize,
    },
    /// An array with an extent below zero.
    Extent {
        /// The array's name.
        array: String,
        /// The extent.
        extent: i64,
    },
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fault(fault) => fault.fmt(f),
            Self::OutOfFuel => f.write_str("the kernel ran longer than was allowed"),
            Self::Overflow => Overflow.fmt(f),
            Self::NotComputed(function) => function.fmt(f),
            Self::Arguments(bad) => bad.fmt(f),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            FaultKind::OutOfRange {
                array,
                index,
                extent,
            } => write!(
                f,
                "index {index} is out of range for `{array}`, whose extent there is {extent}"
            ),
            FaultKind::DivisionByZero => DivisionByZero.fmt(f),
            FaultKind::Assumption { condition } => write!(
                f,
                "the kernel assumes `{condition}`, which does not hold for these arguments"
            ),
        }
    }
}

impl fmt::Display for BadArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { expected, found } => {
                write!(
                    f,
                    "the kernel takes {expected} arguments, there are {found}"
                )
            }
            Self::Type {
                parameter,
                expected,
            } => write!(
                f,
                "the argument for `{parameter}` is not of type {expected}"
            ),
            Self::Record { parameter, fields } => write!(
                f,
                "the argument for `{parameter}` is not an array of records of {fields} fields"
            ),
            Self::Length {
                array,
                expected,
                found,
            } => write!(
                f,
                "array `{array}` has {expected} elements, the argument {found}"
            ),
            Self::Extent { array, extent } => {
                write!(f, "array `{array}` would have an extent of {extent}")
            }
        }
    }
}

impl std::error::Error for Stop {}

impl From<Overflow> for Stop {
    fn from(_: Overflow) -> Self {
        Self::Overflow
    }
}

impl From<NotComputed> for Stop {
    fn from(function: NotComputed) -> Self {
        Self::NotComputed(function)
    }
}
