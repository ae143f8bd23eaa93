//! `transpose` and `reverse`: the same elements in another order.

use crate::operation::attributes::same_length;
use crate::operation::call::{Call, Checked, Described, Read};
use crate::operation::relation::{Linear, Relation};

/// Dimension `k` of the result is the listed dimension of the operand.
pub(super) fn transpose(call: &Call<'_, '_, '_>) -> Checked<Described> {
    call.takes(1..=1, "one operand")?;
    let input = &call.array(0)?.extents;
    let attributes = &call.attributes;
    let order = attributes.required_dimensions("dimensions", "dimensions={0,2,1}", input.len())?;
    let span = attributes.span_of("dimensions");
    same_length(
        "dimensions",
        order.len(),
        input.len(),
        "dimensions of the operand",
        span,
    )?;
    let output: Vec<_> = order
        .iter()
        .filter_map(|it| input.get(*it).copied())
        .collect();
    let mut axes = vec![Linear::first(); input.len()];
    for (position, dimension) in order.iter().enumerate() {
        if let Some(axis) = axes.get_mut(*dimension) {
            *axis = Linear::output(position);
        }
    }
    let relation = Relation::of_axes(input, &output, Vec::new(), axes);
    let shape = call.same_elements(output, 0)?;
    Ok(Described::array(shape, vec![Read::new(0, relation)]))
}

/// The listed dimensions are counted from their end.
pub(super) fn reverse(call: &Call<'_, '_, '_>) -> Checked<Described> {
    call.takes(1..=1, "one operand")?;
    let extents = &call.array(0)?.extents;
    let attributes = &call.attributes;
    let reversed =
        attributes.required_dimensions("dimensions", "dimensions={1,2}", extents.len())?;
    let axes = extents.iter().enumerate().map(|(dimension, extent)| {
        if reversed.contains(&dimension) {
            Linear::strided(dimension, -1, extent - 1)
        } else {
            Linear::output(dimension)
        }
    });
    let relation = Relation::of_axes(extents, extents, Vec::new(), axes);
    let shape = call.same_elements(extents.clone(), 0)?;
    Ok(Described::array(shape, vec![Read::new(0, relation)]))
}
