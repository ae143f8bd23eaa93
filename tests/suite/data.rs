//! Arguments of a kernel whose types are known at run time only.

use std::collections::BTreeMap;
use strew::ir::{ArrayId, Kernel, Parameter, Type, Value};
use strew::{Element, RecordLayout, Sizes};

/// What every engine is given: all scalars and arrays by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Data {
    pub(crate) scalars: BTreeMap<String, Value>,
    pub(crate) arrays: BTreeMap<String, Vec<Value>>,
}

impl Data {
    /// The same with the scalar `name`.
    pub(crate) fn scalar<T: Element>(mut self, name: &str, value: T) -> Self {
        self.scalars.insert(name.to_owned(), value.to_value());
        self
    }

    /// The same with the array `name`, row by row.
    pub(crate) fn array<T: Element>(mut self, name: &str, elements: &[T]) -> Self {
        let values = elements.iter().map(|it| it.to_value()).collect();
        self.arrays.insert(name.to_owned(), values);
        self
    }

    /// How many records of `layout` the fields of the parameter `name` make.
    pub(crate) fn records(&self, name: &str, layout: &RecordLayout) -> usize {
        let first = layout.fields().first().expect("a field");
        self.arrays[&format!("{name}.{}", first.name)].len() / first.elements()
    }
}

/// A parameter as a caller passes it.
pub(crate) enum Passed {
    Scalar(String, Type),
    Array(String, Type),
    /// Each of the fields is an array of the `Data`, called `record.field`.
    Records(String, RecordLayout),
}

/// The parameters that a caller of `kernel` passes, in order.
pub(crate) fn passed(kernel: &Kernel) -> Vec<Passed> {
    let parameters = kernel.passed_params().map(|it| match it {
        Parameter::Scalar(scalar) => {
            let scalar = &kernel.scalars[scalar];
            Passed::Scalar(scalar.name.clone(), scalar.ty)
        }
        Parameter::Array(array) => {
            let array = &kernel.arrays[array];
            Passed::Array(array.name.clone(), array.element)
        }
        Parameter::Record(record) => {
            let name = kernel.records[record].name.clone();
            Passed::Records(name, RecordLayout::of(kernel, record))
        }
    });
    parameters.collect()
}

/// The name under which the result of a kernel stands among its arrays.
pub(crate) const RESULT: &str = "return";

/// How a run ended: the arrays, or a fault in words.
pub(crate) type Outcome = Result<BTreeMap<String, Vec<Value>>, String>;

/// A vector of the Rust type behind a `Type`.
#[derive(Debug)]
pub(crate) enum Elements {
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
}

/// Evaluates an expression with a name bound to the vector inside.
macro_rules! with_elements {
    ($elements:expr, $name:ident => $body:expr) => {
        match $elements {
            $crate::data::Elements::I8($name) => $body,
            $crate::data::Elements::I16($name) => $body,
            $crate::data::Elements::I32($name) => $body,
            $crate::data::Elements::I64($name) => $body,
            $crate::data::Elements::U8($name) => $body,
            $crate::data::Elements::U16($name) => $body,
            $crate::data::Elements::U32($name) => $body,
            $crate::data::Elements::U64($name) => $body,
            $crate::data::Elements::F32($name) => $body,
            $crate::data::Elements::F64($name) => $body,
            $crate::data::Elements::Bool($name) => $body,
        }
    };
}
pub(crate) use with_elements;

impl Elements {
    pub(crate) fn of(ty: Type, values: &[Value]) -> Self {
        let bits = values.iter().map(|it| it.bits());
        match ty {
            Type::Bool => Self::Bool(bits.map(|it| it != 0).collect()),
            Type::U8 => Self::U8(bits.map(|it| it as u8).collect()),
            Type::I8 => Self::I8(bits.map(|it| it as i8).collect()),
            Type::I16 => Self::I16(bits.map(|it| it as i16).collect()),
            Type::I32 => Self::I32(bits.map(|it| it as i32).collect()),
            Type::I64 => Self::I64(bits.map(|it| it as i64).collect()),
            Type::U16 => Self::U16(bits.map(|it| it as u16).collect()),
            Type::U32 => Self::U32(bits.map(|it| it as u32).collect()),
            Type::U64 => Self::U64(bits.collect()),
            Type::F32 => Self::F32(bits.map(|it| f32::from_bits(it as u32)).collect()),
            Type::F64 => Self::F64(bits.map(f64::from_bits).collect()),
        }
    }

    pub(crate) fn values(&self) -> Vec<Value> {
        with_elements!(self, elements => elements.iter().map(|it| it.to_value()).collect())
    }
}

/// The scalar and the array parameters that a caller of `kernel` passes, with their types, in
/// order.
pub(crate) fn parameters(kernel: &Kernel) -> Vec<(String, Type, bool)> {
    let array = |array: ArrayId| {
        let array = &kernel.arrays[array];
        (array.name.clone(), array.element, true)
    };
    let parameter = |it: &Parameter| match *it {
        Parameter::Scalar(scalar) => {
            let scalar = &kernel.scalars[scalar];
            vec![(scalar.name.clone(), scalar.ty, false)]
        }
        Parameter::Array(only) => vec![array(only)],
        Parameter::Record(record) => {
            let fields = kernel.records[record].fields.iter();
            fields.map(|field| array(*field)).collect()
        }
    };
    kernel
        .passed_params()
        .flat_map(|it| parameter(&it))
        .collect()
}

/// The extents that `scalars` give the arrays of `kernel`.
pub(crate) fn sizes(kernel: &strew::Kernel, scalars: &BTreeMap<String, Value>) -> Sizes {
    let call = scalars.iter().fold(kernel.bind(), |call, (name, value)| {
        call.value(name, *value)
    });
    call.sizes().expect("all sizes are given")
}

/// Equal bits, any NaN equal to any NaN.
pub(crate) fn is_same(left: Value, right: Value) -> bool {
    let is_nan = |it: Value| it.as_float().is_some_and(f64::is_nan);
    left == right || left.ty() == right.ty() && is_nan(left) && is_nan(right)
}

/// Equal up to the rounding of a few thousand additions.
pub(crate) fn is_close(left: Value, right: Value) -> bool {
    match (left.as_float(), right.as_float()) {
        (Some(a), Some(b)) => {
            let tolerance = if left.ty() == Type::F32 { 1e-3 } else { 1e-9 };
            is_same(left, right) || (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
        }
        _ => left == right,
    }
}

/// A value as the golden files write it.
pub(crate) fn shown(value: Value) -> String {
    match (value.as_integer(), value.ty()) {
        (Some(integer), _) => integer.to_string(),
        (None, Type::F32) => f32::from_bits(value.bits() as u32).to_string(),
        (None, _) => f64::from_bits(value.bits()).to_string(),
    }
}

/// The value of type `ty` that `text` writes.
pub(crate) fn parsed(text: &str, ty: Type) -> Value {
    let float = || {
        text.parse::<f64>()
            .unwrap_or_else(|_| panic!("`{text}` is not a number"))
    };
    match ty {
        Type::F32 => Value::f32(
            text.parse()
                .unwrap_or_else(|_| panic!("`{text}` is not a number")),
        ),
        Type::F64 => Value::f64(float()),
        _ => match text.parse::<i128>() {
            Ok(integer) => Value::integer(ty, integer),
            Err(_) => panic!("`{text}` is not a whole number"),
        },
    }
}
