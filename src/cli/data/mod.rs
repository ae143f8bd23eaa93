//! The files that arrays are read from: which format, which part of the file, and its elements.

mod csv;
mod matrix_market;
mod npz;
mod output;
mod png;
mod standard_input;

use crate::cli::array::{Array, Number, Values};
use crate::cli::npy;
use crate::cli::progress::Meter;
use matrix_market::Part;
pub(crate) use output::OutputFormat;
use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use strew::{ElementType, StopToken, Type, Value};

/// A file, or a part of one, that an array is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DataFile {
    /// What it is called where it is standard input.
    pub(crate) path: PathBuf,
    is_standard_input: bool,
    format: Format,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Format {
    Npy,
    /// An archive; the only array in it where none is named.
    Npz {
        member: Option<String>,
    },
    Csv {
        column: String,
    },
    MatrixMarket(Part),
    Raw(Type),
    Png,
}

/// How files are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'r> {
    /// Is told how far it is.
    pub(crate) meter: &'r Meter,
    /// Files stay where they are, if this is given and can be stopped before one of them changes.
    pub(crate) map: Option<&'r StopToken>,
}

/// What is wrong with a name of a file, or with what is in the file.
#[derive(Debug)]
pub(crate) struct DataError(String);

impl DataError {
    fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }

    /// The same, said of a line of a file, the first being 1.
    fn at_line(line: u64, why: impl fmt::Display) -> Self {
        Self(format!("line {line}: {why}"))
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl DataFile {
    /// The file that `text` names: a path, with a colon and a part of the file behind it where the
    /// format has parts.
    pub(crate) fn parse(text: &str) -> Result<Self, DataError> {
        if let Some(format) = standard_input::format(text) {
            return Ok(Self {
                path: PathBuf::from(standard_input::NAME),
                is_standard_input: true,
                format: format?,
            });
        }
        let (path, part) = split(text, has_parts)?;
        Ok(Self {
            format: Format::of(&ending(path), part, path)?,
            path: PathBuf::from(path),
            is_standard_input: false,
        })
    }

    /// Whether `text` names standard input rather than a file.
    pub(crate) fn names_standard_input(text: &str) -> bool {
        standard_input::is_named(text)
    }

    /// The array, whose elements have to be of type `element`, and what is worth saying of how it
    /// was read.
    pub(crate) fn read(
        &self,
        element: &ElementType,
        reading: Reading<'_>,
    ) -> Result<(Array, Option<String>), DataError> {
        let read = self.read_as_named(element, reading);
        read.map_err(|error| match self.is_taken_for_npy() {
            true if self.is_standard_input => DataError(format!(
                "{error}; a .npy file was expected; other formats stand before it, as in csv:-:price, and a type of elements alone behind \
                 it, as in -:f32"
            )),
            true => DataError(format!(
                "{error}; its name has no ending that is known, so a .npy file was expected; elements alone need their type behind a \
                 colon, which is one of {RAW_TYPES}"
            )),
            false => error,
        })
    }

    fn read_as_named(
        &self,
        element: &ElementType,
        reading: Reading<'_>,
    ) -> Result<(Array, Option<String>), DataError> {
        let mapped = reading.map.map(|stop| self.map(element, stop));
        let unmapped = match mapped.transpose()? {
            Some(Ok(array)) => return Ok((array, None)),
            Some(Err(why)) => Some(why),
            None => None,
        };
        let read = match self.is_standard_input {
            true => standard_input::bytes(reading.meter).map(Cow::Borrowed),
            false => bytes(&self.path, reading.meter).map(Cow::Owned),
        };
        let bytes = read.map_err(unreadable)?;
        // To take them apart can take long as well.
        reading.meter.end();
        let array = self.decode(&bytes, element, reading.meter)?;
        let unmapped = unmapped.map(|why| format!("is read and not mapped: {why}"));
        Ok((array, unmapped.or_else(|| self.doubt(&bytes))))
    }

    /// What makes it doubtful that the file was meant as it was read.
    fn doubt(&self, bytes: &[u8]) -> Option<String> {
        match self.format {
            Format::Csv { ref column } => csv::doubt(bytes, column),
            _ => None,
        }
    }

    fn decode(
        &self,
        bytes: &[u8],
        element: &ElementType,
        meter: &Meter,
    ) -> Result<Array, DataError> {
        let of_npy = |bytes: &[u8]| npy::decode(bytes, element).map_err(in_npy);
        match (&self.format, element) {
            (Format::Npy, _) => of_npy(bytes),
            (Format::Npz { member }, _) => {
                let (name, array) = npz::member(bytes, member.as_deref())?;
                of_npy(&array).map_err(|error| DataError(format!("`{name}`: {error}")))
            }
            (_, ElementType::Record(_)) => Err(DataError::new(
                "records come from structured .npy files alone",
            )),
            (Format::Csv { column }, ElementType::Plain(ty)) => {
                csv::column(bytes, column, *ty, meter)
            }
            (Format::MatrixMarket(part), ElementType::Plain(ty)) => {
                matrix_market::read(text(bytes)?, *part, *ty, meter)
            }
            (Format::Raw(stored), ElementType::Plain(ty)) => raw(bytes, *stored, *ty),
            (Format::Png, ElementType::Plain(ty)) => png::read(bytes, *ty),
        }
    }

    /// The array with its elements left in the file, or why they cannot be.
    fn map(
        &self,
        element: &ElementType,
        stop: &StopToken,
    ) -> Result<Result<Array, String>, DataError> {
        let ElementType::Plain(ty) = element else {
            return Ok(Err("it holds records".to_owned()));
        };
        let (shape, offset) = match self.format {
            _ if self.is_standard_input => {
                return Ok(Err("standard input cannot be mapped".to_owned()));
            }
            Format::Npy => {
                let (beginning, length) = beginning(&self.path).map_err(unreadable)?;
                let layout = npy::Layout::of(&beginning, length, element).map_err(in_npy)?;
                (layout.shape, layout.offset as u64)
            }
            Format::Raw(stored) => {
                let (_, length) = beginning(&self.path).map_err(unreadable)?;
                (vec![raw_length(length, stored, *ty)?], 0)
            }
            _ => return Ok(Err("files of this format cannot be mapped".to_owned())),
        };
        let length = shape.iter().product();
        let values = Values::mapped(*ty, &self.path, (offset, length), stop);
        Ok(match values {
            Ok(values) => Ok(Array { shape, values }),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Err("somebody has it open for writing".to_owned())
            }
            Err(error) => Err(error.to_string()),
        })
    }

    /// Its path, unless it is standard input.
    pub(crate) fn on_disk(&self) -> Option<&Path> {
        (!self.is_standard_input).then_some(self.path.as_path())
    }

    /// Whether nothing in its name says so.
    fn is_taken_for_npy(&self) -> bool {
        self.format == Format::Npy && ending(&self.path.to_string_lossy()) != "npy"
    }

    /// Whether elements come one behind the other, so that any shape of as many will do.
    pub(crate) fn is_flat(&self) -> bool {
        matches!(self.format, Format::Csv { .. } | Format::Raw(_))
    }
}

