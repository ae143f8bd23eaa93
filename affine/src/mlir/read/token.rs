//! Tokens of MLIR, and what walks over them.

use super::{Checked, ReadError};
use crate::Span;
use crate::verify::MAX_NESTING;
use logos::Logos;
use std::collections::HashMap;

#[derive(Logos, Clone, Copy, Debug, PartialEq)]
#[logos(skip r"[ \t\r\n]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
pub(super) enum Token<'t> {
    /// `%i`
    #[regex(r"%[A-Za-z0-9_$.-]+", |lexer| &lexer.slice()[1..])]
    Value(&'t str),
    /// `#map`, which stands for a map or set that is defined at the top.
    #[regex(r"#[A-Za-z0-9_$.]+", |lexer| &lexer.slice()[1..])]
    Alias(&'t str),
    /// `@name`
    #[regex(r"@[A-Za-z0-9_$.]+", |lexer| &lexer.slice()[1..])]
    Symbol(&'t str),
    #[regex(r"[A-Za-z_][A-Za-z0-9_.]*")]
    Word(&'t str),
    #[regex(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?|0x[0-9A-Fa-f]+")]
    Number(&'t str),
    #[regex("\"[^\"\n]*\"", |lexer| lexer.slice().trim_matches('"'))]
    Text(&'t str),
    #[regex(r"->|==|>=|<=|[(){}\[\]<>,:=+*?-]")]
    Mark(&'t str),
}

/// The keys of attributes, each with the text of its value.
pub(super) type Attributes<'t> = Vec<(&'t str, &'t str)>;

/// So many brackets are open at once at most: those of blocks, and of what stands in the innermost
/// one.
const MOST_OPEN: usize = 4 * MAX_NESTING;

/// The tokens of a text, one behind the other.
pub(super) struct Tokens<'t> {
    list: Vec<(Token<'t>, Span)>,
    at: usize,
    end: Span,
    /// Where the maps and sets stand that have names.
    aliases: HashMap<&'t str, usize>,
}

impl<'t> Tokens<'t> {
    pub(super) fn of(text: &'t str) -> Checked<Self> {
        let mut list = Vec::new();
        let mut open = 0_usize;
        for (token, range) in Token::lexer(text).spanned() {
            let span = Span::new(range.start, range.end);
            match token {
                Ok(Token::Mark("(" | "{" | "[")) if open == MOST_OPEN => {
                    return Err(ReadError::new(
                        span,
                        "this is nested deeper than strew reads",
                    ));
                }
                Ok(token) => {
                    match token {
                        Token::Mark("(" | "{" | "[") => open += 1,
                        Token::Mark(")" | "}" | "]") => open = open.saturating_sub(1),
                        _ => {}
                    }
                    list.push((token, span));
                }
                Err(()) => return Err(ReadError::new(span, "this is not part of MLIR")),
            }
        }
        let end = Span::new(text.len(), text.len());
        let aliases = HashMap::new();
        Ok(Self {
            list,
            at: 0,
            end,
            aliases,
        })
    }

    /// `#map = affine_map<…>`, as often as it stands there.
    pub(super) fn skip_aliases(&mut self) -> Checked<()> {
        while let Some(Token::Alias(name)) = self.peek() {
            self.at += 1;
            self.expect("=")?;
            self.aliases.insert(name, self.at);
            while self.peek().is_some()
                && !self.is("module")
                && !matches!(self.peek(), Some(Token::Alias(_)))
            {
                self.at += 1;
            }
        }
        Ok(())
    }

    /// Goes to what the alias that comes next stands for, if one does, and tells where it goes on
    /// behind the alias.
    pub(super) fn follow_alias(&mut self) -> Checked<Option<usize>> {
        let Some(Token::Alias(name)) = self.peek() else {
            return Ok(None);
        };
        let unknown = || ReadError::new(self.here(), format!("`#{name}` is not known"));
        let start = *self.aliases.get(name).ok_or_else(unknown)?;
        let behind = self.at + 1;
        self.at = start;
        Ok(Some(behind))
    }

    /// Where it stands, to come back to.
    pub(super) fn mark(&self) -> usize {
        self.at
    }

    pub(super) fn go_to(&mut self, mark: usize) {
        self.at = mark;
    }

    pub(super) fn peek(&self) -> Option<Token<'t>> {
        self.list.get(self.at).map(|it| it.0)
    }

    /// Where the next token stands.
    pub(super) fn here(&self) -> Span {
        self.list.get(self.at).map_or(self.end, |it| it.1)
    }

    pub(super) fn next(&mut self) -> Option<Token<'t>> {
        let token = self.peek();
        self.at += 1;
        token
    }

    pub(super) fn is(&self, mark: &str) -> bool {
        matches!(self.peek(), Some(Token::Mark(it) | Token::Word(it)) if it == mark)
    }

    /// Takes the mark or word, if it comes next.
    pub(super) fn take(&mut self, mark: &str) -> bool {
        let is_next = self.is(mark);
        self.at += usize::from(is_next);
        is_next
    }

    pub(super) fn expect(&mut self, mark: &str) -> Checked<()> {
        match self.take(mark) {
            true => Ok(()),
            false => Err(self.wanted(&format!("`{mark}`"))),
        }
    }

    pub(super) fn wanted(&self, what: &str) -> ReadError {
        ReadError::new(
            self.here(),
            format!("expected {what} here, as strew prints it"),
        )
    }

    pub(super) fn value(&mut self) -> Checked<(&'t str, Span)> {
        let span = self.here();
        match self.peek() {
            Some(Token::Value(name)) => {
                self.at += 1;
                Ok((name, span))
            }
            _ => Err(self.wanted("a value")),
        }
    }

    pub(super) fn word(&mut self) -> Checked<(&'t str, Span)> {
        let span = self.here();
        match self.peek() {
            Some(Token::Word(word)) => {
                self.at += 1;
                Ok((word, span))
            }
            _ => Err(self.wanted("a word")),
        }
    }

    pub(super) fn symbol(&mut self) -> Checked<&'t str> {
        match self.peek() {
            Some(Token::Symbol(name)) => {
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.wanted("a name with `@`")),
        }
    }

    pub(super) fn text(&mut self) -> Checked<&'t str> {
        match self.peek() {
            Some(Token::Text(text)) => {
                self.at += 1;
                Ok(text)
            }
            _ => Err(self.wanted("a text")),
        }
    }

    pub(super) fn integer(&mut self) -> Checked<i64> {
        if let Some(Token::Number(text)) = self.peek()
            && let Ok(number) = text.parse()
        {
            self.at += 1;
            return Ok(number);
        }
        Err(self.wanted("a whole number"))
    }

    /// `{key = value, key}`, if it comes next.
    pub(super) fn attributes(&mut self) -> Checked<Attributes<'t>> {
        let mut all = Vec::new();
        if !self.take("{") {
            return Ok(all);
        }
        while !self.take("}") {
            let (key, _) = self.word()?;
            let mut value = "";
            if self.take("=") {
                value = match self.next() {
                    Some(Token::Text(text) | Token::Number(text) | Token::Word(text)) => text,
                    _ => return Err(self.wanted("the value of an attribute")),
                };
                if self.take(":") {
                    self.word()?;
                }
            }
            all.push((key, value));
            self.take(",");
        }
        Ok(all)
    }

    /// `memref<?x?xf32, …>`: the dimensions, as far as they are numbers, and the name of the
    /// element type.
    pub(super) fn memref(&mut self) -> Checked<(Vec<Option<i64>>, &'t str)> {
        self.expect("memref")?;
        self.expect("<")?;
        let mut dimensions = Vec::new();
        let mut element = None;
        while element.is_none() {
            match self.peek() {
                Some(Token::Mark("?")) => dimensions.push(None),
                Some(Token::Number(number)) => dimensions.push(Some(self.dimension(number)?)),
                Some(Token::Word(mut word)) => {
                    // The dimensions behind the first one, as in `x3x4xf64`, are one word with the
                    // type.
                    word = word.strip_prefix('x').unwrap_or(word);
                    while let Some((number, rest)) = word.split_once('x')
                        && number.starts_with(|it: char| it.is_ascii_digit())
                    {
                        dimensions.push(Some(self.dimension(number)?));
                        word = rest;
                    }
                    match word.parse() {
                        // `3x?xf64`
                        Ok(number) => dimensions.push(Some(number)),
                        Err(_) => element = Some(word).filter(|it| !it.is_empty()),
                    }
                }
                _ => return Err(self.wanted("the type of a buffer")),
            }
            self.next();
        }
        let mut depth = 1;
        while depth > 0 {
            match self.next() {
                Some(Token::Mark("<")) => depth += 1,
                Some(Token::Mark(">")) => depth -= 1,
                Some(_) => {}
                None => return Err(self.wanted("`>`")),
            }
        }
        Ok((dimensions, element.unwrap_or_default()))
    }

    fn dimension(&self, number: &str) -> Checked<i64> {
        number.parse().map_err(|_| self.wanted("a dimension"))
    }

    /// Goes on behind the next `memref.dealloc` of `name`.
    pub(super) fn skip_to_end_of(&mut self, name: &str) -> Checked<()> {
        while self.peek().is_some() {
            if self.take("memref.dealloc") && self.value()?.0 == name {
                self.expect(":")?;
                self.memref()?;
                return Ok(());
            }
            self.at += 1;
        }
        Err(self.wanted(&format!("the end of `{name}`")))
    }
}
