/// The integers from `low` to `high`, both included; none when `low` is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Interval {
    /// The least integer.
    pub low: i64,
    /// The greatest integer.
    pub high: i64,
}

impl Interval {
    /// Every 64-bit integer.
    pub const ALL: Self = Self::new(i64::MIN, i64::MAX);

    /// The interval `[low, high]`.
    pub const fn new(low: i64, high: i64) -> Self {
        Self { low, high }
    }

    /// The interval that holds `value` alone.
    pub const fn point(value: i64) -> Self {
        Self::new(value, value)
    }

    /// The indices of a dimension with `size` elements: `[0, size - 1]`, empty when there are none.
    pub const fn of_size(size: i64) -> Self {
        Self::new(0, size.saturating_sub(1))
    }

    /// Whether there is no integer in it.
    pub const fn is_empty(self) -> bool {
        self.low > self.high
    }

    /// The only integer in it.
    pub fn as_point(self) -> Option<i64> {
        (self.low == self.high).then_some(self.low)
    }

    /// Whether `value` is in it.
    pub const fn contains(self, value: i64) -> bool {
        self.low <= value && value <= self.high
    }

    pub(super) fn contains_wide(self, value: i128) -> bool {
        i128::from(self.low) <= value && value <= i128::from(self.high)
    }

    /// The integers in both.
    pub fn intersect(self, other: Self) -> Self {
        Self::new(self.low.max(other.low), self.high.min(other.high))
    }

    /// How many integers are in it.
    pub fn count(self) -> u128 {
        if self.is_empty() {
            0
        } else {
            u128::from(self.high.abs_diff(self.low)) + 1
        }
    }
}

impl std::fmt::Display for Interval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}, {}]", self.low, self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_inclusive() {
        assert_eq!(Interval::of_size(3).count(), 3);
        assert!(Interval::of_size(0).is_empty());
        assert_eq!(Interval::ALL.count(), 1 << 64);
        assert_eq!(Interval::point(-4).as_point(), Some(-4));
        let cut = Interval::new(0, 5).intersect(Interval::new(5, 9));
        assert_eq!(cut.to_string(), "[5, 5]");
    }
}
