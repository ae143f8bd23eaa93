//! Names that stand where types do and are none: each is reported once, and another type stands in
//! its place, so that what is declared with it is known.

use crate::diagnostic::Diagnostics;
use crate::preprocess::Spanned;
use crate::problem::DeclarationProblem;
use crate::token::{Token, TypeWord};
use std::collections::HashSet;
use strew_affine::spelling::nearest;

/// What other languages and headers call the types of C.
const ELSEWHERE: [(&str, &str); 22] = [
    ("uint", "unsigned"),
    ("uchar", "unsigned char"),
    ("ushort", "unsigned short"),
    ("ulong", "unsigned long"),
    ("byte", "uint8_t"),
    ("string", "char"),
    ("real", "double"),
    ("half", "float"),
    ("float32", "float"),
    ("float64", "double"),
    ("f32", "float"),
    ("f64", "double"),
    ("i8", "int8_t"),
    ("i16", "int16_t"),
    ("i32", "int32_t"),
    ("i64", "int64_t"),
    ("u8", "uint8_t"),
    ("u16", "uint16_t"),
    ("u32", "uint32_t"),
    ("u64", "uint64_t"),
    ("usize", "size_t"),
    ("boolean", "bool"),
];

/// Types that people misspell.
const OF_C: [&str; 20] = [
    "int",
    "unsigned",
    "double",
    "float",
    "char",
    "short",
    "long",
    "signed",
    "bool",
    "size_t",
    "ptrdiff_t",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "void",
];

/// Replaces names that can only be meant as types.
pub(crate) fn replace(tokens: &mut [Spanned<'_>], diagnostics: &mut Diagnostics) {
    let mut reported = HashSet::new();
    // What a `typedef` of an unknown type declares.
    let mut named = HashSet::new();
    let mut place = Place {
        variables: variables(tokens),
        ..Place::default()
    };
    for index in 0..tokens.len() {
        let Some((token, span)) = tokens.get(index).copied() else {
            return;
        };
        if let Token::Identifier(name) = token {
            let is_declared = matches!(
                tokens.get(index.saturating_sub(2)..index),
                Some([(Token::Typedef, _), (Token::Type(_), _)])
            );
            let is_named = named.contains(name) && !is_declared;
            if !is_named && !place.is_type(tokens, index) {
                continue;
            }
            if !is_named && reported.insert(name) {
                let nearest = proposal(name, tokens);
                let name = name.to_owned();
                diagnostics.report(DeclarationProblem::UnknownType { name, nearest }, span);
            }
            if let Some([(Token::Typedef, _), (slot, _), (Token::Identifier(name), _)]) =
                tokens.get_mut(index.saturating_sub(1)..index + 2)
            {
                named.insert(*name);
                *slot = Token::Type(TypeWord::Int);
            } else if let Some((slot, _)) = tokens.get_mut(index) {
                *slot = Token::Type(TypeWord::Int);
            }
        }
        place.pass(token);
    }
}

/// Where in the nesting of brackets a token stands.
#[derive(Default)]
struct Place<'a> {
    /// Names that some declaration may declare.
    variables: HashSet<&'a str>,
    braces: usize,
    parentheses: usize,
    brackets: usize,
}

