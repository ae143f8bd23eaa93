//! Where the values of runtime variables come from.

use super::{Indexing, Value};
use crate::indexing::{IndexExpr, IndexingMap, Interval, Variable, VariableKind};
use std::collections::BTreeSet;

/// Where the value of a runtime variable of an [`Indexing`] comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeSource {
    /// The array of integers that it stands in.
    pub value: Value,
    /// From the variables of the indexing to the place in that array.
    pub map: IndexingMap,
    /// The positions that the variable can have, where another value counts as the nearest of them.
    /// Without them a value outside of the variable's bounds means that nothing is accessed.
    pub clamp: Option<Interval>,
}

impl Indexing {
    /// Where the runtime variables of the map come from, in their order.
    pub fn runtime(&self) -> Vec<RuntimeSource> {
        let firsts = self.first_places();
        let sources = self.sources.iter().zip(&firsts);
        let sources = sources.map(|(source, first)| RuntimeSource {
            value: source.value.clone(),
            map: of_known_runtimes(
                self.part(*first, source.rank),
                &self.runtimes_of(*first, source.rank),
            ),
            clamp: source.clamp,
        });
        sources.collect()
    }

    /// The positions of the runtime variables that these results depend on, themselves or by the
    /// places of others.
    fn runtimes_of(&self, first: usize, count: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut open = vec![(first, count)];
        let firsts = self.first_places();
        while let Some((first, count)) = open.pop() {
            for place in self.joint.results().iter().skip(first).take(count) {
                place.for_each_variable(&mut |it| {
                    if it.kind == VariableKind::Runtime && found.insert(it.position) {
                        let rank = self.sources.get(it.position).map_or(0, |it| it.rank);
                        open.extend(firsts.get(it.position).map(|first| (*first, rank)));
                    }
                });
            }
        }
        found
    }

    /// Whether the place of a runtime variable speaks of a variable for which `is_meant` holds.
    pub(in crate::operation::analysis) fn runtime_depends_on(
        &self,
        is_meant: impl Fn(Variable) -> bool,
    ) -> bool {
        let mut found = false;
        for place in self.joint.results().iter().skip(self.rank) {
            place.for_each_variable(&mut |it| found |= is_meant(it));
        }
        found
    }

    /// For each runtime variable, the position of the first index of its place among the results.
    pub(super) fn first_places(&self) -> Vec<usize> {
        let mut next = self.rank;
        let firsts = self.sources.iter().map(|source| {
            let first = next;
            next += source.rank;
            first
        });
        firsts.collect()
    }
}

/// The same map without what the domain says of other runtime variables than these: whoever reads a
/// value knows no others. Where there are none, none is declared either.
fn of_known_runtimes(map: IndexingMap, known: &BTreeSet<usize>) -> IndexingMap {
    if map.is_known_empty() {
        return map;
    }
    let is_known = |expr: &IndexExpr| {
        let mut is_known = true;
        expr.for_each_variable(&mut |it| {
            is_known &= it.kind != VariableKind::Runtime || known.contains(&it.position);
        });
        is_known
    };
    let constraints = map.constraints().iter();
    let constraints = constraints.filter(|it| is_known(&it.expr));
    let runtimes = match known.is_empty() {
        true => Vec::new(),
        false => map.runtimes().to_vec(),
    };
    let place = IndexingMap::new(
        map.dimensions().to_vec(),
        map.ranges().to_vec(),
        runtimes,
        map.results().to_vec(),
        constraints.cloned().collect(),
    );
    place.unwrap_or(map)
}
