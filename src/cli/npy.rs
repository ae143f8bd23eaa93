//! `.npy` files. Nothing is converted: an array of another element type, byte order or layout is refused.

use crate::cli::array::{Array, Values, with_values};
use npyz::{DType, Endianness, NpyHeader, Order, TypeChar, WriterBuilder};
use std::fmt;
use std::io::{self, Write};
use strew::Type;

/// What is wrong with a `.npy` file.
#[derive(Debug, PartialEq)]
pub(crate) enum NpyError {
    Empty,
    NotNpy,
    Header(String),
    FortranOrder { shape: Vec<u64> },
    BigEndian { descr: String },
    UnknownType { descr: String },
    OtherType { expected: Type, found: Type },
    Truncated { expected: u64, found: u64 },
    Trailing { expected: u64, found: u64 },
    TooLarge,
}

impl fmt::Display for NpyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the file is empty, expected an array in .npy format"),
            Self::NotNpy => f.write_str("not a .npy file: it does not begin with \\x93NUMPY"),
            Self::Header(why) => write!(f, "the .npy header cannot be read: {why}"),
            Self::FortranOrder { shape } => write!(
                f,
                "the array of shape {shape:?} is stored column by column (Fortran order), expected row by row; \
                 save numpy.ascontiguousarray(a)"
            ),
            Self::BigEndian { descr } => write!(
                f,
                "the elements are big-endian ({descr}), expected little-endian; \
                 save a.astype(a.dtype.newbyteorder('<'))"
            ),
            Self::UnknownType { descr } => write!(
                f,
                "the elements have type {descr}, which no kernel can take; \
                 expected one of b1 i1 i2 i4 i8 u1 u2 u4 u8 f4 f8"
            ),
            Self::OtherType { expected, found } => write!(
                f,
                "the elements have type {found}, expected {expected}; types are never converted silently, \
                 save a.astype('{}')",
                numpy_name(*expected)
            ),
            Self::Truncated { expected, found } => write!(
                f,
                "the file is truncated: its header announces {expected} bytes of elements, found {found}"
            ),
            Self::Trailing { expected, found } => write!(
                f,
                "the file is longer than its header says: expected {expected} bytes of elements, found {found}"
            ),
            Self::TooLarge => {
                f.write_str("the header announces more elements than memory can hold")
            }
        }
    }
}

/// The header is read by recursion over what it nests and held in memory whole; NumPy has the same limit.
const LONGEST_HEADER: usize = 10_000;
const DEEPEST_HEADER: usize = 32;

/// The array of `bytes`, which must have elements of type `expected`.
pub(crate) fn decode(bytes: &[u8], expected: Type) -> Result<Array, NpyError> {
    let (header, data) = split(bytes)?;
    let found = element_type(&header.dtype())?;
    let shape = header.shape().to_vec();
    if found != expected {
        return Err(NpyError::OtherType { expected, found });
    }
    if header.order() == Order::Fortran && shape.len() > 1 {
        return Err(NpyError::FortranOrder { shape });
    }
    let count = element_count(&shape).ok_or(NpyError::TooLarge)?;
    let needed = count
        .checked_mul(u64::from(found.bytes()))
        .ok_or(NpyError::TooLarge)?;
    let present = data.len() as u64;
    match needed.cmp(&present) {
        std::cmp::Ordering::Greater => Err(NpyError::Truncated {
            expected: needed,
            found: present,
        }),
        std::cmp::Ordering::Less => Err(NpyError::Trailing {
            expected: needed,
            found: present,
        }),
        std::cmp::Ordering::Equal => Ok(Array {
            shape,
            values: elements(found, data),
        }),
    }
}

fn element_count(shape: &[u64]) -> Option<u64> {
    // A dimension of 0 does not excuse the others: their product is taken elsewhere too.
    let nonzero = shape.iter().filter(|it| **it > 0);
    let bound = nonzero.copied().try_fold(1_u64, u64::checked_mul)?;
    Some(if shape.contains(&0) { 0 } else { bound })
}

