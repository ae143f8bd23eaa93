//! What the shapes of the arrays and the given sizes say about the sizes that are not given.
//!
//! An extent is an affine expression over parameters. One that holds a single unknown, as
//! `k * n + c`, gives its value; that may make another extent solvable, so the arrays are gone over
//! until nothing new comes out. Then every array is checked.

use crate::argument::{ArgumentError, Origin};
use std::cell::Cell;
use std::collections::BTreeMap;
use strew_affine::{
    AffineExpr, ArrayId, Factor, Kernel, Overflow, Parameter, ScalarId, Value, Variable,
};

use strew_affine::text;
use strew_jit::ArgumentKind;

/// What is known about an array's shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The number of elements.
    Elements(u64),
    /// Every dimension, outermost first.
    Dimensions(Vec<u64>),
}

impl Shape {
    fn as_found(&self) -> Vec<u64> {
        match self {
            Self::Elements(length) => vec![*length],
            Self::Dimensions(dimensions) => dimensions.clone(),
        }
    }

    fn elements(&self) -> Option<u64> {
        let mut found = self.as_found().into_iter();
        found.try_fold(1_u64, |all, it| all.checked_mul(it))
    }
}

/// The values of all scalar parameters and the extents of all array parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sizes {
    scalars: Vec<(String, Value)>,
    extents: Vec<(String, Vec<u64>)>,
}

impl Sizes {
    /// The value of the scalar parameter `name`.
    pub fn scalar(&self, name: &str) -> Option<Value> {
        let found = self.scalars.iter().find(|(it, _)| it == name);
        found.map(|(_, value)| *value)
    }

    /// The extents of the array parameter `name`, outermost first.
    pub fn extents(&self, name: &str) -> Option<&[u64]> {
        let found = self.extents.iter().find(|(it, _)| it == name);
        found.map(|(_, extents)| extents.as_slice())
    }
}

struct Known {
    value: Value,
    origin: Origin,
}

struct Inference<'a> {
    kernel: &'a Kernel,
    shapes: &'a [(ArrayId, Shape)],
    known: BTreeMap<u32, Known>,
}

/// Finds the sizes that `given` leaves out and checks all of them against `shapes`.
pub(crate) fn infer(
    kernel: &Kernel,
    given: &[(ScalarId, Value)],
    shapes: &[(ArrayId, Shape)],
) -> Result<Sizes, Vec<ArgumentError>> {
    let known = given.iter().map(|(scalar, value)| {
        let origin = Origin::Given;
        (
            key(*scalar),
            Known {
                value: *value,
                origin,
            },
        )
    });
    let mut inference = Inference {
        kernel,
        shapes,
        known: known.collect(),
    };
    inference.solve().map_err(|error| vec![error])?;
    inference.finish()
}

fn key(scalar: ScalarId) -> u32 {
    scalar.into_raw().into_u32()
}

