//! `reduce-window(x, initial), window={…}`: the elements in a window that moves over the operand,
//! combined.

use super::reduce::{inputs_and_initials, variadic};
use crate::Span;
use crate::operation::attributes::{WindowDimension, same_length};
use crate::operation::call::{Call, Checked, Described};
use crate::operation::error::ModuleErrorKind;
use crate::operation::relation::{Linear, Relation};

pub(super) fn reduce_window(call: &Call<'_, '_, '_>) -> Checked<Described> {
    let count = inputs_and_initials(call)?;
    let input = call.array(0)?.extents.clone();
    let window = call.attributes.window()?;
    let span = call.attributes.span_of("window");
    same_length(
        "window",
        window.len(),
        input.len(),
        "dimensions of the operand",
        span,
    )?;
    let mut output = Vec::with_capacity(input.len());
    let mut ranges = Vec::new();
    let mut axes = Vec::with_capacity(input.len());
    for (dimension, (window, extent)) in window.iter().zip(&input).enumerate() {
        output.push(positions(window, *extent, span)?);
        let mut axis = moving(window, dimension, span)?;
        if window.size > 1 {
            ranges.push(window.size);
            axis.range = Some((ranges.len() - 1, window.window_dilation));
        }
        axes.push(axis);
    }
    let relation = Relation::of_axes(&input, &output, ranges, axes);
    variadic(call, count, &relation)
}

/// How many positions a window has along a dimension of `extent` positions.
pub(super) fn positions(window: &WindowDimension, extent: i64, span: Span) -> Checked<i64> {
    let dilated = |size: i64, dilation: i64| match size {
        0 => Some(0),
        _ => (size - 1).checked_mul(dilation)?.checked_add(1),
    };
    let room = || {
        let base = dilated(extent, window.base_dilation)?;
        let base = base.checked_add(window.low)?.checked_add(window.high)?;
        base.checked_sub(dilated(window.size, window.window_dilation)?)
    };
    let room = room().ok_or_else(|| ModuleErrorKind::TooLarge.at(span))?;
    Ok(if room < 0 {
        0
    } else {
        room / window.stride + 1
    })
}

/// The equation of a window that moves along a dimension, without the position in the window.
pub(super) fn moving(window: &WindowDimension, dimension: usize, span: Span) -> Checked<Linear> {
    let offset = window.low.checked_neg();
    let offset = offset.ok_or_else(|| ModuleErrorKind::TooLarge.at(span))?;
    Ok(Linear {
        dilation: window.base_dilation,
        ..Linear::strided(dimension, window.stride, offset)
    })
}
