//! How many different elements a map leads to, how much memory that is, and how often each is met.
//!
//! The box of the variables is one of numbers, not of parameters: what asks is the choice between
//! sizes of tiles, and caches are numbers too. What is only known at run time are runtime
//! variables. One that is added moves all elements alike and changes nothing; one that multiplies
//! is a row length of its own, that is, one that no combination of other steps meets.

mod count;
mod lattice;
#[cfg(test)]
mod tests;

use super::image::{Progression, are_independent, groups, is_fixed, low, moving_variables, values};
use super::{Emptiness, IndexExpr, IndexingError, IndexingMap, Variable, VariableKind};
pub use count::{Count, Footprint, UpperBound};
use lattice::{Column, distinct};
use std::collections::BTreeMap;

type Checked<T> = Result<T, IndexingError>;

/// Where no closed form is known, up to this many points are looked at one by one.
const MAX_POINTS: usize = 1 << 16;

/// The same where the answer is asked for again and again, for other sizes.
const FEW_POINTS: usize = 1 << 12;

/// How an array that a map leads to lies in memory: row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The size of each dimension, outermost first; `None` where it is known at run time only.
    pub extents: Vec<Option<i64>>,
    /// From one element to the next.
    pub element_bytes: u64,
    /// The size of a cache line.
    pub line_bytes: u64,
}

impl IndexingMap {
    /// What the map touches of an array that lies like `memory`. Runtime variables have one value
    /// each, whichever.
    ///
    /// ```
    /// use strew_affine::indexing::{Memory, parse_map};
    ///
    /// let window = parse_map("(i, k) -> (i + k), domain: i in [0, 99], k in [0, 2]")?;
    /// let memory = Memory { extents: vec![None], element_bytes: 4, line_bytes: 64 };
    /// let footprint = window.footprint(&memory)?;
    /// assert_eq!((footprint.points.value, footprint.elements.value), (300, 102));
    /// assert_eq!(footprint.elements.bound, None);
    /// assert_eq!(footprint.lines.to_string(), "at most 8");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A number leaves its range.
    pub fn footprint(&self, memory: &Memory) -> Checked<Footprint> {
        let map = self.simplified();
        let points = map.point_count()?;
        let elements = map.distinct_results_within(FEW_POINTS)?;
        Ok(Footprint {
            points,
            elements,
            bytes: elements.times(Count::exactly(memory.element_bytes.into()))?,
            lines: map.lines(memory, elements)?,
        })
    }

    /// How many points the domain has. Runtime variables have one value each, whichever.
    ///
    /// # Errors
    /// A number leaves its range.
    pub fn point_count(&self) -> Checked<Count> {
        let moving = self
            .variables()
            .filter(|it| it.kind != VariableKind::Runtime);
        let variables = moving.map(IndexExpr::from).collect();
        let all = self.clone().with_results(variables)?;
        all.distinct_results_within(FEW_POINTS)
    }

    /// How many different results there are. Runtime variables have one value each, whichever.
    ///
    /// # Errors
    /// A number leaves its range.
    pub fn distinct_results(&self) -> Checked<Count> {
        self.distinct_results_within(MAX_POINTS)
    }

    fn distinct_results_within(&self, limit: usize) -> Checked<Count> {
        let map = self.simplified();
        if map.is_known_empty() || map.emptiness() == Emptiness::Empty {
            return Ok(Count::exactly(0));
        }
        let mut parts = Vec::new();
        for result in map.results() {
            parts.extend(parts_of(result)?);
        }
        let shift = parts.iter().any(|it| it.is_shifted);
        let count = Image {
            map: &map,
            parts,
            limit,
        }
        .count()?;
        Ok(count.because(shift.then_some(UpperBound::RuntimeStride)))
    }

