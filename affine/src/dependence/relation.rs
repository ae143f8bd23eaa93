//! The pairs of iterations in which two accesses meet, as sets.
//!
//! Columns are the parameters, the iterators around the source, those around the sink, and
//! existentials: quotients, and what stands for values that are not linear or not known. Such
//! values are never dropped: two of them are equal where the same is computed from the same, and
//! anything else is possible.

mod domain;
mod products;

use super::frame::{Fact, Frame, Position};
use super::site::{Level, Site};
use crate::sets::{Budget, Conjunction, Row, Solved, Unknown};
use crate::{Access, AffineExpr, Expr, Factor, IterId, Variable};

pub(super) type Checked<T> = Result<T, Unknown>;

/// One end of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Source,
    Sink,
}

/// A value that is not linear or not known, at one end.
#[derive(Clone, Debug)]
pub(super) struct Opaque<'k> {
    pub(super) end: End,
    pub(super) column: usize,
    value: Value<'k>,
    /// The loops, by depth, of which the value is another in each iteration.
    depends: Vec<usize>,
}

#[derive(Clone, Debug)]
enum Value<'k> {
    Product(Vec<Factor>),
    Element(&'k Access),
    Expr(&'k Expr),
    /// Different each time.
    Unique,
}

impl Value<'_> {
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Product(left), Self::Product(right)) => left == right,
            (Self::Element(left), Self::Element(right)) => left.is_same(right),
            (Self::Expr(left), Self::Expr(right)) => left.is_same(right),
            _ => false,
        }
    }
}

/// The domains of loops and conditions multiply; with more cases than these, what is left is taken
/// as not known.
const MOST_CASES: usize = 64;

pub(super) struct Relation<'a, 'k> {
    frame: &'a Frame<'k>,
    pub(super) source: &'a Site<'k>,
    pub(super) sink: &'a Site<'k>,
    source_levels: Vec<Level<'k>>,
    sink_levels: Vec<Level<'k>>,
    pub(super) cases: Vec<Conjunction>,
    /// Whether the cases say all that there is to say.
    pub(super) is_exact: bool,
    pub(super) opaques: Vec<Opaque<'k>>,
    quotients: Vec<(End, AffineExpr, i64, usize)>,
}

impl<'a, 'k> Relation<'a, 'k> {
    /// `None` when the accesses never meet, as their subscripts alone show.
    pub(super) fn of(
        frame: &'a Frame<'k>,
        source: &'a Site<'k>,
        sink: &'a Site<'k>,
    ) -> Checked<Option<Self>> {
        // Greatest common divisors rule most pairs out that can be ruled out, before loops are
        // looked at.
        let Some(mut relation) = Self::of_meeting(frame, source, sink)? else {
            return Ok(None);
        };
        relation.domains()?;
        relation.products()?;
        Ok(relation.tidy()?.then_some(relation))
    }

    /// The same wherever the loops lead: what no pair of these does, none does.
    pub(super) fn of_meeting(
        frame: &'a Frame<'k>,
        source: &'a Site<'k>,
        sink: &'a Site<'k>,
    ) -> Checked<Option<Self>> {
        let mut relation = Self::universe(frame, source, sink);
        relation.meet()?;
        Ok(relation.tidy()?.then_some(relation))
    }

    /// The iterations in which `site` happens, as those of the source; the sink may be anywhere.
    pub(super) fn alone(frame: &'a Frame<'k>, site: &'a Site<'k>) -> Checked<Self> {
        let mut relation = Self::universe(frame, site, site);
        relation.facts();
        relation.domain(End::Source)?;
        relation.tidy()?;
        Ok(relation)
    }

    fn universe(frame: &'a Frame<'k>, source: &'a Site<'k>, sink: &'a Site<'k>) -> Self {
        let (source_levels, sink_levels): (Vec<_>, Vec<_>) =
            (source.levels().collect(), sink.levels().collect());
        let width = frame.parameters.len() + source_levels.len() + sink_levels.len();
        Self {
            frame,
            source,
            sink,
            source_levels,
            sink_levels,
            cases: vec![Conjunction::universe(width)],
            is_exact: true,
            opaques: Vec::new(),
            quotients: Vec::new(),
        }
    }

    fn domains(&mut self) -> Checked<()> {
        self.facts();
        self.domain(End::Source)?;
        self.domain(End::Sink)
    }

