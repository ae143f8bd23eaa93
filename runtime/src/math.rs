//! The functions of C's `<math.h>`, computed by the platform's own library: what a C program
//! computes with them, bit for bit.
//!
//! Rust's methods on floats are not always that library (`cbrt`, `asinh` and others are Rust's
//! own), and differ from it in the last bit. Generated code, and whatever is held against it, calls
//! what [`function`] gives.
//!
//! Every function here takes and gives floats by value, is defined on all of them and keeps no
//! state but the thread's own `errno`: calling it is safe, from any thread.
//!
//! Rust brings stand-ins of its own for some of these functions, and which of the two a program is
//! linked with depends on the rest of the program. So each is looked up by its name among the
//! libraries that the process has loaded, where the stand-ins are not; only a program without
//! loaded libraries keeps what it was linked with.

use std::collections::BTreeMap;
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

/// A function on both float types.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// On `double`.
    pub double: Code<f64>,
    /// On `float`.
    pub single: Code<f32>,
}

/// The function that C calls `name` on `double`, and `name` with an `f` behind it on `float`;
/// `None` when it is not a function of `<math.h>` whose operands and result are of one float type.
pub fn function(name: &str) -> Option<Function> {
    static FUNCTIONS: OnceLock<BTreeMap<&'static str, Function>> = OnceLock::new();
    FUNCTIONS.get_or_init(functions).get(name).copied()
}

macro_rules! declare {
    ($($double:ident $single:ident: $kind:ident ($($operand:ident),*);)*) => {
        /// What the program is linked with.
        mod linked {
            // SAFETY: C99 declares these functions with these signatures, defined on all floats.
            #[cfg_attr(unix, link(name = "m"))]
            unsafe extern "C" {$(
                pub(super) safe fn $double($($operand: f64),*) -> f64;
                pub(super) safe fn $single($($operand: f32),*) -> f32;
            )*}
        }

        fn functions() -> BTreeMap<&'static str, Function> {
            let lgamma = Function {
                double: Code::Unary(logarithm_of_gamma::lgamma),
                single: Code::Unary(logarithm_of_gamma::lgammaf),
            };
            // SAFETY: each name is that of the function it stands beside.
            let declared = unsafe {
                [$((stringify!($double), Function {
                    double: Code::$kind(linked::$double).loaded(stringify!($double)),
                    single: Code::$kind(linked::$single).loaded(stringify!($single)),
                })),*]
            };
            declared.into_iter().chain([("lgamma", lgamma)]).collect()
        }
    };
}

declare! {
    sqrt sqrtf: Unary (x);
    cbrt cbrtf: Unary (x);
    exp expf: Unary (x);
    exp2 exp2f: Unary (x);
    expm1 expm1f: Unary (x);
    log logf: Unary (x);
    log2 log2f: Unary (x);
    log10 log10f: Unary (x);
    log1p log1pf: Unary (x);
    logb logbf: Unary (x);
    sin sinf: Unary (x);
    cos cosf: Unary (x);
    tan tanf: Unary (x);
    asin asinf: Unary (x);
    acos acosf: Unary (x);
    atan atanf: Unary (x);
    sinh sinhf: Unary (x);
    cosh coshf: Unary (x);
    tanh tanhf: Unary (x);
    asinh asinhf: Unary (x);
    acosh acoshf: Unary (x);
    atanh atanhf: Unary (x);
    erf erff: Unary (x);
    erfc erfcf: Unary (x);
    tgamma tgammaf: Unary (x);
    fabs fabsf: Unary (x);
    floor floorf: Unary (x);
    ceil ceilf: Unary (x);
    trunc truncf: Unary (x);
    round roundf: Unary (x);
    rint rintf: Unary (x);
    nearbyint nearbyintf: Unary (x);
    atan2 atan2f: Binary (y, x);
    pow powf: Binary (x, y);
    hypot hypotf: Binary (x, y);
    fmod fmodf: Binary (x, y);
    remainder remainderf: Binary (x, y);
    fmin fminf: Binary (x, y);
    fmax fmaxf: Binary (x, y);
    fdim fdimf: Binary (x, y);
    copysign copysignf: Binary (x, y);
    nextafter nextafterf: Binary (x, y);
    fma fmaf: Ternary (x, y, z);
}

