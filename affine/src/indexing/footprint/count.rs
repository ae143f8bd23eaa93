use crate::indexing::IndexingError;
use std::fmt;

type Checked<T> = Result<T, IndexingError>;

/// How many there are of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// How many.
    pub value: u128,
    /// Why there may be fewer; `None` when it is exact.
    pub bound: Option<UpperBound>,
}

/// Why a count is an upper bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UpperBound {
    /// Steps of a length that is known at run time only may meet others.
    RuntimeStride,
    /// How quotients and remainders fall depends on what is known at run time only.
    RuntimeShift,
    /// Elements are found through data, which may be the same again and again.
    Data,
    /// Points outside of constraints are counted too.
    Constraints,
    /// Points meet in a way for which no closed form is known, and there are too many to look at
    /// each.
    Meetings,
    /// Several accesses are taken for one that moves through all combinations of their distances.
    Hull,
    /// Several accesses that move in different ways may meet.
    Accesses,
    /// It depends on where the elements begin in a line.
    Alignment,
}

impl fmt::Display for UpperBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RuntimeStride => "steps of a length known at run time may meet others",
            Self::RuntimeShift => "quotients and remainders depend on values known at run time",
            Self::Data => "elements found through data may be the same",
            Self::Constraints => "points outside of constraints are counted",
            Self::Meetings => "points meet in no known way",
            Self::Hull => "all combinations of the distances between accesses are counted",
            Self::Accesses => "accesses that move in different ways may meet",
            Self::Alignment => "elements may begin anywhere in a line",
        })
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bound {
            None => write!(f, "{}", self.value),
            Some(_) => write!(f, "at most {}", self.value),
        }
    }
}

impl Count {
    /// So many, neither more nor fewer.
    pub const fn exactly(value: u128) -> Self {
        Self { value, bound: None }
    }

    /// So many, or fewer.
    pub const fn at_most(value: u128, why: UpperBound) -> Self {
        Self {
            value,
            bound: Some(why),
        }
    }

    /// As many as the pairs of both.
    pub(crate) fn times(self, other: Self) -> Checked<Self> {
        let value = self.value.checked_mul(other.value);
        Ok(Self {
            value: value.ok_or(IndexingError::Overflow)?,
            bound: self.bound.or(other.bound),
        })
    }

    /// As many as both together.
    fn plus(self, other: Self) -> Checked<Self> {
        let value = self.value.checked_add(other.value);
        Ok(Self {
            value: value.ok_or(IndexingError::Overflow)?,
            bound: self.bound.or(other.bound),
        })
    }

    /// The lower of two upper bounds; what is exact is low enough.
    pub(super) fn least(self, other: Self) -> Self {
        match (self.bound, other.bound) {
            (None, _) => self,
            (_, None) => other,
            _ if other.value < self.value => other,
            _ => self,
        }
    }

    pub(crate) fn because(self, why: Option<UpperBound>) -> Self {
        Self {
            bound: self.bound.or(why),
            ..self
        }
    }
}

/// What an access touches while its variables run through a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// The points of the domain.
    pub points: Count,
    /// The different elements.
    pub elements: Count,
    /// What those elements take.
    pub bytes: Count,
    /// The different cache lines, wherever the array begins.
    pub lines: Count,
}

impl Footprint {
    /// Of no access at all.
    pub(crate) const NOTHING: Self = Self {
        points: Count::exactly(0),
        elements: Count::exactly(0),
        bytes: Count::exactly(0),
        lines: Count::exactly(0),
    };

    /// Each of its counts.
    fn map(self, mut of: impl FnMut(Count, Count) -> Checked<Count>, other: Self) -> Checked<Self> {
        Ok(Self {
            points: of(self.points, other.points)?,
            elements: of(self.elements, other.elements)?,
            bytes: of(self.bytes, other.bytes)?,
            lines: of(self.lines, other.lines)?,
        })
    }

    /// Both together; an upper bound where neither is nothing.
    pub(crate) fn plus(self, other: Self, why: UpperBound) -> Checked<Self> {
        let is_sum = self.points.value > 0 && other.points.value > 0;
        let points = self.points.plus(other.points)?;
        let sum = self.map(Count::plus, other)?;
        Ok(Self {
            points,
            ..if is_sum { sum.because(why) } else { sum }
        })
    }

    /// So many of the kind.
    pub(crate) fn times(self, count: usize) -> Checked<Self> {
        let several = Count::at_most(count as u128, UpperBound::Accesses);
        self.map(|it, _| it.times(several), self)
    }

    /// The lower of two upper bounds of each count.
    pub(crate) fn least(self, other: Self) -> Checked<Self> {
        self.map(|one, other| Ok(one.least(other)), other)
    }

    /// The same as upper bounds, for the points are what they are.
    pub(crate) fn because(self, why: UpperBound) -> Self {
        let because = |it: Count| it.because(Some(why));
        Self {
            points: self.points,
            elements: because(self.elements),
            bytes: because(self.bytes),
            lines: because(self.lines),
        }
    }

    /// How often an element is met: points by elements. A lower bound where the elements have an
    /// upper one; 0 where there are none.
    pub fn reuse(&self) -> f64 {
        match self.elements.value {
            0 => 0.0,
            elements => self.points.value as f64 / elements as f64,
        }
    }
}
