//! Operations that put values together, take them apart, or pass them on.

use crate::operation::call::{Call, Checked, Described, Read};
use crate::operation::error::ModuleErrorKind;
use crate::operation::relation::Relation;
use crate::operation::shape::Shape;

/// Tuples of tuples can double in size from line to line.
const MAX_PARTS: usize = 4096;

/// The arrays of all operands in order.
pub(super) fn tuple(call: &Call<'_, '_, '_>) -> Checked<Described> {
    let counts = call.operands.iter().map(|it| it.shape.leaves().len());
    if counts.sum::<usize>() > MAX_PARTS {
        return Err(ModuleErrorKind::TooManyParts(MAX_PARTS).at(call.span));
    }
    let mut reads = Vec::new();
    for (operand, value) in call.operands.iter().enumerate() {
        pass_parts(value.shape, operand, &mut reads);
    }
    let parts = call.operands.iter().map(|it| it.shape.clone());
    Ok(Described {
        shape: Shape::Tuple(parts.collect()),
        reads,
    })
}

/// Identities for all arrays of an operand, which are the next of the result.
fn pass_parts(shape: &Shape, operand: usize, reads: &mut Vec<Read>) {
    for (part, leaf) in shape.leaves().into_iter().enumerate() {
        let relation = Relation::identity(&leaf.extents);
        let output = reads.len();
        reads.push(Read {
            part,
            output,
            ..Read::new(operand, relation)
        });
    }
}

/// The value itself, or a tuple of all values.
pub(super) fn pass(call: &Call<'_, '_, '_>) -> Checked<Described> {
    match call.operands.as_slice() {
        [value] => {
            let mut reads = Vec::new();
            pass_parts(value.shape, 0, &mut reads);
            Ok(Described {
                shape: value.shape.clone(),
                reads,
            })
        }
        _ => tuple(call),
    }
}

/// `get-tuple-element(t), index=k`.
pub(super) fn get_tuple_element(call: &Call<'_, '_, '_>) -> Checked<Described> {
    call.takes(1..=1, "one operand")?;
    let Some(Shape::Tuple(parts)) = call.operands.first().map(|it| it.shape) else {
        return Err(call.operand_misfit(0, "a tuple"));
    };
    let attributes = &call.attributes;
    let found = attributes.number("index")?;
    let (index, span) = found.ok_or_else(|| attributes.missing("index", "index=0"))?;
    let position = usize::try_from(index).unwrap_or(usize::MAX);
    let Some(shape) = parts.get(position) else {
        let expected = format!("the tuple has {} parts, counted from 0", parts.len());
        let found = index;
        return Err(ModuleErrorKind::BadNumber { found, expected }.at(span));
    };
    let before: usize = parts
        .iter()
        .take(position)
        .map(|it| it.leaves().len())
        .sum();
    let mut reads = Vec::new();
    pass_parts(shape, 0, &mut reads);
    for read in &mut reads {
        read.part += before;
    }
    Ok(Described {
        shape: shape.clone(),
        reads,
    })
}
