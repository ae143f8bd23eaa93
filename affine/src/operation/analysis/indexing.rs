//! The maps from one array to another, with where their runtime variables come from.

use crate::indexing::{
    Constraint, Declaration, IndexExpr, IndexingError, IndexingMap, Interval, MAX_SIZE, Variable,
    VariableKind,
};
use crate::operation::relation::{Solved, Start};
use std::collections::HashMap;

mod runtime;

pub use runtime::RuntimeSource;

type Checked<T> = Result<T, IndexingError>;

/// One of the arrays that an instruction computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value {
    /// The calls that lead to its computation, outermost first, each as the positions of a
    /// computation and of an instruction in it: what is computed in two calls of one computation
    /// are two values.
    pub calls: Vec<(usize, usize)>,
    /// The position of its computation in the module.
    pub computation: usize,
    /// The position of the instruction in the computation.
    pub instruction: usize,
    /// Which of its arrays: 0 unless it is a tuple.
    pub part: usize,
}

/// Where the value of a runtime variable stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) value: Value,
    /// How many indices it takes to say where in the array.
    pub(super) rank: usize,
    pub(super) clamp: Option<Interval>,
}

impl Source {
    /// The value that the variable has where `expr` is read.
    fn moved(&self, expr: IndexExpr) -> IndexExpr {
        match self.clamp {
            Some(clamp) => clamped(&expr, clamp),
            None => expr,
        }
    }

    /// The source of a variable on which nothing depends.
    fn superfluous(&self) -> Self {
        Self {
            clamp: Some(Interval::ALL),
            ..self.clone()
        }
    }

    /// Whether the value can be outside of `bounds`: then these cut the domain down, even where
    /// nothing else depends on it.
    fn can_leave(&self, bounds: Interval) -> bool {
        let is_inside = |it: Interval| it.low >= bounds.low && it.high <= bounds.high;
        !self.clamp.is_some_and(is_inside)
    }
}

/// A map from the indices of one array to those of another, whose runtime variables are read from
/// arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indexing {
    /// The results are the indices, and behind them the places of the runtime variables, one
    /// variable's after the other's. What is found out about the domain serves all of them.
    joint: IndexingMap,
    rank: usize,
    /// One for each runtime variable.
    sources: Vec<Source>,
    is_exact: bool,
}

impl Indexing {
    /// Each element from the one at the same index.
    pub(super) fn identity(extents: &[i64]) -> Self {
        Self {
            joint: IndexingMap::identity(extents),
            rank: extents.len(),
            sources: Vec::new(),
            is_exact: true,
        }
    }

    /// The side of a relation that it is solved for, the array of each start given by `value_of`.
    pub(super) fn solved(
        solved: Solved,
        rank: usize,
        is_exact: bool,
        value_of: impl Fn(&Start) -> Value,
    ) -> Self {
        let sources = solved.starts.iter().map(|start| Source {
            value: value_of(start),
            rank: start.place.len(),
            clamp: start.is_clamped.then_some(start.bounds),
        });
        Self {
            rank,
            sources: sources.collect(),
            joint: solved.map,
            is_exact,
        }
    }

    /// Whether every element that the map speaks of is accessed for sure, whatever the values of
    /// arrays are. If not, some may not be; elements that it does not speak of never are.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The map. A dimension variable is an index of the array that it maps from, a result one of
    /// the other.
    pub fn map(&self) -> IndexingMap {
        self.part(0, self.rank)
    }

    /// The variables whose values are others where `variable` has another: itself, runtime
    /// variables that are read elsewhere then, and what the domain ties to these.
    pub(super) fn varying_with(&self, variable: Variable) -> Vec<Variable> {
        let firsts = self.first_places();
        let runtimes = self.sources.iter().zip(&firsts).enumerate();
        let mut ties: Vec<Vec<Variable>> = Vec::new();
        for (position, (source, first)) in runtimes {
            let mut tied = vec![Variable::new(VariableKind::Runtime, position)];
            let places = self.joint.results().iter().skip(*first).take(source.rank);
            places.for_each(|it| it.for_each_variable(&mut |it| tied.push(it)));
            ties.push(tied);
        }
        for constraint in self.joint.constraints() {
            let mut tied = Vec::new();
            constraint.expr.for_each_variable(&mut |it| tied.push(it));
            ties.push(tied);
        }
        ties.retain(|it| it.iter().any(|it| it.kind == VariableKind::Runtime));
        let mut varying = vec![variable];
        // Other dimensions stay what they are.
        let moves = |it: &Variable| it.kind != VariableKind::Dimension;
        for _ in 0..=ties.len() {
            for tied in &ties {
                if tied.iter().any(|it| varying.contains(it)) {
                    let new: Vec<_> = tied.iter().filter(|it| moves(it)).copied().collect();
                    varying.extend(new);
                    varying.sort_unstable();
                    varying.dedup();
                }
            }
        }
        varying
    }

