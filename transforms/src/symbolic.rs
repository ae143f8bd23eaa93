//! Tiles that are counted: those whose sizes are known when the kernel is called, and those of
//! loops with several lower bounds.

use crate::assume::assume;
use crate::order::{Reordering, Tick};
use crate::tiling::{TileNames, trip_count};
use crate::tree::Replacing;
use crate::{LoopPath, Reason};
use strew_affine::{
    AffineExpr, AffineFor, Block, Bound, Condition, IterId, Kernel, Node, Overflow,
};

/// The loops of `band`, called `paths`, in tiles of `sizes` iterations, over parameters: loops that
/// count tiles around loops over points. A call in which a size is not positive ends before
/// anything happens.
///
/// Where bounds depend on loops of the band, tiles are those of the box around all points: some of
/// them have none.
pub(crate) fn tiled(
    kernel: &Kernel,
    band: &[&AffineFor],
    paths: &[&LoopPath],
    sizes: &[AffineExpr],
) -> Result<Replacing, Reason> {
    check_permutable(kernel, band)?;
    let mut prepared = kernel.clone();
    let mut boxes: Vec<Range<'_>> = Vec::new();
    let (mut tiles, mut points) = (Vec::new(), Vec::new());
    for ((target, path), size) in band.iter().zip(paths).zip(sizes) {
        let range = Range::of(target, path, &boxes)?;
        assume(&mut prepared, [Condition::at_most(1, size.clone())])?;
        let names = TileNames::make(&mut prepared, target);
        tiles.push(range.tiles(names.tile, size)?);
        points.push(range.points(names, size)?);
        boxes.push(range);
    }
    let (Some(outermost), Some(innermost)) = (band.first(), band.last()) else {
        return Err(Overflow.into());
    };
    let loops = tiles.into_iter().chain(points).rev();
    let body = loops.fold(innermost.body.clone(), |body, it| {
        [Node::AffineFor(AffineFor { body, ..it })].into()
    });
    Ok(Replacing {
        kernel: prepared,
        target: outermost.iter,
        replacement: body.into(),
    })
}

/// A loop of the band, with bounds of its iterator in which no loop of the band is.
struct Range<'k> {
    target: &'k AffineFor,
    lower: AffineExpr,
    upper: Bound,
}

impl<'k> Range<'k> {
    /// That of `target`, called `path`, inside of loops over `outer`.
    fn of(target: &'k AffineFor, path: &LoopPath, outer: &[Range<'_>]) -> Result<Self, Reason> {
        let not_linear = || Reason::NotLinear { path: path.clone() };
        // A single one is the first value of the iterator, which steps count from.
        let first = target.lower.0.first().ok_or(Overflow)?;
        if target.step != 1 && target.lower.0.len() > 1 {
            return Err(Reason::SeveralBounds { path: path.clone() });
        }
        let lower = extreme(first, outer, End::Least)?.ok_or_else(not_linear)?;
        if target.step != 1 && lower != *first {
            return Err(Reason::SteppedBand { path: path.clone() });
        }
        let mut upper = Vec::new();
        for alternative in &target.upper.0 {
            upper.push(extreme(alternative, outer, End::Greatest)?.ok_or_else(not_linear)?);
        }
        Ok(Self {
            target,
            lower,
            upper: Bound(upper),
        })
    }

    /// The loop that counts tiles of `size` iterations.
    fn tiles(&self, iter: IterId, size: &AffineExpr) -> Result<AffineFor, Overflow> {
        let count =
            |upper: &AffineExpr| trip_count(&self.lower, upper, self.target.step)?.ceildiv(size);
        let counts: Result<_, _> = self.upper.0.iter().map(count).collect();
        Ok(AffineFor {
            iter,
            lower: AffineExpr::from(0).into(),
            upper: Bound(counts?),
            step: 1,
            lanes: 1,
            body: Block::default(),
        })
    }

    /// The loop over the points of a tile.
    fn points(&self, names: TileNames, size: &AffineExpr) -> Result<AffineFor, Overflow> {
        let target = self.target;
        let length = size.scaled(target.step)?;
        let begin = AffineExpr::from(names.tile).times(&length)?;
        let begin = self.lower.plus(&begin)?;
        let end = begin.plus(&length)?;
        // No tile begins before the first value.
        let lower = target.lower.0.iter().filter(|it| **it != self.lower);
        let lower = lower.cloned().chain([begin]).collect();
        let upper = target.upper.0.iter().cloned().chain([end]).collect();
        Ok(AffineFor {
            iter: names.point,
            lower: Bound(lower),
            upper: Bound(upper),
            step: target.step,
            lanes: 1,
            body: Block::default(),
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Least,
    Greatest,
}

/// What `expr` is never below, or never above, whatever the iterators of `outer` are; `None` if it
/// is not linear in them.
fn extreme(
    expr: &AffineExpr,
    outer: &[Range<'_>],
    end: End,
) -> Result<Option<AffineExpr>, Overflow> {
    let mut expr = expr.clone();
    for range in outer {
        let Some((coefficient, rest)) = expr.split_off(range.target.iter) else {
            return Ok(None);
        };
        let value = match (
            (coefficient >= 0) == (end == End::Least),
            range.upper.0.first(),
        ) {
            (true, _) => range.lower.clone(),
            (false, Some(upper)) => upper.offset(-1)?,
            (false, None) => return Ok(None),
        };
        expr = value.scaled(coefficient)?.plus(&rest)?;
    }
    Ok(Some(expr))
}

/// That no access comes before one that it has to come after, whatever the sizes are.
///
/// That is so when no dependence goes backwards in any of the loops: the numbers of tiles rise with
/// their points. A dependence goes forwards in all of them exactly if each of them could be the
/// outermost.
fn check_permutable(kernel: &Kernel, band: &[&AffineFor]) -> Result<(), Reason> {
    if band.len() < 2 {
        return Ok(());
    }
    let reordering = Reordering::of(kernel, band);
    band.iter().try_for_each(|first| {
        let others = band.iter().filter(|it| it.iter != first.iter);
        let order = [first].into_iter().chain(others);
        let ticks: Vec<Tick> = order.map(|it| Tick::Value(it.iter.into())).collect();
        reordering.check(|_| ticks.clone())
    })
}
