//! Numbers in decimal: for programs, which read the same value again, and for readers.

use std::fmt::Debug;

/// The shortest text that is read as the same value. `Debug` has exponents, where `Display` has
/// hundreds of digits.
pub(crate) fn exact(value: impl Debug) -> String {
    format!("{value:?}")
}

/// The same for a reader, to whom a whole number is one without a point.
pub(crate) fn readable(value: impl Debug) -> String {
    let text = exact(value);
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// `value` for a reader who needs no more than six places behind the point, or seven digits where
/// nothing stands before it.
pub(crate) fn rounded(value: f64) -> String {
    let text = match value.abs() < 1.0 {
        true => format!("{value:.6e}"),
        false => format!("{value:.6}"),
    };
    readable(text.parse().unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_are_spared_digits_that_say_nothing() {
        for (value, text) in [
            (5.0, "5"),
            (-0.5, "-0.5"),
            (1e-300, "1e-300"),
            (1.7e308, "1.7e308"),
            (0.1 + 0.2, "0.30000000000000004"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(readable(value), text);
        }
        assert_eq!(readable(0.1_f32), "0.1");
        assert_eq!(readable(-7_i64), "-7");
    }

    #[test]
    fn what_is_rounded_keeps_what_is_small_and_what_is_large() {
        for (value, text) in [
            (13.0 / 6.0, "2.166667"),
            (24.0, "24"),
            (1.602_176_634e-19, "1.602177e-19"),
            (-1.0 / 3.0, "-0.3333333"),
            (1e300, "1e300"),
            (0.0, "0"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(rounded(value), text);
        }
    }
}
