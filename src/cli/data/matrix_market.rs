//! Matrix Market files: a sparse matrix by the rows, columns and values of its entries, or a dense
//! one column by column.
//!
//! Boisvert, Pozo, Remington: The Matrix Market Exchange Formats: Initial Design, NISTIR 5935,
//! National Institute of Standards and Technology, 1996.

use super::{DataError, array};
use crate::cli::array::Array;
use crate::cli::excerpt::quoted;
use crate::cli::inputs::number;
use crate::cli::progress::Meter;
use std::str::{FromStr, SplitWhitespace};
use strew::ir::spelling::counted;
use strew::{Type, Value};

/// What of a matrix is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The rows of entries, from 0 on.
    Row,
    /// Their columns.
    Col,
    /// Their values; 1 where the file has none.
    Val,
}

impl FromStr for Part {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self, DataError> {
        match text {
            "row" => Ok(Self::Row),
            "col" => Ok(Self::Col),
            "val" => Ok(Self::Val),
            _ => Err(DataError(format!(
                "`{text}` is no part of a matrix; there are row, col and val"
            ))),
        }
    }
}

/// How entries above the diagonal follow from those below, which alone are in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

#[derive(Clone, Copy, Debug)]
struct Header {
    is_dense: bool,
    has_values: bool,
    /// Whether the values are whole numbers.
    is_integer: bool,
    symmetry: Symmetry,
}

impl Header {
    fn parse(line: &str) -> Result<Self, DataError> {
        let words: Vec<String> = line.split_whitespace().map(str::to_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ["%%matrixmarket", "matrix", format, field, symmetry] = words.as_slice() else {
            return Err(DataError::new(
                "is no Matrix Market file: its first line is not `%%MatrixMarket matrix FORMAT FIELD SYMMETRY`",
            ));
        };
        let is_dense = match *format {
            "coordinate" => false,
            "array" => true,
            other => return Err(unknown("format", other, "coordinate and array")),
        };
        let has_values = match *field {
            "real" | "double" | "integer" => true,
            "pattern" if !is_dense => false,
            other => return Err(unknown("field", other, "real, integer and pattern")),
        };
        let symmetry = match *symmetry {
            "general" => Symmetry::General,
            "symmetric" => Symmetry::Symmetric,
            "skew-symmetric" => Symmetry::Skew,
            other => {
                let known = "general, symmetric and skew-symmetric";
                return Err(unknown("symmetry", other, known));
            }
        };
        Ok(Self {
            is_dense,
            has_values,
            is_integer: *field == "integer",
            symmetry,
        })
    }
}

fn unknown(what: &str, found: &str, known: &str) -> DataError {
    DataError::at_line(
        1,
        format!(
            "the {what} {} is not known; there are {known}",
            quoted(found)
        ),
    )
}

/// An entry, with the line that it stands in.
struct Entry<'t> {
    line: u64,
    row: u64,
    col: u64,
    value: Option<&'t str>,
}

/// Reads a part of the matrix in `text`: in the order of the file, each entry with its mirror image
/// behind it where the matrix is symmetric; of a dense matrix all values, row by row.
pub(super) fn read(text: &str, part: Part, ty: Type, meter: &Meter) -> Result<Array, DataError> {
    meter.begin(text.lines().count() as u64, "lines");
    let first = text.lines().next().unwrap_or_default();
    let header = Header::parse(first)?;
    let lines = meter.count(text.lines()).zip(1..).skip(1);
    let mut lines = lines.filter(|(line, _)| !line.starts_with('%') && !line.trim().is_empty());
    let (sizes, line) = lines
        .next()
        .ok_or_else(|| DataError::new("has no line of sizes"))?;
    let mut words = sizes.split_whitespace();
    let (rows, cols) = (size(&mut words, line)?, size(&mut words, line)?);
    if header.is_dense {
        if header.symmetry != Symmetry::General {
            return Err(DataError::new(
                "holds a dense symmetric matrix, which is not read",
            ));
        }
        end(&mut words, line)?;
        return dense(lines, (rows, cols), (part, ty), header.is_integer);
    }
    let count = size(&mut words, line)?;
    end(&mut words, line)?;
    if header.symmetry != Symmetry::General && rows != cols {
        return Err(DataError::at_line(
            line,
            "a symmetric matrix has as many rows as columns",
        ));
    }
    let mut values = Vec::new();
    let mut found = 0_u64;
    for (text, line) in lines {
        let entry = entry(text, line, (rows, cols), &header)?;
        found += 1;
        push(&mut values, &entry, (header.symmetry, part, ty))?;
    }
    if found != count {
        let found = counted(usize::try_from(found).unwrap_or(usize::MAX), "entry");
        return Err(DataError(format!("has {found}, its sizes say {count}")));
    }
    array(&values, ty)
}

fn size(words: &mut SplitWhitespace<'_>, line: u64) -> Result<u64, DataError> {
    let word = words.next().unwrap_or_default();
    word.parse().map_err(|_| {
        DataError::at_line(
            line,
            format!("{} is no size, expected a whole number", quoted(word)),
        )
    })
}

