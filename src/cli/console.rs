//! Standard output takes data, standard error takes talk; colours only where a terminal shows them.

use crate::cli::failure::Failure;
use anstream::ColorChoice;
use std::io::{self, IsTerminal, Write};
use strew::Style;

/// Where a command writes.
#[derive(Debug)]
pub(crate) struct Console {
    style: Style,
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
        Self { style }
    }

    /// How text for standard error is to be shown.
    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// Writes `text` to standard output.
    pub(crate) fn data(&mut self, text: &str) -> Result<(), Failure> {
        self.data_with(|sink| sink.write_all(text.as_bytes()))
    }

    /// Lets `write` write to standard output.
    pub(crate) fn data_with(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let mut sink = io::BufWriter::new(io::stdout().lock());
        let written = write(&mut sink).and_then(|()| sink.flush());
        written.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::usage(format!("cannot write to standard output: {error}")),
        })
    }

    /// Writes `text` and a line break to standard error. Nobody can be told when that fails.
    pub(crate) fn talk(&mut self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// Says what went wrong.
    pub(crate) fn complain(&mut self, failure: &Failure) {
        if let Some(text) = failure.render(self.style) {
            self.talk(&text);
        }
    }
}