impl Inference<'_> {
    fn solve(&mut self) -> Result<(), ArgumentError> {
        loop {
            let before = self.known.len();
            for (array, shape) in self.shapes {
                for (extent, value) in self.equations(*array, shape)? {
                    self.solve_extent(*array, shape, &extent, value)?;
                }
            }
            if self.known.len() == before {
                return Ok(());
            }
        }
    }

    /// What the shape says about single extents. A number of elements says something about the last
    /// one that is unknown.
    fn equations(
        &self,
        array: ArrayId,
        shape: &Shape,
    ) -> Result<Vec<(AffineExpr, u64)>, ArgumentError> {
        let (extents, _) = self.kernel.arrays[array].split_extents();
        if let Some(length) = self.kernel.arrays[array].length {
            // As many as the extents speak of, or more: they say nothing about these.
            let elements = shape.elements().into_iter();
            return Ok(elements.map(|it| (length.into(), it)).collect());
        }
        match shape {
            Shape::Dimensions(found) if found.len() != extents.len() => Err(ArgumentError::Rank {
                parameter: self.array_name(array),
                extents: written_extents(self.kernel, array),
                found: found.clone(),
            }),
            Shape::Dimensions(found) => {
                let pairs = extents.iter().cloned().zip(found.iter().copied());
                Ok(pairs.collect())
            }
            Shape::Elements(length) => self.equation_of_length(array, *length),
        }
    }

    fn equation_of_length(
        &self,
        array: ArrayId,
        length: u64,
    ) -> Result<Vec<(AffineExpr, u64)>, ArgumentError> {
        if self.known.len() == self.kernel.scalars.len() {
            return Ok(Vec::new());
        }
        let mut rest = i128::from(length);
        let mut unknown = Vec::new();
        for extent in self.kernel.arrays[array].split_extents().0 {
            let value = self.reduce(extent).map_err(|_| self.extent_error(array))?;
            match value.as_constant() {
                None => unknown.push(extent.clone()),
                Some(value) if value > 0 && rest % i128::from(value) == 0 => {
                    rest /= i128::from(value)
                }
                // Whatever is wrong here, the check of the finished sizes words it best.
                Some(_) => return Ok(Vec::new()),
            }
        }
        match (unknown.pop(), u64::try_from(rest)) {
            (Some(extent), Ok(rest)) if unknown.is_empty() => Ok(vec![(extent, rest)]),
            _ => Ok(Vec::new()),
        }
    }

    fn solve_extent(
        &mut self,
        array: ArrayId,
        shape: &Shape,
        extent: &AffineExpr,
        value: u64,
    ) -> Result<(), ArgumentError> {
        let reduced = self.reduce(extent).map_err(|_| self.extent_error(array))?;
        let Some((scalar, scale, offset)) = single_unknown(&reduced) else {
            return Ok(());
        };
        let distance = i128::from(value) - offset;
        if distance % scale != 0 {
            return Err(ArgumentError::NoWholeSize {
                parameter: self.array_name(array),
                extents: written_extents(self.kernel, array),
                found: shape.as_found(),
                size: self.kernel.scalars[scalar].name.clone(),
            });
        }
        let origin = Origin::Array(self.array_name(array));
        let value = self.fitting(scalar, distance / scale)?;
        self.known.insert(key(scalar), Known { value, origin });
        Ok(())
    }

    fn fitting(&self, scalar: ScalarId, value: i128) -> Result<Value, ArgumentError> {
        let ty = self.kernel.scalars[scalar].ty;
        match ty.integer_range() {
            Some((low, high)) if low <= value && value <= high => Ok(Value::integer(ty, value)),
            _ => Err(ArgumentError::TooLarge {
                size: self.kernel.scalars[scalar].name.clone(),
                value,
                ty,
            }),
        }
    }

    /// `extent` with the known sizes put in.
    fn reduce(&self, extent: &AffineExpr) -> Result<AffineExpr, Overflow> {
        extent.substitute(&|variable| self.value_of(variable).map(AffineExpr::from))
    }

    /// The value of `extent`, if all sizes in it are known.
    fn value(&self, extent: &AffineExpr) -> Result<Option<i64>, Overflow> {
        let all_known = Cell::new(true);
        let value = extent.evaluate(&|variable| {
            let known = self.value_of(variable);
            all_known.set(all_known.get() && known.is_some());
            known.unwrap_or(0)
        });
        match all_known.get() {
            true => value.map(Some),
            false => Ok(None),
        }
    }

    fn value_of(&self, variable: Variable) -> Option<i64> {
        let Variable::Param(scalar) = variable else {
            return None;
        };
        let value = self.known.get(&key(scalar))?.value.as_integer()?;
        i64::try_from(value).ok()
    }

    fn finish(self) -> Result<Sizes, Vec<ArgumentError>> {
        let mut errors = Vec::new();
        let mut sizes = Sizes::default();
        for parameter in &self.kernel.params {
            match *parameter {
                Parameter::Scalar(scalar) => match self.known.get(&key(scalar)) {
                    Some(known) => sizes.scalars.push((self.scalar_name(scalar), known.value)),
                    None => errors.push(self.missing(scalar)),
                },
                Parameter::Array(_) | Parameter::Record(_) => {
                    let array = representative(self.kernel, *parameter);
                    match array.map(|array| (self.array_name(array), self.check(array))) {
                        Some((name, Ok(extents))) => sizes.extents.push((name, extents)),
                        Some((_, Err(error))) => errors.extend(error.map(|it| *it)),
                        // A verified record has fields.
                        None => {}
                    }
                }
            }
        }
        if errors.is_empty() {
            Ok(sizes)
        } else {
            Err(errors)
        }
    }

    fn missing(&self, scalar: ScalarId) -> ArgumentError {
        if self.kernel.scalars[scalar].inferred
            && let Some(array) = self.kernel.array_that_tells(scalar)
        {
            let parameter = self.array_name(array);
            return ArgumentError::NoLength { parameter };
        }
        ArgumentError::Missing {
            parameter: self.scalar_name(scalar),
            expected: ArgumentKind::Scalar(self.kernel.scalars[scalar].ty),
        }
    }

    /// The extents of `array`. An error without words means that a size is missing, which is said
    /// elsewhere.
    fn check(&self, array: ArrayId) -> Result<Vec<u64>, Option<Box<ArgumentError>>> {
        let boxed = || Box::new(self.extent_error(array));
        let mut values = Vec::new();
        for extent in self.kernel.arrays[array].split_extents().0 {
            values.push(i128::from(
                self.value(extent).map_err(|_| boxed())?.ok_or(None)?,
            ));
        }
        let shape = self.shapes.iter().find(|(it, _)| *it == array);
        if let Some((_, shape)) = shape {
            self.compare(array, shape, &values).map_err(Box::new)?;
        }
        let extents: Result<Vec<u64>, _> = values.iter().map(|it| u64::try_from(*it)).collect();
        let extents = extents.map_err(|_| {
            Box::new(ArgumentError::Extent {
                parameter: self.array_name(array),
                extents: written_extents(self.kernel, array),
                values: Some(values),
            })
        })?;
        let count = extents
            .iter()
            .try_fold(1_u64, |all, it| all.checked_mul(*it));
        count.ok_or_else(boxed)?;
        Ok(extents)
    }

    fn compare(&self, array: ArrayId, shape: &Shape, values: &[i128]) -> Result<(), ArgumentError> {
        let found = shape.as_found();
        let declared = &self.kernel.arrays[array];
        let agrees = match shape {
            Shape::Dimensions(found) if declared.length.is_none() => found
                .iter()
                .map(|it| i128::from(*it))
                .eq(values.iter().copied()),
            _ => {
                let mut values = values.iter();
                let expected = values.try_fold(1_i128, |all, it| all.checked_mul(*it));
                let both = shape.elements().zip(expected);
                both.is_some_and(|(found, expected)| declared.takes(found.into(), expected))
            }
        };
        if agrees {
            return Ok(());
        }
        let contradiction = self.contradiction(array, &found, values);
        Err(contradiction.unwrap_or_else(|| ArgumentError::Shape {
            parameter: self.array_name(array),
            extents: written_extents(self.kernel, array),
            expected: values.to_vec(),
            found,
        }))
    }

    /// The disagreement as one about a size, when an extent that differs is a function of a single
    /// one.
    fn contradiction(
        &self,
        array: ArrayId,
        found: &[u64],
        values: &[i128],
    ) -> Option<ArgumentError> {
        let (extents, _) = self.kernel.arrays[array].split_extents();
        if found.len() != extents.len() {
            return None;
        }
        let mut rows = extents.iter().zip(found).zip(values);
        let ((extent, found), _) =
            rows.find(|((_, found), value)| i128::from(**found) != **value)?;
        let (scalar, scale, offset) = single_unknown(extent)?;
        let distance = i128::from(*found) - offset;
        let known = self.known.get(&key(scalar))?;
        (distance % scale == 0).then_some(())?;
        Some(ArgumentError::Contradiction {
            size: self.scalar_name(scalar),
            first: (known.value.as_integer()?, known.origin.clone()),
            second: (distance / scale, Origin::Array(self.array_name(array))),
        })
    }

    fn extent_error(&self, array: ArrayId) -> ArgumentError {
        ArgumentError::Extent {
            parameter: self.array_name(array),
            extents: written_extents(self.kernel, array),
            values: None,
        }
    }

    /// What the caller knows the array by: a field by its record.
    fn array_name(&self, array: ArrayId) -> String {
        let array = &self.kernel.arrays[array];
        let record = array.field.map(|it| &self.kernel.records[it.record].name);
        record.unwrap_or(&array.name).clone()
    }

    fn scalar_name(&self, scalar: ScalarId) -> String {
        self.kernel.scalars[scalar].name.clone()
    }
}