fn split(bytes: &[u8]) -> Result<(NpyHeader, &[u8]), NpyError> {
    if bytes.is_empty() {
        return Err(NpyError::Empty);
    }
    if !bytes.starts_with(b"\x93NUMPY") {
        return Err(NpyError::NotNpy);
    }
    let text = header_text(bytes)?;
    check_header(text)?;
    let mut rest = bytes;
    let header = NpyHeader::from_reader(&mut rest)
        .map_err(|error| NpyError::Header(first_line(&error.to_string())))?;
    Ok((header, rest))
}

fn header_text(bytes: &[u8]) -> Result<&[u8], NpyError> {
    let cut_off = || NpyError::Header("the file ends inside it".to_owned());
    let version = bytes.get(6).ok_or_else(cut_off)?;
    let (start, length) = match version {
        1 => (
            10,
            bytes
                .get(8..10)
                .map(|it| u32::from(it[0]) | u32::from(it[1]) << 8),
        ),
        2 | 3 => {
            let length = bytes.get(8..12).and_then(|it| it.try_into().ok());
            (12, length.map(u32::from_le_bytes))
        }
        other => return Err(NpyError::Header(format!("version {other} is not known"))),
    };
    let length = length.ok_or_else(cut_off)? as usize;
    if length > LONGEST_HEADER {
        let why = format!("it announces {length} bytes, the longest allowed is {LONGEST_HEADER}");
        return Err(NpyError::Header(why));
    }
    bytes.get(start..start + length).ok_or_else(cut_off)
}

/// What the header's reader takes on trust: that nesting is shallow and that the dimensions can be multiplied.
fn check_header(text: &[u8]) -> Result<(), NpyError> {
    let opened = text.iter().filter(|byte| b"([{".contains(byte)).count();
    if opened > DEEPEST_HEADER {
        return Err(NpyError::Header("it is nested too deeply".to_owned()));
    }
    let text = String::from_utf8_lossy(text);
    let shape = text
        .split("'shape'")
        .nth(1)
        .and_then(|it| it.split(')').next());
    let numbers = shape
        .unwrap_or_default()
        .split(|it: char| !it.is_ascii_digit());
    let numbers = numbers.filter(|it| !it.is_empty());
    let dimensions: Result<Vec<u64>, _> = numbers.map(str::parse).collect();
    let count = dimensions.ok().and_then(|it| element_count(&it));
    count.map(drop).ok_or(NpyError::TooLarge)
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

fn element_type(dtype: &DType) -> Result<Type, NpyError> {
    let descr = dtype.descr();
    let DType::Plain(plain) = dtype else {
        return Err(NpyError::UnknownType { descr });
    };
    let found = match (plain.type_char(), plain.size_field()) {
        (TypeChar::Bool, 1) => Type::Bool,
        (TypeChar::Int, 1) => Type::I8,
        (TypeChar::Int, 2) => Type::I16,
        (TypeChar::Int, 4) => Type::I32,
        (TypeChar::Int, 8) => Type::I64,
        (TypeChar::Uint, 1) => Type::U8,
        (TypeChar::Uint, 2) => Type::U16,
        (TypeChar::Uint, 4) => Type::U32,
        (TypeChar::Uint, 8) => Type::U64,
        (TypeChar::Float, 4) => Type::F32,
        (TypeChar::Float, 8) => Type::F64,
        _ => return Err(NpyError::UnknownType { descr }),
    };
    if plain.endianness() == Endianness::Big && found.bytes() > 1 {
        return Err(NpyError::BigEndian { descr });
    }
    Ok(found)
}

fn numpy_name(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "bool",
        Type::U8 => "uint8",
        Type::I8 => "int8",
        Type::I16 => "int16",
        Type::I32 => "int32",
        Type::I64 => "int64",
        Type::U16 => "uint16",
        Type::U32 => "uint32",
        Type::U64 => "uint64",
        Type::F32 => "float32",
        Type::F64 => "float64",
    }
}

