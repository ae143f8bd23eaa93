//! Initial values.

use std::fmt;

/// What is wrong with initial values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InitializerProblem {
    /// An array with an initial value that is no list in braces.
    ArrayWithoutBraces,
    /// More braces than the array has dimensions.
    TooManyBraces,
    /// More initial values than there are elements.
    TooManyInitializers,
    /// Initial values for an array whose length is not constant.
    InitializedVariableLength {
        /// The array.
        array: String,
    },
    /// `{ … }` where one value is needed.
    MisplacedBraces,
    /// A constant array whose values too many kernels would have to hold.
    ConstantsTooLong {
        /// How many values, and statements and expressions of calls, all kernels may have together.
        limit: usize,
    },
}

impl InitializerProblem {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::ArrayWithoutBraces => "E073",
            Self::TooManyBraces => "E074",
            Self::TooManyInitializers => "E075",
            Self::InitializedVariableLength { .. } => "E076",
            Self::MisplacedBraces => "E027",
            Self::ConstantsTooLong { .. } => "E089",
        }
    }

    pub(super) fn help(&self) -> Option<String> {
        let help = match self {
            Self::ArrayWithoutBraces => "write the values in braces: `{1, 2, 3}`".to_owned(),
            Self::InitializedVariableLength { .. } => {
                "leave the values out: the elements are 0 at first".to_owned()
            }
            Self::ConstantsTooLong { .. } => "make the array a parameter of the kernels".to_owned(),
            _ => return None,
        };
        Some(help)
    }
}

impl fmt::Display for InitializerProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ArrayWithoutBraces => f.write_str("an array is initialised by a list in braces"),
            Self::TooManyBraces => f.write_str("there are more braces here than dimensions"),
            Self::TooManyInitializers => {
                f.write_str("this initial value is beyond the end of the array")
            }
            Self::InitializedVariableLength { array } => {
                write!(
                    f,
                    "`{array}` has initial values, but its length is not constant"
                )
            }
            Self::MisplacedBraces => {
                f.write_str("values in braces stand where one number is needed")
            }
            Self::ConstantsTooLong { limit } => {
                write!(
                    f,
                    "the kernels need more than {limit} values of constant arrays and calls"
                )
            }
        }
    }
}
