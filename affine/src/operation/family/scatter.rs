//! `scatter(operand, …, indices, updates, …)`: slices that are combined into the operand at corners
//! that stand in the indices. A slice that would leave the operand is left out.

use super::gather::Indices;
use super::reduce::{MAX_OPERANDS, few_operands};
use crate::indexing::Interval;
use crate::operation::attributes::{different_dimensions, same_length};
use crate::operation::call::{Call, Checked, Described, Read};
use crate::operation::relation::{Linear, Place, Relation, Start};

/// Which dimensions of the operand, the indices and the updates belong together.
struct Scatter {
    operand: Vec<i64>,
    updates: Vec<i64>,
    indices: Indices,
    /// The dimensions of the operand that coordinates count along.
    started: Vec<usize>,
    /// The dimensions of the updates that are those of a slice, and the operand's that they lie
    /// along.
    window: Vec<(usize, usize)>,
    /// The other dimensions of the updates.
    batch: Vec<usize>,
    /// The dimensions of the operand along which a slice has one position, without a dimension of
    /// its own.
    inserted: Vec<usize>,
    /// Dimensions of the operand that are counted together with one of the batch, by its position.
    batching: Vec<(usize, usize)>,
}

pub(super) fn scatter(call: &Call<'_, '_, '_>) -> Checked<Described> {
    let expected = "as many updates as operands, and indices between them";
    call.takes(3.., expected)?;
    few_operands(call, 2 * MAX_OPERANDS + 1)?;
    let count = call.operands.len() / 2;
    call.takes(2 * count + 1..=2 * count + 1, expected)?;
    let operand = call.array(0)?.extents.clone();
    let updates = call.array(count + 1)?.extents.clone();
    for position in 0..count {
        call.expect_extents(position, &operand)?;
        call.expect_extents(count + 1 + position, &updates)?;
    }
    let scatter = Scatter::read(call, count, operand, updates)?;
    let of_updates = scatter.of_updates(count);
    let of_indices = Relation::everything(&scatter.indices.extents, &scatter.operand);
    let (mut shapes, mut reads) = (Vec::new(), Vec::new());
    for output in 0..count {
        shapes.push(call.same_elements(scatter.operand.clone(), output)?);
        for position in 0..count {
            let own = Read::new(position, Relation::identity(&scatter.operand));
            reads.push(own.for_output(output).perhaps());
        }
        let indices = Read::new(count, of_indices.clone());
        reads.push(indices.for_output(output).perhaps());
        for position in 0..count {
            let update = Read::new(count + 1 + position, of_updates.clone());
            reads.push(update.for_output(output));
        }
    }
    Ok(Described::arrays(shapes, reads))
}

impl Scatter {
    fn read(
        call: &Call<'_, '_, '_>,
        count: usize,
        operand: Vec<i64>,
        updates: Vec<i64>,
    ) -> Checked<Self> {
        let attributes = &call.attributes;
        let rank = operand.len();
        let name = "scatter_dims_to_operand_dims";
        let started =
            attributes.required_dimensions(name, "scatter_dims_to_operand_dims={0}", rank)?;
        let indices = Indices::read(call, count, started.len())?;
        let (inserted, batching) = dropped(call, &operand, &indices, count)?;
        let is_kept = |it: &usize| {
            !inserted.contains(it) && batching.iter().all(|(dimension, _)| dimension != it)
        };
        let kept: Vec<_> = (0..rank).filter(is_kept).collect();
        let name = "update_window_dims";
        let window = attributes.dimensions(name, updates.len())?;
        let span = attributes.span_of(name);
        same_length(
            name,
            window.len(),
            kept.len(),
            "dimensions of a slice",
            span,
        )?;
        let batch = (0..updates.len())
            .filter(|it| !window.contains(it))
            .collect();
        let scatter = Self {
            window: window.into_iter().zip(kept).collect(),
            operand,
            updates,
            indices,
            started,
            batch,
            inserted,
            batching,
        };
        scatter.check(call, count)?;
        Ok(scatter)
    }

