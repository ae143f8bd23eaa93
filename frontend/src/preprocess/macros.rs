//! Macros: what they are and how they are replaced.
//!
//! A replacement is scanned again together with what follows it, as C wants. The replacements that
//! are being scanned form a stack; a macro is never replaced while its own replacement is on it,
//! and a name that was passed over for that reason is *painted*: nothing later replaces it either.
//! Arguments are replaced by themselves before they are put in.

use super::definition::{Macro, Parameters};
use super::header;
use crate::problem::{DirectiveFault, PreprocessingProblem, Problem};
use crate::splice::Spliced;
use crate::token::Token;
use std::collections::HashMap;
use std::rc::Rc;
use strew_affine::Span;

/// How many tokens all macro uses of a file of `length` bytes may expand to together: a short file
/// cannot become a long one by macros that double each other, a long one may use many macros.
pub(super) fn expansion_limit(length: usize) -> usize {
    length.saturating_mul(8).saturating_add(200_000)
}

/// How many macros may be replaced inside each other.
pub(super) const EXPANSION_DEPTH: usize = 128;

/// A token with its text, by which it may be a macro.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexeme<'a> {
    pub(super) token: Token<'a>,
    pub(super) text: &'a str,
    pub(super) span: Span,
    pub(super) is_painted: bool,
}

impl<'a> Lexeme<'a> {
    pub(super) fn new(token: Token<'a>, text: &'a str, span: Span) -> Self {
        Self {
            token,
            text,
            span,
            is_painted: false,
        }
    }

    fn is_word(&self) -> bool {
        let first = self.text.chars().next();
        first.is_some_and(|it| it.is_ascii_alphabetic() || it == '_')
    }
}

/// The macros that are defined.
#[derive(Debug, Default)]
pub(super) struct Macros<'a> {
    /// `None` for one of the standard headers that was undefined.
    defined: HashMap<&'a str, Option<Rc<Macro<'a>>>>,
}

impl<'a> Macros<'a> {
    /// `rest` is what stands behind `#define`.
    pub(super) fn define(&mut self, rest: &'a str) -> Result<(), DirectiveFault> {
        let (name, body) = macro_name(rest)?;
        if name == "defined" {
            return Err(DirectiveFault::MissingName);
        }
        let definition = Macro::new(body)?;
        self.defined.insert(name, Some(Rc::new(definition)));
        Ok(())
    }

    /// `rest` is what stands behind `#undef`.
    pub(super) fn undefine(&mut self, rest: &'a str) -> Result<(), DirectiveFault> {
        let (name, _) = macro_name(rest)?;
        self.defined.insert(name, None);
        Ok(())
    }

    pub(super) fn is_defined(&self, name: &str) -> bool {
        match self.defined.get(name) {
            Some(definition) => definition.is_some(),
            None => self.of_header(name).is_some(),
        }
    }

    fn of_header(&self, name: &str) -> Option<&'static str> {
        // Without `NDEBUG` it is left to the lowering, which says that it is left out.
        if name == "assert" && self.is_defined("NDEBUG") {
            return Some("(condition) ((void)0)");
        }
        header::definition(name)
    }

    fn get(&mut self, name: &'a str) -> Option<Rc<Macro<'a>>> {
        if let Some(definition) = self.defined.get(name) {
            return definition.clone();
        }
        let definition = Rc::new(Macro::new(self.of_header(name)?).ok()?);
        self.defined.insert(name, Some(Rc::clone(&definition)));
        Some(definition)
    }
}

/// The name at the beginning, and what follows it.
pub(super) fn macro_name(rest: &str) -> Result<(&str, &str), DirectiveFault> {
    let rest = rest.trim_start();
    let end = rest.find(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    let (name, body) = rest.split_at(end.unwrap_or(rest.len()));
    if name.is_empty() || name.starts_with(|it: char| it.is_ascii_digit()) {
        return Err(DirectiveFault::MissingName);
    }
    Ok((name, body))
}

/// Where tokens come from when all replacements are used up.
pub(super) trait Source<'a> {
    fn next(&mut self) -> Option<Lexeme<'a>>;
    fn is_parenthesis_next(&mut self) -> bool;
}

