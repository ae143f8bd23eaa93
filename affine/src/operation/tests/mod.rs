//! The maps against the seeds' answers and against a reference that carries along which elements
//! each element comes from.

mod golden;
mod operations;
mod programs;
mod random;
mod reference;
mod refusals;
mod usage;
mod windows;

use super::{Analysis, ElementMaps, Indexing, KnownMaps, Module, Value};
use crate::indexing::{IndexExpr, IndexingMap, Interval, Variable, VariableKind};
use std::collections::BTreeSet;

/// Which elements of one array belong to which of another.
pub(super) type Pairs = BTreeSet<(Vec<i64>, Vec<i64>)>;

#[track_caller]
fn module(text: &str) -> Module {
    Module::parse(text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

/// The maps of the root.
#[track_caller]
fn root(text: &str) -> ElementMaps {
    let module = module(text);
    Analysis::new(&module)
        .root()
        .unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// Maps as text.
#[track_caller]
fn texts(known: &KnownMaps) -> Vec<String> {
    let known = known.as_ref().expect("the maps are known");
    known
        .iter()
        .map(|it| it.indexing.map().to_string())
        .collect()
}

/// The pairs that the map has when runtime variables are read by `value_of`.
fn pairs(indexing: &Indexing, value_of: &dyn Fn(Value, &[i64]) -> i64) -> Pairs {
    let (map, sources) = (indexing.map(), indexing.runtime());
    let counted = map.dimensions().len() + map.ranges().len();
    let bounds = map.box_bounds();
    let mut found = Pairs::new();
    for mut point in points(&bounds[..counted]) {
        point.resize(bounds.len(), 0);
        // Places can depend on other runtime variables, in any order.
        for _ in 0..sources.len() {
            for (at, source) in sources.iter().enumerate() {
                let value = |it: &IndexExpr| it.evaluate(&|variable| point[slot(&map, variable)]);
                let place: Result<Vec<_>, _> = source.map.results().iter().map(value).collect();
                let value = value_of(source.value.clone(), &place.expect("a place"));
                let clamped = source.clamp.map(|it| value.min(it.high).max(it.low));
                point[counted + at] = clamped.unwrap_or(value);
            }
        }
        if let Some(results) = map.evaluate(&point).expect("a value") {
            point.truncate(map.dimensions().len());
            found.insert((point, results));
        }
    }
    found
}

fn slot(map: &IndexingMap, variable: Variable) -> usize {
    variable.position
        + match variable.kind {
            VariableKind::Dimension => 0,
            VariableKind::Range => map.dimensions().len(),
            VariableKind::Runtime => map.dimensions().len() + map.ranges().len(),
        }
}

/// All points of a box.
fn points(bounds: &[Interval]) -> Vec<Vec<i64>> {
    let mut points = vec![Vec::new()];
    for it in bounds {
        let longer = points.iter().flat_map(|point| {
            (it.low..=it.high).map(move |value| [point.as_slice(), &[value]].concat())
        });
        points = longer.collect();
    }
    points
}

/// The indices of an array.
pub(super) fn indices(extents: &[i64]) -> Vec<Vec<i64>> {
    let bounds: Vec<_> = extents.iter().map(|it| Interval::of_size(*it)).collect();
    points(&bounds)
}