/// The array whose extents are those of `parameter`: of records, the first field.
pub(crate) fn representative(kernel: &Kernel, parameter: Parameter) -> Option<ArrayId> {
    match parameter {
        Parameter::Scalar(_) => None,
        Parameter::Array(array) => Some(array),
        Parameter::Record(record) => kernel.records[record].fields.first().copied(),
    }
}

/// The parameter, its factor and the constant, when `expr` is `factor * parameter + constant`.
fn single_unknown(expr: &AffineExpr) -> Option<(ScalarId, i128, i128)> {
    let [term] = expr.terms() else { return None };
    match term.factors.as_slice() {
        [Factor::Variable(Variable::Param(scalar))] => Some((
            *scalar,
            i128::from(term.coefficient),
            i128::from(expr.constant()),
        )),
        _ => None,
    }
}

/// The extents of `array` as the kernel text writes them.
pub(crate) fn written_extents(kernel: &Kernel, array: ArrayId) -> String {
    let extents = kernel.arrays[array].split_extents().0.iter();
    let written: Vec<_> = extents.map(|it| text::affine(kernel, it)).collect();
    let or_more = kernel.arrays[array].length.map_or("", |_| " or more");
    format!("[{}]{or_more}", written.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use strew_affine::Type;

    /// `@k(n: i64, d: i32, key: i32[n], x: f32[n + 1, d], y: f32[2 * n])`
    fn kernel() -> Kernel {
        let source =
            "kernel @k(n: i64, d: i32, key: i32[n], x: f32[n + 1, d], y: f32[2 * n]) {\n}\n";
        let mut kernels = text::parse(source).expect("a kernel");
        kernels.remove(0)
    }

    fn inferred(
        given: &[(&str, Value)],
        shapes: &[(&str, Shape)],
    ) -> Result<Sizes, Vec<ArgumentError>> {
        let kernel = kernel();
        let scalar = |name: &str| kernel.scalars.iter().find(|(_, it)| it.name == name);
        let array = |name: &str| kernel.arrays.iter().find(|(_, it)| it.name == name);
        let given: Vec<_> = given
            .iter()
            .filter_map(|(name, value)| Some((scalar(name)?.0, *value)))
            .collect();
        let shapes: Vec<_> = shapes
            .iter()
            .filter_map(|(name, shape)| Some((array(name)?.0, shape.clone())))
            .collect();
        infer(&kernel, &given, &shapes)
    }

    fn message(outcome: Result<Sizes, Vec<ArgumentError>>) -> String {
        let errors = outcome.expect_err("something is wrong");
        let shown: Vec<_> = errors.iter().map(ToString::to_string).collect();
        shown.join("; ")
    }

    #[test]
    fn one_size_leads_to_the_next() {
        // x has (n + 1) * d elements, so d can be found once n is.
        let shapes = [("x", Shape::Elements(12)), ("y", Shape::Elements(6))];
        let sizes = inferred(&[], &shapes).expect("sizes");
        assert_eq!(sizes.scalar("n"), Some(Value::i64(3)));
        assert_eq!(sizes.scalar("d"), Some(Value::integer(Type::I32, 3)));
        assert_eq!(sizes.extents("x"), Some(&[4, 3][..]));
        assert_eq!(sizes.extents("key"), Some(&[3][..]));
    }

    #[test]
    fn dimensions_tell_more_than_lengths() {
        let sizes = inferred(&[], &[("x", Shape::Dimensions(vec![1, 5]))]).expect("sizes");
        assert_eq!(sizes.extents("y"), Some(&[0][..]));
    }

    #[test]
    fn contradictions_name_both_sides() {
        let shapes = [("key", Shape::Elements(10)), ("y", Shape::Elements(24))];
        assert_eq!(
            message(inferred(&[("d", Value::integer(Type::I32, 1))], &shapes)),
            "`n` is 10 by `key`, 12 by `y`"
        );
        let given = [("n", Value::i64(5)), ("d", Value::integer(Type::I32, 1))];
        assert_eq!(
            message(inferred(&given, &[("key", Shape::Elements(10))])),
            "`n` is 5 as given, 10 by `key`"
        );
    }

    #[test]
    fn what_cannot_be_found_is_named() {
        assert_eq!(
            message(inferred(&[], &[("key", Shape::Elements(3))])),
            "no value for `d` (i32): it is not given, and no array's shape tells it"
        );
        assert_eq!(
            message(inferred(&[], &[("y", Shape::Elements(5))])),
            "`y` has 5 elements, and no whole number for `n` gives that for y[n * 2]"
        );
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        let key = Shape::Dimensions(vec![2, 2]);
        assert_eq!(
            message(inferred(&[], &[("key", key)])),
            "`key` has shape [2, 2], which does not have as many dimensions as key[n]; shapes are never changed"
        );
        let given = [("n", Value::i64(1)), ("d", Value::integer(Type::I32, 2))];
        assert_eq!(
            message(inferred(&given, &[("x", Shape::Elements(5))])),
            "`x` has 5 elements, expected shape [2, 2] for x[n + 1, d]"
        );
        let huge = Shape::Dimensions(vec![1, 1 << 40]);
        assert_eq!(
            message(inferred(&[], &[("x", huge)])),
            "`d` would be 1099511627776, which does not fit i32"
        );
    }

    #[test]
    fn negative_and_enormous_extents_are_refused() {
        let given = |n| [("n", Value::i64(n)), ("d", Value::integer(Type::I32, 1))];
        let text = message(inferred(&given(-1), &[]));
        assert!(text.starts_with("key[n] would have -1 elements"), "{text}");
        let text = message(inferred(&given(i64::MAX), &[]));
        assert!(
            text.contains("more elements than 64 bits can count"),
            "{text}"
        );
    }
}
