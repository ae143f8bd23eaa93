//! Why a call did not end as it should, and how that is said.

use crate::CompileError;
use crate::argument::ArgumentKind;
use std::fmt;
use strew_affine::interpret::Fault;
use strew_runtime::Failure;

/// Why a call did not end as it should. All arrays are then as they were before it.
#[derive(Clone, Debug, PartialEq)]
pub enum CallError {
    /// Too few or too many arguments.
    Count {
        /// How many the kernel takes.
        expected: usize,
        /// How many there were.
        found: usize,
    },
    /// An argument of the wrong kind.
    Mismatch {
        /// The parameter's name.
        parameter: String,
        /// What the kernel takes.
        expected: ArgumentKind,
        /// What there was.
        found: ArgumentKind,
    },
    /// An array of the wrong length.
    Length {
        /// The array's name.
        array: String,
        /// Its extents with these scalar arguments.
        extents: Vec<i64>,
        /// The number of elements there were.
        found: usize,
    },
    /// A size that strew cannot calculate with: an extent below zero, a bound or subscript that
    /// left 64 bits, a divisor in one of them that is not positive.
    Size {
        /// The array or loop whose size it is.
        what: String,
    },
    /// A fault in the kernel.
    Fault(Fault),
    /// A fault, or sizes as in [`CallError::Size`], met by code that tells no more: see
    /// [`Faults::Bare`](crate::Faults::Bare).
    BareFault,
    /// The runtime could not run or finish it.
    Failure(Failure),
    /// The code for these sizes could not be made.
    Compile(CompileError),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { expected, found } => {
                write!(
                    f,
                    "the kernel takes {expected} arguments, there are {found}"
                )
            }
            Self::Mismatch {
                parameter,
                expected,
                found,
            } => write!(
                f,
                "parameter `{parameter}` is {expected}, the argument is {found}"
            ),
            Self::Length {
                array,
                extents,
                found,
            } => write!(
                f,
                "array `{array}` has the shape {extents:?} with these sizes, the argument has {found} elements"
            ),
            Self::Size { what } => write!(
                f,
                "the sizes are beyond what can be calculated with, or below zero: {what}"
            ),
            Self::Fault(fault) => fault.fmt(f),
            Self::BareFault => {
                f.write_str("the kernel met a fault; its code was compiled to tell no more")
            }
            Self::Failure(failure) => failure.fmt(f),
            Self::Compile(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CallError {}
