//! C that the language leaves out.

use std::fmt;

/// Valid C that the language does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// A keyword or operator of C, as written.
    Word(String),
    /// A declaration between the labels of a `switch`.
    DeclarationInSwitch,
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
    /// A member that is no scalar.
    Member {
        /// Its name.
        name: String,
    },
    /// A structure as a parameter or a local.
    Structure {
        /// What is declared.
        name: String,
    },
    /// A pointer where a number is needed.
    PointerAsValue,
    /// `&x` of something that is no array element.
    AddressOf,
    /// `condition ? p : q` of pointers.
    PointerChoice,
    /// An array of structures with initial values.
    InitializedRecord {
        /// The array.
        name: String,
    },
    /// A pointer parameter or local.
    Pointer {
        /// Its name.
        name: String,
    },
    /// A variable declared outside of functions.
    FileScopeVariable,
}

impl Unsupported {
    pub(super) fn help(&self) -> Option<String> {
        let help = match self {
            Self::Word(word) => match word.as_str() {
                "union" => "give every member an array of its own",
                _ => return None,
            },
            Self::DeclarationInSwitch => "put the statements behind the label into braces",
            Self::Goto => "write a loop or an `if`",
            Self::Text => return None,
            Self::PointerAsValue => "compare pointers with each other, or name an element",
            Self::AddressOf => "take the address of an array element: `&a[i]`",
            Self::PointerChoice => "choose between elements, or between positions in one array",
            Self::InitializedRecord { .. } => "assign to the elements",
            Self::Pointer { name } => {
                return Some(format!(
                    "declare the array with its length: `{name}[n]`, where `n` is a parameter"
                ));
            }
            Self::PointerType => "leave the cast out",
            Self::PointerReturned => "hand results over in an array parameter",
            Self::TypedefOfPointer { .. } => "give a name to the type of the elements",
            Self::Member { .. } => {
                "declare scalar members only, and other data as arrays of their own"
            }
            Self::Structure { .. } => "give every member an array of its own",
            Self::FileScopeVariable => "make it a parameter, or `const`",
        };
        Some(help.to_owned())
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => write!(f, "`{word}` is not in the language yet"),
            Self::DeclarationInSwitch => {
                f.write_str("a declaration between the labels of a `switch` is not in the language")
            }
            Self::Goto => f.write_str("`goto` is not in the language"),
            Self::Text => f.write_str("string literals are not in the language"),
            Self::PointerAsValue => f.write_str("a pointer stands where a number is needed"),
            Self::AddressOf => f.write_str("only array elements have addresses"),
            Self::PointerChoice => f.write_str("a choice between pointers is not in the language"),
            Self::InitializedRecord { name } => {
                write!(
                    f,
                    "`{name}` is an array of structures with initial values; those are not in the language yet"
                )
            }
            Self::Pointer { name } => {
                write!(
                    f,
                    "`{name}` is a pointer; pointers are not in the language yet"
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
            Self::Member { name } => write!(f, "the member `{name}` is no scalar"),
            Self::Structure { name } => {
                write!(
                    f,
                    "`{name}` is a structure; those are not in the language yet"
                )
            }
            Self::FileScopeVariable => {
                f.write_str("variables outside of functions are not in the language")
            }
        }
    }
}
