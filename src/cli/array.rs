//! Arrays whose element type is known at run time only.

use std::io;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use strew::{Element, Mapped, Records, StopToken, Type};

/// Elements in memory, or in a file.
#[derive(Debug)]
pub(crate) enum Elements<T> {
    Owned(Vec<T>),
    Mapped(Mapped<T>),
}

impl<T> From<Vec<T>> for Elements<T> {
    fn from(values: Vec<T>) -> Self {
        Self::Owned(values)
    }
}

impl<T> Deref for Elements<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Owned(values) => values,
            Self::Mapped(values) => values,
        }
    }
}

impl<T> DerefMut for Elements<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::Owned(values) => values,
            Self::Mapped(values) => values,
        }
    }
}

impl<T: Clone> Clone for Elements<T> {
    fn clone(&self) -> Self {
        Self::Owned(self.to_vec())
    }
}

impl<T: PartialEq> PartialEq for Elements<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T> Elements<T> {
    fn is_intact(&self) -> bool {
        match self {
            Self::Owned(_) => true,
            Self::Mapped(values) => values.is_intact(),
        }
    }
}

/// The elements of an array, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    I8(Elements<i8>),
    I16(Elements<i16>),
    I32(Elements<i32>),
    I64(Elements<i64>),
    U8(Elements<u8>),
    U16(Elements<u16>),
    U32(Elements<u32>),
    U64(Elements<u64>),
    F32(Elements<f32>),
    F64(Elements<f64>),
    Bool(Elements<bool>),
    Records(Records),
}

/// Evaluates one expression with a name bound to the vector inside, whatever its element type, or
/// another with a name bound to the records.
macro_rules! with_values {
    ($values:expr, $name:ident => $body:expr, $records:ident => $other:expr) => {
        match $values {
            $crate::cli::array::Values::Records($records) => $other,
            $crate::cli::array::Values::I8($name) => $body,
            $crate::cli::array::Values::I16($name) => $body,
            $crate::cli::array::Values::I32($name) => $body,
            $crate::cli::array::Values::I64($name) => $body,
            $crate::cli::array::Values::U8($name) => $body,
            $crate::cli::array::Values::U16($name) => $body,
            $crate::cli::array::Values::U32($name) => $body,
            $crate::cli::array::Values::U64($name) => $body,
            $crate::cli::array::Values::F32($name) => $body,
            $crate::cli::array::Values::F64($name) => $body,
            $crate::cli::array::Values::Bool($name) => $body,
        }
    };
}
pub(crate) use with_values;

/// An array with its dimensions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Array {
    /// Outermost first.
    pub(crate) shape: Vec<u64>,
    pub(crate) values: Values,
}

/// There is no memory for an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfMemory {
    /// How many elements it was to have.
    pub(crate) elements: u64,
}

impl Values {
    /// `length` zeros of type `ty`, in memory that nothing has touched yet: a kernel may be refused
    /// before it does.
    pub(crate) fn zeros(ty: Type, length: u64) -> Result<Self, OutOfMemory> {
        fn zeros<T: Clone + Default>(length: u64) -> Result<Elements<T>, OutOfMemory> {
            let out_of_memory = OutOfMemory { elements: length };
            let elements = usize::try_from(length).map_err(|_| out_of_memory)?;
            // What fails here would end the process below.
            let reserved = Vec::<T>::new().try_reserve_exact(elements);
            reserved.map_err(|_| out_of_memory)?;
            Ok(vec![T::default(); elements].into())
        }
        Ok(match ty {
            Type::Bool => Self::Bool(zeros(length)?),
            Type::U8 => Self::U8(zeros(length)?),
            Type::I8 => Self::I8(zeros(length)?),
            Type::I16 => Self::I16(zeros(length)?),
            Type::I32 => Self::I32(zeros(length)?),
            Type::I64 => Self::I64(zeros(length)?),
            Type::U16 => Self::U16(zeros(length)?),
            Type::U32 => Self::U32(zeros(length)?),
            Type::U64 => Self::U64(zeros(length)?),
            Type::F32 => Self::F32(zeros(length)?),
            Type::F64 => Self::F64(zeros(length)?),
        })
    }

