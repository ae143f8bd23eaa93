//! Which elements of an operand an element of a result is computed from, as equations that can be
//! solved for either of them.

use super::recount::recount;
use crate::indexing::{Constraint, Declaration, IndexExpr, IndexingError, IndexingMap, Interval};

type Checked<T> = Result<T, IndexingError>;

/// Which elements of an operand (the *input*) the elements of a result (the *output*) are computed
/// from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Relation {
    /// The extents of the operand.
    pub(super) input: Vec<i64>,
    /// The extents of the result.
    pub(super) output: Vec<i64>,
    /// What an output element has several inputs along: the positions in a window, the elements of
    /// a sum.
    pub(super) ranges: Vec<i64>,
    /// Numbers that only the running program knows.
    pub(super) starts: Vec<Start>,
    /// Equations that hold between outputs and starts, with 0 in place of the input.
    pub(super) conditions: Vec<Linear>,
    /// Inputs of another operand, and how many there are along their dimension: where they are
    /// outside of it, or between its elements, nothing is read.
    pub(super) companions: Vec<(Linear, i64)>,
    pub(super) rule: Rule,
}

/// A position that stands in an integer operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// Which operand it stands in.
    pub(super) operand: usize,
    /// Where it stands there.
    pub(super) place: Vec<Place>,
    /// The positions that do not leave the array.
    pub(super) bounds: Interval,
    /// Whether other positions are moved to the nearest of these. Where they are not, nothing is
    /// computed for them.
    pub(super) is_clamped: bool,
}

/// One index of the place of a [`Start`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The index of the output along a dimension.
    Output(usize),
    /// The value of a range.
    Range(usize),
    /// Always the same.
    Constant(i64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// An equation for each dimension of the input.
    Axes(Vec<Axis>),
    /// The same element when both are counted through in these orders of their dimensions, the
    /// slowest first.
    Count {
        input_order: Vec<usize>,
        output_order: Vec<usize>,
    },
}

/// The equation of one dimension of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    /// `dilation * input = stride * output + step * range + start + offset`.
    Linear(Linear),
    /// `input = (output floordiv outputs) * inputs + inner`, `inner` in `0..inputs`: a group of
    /// outputs has a group of inputs.
    Group {
        output: usize,
        outputs: i64,
        inputs: i64,
        inner: Inner,
    },
}

/// Where an input is in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inner {
    /// At each value of a range.
    Range(usize),
    /// At the index of the output along another dimension.
    Output(usize),
}

/// `dilation * input = stride * output + step * range + start + offset`, each part but the input
/// optional.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Linear {
    /// From 1.
    pub(super) dilation: i64,
    /// The output's dimension and its stride, which is not zero.
    pub(super) output: Option<(usize, i64)>,
    /// The range and its step, which is 1 or -1 where there is no output.
    pub(super) range: Option<(usize, i64)>,
    /// The start, and whether it counts negative.
    pub(super) start: Option<(usize, i64)>,
    pub(super) offset: i64,
}

impl Linear {
    const NOTHING: Self = Self {
        dilation: 1,
        output: None,
        range: None,
        start: None,
        offset: 0,
    };

    /// `input = output`.
    pub(super) fn output(dimension: usize) -> Self {
        Self::strided(dimension, 1, 0)
    }

    /// `input = stride * output + offset`.
    pub(super) fn strided(dimension: usize, stride: i64, offset: i64) -> Self {
        Self {
            output: Some((dimension, stride)),
            offset,
            ..Self::NOTHING
        }
    }

    /// `input = range`.
    pub(super) fn range(range: usize) -> Self {
        Self {
            range: Some((range, 1)),
            ..Self::NOTHING
        }
    }

    /// `input = 0`.
    pub(super) fn first() -> Self {
        Self::NOTHING
    }

    /// The same with a start that is added (`sign` 1) or subtracted (-1).
    pub(super) fn and_start(self, start: usize, sign: i64) -> Self {
        Self {
            start: Some((start, sign)),
            ..self
        }
    }
}

impl From<Linear> for Axis {
    fn from(linear: Linear) -> Self {
        Self::Linear(linear)
    }
}

impl Relation {
    /// The relation with an equation for each dimension of the input, and no starts.
    pub(super) fn of_axes(
        input: &[i64],
        output: &[i64],
        ranges: Vec<i64>,
        axes: impl IntoIterator<Item = impl Into<Axis>>,
    ) -> Self {
        Self {
            input: input.to_vec(),
            output: output.to_vec(),
            ranges,
            starts: Vec::new(),
            conditions: Vec::new(),
            companions: Vec::new(),
            rule: Rule::Axes(axes.into_iter().map(Into::into).collect()),
        }
    }

