//! `reshape`: the same elements in row-major order, counted by other extents.

use crate::operation::call::{Call, Checked, Described, Read};
use crate::operation::error::ModuleErrorKind;
use crate::operation::relation::Relation;
use crate::operation::shape::ArrayShape;

pub(super) fn reshape(call: &Call<'_, '_, '_>) -> Checked<Described> {
    call.takes(1..=1, "one operand")?;
    let (input, output) = (call.array(0)?, call.stated_array()?);
    same_count(call, input, output)?;
    let relation = Relation::row_major(&input.extents, &output.extents);
    let shape = call.same_elements(output.extents.clone(), 0)?;
    Ok(Described::array(shape, vec![Read::new(0, relation)]))
}

/// Refuses a result with another number of elements.
pub(super) fn same_count(
    call: &Call<'_, '_, '_>,
    input: &ArrayShape,
    output: &ArrayShape,
) -> Checked<()> {
    let (before, after) = (input.element_count(), output.element_count());
    if before == after {
        return Ok(());
    }
    let span = call.stated.map_or(call.span, |(_, span)| span);
    Err(ModuleErrorKind::CountChanges {
        operation: call.opcode.to_owned(),
        from: input.to_string(),
        to: output.to_string(),
        before,
        after,
    }
    .at(span))
}
