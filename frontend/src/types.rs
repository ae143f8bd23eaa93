//! C's types on x86-64 Linux, and the conversions that C makes without being asked.

use crate::ast::{Specifier, TypeName};
use crate::problem::{
    DeclarationProblem, ExpressionProblem, Problem, Unsupported, UnsupportedDeclaration,
    UnsupportedFunction,
};
use crate::structure::Structure;
use crate::token::TypeWord;
use std::rc::Rc;
use strew_affine::Type;

/// What a type name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// `None` for `void` and for structures.
    pub(crate) ty: Option<Type>,
    pub(crate) structure: Option<Rc<Structure>>,
    pub(crate) is_const: bool,
}

/// What a function returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Returned {
    /// It is `void`.
    Nothing,
    /// A value of this type.
    Value(Type),
    /// A structure.
    Structure(Rc<Structure>),
    /// Something that an error was reported about.
    Invalid,
}

/// Where a type name stands decides which words can be in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    Function,
    Parameter,
    Variable,
    /// A variable outside of functions.
    File,
    Member,
    Cast,
}

/// What `name` stands for, once its names are resolved.
pub(crate) fn named(name: &TypeName, position: Position) -> Result<Named, Problem> {
    let mut words = Words::default();
    for word in &name.words {
        words.add(word)?;
    }
    check_position(&words, position)?;
    if !name.pointers.is_empty() || !name.lengths.is_empty() {
        let what = match position {
            Position::Function => Unsupported::Function(UnsupportedFunction::PointerReturned),
            _ => Unsupported::Declaration(UnsupportedDeclaration::PointerType),
        };
        return Err(Problem::Unsupported(what));
    }
    let Words {
        types,
        enumeration,
        structure,
        is_const,
        ..
    } = words;
    let (ty, structure) = match (types.as_slice(), enumeration, structure) {
        ([], Some(ty), None) => (Some(ty), None),
        ([], None, Some(structure)) => (None, Some(structure)),
        ([TypeWord::Void], None, None) => (None, None),
        (types, None, None) => (Some(scalar(types).ok_or_else(|| not_a_type(types))?), None),
        (types, ..) => return Err(not_a_type(types)),
    };
    if let (Some(structure), Position::Cast) = (&structure, position) {
        let name = structure.name.clone();
        return Err(ExpressionProblem::StructureAsValue { name }.into());
    }
    Ok(Named {
        ty,
        structure,
        is_const,
    })
}

fn not_a_type(words: &[TypeWord]) -> Problem {
    let words: Vec<String> = words.iter().map(TypeWord::to_string).collect();
    let text = words.join(" ");
    DeclarationProblem::NotAType { text }.into()
}

/// The words in front of what is declared, sorted.
#[derive(Default)]
struct Words {
    types: Vec<TypeWord>,
    enumeration: Option<Type>,
    structure: Option<Rc<Structure>>,
    is_const: bool,
    storage: Vec<&'static str>,
}

impl Words {
    fn add(&mut self, word: &Specifier) -> Result<(), Problem> {
        match word {
            Specifier::Type(word) => self.types.push(*word),
            Specifier::Const => self.is_const = true,
            Specifier::Enum(it) => self.enumeration = Some(it.ty.unwrap_or(Type::I32)),
            Specifier::Struct(it) => match &it.definition {
                Some(structure) => self.structure = Some(Rc::clone(structure)),
                None => {
                    let tag = it.tag.as_ref().map_or("", |tag| &tag.text);
                    let name = format!("struct {tag}");
                    return Err(DeclarationProblem::UnknownTag { name }.into());
                }
            },
            Specifier::Named(name) => {
                let text = name.text.clone();
                return Err(DeclarationProblem::NotAType { text }.into());
            }
            Specifier::Restrict => self.storage.push("restrict"),
            Specifier::Static => self.storage.push("static"),
            Specifier::Inline => self.storage.push("inline"),
            Specifier::Typedef => self.storage.push("typedef"),
            Specifier::Register => self.storage.push("register"),
            Specifier::Extern => self.storage.push("extern"),
        }
        Ok(())
    }
}

fn check_position(words: &Words, position: Position) -> Result<(), Problem> {
    for word in &words.storage {
        let is_accepted = match position {
            Position::Function => matches!(*word, "static" | "inline" | "extern"),
            Position::Parameter => *word == "register",
            // What never changes is the same whether it is made once or every time.
            Position::Variable => *word == "register" || (*word == "static" && words.is_const),
            Position::File => matches!(*word, "static" | "extern"),
            Position::Member | Position::Cast => false,
        };
        if position == Position::Variable && *word == "static" && !is_accepted {
            return Err(Problem::Unsupported(Unsupported::Declaration(
                UnsupportedDeclaration::StaticLocal,
            )));
        }
        if !is_accepted {
            return Err(DeclarationProblem::MisplacedWord(word).into());
        }
    }
    Ok(())
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
        TypeWord::Bool => Type::Bool,
        TypeWord::Float => Type::F32,
        TypeWord::Double => Type::F64,
        TypeWord::Int8 | TypeWord::IntFast8 | TypeWord::IntLeast8 => Type::I8,
        TypeWord::Int16 | TypeWord::IntLeast16 => Type::I16,
        TypeWord::Int32 | TypeWord::IntLeast32 | TypeWord::Wchar => Type::I32,
        // The fast types of the platform's C library are a machine word wide, except for those of 8
        // bits.
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
/// `long` and `long long` differ in rank alone, which never changes a value on this platform, so
/// the width decides.
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
