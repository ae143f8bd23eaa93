//! What `--set`, `--in` and `--shape` give a kernel.

use crate::cli::args::{Assignment, Work};
use crate::cli::array::{Array, Values};
use crate::cli::data::{DataFile, Reading};
use crate::cli::excerpt::quoted;
use crate::cli::failure::Failure;
use crate::cli::generate::Generator;
use crate::cli::load;
use crate::cli::progress::Meter;
use std::collections::BTreeMap;
use std::path::Path;
use strew::ir::{Kernel, Parameter};
use strew::{ElementType, RecordLayout, Records, Sizes, Type, Value};

/// Where the elements of an array come from.
#[derive(Debug)]
pub(crate) enum Input {
    File { file: DataFile, array: Array },
    Generator(Generator),
}

/// The arguments as far as the flags tell them.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    pub(crate) scalars: BTreeMap<String, Value>,
    pub(crate) arrays: BTreeMap<String, Input>,
    pub(crate) shapes: BTreeMap<String, Vec<u64>>,
    /// What is worth saying about the files.
    pub(crate) notes: Vec<String>,
}

impl Inputs {
    /// Reads the files and numbers that `work` names for `kernel`.
    pub(crate) fn read(
        kernel: &Kernel,
        work: &Work,
        reading: Reading<'_>,
    ) -> Result<Self, Failure> {
        let mut inputs = Self::default();
        for it in &work.scalars {
            let value = scalar(kernel, it)?;
            once("--set", it, inputs.scalars.insert(it.name.clone(), value))?;
        }
        for it in &work.inputs {
            if DataFile::names_standard_input(&it.text)
                && let Some(what) = load::of_standard_input()
            {
                return Err(Failure::usage(format!(
                    "--in {}: standard input is the {what} already: give one of both as a file",
                    it.name
                )));
            }
            let (input, note) = input(kernel, it, reading)?;
            inputs.notes.extend(note);
            once("--in", it, inputs.arrays.insert(it.name.clone(), input))?;
        }
        for it in &work.shapes {
            array_type(kernel, &it.name)?;
            let shape = dimensions(it)?;
            once("--shape", it, inputs.shapes.insert(it.name.clone(), shape))?;
        }
        inputs.shape_flat_files();
        inputs.check_shapes()?;
        Ok(inputs)
    }

    /// Elements that come one behind the other get the shape that is given for them.
    fn shape_flat_files(&mut self) {
        for (name, shape) in &self.shapes {
            let elements = shape
                .iter()
                .try_fold(1_u64, |count, it| count.checked_mul(*it));
            if let Some(Input::File { file, array }) = self.arrays.get_mut(name)
                && file.is_flat()
                && elements == array.shape.first().copied()
            {
                array.shape.clone_from(shape);
            }
        }
    }

    /// Where the shape of the array `name` comes from, in words, which `lacks` dimensions if it has
    /// too few.
    pub(crate) fn origin(&self, name: &str, lacks: bool) -> Option<String> {
        let given = self.shapes.get(name);
        Some(match self.arrays.get(name) {
            Some(Input::File { file, array }) => {
                let (path, shape) = (file.path.display(), &array.shape);
                let divided = match (given, file.is_flat()) {
                    (Some(_), true) => " by --shape".to_owned(),
                    (None, true) if lacks => format!(", which --shape {name}=D,D divides"),
                    _ => String::new(),
                };
                format!("`{name}` is --in {name}={path}, of shape {shape:?}{divided}")
            }
            Some(Input::Generator(_)) | None => {
                format!("`{name}` has shape {:?} by --shape", given?)
            }
        })
    }

    fn check_shapes(&self) -> Result<(), Failure> {
        for (name, shape) in &self.shapes {
            if let Some(Input::File { file, array }) = self.arrays.get(name)
                && array.shape != *shape
            {
                let found = &array.shape;
                let why = format!("the array has shape {found:?}, --shape {name} says {shape:?}");
                return Err(Failure::file(&file.path, why));
            }
        }
        Ok(())
    }

    /// The dimensions of every array that the flags tell.
    pub(crate) fn dimensions(&self) -> BTreeMap<&str, &[u64]> {
        let given = self
            .shapes
            .iter()
            .map(|(name, shape)| (name.as_str(), shape.as_slice()));
        let read = self.arrays.iter().filter_map(|(name, input)| match input {
            Input::File { array, .. } => Some((name.as_str(), array.shape.as_slice())),
            Input::Generator(_) => None,
        });
        given.chain(read).collect()
    }