    /// How many lines hold the elements.
    fn lines(&self, memory: &Memory, elements: Count) -> Checked<Count> {
        let per_line = memory.line_bytes / memory.element_bytes.max(1);
        if elements.value == 0 {
            return Ok(elements);
        }
        let Ok(per_line @ 2..) = i64::try_from(per_line) else {
            // An element is a line or more.
            let each = memory.element_bytes.div_ceil(memory.line_bytes.max(1));
            return elements.times(Count::exactly(each.into()));
        };
        let rows = self.with_long_rows(&memory.extents)?;
        let Some((last, outer)) = rows.results().split_last() else {
            return Ok(elements);
        };
        // What is added to a whole row at run time moves from row to row.
        let (along, across): (Vec<_>, Vec<_>) = parts_of(last)?
            .into_iter()
            .partition(|it| it.stride.is_empty());
        let mut across: Vec<Part> = across;
        for result in outer {
            across.extend(parts_of(result)?);
        }
        let index = along.first().map_or(0.into(), |it| it.expr.clone());
        let constrained = rows.constraints().iter().map(|it| &it.expr);
        let others = across.iter().map(|it| &it.expr).chain(constrained);
        let together = groups(std::iter::once(&index).chain(others));
        let is_free = together.iter().any(|it| it == &[0]);
        let across = Image {
            map: &rows,
            parts: across,
            limit: FEW_POINTS,
        };
        let in_row = in_row(&rows, &index, per_line)?;
        let in_row = in_row.because((!is_free).then_some(UpperBound::Meetings));
        let lines = across.count()?.times(in_row)?;
        Ok(lines.least(elements.because(Some(UpperBound::Alignment))))
    }

    /// The map with the innermost dimensions of known sizes as one.
    fn with_long_rows(&self, extents: &[Option<i64>]) -> Checked<Self> {
        let mut outer = self.results().to_vec();
        let Some(mut row) = outer.pop() else {
            return Ok(self.clone());
        };
        let mut stride = Some(1_i64);
        while let (Some(length), Some(index)) = (stride, outer.last()) {
            let extent = extents.get(outer.len()).copied().flatten();
            stride = extent.and_then(|it| it.checked_mul(length));
            let Some(stride) = stride else { break };
            row = index.scaled(stride)?.plus(&row)?;
            outer.pop();
        }
        outer.push(row);
        Ok(self.clone().with_results(outer)?.simplified())
    }
}

/// How many lines hold the values of an index into a row that may begin anywhere in a line.
fn in_row(map: &IndexingMap, index: &IndexExpr, per_line: i64) -> Checked<Count> {
    let per_line = i128::from(per_line);
    let spread = |span: i128| -> Checked<Count> {
        // The first element may be the last of its line.
        let lines = 1 + (span + per_line - 1) / per_line;
        let lines = u128::try_from(lines).map_err(|_| IndexingError::Overflow)?;
        Ok(Count::at_most(lines, UpperBound::Alignment))
    };
    if let Some(Progression {
        stride,
        count,
        is_exact,
        ..
    }) = Progression::of(map, index)
    {
        if count == 1 || stride >= per_line {
            let count = u128::try_from(count).map_err(|_| IndexingError::Overflow)?;
            let shift = (!is_exact).then_some(UpperBound::RuntimeShift);
            return Ok(Count::exactly(count).because(shift));
        }
        let span = (count - 1).checked_mul(stride);
        return spread(span.ok_or(IndexingError::Overflow)?);
    }
    let parts = parts_of(index)?;
    let limit = FEW_POINTS;
    let each = Image { map, parts, limit }.count()?;
    let each = each.because(Some(UpperBound::Alignment));
    let range = map.clone().with_results(vec![index.clone()])?;
    // Runtime variables in quotients can be anything.
    let range = range.result_ranges().unwrap_or_default();
    match range.as_deref() {
        Some([range]) => {
            let span = i128::from(range.high) - i128::from(range.low);
            Ok(spread(span)?.least(each))
        }
        _ => Ok(each),
    }
}

/// What of a result is multiplied by the same runtime values, without what does not move.
struct Part {
    /// The runtime values; none when it is not multiplied by such.
    stride: Vec<IndexExpr>,
    expr: IndexExpr,
    /// Whether it may meet another part of the same result.
    is_shifted: bool,
}

