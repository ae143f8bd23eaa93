//! The words of a schedule script.

use logos::Logos;
use std::fmt;

/// One word. What stands in no rule is reported at its position.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip(r"#[^\n]*", allow_greedy = true))]
pub(crate) enum Token<'s> {
    #[token("tile_indirection_using_forall")]
    TileIndirection,
    #[token("unroll")]
    Unroll,
    #[token("vectorize")]
    Vectorize,
    #[token("reduction")]
    Reduction,
    #[token("chunks")]
    Chunks,
    #[token("strategy")]
    Strategy,
    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token("=")]
    Equals,
    #[token("/")]
    Slash,
    #[token("-")]
    Minus,
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Name(&'s str),
    #[regex("[0-9]+")]
    Digits(&'s str),
}

impl Token<'_> {
    /// Whether it can be meant as the word that a step begins with.
    pub(crate) fn can_begin_step(self) -> bool {
        matches!(
            self,
            Self::TileIndirection | Self::Unroll | Self::Vectorize | Self::Name(_)
        )
    }
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TileIndirection => "tile_indirection_using_forall",
            Self::Unroll => "unroll",
            Self::Vectorize => "vectorize",
            Self::Reduction => "reduction",
            Self::Chunks => "chunks",
            Self::Strategy => "strategy",
            Self::Open => "(",
            Self::Close => ")",
            Self::Comma => ",",
            Self::Semicolon => ";",
            Self::Equals => "=",
            Self::Slash => "/",
            Self::Minus => "-",
            Self::Name(text) | Self::Digits(text) => text,
        })
    }
}
