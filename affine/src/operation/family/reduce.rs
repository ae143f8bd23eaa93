//! `reduce(a, …, initial_a, …), dimensions={…}`: the elements along the dimensions, combined with
//! the initial value. With several operands each result is computed from all of them.

use crate::operation::call::{Call, Checked, Described, Read};
use crate::operation::error::ModuleErrorKind;
use crate::operation::relation::{Linear, Relation};

/// Each of the results is computed from each of the operands: what that takes grows with the
/// square.
pub(super) const MAX_OPERANDS: usize = 256;

pub(super) fn reduce(call: &Call<'_, '_, '_>) -> Checked<Described> {
    let count = inputs_and_initials(call)?;
    let input = call.array(0)?.extents.clone();
    let attributes = &call.attributes;
    let reduced = attributes.required_dimensions("dimensions", "dimensions={0}", input.len())?;
    let extents_of = |is_reduced: bool| {
        let extents = input.iter().enumerate();
        let kept = extents.filter(|(at, _)| reduced.contains(at) == is_reduced);
        kept.map(|(_, extent)| *extent).collect::<Vec<_>>()
    };
    let (output, ranges) = (extents_of(false), extents_of(true));
    let (mut kept, mut summed) = (0, 0);
    let axes = (0..input.len()).map(|dimension| {
        if reduced.contains(&dimension) {
            summed += 1;
            Linear::range(summed - 1)
        } else {
            kept += 1;
            Linear::output(kept - 1)
        }
    });
    let relation = Relation::of_axes(&input, &output, ranges, axes);
    variadic(call, count, &relation)
}

/// How many operands are reduced: half of them, all with the extents of the first. The others are
/// single values.
pub(super) fn inputs_and_initials(call: &Call<'_, '_, '_>) -> Checked<usize> {
    call.takes(2.., "an initial value for each operand")?;
    few_operands(call, 2 * MAX_OPERANDS)?;
    let count = call.operands.len() / 2;
    if !call.operands.len().is_multiple_of(2) {
        call.takes(2 * count..=2 * count, "an initial value for each operand")?;
    }
    let extents = call.array(0)?.extents.clone();
    for position in 0..count {
        call.expect_extents(position, &extents)?;
        call.expect_scalar(count + position)?;
    }
    Ok(count)
}

/// Refuses more operands than `limit`.
pub(super) fn few_operands(call: &Call<'_, '_, '_>, limit: usize) -> Checked<()> {
    if call.operands.len() > limit {
        return Err(ModuleErrorKind::TooManyParts(limit).at(call.span));
    }
    Ok(())
}

/// `count` results, each computed from all operands by `relation`, and from all initial values.
pub(super) fn variadic(
    call: &Call<'_, '_, '_>,
    count: usize,
    relation: &Relation,
) -> Checked<Described> {
    let output = &relation.output;
    let (mut shapes, mut reads) = (Vec::new(), Vec::new());
    for result in 0..count {
        shapes.push(call.result_part(output.clone(), result, result)?);
        for position in 0..count {
            reads.push(Read::new(position, relation.clone()).for_output(result));
        }
        for position in count..2 * count {
            let initial = Relation::everything(&[], output);
            reads.push(Read::new(position, initial).for_output(result));
        }
    }
    Ok(Described::arrays(shapes, reads))
}
