//! Which part of an operand a tile of the result is computed from.

use super::Indexing;
use crate::indexing::image::{Progression, groups, low, values};
use crate::indexing::{
    Declaration, IndexExpr, IndexingError, IndexingMap, Interval, Variable, VariableKind,
};
use std::collections::BTreeSet;

type Checked<T> = Result<T, IndexingError>;

/// Results that share variables are enumerated up to this many points.
const MAX_POINTS: usize = 1 << 16;

/// A box of evenly spaced positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Its first position along each dimension, in terms of the first position of the tile it is read for (the dimension variables,
    /// multiples of that tile's sizes) and of the runtime variables.
    pub offsets: Vec<IndexExpr>,
    /// How many positions it has along each dimension.
    pub sizes: Vec<i64>,
    /// How far neighbouring positions are apart along each dimension; 1 where there is one position.
    pub strides: Vec<i64>,
    /// Whether all of it is read. If not, the map has a narrower domain than the array that is mapped from, and some is not.
    pub is_whole: bool,
}

/// The box that a tile with these sizes is taken to, of an array with these extents; `None` when it is not the same box for all
/// tiles, or not a box. At the end of a dimension that the sizes do not divide it is cut off.
///
/// # Errors
/// A number leaves 64 bits.
pub fn tile(indexing: &Indexing, extents: &[i64], sizes: &[i64]) -> Checked<Option<Tile>> {
    let map = &indexing.map();
    if sizes.len() != map.dimensions().len() || extents.len() != sizes.len() {
        return Ok(None);
    }
    // Inside a tile a runtime variable has to have one value.
    let varies = |variable: Variable| match variable.kind {
        VariableKind::Dimension => sizes.get(variable.position).is_some_and(|size| *size > 1),
        VariableKind::Range | VariableKind::Runtime => true,
    };
    if indexing.runtime_depends_on(varies) {
        return Ok(None);
    }
    let split = split(map, extents, sizes)?.simplified();
    let mut locals = Vec::with_capacity(map.results().len());
    for result in split.results() {
        match local_part(result)? {
            Some(local) => locals.push(local),
            None => return Ok(None),
        }
    }
    let Some(progressions) = progressions(&split, &locals)? else {
        return Ok(None);
    };
    let mut offsets = Vec::with_capacity(locals.len());
    for ((result, local), progression) in map.results().iter().zip(&locals).zip(&progressions) {
        let corner = result.substitute(&|variable| match variable.kind {
            VariableKind::Range => low(map, variable).into(),
            VariableKind::Dimension | VariableKind::Runtime => variable.into(),
        })?;
        let at_corner = local.evaluate(&|variable| low(&split, variable))?;
        let back = progression.first.checked_sub(at_corner);
        offsets.push(corner.offset(back.ok_or(IndexingError::Overflow)?)?);
    }
    let corner_map = map.clone().with_results(offsets)?.simplified();
    let boxes = map.dimensions().iter().zip(extents);
    let mut boxes = boxes.map(|(it, extent)| it.bounds == Interval::of_size(*extent));
    Ok(Some(Tile {
        offsets: corner_map.results().to_vec(),
        sizes: progressions.iter().map(|it| it.count).collect(),
        strides: progressions.iter().map(|it| it.stride).collect(),
        is_whole: boxes.all(|it| it) && map.constraints().is_empty(),
    }))
}

/// The map with the number of the tile as dimensions, and the position in it as the first ranges. Constraints are left out.
fn split(map: &IndexingMap, extents: &[i64], sizes: &[i64]) -> Checked<IndexingMap> {
    let (mut numbers, mut ranges) = (Vec::new(), Vec::new());
    for (extent, size) in extents.iter().zip(sizes) {
        let size = (*size).min(*extent).max(1);
        let count = extent / size + i64::from(extent % size != 0);
        numbers.push(Declaration::new(Interval::of_size(count.max(1))));
        ranges.push(Declaration::new(Interval::of_size(size)));
    }
    let tiles: Vec<i64> = ranges.iter().map(|it| it.bounds.high + 1).collect();
    ranges.extend(map.ranges().iter().map(|it| Declaration::new(it.bounds)));
    let mut dimensions = Vec::with_capacity(tiles.len());
    for (at, size) in tiles.iter().enumerate() {
        let number = IndexExpr::dimension(at).scaled(*size)?;
        dimensions.push(number.plus(&IndexExpr::range(at))?);
    }
    let results = map.results().iter().map(|it| {
        it.substitute(&|variable| match variable.kind {
            VariableKind::Dimension => dimensions
                .get(variable.position)
                .cloned()
                .unwrap_or_else(|| variable.into()),
            VariableKind::Range => IndexExpr::range(variable.position + tiles.len()),
            VariableKind::Runtime => variable.into(),
        })
    });
    IndexingMap::new(
        numbers,
        ranges,
        map.runtimes().to_vec(),
        results.collect::<Checked<_>>()?,
        Vec::new(),
    )
}

