//! The words of a schedule script.

use logos::Logos;
use std::fmt;

/// One word. What stands in no rule is reported at its position.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip(r"#[^\n]*", allow_greedy = true))]
pub(crate) enum Token<'s> {
    #[token("by")]
    By,
    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token("[")]
    OpenList,
    #[token("]")]
    CloseList,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token("=")]
    Equals,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    #[regex("`[^`\n]+`", |lexer| lexer.slice().trim_matches('`'))]
    Name(&'s str),
    #[regex("[0-9]+")]
    Digits(&'s str),
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::By => "by",
            Self::Open => "(",
            Self::Close => ")",
            Self::OpenList => "[",
            Self::CloseList => "]",
            Self::Comma => ",",
            Self::Semicolon => ";",
            Self::Equals => "=",
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Star => "*",
            Self::Slash => "/",
            Self::Name(text) | Self::Digits(text) => text,
        })
    }
}