impl Place<'_> {
    fn pass(&mut self, token: Token<'_>) {
        match token {
            Token::LeftBrace => self.braces += 1,
            Token::RightBrace => self.braces = self.braces.saturating_sub(1),
            Token::LeftParenthesis => self.parentheses += 1,
            Token::RightParenthesis => self.parentheses = self.parentheses.saturating_sub(1),
            Token::LeftBracket => self.brackets += 1,
            Token::RightBracket => self.brackets = self.brackets.saturating_sub(1),
            Token::Semicolon if self.braces == 0 => {
                self.parentheses = 0;
                self.brackets = 0;
            }
            _ => {}
        }
    }

    fn is_type(&self, tokens: &[Spanned<'_>], index: usize) -> bool {
        let at = |index: Option<usize>| index.and_then(|it| tokens.get(it)).map(|(it, _)| *it);
        let before = at(index.checked_sub(1));
        let is_parameter = self.braces == 0 && self.parentheses == 1 && self.brackets == 0;
        let begins = match before {
            None | Some(Token::Semicolon | Token::LeftBrace | Token::RightBrace) => true,
            Some(Token::Const | Token::Static | Token::Inline | Token::Register) => true,
            Some(Token::Typedef | Token::Extern) => true,
            Some(Token::LeftParenthesis) => {
                is_parameter || at(index.checked_sub(2)) == Some(Token::For)
            }
            Some(Token::Comma) => is_parameter,
            _ => false,
        };
        let (next, behind) = (at(Some(index + 1)), at(Some(index + 2)));
        match next {
            Some(Token::Identifier(_)) => begins && ends_declarator(behind),
            Some(Token::Star) if begins && (is_parameter || self.braces == 0) => true,
            Some(Token::Star) if begins && matches!(behind, Some(Token::Identifier(_))) => {
                let is_variable = |it| matches!(it, Some(Token::Identifier(name)) if self.variables.contains(name));
                match at(Some(index + 3)) {
                    Some(Token::Assign) => true,
                    // A product that nobody uses, unless no variable is called like that.
                    Some(Token::Semicolon | Token::Comma) => !is_variable(at(Some(index))),
                    _ => false,
                }
            }
            Some(Token::RightParenthesis) if before == Some(Token::LeftParenthesis) => {
                is_cast(at(index.checked_sub(2)), behind)
            }
            _ => false,
        }
    }
}

/// The names that stand behind something that a declaration could begin with.
fn variables<'a>(tokens: &[Spanned<'a>]) -> HashSet<&'a str> {
    let pairs = tokens.windows(2).filter_map(|pair| match pair {
        [
            (
                Token::Type(_)
                | Token::TypeName(_)
                | Token::Identifier(_)
                | Token::Star
                | Token::Comma,
                _,
            ),
            (Token::Identifier(name), _),
        ] => Some(*name),
        _ => None,
    });
    pairs.collect()
}

/// What can stand behind a name that is declared.
fn ends_declarator(token: Option<Token<'_>>) -> bool {
    matches!(
        token,
        Some(
            Token::Semicolon
                | Token::Comma
                | Token::Assign
                | Token::LeftBracket
                | Token::LeftParenthesis
                | Token::RightParenthesis
        )
    )
}

/// Whether parentheses around a name make a cast: an operand follows, and nothing stands before
/// that takes its own parentheses.
fn is_cast(before: Option<Token<'_>>, behind: Option<Token<'_>>) -> bool {
    let takes_parentheses = matches!(
        before,
        Some(
            Token::Identifier(_)
                | Token::RightParenthesis
                | Token::RightBracket
                | Token::If
                | Token::While
                | Token::For
                | Token::Switch
                | Token::Sizeof
        )
    );
    let is_operand = matches!(behind, Some(Token::Identifier(_) | Token::Literal(_)));
    is_operand && !takes_parentheses
}

fn proposal(name: &str, tokens: &[Spanned<'_>]) -> Option<String> {
    let elsewhere = ELSEWHERE.iter().find(|(other, _)| *other == name);
    if let Some((_, of_c)) = elsewhere {
        return Some((*of_c).to_owned());
    }
    let tags = tokens.windows(2).filter_map(|pair| match pair {
        [(Token::Struct, _), (Token::Identifier(tag), _)] => Some(*tag),
        _ => None,
    });
    if tags.clone().any(|tag| tag == name) {
        return Some(format!("struct {name}"));
    }
    let named = tokens.iter().filter_map(|(token, _)| match token {
        Token::TypeName(name) => Some(*name),
        _ => None,
    });
    let known: HashSet<&str> = named.chain(typedefs(tokens)).chain(OF_C).collect();
    nearest(name, known).map(str::to_owned)
}

/// The last name of each `typedef`.
fn typedefs<'a>(tokens: &[Spanned<'a>]) -> Vec<&'a str> {
    let mut names = Vec::new();
    let (mut is_typedef, mut last) = (false, None);
    for (token, _) in tokens {
        match token {
            Token::Typedef => is_typedef = true,
            Token::Identifier(name) => last = Some(*name),
            Token::Semicolon if is_typedef => {
                names.extend(last.take());
                is_typedef = false;
            }
            _ => {}
        }
    }
    names
}
