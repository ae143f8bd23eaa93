//! Cutting a loop in two.

use crate::copy::loop_anew;
use crate::{LoopPath, Reason};
use strew_affine::{AffineExpr, AffineFor, Bound, Kernel, Overflow};

/// The iterations of `target` below `border` and those from it on, each as a loop; the name of one
/// of them gets `_suffix` behind it, and what that one declares is made anew.
///
/// `border` must be a value that the iterator takes or would take if the loop went on in either
/// direction, unless its step is 1.
///
/// # Errors
/// [`Reason::SeveralBounds`] where steps would begin anew at a border that not all of several lower
/// bounds lead to.
pub(crate) fn cut(
    kernel: &mut Kernel,
    target: &AffineFor,
    path: &LoopPath,
    border: &AffineExpr,
    (copied, suffix): (Half, &str),
) -> Result<[AffineFor; 2], Reason> {
    if target.step != 1 && target.lower.as_single().is_none() {
        return Err(Reason::SeveralBounds { path: path.clone() });
    }
    let mut below = target.clone();
    below.upper = least(&target.upper, border)?;
    let mut above = target.clone();
    above.lower = greatest(&target.lower, border)?;
    let copy = match copied {
        Half::Below => &mut below,
        Half::Above => &mut above,
    };
    *copy = loop_anew(kernel, copy, suffix)?;
    Ok([below, above])
}

/// One of the two loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    Below,
    Above,
}

/// The lower bound that `bound` and `border` are together, without alternatives that others are
/// never below.
pub(crate) fn greatest(bound: &Bound, border: &AffineExpr) -> Result<Bound, Overflow> {
    joined(bound, border, |difference| difference <= 0)
}

/// The upper bound that `bound` and `border` are together, without alternatives that others are
/// never above.
pub(crate) fn least(bound: &Bound, border: &AffineExpr) -> Result<Bound, Overflow> {
    joined(bound, border, |difference| difference >= 0)
}

/// `is_idle` says of what an alternative is more than another whether it may go.
fn joined(
    bound: &Bound,
    border: &AffineExpr,
    is_idle: impl Fn(i64) -> bool,
) -> Result<Bound, Overflow> {
    let goes = |one: &AffineExpr, other: &AffineExpr| -> Result<bool, Overflow> {
        Ok(one.minus(other)?.as_constant().is_some_and(&is_idle))
    };
    let mut kept = Vec::new();
    for alternative in &bound.0 {
        if goes(border, alternative)? {
            return Ok(bound.clone());
        }
        if !goes(alternative, border)? {
            kept.push(alternative.clone());
        }
    }
    kept.push(border.clone());
    Ok(Bound(kept))
}
