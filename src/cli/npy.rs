//! `.npy` files. Nothing is converted: an array of another element type, byte order or layout is
//! refused.

use crate::cli::array::{Array, Values, with_values};
use crate::cli::progress::Meter;
use npyz::{DType, Endianness, NpyHeader, Order, TypeChar, WriterBuilder};
use std::fmt;
use std::io::{self, Write};
use strew::{ElementType, FieldLayout, RecordLayout, Records, Type, Value};

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
    NotRecords { expected: String, descr: String },
    OtherFields { difference: String },
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
            Self::NotRecords { expected, descr } => {
                write!(f, "the elements have type {descr}, expected {expected}")
            }
            Self::OtherFields { difference } => {
                write!(
                    f,
                    "the records are others than those of the kernel: {difference}"
                )
            }
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

/// The header is read by recursion over what it nests and held in memory whole; NumPy has the same
/// limit.
const LONGEST_HEADER: usize = 10_000;
const DEEPEST_HEADER: usize = 32;

/// No header is longer, with what stands before it.
pub(crate) const LONGEST_BEGINNING: usize = LONGEST_HEADER + 12;

/// Where a file has its elements, once it is known that it has such that were asked for, and all of
/// them.
pub(crate) struct Layout {
    pub(crate) shape: Vec<u64>,
    stored: Stored,
    /// The place of the first.
    pub(crate) offset: usize,
    /// How many there are.
    pub(crate) count: u64,
}

impl Layout {
    /// That of a file of `length` bytes that starts with `beginning`.
    pub(crate) fn of(
        beginning: &[u8],
        length: u64,
        expected: &ElementType,
    ) -> Result<Self, NpyError> {
        let (header, offset) = split(beginning)?;
        let shape = header.shape().to_vec();
        let stored = Stored::of(&header.dtype(), expected)?;
        if header.order() == Order::Fortran && shape.len() > 1 {
            return Err(NpyError::FortranOrder { shape });
        }
        let count = element_count(&shape).ok_or(NpyError::TooLarge)?;
        let expected = count.checked_mul(stored.bytes());
        let expected = expected.ok_or(NpyError::TooLarge)?;
        let found = length.saturating_sub(offset as u64);
        match expected.cmp(&found) {
            std::cmp::Ordering::Greater => Err(NpyError::Truncated { expected, found }),
            std::cmp::Ordering::Less => Err(NpyError::Trailing { expected, found }),
            std::cmp::Ordering::Equal => Ok(Self {
                shape,
                stored,
                offset,
                count,
            }),
        }
    }
}

/// The array of `bytes`, which must have such elements. The fields of records are found by their
/// names, wherever they lie.
pub(crate) fn decode(bytes: &[u8], expected: &ElementType) -> Result<Array, NpyError> {
    let layout = Layout::of(bytes, bytes.len() as u64, expected)?;
    let data = bytes.get(layout.offset..).unwrap_or_default();
    let values = match (&layout.stored, expected) {
        (Stored::Records(stored), ElementType::Record(expected)) => {
            records(stored, expected, layout.count, data)?
        }
        (Stored::Plain(ty), _) => elements(*ty, data),
        (Stored::Records(_), _) => return Err(NpyError::TooLarge),
    };
    let shape = layout.shape;
    Ok(Array { shape, values })
}

/// What a file holds, once it is known to be what the kernel takes.
enum Stored {
    Plain(Type),
    Records(RecordLayout),
}

impl Stored {
    fn of(dtype: &DType, expected: &ElementType) -> Result<Self, NpyError> {
        match (dtype, expected) {
            (_, ElementType::Plain(expected)) => {
                let (expected, found) = (*expected, element_type(dtype)?);
                if found == expected {
                    Ok(Self::Plain(found))
                } else {
                    Err(NpyError::OtherType { expected, found })
                }
            }
            (DType::Record(fields), ElementType::Record(expected)) => {
                let stored = stored_layout(fields)?;
                match by_name(expected).difference(&by_name(&stored)) {
                    None => Ok(Self::Records(stored)),
                    Some(difference) => Err(NpyError::OtherFields { difference }),
                }
            }
            (_, ElementType::Record(expected)) => Err(NpyError::NotRecords {
                expected: expected.to_string(),
                descr: dtype.descr(),
            }),
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Self::Plain(ty) => u64::from(ty.bytes()),
            Self::Records(layout) => layout.bytes() as u64,
        }
    }
}

/// The layout without places, of which only names and types are left to differ.
fn by_name(layout: &RecordLayout) -> RecordLayout {
    let placeless = layout.fields().iter().map(|it| FieldLayout {
        offset: 0,
        ..it.clone()
    });
    RecordLayout::new(0, placeless.collect())
}

