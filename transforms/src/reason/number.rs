//! Numbers: what a step takes only within limits, and what leaves 64 bits.

use super::Reason;
use std::ops::RangeInclusive;
use strew_affine::Overflow;

/// `given` as the type that a step counts in, if it is one of `accepted`; `what` it is goes into
/// the reason.
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

impl From<Overflow> for Reason {
    fn from(_: Overflow) -> Self {
        Self::Overflow
    }
}
