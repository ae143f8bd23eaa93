//! The tiling mechanism: cutting the iterations of one loop into consecutive parts.

use crate::{LoopPath, Reason};
use strew_affine::{AffineExpr, AffineFor, Bound, Overflow};

/// The bounds of one part of a loop, for a loop of the same iterator and step.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) lower: Bound,
    pub(crate) upper: Bound,
}

/// The number of iterations of a loop from `lower` to `upper` in steps of `step`, where that is positive; else a number that
/// is not.
pub(crate) fn trip_count(
    lower: &AffineExpr,
    upper: &AffineExpr,
    step: i64,
) -> Result<AffineExpr, Overflow> {
    upper.minus(lower)?.ceildiv(&step.into())
}

/// Part number `part` when `target` is cut into `parts` parts whose lengths differ by one at most.
///
/// With `t` the trip count, part `p` holds the iterations `lower + step * k` for `k` from `p * t floordiv parts` to
/// `(p + 1) * t floordiv parts`. The parts follow each other without a gap, from 0 to `t`; where `t` is negative each has its
/// end at or before its beginning, as the empty loop had. Alternatives of the bounds beyond the first are kept as they are:
/// they cut every part as they cut the loop, which needs unit steps for a lower bound, since it decides where steps begin.
pub(crate) fn nth_part(
    target: &AffineFor,
    path: &LoopPath,
    part: &AffineExpr,
    parts: i64,
) -> Result<Part, Reason> {
    let several = || Reason::SeveralBounds { path: path.clone() };
    let (lower, lower_rest) = target.lower.0.split_first().ok_or_else(several)?;
    let (upper, upper_rest) = target.upper.0.split_first().ok_or_else(several)?;
    if !lower_rest.is_empty() && target.step != 1 {
        return Err(several());
    }
    let trips = trip_count(lower, upper, target.step)?;
    let begin_of = |part: &AffineExpr| -> Result<AffineExpr, Overflow> {
        lower.plus(&position(part, &trips, parts)?.scaled(target.step)?)
    };
    let bound = |first: AffineExpr, rest: &[AffineExpr]| Bound([&[first], rest].concat());
    Ok(Part {
        lower: bound(begin_of(part)?, lower_rest),
        upper: bound(begin_of(&part.offset(1)?)?, upper_rest),
    })
}

/// `part * trips floordiv parts`, without the division where it has no remainder.
fn position(part: &AffineExpr, trips: &AffineExpr, parts: i64) -> Result<AffineExpr, Overflow> {
    match trips.as_constant() {
        Some(trips) if parts > 0 && trips % parts == 0 => part.scaled(trips / parts),
        _ => part.times(trips)?.floordiv(&parts.into()),
    }
}