impl<T> Code<T> {
    /// The code that C calls `name`, or `self`, the linked one, where none is loaded.
    ///
    /// # Safety
    /// C99 declares the function of that name with the signature of `self`.
    unsafe fn loaded(self, name: &str) -> Self {
        // SAFETY: the caller vouches for the signature.
        unsafe {
            match self {
                Self::Unary(linked) => Self::Unary(find(name).unwrap_or(linked)),
                Self::Binary(linked) => Self::Binary(find(name).unwrap_or(linked)),
                Self::Ternary(linked) => Self::Ternary(find(name).unwrap_or(linked)),
            }
        }
    }
}

/// `lgamma` without its global variable `signgam`, which threads would race for.
#[cfg(unix)]
mod logarithm_of_gamma {
    use super::find;
    use std::ffi::c_int;
    use std::sync::OnceLock;

    type Code<T> = extern "C" fn(T, &mut c_int) -> T;

    // SAFETY: POSIX declares these functions with these signatures; they write the sign where they
    // are told.
    #[link(name = "m")]
    unsafe extern "C" {
        safe fn lgamma_r(x: f64, sign: &mut c_int) -> f64;
        safe fn lgammaf_r(x: f32, sign: &mut c_int) -> f32;
    }

    pub(super) extern "C" fn lgamma(x: f64) -> f64 {
        static CODE: OnceLock<Code<f64>> = OnceLock::new();
        // SAFETY: POSIX declares it with this signature.
        let code = CODE.get_or_init(|| unsafe { find("lgamma_r") }.unwrap_or(lgamma_r));
        code(x, &mut 0)
    }

    pub(super) extern "C" fn lgammaf(x: f32) -> f32 {
        static CODE: OnceLock<Code<f32>> = OnceLock::new();
        // SAFETY: POSIX declares it with this signature.
        let code = CODE.get_or_init(|| unsafe { find("lgammaf_r") }.unwrap_or(lgammaf_r));
        code(x, &mut 0)
    }
}

/// Where there is no `signgam`, the function itself is free of state.
#[cfg(not(unix))]
mod logarithm_of_gamma {
    // SAFETY: C99 declares these functions with these signatures.
    unsafe extern "C" {
        pub(super) safe fn lgamma(x: f64) -> f64;
        pub(super) safe fn lgammaf(x: f32) -> f32;
    }
}

/// What a loaded library calls `name`.
///
/// # Safety
/// The library that has such a name declares it as a function of the type `F`.
#[cfg(unix)]
unsafe fn find<F: Copy>(name: &str) -> Option<F> {
    let loaded = libloading::os::unix::Library::this();
    // SAFETY: the caller vouches for the type. What is found stays loaded: the program itself needs
    // that library.
    let symbol = unsafe { loaded.get::<F>(name) };
    symbol.ok().map(|it| *it)
}

/// Elsewhere the program keeps what it is linked with.
#[cfg(not(unix))]
unsafe fn find<F: Copy>(_name: &str) -> Option<F> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_takes_its_number_of_operands_on_both_types() {
        for (name, Function { double, single }) in functions() {
            let count = match double {
                Code::Unary(_) => 1,
                Code::Binary(_) => 2,
                Code::Ternary(_) => 3,
            };
            assert!(double.call(&vec![0.5; count]).is_some(), "{name}");
            assert!(single.call(&vec![0.5; count]).is_some(), "{name}");
            assert!(double.call(&vec![0.5; count + 1]).is_none(), "{name}");
            assert!(!double.address().is_null() && !single.address().is_null());
        }
    }

    #[test]
    fn floats_of_both_types_go_to_functions_of_their_own() {
        let found = |name| function(name).expect("a function of C");
        let (root, power) = (found("sqrt"), found("pow"));
        assert_eq!(root.double.call(&[2.0]), Some(std::f64::consts::SQRT_2));
        assert_eq!(root.single.call(&[2.0]), Some(std::f32::consts::SQRT_2));
        assert_eq!(power.double.call(&[2.0, -1.0]), Some(0.5));
        assert_eq!(found("lgamma").double.call(&[2.0]), Some(0.0));
        assert_eq!(found("exp2").single.call(&[10.0]), Some(1024.0));
        assert_ne!(root.double.address(), root.single.address());
    }

    #[test]
    fn other_names_are_none() {
        for name in ["sqrtf", "frexp", "malloc", ""] {
            assert!(function(name).is_none(), "{name}");
        }
    }
}
