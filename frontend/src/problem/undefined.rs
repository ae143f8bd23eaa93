//! What C leaves undefined, where it can be seen in the text. Here it is defined, but hardly meant.

use super::wording::{c_name, clipped};
use std::fmt;
use strew_affine::Type;

/// What C leaves undefined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UndefinedProblem {
    /// A shift by less than nothing, or by the width of the number or more.
    ShiftCount {
        /// By how much.
        count: i128,
        /// What is shifted.
        ty: Type,
    },
    /// An integer divided by a constant zero.
    DivisionByZero,
    /// A signed result that its type cannot hold.
    Overflow {
        /// The type.
        ty: Type,
    },
    /// A floating constant that becomes an integer of a type that cannot hold it.
    Conversion {
        /// The type of the integer.
        to: Type,
    },
    /// A variable that is changed where the same expression uses or changes it, in no order that C
    /// tells.
    Unsequenced {
        /// The variable.
        name: String,
    },
}

impl UndefinedProblem {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::ShiftCount { .. } => "W020",
            Self::DivisionByZero => "W021",
            Self::Overflow { .. } => "W022",
            Self::Conversion { .. } => "W023",
            Self::Unsequenced { .. } => "W024",
        }
    }

    pub(super) fn help(&self) -> Option<String> {
        Some(match self {
            Self::ShiftCount { count, ty } => {
                let bits = i128::from(ty.bits());
                let taken = count.rem_euclid(bits);
                format!("C leaves it open; here it is a shift by {taken}, the count modulo {bits}")
            }
            Self::DivisionByZero => {
                "C leaves it open; here it is a fault when it is reached".to_owned()
            }
            Self::Overflow { .. } => {
                "C leaves it open; here it wraps; convert an operand to a wider type, as in `(int64_t)x`"
                    .to_owned()
            }
            Self::Conversion { .. } => {
                "C leaves it open; here it is the nearest end of the range, and NaN becomes 0"
                    .to_owned()
            }
            Self::Unsequenced { .. } => {
                "C leaves it open; here operands are evaluated from left to right, and a value before its \
                 place; write two statements"
                    .to_owned()
            }
        })
    }
}

impl fmt::Display for UndefinedProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShiftCount { count, ty } => write!(
                f,
                "a shift by {count} of an `{}`, which has {} bits",
                c_name(*ty),
                ty.bits()
            ),
            Self::DivisionByZero => f.write_str("this divides by zero"),
            Self::Overflow { ty } => write!(f, "this is beyond what an `{}` holds", c_name(*ty)),
            Self::Conversion { to } => {
                write!(f, "this constant is beyond what `{}` holds", c_name(*to))
            }
            Self::Unsequenced { name } => write!(
                f,
                "`{}` is changed and used in one expression, in no order that C tells",
                clipped(name)
            ),
        }
    }
}
