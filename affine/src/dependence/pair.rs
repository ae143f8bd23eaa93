//! The direction vectors of two accesses: signs are tried from the outermost common loop inwards,
//! each where those before it leave points.

use super::frame::Frame;
use super::relation::{Checked, End, Relation};
use super::site::{Around, Level, Site, Target};
use super::vector::{Component, Direction, leading};
use super::witness::Witness;
use crate::sets::{Budget, Row, Solved};
use crate::visit::Loop;
use crate::{Access, ArrayId};

/// Iterations in which two accesses may meet, by their signs.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub(super) vector: Vec<Component>,
    pub(super) is_exact: bool,
    pub(super) witness: Option<Witness>,
    /// Row pointers of which none falls rules the meeting out.
    pub(super) unless_monotone: Vec<ArrayId>,
}

const ANY: Component = Component {
    direction: Direction::Any,
    distance: None,
};

/// All leaves of a pair; both orders of its ends when they differ.
pub(super) fn leaves<'k>(
    frame: &Frame<'k>,
    source: &Site<'k>,
    sink: &Site<'k>,
    budget: &mut Budget,
) -> Vec<Leaf> {
    let common = source.common_depth(sink);
    match Search::leaves(frame, source, sink, common, budget) {
        Ok(leaves) => leaves,
        // Nothing is known: any order is possible.
        Err(_) => vec![Leaf {
            vector: vec![ANY; common],
            is_exact: false,
            witness: None,
            unless_monotone: Vec::new(),
        }],
    }
}

struct Search<'s, 'a, 'k> {
    relation: Relation<'a, 'k>,
    frame: &'a Frame<'k>,
    common: usize,
    /// Iterations of the forall at this depth write different elements.
    disjoint: Option<usize>,
    budget: &'s mut Budget,
    leaves: Vec<Leaf>,
}

/// A part of the relation, and a point of it, if one was found.
struct Part {
    solved: Solved,
    point: Option<Vec<i128>>,
}

