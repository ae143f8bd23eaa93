//! C that the language leaves out.

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
    /// A function with any number of arguments.
    VariableArguments {
        /// The function.
        name: String,
    },
    /// A function whose parameters are declared behind the parentheses.
    OldStyle {
        /// The function.
        function: String,
    },
    /// A function inside of a function.
    NestedFunction {
        /// The inner one.
        name: String,
    },
    /// A pointer to a function.
    FunctionPointer {
        /// What is declared; absent where it has no name.
        name: Option<String>,
    },
    /// A function where a value is needed.
    FunctionAsValue {
        /// The function.
        name: String,
    },
    /// A call of something else than a name.
    ComputedCall,
    /// A member that is some bits of an integer.
    BitField {
        /// The member; absent where it has no name.
        name: Option<String>,
    },
    /// A `static` local that is not `const`.
    StaticLocal,
    /// A variable that is declared behind one label of a `switch` and used behind a later one.
    DeclarationInSwitch {
        /// The variable.
        name: String,
    },
    /// `[&](int i) { … }` of C++.
    Lambda,
    /// `for (auto x : list)` of C++.
    LoopOverRange,
    /// `double &x` of C++.
    Reference {
        /// What is declared.
        name: String,
    },
    /// `goto`
    Goto,
    /// A string literal.
    Text,
    /// A pointer type in a cast or in `sizeof`.
    PointerType,
    /// A function that returns a pointer.
    PointerReturned,
    /// A `typedef` of a pointer or array type.
    TypedefOfPointer {
        /// The name that it declares.
        name: String,
    },
    /// A member that is a pointer.
    Member {
        /// Its name.
        name: String,
    },
    /// A structure with an array of structures in it as an element of a parameter.
    StructuresInMember {
        /// One of the members of the inner structures, with the names on the way to it.
        member: String,
    },
    /// A parameter that is a structure without members.
    NoMembers {
        /// The structure.
        name: String,
    },
    /// A kernel that returns a structure.
    StructureReturned {
        /// The kernel.
        name: String,
    },
    /// A pointer where a number is needed.
    PointerAsValue,
    /// `&x` of something that is no variable and no array element.
    AddressOf,
    /// An array of structures with initial values.
    InitializedRecord {
        /// The array.
        name: String,
    },
    /// A pointer to pointers, or an array of them.
    Pointer {
        /// Its name.
        name: String,
    },
    /// A pointer to the rows of an array that is no parameter.
    RowPointer {
        /// Its name.
        name: String,
    },
    /// A variable declared outside of functions.
    FileScopeVariable {
        /// Its name.
        name: String,
    },
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
            Self::VariableArguments { .. } => "hand the values over in an array and their number",
            Self::OldStyle { function } => {
                return Some(format!(
                    "write the types inside of the parentheses: `{}(int n, …)`",
                    clipped(function)
                ));
            }
            Self::NestedFunction { .. } => {
                "put it in front of the other one, and hand over what it needs from there"
            }
            Self::FunctionPointer { .. } => {
                "call the function by its name: a kernel for each function that is meant"
            }
            Self::FunctionAsValue { .. } => "call it: functions are no values",
            Self::ComputedCall => "call a function by its name",
            Self::BitField { .. } => "make it a whole integer, or shift and mask the bits of one",
            Self::StaticLocal => {
                "nothing is kept between calls: make it a parameter that is an array of one element"
            }
            Self::DeclarationInSwitch { name } => {
                return Some(format!(
                    "declare `{}` in front of the `switch`",
                    clipped(name)
                ));
            }
            Self::Lambda => "this is C++: write a `static` function",
            Self::LoopOverRange => {
                "this is C++: count, as in `for (int i = 0; i < n; i++)`, and name the element"
            }
            Self::Reference { name } => {
                return Some(format!(
                    "this is C++: hand over a pointer, `double *{}`",
                    clipped(name)
                ));
            }
            Self::Goto => "write a loop or an `if`",
            Self::Text => "write the characters as numbers of an array: `{'a', 'b'}`",
            Self::PointerAsValue => "compare pointers with each other, or name an element",
            Self::AddressOf => {
                "take the address of a variable or of an array element: `&x`, `&a[i]`"
            }
            Self::InitializedRecord { .. } => "assign to the elements",
            Self::Pointer { name } => {
                return Some(format!(
                    "declare one array with all its lengths: `{}[n][m]`; rows behind pointers could overlap",
                    clipped(name)
                ));
            }
            Self::PointerType => "leave the cast out",
            Self::PointerReturned => "hand results over in an array parameter",
            Self::TypedefOfPointer { .. } => "give a name to the type of the elements",
            Self::Member { .. } => {
                "members are numbers, structures, and arrays of constant length; hand over what it points to as an array parameter"
            }
            Self::StructuresInMember { .. } => {
                "give the inner structure's members arrays of their own: `double x[4], y[4];`"
            }
            Self::StructureReturned { .. } => {
                "store it to an element of an array parameter, or make the function `static` and call it"
            }
            Self::NoMembers { .. } => "leave the parameter out, or give the structure members",
            Self::RowPointer { name } => {
                return Some(format!(
                    "point to elements: `*{} = a[0]`, or subscript the array itself",
                    clipped(name)
                ));
            }
            Self::FileScopeVariable { .. } => {
                "nothing is kept between calls: make it `const`, or a parameter, an array of one element where kernels change it"
            }
        };
        Some(help.to_owned())
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
            Self::VariableArguments { name } => write!(
                f,
                "`{}` takes any number of arguments, which is not in the language",
                clipped(name)
            ),
            Self::OldStyle { function } => write!(
                f,
                "the parameters of `{}` are declared behind its parentheses, which is not in the language",
                clipped(function)
            ),
            Self::NestedFunction { name } => {
                write!(f, "`{}` is a function inside of a function", clipped(name))
            }
            Self::FunctionPointer { name: Some(name) } => write!(
                f,
                "`{}` is a pointer to a function; those are not in the language",
                clipped(name)
            ),
            Self::FunctionPointer { name: None } => {
                f.write_str("pointers to functions are not in the language")
            }
            Self::FunctionAsValue { name } => {
                write!(
                    f,
                    "the function `{}` stands where a value is needed",
                    clipped(name)
                )
            }
            Self::ComputedCall => f.write_str("this calls something that is no name"),
            Self::BitField { name: Some(name) } => write!(
                f,
                "the member `{}` is a bit-field; those are not in the language",
                clipped(name)
            ),
            Self::BitField { name: None } => f.write_str("bit-fields are not in the language"),
            Self::StaticLocal => f.write_str("a `static` local is not in the language"),
            Self::DeclarationInSwitch { name } => write!(
                f,
                "`{}` is declared behind one label and used behind a later one",
                clipped(name)
            ),
            Self::Lambda => f.write_str("functions inside of expressions are not in the language"),
            Self::LoopOverRange => {
                f.write_str("a loop over the elements of something is not in the language")
            }
            Self::Reference { name } => write!(
                f,
                "`{}` is a reference; those are not in the language",
                clipped(name)
            ),
            Self::Goto => f.write_str("`goto` is not in the language"),
            Self::Text => f.write_str("string literals are not in the language"),
            Self::PointerAsValue => f.write_str("a pointer stands where a number is needed"),
            Self::AddressOf => f.write_str("a pointer cannot hold the address of this"),
            Self::InitializedRecord { name } => {
                write!(
                    f,
                    "`{name}` is an array of structures with initial values; those are not in the language"
                )
            }
            Self::Pointer { name } => {
                write!(
                    f,
                    "`{name}` holds pointers, which are not in the language as elements"
                )
            }
            Self::PointerType => f.write_str("pointer types are not in the language here"),
            Self::PointerReturned => {
                f.write_str("functions that return pointers are not in the language")
            }
            Self::TypedefOfPointer { name } => write!(
                f,
                "`{name}` names a pointer or array type; those cannot be given names"
            ),
            Self::Member { name } => write!(f, "the member `{name}` is a pointer"),
            Self::StructuresInMember { member } => write!(
                f,
                "`{member}` lies in an array of structures inside of a structure; parameters cannot have those"
            ),
            Self::NoMembers { name } => {
                write!(f, "the structure `{}` has no members", clipped(name))
            }
            Self::StructureReturned { name } => write!(
                f,
                "the kernel `{name}` returns a structure; only functions that others call can do that"
            ),
            Self::RowPointer { name } => {
                write!(
                    f,
                    "`{}` is a pointer to rows, which only a parameter can be",
                    clipped(name)
                )
            }
            Self::FileScopeVariable { name } => {
                write!(
                    f,
                    "`{}` is a variable outside of functions, which is not in the language",
                    clipped(name)
                )
            }
        }
    }
}