impl Format {
    /// That of a file with this `ending`, of which `part` is wanted; `name` is all before the
    /// colon.
    fn of(ending: &str, part: Option<&str>, name: &str) -> Result<Self, DataError> {
        Ok(match (ending, part) {
            ("npz", part) => Self::Npz {
                member: part.map(str::to_owned),
            },
            ("csv", Some(part)) => Self::Csv {
                column: part.to_owned(),
            },
            ("mtx", Some(part)) => Self::MatrixMarket(part.parse()?),
            ("csv", None) => return Err(without_part(name, "a column of it", "price")),
            ("mtx", None) => return Err(without_part(name, "row, col or val", "row")),
            ("bin", None) => {
                return Err(DataError(format!(
                    "{name} does not tell the type of its elements: name it behind a colon, as in {name}:f32"
                )));
            }
            ("npy" | "png", Some(part)) => {
                return Err(DataError(format!(
                    "{name} is a single array: leave `:{part}` out"
                )));
            }
            ("png", None) => Self::Png,
            (_, Some(part)) => Self::Raw(raw_type(part)?),
            (_, None) => Self::Npy,
        })
    }
}

/// What comes behind the last dot, in small letters.
fn ending(path: &str) -> String {
    let ending = Path::new(path).extension();
    ending.map_or_else(String::new, |it| it.to_string_lossy().to_lowercase())
}

