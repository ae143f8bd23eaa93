//! Whether two runs computed the same.

use crate::data::Elements;

/// Sums of so many numbers, in another order, may differ by so much of what they are.
const TOLERANCE: f64 = 1e-9;
const TOLERANCE_OF_SINGLES: f64 = 2e-3;

/// # Errors
/// The first element that differs: floats by more than another order of additions explains, or in
/// any bit where results are to be `exact`.
pub(crate) fn agree(expected: &[Elements], found: &[Elements], exact: bool) -> Result<(), String> {
    if expected.len() != found.len() {
        return Err("another number of outputs".to_owned());
    }
    let mut pairs = expected.iter().zip(found).enumerate();
    pairs.try_for_each(|(output, pair)| {
        let differs = match pair {
            (Elements::F32(a), Elements::F32(b)) if exact => {
                first(a, b, |a, b| a.to_bits() == b.to_bits())
            }
            (Elements::F64(a), Elements::F64(b)) if exact => {
                first(a, b, |a, b| a.to_bits() == b.to_bits())
            }
            (Elements::F32(a), Elements::F32(b)) => {
                let near = near(a.iter().map(|it| f64::from(*it)), TOLERANCE_OF_SINGLES);
                first(a, b, |a, b| near(f64::from(*a), f64::from(*b)))
            }
            (Elements::F64(a), Elements::F64(b)) => {
                let near = near(a.iter().copied(), TOLERANCE);
                first(a, b, |a, b| near(*a, *b))
            }
            (Elements::I32(a), Elements::I32(b)) => first(a, b, i32::eq),
            (Elements::U32(a), Elements::U32(b)) => first(a, b, u32::eq),
            (Elements::I64(a), Elements::I64(b)) => first(a, b, i64::eq),
            _ => Some("another type".to_owned()),
        };
        differs.map_or(Ok(()), |what| Err(format!("output {output}: {what}")))
    })
}

/// Compares on the scale of the number itself, or of a usual one of `all` where that is larger.
fn near(all: impl ExactSizeIterator<Item = f64>, tolerance: f64) -> impl Fn(f64, f64) -> bool {
    let count = all.len().max(1) as f64;
    let usual = (all
        .filter(|it| it.is_finite())
        .map(|it| it * it)
        .sum::<f64>()
        / count)
        .sqrt();
    move |a, b| a == b || (a - b).abs() <= tolerance * a.abs().max(usual)
}

fn first<T: std::fmt::Display>(
    expected: &[T],
    found: &[T],
    is_same: impl Fn(&T, &T) -> bool,
) -> Option<String> {
    if expected.len() != found.len() {
        return Some("another length".to_owned());
    }
    let mut pairs = expected.iter().zip(found).enumerate();
    let (at, (expected, found)) = pairs.find(|(_, (a, b))| !is_same(a, b))?;
    Some(format!("element {at} is {found}, not {expected}"))
}
