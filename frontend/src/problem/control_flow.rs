//! Loops, jumps, `return` and `switch`.

use super::wording::c_name;
use std::fmt;
use strew_affine::Type;

/// What is wrong with the way control goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlFlowProblem {
    /// `#pragma strew` in front of something that is not a `for` loop.
    PragmaWithoutLoop,
    /// `#pragma strew` in front of a loop whose iterations cannot be counted.
    PragmaOnUncountedLoop {
        /// Why they cannot.
        why: Uncounted,
    },
    /// `if (…);`, or a loop `for (…);` in front of a block.
    EmptyBody(&'static str),
    /// `if (a = b)`
    AssignedCondition,
    /// A statement that control never comes to.
    Unreachable,
    /// `break` or `continue` with nothing around it to leave.
    JumpNowhere(&'static str),
    /// `return;` in a function that returns a value.
    ReturnWithoutValue,
    /// `return value;` in a function that is `void`.
    ReturnFromVoid,
    /// A function that returns a value and ends without `return`.
    MissingReturn {
        /// The function.
        function: String,
    },
    /// A `switch` on a value of floating type.
    SwitchNotInteger {
        /// The type of the value.
        ty: Type,
    },
    /// A `case` label that is not an integer constant.
    CaseNotConstant,
    /// A label that the `switch` has already.
    DuplicateCase,
    /// `case` or `default` that no `switch` is directly around.
    MisplacedCase {
        /// Whether it stands inside of another statement of a `switch`.
        in_switch: bool,
    },
}

impl ControlFlowProblem {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::PragmaWithoutLoop => "E050",
            Self::PragmaOnUncountedLoop { .. } => "E051",
            Self::EmptyBody(_) => "W007",
            Self::AssignedCondition => "W006",
            Self::Unreachable => "W003",
            Self::JumpNowhere(_) => "E060",
            Self::ReturnWithoutValue => "E061",
            Self::ReturnFromVoid => "E062",
            Self::MissingReturn { .. } => "W004",
            Self::SwitchNotInteger { .. } => "E063",
            Self::CaseNotConstant => "E064",
            Self::DuplicateCase => "E065",
            Self::MisplacedCase { .. } => "E066",
        }
    }

    pub(super) fn help(&self) -> Option<String> {
        let help = match self {
            Self::PragmaWithoutLoop => "put it on the line above a `for` loop".to_owned(),
            Self::PragmaOnUncountedLoop { why } => why.help().to_owned(),
            Self::EmptyBody(_) => {
                "leave the `;` out, or write `{}` if nothing is to be done".to_owned()
            }
            Self::AssignedCondition => {
                "write `==`, or parentheses around it if the assignment is meant".to_owned()
            }
            Self::ReturnWithoutValue => "write `return value;`".to_owned(),
            Self::ReturnFromVoid => {
                "write `return;`, or declare the function with the type of the value".to_owned()
            }
            Self::MissingReturn { .. } => {
                "it returns 0 then; end it with `return value;`".to_owned()
            }
            Self::SwitchNotInteger { .. } => "write `if … else if …`".to_owned(),
            Self::CaseNotConstant => {
                "a label is an integer constant; compare with variables in an `if`".to_owned()
            }
            Self::MisplacedCase { in_switch: false } => {
                "labels stand directly in the braces of their `switch`".to_owned()
            }
            Self::MisplacedCase { in_switch: true } => {
                "put it directly into the braces of the `switch`; instead of a jump into a loop, write a second loop for what is left over"
                    .to_owned()
            }
            _ => return None,
        };
        Some(help)
    }
}

impl fmt::Display for ControlFlowProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PragmaWithoutLoop => f.write_str("no `for` loop follows this `#pragma strew`"),
            Self::PragmaOnUncountedLoop { why } => {
                write!(f, "the loop cannot be scheduled: {why}")
            }
            Self::EmptyBody(word) => {
                write!(f, "this `;` is all that the `{word}` is about")
            }
            Self::AssignedCondition => f.write_str("this condition assigns, and compares nothing"),
            Self::Unreachable => f.write_str("this statement is never reached"),
            Self::JumpNowhere("continue") => f.write_str("`continue` stands outside of any loop"),
            Self::JumpNowhere(word) => {
                write!(f, "`{word}` stands outside of any loop and `switch`")
            }
            Self::ReturnWithoutValue => f.write_str("this `return` lacks a value"),
            Self::ReturnFromVoid => f.write_str("a `void` function returns no value"),
            Self::MissingReturn { function } => {
                write!(f, "`{function}` can end without returning a value")
            }
            Self::SwitchNotInteger { ty } => {
                write!(f, "`switch` needs an integer, this is a `{}`", c_name(*ty))
            }
            Self::CaseNotConstant => f.write_str("this label is not an integer constant"),
            Self::DuplicateCase => f.write_str("this `switch` has the label twice"),
            Self::MisplacedCase { in_switch: false } => {
                f.write_str("this label stands outside of the braces of a `switch`")
            }
            Self::MisplacedCase { in_switch: true } => {
                f.write_str("this label stands inside of another statement of its `switch`")
            }
        }
    }
}

/// Why a `for` loop has no iterator in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncounted {
    /// The condition does not compare a variable, to which every turn adds the same, with a bound.
    Header,
    /// The iterator is assigned in the body too.
    IteratorAssigned,
    /// What the bound is computed from changes in the loop.
    BoundChanges,
    /// The iterator could wrap around before it reaches the bound.
    MayWrap,
    /// `break` or `return` in the body ends it early.
    Left,
}

impl Uncounted {
    fn help(self) -> &'static str {
        match self {
            Self::Header => "write it as `for (int64_t i = first; i < end; i++)`",
            Self::IteratorAssigned => "leave the iterator alone in the body",
            Self::BoundChanges => "copy the bound into a `const` local in front of the loop",
            Self::MayWrap => "declare the iterator `int64_t` and compare with `<`",
            Self::Left => "let it run to its end, or leave the pragma out",
        }
    }
}

impl fmt::Display for Uncounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "it does not count to a bound by the same amount in every turn",
            Self::IteratorAssigned => "its iterator is assigned in its body",
            Self::BoundChanges => "its bound changes while it runs",
            Self::MayWrap => "its iterator may wrap around before it reaches the bound",
            Self::Left => "`break` or `return` can end it early",
        })
    }
}
