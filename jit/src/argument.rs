//! What a call is given.

use crate::record::{ArrayElement, ElementType, FieldLayout, Layout, RecordLayout};
use std::fmt;
use std::marker::PhantomData;
use strew_affine::{Type, Value};
use strew_runtime::abi::Slot;

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that can be a scalar argument, an element of an array or a field of a record.
pub trait Element: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The kernel's type for it.
    const TYPE: Type;

    /// The value with its type.
    fn to_value(self) -> Value;

    /// The scalar whose bits are those of `value`.
    fn from_value(value: Value) -> Self;
}

macro_rules! elements {
    ($($rust:ty => $ty:ident, $bits:expr, $value:expr;)*) => {$(
        impl sealed::Sealed for $rust {}

        // SAFETY: the type is the one that lies there.
        unsafe impl ArrayElement for $rust {
            fn layout() -> Layout<'static> {
                Layout::Plain(Type::$ty)
            }
        }

        impl Element for $rust {
            const TYPE: Type = Type::$ty;

            fn to_value(self) -> Value {
                let bits: fn($rust) -> u64 = $bits;
                Value::from_bits(Type::$ty, bits(self))
            }

            fn from_value(value: Value) -> Self {
                let of_bits: fn(u64) -> $rust = $value;
                of_bits(value.bits())
            }
        }
    )*};
}

elements! {
    i8 => I8, |value| value as u64, |bits| bits as i8;
    i16 => I16, |value| value as u64, |bits| bits as i16;
    i32 => I32, |value| value as u64, |bits| bits as i32;
    i64 => I64, |value| value as u64, |bits| bits as i64;
    u8 => U8, u64::from, |bits| bits as u8;
    u16 => U16, u64::from, |bits| bits as u16;
    u32 => U32, u64::from, |bits| bits as u32;
    u64 => U64, |value| value, |bits| bits;
    f32 => F32, |value| u64::from(value.to_bits()), |bits| f32::from_bits(bits as u32);
    f64 => F64, f64::to_bits, f64::from_bits;
    bool => Bool, u64::from, |bits| bits != 0;
}

/// An array that a call reads, of any element type.
#[derive(Clone, Copy, Debug)]
pub struct ArrayRef<'a> {
    pub(crate) address: u64,
    pub(crate) elements: usize,
    pub(crate) layout: Layout<'a>,
    borrowed: PhantomData<&'a [u8]>,
}

impl<'a> ArrayRef<'a> {
    /// The elements of `slice`, row by row.
    pub fn new<T: ArrayElement>(slice: &'a [T]) -> Self {
        Self {
            address: slice.as_ptr() as u64,
            elements: slice.len(),
            layout: T::layout(),
            borrowed: PhantomData,
        }
    }

    /// What generated code is handed for it.
    pub fn slot(&self) -> Slot {
        Slot {
            bits_or_address: self.address,
            elements: self.elements as u64,
        }
    }
}

/// An array that a call reads and writes, of any element type.
#[derive(Debug)]
pub struct ArrayMut<'a> {
    pub(crate) address: u64,
    pub(crate) elements: usize,
    pub(crate) layout: Layout<'a>,
    borrowed: PhantomData<&'a mut [u8]>,
}

impl<'a> ArrayMut<'a> {
    /// The elements of `slice`, row by row.
    pub fn new<T: ArrayElement>(slice: &'a mut [T]) -> Self {
        Self {
            address: slice.as_mut_ptr() as u64,
            elements: slice.len(),
            layout: T::layout(),
            borrowed: PhantomData,
        }
    }
}

/// Records whose layout is known at run time only, in memory that is aligned for every field.
#[derive(Clone, Debug, PartialEq)]
pub struct Records {
    words: Vec<u64>,
    elements: usize,
    layout: RecordLayout,
}

impl Records {
    /// `elements` records of zeros; `None` when there is no memory for them, or when a field does
    /// not lie inside of its record at a multiple of the size of its elements.
    pub fn zeros(layout: RecordLayout, elements: usize) -> Option<Self> {
        let lies_well = |field: &FieldLayout| {
            let size = field.ty.bytes() as usize;
            let end = size.checked_mul(field.elements());
            let end = end.and_then(|it| it.checked_add(field.offset));
            field.offset.is_multiple_of(size)
                && layout.bytes().is_multiple_of(size)
                && end.is_some_and(|end| end <= layout.bytes())
        };
        if !layout.fields().iter().all(lies_well) {
            return None;
        }
        let count = elements.checked_mul(layout.bytes())?.div_ceil(8);
        let mut words = Vec::new();
        words.try_reserve_exact(count).ok()?;
        words.resize(count, 0);
        Some(Self {
            words,
            elements,
            layout,
        })
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.elements
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.elements == 0
    }