    /// Each element from the one at the same index.
    pub(super) fn identity(extents: &[i64]) -> Self {
        let axes = (0..extents.len()).map(Linear::output);
        Self::of_axes(extents, extents, Vec::new(), axes)
    }

    /// Whether it is each element from the one at the same index.
    pub(super) fn is_identity(&self) -> bool {
        *self == Self::identity(&self.output)
    }

    /// Each element from all elements.
    pub(super) fn everything(input: &[i64], output: &[i64]) -> Self {
        let axes = (0..input.len()).map(Linear::range);
        Self::of_axes(input, output, input.to_vec(), axes)
    }

    /// Each element from the one of the same number in row-major order.
    pub(super) fn row_major(input: &[i64], output: &[i64]) -> Self {
        Self::count(
            (input, (0..input.len()).collect()),
            (output, (0..output.len()).collect()),
        )
    }

    /// Each element from the one of the same number when the dimensions are counted through in
    /// these orders.
    pub(super) fn count(input: (&[i64], Vec<usize>), output: (&[i64], Vec<usize>)) -> Self {
        Self {
            input: input.0.to_vec(),
            output: output.0.to_vec(),
            ranges: Vec::new(),
            starts: Vec::new(),
            conditions: Vec::new(),
            companions: Vec::new(),
            rule: Rule::Count {
                input_order: input.1,
                output_order: output.1,
            },
        }
    }
}

/// A relation solved for one of its sides.
pub(super) struct Solved {
    /// From the other side to this one, followed by the places of the starts: first all indices of
    /// the first start's place.
    pub(super) map: IndexingMap,
    /// The starts, one for each runtime variable.
    pub(super) starts: Vec<Start>,
}

/// The parts of a map while it is put together.
struct Parts {
    ranges: Vec<i64>,
    constraints: Vec<Constraint>,
}

impl Parts {
    fn new_range(&mut self, extent: i64) -> IndexExpr {
        self.ranges.push(extent);
        IndexExpr::range(self.ranges.len() - 1)
    }

    fn constrain(&mut self, expr: IndexExpr, bounds: Interval) {
        self.constraints.push(Constraint { expr, bounds });
    }

    /// `numerator / divisor` where that is a whole number in `0..extent`.
    fn exact_quotient(
        &mut self,
        numerator: &IndexExpr,
        divisor: i64,
        extent: i64,
    ) -> Checked<IndexExpr> {
        let last = (extent - 1).checked_mul(divisor);
        let last = last.ok_or(IndexingError::Overflow)?;
        self.constrain(numerator.clone(), Interval::new(0, last));
        let divisor = IndexExpr::from(divisor);
        let remainder = numerator.modulo(&divisor)?;
        if remainder.as_constant() != Some(0) {
            self.constrain(remainder, Interval::new(0, 0));
        }
        numerator.floordiv(&divisor)
    }
}

impl Relation {
    /// From an index of the output to the indices of the input that it is computed from.
    ///
    /// # Errors
    /// A number leaves 64 bits.
    pub(super) fn output_to_input(&self) -> Checked<Solved> {
        let mut parts = Parts {
            ranges: self.ranges.clone(),
            constraints: Vec::new(),
        };
        let results = match &self.rule {
            Rule::Axes(axes) => {
                for condition in &self.conditions {
                    condition.input(1, &mut parts)?;
                }
                for (companion, extent) in &self.companions {
                    companion.input(*extent, &mut parts)?;
                }
                let axes = axes.iter().zip(&self.input);
                let inputs = axes.map(|(axis, extent)| axis.input(*extent, &mut parts));
                inputs.collect::<Checked<_>>()?
            }
            Rule::Count {
                input_order,
                output_order,
            } => recount((&self.output, output_order), (&self.input, input_order))?,
        };
        let outputs: Vec<_> = (0..self.output.len()).map(IndexExpr::dimension).collect();
        let ranges: Vec<_> = (0..self.ranges.len()).map(IndexExpr::range).collect();
        self.solved(&self.output, parts, results, &outputs, &ranges)
    }