fn elements(ty: Type, data: &[u8]) -> Values {
    macro_rules! read {
        ($variant:ident, $element:ty) => {{
            let (chunks, _) = data.as_chunks();
            Values::$variant(
                chunks
                    .iter()
                    .map(|it| <$element>::from_le_bytes(*it))
                    .collect(),
            )
        }};
    }
    match ty {
        Type::Bool => Values::Bool(data.iter().map(|byte| *byte != 0).collect()),
        Type::U8 => read!(U8, u8),
        Type::I8 => read!(I8, i8),
        Type::I16 => read!(I16, i16),
        Type::I32 => read!(I32, i32),
        Type::I64 => read!(I64, i64),
        Type::U16 => read!(U16, u16),
        Type::U32 => read!(U32, u32),
        Type::U64 => read!(U64, u64),
        Type::F32 => read!(F32, f32),
        Type::F64 => read!(F64, f64),
    }
}

/// Writes `array`.
///
/// # Errors
/// Those of `sink`.
pub(crate) fn encode(array: &Array, sink: &mut impl Write) -> io::Result<()> {
    with_values!(&array.values, values => {
        let mut writer = npyz::WriteOptions::new()
            .default_dtype()
            .shape(&array.shape)
            .writer(sink)
            .begin_nd()?;
        writer.extend(values.iter().copied())?;
        writer.finish()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let text =
            format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn every_element_type_comes_back_as_it_was_written() {
        for ty in Type::ELEMENTS {
            let values = Values::generate(ty, 6, |index| Number::Integer(i128::from(index) - 2));
            let array = Array {
                shape: vec![2, 3],
                values: values.expect("six elements"),
            };
            let mut bytes = Vec::new();
            encode(&array, &mut bytes).expect("a vector takes all");
            assert_eq!(decode(&bytes, ty), Ok(array));
        }
    }

    use crate::cli::array::Number;

    #[test]
    fn what_is_not_such_an_array_is_refused_by_name() {
        let data = [0; 24];
        let check = |bytes: &[u8], expected: NpyError| {
            assert_eq!(decode(bytes, Type::I32), Err(expected));
        };
        check(&[], NpyError::Empty);
        check(b"PK\x03\x04", NpyError::NotNpy);
        check(
            b"\x93NUMPY",
            NpyError::Header("the file ends inside it".to_owned()),
        );
        check(
            &file("<i4", "False", "(7,)", &data),
            NpyError::Truncated {
                expected: 28,
                found: 24,
            },
        );
        check(
            &file("<i4", "False", "(5,)", &data),
            NpyError::Trailing {
                expected: 20,
                found: 24,
            },
        );
        check(
            &file("<i4", "True", "(2, 3)", &data),
            NpyError::FortranOrder { shape: vec![2, 3] },
        );
        let descr = "'>i4'".to_owned();
        check(
            &file(">i4", "False", "(6,)", &data),
            NpyError::BigEndian { descr },
        );
        let descr = "'<f2'".to_owned();
        check(
            &file("<f2", "False", "(12,)", &data),
            NpyError::UnknownType { descr },
        );
        check(
            &file("<f4", "False", "(6,)", &data),
            NpyError::OtherType {
                expected: Type::I32,
                found: Type::F32,
            },
        );
    }

    #[test]
    fn a_hostile_header_is_an_error() {
        let huge = "(4294967296, 4294967296, 4294967296)";
        assert_eq!(
            decode(&file("<i4", "False", huge, &[]), Type::I32),
            Err(NpyError::TooLarge)
        );
        let deep = format!("{}{}", "(".repeat(3000), ")".repeat(3000));
        let found = decode(&file("<i4", "False", &deep, &[]), Type::I32);
        assert!(matches!(found, Err(NpyError::Header(_))), "{found:?}");
        let found = decode(&file("<i4", "False", "'x'", &[]), Type::I32);
        assert!(matches!(found, Err(NpyError::Header(_))), "{found:?}");
        let found = decode(&file("<i4", "False", "(-3,)", &[]), Type::I32);
        assert!(found.is_err(), "{found:?}");
    }

    #[test]
    fn an_empty_array_is_an_array() {
        let array = decode(&file("<i4", "False", "(0,)", &[]), Type::I32);
        assert_eq!(array.map(|it| it.shape), Ok(vec![0]));
    }
}
