//! The tiling mechanism: cutting the iterations of one loop into consecutive parts.

use crate::cut::{greatest, least};
use crate::reason::checked_number;
use crate::tree::new_iter;
use crate::{LoopPath, Reason, Size};
use strew_affine::{AffineExpr, AffineFor, Block, Bound, IterId, Kernel, Overflow};

/// The bounds of one part of a loop, for a loop of the same iterator and step.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) lower: Bound,
    pub(crate) upper: Bound,
}

/// The number of iterations of a loop from `lower` to `upper` in steps of `step`, where that is
/// positive; else a number that is not.
pub(crate) fn trip_count(
    lower: &AffineExpr,
    upper: &AffineExpr,
    step: i64,
) -> Result<AffineExpr, Overflow> {
    upper.minus(lower)?.ceildiv(&step.into())
}

/// Part number `part` when `target` is cut into `parts` parts whose lengths differ by one at most.
///
/// With `t` the trip count, part `p` holds the iterations `lower + step * k` for `k` from
/// `p * t floordiv parts` to `(p + 1) * t floordiv parts`. The parts follow each other without a
/// gap, from 0 to `t`; where `t` is negative each has its end at or before its beginning, as the
/// empty loop had. Alternatives of the bounds beyond the first are kept as they are: they cut every
/// part as they cut the loop, which needs unit steps for a lower bound, since it decides where
/// steps begin.
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

/// The iterators of the two loops that a tiled one becomes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TileNames {
    pub(crate) tile: IterId,
    /// That of the loop before, by another name: the body stays as it is.
    pub(crate) point: IterId,
}

impl TileNames {
    /// `i_t` and `i_p` for `target`, made in `kernel`.
    pub(crate) fn make(kernel: &mut Kernel, target: &AffineFor) -> Self {
        let tile = new_iter(kernel, target.iter, "t");
        let point = format!("{}_p", kernel.iters[target.iter].name);
        kernel.iters[target.iter].name = kernel.fresh_name(&point);
        Self {
            tile,
            point: target.iter,
        }
    }
}

/// How many iterations each tile has, where that is a number for all of them; else over the
/// parameters.
pub(crate) enum Sizes {
    Numbers(Vec<i64>),
    Symbolic(Vec<AffineExpr>),
}

impl Sizes {
    pub(crate) fn of<'s>(
        kernel: &Kernel,
        sizes: impl IntoIterator<Item = &'s Size>,
    ) -> Result<Self, Reason> {
        let sizes = sizes.into_iter().map(|it| checked_size(kernel, it));
        let sizes: Vec<AffineExpr> = sizes.collect::<Result<_, _>>()?;
        let numbers: Option<Vec<i64>> = sizes.iter().map(AffineExpr::as_constant).collect();
        Ok(match numbers {
            Some(numbers) => Self::Numbers(numbers),
            None => Self::Symbolic(sizes),
        })
    }
}

fn checked_size(kernel: &Kernel, size: &Size) -> Result<AffineExpr, Reason> {
    let resolved = size.resolve(kernel)?;
    if let Some(number) = resolved.as_constant() {
        checked_tile(u64::try_from(number).unwrap_or(0))?;
    }
    Ok(resolved)
}

/// How many iterations a tile has, at least one.
pub(crate) fn checked_tile(given: u64) -> Result<i64, Reason> {
    checked_number("the size of a tile", given, 1..=i64::MAX.unsigned_abs())
}

/// The loop over tiles of `size` iterations of `target`, without a body; the tiles are those
/// between `bounds`.
pub(crate) fn tiles(
    target: &AffineFor,
    names: &TileNames,
    size: i64,
    (lower, upper): (Bound, Bound),
) -> Result<AffineFor, Overflow> {
    Ok(AffineFor {
        iter: names.tile,
        lower,
        upper,
        step: target.step.checked_mul(size).ok_or(Overflow)?,
        lanes: 1,
        body: Block::default(),
    })
}

/// The loop over the points of a tile of `size` iterations of `target`, without a body. Where tiles
/// do not begin with iterations, `lower` says where these do.
pub(crate) fn points(
    target: &AffineFor,
    names: &TileNames,
    size: i64,
    lower: Option<&Bound>,
) -> Result<AffineFor, Overflow> {
    let length = target.step.checked_mul(size).ok_or(Overflow)?;
    let begin = AffineExpr::from(names.tile);
    let end = begin.offset(length)?;
    let upper = match is_multiple(target, size)? && lower.is_none() {
        true => end.into(),
        false => least(&target.upper, &end)?,
    };
    let lower = match lower {
        Some(lower) => greatest(lower, &begin)?,
        None => begin.into(),
    };
    Ok(AffineFor {
        iter: names.point,
        lower,
        upper,
        step: target.step,
        lanes: target.lanes,
        body: Block::default(),
    })
}

/// Whether `target` is known to run a multiple of `size` iterations.
fn is_multiple(target: &AffineFor, size: i64) -> Result<bool, Overflow> {
    let (Some(lower), Some(upper)) = (target.lower.as_single(), target.upper.as_single()) else {
        return Ok(false);
    };
    let trips = trip_count(lower, upper, target.step)?.as_constant();
    Ok(trips.is_some_and(|trips| trips % size == 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::find_affine_for;
    use crate::test_support::kernel;
    use strew_affine::Variable;

    /// All parts one after the other, counted at `n`.
    fn iterations(bounds: &str, parts: i64, n: i64) -> Vec<i64> {
        let kernel = kernel(&format!(
            "kernel @k(n: i64) {{ affine.for i in {bounds} {{ }} }}"
        ));
        let path = LoopPath::from("i");
        let target = find_affine_for(&kernel, &path).expect("a loop").it;
        let at = |bound: &Bound| -> Vec<i64> {
            let values = bound.0.iter().map(|expr| expr.evaluate(&|_: Variable| n));
            values.map(|value| value.expect("a value")).collect()
        };
        let mut found = Vec::new();
        for number in 0..parts {
            let part = nth_part(target, &path, &number.into(), parts).expect("a part");
            let lower = at(&part.lower).into_iter().max().expect("a bound");
            let upper = at(&part.upper).into_iter().min().expect("a bound");
            let step = usize::try_from(target.step).expect("a step");
            found.extend((lower..upper).step_by(step));
        }
        found
    }

    #[test]
    fn parts_follow_each_other_without_gap_or_overlap() {
        for parts in 1..6 {
            for n in -5..14 {
                let expected =
                    |lower: i64, upper: i64, step| (lower..upper).step_by(step).collect::<Vec<_>>();
                assert_eq!(iterations("0..n", parts, n), expected(0, n, 1));
                assert_eq!(iterations("3..n", parts, n), expected(3, n, 1));
                assert_eq!(iterations("n..7 step 3", parts, n), expected(n, 7, 3));
                assert_eq!(
                    iterations("max(2, n)..9", parts, n),
                    expected(n.max(2), 9, 1)
                );
                assert_eq!(
                    iterations("1..min(n, 9) step 2", parts, n),
                    expected(1, n.min(9), 2)
                );
            }
        }
    }
}
