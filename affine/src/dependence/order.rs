//! Whether another order of iterations keeps every dependence, as emptiness of sets.

use super::alike::Alike;
use super::analyzed::Analyzed;
use super::pair::{disjoint_depth, witness_of};
use super::relation::{Checked, End, Relation};
use super::site::{Level, Site};
use super::witness::Witness;
use crate::sets::{Budget, Row, Solved, Unknown};
use crate::{AffineExpr, IterId, Subscript, Variable};

/// One access in one iteration, while the time of it in another order is worked out.
pub struct Instance<'r, 'a, 'k> {
    relation: &'r mut Relation<'a, 'k>,
    end: End,
}

impl<'k> Instance<'_, '_, 'k> {
    /// The access.
    pub fn site(&self) -> &Site<'k> {
        match self.end {
            End::Source => self.relation.source,
            End::Sink => self.relation.sink,
        }
    }

    /// The value of the iterator of a loop around the access.
    pub fn iterator(&self, iter: IterId) -> Option<Row> {
        let depth = self.site().depth_of(iter)?;
        Some(Row::column(self.relation.column(self.end, depth)))
    }

    /// The value of an affine expression over parameters and the iterators around the access.
    ///
    /// # Errors
    /// A coefficient leaves 128 bits.
    pub fn affine(&mut self, expr: &AffineExpr) -> Result<Row, Unknown> {
        self.relation.row(self.end, expr)
    }

    /// `row floordiv divisor`; the divisor is positive.
    ///
    /// # Errors
    /// A coefficient leaves 128 bits.
    pub fn quotient(&mut self, row: &Row, divisor: i64) -> Result<Row, Unknown> {
        self.relation.fresh_quotient(row, divisor.max(1).into())
    }
}

/// Two accesses that do not keep their order in another order of iterations.
#[derive(Clone, Debug)]
pub struct Reversal {
    /// The position among [`Analyzed::sites`] of the access that comes first in the kernel.
    pub source: usize,
    /// That of the one that comes second.
    pub sink: usize,
    /// Where they meet. Without one they *may* meet and come the other way round, with one they do.
    pub witness: Option<Box<Witness>>,
}

/// How much work one pair of accesses may take, in rows.
const ROWS_A_PAIR: u64 = 50_000;

