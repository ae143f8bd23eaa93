//! What a bench says, and how it ends.

use std::process::ExitCode;

/// The status for what came of it, of which an error is told.
pub(crate) fn ended(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&error);
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "the report of a bench")]
pub(crate) fn print(text: &str) {
    println!("{text}");
}

#[expect(clippy::print_stderr, reason = "progress, and what went wrong")]
pub(crate) fn say(text: &str) {
    eprintln!("{text}");
}
