//! `strew check`: diagnostics and nothing else.

use crate::cli::args::Check;
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::{load, report};
use strew::{Diagnostics, Error, Parsed, Plan};

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
    match load::chosen(&flags.kernel)?.parse() {
        Ok(parsed) => with_refusals(&parsed),
        Err(Error::Source(diagnostics)) => Ok(diagnostics),
        Err(error) => Err(error.into()),
    }
}

/// The warnings, and the `#pragma strew` steps that a run would decline.
fn with_refusals(parsed: &Parsed) -> Result<Diagnostics, Failure> {
    let mut list = parsed.warnings().list().to_vec();
    for kernel in parsed.kernels() {
        if kernel.pragmas().is_empty() {
            continue;
        }
        match kernel.schedule(&Plan::Source, &mut ()) {
            Ok(_) => {}
            Err(Error::Refused(refusal)) => list.push(refusal.diagnostic()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Diagnostics::new(parsed.source().clone(), list))
}