    /// The files that are read, with the arrays they are for.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.arrays.iter().filter_map(|(name, input)| match input {
            Input::File { file, .. } => Some((name.as_str(), file.on_disk()?)),
            Input::Generator(_) => None,
        })
    }

    /// The array parameter `name` of `kernel`, now that all sizes are known. `None` when nothing
    /// was given for it.
    pub(crate) fn take(
        &mut self,
        name: &str,
        element: &ElementType,
        sizes: &Sizes,
        meter: &Meter,
    ) -> Result<Option<Array>, Failure> {
        let shape = sizes.extents(name).unwrap_or_default().to_vec();
        Ok(match self.arrays.remove(name) {
            None => None,
            Some(Input::File { array, .. }) => Some(array),
            Some(Input::Generator(generator)) => Some(match *element {
                ElementType::Plain(ty) => Array {
                    values: generator.values(name, ty, shape.iter().product(), sizes, meter)?,
                    shape,
                },
                ElementType::Record(_) if generator.is_zeros() => zeros(name, element, &shape)?,
                ElementType::Record(_) => return Err(no_generator(name)),
            }),
        })
    }
}

/// An array of zeros.
pub(crate) fn zeros(name: &str, element: &ElementType, shape: &[u64]) -> Result<Array, Failure> {
    let elements = shape.iter().product();
    let values = match element {
        ElementType::Plain(ty) => Values::zeros(*ty, elements).ok(),
        ElementType::Record(layout) => {
            let count = usize::try_from(elements).ok();
            let records = count.and_then(|count| Records::zeros(layout.clone(), count));
            records.map(Values::Records)
        }
    };
    let values = values.ok_or_else(|| out_of_memory(name, elements))?;
    Ok(Array {
        shape: shape.to_vec(),
        values,
    })
}

pub(crate) fn out_of_memory(name: &str, elements: u64) -> Failure {
    Failure::Refused(format!(
        "there is no memory for the {elements} elements of `{name}`"
    ))
}

fn no_generator(name: &str) -> Failure {
    Failure::usage(format!(
        "--in {name}: `{name}` is an array of records, which come from a structured .npy file or are `zeros`"
    ))
}

fn once<T>(flag: &str, it: &Assignment, earlier: Option<T>) -> Result<(), Failure> {
    match earlier {
        None => Ok(()),
        Some(_) => Err(Failure::usage(format!("{flag} {} is given twice", it.name))),
    }
}

/// What `name` is, when `kernel` has it; otherwise an error that lists what it has.
fn parameter(kernel: &Kernel, name: &str) -> Result<Parameter, Failure> {
    let name_of = |it: &Parameter| match *it {
        Parameter::Scalar(scalar) => kernel.scalars[scalar].name.as_str(),
        Parameter::Array(array) => kernel.arrays[array].name.as_str(),
        Parameter::Record(record) => kernel.records[record].name.as_str(),
    };
    let found = kernel.passed_params().find(|it| name_of(it) == name);
    found.ok_or_else(|| {
        let passed: Vec<_> = kernel.passed_params().collect();
        let names: Vec<_> = passed.iter().map(name_of).collect();
        let names = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        Failure::usage(format!(
            "kernel `{}` has no parameter `{name}`; its parameters: {names}",
            kernel.name
        ))
    })
}

/// The element type of the array parameter `name`.
pub(crate) fn array_type(kernel: &Kernel, name: &str) -> Result<ElementType, Failure> {
    match parameter(kernel, name)? {
        Parameter::Array(array) => Ok(kernel.arrays[array].element.into()),
        Parameter::Record(record) => Ok(ElementType::Record(RecordLayout::of(kernel, record))),
        Parameter::Scalar(scalar) => Err(Failure::usage(format!(
            "`{name}` is a scalar ({}), expected an array; give it with --set {name}=VALUE",
            kernel.scalars[scalar].ty
        ))),
    }
}

fn scalar(kernel: &Kernel, it: &Assignment) -> Result<Value, Failure> {
    let ty = match parameter(kernel, &it.name)? {
        Parameter::Scalar(scalar) => kernel.scalars[scalar].ty,
        Parameter::Array(_) | Parameter::Record(_) => {
            let name = &it.name;
            let message = format!(
                "`{name}` is an array, expected a scalar; give it with --in {name}=FILE.npy"
            );
            return Err(Failure::usage(message));
        }
    };
    number(&it.text, ty).map_err(|why| Failure::usage(format!("--set {}: {why}", it.name)))
}

