//! Columns of tables of text, whose first line has their names; `#2` is the second column of a
//! table without names.

use super::{DataError, array};
use crate::cli::array::Array;
use crate::cli::excerpt::quoted;
use crate::cli::inputs::number;
use crate::cli::progress::Meter;
use csv::{Reader, ReaderBuilder, StringRecord, Trim};
use strew::ir::spelling::counted;
use strew::{Type, Value};

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// One that has its name in the first line, at this position.
    Named(usize),
    /// One of a table whose first line has numbers, too, at this position.
    Numbered(usize),
}

/// The numbers in the column `name`.
pub(super) fn column(
    bytes: &[u8],
    name: &str,
    ty: Type,
    meter: &Meter,
) -> Result<Array, DataError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(DataError::new(
            "is empty; a table has the names of its columns in the first line",
        ));
    }
    meter.begin(bytes.len() as u64, "B");
    let mut builder = ReaderBuilder::new();
    let builder = builder.trim(Trim::All).has_headers(false);
    let mut table = Table {
        bytes,
        reader: builder.from_reader(bytes),
        begins: 0,
    };
    let values = table.values(name, ty, meter);
    // What stands in a record that does not end is not what is wrong with it.
    match table.unclosed() {
        Some(line) => {
            let why = "a quote opens here that nothing closes";
            Err(DataError::at_line(line, why))
        }
        None => array(&values?, ty),
    }
}

/// A table, of which some records have been read.
struct Table<'t> {
    bytes: &'t [u8],
    reader: Reader<&'t [u8]>,
    /// Where the last of them begins, or what is left of the end of the line before.
    begins: usize,
}

impl Table<'_> {
    /// The numbers in the column `name`.
    fn values(&mut self, name: &str, ty: Type, meter: &Meter) -> Result<Vec<Value>, DataError> {
        let bytes = self.bytes;
        let headers = self.reader.headers();
        let headers = headers.map_err(|error| malformed(&error, bytes))?.clone();
        let column = column_of(name, &headers)?;
        let (Column::Named(position) | Column::Numbered(position)) = column;
        let mut record = StringRecord::new();
        if column == Column::Named(position) {
            self.next(&mut record)?;
        }
        let mut values = Vec::new();
        while self.next(&mut record)? {
            let place = self.begins;
            if headers.len() == 1
                && let Some(line) = empty_line(bytes, place)
            {
                let why = format!("column `{name}`: the line is empty, and a number is expected");
                return Err(DataError::at_line(line, why));
            }
            meter.reach(place as u64);
            let value = match record.get(position).unwrap_or_default() {
                "" => Err(format!("the cell is empty, expected {ty}")),
                text => number(text, ty),
            };
            values.push(value.map_err(|why| wrong(line_of(bytes, place), (name, column), &why))?);
        }
        Ok(values)
    }

    /// Reads the next record; `false` where there is none.
    fn next(&mut self, record: &mut StringRecord) -> Result<bool, DataError> {
        let ended = self.ended();
        let read = self.reader.read_record(record);
        if let Ok(false) = read {
            return Ok(false);
        }
        // A first line of names is read again, but stands where it stood.
        let begins = record.position().map(|it| it.byte());
        let begins = begins.and_then(|it| usize::try_from(it).ok());
        self.begins = begins.filter(|_| read.is_ok()).unwrap_or(ended);
        read.map_err(|error| malformed(&error, self.bytes))
    }

    /// Where the last record that was read ends.
    fn ended(&self) -> usize {
        let ended = self.reader.position().byte();
        usize::try_from(ended).unwrap_or(self.bytes.len())
    }

    /// The line of a quote that opens in the last record and is still open where that ends.
    fn unclosed(&self) -> Option<u64> {
        let record = self.bytes.get(self.begins..self.ended());
        let lines = unclosed(record.unwrap_or_default())?;
        Some(line_at(self.bytes, self.begins) + lines)
    }
}

/// What is wrong with a cell in `line`.
fn wrong(line: u64, (name, column): (&str, Column), why: &str) -> DataError {
    let hint = match column {
        Column::Numbered(_) if line <= 1 => {
            format!("; where the first line has names, `{name}` is called by one of them")
        }
        _ => String::new(),
    };
    DataError::at_line(line, format!("column `{name}`: {why}{hint}"))
}

