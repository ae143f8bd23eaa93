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
    /// Its first position along each dimension, in terms of the first position of the tile it is
    /// read for (the dimension variables, multiples of that tile's sizes) and of the runtime
    /// variables.
    pub offsets: Vec<IndexExpr>,
    /// How many positions it has along each dimension.
    pub sizes: Vec<i64>,
    /// How far neighbouring positions are apart along each dimension; 1 where there is one
    /// position.
    pub strides: Vec<i64>,
    /// Whether all of it is read. If not, the map has a narrower domain than the array that is
    /// mapped from, and some is not.
    pub is_whole: bool,
}

/// The box that a tile with these sizes is taken to, of an array with these extents; `None` when it
/// is not the same box for all tiles, or not a box. At the end of a dimension that the sizes do not
/// divide it is cut off.
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
    let split = Split::of(map, extents, sizes)?;
    let inside = split.inside()?;
    let is_local = |it: &IndexExpr| {
        let mut is_local = true;
        it.for_each_variable(&mut |it| is_local &= it.kind == VariableKind::Range);
        is_local
    };
    if !inside.results().iter().all(is_local) {
        return Ok(None);
    }
    let Some(progressions) = progressions(&inside, inside.results())? else {
        return Ok(None);
    };
    let mut offsets = Vec::with_capacity(progressions.len());
    for (result, progression) in map.results().iter().zip(&progressions) {
        let corner = result.substitute(&|it| split.corner(it))?;
        offsets.push(corner.offset(progression.first)?);
    }
    let corner_map = map.clone().with_results(offsets)?.simplified();
    let sizes: Vec<i64> = progressions.iter().map(|it| it.count).collect();
    Ok(Some(Tile {
        offsets: corner_map.results().to_vec(),
        is_whole: split.is_whole(&sizes)?,
        strides: progressions.iter().map(|it| it.stride).collect(),
        sizes,
    }))
}

/// The indices of an array as the number of a tile and the position in it.
struct Split<'m> {
    map: &'m IndexingMap,
    /// Along each dimension.
    axes: Vec<Axis>,
}

struct Axis {
    tiles: i64,
    size: i64,
    /// The indices that the map speaks of, where one tile has all of them and others.
    part: Option<Interval>,
    /// Whether the map speaks of all indices.
    is_full: bool,
}

impl<'m> Split<'m> {
    fn of(map: &'m IndexingMap, extents: &[i64], sizes: &[i64]) -> Checked<Self> {
        let mut axes = Vec::with_capacity(sizes.len());
        for ((extent, size), declared) in extents.iter().zip(sizes).zip(map.dimensions()) {
            let size = (*size).min(*extent).max(1);
            let tiles = extent / size + i64::from(extent % size != 0);
            let is_full = declared.bounds == Interval::of_size(*extent);
            let is_part = tiles <= 1 && !is_full;
            axes.push(Axis {
                tiles: tiles.max(1),
                size,
                part: is_part.then_some(declared.bounds),
                is_full,
            });
        }
        Ok(Self { map, axes })
    }

    /// Where a tile begins: in terms of its first index, or of the first that the map speaks of.
    fn corner(&self, variable: Variable) -> IndexExpr {
        let part = self.axes.get(variable.position).and_then(|it| it.part);
        match (variable.kind, part) {
            (VariableKind::Range, _) => low(self.map, variable).into(),
            (VariableKind::Dimension, Some(part)) => part.low.into(),
            (VariableKind::Dimension | VariableKind::Runtime, _) => variable.into(),
        }
    }

    /// How far the results are from those at the corner of the tile, by the number of the tile and,
    /// as the first ranges, the position in it. Constraints are left out.
    fn inside(&self) -> Checked<IndexingMap> {
        let (mut numbers, mut ranges) = (Vec::new(), Vec::new());
        let (mut indices, mut corners) = (Vec::new(), Vec::new());
        for (at, axis) in self.axes.iter().enumerate() {
            let corner = match axis.part {
                Some(part) => part.low.into(),
                None if axis.tiles == 1 => 0.into(),
                None => IndexExpr::dimension(at).scaled(axis.size)?,
            };
            let size = match axis.part {
                Some(part) => i64::try_from(part.count()).map_err(|_| IndexingError::Overflow)?,
                None => axis.size,
            };
            numbers.push(Declaration::new(Interval::of_size(axis.tiles)));
            ranges.push(Declaration::new(Interval::of_size(size)));
            indices.push(match size {
                1 => corner.clone(),
                _ => corner.plus(&IndexExpr::range(at))?,
            });
            corners.push(corner);
        }
        ranges.extend(
            self.map
                .ranges()
                .iter()
                .map(|it| Declaration::new(it.bounds)),
        );
        let moved = |variable: Variable, indices: &[IndexExpr]| match variable.kind {
            VariableKind::Dimension => indices.get(variable.position).cloned(),
            VariableKind::Range => Some(IndexExpr::range(variable.position + self.axes.len())),
            VariableKind::Runtime => None,
        };
        let mut differences = Vec::with_capacity(self.map.results().len());
        for result in self.map.results() {
            let there = result.substitute(&|it| moved(it, &indices).unwrap_or(it.into()))?;
            let corner = result.substitute(&|it| match it.kind {
                VariableKind::Range => low(self.map, it).into(),
                _ => moved(it, &corners).unwrap_or(it.into()),
            })?;
            differences.push(there.minus(&corner)?);
        }
        let runtimes = self.map.runtimes().to_vec();
        let map = IndexingMap::new(numbers, ranges, runtimes, differences, Vec::new())?;
        Ok(map.simplified())
    }

    /// Whether all of a box of these sizes is read.
    fn is_whole(&self, sizes: &[i64]) -> Checked<bool> {
        let is_free = self.map.constraints().is_empty();
        if is_free && self.axes.iter().all(|it| it.is_full || it.part.is_some()) {
            return Ok(true);
        }
        let is_one_tile = self.axes.iter().all(|it| it.tiles == 1);
        if !is_one_tile || !self.map.runtimes().is_empty() {
            return Ok(false);
        }
        let read = self.map.distinct_results()?;
        let all = sizes
            .iter()
            .try_fold(1_i128, |all, it| all.checked_mul((*it).into()));
        Ok(read.bound.is_none() && i128::try_from(read.value).ok() == all)
    }
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

/// The values of each of `exprs` over the ranges of `map`, if together they are all combinations of
/// evenly spaced numbers.
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
