//! From an HLO-like text to trees.

mod token;
pub(super) mod tree;

use super::error::{ModuleError, ModuleErrorKind};
use crate::Span;
use crate::rejected::Rejected;
use crate::verify::MAX_NESTING;
use lalrpop_util::{ParseError, lalrpop_mod};
use logos::Logos;
use token::Token;
use tree::Item;

lalrpop_mod!(
    #[allow(clippy::all, unused, missing_docs, unreachable_pub, private_interfaces)]
    grammar,
    "/operation/text/grammar.rs"
);

type Spanned<'a> = (usize, Token<'a>, usize);

/// The computations and instructions of `source`.
pub(super) fn items(source: &str) -> Result<Vec<Item<'_>>, ModuleError> {
    let tokens = tokens(source)?;
    let parsed = grammar::FileParser::new().parse(tokens.into_iter().map(Ok));
    parsed.map_err(|rejected| rejection(source, rejected))
}

/// The tokens, unless one of them is none or brackets are nested so deep that whoever walks them
/// later could not.
fn tokens(source: &str) -> Result<Vec<Spanned<'_>>, ModuleError> {
    if u32::try_from(source.len()).is_err() {
        return Err(ModuleErrorKind::TooLong.at(Span::default()));
    }
    let mut tokens: Vec<Spanned<'_>> = Vec::new();
    let mut depth = 0_usize;
    let mut is_in_table = false;
    for (token, range) in Token::lexer(source).spanned() {
        let span = Span::new(range.start, range.end);
        let Ok(token) = token else {
            let text = source.get(range).unwrap_or_default().to_owned();
            return Err(ModuleErrorKind::Unknown(text).at(span));
        };
        if depth == 0
            && token.begins_table()
            && matches!(tokens.first(), Some((_, Token::Module, _)))
        {
            is_in_table = true;
        } else if depth == 0 && token.ends_table() {
            is_in_table = false;
        }
        match token {
            Token::OpenBrace | Token::OpenBracket | Token::OpenParen => depth += 1,
            Token::CloseBrace | Token::CloseBracket | Token::CloseParen => {
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
        if depth > MAX_NESTING {
            return Err(ModuleErrorKind::TooDeep.at(span));
        }
        if is_in_table {
            continue;
        }
        mark_layout(&mut tokens, token);
        tokens.push((range.start, token, range.end));
    }
    Ok(tokens)
}

/// A body and a layout can both stand behind a shape. What follows the brace tells them apart,
/// before the parser has to.
fn mark_layout(tokens: &mut [Spanned<'_>], next: Token<'_>) {
    let is_inside_layout = match next {
        Token::Word(word) => word.starts_with(|it: char| it.is_ascii_digit() || it == '-'),
        Token::CloseBrace | Token::Colon => true,
        _ => false,
    };
    if let [
        ..,
        (_, Token::CloseBracket, _),
        (_, brace @ Token::OpenBrace, _),
    ] = tokens
        && is_inside_layout
    {
        *brace = Token::OpenLayout;
    }
}

fn rejection(source: &str, error: ParseError<usize, Token<'_>, ModuleError>) -> ModuleError {
    match Rejected::of(source, error) {
        Ok(rejected) => {
            let expected = rejected.expected.into_iter();
            let kind = ModuleErrorKind::Unexpected {
                found: rejected.found,
                expected: expected.filter(|it| !it.ends_with(" text")).collect(),
            };
            kind.at(rejected.span)
        }
        Err(error) => error,
    }
}