    fn tidy(&mut self) -> Checked<bool> {
        let mut left = Vec::with_capacity(self.cases.len());
        for case in std::mem::take(&mut self.cases) {
            left.extend(case.tidied()?);
        }
        self.cases = left;
        Ok(!self.cases.is_empty())
    }

    fn each(&mut self, change: impl Fn(&mut Conjunction)) {
        self.cases.iter_mut().for_each(change);
    }

    fn levels(&self, end: End) -> &[Level<'k>] {
        match end {
            End::Source => &self.source_levels,
            End::Sink => &self.sink_levels,
        }
    }

    /// The column of the loop at `depth` around one end.
    pub(super) fn column(&self, end: End, depth: usize) -> usize {
        let parameters = self.frame.parameters.len();
        match end {
            End::Source => parameters + depth,
            End::Sink => parameters + self.source_levels.len() + depth,
        }
    }

    fn iterator(&self, end: End, iter: IterId) -> Option<usize> {
        let mut levels = self.levels(end).iter();
        let depth = levels.position(|it| it.iter() == Some(iter))?;
        Some(self.column(end, depth))
    }

    /// How far the sink is ahead of the source in the common loop at `depth`.
    pub(super) fn difference(&self, depth: usize) -> Checked<Row> {
        let sink = Row::column(self.column(End::Sink, depth));
        sink.minus(&Row::column(self.column(End::Source, depth)))
    }

    /// Both ends touch one cell of one target.
    fn meet(&mut self) -> Checked<()> {
        let home = self
            .frame
            .homes
            .get(&self.source.target)
            .copied()
            .unwrap_or(0);
        let common = self.source.common_depth(self.sink);
        for depth in 0..home.min(common) {
            let difference = self.difference(depth)?;
            self.each(|it| it.add_equality(difference.clone()));
        }
        let frame = self.frame;
        let ends = [self.source.order, self.sink.order];
        if let [Some(source), Some(sink)] = ends.map(|it| frame.recovered.get(&it)) {
            for (source, sink) in source.iter().zip(sink) {
                let source = self.row(End::Source, source)?;
                let difference = self.row(End::Sink, sink)?.minus(&source)?;
                self.each(|it| it.add_equality(difference.clone()));
            }
            return Ok(());
        }
        let [source, sink] = ends.map(|it| frame.positions.get(it).map_or(&[][..], Vec::as_slice));
        let mut extents = match self.source.target {
            super::Target::Array(array) => frame.kernel.arrays[array].extents.iter(),
            super::Target::Local(_) => [].iter(),
        };
        for (source, sink) in source.iter().zip(sink) {
            let extent = extents.next();
            let (Some(left), Some(right)) = (
                self.position(End::Source, source)?,
                self.position(End::Sink, sink)?,
            ) else {
                continue;
            };
            let difference = right.minus(&left)?;
            self.each(|it| it.add_equality(difference.clone()));
            self.wrap_alike(source, sink)?;
            if let Some(extent) = extent {
                self.in_range(left, extent)?;
            }
        }
        Ok(())
    }

    /// Where both ends take the remainder by the same parameters, as `(i + 1) mod n` does, what it
    /// is of lies a multiple of the divisor apart: none, one, or two and more. The quotients would
    /// be products of what is not known.
    fn wrap_alike(&mut self, source: &Position<'k>, sink: &Position<'k>) -> Checked<()> {
        let (Some((source, divisor)), Some((sink, other))) = (wrapped(source), wrapped(sink))
        else {
            return Ok(());
        };
        if divisor != other || self.cases.len().saturating_mul(5) > MOST_CASES {
            return Ok(());
        }
        let apart = self.row(End::Source, source)?;
        let apart = self.row(End::Sink, sink)?.minus(&apart)?;
        let divisor = self.row(End::Source, divisor)?;
        let mut cases = Vec::with_capacity(self.cases.len() * 5);
        for case in &self.cases {
            for multiple in -1..=1 {
                let mut case = case.clone();
                case.add_equality(apart.combined(1, &divisor, multiple)?);
                cases.push(case);
            }
            for sign in [-1, 1] {
                let mut case = case.clone();
                case.add_inequality(apart.combined(sign, &divisor, -2)?);
                cases.push(case);
            }
        }
        self.cases = cases;
        Ok(())
    }

    /// What is out of range faults or is skipped: such an access does not happen.
    fn in_range(&mut self, row: Row, extent: &AffineExpr) -> Checked<()> {
        if let Some(extent) = self.frame.linear(extent) {
            let below = extent.minus(&row)?.offset(-1)?;
            self.each(|it| it.add_inequality(below.clone()));
        }
        self.each(|it| it.add_inequality(row.clone()));
        Ok(())
    }

