//! `sort(keys, values, …), dimensions={k}` and `topk(x), k=5`: each result can come from any
//! position along the dimension.

use crate::operation::call::{Call, Checked, Described, Read};
use crate::operation::error::ModuleErrorKind;
use crate::operation::relation::{Linear, Relation};
use crate::operation::shape::{ArrayShape, ElementType};

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

/// The greatest or least elements along the last dimension, and their positions there: these depend
/// on the elements as well.
pub(super) fn topk(call: &Call<'_, '_, '_>) -> Checked<Described> {
    call.takes(1..=1, "one operand")?;
    let array = call.array(0)?;
    let Some((length, outer)) = array.extents.split_last() else {
        return Err(call.operand_misfit(0, "an array with a dimension".to_owned()));
    };
    let Some((count, span)) = call.attributes.number("k")? else {
        return Err(call.attributes.missing("k", "k=5"));
    };
    if !(0..=*length).contains(&count) {
        let expected = format!("the last dimension has {length} positions");
        let found = count;
        return Err(ModuleErrorKind::BadNumber { found, expected }.at(span));
    }
    let extents = [outer, &[count]].concat();
    let mut axes: Vec<_> = (0..outer.len()).map(Linear::output).collect();
    axes.push(Linear::range(0));
    let relation = Relation::of_axes(&array.extents, &extents, vec![*length], axes);
    let reads = (0..2).map(|output| Read::new(0, relation.clone()).for_output(output).perhaps());
    let positions = ArrayShape {
        element: ElementType::from_name("s32").unwrap_or(array.element),
        extents: extents.clone(),
        layout: None,
        is_tiled: false,
    };
    let shapes = vec![call.same_elements(extents, 0)?, positions];
    Ok(Described::arrays(shapes, reads.collect()))
}
