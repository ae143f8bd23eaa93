//! Whether two ways to run a kernel came to the same results.

use crate::cli::array::{Array, Values};
use crate::cli::job::Arrays;

/// How far sums may be apart that were grouped in another way or contracted, as a part of the
/// largest element of their array.
const SINGLE: f64 = 1e-3;
const DOUBLE: f64 = 1e-9;

/// The first element of `found` that is not that of `expected`, in words; `None` where all are,
/// floats as far as grouping goes.
pub(super) fn difference(expected: &Arrays, found: &Arrays) -> Option<String> {
    let mut pairs = expected.iter();
    pairs.find_map(|(name, expected)| difference_of(name, expected, found.get(name)?))
}

fn difference_of(name: &str, expected: &Array, found: &Array) -> Option<String> {
    macro_rules! exact {
        ($expected:expr, $found:expr) => {{
            let mut pairs = $expected.iter().zip($found.iter()).enumerate();
            let (at, (expected, found)) = pairs.find(|(_, (left, right))| left != right)?;
            (at, expected.to_string(), found.to_string())
        }};
    }
    macro_rules! close {
        ($expected:expr, $found:expr, $bound:expr) => {{
            let largest = $expected.iter().map(|it| f64::from(*it).abs());
            let largest = largest.filter(|it| it.is_finite()).fold(1.0, f64::max);
            let apart = |left: f64, right: f64| {
                let is_same = left == right || left.is_nan() && right.is_nan();
                // A NaN on one side is near nothing.
                let is_near = (left - right).abs() <= $bound * largest;
                !(is_same || is_near)
            };
            let mut pairs = $expected.iter().zip($found.iter()).enumerate();
            let differs = |it: &(usize, (&_, &_))| apart(f64::from(*it.1.0), f64::from(*it.1.1));
            let (at, (expected, found)) = pairs.find(differs)?;
            (at, expected.to_string(), found.to_string())
        }};
    }
    let (at, expected, found) = match (&expected.values, &found.values) {
        (Values::F32(expected), Values::F32(found)) => close!(expected, found, SINGLE),
        (Values::F64(expected), Values::F64(found)) => close!(expected, found, DOUBLE),
        (Values::I8(expected), Values::I8(found)) => exact!(expected, found),
        (Values::I16(expected), Values::I16(found)) => exact!(expected, found),
        (Values::I32(expected), Values::I32(found)) => exact!(expected, found),
        (Values::I64(expected), Values::I64(found)) => exact!(expected, found),
        (Values::U8(expected), Values::U8(found)) => exact!(expected, found),
        (Values::U16(expected), Values::U16(found)) => exact!(expected, found),
        (Values::U32(expected), Values::U32(found)) => exact!(expected, found),
        (Values::U64(expected), Values::U64(found)) => exact!(expected, found),
        (Values::Bool(expected), Values::Bool(found)) => exact!(expected, found),
        _ => return None,
    };
    Some(format!(
        "element {at} of `{name}`, row by row, is {found}, where the loop as it is written has {expected}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrays(values: Values) -> Arrays {
        let array = Array {
            shape: vec![2],
            values,
        };
        [("a".to_owned(), array)].into()
    }

    #[test]
    fn integers_have_to_be_the_same_and_floats_close() {
        let of = |left: &[f64], right: &[f64]| {
            let values = |it: &[f64]| arrays(Values::F64(it.to_vec().into()));
            difference(&values(left), &values(right))
        };
        assert_eq!(of(&[1e9, 0.5], &[1e9 + 0.5, 0.25]), None);
        assert_eq!(
            of(&[f64::NAN, f64::INFINITY], &[f64::NAN, f64::INFINITY]),
            None
        );
        assert_eq!(
            of(&[1.0, 2.0], &[1.0, f64::NAN]).as_deref(),
            Some("element 1 of `a`, row by row, is NaN, where the loop as it is written has 2")
        );
        assert!(of(&[1.0, 2.0], &[1.0, 2.001]).is_some());
        let integers = |it: &[i32]| arrays(Values::I32(it.to_vec().into()));
        assert_eq!(difference(&integers(&[1, 2]), &integers(&[1, 2])), None);
        assert!(difference(&integers(&[1, 2]), &integers(&[0, 2])).is_some());
    }
}
