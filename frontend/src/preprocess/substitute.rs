//! Puts arguments in the place of parameters, and carries out `#` and `##`.
//!
//! An argument beside one of these operators goes in as it was written; elsewhere its macros are
//! replaced first.

use super::definition::{Macro, Parameters};
use super::macros::{Expander, Lexeme, Stopped};
use crate::problem::PreprocessingProblem;
use crate::token::{self, Token};
use strew_affine::Span;

/// An argument, as it was written and with its macros replaced.
struct Argument<'a> {
    written: Vec<Lexeme<'a>>,
    replaced: Vec<Lexeme<'a>>,
}

/// What a macro is replaced by, as far as it was put together.
struct Replaced<'a> {
    tokens: Vec<Lexeme<'a>>,
    /// Whether the last part of it is an argument with nothing in it.
    ends_empty: bool,
    span: Span,
}

impl<'a> Expander<'a> {
    /// The replacement of a macro that is used at `span` with `arguments`.
    pub(super) fn substitute(
        &mut self,
        definition: &Macro<'a>,
        arguments: Vec<Vec<Lexeme<'a>>>,
        span: Span,
    ) -> Result<Vec<Lexeme<'a>>, Stopped> {
        let none = Parameters::default();
        let parameters = definition.parameters.as_ref().unwrap_or(&none);
        let arguments = self.replaced_arguments(definition, parameters, arguments)?;
        let mut result = Replaced {
            tokens: Vec::new(),
            ends_empty: false,
            span,
        };
        let list = &definition.replacement;
        let token = |index: Option<usize>| index.and_then(|it| list.get(it)).map(|it| it.token);
        for (index, lexeme) in list.iter().enumerate() {
            let before = token(index.checked_sub(1));
            let is_right = before == Some(Token::Paste);
            let is_left = token(Some(index + 1)) == Some(Token::Paste);
            let position = parameters.position(lexeme);
            let argument = position.and_then(|it| arguments.get(it));
            let text;
            let part = match (lexeme.token, argument) {
                (Token::Hash | Token::Paste, _) => continue,
                (_, Some(argument)) if before == Some(Token::Hash) => {
                    text = [self.text_of(&argument.written, span)?];
                    &text[..]
                }
                (_, Some(argument)) if is_left || is_right => &argument.written,
                (_, Some(argument)) => &argument.replaced,
                (_, None) => std::slice::from_ref(lexeme),
            };
            self.count(part.len(), span)?;
            let is_rest = position.is_some_and(|it| parameters.is_rest(it));
            let glued = index.checked_sub(2).and_then(|it| token(Some(it)));
            if is_right && is_rest && glued == Some(Token::Comma) {
                result.behind_comma(part);
            } else if is_right {
                self.paste(&mut result, part)?;
            } else {
                result.append(part);
            }
        }
        Ok(result.tokens)
    }

    /// `#argument`; blanks between tokens are not what they were, and no kernel ever sees a text.
    fn text_of(&mut self, argument: &[Lexeme<'a>], span: Span) -> Result<Lexeme<'a>, Stopped> {
        let words: Vec<&str> = argument.iter().map(|it| it.text).collect();
        let text = format!("\"{}\"", words.join(" "));
        self.count(text.len(), span)?;
        let text = self.file.words().alloc_str(&text);
        Ok(Lexeme::new(Token::Text(text), text, span))
    }

    fn replaced_arguments(
        &mut self,
        definition: &Macro<'a>,
        parameters: &Parameters<'a>,
        arguments: Vec<Vec<Lexeme<'a>>>,
    ) -> Result<Vec<Argument<'a>>, Stopped> {
        let mut complete = Vec::with_capacity(arguments.len());
        for (name, written) in parameters.names.iter().zip(arguments) {
            let is_used = definition.replacement.iter().any(|it| it.text == *name);
            let replaced = if is_used {
                self.expand_list(written.clone())?
            } else {
                Vec::new()
            };
            complete.push(Argument { written, replaced });
        }
        Ok(complete)
    }

    /// `result ## part`: the last token of the one and the first of the other become one.
    fn paste(&mut self, result: &mut Replaced<'a>, part: &[Lexeme<'a>]) -> Result<(), Stopped> {
        let span = result.span;
        let Some((first, rest)) = part.split_first() else {
            return Ok(());
        };
        let left = result.tokens.pop().filter(|_| !result.ends_empty);
        let Some(left) = left else {
            result.append(part);
            return Ok(());
        };
        self.count(left.text.len() + first.text.len(), span)?;
        let text = self
            .file
            .words()
            .alloc_str(&format!("{}{}", left.text, first.text));
        let mut lexemes = token::lexemes(text);
        let (token, only) = (lexemes.next(), lexemes.next().is_none());
        match token {
            Some((token, range)) if only && range.len() == text.len() && is_pasted(token) => {
                result.tokens.push(Lexeme::new(token, text, span));
                result.append(rest);
                result.ends_empty = false;
                Ok(())
            }
            _ => {
                let (left, right) = (left.text.to_owned(), first.text.to_owned());
                Err((PreprocessingProblem::BadPaste { left, right }.into(), span))
            }
        }
    }
}

fn is_pasted(token: Token<'_>) -> bool {
    !matches!(
        token,
        Token::Invalid | Token::Directive(_) | Token::UnterminatedComment
    )
}

impl<'a> Replaced<'a> {
    fn append(&mut self, part: &[Lexeme<'a>]) {
        let span = self.span;
        self.ends_empty = part.is_empty();
        self.tokens
            .extend(part.iter().map(|it| Lexeme { span, ..*it }));
    }

    /// `, ## __VA_ARGS__`, which compilers know: the comma goes where there are no further
    /// arguments.
    fn behind_comma(&mut self, rest: &[Lexeme<'a>]) {
        if rest.is_empty() {
            self.tokens.pop();
        }
        self.append(rest);
    }
}
