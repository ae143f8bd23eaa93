//! C's types on x86-64 Linux, and the conversions that C makes without being asked.

use crate::ast::{Specifier, TypeName};
use crate::problem::{Problem, Unsupported};
use crate::token::TypeWord;
use strew_affine::Type;

/// What a type name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// `None` for `void`.
    pub(crate) ty: Option<Type>,
    pub(crate) is_const: bool,
}

/// What a function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returned {
    /// It is `void`.
    Nothing,
    /// A value of this type.
    Value(Type),
    /// Something that an error was reported about.
    Invalid,
}

/// Where a type name stands decides which words can be in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    Function,
    Variable,
    Cast,
}

/// What `name` stands for.
pub(crate) fn named(name: &TypeName, position: Position) -> Result<Named, Problem> {
    let mut words = Vec::new();
    let mut is_const = false;
    for word in &name.words {
        match (word, position) {
            (Specifier::Type(word), _) => words.push(*word),
            (Specifier::Const, _) => is_const = true,
            (Specifier::Named(_) | Specifier::Typedef, _) => {
                return Err(Problem::Unsupported(Unsupported::Word(
                    "typedef".to_owned(),
                )));
            }
            (Specifier::Struct(_), _) => {
                return Err(Problem::Unsupported(Unsupported::Word("struct".to_owned())));
            }
            (Specifier::Enum(_), _) => {
                return Err(Problem::Unsupported(Unsupported::Word("enum".to_owned())));
            }
            (Specifier::Register, Position::Variable) => {}
            (Specifier::Register, _) => return Err(Problem::MisplacedWord("register")),
            (Specifier::Extern, Position::Function) => {}
            (Specifier::Extern, _) => return Err(Problem::MisplacedWord("extern")),
            (Specifier::Static | Specifier::Inline, Position::Function) => {}
            (Specifier::Static, _) => return Err(Problem::MisplacedWord("static")),
            (Specifier::Inline, _) => return Err(Problem::MisplacedWord("inline")),
            (Specifier::Restrict, _) => return Err(Problem::MisplacedWord("restrict")),
        }
    }
    if words == [TypeWord::Void] {
        return Ok(Named { ty: None, is_const });
    }
    let ty = scalar(&words).ok_or_else(|| {
        let words: Vec<String> = words.iter().map(TypeWord::to_string).collect();
        Problem::NotAType {
            text: words.join(" "),
        }
    })?;
    Ok(Named {
        ty: Some(ty),
        is_const,
    })
}

/// The type that the words name together, in any order.
fn scalar(words: &[TypeWord]) -> Option<Type> {
    if let [word] = words
        && let Some(ty) = exact(*word)
    {
        return Some(ty);
    }
    let count = |wanted: TypeWord| words.iter().filter(|it| **it == wanted).count();
    let unsigned = match (count(TypeWord::Signed), count(TypeWord::Unsigned)) {
        (0 | 1, 0) => false,
        (0, 1) => true,
        _ => return None,
    };
    let known = [
        TypeWord::Signed,
        TypeWord::Unsigned,
        TypeWord::Char,
        TypeWord::Short,
        TypeWord::Int,
        TypeWord::Long,
    ];
    if words.is_empty() || words.iter().any(|it| !known.contains(it)) {
        return None;
    }
    let sizes = [
        TypeWord::Char,
        TypeWord::Short,
        TypeWord::Int,
        TypeWord::Long,
    ]
    .map(count);
    Some(match (sizes, unsigned) {
        ([1, 0, 0, 0], false) => Type::I8,
        ([1, 0, 0, 0], true) => Type::U8,
        ([0, 1, 0 | 1, 0], false) => Type::I16,
        ([0, 1, 0 | 1, 0], true) => Type::U16,
        ([0, 0, 0 | 1, 0], false) => Type::I32,
        ([0, 0, 0 | 1, 0], true) => Type::U32,
        ([0, 0, 0 | 1, 1 | 2], false) => Type::I64,
        ([0, 0, 0 | 1, 1 | 2], true) => Type::U64,
        _ => return None,
    })
}

