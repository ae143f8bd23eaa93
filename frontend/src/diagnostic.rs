//! What there is to say about a source text, as data.

use crate::problem::Problem;
use std::collections::HashSet;
use strew_affine::Span;

/// One thing to say about a source text: an error, or a warning.
///
/// It is data: nothing here renders or prints, and spans are byte ranges of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// What is wrong; its `Display` is the message.
    pub problem: Problem,
    /// Where.
    pub span: Span,
    /// Other places that matter, each with what it is.
    pub labels: Vec<Label>,
}

/// Another place that a diagnostic speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is there.
    pub message: String,
}

/// Whether kernels can still be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// There are no kernels.
    Error,
    /// There are kernels, which may not do what was meant.
    Warning,
}

impl Diagnostic {
    /// Whether it is an error.
    pub fn severity(&self) -> Severity {
        self.problem.severity()
    }

    /// The stable code: `E` or `W` and three digits.
    pub fn code(&self) -> &'static str {
        self.problem.code()
    }

    /// What is wrong, in a sentence without a full stop.
    pub fn message(&self) -> String {
        self.problem.to_string()
    }

    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        self.problem.help()
    }
}

/// The diagnostics of one source text, in the order in which they were found and each only once.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    list: Vec<Diagnostic>,
    seen: HashSet<(Span, &'static str)>,
}

impl Diagnostics {
    /// More than anybody reads; it also bounds the work that hostile input can cause.
    pub(crate) const LIMIT: usize = 100;

    pub(crate) fn report(&mut self, problem: impl Into<Problem>, span: Span) {
        self.report_with(problem, span, Vec::new());
    }

    pub(crate) fn report_with(
        &mut self,
        problem: impl Into<Problem>,
        span: Span,
        labels: Vec<Label>,
    ) {
        let problem = problem.into();
        if self.list.len() < Self::LIMIT && self.seen.insert((span, problem.code())) {
            self.list.push(Diagnostic {
                problem,
                span,
                labels,
            });
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= Self::LIMIT
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.list.iter().any(|it| it.severity() == Severity::Error)
    }

    /// Sorted by position, so that the order in which the stages ran does not show.
    pub(crate) fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|it| it.span);
        self.list
    }
}
