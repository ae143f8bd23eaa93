//! Types and declarations that the language leaves out.

use super::super::wording::clipped;
use std::fmt;

/// Types and declarations that the language does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnsupportedDeclaration {
    /// A member that is some bits of an integer.
    BitField {
        /// The member; absent where it has no name.
        name: Option<String>,
    },
    /// A `static` local that is not `const`.
    StaticLocal,
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
    /// `double &x` of C++.
    Reference {
        /// What is declared.
        name: String,
    },
    /// A pointer type in a cast or in `sizeof`.
    PointerType,
}

impl UnsupportedDeclaration {
    pub(in crate::problem) fn help(&self) -> Option<String> {
        let help = match self {
            Self::BitField { .. } => "make it a whole integer, or shift and mask the bits of one",
            Self::StaticLocal => {
                "nothing is kept between calls: make it a parameter that is an array of one element"
            }
            Self::TypedefOfPointer { .. } => "give a name to the type of the elements",
            Self::Member { .. } => {
                "members are numbers, structures, and arrays of constant length; hand over what it points to as an array parameter"
            }
            Self::StructuresInMember { .. } => {
                "give the inner structure's members arrays of their own: `double x[4], y[4];`"
            }
            Self::NoMembers { .. } => "leave the parameter out, or give the structure members",
            Self::Pointer { name } => {
                return Some(format!(
                    "declare one array with all its lengths: `{}[n][m]`; rows behind pointers could overlap",
                    clipped(name)
                ));
            }
            Self::RowPointer { name } => {
                return Some(format!(
                    "point to elements: `*{} = a[0]`, or subscript the array itself",
                    clipped(name)
                ));
            }
            Self::FileScopeVariable { .. } => {
                "nothing is kept between calls: make it `const`, or a parameter, an array of one element where kernels change it"
            }
            Self::Reference { name } => {
                return Some(format!(
                    "this is C++: hand over a pointer, `double *{}`",
                    clipped(name)
                ));
            }
            Self::PointerType => "leave the cast out",
        };
        Some(help.to_owned())
    }
}

impl fmt::Display for UnsupportedDeclaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BitField { name: Some(name) } => write!(
                f,
                "the member `{}` is a bit-field; those are not in the language",
                clipped(name)
            ),
            Self::BitField { name: None } => f.write_str("bit-fields are not in the language"),
            Self::StaticLocal => f.write_str("a `static` local is not in the language"),
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
            Self::Pointer { name } => {
                write!(
                    f,
                    "`{name}` holds pointers, which are not in the language as elements"
                )
            }
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
            Self::Reference { name } => write!(
                f,
                "`{}` is a reference; those are not in the language",
                clipped(name)
            ),
            Self::PointerType => f.write_str("pointer types are not in the language here"),
        }
    }
}
