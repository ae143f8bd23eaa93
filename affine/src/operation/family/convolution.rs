//! `convolution(input, kernel), window={…}, dim_labels=b01f_01io->b01f`: products of the kernel
//! with the part of the input under it, summed; features in groups (`feature_group_count`), or
//! batches in groups (`batch_group_count`).

use super::reduce_window::{moving, positions};
use crate::operation::attributes::{Labels, WindowDimension};
use crate::operation::call::{Call, Checked, Described, Read};
use crate::operation::error::{ModuleError, ModuleErrorKind};
use crate::operation::relation::{Axis, Inner, Linear, Relation, Rule};

/// The dimensions of one array: the two that have letters, and the spatial ones in the order of
/// their numbers.
struct Roles {
    first: usize,
    second: usize,
    spatial: Vec<usize>,
}

/// What the text says, its numbers checked.
struct Convolution {
    input: Roles,
    kernel: Roles,
    output: Roles,
    window: Vec<WindowDimension>,
    feature_groups: i64,
    batch_groups: i64,
}

pub(super) fn convolution(call: &Call<'_, '_, '_>) -> Checked<Described> {
    call.takes(2..=2, "two operands")?;
    let (input, kernel) = (&call.array(0)?.extents, &call.array(1)?.extents);
    let convolution = Convolution::read(call, input.len(), kernel.len())?;
    let sizes = convolution.sizes(call, input, kernel)?;
    let output = convolution.output_extents(call, input, &sizes)?;
    let input_relation = convolution.input_relation(call, input, &output, &sizes)?;
    let mut kernel_relation = convolution.kernel_relation(kernel, &output, &sizes);
    kernel_relation.companions = convolution.companions(&input_relation, input);
    let reads = vec![Read::new(0, input_relation), Read::new(1, kernel_relation)];
    Ok(Described::array(call.result(output, 0)?, reads))
}

/// The extents that matter beside the spatial ones.
struct Sizes {
    /// Input features under the kernel: those of one group.
    features: i64,
    output_features: i64,
    output_batch: i64,
}

impl Convolution {
    fn read(call: &Call<'_, '_, '_>, input_rank: usize, kernel_rank: usize) -> Checked<Self> {
        let attributes = &call.attributes;
        let labels = attributes.labels()?;
        let spatial = input_rank.saturating_sub(2);
        let found = Self::roles(labels, input_rank, kernel_rank);
        let (input, kernel, output) = found.ok_or_else(|| bad_labels(labels, spatial))?;
        let window = attributes.window()?;
        let span = attributes.span_of("window");
        crate::operation::attributes::same_length(
            "window",
            window.len(),
            spatial,
            "spatial dimensions",
            span,
        )?;
        Ok(Self {
            input,
            kernel,
            output,
            window,
            feature_groups: groups(call, "feature_group_count")?,
            batch_groups: groups(call, "batch_group_count")?,
        })
    }

    fn roles(
        labels: Labels<'_>,
        input_rank: usize,
        kernel_rank: usize,
    ) -> Option<(Roles, Roles, Roles)> {
        let spatial = input_rank.checked_sub(2)?;
        let has_ranks = labels.input.len() == input_rank && labels.kernel.len() == kernel_rank;
        let (input, kernel, output) = (
            Roles::read(labels.input, ['b', 'f'], spatial)?,
            Roles::read(labels.kernel, ['i', 'o'], spatial)?,
            Roles::read(labels.output, ['b', 'f'], spatial)?,
        );
        has_ranks.then_some((input, kernel, output))
    }