impl<'k> Analyzed<'k> {
    /// Of the pairs of accesses that are `wanted` and of which one writes, one that does not keep
    /// its order when each access happens at the `time` that is given for it: a list of rows,
    /// compared lexicographically. Accesses at equal times keep the order of the text; times of one
    /// access that are equal in two iterations that meet count as broken, since they would happen
    /// at once.
    ///
    /// Interchange of `i` and `j` is the time `(j, i)`, skewing `(i, i + j)`, reversal `(-i)`,
    /// fusion of two loops the same leading row for the accesses of both, tiling by 32
    /// `(i floordiv 32, j floordiv 32, i, j)`, running in parallel no row at all for the loop.
    pub fn order(
        &self,
        wanted: impl Fn(&Site<'k>, &Site<'k>) -> bool,
        time: impl Fn(&mut Instance<'_, '_, 'k>) -> Result<Vec<Row>, Unknown>,
    ) -> Option<Reversal> {
        surest(self.reversals(wanted, time))
    }

    /// The same for each pair by itself, in the order of the text by targets: those that do not
    /// keep their order, or may not. A pair is looked at when it is asked for, so what is `wanted`
    /// may depend on what was found.
    pub fn reversals<'s>(
        &'s self,
        wanted: impl Fn(&Site<'k>, &Site<'k>) -> bool + 's,
        time: impl Fn(&mut Instance<'_, '_, 'k>) -> Result<Vec<Row>, Unknown> + 's,
    ) -> impl Iterator<Item = Reversal> {
        let pairs = self.pairs();
        let asked = pairs.filter(move |(first, second)| is_asked(first, second, &wanted));
        self.ask(asked, move |question, source, sink| {
            question.ask(source, sink, &time)
        })
    }

    /// Of the pairs of accesses that are `wanted` and of which one writes, one that does not keep
    /// its order when the iterations of the loop over `iter` happen at once: of which two
    /// iterations meet, everything around the loop being equal.
    pub fn at_once(
        &self,
        iter: IterId,
        wanted: impl Fn(&Site<'k>, &Site<'k>) -> bool,
    ) -> Option<Reversal> {
        self.at_once_but(iter, wanted, |_, _| false)
    }

    /// The same where some pairs keep their order all the same: those of which the first access, in
    /// an earlier iteration, and the second one, in a later iteration, are `kept`.
    pub fn at_once_but(
        &self,
        iter: IterId,
        wanted: impl Fn(&Site<'k>, &Site<'k>) -> bool,
        kept: impl Fn(&Site<'k>, &Site<'k>) -> bool,
    ) -> Option<Reversal> {
        let pairs = self.pairs_of(|it| it.depth_of(iter).is_some());
        let mut alike = Alike::inside(iter, self);
        let may_meet = pairs.filter(|(first, second)| {
            is_asked(first, second, &wanted)
                && !alike.are_apart(first, second, |first, second| {
                    self.is_apart(first, second, iter, usize::MAX)
                })
        });
        surest(self.ask(may_meet, |question, source, sink| {
            let depth = source.depth_of(iter).unwrap_or_default();
            match kept(source, sink) {
                true => Ok(None),
                false => question.ask_carried(source, sink, depth, depth),
            }
        }))
    }

    /// Whether [`at_once`](Self::at_once) finds nothing: where it does, that is known from the
    /// first pair that may meet.
    pub fn are_apart(&self, iter: IterId, wanted: impl Fn(&Site<'k>, &Site<'k>) -> bool) -> bool {
        self.are_apart_anywhere(iter, usize::MAX, wanted)
    }

    /// The same if, of the loops around, only `outer` are taken to be in one iteration: the loop
    /// could then be the next one inside of these, and run at once there.
    pub fn are_apart_anywhere(
        &self,
        iter: IterId,
        outer: usize,
        wanted: impl Fn(&Site<'k>, &Site<'k>) -> bool,
    ) -> bool {
        let mut alike = Alike::inside(iter, self);
        let mut pairs = self
            .pairs_of(|it| it.depth_of(iter).is_some())
            .filter(|(first, second)| is_asked(first, second, &wanted));
        pairs.all(|(first, second)| {
            let is_apart = |first: &_, second: &_| self.is_apart(first, second, iter, outer);
            alike.are_apart(first, second, is_apart) || is_apart(first, second)
        })
    }

    /// Whether no two iterations of the loop over `iter` meet in two accesses inside of it, where
    /// they are in the same one of the `outer` first loops of those around.
    fn is_apart(&self, first: &Site<'k>, second: &Site<'k>, iter: IterId, outer: usize) -> bool {
        let at = first.depth_of(iter).unwrap_or_default();
        directions(first, second).all(|(source, sink)| {
            let mut question = Question::of(self);
            let met = question.ask_carried(source, sink, at, outer);
            matches!(met, Ok(None)) && !question.is_open
        })
    }

    /// What is found of each of `pairs` that may be the answer to a question, in both orders, one
    /// after the other as it is asked for.
    fn ask<'s>(
        &'s self,
        pairs: impl Iterator<Item = (&'s Site<'k>, &'s Site<'k>)>,
        one: impl Fn(&mut Question<'s, 'k>, &'s Site<'k>, &'s Site<'k>) -> Checked<Option<Witness>>,
    ) -> impl Iterator<Item = Reversal> {
        let directed = pairs.flat_map(|(first, second)| directions(first, second));
        directed.filter_map(move |(source, sink)| {
            let mut question = Question::of(self);
            let witness = match one(&mut question, source, sink) {
                Ok(None) if !question.is_open => return None,
                Ok(witness) => witness,
                Err(_) => None,
            };
            Some(Reversal {
                source: source.order,
                sink: sink.order,
                witness: witness.map(Box::new),
            })
        })
    }
}