/// The terms of a sum that move, those of scaled sums among them one by one.
fn flatten<'e>(
    expr: &'e IndexExpr,
    scale: i64,
    terms: &mut Vec<(&'e IndexExpr, i64)>,
) -> Checked<()> {
    for (term, coefficient) in expr.terms().0 {
        let coefficient = scale
            .checked_mul(coefficient)
            .ok_or(IndexingError::Overflow)?;
        match term {
            _ if is_fixed(term) => {}
            IndexExpr::Sum(_) => flatten(term, coefficient, terms)?,
            _ => terms.push((term, coefficient)),
        }
    }
    Ok(())
}

/// The parts of a result, the one without a runtime stride first.
fn parts_of(result: &IndexExpr) -> Checked<Vec<Part>> {
    let mut parts: BTreeMap<Vec<IndexExpr>, Vec<(IndexExpr, i64)>> = BTreeMap::new();
    let mut terms = Vec::new();
    flatten(result, 1, &mut terms)?;
    for (term, coefficient) in terms {
        let (stride, moving) = match term {
            IndexExpr::Product(factors) => {
                let (fixed, moving): (Vec<_>, Vec<_>) = factors.iter().cloned().partition(is_fixed);
                (fixed, IndexExpr::product(moving)?)
            }
            other => (Vec::new(), other.clone()),
        };
        parts.entry(stride).or_default().push((moving, coefficient));
    }
    let parts = parts.into_iter().map(|(stride, terms)| {
        Ok(Part {
            is_shifted: !stride.is_empty(),
            expr: IndexExpr::sum(terms, 0)?,
            stride,
        })
    });
    parts.collect()
}

/// The combinations of values that parts of results have over the domain of a map.
struct Image<'m> {
    map: &'m IndexingMap,
    parts: Vec<Part>,
    limit: usize,
}

