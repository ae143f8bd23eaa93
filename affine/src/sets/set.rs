use super::number::Checked;
use super::{Budget, Conjunction, Row, Space};
use std::ops::Range;

/// A finite union of conjunctions over one space: the integer points at which at least one of them
/// holds.
///
/// Operations that take two sets expect [compatible](Space::is_compatible) spaces; columns are
/// taken by their places.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Set {
    space: Space,
    conjunctions: Vec<Conjunction>,
}

impl Set {
    /// All points.
    pub fn universe(space: Space) -> Self {
        let all = Conjunction::universe(space.width());
        Self::new(space, vec![all])
    }

    /// No point.
    pub fn empty(space: Space) -> Self {
        Self::new(space, Vec::new())
    }

    /// The points of these conjunctions, which are over the columns of the space.
    pub fn new(space: Space, conjunctions: Vec<Conjunction>) -> Self {
        let mut set = Self {
            space,
            conjunctions: Vec::with_capacity(conjunctions.len()),
        };
        for conjunction in conjunctions {
            set.push(conjunction);
        }
        set
    }

    fn push(&mut self, conjunction: Conjunction) {
        if !self.conjunctions.contains(&conjunction) {
            self.conjunctions.push(conjunction);
        }
    }

    /// What the columns stand for.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The conjunctions.
    pub fn conjunctions(&self) -> &[Conjunction] {
        &self.conjunctions
    }

    /// The points of either set.
    pub fn union(&self, other: &Self) -> Self {
        let mut union = self.clone();
        for conjunction in &other.conjunctions {
            union.push(conjunction.clone());
        }
        union
    }

    /// The points of both sets.
    ///
    /// # Errors
    /// A coefficient leaves 128 bits.
    pub fn intersection(&self, other: &Self) -> Checked<Self> {
        let mut both = Self::empty(self.space.clone());
        for left in &self.conjunctions {
            for right in &other.conjunctions {
                both.conjunctions.extend(left.and(right).tidied()?);
            }
        }
        Ok(both)
    }

    /// The same points by conjunctions in which an existential only says that something is a
    /// multiple of a constant; as far as can be told, none of them is empty or part of another one.
    ///
    /// # Errors
    /// Why they are not known.
    pub fn without_existentials(&self, budget: &mut Budget) -> Checked<Self> {
        let mut set = Self::empty(self.space.clone());
        for conjunction in &self.conjunctions {
            for part in super::eliminate::eliminated(conjunction.clone(), budget)? {
                let is_empty = matches!(part.is_empty(budget), Ok(true));
                if !is_empty && !super::subtract::is_part_of_one(&part, &set.conjunctions, budget) {
                    set.push(part);
                }
            }
        }
        Ok(set)
    }

    /// The points without the dimensions at these places: those that some values there complete to
    /// a point of the set.
    ///
    /// # Errors
    /// Why they are not known.
    pub fn project_out(&self, removed: Range<usize>, budget: &mut Budget) -> Checked<Self> {
        self.forget(removed).without_existentials(budget)
    }

    /// As [`Set::project_out`], but the dimensions stay as existentials.
    pub fn forget(&self, removed: Range<usize>) -> Self {
        let first = self.space.dimension(removed.start);
        let last = self.space.dimension(removed.end);
        let space = self.space.without(removed);
        let place = |column: usize| {
            if column < first {
                Some(column)
            } else {
                (column >= last).then(|| column - (last - first))
            }
        };
        let moved = self.conjunctions.iter();
        let moved = moved.map(|it| it.moved(space.width(), place)).collect();
        Self::new(space, moved)
    }

    /// The points of this set that are not in the other.
    ///
    /// # Errors
    /// Why they are not known.
    pub fn minus(&self, other: &Self, budget: &mut Budget) -> Checked<Self> {
        let mut left = self.clone();
        for conjunction in other.without_existentials(budget)?.conjunctions {
            let mut rest = Self::empty(self.space.clone());
            for part in &left.conjunctions {
                rest.conjunctions
                    .extend(super::subtract::difference(part, &conjunction, budget)?);
            }
            left = rest;
        }
        Ok(left)
    }

    /// Whether no point is in the set, whatever the parameters.
    ///
    /// # Errors
    /// Why that is not known.
    pub fn is_empty(&self, budget: &mut Budget) -> Checked<bool> {
        Ok(self.sample(budget)?.is_none())
    }

    /// Parameters and a point that is in the set for them; small numbers where there is a choice.
    /// `None` when there is none.
    ///
    /// # Errors
    /// Why that is not known.
    pub fn sample(&self, budget: &mut Budget) -> Checked<Option<Vec<i128>>> {
        let mut unknown = None;
        for conjunction in &self.conjunctions {
            match conjunction.sample(budget) {
                Ok(Some(mut values)) => {
                    values.truncate(self.space.width());
                    return Ok(Some(values));
                }
                Ok(None) => {}
                Err(why) => unknown = Some(why),
            }
        }
        unknown.map_or(Ok(None), Err)
    }