    fn position(&mut self, end: End, position: &Position<'k>) -> Checked<Option<Row>> {
        match position {
            Position::Affine(expr) => self.row(end, expr).map(Some),
            Position::Indirect(load, offset) => {
                let element = self.element(end, load);
                let offset = self.row(end, offset)?;
                element.plus(&offset).map(Some)
            }
            Position::Computed(expr) => {
                self.is_exact = false;
                let value = if self.frame.is_settled(expr) {
                    Value::Expr(expr)
                } else {
                    Value::Unique
                };
                let all = (0..self.levels(end).len()).collect();
                Ok(Some(self.opaque(end, value, all)))
            }
            Position::Any => {
                self.is_exact = false;
                Ok(None)
            }
        }
    }

    /// The value of an element of another array.
    pub(super) fn element(&mut self, end: End, access: &'k Access) -> Row {
        self.is_exact = false;
        if !self.frame.is_settled_access(access) {
            return self.opaque(end, Value::Unique, Vec::new());
        }
        let mut depends = Vec::new();
        for subscript in &access.subscripts {
            match subscript {
                crate::Subscript::Affine(expr) => self.depths(end, expr, &mut depends),
                crate::Subscript::Computed(_) => depends.extend(0..self.levels(end).len()),
            }
        }
        self.opaque(end, Value::Element(access), depends)
    }

    fn depths(&self, end: End, expr: &AffineExpr, depths: &mut Vec<usize>) {
        expr.for_each_variable(&mut |variable| {
            if let Variable::Iter(iter) = variable {
                let mut levels = self.levels(end).iter();
                depths.extend(levels.position(|it| it.iter() == Some(iter)));
            }
        });
    }

    fn opaque(&mut self, end: End, value: Value<'k>, mut depends: Vec<usize>) -> Row {
        depends.sort_unstable();
        depends.dedup();
        let known = self
            .opaques
            .iter()
            .find(|it| it.value.is_same(&value) && (it.end == end || depends.is_empty()));
        if let Some(known) = known {
            return Row::column(known.column);
        }
        let column = self.existential();
        self.opaques.push(Opaque {
            end,
            column,
            value,
            depends,
        });
        Row::column(column)
    }

    fn existential(&mut self) -> usize {
        let mut column = 0;
        for case in &mut self.cases {
            column = case.add_existential();
        }
        column
    }

    /// Equalities of values that are the same at both ends where the common loops in `equal` are in
    /// one iteration.
    pub(super) fn equal_values(&self, equal: &[bool]) -> Checked<Vec<Row>> {
        let is_equal = |depth: &usize| equal.get(*depth).copied().unwrap_or(false);
        let mut rows = Vec::new();
        for left in self.opaques.iter().filter(|it| it.end == End::Source) {
            for right in self.opaques.iter().filter(|it| it.end == End::Sink) {
                let same = left.value.is_same(&right.value);
                if same && left.depends.iter().chain(&right.depends).all(is_equal) {
                    rows.push(Row::column(left.column).minus(&Row::column(right.column))?);
                }
            }
        }
        Ok(rows)
    }

    /// The value of an affine expression at one end.
    pub(super) fn row(&mut self, end: End, expr: &AffineExpr) -> Checked<Row> {
        let mut row = Row::from(i128::from(expr.constant()));
        for term in expr.terms() {
            let value = match term.factors.as_slice() {
                [factor] => self.factor(end, factor)?,
                several => self.product(end, several),
            };
            row = row.combined(1, &value, term.coefficient.into())?;
        }
        Ok(row)
    }

    fn factor(&mut self, end: End, factor: &Factor) -> Checked<Row> {
        match factor {
            Factor::Variable(variable) => {
                let column = match variable {
                    Variable::Param(id) => self.frame.parameters.get(id).copied(),
                    Variable::Iter(iter) => self.iterator(end, *iter),
                };
                Ok(match column {
                    Some(column) => Row::column(column),
                    None => self.product(end, std::slice::from_ref(factor)),
                })
            }
            Factor::FloorDiv(left, right) => match right.as_constant() {
                Some(divisor) if divisor > 0 => self.quotient(end, left, divisor),
                _ => Ok(self.product(end, std::slice::from_ref(factor))),
            },
            Factor::Mod(left, right) => match right.as_constant() {
                Some(divisor) if divisor > 0 => {
                    let quotient = self.quotient(end, left, divisor)?;
                    let row = self.row(end, left)?;
                    row.combined(1, &quotient, -i128::from(divisor))
                }
                _ => self.remainder(end, factor, right),
            },
        }
    }

