//! Functions as C had them before 1989: `int f(n, a) int n; int *a; { … }`.

use super::Walker;
use crate::preprocess::Spanned;
use crate::problem::{Unsupported, UnsupportedFunction};
use crate::token::Token;
use strew_affine::Span;

impl Walker<'_, '_, '_> {
    /// Whether the parenthesis that is behind began a list of names with declarations behind it;
    /// the function is taken out then.
    pub(super) fn old_style(&mut self) -> bool {
        let is_named = matches!(self.previous(), Some(Token::Identifier(_)));
        let rest = self.tokens.get(self.position..).unwrap_or_default();
        let Some(span) = declared_behind(rest).filter(|_| is_named) else {
            return false;
        };
        let function = self.take_out_function(|_| false);
        self.report(
            Unsupported::Function(UnsupportedFunction::OldStyle { function }),
            span,
        );
        true
    }
}

/// Where the declarations stand behind a list of names.
fn declared_behind(tokens: &[Spanned<'_>]) -> Option<Span> {
    let behind = tokens.get(listed_names(tokens)?..)?;
    let end = behind.iter().position(|(token, _)| {
        matches!(
            token,
            Token::LeftBrace | Token::RightBrace | Token::LeftParenthesis | Token::Assign
        )
    })?;
    let declarations = behind.get(..end)?;
    let is_followed_by_body = matches!(behind.get(end), Some((Token::LeftBrace, _)));
    match declarations {
        [(_, first), .., (Token::Semicolon, last)] if is_followed_by_body => Some(first.to(*last)),
        _ => None,
    }
}

/// How many tokens `a, b)` has at the beginning of `tokens`.
fn listed_names(tokens: &[Spanned<'_>]) -> Option<usize> {
    let mut count = 0;
    for pair in tokens.chunks(2) {
        let [(Token::Identifier(_), _), (end, _)] = pair else {
            return None;
        };
        count += 2;
        match end {
            Token::Comma => {}
            Token::RightParenthesis => return Some(count),
            _ => return None,
        }
    }
    None
}
