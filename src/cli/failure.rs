//! Why a command did not do what it was asked, and with which status the process ends.

use clap::builder::styling;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use strew::{ArgumentError, ArgumentKind, Error, Failure as CallFailure, Style};

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command cannot be understood, or a file that it names cannot be used.
    Usage(String),
    /// What was asked for was declined, in words.
    Refused(String),
    /// Diagnostics that have been shown already.
    Diagnosed,
    /// What is wrong with the flags, which has been shown already.
    ShownUsage,
    /// An error of the library.
    Library(Error),
    /// An error of the library, and what only the command line knows about it.
    Noted(Box<Error>, Vec<String>),
    /// Somebody is about to change a file while the kernel runs on it.
    Changed(PathBuf),
    /// Whoever read standard output has seen enough.
    ClosedPipe,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// A file that cannot be used, and why.
    pub(crate) fn file(path: &Path, why: impl std::fmt::Display) -> Self {
        Self::Usage(format!("{}: {why}", path.display()))
    }

    /// A file that cannot be written, and what the system says.
    pub(crate) fn unwritable(path: &Path, error: std::io::Error) -> Self {
        Self::file(path, format!("cannot be written: {error}"))
    }

    /// Whether it is that a call was stopped.
    pub(crate) fn is_stop(&self) -> bool {
        matches!(self, Self::Library(Error::Failure(CallFailure::Stopped)))
    }

    /// The exit status: 0 done, 1 refused or diagnosed, 2 usage, 3 fault while running, 70 defect.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Self::ClosedPipe => 0,
            Self::Diagnosed | Self::Refused(_) => 1,
            Self::Usage(_) | Self::ShownUsage => 2,
            Self::Changed(_) => 3,
            Self::Library(error) => status(error),
            Self::Noted(error, _) => status(error),
        }
    }

    /// What to say; nothing when it was said or nobody listens.
    pub(crate) fn render(&self, style: Style) -> Option<String> {
        let text = self.text(style)?;
        Some(match (style, text.strip_prefix("error")) {
            // What has a place in a source has its colours already.
            (Style::Colour, Some(message)) => format!("{ERROR}error{ERROR:#}{message}"),
            _ => text,
        })
    }

    fn text(&self, style: Style) -> Option<String> {
        match self {
            Self::ClosedPipe | Self::Diagnosed | Self::ShownUsage => None,
            Self::Usage(message) | Self::Refused(message) => Some(format!("error: {message}")),
            Self::Changed(path) => Some(format!(
                "error: {}: somebody opened it for writing while the kernel ran on it; nothing was written, \
                 leave out --mmap to run on a copy",
                path.display()
            )),
            Self::Library(error) => Some(library(error, style)),
            Self::Noted(error, notes) => {
                // Diagnostics are paragraphs, other errors lines.
                let before = match **error {
                    Error::Source(_) => "\n\n",
                    _ => "\n  ",
                };
                let notes = notes.iter().map(|it| format!("{before}note: {it}"));
                Some(library(error, style) + &notes.collect::<String>())
            }
        }
    }
}

/// As diagnostics about sources have it.
const ERROR: styling::Style = styling::AnsiColor::BrightRed.on_default().bold();

fn status(error: &Error) -> u8 {
    match error {
        Error::Source(_) | Error::Refused(_) => 1,
        Error::Kernel(_) | Error::Arguments(_) | Error::Threads(_) => 2,
        Error::Fault(_) | Error::Failure(CallFailure::Stopped) => 3,
        Error::Failure(CallFailure::Panicked(_)) | Error::Defect(_) => crate::cli::SOFTWARE,
        Error::Failure(_) | Error::Compile(_) => 1,
        _ => 1,
    }
}

fn library(error: &Error, style: Style) -> String {
    let text = error.render(style);
    match error {
        // These begin with their severity.
        Error::Source(_) | Error::Refused(_) | Error::Fault(_) => text,
        Error::Arguments(errors) => {
            let mut text = format!("error: {text}");
            for error in &errors.list {
                // Writing to a `String` does not fail.
                let _ = hint(error).map(|hint| write!(text, "\n  help: {hint}"));
            }
            text
        }
        _ => format!("error: {text}"),
    }
}

/// Which flag gives what is missing.
fn hint(error: &ArgumentError) -> Option<String> {
    let ArgumentError::Missing {
        parameter,
        expected,
    } = error
    else {
        return None;
    };
    Some(match expected {
        ArgumentKind::Scalar(_) => format!("give it with --set {parameter}=VALUE"),
        ArgumentKind::Read(_) => format!("give it with --in {parameter}=FILE.npy"),
        ArgumentKind::Write(_) => {
            format!("give it with --in {parameter}=FILE.npy or --shape {parameter}=D,D")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_the_colour_of_diagnostics() {
        let coloured = "\u{1b}[1m\u{1b}[91merror";
        let failures = || {
            let parsed = strew::Source::new("k.c", "void k(").parse();
            let source = Failure::from(parsed.expect_err("no kernel"));
            [Failure::usage("no file"), source]
        };
        for failure in failures() {
            let text = failure.render(Style::Colour).expect("a text");
            assert!(text.starts_with(coloured), "{text:?}");
            let text = failure.render(Style::Plain).expect("a text");
            assert!(text.starts_with("error"), "{text:?}");
        }
    }
}
