//! `strew opt`: C or kernel text in, kernel text out.

use crate::cli::args::Opt;
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::{load, report};
use strew::{Error, Event, Observer, Parsed, Plan};

pub(crate) fn opt(flags: &Opt, console: &mut Console) -> Result<(), Failure> {
    let parsed = load::parsed(&flags.kernel.file, console)?;
    let Some(schedule) = load::schedule(&flags.schedule)? else {
        return untouched(flags, &parsed, console);
    };
    let kernel = load::kernel(&parsed, &flags.kernel)?;
    let mut stages = Stages::default();
    if flags.print_ir_after_all {
        stages.text = kernel.kernel().to_string();
    }
    let outcome = kernel.schedule(&Plan::Explicit(schedule), &mut stages);
    if flags.print_ir_after_all {
        console.data(&stages.text)?;
    }
    match outcome {
        Ok(_) if flags.print_ir_after_all => Ok(()),
        Ok(scheduled) => console.data(&scheduled.kernel().to_string()),
        Err(Error::Refused(refusal)) if flags.json => {
            console.data(&report::refusal(&refusal.refused))?;
            Err(Error::Refused(refusal).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Without steps the kernels come out as they went in: the one that is named, or all.
fn untouched(flags: &Opt, parsed: &Parsed, console: &mut Console) -> Result<(), Failure> {
    let kernels = match flags.kernel.name {
        Some(_) => vec![load::kernel(parsed, &flags.kernel)?],
        None => parsed.kernels().iter().collect(),
    };
    let texts: Vec<_> = kernels.iter().map(|it| it.kernel().to_string()).collect();
    console.data(&texts.join("\n"))
}

/// The kernel text after every step, each below a line that names it.
#[derive(Default)]
struct Stages {
    text: String,
}

impl Observer for Stages {
    fn observe(&mut self, event: Event<'_>) {
        if let Event::Applied { step, after, .. } = event {
            self.text += &format!("// ---- after {step}\n{after}");
        }
    }
}
