//! `pad(x, value), padding=low_high_interior…`: `value` around and between the elements; negative
//! padding cuts off.

use crate::operation::attributes::Padding;
use crate::operation::call::{Call, Checked, Described, Read};
use crate::operation::error::ModuleErrorKind;
use crate::operation::relation::{Linear, Relation};

pub(super) fn pad(call: &Call<'_, '_, '_>) -> Checked<Described> {
    call.takes(2..=2, "two operands")?;
    call.expect_scalar(1)?;
    let input = &call.array(0)?.extents;
    let padding = call.attributes.padding(input.len())?;
    let span = call.attributes.span_of("padding");
    let mut output = Vec::with_capacity(input.len());
    let mut axes = Vec::with_capacity(input.len());
    let overflow = || ModuleErrorKind::TooLarge.at(span);
    for (dimension, (padding, extent)) in padding.iter().zip(input).enumerate() {
        let padded = padded(*extent, padding).ok_or_else(overflow)?;
        if padded < 0 {
            let expected = format!("{extent} positions with this padding would be {padded}");
            let found = padding.low.min(padding.high);
            return Err(ModuleErrorKind::BadNumber { found, expected }.at(span));
        }
        output.push(padded);
        let offset = padding.low.checked_neg().ok_or_else(overflow)?;
        axes.push(Linear {
            dilation: padding.interior.checked_add(1).ok_or_else(overflow)?,
            ..Linear::strided(dimension, 1, offset)
        });
    }
    let mut reads = vec![Read::new(
        0,
        Relation::of_axes(input, &output, Vec::new(), axes),
    )];
    let mut dimensions = padding.iter().zip(input);
    if dimensions.any(|(padding, extent)| has_padding(*extent, padding)) {
        reads.push(Read::new(1, Relation::everything(&[], &output)).perhaps());
    }
    Ok(Described::array(call.same_elements(output, 0)?, reads))
}

/// The number of positions with the padding; `None` beyond 64 bits.
fn padded(extent: i64, padding: &Padding) -> Option<i64> {
    let holes = padding.interior.checked_mul((extent - 1).max(0))?;
    let inside = extent.checked_add(holes)?;
    inside.checked_add(padding.low)?.checked_add(padding.high)
}

fn has_padding(extent: i64, padding: &Padding) -> bool {
    padding.low > 0 || padding.high > 0 || (padding.interior > 0 && extent > 1)
}
