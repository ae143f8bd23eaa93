//! `dot`: products of two operands, summed over pairs of dimensions.

use crate::operation::call::{Call, Checked, Described, Read};
use crate::operation::relation::{Linear, Relation};

/// The dimensions of one operand: shared, summed over, its own.
struct Side<'a> {
    extents: &'a [i64],
    batch: Vec<usize>,
    contracting: Vec<usize>,
}

impl Side<'_> {
    fn free(&self) -> Vec<usize> {
        let all = 0..self.extents.len();
        let is_free = |it: &usize| !self.batch.contains(it) && !self.contracting.contains(it);
        all.filter(is_free).collect()
    }

    fn extents_of(&self, dimensions: &[usize]) -> Vec<i64> {
        let extents = dimensions.iter().map(|it| self.extents.get(*it).copied());
        extents.flatten().collect()
    }

    /// From a result in which the dimensions of its own begin at `first_free`.
    fn relation(&self, output: &[i64], first_free: usize) -> Relation {
        let mut axes = vec![Linear::first(); self.extents.len()];
        let mut set = |dimension: usize, axis: Linear| {
            if let Some(slot) = axes.get_mut(dimension) {
                *slot = axis;
            }
        };
        for (at, dimension) in self.batch.iter().enumerate() {
            set(*dimension, Linear::output(at));
        }
        for (at, dimension) in self.contracting.iter().enumerate() {
            set(*dimension, Linear::range(at));
        }
        for (at, dimension) in self.free().into_iter().enumerate() {
            set(dimension, Linear::output(first_free + at));
        }
        let ranges = self.extents_of(&self.contracting);
        Relation::of_axes(self.extents, output, ranges, axes)
    }
}

pub(super) fn dot(call: &Call<'_, '_, '_>) -> Checked<Described> {
    call.takes(2..=2, "two operands")?;
    let left = side(call, 0, "lhs_batch_dims", "lhs_contracting_dims")?;
    let right = side(call, 1, "rhs_batch_dims", "rhs_contracting_dims")?;
    let pairs = [
        (&left.batch, &right.batch, "batch dimensions"),
        (
            &left.contracting,
            &right.contracting,
            "contracting dimensions",
        ),
    ];
    for (ours, theirs, what) in pairs {
        let extents = left.extents_of(ours);
        if extents != right.extents_of(theirs) {
            let expected = format!("one with {what} of the extents {extents:?}");
            return Err(call.operand_misfit(1, expected));
        }
    }
    let (left_free, right_free) = (left.free(), right.free());
    let mut output = left.extents_of(&left.batch);
    output.extend(left.extents_of(&left_free));
    output.extend(right.extents_of(&right_free));
    let first_left = left.batch.len();
    let first_right = first_left + left_free.len();
    let reads = vec![
        Read::new(0, left.relation(&output, first_left)),
        Read::new(1, right.relation(&output, first_right)),
    ];
    Ok(Described::array(call.result(output, 0)?, reads))
}

fn side<'c>(
    call: &'c Call<'_, '_, '_>,
    position: usize,
    batch: &'static str,
    contracting: &'static str,
) -> Checked<Side<'c>> {
    let extents = call.array(position)?.extents.as_slice();
    let mut both = call.attributes.numbers(batch)?.unwrap_or_default();
    let batch_count = both.len();
    both.extend(call.attributes.numbers(contracting)?.unwrap_or_default());
    // A dimension is one or the other.
    let both =
        crate::operation::attributes::different_dimensions(contracting, &both, extents.len());
    let mut batch = both?;
    let contracting = batch.split_off(batch_count);
    Ok(Side {
        extents,
        batch,
        contracting,
    })
}
