//! From a source text to callable code: [`Source`] → [`Parsed`] → [`Scheduled`] → [`Compiled`], each made from the one before it
//! and holding what the next needs. Nothing is decided here; every stage calls the crate that does its work.

use crate::error::{Error, KernelError, Refusal};
use crate::{Diagnostic, Diagnostics, Language, Source, convert};
use std::sync::Arc;
use std::time::{Duration, Instant};
use strew_affine::Kernel;
use strew_affine::verify::{Verified, verify};
use strew_transforms::{Machine, Observer, Schedule};

/// A source without errors, as kernels.
#[derive(Clone, Debug)]
pub struct Parsed {
    source: Arc<Source>,
    kernels: Vec<ParsedKernel>,
    warnings: Diagnostics,
}

/// One kernel as its source says it.
#[derive(Clone, Debug)]
pub struct ParsedKernel {
    source: Arc<Source>,
    kernel: Verified,
    pragmas: Schedule,
}

/// A kernel after its schedule.
#[derive(Clone, Debug)]
pub struct Scheduled {
    parsed: Arc<ParsedKernel>,
    kernel: Verified,
    schedule: Schedule,
}

/// A kernel in machine code.
#[derive(Clone, Debug)]
pub struct Compiled {
    scheduled: Scheduled,
    code: strew_jit::Compiled,
    took: Duration,
}

/// Which schedule a kernel gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Plan {
    /// What the `#pragma strew` lines of the source say; found automatically when there are none.
    #[default]
    Source,
    /// Found automatically, whatever the source says.
    Auto,
    /// This one.
    Explicit(Schedule),
}

impl Source {
    /// Parses, resolves and lowers the text.
    ///
    /// # Errors
    /// The errors in the text, all that were found.
    pub fn parse(self) -> Result<Parsed, Error> {
        let source = Arc::new(self);
        let (kernels, diagnostics) = match source.language() {
            Language::C => convert::from_c(source.text()),
            Language::KernelText => convert::from_kernel_text(source.text()),
        };
        let diagnostics = Diagnostics::new(source.clone(), diagnostics);
        if diagnostics.has_errors() {
            return Err(Error::Source(diagnostics));
        }
        let kernels = kernels.into_iter().map(|(kernel, pragmas)| {
            let kernel = verified(&source, kernel)?;
            let source = source.clone();
            Ok(ParsedKernel {
                source,
                kernel,
                pragmas,
            })
        });
        Ok(Parsed {
            kernels: kernels.collect::<Result<_, Error>>()?,
            source,
            warnings: diagnostics,
        })
    }
}

/// Kernel text can break an invariant; a kernel that strew itself made must not.
fn verified(source: &Arc<Source>, kernel: Kernel) -> Result<Verified, Error> {
    verify(kernel).map_err(|violations| match source.language() {
        Language::KernelText => {
            let list = violations
                .iter()
                .map(|it| Diagnostic::error(it.to_string(), it.span))
                .collect();
            Error::Source(Diagnostics::new(source.clone(), list))
        }
        Language::C => Error::Defect(convert::joined(&violations)),
    })
}

impl Parsed {
    /// The source.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The warnings about the source.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// The kernels in the order of the source.
    pub fn kernels(&self) -> &[ParsedKernel] {
        &self.kernels
    }

    /// The kernel `name`, or the only one there is.
    ///
    /// # Errors
    /// No such kernel, or several when none is named; the error lists them.
    pub fn kernel(&self, name: Option<&str>) -> Result<&ParsedKernel, Error> {
        let found = match (name, self.kernels.as_slice()) {
            (None, [only]) => Some(only),
            (None, _) => None,
            (Some(name), kernels) => kernels.iter().find(|it| it.kernel.name == name),
        };
        found.ok_or_else(|| {
            Error::Kernel(KernelError {
                file: self.source.name().to_owned(),
                name: name.map(str::to_owned),
                available: self
                    .kernels
                    .iter()
                    .map(|it| it.kernel.name.clone())
                    .collect(),
            })
        })
    }
}

impl ParsedKernel {
    /// The kernel. Its `Display` is its text.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The steps that `#pragma strew` lines of the source ask for.
    pub fn pragmas(&self) -> &Schedule {
        &self.pragmas
    }

    /// Applies the schedule that `plan` means; `observer` sees every step.
    ///
    /// # Errors
    /// A step that is declined.
    pub fn schedule(&self, plan: &Plan, observer: &mut dyn Observer) -> Result<Scheduled, Error> {
        let schedule = match plan {
            Plan::Explicit(schedule) => schedule.clone(),
            Plan::Source if !self.pragmas.is_empty() => self.pragmas.clone(),
            Plan::Source | Plan::Auto => {
                strew_transforms::auto(&self.kernel, &Machine::default()).0
            }
        };
        let applied = schedule.apply(&self.kernel, observer).map_err(|refused| {
            let source = self.source.clone();
            Error::Refused(Refusal { refused, source })
        })?;
        let kernel = verify(applied).map_err(|it| Error::Defect(convert::joined(&it)))?;
        Ok(Scheduled {
            parsed: Arc::new(self.clone()),
            kernel,
            schedule,
        })
    }
}

impl Scheduled {
    /// The kernel. Its `Display` is its text.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The steps that led to it.
    pub fn steps(&self) -> &Schedule {
        &self.schedule
    }

    /// Makes machine code.
    ///
    /// # Errors
    /// A strategy that does not exist, or a processor that no code can be made for.
    pub fn compile(self) -> Result<Compiled, Error> {
        let started = Instant::now();
        let code = strew_jit::compile(&self.kernel, &strew_jit::Options::default());
        Ok(Compiled {
            code: code.map_err(Error::Compile)?,
            scheduled: self,
            took: started.elapsed(),
        })
    }
}

impl Compiled {
    /// The kernel in its last form before machine code.
    pub fn kernel(&self) -> &Kernel {
        &self.scheduled.kernel
    }

    /// The kernel as its source says it.
    pub fn parsed(&self) -> &ParsedKernel {
        &self.scheduled.parsed
    }

    /// The source that faults point into.
    pub fn source(&self) -> &Arc<Source> {
        &self.scheduled.parsed.source
    }

    /// The steps of the schedule.
    pub fn steps(&self) -> &Schedule {
        &self.scheduled.schedule
    }

    /// The machine code.
    pub fn code(&self) -> &strew_jit::Compiled {
        &self.code
    }

    /// How long it took to make the machine code.
    pub fn took(&self) -> Duration {
        self.took
    }
}
