use crate::{ArrayId, Kernel, Parameter, ScalarId, Variable};

/// What tells an inferred size: it is the extent number `dimension` of `array`, or how many
/// elements that has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Source {
    array: ArrayId,
    dimension: Option<usize>,
}

impl Kernel {
    /// The parameters that a caller passes, in order: all but the inferred sizes.
    pub fn passed_params(&self) -> impl Iterator<Item = Parameter> + '_ {
        let params = self.params.iter().copied();
        params.filter(|param| !self.is_inferred(*param))
    }

    /// Whether the parameter is a size that no caller passes.
    pub fn is_inferred(&self, param: Parameter) -> bool {
        matches!(param, Parameter::Scalar(scalar) if self.scalars[scalar].inferred)
    }

    /// The array whose length tells the inferred size `scalar`; `None` when there is none, which no
    /// verified kernel has.
    pub fn array_that_tells(&self, scalar: ScalarId) -> Option<ArrayId> {
        self.source_of(scalar).map(|source| source.array)
    }

    /// The inferred sizes, from the number of elements of every array parameter and the values of
    /// the passed scalars as far as they fit. Where the elements do not fill the other extents
    /// evenly the size is rounded down, and it is 0 where the other extents are nothing to divide
    /// by: that the array's length is wrong then shows when it is compared with its extents.
    pub fn inferred_sizes(
        &self,
        elements: &dyn Fn(ArrayId) -> u64,
        value: &dyn Fn(ScalarId) -> Option<i64>,
    ) -> Vec<(ScalarId, i64)> {
        let inferred = self.scalars.iter().filter(|(_, scalar)| scalar.inferred);
        inferred
            .map(|(scalar, _)| {
                let source = self.source_of(scalar);
                let size = source.and_then(|source| self.size_from(source, elements, value));
                (scalar, size.unwrap_or(0))
            })
            .collect()
    }

    fn size_from(
        &self,
        source: Source,
        elements: &dyn Fn(ArrayId) -> u64,
        value: &dyn Fn(ScalarId) -> Option<i64>,
    ) -> Option<i64> {
        let value_of = |variable| match variable {
            Variable::Param(scalar) => value(scalar),
            Variable::Iter(_) => None,
        };
        let length = i64::try_from(elements(source.array)).ok()?;
        let Some(of) = source.dimension else {
            return Some(length);
        };
        let mut row = 1_i64;
        for (dimension, extent) in self.arrays[source.array].extents.iter().enumerate() {
            if dimension == of {
                continue;
            }
            let mut fits = true;
            extent.for_each_variable(&mut |variable| fits &= value_of(variable).is_some());
            if !fits {
                return None;
            }
            let extent = extent.evaluate(&|variable| value_of(variable).unwrap_or(0));
            row = row.checked_mul(extent.ok()?)?;
        }
        length.checked_div(row)
    }

    fn source_of(&self, scalar: ScalarId) -> Option<Source> {
        let variable = Some(Variable::Param(scalar));
        self.array_params().find_map(|array| {
            if self.arrays[array].length == Some(scalar) {
                let dimension = None;
                return Some(Source { array, dimension });
            }
            let extents = &self.arrays[array].extents;
            let dimension = extents.iter().position(|it| it.as_variable() == variable)?;
            let source = Source {
                array,
                dimension: Some(dimension),
            };
            let tells = self.arrays[array].length.is_none() && self.tells_alone(source);
            tells.then_some(source)
        })
    }

    /// Whether the other extents of the array are made of passed scalars.
    fn tells_alone(&self, source: Source) -> bool {
        let extents = self.arrays[source.array].extents.iter().enumerate();
        let mut others = extents.filter(|(dimension, _)| Some(*dimension) != source.dimension);
        others.all(|(_, extent)| {
            let mut is_passed = true;
            extent.for_each_variable(&mut |variable| {
                is_passed &= match variable {
                    Variable::Param(scalar) => !self.scalars[scalar].inferred,
                    Variable::Iter(_) => false,
                };
            });
            is_passed
        })
    }
}