    /// The map to some of the results. Fewer results keep what holds for all of them.
    fn part(&self, first: usize, count: usize) -> IndexingMap {
        let results = self.joint.results().iter().skip(first).take(count);
        let part = self.joint.clone().with_results(results.cloned().collect());
        part.unwrap_or_else(|_| self.joint.clone())
    }

    /// Whether it is known that no element is accessed.
    pub(super) fn is_known_empty(&self) -> bool {
        self.joint.is_known_empty()
    }

    /// Whether both say the same, but for how sure it is. A range counts from anywhere, and a
    /// dimension of one value is that value.
    pub(super) fn is_same_map(&self, other: &Self) -> bool {
        if self.rank != other.rank || self.sources.len() != other.sources.len() {
            return false;
        }
        let is_same = |one: &Self, other: &Self| {
            one.joint == other.joint && one.rank == other.rank && one.sources == other.sources
        };
        let is_shifted = |it: &Self| {
            let mut dimensions = it.joint.dimensions().iter();
            it.joint.ranges().iter().any(|it| it.bounds.low != 0)
                || dimensions.any(|it| it.bounds.as_point().is_some())
        };
        if is_same(self, other) || !(is_shifted(self) || is_shifted(other)) {
            return is_same(self, other);
        }
        match (self.normal_form(), other.normal_form()) {
            (Ok(one), Ok(other)) => is_same(&one, &other),
            _ => false,
        }
    }

    /// The same map with ranges that begin at 0, in which no dimension of one value occurs.
    fn normal_form(&self) -> Checked<Self> {
        let bounds = |it: Variable| self.joint.declaration(it).map(|it| it.bounds);
        let value = |it: Variable| -> Checked<IndexExpr> {
            match (it.kind, bounds(it)) {
                (VariableKind::Range, Some(bounds)) => IndexExpr::from(it).offset(bounds.low),
                (VariableKind::Dimension, Some(bounds)) => {
                    let point = bounds.as_point().map(IndexExpr::from);
                    Ok(point.unwrap_or_else(|| it.into()))
                }
                _ => Ok(it.into()),
            }
        };
        let mut ranges = Vec::with_capacity(self.joint.ranges().len());
        for it in self.joint.ranges() {
            let last = it.bounds.high.checked_sub(it.bounds.low);
            let last = last.ok_or(IndexingError::Overflow)?;
            ranges.push(Declaration::new(Interval::new(0, last)));
        }
        let shifted =
            |expr: &IndexExpr| expr.substitute(&|it| value(it).unwrap_or_else(|_| it.into()));
        let results = self.joint.results().iter().map(shifted);
        let constraints = self.joint.constraints().iter().map(|it| {
            let expr = shifted(&it.expr)?;
            Ok(Constraint { expr, ..*it })
        });
        let joint = IndexingMap::new(
            self.joint.dimensions().to_vec(),
            ranges,
            self.joint.runtimes().to_vec(),
            results.collect::<Checked<_>>()?,
            constraints.collect::<Checked<_>>()?,
        )?;
        let shifted = Self {
            joint,
            ..self.clone()
        };
        shifted.tidied()
    }

    /// Takes note that the same map is found a second time.
    pub(super) fn join_exactness(&mut self, other: &Self) {
        self.is_exact |= other.is_exact;
    }

    /// The same map with the runtime variables read from other arrays.
    pub(super) fn with_values(mut self, value_of: impl Fn(&Value) -> Value) -> Self {
        for source in &mut self.sources {
            source.value = value_of(&source.value);
        }
        self
    }

    /// `self` first, then `second` from where it leads to.
    pub(super) fn then(&self, second: &Self) -> Checked<Self> {
        let indices = self.part(0, self.rank);
        let joint = indices.then(&second.joint)?;
        let shifted = |variable: Variable| {
            let by = match variable.kind {
                VariableKind::Dimension => 0,
                VariableKind::Range | VariableKind::Runtime => {
                    second.joint.declarations(variable.kind).len()
                }
            };
            IndexExpr::from(Variable::new(variable.kind, variable.position + by))
        };
        let mut results = joint.results().to_vec();
        for place in self.joint.results().iter().skip(self.rank) {
            results.push(place.substitute(&shifted)?);
        }
        let joint = if joint.is_known_empty() {
            joint
        } else {
            joint.with_results(results)?
        };
        Ok(Self {
            joint,
            rank: second.rank,
            sources: [second.sources.as_slice(), &self.sources].concat(),
            is_exact: self.is_exact && second.is_exact,
        })
    }

