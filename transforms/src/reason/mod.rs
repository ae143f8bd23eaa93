//! Why a step is declined: the reasons as data, and everything that is said about them in words.

mod advice;
mod number;
mod verdict;
mod words;

pub use advice::Label;
pub(crate) use number::checked_number;
pub use verdict::Verdict;

use crate::{LoopPath, StatementName};
use strew_affine::dependence::{DependenceKind, Witness};
use strew_affine::lanes::Obstacle;
use strew_affine::verify::Violation;
use strew_affine::{Span, Type};
use words::{come, example, is_read, keeps_order, labelled, meet, reads_older, sees, there_are};

/// Why a step is declined.
///
/// Reasons that hold a `witness` are [`Verdict::Illegal`] when there is one and
/// [`Verdict::Unproven`] when none was found: there is no `Illegal` without a witness.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// No loop is at `path`.
    #[error("there is no loop `{path}`; {}{}", there_are("loops", .loops), labelled(.labels))]
    NoSuchLoop {
        /// What was asked for.
        path: LoopPath,
        /// The iterators of the loops there are, in the order of the text.
        loops: Vec<String>,
        /// Their labels.
        labels: Vec<String>,
    },
    /// The loop is a `scf.for`: its bounds are computed when it starts.
    #[error("{}", words::not_affine(.path))]
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
    #[error("{}", words::nested_forall(.path))]
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
    /// No combiner that is built in, or that the kernel combines by, is called `name`.
    #[error("there is no combiner `{name}` in the kernel; {}", there_are("combiners", .combiners))]
    NoSuchCombiner {
        /// What was asked for.
        name: String,
        /// Those that there are.
        combiners: Vec<String>,
    },
    /// No strategy is called `name`.
    #[error("there is no strategy `{name}`; {}", words::strategies())]
    NoSuchStrategy {
        /// What was asked for.
        name: String,
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
    #[error("{}", words::not_rectangular(.inner, .outer))]
    NotRectangular {
        /// The outer loop.
        outer: LoopPath,
        /// The inner loop.
        inner: LoopPath,
    },
    /// Bounds that depend on each other, in loops of which one has a step.
    #[error("{}", words::stepped_band(.path))]
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
    #[error("{}", words::one_statement(.path))]
    OneStatement {
        /// The loop.
        path: LoopPath,
    },
    /// Iterators would be divided by how often the inner loop runs, which a loop around both says.
    #[error("{}", words::moving_divisor(.path))]
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
    /// Two loops do not have the same bounds and steps, and cannot be one in another way.
    #[error("{}", words::different_bounds(.first, .second))]
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
    #[error("{}", words::nothing_reduced(.path))]
    NothingReduced {
        /// The loop.
        path: LoopPath,
    },
    /// No counter of the loop hands out tickets.
    #[error("{}", words::no_tickets(.path))]
    NoTickets {
        /// The loop.
        path: LoopPath,
    },
    /// The loop combines into scalars where the step is for arrays, or the other way round.
    #[error("{}", words::combines_into(.path, .name, *.is_scalar))]
    OtherReduction {
        /// The loop.
        path: LoopPath,
        /// The scalar, or the array.
        name: String,
        /// Which of both it is.
        is_scalar: bool,
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
    /// The array is allocated in a loop inside the loop, and begins with zeros each time.
    #[error(
        "`{array}` is allocated in a loop inside `{path}`, anew in each iteration of that: it can be expanded over that loop first"
    )]
    AllocatedInside {
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
    /// An array that would become private is assigned, but some cells would keep what was there.
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
    /// What would become private together are not arrays of the same extents, cell by cell.
    #[error("{}", words::not_together(.array, .combiner))]
    NotTogether {
        /// The array.
        array: String,
        /// The combiner.
        combiner: String,
        /// The update.
        span: Span,
    },
    /// The combiner of an array that would become private has no identity to fill a copy with.
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
    /// What is assigned could be lost: combined with the identity, it is not always itself.
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
    #[error("two accesses of `{array}` {} in another order than before ({kind} dependence){}{}", come(.witness), keeps_order(.ordered), example(.witness))]
    Reverses {
        /// The array, or the scalar.
        array: String,
        /// How they meet.
        kind: DependenceKind,
        /// The access that comes first.
        earlier: Span,
        /// The one that comes second.
        later: Span,
        /// The combiner, where both are updates by one whose operands cannot be exchanged.
        ordered: Option<String>,
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
    /// No narrower types give what the loop computes.
    #[error("{}", words::nothing_narrower(.path))]
    NothingNarrower {
        /// The loop.
        path: LoopPath,
    },
    /// Nothing that the loop puts into elements can be computed before it does.
    #[error("{}", words::nothing_to_precompute(.path))]
    NothingToPrecompute {
        /// The loop.
        path: LoopPath,
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
    /// No scalar and no local array, and no array, is called `name`.
    #[error("no scalar and no array is called `{name}`; {}", there_are("scalars and arrays", .variables))]
    NoSuchVariable {
        /// What was asked for.
        name: String,
        /// The scalars and arrays there are.
        variables: Vec<String>,
    },
    /// The body of a loop has no such statement.
    #[error(
        "the body of `{path}` has no statement `{statement}`: it has {count}, the first of which is `S1`{}", labelled(.labels)
    )]
    NoSuchStatement {
        /// The loop.
        path: LoopPath,
        /// What was asked for.
        statement: StatementName,
        /// How many there are.
        count: usize,
        /// The labels of those that have one.
        labels: Vec<String>,
    },
    /// There is no `affine.for` directly inside of the loop, or it is in lanes, or there are other
    /// loops, too. Or its bounds depend on the loop, and more than one alternative of one does, or
    /// by a division, or it has a step, or there are statements around it.
    #[error("{}", words::nothing_to_jam(.path))]
    NothingToJam {
        /// The loop.
        path: LoopPath,
    },
    /// Neither a condition nor the least of a bound's alternatives changes in the loop.
    #[error("{}", words::nothing_to_separate(.path))]
    NothingToSeparate {
        /// The loop.
        path: LoopPath,
    },
    /// The loop is the last thing in the body around it.
    #[error("{}", words::nothing_behind(.path))]
    NothingBehind {
        /// The loop.
        path: LoopPath,
    },
    /// A loop may end before its beginning, and what is added at its end would then not be done.
    #[error("{}", words::may_end_early(.path))]
    MayEndEarly {
        /// The loop.
        path: LoopPath,
    },
    /// Nothing in a loop uses an array as the step needs it.
    #[error(
        "no loop uses `{array}` in such a way: at one element that stays the same, or at constant places where it is made anew, to keep it in scalars; reading, to pack it"
    )]
    NothingToReplace {
        /// The array.
        array: String,
    },
    /// A statement that is not the same in all iterations, or must not come first.
    #[error(
        "`{statement}` cannot be done before `{path}`: `{name}` is another in other iterations, or is used before the statement"
    )]
    NotInvariant {
        /// The loop.
        path: LoopPath,
        /// What the schedule calls the statement.
        statement: StatementName,
        /// What is not the same.
        name: String,
    },
    /// Iterations may read what others left.
    #[error(
        "an iteration of `{path}` {} left in `{name}`, so it cannot have its own{}", reads_older(.witness), example(.witness)
    )]
    ReadsOlder {
        /// The loop.
        path: LoopPath,
        /// The scalar or the array.
        name: String,
        /// The write of the iteration that comes first, where there is a witness.
        written: Option<Span>,
        /// The read.
        span: Span,
        /// An iteration that leaves something and one that reads it.
        witness: Option<Box<Witness>>,
    },
    /// What the last iteration leaves is read.
    #[error("what the last iteration of `{path}` leaves in `{name}` {} behind the loop{}", is_read(.witness), example(.witness))]
    ReadBehind {
        /// The loop.
        path: LoopPath,
        /// The scalar or the array.
        name: String,
        /// The write of the last iteration, where there is a witness.
        written: Option<Span>,
        /// The read.
        span: Span,
        /// The last iteration, and that of the loops around in which what it leaves is read.
        witness: Option<Box<Witness>>,
    },
    /// The caller may get what the last iteration leaves, which perhaps does not write all of it.
    #[error(
        "`{name}` is a parameter: the caller {} what the last iteration of `{path}` leaves in it{}", sees(.witness), example(.witness)
    )]
    SeenByCaller {
        /// The loop.
        path: LoopPath,
        /// The array.
        name: String,
        /// A write, where there is a witness.
        written: Option<Span>,
        /// That write; its two ends are the same.
        witness: Option<Box<Witness>>,
    },
    /// The turns of a loop would be an extent, and depend on loops around it.
    #[error(
        "an array for the iterations of `{path}` needs an extent that numbers and parameters alone decide"
    )]
    MovingExtent {
        /// The loop.
        path: LoopPath,
    },
    /// An array that would be copied is written.
    #[error("`{array}` is written in the loop, and a copy would not know it")]
    PacksWritten {
        /// The array.
        array: String,
        /// The write.
        span: Span,
    },
    /// An access that may leave its array, where a copy would have no failure.
    #[error(
        "a read of `{array}` in `{path}` is not known to be in range, and a copy would not fail where it is not"
    )]
    MayLeave {
        /// The array.
        array: String,
        /// The loop.
        path: LoopPath,
        /// The read.
        span: Span,
    },
    /// What an iteration uses of an array lies in no box of a known size.
    #[error(
        "what an iteration of `{path}` reads of `{array}` lies in no box whose size numbers and parameters alone decide, and that is never negative"
    )]
    NoBox {
        /// The loop.
        path: LoopPath,
        /// The array.
        array: String,
    },
    /// The sizes do not multiply to the extent of an array of one dimension.
    #[error(
        "`{array}` has several dimensions, or its extent is not known to be the product of these sizes, none of them negative"
    )]
    OtherShape {
        /// The array.
        array: String,
    },
    /// A subscript is computed, or leaves its row.
    #[error(
        "a subscript of `{array}` is computed, or cannot be taken apart into subscripts that stay within these sizes"
    )]
    NotFlat {
        /// The array.
        array: String,
    },
    /// What a flag is to be kept for is read in the loop, or set to one thing or another.
    #[error("iterations of `{path}` read `{variable}`, or do not all set it to the same")]
    NotSetAlike {
        /// The scalar or the array.
        variable: String,
        /// The loop.
        path: LoopPath,
    },
    /// A size of the schedule that divides by zero.
    #[error("`{size}` divides by zero")]
    DividesByZero {
        /// The size.
        size: String,
    },
    /// A bound or a subscript of the result would leave 64 bits.
    #[error("a bound or a subscript of the result would leave 64 bits")]
    Overflow,
    /// What came out is no kernel: it would be nested too deep, or the step is defective.
    #[error("the result would not be a kernel: {violation}")]
    BreaksInvariant {
        /// The first of them.
        violation: Box<Violation>,
    },
}
