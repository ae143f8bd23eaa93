use crate::lanes::Obstacle;
use crate::spelling::counted;
use crate::strategy::STRATEGIES;
use crate::{Function, Span, Type};

/// A broken invariant of a kernel, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ViolationKind {
    /// An id that is not of this kernel's arenas.
    #[error("the {} is not one of this kernel", .0.noun())]
    ForeignId(EntityKind),
    /// A name that is empty or holds a backquote or control character.
    #[error("the name {0:?} is empty or holds a backquote or control character")]
    UnwritableName(String),
    /// Two things of one name.
    #[error("the name `{0}` is given twice")]
    NameTaken(String),
    /// A view that is of no array parameter, or not of all its dimensions.
    #[error("the view `{0}` does not collapse all dimensions of an array parameter")]
    View(String),
    /// Declared, bound or listed a second time.
    #[error("`{0}` is declared twice")]
    DeclaredTwice(String),
    /// A scalar that stands for an element and is not set to one, or cannot be set again.
    #[error("`{0}` stands for an element, so it is declared with one and can be set again")]
    ElementOfNothing(String),
    /// Used where it is not visible.
    #[error("the {noun} `{1}` is not visible here", noun = .0.noun())]
    NotInScope(EntityKind, String),
    /// An expression of the wrong type.
    #[error("this has type {found}, but {expected} is needed")]
    WrongType {
        /// What is needed here.
        expected: Type,
        /// What is there.
        found: Type,
    },
    /// Two operands of different types.
    #[error("the operands have different types, {0} and {1}")]
    OperandsDiffer(Type, Type),
    /// An operation on a type, or a combiner on types, that it is not defined on.
    #[error("`{operation}` is not defined on {}", listed(.types))]
    NotDefinedOn {
        /// The operator or combiner.
        operation: String,
        /// The types.
        types: Vec<Type>,
    },
    /// A reduction with more or fewer places or values than its combiner has parts.
    #[error(
        "`{combiner}` combines {expected} values at a time; here are {places} places and {values} values"
    )]
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
    #[error("`{0}` is reduced twice by one statement")]
    ReducedTwice(String),
    /// Private buffers for a combiner that has nothing to fill them with.
    #[error("the identity of `{combiner}` is not of {}", listed(.types))]
    NoIdentity {
        /// The combiner.
        combiner: String,
        /// The types of its parts.
        types: Vec<Type>,
    },
    /// More or fewer operands than a function takes.
    #[error("`{function}` takes {}, but is given {found}", counted(.function.operand_count(), "operand"))]
    WrongOperandCount {
        /// The function.
        function: Function,
        /// How many it is given.
        found: usize,
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
    /// A computed subscript or an affine variable that is not an integer.
    #[error("this has type {0}, but an integer is needed")]
    NotAnInteger(Type),
    /// A record without fields, or with fields that overlap, do not lie inside of it, or not at
    /// multiples of their sizes.
    #[error(
        "the fields of `{0}` do not lie apart inside of its bytes, each at a multiple of its size"
    )]
    Layout(String),
    /// A record with fields of different extents.
    #[error("the fields of `{0}` have different extents")]
    UnlikeFields(String),
    /// An array that says that it is a field of a record, but is not one of its fields, or the
    /// other way round.
    #[error(
        "`{0}` is not a field of the record that has it, or a field of a record that has it not"
    )]
    MisplacedField(String),
    /// What says how many elements of an array a caller passes is no inferred size of its own, or
    /// the array is a field, or comes from no caller.
    #[error("what `{0}` infers is not an inferred size that it alone tells")]
    Length(String),
    /// An array without a dimension.
    #[error("the array `{0}` has no dimension")]
    NoExtent(String),
    /// An inferred size that is no `i64`, or that no array tells.
    #[error(
        "`{0}` can only be inferred if it is an i64 and an extent of an array whose other extents are known"
    )]
    NotInferable(String),
    /// An extent, an assumption, or the divisor of an affine division, that depends on an iterator.
    #[error(
        "an extent, an assumption, or the divisor of an affine division, depends on an iterator"
    )]
    NotOverParameters,
    /// A loop bound without an alternative.
    #[error("the loop `{0}` has an empty bound")]
    EmptyBound(String),
    /// A step that is not positive.
    #[error("the step {0} is not positive")]
    StepNotPositive(i64),
    /// A loop in lanes that cannot run in them.
    #[error("the loop `{name}` cannot run in lanes: {obstacle}")]
    NoLanes {
        /// Its iterator.
        name: String,
        /// Why.
        obstacle: Obstacle,
    },
    /// A write to a `let`.
    #[error("`{0}` is a `let` and is not set again")]
    Immutable(String),
    /// A write to a local that was declared outside of the forall around the write: its iterations
    /// would race.
    #[error("`{0}` is declared outside of the forall that sets it: its iterations would race")]
    SharedLocal(String),
    /// An access to the target of a forall inside its body.
    #[error("`{0}` is touched inside the forall that merges into it")]
    TargetTouched(String),
    /// A private buffer that has not its target's element type and extents.
    #[error("the private buffer `{buffer}` has not the type and extents of its target `{target}`")]
    UnlikeTarget {
        /// The buffer.
        buffer: String,
        /// The target.
        target: String,
    },
    /// Targets of different extents that are merged together.
    #[error("`{first}` and `{second}` are merged together, but have different extents")]
    TargetsDiffer {
        /// One.
        first: String,
        /// The next.
        second: String,
    },
    /// A private buffer that is also a parameter or the buffer of another forall.
    #[error(
        "`{0}` is a parameter or belongs to another forall, and cannot be a private buffer here"
    )]
    NotPrivate(String),
    /// A combiner's operand outside of a combiner, or anything but operands and constants inside.
    #[error(
        "a combiner's body is made of its operands and constants, and its operands stand nowhere else"
    )]
    MisplacedOperand,
    /// Two combiners of one name that are not the same, or a declared one with the name of one that
    /// is built in.
    #[error("two different combiners are called `{0}`")]
    CombinersDiffer(String),
    /// A pair of `disjoint` that is not an array and, for its elements, a local array of `u8` that
    /// nothing else touches.
    #[error(
        "`disjoint` takes an array that no forall around makes private and, behind it, a local array of u8 with its extents that the body does not touch"
    )]
    NotDisjoint,
    /// A forall with a speculative target whose body does more than update that and private
    /// buffers.
    #[error(
        "with `speculative` the body can do nothing but update what stands there and private buffers, by combiners with an identity; it          holds no other forall and no scf.while, and what it reads of the targets decides on no bounds"
    )]
    NotSpeculative,
    /// A forall that merges by a combiner without an identity, and whose body does more than update
    /// private buffers.
    #[error(
        "`{0}` has no identity, so the body can do nothing but update private buffers, and hold no other forall"
    )]
    NotInOrder(String),
    /// A combiner that divides integers by what may be 0: merging has no iteration to report that
    /// at.
    #[error("a combiner divides integers by constants other than 0 alone")]
    DivisionInCombiner,
    /// A forall that says no strategy that there is.
    #[error("there is no strategy `{0}`; there are {known}", known = STRATEGIES.join(", "))]
    NoSuchStrategy(String),
    /// More than [`MAX_NESTING`](crate::verify::MAX_NESTING) levels.
    #[error("this is nested more than {} levels deep", super::MAX_NESTING)]
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

/// `i32`, or `(f64, i32)`.
fn listed(types: &[Type]) -> String {
    let names: Vec<_> = types.iter().map(ToString::to_string).collect();
    match names.as_slice() {
        [name] => name.clone(),
        _ => format!("({})", names.join(", ")),
    }
}
