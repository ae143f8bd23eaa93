//! Functions and calls that the language leaves out.

use super::super::wording::clipped;
use std::fmt;

/// Functions and calls that the language does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnsupportedFunction {
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
    /// `[&](int i) { … }` of C++.
    Lambda,
    /// A function that returns a pointer.
    PointerReturned,
    /// A kernel that returns a structure.
    StructureReturned {
        /// The kernel.
        name: String,
    },
}

impl UnsupportedFunction {
    pub(in crate::problem) fn help(&self) -> Option<String> {
        let help = match self {
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
            Self::Lambda => "this is C++: write a `static` function",
            Self::PointerReturned => "hand results over in an array parameter",
            Self::StructureReturned { .. } => {
                "store it to an element of an array parameter, or make the function `static` and call it"
            }
        };
        Some(help.to_owned())
    }
}

impl fmt::Display for UnsupportedFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
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
            Self::Lambda => f.write_str("functions inside of expressions are not in the language"),
            Self::PointerReturned => {
                f.write_str("functions that return pointers are not in the language")
            }
            Self::StructureReturned { name } => write!(
                f,
                "the kernel `{name}` returns a structure; only functions that others call can do that"
            ),
        }
    }
}
