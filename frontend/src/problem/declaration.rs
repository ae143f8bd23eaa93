//! Types, and what is declared with them.

use super::wording::clipped;
use std::fmt;

/// What is wrong with a type or a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclarationProblem {
    /// Words that together name no type.
    NotAType {
        /// As written.
        text: String,
    },
    /// A name where a type has to be, which is none.
    UnknownType {
        /// The name.
        name: String,
        /// The type that is spelled most like it, or is called like it elsewhere.
        nearest: Option<String>,
    },
    /// A variable, an element or a cast of type `void`.
    VoidValue,
    /// `struct x` or `enum x` where nothing of that name is declared.
    UnknownTag {
        /// With the word in front.
        name: String,
    },
    /// A structure with too many members.
    TooManyMembers {
        /// How many are accepted.
        limit: usize,
    },
    /// Structures that contain each other too deeply.
    StructuresTooDeep {
        /// How many may contain each other.
        limit: usize,
    },
    /// A member whose length is not given, not positive, or enormous.
    MemberLength {
        /// The member.
        name: String,
    },
    /// An enumeration constant that no `int` holds.
    EnumeratorRange {
        /// The constant.
        name: String,
    },
    /// Something that has to be known before anything runs and is not.
    NotConstant,
    /// A `_Static_assert` of something that does not hold.
    AssertionFails {
        /// What the source says about it.
        text: String,
    },
    /// `sizeof` of something whose size is not constant.
    SizeUnknown,
    /// A word such as `static` where it has no meaning.
    MisplacedWord(&'static str),
    /// A parameter without a name.
    UnnamedParameter,
    /// `a[]` without a length.
    MissingLength {
        /// The array.
        array: String,
    },
    /// A length that is not an affine function of integer parameters and constants.
    LengthNotAffine {
        /// The array.
        array: String,
    },
    /// Two things of one name in one scope.
    Duplicate {
        /// The name.
        name: String,
    },
}

impl DeclarationProblem {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::NotAType { .. } => "E021",
            Self::UnknownType { .. } => "E028",
            Self::VoidValue => "E022",
            Self::UnknownTag { .. } => "E033",
            Self::TooManyMembers { .. } => "E049",
            Self::StructuresTooDeep { .. } => "E029",
            Self::MemberLength { .. } => "E028",
            Self::EnumeratorRange { .. } => "E071",
            Self::NotConstant => "E070",
            Self::SizeUnknown => "E072",
            Self::AssertionFails { .. } => "E073",
            Self::MisplacedWord(_) => "E023",
            Self::UnnamedParameter => "E024",
            Self::MissingLength { .. } => "E025",
            Self::LengthNotAffine { .. } => "E026",
            Self::Duplicate { .. } => "E031",
        }
    }

    pub(super) fn help(&self) -> Option<String> {
        let help = match self {
            Self::NotAType { text } if text.is_empty() => {
                "write one: `int`, or `double`".to_owned()
            }
            Self::NotAType { text } if text.contains("long") && text.contains("double") => {
                "write `double`, the widest floating type here".to_owned()
            }
            Self::UnknownType {
                nearest: Some(nearest),
                ..
            } => format!("did you mean `{nearest}`?"),
            Self::UnknownType { .. } => {
                "name a type of C, or declare it in this file: `typedef double real;`".to_owned()
            }
            Self::VoidValue => "give it the type of a number".to_owned(),
            Self::MisplacedWord(word) => format!("leave `{word}` out"),
            Self::UnnamedParameter => "give it a name, or leave it out".to_owned(),
            Self::NotConstant => {
                "literals, constants and operators on them are accepted; calls and variables are not"
                    .to_owned()
            }
            Self::MissingLength { array } => {
                format!("give the length as a parameter in front of it: `{array}[n]`")
            }
            Self::LengthNotAffine { .. } => {
                "a length is a short sum of integer parameters, products of them, and constants, or such a sum divided by a \
                 constant"
                    .to_owned()
            }
            _ => return None,
        };
        Some(help)
    }
}

impl fmt::Display for DeclarationProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAType { text } if text.is_empty() => f.write_str("a type is missing here"),
            Self::NotAType { text } => write!(f, "`{text}` is not a type of the language"),
            Self::UnknownType { name, .. } => {
                write!(f, "there is no type `{}`", clipped(name))
            }
            Self::VoidValue => f.write_str("`void` has no values"),
            Self::UnknownTag { name } => write!(f, "nothing is called `{}` here", clipped(name)),
            Self::TooManyMembers { limit } => {
                write!(f, "this structure has more than {limit} members")
            }
            Self::StructuresTooDeep { limit } => {
                write!(f, "more than {limit} structures contain each other here")
            }
            Self::MemberLength { name } => write!(
                f,
                "the length of the member `{}` is no positive constant of 32 bits",
                clipped(name)
            ),
            Self::EnumeratorRange { name } => {
                write!(f, "the constant `{}` does not fit an `int`", clipped(name))
            }
            Self::NotConstant => f.write_str("this has to be constant"),
            Self::AssertionFails { text } if text.is_empty() => {
                f.write_str("this assertion does not hold")
            }
            Self::AssertionFails { text } => {
                write!(f, "this assertion does not hold: {}", clipped(text))
            }
            Self::SizeUnknown => f.write_str("the size of this is not constant"),
            Self::MisplacedWord(word) => write!(f, "`{word}` has no meaning here"),
            Self::UnnamedParameter => f.write_str("this parameter has no name"),
            Self::MissingLength { array } => write!(f, "the array `{array}` has no length"),
            Self::LengthNotAffine { array } => {
                write!(
                    f,
                    "this length of `{array}` is not known when the kernel is called"
                )
            }
            Self::Duplicate { name } => write!(f, "`{name}` is declared twice"),
        }
    }
}