/// The layout of records in a file: fields one behind the other, those without a name only fill
/// space; those of a record in a record have both names.
fn stored_layout(fields: &[npyz::Field]) -> Result<RecordLayout, NpyError> {
    let mut offset = 0_usize;
    let mut named = Vec::new();
    for field in fields {
        let size = match &field.dtype {
            DType::Plain(plain)
                if field.name.is_empty() && plain.type_char() == TypeChar::RawData =>
            {
                usize::try_from(plain.size_field()).map_err(|_| NpyError::TooLarge)?
            }
            DType::Record(fields) => {
                let inner = stored_layout(fields)?;
                named.extend(inner.inside(&field.name, offset));
                inner.bytes()
            }
            dtype => {
                let mut lengths = Vec::new();
                let mut element = dtype;
                while let DType::Array(length, inner) = element {
                    lengths.push(usize::try_from(*length).map_err(|_| NpyError::TooLarge)?);
                    element = inner;
                }
                let field = FieldLayout {
                    name: field.name.clone(),
                    ty: element_type(element)?,
                    lengths,
                    offset,
                };
                let size = field.elements().checked_mul(field.ty.bytes() as usize);
                named.push(field);
                size.ok_or(NpyError::TooLarge)?
            }
        };
        offset = offset.checked_add(size).ok_or(NpyError::TooLarge)?;
    }
    Ok(RecordLayout::new(offset, named))
}

/// Records as the kernel has them from `count` records as a file has them.
fn records(
    stored: &RecordLayout,
    layout: &RecordLayout,
    count: u64,
    data: &[u8],
) -> Result<Values, NpyError> {
    let count = usize::try_from(count).map_err(|_| NpyError::TooLarge)?;
    let mut records = Records::zeros(layout.clone(), count).ok_or(NpyError::TooLarge)?;
    for field in layout.fields() {
        let from = stored.fields().iter().find(|it| it.name == field.name);
        let from = from.map_or(0, |it| it.offset);
        let size = field.ty.bytes() as usize;
        let of_record = |record: &[u8]| {
            let end = from.saturating_add(size.saturating_mul(field.elements()));
            record.get(from..end).unwrap_or_default().to_vec()
        };
        let stored = data.chunks_exact(stored.bytes().max(1));
        let elements: Vec<u8> = stored.flat_map(of_record).collect();
        for (index, bytes) in elements.chunks_exact(size).enumerate() {
            records.set(index, field, stored_value(field.ty, bytes));
        }
    }
    Ok(Values::Records(records))
}

/// Any byte but zero is a `bool` that is true.
fn stored_value(ty: Type, bytes: &[u8]) -> Value {
    let mut bits = [0; 8];
    if let Some(bits) = bits.get_mut(..bytes.len()) {
        bits.copy_from_slice(bytes);
    }
    let bits = u64::from_le_bytes(bits);
    match ty {
        Type::Bool => Value::bool(bits != 0),
        _ => Value::from_bits(ty, bits),
    }
}

fn element_count(shape: &[u64]) -> Option<u64> {
    // A dimension of 0 does not excuse the others: their product is taken elsewhere too.
    let nonzero = shape.iter().filter(|it| **it > 0);
    let bound = nonzero.copied().try_fold(1_u64, u64::checked_mul)?;
    Some(if shape.contains(&0) { 0 } else { bound })
}

