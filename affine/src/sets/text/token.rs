use logos::Logos;
use std::fmt;

/// A token of the text of sets.
#[derive(Logos, Clone, Copy, Debug, PartialEq)]
#[logos(skip r"[ \t\r\n]+")]
pub(super) enum Token<'a> {
    #[regex(r"[A-Za-z_][A-Za-z0-9_.$']*")]
    Name(&'a str),
    #[regex("[0-9]+")]
    Integer(&'a str),
    #[token("and")]
    And,
    #[token("or")]
    Or,
    #[token("exists")]
    Exists,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("floor")]
    Floor,
    #[token("floordiv")]
    #[token("/")]
    FloorDiv,
    #[token("ceildiv")]
    CeilDiv,
    #[token("mod")]
    #[token("%")]
    Mod,
    #[token("(")]
    OpenParen,
    #[token(")")]
    CloseParen,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token("->")]
    Arrow,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("<")]
    Less,
    #[token("<=")]
    LessOrEqual,
    #[token("=")]
    Equal,
    #[token("!=")]
    NotEqual,
    #[token(">=")]
    GreaterOrEqual,
    #[token(">")]
    Greater,
}

/// The parser's messages quote the source and never a token.
impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