/// The first that is sure, else the first.
fn surest(found: impl Iterator<Item = Reversal>) -> Option<Reversal> {
    let mut first = None;
    for reversal in found {
        if reversal.witness.is_some() {
            return Some(reversal);
        }
        first.get_or_insert(reversal);
    }
    first
}

/// Whether the pair is wanted, and the order of it matters.
fn is_asked<'k>(
    first: &Site<'k>,
    second: &Site<'k>,
    wanted: impl Fn(&Site<'k>, &Site<'k>) -> bool,
) -> bool {
    (first.writes() || second.writes()) && wanted(first, second)
}

/// A pair in both orders; one access with itself in one.
fn directions<'p, 'k>(
    first: &'p Site<'k>,
    second: &'p Site<'k>,
) -> impl Iterator<Item = (&'p Site<'k>, &'p Site<'k>)> {
    let count = if first.order == second.order { 1 } else { 2 };
    [(first, second), (second, first)].into_iter().take(count)
}

/// Whether a subscript alone shows that the two meet in one iteration of the loop at `depth` or in
/// none, where they are in one of the `outer` loops: it is the same at both ends, moves with that
/// loop, and else with what is equal. So it is mostly, and no set is made then.
fn tells_iteration(source: &Site<'_>, sink: &Site<'_>, depth: usize, outer: usize) -> bool {
    let iter = |depth| source.levels().nth(depth).and_then(Level::iter);
    let (Some(iter), Some(one), Some(other)) = (iter(depth), source.access, sink.access) else {
        return false;
    };
    let is_equal = |rest: &AffineExpr| {
        let mut is_equal = true;
        rest.for_each_variable(&mut |variable| {
            let at = match variable {
                Variable::Param(_) => return,
                Variable::Iter(it) => source.depth_of(it),
            };
            is_equal &= at.is_some_and(|at| at < outer);
        });
        is_equal
    };
    let mut pairs = one.subscripts.iter().zip(&other.subscripts);
    pairs.any(|pair| match pair {
        (Subscript::Affine(one), Subscript::Affine(other)) if one == other => {
            let split = one.split_off(iter);
            split.is_some_and(|(scale, rest)| scale != 0 && is_equal(&rest))
        }
        _ => false,
    })
}

struct Question<'q, 'k> {
    analyzed: &'q Analyzed<'k>,
    budget: Budget,
    /// Something may be broken, and no witness shows it.
    is_open: bool,
}

impl<'q, 'k> Question<'q, 'k> {
    fn of(analyzed: &'q Analyzed<'k>) -> Self {
        Self {
            analyzed,
            budget: Budget::new(ROWS_A_PAIR),
            is_open: false,
        }
    }