    fn quotient(&mut self, end: End, expr: &AffineExpr, divisor: i64) -> Checked<Row> {
        let is_shared = expr.is_over_parameters();
        let known = self
            .quotients
            .iter()
            .find(|(at, of, by, _)| (*at == end || is_shared) && of == expr && *by == divisor);
        if let Some((.., column)) = known {
            return Ok(Row::column(*column));
        }
        let row = self.row(end, expr)?;
        let mut column = 0;
        for case in &mut self.cases {
            column = case.add_quotient(&row, divisor.into())?;
        }
        self.quotients.push((end, expr.clone(), divisor, column));
        Ok(Row::column(column))
    }

    /// The remainder of a division by what is not a constant: its range is known, its value is not.
    fn remainder(&mut self, end: End, factor: &Factor, divisor: &AffineExpr) -> Checked<Row> {
        let value = self.product(end, std::slice::from_ref(factor));
        let below = self.row(end, divisor)?.minus(&value)?.offset(-1)?;
        self.each(|it| {
            it.add_inequality(below.clone());
            it.add_inequality(value.clone());
        });
        Ok(value)
    }

    fn product(&mut self, end: End, factors: &[Factor]) -> Row {
        self.is_exact = false;
        let mut depends = Vec::new();
        for factor in factors {
            self.depths(end, &AffineExpr::from_factor(factor.clone()), &mut depends);
        }
        self.opaque(end, Value::Product(factors.to_vec()), depends)
    }

    fn facts(&mut self) {
        for fact in &self.frame.facts {
            for case in &mut self.cases {
                match fact {
                    Fact::Zero(row) => case.add_equality(row.clone()),
                    Fact::NotNegative(row) => case.add_inequality(row.clone()),
                }
            }
        }
    }

    /// What a row pointer that never falls would add: if one of the ends is in a later row for
    /// sure, its elements lie behind those of the other. The rows are not negative then; with each
    /// comes the pointer.
    pub(super) fn monotone(
        &mut self,
        solved: &Solved,
        budget: &mut Budget,
    ) -> Checked<Vec<(Row, &'k Access)>> {
        let mut rows = Vec::new();
        let frame = self.frame;
        let around = |levels: &[Level<'k>]| {
            let iters = levels.iter().filter_map(|it| it.iter());
            let rows = iters.filter_map(|it| frame.rows.get(&it));
            rows.collect::<Vec<_>>()
        };
        let (sources, sinks) = (around(&self.source_levels), around(&self.sink_levels));
        for source in &sources {
            for sink in &sinks {
                let forward = [(End::Source, source), (End::Sink, sink)];
                let backward = [(End::Sink, sink), (End::Source, source)];
                for [(early, [_, (upper, to)]), (late, [(lower, from), _])] in [forward, backward] {
                    if lower.array != upper.array || !frame.is_settled_access(lower) {
                        continue;
                    }
                    let (end_of_early, start_of_late) =
                        (self.row(early, to)?, self.row(late, from)?);
                    let behind = start_of_late.minus(&end_of_early)?;
                    let before = behind.scaled(-1)?.offset(-1)?;
                    if solved.with_inequality(&before)?.sample(budget)?.is_none() {
                        let (upper, start) =
                            (self.element(early, upper), self.element(late, lower));
                        rows.push((start.minus(&upper)?, *lower));
                    }
                }
            }
        }
        Ok(rows)
    }

    /// A quotient of a row, for orders of iterations that a step brings.
    pub(super) fn fresh_quotient(&mut self, row: &Row, divisor: i128) -> Checked<Row> {
        let mut column = 0;
        for case in &mut self.cases {
            column = case.add_quotient(row, divisor)?;
        }
        Ok(Row::column(column))
    }
}

/// What `position` is the remainder of, and by which parameters, if it is one.
fn wrapped<'p>(position: &'p Position<'_>) -> Option<(&'p AffineExpr, &'p AffineExpr)> {
    let Position::Affine(expr) = position else {
        return None;
    };
    let [term] = expr.terms() else {
        return None;
    };
    match term.factors.as_slice() {
        [Factor::Mod(of, divisor)] if term.coefficient == 1 && expr.constant() == 0 => {
            let is_known = divisor.as_constant().is_some();
            (divisor.is_over_parameters() && !is_known).then_some((of, divisor))
        }
        _ => None,
    }
}
