//! What stands at the top of a file, one after the other.

use crate::preprocess::Spanned;
use crate::token::Token;

/// Cuts behind every `}` and `;` outside of braces; other brackets do not count, so that one left
/// open spoils one item only.
pub(crate) struct Items<'t, 'a>(pub(crate) &'t [Spanned<'a>]);

impl<'t, 'a> Iterator for Items<'t, 'a> {
    type Item = &'t [Spanned<'a>];

    fn next(&mut self) -> Option<Self::Item> {
        let mut depth = 0_usize;
        let mut goes_on = false;
        let end = (0..self.0.len()).find(|index| {
            let token = self.0[*index].0;
            match token {
                Token::LeftBrace => {
                    if depth == 0 {
                        goes_on = is_within_declaration(&self.0[..*index]);
                    }
                    depth += 1;
                }
                Token::RightBrace => depth = depth.saturating_sub(1),
                _ => {}
            }
            let ends = matches!(token, Token::Semicolon) || token == Token::RightBrace && !goes_on;
            depth == 0 && ends
        });
        let (item, rest) = self.0.split_at(end.map_or(self.0.len(), |end| end + 1));
        self.0 = rest;
        (!item.is_empty()).then_some(item)
    }
}

/// Whether the braces that follow hold members, constants or initial values, so that the item goes
/// on behind them.
fn is_within_declaration(before: &[Spanned<'_>]) -> bool {
    let is_tag = |token: &Token<'_>| {
        let is_union = *token == Token::Reserved("union");
        is_union || matches!(token, Token::Struct | Token::Enum)
    };
    match before {
        [.., (Token::Assign, _)] => true,
        [
            ..,
            (word, _),
            (Token::Identifier(_) | Token::TypeName(_), _),
        ] => is_tag(word),
        [.., (word, _)] => is_tag(word),
        [] => false,
    }
}
