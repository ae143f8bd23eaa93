//! Arrays whose element type is known at run time only.

use strew::{Element, Records, Type};

/// The elements of an array, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Bool(Vec<bool>),
    Records(Records),
}

/// Evaluates one expression with a name bound to the vector inside, whatever its element type, or another with a name bound to
/// the records.
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
    /// `length` zeros of type `ty`, in memory that nothing has touched yet: a kernel may be refused before it does.
    pub(crate) fn zeros(ty: Type, length: u64) -> Result<Self, OutOfMemory> {
        fn zeros<T: Clone + Default>(length: u64) -> Result<Vec<T>, OutOfMemory> {
            let out_of_memory = OutOfMemory { elements: length };
            let elements = usize::try_from(length).map_err(|_| out_of_memory)?;
            // What fails here would end the process below.
            let reserved = Vec::<T>::new().try_reserve_exact(elements);
            reserved.map_err(|_| out_of_memory)?;
            Ok(vec![T::default(); elements])
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

    /// `length` elements of type `ty`, the one at `index` being `make(index)` converted to it as `as` does; a `bool` is whether it
    /// is not zero.
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
                Self::$variant(values)
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
