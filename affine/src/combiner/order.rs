use super::{Combiner, Extremum};

/// In which order updates may be combined that all have the bits of the loop's, rounding aside.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// In any.
    Any,
    /// In any where the outcome is no zero, or all zeros among the updates have one sign: which of
    /// equals is left does not show then.
    AnyButOfZeros,
    /// The same, where no update is a NaN, neither is what was held before, and they are combined
    /// by this combiner, which has an identity.
    AnyButOfZerosAndNan(Combiner),
    /// In any, if the turns are told that they come from: all parts of what is left are those of
    /// one turn, the first or the last whose first part is the extremum.
    AnyOfTurns(Extremum),
    /// In that of the loop alone.
    OfLoop,
}

impl Order {
    /// In any, if `may` says so.
    pub(super) fn any_if(may: bool) -> Self {
        match may {
            true => Self::Any,
            false => Self::OfLoop,
        }
    }
}
