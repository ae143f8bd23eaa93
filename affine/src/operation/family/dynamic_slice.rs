//! `dynamic-slice` and `dynamic-update-slice`: a box whose corner is only known when the program
//! runs. A corner from which the box would leave the array is moved until it does not.

use crate::indexing::Interval;
use crate::operation::attributes::same_length;
use crate::operation::call::{Call, Checked, Described, Read};
use crate::operation::error::ModuleErrorKind;
use crate::operation::relation::{Linear, Place, Relation, Start};

/// `dynamic-slice(x, start, …), dynamic_slice_sizes={…}`.
pub(super) fn dynamic_slice(call: &Call<'_, '_, '_>) -> Checked<Described> {
    let input = call.array(0)?.extents.clone();
    let attributes = &call.attributes;
    let name = "dynamic_slice_sizes";
    let sizes = attributes.required_numbers(name, "dynamic_slice_sizes={1,32}")?;
    let span = attributes.span_of(name);
    let rank = input.len();
    same_length(name, sizes.len(), rank, "dimensions of the operand", span)?;
    for ((found, span), extent) in sizes.iter().zip(&input) {
        if !(0..=*extent).contains(found) {
            let expected = format!("a slice of {extent} positions has 0 to {extent}");
            let found = *found;
            return Err(ModuleErrorKind::BadNumber { found, expected }.at(*span));
        }
    }
    let output: Vec<_> = sizes.iter().map(|(size, _)| *size).collect();
    let mut relation = Relation::of_axes(
        &input,
        &output,
        Vec::new(),
        (0..rank).map(|it| Linear::output(it).and_start(it, 1)),
    );
    relation.starts = starts(call, 1, &input, &output)?;
    let mut reads = vec![Read::new(0, relation)];
    reads.extend(reads_of_starts(call, 1, &output)?);
    Ok(Described::array(call.same_elements(output, 0)?, reads))
}

/// `dynamic-update-slice(x, update, start, …)`.
pub(super) fn dynamic_update_slice(call: &Call<'_, '_, '_>) -> Checked<Described> {
    let output = call.array(0)?.extents.clone();
    let update = call.array(1)?.extents.clone();
    let fits = update
        .iter()
        .zip(&output)
        .all(|(size, extent)| size <= extent);
    if update.len() != output.len() || !fits {
        let expected = format!("an array that fits into {}", call.array(0)?);
        return Err(call.operand_misfit(1, expected));
    }
    let mut relation = Relation::of_axes(
        &update,
        &output,
        Vec::new(),
        (0..output.len()).map(|it| Linear::output(it).and_start(it, -1)),
    );
    relation.starts = starts(call, 2, &output, &update)?;
    let mut reads = vec![
        // What is updated is not read; but which elements these are, only the running program
        // knows.
        Read::new(0, Relation::identity(&output)).perhaps(),
        Read::new(1, relation),
    ];
    reads.extend(reads_of_starts(call, 2, &output)?);
    Ok(Described::array(call.same_elements(output, 0)?, reads))
}

/// A start for each dimension of `whole`, from the operands at `first` and behind it: single
/// values, or one list of them.
fn starts(
    call: &Call<'_, '_, '_>,
    first: usize,
    whole: &[i64],
    sizes: &[i64],
) -> Checked<Vec<Start>> {
    let rank = whole.len();
    let is_list = call.operands.len() == first + 1 && call.array(first)?.rank() == 1;
    if is_list {
        let count = i64::try_from(rank).unwrap_or(i64::MAX);
        call.expect_extents(first, &[count])?;
        call.expect_integers(first)?;
    } else {
        let expected = "a start for each dimension";
        call.takes(first + rank..=first + rank, expected)?;
        for position in first..first + rank {
            call.expect_scalar(position)?;
            call.expect_integers(position)?;
        }
    }
    let extents = whole.iter().zip(sizes).enumerate();
    let starts = extents.map(|(dimension, (extent, size))| {
        let index = i64::try_from(dimension).unwrap_or(i64::MAX);
        let (operand, place) = if is_list {
            (first, vec![Place::Constant(index)])
        } else {
            (first + dimension, Vec::new())
        };
        Start {
            operand,
            place,
            bounds: Interval::new(0, extent - size),
            is_clamped: true,
        }
    });
    Ok(starts.collect())
}

fn reads_of_starts(call: &Call<'_, '_, '_>, first: usize, output: &[i64]) -> Checked<Vec<Read>> {
    let positions = first..call.operands.len();
    let reads = positions.map(|position| {
        let input = &call.array(position)?.extents;
        Ok(Read::new(position, Relation::everything(input, output)))
    });
    reads.collect()
}
