//! Columns of tables of text, whose first line has their names.

use super::{DataError, array};
use crate::cli::array::Array;
use crate::cli::inputs::number;
use crate::cli::progress::Meter;
use csv::{ReaderBuilder, StringRecord, Trim};
use strew::Type;

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
    meter.begin(bytes.len() as u64);
    let mut builder = ReaderBuilder::new();
    let mut reader = builder.trim(Trim::All).from_reader(bytes);
    let headers = reader.headers().map_err(malformed)?;
    let position = position_of(name, headers)?;
    let has_one = headers.len() == 1;
    let place_of = |record: &StringRecord| {
        let position = record.position();
        position.map_or((0, 0), |it| (it.line(), it.byte()))
    };
    let mut last = place_of(headers);
    let mut values = Vec::new();
    for record in reader.records() {
        let record = record.map_err(malformed)?;
        let (line, place) = place_of(&record);
        // Empty lines belong to the record behind them.
        let at = usize::try_from(place).ok().and_then(|it| bytes.get(it));
        if has_one && matches!(at, Some(b'\n' | b'\r')) {
            let why = format!("column `{name}`: the line is empty, and a number is expected");
            return Err(DataError::at_line(line, why));
        }
        last = (line, place);
        meter.reach(place);
        let text = record.get(position).unwrap_or_default();
        let value = number(text, ty);
        let value =
            value.map_err(|why| DataError::at_line(line, format!("column `{name}`: {why}")))?;
        values.push(value);
    }
    let (line, place) = last;
    let rest = usize::try_from(place).ok().and_then(|it| bytes.get(it..));
    if let Some(lines) = unclosed(rest.unwrap_or_default()) {
        let why = "a quote opens here that nothing closes";
        return Err(DataError::at_line(line.max(1) + lines, why));
    }
    array(&values, ty)
}

/// How many lines behind the beginning of a record a quote opens that is still open where the table ends. Who reads tables takes the
/// end for the quote that is missing, and all lines in between for one cell.
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

/// The only column called `name`.
fn position_of(name: &str, headers: &StringRecord) -> Result<usize, DataError> {
    let named = headers.iter().enumerate().filter(|(_, it)| *it == name);
    let positions: Vec<usize> = named.map(|(position, _)| position).collect();
    match positions.as_slice() {
        [] => Err(no_column(name, headers)),
        [only] => Ok(*only),
        [first, second, ..] => Err(DataError(format!(
            "has several columns called `{name}`, the first two of them the {}. and the {}.: their names have to differ",
            first + 1,
            second + 1
        ))),
    }
}

fn malformed(error: csv::Error) -> DataError {
    DataError(format!("is no table: {error}"))
}

fn no_column(name: &str, headers: &StringRecord) -> DataError {
    let names: Vec<_> = headers.iter().map(|it| format!("`{it}`")).collect();
    DataError(format!(
        "has no column `{name}`; its first line has {}",
        names.join(", ")
    ))
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
