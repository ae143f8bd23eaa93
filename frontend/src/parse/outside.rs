//! Statements that stand outside of any function: what is left when only the loop of a kernel was
//! copied.

use crate::preprocess::Spanned;
use crate::token::Token;

/// Whether the item is a statement, or the rest of one: a `for` loop has semicolons in it.
pub(super) fn is_statement(item: &[Spanned<'_>], is_behind_statement: bool) -> bool {
    let token = |index: usize| item.get(index).map(|(token, _)| *token);
    match (token(0), token(1)) {
        (
            Some(
                Token::For
                | Token::While
                | Token::Do
                | Token::If
                | Token::Else
                | Token::Switch
                | Token::Case
                | Token::Return
                | Token::Break
                | Token::Continue
                | Token::Goto
                | Token::Increment
                | Token::Decrement,
            ),
            _,
        ) => true,
        (Some(Token::Identifier(_)), Some(next)) => is_behind_name(next),
        (
            Some(
                Token::LeftParenthesis
                | Token::RightParenthesis
                | Token::RightBrace
                | Token::Semicolon
                | Token::Star,
            ),
            _,
        ) => is_behind_statement,
        _ => false,
    }
}

/// Whether the token makes a statement of the name in front of it.
fn is_behind_name(token: Token<'_>) -> bool {
    matches!(
        token,
        Token::LeftBracket
            | Token::Dot
            | Token::Arrow
            | Token::Increment
            | Token::Decrement
            | Token::Assign
            | Token::AddAssign
            | Token::SubAssign
            | Token::MulAssign
            | Token::DivAssign
            | Token::RemAssign
            | Token::AndAssign
            | Token::OrAssign
            | Token::XorAssign
            | Token::ShlAssign
            | Token::ShrAssign
            | Token::Less
            | Token::Greater
            | Token::LessOrEqual
            | Token::GreaterOrEqual
            | Token::NotEqual
    )
}
