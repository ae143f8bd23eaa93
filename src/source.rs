use crate::host::by_host;
use std::fmt;
use strew_affine::{Combiner, Span};
use strew_jit::Element;

/// The language that a source is written in, by the ending of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// The C subset: every name that ends in neither `.nest` nor `.mlir`.
    C,
    /// Kernel text: a name that ends in `.nest`.
    KernelText,
    /// MLIR as strew prints it: a name that ends in `.mlir`.
    Mlir,
}

impl Language {
    fn by_ending(name: &str) -> Self {
        if name.ends_with(".nest") {
            Self::KernelText
        } else if name.ends_with(".mlir") {
            Self::Mlir
        } else {
            Self::C
        }
    }
}

/// A named source text; spans are byte ranges in it.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    language: Language,
    text: String,
    /// The kernel that is wanted of it, where that is said.
    kernel: Option<String>,
    /// The functions of the host that it may combine by.
    reductions: Vec<Combiner>,
    /// The offset of the first byte of every line.
    lines: Vec<usize>,
}

/// A place in a source as people count: both from one, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl Source {
    /// The text of the file `name`, whose ending tells the language.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let name = name.into();
        let language = Language::by_ending(&name);
        Self::in_language(language, name, text)
    }

    /// The text of something called `name`, in a language that its name does not tell.
    pub fn in_language(
        language: Language,
        name: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        let text = text.into();
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0)
            .chain(breaks.map(|(at, _)| at + 1))
            .collect();
        Self {
            name: name.into(),
            language,
            text,
            kernel: None,
            reductions: Vec::new(),
            lines,
        }
    }

    /// The same source, which may combine by `function`: as
    /// [`Compiler::reduction`](crate::Compiler::reduction).
    #[must_use]
    pub fn reduction<T: Element>(
        mut self,
        name: impl Into<String>,
        identity: T,
        function: impl Fn(T, T) -> T + Send + Sync + 'static,
    ) -> Self {
        self.reductions
            .push(by_host(name.into(), identity, function));
        self
    }

    /// The same source, of which only the kernel `name` is wanted. Of a C source all is left aside
    /// that this does not need, so that there may be anything beside it: `main`, files that are
    /// read, results that are printed.
    #[must_use]
    pub fn for_kernel(mut self, name: impl Into<String>) -> Self {
        self.kernel = Some(name.into());
        self
    }

    pub(crate) fn kernel(&self) -> Option<&str> {
        self.kernel.as_deref()
    }

    pub(crate) fn with_reductions(mut self, reductions: &[Combiner]) -> Self {
        self.reductions.extend_from_slice(reductions);
        self
    }

    pub(crate) fn reductions(&self) -> &[Combiner] {
        &self.reductions
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it is written in.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The place of the byte at `offset`; an offset past the end counts as the end.
    pub fn position(&self, offset: usize) -> Position {
        let line = self.lines.partition_point(|start| *start <= offset).max(1);
        let start = self.lines.get(line - 1).copied().unwrap_or(0);
        let line_text = self.text.get(start..).unwrap_or_default();
        // Counting rather than slicing up to the offset, which may lie inside a character.
        let before = line_text.char_indices();
        let column = before.take_while(|(at, _)| start + at < offset).count() + 1;
        Position { line, column }
    }

    /// The place where `span` starts.
    pub fn start(&self, span: Span) -> Position {
        self.position(span.start as usize)
    }

    /// The place just behind `span`.
    pub fn end(&self, span: Span) -> Position {
        self.position(span.end as usize)
    }

    /// The number of bytes of the line in which `span` starts.
    pub(crate) fn line_length(&self, span: Span) -> usize {
        let line = self.start(span).line;
        let start = self.lines.get(line - 1).copied().unwrap_or(0);
        let end = self.lines.get(line).copied().unwrap_or(self.text.len());
        end.saturating_sub(start)
    }

    /// `span` as a byte range that can be cut out of the text: inside it and on character
    /// boundaries.
    pub(crate) fn range(&self, span: Span) -> std::ops::Range<usize> {
        let floor = |offset: u32| self.text.floor_char_boundary(offset as usize);
        let start = floor(span.start);
        start..floor(span.end).max(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_characters() {
        let source = Source::new("a.c", "ab\nåäö = 1;\n");
        assert_eq!(source.position(0).to_string(), "1:1");
        assert_eq!(source.position(2).to_string(), "1:3");
        assert_eq!(source.position(3).to_string(), "2:1");
        assert_eq!(source.position(9).to_string(), "2:4");
        assert_eq!(source.position(usize::MAX).line, 3);
    }

    #[test]
    fn an_empty_source_has_one_empty_line() {
        let source = Source::new("a.c", "");
        assert_eq!(source.position(0), Position { line: 1, column: 1 });
        assert_eq!(source.position(7).line, 1);
        assert_eq!(source.range(Span::new(3, 9)), 0..0);
    }

    #[test]
    fn the_ending_of_the_name_tells_the_language() {
        assert_eq!(Source::new("a.nest", "").language(), Language::KernelText);
        assert_eq!(Source::new("a.c", "").language(), Language::C);
        assert_eq!(Source::new("<stdin>", "").language(), Language::C);
    }
}
