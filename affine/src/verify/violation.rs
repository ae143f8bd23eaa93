use crate::{Function, Span, Type};
use std::fmt;

/// A broken invariant of a kernel, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The construct that breaks it, or the nearest one around it that has a place in the source.
    pub span: Span,
    /// What is broken.
    pub kind: ViolationKind,
}

/// What kind of thing an id or a name is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntityKind {
    /// A scalar parameter.
    Scalar,
    /// An array parameter, a field, a private buffer or a local array.
    Array,
    /// A record parameter.
    Record,
    /// An iterator.
    Iter,
    /// A `let` or `var`.
    Local,
}

/// The invariant that is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViolationKind {
    /// An id that is not of this kernel's arenas.
    ForeignId(EntityKind),
    /// A name that is empty or holds a backquote or control character.
    UnwritableName(String),
    /// Two things of one name.
    NameTaken(String),
    /// Declared, bound or listed a second time.
    DeclaredTwice(String),
    /// Used where it is not visible.
    NotInScope(EntityKind, String),
    /// An expression of the wrong type.
    WrongType {
        /// What is needed here.
        expected: Type,
        /// What is there.
        found: Type,
    },
    /// Two operands of different types.
    OperandsDiffer(Type, Type),
    /// An operation on a type, or a combiner on types, that it is not defined on.
    NotDefinedOn {
        /// The operator or combiner.
        operation: String,
        /// The types.
        types: Vec<Type>,
    },
    /// A reduction with more or fewer places or values than its combiner has parts.
    WrongPartCount {
        /// The combiner.
        combiner: String,
        /// The number of its parts.
        expected: usize,
        /// The number of places.
        places: usize,
        /// The number of values.
        values: usize,
    },
    /// Two places of one reduction in one array, or twice the same local.
    ReducedTwice(String),
    /// Private buffers for a combiner that has nothing to fill them with.
    NoIdentity {
        /// The combiner.
        combiner: String,
        /// The types of its parts.
        types: Vec<Type>,
    },
    /// More or fewer operands than a function takes.
    WrongOperandCount {
        /// The function.
        function: Function,
        /// How many it is given.
        found: usize,
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
    /// A computed subscript or an affine variable that is not an integer.
    NotAnInteger(Type),
    /// A record without fields, or with fields that overlap, do not lie inside of it, or not at multiples of their sizes.
    Layout(String),
    /// A record with fields of different extents.
    UnlikeFields(String),
    /// An array that says that it is a field of a record, but is not one of its fields, or the other way round.
    MisplacedField(String),
    /// An array without a dimension.
    NoExtent(String),
    /// An inferred size that is no `i64`, or that no array tells.
    NotInferable(String),
    /// An extent, an assumption, or the divisor of an affine division, that depends on an iterator.
    NotOverParameters,
    /// A loop bound without an alternative.
    EmptyBound(String),
    /// A step that is not positive.
    StepNotPositive(i64),
    /// A write to a `let`.
    Immutable(String),
    /// A write to a local that was declared outside of the forall around the write: its iterations would race.
    SharedLocal(String),
    /// An access to the target of a forall inside its body.
    TargetTouched(String),
    /// A private buffer that has not its target's element type and extents.
    UnlikeTarget {
        /// The buffer.
        buffer: String,
        /// The target.
        target: String,
    },
    /// Targets of different extents that are merged together.
    TargetsDiffer {
        /// One.
        first: String,
        /// The next.
        second: String,
    },
    /// A private buffer that is also a parameter or the buffer of another forall.
    NotPrivate(String),
    /// A combiner's operand outside of a combiner, or anything but operands and constants inside.
    MisplacedOperand,
    /// A combiner that divides integers: merging has no iteration to report a zero divisor at.
    DivisionInCombiner,
    /// More than [`MAX_NESTING`](crate::verify::MAX_NESTING) levels.
    TooDeep,
}

impl EntityKind {
    fn noun(self) -> &'static str {
        match self {
            Self::Scalar => "parameter",
            Self::Array => "array",
            Self::Record => "record",
            Self::Iter => "iterator",
            Self::Local => "local",
        }
    }
}

