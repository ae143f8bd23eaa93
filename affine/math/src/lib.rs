//! The functions of C's `<math.h>`, computed by the platform's own library: what a C program computes with them, bit for bit.
//!
//! Rust's methods on floats are not always that library (`cbrt`, `asinh` and others are Rust's own), and differ from it in the last
//! bit. The interpreter and generated code both call what [`Function::double`] and [`Function::single`] give.

mod platform;

use std::fmt;
use std::sync::OnceLock;

/// The machine code of a function on floats of type `T`, by its number of operands.
#[derive(Clone, Copy, Debug)]
pub enum Code<T> {
    /// One operand.
    Unary(extern "C" fn(T) -> T),
    /// Two operands.
    Binary(extern "C" fn(T, T) -> T),
    /// Three operands.
    Ternary(extern "C" fn(T, T, T) -> T),
}

impl<T: Copy> Code<T> {
    /// The value on `operands`; `None` when their number is another than the function's.
    pub fn call(self, operands: &[T]) -> Option<T> {
        match (self, operands) {
            (Self::Unary(code), &[x]) => Some(code(x)),
            (Self::Binary(code), &[x, y]) => Some(code(x, y)),
            (Self::Ternary(code), &[x, y, z]) => Some(code(x, y, z)),
            _ => None,
        }
    }

    /// Where the code is.
    pub fn address(self) -> *const u8 {
        match self {
            Self::Unary(code) => code as *const u8,
            Self::Binary(code) => code as *const u8,
            Self::Ternary(code) => code as *const u8,
        }
    }
}

macro_rules! operand_count {
    (Unary) => {
        1
    };
    (Binary) => {
        2
    };
    (Ternary) => {
        3
    };
}

macro_rules! functions {
    ($($(#[doc = $doc:literal])* $function:ident: $kind:ident $double:ident $single:ident;)*) => {
        /// A function whose operands and result are of one float type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Function {
            $($(#[doc = $doc])* $function,)*
        }

        impl Function {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$function),*];

            /// C's name of the function on `double`; that of the function on `float` has an `f` behind it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$function => stringify!($double),)*
                }
            }

            /// The function on `double`.
            pub fn double(self) -> Code<f64> {
                match self {
                    $(Self::$function => {
                        static CODE: OnceLock<Code<f64>> = OnceLock::new();
                        let linked = Code::$kind(platform::linked::$double);
                        *CODE.get_or_init(|| linked.loaded(stringify!($double)))
                    })*
                }
            }

            /// The function on `float`.
            pub fn single(self) -> Code<f32> {
                match self {
                    $(Self::$function => {
                        static CODE: OnceLock<Code<f32>> = OnceLock::new();
                        let linked = Code::$kind(platform::linked::$single);
                        *CODE.get_or_init(|| linked.loaded(stringify!($single)))
                    })*
                }
            }

            /// How many operands it takes.
            pub fn operand_count(self) -> usize {
                match self {
                    $(Self::$function => operand_count!($kind),)*
                }
            }
        }
    };
}

