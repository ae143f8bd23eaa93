use crate::Source;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::fmt;
use std::sync::Arc;
use strew_affine::Span;

/// How grave a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// No kernel comes of it.
    Error,
    /// The kernel means something that its writer may not have meant.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// Something to say about a place in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How grave it is.
    pub severity: Severity,
    /// A short stable code for tools; empty where there is none.
    pub code: String,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where; `None` when it concerns no place in particular.
    pub span: Option<Span>,
    /// What the place itself is marked with.
    pub label: Option<String>,
    /// Other places that matter, with what each has to do with it.
    pub related: Vec<(Span, String)>,
    /// Further facts.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error about the place `span`.
    pub fn error(message: impl Into<String>, span: Span) -> Self {
        Self {
            severity: Severity::Error,
            code: String::new(),
            message: message.into(),
            span: Some(span),
            label: None,
            related: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }
}

/// Whether text is for a terminal that shows colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Bare text.
    #[default]
    Plain,
    /// With ANSI colours.
    Colour,
}

/// Diagnostics with the source that they speak of. `Display` shows each with its source line and a
/// caret.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    source: Arc<Source>,
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// `list`, whose spans lie in `source`.
    pub fn new(source: Arc<Source>, list: Vec<Diagnostic>) -> Self {
        Self { source, list }
    }

    /// The source that the spans lie in.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// In the order in which they were found.
    pub fn list(&self) -> &[Diagnostic] {
        &self.list
    }

    /// Whether any of them is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|it| it.severity == Severity::Error)
    }

    /// All of them as text, each with its source line.
    pub fn render(&self, style: Style) -> String {
        let shown: Vec<_> = self
            .list
            .iter()
            .map(|it| render(&self.source, it, style))
            .collect();
        shown.join("\n\n")
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Style::Plain))
    }
}

/// A source line longer than this is not quoted: it was written by a machine, and nobody would find
/// the caret in it.
const LONGEST_QUOTED_LINE: usize = 1000;

fn render(source: &Source, diagnostic: &Diagnostic, style: Style) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut title = level.primary_title(&diagnostic.message);
    if !diagnostic.code.is_empty() {
        title = title.id(&diagnostic.code);
    }
    let mut group = place(source, diagnostic, Group::with_title(title));
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(note));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help));
    }
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Colour => Renderer::styled(),
    };
    renderer.render(&[group])
}

fn place<'a>(source: &'a Source, diagnostic: &'a Diagnostic, group: Group<'a>) -> Group<'a> {
    let Some(span) = diagnostic.span else {
        return group;
    };
    if source.line_length(span) > LONGEST_QUOTED_LINE {
        let position = source.start(span);
        let origin = annotate_snippets::Origin::path(source.name())
            .line(position.line)
            .char_column(position.column);
        return group.element(origin);
    }
    let related = diagnostic.related.iter().map(|(span, label)| {
        let kind = AnnotationKind::Context.span(source.range(*span));
        kind.label(label.as_str())
    });
    let primary = AnnotationKind::Primary
        .span(source.range(span))
        .label(diagnostic.label.as_deref());
    group.element(
        Snippet::source(source.text())
            .path(source.name())
            .annotation(primary)
            .annotations(related),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, diagnostic: Diagnostic) -> String {
        let source = Arc::new(Source::new("a.c", text));
        Diagnostics::new(source, vec![diagnostic]).to_string()
    }

    #[test]
    fn a_diagnostic_shows_its_line_with_a_caret() {
        let mut diagnostic = Diagnostic::error("no such name `y`", Span::new(4, 5));
        diagnostic.code = "E001".to_owned();
        diagnostic.help = Some("did you mean `x`?".to_owned());
        let expected = "\
error[E001]: no such name `y`
 --> a.c:1:5
  |
1 | x = y;
  |     ^
  |
  = help: did you mean `x`?";
        assert_eq!(shown("x = y;\n", diagnostic), expected);
    }

    #[test]
    fn a_place_past_the_end_and_an_empty_source_are_shown_too() {
        let text = shown("", Diagnostic::error("no function", Span::new(0, 0)));
        assert!(
            text.starts_with("error: no function\n --> a.c:1:1"),
            "{text}"
        );
        let text = shown("ä", Diagnostic::error("odd", Span::new(1, 900)));
        assert!(text.contains("a.c:1:1"), "{text}");
    }

    #[test]
    fn a_line_too_long_to_read_is_named_and_not_quoted() {
        let text = "(".repeat(1 << 20);
        let text = shown(&text, Diagnostic::error("too deep", Span::new(200, 201)));
        assert_eq!(text, "error: too deep\n--> a.c:1:201");
    }
}