/// `text` as a value of type `ty`, exactly or not at all.
pub(crate) fn number(text: &str, ty: Type) -> Result<Value, String> {
    let text = text.trim();
    match ty.integer_range() {
        Some(_) if ty == Type::Bool && matches!(text, "true" | "false") => {
            Ok(Value::bool(text == "true"))
        }
        None => {
            let parsed = match ty {
                Type::F32 => text.parse().map(Value::f32).ok(),
                _ => text.parse().map(Value::f64).ok(),
            };
            let value =
                parsed.ok_or_else(|| format!("{} is not a number, expected {ty}", quoted(text)))?;
            in_range(text, value.as_float().unwrap_or_default(), ty)?;
            Ok(value)
        }
        Some((low, high)) => {
            let value = integer(text)
                .ok_or_else(|| format!("{} is not a whole number, expected {ty}", quoted(text)))?;
            if (low..=high).contains(&value) {
                Ok(Value::integer(ty, value))
            } else {
                Err(format!(
                    "{value} is out of range for {ty}, which holds {low} to {high}"
                ))
            }
        }
    }
}

/// Whether `value` of type `ty` is what `text` says: digits may stand for what only infinity is
/// near to.
pub(crate) fn in_range(text: &str, value: f64, ty: Type) -> Result<(), String> {
    match value.is_infinite() && text.contains(|it: char| it.is_ascii_digit()) {
        true => Err(format!(
            "{} is out of range for {ty}; infinity is `inf`",
            quoted(text)
        )),
        false => Ok(()),
    }
}

fn integer(text: &str) -> Option<i128> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let prefixes = ["0x", "0X"].into_iter();
    match prefixes.filter_map(|it| digits.strip_prefix(it)).next() {
        // The number itself has no sign of its own.
        Some(digits) if digits.starts_with(['+', '-']) => None,
        Some(digits) => Some(sign * i128::from_str_radix(digits, 16).ok()?),
        None => text.parse().ok(),
    }
}

fn dimensions(it: &Assignment) -> Result<Vec<u64>, Failure> {
    let parsed: Result<Vec<u64>, _> = it.text.split(',').map(|part| part.trim().parse()).collect();
    parsed.map_err(|_| {
        let Assignment { name, text } = it;
        Failure::usage(format!(
            "--shape {name}: `{text}` is not a list of dimensions, expected as 10,3"
        ))
    })
}

/// What `it` means, and what is worth saying about it.
fn input(
    kernel: &Kernel,
    it: &Assignment,
    reading: Reading<'_>,
) -> Result<(Input, Option<String>), Failure> {
    let element = array_type(kernel, &it.name)?;
    if let Some(generator) = Generator::parse(&it.text) {
        let generator =
            generator.map_err(|why| Failure::usage(format!("--in {}: {why}", it.name)))?;
        return match element {
            ElementType::Record(_) if !generator.is_zeros() => Err(no_generator(&it.name)),
            ElementType::Plain(_) | ElementType::Record(_) => {
                Ok((Input::Generator(generator), None))
            }
        };
    }
    if !DataFile::names_standard_input(&it.text)
        && !Path::new(&it.text).exists()
        && let Some(why) = Generator::mistaken(&it.text)
    {
        return Err(Failure::usage(format!("--in {}: {why}", it.name)));
    }
    let file = DataFile::parse(&it.text)
        .map_err(|error| Failure::usage(format!("--in {}: {error}", it.name)))?;
    let (array, note) = file
        .read(&element, reading)
        .map_err(|error| Failure::file(&file.path, format!("cannot be `{}`: {error}", it.name)))?;
    let path = file.path.display();
    let note = note.map(|what| format!("note: {path} {what}"));
    Ok((Input::File { file, array }, note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_exactly_or_not_at_all() {
        assert_eq!(number("104", Type::I32), Ok(Value::integer(Type::I32, 104)));
        assert_eq!(number("0x10", Type::U8), Ok(Value::integer(Type::U8, 16)));
        assert_eq!(number("0.5", Type::F64), Ok(Value::f64(0.5)));
        assert_eq!(number("true", Type::Bool), Ok(Value::bool(true)));
        assert_eq!(number("0", Type::Bool), Ok(Value::bool(false)));
        assert_eq!(number("-inf", Type::F32), Ok(Value::f32(f32::NEG_INFINITY)));
        assert_eq!(number("1e39", Type::F64), Ok(Value::f64(1e39)));
        for (text, ty) in [
            ("300", Type::U8),
            ("-1", Type::U64),
            ("1.5", Type::I32),
            ("2", Type::Bool),
            ("", Type::F32),
            ("x", Type::F64),
            ("1e400", Type::F64),
            ("-1e39", Type::F32),
        ] {
            assert!(number(text, ty).is_err(), "{text} as {ty}");
        }
        assert_eq!(
            number("300", Type::I8).expect_err("too large"),
            "300 is out of range for i8, which holds -128 to 127"
        );
    }
}
