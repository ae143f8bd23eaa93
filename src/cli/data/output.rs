//! The files that arrays are written to: which format, and the elements in it.

use super::{DataError, DataFile, ending, has_parts, raw_type, split};
use crate::cli::array::{Array, with_values};
use crate::cli::decimal::exact;
use crate::cli::npy;
use crate::cli::progress::Meter;
use std::io::{self, Write};
use std::path::PathBuf;
use strew::{ElementType, Records, Type, Value};

/// How an array is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    Npy,
    /// A table, with the name of its column where one was given.
    Csv(Option<String>),
    /// Elements alone, little-endian, of this type where one was given.
    Raw(Option<Type>),
}

impl OutputFormat {
    /// The file that `text` names, and its format, as its ending says it.
    pub(crate) fn parse(text: &str) -> Result<(PathBuf, Self), DataError> {
        if DataFile::names_standard_input(text) {
            return Err(DataError::new(
                "results do not go to standard output, which has the summary or --json; name a .npy, .csv or .bin file",
            ));
        }
        let has_parts = |path: &str| has_parts(path) || ending(path) == "png";
        let (path, part) = split(text, has_parts)?;
        let format = match ending(path).as_str() {
            "csv" => Self::Csv(part.map(str::to_owned)),
            other @ ("npz" | "mtx" | "png") => {
                return Err(DataError(format!(
                    "{path}: .{other} files are read alone; there are .npy, .csv and .bin for results"
                )));
            }
            "bin" => Self::Raw(part.map(raw_type).transpose()?),
            _ => match part {
                Some(part) => Self::Raw(Some(raw_type(part)?)),
                None => Self::Npy,
            },
        };
        Ok((PathBuf::from(path), format))
    }

    /// Whether an array of such elements with so many dimensions can be written.
    pub(crate) fn check(&self, element: &ElementType, rank: usize) -> Result<(), DataError> {
        match (self, element) {
            (Self::Npy, _) | (Self::Csv(None), ElementType::Record(_)) => Ok(()),
            (Self::Csv(name), _) if rank > 1 && name.is_some() => Err(DataError::new(
                "has one name for its column, but the array has several; leave the name out",
            )),
            (Self::Csv(Some(_)), ElementType::Record(_)) => Err(DataError::new(
                "has one name for its column, but each field of a record gets one; leave the name out",
            )),
            (Self::Csv(_), ElementType::Plain(_)) if rank > 2 => Err(DataError(format!(
                "is a table, which has two dimensions, but the array has {rank}; write a .npy file"
            ))),
            (Self::Csv(_), ElementType::Plain(_)) | (Self::Raw(None), ElementType::Plain(_)) => {
                Ok(())
            }
            (Self::Raw(_), ElementType::Record(_)) => {
                Err(DataError::new("takes no records; write a .npy file"))
            }
            (Self::Raw(Some(wanted)), ElementType::Plain(ty)) if wanted == ty => Ok(()),
            (Self::Raw(Some(wanted)), ElementType::Plain(ty)) => Err(DataError(format!(
                "would hold elements of type {wanted}, the array has {ty}; types are never converted silently"
            ))),
        }
    }

    /// Writes the array `name`, and tells `meter` how far it is.
    pub(crate) fn write(
        &self,
        name: &str,
        array: &Array,
        sink: &mut impl Write,
        meter: &Meter,
    ) -> io::Result<()> {
        match self {
            Self::Npy => npy::encode(array, sink, meter),
            Self::Csv(column) => table(column.as_deref().unwrap_or(name), array, sink, meter),
            Self::Raw(_) => raw(array, sink, meter),
        }
    }
}

fn raw(array: &Array, sink: &mut impl Write, meter: &Meter) -> io::Result<()> {
    with_values!(&array.values, values => {
        for value in meter.count(values.iter()) {
            let value = strew::Element::to_value(*value);
            let bits = value.bits().to_le_bytes();
            sink.write_all(bits.get(..value.ty().bytes() as usize).unwrap_or_default())?;
        }
        Ok(())
    }, _records => Err(io::ErrorKind::Unsupported.into()))
}

/// One row for each element, or for each row of a matrix, whose columns are numbered.
fn table(name: &str, array: &Array, sink: &mut impl Write, meter: &Meter) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(sink);
    with_values!(&array.values, values => {
        let columns = match array.shape.as_slice() {
            [_, columns] => {
                table.write_record((0..*columns).map(|it| format!("{name}_{it}")))?;
                usize::try_from(*columns).unwrap_or(usize::MAX)
            }
            _ => {
                table.write_record([name])?;
                1
            }
        };
        meter.begin((values.len() / columns.max(1)) as u64, "rows");
        for row in meter.count(values.chunks_exact(columns.max(1))) {
            table.write_record(row.iter().map(exact))?;
        }
    }, records => records_table(records, &mut table, meter)?);
    table.flush()
}

