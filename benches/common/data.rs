//! Kernels with their arguments.

use strew::{Bind, Kernel};

/// An array.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Elements {
    I32(Vec<i32>),
    U32(Vec<u32>),
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

/// Runs `$body` with the vector in `$elements` as `$vector`.
macro_rules! with {
    ($elements:expr, $vector:ident => $body:expr) => {
        match $elements {
            Elements::I32($vector) => $body,
            Elements::U32($vector) => $body,
            Elements::I64($vector) => $body,
            Elements::F32($vector) => $body,
            Elements::F64($vector) => $body,
        }
    };
}

macro_rules! from_vector {
    ($($element:ty, $variant:ident;)*) => {$(
        impl From<Vec<$element>> for Elements {
            fn from(elements: Vec<$element>) -> Self {
                Self::$variant(elements)
            }
        }

        impl Slice for $element {
            fn of(elements: &Elements) -> Option<&[Self]> {
                match elements {
                    Elements::$variant(elements) => Some(elements),
                    _ => None,
                }
            }

            fn of_mut(elements: &mut Elements) -> Option<&mut [Self]> {
                match elements {
                    Elements::$variant(elements) => Some(elements),
                    _ => None,
                }
            }
        }
    )*};
}

/// A type of elements.
pub(crate) trait Slice: Sized {
    fn of(elements: &Elements) -> Option<&[Self]>;
    fn of_mut(elements: &mut Elements) -> Option<&mut [Self]>;
}

from_vector! {
    i32, I32;
    u32, U32;
    i64, I64;
    f32, F32;
    f64, F64;
}

impl Elements {
    pub(crate) fn bytes(&self) -> usize {
        with!(self, elements => size_of_val(elements.as_slice()))
    }

    /// Takes over what `source` holds, which is of the same type and length.
    pub(crate) fn copy_from(&mut self, source: &Self) {
        match (self, source) {
            (Self::I32(to), Self::I32(from)) => to.copy_from_slice(from),
            (Self::U32(to), Self::U32(from)) => to.copy_from_slice(from),
            (Self::I64(to), Self::I64(from)) => to.copy_from_slice(from),
            (Self::F32(to), Self::F32(from)) => to.copy_from_slice(from),
            (Self::F64(to), Self::F64(from)) => to.copy_from_slice(from),
            (to, from) => *to = from.clone(),
        }
    }

    /// Reads every element, and makes some number of them.
    pub(crate) fn read(&self) -> u64 {
        match self {
            Self::I32(it) => it.iter().fold(0, |sum, it| sum ^ *it as u64),
            Self::U32(it) => it.iter().fold(0, |sum, it| sum ^ u64::from(*it)),
            Self::I64(it) => it.iter().fold(0, |sum, it| sum ^ *it as u64),
            Self::F32(it) => it.iter().fold(0, |sum, it| sum ^ u64::from(it.to_bits())),
            Self::F64(it) => it.iter().fold(0, |sum, it| sum ^ it.to_bits()),
        }
    }
}

/// What a parameter gets.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Int32(i32),
    Int64(i64),
    Single(f32),
    Double(f64),
    Input(Elements),
    /// What the output holds before every run.
    Output(Elements),
}

/// A kernel and its arguments, in the order of its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) source: String,
    /// The name of the function.
    pub(crate) function: &'static str,
    pub(crate) arguments: Vec<(String, Value)>,
}

impl Problem {
    pub(crate) fn new(function: &'static str, source: &str) -> Self {
        Self {
            source: source.to_owned(),
            function,
            arguments: Vec::new(),
        }
    }

    pub(crate) fn with(mut self, name: &str, value: Value) -> Self {
        self.arguments.push((name.to_owned(), value));
        self
    }

    pub(crate) fn int32(self, name: &str, value: usize) -> Self {
        self.with(name, Value::Int32(value as i32))
    }

    pub(crate) fn int64(self, name: &str, value: usize) -> Self {
        self.with(name, Value::Int64(value as i64))
    }

    pub(crate) fn single(self, name: &str, value: f32) -> Self {
        self.with(name, Value::Single(value))
    }

    pub(crate) fn input(self, name: &str, elements: impl Into<Elements>) -> Self {
        self.with(name, Value::Input(elements.into()))
    }

    pub(crate) fn output(self, name: &str, elements: impl Into<Elements>) -> Self {
        self.with(name, Value::Output(elements.into()))
    }

    pub(crate) fn outputs(&self) -> impl Iterator<Item = &Elements> {
        self.arguments.iter().filter_map(|(_, value)| match value {
            Value::Output(elements) => Some(elements),
            _ => None,
        })
    }

    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Elements> {
        self.arguments.iter().filter_map(|(_, value)| match value {
            Value::Input(elements) => Some(elements),
            _ => None,
        })
    }

    /// The value of the scalar `name`.
    pub(crate) fn size(&self, name: &str) -> Option<usize> {
        match self.find(name)? {
            Value::Int32(value) => Some(*value as usize),
            Value::Int64(value) => Some(*value as usize),
            _ => None,
        }
    }

    /// The input `name`.
    pub(crate) fn slice<T: Slice>(&self, name: &str) -> Option<&[T]> {
        match self.find(name)? {
            Value::Input(elements) => T::of(elements),
            _ => None,
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Value> {
        let mut arguments = self.arguments.iter();
        arguments.find(|(it, _)| *it == name).map(|(_, it)| it)
    }

    /// A call of `kernel` on these inputs and on `outputs`, which stand for those of the problem in
    /// their order.
    pub(crate) fn bind<'a>(&'a self, kernel: &Kernel, outputs: &'a mut [Elements]) -> Bind<'a> {
        let mut outputs = outputs.iter_mut();
        let mut call = kernel.bind();
        for (name, value) in &self.arguments {
            call = match value {
                Value::Int32(value) => call.scalar(name, *value),
                Value::Int64(value) => call.scalar(name, *value),
                Value::Single(value) => call.scalar(name, *value),
                Value::Double(value) => call.scalar(name, *value),
                Value::Input(elements) => with!(elements, it => call.array(name, it)),
                Value::Output(_) => match outputs.next() {
                    Some(elements) => with!(elements, it => call.array_mut(name, it)),
                    None => call,
                },
            };
        }
        call
    }
}
