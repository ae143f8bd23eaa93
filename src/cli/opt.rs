//! `strew opt`: C or kernel text in, kernel text out.

use crate::cli::args::Opt;
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::{load, report};
use strew::{Error, Event, Observer, Parsed, ParsedKernel, Plan};

pub(crate) fn opt(flags: &Opt, console: &mut Console) -> Result<(), Failure> {
    let parsed = load::parsed(&flags.kernel, console)?;
    let wanted = match load::schedule(&flags.schedule)? {
        Some(schedule) => {
            let kernel = load::kernel(&parsed, &flags.kernel)?;
            vec![(kernel, Plan::Explicit(schedule))]
        }
        None => as_the_source_says(flags, &parsed)?,
    };
    let mut texts = Vec::new();
    for (kernel, plan) in wanted {
        let text = kernel.kernel().to_string();
        let mut stages = Stages { text };
        let outcome = kernel.schedule(&plan, &mut stages);
        if flags.print_ir_after_all {
            texts.push(stages.text);
        }
        match outcome {
            Ok(_) if flags.print_ir_after_all => {}
            Ok(scheduled) => texts.push(scheduled.kernel().to_string()),
            Err(error) => return refused(flags, &texts, error, console),
        }
    }
    console.data(&texts.join("\n"))
}

/// The stages up to `error`, if they are asked for, and then that.
fn refused(
    flags: &Opt,
    texts: &[String],
    error: Error,
    console: &mut Console,
) -> Result<(), Failure> {
    if flags.print_ir_after_all {
        console.data(&texts.join("\n"))?;
    }
    if let (Error::Refused(refusal), true) = (&error, flags.json) {
        console.data(&report::refusal(&refusal.refused))?;
    }
    Err(error.into())
}

/// The kernel that is named, or all, each with the steps that its source asks for, if it does.
fn as_the_source_says<'p>(
    flags: &Opt,
    parsed: &'p Parsed,
) -> Result<Vec<(&'p ParsedKernel, Plan)>, Failure> {
    let kernels = match flags.kernel.name {
        Some(_) => vec![load::kernel(parsed, &flags.kernel)?],
        None => parsed.kernels().iter().collect(),
    };
    let with_steps = kernels.into_iter().map(|it| {
        let steps = it.pragmas().clone();
        match steps.is_empty() {
            true => (it, Plan::Explicit(steps)),
            false => (it, Plan::Source),
        }
    });
    Ok(with_steps.collect())
}

/// The kernel text as it is, and after every step, each below a line that names it.
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
