//! Arrays and their subscripts.

use super::wording::c_name;
use std::fmt;
use strew_affine::Type;
use strew_affine::spelling::counted;

/// What is wrong with the use of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubscriptProblem {
    /// Subscripts on something that is not an array.
    NotAnArray {
        /// What is subscripted.
        name: Option<String>,
    },
    /// An array without subscripts where a value is needed.
    ArrayAsValue {
        /// The array.
        array: String,
    },
    /// Too few or too many subscripts.
    SubscriptCount {
        /// The array.
        array: String,
        /// How many dimensions it has.
        dimensions: usize,
        /// How many subscripts there are.
        found: usize,
    },
    /// A subscript of floating type.
    SubscriptNotInteger {
        /// The array.
        array: String,
        /// The type of the subscript.
        ty: Type,
    },
}

impl SubscriptProblem {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::NotAnArray { .. } => "E040",
            Self::ArrayAsValue { .. } => "E041",
            Self::SubscriptCount { .. } => "E042",
            Self::SubscriptNotInteger { .. } => "E043",
        }
    }

    pub(super) fn help(&self) -> Option<String> {
        let help = match self {
            Self::ArrayAsValue { array } => format!("name one element: `{array}[i]`"),
            Self::SubscriptNotInteger { .. } => {
                "convert it to an integer, for example with a cast `(int64_t)`".to_owned()
            }
            _ => return None,
        };
        Some(help)
    }
}

impl fmt::Display for SubscriptProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnArray { name: Some(name) } => write!(f, "`{name}` is not an array"),
            Self::NotAnArray { name: None } => f.write_str("only an array can have subscripts"),
            Self::ArrayAsValue { array } => {
                write!(f, "the array `{array}` stands where a number is needed")
            }
            Self::SubscriptCount {
                array,
                dimensions,
                found,
            } => write!(
                f,
                "`{array}` has {}, here it has {}",
                counted(*dimensions, "dimension"),
                counted(*found, "subscript")
            ),
            Self::SubscriptNotInteger { array, ty } => {
                write!(f, "this subscript of `{array}` is a `{}`", c_name(*ty))
            }
        }
    }
}