/// One column for each field, and for each element of a field that is an array.
fn records_table(
    records: &Records,
    table: &mut csv::Writer<impl Write>,
    meter: &Meter,
) -> io::Result<()> {
    let fields = records.layout().fields();
    let names = fields.iter().flat_map(|field| {
        (0..field.elements()).map(move |it| match field.lengths.as_slice() {
            [] => field.name.clone(),
            _ => format!("{}_{it}", field.name),
        })
    });
    table.write_record(names)?;
    meter.begin(records.len() as u64, "rows");
    for index in meter.count(0..records.len()) {
        let row = fields.iter().flat_map(|field| {
            let first = index.saturating_mul(field.elements());
            let elements = first..first.saturating_add(field.elements());
            elements.map(move |it| value_text(records.get(it, field)))
        });
        table.write_record(row)?;
    }
    Ok(())
}

fn value_text(value: Value) -> String {
    match (value.ty(), value.as_integer(), value.as_float()) {
        (Type::Bool, ..) => (value.bits() != 0).to_string(),
        (Type::F32, _, Some(float)) => exact(float as f32),
        (_, Some(integer), _) => integer.to_string(),
        (_, None, float) => exact(float.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::array::Values;

    fn text(format: &OutputFormat, shape: &[u64], values: Values) -> String {
        let shape = shape.to_vec();
        let array = Array { shape, values };
        let mut bytes = Vec::new();
        let written = format.write("out", &array, &mut bytes, &Meter::default());
        written.expect("a vector takes all");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn results_go_to_files_of_formats_that_are_written() {
        for (text, why) in [
            ("o.npz:a", "o.npz: .npz files are read alone"),
            ("o.mtx:val", "o.mtx: .mtx files are read alone"),
            ("-", "results do not go to standard output"),
            ("-:f64", "results do not go to standard output"),
            ("csv:-", "results do not go to standard output"),
        ] {
            let error = OutputFormat::parse(text).expect_err("no file").to_string();
            assert!(error.starts_with(why), "{error}");
        }
        let csv = OutputFormat::parse("o.csv:a: b").ok();
        let column = OutputFormat::Csv(Some("a: b".to_owned()));
        assert_eq!(csv, Some((PathBuf::from("o.csv"), column)));
    }

    #[test]
    fn the_ending_says_the_format() {
        let format = |text: &str| OutputFormat::parse(text).map(|it| it.1);
        assert_eq!(format("a.CSV").ok(), Some(OutputFormat::Csv(None)));
        let named = OutputFormat::Csv(Some("sum, km".to_owned()));
        assert_eq!(format("a.csv:sum, km").ok(), Some(named));
        let raw = OutputFormat::Raw(Some(Type::F32));
        assert_eq!(format("a.bin:f32").ok(), Some(raw.clone()));
        assert_eq!(format("a.samples:f32").ok(), Some(raw));
        assert_eq!(format("/dev/null").ok(), Some(OutputFormat::Npy));
        for bad in ["a.npz", "a.mtx", "a.png", "a.bin:text", "a.npy:f32"] {
            assert!(format(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn tables_have_names_and_values_that_are_read_as_the_same() {
        let csv = OutputFormat::Csv(None);
        let floats = vec![0.1, -1e300, f64::NAN, f64::NEG_INFINITY];
        assert_eq!(
            text(&csv, &[4], Values::F64(floats.into())),
            "out\n0.1\n-1e300\nNaN\n-inf\n"
        );
        assert_eq!(
            text(&csv, &[2, 2], Values::I32(vec![1, 2, 3, 4].into())),
            "out_0,out_1\n1,2\n3,4\n"
        );
        let named = OutputFormat::Csv(Some("a, b".to_owned()));
        assert_eq!(
            text(&named, &[1], Values::Bool(vec![true].into())),
            "\"a, b\"\ntrue\n"
        );
        assert_eq!(text(&csv, &[0], Values::U8(vec![].into())), "out\n");
    }

    #[test]
    fn raw_elements_are_little_endian() {
        let values = Values::I16(vec![1, -2].into());
        let array = Array {
            shape: vec![2],
            values,
        };
        let mut bytes = Vec::new();
        let raw = OutputFormat::Raw(None);
        let written = raw.write("out", &array, &mut bytes, &Meter::default());
        written.expect("a vector takes all");
        assert_eq!(bytes, [1, 0, 254, 255]);
    }

    #[test]
    fn what_a_format_cannot_hold_is_told_before() {
        let csv = OutputFormat::Csv(None);
        assert!(csv.check(&Type::U8.into(), 2).is_ok());
        assert!(csv.check(&Type::U8.into(), 3).is_err());
        let named = OutputFormat::Csv(Some("a".to_owned()));
        assert!(named.check(&Type::U8.into(), 2).is_err());
        let raw = OutputFormat::Raw(Some(Type::F32));
        assert!(raw.check(&Type::F32.into(), 3).is_ok());
        assert!(raw.check(&Type::F64.into(), 1).is_err());
    }
}
