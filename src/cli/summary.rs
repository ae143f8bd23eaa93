//! A written array in one line, for results that no file asks for.

use crate::cli::array::{Array, with_values};
use crate::cli::decimal::{readable, rounded};
use crate::cli::report::ValueReport;
use std::fmt::Write as _;
use strew::{Element as _, Records, Value};

/// How many elements are shown.
const SHOWN: usize = 6;

/// Name, type, shape, least, greatest and mean element, and the first few.
pub(crate) fn summary(name: &str, array: &Array) -> String {
    let shape: Vec<_> = array.shape.iter().map(u64::to_string).collect();
    let mut text = format!("{name}: {}[{}]", array.values.type_name(), shape.join(", "));
    // Writing to a `String` does not fail.
    with_values!(&array.values, values => {
        if let Some((least, greatest)) = extremes(values) {
            let mean = mean(values.len(), values.iter().map(|it| as_float(it.to_value())));
            let (least, greatest, mean) = (readable(least), readable(greatest), rounded(mean));
            let _ = write!(text, "  min {least}  max {greatest}  mean {mean}");
        }
        let first = first(values.len(), |it| values.get(it).map(readable).unwrap_or_default());
        let _ = write!(text, "  [{first}]");
    }, records => {
        let first = first(records.len(), |it| record(records, it));
        let _ = write!(text, "  [{first}]");
    });
    text.push('\n');
    text
}

/// The mean of `count` values. Of values whose sum is too large for a float, each is divided first.
fn mean(count: usize, values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = count as f64;
    let sum: f64 = values.clone().sum();
    match sum.is_infinite() {
        true => values.map(|it| it / count).sum(),
        false => sum / count,
    }
}

/// The first of `length` elements, each in words.
fn first(length: usize, element: impl Fn(usize) -> String) -> String {
    let shown = (0..length.min(SHOWN)).map(element);
    let rest = (length > SHOWN).then(|| "…".to_owned());
    shown.chain(rest).collect::<Vec<_>>().join(", ")
}

/// The record at `index`, its fields in the order in which its type names them.
fn record(records: &Records, index: usize) -> String {
    let fields = records.layout().fields().iter().map(|field| {
        let count = field.elements();
        let value = |it| {
            let place = index.saturating_mul(count).saturating_add(it);
            ValueReport::from(records.get(place, field)).to_string()
        };
        match field.lengths.is_empty() {
            true => value(0),
            false => format!("[{}]", first(count, value)),
        }
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
}

fn as_float(value: Value) -> f64 {
    let integer = value.as_integer().map(|it| it as f64);
    integer.or(value.as_float()).unwrap_or_default()
}

/// The least and the greatest; a NaN is neither.
fn extremes<T: Copy + PartialOrd>(values: &[T]) -> Option<(T, T)> {
    let mut comparable = values
        .iter()
        .copied()
        .filter(|it| it.partial_cmp(it).is_some());
    let first = comparable.next()?;
    Some(comparable.fold((first, first), |(least, greatest), it| {
        let least = if it < least { it } else { least };
        let greatest = if it > greatest { it } else { greatest };
        (least, greatest)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::array::Values;

    #[test]
    fn a_summary_fits_one_line() {
        let array = Array {
            shape: vec![2, 4],
            values: Values::I32(vec![3, 1, 4, 1, 5, 9, 2, -6].into()),
        };
        assert_eq!(
            summary("out", &array),
            "out: i32[2, 4]  min -6  max 9  mean 2.375  [3, 1, 4, 1, 5, 9, …]\n"
        );
    }

    #[test]
    fn the_mean_of_huge_values_is_no_infinity() {
        let of = |values: &[f64]| mean(values.len(), values.iter().copied());
        assert_eq!(of(&[1e308, 1e308]), 1e308);
        assert_eq!(of(&[1.0, 2.0]), 1.5);
        assert_eq!(of(&[f64::INFINITY, 1.0]), f64::INFINITY);
        assert!(of(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
    }

    #[test]
    fn empty_arrays_and_nan_have_no_extremes() {
        let shape = vec![0];
        let array = Array {
            shape,
            values: Values::F32(vec![].into()),
        };
        assert_eq!(summary("x", &array), "x: f32[0]  []\n");
        let array = Array {
            shape: vec![1],
            values: Values::F64(vec![f64::NAN].into()),
        };
        assert_eq!(summary("x", &array), "x: f64[1]  [NaN]\n");
    }
}
