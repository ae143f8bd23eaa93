use crate::{Function, Type, UnaryOp};
use logos::Logos;
use std::fmt;

/// A token of the kernel text. The dotted words are one token each, so that `affine` and `scf` stay
/// free as names.
#[derive(Logos, Clone, Copy, Debug, PartialEq)]
#[logos(skip r"[ \t\r\n]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
pub(super) enum Token<'a> {
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")]
    #[regex("`[^`\n]+`", |lexer| lexer.slice().trim_matches('`'))]
    Name(&'a str),
    /// Written as a name that is the function's.
    Function(Function),
    /// The same of an operation.
    Counting(UnaryOp),
    #[regex("[0-9]+")]
    Integer(&'a str),
    #[regex(r"[0-9]+\.[0-9]+([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+")]
    Float(&'a str),
    #[token("bool", |_| Type::Bool)]
    #[token("i8", |_| Type::I8)]
    #[token("i16", |_| Type::I16)]
    #[token("i32", |_| Type::I32)]
    #[token("i64", |_| Type::I64)]
    #[token("u8", |_| Type::U8)]
    #[token("u16", |_| Type::U16)]
    #[token("u32", |_| Type::U32)]
    #[token("u64", |_| Type::U64)]
    #[token("f32", |_| Type::F32)]
    #[token("f64", |_| Type::F64)]
    Type(Type),

    #[token("affine.for")]
    AffineFor,
    #[token("affine.if")]
    AffineIf,
    #[token("scf.forall")]
    Forall,
    #[token("scf.for")]
    ScfFor,
    #[token("scf.while")]
    ScfWhile,
    #[token("scf.if")]
    ScfIf,
    #[token("kernel")]
    Kernel,
    #[token("in")]
    In,
    #[token("step")]
    Step,
    #[token("lanes")]
    Lanes,
    #[token("private")]
    Private,
    #[token("merge")]
    Merge,
    #[token("speculative")]
    Speculative,
    #[token("disjoint")]
    Disjoint,
    #[token("strategy")]
    Strategy,
    #[token("identity")]
    Identity,
    #[token("reduce")]
    Reduce,
    #[token("reduction")]
    Reduction,
    #[token("return")]
    Return,
    #[token("record")]
    Record,
    #[token("view")]
    View,
    #[token("assume")]
    Assume,
    #[token("infer")]
    Infer,
    #[token("let")]
    Let,
    #[token("var")]
    Var,
    #[token("element")]
    Element,
    #[token("alloc")]
    Alloc,
    #[token("else")]
    Else,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("inf")]
    Infinity,
    #[token("nan")]
    NotANumber,
    #[token("floordiv")]
    FloorDiv,
    #[token("ceildiv")]
    CeilDiv,
    #[token("mod")]
    Mod,
    #[token("linearize_index")]
    LinearizeIndex,
    #[token("delinearize_index")]
    DelinearizeIndex,
    #[token("threads")]
    Threads,
    #[token("by")]
    By(&'a str),
    #[token("into")]
    Into(&'a str),

    #[token("@")]
    At,
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
    #[token("?")]
    Question,
    #[token("->")]
    Arrow,
    #[token("..")]
    Range,
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
    #[token("!")]
    Exclamation,
    #[token("<<")]
    ShiftLeft,
    #[token(">>")]
    ShiftRight,
    #[token("&&")]
    AndAnd,
    #[token("||")]
    OrOr,
    #[token("==")]
    EqualEqual,
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

    /// Stands for text that is no token, so that the parser can go on behind it.
    Unknown,
}

/// The parser's messages quote the source and never a token.
impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
