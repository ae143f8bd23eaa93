//! `bitcast`: the same bytes under another shape or layout. `bitcast-convert`: the same bits of
//! each element as another type.

use super::reshape::same_count;
use crate::operation::call::{Call, Checked, Described, Read};
use crate::operation::error::ModuleErrorKind;
use crate::operation::relation::{Linear, Relation};
use crate::operation::shape::ArrayShape;

/// Elements are counted in the order in which they lie in memory, on both sides.
pub(super) fn bitcast(call: &Call<'_, '_, '_>) -> Checked<Described> {
    call.takes(1..=1, "one operand")?;
    let (input, output) = (call.array(0)?, call.stated_array()?);
    same_count(call, input, output)?;
    if input.element.bits() != output.element.bits() {
        let expected = format!("an array with elements of {} bits", output.element.bits());
        return Err(call.operand_misfit(0, expected));
    }
    if input.is_tiled || output.is_tiled {
        return Err(ModuleErrorKind::TiledBitcast.at(call.span));
    }
    let relation = Relation::count(
        (&input.extents, input.major_to_minor()),
        (&output.extents, output.major_to_minor()),
    );
    let shape = ArrayShape {
        layout: None,
        ..output.clone()
    };
    Ok(Described::array(shape, vec![Read::new(0, relation)]))
}

/// With elements of another width the last dimension of the narrower side counts the parts of a
/// wider element.
pub(super) fn bitcast_convert(call: &Call<'_, '_, '_>) -> Checked<Described> {
    call.takes(1..=1, "one operand")?;
    let (input, output) = (call.array(0)?, call.stated_array()?);
    let (from, to) = (input.element.bits().max(1), output.element.bits().max(1));
    let mut wanted = output.extents.clone();
    let axes = |rank: usize| (0..rank).map(Linear::output);
    let relation = match from.cmp(&to) {
        std::cmp::Ordering::Equal => Relation::identity(&wanted),
        std::cmp::Ordering::Less => {
            let parts = i64::from(to / from);
            wanted.push(parts);
            let last = Linear::range(0);
            let all = axes(output.rank()).chain([last]);
            Relation::of_axes(&wanted, &output.extents, vec![parts], all)
        }
        std::cmp::Ordering::Greater => {
            if wanted.pop() != Some(i64::from(from / to)) {
                let expected = format!(
                    "one whose elements have as many bits as the last dimension of {output} together"
                );
                return Err(call.operand_misfit(0, expected));
            }
            Relation::of_axes(&wanted, &output.extents, Vec::new(), axes(wanted.len()))
        }
    };
    call.expect_extents(0, &wanted)?;
    let shape = ArrayShape {
        layout: None,
        ..output.clone()
    };
    Ok(Described::array(shape, vec![Read::new(0, relation)]))
}
