//! Combiners that a file declares.

use super::wording::{c_name, clipped};
use std::fmt;
use strew_affine::{BrokenLaw, Function, Type};

/// What is wrong with a `#pragma strew declare reduction`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReductionProblem {
    /// A declaration inside of a function.
    Misplaced,
    /// The name of a combiner that needs no declaration.
    BuiltIn {
        /// The name.
        name: String,
    },
    /// A second declaration of a name.
    Duplicate {
        /// The name.
        name: String,
    },
    /// What is combined is computed by loops, or by way of arrays.
    NotAnExpression {
        /// The combiner.
        name: String,
    },
    /// What is combined divides integers by what may be 0.
    Divides {
        /// The combiner.
        name: String,
    },
    /// The expression is too large, all that it calls put in.
    TooLarge {
        /// The combiner.
        name: String,
        /// How many operations it may have.
        limit: usize,
    },
    /// Values on which a combiner does not keep the laws.
    Breaks {
        /// The combiner.
        name: String,
        /// The law, and the values.
        law: Box<BrokenLaw>,
    },
    /// A combiner that cannot be tried.
    NotTried {
        /// The combiner.
        name: String,
        /// What is not computed without the platform's library.
        function: Function,
    },
    /// A combiner of the host that panics on samples.
    Panics {
        /// The combiner.
        name: String,
        /// What the panic said.
        message: String,
    },
    /// A function of the host that is declared in another type than the host gives it in.
    HostType {
        /// The function.
        name: String,
        /// The type of what the host combines.
        host: Type,
    },
    /// A function of the host that is called otherwise than to combine.
    HostCall {
        /// The function.
        name: String,
    },
    /// No statement is a reduction by it.
    Unused {
        /// The combiner.
        name: String,
    },
}

impl ReductionProblem {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::BuiltIn { .. } => "E100",
            Self::Duplicate { .. } => "E101",
            Self::NotAnExpression { .. } => "E102",
            Self::Divides { .. } => "E103",
            Self::TooLarge { .. } => "E104",
            Self::HostType { .. } => "E105",
            Self::HostCall { .. } => "E106",
            Self::Misplaced => "E107",
            Self::Breaks { .. } => "W100",
            Self::Panics { .. } => "W103",
            Self::NotTried { .. } => "W101",
            Self::Unused { .. } => "W102",
        }
    }

    pub(super) fn help(&self) -> Option<String> {
        let help = match self {
            Self::Misplaced => "put it in front of the function".to_owned(),
            Self::BuiltIn { .. } | Self::Duplicate { .. } => "give it another name".to_owned(),
            Self::NotAnExpression { .. } => {
                "operators, `math.h`, and functions of this file that branch but do not loop are accepted".to_owned()
            }
            Self::Divides { .. } => {
                "a zero divisor could be met where no iteration can be named; divide by a constant, or outside of it".to_owned()
            }
            Self::TooLarge { .. } => "call smaller functions".to_owned(),
            Self::HostType { name, host } => {
                let (name, ty) = (clipped(name), c_name(*host));
                format!("declare it as `{ty} {name}({ty} a, {ty} b);`")
            }
            Self::HostCall { name } => {
                format!("it combines: `out[k] = {}(out[k], x)`", clipped(name))
            }
            Self::Breaks { .. } | Self::NotTried { .. } | Self::Panics { .. } => {
                "updates by it stay in the order of the loop".to_owned()
            }
            Self::Unused { name } => format!(
                "a statement such as `out[k] = {}(out[k], x)` is one, if it computes what is declared, in the type that is declared, and is no reduction that is built in",
                clipped(name)
            ),
        };
        Some(help)
    }
}

impl fmt::Display for ReductionProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misplaced => f.write_str("a reduction is declared outside of functions"),
            Self::BuiltIn { name } => {
                write!(f, "`{}` is a reduction that is built in", clipped(name))
            }
            Self::Duplicate { name } => {
                write!(f, "the reduction `{}` is declared twice", clipped(name))
            }
            Self::NotAnExpression { name } => write!(
                f,
                "what `{}` computes cannot be written as one expression of `a` and `b`",
                clipped(name)
            ),
            Self::Divides { name } => {
                write!(f, "`{}` divides integers by what may be 0", clipped(name))
            }
            Self::TooLarge { name, limit } => write!(
                f,
                "`{}` has more than {limit} operations, or more than 100 inside each other",
                clipped(name)
            ),
            Self::Breaks { name, law } => {
                write!(f, "`{}` is no reduction: {law}", clipped(name))
            }
            Self::NotTried { name, function } => write!(
                f,
                "whether `{}` is a reduction cannot be tried: `{function}` is not computed here",
                clipped(name)
            ),
            Self::Panics { name, message } => write!(
                f,
                "`{}` panicked when it was tried: {message}",
                clipped(name)
            ),
            Self::HostType { name, host } => write!(
                f,
                "the host combines values of type `{}` by `{}`, which is declared otherwise",
                c_name(*host),
                clipped(name)
            ),
            Self::HostCall { name } => write!(
                f,
                "`{}` is a function of the host, and this call combines nothing",
                clipped(name)
            ),
            Self::Unused { name } => {
                write!(f, "no statement is a reduction by `{}`", clipped(name))
            }
        }
    }
}
