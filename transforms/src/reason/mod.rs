//! Why a step is declined: the reasons as data, and everything that is said about them in words.

mod advice;

pub use advice::Label;

use crate::LoopPath;
use crate::witness::Witness;
use std::fmt;
use std::ops::RangeInclusive;
use strew_affine::dependence::DependenceKind;
use strew_affine::lanes::Obstacle;
use strew_affine::verify::Violation;
use strew_affine::{Overflow, Span, Type};

/// What kind of refusal a [`Reason`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The request does not fit this kernel.
    Misaddressed,
    /// The step would change the kernel's meaning, and a witness shows where.
    Illegal,
    /// Nobody could tell; the reason says what was missing.
    Unproven,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Misaddressed => "misaddressed",
            Self::Illegal => "illegal",
            Self::Unproven => "unproven",
        })
    }
}

/// Why a step is declined.
///
/// Reasons that hold a `witness` are [`Verdict::Illegal`] when there is one and [`Verdict::Unproven`] when none was found:
/// there is no `Illegal` without a witness.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// No loop is at `path`.
    #[error("there is no loop `{path}`; {}", there_are("loops", .loops))]
    NoSuchLoop {
        /// What was asked for.
        path: LoopPath,
        /// The iterators of the loops there are, in the order of the text.
        loops: Vec<String>,
    },
    /// The loop is a `scf.for`: its bounds are computed when it starts.
    #[error(
        "the bounds of `{path}` are computed when it starts (`scf.for`), so its iterations cannot be counted beforehand"
    )]
    NotAffine {
        /// The loop.
        path: LoopPath,
        /// Where it stands.
        span: Span,
    },
    /// The loop is a `scf.forall` itself.
    #[error("the iterations of `{path}` run at once already (`scf.forall`)")]
    IsForall {
        /// The loop.
        path: LoopPath,
    },
    /// The loop stands inside a `scf.forall`, or has one inside.
    #[error(
        "`{path}` stands inside a `scf.forall` or has one inside; loops that run at once are not nested"
    )]
    NestedForall {
        /// The loop.
        path: LoopPath,
    },
    /// No array is called `name`.
    #[error("there is no array `{name}`; {}", there_are("arrays", .arrays))]
    NoSuchArray {
        /// What was asked for.
        name: String,
        /// The arrays there are.
        arrays: Vec<String>,
    },
    /// No integer parameter is called `name`.
    #[error("no integer parameter is called `{name}`; {}", there_are("integer parameters", .parameters))]
    NoSuchParameter {
        /// What was asked for.
        name: String,
        /// The integer parameters there are.
        parameters: Vec<String>,
    },
    /// No combiner is called `name`.
    #[error("there is no combiner `{name}`; {}", there_are("combiners", .combiners))]
    NoSuchCombiner {
        /// What was asked for.
        name: String,
        /// The combiners that need no declaration.
        combiners: Vec<String>,
    },
    /// A loop is not around the other.
    #[error("`{outer}` is not around `{inner}`")]
    NotAround {
        /// The loop that should be around.
        outer: LoopPath,
        /// The other.
        inner: LoopPath,
    },
    /// The inner loop is not all that the outer one does.
    #[error("`{inner}` is not all that `{outer}` does: the two are not perfectly nested")]
    NotPerfectlyNested {
        /// The outer loop.
        outer: LoopPath,
        /// The inner loop.
        inner: LoopPath,
    },
    /// The bounds of the inner loop depend on the outer one.
    #[error(
        "the bounds of `{inner}` depend on `{outer}`, so it does not run as often in every turn"
    )]
    NotRectangular {
        /// The outer loop.
        outer: LoopPath,
        /// The inner loop.
        inner: LoopPath,
    },
    /// Bounds that depend on each other, in loops of which one has a step.
    #[error(
        "the bounds of loops from `{path}` on depend on each other, and one of them has a step other than 1"
    )]
    SteppedBand {
        /// The outermost, or the one with the step.
        path: LoopPath,
    },
    /// A bound that is no linear function of the iterators around.
    #[error("a bound in `{path}` is no linear function of the iterators around it")]
    NotLinear {
        /// The outermost loop.
        path: LoopPath,
    },
    /// There is nothing to part.
    #[error(
        "the statements of `{path}` cannot be parted: there is one, or they share what is declared in it"
    )]
    OneStatement {
        /// The loop.
        path: LoopPath,
    },
    /// How often the inner loop runs depends on a loop around both, and iterators would be divided by it.
    #[error(
        "how often `{path}` runs depends on a loop around, and iterators can be divided by numbers and parameters only"
    )]
    MovingDivisor {
        /// The inner loop.
        path: LoopPath,
    },
    /// A step names one loop twice.
    #[error("`{path}` is named twice")]
    LoopNamedTwice {
        /// The loop.
        path: LoopPath,
    },
    /// The second loop does not follow the first.
    #[error("`{second}` does not directly follow `{first}`")]
    NotAdjacent {
        /// The loop that should come first.
        first: LoopPath,
        /// The one that should follow.
        second: LoopPath,
    },
    /// Two loops do not have the same bounds and steps.
    #[error("`{first}` and `{second}` do not have the same bounds and the same step")]
    DifferentBounds {
        /// One loop.
        first: LoopPath,
        /// The other.
        second: LoopPath,
    },
    /// Skewing by zero.
    #[error("skewing `{path}` by 0 would change nothing")]
    NoSkew {
        /// The loop.
        path: LoopPath,
    },
    /// A number is outside of what the step can do.
    #[error("{what} is {given}; from {least} to {most} is accepted")]
    BadNumber {
        /// What the number is.
        what: &'static str,
        /// The number.
        given: u64,
        /// The least that is accepted.
        least: u64,
        /// The greatest that is accepted.
        most: u64,
    },
    /// The loop updates nothing by a reduction, and no clause names an array.
    #[error(
        "no statement in `{path}` is a reduction, and no `reduction(…)` clause names an array to make private"
    )]
    NothingReduced {
        /// The loop.
        path: LoopPath,
    },
    /// A clause names an array that the loop does not write.
    #[error("`{path}` does not write `{array}`")]
    NotWritten {
        /// The array.
        array: String,
        /// The loop.
        path: LoopPath,
    },
    /// The clause names an array that every iteration of the loop allocates anew.
    #[error(
        "every iteration of `{path}` allocates its own `{array}`: there is nothing to make private"
    )]
    PrivateAnyway {
        /// The array.
        array: String,
        /// The loop.
        path: LoopPath,
    },
    /// Two clauses name the same array.
    #[error("two clauses name `{array}`")]
    NamedTwice {
        /// The array.
        array: String,
    },
    /// The clause names another combiner than the statement.
    #[error("the clause combines `{array}` by `{given}`, but the loop combines it by `{found}`")]
    WrongCombiner {
        /// The array.
        array: String,
        /// The clause's.
        given: String,
        /// The statement's.
        found: String,
        /// The statement.
        span: Span,
    },
    /// The combiner has no identity on the array's elements.
    #[error("`{combiner}` is not defined on `{element}`, the type of the elements of `{array}`")]
    UndefinedCombiner {
        /// The array.
        array: String,
        /// The combiner.
        combiner: String,
        /// The type of the elements.
        element: Type,
    },
    /// An array that would become private is read in the loop.
    #[error("`{array}` is read in the loop; with private copies the read would see what one chunk has gathered so far{}", example(.witness))]
    ReadsPartialSum {
        /// The array.
        array: String,
        /// The read.
        span: Span,
        /// An update and a read that meet.
        witness: Option<Box<Witness>>,
    },
    /// An array that would become private is plainly assigned in the loop, and more than once.
    #[error("`{array}` is assigned in the loop, and the last assignment of a cell counts; combining private copies does not keep that order{}", example(.witness))]
    OverwritesPrivate {
        /// The array.
        array: String,
        /// The assignment.
        span: Span,
        /// Two writes that meet.
        witness: Option<Box<Witness>>,
    },
    /// An array that would become private is plainly assigned, but not in every cell: what was there would be combined with.
    #[error("`{array}` is assigned in the loop, but not shown to be assigned in every cell exactly once; elsewhere its old contents must stay, and where it is assigned they must not be combined with{}", example(.witness))]
    KeepsOldContents {
        /// The array.
        array: String,
        /// The assignment.
        span: Span,
        /// One write; its two ends are the same.
        witness: Option<Box<Witness>>,
    },
    /// An array that would become private is updated by two combiners.
    #[error("`{array}` is combined by `{}` and by `{}` in the same loop; a private copy can be merged by one only{}", .combiners[0], .combiners[1], example(.witness))]
    MixesCombiners {
        /// The array.
        array: String,
        /// Two of them.
        combiners: [String; 2],
        /// The second statement.
        span: Span,
        /// Two updates that meet.
        witness: Option<Box<Witness>>,
    },
    /// An array that would become private is combined together with something else, but not cell by cell with arrays of the same
    /// extents.
    #[error(
        "`{array}` is combined by `{combiner}` together with something that is not an array cell at the same place of an array of the same extents, always the same one, so private copies could not be merged cell by cell"
    )]
    NotTogether {
        /// The array.
        array: String,
        /// The combiner.
        combiner: String,
        /// The update.
        span: Span,
    },
    /// An array that would become private is updated by a combiner without an identity: nothing can fill a private copy.
    #[error(
        "`{combiner}` has no identity, so nothing can fill a private copy of `{array}`: no start value loses against everything and wins against nothing"
    )]
    NoIdentity {
        /// The array.
        array: String,
        /// The combiner.
        combiner: String,
        /// The update.
        span: Span,
    },
    /// The combiner, applied to its identity and another value, does not always give the other, so what is assigned could be lost.
    #[error(
        "`{array}` is assigned, and merging by `{combiner}` does not give back every value that can be assigned, such as a NaN or one beyond a limit"
    )]
    LosesAssigned {
        /// The array.
        array: String,
        /// The combiner.
        combiner: String,
        /// The assignment.
        span: Span,
    },
    /// Iterations of the loop meet in an array that does not become private.
    #[error("two iterations of `{path}` {} in `{array}` ({kind} dependence){}", meet(.witness), example(.witness))]
    Carried {
        /// The loop.
        path: LoopPath,
        /// The array.
        array: String,
        /// How they meet.
        kind: DependenceKind,
        /// The access of the earlier iteration.
        earlier: Span,
        /// The access of the later iteration.
        later: Span,
        /// The combiner, when both are updates by the same one.
        combiner: Option<String>,
        /// Two iterations that meet.
        witness: Option<Box<Witness>>,
    },
    /// In the new order an access would come before one that it has to come after.
    #[error("two accesses of `{array}` {} in another order than before ({kind} dependence){}", come(.witness), example(.witness))]
    Reverses {
        /// The array, or the scalar.
        array: String,
        /// How they meet.
        kind: DependenceKind,
        /// The access that comes first.
        earlier: Span,
        /// The one that comes second.
        later: Span,
        /// Two iterations that meet.
        witness: Option<Box<Witness>>,
    },
    /// A scalar from outside of the loop is set in it.
    #[error("`{name}` lives outside of `{path}` and is set in it, so its iterations depend on each other{}", example(.witness))]
    CarriedScalar {
        /// The loop.
        path: LoopPath,
        /// The scalar.
        name: String,
        /// The statement that sets it.
        span: Span,
        /// Two iterations that meet.
        witness: Option<Box<Witness>>,
    },
    /// Something in the loop has no form in which several iterations run at once.
    #[error("iterations of `{path}` cannot run at once in the lanes of vectors: {obstacle}")]
    NoLanes {
        /// The loop.
        path: LoopPath,
        /// What it is.
        obstacle: Obstacle,
        /// Where it stands.
        span: Span,
    },
    /// Iterations of the loop run at once in lanes already.
    #[error("iterations of `{path}` run at once in the lanes of vectors already")]
    HasLanes {
        /// The loop.
        path: LoopPath,
    },
    /// A bound with several alternatives where the step can do with one only.
    #[error(
        "a bound of `{path}` has several alternatives, so its iterations cannot be counted by one expression"
    )]
    SeveralBounds {
        /// The loop.
        path: LoopPath,
    },
    /// A bound or a subscript of the result would leave 64 bits.
    #[error("a bound or a subscript of the result would leave 64 bits")]
    Overflow,
    /// What came out breaks an invariant of kernels: it would be nested too deep, or the step is defective.
    #[error("the result would not be a kernel: {violation}")]
    BreaksInvariant {
        /// The first of them.
        violation: Box<Violation>,
    },
}

