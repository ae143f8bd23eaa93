use std::fmt;

/// The type of a scalar value or of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// True or false; in memory a byte, of which any but zero reads as true and one is what is
    /// stored for it.
    Bool,
    /// Two's complement, 8 bits.
    I8,
    /// Two's complement, 16 bits.
    I16,
    /// Two's complement, 32 bits.
    I32,
    /// Two's complement, 64 bits; also the type of iterators.
    I64,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

impl Type {
    /// The types that are calculated with: all but [`Type::Bool`].
    pub const NUMBERS: [Self; 10] = [
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::F32,
        Self::F64,
    ];

    /// Every type that an array element can have.
    pub const ELEMENTS: [Self; 11] = [
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::F32,
        Self::F64,
        Self::Bool,
    ];

    /// Size in bytes as an array element.
    pub fn bytes(self) -> u32 {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Size in bits; one for [`Type::Bool`].
    pub fn bits(self) -> u32 {
        if self == Self::Bool {
            1
        } else {
            self.bytes() * 8
        }
    }

    /// `f32` or `f64`.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// One of the eight integer types; [`Type::Bool`] is none of them.
    pub fn is_integer(self) -> bool {
        !self.is_float() && self != Self::Bool
    }

    /// Whether this type and `other` are types of integers or `bool`, and this one has every value
    /// of the other.
    pub fn holds_all_of(self, other: Self) -> bool {
        other.integer_range().is_some_and(|it| self.holds(it))
    }

    /// Whether this is a type of integers or `bool` that has every number of `range`, both ends
    /// included.
    pub fn holds(self, (least, most): (i128, i128)) -> bool {
        self.integer_range()
            .is_some_and(|own| own.0 <= least && most <= own.1)
    }

    /// A signed integer type.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// The least and greatest value of an integer type or of `bool`; `None` for floats.
    pub fn integer_range(self) -> Option<(i128, i128)> {
        if self.is_float() {
            None
        } else if self.is_signed() {
            let half = 1_i128 << (self.bits() - 1);
            Some((-half, half - 1))
        } else {
            Some((0, (1_i128 << self.bits()) - 1))
        }
    }

    /// The name in the kernel text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// The type that the kernel text calls `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ELEMENTS.into_iter().find(|ty| ty.name() == name)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A scalar of a known type: a constant in a kernel, an argument, or what the interpreter computes
/// with.
///
/// Equality is that of the bits, so `-0.0` differs from `0.0` and a NaN equals itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    ty: Type,
    /// The value's own bits, zero-extended to 64.
    bits: u64,
}

impl Value {
    /// The value of type `ty` whose bits are the low bits of `bits`.
    pub fn from_bits(ty: Type, bits: u64) -> Self {
        let mask = u64::MAX >> (64 - ty.bits());
        Self {
            ty,
            bits: bits & mask,
        }
    }

    /// An integer (or `bool`) of type `ty`, wrapped to its width.
    pub fn integer(ty: Type, value: i128) -> Self {
        // Keeping the low 64 bits is what wrapping to any width up to 64 needs.
        Self::from_bits(ty, value as u64)
    }

    /// A float of type `ty`, rounded to nearest when `ty` is `f32`.
    pub fn float(ty: Type, value: f64) -> Self {
        match ty {
            Type::F32 => Self::f32(value as f32),
            _ => Self::from_bits(ty, value.to_bits()),
        }
    }

    /// A `bool`.
    pub fn bool(value: bool) -> Self {
        Self::from_bits(Type::Bool, u64::from(value))
    }

    /// An `i64`.
    pub fn i64(value: i64) -> Self {
        Self::from_bits(Type::I64, value as u64)
    }

    /// An `f32`.
    pub fn f32(value: f32) -> Self {
        Self::from_bits(Type::F32, u64::from(value.to_bits()))
    }

    /// An `f64`.
    pub fn f64(value: f64) -> Self {
        Self::from_bits(Type::F64, value.to_bits())
    }

    /// Zero of type `ty` (`false`, `+0.0`).
    pub fn zero(ty: Type) -> Self {
        Self::from_bits(ty, 0)
    }

    /// The type.
    pub fn ty(self) -> Type {
        self.ty
    }

    /// The bits, zero-extended.
    pub fn bits(self) -> u64 {
        self.bits
    }

    /// The mathematical value of an integer or `bool`; `None` for floats.
    pub fn as_integer(self) -> Option<i128> {
        if self.ty.is_float() {
            return None;
        }
        let unsigned = i128::from(self.bits);
        let sign = self.ty.is_signed() && self.bits >> (self.ty.bits() - 1) == 1;
        Some(if sign {
            unsigned - (1_i128 << self.ty.bits())
        } else {
            unsigned
        })
    }

    /// The value of a float, exactly; `None` for integers.
    pub fn as_float(self) -> Option<f64> {
        match self.ty {
            Type::F32 => Some(f64::from(f32::from_bits(self.bits as u32))),
            Type::F64 => Some(f64::from_bits(self.bits)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_to_their_width_and_come_back() {
        assert_eq!(Value::integer(Type::I8, 255).as_integer(), Some(-1));
        assert_eq!(Value::integer(Type::U8, -1).as_integer(), Some(255));
        assert_eq!(
            Value::integer(Type::I64, i128::from(i64::MIN)).as_integer(),
            Some(i128::from(i64::MIN))
        );
        assert_eq!(
            Value::integer(Type::U64, -1).as_integer(),
            Some(i128::from(u64::MAX))
        );
    }

    #[test]
    fn every_type_is_found_by_its_name() {
        for ty in Type::ELEMENTS {
            assert_eq!(Type::from_name(ty.name()), Some(ty));
        }
        assert_eq!(Type::from_name("int"), None);
    }
}
