//! What macros are defined as: their parameters, and their replacements with `#` and `##` in them.

use super::macros::{Lexeme, macro_name};
use crate::problem::DirectiveFault;
use crate::token::{self, Token};
use strew_affine::Span;

/// How many parameters a macro may have.
const MOST_PARAMETERS: usize = 127;

/// What a name stands for.
#[derive(Debug)]
pub(super) struct Macro<'a> {
    /// Absent for a macro without parentheses.
    pub(super) parameters: Option<Parameters<'a>>,
    pub(super) replacement: Vec<Lexeme<'a>>,
}

/// The parameters of a macro.
#[derive(Debug, Default)]
pub(super) struct Parameters<'a> {
    pub(super) names: Vec<&'a str>,
    /// Whether the last of them takes all further arguments, with the commas between them.
    pub(super) is_variadic: bool,
}

impl<'a> Macro<'a> {
    /// `body` stands behind the name in a `#define`.
    pub(super) fn new(body: &'a str) -> Result<Self, DirectiveFault> {
        let (parameters, body) = match body.strip_prefix('(') {
            Some(rest) => {
                let (list, body) = rest.split_once(')').ok_or(DirectiveFault::BadParameters)?;
                (Some(Parameters::new(list)?), body)
            }
            None => (None, body),
        };
        let replacement = replacement(body);
        check_operators(parameters.as_ref(), &replacement)?;
        Ok(Self {
            parameters,
            replacement,
        })
    }
}

impl<'a> Parameters<'a> {
    fn new(list: &'a str) -> Result<Self, DirectiveFault> {
        let mut parameters = Self::default();
        if list.trim().is_empty() {
            return Ok(parameters);
        }
        for parameter in list.split(',').map(str::trim) {
            let name = match parameter.strip_suffix("...").map(str::trim) {
                Some("") => "__VA_ARGS__",
                Some(name) => name,
                None => parameter,
            };
            let is_last = parameters.is_variadic;
            parameters.is_variadic = parameter.ends_with("...");
            match macro_name(name) {
                Ok((name, ""))
                    if !is_last
                        && !parameters.names.contains(&name)
                        && parameters.names.len() < MOST_PARAMETERS =>
                {
                    parameters.names.push(name);
                }
                _ => return Err(DirectiveFault::BadParameters),
            }
        }
        Ok(parameters)
    }

    /// The number of the parameter that `lexeme` names.
    pub(super) fn position(&self, lexeme: &Lexeme<'_>) -> Option<usize> {
        self.names.iter().position(|it| *it == lexeme.text)
    }

    /// Whether this is the number of the parameter that takes all further arguments.
    pub(super) fn is_rest(&self, position: usize) -> bool {
        self.is_variadic && position + 1 == self.names.len()
    }
}

/// The tokens of `body`. Outside of macros a `#` begins a directive, which the rest of the line
/// belongs to; here it is an operator.
fn replacement(body: &str) -> Vec<Lexeme<'_>> {
    let mut lexemes = Vec::new();
    let mut start = 0;
    'rest: while let Some(rest) = body.get(start..) {
        for (token, range) in token::lexemes(rest) {
            let text = rest.get(range.clone()).unwrap_or_default();
            let (token, text) = match token {
                Token::Directive(_) if text.starts_with("##") => (Token::Paste, "##"),
                Token::Directive(_) => (Token::Hash, "#"),
                other => (other, text),
            };
            lexemes.push(Lexeme::new(token, text, Span::default()));
            if matches!(token, Token::Hash | Token::Paste) {
                start += range.start + text.len();
                continue 'rest;
            }
        }
        break;
    }
    lexemes
}

/// `#` needs a parameter behind it, `##` something on both sides.
fn check_operators(
    parameters: Option<&Parameters<'_>>,
    replacement: &[Lexeme<'_>],
) -> Result<(), DirectiveFault> {
    let is_parameter =
        |it: &Lexeme<'_>| parameters.is_some_and(|parameters| parameters.position(it).is_some());
    let next = |index: usize| replacement.get(index + 1);
    let is_good = replacement
        .iter()
        .enumerate()
        .all(|(index, it)| match it.token {
            Token::Hash => next(index).is_some_and(is_parameter),
            Token::Paste => index > 0 && next(index).is_some_and(|it| it.token != Token::Paste),
            _ => true,
        });
    if is_good {
        Ok(())
    } else {
        Err(DirectiveFault::HashOperator)
    }
}