functions! {
    /// The square root.
    Sqrt: Unary sqrt sqrtf;
    /// The cube root.
    Cbrt: Unary cbrt cbrtf;
    /// e to the power of x.
    Exp: Unary exp expf;
    /// 2 to the power of x.
    Exp2: Unary exp2 exp2f;
    /// e to the power of x, less 1.
    Expm1: Unary expm1 expm1f;
    /// The natural logarithm.
    Log: Unary log logf;
    /// The logarithm to base 2.
    Log2: Unary log2 log2f;
    /// The logarithm to base 10.
    Log10: Unary log10 log10f;
    /// The natural logarithm of 1 + x.
    Log1p: Unary log1p log1pf;
    /// The exponent, as a float.
    Logb: Unary logb logbf;
    /// The sine of an angle in radians.
    Sin: Unary sin sinf;
    /// The cosine of an angle in radians.
    Cos: Unary cos cosf;
    /// The tangent of an angle in radians.
    Tan: Unary tan tanf;
    /// The arc sine, in radians.
    Asin: Unary asin asinf;
    /// The arc cosine, in radians.
    Acos: Unary acos acosf;
    /// The arc tangent, in radians.
    Atan: Unary atan atanf;
    /// The angle of the point (x, y), in radians; its operands are y and x.
    Atan2: Binary atan2 atan2f;
    /// The hyperbolic sine.
    Sinh: Unary sinh sinhf;
    /// The hyperbolic cosine.
    Cosh: Unary cosh coshf;
    /// The hyperbolic tangent.
    Tanh: Unary tanh tanhf;
    /// The inverse of the hyperbolic sine.
    Asinh: Unary asinh asinhf;
    /// The inverse of the hyperbolic cosine.
    Acosh: Unary acosh acoshf;
    /// The inverse of the hyperbolic tangent.
    Atanh: Unary atanh atanhf;
    /// The error function.
    Erf: Unary erf erff;
    /// 1 less the error function.
    Erfc: Unary erfc erfcf;
    /// The gamma function.
    Tgamma: Unary tgamma tgammaf;
    /// The logarithm of the gamma function's absolute value.
    Lgamma: Unary lgamma lgammaf;
    /// x to the power of y.
    Pow: Binary pow powf;
    /// The distance of the point (x, y) from the origin.
    Hypot: Binary hypot hypotf;
    /// The remainder of the division that rounds towards zero.
    Fmod: Binary fmod fmodf;
    /// The remainder of the division that rounds to the nearest integer.
    Remainder: Binary remainder remainderf;
    /// x * y + z, rounded once.
    Fma: Ternary fma fmaf;
    /// The smaller operand; of a number and a NaN, the number.
    Fmin: Binary fmin fminf;
    /// The greater operand; of a number and a NaN, the number.
    Fmax: Binary fmax fmaxf;
    /// x - y where that is positive, else 0.
    Fdim: Binary fdim fdimf;
    /// The absolute value.
    Fabs: Unary fabs fabsf;
    /// The nearest integer not above x.
    Floor: Unary floor floorf;
    /// The nearest integer not below x.
    Ceil: Unary ceil ceilf;
    /// The nearest integer not further from zero than x.
    Trunc: Unary trunc truncf;
    /// The nearest integer, of two the one further from zero.
    Round: Unary round roundf;
    /// The nearest integer, of two the even one.
    Rint: Unary rint rintf;
    /// As [`Function::Rint`]; in C they differ in a flag that kernels do not see.
    Nearbyint: Unary nearbyint nearbyintf;
    /// The magnitude of x with the sign of y.
    Copysign: Binary copysign copysignf;
    /// The float next to x in the direction of y.
    Nextafter: Binary nextafter nextafterf;
}

impl Function {
    /// The function that C calls `name` on `double`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.name() == name)
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
    fn a_function_is_found_by_its_name_and_takes_its_number_of_operands() {
        for function in Function::ALL.iter().copied() {
            assert_eq!(Function::from_name(function.name()), Some(function));
            let count = function.operand_count();
            assert!(function.double().call(&vec![0.5; count]).is_some());
            assert!(function.single().call(&vec![0.5; count]).is_some());
            assert!(function.double().call(&vec![0.5; count + 1]).is_none());
        }
        assert_eq!(Function::from_name("sinf"), None);
    }

    #[test]
    fn floats_of_both_sizes_go_to_functions_of_their_own() {
        let value = |function: Function| function.double().call(&[2.0]);
        assert_eq!(value(Function::Sqrt), Some(std::f64::consts::SQRT_2));
        assert_eq!(value(Function::Lgamma), Some(0.0));
        let single = Function::Exp2.single().call(&[10.0]);
        assert_eq!(single, Some(1024.0));
        let power = Function::Pow.double().call(&[2.0, -1.0]);
        assert_eq!(power, Some(0.5));
    }
}