/// The header, and where the elements begin behind it.
fn split(bytes: &[u8]) -> Result<(NpyHeader, usize), NpyError> {
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
    Ok((header, bytes.len() - rest.len()))
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

/// What the header's reader takes on trust: that nesting is shallow and that the dimensions can be
/// multiplied.
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

pub(crate) fn elements(ty: Type, data: &[u8]) -> Values {
    macro_rules! read {
        ($variant:ident, $element:ty) => {{
            let (chunks, _) = data.as_chunks();
            Values::$variant(
                chunks
                    .iter()
                    .map(|it| <$element>::from_le_bytes(*it))
                    .collect::<Vec<_>>()
                    .into(),
            )
        }};
    }
    match ty {
        Type::Bool => Values::Bool(
            data.iter()
                .map(|byte| *byte != 0)
                .collect::<Vec<_>>()
                .into(),
        ),
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

/// Writes `array`, and tells `meter` which element it is at.
///
/// # Errors
/// Those of `sink`.
pub(crate) fn encode(array: &Array, sink: &mut impl Write, meter: &Meter) -> io::Result<()> {
    with_values!(&array.values, values => {
        let mut writer = npyz::WriteOptions::new()
            .default_dtype()
            .shape(&array.shape)
            .writer(sink)
            .begin_nd()?;
        writer.extend(meter.count(values.iter().copied()))?;
        writer.finish()
    }, records => encode_records(records, &array.shape, sink, meter))
}

/// Records without the bytes between their fields: NumPy reads such a file as a packed structured
/// array.
fn encode_records(
    records: &Records,
    shape: &[u64],
    sink: &mut impl Write,
    meter: &Meter,
) -> io::Result<()> {
    let fields = records.layout().fields();
    let named: Vec<_> = fields.iter().map(|it| (it.name.as_str(), it)).collect();
    let shape: String = shape.iter().map(|extent| format!("{extent}, ")).collect();
    let text = format!(
        "{{'descr': {}, 'fortran_order': False, 'shape': ({shape}), }}",
        record_descr(&named)
    );
    // Magic, version and length take ten bytes; the data begins at a multiple of 64, behind a line
    // end.
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let announced = u16::try_from(length).map_err(|_| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "the records have too many fields",
        )
    })?;
    sink.write_all(b"\x93NUMPY\x01\x00")?;
    sink.write_all(&announced.to_le_bytes())?;
    writeln!(sink, "{text:<width$}", width = length - 1)?;
    for index in meter.count(0..records.len()) {
        for field in fields {
            let first = index.saturating_mul(field.elements());
            for element in first..first.saturating_add(field.elements()) {
                let bits = records.get(element, field).bits().to_le_bytes();
                sink.write_all(bits.get(..field.ty.bytes() as usize).unwrap_or_default())?;
            }
        }
    }
    Ok(())
}

/// NumPy's description of records with these fields: those whose names begin alike before a dot are
/// one record in the record.
fn record_descr(fields: &[(&str, &FieldLayout)]) -> String {
    let outer = |name: &str| name.split_once('.').map(|(outer, _)| outer.to_owned());
    let groups = fields
        .chunk_by(|(left, _), (right, _)| outer(left).is_some() && outer(left) == outer(right));
    let described = groups.map(|group| match group {
        [(name, first), ..] => match name.split_once('.') {
            Some((outer, _)) => {
                let inner = group.iter().filter_map(|(name, field)| {
                    let (_, rest) = name.split_once('.')?;
                    Some((rest, *field))
                });
                let inner: Vec<_> = inner.collect();
                format!("('{}', {})", quoted(outer), record_descr(&inner))
            }
            None => {
                let lengths = first.lengths.iter().map(|it| format!("{it}, "));
                let lengths: String = lengths.collect();
                let shape = match lengths.as_str() {
                    "" => String::new(),
                    lengths => format!(", ({lengths})"),
                };
                format!("('{}', '{}'{shape})", quoted(name), descr(first.ty))
            }
        },
        [] => String::new(),
    });
    format!("[{}]", described.collect::<Vec<_>>().join(", "))
}

fn quoted(name: &str) -> String {
    name.replace('\\', "\\\\").replace('\'', "\\'")
}

/// NumPy's description of `ty`.
fn descr(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "|b1",
        Type::I8 => "|i1",
        Type::U8 => "|u1",
        Type::I16 => "<i2",
        Type::I32 => "<i4",
        Type::I64 => "<i8",
        Type::U16 => "<u2",
        Type::U32 => "<u4",
        Type::U64 => "<u8",
        Type::F32 => "<f4",
        Type::F64 => "<f8",
    }
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
            encode(&array, &mut bytes, &Meter::default()).expect("a vector takes all");
            assert_eq!(decode(&bytes, &ty.into()), Ok(array));
        }
    }

    use crate::cli::array::Number;

    #[test]
    fn what_is_not_such_an_array_is_refused_by_name() {
        let data = [0; 24];
        let check = |bytes: &[u8], expected: NpyError| {
            assert_eq!(decode(bytes, &Type::I32.into()), Err(expected));
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
            decode(&file("<i4", "False", huge, &[]), &Type::I32.into()),
            Err(NpyError::TooLarge)
        );
        let deep = format!("{}{}", "(".repeat(3000), ")".repeat(3000));
        let found = decode(&file("<i4", "False", &deep, &[]), &Type::I32.into());
        assert!(matches!(found, Err(NpyError::Header(_))), "{found:?}");
        let found = decode(&file("<i4", "False", "'x'", &[]), &Type::I32.into());
        assert!(matches!(found, Err(NpyError::Header(_))), "{found:?}");
        let found = decode(&file("<i4", "False", "(-3,)", &[]), &Type::I32.into());
        assert!(found.is_err(), "{found:?}");
    }

    #[test]
    fn an_empty_array_is_an_array() {
        let array = decode(&file("<i4", "False", "(0,)", &[]), &Type::I32.into());
        assert_eq!(array.map(|it| it.shape), Ok(vec![0]));
    }
}
