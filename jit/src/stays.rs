//! Computed subscripts that stay in their dimension whatever the arrays hold, so that nobody has to
//! look.

use crate::facts::Checks;
use std::sync::Arc;
use strew_affine::clamped::Clamped;
use strew_affine::interpret::Oob;
use strew_affine::value_range::ValueRanges;
use strew_affine::{AffineExpr, ArrayId, Expr, Kernel};

/// Those of one kernel.
#[derive(Debug)]
pub(crate) struct Stays {
    ranges: ValueRanges,
    clamped: Arc<Clamped>,
}

impl Stays {
    pub(crate) fn of(kernel: &Kernel, clamped: Arc<Clamped>) -> Self {
        Self {
            ranges: ValueRanges::of(kernel),
            clamped,
        }
    }

    pub(crate) fn clamped(&self) -> &Arc<Clamped> {
        &self.clamped
    }

    /// Whether `expr` lies in that dimension of that array in code that makes such `checks`. Where
    /// statements may be skipped, what clamps it may be.
    pub(crate) fn is_in(
        &self,
        kernel: &Kernel,
        (checks, oob): (Checks, Oob),
        place: (ArrayId, usize),
        expr: &Expr,
    ) -> bool {
        let is_below = |extent: i64| {
            let range = self.ranges.of_expr(kernel, expr);
            range.is_some_and(|(least, most)| least >= 0 && most < i128::from(extent))
        };
        extent(kernel, place).is_some_and(is_below)
            || (checks, oob) == (Checks::Computed, Oob::Error) && self.clamped.keeps(place, expr)
    }

    /// Between which numbers the integers of the kernel lie.
    pub(crate) fn ranges(&self) -> &ValueRanges {
        &self.ranges
    }

    /// Whether the dimension of such a subscript is sure to have an element, so that it may be read
    /// even where nothing runs.
    pub(crate) fn has_element(&self, kernel: &Kernel, place: (ArrayId, usize)) -> bool {
        extent(kernel, place).is_some_and(|it| it > 0) || self.clamped.dimensions().contains(&place)
    }
}

fn extent(kernel: &Kernel, (array, dimension): (ArrayId, usize)) -> Option<i64> {
    let extent = kernel.arrays[array].extents.get(dimension);
    extent.and_then(AffineExpr::as_constant)
}
