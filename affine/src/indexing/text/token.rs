use logos::Logos;
use std::fmt;

/// A token of the text of maps.
#[derive(Logos, Clone, Copy, Debug, PartialEq)]
#[logos(skip r"[ \t\r\n]+")]
pub(super) enum Token<'a> {
    #[regex(r"[A-Za-z_][A-Za-z0-9_.$]*")]
    Name(&'a str),
    #[regex("[0-9]+")]
    Integer(&'a str),
    #[regex(r"known[ \t\r\n]+empty")]
    #[regex(r"KNOWN[ \t\r\n]+EMPTY")]
    KnownEmpty,
    #[token("domain")]
    Domain,
    #[token("in")]
    In,
    #[token("floordiv")]
    #[token("floorDiv")]
    #[token("/")]
    FloorDiv,
    #[token("ceildiv")]
    #[token("ceilDiv")]
    CeilDiv,
    #[token("mod")]
    Mod,
    #[token("min")]
    Min,
    #[token("max")]
    Max,
    #[token("linearize_index")]
    LinearizeIndex,
    #[token("delinearize_index")]
    DelinearizeIndex,
    #[token("by")]
    By(&'a str),
    #[token("into")]
    Into(&'a str),
    #[token("#")]
    Hash,
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
}

impl Token<'_> {
    /// Whether the token has a meaning of its own where a name could stand.
    pub(super) fn is_reserved(text: &str) -> bool {
        let mut lexer = Token::lexer(text);
        let first = lexer.next();
        !matches!(first, Some(Ok(Token::Name(it) | Token::By(it) | Token::Into(it))) if it == text)
    }
}

/// The parser's messages quote the source and never a token.
impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