    /// From an index of the input to the indices of the output that are computed from it.
    ///
    /// # Errors
    /// A number leaves 64 bits.
    pub(super) fn input_to_output(&self) -> Checked<Solved> {
        let mut parts = Parts {
            ranges: Vec::new(),
            constraints: Vec::new(),
        };
        if let Rule::Count {
            input_order,
            output_order,
        } = &self.rule
        {
            let results = recount((&self.input, input_order), (&self.output, output_order))?;
            return self.solved(&self.input, parts, results, &[], &[]);
        }
        let axes = match &self.rule {
            Rule::Axes(axes) => axes.as_slice(),
            Rule::Count { .. } => &[],
        };
        let mut unknowns = Unknowns {
            outputs: vec![None; self.output.len()],
            ranges: vec![None; self.ranges.len()],
        };
        self.free_outputs(axes, &mut unknowns, &mut parts);
        self.lone_ranges(axes, &mut unknowns, &mut parts)?;
        for (slot, extent) in unknowns.ranges.iter_mut().zip(&self.ranges) {
            if slot.is_none() {
                *slot = Some(parts.new_range(*extent));
            }
        }
        for (dimension, axis) in axes.iter().enumerate() {
            let input = IndexExpr::dimension(dimension);
            self.solve_for_outputs(&input, axis, &mut unknowns, &mut parts)?;
        }
        for condition in &self.conditions {
            let axis = Axis::Linear(*condition);
            self.solve_for_outputs(&0.into(), &axis, &mut unknowns, &mut parts)?;
        }
        let outputs: Vec<_> = unknowns.outputs.into_iter().flatten().collect();
        let ranges: Vec<_> = unknowns.ranges.into_iter().flatten().collect();
        for (companion, extent) in &self.companions {
            let numerator = companion.numerator(
                |at| outputs.get(at).cloned().unwrap_or(0.into()),
                |at| ranges.get(at).cloned().unwrap_or(0.into()),
            )?;
            parts.exact_quotient(&numerator, companion.dilation, *extent)?;
        }
        self.solved(&self.input, parts, outputs.clone(), &outputs, &ranges)
    }

    /// Output dimensions that no equation speaks of take all their values.
    fn free_outputs(&self, axes: &[Axis], unknowns: &mut Unknowns, parts: &mut Parts) {
        let mut is_bound = vec![false; self.output.len()];
        let conditions = self.conditions.iter();
        let conditions = conditions.filter_map(|it| Some(it.output?.0));
        let bound = axes.iter().flat_map(Axis::outputs).chain(conditions);
        for dimension in bound {
            if let Some(is_bound) = is_bound.get_mut(dimension) {
                *is_bound = true;
            }
        }
        let slots = unknowns.outputs.iter_mut().zip(&self.output);
        for ((slot, extent), is_bound) in slots.zip(is_bound) {
            if !is_bound {
                *slot = Some(parts.new_range(*extent));
            }
        }
    }

    /// Ranges that the input alone determines.
    fn lone_ranges(
        &self,
        axes: &[Axis],
        unknowns: &mut Unknowns,
        parts: &mut Parts,
    ) -> Checked<()> {
        for (dimension, axis) in axes.iter().enumerate() {
            let input = IndexExpr::dimension(dimension);
            let found = match axis {
                Axis::Linear(linear) if linear.output.is_none() => match linear.range {
                    Some((range, step)) => {
                        let rest = linear.without(&input, None)?;
                        Some((range, rest.scaled(step)?))
                    }
                    None => None,
                },
                Axis::Group {
                    inputs,
                    inner: Inner::Range(range),
                    ..
                } => Some((*range, input.modulo(&(*inputs).into())?)),
                Axis::Linear(_) | Axis::Group { .. } => None,
            };
            let Some((range, value)) = found else {
                continue;
            };
            let extent = self.ranges.get(range).copied().unwrap_or(0);
            parts.constrain(value.clone(), Interval::of_size(extent));
            if let Some(slot) = unknowns.ranges.get_mut(range) {
                *slot = Some(value);
            }
        }
        Ok(())
    }

    fn solve_for_outputs(
        &self,
        input: &IndexExpr,
        axis: &Axis,
        unknowns: &mut Unknowns,
        parts: &mut Parts,
    ) -> Checked<()> {
        match axis {
            Axis::Linear(linear) => {
                let range = linear.range.and_then(|(range, step)| {
                    let range = unknowns.ranges.get(range)?.clone()?;
                    Some((range, step))
                });
                match linear.output {
                    Some((output, stride)) => {
                        let rest = linear.without(input, range)?.scaled(stride.signum())?;
                        let extent = self.output.get(output).copied().unwrap_or(0);
                        let stride = stride.checked_abs().ok_or(IndexingError::Overflow)?;
                        let value = parts.exact_quotient(&rest, stride, extent)?;
                        unknowns.set_output(output, value);
                    }
                    None if linear.range.is_none() => {
                        let rest = linear.without(input, None)?;
                        parts.constrain(rest, Interval::new(0, 0));
                    }
                    None => {}
                }
            }
            Axis::Group {
                output,
                outputs,
                inputs,
                inner,
            } => {
                let inputs = IndexExpr::from(*inputs);
                let group = input.floordiv(&inputs)?.scaled(*outputs)?;
                let member = parts.new_range(*outputs);
                unknowns.set_output(*output, group.plus(&member)?);
                if let Inner::Output(inner) = inner {
                    unknowns.set_output(*inner, input.modulo(&inputs)?);
                }
            }
        }
        Ok(())
    }