impl fmt::Display for ViolationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ForeignId(kind) => {
                write!(f, "the {} is not one of this kernel", kind.noun())
            }
            Self::UnwritableName(name) => write!(
                f,
                "the name {name:?} is empty or holds a backquote or control character"
            ),
            Self::NameTaken(name) => write!(f, "the name `{name}` is given twice"),
            Self::DeclaredTwice(name) => write!(f, "`{name}` is declared twice"),
            Self::NotInScope(kind, name) => {
                write!(f, "the {} `{name}` is not visible here", kind.noun())
            }
            Self::WrongType { expected, found } => {
                write!(f, "this has type {found}, but {expected} is needed")
            }
            Self::OperandsDiffer(left, right) => {
                write!(f, "the operands have different types, {left} and {right}")
            }
            Self::NotDefinedOn { operation, types } => {
                write!(f, "`{operation}` is not defined on {}", listed(types))
            }
            Self::WrongPartCount {
                combiner,
                expected,
                places,
                values,
            } => write!(
                f,
                "`{combiner}` combines {expected} values at a time; here are {places} places and {values} values"
            ),
            Self::ReducedTwice(name) => {
                write!(f, "`{name}` is reduced twice by one statement")
            }
            Self::NoIdentity { combiner, types } => write!(
                f,
                "`{combiner}` has no identity on {}, so nothing can fill a private buffer",
                listed(types)
            ),
            Self::WrongOperandCount { function, found } => write!(
                f,
                "`{function}` takes {} operands, but {found} are given",
                function.operand_count()
            ),
            Self::WrongSubscriptCount {
                array,
                expected,
                found,
            } => write!(
                f,
                "`{array}` has {expected} dimensions, but {found} subscripts are given"
            ),
            Self::NotAnInteger(ty) => {
                write!(f, "this has type {ty}, but an integer is needed")
            }
            Self::Layout(name) => write!(
                f,
                "the fields of `{name}` do not lie apart inside of its bytes, each at a multiple of its size"
            ),
            Self::UnlikeFields(name) => {
                write!(f, "the fields of `{name}` have different extents")
            }
            Self::MisplacedField(name) => write!(
                f,
                "`{name}` is not a field of the record that has it, or a field of a record that has it not"
            ),
            Self::NoExtent(name) => write!(f, "the array `{name}` has no dimension"),
            Self::NotInferable(name) => write!(
                f,
                "`{name}` can only be inferred if it is an i64 and an extent of an array whose other extents are known"
            ),
            Self::NotOverParameters => f.write_str(
                "an extent, an assumption, or the divisor of an affine division, depends on an iterator",
            ),
            Self::EmptyBound(name) => write!(f, "the loop `{name}` has an empty bound"),
            Self::StepNotPositive(step) => write!(f, "the step {step} is not positive"),
            Self::Immutable(name) => {
                write!(f, "`{name}` is a `let` and is not set again")
            }
            Self::SharedLocal(name) => write!(
                f,
                "`{name}` is declared outside of the forall that sets it: its iterations would race"
            ),
            Self::TargetTouched(name) => write!(
                f,
                "`{name}` is touched inside the forall that merges into it"
            ),
            Self::UnlikeTarget { buffer, target } => write!(
                f,
                "the private buffer `{buffer}` has not the type and extents of its target `{target}`"
            ),
            Self::TargetsDiffer { first, second } => write!(
                f,
                "`{first}` and `{second}` are merged together, but have different extents"
            ),
            Self::NotPrivate(name) => write!(
                f,
                "`{name}` is a parameter or belongs to another forall, and cannot be a private buffer here"
            ),
            Self::MisplacedOperand => f.write_str(
                "a combiner's body is made of its operands and constants, and its operands stand nowhere else",
            ),
            Self::DivisionInCombiner => f.write_str("a combiner does not divide integers"),
            Self::TooDeep => write!(
                f,
                "this is nested more than {} levels deep",
                super::MAX_NESTING
            ),
        }
    }
}

/// `i32`, or `(f64, i32)`.
fn listed(types: &[Type]) -> String {
    let names: Vec<_> = types.iter().map(ToString::to_string).collect();
    match names.as_slice() {
        [name] => name.clone(),
        _ => format!("({})", names.join(", ")),
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for Violation {}
