use crate::evaluate::DivisionByZero;
use crate::{Condition, Kernel, NotComputed, Overflow, Panicked, Span, Type, Value, text};

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

/// The order in which the iterations of a forall run. The result is the same in both; tests run
/// both to see that it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForallOrder {
    /// From the first iteration to the last.
    #[default]
    Forward,
    /// From the last to the first.
    Backward,
}

/// What an index out of range does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Oob {
    /// It is a fault, which ends the call.
    #[default]
    Error,
    /// The statement that it is in does nothing, be it read or written there: an assignment or
    /// reduction writes nothing; an `if` runs neither of its branches; a loop whose bounds are
    /// computed with it does not turn, and a `while` ends. A declared scalar has no value then,
    /// until something is assigned to it, and what reads a scalar without a value does nothing
    /// either. A kernel whose result is computed with it returns 0.
    Skip,
}

/// Why a kernel did not run to its end. All arrays are then as they were.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The kernel did something that has no result.
    #[error(transparent)]
    Fault(Fault),
    /// More statements ran than were allowed.
    #[error("the kernel ran longer than was allowed")]
    OutOfFuel,
    /// An affine expression left 64 bits.
    #[error("{}", Overflow)]
    Overflow,
    /// A function was called that has no value here.
    #[error(transparent)]
    NotComputed(#[from] NotComputed),
    /// A combiner is a function of a host, and no host gives it.
    #[error("no host gives the combiner `{0}`")]
    NoHost(String),
    /// The arguments are not what the kernel takes.
    #[error(transparent)]
    Arguments(BadArguments),
}

/// A fault: what happened, where, and in which iteration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// The access or the division in the source.
    pub span: Span,
    /// Names and values of the iterators around it, outermost first.
    pub iteration: Vec<(String, i64)>,
}

/// The kinds of faults.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// A subscript below zero, or not below its extent.
    #[error("index {index} is out of range for `{array}`, whose extent there is {extent}")]
    OutOfRange {
        /// The array's name.
        array: String,
        /// The subscript.
        index: i128,
        /// The extent of that dimension.
        extent: i64,
    },
    /// An integer division or remainder by zero.
    #[error("{}", DivisionByZero)]
    DivisionByZero,
    /// Two writes of an element that is said to be written once.
    #[error("`{array}` is said to be disjoint, and two updates meet in its element {element}")]
    Met {
        /// The array's name.
        array: String,
        /// The number of the element, row by row.
        element: i64,
    },
    /// A combiner that is a function of the host panicked.
    #[error(transparent)]
    Combiner(#[from] Panicked),
    /// Something that the kernel assumes of its parameters does not hold. Nothing of it has run.
    #[error("the kernel assumes `{condition}`, which does not hold for these arguments")]
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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadArguments {
    /// Too few or too many.
    #[error("the kernel takes {expected} arguments, there are {found}")]
    Count {
        /// How many parameters there are.
        expected: usize,
        /// How many arguments there were.
        found: usize,
    },
    /// A scalar for an array or the other way round, or another type.
    #[error("the argument for `{parameter}` is not of type {expected}")]
    Type {
        /// The parameter's name.
        parameter: String,
        /// The type of the scalar or of the elements.
        expected: Type,
    },
    /// Something else than records of so many fields.
    #[error("the argument for `{parameter}` is not an array of records of {fields} fields")]
    Record {
        /// The parameter's name.
        parameter: String,
        /// How many fields it has.
        fields: usize,
    },
    /// An array of another length than its extents say.
    #[error("array `{array}` has {expected} elements, the argument {found}")]
    Length {
        /// The array's name.
        array: String,
        /// The number of elements that its extents make.
        expected: i64,
        /// How many there were.
        found: usize,
    },
    /// An array with an extent below zero.
    #[error("array `{array}` would have an extent of {extent}")]
    Extent {
        /// The array's name.
        array: String,
        /// The extent.
        extent: i64,
    },
}

impl From<Overflow> for Stop {
    fn from(_: Overflow) -> Self {
        Self::Overflow
    }
}
