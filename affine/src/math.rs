use crate::Function;
use std::cmp::Ordering;

/// Where the values of math functions come from. C leaves the last bits of most of them to its
/// library, so whoever computes with a kernel says which library that is; what generated code calls
/// is known to the code generator alone.
pub trait Math {
    /// `function` on `double`s; `None` when it is not computed here, or takes another number of
    /// operands.
    fn double(&self, function: Function, operands: &[f64]) -> Option<f64>;

    /// `function` on `float`s; `None` when it is not computed here, or takes another number of
    /// operands.
    fn single(&self, function: Function, operands: &[f32]) -> Option<f32>;
}

/// A function that a [`Math`] does not compute, or not on operands such as it was called on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not computed here: that takes the platform's math library")]
pub struct NotComputed(pub Function);

/// Rust's standard library, whose values are those of the platform's for most functions and differ
/// in the last bit for some. It has no error functions and no gamma functions, so neither are
/// computed.
#[derive(Clone, Copy, Debug, Default)]
pub struct StdMath;

macro_rules! computed {
    ($function:expr, $operands:expr) => {
        Some(match ($function, $operands) {
            (Function::Sqrt, &[x]) => x.sqrt(),
            (Function::Cbrt, &[x]) => x.cbrt(),
            (Function::Exp, &[x]) => x.exp(),
            (Function::Exp2, &[x]) => x.exp2(),
            (Function::Expm1, &[x]) => x.exp_m1(),
            (Function::Log, &[x]) => x.ln(),
            (Function::Log2, &[x]) => x.log2(),
            (Function::Log10, &[x]) => x.log10(),
            (Function::Log1p, &[x]) => x.ln_1p(),
            (Function::Logb, &[x]) => Exact::logb(x),
            (Function::Sin, &[x]) => x.sin(),
            (Function::Cos, &[x]) => x.cos(),
            (Function::Tan, &[x]) => x.tan(),
            (Function::Asin, &[x]) => x.asin(),
            (Function::Acos, &[x]) => x.acos(),
            (Function::Atan, &[x]) => x.atan(),
            (Function::Atan2, &[y, x]) => y.atan2(x),
            (Function::Sinh, &[x]) => x.sinh(),
            (Function::Cosh, &[x]) => x.cosh(),
            (Function::Tanh, &[x]) => x.tanh(),
            (Function::Asinh, &[x]) => x.asinh(),
            (Function::Acosh, &[x]) => x.acosh(),
            (Function::Atanh, &[x]) => x.atanh(),
            (Function::Pow, &[x, y]) => x.powf(y),
            (Function::Hypot, &[x, y]) => x.hypot(y),
            (Function::Fmod, &[x, y]) => x % y,
            (Function::Remainder, &[x, y]) => Exact::remainder(x, y),
            (Function::Fma, &[x, y, z]) => x.mul_add(y, z),
            (Function::Fmin, &[x, y]) => x.min(y),
            (Function::Fmax, &[x, y]) => x.max(y),
            (Function::Fdim, &[x, y]) => match x <= y {
                true => 0.0,
                false => x - y,
            },
            (Function::Fabs, &[x]) => x.abs(),
            (Function::Floor, &[x]) => x.floor(),
            (Function::Ceil, &[x]) => x.ceil(),
            (Function::Trunc, &[x]) => x.trunc(),
            (Function::Round, &[x]) => x.round(),
            (Function::Rint | Function::Nearbyint, &[x]) => x.round_ties_even(),
            (Function::Copysign, &[x, y]) => x.copysign(y),
            (Function::Nextafter, &[x, y]) => Exact::next_after(x, y),
            _ => return None,
        })
    };
}

impl Math for StdMath {
    fn double(&self, function: Function, operands: &[f64]) -> Option<f64> {
        computed!(function, operands)
    }

    fn single(&self, function: Function, operands: &[f32]) -> Option<f32> {
        computed!(function, operands)
    }
}

/// What the standard library lacks and a few exact steps give.
trait Exact: Copy {
    fn logb(self) -> Self;
    fn remainder(self, divisor: Self) -> Self;
    fn next_after(self, towards: Self) -> Self;
}

