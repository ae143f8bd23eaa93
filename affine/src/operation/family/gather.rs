//! `gather(operand, indices)`: slices of the operand from corners that stand in the indices. A
//! corner from which the slice would leave the operand is moved until it does not.

use crate::indexing::Interval;
use crate::operation::attributes::{Attributes, different_dimensions, same_length};
use crate::operation::call::{Call, Checked, Described, Read};
use crate::operation::error::ModuleErrorKind;
use crate::operation::relation::{Linear, Place, Relation, Start};

/// The dimensions of indices: one that counts the coordinates of a corner, if there is one; the
/// others are those of a batch.
pub(super) struct Indices {
    pub(super) extents: Vec<i64>,
    vector: Option<usize>,
}

impl Indices {
    /// The indices in the operand at `position`, each corner with `count` coordinates.
    pub(super) fn read(call: &Call<'_, '_, '_>, position: usize, count: usize) -> Checked<Self> {
        call.expect_integers(position)?;
        let extents = call.array(position)?.extents.clone();
        let name = "index_vector_dim";
        let found = call.attributes.number(name)?;
        let missing = || call.attributes.missing(name, "index_vector_dim=1");
        let (number, span) = found.ok_or_else(missing)?;
        let dimension = usize::try_from(number).unwrap_or(usize::MAX);
        if dimension > extents.len() {
            let expected = format!("the indices have {} dimensions", extents.len());
            let found = number;
            return Err(ModuleErrorKind::BadNumber { found, expected }.at(span));
        }
        let coordinates = extents.get(dimension).copied().unwrap_or(1);
        if usize::try_from(coordinates).ok() != Some(count) {
            let expected = format!("indices with {count} coordinates along dimension {number}");
            return Err(call.operand_misfit(position, expected));
        }
        let vector = (dimension < extents.len()).then_some(dimension);
        Ok(Self { extents, vector })
    }

    /// The dimensions of the batch.
    pub(super) fn batch(&self) -> Vec<usize> {
        let all = 0..self.extents.len();
        all.filter(|it| Some(*it) != self.vector).collect()
    }

    /// The extents of the batch.
    pub(super) fn batch_extents(&self) -> Vec<i64> {
        let extents = self.batch().into_iter();
        extents
            .filter_map(|it| self.extents.get(it).copied())
            .collect()
    }

    /// Refuses indices in the operand at `position` whose dimensions do not have the extents of
    /// those of `operand` that they are counted together with.
    pub(super) fn expect_batch_extents<'d>(
        &self,
        call: &Call<'_, '_, '_>,
        position: usize,
        operand: &[i64],
        mut pairs: impl Iterator<Item = (&'d usize, &'d usize)>,
    ) -> Checked<()> {
        let fits = pairs.all(|(theirs, ours)| {
            Some(*ours) != self.vector && operand.get(*theirs) == self.extents.get(*ours)
        });
        if fits {
            return Ok(());
        }
        let expected = "an array with the extents of the operand along the batching dimensions";
        Err(call.operand_misfit(position, expected))
    }

    /// Where coordinate `coordinate` of the corner of a batch element stands, whose indices `batch`
    /// gives.
    pub(super) fn place(&self, coordinate: usize, batch: impl Fn(usize) -> Place) -> Vec<Place> {
        let mut next = 0;
        let all = (0..self.extents.len()).map(|dimension| {
            if Some(dimension) == self.vector {
                return Place::Constant(i64::try_from(coordinate).unwrap_or(i64::MAX));
            }
            next += 1;
            batch(next - 1)
        });
        all.collect()
    }

    /// The equations of the indices' dimensions: all coordinates by the range 0, the batch as
    /// `batch` says.
    fn axes(&self, batch: &[usize]) -> Vec<Linear> {
        let mut batch = batch.iter();
        let all = (0..self.extents.len()).map(|dimension| {
            if Some(dimension) == self.vector {
                return Linear::range(0);
            }
            batch
                .next()
                .map_or_else(Linear::first, |it| Linear::output(*it))
        });
        all.collect()
    }
}

/// The dimensions of the operand that are not dimensions of the slices.
struct Dropped {
    collapsed: Vec<usize>,
    /// Dimensions that are counted together with one of the indices'.
    batching: Vec<usize>,
    indices_batching: Vec<usize>,
}

impl Dropped {
    fn read(attributes: &Attributes<'_, '_>, rank: usize, indices: &Indices) -> Checked<Self> {
        let collapsed = attributes.dimensions("collapsed_slice_dims", rank)?;
        let mut both = attributes
            .numbers("operand_batching_dims")?
            .unwrap_or_default();
        let count = both.len();
        both.extend(
            attributes
                .numbers("collapsed_slice_dims")?
                .unwrap_or_default(),
        );
        let mut batching = different_dimensions("operand_batching_dims", &both, rank)?;
        batching.truncate(count);
        let name = "start_indices_batching_dims";
        let indices_batching = attributes.dimensions(name, indices.extents.len())?;
        let span = attributes.span_of(name);
        let what = "operand_batching_dims";
        same_length(name, indices_batching.len(), count, what, span)?;
        Ok(Self {
            collapsed,
            batching,
            indices_batching,
        })
    }

    fn contains(&self, dimension: usize) -> bool {
        self.collapsed.contains(&dimension) || self.batching.contains(&dimension)
    }
}

/// Which dimensions of the operand, the indices and the result belong together.
struct Gather {
    operand: Vec<i64>,
    indices: Indices,
    /// The dimensions of the operand that coordinates count along.
    started: Vec<usize>,
    dropped: Dropped,
    /// The extents of a slice.
    sizes: Vec<i64>,
    /// The dimensions of the operand that a slice keeps, and those of the result that they become.
    kept: Vec<(usize, usize)>,
    /// The other dimensions of the result.
    batch: Vec<usize>,
}