impl From<Overflow> for Reason {
    fn from(_: Overflow) -> Self {
        Self::Overflow
    }
}

/// `given` as the type that a step counts in, if it is one of `accepted`; `what` it is goes into the reason.
pub(crate) fn checked_number<T: TryFrom<u64>>(
    what: &'static str,
    given: u64,
    accepted: RangeInclusive<u64>,
) -> Result<T, Reason> {
    let number = T::try_from(given).ok();
    let number = number.filter(|_| accepted.contains(&given));
    number.ok_or_else(|| Reason::BadNumber {
        what,
        given,
        least: *accepted.start(),
        most: *accepted.end(),
    })
}

impl Reason {
    /// What kind of refusal this is.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::NoSuchLoop { .. }
            | Self::NotAffine { .. }
            | Self::IsForall { .. }
            | Self::NestedForall { .. }
            | Self::NoSuchArray { .. }
            | Self::NoSuchParameter { .. }
            | Self::NoSuchCombiner { .. }
            | Self::BadNumber { .. }
            | Self::NotAround { .. }
            | Self::NotPerfectlyNested { .. }
            | Self::NotRectangular { .. }
            | Self::NoSkew { .. }
            | Self::OneStatement { .. }
            | Self::LoopNamedTwice { .. }
            | Self::NotAdjacent { .. }
            | Self::DifferentBounds { .. }
            | Self::NothingReduced { .. }
            | Self::NotWritten { .. }
            | Self::PrivateAnyway { .. }
            | Self::NamedTwice { .. }
            | Self::WrongCombiner { .. }
            | Self::UndefinedCombiner { .. }
            | Self::HasLanes { .. } => Verdict::Misaddressed,
            Self::LosesAssigned { .. }
            | Self::NotTogether { .. }
            | Self::NoIdentity { .. }
            | Self::NoLanes { .. }
            | Self::SeveralBounds { .. }
            | Self::SteppedBand { .. }
            | Self::MovingDivisor { .. }
            | Self::NotLinear { .. }
            | Self::Overflow
            | Self::BreaksInvariant { .. } => Verdict::Unproven,
            Self::ReadsPartialSum { .. }
            | Self::OverwritesPrivate { .. }
            | Self::KeepsOldContents { .. }
            | Self::MixesCombiners { .. }
            | Self::Carried { .. }
            | Self::Reverses { .. }
            | Self::CarriedScalar { .. } => match self.witness() {
                Some(_) => Verdict::Illegal,
                None => Verdict::Unproven,
            },
        }
    }

    /// What shows that the step is illegal.
    pub fn witness(&self) -> Option<&Witness> {
        match self {
            Self::ReadsPartialSum { witness, .. }
            | Self::OverwritesPrivate { witness, .. }
            | Self::KeepsOldContents { witness, .. }
            | Self::MixesCombiners { witness, .. }
            | Self::Carried { witness, .. }
            | Self::Reverses { witness, .. }
            | Self::CarriedScalar { witness, .. } => witness.as_deref(),
            _ => None,
        }
    }

    /// The reason in one word, for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NoSuchLoop { .. } => "NoSuchLoop",
            Self::NotAffine { .. } => "NotAffine",
            Self::IsForall { .. } => "IsForall",
            Self::NestedForall { .. } => "NestedForall",
            Self::NoSuchArray { .. } => "NoSuchArray",
            Self::NoSuchParameter { .. } => "NoSuchParameter",
            Self::NoSuchCombiner { .. } => "NoSuchCombiner",
            Self::NotAround { .. } => "NotAround",
            Self::NotPerfectlyNested { .. } => "NotPerfectlyNested",
            Self::NotRectangular { .. } => "NotRectangular",
            Self::NoSkew { .. } => "NoSkew",
            Self::SteppedBand { .. } => "SteppedBand",
            Self::NotLinear { .. } => "NotLinear",
            Self::MovingDivisor { .. } => "MovingDivisor",
            Self::OneStatement { .. } => "OneStatement",
            Self::LoopNamedTwice { .. } => "LoopNamedTwice",
            Self::NotAdjacent { .. } => "NotAdjacent",
            Self::DifferentBounds { .. } => "DifferentBounds",
            Self::Reverses { .. } => "Reverses",
            Self::BadNumber { .. } => "BadNumber",
            Self::NothingReduced { .. } => "NothingReduced",
            Self::NotWritten { .. } => "NotWritten",
            Self::PrivateAnyway { .. } => "PrivateAnyway",
            Self::NamedTwice { .. } => "NamedTwice",
            Self::WrongCombiner { .. } => "WrongCombiner",
            Self::UndefinedCombiner { .. } => "UndefinedCombiner",
            Self::ReadsPartialSum { .. } => "ReadsPartialSum",
            Self::OverwritesPrivate { .. } => "OverwritesPrivate",
            Self::KeepsOldContents { .. } => "KeepsOldContents",
            Self::MixesCombiners { .. } => "MixesCombiners",
            Self::LosesAssigned { .. } => "LosesAssigned",
            Self::NotTogether { .. } => "NotTogether",
            Self::NoIdentity { .. } => "NoIdentity",
            Self::Carried { .. } => "Carried",
            Self::CarriedScalar { .. } => "CarriedScalar",
            Self::NoLanes { .. } => "NoLanes",
            Self::HasLanes { .. } => "HasLanes",
            Self::SeveralBounds { .. } => "SeveralBounds",
            Self::Overflow => "Overflow",
            Self::BreaksInvariant { .. } => "BreaksInvariant",
        }
    }
}

fn there_are(what: &str, names: &[String]) -> String {
    if names.is_empty() {
        format!("the kernel has no {what}")
    } else {
        format!("the {what} are {}", list(names))
    }
}

fn meet(witness: &Option<Box<Witness>>) -> &'static str {
    if witness.is_some() {
        "meet"
    } else {
        "may meet"
    }
}

fn come(witness: &Option<Box<Witness>>) -> &'static str {
    if witness.is_some() {
        "would come"
    } else {
        "might come"
    }
}

fn example(witness: &Option<Box<Witness>>) -> String {
    witness
        .as_ref()
        .map_or_else(String::new, |it| format!("; {it}"))
}

fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
