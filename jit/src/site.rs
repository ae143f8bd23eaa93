//! The places of a kernel where it can stop.

use strew_affine::{Access, ArrayId, Counter, Span, Type};

/// One place at which generated code can report a fault, by its number in the table of sites.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) kind: SiteKind,
    pub(crate) span: Span,
    /// Those whose values the fault record holds, outermost first.
    pub(crate) counters: Vec<Counter>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum SiteKind {
    /// A subscript of `array`; `index` is the type of the subscript's value, which says how to read
    /// the recorded bits.
    OutOfRange {
        array: ArrayId,
        index: Type,
    },
    DivisionByZero,
    /// A combiner that is a function of the host panicked.
    Combiner,
    /// Two writes of one element of `array`, which is said to be disjoint; the index is the number
    /// of the element.
    Met {
        array: ArrayId,
    },
    /// An affine expression left 64 bits, or a divisor in it was not positive; it is a subscript of
    /// `array`, or a bound or a condition when there is none.
    Overflow {
        array: Option<ArrayId>,
    },
}

impl Site {
    pub(crate) fn out_of_range(access: &Access, index: Type, counters: &[Counter]) -> Self {
        Self {
            kind: SiteKind::OutOfRange {
                array: access.array,
                index,
            },
            span: access.span,
            counters: counters.to_vec(),
        }
    }

    pub(crate) fn overflow(access: Option<&Access>, counters: &[Counter]) -> Self {
        Self {
            kind: SiteKind::Overflow {
                array: access.map(|access| access.array),
            },
            span: access.map_or_else(Span::default, |access| access.span),
            counters: counters.to_vec(),
        }
    }

    pub(crate) fn met(access: &Access, counters: &[Counter]) -> Self {
        Self {
            kind: SiteKind::Met {
                array: access.array,
            },
            span: access.span,
            counters: counters.to_vec(),
        }
    }

    pub(crate) fn combiner(span: Span, counters: &[Counter]) -> Self {
        Self {
            kind: SiteKind::Combiner,
            span,
            counters: counters.to_vec(),
        }
    }

    pub(crate) fn division(span: Span, counters: &[Counter]) -> Self {
        Self {
            kind: SiteKind::DivisionByZero,
            span,
            counters: counters.to_vec(),
        }
    }
}
