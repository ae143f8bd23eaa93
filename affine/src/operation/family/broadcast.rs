//! `broadcast(x), dimensions={…}`: dimension `k` of the operand becomes the listed dimension of the
//! result.

use crate::operation::attributes::same_length;
use crate::operation::call::{Call, Checked, Described, Read};
use crate::operation::relation::{Linear, Relation};

pub(super) fn broadcast(call: &Call<'_, '_, '_>) -> Checked<Described> {
    call.takes(1..=1, "one operand")?;
    let output = call.stated_array()?.extents.clone();
    let input = &call.array(0)?.extents;
    let dimensions = call.attributes.dimensions("dimensions", output.len())?;
    let span = call.attributes.span_of("dimensions");
    same_length(
        "dimensions",
        dimensions.len(),
        input.len(),
        "dimensions of the operand",
        span,
    )?;
    let mut axes = Vec::with_capacity(input.len());
    for (dimension, extent) in dimensions.iter().zip(input) {
        let wanted = output.get(*dimension).copied().unwrap_or(0);
        axes.push(match *extent {
            _ if *extent == wanted => Linear::output(*dimension),
            1 => Linear::first(),
            _ => {
                return Err(call.operand_misfit(
                    0,
                    format!("the extent {wanted} or 1 along dimension {dimension} of the result"),
                ));
            }
        });
    }
    let relation = Relation::of_axes(input, &output, Vec::new(), axes);
    let shape = call.same_elements(output, 0)?;
    Ok(Described::array(shape, vec![Read::new(0, relation)]))
}