fn end(words: &mut SplitWhitespace<'_>, line: u64) -> Result<(), DataError> {
    match words.next() {
        None => Ok(()),
        Some(word) => Err(DataError::at_line(
            line,
            format!("{} is one word too many", quoted(word)),
        )),
    }
}

/// A row or column, which the file counts from 1.
fn index(words: &mut SplitWhitespace<'_>, size: u64, line: u64) -> Result<u64, DataError> {
    let word = words.next().unwrap_or_default();
    let index = word.parse().ok().filter(|it| (1..=size).contains(it));
    index.map(|it: u64| it - 1).ok_or_else(|| {
        DataError::at_line(
            line,
            format!("{} is no index from 1 to {size}", quoted(word)),
        )
    })
}

fn entry<'t>(
    text: &'t str,
    line: u64,
    (rows, cols): (u64, u64),
    header: &Header,
) -> Result<Entry<'t>, DataError> {
    let mut words = text.split_whitespace();
    let (row, col) = (
        index(&mut words, rows, line)?,
        index(&mut words, cols, line)?,
    );
    if row < col && header.symmetry != Symmetry::General {
        let (row, col) = (row + 1, col + 1);
        let why = format!(
            "row {row}, column {col} is above the diagonal, and of a symmetric matrix a file has the lower half alone"
        );
        return Err(DataError::at_line(line, why));
    }
    if row == col && header.symmetry == Symmetry::Skew {
        let why = "a skew-symmetric matrix has no entries on its diagonal, where it is zero";
        return Err(DataError::at_line(line, why));
    }
    let value = match header.has_values {
        true => {
            let value = words.next();
            let value = value.ok_or_else(|| DataError::at_line(line, "there is no value"))?;
            Some(fitting(value, line, header.is_integer)?)
        }
        false => None,
    };
    end(&mut words, line)?;
    Ok(Entry {
        line,
        row,
        col,
        value,
    })
}

/// The value in a file whose first line may say that all are whole numbers.
fn fitting(value: &str, line: u64, is_integer: bool) -> Result<&str, DataError> {
    if is_integer && value.parse::<i128>().is_err() {
        let why = format!(
            "{} is no whole number, but the file says that it holds those",
            quoted(value)
        );
        return Err(DataError::at_line(line, why));
    }
    Ok(value)
}

/// Appends what is wanted of an entry, and of its mirror image.
fn push(
    values: &mut Vec<Value>,
    entry: &Entry<'_>,
    (symmetry, part, ty): (Symmetry, Part, Type),
) -> Result<(), DataError> {
    let at = |why| DataError::at_line(entry.line, why);
    let of = |text: &str| number(text, ty).map_err(at);
    let is_mirrored = symmetry != Symmetry::General && entry.row != entry.col;
    let (one, other) = match part {
        Part::Row => (of(&entry.row.to_string())?, entry.col.to_string()),
        Part::Col => (of(&entry.col.to_string())?, entry.row.to_string()),
        Part::Val => {
            let value = entry.value.unwrap_or("1");
            let negated = match value.strip_prefix('-') {
                Some(positive) => positive.to_owned(),
                None => format!("-{}", value.trim_start_matches('+')),
            };
            let is_negated = symmetry == Symmetry::Skew;
            let mirrored = if is_negated {
                negated
            } else {
                value.to_owned()
            };
            (of(value)?, mirrored)
        }
    };
    values.push(one);
    if is_mirrored {
        values.push(of(&other)?);
    }
    Ok(())
}

