//! `slice(x), slice={[start:limit:stride], …}`.

use crate::operation::attributes::{SliceRange, same_length};
use crate::operation::call::{Call, Checked, Described, Read};
use crate::operation::error::ModuleErrorKind;
use crate::operation::relation::{Linear, Relation};

pub(super) fn slice(call: &Call<'_, '_, '_>) -> Checked<Described> {
    call.takes(1..=1, "one operand")?;
    let input = &call.array(0)?.extents;
    let slices = call.attributes.slices()?;
    let span = call.attributes.span_of("slice");
    same_length(
        "slice",
        slices.len(),
        input.len(),
        "dimensions of the operand",
        span,
    )?;
    let mut output = Vec::with_capacity(slices.len());
    for (slice, extent) in slices.iter().zip(input) {
        output.push(length(slice, *extent)?);
    }
    let axes = slices.iter().enumerate();
    let axes = axes.map(|(dimension, it)| Linear::strided(dimension, it.stride, it.start));
    let relation = Relation::of_axes(input, &output, Vec::new(), axes);
    let shape = call.same_elements(output, 0)?;
    Ok(Described::array(shape, vec![Read::new(0, relation)]))
}

/// How many positions there are from the start in steps before the limit.
fn length(slice: &SliceRange, extent: i64) -> Checked<i64> {
    let bad = |found: i64, expected: String| ModuleErrorKind::BadNumber { found, expected };
    if !(0..=extent).contains(&slice.limit) {
        let expected = format!("the limit of a slice of {extent} positions is from 0 to {extent}");
        return Err(bad(slice.limit, expected).at(slice.span));
    }
    if !(0..=slice.limit).contains(&slice.start) {
        let expected = format!("the start of this slice is from 0 to {}", slice.limit);
        return Err(bad(slice.start, expected).at(slice.span));
    }
    let length = slice.limit - slice.start;
    Ok(length / slice.stride + i64::from(length % slice.stride != 0))
}
