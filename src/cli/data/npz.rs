//! Arrays in `.npz` archives, which NumPy's `savez` writes.

use super::DataError;
use npyz::npz::NpzArchive;
use std::io::{Cursor, Read};

/// The `.npy` file of the array `name` in the archive.
pub(super) fn member(archive: &[u8], name: &str) -> Result<Vec<u8>, DataError> {
    let unreadable =
        |error: &dyn std::fmt::Display| DataError(format!("is no .npz archive: {error}"));
    let mut archive = NpzArchive::new(Cursor::new(archive)).map_err(|error| unreadable(&error))?;
    let mut names: Vec<_> = archive.array_names().map(str::to_owned).collect();
    names.sort_unstable();
    if !names.iter().any(|it| it == name) {
        let names: Vec<_> = names.iter().map(|it| format!("`{it}`")).collect();
        return Err(DataError(format!(
            "has no array `{name}`; there are {}",
            names.join(", ")
        )));
    }
    let mut bytes = Vec::new();
    let file = format!("{name}.npy");
    let mut member = archive
        .zip_archive()
        .by_name(&file)
        .map_err(|error| unreadable(&error))?;
    member
        .read_to_end(&mut bytes)
        .map_err(|error| DataError(format!("`{name}` cannot be read: {error}")))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::npy;
    use npyz::WriterBuilder;
    use npyz::npz::NpzWriter;
    use strew::{ElementType, Type};

    fn archive() -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = NpzWriter::new(Cursor::new(&mut bytes));
        for (name, numbers) in [("keys", [3_i32, 1]), ("ids", [7, 9])] {
            let array = writer.array(name, Default::default()).expect("a member");
            let mut array = array
                .default_dtype()
                .shape(&[2])
                .begin_nd()
                .expect("a header");
            array.extend(numbers).expect("room");
            array.finish().expect("the end");
        }
        drop(writer);
        bytes
    }

    #[test]
    fn members_are_arrays() {
        let bytes = archive();
        let element = ElementType::Plain(Type::I32);
        let array = npy::decode(&member(&bytes, "ids").expect("a member"), &element);
        assert_eq!(array.expect("an array").shape, [2]);
        let error = member(&bytes, "values").expect_err("no member").to_string();
        assert_eq!(error, "has no array `values`; there are `ids`, `keys`");
        assert!(member(&bytes[..30], "ids").is_err());
        assert!(member(b"no archive", "ids").is_err());
    }
}
