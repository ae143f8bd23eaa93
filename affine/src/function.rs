use crate::combiner::{Combiner, Extreme, LibraryExtremum, Ties};
use std::fmt;

macro_rules! functions {
    ($($(#[doc = $doc:literal])* $function:ident: $name:ident $count:literal;)*) => {
        /// A function of C's `<math.h>` whose operands and result are of one float type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Function {
            $($(#[doc = $doc])* $function,)*
        }

        impl Function {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$function),*];

            /// C's name of the function on `double`; that of the function on `float` has an `f`
            /// behind it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$function => stringify!($name),)*
                }
            }

            /// How many operands it takes.
            pub fn operand_count(self) -> usize {
                match self {
                    $(Self::$function => $count,)*
                }
            }
        }
    };
}

functions! {
    /// The square root.
    Sqrt: sqrt 1;
    /// The cube root.
    Cbrt: cbrt 1;
    /// e to the power of x.
    Exp: exp 1;
    /// 2 to the power of x.
    Exp2: exp2 1;
    /// e to the power of x, less 1.
    Expm1: expm1 1;
    /// The natural logarithm.
    Log: log 1;
    /// The logarithm to base 2.
    Log2: log2 1;
    /// The logarithm to base 10.
    Log10: log10 1;
    /// The natural logarithm of 1 + x.
    Log1p: log1p 1;
    /// The exponent, as a float.
    Logb: logb 1;
    /// The sine of an angle in radians.
    Sin: sin 1;
    /// The cosine of an angle in radians.
    Cos: cos 1;
    /// The tangent of an angle in radians.
    Tan: tan 1;
    /// The arc sine, in radians.
    Asin: asin 1;
    /// The arc cosine, in radians.
    Acos: acos 1;
    /// The arc tangent, in radians.
    Atan: atan 1;
    /// The angle of the point (x, y), in radians; its operands are y and x.
    Atan2: atan2 2;
    /// The hyperbolic sine.
    Sinh: sinh 1;
    /// The hyperbolic cosine.
    Cosh: cosh 1;
    /// The hyperbolic tangent.
    Tanh: tanh 1;
    /// The inverse of the hyperbolic sine.
    Asinh: asinh 1;
    /// The inverse of the hyperbolic cosine.
    Acosh: acosh 1;
    /// The inverse of the hyperbolic tangent.
    Atanh: atanh 1;
    /// The error function.
    Erf: erf 1;
    /// 1 less the error function.
    Erfc: erfc 1;
    /// The gamma function.
    Tgamma: tgamma 1;
    /// The logarithm of the gamma function's absolute value.
    Lgamma: lgamma 1;
    /// x to the power of y.
    Pow: pow 2;
    /// The distance of the point (x, y) from the origin.
    Hypot: hypot 2;
    /// The remainder of the division that rounds towards zero.
    Fmod: fmod 2;
    /// The remainder of the division that rounds to the nearest integer.
    Remainder: remainder 2;
    /// x * y + z, rounded once.
    Fma: fma 3;
    /// The smaller operand; of a number and a NaN, the number.
    Fmin: fmin 2;
    /// The greater operand; of a number and a NaN, the number.
    Fmax: fmax 2;
    /// x - y where that is positive, else 0.
    Fdim: fdim 2;
    /// The absolute value.
    Fabs: fabs 1;
    /// The nearest integer not above x.
    Floor: floor 1;
    /// The nearest integer not below x.
    Ceil: ceil 1;
    /// The nearest integer not further from zero than x.
    Trunc: trunc 1;
    /// The nearest integer, of two the one further from zero.
    Round: round 1;
    /// The nearest integer, of two the even one.
    Rint: rint 1;
    /// As [`Function::Rint`]; in C they differ in a flag that kernels do not see.
    Nearbyint: nearbyint 1;
    /// The magnitude of x with the sign of y.
    Copysign: copysign 2;
    /// The float next to x in the direction of y.
    Nextafter: nextafter 2;
}

impl Function {
    /// The function that C calls `name` on `double`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.name() == name)
    }

    /// Whether every library gives it the same bits on the same operands, NaNs aside: IEEE 754 or C
    /// define it exactly, or no library is asked. The last bits of the others are up to the
    /// library.
    pub fn is_settled(self) -> bool {
        match self {
            Self::Sqrt | Self::Fma | Self::Fmod | Self::Remainder => true,
            Self::Floor | Self::Ceil | Self::Trunc | Self::Round => true,
            Self::Rint | Self::Nearbyint | Self::Logb | Self::Nextafter => true,
            Self::Fabs | Self::Copysign | Self::Fdim => true,
            Self::Exp | Self::Exp2 | Self::Expm1 | Self::Pow | Self::Cbrt | Self::Hypot => false,
            Self::Log | Self::Log2 | Self::Log10 | Self::Log1p => false,
            Self::Sin | Self::Cos | Self::Tan => false,
            Self::Asin | Self::Acos | Self::Atan | Self::Atan2 => false,
            Self::Sinh | Self::Cosh | Self::Tanh => false,
            Self::Asinh | Self::Acosh | Self::Atanh => false,
            Self::Erf | Self::Erfc | Self::Tgamma | Self::Lgamma => false,
            Self::Fmin | Self::Fmax => true,
        }
    }
}

impl Function {
    /// Whether the result is exact or correctly rounded by IEEE 754, so that every right way to
    /// compute it gives the same bits; processors have an instruction for these, or a few.
    pub fn is_correctly_rounded(self) -> bool {
        matches!(
            self,
            Self::Sqrt
                | Self::Fabs
                | Self::Floor
                | Self::Ceil
                | Self::Trunc
                | Self::Round
                | Self::Rint
                | Self::Nearbyint
                | Self::Copysign
                | Self::Fma
        )
    }

    /// Whether it picks the least or the greatest of two numbers, if that is what it does.
    pub fn extreme(self) -> Option<Extreme> {
        match self {
            Self::Fmin => Some(Extreme::Least),
            Self::Fmax => Some(Extreme::Greatest),
            _ => None,
        }
    }

    /// The combiner that gives what such a function does, with its first operand held.
    pub fn extremum(self) -> Option<Combiner> {
        let ties = Ties::Last;
        let by = |extreme| Combiner::new(LibraryExtremum { extreme, ties });
        self.extreme().map(by)
    }

    /// Whether a few instructions compute it wherever it stands.
    pub fn is_inline(self) -> bool {
        self.is_correctly_rounded() || self.extreme().is_some()
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_found_by_the_name_that_it_has_on_double() {
        for function in Function::ALL.iter().copied() {
            assert_eq!(Function::from_name(function.name()), Some(function));
        }
        assert_eq!(Function::from_name("sinf"), None);
    }
}
