//! How much of an operand is read, and in what order.

use super::{Indexing, KnownMaps, PartMap};
use crate::indexing::image::values;
use crate::indexing::{
    Constraint, Emptiness, IndexExpr, IndexingError, IndexingMap, Variable, VariableKind,
};
use crate::operation::shape::{ArrayShape, Shape};
use std::collections::BTreeSet;

type Checked<T> = Result<T, IndexingError>;

/// Maps that overlap are enumerated up to this many points.
const MAX_POINTS: usize = 1 << 16;

/// What changes from one element of an array to its neighbour in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coalescing {
    /// The results that are not the same for both.
    pub fastest: Vec<usize>,
    /// How many elements the two that are read lie apart in memory, if that is always the same: 0
    /// where both read the same.
    pub stride: Option<i64>,
}

/// The share of the elements of an input that is read for one output or another, from 0 to 1, where
/// `maps` are the maps to it from all outputs. Elements that are perhaps read count as read. `None`
/// when it depends on values, or is not found.
///
/// # Errors
/// A number leaves 64 bits.
pub fn utilization(shape: &Shape, maps: &[&KnownMaps]) -> Checked<Option<f64>> {
    let mut known: Vec<&PartMap> = Vec::new();
    for maps in maps {
        match maps {
            Some(maps) => known.extend(maps),
            None => return Ok(None),
        }
    }
    let (mut read, mut all) = (0_i128, 0_i128);
    for (part, leaf) in shape.leaves().into_iter().enumerate() {
        let maps = known.iter().filter(|it| it.part == part);
        let Some(count) = read_elements(leaf, maps.copied())? else {
            return Ok(None);
        };
        read += i128::from(count);
        all += i128::from(leaf.element_count());
    }
    Ok(Some(if all == 0 {
        0.0
    } else {
        read as f64 / all as f64
    }))
}

/// How many elements several maps read together.
fn read_elements<'p>(
    leaf: &ArrayShape,
    maps: impl Iterator<Item = &'p PartMap>,
) -> Checked<Option<i64>> {
    let mut different: Vec<&PartMap> = Vec::new();
    for map in maps {
        if !different.iter().any(|it| it.indexing == map.indexing) {
            different.push(map);
        }
    }
    let all = leaf.element_count();
    let mut counts = Vec::with_capacity(different.len());
    for map in &different {
        let count = image_size(map)?;
        if count == Some(all) {
            return Ok(Some(all));
        }
        counts.push(count);
    }
    match (different.as_slice(), counts.as_slice()) {
        ([], _) => Ok(Some(0)),
        ([_], [count]) => Ok(*count),
        _ => union_size(&different),
    }
}

/// How many elements one map reads. Where runtime variables have one value each it is the same for
/// all of their values.
fn image_size(map: &PartMap) -> Checked<Option<i64>> {
    let sources = map.indexing.runtime();
    // Where a value can be out of bounds nothing may be read.
    if sources.iter().any(|it| it.clamp.is_none()) {
        return Ok(None);
    }
    let mut places = sources.iter().flat_map(|it| it.map.results());
    if !places.all(|it| it.as_constant().is_some()) {
        return Ok(None);
    }
    let full = map.indexing.map();
    let map = with_fixed_runtimes(&full)?.simplified();
    if full.results().iter().any(moves_otherwise) && !map.is_known_empty() {
        return Ok(None);
    }
    let count = map.distinct_results()?;
    Ok(match count.bound {
        None => i64::try_from(count.value).ok(),
        Some(_) => None,
    })
}

/// The map with each runtime variable at the least of its values.
fn with_fixed_runtimes(map: &IndexingMap) -> Checked<IndexingMap> {
    let fixed = |variable: Variable| match variable.kind {
        VariableKind::Runtime => {
            let bounds = map.declaration(variable).map(|it| it.bounds.low);
            bounds.unwrap_or(0).into()
        }
        VariableKind::Dimension | VariableKind::Range => IndexExpr::from(variable),
    };
    let results = map.results().iter().map(|it| it.substitute(&fixed));
    let mut constraints = map.constraints().to_vec();
    for constraint in &mut constraints {
        constraint.expr = constraint.expr.substitute(&fixed)?;
    }
    IndexingMap::new(
        map.dimensions().to_vec(),
        map.ranges().to_vec(),
        Vec::new(),
        results.collect::<Checked<_>>()?,
        constraints,
    )
}

