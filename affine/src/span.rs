/// A range of bytes in the source that a construct came from, half open.
///
/// Derived constructs carry the span of what they were derived from, so that a fault or a refusal
/// can point into the file that the user wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span `start..end`; positions beyond 4 GiB are clamped, since no source file that large
    /// is accepted.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |position: usize| u32::try_from(position).unwrap_or(u32::MAX);
        Self {
            start: clamp(start),
            end: clamp(end),
        }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// Whether all of `other` lies in it.
    pub fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The span as a range of `usize`, for slicing the source.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}
