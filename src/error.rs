use crate::argument::ArgumentError;
use crate::{Diagnostic, Diagnostics, Position, Source, Style};
use std::fmt;
use std::sync::Arc;
use strew_affine::Span;
use strew_jit::{CompileError, FaultKind};
use strew_runtime::{Failure, TooManyThreads};
use strew_transforms::Refused;

/// Whatever can go wrong between a source text and the result of a call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The source has errors.
    Source(Diagnostics),
    /// There is no such kernel, or no single one.
    Kernel(KernelError),
    /// A step of the schedule was declined.
    Refused(Refusal),
    /// The arguments of a call do not fit the kernel.
    Arguments(ArgumentErrors),
    /// The kernel stopped at a fault; all arrays are as they were before the call.
    Fault(Box<Fault>),
    /// The call was stopped, was refused for its memory, or ran into a defect; all arrays are as
    /// they were before it.
    Failure(Failure),
    /// More threads were asked for than there can be.
    Threads(TooManyThreads),
    /// No machine code could be made.
    Compile(CompileError),
    /// strew contradicted itself. Please report it, with the kernel.
    Defect(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Style::Plain))
    }
}

impl std::error::Error for Error {}

impl Error {
    /// The message, with source lines where there are any.
    pub fn render(&self, style: Style) -> String {
        match self {
            Self::Source(diagnostics) => diagnostics.render(style),
            Self::Kernel(error) => error.to_string(),
            Self::Refused(refusal) => refusal.render(style),
            Self::Arguments(errors) => errors.to_string(),
            Self::Fault(fault) => fault.render(style),
            Self::Failure(failure) => failure.to_string(),
            Self::Threads(error) => error.to_string(),
            Self::Compile(error) => error.to_string(),
            Self::Defect(what) => format!("a defect of strew: {what}"),
        }
    }
}

/// A request for a kernel that a program cannot answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelError {
    /// The file.
    pub file: String,
    /// The name asked for; `None` when the only kernel was asked for.
    pub name: Option<String>,
    /// The kernels that there are.
    pub available: Vec<String>,
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            name,
            available,
        } = self;
        match name {
            Some(name) => write!(f, "no kernel `{name}` in {file}")?,
            None if available.is_empty() => return write!(f, "{file} holds no kernel"),
            None => write!(f, "{file} holds several kernels, name one")?,
        }
        if available.is_empty() {
            f.write_str(": it holds none")
        } else {
            write!(f, ": there are {}", available.join(", "))
        }
    }
}

/// A step of a schedule that was declined, and the kernel it was for.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The step, why it was declined, and the kernel up to there.
    pub refused: Box<Refused>,
    /// The source of the kernel.
    pub source: Arc<Source>,
    /// Where the step stands in the source, if a `#pragma strew` line of it asks for the step.
    pub place: Option<Span>,
}

impl Refusal {
    /// The refusal as a diagnostic about the source: at the places that speak against the step,
    /// else where it is asked for.
    pub fn diagnostic(&self) -> Diagnostic {
        let Refused { step, reason, .. } = &*self.refused;
        let message = format!("{step} is {}: {reason}", reason.verdict());
        let mut labels = reason.labels().into_iter();
        let mut diagnostic = Diagnostic::error(message, Span::default());
        let first = labels.next();
        diagnostic.span = first.as_ref().map(|it| it.span);
        diagnostic.label = first.map(|it| it.text);
        diagnostic.related = labels.map(|it| (it.span, it.text)).collect();
        diagnostic.help = self.refused.try_next().map(|it| format!("try {it}"));
        if let Some(place) = self.place {
            // Behind the code of a step that cannot be read.
            "E901".clone_into(&mut diagnostic.code);
            match diagnostic.span {
                Some(_) => diagnostic
                    .related
                    .push((place, "asked for here".to_owned())),
                None => diagnostic.span = Some(place),
            }
        }
        diagnostic
    }

    fn render(&self, style: Style) -> String {
        Diagnostics::new(self.source.clone(), vec![self.diagnostic()]).render(style)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Style::Plain))
    }
}

/// All that is wrong with the arguments of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgumentErrors {
    /// The kernel.
    pub kernel: String,
    /// At least one.
    pub list: Vec<ArgumentError>,
}

impl fmt::Display for ArgumentErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`: ", self.kernel)?;
        for (position, error) in self.list.iter().enumerate() {
            if position > 0 {
                f.write_str("; ")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

/// A fault of a running kernel: the first in the order of the serial loop.
#[derive(Clone, Debug)]
pub struct Fault {
    kernel: String,
    fault: strew_jit::Fault,
    /// The same iteration as that of `fault`, as the source says it.
    pub(crate) iteration: Vec<(String, i64)>,
    source: Arc<Source>,
}

impl Fault {
    pub(crate) fn new(kernel: &str, fault: strew_jit::Fault, source: Arc<Source>) -> Self {
        Self {
            kernel: kernel.to_owned(),
            iteration: fault.iteration.clone(),
            fault,
            source,
        }
    }

    /// The kernel.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// What happened: the array, the index and the extent.
    pub fn kind(&self) -> &FaultKind {
        &self.fault.kind
    }

    /// The file.
    pub fn file(&self) -> &str {
        self.source.name()
    }

    /// Where in the file.
    pub fn position(&self) -> Position {
        self.source.start(self.fault.span)
    }

    /// The variables of the loops around the place with their values, outermost first.
    pub fn iteration(&self) -> &[(String, i64)] {
        &self.iteration
    }

    /// The same in words of the kernel's text, whose iterators may count what a variable of the
    /// source is a function of.
    pub fn iterators(&self) -> &[(String, i64)] {
        &self.fault.iteration
    }

    fn render(&self, style: Style) -> String {
        let mut diagnostic = Diagnostic::error(self.fault.to_string(), self.fault.span);
        diagnostic.notes.push(self.place());
        Diagnostics::new(self.source.clone(), vec![diagnostic]).render(style)
    }

    fn place(&self) -> String {
        let iteration: Vec<_> = self
            .iteration()
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let kernel = self.kernel();
        if iteration.is_empty() {
            format!("in kernel `{kernel}`; all outputs are as they were")
        } else {
            let iteration = iteration.join(", ");
            format!("in kernel `{kernel}`, iteration {iteration}; all outputs are as they were")
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Style::Plain))
    }
}