    /// The sizes that follow from both operands, if they fit.
    fn sizes(&self, call: &Call<'_, '_, '_>, input: &[i64], kernel: &[i64]) -> Checked<Sizes> {
        let at = |extents: &[i64], dimension: usize| extents.get(dimension).copied().unwrap_or(0);
        let (batch, features) = (at(input, self.input.first), at(input, self.input.second));
        let output_features = at(kernel, self.kernel.second);
        let groups_span = |name| call.attributes.span_of(name);
        let divided = |found: i64, count: i64, what: &str, name: &'static str| {
            if found % count == 0 {
                return Ok(found / count);
            }
            let expected = format!("a count of groups divides the {found} {what}");
            let found = count;
            Err(ModuleErrorKind::BadNumber { found, expected }.at(groups_span(name)))
        };
        let feature_groups = self.feature_groups;
        let batch_groups = self.batch_groups;
        if feature_groups > 1 && batch_groups > 1 {
            let found = batch_groups;
            let expected = "there are groups of features already".to_owned();
            let span = groups_span("batch_group_count");
            return Err(ModuleErrorKind::BadNumber { found, expected }.at(span));
        }
        let name = "feature_group_count";
        let group_features = divided(features, feature_groups, "input features", name)?;
        divided(output_features, feature_groups, "output features", name)?;
        let name = "batch_group_count";
        let output_batch = divided(batch, batch_groups, "elements of the batch", name)?;
        divided(output_features, batch_groups, "output features", name)?;
        if at(kernel, self.kernel.first) != group_features {
            let expected = format!("a kernel with {group_features} input features");
            return Err(call.operand_misfit(1, expected));
        }
        let window: Vec<_> = self.window.iter().map(|it| it.size).collect();
        let spatial = self.kernel.spatial.iter();
        if !spatial.map(|it| at(kernel, *it)).eq(window.iter().copied()) {
            let expected = format!("a kernel with the spatial extents {window:?} of the window");
            return Err(call.operand_misfit(1, expected));
        }
        Ok(Sizes {
            features: group_features,
            output_features,
            output_batch,
        })
    }

    fn output_extents(
        &self,
        call: &Call<'_, '_, '_>,
        input: &[i64],
        sizes: &Sizes,
    ) -> Checked<Vec<i64>> {
        let span = call.attributes.span_of("window");
        let mut output = vec![0; self.output.spatial.len() + 2];
        let mut set = |dimension: usize, extent: i64| {
            if let Some(slot) = output.get_mut(dimension) {
                *slot = extent;
            }
        };
        set(self.output.first, sizes.output_batch);
        set(self.output.second, sizes.output_features);
        let dimensions = self.output.spatial.iter().zip(&self.input.spatial);
        for ((output, input_dimension), window) in dimensions.zip(&self.window) {
            let extent = input.get(*input_dimension).copied().unwrap_or(0);
            set(*output, positions(window, extent, span)?);
        }
        Ok(output)
    }

    /// The spatial ranges of the window, then the features under it.
    fn ranges(&self, sizes: &Sizes) -> Vec<i64> {
        let window = self.window.iter().map(|it| it.size);
        window.chain([sizes.features]).collect()
    }

    fn input_relation(
        &self,
        call: &Call<'_, '_, '_>,
        input: &[i64],
        output: &[i64],
        sizes: &Sizes,
    ) -> Checked<Relation> {
        let span = call.attributes.span_of("window");
        let feature_range = self.window.len();
        let batch = Linear::output(self.output.first);
        let batch = match self.batch_groups {
            1 => Axis::Linear(batch),
            count => Axis::Group {
                output: self.output.second,
                outputs: sizes.output_features / count,
                inputs: sizes.output_batch,
                inner: Inner::Output(self.output.first),
            },
        };
        let features = match self.feature_groups {
            1 => Axis::Linear(Linear::range(feature_range)),
            count => Axis::Group {
                output: self.output.second,
                outputs: sizes.output_features / count,
                inputs: sizes.features,
                inner: Inner::Range(feature_range),
            },
        };
        let mut axes = vec![Axis::Linear(Linear::first()); input.len()];
        let mut set = |dimension: usize, axis: Axis| {
            if let Some(slot) = axes.get_mut(dimension) {
                *slot = axis;
            }
        };
        set(self.input.first, batch);
        set(self.input.second, features);
        let spatial = self.input.spatial.iter().zip(&self.output.spatial);
        for (at, ((dimension, output), window)) in spatial.zip(&self.window).enumerate() {
            let mut axis = moving(window, *output, span)?;
            axis.range = Some((at, window.window_dilation));
            set(*dimension, axis.into());
        }
        Ok(Relation::of_axes(input, output, self.ranges(sizes), axes))
    }

    /// What each position of the kernel is multiplied with: padding counts for nothing.
    fn companions(&self, relation: &Relation, input: &[i64]) -> Vec<(Linear, i64)> {
        let Rule::Axes(axes) = &relation.rule else {
            return Vec::new();
        };
        let spatial = self.input.spatial.iter().filter_map(|dimension| {
            match (axes.get(*dimension)?, input.get(*dimension)?) {
                (Axis::Linear(linear), extent) => Some((*linear, *extent)),
                (Axis::Group { .. }, _) => None,
            }
        });
        spatial.collect()
    }

    fn kernel_relation(&self, kernel: &[i64], output: &[i64], sizes: &Sizes) -> Relation {
        let mut axes = vec![Linear::first(); kernel.len()];
        let mut set = |dimension: usize, axis: Linear| {
            if let Some(slot) = axes.get_mut(dimension) {
                *slot = axis;
            }
        };
        set(self.kernel.first, Linear::range(self.window.len()));
        set(self.kernel.second, Linear::output(self.output.second));
        for (at, (dimension, window)) in self.kernel.spatial.iter().zip(&self.window).enumerate() {
            let axis = Linear::range(at);
            let reversed = Linear {
                range: Some((at, -1)),
                offset: window.size - 1,
                ..axis
            };
            set(*dimension, if window.is_reversed { reversed } else { axis });
        }
        Relation::of_axes(kernel, output, self.ranges(sizes), axes)
    }
}

impl Roles {
    /// From a label for each dimension: the two letters and the numbers below `spatial`, each once.
    fn read(labels: &str, letters: [char; 2], spatial: usize) -> Option<Self> {
        if labels.chars().count() != spatial + 2 {
            return None;
        }
        let position = |wanted: char| labels.chars().position(|it| it == wanted);
        let digit = |number: usize| char::from_digit(u32::try_from(number).ok()?, 10);
        let spatial = (0..spatial).map(|number| position(digit(number)?));
        Some(Self {
            first: position(letters[0])?,
            second: position(letters[1])?,
            spatial: spatial.collect::<Option<_>>()?,
        })
    }
}

fn groups(call: &Call<'_, '_, '_>, name: &'static str) -> Checked<i64> {
    match call.attributes.number(name)? {
        None => Ok(1),
        Some((count, _)) if count > 0 => Ok(count),
        Some((found, span)) => {
            let expected = "there is at least one group".to_owned();
            Err(ModuleErrorKind::BadNumber { found, expected }.at(span))
        }
    }
}

fn bad_labels(labels: Labels<'_>, spatial: usize) -> ModuleError {
    ModuleErrorKind::BadLabels { spatial }.at(labels.span)
}
