//! C that the language leaves out.

mod declaration;
mod function;

pub use declaration::UnsupportedDeclaration;
pub use function::UnsupportedFunction;

use super::wording::clipped;
use std::fmt;

/// Valid C that the language does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// A keyword or operator of C, or of what compilers add to it, as written.
    Word(String),
    /// `__attribute__((name))` where it would change what the code means.
    Attribute {
        /// The attribute.
        name: String,
    },
    /// `({ … })`
    StatementExpression,
    /// `case 1 ... 5:`
    CaseRange,
    /// A variable that is declared behind one label of a `switch` and used behind a later one.
    DeclarationInSwitch {
        /// The variable.
        name: String,
    },
    /// `for (auto x : list)` of C++.
    LoopOverRange,
    /// `goto`
    Goto,
    /// A string literal.
    Text,
    /// A pointer where a number is needed.
    PointerAsValue,
    /// `&x` of something that is no variable and no array element.
    AddressOf,
    /// What is wrong with a function or a call.
    Function(UnsupportedFunction),
    /// What is wrong with what is declared.
    Declaration(UnsupportedDeclaration),
}

impl Unsupported {
    pub(super) fn help(&self) -> Option<String> {
        let help = match self {
            Self::Word(word) => return instead_of(word).map(str::to_owned),
            Self::Attribute { .. } => "leave it out, and lay the data out by hand",
            Self::StatementExpression => {
                "write a `static inline` function, or compute the value in a statement before"
            }
            Self::CaseRange => "write a label for each value, or compare in an `if`",
            Self::DeclarationInSwitch { name } => {
                return Some(format!(
                    "declare `{}` in front of the `switch`",
                    clipped(name)
                ));
            }
            Self::LoopOverRange => {
                "this is C++: count, as in `for (int i = 0; i < n; i++)`, and name the element"
            }
            Self::Goto => "write a loop or an `if`",
            Self::Text => "write the characters as numbers of an array: `{'a', 'b'}`",
            Self::PointerAsValue => "compare pointers with each other, or name an element",
            Self::AddressOf => {
                "take the address of a variable or of an array element: `&x`, `&a[i]`"
            }
            Self::Function(it) => return it.help(),
            Self::Declaration(it) => return it.help(),
        };
        Some(help.to_owned())
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => write!(f, "`{word}` is not in the language"),
            Self::Attribute { name } => {
                write!(
                    f,
                    "the attribute `{}` is not in the language",
                    clipped(name)
                )
            }
            Self::StatementExpression => f.write_str(
                "statements inside of an expression, `({ … })`, are not in the language",
            ),
            Self::CaseRange => f.write_str("a label for a range of values is not in the language"),
            Self::DeclarationInSwitch { name } => write!(
                f,
                "`{}` is declared behind one label and used behind a later one",
                clipped(name)
            ),
            Self::LoopOverRange => {
                f.write_str("a loop over the elements of something is not in the language")
            }
            Self::Goto => f.write_str("`goto` is not in the language"),
            Self::Text => f.write_str("string literals are not in the language"),
            Self::PointerAsValue => f.write_str("a pointer stands where a number is needed"),
            Self::AddressOf => f.write_str("a pointer cannot hold the address of this"),
            Self::Function(it) => it.fmt(f),
            Self::Declaration(it) => it.fmt(f),
        }
    }
}

/// What to write instead of a word.
fn instead_of(word: &str) -> Option<&'static str> {
    Some(match word {
        "union" => {
            "give every member an array of its own; `(unsigned)x` converts the value, not the bits"
        }
        "volatile" | "__volatile" | "__volatile__" => {
            "leave it out: nothing else reads or writes the data while a kernel runs"
        }
        "_Atomic" => "leave it out: strew keeps updates apart where it runs them in parallel",
        "_Thread_local" | "__thread" => "declare a local variable",
        "_Complex" | "_Imaginary" | "__complex" | "__complex__" | "complex" => {
            "keep real and imaginary parts in arrays, or in members, of their own"
        }
        "__int128" | "__int128_t" | "__uint128_t" => "integers have at most 64 bits: `int64_t`",
        "_Float16" | "_Float32" | "_Float64" | "_Float128" | "__float128" | "__fp16" | "__bf16" => {
            "floating types are `float` and `double`"
        }
        "auto" | "__auto_type" | "typeof" | "__typeof" | "__typeof__" => "write the type",
        "asm" => "write it in C",
        "_Pragma" => "write `#pragma strew` on a line of its own above the loop",
        "_Generic" => "write what it stands for with this type",
        "_Alignas" => "leave it out, and lay the data out by hand",
        "_Alignof" | "__alignof" | "__alignof__" => "write the number",
        "template" => "this is C++: write the function once for each type, or a macro that does",
        "class" => "this is C++: write a `struct`, and functions that take it",
        "namespace" | "using" => {
            "this is C++: leave it out; in C all names of a file are in one space"
        }
        "constexpr" => "this is C++: write `static const`, or `enum { N = 3 };`",
        "new" | "delete" => {
            "this is C++: declare a local array, `double t[n];`, or take one as a parameter"
        }
        "static_cast" | "reinterpret_cast" | "const_cast" => "this is C++: write `(type)value`",
        "extern \"C\"" => {
            "this is C++: leave it out, or put it between `#ifdef __cplusplus` and `#endif`"
        }
        "__global__" | "__device__" | "__host__" | "__shared__" | "__kernel" | "__global"
        | "__local" => {
            "a kernel here is the whole loop: `for (int i = 0; i < n; i++)` instead of an index of the thread"
        }
        _ if word.starts_with("[[") => "leave it out: C99 has no attributes",
        _ if word.starts_with("std::") => {
            "this is C++: take arrays with their lengths, `double x[n]`, and call functions by their names in C"
        }
        _ if word.ends_with("<…>") => {
            "this is C++: write an array with its length, or a function for each type"
        }
        _ if word.contains("::") => "this is C++: in C all names of a file are in one space",
        "NULL" | "nullptr" => {
            "a pointer always points into an array; keep a flag or an index that is -1"
        }
        _ => return None,
    })
}
