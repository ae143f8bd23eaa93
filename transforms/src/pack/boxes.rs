//! What part of an array subscripts reach in one iteration of a loop.

use super::Reads;
use crate::Reason;
use strew_affine::dependence::Analyzed;
use strew_affine::visit::{AccessSite, Loop};
use strew_affine::{AffineExpr, AffineFor, IterId, Kernel, Overflow, Subscript};

/// What subscripts of each dimension lie in, if there is a box whose size parameters alone decide.
pub(super) fn boxes(kernel: &Kernel, reads: &Reads<'_>) -> Result<Option<Vec<Range>>, Reason> {
    let dimensions = 0..kernel.arrays[reads.array].extents.len();
    let boxes = dimensions.map(|it| Range::of(reads.target, &reads.sites, it));
    let boxes: Option<Vec<Range>> = boxes.collect::<Result<_, _>>()?;
    let analyzed = Analyzed::of_parameters(kernel);
    // A length below zero, of a loop that never runs, would be refused before the kernel starts.
    let is_extent = |it: &Range| analyzed.is_never_negative(&it.length);
    Ok(boxes.filter(|it| it.iter().all(is_extent)))
}

/// What subscripts of a dimension lie in during one iteration of the loop.
pub(super) struct Range {
    pub(super) least: AffineExpr,
    /// How many values there are, at most; over parameters.
    pub(super) length: AffineExpr,
}

impl Range {
    /// One that all subscripts lie in, if there is one whose length only parameters decide.
    fn of(
        target: &AffineFor,
        sites: &[AccessSite<'_>],
        dimension: usize,
    ) -> Result<Option<Self>, Overflow> {
        let mut all: Option<(AffineExpr, AffineExpr)> = None;
        for site in sites {
            let Some(Subscript::Affine(subscript)) = site.access.subscripts.get(dimension) else {
                return Ok(None);
            };
            let Some(own) = ends(target, site, subscript)? else {
                return Ok(None);
            };
            all = match all {
                None => Some(own),
                Some(all) => match both(&all, &own)? {
                    Some(both) => Some(both),
                    None => return Ok(None),
                },
            };
        }
        let Some((least, greatest)) = all else {
            return Ok(None);
        };
        let length = greatest.minus(&least)?.offset(1)?;
        Ok(length
            .is_over_parameters()
            .then_some(Self { least, length }))
    }
}

/// A range around two ranges that differ by constants.
fn both(
    one: &(AffineExpr, AffineExpr),
    other: &(AffineExpr, AffineExpr),
) -> Result<Option<(AffineExpr, AffineExpr)>, Overflow> {
    let least = one.0.minus(&other.0)?.as_constant();
    let greatest = one.1.minus(&other.1)?.as_constant();
    Ok(least.zip(greatest).map(|(least, greatest)| {
        let pick = |is_one: bool| if is_one { one } else { other };
        (pick(least <= 0).0.clone(), pick(greatest >= 0).1.clone())
    }))
}

/// The least and the greatest that `subscript` is in one iteration of `target`, with that iterator
/// and those around: the loops inside are replaced by their bounds, the innermost first. Of several
/// alternatives the ones are taken that give a range of a known length.
fn ends(
    target: &AffineFor,
    site: &AccessSite<'_>,
    subscript: &AffineExpr,
) -> Result<Option<(AffineExpr, AffineExpr)>, Overflow> {
    let is_around = |it: &&Loop<'_>| it.iter() != target.iter;
    let inner = site.loops.iter().rev().take_while(is_around);
    let mut found = vec![(subscript.clone(), subscript.clone())];
    for it in inner {
        let iter = it.iter();
        let Loop::Affine(it) = it else {
            return Ok(None);
        };
        let mut next = Vec::new();
        for (least, greatest) in &found {
            for lower in &it.lower.0 {
                for upper in &it.upper.0 {
                    let last = upper.offset(-1)?;
                    let least = at_end(least, iter, lower, &last)?;
                    let greatest = at_end(greatest, iter, &last, lower)?;
                    next.extend(least.zip(greatest));
                }
            }
        }
        next.truncate(MOST_ALTERNATIVES);
        found = next;
    }
    let length = |(least, greatest): &(AffineExpr, AffineExpr)| {
        greatest
            .minus(least)
            .is_ok_and(|it| it.is_over_parameters())
    };
    // A length that is a number is that of a tile, and better than a size.
    let constant = |(least, greatest): &(AffineExpr, AffineExpr)| {
        greatest
            .minus(least)
            .is_ok_and(|it| it.as_constant().is_some())
    };
    let best = found.iter().find(|it| constant(it));
    Ok(best.or_else(|| found.iter().find(|it| length(it))).cloned())
}

/// More choices of alternatives are not tried.
const MOST_ALTERNATIVES: usize = 64;

/// `expr` with `iter` at `rising` where it grows with that, else at `falling`; `None` where it is
/// no linear function of it.
fn at_end(
    expr: &AffineExpr,
    iter: IterId,
    rising: &AffineExpr,
    falling: &AffineExpr,
) -> Result<Option<AffineExpr>, Overflow> {
    let Some((coefficient, rest)) = expr.split_off(iter) else {
        return Ok(None);
    };
    let end = if coefficient >= 0 { rising } else { falling };
    Ok(Some(rest.plus(&end.scaled(coefficient)?)?))
}