    /// The same map with the runtime variables traced to where their values come from: those that
    /// are known give way to their values.
    pub(super) fn traced(
        self,
        trace: impl Fn(&Value, &[IndexExpr]) -> Checked<Traced>,
    ) -> Checked<Self> {
        if self.sources.is_empty() || self.is_known_empty() {
            return Ok(self);
        }
        let mut known: HashMap<usize, IndexExpr> = HashMap::new();
        let mut constraints = self.joint.constraints().to_vec();
        let mut results: Vec<_> = self
            .joint
            .results()
            .iter()
            .take(self.rank)
            .cloned()
            .collect();
        let mut sources = Vec::new();
        let mut first = self.rank;
        for (position, source) in self.sources.iter().enumerate() {
            let places = self.joint.results().iter().skip(first).take(source.rank);
            let places: Vec<_> = places.cloned().collect();
            first += source.rank;
            let bounds = self.joint.runtimes().get(position);
            let bounds = bounds.map_or(Interval::ALL, |it| it.bounds);
            let (source, places) = match trace(&source.value, &places)? {
                Traced::Known(expr) => {
                    let expr = source.moved(expr);
                    constraints.push(Constraint {
                        expr: expr.clone(),
                        bounds,
                    });
                    known.insert(position, expr);
                    (source.superfluous(), places)
                }
                Traced::At(value, places) => {
                    let clamp = source.clamp;
                    let rank = places.len();
                    (Source { value, rank, clamp }, places)
                }
            };
            sources.push(Source {
                rank: places.len(),
                ..source
            });
            results.extend(places);
        }
        let known = independent(known)?;
        let joint = rebuilt(&self.joint, results, constraints, &known)?;
        Ok(Self {
            joint,
            sources,
            ..self
        })
    }

    /// The same map in its simplest form: without range and runtime variables that nothing depends
    /// on, the others numbered as they occur.
    pub(super) fn tidied(self) -> Checked<Self> {
        let joint = self.joint.simplified();
        if joint.is_known_empty() {
            return Ok(Self { joint, ..self });
        }
        let mut points = joint.ranges().iter().map(|it| it.bounds.as_point());
        let has_points = points.any(|it| it.is_some());
        let renumbered = Self { joint, ..self }.renumbered()?;
        if has_points {
            // The values that ranges have given way to can make more of it known.
            return renumbered.tidied();
        }
        Ok(renumbered)
    }

    fn renumbered(self) -> Checked<Self> {
        let points = self.joint.ranges().iter().map(|it| it.bounds.as_point());
        let points: Vec<_> = points.collect();
        let point = |variable: Variable| match variable.kind {
            VariableKind::Range => points.get(variable.position).copied().flatten(),
            VariableKind::Dimension | VariableKind::Runtime => None,
        };
        let firsts = self.first_places();
        let seen = self.seen(&firsts, &point);
        let renamed = |variable: Variable| {
            if let Some(value) = point(variable) {
                return IndexExpr::Constant(value);
            }
            let list = match variable.kind {
                VariableKind::Dimension => return variable.into(),
                VariableKind::Range => &seen.ranges,
                VariableKind::Runtime => &seen.runtimes,
            };
            let position = list.iter().position(|it| *it == variable.position);
            Variable::new(variable.kind, position.unwrap_or(variable.position)).into()
        };
        let mut results: Vec<&IndexExpr> = self.joint.results().iter().take(self.rank).collect();
        let mut sources = Vec::with_capacity(seen.runtimes.len());
        for position in &seen.runtimes {
            let (Some(source), Some(first)) = (self.sources.get(*position), firsts.get(*position))
            else {
                continue;
            };
            sources.push(source.clone());
            results.extend(self.joint.results().iter().skip(*first).take(source.rank));
        }
        let results = results.into_iter().map(|it| it.substitute(&renamed));
        let constraints = self.joint.constraints().iter().map(|it| {
            let expr = it.expr.substitute(&renamed)?;
            let bounds = it.bounds;
            Ok(Constraint { expr, bounds })
        });
        let declared = |all: &[Declaration], kept: &[usize]| -> Vec<Declaration> {
            kept.iter().filter_map(|it| all.get(*it)).cloned().collect()
        };
        let joint = IndexingMap::new(
            self.joint.dimensions().to_vec(),
            declared(self.joint.ranges(), &seen.ranges),
            declared(self.joint.runtimes(), &seen.runtimes),
            results.collect::<Checked<_>>()?,
            constraints.collect::<Checked<_>>()?,
        )?;
        Ok(Self {
            joint,
            sources,
            ..self
        })
    }
}

