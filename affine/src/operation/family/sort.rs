//! `sort(keys, values, …), dimensions={k}`: each result can come from any position along the dimension.

use crate::operation::call::{Call, Checked, Described, Read};
use crate::operation::relation::{Linear, Relation};

use super::reduce::{MAX_OPERANDS, few_operands};

pub(super) fn sort(call: &Call<'_, '_, '_>) -> Checked<Described> {
    call.takes(1.., "at least one operand")?;
    few_operands(call, MAX_OPERANDS)?;
    let extents = call.array(0)?.extents.clone();
    let sorted = call.attributes.dimensions("dimensions", extents.len())?;
    let ranges: Vec<_> = sorted
        .iter()
        .filter_map(|it| extents.get(*it).copied())
        .collect();
    let axes = (0..extents.len()).map(|dimension| {
        let range = sorted.iter().position(|it| *it == dimension);
        range.map_or_else(|| Linear::output(dimension), Linear::range)
    });
    let relation = Relation::of_axes(&extents, &extents, ranges, axes);
    let count = call.operands.len();
    let (mut shapes, mut reads) = (Vec::new(), Vec::new());
    for position in 0..count {
        call.expect_extents(position, &extents)?;
        shapes.push(call.same_elements(extents.clone(), position)?);
        for output in 0..count {
            let read = Read::new(position, relation.clone());
            reads.push(read.for_output(output).perhaps());
        }
    }
    Ok(Described::arrays(shapes, reads))
}
