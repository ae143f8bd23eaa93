//! Why a kernel could not be compiled.

use std::fmt;

/// Why a verified kernel could not be turned into machine code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// A forall names a strategy that the runtime does not have.
    UnknownStrategy {
        /// The name in the kernel.
        name: String,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// A combiner is a function of a host, and no host gives it.
    NoHost {
        /// The combiner.
        name: String,
    },
    /// No code can be made for this processor.
    Processor(String),
    /// The code generator failed on a kernel that it should have taken.
    Internal(String),
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownStrategy { name, known } => write!(
                f,
                "there is no strategy `{name}`; there are auto, {}",
                known.join(", ")
            ),
            Self::NoHost { name } => write!(
                f,
                "no host gives the combiner `{name}`: `Compiler::reduction` does"
            ),
            Self::Processor(why) => write!(f, "no code can be made for this processor: {why}"),
            Self::Internal(why) => write!(f, "the code generator failed: {why}"),
        }
    }
}

impl std::error::Error for CompileError {}
