//! Standard output takes data, standard error takes talk; colours only where a terminal shows them.

use crate::cli::failure::Failure;
use anstream::ColorChoice;
use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use strew::Style;

/// Where a command writes.
#[derive(Debug)]
pub(crate) struct Console {
    style: Style,
    /// What is not to be said again.
    said: BTreeSet<String>,
}

impl Console {
    pub(crate) fn new() -> Self {
        // Not a terminal, `NO_COLOR`, `TERM=dumb`: all of them mean never.
        let choice = anstream::AutoStream::choice(&io::stderr());
        let style = match choice {
            ColorChoice::Never => Style::Plain,
            _ if io::stderr().is_terminal() => Style::Colour,
            _ => Style::Plain,
        };
        let said = BTreeSet::new();
        Self { style, said }
    }

    /// How text for standard error is to be shown.
    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// Writes `text` to standard output.
    pub(crate) fn data(&mut self, text: &str) -> Result<(), Failure> {
        self.data_with(|sink| sink.write_all(text.as_bytes()))
    }

    /// Writes `text` to the file at `path`, or to standard output where that is `-` or there is
    /// none.
    pub(crate) fn data_to(&mut self, path: Option<&Path>, text: &str) -> Result<(), Failure> {
        match path.filter(|it| !is_standard_output(it)) {
            Some(path) => {
                std::fs::write(path, text).map_err(|error| Failure::unwritable(path, error))
            }
            None => self.data(text),
        }
    }

    /// Lets `write` write to standard output.
    pub(crate) fn data_with(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let mut sink = io::BufWriter::new(io::stdout().lock());
        let written = write(&mut sink).and_then(|()| sink.flush());
        written.map_err(unwritten)
    }

    /// Shows what reading the flags came to: help that was asked for, to standard output, or what
    /// is wrong with them.
    pub(crate) fn of_flags(&mut self, message: &clap::Error) -> Result<(), Failure> {
        let shown = message.print();
        if message.use_stderr() {
            return Err(Failure::ShownUsage);
        }
        // What was printed may not be written yet.
        let written = shown.and_then(|()| io::stdout().flush());
        written.map_err(unwritten)
    }

    /// Writes `text` and a line break to standard error. Nobody can be told when that fails.
    pub(crate) fn talk(&mut self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// As [`talk`](Self::talk), for what may come up several times and is to be said once.
    pub(crate) fn talk_once(&mut self, text: &str) {
        if self.said.insert(text.to_owned()) {
            self.talk(text);
        }
    }

    /// Says what went wrong.
    pub(crate) fn complain(&mut self, failure: &Failure) {
        if let Some(text) = failure.render(self.style) {
            self.talk(&text);
        }
    }
}

/// Whether what is to be written to `path` goes to standard output.
pub(crate) fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-")
}

/// Why a command ends whose output could not be written.
fn unwritten(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
        _ => Failure::usage(format!("cannot write to standard output: {error}")),
    }
}
