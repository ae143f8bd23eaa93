//! The program, as tests start it.

use std::path::Path;
use std::process::{Command, Stdio};

/// `strew ARGUMENTS` in `folder`, with the usual costs and nothing to read.
pub(crate) fn strew_in(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strew"));
    command.args(arguments).current_dir(folder);
    command.env("STREW_CALIBRATION", "").stdin(Stdio::null());
    command
}
