//! Names, members, operators and assignments.

use super::wording::{c_name, clipped};
use std::fmt;
use strew_affine::Type;

/// What is wrong with an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpressionProblem {
    /// A name that nothing visible has.
    UnknownName {
        /// The name.
        name: String,
        /// The visible name that is spelled most like it.
        nearest: Option<String>,
        /// Whether a parameter behind it has the name.
        is_later: bool,
    },
    /// A member that a structure does not have.
    UnknownMember {
        /// The member.
        name: String,
        /// The structure; absent where there is none.
        of: Option<String>,
        /// Its member that is spelled most like it, or all of its members.
        instead: Vec<String>,
    },
    /// A structure where a number is needed.
    StructureAsValue {
        /// The structure.
        name: String,
    },
    /// Something else where a structure of one kind is needed.
    NotTheStructure {
        /// The structure.
        name: String,
    },
    /// A copy of a structure that has very many numbers.
    CopyTooLarge {
        /// The structure.
        name: String,
        /// How many it may have.
        limit: u64,
    },
    /// A store to something declared `const`.
    AssignToConst {
        /// What is stored to.
        name: String,
    },
    /// A store to something that is no variable and no array element.
    NotAssignable,
    /// An operator of integers with a floating operand.
    IntegerOperator {
        /// As written.
        operator: &'static str,
        /// The type of the operand.
        ty: Type,
    },
    /// A local that is read before anything was assigned to it.
    ReadBeforeAssigned {
        /// The local.
        name: String,
    },
    /// A statement that computes something and drops it.
    NoEffect,
}

impl ExpressionProblem {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::UnknownName { .. } => "E030",
            Self::UnknownMember { .. } => "E034",
            Self::StructureAsValue { .. } => "E047",
            Self::NotTheStructure { .. } => "E048",
            Self::CopyTooLarge { .. } => "E035",
            Self::AssignToConst { .. } => "E044",
            Self::NotAssignable => "E045",
            Self::IntegerOperator { .. } => "E046",
            Self::ReadBeforeAssigned { .. } => "W001",
            Self::NoEffect => "W002",
        }
    }

    pub(super) fn help(&self) -> Option<String> {
        let help = match self {
            Self::UnknownName { is_later: true, .. } => {
                "a parameter of this name comes later; put it in front: sizes come before the arrays that have \
                 them"
                .to_owned()
            }
            Self::UnknownName { nearest, .. } => {
                return nearest.as_ref().map(|it| format!("did you mean `{it}`?"));
            }
            Self::UnknownMember { instead, .. } => match instead.as_slice() {
                [] => return None,
                [only] => format!("did you mean `{only}`?"),
                several => format!("its members are `{}`", several.join("`, `")),
            },
            Self::StructureAsValue { .. } => "name one of its members".to_owned(),
            Self::CopyTooLarge { .. } => "copy the members in a loop".to_owned(),
            Self::AssignToConst { .. } => "leave out the `const` in its declaration".to_owned(),
            Self::ReadBeforeAssigned { .. } => {
                "its value is 0 until then; write `= 0` if that is meant".to_owned()
            }
            _ => return None,
        };
        Some(help)
    }
}

impl fmt::Display for ExpressionProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownName { name, .. } => {
                write!(f, "nothing is called `{}` here", clipped(name))
            }
            Self::UnknownMember {
                name, of: Some(of), ..
            } => {
                write!(f, "`{}` has no member `{}`", clipped(of), clipped(name))
            }
            Self::UnknownMember { name, of: None, .. } => {
                write!(f, "`{}` is a member of nothing here", clipped(name))
            }
            Self::StructureAsValue { name } => {
                write!(
                    f,
                    "the structure `{}` stands where a number is needed",
                    clipped(name)
                )
            }
            Self::NotTheStructure { name } => {
                write!(f, "this is no structure `{}`", clipped(name))
            }
            Self::CopyTooLarge { name, limit } => write!(
                f,
                "`{}` has more than {limit} numbers, which is too much for a copy of all",
                clipped(name)
            ),
            Self::AssignToConst { name } => write!(f, "`{name}` is `const`"),
            Self::NotAssignable => f.write_str("this cannot be assigned to"),
            Self::IntegerOperator { operator, ty } => {
                write!(
                    f,
                    "`{operator}` needs integers, this is a `{}`",
                    c_name(*ty)
                )
            }
            Self::ReadBeforeAssigned { name } => {
                write!(f, "`{name}` is read before anything was assigned to it")
            }
            Self::NoEffect => f.write_str("this statement has no effect"),
        }
    }
}