/// No further tokens.
pub(super) struct Nothing;

impl<'a> Source<'a> for Nothing {
    fn next(&mut self) -> Option<Lexeme<'a>> {
        None
    }

    fn is_parenthesis_next(&mut self) -> bool {
        false
    }
}

/// Tokens that are scanned.
struct Scanned<'a> {
    /// The macro that they replace; absent for an argument.
    name: Option<&'a str>,
    tokens: Vec<Lexeme<'a>>,
    position: usize,
}

/// Replaces macros.
pub(super) struct Expander<'a> {
    pub(super) macros: Macros<'a>,
    /// Knows the lines, and keeps the words that `##` makes.
    pub(super) file: &'a Spliced<'a>,
    stack: Vec<Scanned<'a>>,
    expanded: usize,
    limit: usize,
}

/// What stops the replacement of macros.
pub(super) type Stopped = (Problem, Span);

impl<'a> Expander<'a> {
    /// Macros may expand to `limit` tokens.
    pub(super) fn new(limit: usize, file: &'a Spliced<'a>) -> Self {
        Self {
            macros: Macros::default(),
            file,
            stack: Vec::new(),
            expanded: 0,
            limit,
        }
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.expanded > self.limit
    }

    /// Replaces the macros of `first` and of everything that this leads to; tokens behind it are
    /// taken from `source` as far as a macro needs arguments from there.
    pub(super) fn expand(
        &mut self,
        first: Lexeme<'a>,
        source: &mut dyn Source<'a>,
        output: &mut Vec<Lexeme<'a>>,
    ) -> Result<(), Stopped> {
        let result = self.scan(vec![first], source, output);
        // After an error something may be left.
        self.stack.clear();
        result
    }

