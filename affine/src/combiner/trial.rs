//! Whether a combiner that somebody declares keeps the laws, tried on samples.

use super::number;
use crate::{Type, Value};
use std::fmt;

/// A law of [`Combine`](super::Combine) that a declared combiner does not keep, with the values
/// that show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokenLaw {
    /// `a ∘ e` is not `a`.
    Identity {
        /// What is held.
        a: Value,
        /// The identity.
        e: Value,
        /// What is held then.
        combined: Value,
    },
    /// `a ∘ (e ∘ b)` is not `a ∘ b`.
    Filled {
        /// What is held.
        a: Value,
        /// The identity.
        e: Value,
        /// What comes.
        b: Value,
        /// `a ∘ (e ∘ b)`
        through: Value,
        /// `a ∘ b`
        direct: Value,
    },
    /// `(a ∘ b) ∘ c` is not `a ∘ ((e ∘ b) ∘ c)`.
    Associativity {
        /// What is held.
        a: Value,
        /// What comes first.
        b: Value,
        /// What comes next.
        c: Value,
        /// `(a ∘ b) ∘ c`
        left: Value,
        /// `a ∘ ((e ∘ b) ∘ c)`
        right: Value,
    },
}

/// The values as a source writes them.
impl fmt::Display for BrokenLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identity { a, e, combined } => {
                let [a, e, combined] = [a, e, combined].map(|it| Shown(*it));
                write!(
                    f,
                    "combining {a} with the identity {e} gives {combined} and not {a}"
                )
            }
            Self::Filled {
                a,
                e,
                b,
                through,
                direct,
            } => {
                let [a, e, b, through, direct] = [a, e, b, through, direct].map(|it| Shown(*it));
                write!(
                    f,
                    "with a = {a}, b = {b} and the identity {e}: a with b gives {direct}, but a with (the identity with b) gives {through}"
                )
            }
            Self::Associativity {
                a,
                b,
                c,
                left,
                right,
            } => {
                let [a, b, c, left, right] = [a, b, c, left, right].map(|it| Shown(*it));
                write!(
                    f,
                    "with a = {a}, b = {b}, c = {c}: (a with b) with c gives {left}, but a with (b with c) gives {right}"
                )
            }
        }
    }
}

struct Shown(Value);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.as_float(), self.0.as_integer()) {
            (Some(float), _) if float.is_infinite() => {
                f.write_str(if float > 0.0 { "INFINITY" } else { "-INFINITY" })
            }
            (Some(float), _) if float.is_nan() => f.write_str("NAN"),
            (Some(float), _) if self.0.ty() == Type::F32 => write!(f, "{:?}", float as f32),
            (Some(float), _) => write!(f, "{float:?}"),
            (None, Some(integer)) => write!(f, "{integer}"),
            (None, None) => write!(f, "{}", self.0.bits()),
        }
    }
}

/// The first law that `combine` with the identity `e` breaks on samples of the type of `e`: special
/// values, the ends of the range, and some in between, the same ones each time.
///
/// What concerns the identity holds bit for bit, any NaN equal to any NaN. So does associativity of
/// integers. That of floats holds up to rounding: the sides differ by at most 2^-26 (of `double`;
/// 2^-12 of `float`) of the greatest magnitude among the three values, what is in between and the
/// results; where two finite values come to an infinity, or two others than zero to zero, nothing
/// is asked.
///
/// # Errors
/// What `combine` fails with.
pub fn broken_law<E>(
    e: Value,
    combine: &mut dyn FnMut(Value, Value) -> Result<Value, E>,
) -> Result<Option<BrokenLaw>, E> {
    let samples = samples(e.ty());
    for a in &samples {
        let combined = combine(*a, e)?;
        if !is_same(combined, *a) {
            let a = *a;
            return Ok(Some(BrokenLaw::Identity { a, e, combined }));
        }
    }
    let mut pairs = Vec::with_capacity(samples.len() * samples.len());
    for a in &samples {
        for b in &samples {
            pairs.push(combine(*a, *b)?);
        }
    }
    let at = |table: &[Value], a: usize, b: usize| {
        table.get(a * samples.len() + b).copied().unwrap_or(e)
    };
    let mut grouped = Vec::with_capacity(pairs.len());
    for (at_b, b) in samples.iter().enumerate() {
        let filled = combine(e, *b)?;
        for c in &samples {
            grouped.push(combine(filled, *c)?);
        }
        for (at_a, a) in samples.iter().enumerate() {
            let (through, direct) = (combine(*a, filled)?, at(&pairs, at_a, at_b));
            if !is_same(through, direct) {
                let (a, b) = (*a, *b);
                return Ok(Some(BrokenLaw::Filled {
                    a,
                    e,
                    b,
                    through,
                    direct,
                }));
            }
        }
    }
    for (at_a, a) in samples.iter().enumerate() {
        for (at_b, b) in samples.iter().enumerate() {
            for (at_c, c) in samples.iter().enumerate() {
                let (first, last) = (at(&pairs, at_a, at_b), at(&grouped, at_b, at_c));
                let (left, right) = (combine(first, *c)?, combine(*a, last)?);
                let (a, b, c) = (*a, *b, *c);
                if !is_close(left, right, [a, b, c, first, last]) {
                    return Ok(Some(BrokenLaw::Associativity {
                        a,
                        b,
                        c,
                        left,
                        right,
                    }));
                }
            }
        }
    }
    Ok(None)
}

fn is_same(left: Value, right: Value) -> bool {
    let is_nan = |it: Value| it.as_float().is_some_and(f64::is_nan);
    left == right || is_nan(left) && is_nan(right)
}

