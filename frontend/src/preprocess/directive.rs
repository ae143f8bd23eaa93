//! Lines that begin with `#`.

use super::macros::{self, Lexeme};
use super::{BYTE_ORDER_MARK, Preprocessor, condition, header};
use crate::problem::{DirectiveFault, PreprocessingProblem};
use crate::token::{self, Token};
use std::ops::Range;
use strew_affine::Span;

/// An `#if` that is open.
#[derive(Debug)]
pub(super) struct Conditional {
    pub(super) span: Span,
    /// Whether the lines here count.
    is_active: bool,
    /// Whether one of its groups was or is active.
    is_settled: bool,
    /// Whether its `#else` was there.
    has_else: bool,
}

type Outcome = Result<(), DirectiveFault>;

impl<'a> Preprocessor<'a, '_, '_> {
    pub(super) fn is_active(&self) -> bool {
        self.conditionals.last().is_none_or(|it| it.is_active)
    }

    /// Carries a directive out; where lines do not count, only those that may change that.
    pub(super) fn directive(&mut self, text: &'a str, range: Range<usize>) {
        let span = self.source.span(range.clone());
        let body = text.strip_prefix('#').unwrap_or(text);
        let body = body.trim_start_matches([' ', '\t']);
        let end = body.find(|it: char| !it.is_alphanumeric() && it != '_');
        let (name, rest) = body.split_at(end.unwrap_or(body.len()));
        let outcome = if self.is_first_on_line(range.start) {
            self.carry_out(name, rest, span, range.end)
        } else {
            Err(DirectiveFault::NotFirstOnLine)
        };
        if let Err(why) = outcome {
            self.fault(name, why, span);
        }
    }

    fn carry_out(&mut self, name: &str, rest: &'a str, span: Span, end: usize) -> Outcome {
        match name {
            "if" => self.open(span, |it| it.condition(rest, span)),
            "ifdef" => self.open(span, |it| it.is_defined(rest)),
            "ifndef" => self.open(span, |it| it.is_defined(rest).map(|defined| !defined)),
            "elif" => self.otherwise_if(rest, span),
            "else" => self.otherwise(),
            "endif" => match self.conditionals.pop() {
                Some(_) => Ok(()),
                None => Err(DirectiveFault::WithoutIf),
            },
            _ if !self.is_active() => Ok(()),
            "" | "line" | "ident" => Ok(()),
            // `# 12 "file.c"`, as preprocessors leave it.
            _ if name.bytes().all(|it| it.is_ascii_digit()) => Ok(()),
            "define" => self.expander.macros.define(rest),
            "undef" => self.expander.macros.undefine(rest),
            "include" => {
                self.include(rest, span);
                Ok(())
            }
            "error" => {
                let text = rest.trim().to_owned();
                self.report(PreprocessingProblem::ErrorDirective { text }, span);
                Ok(())
            }
            "warning" => {
                let text = rest.trim().to_owned();
                self.report(PreprocessingProblem::WarningDirective { text }, span);
                Ok(())
            }
            "pragma" => {
                self.pragma(rest, end);
                Ok(())
            }
            _ => Err(DirectiveFault::Unsupported),
        }
    }

    fn is_first_on_line(&self, start: usize) -> bool {
        let before = self.source.text().get(..start).unwrap_or_default();
        let before = before.strip_prefix(BYTE_ORDER_MARK).unwrap_or(before);
        let before = before.trim_end_matches([' ', '\t']);
        before.is_empty() || before.ends_with('\n') || before.ends_with("*/")
    }

    /// An `#if` whose condition is wrong is open all the same, and not active.
    fn open(
        &mut self,
        span: Span,
        holds: impl FnOnce(&mut Self) -> Result<bool, DirectiveFault>,
    ) -> Outcome {
        let counts = self.is_active();
        let result = if counts { holds(self) } else { Ok(false) };
        let is_active = result.unwrap_or(false);
        self.conditionals.push(Conditional {
            span,
            is_active,
            is_settled: is_active || !counts,
            has_else: false,
        });
        result.map(|_| ())
    }

    fn otherwise_if(&mut self, rest: &'a str, span: Span) -> Outcome {
        let conditional = self.conditionals.last_mut();
        let conditional = conditional.ok_or(DirectiveFault::WithoutIf)?;
        if conditional.has_else {
            return Err(DirectiveFault::AfterElse);
        }
        conditional.is_active = false;
        if conditional.is_settled {
            return Ok(());
        }
        let holds = self.condition(rest, span)?;
        if let Some(conditional) = self.conditionals.last_mut() {
            conditional.is_active = holds;
            conditional.is_settled = holds;
        }
        Ok(())
    }

    fn otherwise(&mut self) -> Outcome {
        let conditional = self.conditionals.last_mut();
        let conditional = conditional.ok_or(DirectiveFault::WithoutIf)?;
        if conditional.has_else {
            return Err(DirectiveFault::AfterElse);
        }
        conditional.has_else = true;
        conditional.is_active = !conditional.is_settled;
        conditional.is_settled = true;
        Ok(())
    }