impl Indexing {
    /// The range and runtime variables that something depends on, without ranges of one value.
    fn seen(&self, firsts: &[usize], point: &impl Fn(Variable) -> Option<i64>) -> Seen {
        let mut seen = Seen::default();
        let indices = self.joint.results().iter().take(self.rank);
        let constrained = self.joint.constraints().iter().map(|it| &it.expr);
        for expr in indices.chain(constrained) {
            seen.look_at(expr, point);
        }
        let declared = self.sources.iter().zip(self.joint.runtimes());
        for (position, (source, declared)) in declared.enumerate() {
            if source.can_leave(declared.bounds) && !seen.runtimes.contains(&position) {
                seen.runtimes.push(position);
            }
        }
        // The place of a runtime variable that is needed can need others.
        let mut next = 0;
        while let Some(position) = seen.runtimes.get(next).copied() {
            let first = firsts.get(position).copied().unwrap_or(0);
            let rank = self.sources.get(position).map_or(0, |it| it.rank);
            for place in self.joint.results().iter().skip(first).take(rank) {
                seen.look_at(place, point);
            }
            next += 1;
        }
        seen
    }
}

/// The range and runtime variables in the order in which they occur.
#[derive(Default)]
struct Seen {
    ranges: Vec<usize>,
    runtimes: Vec<usize>,
}

impl Seen {
    fn look_at(&mut self, expr: &IndexExpr, point: &impl Fn(Variable) -> Option<i64>) {
        expr.for_each_variable(&mut |variable| {
            let list = match variable.kind {
                VariableKind::Dimension => return,
                VariableKind::Range => &mut self.ranges,
                VariableKind::Runtime => &mut self.runtimes,
            };
            if point(variable).is_none() && !list.contains(&variable.position) {
                list.push(variable.position);
            }
        });
    }
}

/// What is known of a value at a place.
pub(super) enum Traced {
    /// It is this, in terms of the variables of the place.
    Known(IndexExpr),
    /// It stands there.
    At(Value, Vec<IndexExpr>),
}

fn clamped(expr: &IndexExpr, bounds: Interval) -> IndexExpr {
    match expr.as_constant() {
        Some(value) => value.min(bounds.high).max(bounds.low).into(),
        None => {
            let low_enough = IndexExpr::least([expr.clone(), bounds.high.into()]);
            IndexExpr::greatest([low_enough, bounds.low.into()])
        }
    }
}

/// The known values, none of them in terms of another.
fn independent(mut known: HashMap<usize, IndexExpr>) -> Checked<HashMap<usize, IndexExpr>> {
    // What a value is read by is known before it is: there is no cycle, and each round removes one
    // link of every chain.
    for _ in 0..known.len() {
        let speaks_of_known = |expr: &IndexExpr| {
            let mut found = false;
            expr.for_each_variable(&mut |it| {
                found |= it.kind == VariableKind::Runtime && known.contains_key(&it.position);
            });
            found
        };
        if !known.values().any(speaks_of_known) {
            break;
        }
        let mut next = HashMap::new();
        let mut nodes = 0_usize;
        for (position, expr) in &known {
            let value = expr.substitute(&|it| replaced(it, &known))?;
            nodes = nodes.saturating_add(value.size().nodes);
            next.insert(*position, value);
        }
        if nodes > MAX_SIZE {
            return Err(IndexingError::TooLarge);
        }
        known = next;
    }
    Ok(known)
}

fn replaced(variable: Variable, by: &HashMap<usize, IndexExpr>) -> IndexExpr {
    match (variable.kind, by.get(&variable.position)) {
        (VariableKind::Runtime, Some(expr)) => expr.clone(),
        _ => variable.into(),
    }
}

/// The map with other results and constraints, in which some runtime variables are replaced, so
/// that nothing depends on them.
fn rebuilt(
    map: &IndexingMap,
    results: Vec<IndexExpr>,
    constraints: Vec<Constraint>,
    by: &HashMap<usize, IndexExpr>,
) -> Checked<IndexingMap> {
    let results = results
        .iter()
        .map(|it| it.substitute(&|variable| replaced(variable, by)));
    let constraints = constraints.iter().map(|it| {
        let expr = it.expr.substitute(&|variable| replaced(variable, by))?;
        let bounds = it.bounds;
        Ok(Constraint { expr, bounds })
    });
    let runtimes = map.runtimes().iter().enumerate();
    let runtimes = runtimes.map(|(position, declared)| match by.get(&position) {
        Some(_) => Declaration::new(Interval::ALL),
        None => declared.clone(),
    });
    IndexingMap::new(
        map.dimensions().to_vec(),
        map.ranges().to_vec(),
        runtimes.collect(),
        results.collect::<Checked<_>>()?,
        constraints.collect::<Checked<_>>()?,
    )
}
