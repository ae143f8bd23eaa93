//! The tokens of the language.
//!
//! Words that C and its common extensions know and the grammar does not are tokens too
//! ([`Token::Reserved`]), so that [`crate::extensions`] can name them instead of taking them for
//! identifiers.

use logos::Logos;
use std::fmt;
use strew_affine::Value;

/// A token. Numbers are cut out as C's *preprocessing numbers* and read by [`crate::literal`].
#[derive(Logos, Clone, Copy, Debug, PartialEq)]
#[logos(skip r"[ \t\r\n\x0b\x0c]+")]
#[logos(skip r"\\\r?\n")]
#[logos(skip(r"//([^\n\\]|\\\r?\n|\\[^\r\n])*", allow_greedy = true))]
#[logos(skip r"/\*([^*]|\*+[^*/])*\*+/")]
pub(crate) enum Token<'a> {
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Identifier(&'a str),
    #[regex(r"\.?[0-9]([eEpP][+-]|[0-9A-Za-z_.])*")]
    Number(&'a str),
    #[regex(r"'([^'\\\n]|\\[^\n])*'")]
    Character(&'a str),
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    Text(&'a str),
    #[regex(
        r"#([^\n\\/]|\\\r?\n|\\[^\r\n]|/\*([^*]|\*+[^*/])*\*+/|//[^\n]*|/[^*/\n])*",
        allow_greedy = true
    )]
    Directive(&'a str),
    #[regex(r"/\*([^*]|\*+[^*/])*\**")]
    UnterminatedComment,

    #[token("_Bool", |_| TypeWord::Bool)]
    #[token("bool", |_| TypeWord::Bool)]
    #[token("void", |_| TypeWord::Void)]
    #[token("char", |_| TypeWord::Char)]
    #[token("short", |_| TypeWord::Short)]
    #[token("int", |_| TypeWord::Int)]
    #[token("long", |_| TypeWord::Long)]
    #[token("signed", |_| TypeWord::Signed)]
    #[token("__signed__", |_| TypeWord::Signed)]
    #[token("unsigned", |_| TypeWord::Unsigned)]
    #[token("float", |_| TypeWord::Float)]
    #[token("double", |_| TypeWord::Double)]
    #[token("wchar_t", |_| TypeWord::Wchar)]
    #[token("int8_t", |_| TypeWord::Int8)]
    #[token("int16_t", |_| TypeWord::Int16)]
    #[token("int32_t", |_| TypeWord::Int32)]
    #[token("int64_t", |_| TypeWord::Int64)]
    #[token("uint8_t", |_| TypeWord::Uint8)]
    #[token("uint16_t", |_| TypeWord::Uint16)]
    #[token("uint32_t", |_| TypeWord::Uint32)]
    #[token("uint64_t", |_| TypeWord::Uint64)]
    #[token("int_fast8_t", |_| TypeWord::IntFast8)]
    #[token("int_fast16_t", |_| TypeWord::IntFast16)]
    #[token("int_fast32_t", |_| TypeWord::IntFast32)]
    #[token("int_fast64_t", |_| TypeWord::IntFast64)]
    #[token("int_least8_t", |_| TypeWord::IntLeast8)]
    #[token("int_least16_t", |_| TypeWord::IntLeast16)]
    #[token("int_least32_t", |_| TypeWord::IntLeast32)]
    #[token("int_least64_t", |_| TypeWord::IntLeast64)]
    #[token("uint_fast8_t", |_| TypeWord::UintFast8)]
    #[token("uint_fast16_t", |_| TypeWord::UintFast16)]
    #[token("uint_fast32_t", |_| TypeWord::UintFast32)]
    #[token("uint_fast64_t", |_| TypeWord::UintFast64)]
    #[token("uint_least8_t", |_| TypeWord::UintLeast8)]
    #[token("uint_least16_t", |_| TypeWord::UintLeast16)]
    #[token("uint_least32_t", |_| TypeWord::UintLeast32)]
    #[token("uint_least64_t", |_| TypeWord::UintLeast64)]
    #[token("intmax_t", |_| TypeWord::Intmax)]
    #[token("uintmax_t", |_| TypeWord::Uintmax)]
    #[token("ssize_t", |_| TypeWord::Ssize)]
    #[token("size_t", |_| TypeWord::Size)]
    #[token("ptrdiff_t", |_| TypeWord::Ptrdiff)]
    #[token("intptr_t", |_| TypeWord::Intptr)]
    #[token("uintptr_t", |_| TypeWord::Uintptr)]
    Type(TypeWord),

    #[token("const")]
    #[token("__const")]
    #[token("__const__")]
    Const,
    #[token("restrict")]
    #[token("__restrict")]
    #[token("__restrict__")]
    Restrict,
    #[token("static")]
    Static,
    #[token("inline")]
    #[token("__inline")]
    #[token("__inline__")]
    Inline,
    #[token("for")]
    For,
    #[token("while")]
    While,
    #[token("do")]
    Do,
    #[token("if")]
    If,
    #[token("else")]
    Else,
    #[token("break")]
    Break,
    #[token("continue")]
    Continue,
    #[token("return")]
    Return,
    #[token("switch")]
    Switch,
    #[token("case")]
    Case,
    #[token("default")]
    Default,
    #[token("goto")]
    Goto,
    #[token("struct")]
    Struct,
    #[token("enum")]
    Enum,
    #[token("typedef")]
    Typedef,
    #[token("sizeof")]
    Sizeof,
    #[token("register")]
    Register,
    #[token("extern")]
    Extern,
    #[token(".")]
    Dot,
    #[token("->")]
    Arrow,
    #[token("auto")]
    #[token("union")]
    #[token("volatile")]
    #[token("__volatile")]
    #[token("__volatile__")]
    #[token("_Complex")]
    #[token("_Imaginary")]
    #[token("__complex")]
    #[token("__complex__")]
    #[token("__attribute")]
    #[token("__attribute__")]
    #[token("__asm")]
    #[token("__asm__")]
    #[token("__typeof")]
    #[token("__typeof__")]
    #[token("__auto_type")]
    #[token("_Atomic")]
    #[token("_Thread_local")]
    #[token("__thread")]
    #[token("_Generic")]
    #[token("_Alignas")]
    #[token("_Alignof")]
    #[token("__alignof")]
    #[token("__alignof__")]
    #[token("_Noreturn")]
    #[token("_Static_assert")]
    #[token("__extension__")]
    #[token("__int128")]
    #[token("__int128_t")]
    #[token("__uint128_t")]
    #[token("_Float16")]
    #[token("_Float32")]
    #[token("_Float64")]
    #[token("_Float128")]
    #[token("__float128")]
    #[token("__fp16")]
    #[token("__bf16")]
    #[token("...")]
    Reserved(&'a str),

    #[token("(")]
    LeftParenthesis,
    #[token(")")]
    RightParenthesis,
    #[token("[")]
    LeftBracket,
    #[token("]")]
    RightBracket,
    #[token("{")]
    LeftBrace,
    #[token("}")]
    RightBrace,
    #[token(";")]
    Semicolon,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token("?")]
    Question,
    #[token("=")]
    Assign,
    #[token("+=")]
    AddAssign,
    #[token("-=")]
    SubAssign,
    #[token("*=")]
    MulAssign,
    #[token("/=")]
    DivAssign,
    #[token("%=")]
    RemAssign,
    #[token("&=")]
    AndAssign,
    #[token("|=")]
    OrAssign,
    #[token("^=")]
    XorAssign,
    #[token("<<=")]
    ShlAssign,
    #[token(">>=")]
    ShrAssign,
    #[token("++")]
    Increment,
    #[token("--")]
    Decrement,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("&")]
    Ampersand,
    #[token("|")]
    Bar,
    #[token("^")]
    Caret,
    #[token("~")]
    Tilde,
    #[token("<<")]
    ShiftLeft,
    #[token(">>")]
    ShiftRight,
    #[token("&&")]
    AndAnd,
    #[token("||")]
    OrOr,
    #[token("!")]
    Not,
    #[token("==")]
    Equal,
    #[token("!=")]
    NotEqual,
    #[token("<")]
    Less,
    #[token("<=")]
    LessOrEqual,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterOrEqual,

    /// A name that a `typedef` made a type; no source text is this token by itself.
    TypeName(&'a str),
    /// A number that has been read; no source text is this token.
    Literal(Value),
    /// `#` in what a macro expands to.
    Hash,
    /// `##` in what a macro expands to.
    Paste,
    /// `_Static_assert` and `static_assert`, where they stand for a declaration.
    StaticAssert,
    /// The text of a `#pragma strew` line; no source text is this token.
    Pragma(&'a str),
    /// `declare reduction` in a `#pragma strew` line, whose other words are tokens of their own
    /// behind it; no source text is this token.
    DeclareReduction,
    /// `identity` in such a line; no source text is this token.
    Identity,
    /// Stands where an expression was refused, so that what is around it can be parsed; no source
    /// text is this token.
    Refused,
    /// Stands where a lexical error was reported, so that the parser can recover behind it.
    Invalid,
}

/// The tokens of `text`, each with where it is; what is no token is [`Token::Invalid`].
pub(crate) fn lexemes(text: &str) -> impl Iterator<Item = (Token<'_>, std::ops::Range<usize>)> {
    let tokens = Token::lexer(text).spanned();
    tokens.map(|(token, range)| (token.unwrap_or(Token::Invalid), range))
}

/// One word of a type name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeWord {
    /// `_Bool` or `bool`
    Bool,
    /// `void`
    Void,
    /// `char`
    Char,
    /// `short`
    Short,
    /// `int`
    Int,
    /// `long`
    Long,
    /// `signed`
    Signed,
    /// `unsigned`
    Unsigned,
    /// `float`
    Float,
    /// `double`
    Double,
    /// `wchar_t`
    Wchar,
    /// `int8_t`
    Int8,
    /// `int16_t`
    Int16,
    /// `int32_t`
    Int32,
    /// `int64_t`
    Int64,
    /// `uint8_t`
    Uint8,
    /// `uint16_t`
    Uint16,
    /// `uint32_t`
    Uint32,
    /// `uint64_t`
    Uint64,
    /// `int_fast8_t`
    IntFast8,
    /// `int_fast16_t`
    IntFast16,
    /// `int_fast32_t`
    IntFast32,
    /// `int_fast64_t`
    IntFast64,
    /// `int_least8_t`
    IntLeast8,
    /// `int_least16_t`
    IntLeast16,
    /// `int_least32_t`
    IntLeast32,
    /// `int_least64_t`
    IntLeast64,
    /// `uint_fast8_t`
    UintFast8,
    /// `uint_fast16_t`
    UintFast16,
    /// `uint_fast32_t`
    UintFast32,
    /// `uint_fast64_t`
    UintFast64,
    /// `uint_least8_t`
    UintLeast8,
    /// `uint_least16_t`
    UintLeast16,
    /// `uint_least32_t`
    UintLeast32,
    /// `uint_least64_t`
    UintLeast64,
    /// `intmax_t`
    Intmax,
    /// `uintmax_t`
    Uintmax,
    /// `ssize_t`
    Ssize,
    /// `size_t`
    Size,
    /// `ptrdiff_t`
    Ptrdiff,
    /// `intptr_t`
    Intptr,
    /// `uintptr_t`
    Uintptr,
}

impl fmt::Display for TypeWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bool => "_Bool",
            Self::Void => "void",
            Self::Char => "char",
            Self::Short => "short",
            Self::Int => "int",
            Self::Long => "long",
            Self::Signed => "signed",
            Self::Unsigned => "unsigned",
            Self::Float => "float",
            Self::Double => "double",
            Self::Wchar => "wchar_t",
            Self::Int8 => "int8_t",
            Self::Int16 => "int16_t",
            Self::Int32 => "int32_t",
            Self::Int64 => "int64_t",
            Self::Uint8 => "uint8_t",
            Self::Uint16 => "uint16_t",
            Self::Uint32 => "uint32_t",
            Self::Uint64 => "uint64_t",
            Self::IntFast8 => "int_fast8_t",
            Self::IntFast16 => "int_fast16_t",
            Self::IntFast32 => "int_fast32_t",
            Self::IntFast64 => "int_fast64_t",
            Self::IntLeast8 => "int_least8_t",
            Self::IntLeast16 => "int_least16_t",
            Self::IntLeast32 => "int_least32_t",
            Self::IntLeast64 => "int_least64_t",
            Self::UintFast8 => "uint_fast8_t",
            Self::UintFast16 => "uint_fast16_t",
            Self::UintFast32 => "uint_fast32_t",
            Self::UintFast64 => "uint_fast64_t",
            Self::UintLeast8 => "uint_least8_t",
            Self::UintLeast16 => "uint_least16_t",
            Self::UintLeast32 => "uint_least32_t",
            Self::UintLeast64 => "uint_least64_t",
            Self::Intmax => "intmax_t",
            Self::Uintmax => "uintmax_t",
            Self::Ssize => "ssize_t",
            Self::Size => "size_t",
            Self::Ptrdiff => "ptrdiff_t",
            Self::Intptr => "intptr_t",
            Self::Uintptr => "uintptr_t",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(source: &str) -> Vec<Result<Token<'_>, ()>> {
        Token::lexer(source).collect()
    }

    #[test]
    fn comments_and_line_continuations_are_skipped() {
        let source = "a /* b\n ** c */ // d\\\n still a comment\n e \\\n f";
        let names = ["a", "e", "f"].map(|name| Ok(Token::Identifier(name)));
        assert_eq!(tokens(source), names);
    }

    #[test]
    fn an_unterminated_comment_is_one_token() {
        assert_eq!(
            tokens("a /* b * c **"),
            [Ok(Token::Identifier("a")), Ok(Token::UnterminatedComment)]
        );
    }

    #[test]
    fn numbers_are_cut_as_c_cuts_them() {
        let source = "1e+5 0x1p-3f .5 0xE+1 1..2 3u";
        let numbers = ["1e+5", "0x1p-3f", ".5", "0xE+1", "1..2", "3u"];
        assert_eq!(tokens(source), numbers.map(|text| Ok(Token::Number(text))));
    }

    #[test]
    fn a_character_outside_of_the_language_is_an_error_of_its_own() {
        assert_eq!(
            tokens("a @ b"),
            [
                Ok(Token::Identifier("a")),
                Err(()),
                Ok(Token::Identifier("b"))
            ]
        );
    }
}
