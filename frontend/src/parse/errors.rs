//! What the parser could not read: what is said about it, and which names are lost with it.

use super::Error;
use crate::diagnostic::Diagnostics;
use crate::expected;
use crate::preprocess::Spanned;
use crate::problem::{ControlFlowProblem, SyntaxProblem};
use crate::token::Token;
use lalrpop_util::ParseError;
use std::collections::HashSet;
use strew_affine::Span;

/// Reports the errors of an item, one for each line: what follows on the line of an error is more
/// often its consequence than a mistake of its own. The names of the statements with errors are
/// `lost`: they may be declared there.
pub(super) fn report<'a>(
    source: &str,
    tokens: &[Spanned<'a>],
    errors: Vec<Error<'a>>,
    lost: &mut HashSet<String>,
    diagnostics: &mut Diagnostics,
) {
    let end = tokens.last().map_or(0, |(_, span)| span.range().end);
    let mut covered = 0;
    for error in errors {
        let (found, span, expected) = parts(&error, end);
        let start = span.range().start;
        let statement = statement_at(tokens, start);
        lost.extend(statement.iter().filter_map(|(token, _)| name(*token)));
        if start < covered {
            continue;
        }
        let line = source.get(start..).and_then(|rest| rest.find('\n'));
        covered = line.map_or(source.len(), |length| start + length);
        // What is wrong with an invalid token has been said, and may be what is wrong with the
        // statement.
        let is_spoilt = |(token, _): &Spanned<'_>| matches!(token, Token::Invalid | Token::Refused);
        if statement.iter().any(is_spoilt) {
            continue;
        }
        if let Some(last) = unfinished(source, tokens, span, expected) {
            diagnostics.report(SyntaxProblem::MissingSemicolon, last);
            continue;
        }
        if matches!(found, Some(Token::Pragma(_))) {
            diagnostics.report(ControlFlowProblem::PragmaWithoutLoop, span);
            continue;
        }
        let problem = SyntaxProblem::Expected {
            expected: expected::in_words(expected),
            found: expected::describe(found, source, span),
        };
        diagnostics.report(problem, span);
    }
}

/// What was found, where, and what can stand there.
fn parts<'e, 'a>(error: &'e Error<'a>, end: usize) -> (Option<Token<'a>>, Span, &'e [String]) {
    match error {
        ParseError::UnrecognizedToken {
            token: (start, token, end),
            expected,
        } => (Some(*token), Span::new(*start, *end), expected),
        ParseError::UnrecognizedEof { expected, .. } => {
            (None, Span::new(end.saturating_sub(1), end), expected)
        }
        ParseError::ExtraToken {
            token: (start, token, end),
        } => (Some(*token), Span::new(*start, *end), &[]),
        ParseError::InvalidToken { location } => (None, Span::new(*location, *location), &[]),
        ParseError::User { error } => match *error {},
    }
}

/// The last token of a statement that lacks its semicolon: what is found at `span` stands on
/// another line, or closes the block.
fn unfinished(
    source: &str,
    tokens: &[Spanned<'_>],
    span: Span,
    expected: &[String],
) -> Option<Span> {
    let next = tokens.partition_point(|(_, it)| it.range().start < span.range().start);
    let (_, last) = tokens.get(next.checked_sub(1)?)?;
    let closes = matches!(tokens.get(next), Some((Token::RightBrace, _)));
    let between = source.get(last.range().end..span.range().start)?;
    let may_end = expected.iter().any(|it| it == "\";\"");
    (may_end && (closes || between.contains('\n'))).then_some(*last)
}

/// The tokens around a position, between semicolons and braces.
fn statement_at<'t, 'a>(tokens: &'t [Spanned<'a>], position: usize) -> &'t [Spanned<'a>] {
    let ends = |(token, _): &Spanned<'_>| {
        matches!(
            token,
            Token::Semicolon | Token::LeftBrace | Token::RightBrace
        )
    };
    let at = tokens.partition_point(|(_, span)| span.range().start < position);
    let (before, behind) = tokens.split_at(at);
    let start = before.iter().rposition(ends).map_or(0, |end| end + 1);
    let length = behind.iter().position(ends).unwrap_or(behind.len());
    tokens.get(start..at + length).unwrap_or_default()
}

/// The names of an item outside of its braces.
pub(super) fn names_outside_of_braces(tokens: &[Spanned<'_>]) -> Vec<String> {
    let mut depth = 0_usize;
    let mut names = Vec::new();
    for (token, _) in tokens {
        match token {
            Token::LeftBrace => depth += 1,
            Token::RightBrace => depth = depth.saturating_sub(1),
            _ if depth == 0 => names.extend(name(*token)),
            _ => {}
        }
    }
    names
}

fn name(token: Token<'_>) -> Option<String> {
    match token {
        Token::Identifier(name) => Some(name.to_owned()),
        _ => None,
    }
}
