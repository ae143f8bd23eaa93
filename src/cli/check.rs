//! `strew check`: diagnostics and nothing else.

use crate::cli::args::Check;
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::{load, report};
use strew::{Diagnostics, Error};

pub(crate) fn check(flags: &Check, console: &mut Console) -> Result<(), Failure> {
    let diagnostics = diagnostics(flags)?;
    if flags.json {
        console.data(&report::diagnostics(&diagnostics))?;
    } else if !diagnostics.list().is_empty() {
        let text = diagnostics.render(console.style());
        console.talk(&text);
    }
    if diagnostics.has_errors() {
        Err(Failure::Diagnosed)
    } else {
        Ok(())
    }
}

fn diagnostics(flags: &Check) -> Result<Diagnostics, Failure> {
    match load::source(&flags.file)?.parse() {
        Ok(parsed) => Ok(parsed.warnings().clone()),
        Err(Error::Source(diagnostics)) => Ok(diagnostics),
        Err(error) => Err(error.into()),
    }
}
