//! `concatenate(a, b, …), dimensions={k}`: the operands one behind the other along one dimension.

use crate::operation::call::{Call, Checked, Described, Read};
use crate::operation::error::ModuleErrorKind;
use crate::operation::relation::{Linear, Relation};

pub(super) fn concatenate(call: &Call<'_, '_, '_>) -> Checked<Described> {
    call.takes(1.., "at least one operand")?;
    let first = call.array(0)?.extents.clone();
    let attributes = &call.attributes;
    let listed = attributes.required_dimensions("dimensions", "dimensions={1}", first.len())?;
    let [along] = listed.as_slice() else {
        let kind = ModuleErrorKind::Malformed {
            attribute: "dimensions".to_owned(),
            example: "dimensions={1}",
        };
        return Err(kind.at(attributes.span_of("dimensions")));
    };
    let mut total = 0_i64;
    let mut starts = Vec::with_capacity(call.operands.len());
    for position in 0..call.operands.len() {
        let mut wanted = first.clone();
        let extent = call.array(position)?.extents.get(*along).copied();
        if let (Some(wanted), Some(extent)) = (wanted.get_mut(*along), extent) {
            *wanted = extent;
        }
        call.expect_extents(position, &wanted)?;
        starts.push(total);
        total = total
            .checked_add(extent.unwrap_or(0))
            .ok_or_else(|| ModuleErrorKind::TooLarge.at(call.span))?;
    }
    let mut output = first;
    if let Some(extent) = output.get_mut(*along) {
        *extent = total;
    }
    let mut reads = Vec::with_capacity(starts.len());
    for (position, start) in starts.into_iter().enumerate() {
        let axes = (0..output.len()).map(|dimension| {
            let offset = if dimension == *along { -start } else { 0 };
            Linear::strided(dimension, 1, offset)
        });
        let input = &call.array(position)?.extents;
        let relation = Relation::of_axes(input, &output, Vec::new(), axes);
        reads.push(Read::new(position, relation));
    }
    Ok(Described::array(call.same_elements(output, 0)?, reads))
}
