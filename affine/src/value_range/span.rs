//! Between which numbers an integer lies, and how far it is from an extent.

use super::{Range, binary as range_of, hull};
use crate::BinaryOp;

/// Further from zero than any sum or difference of a few numbers of 64 bits.
const FAR: i128 = 1 << 100;

/// Both of it holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    /// The least and the greatest number.
    pub(crate) number: Range,
    /// The least and the greatest difference between the number and the extent.
    pub(crate) beside: Range,
}

/// Nothing is known.
impl Default for Span {
    fn default() -> Self {
        Self::of((-FAR, FAR))
    }
}

impl Span {
    /// A number in this range.
    pub(crate) fn of(number: Range) -> Self {
        Self {
            number,
            beside: (-FAR, FAR),
        }
    }

    pub(crate) fn beside(beside: Range) -> Self {
        Self {
            number: (-FAR, FAR),
            beside,
        }
    }

    /// A number of which both hold.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            number: both(self.number, other.number),
            beside: both(self.beside, other.beside),
        }
    }

    /// A number of which one or the other holds.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            number: hull(self.number, other.number),
            beside: hull(self.beside, other.beside),
        }
    }

    /// What each of both ranges says of the other where the extent lies between these numbers.
    pub(crate) fn narrowed(self, extent: Range) -> Self {
        let number = both(self.number, sum(self.beside, extent));
        let beside = both(self.beside, difference(number, extent));
        Self { number, beside }
    }

    /// The numbers that are at least as large as one of these.
    pub(crate) fn and_more(self) -> Self {
        Self {
            number: (self.number.0, FAR),
            beside: (self.beside.0, FAR),
        }
    }

    /// The numbers that are at most as large as one of these.
    pub(crate) fn and_less(self) -> Self {
        Self {
            number: (-FAR, self.number.1),
            beside: (-FAR, self.beside.1),
        }
    }

    /// This number and `by`.
    pub(crate) fn offset(self, by: i128) -> Self {
        Self {
            number: sum(self.number, (by, by)),
            beside: sum(self.beside, (by, by)),
        }
    }

    /// This number where it is not `other`: an end of the one is left out where the other is no
    /// other number.
    pub(crate) fn without(self, other: Self) -> Self {
        let without = |own: Range, other: Range| match other.0 == other.1 {
            true => (
                own.0 + i128::from(own.0 == other.0),
                own.1 - i128::from(own.1 == other.0),
            ),
            false => own,
        };
        Self {
            number: without(self.number, other.number),
            beside: without(self.beside, other.beside),
        }
    }

    /// Not negative, and below the extent. No number at all is not in there.
    pub(crate) fn is_in_dimension(self) -> bool {
        !self.is_empty() && self.number.0 >= 0 && self.beside.1 < 0
    }

    /// No number, as where conditions contradict each other.
    fn is_empty(self) -> bool {
        self.number.0 > self.number.1 || self.beside.0 > self.beside.1
    }

    pub(crate) fn is_within(self, (least, most): Range) -> bool {
        least <= self.number.0 && self.number.1 <= most
    }
}

/// A result that does not wrap of numbers of so many bits; `None` where nothing is to be said of
/// it.
pub(crate) fn binary(op: BinaryOp, left: Span, right: Span, bits: u32) -> Option<Span> {
    if left.is_empty() || right.is_empty() {
        return None;
    }
    let number = range_of(op, left.number, right.number, bits)?;
    let found = Span::of(number);
    let is_natural = |it: Span| it.number.0 >= 0;
    let most = |most: i128| (-FAR, most);
    Some(match op {
        BinaryOp::Add => found
            .and(Span::beside(sum(left.beside, right.number)))
            .and(Span::beside(sum(left.number, right.beside))),
        BinaryOp::Sub => found
            .and(Span::beside(difference(left.beside, right.number)))
            .and(Span::of(difference(left.beside, right.beside))),
        // Of divisors without a sign alone is something said above.
        BinaryOp::Rem => found.and(Span::beside(most(right.beside.1 - 1))),
        BinaryOp::BitAnd => {
            let natural = [left, right].into_iter().filter(|it| is_natural(*it));
            natural.fold(found, |found, it| {
                found.and(Span::beside(most(it.beside.1)))
            })
        }
        // No further from zero than what is divided. A number by itself is 1, though, wherever it
        // is evaluated.
        BinaryOp::Div if is_natural(left) && right.number.0 == right.number.1 => {
            found.and(Span::beside(most(left.beside.1)))
        }
        BinaryOp::Shr if is_natural(left) => found.and(Span::beside(most(left.beside.1))),
        _ => found,
    })
}

fn both(one: Range, other: Range) -> Range {
    (one.0.max(other.0), one.1.min(other.1))
}

fn sum(left: Range, right: Range) -> Range {
    (left.0 + right.0, left.1 + right.1)
}

fn difference(left: Range, right: Range) -> Range {
    (left.0 - right.1, left.1 - right.0)
}