    /// `length` elements of type `ty`, the one at `index` being `make(index)` converted to it as
    /// `as` does; a `bool` is whether it is not zero.
    pub(crate) fn generate(
        ty: Type,
        length: u64,
        mut make: impl FnMut(u64) -> Number,
    ) -> Result<Self, OutOfMemory> {
        macro_rules! build {
            ($variant:ident, $element:ty) => {
                build!($variant, $element, |number| match number {
                    Number::Integer(value) => value as $element,
                    Number::Float(value) => value as $element,
                })
            };
            ($variant:ident, $element:ty, $convert:expr) => {{
                let mut values: Vec<$element> = Vec::new();
                let elements =
                    usize::try_from(length).map_err(|_| OutOfMemory { elements: length })?;
                values
                    .try_reserve_exact(elements)
                    .map_err(|_| OutOfMemory { elements: length })?;
                let convert: fn(Number) -> $element = $convert;
                values.extend((0..length).map(|index| convert(make(index))));
                Self::$variant(values.into())
            }};
        }
        Ok(match ty {
            Type::Bool => build!(Bool, bool, |number| match number {
                Number::Integer(value) => value != 0,
                Number::Float(value) => value != 0.0,
            }),
            Type::U8 => build!(U8, u8),
            Type::I8 => build!(I8, i8),
            Type::I16 => build!(I16, i16),
            Type::I32 => build!(I32, i32),
            Type::I64 => build!(I64, i64),
            Type::U16 => build!(U16, u16),
            Type::U32 => build!(U32, u32),
            Type::U64 => build!(U64, u64),
            Type::F32 => build!(F32, f32),
            Type::F64 => build!(F64, f64),
        })
    }

    /// `length` elements of type `ty` that stay in the file at `path`, the first at byte `offset`.
    /// `stop` stops before anybody may change the file.
    ///
    /// # Errors
    /// Where the file cannot be mapped; it can be read then.
    pub(crate) fn mapped(
        ty: Type,
        path: &Path,
        (offset, length): (u64, u64),
        stop: &StopToken,
    ) -> io::Result<Self> {
        let too_long = |_| io::Error::from(io::ErrorKind::OutOfMemory);
        let length = usize::try_from(length).map_err(too_long)?;
        macro_rules! map {
            ($variant:ident) => {
                Self::$variant(Elements::Mapped(Mapped::open(path, offset, length, stop)?))
            };
        }
        Ok(match ty {
            Type::Bool => {
                let why = "a byte of it may be no bool";
                return Err(io::Error::new(io::ErrorKind::Unsupported, why));
            }
            Type::U8 => map!(U8),
            Type::I8 => map!(I8),
            Type::I16 => map!(I16),
            Type::I32 => map!(I32),
            Type::I64 => map!(I64),
            Type::U16 => map!(U16),
            Type::U32 => map!(U32),
            Type::U64 => map!(U64),
            Type::F32 => map!(F32),
            Type::F64 => map!(F64),
        })
    }

    /// How many bytes the elements have.
    pub(crate) fn bytes(&self) -> u64 {
        let bytes = with_values!(self, values => size_of_val::<[_]>(values), records => {
            records.len().saturating_mul(records.layout().bytes())
        });
        bytes as u64
    }

    /// Reads a byte of each cache line, so that a call finds in caches what fits into them.
    pub(crate) fn touch(&self) {
        with_values!(self, values => {
            let apart = 64 / size_of_val(values.first().unwrap_or(&Default::default())).max(1);
            for value in values.iter().step_by(apart.max(1)) {
                std::hint::black_box(*value);
            }
        }, _records => {});
    }

    /// Takes over the elements of `original`, which has as many of the same type, without new
    /// memory.
    pub(crate) fn copy_from(&mut self, original: &Self) {
        macro_rules! copy {
            ($($variant:ident)*) => {
                match (self, original) {
                    $((Self::$variant(to), Self::$variant(from)) if to.len() == from.len() => {
                        to.copy_from_slice(from);
                    })*
                    (to, from) => to.clone_from(from),
                }
            };
        }
        copy!(I8 I16 I32 I64 U8 U16 U32 U64 F32 F64 Bool);
    }

    /// Whether the elements are still those of the file that they stay in.
    pub(crate) fn is_intact(&self) -> bool {
        with_values!(self, values => values.is_intact(), _records => true)
    }

    /// The type of the elements, as kernel text writes it.
    pub(crate) fn type_name(&self) -> String {
        fn element<T: Element>(_: &[T]) -> Type {
            T::TYPE
        }
        with_values!(self, values => element(values).to_string(), records => records.layout().to_string())
    }
}

/// A number on its way into an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Integer(i128),
    Float(f64),
}
