//! What a call is given.

use std::marker::PhantomData;
use strew_affine::{Type, Value};

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that can be a scalar argument or an element of an array.
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
    pub(crate) ty: Type,
    borrowed: PhantomData<&'a [u8]>,
}

impl<'a> ArrayRef<'a> {
    /// The elements of `slice`, row by row.
    pub fn new<T: Element>(slice: &'a [T]) -> Self {
        Self {
            address: slice.as_ptr() as u64,
            elements: slice.len(),
            ty: T::TYPE,
            borrowed: PhantomData,
        }
    }
}

/// An array that a call reads and writes, of any element type.
#[derive(Debug)]
pub struct ArrayMut<'a> {
    pub(crate) address: u64,
    pub(crate) elements: usize,
    pub(crate) ty: Type,
    borrowed: PhantomData<&'a mut [u8]>,
}

impl<'a> ArrayMut<'a> {
    /// The elements of `slice`, row by row.
    pub fn new<T: Element>(slice: &'a mut [T]) -> Self {
        Self {
            address: slice.as_mut_ptr() as u64,
            elements: slice.len(),
            ty: T::TYPE,
            borrowed: PhantomData,
        }
    }
}

/// One argument of a call. That no two arrays overlap while one of them is written is proved by borrowing.
#[derive(Debug)]
pub enum Argument<'a> {
    /// For a scalar parameter.
    Scalar(Value),
    /// For an array that the kernel does not write.
    Read(ArrayRef<'a>),
    /// For an array that the kernel writes.
    Write(ArrayMut<'a>),
}
