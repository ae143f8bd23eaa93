//! The loops of a perfect nest in another order, of which one runs at once, by itself or in groups.

use super::attempt::Attempt;
use super::{lanes, outer_lanes};
use crate::{Parallelize, Permute, Size, StripMine, Tile, TileIndirection};
use strew_affine::visit::Loop;
use strew_affine::{AffineFor, IterId, Kernel};

/// So many iterations of an innermost loop are one of the loop that runs at once: what the latter
/// costs is then little beside them.
const POINTS: i64 = 512;

/// The same where they run in lanes.
const POINTS_IN_LANES: i64 = 4096;

/// The same where other loops run inside of a group: what these use again stays in the cache.
const POINTS_AROUND_LOOPS: i64 = 128;

/// The loops of the band in `order`.
pub(super) fn permuted(attempt: &mut Attempt, band: &[&AffineFor], order: &[usize]) -> Option<()> {
    if order.is_sorted() {
        return Some(());
    }
    let paths = order.iter().filter_map(|it| band.get(*it));
    let paths: Vec<_> = paths.map(|it| attempt.path(it.iter)).collect();
    attempt.step(Permute::new(paths))
}

/// The loops of the band in `order`, of which the first one only updates what its iterations share:
/// in private copies.
pub(super) fn summed(attempt: &mut Attempt, band: &[&AffineFor], order: &[usize]) -> Option<()> {
    permuted(attempt, band, order)?;
    let first = band.get(*order.first()?)?;
    attempt.step(TileIndirection::new(attempt.path(first.iter)))
}

/// The loops of the band in `order`, of which the first one runs at once.
pub(super) fn outermost(attempt: &mut Attempt, band: &[&AffineFor], order: &[usize]) -> Option<()> {
    permuted(attempt, band, order)?;
    let first = band.get(*order.first()?)?;
    match outer_lanes::pay(attempt, first.iter) {
        true => outer_lanes::at_once(attempt, first),
        false => attempt.step(Parallelize::new(attempt.path(first.iter))),
    }
}

/// The same, in tiles of these `sizes`, of which those of the first loop are in groups, if there is
/// a size for these.
pub(super) fn in_tiles(
    attempt: &mut Attempt,
    band: &[&AffineFor],
    order: &[usize],
    (sizes, group): (&[i64], Option<&Size>),
) -> Option<()> {
    permuted(attempt, band, order)?;
    let paths = order.iter().filter_map(|it| band.get(*it));
    let paths: Vec<_> = paths.map(|it| attempt.path(it.iter)).collect();
    attempt.step(Tile::new(paths.into_iter().zip(sizes.iter().copied())))?;
    let tiles = attempt.made();
    let outermost = match group {
        Some(size) => grouped(attempt, &tiles, size)?,
        None => *tiles.first()?,
    };
    attempt.step(Parallelize::new(attempt.path(outermost)))
}

/// Groups of `size` iterations of the first of the loops over `tiles`, around the others, and these
/// around the iterations of a group: the iterator of the groups.
fn grouped(attempt: &mut Attempt, tiles: &[IterId], size: &Size) -> Option<IterId> {
    let (first, others) = tiles.split_first()?;
    attempt.step(StripMine::new(attempt.path(*first), size.clone()))?;
    let groups = *attempt.made().first()?;
    let order = others.iter().chain([first]);
    let order: Vec<_> = order.map(|it| attempt.path(*it)).collect();
    attempt.step(Permute::new(order))?;
    Some(groups)
}

/// The same, where only the innermost of these loops can run at once: its iterations in groups,
/// around all of the others.
pub(super) fn in_columns(
    attempt: &mut Attempt,
    band: &[&AffineFor],
    order: &[usize],
) -> Option<()> {
    permuted(attempt, band, order)?;
    let innermost = band.get(*order.last()?)?;
    let points = points_of(attempt.kernel(), band);
    attempt.step(StripMine::new(attempt.path(innermost.iter), points))?;
    let groups = *attempt.made().first()?;
    let others = order.iter().rev().skip(1).rev();
    let others = others.filter_map(|it| band.get(*it)).map(|it| it.iter);
    let nested: Vec<_> = [groups].into_iter().chain(others).collect();
    if nested.len() > 1 {
        attempt.step(Permute::new(nested.iter().map(|it| attempt.path(*it))))?;
    }
    attempt.step(Parallelize::new(attempt.path(groups)))
}

/// So many iterations of the innermost loop of `band` make a group.
pub(super) fn points_of(kernel: &Kernel, band: &[&AffineFor]) -> i64 {
    match band {
        [only] if lanes::count(kernel, Loop::Affine(only)).is_some() => POINTS_IN_LANES,
        [] | [_] => POINTS,
        _ => POINTS_AROUND_LOOPS,
    }
}