macro_rules! exact {
    ($($float:ident)*) => {$(
        impl Exact for $float {
            fn logb(self) -> Self {
                if self == 0.0 {
                    return Self::NEG_INFINITY;
                }
                if !self.is_finite() {
                    return self.abs();
                }
                let fraction_bits = Self::MANTISSA_DIGITS - 1;
                let bits = self.abs().to_bits();
                // Bits count from the lowest subnormal number. The exponents of C's limits are one
                // too high.
                let exponent = match bits >> fraction_bits {
                    0 => bits.ilog2() as i32 - fraction_bits as i32 + Self::MIN_EXP - 1,
                    biased => biased as i32 - (Self::MAX_EXP - 1),
                };
                exponent as Self
            }

            /// After a division by twice the divisor, at most two subtractions are left, exact as
            /// they are between neighbours in size; a half is taken off where the quotient is odd.
            fn remainder(self, divisor: Self) -> Self {
                let size = divisor.abs();
                let mut rest = (self % (size + size)).abs();
                if rest > size - rest {
                    rest -= size;
                    if rest >= size - rest {
                        rest -= size;
                    }
                }
                rest * (1.0 as Self).copysign(self)
            }

            fn next_after(self, towards: Self) -> Self {
                match self.partial_cmp(&towards) {
                    Some(Ordering::Less) => self.next_up(),
                    Some(Ordering::Greater) => self.next_down(),
                    Some(Ordering::Equal) => towards,
                    None => Self::NAN,
                }
            }
        }
    )*};
}

exact!(f32 f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_but_those_that_rust_lacks_is_computed_on_its_number_of_operands() {
        for function in Function::ALL.iter().copied() {
            let lacks = matches!(
                function,
                Function::Erf | Function::Erfc | Function::Tgamma | Function::Lgamma
            );
            let count = function.operand_count();
            for operands in [0, 1, 2, 3, 4] {
                let has_value = !lacks && operands == count;
                let double = StdMath.double(function, &vec![0.5; operands]);
                let single = StdMath.single(function, &vec![0.5; operands]);
                assert_eq!(double.is_some(), has_value, "{function}");
                assert_eq!(single.is_some(), has_value, "{function}");
            }
        }
    }

    #[track_caller]
    fn check(function: Function, operands: &[f64], expected: f64) {
        let found = StdMath.double(function, operands).expect("a value");
        let is_same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
        assert!(is_same, "{function}({operands:?}) is {found}");
    }

    #[test]
    fn exponents_are_those_of_powers_of_two() {
        for exponent in -1074..1024 {
            let power = 2_f64.powi(exponent / 2) * 2_f64.powi(exponent - exponent / 2);
            check(Function::Logb, &[-power], exponent.into());
            check(
                Function::Logb,
                &[power * 1.5],
                match exponent {
                    // Halfway between the lowest numbers, to even.
                    -1074 => -1073.0,
                    _ => exponent.into(),
                },
            );
        }
        check(Function::Logb, &[-0.0], f64::NEG_INFINITY);
        check(Function::Logb, &[f64::NEG_INFINITY], f64::INFINITY);
        check(Function::Logb, &[f64::NAN], f64::NAN);
        let least = StdMath.single(Function::Logb, &[f32::from_bits(1)]);
        assert_eq!(least, Some(-149.0));
    }

    #[test]
    fn remainders_are_those_of_the_quotient_rounded_to_even() {
        for x in -40..=40_i32 {
            for y in (-9..=9_i32).filter(|it| *it != 0) {
                let quotient = (f64::from(x) / f64::from(y)).round_ties_even();
                let rest = f64::from(x) - quotient * f64::from(y);
                let expected = if rest == 0.0 {
                    0_f64.copysign(x.into())
                } else {
                    rest
                };
                let of = |scale: f64| [f64::from(x) * scale, f64::from(y) * scale];
                for scale in [1.0, f64::from_bits(1), 2_f64.powi(1018)] {
                    if x != 0 {
                        check(Function::Remainder, &of(scale), expected * scale);
                    }
                }
            }
        }
        check(Function::Remainder, &[f64::MAX, -f64::MAX], 0.0);
        check(Function::Remainder, &[3.0, f64::INFINITY], 3.0);
        check(Function::Remainder, &[f64::INFINITY, 3.0], f64::NAN);
        check(Function::Remainder, &[3.0, 0.0], f64::NAN);
    }

    #[test]
    fn neighbours_and_differences_end_where_c_says() {
        check(Function::Nextafter, &[0.0, -1.0], -f64::from_bits(1));
        check(Function::Nextafter, &[0.0, -0.0], -0.0);
        check(Function::Nextafter, &[1.0, 2.0], 1.0 + f64::EPSILON);
        check(Function::Nextafter, &[1.0, f64::NAN], f64::NAN);
        check(Function::Fdim, &[3.0, 1.0], 2.0);
        check(Function::Fdim, &[1.0, 3.0], 0.0);
        check(Function::Fdim, &[f64::NAN, 3.0], f64::NAN);
    }

    #[test]
    fn what_is_not_computed_is_said_by_name() {
        let words = NotComputed(Function::Erf).to_string();
        let expected = "`erf` is not computed here: that takes the platform's math library";
        assert_eq!(words, expected);
    }
}