    /// Replaces the macros of a line of tokens.
    pub(super) fn expand_line(
        &mut self,
        line: Vec<Lexeme<'a>>,
    ) -> Result<Vec<Lexeme<'a>>, Stopped> {
        let result = self.expand_list(line);
        self.stack.clear();
        result
    }

    pub(super) fn expand_list(
        &mut self,
        list: Vec<Lexeme<'a>>,
    ) -> Result<Vec<Lexeme<'a>>, Stopped> {
        let mut output = Vec::new();
        self.scan(list, &mut Nothing, &mut output)?;
        Ok(output)
    }

    fn scan(
        &mut self,
        tokens: Vec<Lexeme<'a>>,
        source: &mut dyn Source<'a>,
        output: &mut Vec<Lexeme<'a>>,
    ) -> Result<(), Stopped> {
        let floor = self.stack.len();
        self.push(None, tokens, Span::default())?;
        while let Some(lexeme) = self.next(floor) {
            self.step(lexeme, floor, source, output)?;
        }
        Ok(())
    }

    fn push(
        &mut self,
        name: Option<&'a str>,
        tokens: Vec<Lexeme<'a>>,
        span: Span,
    ) -> Result<(), Stopped> {
        if self.stack.len() >= EXPANSION_DEPTH {
            let limit = EXPANSION_DEPTH;
            return Err((
                PreprocessingProblem::ExpansionTooDeep { limit }.into(),
                span,
            ));
        }
        self.stack.push(Scanned {
            name,
            tokens,
            position: 0,
        });
        Ok(())
    }

    pub(super) fn count(&mut self, tokens: usize, span: Span) -> Result<(), Stopped> {
        self.expanded = self.expanded.saturating_add(tokens);
        if self.is_exhausted() {
            let limit = self.limit;
            return Err((
                PreprocessingProblem::ExpansionTooLong { limit }.into(),
                span,
            ));
        }
        Ok(())
    }

    fn next(&mut self, floor: usize) -> Option<Lexeme<'a>> {
        while self.stack.len() > floor {
            let scanned = self.stack.last_mut()?;
            if let Some(lexeme) = scanned.tokens.get(scanned.position) {
                scanned.position += 1;
                return Some(*lexeme);
            }
            self.stack.pop();
        }
        None
    }

    fn is_parenthesis_next(&self, floor: usize, source: &mut dyn Source<'a>) -> bool {
        let scanned = self.stack.get(floor..).unwrap_or_default().iter().rev();
        let mut next = scanned.filter_map(|it| it.tokens.get(it.position));
        match next.next() {
            Some(lexeme) => lexeme.token == Token::LeftParenthesis,
            None => source.is_parenthesis_next(),
        }
    }

    fn step(
        &mut self,
        lexeme: Lexeme<'a>,
        floor: usize,
        source: &mut dyn Source<'a>,
        output: &mut Vec<Lexeme<'a>>,
    ) -> Result<(), Stopped> {
        let name = lexeme.text;
        if name == "__LINE__" {
            let line = self.file.line(lexeme.span).to_string();
            let text = self.file.words().alloc_str(&line);
            output.push(Lexeme::new(Token::Number(text), text, lexeme.span));
            return Ok(());
        }
        let definition = if lexeme.is_painted || !lexeme.is_word() {
            None
        } else {
            self.macros.get(name)
        };
        let Some(definition) = definition else {
            output.push(lexeme);
            return Ok(());
        };
        if self.stack.iter().any(|it| it.name == Some(name)) {
            output.push(Lexeme {
                is_painted: true,
                ..lexeme
            });
            return Ok(());
        }
        let Some(parameters) = &definition.parameters else {
            let span = lexeme.span;
            let replaced = self.substitute(&definition, Vec::new(), span)?;
            return self.push(Some(name), replaced, span);
        };
        if !self.is_parenthesis_next(floor, source) {
            output.push(lexeme);
            return Ok(());
        }
        let (mut arguments, end) = self.arguments(lexeme, floor, source, parameters)?;
        let span = lexeme.span.to(end);
        let (expected, found) = (parameters.names.len(), arguments.len());
        let is_empty = expected == 0 && arguments.iter().all(Vec::is_empty) && found == 1;
        if parameters.is_variadic && found + 1 == expected {
            arguments.push(Vec::new());
        } else if found != expected && !is_empty {
            let problem = PreprocessingProblem::MacroArguments {
                name: name.to_owned(),
                expected,
                found,
            };
            return Err((problem.into(), span));
        }
        let replaced = self.substitute(&definition, arguments, span)?;
        self.push(Some(name), replaced, span)
    }

    /// The arguments behind the name of a macro with these parameters, and where the closing
    /// parenthesis is.
    fn arguments(
        &mut self,
        name: Lexeme<'a>,
        floor: usize,
        source: &mut dyn Source<'a>,
        parameters: &Parameters<'a>,
    ) -> Result<(Vec<Vec<Lexeme<'a>>>, Span), Stopped> {
        let mut arguments = vec![Vec::new()];
        let mut depth = 0_usize;
        loop {
            let scanned = self.next(floor);
            self.count(usize::from(scanned.is_some()), name.span)?;
            let Some(lexeme) = scanned.or_else(|| source.next()) else {
                let name_text = name.text.to_owned();
                return Err((
                    PreprocessingProblem::MacroCallOpen { name: name_text }.into(),
                    name.span,
                ));
            };
            match lexeme.token {
                Token::LeftParenthesis => depth += 1,
                Token::RightParenthesis => depth = depth.saturating_sub(1),
                _ => {}
            }
            match lexeme.token {
                Token::RightParenthesis if depth == 0 => return Ok((arguments, lexeme.span)),
                Token::LeftParenthesis if depth == 1 => {}
                Token::Comma
                    if depth == 1 && !parameters.is_rest(arguments.len().saturating_sub(1)) =>
                {
                    arguments.push(Vec::new());
                }
                _ => {
                    if let Some(last) = arguments.last_mut() {
                        last.push(lexeme);
                    }
                }
            }
        }
    }
}