pub(super) fn gather(call: &Call<'_, '_, '_>) -> Checked<Described> {
    call.takes(2..=2, "an operand and indices")?;
    let gather = Gather::read(call)?;
    let output = gather.output();
    let reads = vec![
        Read::new(0, gather.of_operand(&output)),
        Read::new(1, gather.of_indices(&output)),
    ];
    Ok(Described::array(call.same_elements(output, 0)?, reads))
}

impl Gather {
    fn read(call: &Call<'_, '_, '_>) -> Checked<Self> {
        let attributes = &call.attributes;
        let operand = call.array(0)?.extents.clone();
        let rank = operand.len();
        let started =
            attributes.required_dimensions("start_index_map", "start_index_map={0,1}", rank)?;
        let indices = Indices::read(call, 1, started.len())?;
        let dropped = Dropped::read(attributes, rank, &indices)?;
        let batching = dropped.batching.iter().zip(&dropped.indices_batching);
        indices.expect_batch_extents(call, 1, &operand, batching)?;
        let sizes = slice_sizes(call, &operand, &dropped)?;
        let kept: Vec<_> = (0..rank).filter(|it| !dropped.contains(*it)).collect();
        let output_rank = indices.batch().len() + kept.len();
        let offsets = attributes.dimensions("offset_dims", output_rank)?;
        let span = attributes.span_of("offset_dims");
        let what = "dimensions of a slice";
        same_length("offset_dims", offsets.len(), kept.len(), what, span)?;
        let all = 0..output_rank;
        let batch = all.filter(|it| !offsets.contains(it)).collect();
        Ok(Self {
            kept: kept.into_iter().zip(offsets).collect(),
            operand,
            indices,
            started,
            dropped,
            sizes,
            batch,
        })
    }

    /// The extents of the result.
    fn output(&self) -> Vec<i64> {
        let mut output = vec![0; self.batch.len() + self.kept.len()];
        let mut set = |dimension: usize, extent: i64| {
            if let Some(slot) = output.get_mut(dimension) {
                *slot = extent;
            }
        };
        for (ours, theirs) in &self.kept {
            set(*theirs, self.size(*ours));
        }
        for (dimension, extent) in self.batch.iter().zip(self.indices.batch_extents()) {
            set(*dimension, extent);
        }
        output
    }

    fn size(&self, dimension: usize) -> i64 {
        self.sizes.get(dimension).copied().unwrap_or(0)
    }

    fn of_operand(&self, output: &[i64]) -> Relation {
        let axes = (0..self.operand.len()).map(|dimension| {
            let start = self.started.iter().position(|it| *it == dimension);
            let inside = self.along(dimension);
            let axis = inside.map_or_else(Linear::first, Linear::output);
            start.map_or(axis, |start| axis.and_start(start, 1))
        });
        let mut relation = Relation::of_axes(&self.operand, output, Vec::new(), axes);
        let starts = self.started.iter().enumerate();
        let starts = starts.map(|(coordinate, dimension)| {
            let extent = self.operand.get(*dimension).copied().unwrap_or(0);
            let batch = |at| Place::Output(self.batch.get(at).copied().unwrap_or(0));
            Start {
                operand: 1,
                place: self.indices.place(coordinate, batch),
                bounds: Interval::new(0, extent - self.size(*dimension)),
                is_clamped: true,
            }
        });
        relation.starts = starts.collect();
        relation
    }

    /// The dimension of the result that a dimension of the operand is counted along, beside the
    /// start.
    fn along(&self, dimension: usize) -> Option<usize> {
        let kept = self.kept.iter().find(|(ours, _)| *ours == dimension);
        if let Some((_, theirs)) = kept {
            return Some(*theirs);
        }
        let at = self
            .dropped
            .batching
            .iter()
            .position(|it| *it == dimension)?;
        let indices = self.dropped.indices_batching.get(at)?;
        let at = self.indices.batch().iter().position(|it| it == indices)?;
        self.batch.get(at).copied()
    }

    fn of_indices(&self, output: &[i64]) -> Relation {
        let coordinates = i64::try_from(self.started.len()).unwrap_or(i64::MAX);
        let axes = self.indices.axes(&self.batch);
        Relation::of_axes(&self.indices.extents, output, vec![coordinates], axes)
    }
}

/// `slice_sizes={…}`; 1 along dimensions that are dropped.
fn slice_sizes(call: &Call<'_, '_, '_>, operand: &[i64], dropped: &Dropped) -> Checked<Vec<i64>> {
    let name = "slice_sizes";
    let sizes = call
        .attributes
        .required_numbers(name, "slice_sizes={1,8}")?;
    let span = call.attributes.span_of(name);
    let what = "dimensions of the operand";
    same_length(name, sizes.len(), operand.len(), what, span)?;
    for (dimension, ((found, span), extent)) in sizes.iter().zip(operand).enumerate() {
        let largest = if dropped.contains(dimension) {
            1.min(*extent)
        } else {
            *extent
        };
        let fits = (0..=largest).contains(found);
        if !fits || (dropped.contains(dimension) && *found != 1) {
            let expected = if dropped.contains(dimension) {
                format!("a slice has one position along dimension {dimension}, which it drops")
            } else {
                format!("a slice of {extent} positions has 0 to {extent}")
            };
            let found = *found;
            return Err(ModuleErrorKind::BadNumber { found, expected }.at(*span));
        }
    }
    Ok(sizes.into_iter().map(|(size, _)| size).collect())
}