/// The path in `text`, and what stands behind a colon: the first one behind the ending of a file
/// that `has_parts`, since names of columns may have colons, too, and a name of a file may before
/// its ending; or the last one with a type of raw elements behind it.
fn split(text: &str, has_parts: impl Fn(&str) -> bool) -> Result<(&str, Option<&str>), DataError> {
    let mut colons = text.match_indices(':').map(|(at, _)| at);
    if let Some(at) = colons.find(|at| has_parts(&text[..*at])) {
        return Ok((&text[..at], Some(&text[at + 1..])));
    }
    let typed = text
        .rsplit_once(':')
        .filter(|(_, part)| raw_type(part).is_ok());
    match typed {
        Some((path, part)) if is_single(path) => Err(DataError(format!(
            "{path} has its type in it: leave `:{part}` out"
        ))),
        Some((path, part)) => Ok((path, Some(part))),
        None if is_single(text) || Path::new(text).exists() => Ok((text, None)),
        None => match text.rsplit_once(':') {
            Some((path, part)) if !part.contains('/') => Err(no_part(path, part)),
            _ => Ok((text, None)),
        },
    }
}

/// What is wrong with a `part` behind a colon that `path` cannot have.
fn no_part(path: &str, part: &str) -> DataError {
    DataError(match is_single(path) {
        true => format!("{path} is a single array: leave `:{part}` out"),
        false => format!(
            "{path} is no file that has a part `{part}`: files that end in .npz, .csv and .mtx have parts, and behind elements alone \
             stands their type, which is one of {RAW_TYPES}"
        ),
    })
}

/// Whether a file of this name is one array whose type is in it.
fn is_single(path: &str) -> bool {
    ["npy", "png"].contains(&ending(path).as_str())
}

fn has_parts(path: &str) -> bool {
    ["npz", "csv", "mtx", "bin"].contains(&ending(path).as_str())
}

fn without_part(path: &str, part: &str, example: &str) -> DataError {
    DataError(format!(
        "{path} has several arrays: name {part} behind a colon, as in {path}:{example}"
    ))
}

/// Those that elements alone can have.
const RAW_TYPES: &str = "bool, i8, i16, i32, i64, u8, u16, u32, u64, f32 and f64";

fn raw_type(name: &str) -> Result<Type, DataError> {
    Type::from_name(name).ok_or_else(|| {
        DataError(format!(
            "`{name}` is no type of raw elements; there are {RAW_TYPES}"
        ))
    })
}

fn text(bytes: &[u8]) -> Result<&str, DataError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let position = error.valid_up_to();
        DataError(format!("is not text: byte {position} is not UTF-8"))
    })
}

fn unreadable(error: io::Error) -> DataError {
    DataError(format!("cannot be read: {error}"))
}

fn in_npy(error: npy::NpyError) -> DataError {
    DataError(error.to_string())
}

/// All of the file at `path`.
fn bytes(path: &Path, meter: &Meter) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    all_of(file, length, meter)
}

/// All that `source` has, of which `length` bytes are expected.
fn all_of(mut source: impl Read, length: u64, meter: &Meter) -> io::Result<Vec<u8>> {
    const PIECE: u64 = 1 << 20;
    meter.begin(length, "B");
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX))?;
    while (&mut source).take(PIECE).read_to_end(&mut bytes)? > 0 {
        meter.reach(bytes.len() as u64);
    }
    Ok(bytes)
}

/// The first bytes of the file at `path`, and how many it has.
fn beginning(path: &Path) -> io::Result<(Vec<u8>, u64)> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    file.take(npy::LONGEST_BEGINNING as u64)
        .read_to_end(&mut bytes)?;
    Ok((bytes, length))
}

