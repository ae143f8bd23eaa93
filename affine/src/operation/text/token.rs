use logos::Logos;
use std::fmt;

/// A token of an HLO-like text. Names, numbers and the texts between them (`1_4_0x8_8_0`,
/// `b01f_01io`) are one kind: what a word has to be depends on where it stands.
#[derive(Logos, Clone, Copy, Debug, PartialEq)]
#[logos(skip r"[ \t\r\n]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
#[logos(skip r"/\*([^*]|\*+[^*/])*\*+/")]
pub(super) enum Token<'a> {
    #[regex("%?[A-Za-z_](-?[A-Za-z0-9_.])*")]
    #[regex("-?[0-9]([-+]?[A-Za-z0-9_.])*")]
    #[regex("-[A-Za-z]+")]
    // The extent of a dimension that has at most so many positions.
    #[regex("<=[0-9]+")]
    Word(&'a str),
    #[regex(r#""([^"\\\n]|\\.)*""#)]
    Text(&'a str),
    #[token("HloModule")]
    Module,
    #[token("ENTRY")]
    Entry,
    #[token("ROOT")]
    Root,
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
    /// The brace that begins a layout: behind the extents of a shape, with a number, a colon or
    /// nothing inside.
    OpenLayout,
    #[token("}")]
    CloseBrace,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token("=")]
    Equals,
    #[token("->")]
    Arrow,
    /// What can stand inside attributes that are not looked into.
    #[token("...")]
    #[regex(r"[<>*+/@;?!&|^~#$'.-]", priority = 1)]
    Other(&'a str),
}

/// What the tables behind the head of a module are called: they say where in other files its
/// instructions come from.
const TABLES: [&str; 4] = ["FileNames", "FunctionNames", "FileLocations", "StackFrames"];

impl Token<'_> {
    /// Whether a table begins.
    pub(super) fn begins_table(self) -> bool {
        matches!(self, Self::Word(word) if TABLES.contains(&word))
    }

    /// Whether no row of a table begins like this: rows are numbered.
    pub(super) fn ends_table(self) -> bool {
        match self {
            Self::Word(word) => !word.starts_with(|it: char| it.is_ascii_digit()),
            Self::Entry | Self::Root => true,
            _ => false,
        }
    }
}

/// The parser's messages quote the source and never a token.
impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