/// The types that one word names and that no other word can join.
fn exact(word: TypeWord) -> Option<Type> {
    Some(match word {
        TypeWord::Float => Type::F32,
        TypeWord::Double => Type::F64,
        TypeWord::Int8 | TypeWord::IntFast8 | TypeWord::IntLeast8 => Type::I8,
        TypeWord::Int16 | TypeWord::IntLeast16 => Type::I16,
        TypeWord::Int32 | TypeWord::IntLeast32 => Type::I32,
        // The fast types of the platform's C library are a machine word wide, except for those of 8 bits.
        TypeWord::Int64
        | TypeWord::IntFast16
        | TypeWord::IntFast32
        | TypeWord::IntFast64
        | TypeWord::IntLeast64
        | TypeWord::Intmax
        | TypeWord::Ssize
        | TypeWord::Ptrdiff
        | TypeWord::Intptr => Type::I64,
        TypeWord::Uint8 | TypeWord::UintFast8 | TypeWord::UintLeast8 => Type::U8,
        TypeWord::Uint16 | TypeWord::UintLeast16 => Type::U16,
        TypeWord::Uint32 | TypeWord::UintLeast32 => Type::U32,
        TypeWord::Uint64
        | TypeWord::UintFast16
        | TypeWord::UintFast32
        | TypeWord::UintFast64
        | TypeWord::UintLeast64
        | TypeWord::Uintmax
        | TypeWord::Size
        | TypeWord::Uintptr => Type::U64,
        _ => return None,
    })
}

/// C's integer promotion: `int` holds every value of the narrower types.
pub(crate) fn promoted(ty: Type) -> Type {
    if ty.is_float() || ty.bits() >= 32 {
        ty
    } else {
        Type::I32
    }
}

/// The common type of C's usual arithmetic conversions.
///
/// `long` and `long long` differ in rank alone, which never changes a value on this platform, so the width decides.
pub(crate) fn common(left: Type, right: Type) -> Type {
    let (left, right) = (promoted(left), promoted(right));
    if left == Type::F64 || right == Type::F64 {
        Type::F64
    } else if left == Type::F32 || right == Type::F32 {
        Type::F32
    } else if left.bits() != right.bits() {
        if left.bits() > right.bits() {
            left
        } else {
            right
        }
    } else if left.is_signed() {
        right
    } else {
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strew_affine::Span;

    fn parse(text: &str) -> Option<Type> {
        let words = text.split(' ').map(|word| {
            Specifier::Type(match word {
                "signed" => TypeWord::Signed,
                "unsigned" => TypeWord::Unsigned,
                "char" => TypeWord::Char,
                "short" => TypeWord::Short,
                "long" => TypeWord::Long,
                "double" => TypeWord::Double,
                _ => TypeWord::Int,
            })
        });
        let name = TypeName {
            words: words.collect(),
            pointers: Vec::new(),
            lengths: Vec::new(),
            span: Span::default(),
        };
        named(&name, Position::Cast).ok().and_then(|it| it.ty)
    }

    #[test]
    fn words_name_types_in_any_order() {
        let cases = [
            ("char", Type::I8),
            ("unsigned char", Type::U8),
            ("int short unsigned", Type::U16),
            ("unsigned", Type::U32),
            ("long int", Type::I64),
            ("long unsigned long", Type::U64),
            ("signed", Type::I32),
        ];
        for (text, ty) in cases {
            assert_eq!(parse(text), Some(ty), "{text}");
        }
        for text in [
            "long long long",
            "unsigned signed",
            "short long",
            "long double",
            "int int",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn conversions_are_those_of_the_standard() {
        let cases = [
            (Type::I8, Type::U8, Type::I32),
            (Type::U16, Type::I32, Type::I32),
            (Type::I32, Type::U32, Type::U32),
            (Type::U32, Type::I64, Type::I64),
            (Type::I64, Type::U64, Type::U64),
            (Type::U64, Type::F32, Type::F32),
            (Type::F32, Type::F64, Type::F64),
        ];
        for (left, right, both) in cases {
            assert_eq!(common(left, right), both);
            assert_eq!(common(right, left), both);
        }
    }
}