/// Little-endian elements of type `stored`, and nothing else.
fn raw(bytes: &[u8], stored: Type, wanted: Type) -> Result<Array, DataError> {
    let length = raw_length(bytes.len() as u64, stored, wanted)?;
    Ok(flat(length, npy::elements(stored, bytes)))
}

/// How many elements of type `stored` there are in so many bytes.
fn raw_length(bytes: u64, stored: Type, wanted: Type) -> Result<u64, DataError> {
    if stored != wanted {
        return Err(DataError(format!(
            "holds elements of type {stored}, expected {wanted}; types are never converted silently"
        )));
    }
    let width = u64::from(stored.bytes());
    if !bytes.is_multiple_of(width) {
        return Err(DataError(format!(
            "has {bytes} bytes, which is no multiple of the {width} bytes of a {stored}"
        )));
    }
    Ok(bytes / width)
}

fn flat(length: u64, values: Values) -> Array {
    let shape = vec![length];
    Array { shape, values }
}

/// An array of one dimension of `values`, which have type `ty`.
fn array(values: &[Value], ty: Type) -> Result<Array, DataError> {
    let number = |index: u64| {
        let value = usize::try_from(index).ok();
        let value = value.and_then(|it| values.get(it)).copied();
        let integer = value.and_then(Value::as_integer).map(Number::Integer);
        let float = || value.and_then(Value::as_float).map(Number::Float);
        integer.or_else(float).unwrap_or(Number::Integer(0))
    };
    let length = values.len() as u64;
    let values = Values::generate(ty, length, number).map_err(|error| {
        DataError(format!(
            "there is no memory for {} elements",
            error.elements
        ))
    })?;
    Ok(flat(length, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_behind_the_first_colon_of_files_that_have_parts() {
        let file = |text: &str| DataFile::parse(text).map(|it| (it.path, it.format));
        let csv = |path: &str, column: &str| {
            let column = column.to_owned();
            (PathBuf::from(path), Format::Csv { column })
        };
        assert_eq!(file("a.csv:price").ok(), Some(csv("a.csv", "price")));
        assert_eq!(file("b:c/a.CSV:x y").ok(), Some(csv("b:c/a.CSV", "x y")));
        assert_eq!(file("a.csv:from: to").ok(), Some(csv("a.csv", "from: to")));
        let plain = PathBuf::from("odd:name.npy");
        assert_eq!(file("odd:name.npy").ok(), Some((plain, Format::Npy)));
        for path in ["x.f64", "samples", "odd:name.raw", "dir.csv/x"] {
            let raw = (PathBuf::from(path), Format::Raw(Type::F64));
            assert_eq!(file(&format!("{path}:f64")).ok(), Some(raw));
        }
        for (text, why) in [
            (
                "a.csv",
                "name a column of it behind a colon, as in a.csv:price",
            ),
            (
                "a.bin",
                "a.bin does not tell the type of its elements: name it behind a colon, as in a.bin:f32",
            ),
            ("a.mtx:rows", "`rows` is no part of a matrix"),
            ("a.bin:float", "`float` is no type of raw elements"),
            ("a.npy:f32", "a.npy has its type in it: leave `:f32` out"),
            ("a.png:u8", "a.png has its type in it: leave `:u8` out"),
            ("a.npy:key", "a.npy is a single array: leave `:key` out"),
            (
                "a.txt:key",
                "a.txt is no file that has a part `key`: files that end in .npz, .csv and .mtx have parts, and",
            ),
        ] {
            let error = file(text).expect_err("no file").to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn raw_elements_fill_the_file() {
        let bytes = [1, 0, 0, 0, 255, 255, 255, 255];
        let flags = raw(&[0, 1, 2], Type::Bool, Type::Bool).expect("three elements");
        let expected = vec![false, true, true];
        assert!(matches!(flags.values, Values::Bool(found) if *found == *expected));
        let array = raw(&bytes, Type::I32, Type::I32).expect("two elements");
        assert_eq!(array, flat(2, Values::I32(vec![1, -1].into())));
        for (length, stored) in [(7, Type::I32), (8, Type::F32)] {
            assert!(raw(&bytes[..length], stored, Type::I32).is_err());
        }
    }
}