    fn is_defined(&self, rest: &str) -> Result<bool, DirectiveFault> {
        let (name, _) = macros::macro_name(rest)?;
        Ok(self.expander.macros.is_defined(name))
    }

    fn condition(&mut self, rest: &'a str, span: Span) -> Result<bool, DirectiveFault> {
        let mut line = Vec::new();
        let mut tokens = token::lexemes(rest);
        while let Some((token, range)) = tokens.next() {
            let text = rest.get(range).unwrap_or_default();
            let lexeme = if text == "defined" {
                let truth = self.defined_operator(rest, &mut tokens)?;
                Lexeme::new(Token::Number(truth), truth, span)
            } else {
                Lexeme::new(token, text, span)
            };
            line.push(lexeme);
        }
        match self.replaced(line) {
            Some(line) => condition::holds(&line),
            None => Ok(false),
        }
    }

    /// `defined NAME` or `defined(NAME)`
    fn defined_operator(
        &self,
        rest: &'a str,
        tokens: &mut impl Iterator<Item = (Token<'a>, Range<usize>)>,
    ) -> Result<&'static str, DirectiveFault> {
        let bad = DirectiveFault::BadCondition;
        let (first, mut range) = tokens.next().ok_or(bad)?;
        if first == Token::LeftParenthesis {
            range = tokens.next().ok_or(bad)?.1;
            match tokens.next() {
                Some((Token::RightParenthesis, _)) => {}
                _ => return Err(bad),
            }
        }
        let name = rest.get(range).unwrap_or_default();
        Ok(if self.is_defined(name)? { "1" } else { "0" })
    }

    fn include(&mut self, rest: &str, span: Span) {
        let text = without_comments(rest.trim());
        let name = text.strip_prefix('<').and_then(|it| it.strip_suffix('>'));
        let quoted = text.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        let name = name.or(quoted).unwrap_or(text);
        if name == "iso646.h" {
            for operator in header::OPERATORS {
                // Each of them is a name and an operator.
                let _ = self.expander.macros.define(operator);
            }
        }
        if !header::is_standard(name) {
            let nearest = header::nearest(name).map(str::to_owned);
            let name = name.to_owned();
            self.report(PreprocessingProblem::UnreadHeader { name, nearest }, span);
        }
    }

    /// Keeps `#pragma strew TEXT` as a token whose span is that of the text; others mean nothing
    /// here.
    fn pragma(&mut self, rest: &'a str, end: usize) {
        let Some(text) = rest.trim_start().strip_prefix("strew") else {
            return;
        };
        if text.starts_with(|it: char| it.is_alphanumeric() || it == '_') {
            return;
        }
        let start = end.saturating_sub(text.trim_start().len());
        let text = without_comments(text.trim_start());
        if let Some(declared) = declaration(text) {
            let start = start + (text.len() - declared.len());
            return self.declaration(declared, start);
        }
        let span = self.source.span(start..start + text.len());
        self.output.push((Token::Pragma(text), span));
    }

    /// The tokens of `reduction(…) identity(…)`, which begins at `start`, between a mark and a
    /// semicolon.
    fn declaration(&mut self, text: &'a str, start: usize) {
        let lexemes = token::lexemes(text).map(|(token, range)| {
            let word = text.get(range.clone()).unwrap_or_default();
            let span = start + range.start..start + range.end;
            Lexeme::new(token, word, self.source.span(span))
        });
        let mut line: Vec<_> = lexemes.collect();
        let end = self.source.span(start + text.len()..start + text.len());
        let Some(first) = line.first_mut().filter(|it| it.text == "reduction") else {
            let span = self.source.span(start..start + text.len());
            return self.fault("pragma strew declare", DirectiveFault::NotAReduction, span);
        };
        first.token = Token::DeclareReduction;
        let mut depth = 0_usize;
        for lexeme in &mut line {
            match lexeme.token {
                Token::LeftParenthesis => depth += 1,
                Token::RightParenthesis => depth = depth.saturating_sub(1),
                Token::Identifier("identity") if depth == 0 => lexeme.token = Token::Identity,
                _ => {}
            }
        }
        let semicolon = Lexeme::new(Token::Semicolon, ";", end);
        for lexeme in self.replaced(line).into_iter().flatten().chain([semicolon]) {
            self.emit(lexeme);
        }
    }
}

/// What stands behind the word `declare`.
fn declaration(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("declare")?;
    let is_word = !rest.starts_with(|it: char| it.is_alphanumeric() || it == '_');
    is_word.then(|| rest.trim_start())
}

/// C removes comments before it looks at directives.
fn without_comments(text: &str) -> &str {
    let end = [text.find("//"), text.find("/*")];
    let end = end.into_iter().flatten().min().unwrap_or(text.len());
    text.get(..end).unwrap_or(text).trim_end()
}