/// How many lines behind the beginning of a record a quote opens that is still open where the table
/// ends. Who reads tables takes the end for the quote that is missing, and all lines in between for
/// one cell.
fn unclosed(record: &[u8]) -> Option<u64> {
    let (mut lines, mut opened, mut begins) = (0, None, true);
    for byte in record {
        match (byte, opened) {
            // Two quotes for one end a quote and open another one.
            (b'"', Some(_)) => (opened, begins) = (None, true),
            (b'"', None) if begins => opened = Some(lines),
            (_, Some(_)) => {}
            _ => begins = matches!(byte, b',' | b'\n' | b'\r'),
        }
        lines += u64::from(*byte == b'\n');
    }
    opened
}

/// The only column called `name`; where none is, and `name` is as `#2`, the column of this number,
/// from 1 on.
fn column_of(name: &str, headers: &StringRecord) -> Result<Column, DataError> {
    let named = headers.iter().enumerate().filter(|(_, it)| *it == name);
    let positions: Vec<usize> = named.map(|(position, _)| position).collect();
    match positions.as_slice() {
        [] => {
            let number = name.strip_prefix('#').and_then(|it| it.parse().ok());
            let position = number.and_then(|it: usize| it.checked_sub(1));
            let position = position.filter(|it| *it < headers.len());
            position
                .map(Column::Numbered)
                .ok_or_else(|| no_column(name, headers))
        }
        [only] => Ok(Column::Named(*only)),
        [first, second, ..] => Err(DataError(format!(
            "has several columns called `{name}`, the first two of them the {}. and the {}.: their names have to differ",
            first + 1,
            second + 1
        ))),
    }
}

/// The ends of lines that stand at `place`: what is left of the end of the line before, and empty
/// lines belong to the record behind them.
fn line_ends(bytes: &[u8], place: usize) -> &[u8] {
    let rest = bytes.get(place..).unwrap_or_default();
    let ends = rest.iter().take_while(|it| matches!(it, b'\n' | b'\r'));
    rest.get(..ends.count()).unwrap_or_default()
}

/// The number of the empty line before the record that is found at `place`, if there is one.
fn empty_line(bytes: &[u8], place: usize) -> Option<u64> {
    let ends = line_ends(bytes, place);
    let before = place.checked_sub(1).and_then(|it| bytes.get(it));
    let is_half = before == Some(&b'\r') && ends.first() == Some(&b'\n');
    let rest = usize::from(is_half);
    (ends.len() > rest).then(|| line_at(bytes, place + rest))
}

/// The number of the line at `place`.
fn line_at(bytes: &[u8], place: usize) -> u64 {
    let before = bytes.get(..place).unwrap_or(bytes);
    let behind = bytes.iter().skip(1).map(Some).chain([None]);
    // A carriage return ends a line too, but for one that a line feed follows.
    let ends = before.iter().zip(behind).filter(|it| match it {
        (b'\n', _) => true,
        (b'\r', next) => *next != Some(&b'\n'),
        _ => false,
    });
    1 + ends.count() as u64
}

/// That of the line in which the record begins that is found at `place`.
fn line_of(bytes: &[u8], place: usize) -> u64 {
    line_at(bytes, place + line_ends(bytes, place).len())
}

fn malformed(error: &csv::Error, bytes: &[u8]) -> DataError {
    let line = |at: &Option<csv::Position>| {
        let place = at.as_ref().map_or(0, |it| it.byte());
        line_of(bytes, usize::try_from(place).unwrap_or(bytes.len()))
    };
    match error.kind() {
        csv::ErrorKind::UnequalLengths {
            pos,
            expected_len,
            len,
        } => {
            let cells = counted(usize::try_from(*len).unwrap_or(usize::MAX), "cell");
            DataError::at_line(
                line(pos),
                format!("{cells}, where the first line has {expected_len}"),
            )
        }
        csv::ErrorKind::Utf8 { pos, .. } => DataError::at_line(line(pos), "is no text in UTF-8"),
        _ => DataError(format!("is no table: {error}")),
    }
}

fn no_column(name: &str, headers: &StringRecord) -> DataError {
    let names: Vec<_> = headers.iter().map(quoted).collect();
    let names = names.join(", ");
    DataError(match has_numbers(headers) {
        false => format!("has no column `{name}`; its first line has {names}"),
        true => format!(
            "has no column `{name}`; its first line, which is taken for the names of the columns, has {names}: {UNNAMED}"
        ),
    })
}

/// How the columns of a table without names are called.
const UNNAMED: &str =
    "where that line has no names, columns are called by their numbers, #1, #2 and so on";