    /// How they lie in memory.
    pub fn layout(&self) -> &RecordLayout {
        &self.layout
    }

    /// The value of element `index` of `field`, those of one record behind those of the record
    /// before; zero when there is none.
    pub fn get(&self, index: usize, field: &FieldLayout) -> Value {
        let at = self.position(index, field);
        let word = self.words.get(at / 8).copied().unwrap_or(0);
        Value::from_bits(field.ty, truth(field.ty, word >> (at % 8 * 8)))
    }

    /// Sets element `index` of `field`, counted likewise, if there is one.
    pub fn set(&mut self, index: usize, field: &FieldLayout, value: Value) {
        let at = self.position(index, field);
        let shift = at % 8 * 8;
        let mask = u64::MAX >> (64 - 8 * field.ty.bytes()) << shift;
        if let Some(word) = self.words.get_mut(at / 8) {
            *word = *word & !mask | (value.bits() << shift) & mask;
        }
    }

    fn position(&self, index: usize, field: &FieldLayout) -> usize {
        let elements = field.elements().max(1);
        let record = (index / elements).saturating_mul(self.layout.bytes());
        let within = index % elements * field.ty.bytes() as usize;
        record.saturating_add(field.offset).saturating_add(within)
    }

    /// The argument for a parameter that the kernel does not write.
    pub fn as_array(&self) -> ArrayRef<'_> {
        ArrayRef {
            address: self.words.as_ptr() as u64,
            elements: self.elements,
            layout: Layout::Record(&self.layout),
            borrowed: PhantomData,
        }
    }

    /// The argument for a parameter that the kernel writes.
    pub fn as_array_mut(&mut self) -> ArrayMut<'_> {
        ArrayMut {
            address: self.words.as_mut_ptr() as u64,
            elements: self.elements,
            layout: Layout::Record(&self.layout),
            borrowed: PhantomData,
        }
    }
}

/// Any byte but zero is a `bool` that is true.
fn truth(ty: Type, bits: u64) -> u64 {
    match ty {
        Type::Bool => u64::from(bits & 0xff != 0),
        _ => bits,
    }
}

/// One argument of a call. That no two arrays overlap while one of them is written is proved by
/// borrowing.
#[derive(Debug)]
pub enum Argument<'a> {
    /// For a scalar parameter.
    Scalar(Value),
    /// For an array that the kernel does not write.
    Read(ArrayRef<'a>),
    /// For an array that the kernel writes.
    Write(ArrayMut<'a>),
}

impl Argument<'_> {
    /// What it is.
    pub fn kind(&self) -> ArgumentKind {
        match self {
            Self::Scalar(value) => ArgumentKind::Scalar(value.ty()),
            Self::Read(array) => ArgumentKind::Read(array.layout.element_type()),
            Self::Write(array) => ArgumentKind::Write(array.layout.element_type()),
        }
    }

    /// Whether a parameter that takes `kind` takes it.
    #[inline]
    pub fn is(&self, kind: &ArgumentKind) -> bool {
        match (self, kind) {
            (Self::Scalar(value), ArgumentKind::Scalar(ty)) => value.ty() == *ty,
            (Self::Read(array), ArgumentKind::Read(element)) => array.layout.is(element),
            (Self::Write(array), ArgumentKind::Write(element)) => array.layout.is(element),
            _ => false,
        }
    }

    /// Whether code that was made for `kind` can do with it: a schedule may leave out the only
    /// statement that writes an array, since it never runs.
    #[inline]
    pub(crate) fn serves_as(&self, kind: &ArgumentKind) -> bool {
        match (self, kind) {
            (Self::Write(array), ArgumentKind::Read(element)) => array.layout.is(element),
            _ => self.is(kind),
        }
    }

    /// What generated code is handed for it.
    #[inline]
    pub(crate) fn slot(&self) -> Slot {
        let (bits_or_address, elements) = match self {
            Self::Scalar(value) => (value.bits(), 0),
            Self::Read(array) => (array.address, array.elements),
            Self::Write(array) => (array.address, array.elements),
        };
        Slot {
            bits_or_address,
            elements: elements as u64,
        }
    }

    /// How many elements an array has.
    pub fn elements(&self) -> Option<usize> {
        match self {
            Self::Scalar(_) => None,
            Self::Read(array) => Some(array.elements),
            Self::Write(array) => Some(array.elements),
        }
    }
}

/// What an argument is or should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    /// A scalar of this type.
    Scalar(Type),
    /// An array of such elements that is only read.
    Read(ElementType),
    /// An array of such elements that is written.
    Write(ElementType),
}

impl fmt::Display for ArgumentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(ty) => write!(f, "a scalar of type {ty}"),
            Self::Read(ty) => write!(f, "an array of {ty} that is read"),
            Self::Write(ty) => write!(f, "an array of {ty} that is written"),
        }
    }
}
