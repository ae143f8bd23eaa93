//! Arrays in `.npz` archives, which NumPy's `savez` writes.

use super::DataError;
use npyz::npz::NpzArchive;
use std::io::{Cursor, Read};

/// The name and the `.npy` file of an array in the archive: the one called `name`, or the only one.
pub(super) fn member(archive: &[u8], name: Option<&str>) -> Result<(String, Vec<u8>), DataError> {
    let unreadable =
        |error: &dyn std::fmt::Display| DataError(format!("is no .npz archive: {error}"));
    let mut archive = NpzArchive::new(Cursor::new(archive)).map_err(|error| unreadable(&error))?;
    let mut names: Vec<_> = archive.array_names().map(str::to_owned).collect();
    names.sort_unstable();
    let name = chosen(name, &names)?;
    let mut bytes = Vec::new();
    let file = format!("{name}.npy");
    let mut member = archive
        .zip_archive()
        .by_name(&file)
        .map_err(|error| unreadable(&error))?;
    member
        .read_to_end(&mut bytes)
        .map_err(|error| DataError(format!("`{name}` cannot be read: {error}")))?;
    Ok((name.to_owned(), bytes))
}

/// The one of `names` that is called `wanted`; the only one where none is wanted.
fn chosen<'n>(wanted: Option<&'n str>, names: &'n [String]) -> Result<&'n str, DataError> {
    let listed = || -> String {
        let names: Vec<_> = names.iter().map(|it| format!("`{it}`")).collect();
        names.join(", ")
    };
    match (wanted, names) {
        (Some(name), _) if names.iter().any(|it| it == name) => Ok(name),
        (None, [only]) => Ok(only),
        (_, []) => Err(DataError::new("has no arrays in it")),
        (Some(name), _) => Err(DataError(format!(
            "has no array `{name}`; there are {}",
            listed()
        ))),
        (None, [first, ..]) => Err(DataError(format!(
            "has several arrays: name one behind a colon, as in :{first}; there are {}",
            listed()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::npy;
    use npyz::WriterBuilder;
    use npyz::npz::NpzWriter;
    use strew::{ElementType, Type};

    fn archive(members: &[(&str, [i32; 2])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = NpzWriter::new(Cursor::new(&mut bytes));
        for (name, numbers) in members {
            let array = writer.array(name, Default::default()).expect("a member");
            let mut array = array
                .default_dtype()
                .shape(&[2])
                .begin_nd()
                .expect("a header");
            array.extend(*numbers).expect("room");
            array.finish().expect("the end");
        }
        drop(writer);
        bytes
    }

    #[test]
    fn members_are_arrays() {
        let bytes = archive(&[("keys", [3, 1]), ("ids", [7, 9])]);
        let element = ElementType::Plain(Type::I32);
        let (_, ids) = member(&bytes, Some("ids")).expect("a member");
        let array = npy::decode(&ids, &element).expect("an array");
        assert_eq!(array.shape, [2]);
        let error = |name| member(&bytes, name).expect_err("no member").to_string();
        let why = "has no array `values`; there are `ids`, `keys`";
        assert_eq!(error(Some("values")), why);
        let why =
            "has several arrays: name one behind a colon, as in :ids; there are `ids`, `keys`";
        assert_eq!(error(None), why);
        assert!(member(&bytes[..30], Some("ids")).is_err());
        assert!(member(b"no archive", None).is_err());
    }

    #[test]
    fn the_only_member_needs_no_name() {
        let bytes = archive(&[("keys", [3, 1])]);
        let named = member(&bytes, Some("keys")).expect("a member");
        assert_eq!(member(&bytes, None).expect("the only one"), named);
        for name in [None, Some("keys")] {
            let error = member(&archive(&[]), name).expect_err("nothing in it");
            assert_eq!(error.to_string(), "has no arrays in it");
        }
    }
}
