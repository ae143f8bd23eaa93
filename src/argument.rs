use std::fmt;
use strew_affine::{Kernel, Parameter, Type};
use strew_jit::{ArgumentKind, ElementType};

/// The name of `parameter`.
pub(crate) fn name_of(kernel: &Kernel, parameter: Parameter) -> &str {
    match parameter {
        Parameter::Scalar(scalar) => &kernel.scalars[scalar].name,
        Parameter::Array(array) => &kernel.arrays[array].name,
        Parameter::Record(record) => &kernel.records[record].name,
    }
}

/// Where the value of a size comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The caller gave it.
    Given,
    /// It follows from the shape of this array.
    Array(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given => f.write_str("as given"),
            Self::Array(name) => write!(f, "by `{name}`"),
        }
    }
}

/// What is wrong with the arguments of a call.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ArgumentError {
    /// The number of arguments is not that of the parameters.
    #[error("the kernel takes {} arguments ({}), the call gives {found}", .expected.len(), listed(.expected))]
    Count {
        /// What the kernel takes, by name.
        expected: Vec<(String, ArgumentKind)>,
        /// How many the call gives.
        found: usize,
    },
    /// A parameter without an argument.
    #[error("{}", missing(.parameter, .expected))]
    Missing {
        /// Its name.
        parameter: String,
        /// What it takes.
        expected: ArgumentKind,
    },
    /// An argument for something that is not a parameter.
    #[error("the kernel has no parameter `{name}`; it takes {}", listed(.parameters))]
    Unknown {
        /// The name given.
        name: String,
        /// What the kernel takes, by name.
        parameters: Vec<(String, ArgumentKind)>,
    },
    /// Two arguments for one parameter.
    #[error("`{parameter}` is given twice")]
    Repeated {
        /// Its name.
        parameter: String,
    },
    /// An argument of another type.
    #[error("`{parameter}` takes {}, the call gives {}{}", in_rust(.expected), in_rust(.found), why_not(.parameter, .expected, .found))]
    Type {
        /// The parameter's name.
        parameter: String,
        /// What it takes.
        expected: ArgumentKind,
        /// What the call gives.
        found: ArgumentKind,
    },
    /// The kernel returns another type than is asked for, or nothing.
    #[error("the kernel returns {}, not {}", type_or_nothing(.found), type_or_nothing(.expected))]
    Result {
        /// The type asked for.
        expected: Option<Type>,
        /// The type of the kernel's result.
        found: Option<Type>,
    },
    /// An array whose length is not known, though nothing else tells it.
    #[error("the length of `{parameter}` is not known: give the array, or its shape")]
    NoLength {
        /// The array.
        parameter: String,
    },
    /// The kernel assumes something of its parameters that does not hold.
    #[error("the kernel assumes `{condition}`, which does not hold for these arguments")]
    Assumption {
        /// The condition, as the kernel text writes it.
        condition: String,
    },
    /// Two arguments disagree about a size.
    #[error("`{size}` is {} {}, {} {}", .first.0, .first.1, .second.0, .second.1)]
    Contradiction {
        /// The size's name.
        size: String,
        /// One value and where it comes from.
        first: (i128, Origin),
        /// The other.
        second: (i128, Origin),
    },
    /// An array whose shape is not that of its parameter.
    #[error("`{parameter}` has {}, expected {} for {parameter}{extents}", shaped(.found), shaped(.expected))]
    Shape {
        /// The parameter's name.
        parameter: String,
        /// Its extents as they are written.
        extents: String,
        /// Their values, where the sizes are known.
        expected: Vec<i128>,
        /// What the array has: its dimensions, or a single number of elements.
        found: Vec<u64>,
    },
    /// An array whose number of elements is not that of the dimensions given with it.
    #[error("`{parameter}` has {found} elements, which the {} given for it does not hold", shaped(.dimensions))]
    Length {
        /// The parameter's name.
        parameter: String,
        /// The dimensions given.
        dimensions: Vec<u64>,
        /// The number of elements there are.
        found: u64,
    },
    /// Sizes that strew cannot calculate with.
    #[error("a size is below zero or beyond what can be calculated with: {what}")]
    Size {
        /// The array or loop whose size it is.
        what: String,
    },
    /// An array with another number of dimensions.
    #[error("`{parameter}` has {}, which does not have as many dimensions as {parameter}{extents}; shapes are never changed", shaped(.found))]
    Rank {
        /// The parameter's name.
        parameter: String,
        /// Its extents as they are written.
        extents: String,
        /// The dimensions of the array.
        found: Vec<u64>,
    },
    /// An array whose length no whole size explains.
    #[error("`{parameter}` has {}, and no whole number for `{size}` gives that for {parameter}{extents}", shaped(.found))]
    NoWholeSize {
        /// The parameter's name.
        parameter: String,
        /// Its extents as they are written.
        extents: String,
        /// What the array has.
        found: Vec<u64>,
        /// The size asked for.
        size: String,
    },
    /// A size that does not fit its parameter's type.
    #[error("`{size}` would be {value}, which does not fit {ty}")]
    TooLarge {
        /// The size's name.
        size: String,
        /// Its value.
        value: i128,
        /// Its type.
        ty: Type,
    },
    /// An extent below zero, or one too large for any array.
    #[error("{parameter}{extents} would have {}", impossible(.values.as_deref()))]
    Extent {
        /// The array.
        parameter: String,
        /// Its extents as they are written.
        extents: String,
        /// Their values; `None` where one leaves 64 bits.
        values: Option<Vec<i128>>,
    },
}