    /// Whether the set holds the point of these values for parameters and dimensions.
    ///
    /// # Errors
    /// Why that is not known.
    pub fn contains(&self, values: &[i128], budget: &mut Budget) -> Checked<bool> {
        let mut unknown = None;
        for conjunction in &self.conjunctions {
            match conjunction.contains(values, budget) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(why) => unknown = Some(why),
            }
        }
        unknown.map_or(Ok(false), Err)
    }

    /// The points with this value in a column, a parameter or a dimension.
    ///
    /// # Errors
    /// A number leaves 128 bits.
    pub fn fixed(&self, column: usize, value: i128) -> Checked<Self> {
        self.each(|conjunction| conjunction.fix(column, value))
    }

    /// The points at which `row` is not negative, too.
    pub fn with_inequality(&self, row: &Row) -> Self {
        let mut set = self.clone();
        for conjunction in &mut set.conjunctions {
            conjunction.add_inequality(row.clone());
        }
        set
    }

    /// The points at which `row` is zero, too.
    pub fn with_equality(&self, row: &Row) -> Self {
        let mut set = self.clone();
        for conjunction in &mut set.conjunctions {
            conjunction.add_equality(row.clone());
        }
        set
    }

    fn each(&self, change: impl Fn(&mut Conjunction) -> Checked<()>) -> Checked<Self> {
        let mut set = self.clone();
        set.conjunctions.iter_mut().try_for_each(change)?;
        Ok(set)
    }

    /// Whether every point of this set is in the other.
    ///
    /// # Errors
    /// Why that is not known.
    pub fn is_subset(&self, other: &Self, budget: &mut Budget) -> Checked<bool> {
        Ok(self.point_outside(other, budget)?.is_none())
    }

    /// Parameters and a point of this set that is not in the other; `None` when there is none.
    ///
    /// # Errors
    /// Why that is not known.
    pub fn point_outside(&self, other: &Self, budget: &mut Budget) -> Checked<Option<Vec<i128>>> {
        let other = other.without_existentials(budget)?;
        let mut unknown = None;
        for conjunction in &self.conjunctions {
            match super::subtract::point_outside(conjunction, &other.conjunctions, budget) {
                Ok(None) => {}
                Ok(found) => return Ok(found),
                Err(why) => unknown = Some(why),
            }
        }
        unknown.map_or(Ok(None), Err)
    }

    /// Whether both sets have the same points.
    ///
    /// # Errors
    /// Why that is not known.
    pub fn is_equal(&self, other: &Self, budget: &mut Budget) -> Checked<bool> {
        Ok(self.is_subset(other, budget)? && other.is_subset(self, budget)?)
    }

    /// The same points by rows of which none follows from the others.
    ///
    /// # Errors
    /// Why they are not known.
    pub fn simplified(&self, budget: &mut Budget) -> Checked<Self> {
        let mut set = self.without_existentials(budget)?;
        for conjunction in &mut set.conjunctions {
            super::subtract::drop_implied(conjunction, budget)?;
        }
        let mut kept: Vec<Conjunction> = Vec::new();
        for (position, conjunction) in set.conjunctions.iter().enumerate() {
            let later = set.conjunctions.get(position + 1..).unwrap_or_default();
            let others = [kept.as_slice(), later].concat();
            if !super::subtract::is_part_of_one(conjunction, &others, budget) {
                kept.push(conjunction.clone());
            }
        }
        Ok(Self::new(self.space.clone(), kept))
    }

    /// For all parameters the point of the set that comes first in lexicographic order, if there is
    /// one. As a set, it has at most one point for each value of the parameters.
    ///
    /// # Errors
    /// Why it is not known.
    pub fn lexicographic_minimum(&self, budget: &mut Budget) -> Checked<Self> {
        let later = super::lexicographic::later_points(self, budget)?;
        self.minus(&later, budget)?.without_existentials(budget)
    }

    /// The point that comes first in lexicographic order when the parameters have these values.
    /// `None` when there is no point.
    ///
    /// # Errors
    /// Why it is not known; also when there are points without end before every point.
    pub fn first_point(
        &self,
        parameters: &[i128],
        budget: &mut Budget,
    ) -> Checked<Option<Vec<i128>>> {
        let mut here = self.clone();
        for (column, value) in parameters.iter().enumerate() {
            here = here.fixed(column, *value)?;
        }
        let mut point = Vec::new();
        for position in 0..self.space.dimensions().len() {
            let column = self.space.dimension(position);
            let Some(least) = super::lexicographic::least_value(&here, column, budget)? else {
                return Ok(None);
            };
            here = here.fixed(column, least)?;
            point.push(least);
        }
        if point.is_empty() && here.is_empty(budget)? {
            return Ok(None);
        }
        Ok(Some(point))
    }
}
