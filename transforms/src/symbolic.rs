//! Tiles whose sizes are known when the kernel is called.

use crate::address::single_bounds;
use crate::order::{Reordering, Tick};
use crate::tiling::{TileNames, trip_count};
use crate::tree::Replacing;
use crate::{LoopPath, Reason};
use strew_affine::dependence::Analyzed;
use strew_affine::{
    AffineExpr, AffineFor, Bound, Condition, Kernel, Node, Overflow, Relation, Variable,
};

/// The loops of `band`, called `paths`, in tiles of `sizes` iterations, over parameters: loops that count tiles around loops over points. A
/// call in which a size is not positive ends before anything happens.
pub(crate) fn tiled(
    kernel: &Kernel,
    band: &[&AffineFor],
    paths: &[&LoopPath],
    sizes: &[AffineExpr],
) -> Result<Replacing, Reason> {
    check_rectangular(band, paths)?;
    check_permutable(kernel, band)?;
    let mut prepared = kernel.clone();
    let analyzed = Analyzed::new(kernel);
    let (mut tiles, mut points) = (Vec::new(), Vec::new());
    for ((target, path), size) in band.iter().zip(paths).zip(sizes) {
        let (lower, upper) = single_bounds(target, path)?;
        if !analyzed.is_never_negative(&size.offset(-1)?) {
            prepared.assumptions.push(Condition {
                left: 1.into(),
                relation: Relation::LessOrEqual,
                right: size.clone(),
            });
        }
        let names = TileNames::make(&mut prepared, target);
        let length = size.scaled(target.step)?;
        let tile = AffineExpr::from(names.tile);
        let begin = lower.plus(&tile.times(&length)?)?;
        let trips = trip_count(lower, upper, target.step)?;
        tiles.push(AffineFor {
            iter: names.tile,
            lower: AffineExpr::from(0).into(),
            upper: trips.ceildiv(size)?.into(),
            step: 1,
            lanes: 1,
            body: Vec::new(),
        });
        points.push(AffineFor {
            iter: names.point,
            upper: Bound(vec![upper.clone(), begin.plus(&length)?]),
            lower: begin.into(),
            step: target.step,
            lanes: 1,
            body: Vec::new(),
        });
    }
    let (Some(outermost), Some(innermost)) = (band.first(), band.last()) else {
        return Err(Overflow.into());
    };
    let loops = tiles.into_iter().chain(points).rev();
    let body = loops.fold(innermost.body.clone(), |body, it| {
        vec![Node::AffineFor(AffineFor { body, ..it })]
    });
    Ok(Replacing {
        kernel: prepared,
        target: outermost.iter,
        replacement: body,
    })
}

/// That bounds of the band do not depend on its loops: of tiles whose size is not known nobody can say how far their points are apart.
fn check_rectangular(band: &[&AffineFor], paths: &[&LoopPath]) -> Result<(), Reason> {
    for (position, (inner, path)) in band.iter().zip(paths).enumerate() {
        for (outer, outer_path) in band.iter().zip(paths).take(position) {
            let mut bounds = inner.lower.0.iter().chain(&inner.upper.0);
            if bounds.any(|it| it.mentions(Variable::Iter(outer.iter))) {
                return Err(Reason::NotRectangular {
                    outer: (*outer_path).clone(),
                    inner: (*path).clone(),
                });
            }
        }
    }
    Ok(())
}

/// That no access comes before one that it has to come after, whatever the sizes are.
///
/// That is so when no dependence goes backwards in any of the loops: the numbers of tiles rise with their points. A dependence goes
/// forwards in all of them exactly if each of them could be the outermost.
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