/// Whether both sides are the same up to what rounding may do to `operands`, of which the last two
/// were computed.
fn is_close(left: Value, right: Value, operands: [Value; 5]) -> bool {
    if is_same(left, right) {
        return true;
    }
    let (Some(l), Some(r)) = (left.as_float(), right.as_float()) else {
        return false;
    };
    let [a, b, c, first, last] = operands.map(|it| it.as_float().unwrap_or(f64::NAN));
    let leaves_range = |x: f64, y: f64, combined: f64| {
        x.is_finite() && y.is_finite() && combined.is_infinite()
            || x != 0.0 && y != 0.0 && combined == 0.0
    };
    if leaves_range(a, b, first)
        || leaves_range(b, c, last)
        || leaves_range(first, c, l)
        || leaves_range(a, last, r)
    {
        return true;
    }
    let scale = [a, b, c, first, last, l, r]
        .iter()
        .fold(0.0, |most: f64, it| most.max(it.abs()));
    let tolerance = match left.ty() {
        Type::F32 => 2.0_f64.powi(-12),
        _ => 2.0_f64.powi(-26),
    };
    // False of infinities and NaN, which no rounding makes.
    scale.is_finite() && (l - r).abs() <= tolerance * scale
}

/// Small numbers, zeros of both signs, the ends of the range, infinities, NaN, a subnormal, and
/// some in between that look like any other. What anybody understands comes first.
fn samples(ty: Type) -> Vec<Value> {
    let most = if ty == Type::F32 {
        f64::from(f32::MAX)
    } else {
        f64::MAX
    };
    let tiny = if ty == Type::F32 { 1e-40 } else { 1e-310 };
    let floats = [
        1.0,
        -2.5,
        0.5,
        100.0,
        -1.0,
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        tiny,
        most,
        -most,
    ];
    let (low, high) = ty.integer_range().unwrap_or_default();
    let integers = [1, 2, 0, -1, -5, 77, low, low + 1, high - 1, high];
    let mut samples: Vec<Value> = if ty.is_float() {
        floats.map(|it| Value::float(ty, it)).to_vec()
    } else {
        integers.map(|it| Value::integer(ty, it)).to_vec()
    };
    samples.extend(draws().filter_map(|(integer, float)| number(ty, integer, float)));
    let mut distinct: Vec<Value> = Vec::with_capacity(samples.len());
    for sample in samples {
        if !distinct.contains(&sample) {
            distinct.push(sample);
        }
    }
    distinct
}

/// Numbers without a pattern: of any size as integers, of moderate size as floats.
fn draws() -> impl Iterator<Item = (i128, f64)> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..5).map(move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let fraction = (state >> 11) as f64 / (1_u64 << 53) as f64;
        (i128::from(state), (fraction - 0.5) * 20.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Combiner, StdMath};
    use std::convert::Infallible;

    fn tried(e: Value, combine: impl Fn(f64, f64) -> f64) -> Option<String> {
        let mut combine = |a: Value, b: Value| -> Result<Value, Infallible> {
            let (a, b) = (a.as_float().unwrap_or(0.0), b.as_float().unwrap_or(0.0));
            Ok(Value::float(e.ty(), combine(a, b)))
        };
        let Ok(broken) = broken_law(e, &mut combine);
        broken.map(|it| it.to_string())
    }

    #[test]
    fn every_built_in_combiner_of_one_part_keeps_the_laws() {
        for combiner in Combiner::built_in() {
            for ty in Type::ELEMENTS {
                let Some(identity) = combiner.identity(&[ty]).filter(|it| it.len() == 1) else {
                    continue;
                };
                let mut combine = |a: Value, b: Value| {
                    let combined = combiner.combine(&[a], &[b], &StdMath)?;
                    let first = combined.first().copied();
                    first.ok_or(crate::CombineError::NoHost(String::new()))
                };
                let broken = broken_law(identity[0], &mut combine);
                assert_eq!(broken, Ok(None), "{combiner} on {ty}");
            }
        }
    }

    #[test]
    fn sums_of_logarithms_are_taken_and_what_does_not_associate_is_shown() {
        let careful = |a: f64, b: f64| match (a, b) {
            _ if a == f64::NEG_INFINITY => b,
            _ if b == f64::NEG_INFINITY => a,
            _ => a.max(b) + (-(a - b).abs()).exp().ln_1p(),
        };
        assert_eq!(tried(Value::f64(f64::NEG_INFINITY), careful), None);
        assert_eq!(tried(Value::f32(f32::NEG_INFINITY), careful), None);
        let either = |a: f64, b: f64| a + b + a * b;
        assert_eq!(tried(Value::f64(-0.0), |a, b| a + b), None);
        let zero = tried(Value::f64(0.0), either);
        assert_eq!(
            zero.as_deref(),
            Some("combining -0.0 with the identity 0.0 gives 0.0 and not -0.0")
        );
        let decay = tried(
            Value::f64(0.0),
            |a, b| if b == 0.0 { a } else { a * 0.5 + b },
        );
        assert_eq!(
            decay.as_deref(),
            Some(
                "with a = 1.0, b = 1.0, c = 1.0: (a with b) with c gives 1.75, but a with (b with c) gives 2.0"
            )
        );
        let filled = tried(Value::f64(0.0), |a, b| match (a, b) {
            _ if b == 0.0 => a,
            _ if a == 0.0 => b + 1.0,
            _ => a + b,
        });
        let message = filled.as_deref().unwrap_or_default();
        assert!(
            message.contains("a with (the identity with b)"),
            "{message}"
        );
    }

    #[test]
    fn the_first_failure_ends_the_trial() {
        let mut calls = 0;
        let mut combine = |_: Value, _: Value| {
            calls += 1;
            Err("panicked")
        };
        assert_eq!(broken_law(Value::i64(0), &mut combine), Err("panicked"));
        assert_eq!(calls, 1);
    }
}