/// The terms that speak of the position in the tile; `None` when one speaks of other things as well.
fn local_part(result: &IndexExpr) -> Checked<Option<IndexExpr>> {
    let mut local = Vec::new();
    for (expr, coefficient) in result.terms().0 {
        let (mut is_local, mut is_fixed) = (false, false);
        expr.for_each_variable(&mut |it| match it.kind {
            VariableKind::Range => is_local = true,
            VariableKind::Dimension | VariableKind::Runtime => is_fixed = true,
        });
        match (is_local, is_fixed) {
            (true, true) => return Ok(None),
            (true, false) => local.push((expr.clone(), coefficient)),
            (false, _) => {}
        }
    }
    IndexExpr::sum(local, 0).map(Some)
}

/// Evenly spaced numbers.
#[derive(Clone, Copy, Debug)]
struct Spaced {
    first: i64,
    stride: i64,
    count: i64,
}

impl Spaced {
    /// The values of `expr` over the ranges of `map`, if that is seen without looking at each.
    fn of(map: &IndexingMap, expr: &IndexExpr) -> Option<Self> {
        let progression = Progression::of(map, expr).filter(|it| it.is_exact)?;
        Some(Self {
            first: i64::try_from(progression.first?).ok()?,
            stride: i64::try_from(progression.stride).ok()?,
            count: i64::try_from(progression.count).ok()?,
        })
    }
}

/// The values of each of `exprs` over the ranges of `map`, if together they are all combinations of evenly spaced numbers.
fn progressions(map: &IndexingMap, exprs: &[IndexExpr]) -> Checked<Option<Vec<Spaced>>> {
    let mut found = vec![None; exprs.len()];
    for group in groups(exprs) {
        let members: Vec<&IndexExpr> = group.iter().filter_map(|it| exprs.get(*it)).collect();
        let shortcut = match members.as_slice() {
            [alone] => Spaced::of(map, alone).map(|it| vec![it]),
            _ => None,
        };
        let progressions = match shortcut {
            Some(progressions) => progressions,
            None => match enumerated(map, &members)? {
                Some(progressions) => progressions,
                None => return Ok(None),
            },
        };
        for (at, progression) in group.iter().zip(progressions) {
            if let Some(slot) = found.get_mut(*at) {
                *slot = Some(progression);
            }
        }
    }
    Ok(found.into_iter().collect())
}

/// The values of expressions that share variables, point by point.
fn enumerated(map: &IndexingMap, exprs: &[&IndexExpr]) -> Checked<Option<Vec<Spaced>>> {
    let Some(points) = values(map, exprs, MAX_POINTS)? else {
        return Ok(None);
    };
    let mut progressions = Vec::with_capacity(exprs.len());
    let mut combinations = 1_usize;
    for at in 0..exprs.len() {
        let column: BTreeSet<i64> = points.iter().filter_map(|it| it.get(at).copied()).collect();
        let Some(progression) = evenly_spaced(&column) else {
            return Ok(None);
        };
        combinations = combinations.saturating_mul(column.len());
        progressions.push(progression);
    }
    // As many points as combinations: all of them.
    Ok((points.len() == combinations).then_some(progressions))
}

fn evenly_spaced(values: &BTreeSet<i64>) -> Option<Spaced> {
    let (first, last) = (*values.first()?, *values.last()?);
    let count = i64::try_from(values.len()).ok()?;
    let stride = match values.iter().nth(1) {
        Some(second) => second.checked_sub(first)?,
        None => 1,
    };
    let is_even = values.iter().zip(values.iter().skip(1));
    let is_even = is_even.map(|(one, next)| next.checked_sub(*one));
    let is_even = last >= first && is_even.into_iter().all(|it| it == Some(stride));
    is_even.then_some(Spaced {
        first,
        stride,
        count,
    })
}
