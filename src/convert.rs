//! What the parsers say, in the form of this crate's diagnostics.

use crate::error::KernelError;
use crate::host;
use crate::pragma::Pragmas;
use crate::variables::Variables;
use crate::{Diagnostic, Diagnostics, Error, Language, Severity, Source};
use std::sync::Arc;
use strew_affine::{Kernel, Span, text};
use strew_transforms::{Schedule, ScriptError, ScriptErrors};

/// What a source says about a kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    pub(crate) pragmas: Pragmas,
    pub(crate) variables: Variables,
}

type Outcome = (Vec<(Kernel, Notes)>, Vec<Diagnostic>);

/// The kernels of a C source with the schedules of their pragmas, and what there is to say about
/// it.
pub(crate) fn from_c(source: &Source) -> Outcome {
    from_frontend_kernels(request(source).compile(source.text()))
}

/// The same kernels without assumptions about their parameters.
pub(crate) fn from_c_exact(source: &Source) -> Outcome {
    let exact = strew_frontend::Request {
        assumes: false,
        ..request(source)
    };
    from_frontend_kernels(exact.compile(source.text()))
}

fn request(source: &Source) -> strew_frontend::Request<'_> {
    strew_frontend::Request {
        kernel: source.kernel(),
        host: source.reductions(),
        assumes: true,
    }
}

fn from_frontend_kernels(
    (lowered, diagnostics): (
        Vec<strew_frontend::Lowered>,
        Vec<strew_frontend::Diagnostic>,
    ),
) -> Outcome {
    let mut diagnostics: Vec<_> = diagnostics.into_iter().map(from_frontend).collect();
    let kernels = lowered.into_iter().map(|lowered| {
        let (pragmas, mistakes) = Pragmas::of(&lowered);
        diagnostics.extend(mistakes);
        let variables = Variables::of(lowered.variables);
        (lowered.kernel, Notes { pragmas, variables })
    });
    let kernels = kernels.collect();
    (kernels, diagnostics)
}

fn from_frontend(diagnostic: strew_frontend::Diagnostic) -> Diagnostic {
    let mut converted = Diagnostic::error(diagnostic.message(), diagnostic.span);
    converted.severity = match diagnostic.severity() {
        strew_frontend::Severity::Error => Severity::Error,
        strew_frontend::Severity::Warning => Severity::Warning,
    };
    diagnostic.code().clone_into(&mut converted.code);
    converted.help = diagnostic.help();
    let related = diagnostic.labels.into_iter();
    converted.related = related.map(|label| (label.span, label.message)).collect();
    converted
}

/// The mistakes in a schedule whose first byte is at `start` of the source.
pub(crate) fn from_script(errors: &ScriptErrors, start: usize) -> Vec<Diagnostic> {
    let diagnostic = |error: &ScriptError| {
        let span = error.span.range();
        let span = Span::new(start + span.start, start + span.end);
        let mut diagnostic = Diagnostic::error(error.to_string(), span);
        // Behind all codes of the front end.
        "E900".clone_into(&mut diagnostic.code);
        diagnostic
    };
    errors.list.iter().map(diagnostic).collect()
}

/// The schedule that the script `text` of the file `name` says.
///
/// # Errors
/// The mistakes in it, as diagnostics with their lines.
pub fn parse_schedule(name: &str, text: &str) -> Result<Schedule, Error> {
    text.parse().map_err(|errors| {
        let source = Arc::new(Source::new(name, text));
        let list = from_script(&errors, 0);
        Error::Source(Diagnostics::new(source, list))
    })
}

/// The kernels of a kernel text, and what is wrong with it.
pub(crate) fn from_kernel_text(source: &Source) -> Outcome {
    match text::parse(source.text()) {
        Ok(kernels) => {
            let plain = kernels
                .into_iter()
                .map(|kernel| host::bind(kernel, source.reductions()))
                .map(|kernel| (kernel, Notes::default()));
            (plain.collect(), Vec::new())
        }
        Err(errors) => {
            let list = errors
                .iter()
                .map(|it| Diagnostic::error(it.to_string(), it.span));
            (Vec::new(), list.collect())
        }
    }
}

/// The kernel of a module of MLIR, and what strew cannot read in it.
pub(crate) fn from_mlir(source: &Source) -> Outcome {
    match strew_affine::mlir::parse(source.text()) {
        Ok(kernel) => (vec![(kernel, Notes::default())], Vec::new()),
        Err(error) => {
            let diagnostic = Diagnostic::error(error.to_string(), error.span);
            (Vec::new(), vec![diagnostic])
        }
    }
}

/// The syntax tree of a C source, as text.
///
/// # Errors
/// The syntax errors in it.
pub fn syntax_tree(source: &Source) -> Result<String, Error> {
    let (tree, diagnostics) = strew_frontend::parse(source.text());
    let list = diagnostics.into_iter().map(from_frontend).collect();
    let diagnostics = Diagnostics::new(Arc::new(source.clone()), list);
    if diagnostics.has_errors() {
        Err(Error::Source(diagnostics))
    } else {
        Ok(tree.to_string())
    }
}

impl Source {
    /// The functions of a C source that kernels could be made of if they were asked for by name, as
    /// [`for_kernel`](Self::for_kernel) does.
    pub fn kernels_alone(&self) -> Vec<String> {
        let names = self.functions().into_iter().filter(|it| it != "main");
        let is_sound = |name: &String| {
            let request = strew_frontend::Request {
                kernel: Some(name),
                ..request(self)
            };
            let (kernels, _) = request.compile(self.text());
            // What touches no array is there to be called by others.
            kernels.iter().any(|it| !it.kernel.arrays.is_empty())
        };
        names.take(MOST_ALONE).filter(is_sound).collect()
    }

    /// That a C source does not define the function that is wanted of it.
    pub(crate) fn lacks_kernel(&self) -> Option<KernelError> {
        let name = self.kernel().filter(|_| self.language() == Language::C)?;
        let is_there = self.functions().iter().any(|it| it == name);
        (!is_there).then(|| KernelError {
            file: self.name().to_owned(),
            name: Some(name.to_owned()),
            available: self.kernels_alone(),
        })
    }

    /// The names of the functions that a C source defines.
    fn functions(&self) -> Vec<String> {
        if self.language() != Language::C {
            return Vec::new();
        }
        let (tree, _) = strew_frontend::parse(self.text());
        let names = tree.functions.into_iter().map(|it| it.name.text);
        names.collect()
    }
}

/// So many functions are tried at most: each is found in the whole text again.
const MOST_ALONE: usize = 32;

/// All of `items` in one line.
pub(crate) fn joined<T: ToString>(items: &[T]) -> String {
    let shown: Vec<_> = items.iter().map(T::to_string).collect();
    shown.join("; ")
}
