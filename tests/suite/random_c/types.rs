//! C's rules for the types of operands.

use strew::ir::Type;

/// What the integer promotions make of `ty`.
pub(crate) fn promoted(ty: Type) -> Type {
    match ty {
        Type::Bool | Type::I8 | Type::I16 | Type::U8 | Type::U16 => Type::I32,
        _ => ty,
    }
}

/// The common type of two operands after the usual arithmetic conversions.
pub(crate) fn common(left: Type, right: Type) -> Type {
    let (left, right) = (promoted(left), promoted(right));
    for float in [Type::F64, Type::F32] {
        if left == float || right == float {
            return float;
        }
    }
    let wider = |a: Type, b: Type| if a.bits() >= b.bits() { a } else { b };
    match (left.is_signed(), right.is_signed()) {
        (true, false) if right.bits() >= left.bits() => right,
        (false, true) if left.bits() >= right.bits() => left,
        _ => wider(left, right),
    }
}

/// The ways to write `ty`.
pub(crate) fn spellings(ty: Type) -> &'static [&'static str] {
    match ty {
        Type::Bool => &["_Bool"],
        Type::I8 => &["int8_t", "signed char"],
        Type::I16 => &["int16_t", "short", "short int"],
        Type::I32 => &["int32_t", "int", "signed", "signed int"],
        Type::I64 => &["int64_t", "long", "long long", "long int"],
        Type::U8 => &["uint8_t", "unsigned char"],
        Type::U16 => &["uint16_t", "unsigned short"],
        Type::U32 => &["uint32_t", "unsigned", "unsigned int"],
        Type::U64 => &["uint64_t", "unsigned long", "unsigned long long"],
        Type::F32 => &["float"],
        Type::F64 => &["double"],
    }
}
