//! Calls and their arguments.

use super::library;
use super::wording::clipped;
use std::fmt;
use strew_affine::spelling::counted;

/// What is wrong with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallProblem {
    /// A function that calls itself, perhaps by way of others.
    Recursion {
        /// The functions, each of which calls the next and the last of which the first.
        cycle: Vec<String>,
    },
    /// A call of a function that nothing declares.
    UnknownFunction {
        /// The function.
        function: String,
        /// The function that is spelled most like it.
        nearest: Option<String>,
    },
    /// A call of a function of a library that no kernel can call.
    Library {
        /// The function.
        function: String,
        /// The arguments that are names.
        arguments: Vec<Option<String>>,
    },
    /// A call of a function of a library that copies or fills memory, with the address of a number.
    OfScalar {
        /// The function.
        function: String,
    },
    /// A call of a function of the compiler that has another name in C.
    Builtin {
        /// The function.
        function: String,
        /// The function of C.
        plain: String,
    },
    /// An `assert`, which is left out.
    Assertion,
    /// A call of a function that is declared only.
    NotDefined {
        /// The function.
        function: String,
    },
    /// A call of a function on `long double`.
    LongDouble {
        /// The function.
        function: String,
        /// The function on `double`.
        double: String,
    },
    /// Too few or too many arguments.
    ArgumentCount {
        /// The function.
        function: String,
        /// How many parameters it has.
        expected: usize,
        /// How many arguments there are.
        found: usize,
    },
    /// A value where a function takes an array.
    ArgumentNotArray {
        /// The parameter.
        parameter: String,
    },
    /// An array whose elements or lengths are not those of the parameter.
    ArgumentShape {
        /// The array.
        array: String,
        /// Its type.
        found: String,
        /// The parameter.
        parameter: String,
        /// The type of that.
        expected: String,
    },
    /// A `const` array where a function takes one that it may write.
    ArgumentConst {
        /// The array.
        array: String,
        /// The parameter.
        parameter: String,
    },
    /// Calls are inside of too many other calls.
    CallsTooDeep {
        /// How many levels of functions, statements and expressions are accepted.
        limit: usize,
    },
    /// Calls make the kernels of a file too large.
    CallsTooLong {
        /// How many statements and expressions they may add.
        limit: usize,
    },
}

impl CallProblem {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Recursion { .. } => "E032",
            Self::UnknownFunction { .. } => "E080",
            Self::Library { .. } | Self::OfScalar { .. } | Self::Builtin { .. } => "E095",
            Self::Assertion => "W005",
            Self::NotDefined { .. } => "E081",
            Self::LongDouble { .. } => "E082",
            Self::ArgumentCount { .. } => "E083",
            Self::ArgumentNotArray { .. } => "E084",
            Self::ArgumentShape { .. } => "E085",
            Self::ArgumentConst { .. } => "E086",
            Self::CallsTooDeep { .. } => "E087",
            Self::CallsTooLong { .. } => "E088",
        }
    }

    pub(super) fn help(&self) -> Option<String> {
        let help = match self {
            Self::Recursion { .. } => "write a loop".to_owned(),
            Self::UnknownFunction { nearest: None, .. } => {
                "the functions of the file can be called, and those of `math.h` from floats to a float".to_owned()
            }
            Self::UnknownFunction {
                nearest: Some(nearest),
                ..
            } => format!("did you mean `{nearest}`?"),
            Self::Library {
                function,
                arguments,
            } => library::instead_of(function, arguments),
            Self::OfScalar { .. } => {
                "write `=`, which converts the value: the bits of one type cannot be read as another".to_owned()
            }
            Self::Builtin { plain, .. } => format!("call `{plain}`"),
            Self::Assertion => {
                "indices are checked anyway; `#define NDEBUG` says that this is meant".to_owned()
            }
            Self::NotDefined { .. } => {
                "define it in this file; a host can only give what updates are combined by".to_owned()
            }
            Self::LongDouble { double, .. } => {
                format!("call `{double}`; there is no `long double`")
            }
            Self::ArgumentNotArray { .. } => "hand over an array by its name".to_owned(),
            Self::ArgumentShape { .. } => {
                "all lengths but the first have to be the same".to_owned()
            }
            Self::ArgumentConst { parameter, .. } => {
                format!("declare `{parameter}` `const` if the function only reads it")
            }
            Self::CallsTooDeep { .. } | Self::CallsTooLong { .. } => {
                "the body of a function is put in at each call: call less, or make functions smaller"
                    .to_owned()
            }
            _ => return None,
        };
        Some(help)
    }
}

impl fmt::Display for CallProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recursion { cycle } => recursion(f, cycle),
            Self::UnknownFunction { function, .. } => {
                write!(f, "there is no function `{}`", clipped(function))
            }
            Self::Library { function, .. }
            | Self::OfScalar { function }
            | Self::Builtin { function, .. } => {
                write!(f, "`{}` cannot be called in a kernel", clipped(function))
            }
            Self::Assertion => f.write_str("`assert` is left out, nothing is checked here"),
            Self::NotDefined { function } => {
                write!(f, "`{function}` is declared here, but not defined")
            }
            Self::LongDouble { function, .. } => {
                write!(f, "`{function}` computes in `long double`")
            }
            Self::ArgumentCount {
                function,
                expected,
                found,
            } => write!(
                f,
                "`{function}` takes {}, here it gets {found}",
                counted(*expected, "argument")
            ),
            Self::ArgumentNotArray { parameter } => {
                write!(f, "`{parameter}` is an array, this is not")
            }
            Self::ArgumentShape {
                array,
                found,
                parameter,
                expected,
            } => write!(
                f,
                "`{array}` is `{found}`, the parameter `{parameter}` is `{expected}`"
            ),
            Self::ArgumentConst { array, parameter } => {
                write!(
                    f,
                    "`{array}` is `const`, the parameter `{parameter}` is not"
                )
            }
            Self::CallsTooDeep { limit } => {
                write!(f, "calls reach more than {limit} levels deep")
            }
            Self::CallsTooLong { limit } => {
                write!(f, "calls add more than {limit} statements and expressions")
            }
        }
    }
}

fn recursion(f: &mut fmt::Formatter<'_>, cycle: &[String]) -> fmt::Result {
    let (first, others) = match cycle {
        [first, others @ ..] => (first.as_str(), others),
        [] => ("it", [].as_slice()),
    };
    write!(f, "`{first}` calls itself")?;
    for (position, name) in others.iter().enumerate() {
        let word = if position == 0 { " through" } else { "," };
        write!(f, "{word} `{name}`")?;
    }
    f.write_str("; kernels cannot be recursive")
}