/// Whether all cells of a first line are numbers.
fn has_numbers(headers: &StringRecord) -> bool {
    !headers.is_empty() && headers.iter().all(|it| number(it, Type::F64).is_ok())
}

/// What is worth saying where a first line of numbers was taken for names.
pub(super) fn doubt(bytes: &[u8], name: &str) -> Option<String> {
    let mut builder = ReaderBuilder::new();
    let mut reader = builder.trim(Trim::All).from_reader(bytes);
    let headers = reader.headers().ok()?;
    let is_named = matches!(column_of(name, headers), Ok(Column::Named(_)));
    (is_named && has_numbers(headers)).then(|| {
        format!(
            "has a first line of numbers, which are taken for the names of the columns: {UNNAMED}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::array::Values;

    const TABLE: &str = "town, degrees,\"rain, mm\"\nOslo, -3.5, 12\n\"Rio, RJ\", 30, 7\n";

    #[test]
    fn columns_are_found_by_name_and_taken_exactly() {
        let of =
            |name, ty| column(TABLE.as_bytes(), name, ty, &Meter::default()).map(|it| it.values);
        assert_eq!(
            of("degrees", Type::F64).ok(),
            Some(Values::F64(vec![-3.5, 30.0].into()))
        );
        assert_eq!(
            of("rain, mm", Type::U8).ok(),
            Some(Values::U8(vec![12, 7].into()))
        );
        let error = of("degrees", Type::I32)
            .expect_err("no integer")
            .to_string();
        assert_eq!(
            error,
            "line 2: column `degrees`: `-3.5` is not a whole number, expected i32"
        );
        let error = of("snow", Type::I32).expect_err("no column").to_string();
        assert_eq!(
            error,
            "has no column `snow`; its first line has `town`, `degrees`, `rain, mm`"
        );
    }

    #[test]
    fn columns_without_names_have_numbers() {
        let of = |table: &str, name| {
            let column = column(table.as_bytes(), name, Type::I32, &Meter::default());
            column.map(|it| it.values).map_err(|it| it.to_string())
        };
        let values = |values: &[i32]| Ok(Values::I32(values.to_vec().into()));
        assert_eq!(of("1,2\n3,4\n", "#2"), values(&[2, 4]));
        assert_eq!(of("7\n", "#1"), values(&[7]));
        assert_eq!(of("1,2\n3,4\n", "2"), values(&[4]));
        assert_eq!(of("#2,a\n3,4\n", "#2"), values(&[3]));
        let error = of("a,b\n3,4\n", "#2").expect_err("a name");
        let expected = "line 1: column `#2`: `b` is not a whole number, expected i32; where the first line has names, `#2` is called by one of them";
        assert_eq!(error, expected);
        for name in ["x", "#0", "#3", "#"] {
            let error = of("1,2\n3,4\n", name).expect_err("no column");
            let expected = format!(
                "has no column `{name}`; its first line, which is taken for the names of the columns, has `1`, `2`: {UNNAMED}"
            );
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn a_first_line_of_numbers_is_worth_a_word() {
        let doubted = |table: &str, name| doubt(table.as_bytes(), name).is_some();
        assert!(doubted("1,2.5\n3,4\n", "1"));
        assert!(!doubted("1,2.5\n3,4\n", "#1"));
        assert!(!doubted("1,a\n3,4\n", "1"));
        assert!(!doubted("", "1"));
    }

    #[test]
    fn lines_are_counted_as_editors_do() {
        let error = |table: &str| {
            let column = column(table.as_bytes(), "w", Type::F64, &Meter::default());
            column.map(|it| it.values).expect_err("a cell").to_string()
        };
        let line_of = |table: &str| error(table).split(':').next().map(str::to_owned);
        for (table, line) in [
            ("b,w\n0,x\n", "line 2"),
            ("b,w\r\n0,x\r\n", "line 2"),
            ("b,w\r\n0,1\r\n1,x\r\n", "line 3"),
            ("b,w\n0,1\n\n\n1,y\n", "line 5"),
            ("b,w\r\n0,1\r\n\r\n1,y\r\n", "line 4"),
            ("b,w\n0,\"1\n\"\n1,y\n", "line 4"),
            ("b,w\r\n0,1\r\n1,2,3\r\n", "line 3"),
            ("w\n1\n\n2\n", "line 3"),
            ("w\r\n1\r\n\r\n2\r\n", "line 3"),
            ("w\r\n1\r\nx\r\n", "line 3"),
        ] {
            assert_eq!(line_of(table).as_deref(), Some(line), "{table:?}");
        }
        assert_eq!(
            error("b,w\n1\n"),
            "line 2: 1 cell, where the first line has 2"
        );
    }

    #[test]
    fn what_a_cell_cannot_be_is_told_with_its_line() {
        let error = |table: &str| {
            let column = column(table.as_bytes(), "b", Type::F64, &Meter::default());
            column.map(|it| it.values).expect_err("a cell").to_string()
        };
        assert_eq!(
            error("a,b\n1,2\n1,\n"),
            "line 3: column `b`: the cell is empty, expected f64"
        );
        assert_eq!(
            error("a,b\n1,1e400\n"),
            "line 2: column `b`: `1e400` is out of range for f64; infinity is `inf`"
        );
    }

    #[test]
    fn two_columns_of_one_name_are_told_apart_by_nobody() {
        let table = b"a,b,a\n1,2,3\n";
        let of = |name| column(table, name, Type::I32, &Meter::default());
        let error = of("a").expect_err("ambiguous").to_string();
        assert_eq!(
            error,
            "has several columns called `a`, the first two of them the 1. and the 3.: their names have to differ"
        );
        assert!(of("b").is_ok());
        for empty in ["", " \n\n"] {
            let error = column(empty.as_bytes(), "a", Type::I32, &Meter::default());
            let error = error.expect_err("empty").to_string();
            assert!(error.starts_with("is empty"), "{error}");
        }
    }

    #[test]
    fn what_would_get_lost_is_told() {
        let error = |table: &str| {
            let column = column(table.as_bytes(), "k", Type::I32, &Meter::default());
            column.map(|it| it.values).map_err(|it| it.to_string())
        };
        let open = |line: u32| format!("line {line}: a quote opens here that nothing closes");
        assert_eq!(error("k,v\n1,2\n1,\"3\n4,5\n6,7\n"), Err(open(3)));
        assert_eq!(error("k,v,w\n1,\"3\n4\",\"5\n6,7\n"), Err(open(3)));
        assert_eq!(error("k,\"v\n1,2\n"), Err(open(1)));
        assert_eq!(error("v,k\n1,\"2\n3,4\n5,6\n"), Err(open(2)));
        assert_eq!(error("k,v\n\"1,2\n3,4\n5,6\n"), Err(open(2)));
        assert_eq!(error("v,\"k\n1,2\n"), Err(open(1)));
        assert_eq!(error("v,k\r1,2\r\"3,4\r"), Err(open(3)));
        let third = "line 3: column `k`: `x` is not a whole number, expected i32".to_owned();
        assert_eq!(error("v,k\r1,2\r3,x\r5,6\r"), Err(third));
        let first = "line 2: column `k`: `x` is not a whole number, expected i32".to_owned();
        assert_eq!(error("v,k\n1,x\n3,\"4\n5,6\n"), Err(first));
        let cut = format!("line 2: column `k`: `{}…` is not a whole", "x".repeat(40));
        let long = error(&format!("k,v\n{},2\n", "x".repeat(1000)));
        assert!(long.expect_err("no number").starts_with(&cut));
        let inches = "k,v\n1,\"3 \"\"\"\n2,5\" 3\"\n";
        assert_eq!(error(inches), Ok(Values::I32(vec![1, 2].into())));
        let empty = "line 3: column `k`: the line is empty, and a number is expected".to_owned();
        assert_eq!(error("k\n1\n\n2\n"), Err(empty));
        assert_eq!(error("k\n1\n2\n\n"), Ok(Values::I32(vec![1, 2].into())));
    }

    #[test]
    fn numbers_of_tables_can_be_hexadecimal() {
        let of = |ty| column(b"a\n0x10\n-0x8\n0XfF\n", "a", ty, &Meter::default());
        let array = of(Type::I32).expect("three numbers");
        assert_eq!(array.values, Values::I32(vec![16, -8, 255].into()));
        assert!(of(Type::F32).is_err());
    }

    #[test]
    fn tables_that_are_none_are_told() {
        for table in ["", "a,b\n1\n", "a\n\u{0}\n", "a,b\n1,\n"] {
            assert!(
                column(table.as_bytes(), "b", Type::F32, &Meter::default()).is_err(),
                "{table:?}"
            );
        }
        assert!(column(b"a\n\xff\n", "a", Type::F32, &Meter::default()).is_err());
    }
}