fn dense<'t>(
    lines: impl Iterator<Item = (&'t str, u64)>,
    (rows, cols): (u64, u64),
    (part, ty): (Part, Type),
    is_integer: bool,
) -> Result<Array, DataError> {
    if part != Part::Val {
        return Err(DataError::new(
            "holds a dense matrix, which has values alone",
        ));
    }
    let value = |(text, line): (&'t str, u64)| {
        let text = fitting(text.trim(), line, is_integer)?;
        number(text, ty).map_err(|why| DataError::at_line(line, why))
    };
    let columns: Vec<Value> = lines.map(value).collect::<Result<_, _>>()?;
    let found = columns.len() as u64;
    if rows.checked_mul(cols) != Some(found) {
        let found = counted(columns.len(), "value");
        return Err(DataError(format!(
            "has {found}, its sizes say {rows} x {cols}"
        )));
    }
    let place = |row: u64, col: u64| usize::try_from(col * rows + row).ok();
    let by_rows = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col)));
    let by_rows = by_rows.filter_map(|(row, col)| columns.get(place(row, col)?).copied());
    let mut array = array(&by_rows.collect::<Vec<_>>(), ty)?;
    array.shape = vec![rows, cols];
    Ok(array)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::array::Values;

    fn of(text: &str, part: Part, ty: Type) -> Result<Values, String> {
        let array = read(text, part, ty, &Meter::default());
        array.map(|it| it.values).map_err(|error| error.to_string())
    }

    #[test]
    fn symmetric_entries_come_with_their_mirror_images() {
        let of = |symmetry: &str, part| {
            let head = format!("%%MatrixMarket matrix coordinate real {symmetry}");
            let first = if symmetry.starts_with("skew") {
                "2 1"
            } else {
                "1 1"
            };
            let rest = "3 1 -2.5\n3 2 +4e0\n";
            let text = format!("{head}\n% a comment\n\n3 3 3\n{first} 5\n{rest}");
            of(&text, part, Type::F64)
        };
        let whole = |values: &[f64]| Ok(Values::F64(values.to_vec().into()));
        assert_eq!(of("general", Part::Row), whole(&[0.0, 2.0, 2.0]));
        assert_eq!(
            of("symmetric", Part::Row),
            whole(&[0.0, 2.0, 0.0, 2.0, 1.0])
        );
        assert_eq!(
            of("symmetric", Part::Col),
            whole(&[0.0, 0.0, 2.0, 1.0, 2.0])
        );
        assert_eq!(
            of("symmetric", Part::Val),
            whole(&[5.0, -2.5, -2.5, 4.0, 4.0])
        );
        assert_eq!(
            of("skew-symmetric", Part::Val),
            whole(&[5.0, -5.0, -2.5, 2.5, 4.0, -4.0])
        );
    }

    #[test]
    fn patterns_count_and_dense_matrices_come_row_by_row() {
        let pattern = "%%MatrixMarket matrix coordinate pattern general\n2 9 2\n2 9\n1 1\n";
        assert_eq!(
            of(pattern, Part::Col, Type::I32),
            Ok(Values::I32(vec![8, 0].into()))
        );
        assert_eq!(
            of(pattern, Part::Val, Type::U8),
            Ok(Values::U8(vec![1, 1].into()))
        );
        let dense = "%%MatrixMarket matrix array integer general\n2 3\n1\n4\n2\n5\n3\n6\n";
        let array = read(dense, Part::Val, Type::I16, &Meter::default()).expect("a matrix");
        assert_eq!(array.shape, [2, 3]);
        assert_eq!(array.values, Values::I16(vec![1, 2, 3, 4, 5, 6].into()));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let head = "%%MatrixMarket matrix coordinate integer general\n";
        for (rest, why) in [
            ("", "has no line of sizes"),
            ("2 2\n", "line 2: `` is no size"),
            ("2 2 1\n3 1 5\n", "line 3: `3` is no index from 1 to 2"),
            ("2 2 1\n0 1 5\n", "line 3: `0` is no index from 1 to 2"),
            ("2 2 1\n1 1\n", "line 3: there is no value"),
            ("2 2 1\n1 1 5 6\n", "line 3: `6` is one word too many"),
            ("2 2 2\n1 1 5\n", "has 1 entry, its sizes say 2"),
            ("2 2 1\n1 1 300\n", "line 3: 300 is out of range for u8"),
        ] {
            let error = of(&format!("{head}{rest}"), Part::Val, Type::U8).expect_err("wrong");
            assert!(error.starts_with(why), "{error}");
        }
        for (head, rest, why) in [
            (
                "coordinate real skew-symmetric",
                "2 2 2\n2 1 3\n2 2 0\n",
                "line 4: a skew-symmetric matrix has no entries on its diagonal",
            ),
            (
                "coordinate real symmetric",
                "2 2 3\n2 2 1\n2 1 3\n1 2 3\n",
                "line 5: row 1, column 2 is above the diagonal",
            ),
            (
                "coordinate real symmetric",
                "2 2 1\n1 2 3\n",
                "line 3: row 1, column 2 is above the diagonal, and of a symmetric matrix a file has the lower half alone",
            ),
            (
                "coordinate pattern symmetric",
                "3 3 2\n1 1\n2 3\n",
                "line 4: row 2, column 3 is above the diagonal",
            ),
            (
                "coordinate integer skew-symmetric",
                "2 2 1\n1 2 3\n",
                "line 3: row 1, column 2 is above the diagonal",
            ),
            (
                "coordinate integer general",
                "2 2 1\n2 1 2.5\n",
                "line 3: `2.5` is no whole number",
            ),
            (
                "array integer general",
                "1 2\n1\n2.5\n",
                "line 4: `2.5` is no whole number",
            ),
        ] {
            let text = format!("%%MatrixMarket matrix {head}\n{rest}");
            let error = of(&text, Part::Val, Type::F64).expect_err("wrong");
            assert!(error.starts_with(why), "{error}");
        }
        let complex = "%%MatrixMarket matrix coordinate complex general\n1 1 0\n";
        let error = of(complex, Part::Val, Type::F64).expect_err("complex");
        assert!(
            error.contains("the field `complex` is not known"),
            "{error}"
        );
        assert!(of("1 1 1\n", Part::Val, Type::F64).is_err());
        assert!(of("", Part::Val, Type::F64).is_err());
    }
}