    /// Refuses updates that do not fit.
    fn check(&self, call: &Call<'_, '_, '_>, count: usize) -> Checked<()> {
        let update = |dimension: usize| self.updates.get(dimension).copied();
        let batch: Vec<_> = self.batch.iter().filter_map(|it| update(*it)).collect();
        if batch != self.indices.batch_extents() {
            let expected = format!(
                "updates with the extents {:?} beside those of the slices",
                self.indices.batch_extents()
            );
            return Err(call.operand_misfit(count + 1, expected));
        }
        let mut window = self.window.iter();
        let fits = window.all(|(ours, theirs)| update(*ours) <= self.operand.get(*theirs).copied());
        if !fits {
            return Err(call.operand_misfit(count + 1, "slices that fit into the operand"));
        }
        Ok(())
    }

    /// Which updates an element is combined with: ranges go over all slices.
    fn of_updates(&self, count: usize) -> Relation {
        let start_of = |dimension: usize| self.started.iter().position(|it| *it == dimension);
        let minus_start = |dimension: usize| {
            let axis = Linear::output(dimension);
            start_of(dimension).map_or(axis, |start| axis.and_start(start, -1))
        };
        let axis = |dimension: usize| {
            let window = self.window.iter().find(|(ours, _)| *ours == dimension);
            if let Some((_, theirs)) = window {
                return minus_start(*theirs);
            }
            let at = self.batch.iter().position(|it| *it == dimension);
            let batching = self.batching.iter().find(|(_, batch)| Some(*batch) == at);
            match (batching, at) {
                (Some((theirs, _)), _) => Linear::output(*theirs),
                (None, at) => Linear::range(at.unwrap_or(0)),
            }
        };
        let axes: Vec<_> = (0..self.updates.len()).map(axis).collect();
        let ranges = self.indices.batch_extents();
        let mut relation = Relation::of_axes(&self.updates, &self.operand, ranges, axes);
        relation.conditions = self.inserted.iter().map(|it| minus_start(*it)).collect();
        let starts = self.started.iter().enumerate();
        let starts = starts.map(|(coordinate, dimension)| {
            let extent = self.operand.get(*dimension).copied().unwrap_or(0);
            Start {
                operand: count,
                place: self.indices.place(coordinate, |at| self.batch_place(at)),
                bounds: Interval::new(0, extent - self.size_along(*dimension)),
                is_clamped: false,
            }
        });
        relation.starts = starts.collect();
        relation
    }

    fn batch_place(&self, at: usize) -> Place {
        let batching = self.batching.iter().find(|(_, batch)| *batch == at);
        batching.map_or(Place::Range(at), |(dimension, _)| Place::Output(*dimension))
    }

    /// How many positions a slice has along a dimension of the operand.
    fn size_along(&self, dimension: usize) -> i64 {
        let window = self.window.iter().find(|(_, theirs)| *theirs == dimension);
        let size = window.and_then(|(ours, _)| self.updates.get(*ours));
        size.copied().unwrap_or(1)
    }
}

/// A dimension of the operand, and the dimension of the batch that it is counted together with.
type Batching = Vec<(usize, usize)>;

/// The dimensions of the operand that slices do not have: those along which they have one position,
/// and those of the batch.
fn dropped(
    call: &Call<'_, '_, '_>,
    operand: &[i64],
    indices: &Indices,
    count: usize,
) -> Checked<(Vec<usize>, Batching)> {
    let attributes = &call.attributes;
    let numbers = |name| attributes.numbers(name).map(Option::unwrap_or_default);
    let mut both = numbers("inserted_window_dims")?;
    let inserted_count = both.len();
    both.extend(numbers("input_batching_dims")?);
    let mut inserted = different_dimensions("inserted_window_dims", &both, operand.len())?;
    let batching = inserted.split_off(inserted_count);
    let name = "scatter_indices_batching_dims";
    let along = attributes.dimensions(name, indices.extents.len())?;
    let span = attributes.span_of(name);
    same_length(
        name,
        along.len(),
        batching.len(),
        "input_batching_dims",
        span,
    )?;
    indices.expect_batch_extents(call, count, operand, batching.iter().zip(&along))?;
    let batch = indices.batch();
    let positions = along
        .iter()
        .filter_map(|it| batch.iter().position(|other| other == it));
    Ok((inserted, batching.into_iter().zip(positions).collect()))
}