    fn ask(
        &mut self,
        source: &Site<'k>,
        sink: &Site<'k>,
        time: &impl Fn(&mut Instance<'_, '_, 'k>) -> Result<Vec<Row>, Unknown>,
    ) -> Checked<Option<Witness>> {
        let frame = &self.analyzed.frame;
        if self.analyzed.home_depth(source.target) >= source.common_depth(sink) {
            // They meet in one iteration of all loops around both, of which no bound has to be
            // known to see that it keeps their order.
            let Some(relation) = Relation::of_meeting(frame, source, sink)? else {
                return Ok(None);
            };
            let mut question = Self::of(self.analyzed);
            let broken = question.ask_of(relation, time);
            if matches!(broken, Ok(None)) && !question.is_open {
                return Ok(None);
            }
        }
        match Relation::of(frame, source, sink)? {
            Some(relation) => self.ask_of(relation, time),
            None => Ok(None),
        }
    }

    fn ask_of(
        &mut self,
        mut relation: Relation<'_, 'k>,
        time: &impl Fn(&mut Instance<'_, '_, 'k>) -> Result<Vec<Row>, Unknown>,
    ) -> Checked<Option<Witness>> {
        let mut times = Vec::new();
        for end in [End::Source, End::Sink] {
            times.push(time(&mut Instance {
                relation: &mut relation,
                end,
            })?);
        }
        let mut ahead = Vec::new();
        for (of_source, of_sink) in times[0].iter().zip(&times[1]) {
            ahead.push(of_sink.minus(of_source)?);
        }
        for case in &relation.cases {
            let Some(solved) = Solved::of(case, &mut self.budget)? else {
                continue;
            };
            if let Some(witness) = self.in_case(&relation, solved, &ahead)? {
                return Ok(Some(witness));
            }
        }
        Ok(None)
    }

    /// A point at which the sink is in a later iteration of the loop at `depth`, and in the same
    /// one of the `outer` first ones of those around.
    fn ask_carried(
        &mut self,
        source: &Site<'k>,
        sink: &Site<'k>,
        depth: usize,
        outer: usize,
    ) -> Checked<Option<Witness>> {
        let home = self.analyzed.home_depth(source.target);
        // What is made anew in each iteration of a loop meets itself in the same one alone.
        let outer = outer.max(home).min(depth);
        let disjoint = disjoint_depth(source, sink);
        let is_clear = home > depth || disjoint.is_some_and(|it| it <= outer);
        if is_clear || tells_iteration(source, sink, depth, outer) {
            return Ok(None);
        }
        let Some(relation) = Relation::of(&self.analyzed.frame, source, sink)? else {
            return Ok(None);
        };
        for case in &relation.cases {
            let mut rows = relation.equal_values(&vec![true; outer])?;
            for around in 0..outer {
                rows.push(relation.difference(around)?);
            }
            let Some(solved) = Solved::of(case, &mut self.budget)? else {
                continue;
            };
            let Some(equal) = solved.with_equalities(&rows, &mut self.budget)? else {
                continue;
            };
            let later = relation.difference(depth)?.offset(-1)?;
            if let Some(witness) = self.point(&relation, &equal.with_inequality(&later)?)? {
                return Ok(Some(witness));
            }
        }
        Ok(None)
    }

    /// Each way in which the source comes first.
    fn in_case(
        &mut self,
        relation: &Relation<'_, 'k>,
        mut equal: Solved,
        ahead: &[Row],
    ) -> Checked<Option<Witness>> {
        let (source, sink) = (relation.source, relation.sink);
        let disjoint = disjoint_depth(source, sink);
        for depth in 0..source.common_depth(sink) {
            if disjoint == Some(depth) {
                return Ok(None);
            }
            let difference = relation.difference(depth)?;
            if equal.constant(&difference)?.is_none_or(|it| it > 0) {
                let later = equal.with_inequality(&difference.offset(-1)?)?;
                if let Some(witness) = self.broken(relation, later, ahead)? {
                    return Ok(Some(witness));
                }
            }
            let mut rows = relation.equal_values(&vec![true; depth + 1])?;
            rows.push(difference);
            match equal.with_equalities(&rows, &mut self.budget)? {
                Some(next) => equal = next,
                None => return Ok(None),
            }
        }
        if source.order < sink.order {
            return self.broken(relation, equal, ahead);
        }
        Ok(None)
    }

    /// A point of `ordered` at which the sink is not ahead of the source.
    fn broken(
        &mut self,
        relation: &Relation<'_, 'k>,
        ordered: Solved,
        ahead: &[Row],
    ) -> Checked<Option<Witness>> {
        let mut equal = ordered;
        for row in ahead {
            match equal.constant(row)? {
                Some(1..) => return Ok(None),
                Some(0) => continue,
                Some(_) | None => {}
            }
            let behind = equal.with_inequality(&row.scaled(-1)?.offset(-1)?)?;
            if let Some(witness) = self.point(relation, &behind)? {
                return Ok(Some(witness));
            }
            match equal.with_equalities(std::slice::from_ref(row), &mut self.budget)? {
                Some(next) => equal = next,
                None => return Ok(None),
            }
        }
        if relation.sink.order <= relation.source.order {
            return self.point(relation, &equal);
        }
        Ok(None)
    }

    fn point(&mut self, relation: &Relation<'_, 'k>, part: &Solved) -> Checked<Option<Witness>> {
        let Some(point) = part.sample(&mut self.budget)? else {
            return Ok(None);
        };
        let witness = witness_of(&self.analyzed.frame, relation, &point);
        self.is_open |= witness.is_none();
        Ok(witness)
    }
}