    /// The map from the side with the extents `from`, given the outputs and ranges in terms of its
    /// variables.
    fn solved(
        &self,
        from: &[i64],
        parts: Parts,
        mut results: Vec<IndexExpr>,
        outputs: &[IndexExpr],
        ranges: &[IndexExpr],
    ) -> Checked<Solved> {
        for start in &self.starts {
            let places = start.place.iter().map(|place| match place {
                Place::Output(dimension) => outputs.get(*dimension).cloned(),
                Place::Range(range) => ranges.get(*range).cloned(),
                Place::Constant(index) => Some((*index).into()),
            });
            results.extend(places.map(|it| it.unwrap_or(IndexExpr::Constant(0))));
        }
        let declared = |extents: &[i64]| -> Vec<Declaration> {
            let bounds = extents.iter().copied().map(Interval::of_size);
            bounds.map(Declaration::new).collect()
        };
        let runtimes = self.starts.iter().map(|it| Declaration::new(it.bounds));
        let map = IndexingMap::new(
            declared(from),
            declared(&parts.ranges),
            runtimes.collect(),
            results,
            parts.constraints,
        )?;
        Ok(Solved {
            map,
            starts: self.starts.clone(),
        })
    }
}

/// The outputs and ranges in terms of the input, as far as they are found.
struct Unknowns {
    outputs: Vec<Option<IndexExpr>>,
    ranges: Vec<Option<IndexExpr>>,
}

impl Unknowns {
    fn set_output(&mut self, dimension: usize, value: IndexExpr) {
        if let Some(slot) = self.outputs.get_mut(dimension) {
            *slot = Some(value);
        }
    }
}

impl Axis {
    /// The dimensions of the output that it determines, given the input.
    fn outputs(&self) -> impl Iterator<Item = usize> {
        let (first, second) = match self {
            Self::Linear(linear) => (linear.output.map(|(dimension, _)| dimension), None),
            Self::Group { output, inner, .. } => {
                let inner = match inner {
                    Inner::Output(inner) => Some(*inner),
                    Inner::Range(_) => None,
                };
                (Some(*output), inner)
            }
        };
        first.into_iter().chain(second)
    }

    /// The index of the input, in terms of the output's dimensions and the relation's ranges and
    /// starts.
    fn input(&self, extent: i64, parts: &mut Parts) -> Checked<IndexExpr> {
        match self {
            Self::Linear(linear) => linear.input(extent, parts),
            Self::Group {
                output,
                outputs,
                inputs,
                inner,
            } => {
                let group = IndexExpr::dimension(*output).floordiv(&(*outputs).into())?;
                let inner = match inner {
                    Inner::Range(range) => IndexExpr::range(*range),
                    Inner::Output(dimension) => IndexExpr::dimension(*dimension),
                };
                group.scaled(*inputs)?.plus(&inner)
            }
        }
    }
}

impl Linear {
    /// The index of the input, which has `extent` positions.
    fn input(&self, extent: i64, parts: &mut Parts) -> Checked<IndexExpr> {
        let sum = self.numerator(IndexExpr::dimension, IndexExpr::range)?;
        parts.exact_quotient(&sum, self.dilation, extent)
    }

    /// `stride * output + step * range + start + offset` for these outputs and ranges.
    fn numerator(
        &self,
        output: impl Fn(usize) -> IndexExpr,
        range: impl Fn(usize) -> IndexExpr,
    ) -> Checked<IndexExpr> {
        let output = self.output.map(|(at, by)| (output(at), by));
        let range = self.range.map(|(at, by)| (range(at), by));
        let start = self.start.map(|(at, by)| (IndexExpr::runtime(at), by));
        IndexExpr::sum([output, range, start].into_iter().flatten(), self.offset)
    }

    /// `stride * output`, or `step * range` where no range is given:
    /// `dilation * input - step * range - start - offset`.
    fn without(&self, input: &IndexExpr, range: Option<(IndexExpr, i64)>) -> Checked<IndexExpr> {
        let negated = |(expr, by): (IndexExpr, i64)| Some((expr, by.checked_neg()?));
        let start = self.start.map(|(at, by)| (IndexExpr::runtime(at), by));
        let terms = [
            Some((input.clone(), self.dilation)),
            range.and_then(negated),
            start.and_then(negated),
        ];
        let offset = self.offset.checked_neg().ok_or(IndexingError::Overflow)?;
        IndexExpr::sum(terms.into_iter().flatten(), offset)
    }
}
