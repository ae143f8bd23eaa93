//! Standard input as a file: `-`, with its format before it unless it is that of NumPy or elements
//! alone, as in `csv:-:price`.

use super::{DataError, Format, all_of, raw_type};
use crate::cli::progress::Meter;
use std::io;
use std::sync::OnceLock;

/// What it is called in messages.
pub(super) const NAME: &str = "<stdin>";

const FORMATS: [&str; 6] = ["npy", "npz", "csv", "mtx", "bin", "png"];

/// It can be read once, but several of its parts may be asked for, and more than once.
static BYTES: OnceLock<Vec<u8>> = OnceLock::new();

/// A name of it in three parts: all before the second colon, the format, and what is wanted of it.
/// `None` for names of files.
fn parts(text: &str) -> Option<(&str, &str, Option<&str>)> {
    let (before, behind) = text.split_once('-')?;
    let format = match before.strip_suffix(':') {
        Some(format) if FORMATS.contains(&format) => format,
        None if before.is_empty() => "",
        _ => return None,
    };
    let part = match behind {
        "" => None,
        _ => Some(behind.strip_prefix(':')?),
    };
    Some((text.get(..=before.len())?, format, part))
}

/// Whether `text` names standard input.
pub(super) fn is_named(text: &str) -> bool {
    parts(text).is_some()
}

/// The format in which `text` names it, if it does.
pub(super) fn format(text: &str) -> Option<Result<Format, DataError>> {
    let (name, format, part) = parts(text)?;
    Some(match (format, part) {
        ("", Some(part)) if raw_type(part).is_err() => Err(DataError(format!(
            "`{part}` is no type of elements alone; where standard input has parts, its format stands before it, as in csv:-:{part}"
        ))),
        _ => Format::of(format, part, name),
    })
}

/// All of it.
pub(super) fn bytes(meter: &Meter) -> io::Result<&'static [u8]> {
    if let Some(bytes) = BYTES.get() {
        return Ok(bytes);
    }
    let bytes = all_of(io::stdin().lock(), 0, meter)?;
    Ok(BYTES.get_or_init(|| bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_format_stands_before_it_and_a_part_behind() {
        assert_eq!(parts("-"), Some(("-", "", None)));
        assert_eq!(parts("-:f32"), Some(("-", "", Some("f32"))));
        let named = Some(("csv:-", "csv", Some("from: to-day")));
        assert_eq!(parts("csv:-:from: to-day"), named);
        assert_eq!(parts("npz:-"), Some(("npz:-", "npz", None)));
        for file in ["a-b", "-a", "a.csv:-", "a.csv:-:b", "txt:-", "x:-:f32", ""] {
            assert_eq!(parts(file), None, "{file}");
        }
        for (text, why) in [
            (
                "csv:-",
                "name a column of it behind a colon, as in csv:-:price",
            ),
            ("-:price", "as in csv:-:price"),
            ("png:-:u8", "png:- is a single array: leave `:u8` out"),
            ("bin:-", "as in bin:-:f32"),
        ] {
            let error = format(text).expect("a name").expect_err("no format");
            assert!(error.to_string().contains(why), "{error}");
        }
    }
}
