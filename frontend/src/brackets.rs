//! Braces that nobody closed, or that close nothing: reported once where they are, and mended, so
//! that the functions behind them can be read.
//!
//! Which brace lacks its partner is told by the indentation, as people do. Nothing is looked at
//! where all braces match.

use crate::diagnostic::{Diagnostics, Label};
use crate::preprocess::Spanned;
use crate::problem::SyntaxProblem;
use crate::token::Token;
use strew_affine::Span;

/// How many tokens the head of a function may have in front of its parentheses.
const LONGEST_HEAD: usize = 12;

/// The same tokens with braces that match.
pub(crate) fn mend<'a>(
    source: &str,
    tokens: Vec<Spanned<'a>>,
    diagnostics: &mut Diagnostics,
) -> Vec<Spanned<'a>> {
    if is_balanced(&tokens) {
        return tokens;
    }
    let mut mender = Mender {
        lines: Lines::new(source),
        open: Vec::new(),
        suspect: None,
        output: Vec::with_capacity(tokens.len()),
        diagnostics,
    };
    for index in 0..tokens.len() {
        mender.token(tokens.get(index..).unwrap_or_default());
    }
    mender.close_all(None);
    mender.output
}

fn is_balanced(tokens: &[Spanned<'_>]) -> bool {
    let mut depth = 0_usize;
    for (token, _) in tokens {
        match token {
            Token::LeftBrace => depth += 1,
            Token::RightBrace if depth == 0 => return false,
            Token::RightBrace => depth -= 1,
            _ => {}
        }
    }
    depth == 0
}

struct Mender<'a, 'd> {
    lines: Lines,
    open: Vec<Span>,
    /// The first brace whose partner stands below another one.
    suspect: Option<Span>,
    output: Vec<Spanned<'a>>,
    diagnostics: &'d mut Diagnostics,
}

impl<'a> Mender<'a, '_> {
    /// The first of `tokens`.
    fn token(&mut self, tokens: &[Spanned<'a>]) {
        let Some((token, span)) = tokens.first().copied() else {
            return;
        };
        match token {
            Token::LeftBrace => self.open.push(span),
            Token::RightBrace => match self.open.pop() {
                Some(open) if self.is_below_another(open, span) => {
                    self.suspect = self.suspect.or(Some(open));
                }
                Some(_) => {}
                None => return self.diagnostics.report(SyntaxProblem::UnopenedBrace, span),
            },
            _ if !self.open.is_empty() && self.lines.is_at_margin(span) && is_head(tokens) => {
                self.close_all(Some(span));
            }
            _ => {}
        }
        self.output.push((token, span));
        if self.open.is_empty() {
            self.suspect = None;
        }
    }

    fn is_below_another(&self, open: Span, close: Span) -> bool {
        let (open, close) = (self.lines.of(open), self.lines.of(close));
        open.start != close.start && open.indentation != close.indentation
    }

    /// Closes what is open, in front of the function at `next` or at the end of the file.
    fn close_all(&mut self, next: Option<Span>) {
        let Some(innermost) = self.open.last().copied() else {
            return;
        };
        let last = self.output.last().map_or(innermost, |(_, span)| *span);
        let end = Span::new(last.range().end, last.range().end);
        let labels = next.map(|span| Label {
            span,
            message: "the next function begins here".to_owned(),
        });
        let unclosed = self.suspect.take().unwrap_or(innermost);
        let labels = labels.into_iter().collect();
        self.diagnostics
            .report_with(SyntaxProblem::UnclosedBrace, unclosed, labels);
        let braces = self.open.drain(..).map(|_| (Token::RightBrace, end));
        self.output.extend(braces);
    }
}

/// Whether a function begins here: a type, a name and a parenthesis.
fn is_head(tokens: &[Spanned<'_>]) -> bool {
    let mut before = None;
    for (index, (token, _)) in tokens.iter().take(LONGEST_HEAD).enumerate() {
        match token {
            Token::LeftParenthesis => {
                return index > 1 && matches!(before, Some(Token::Identifier(_)));
            }
            Token::Type(_) | Token::Identifier(_) | Token::Struct | Token::Enum | Token::Star => {}
            Token::Const | Token::Static | Token::Inline | Token::Extern => {}
            _ => return false,
        }
        before = Some(*token);
    }
    false
}

/// Where the lines of a text begin.
struct Lines(Vec<Line>);

#[derive(Clone, Copy)]
struct Line {
    start: usize,
    indentation: usize,
}

impl Lines {
    fn new(source: &str) -> Self {
        let mut start = 0;
        let lines = source.split_inclusive('\n').map(|text| {
            let line = Line {
                start,
                indentation: text.len() - text.trim_start_matches([' ', '\t']).len(),
            };
            start += text.len();
            line
        });
        Self(lines.collect())
    }

    /// The line that `span` begins in.
    fn of(&self, span: Span) -> Line {
        let position = span.range().start;
        let behind = self.0.partition_point(|line| line.start <= position);
        let line = behind.checked_sub(1).and_then(|index| self.0.get(index));
        line.copied().unwrap_or(Line {
            start: 0,
            indentation: 0,
        })
    }

    fn is_at_margin(&self, span: Span) -> bool {
        self.of(span).start == span.range().start
    }
}
