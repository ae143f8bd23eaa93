//! The verdicts, and which a reason is.

use super::Reason;
use std::fmt;
use strew_affine::dependence::Witness;

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

impl Reason {
    /// What kind of refusal this is.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::NoSuchLoop { .. }
            | Self::NotAffine { .. }
            | Self::IsForall { .. }
            | Self::NestedForall { .. }
            | Self::NoSuchArray { .. }
            | Self::NoSuchVariable { .. }
            | Self::NoSuchStatement { .. }
            | Self::NothingToJam { .. }
            | Self::OtherShape { .. }
            | Self::NothingToSeparate { .. }
            | Self::NothingBehind { .. }
            | Self::NothingToReplace { .. }
            | Self::DividesByZero { .. }
            | Self::NoSuchParameter { .. }
            | Self::NoSuchCombiner { .. }
            | Self::NoSuchStrategy { .. }
            | Self::OtherReduction { .. }
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
            | Self::NoTickets { .. }
            | Self::NothingNarrower { .. }
            | Self::NothingToPrecompute { .. }
            | Self::NotWritten { .. }
            | Self::PrivateAnyway { .. }
            | Self::AllocatedInside { .. }
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
            | Self::NotInvariant { .. }
            | Self::MayEndEarly { .. }
            | Self::MovingExtent { .. }
            | Self::PacksWritten { .. }
            | Self::NoBox { .. }
            | Self::NotFlat { .. }
            | Self::NotSetAlike { .. }
            | Self::MayLeave { .. }
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
            | Self::CarriedScalar { .. }
            | Self::ReadsOlder { .. }
            | Self::ReadBehind { .. }
            | Self::SeenByCaller { .. } => match self.witness() {
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
            | Self::CarriedScalar { witness, .. }
            | Self::ReadsOlder { witness, .. }
            | Self::ReadBehind { witness, .. }
            | Self::SeenByCaller { witness, .. } => witness.as_deref(),
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
            Self::NoSuchStrategy { .. } => "NoSuchStrategy",
            Self::OtherReduction { .. } => "OtherReduction",
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
            Self::NoTickets { .. } => "NoTickets",
            Self::NothingNarrower { .. } => "NothingNarrower",
            Self::NothingToPrecompute { .. } => "NothingToPrecompute",
            Self::NotWritten { .. } => "NotWritten",
            Self::PrivateAnyway { .. } => "PrivateAnyway",
            Self::AllocatedInside { .. } => "AllocatedInside",
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
            Self::NoSuchVariable { .. } => "NoSuchVariable",
            Self::NoSuchStatement { .. } => "NoSuchStatement",
            Self::NothingToJam { .. } => "NothingToJam",
            Self::NothingToSeparate { .. } => "NothingToSeparate",
            Self::NothingBehind { .. } => "NothingBehind",
            Self::MayEndEarly { .. } => "MayEndEarly",
            Self::NothingToReplace { .. } => "NothingToReplace",
            Self::NotInvariant { .. } => "NotInvariant",
            Self::ReadsOlder { .. } => "ReadsOlder",
            Self::ReadBehind { .. } => "ReadBehind",
            Self::SeenByCaller { .. } => "SeenByCaller",
            Self::MovingExtent { .. } => "MovingExtent",
            Self::PacksWritten { .. } => "PacksWritten",
            Self::NoBox { .. } => "NoBox",
            Self::OtherShape { .. } => "OtherShape",
            Self::NotFlat { .. } => "NotFlat",
            Self::NotSetAlike { .. } => "NotSetAlike",
            Self::MayLeave { .. } => "MayLeave",
            Self::DividesByZero { .. } => "DividesByZero",
            Self::Overflow => "Overflow",
            Self::BreaksInvariant { .. } => "BreaksInvariant",
        }
    }
}
