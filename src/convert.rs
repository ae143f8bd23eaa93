//! What the parsers say, in the form of this crate's diagnostics.

use crate::host;
use crate::pragma::Pragmas;
use crate::variables::Variables;
use crate::{Diagnostic, Diagnostics, Error, Severity, Source};
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
    from_frontend_kernels(strew_frontend::compile_with(
        source.text(),
        source.reductions(),
        true,
    ))
}

/// The same kernels without assumptions about their parameters.
pub(crate) fn from_c_exact(source: &Source) -> Outcome {
    from_frontend_kernels(strew_frontend::compile_with(
        source.text(),
        source.reductions(),
        false,
    ))
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

/// All of `items` in one line.
pub(crate) fn joined<T: ToString>(items: &[T]) -> String {
    let shown: Vec<_> = items.iter().map(T::to_string).collect();
    shown.join("; ")
}