impl<'a, 'k> Search<'_, 'a, 'k> {
    fn leaves(
        frame: &'a Frame<'k>,
        source: &'a Site<'k>,
        sink: &'a Site<'k>,
        common: usize,
        budget: &mut Budget,
    ) -> Checked<Vec<Leaf>> {
        let Some(relation) = Relation::of(frame, source, sink)? else {
            return Ok(Vec::new());
        };
        let cases = relation.cases.clone();
        let mut search = Search {
            disjoint: disjoint_depth(source, sink),
            relation,
            frame,
            common,
            budget,
            leaves: Vec::new(),
        };
        for case in &cases {
            let Some(solved) = Solved::of(case, search.budget)? else {
                continue;
            };
            let Some(part) = search.part(solved) else {
                continue;
            };
            search.descend(part, &mut Vec::new())?;
        }
        Ok(search.leaves)
    }

    /// `None` when there is no point for sure.
    fn part(&mut self, solved: Solved) -> Option<Part> {
        match solved.sample(self.budget) {
            Ok(None) => None,
            Ok(point) => Some(Part { solved, point }),
            Err(_) => Some(Part {
                solved,
                point: None,
            }),
        }
    }

    fn is_same_site(&self) -> bool {
        self.relation.source.order == self.relation.sink.order
    }

    fn descend(&mut self, part: Part, vector: &mut Vec<Component>) -> Checked<()> {
        let depth = vector.len();
        let are_equal = leading(vector) == Direction::Equal;
        if are_equal && self.disjoint == Some(depth) {
            return Ok(());
        }
        if depth == self.common {
            return self.leaf(part, vector);
        }
        if !are_equal && self.is_any_from(&part, depth) {
            let others = vec![ANY; self.common - depth];
            return self.leaf(part, &[vector.as_slice(), &others].concat());
        }
        let row = self.relation.difference(depth)?;
        let difference = part.solved.value(&row)?;
        let known = difference.is_constant().then(|| difference.constant());
        for sign in Direction::SIGNS {
            let is_mirrored = are_equal && self.is_same_site() && sign == Direction::Greater;
            let is_ruled_out = known.is_some_and(|it| Direction::of(it) != sign);
            if is_mirrored || is_ruled_out {
                continue;
            }
            let Some(child) = self.restricted(&part, &row, sign, known.is_some(), vector)? else {
                continue;
            };
            let distance = if sign == Direction::Equal {
                Some(0)
            } else {
                known
            };
            vector.push(Component {
                direction: sign,
                distance: distance.and_then(|it| i64::try_from(it).ok()),
            });
            let done = self.descend(child, vector);
            vector.pop();
            done?;
        }
        Ok(())
    }

    /// Whether the common loops from `depth` on have all signs in all combinations, of which there
    /// are three times as many with each loop.
    fn is_any_from(&mut self, part: &Part, depth: usize) -> bool {
        // Values that are equal where loops are would tie them to each other.
        if !self.relation.opaques.is_empty() {
            return false;
        }
        let relation = &self.relation;
        let ends = |depth| [End::Source, End::Sink].map(|end| relation.column(end, depth));
        let pairs: Vec<_> = (depth..self.common).map(|it| ends(it).into()).collect();
        matches!(part.solved.has_all_orders(&pairs, self.budget), Ok(true))
    }

    /// The points of `part` at which the next loop has this sign.
    fn restricted(
        &mut self,
        part: &Part,
        row: &Row,
        sign: Direction,
        is_known: bool,
        vector: &[Component],
    ) -> Checked<Option<Part>> {
        let solved = match sign {
            Direction::Less if !is_known => part.solved.with_inequality(&row.offset(-1)?)?,
            Direction::Greater if !is_known => {
                part.solved.with_inequality(&row.scaled(-1)?.offset(-1)?)?
            }
            Direction::Equal => {
                let mut equal: Vec<bool> = vector
                    .iter()
                    .map(|it| it.direction == Direction::Equal)
                    .collect();
                equal.push(true);
                let mut rows = self.relation.equal_values(&equal)?;
                if !is_known {
                    rows.push(row.clone());
                }
                if rows.is_empty() {
                    return Ok(Some(self.kept(part)));
                }
                let Some(solved) = part.solved.with_equalities(&rows, self.budget)? else {
                    return Ok(None);
                };
                return Ok(self.part(solved));
            }
            _ => return Ok(Some(self.kept(part))),
        };
        let has_sign =
            |point: &Vec<i128>| row.value(point).is_ok_and(|it| Direction::of(it) == sign);
        match part.point.as_ref().filter(|it| has_sign(it)) {
            Some(point) => Ok(Some(Part {
                solved,
                point: Some(point.clone()),
            })),
            None => Ok(self.part(solved)),
        }
    }

    fn kept(&self, part: &Part) -> Part {
        Part {
            solved: part.solved.clone(),
            point: part.point.clone(),
        }
    }

    fn leaf(&mut self, part: Part, vector: &[Component]) -> Checked<()> {
        let mut vector = vector.to_vec();
        let mut part = part;
        if self.common == 0 {
            // Values that no loop changes are equal.
            let rows = self.relation.equal_values(&[])?;
            let Some(solved) = part.solved.with_equalities(&rows, self.budget)? else {
                return Ok(());
            };
            match self.part(solved) {
                Some(with) => part = with,
                None => return Ok(()),
            }
        }
        let is_exact = self.relation.is_exact && part.point.is_some();
        if is_exact {
            self.find_distances(&part, &mut vector)?;
        }
        let witness = part
            .point
            .as_ref()
            .and_then(|point| witness_of(self.frame, &self.relation, point));
        let unless_monotone = if witness.is_none() {
            self.monotone(&part)?
        } else {
            Vec::new()
        };
        self.leaves.push(Leaf {
            vector,
            is_exact,
            witness,
            unless_monotone,
        });
        Ok(())
    }

    /// Where the difference has one value only, though no equality says so.
    fn find_distances(&mut self, part: &Part, vector: &mut [Component]) -> Checked<()> {
        for (depth, component) in vector.iter_mut().enumerate() {
            let is_open = component.distance.is_none() && component.direction != Direction::Any;
            let Some(point) = part.point.as_ref().filter(|_| is_open) else {
                continue;
            };
            let row = self.relation.difference(depth)?;
            let value = row.value(point)?;
            let nearer = row.scaled(-1)?.offset(value)?.offset(-1)?;
            let farther = row.offset(-value)?.offset(-1)?;
            let mut is_fixed = true;
            for other in [nearer, farther] {
                let other = part.solved.with_inequality(&other)?;
                is_fixed = is_fixed && matches!(other.sample(self.budget), Ok(None));
            }
            if is_fixed {
                component.distance = i64::try_from(value).ok();
            }
        }
        Ok(())
    }

    /// The row pointers that rule the part out when they never fall.
    fn monotone(&mut self, part: &Part) -> Checked<Vec<ArrayId>> {
        let rows: Vec<(Row, &'k Access)> = self.relation.monotone(&part.solved, self.budget)?;
        let mut with = part.solved.clone();
        for (row, _) in &rows {
            with = with.with_inequality(row)?;
        }
        if rows.is_empty() || with.sample(self.budget)?.is_some() {
            return Ok(Vec::new());
        }
        let mut arrays: Vec<ArrayId> = rows.iter().map(|(_, access)| access.array).collect();
        arrays.sort_by_key(|it| it.into_raw());
        arrays.dedup();
        Ok(arrays)
    }
}

/// The witness at a point of the relation, if what it says happens.
pub(super) fn witness_of<'k>(
    frame: &Frame<'k>,
    relation: &Relation<'_, 'k>,
    point: &[i128],
) -> Option<Witness> {
    let values = |end: End, site: &Site<'k>| -> Option<Vec<i64>> {
        let depths = 0..site.levels().count();
        let values = depths.map(|depth| {
            let value = point.get(relation.column(end, depth)).copied();
            value.and_then(|it| i64::try_from(it).ok())
        });
        values.collect()
    };
    let (source, sink) = (relation.source, relation.sink);
    let parameters = frame.parameters.iter().map(|(id, column)| {
        let value = point.get(*column).copied().unwrap_or(0);
        Some((*id, i64::try_from(value).ok()?))
    });
    Witness::checked(
        frame,
        [source, sink],
        parameters.collect::<Option<_>>()?,
        [values(End::Source, source)?, values(End::Sink, sink)?],
    )
}

/// The depth of a common forall in which each element of the target is written once at most, if
/// both ends write.
pub(super) fn disjoint_depth(source: &Site<'_>, sink: &Site<'_>) -> Option<usize> {
    let Target::Array(array) = source.target else {
        return None;
    };
    let common = source.common_depth(sink);
    let mut levels = source.around.iter().filter_map(|it| match it {
        Around::Level(level) => Some(*level),
        Around::Affine { .. } | Around::Data(..) => None,
    });
    let found = levels.position(|it| match it {
        Level::Loop(Loop::Forall(forall)) => forall.disjoint.iter().any(|it| it.target == array),
        _ => false,
    });
    found.filter(|depth| *depth < common && source.writes() && sink.writes())
}
