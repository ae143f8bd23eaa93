//! Pointers into arrays.

use super::wording::clipped;
use std::fmt;

/// What is wrong with the use of a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PointerProblem {
    /// A pointer that is used before it points anywhere, or that points into rows from the
    /// beginning.
    PointerUnset {
        /// The pointer.
        name: String,
    },
    /// A pointer to elements of another type or shape than those of the array.
    PointerMismatch {
        /// The pointer.
        name: String,
        /// The array.
        array: String,
    },
    /// A pointer is set to, or compared with, one into another array.
    PointerElsewhere {
        /// The array on the left.
        from: String,
        /// The array on the right.
        to: String,
    },
    /// A pointer to a variable is moved.
    BesideVariable {
        /// The variable.
        name: String,
    },
    /// A pointer is first set to something in a block inside of its own.
    PointerOutlives {
        /// The pointer.
        name: String,
        /// What it points to.
        target: String,
    },
    /// A number where a pointer is needed.
    NumberAsPointer,
    /// An operator that pointers do not have.
    PointerOperands {
        /// As written.
        operator: &'static str,
    },
}

impl PointerProblem {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::PointerUnset { .. } => "E090",
            Self::PointerMismatch { .. } => "E091",
            Self::PointerElsewhere { .. } => "E092",
            Self::NumberAsPointer => "E094",
            Self::PointerOperands { .. } => "E093",
            Self::BesideVariable { .. } => "E096",
            Self::PointerOutlives { .. } => "E097",
        }
    }

    pub(super) fn help(&self) -> Option<String> {
        let help = match self {
            Self::PointerUnset { .. } => {
                "give it its first value where it is declared: `double *p = a;`".to_owned()
            }
            Self::PointerElsewhere { .. } => {
                "a pointer stays inside of one array; to go from one to another, make them rows of one: `double t[2][n]`"
                    .to_owned()
            }
            Self::PointerOutlives { name, target } => format!(
                "give `{}` its first value where it is declared, behind the declaration of `{}`",
                clipped(name),
                clipped(target)
            ),
            Self::BesideVariable { .. } => {
                "only `*p` and `p[0]` are there; declare an array if there are to be more".to_owned()
            }
            _ => return None,
        };
        Some(help)
    }
}

impl fmt::Display for PointerProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PointerUnset { name } => {
                write!(
                    f,
                    "the pointer `{}` does not point into an array here",
                    clipped(name)
                )
            }
            Self::PointerMismatch { name, array } => {
                write!(
                    f,
                    "`{name}` does not point to elements like those of `{array}`"
                )
            }
            Self::PointerElsewhere { from, to } if from == to => {
                write!(f, "these pointers are in different rows of `{from}`")
            }
            Self::PointerElsewhere { from, to } => {
                write!(f, "a pointer into `{from}` meets one into `{to}`")
            }
            Self::PointerOutlives { name, target } => write!(
                f,
                "the pointer `{}` could outlive `{}`, which it points to",
                clipped(name),
                clipped(target)
            ),
            Self::BesideVariable { name } => {
                write!(f, "nothing lies beside the variable `{}`", clipped(name))
            }
            Self::NumberAsPointer => f.write_str("a number stands where a pointer is needed"),
            Self::PointerOperands { operator } => {
                write!(f, "`{operator}` does not work on these pointers")
            }
        }
    }
}