impl Image<'_> {
    /// How many there are: those of parts that share no variables are combined freely.
    fn count(&self) -> Checked<Count> {
        let parts = self.parts.iter().map(|it| &it.expr);
        let constrained = self.map.constraints().iter().map(|it| &it.expr);
        let mut total = Count::exactly(1);
        for group in groups(parts.chain(constrained)) {
            let parts: Vec<&IndexExpr> = group
                .iter()
                .filter_map(|at| self.parts.get(*at))
                .map(|it| &it.expr)
                .collect();
            let constraints: Vec<usize> = group
                .iter()
                .filter_map(|at| at.checked_sub(self.parts.len()))
                .collect();
            if !parts.is_empty() {
                total = total.times(self.of_group(&parts, &constraints)?)?;
            }
        }
        Ok(total)
    }

    fn of_group(&self, parts: &[&IndexExpr], constraints: &[usize]) -> Checked<Count> {
        if constraints.is_empty()
            && let Some(count) = self.closed_form(parts)
        {
            return Ok(count);
        }
        if let Some(count) = self.enumerated(parts, constraints)? {
            return Ok(count);
        }
        let mut least = self.points(parts)?;
        if !constraints.is_empty() {
            least = least.because(Some(UpperBound::Constraints));
            if let Some(count) = self.closed_form(parts) {
                least = least.least(count.because(Some(UpperBound::Constraints)));
            }
            return Ok(least);
        }
        if self.is_injective(parts)? {
            return Ok(least);
        }
        let why = if parts.iter().any(|it| mentions_runtime(it)) {
            UpperBound::RuntimeShift
        } else {
            UpperBound::Meetings
        };
        least = least.because(Some(why));
        let mut each = Count::exactly(1);
        for part in parts {
            each = each.times(self.alone(part)?)?;
        }
        Ok(least.least(each.because(Some(why))))
    }

    /// At most so many values of one part.
    fn alone(&self, part: &IndexExpr) -> Checked<Count> {
        let mut least = self.points(&[part])?;
        least.bound = Some(UpperBound::Meetings);
        if let Some(count) = self.closed_form(&[part]) {
            least = least.least(count);
        }
        let map = self.map.clone().with_results(vec![part.clone()])?;
        if let Ok(Some([range])) = map.result_ranges().as_ref().map(Option::as_deref) {
            least = least.least(Count::at_most(range.count(), UpperBound::Meetings));
        }
        Ok(least)
    }

    /// Where each term moves evenly and on its own.
    fn closed_form(&self, parts: &[&IndexExpr]) -> Option<Count> {
        let mut columns: BTreeMap<&IndexExpr, Column> = BTreeMap::new();
        let mut is_exact = true;
        for (at, part) in parts.iter().enumerate() {
            for (term, coefficient) in part.terms().0 {
                let progression = Progression::of(self.map, term)?;
                is_exact &= progression.is_exact;
                let column = columns.entry(term).or_insert_with(|| Column {
                    steps: vec![0; parts.len()],
                    count: progression.count,
                });
                let step = progression.stride.checked_mul(coefficient.into())?;
                let slot = column.steps.get_mut(at)?;
                *slot = slot.checked_add(step)?;
            }
        }
        if !are_independent(columns.keys().copied()) {
            return None;
        }
        let columns: Vec<Column> = columns.into_values().collect();
        let value = u128::try_from(distinct(&columns)?).ok()?;
        let shift = (!is_exact).then_some(UpperBound::RuntimeShift);
        Some(Count::exactly(value).because(shift))
    }

    /// Where there are few points.
    fn enumerated(&self, parts: &[&IndexExpr], constraints: &[usize]) -> Checked<Option<Count>> {
        let constraints = constraints
            .iter()
            .filter_map(|it| self.map.constraints().get(*it));
        let constraints: Vec<_> = constraints.collect();
        let constrained = constraints.iter().map(|it| &it.expr);
        let exprs: Vec<&IndexExpr> = parts.iter().copied().chain(constrained).collect();
        if exprs.iter().any(|it| mentions_runtime(it)) {
            return Ok(None);
        }
        let Some(values) = values(self.map, &exprs, self.limit)? else {
            return Ok(None);
        };
        let holds = |point: &Vec<i64>| {
            let mut checked = constraints.iter().zip(point.iter().skip(parts.len()));
            checked.all(|(constraint, value)| constraint.bounds.contains(*value))
        };
        let kept = values.into_iter().filter(holds).map(|mut point| {
            point.truncate(parts.len());
            point
        });
        let kept: std::collections::BTreeSet<_> = kept.collect();
        Ok(Some(Count::exactly(kept.len() as u128)))
    }

    /// The points of the variables in these parts.
    fn points(&self, parts: &[&IndexExpr]) -> Checked<Count> {
        let mut total = Count::exactly(1);
        for variable in self.variables(parts) {
            let bounds = self.map.declaration(variable).map(|it| it.bounds);
            let count = bounds.map_or(0, |it| it.count());
            total = total.times(Count::exactly(count))?;
        }
        Ok(total)
    }

    fn variables(&self, parts: &[&IndexExpr]) -> Vec<Variable> {
        let all = parts.iter().flat_map(|it| moving_variables(it));
        let all: std::collections::BTreeSet<_> = all.collect();
        all.into_iter().collect()
    }

    /// Whether an inverse shows that no two points have the same values.
    fn is_injective(&self, parts: &[&IndexExpr]) -> Checked<bool> {
        if parts.iter().any(|it| mentions_runtime(it)) {
            return Ok(false);
        }
        let variables = self.variables(parts);
        let bounds = variables.iter().filter_map(|it| self.map.declaration(*it));
        let dimensions = bounds.map(|it| it.bounds.into()).collect();
        let renamed = |variable: Variable| {
            let at = variables.iter().position(|it| *it == variable);
            at.map_or_else(|| low(self.map, variable).into(), IndexExpr::dimension)
        };
        let results = parts.iter().map(|it| it.substitute(&renamed));
        let results = results.collect::<Checked<_>>()?;
        let alone = IndexingMap::new(dimensions, vec![], vec![], results, vec![])?;
        Ok(alone.inverse().is_ok())
    }
}

fn mentions_runtime(expr: &IndexExpr) -> bool {
    let mut found = false;
    expr.for_each_variable(&mut |it| found |= it.kind == VariableKind::Runtime);
    found
}