/// Whether a runtime variable does more than shift: then the number of elements can depend on its
/// value.
fn moves_otherwise(result: &IndexExpr) -> bool {
    let shifts = |expr: &IndexExpr| expr.as_variable().is_some() || !mentions_runtime(expr);
    match result {
        IndexExpr::Sum(sum) => !sum.terms().iter().all(|it| shifts(&it.expr)),
        other => !shifts(other),
    }
}

fn mentions_runtime(expr: &IndexExpr) -> bool {
    let mut found = false;
    expr.for_each_variable(&mut |it| found |= it.kind == VariableKind::Runtime);
    found
}

/// How many elements several maps read together, point by point.
fn union_size(maps: &[&PartMap]) -> Checked<Option<i64>> {
    let mut read = BTreeSet::new();
    for map in maps {
        let map = map.indexing.map();
        if !map.runtimes().is_empty() {
            return Ok(None);
        }
        let exprs: Vec<&IndexExpr> = map.expressions().collect();
        let Some(points) = values(&map, &exprs, MAX_POINTS)? else {
            return Ok(None);
        };
        let results = map.results().len();
        let holds = |point: &Vec<i64>| {
            let mut constraints = map.constraints().iter().zip(point.iter().skip(results));
            constraints.all(|(constraint, value)| constraint.bounds.contains(*value))
        };
        let kept = points.into_iter().filter(holds);
        read.extend(kept.map(|mut point| {
            point.truncate(results);
            point
        }));
    }
    Ok(i64::try_from(read.len()).ok())
}

/// What is read for neighbours in memory, by maps from an array of shape `from` to one of shape
/// `to`.
///
/// # Errors
/// A number leaves 64 bits.
pub fn coalescing(indexing: &Indexing, from: &ArrayShape, to: &ArrayShape) -> Checked<Coalescing> {
    let map = &indexing.map();
    let order = from.major_to_minor();
    let is_wide = |it: &&usize| from.extents.get(**it).is_some_and(|extent| *extent > 1);
    let Some(fastest) = order.iter().rev().find(is_wide) else {
        return Ok(Coalescing {
            fastest: Vec::new(),
            stride: Some(0),
        });
    };
    let fastest = Variable::new(VariableKind::Dimension, *fastest);
    let mut place = IndexExpr::Constant(0);
    for dimension in to.major_to_minor() {
        let extent = to.extents.get(dimension).copied().unwrap_or(1);
        let index = map.results().get(dimension).cloned();
        place = place.scaled(extent)?.plus(&index.unwrap_or(0.into()))?;
    }
    let varying = indexing.varying_with(fastest);
    let is_varying = |it: &IndexExpr| varying.iter().any(|variable| it.mentions(*variable));
    let results = map.results().iter().enumerate();
    let changing = results.filter(|(_, result)| is_varying(result));
    // What is read by values lies anywhere.
    let is_by_values = varying.len() > 1;
    Ok(Coalescing {
        fastest: changing.map(|(at, _)| at).collect(),
        stride: match is_by_values {
            true => None,
            false => step(map, &place, fastest)?,
        },
    })
}

/// By how much `place` grows from one value of `variable` to the next, both in the domain, if that
/// is always the same.
fn step(map: &IndexingMap, place: &IndexExpr, variable: Variable) -> Checked<Option<i64>> {
    let next = |expr: &IndexExpr| {
        expr.substitute(&|it| {
            let it_itself = IndexExpr::from(it);
            let moved = it_itself.offset(i64::from(it == variable));
            moved.unwrap_or(it_itself)
        })
    };
    let mut dimensions = map.dimensions().to_vec();
    if let Some(declared) = dimensions.get_mut(variable.position) {
        declared.bounds.high = declared.bounds.high.saturating_sub(1);
    }
    let mut constraints = map.constraints().to_vec();
    for it in map.constraints() {
        let expr = next(&it.expr)?;
        constraints.push(Constraint { expr, ..*it });
    }
    let both = IndexingMap::new(
        dimensions,
        map.ranges().to_vec(),
        map.runtimes().to_vec(),
        vec![next(place)?.minus(place)?],
        constraints,
    )?;
    let step = both.simplified();
    if step.emptiness() == Emptiness::Empty {
        return Ok(None);
    }
    Ok(step.results().first().and_then(IndexExpr::as_constant))
}