/// What an argument is in Rust's words.
fn in_rust(kind: &ArgumentKind) -> String {
    match kind {
        ArgumentKind::Scalar(ty) => ty.to_string(),
        ArgumentKind::Read(ty) => format!("&[{ty}]"),
        ArgumentKind::Write(ty) => format!("&mut [{ty}]"),
    }
}

fn listed(parameters: &[(String, ArgumentKind)]) -> String {
    if parameters.is_empty() {
        return "nothing".to_owned();
    }
    let shown: Vec<_> = parameters
        .iter()
        .map(|(name, kind)| format!("{name}: {}", in_rust(kind)))
        .collect();
    shown.join(", ")
}

fn shaped<T: fmt::Display>(dimensions: &[T]) -> String {
    match dimensions {
        [length] if length.to_string() == "1" => "1 element".to_owned(),
        [length] => format!("{length} elements"),
        _ => {
            let shown: Vec<_> = dimensions.iter().map(T::to_string).collect();
            format!("shape [{}]", shown.join(", "))
        }
    }
}

/// What is impossible about extents of these values; `None` where one leaves 64 bits.
fn impossible(values: Option<&[i128]>) -> String {
    match values {
        Some(values) => format!("{}: an extent cannot be negative", shaped(values)),
        None => "more elements than 64 bits can count".to_owned(),
    }
}

fn missing(parameter: &str, expected: &ArgumentKind) -> String {
    match expected {
        ArgumentKind::Scalar(ty) => format!(
            "no value for `{parameter}` ({ty}): it is not given, and no array's shape tells it"
        ),
        ArgumentKind::Read(_) | ArgumentKind::Write(_) => {
            format!("no array for `{parameter}` ({})", in_rust(expected))
        }
    }
}

fn type_or_nothing(ty: &Option<Type>) -> &'static str {
    ty.map_or("nothing", Type::name)
}

/// What to do about two kinds that differ little, behind a colon.
fn why_not(parameter: &str, expected: &ArgumentKind, found: &ArgumentKind) -> String {
    match (expected, found) {
        (ArgumentKind::Read(a), ArgumentKind::Write(b)) if a == b => {
            format!(": the kernel does not write `{parameter}`, so hand it a shared slice")
        }
        (ArgumentKind::Write(a), ArgumentKind::Read(b)) if a == b => {
            format!(": the kernel writes `{parameter}`, so it needs the slice to itself")
        }
        (
            ArgumentKind::Read(ElementType::Record(a))
            | ArgumentKind::Write(ElementType::Record(a)),
            ArgumentKind::Read(ElementType::Record(b))
            | ArgumentKind::Write(ElementType::Record(b)),
        ) => {
            let difference = a.difference(b);
            difference.map_or_else(String::new, |it| format!(": {it}"))
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_mismatch_tells_what_to_hand_over() {
        let error = |expected, found| {
            let parameter = "out".to_owned();
            ArgumentError::Type {
                parameter,
                expected,
                found,
            }
            .to_string()
        };
        assert_eq!(
            error(
                ArgumentKind::Write(Type::F64.into()),
                ArgumentKind::Read(Type::F64.into())
            ),
            "`out` takes &mut [f64], the call gives &[f64]: the kernel writes `out`, so it needs the slice to itself"
        );
        assert_eq!(
            error(
                ArgumentKind::Read(Type::F64.into()),
                ArgumentKind::Write(Type::F64.into())
            ),
            "`out` takes &[f64], the call gives &mut [f64]: the kernel does not write `out`, so hand it a shared slice"
        );
        assert_eq!(
            error(
                ArgumentKind::Write(Type::F64.into()),
                ArgumentKind::Write(Type::F32.into())
            ),
            "`out` takes &mut [f64], the call gives &mut [f32]"
        );
    }
}
