//! The static library that objects are linked with: made by cargo from the sources that this
//! program was made from, so that both are of one version.

use crate::cli::console::Console;
use crate::cli::failure::Failure;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the sources were.
const SOURCES: &str = env!("CARGO_MANIFEST_DIR");

/// What makes the library in a checkout.
const MAKE: [&str; 6] = [
    "rustc",
    "--release",
    "-p",
    "strew-runtime",
    "--crate-type",
    "staticlib",
];

/// What cargo says of something that it made, or that was made already.
#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

/// Makes the library and copies it to `path`.
pub(crate) fn write(path: &Path, console: &mut Console) -> Result<(), Failure> {
    let by_hand = format!(
        "`cargo {}` makes it in a checkout of strew {}",
        MAKE.join(" "),
        env!("CARGO_PKG_VERSION")
    );
    if !Path::new(SOURCES).join("runtime/Cargo.toml").exists() {
        return Err(Failure::Refused(format!(
            "the library is made of the sources of this strew, which are not in {SOURCES} any more; {by_hand}"
        )));
    }
    console.talk(&format!(
        "note: cargo makes the library of the sources in {SOURCES}"
    ));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(&cargo)
        .args(MAKE)
        .args(["--locked", "--quiet", "--message-format", "json"])
        .current_dir(SOURCES)
        .output();
    let cargo = cargo.to_string_lossy();
    let refused = |why: String| Failure::Refused(format!("{why}; {by_hand}"));
    let output = output.map_err(|error| refused(format!("`{cargo}` does not start: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim();
        return Err(refused(format!("`{cargo}` made no library: {said}")));
    }
    let made = library(&String::from_utf8_lossy(&output.stdout));
    let made = made.ok_or_else(|| refused(format!("`{cargo}` names no library")))?;
    let copied = std::fs::copy(&made, path);
    copied
        .map(drop)
        .map_err(|error| Failure::unwritable(path, error))
}

/// The library among what cargo says that it made, one message on a line.
fn library(messages: &str) -> Option<PathBuf> {
    let messages = messages.lines().filter_map(|line| {
        let message: Option<Message> = serde_json::from_str(line).ok();
        message
    });
    let mut files = messages.flat_map(|it| it.filenames);
    files.find(|it| {
        let name = it.file_name().unwrap_or_default().to_string_lossy();
        name.contains("strew_runtime") && (name.ends_with(".a") || name.ends_with(".lib"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_found_among_what_was_made() {
        let messages = "{\"reason\": \"compiler-artifact\", \"filenames\": [\"/t/libother.rlib\"]}\nno JSON\n\
                        {\"reason\": \"compiler-artifact\", \"filenames\": [\"/t/libstrew_runtime.a\"]}\n{\"reason\": \"build-finished\"}\n";
        assert_eq!(library(messages), Some("/t/libstrew_runtime.a".into()));
        assert_eq!(library("{\"reason\": \"build-finished\"}"), None);
    }
}
