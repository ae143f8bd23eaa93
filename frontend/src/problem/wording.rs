//! Words that several areas need.

use strew_affine::Type;

/// The name that C gives to `ty`.
pub(crate) fn c_name(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "_Bool",
        Type::I8 => "int8_t",
        Type::I16 => "int16_t",
        Type::I32 => "int",
        Type::I64 => "int64_t",
        Type::U8 => "uint8_t",
        Type::U16 => "uint16_t",
        Type::U32 => "unsigned",
        Type::U64 => "uint64_t",
        Type::F32 => "float",
        Type::F64 => "double",
    }
}

/// Keeps a message readable when the text it quotes is a megabyte long.
pub(super) fn clipped(text: &str) -> String {
    const LIMIT: usize = 40;
    if text.chars().count() <= LIMIT {
        return text.to_owned();
    }
    text.chars().take(LIMIT).chain("…".chars()).collect()
}
