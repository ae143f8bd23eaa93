//! What the tests of maps have in common.

use super::{IndexingMap, parse_map};

/// The map that `text` writes.
#[track_caller]
pub(super) fn map(text: &str) -> IndexingMap {
    match parse_map(text) {
        Ok(map) => map,
        Err(error) => panic!("{error}: {text}"),
    }
}
