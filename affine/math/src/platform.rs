//! The platform's `<math.h>`.
//!
//! Every function here takes and gives floats by value, is defined on all of them and keeps no state but the thread's own `errno`:
//! calling it is safe, from any thread.
//!
//! Rust brings stand-ins of its own for some of these functions, and which of the two a program is linked with depends on the rest
//! of the program. So each is looked up by its name among the libraries that the process has loaded, where the stand-ins are not;
//! only a program without loaded libraries keeps what it was linked with.

use crate::Code;

macro_rules! declare {
    ($($double:ident $single:ident ($($operand:ident),*);)*) => {
        /// What the program is linked with.
        pub(crate) mod linked {
            // SAFETY: C99 declares these functions with these signatures, defined on all floats.
            #[cfg_attr(unix, link(name = "m"))]
            unsafe extern "C" {$(
                pub(crate) safe fn $double($($operand: f64),*) -> f64;
                pub(crate) safe fn $single($($operand: f32),*) -> f32;
            )*}

            pub(crate) use super::logarithm_of_gamma::{lgamma, lgammaf};
        }
    };
}

declare! {
    sqrt sqrtf (x);
    cbrt cbrtf (x);
    exp expf (x);
    exp2 exp2f (x);
    expm1 expm1f (x);
    log logf (x);
    log2 log2f (x);
    log10 log10f (x);
    log1p log1pf (x);
    logb logbf (x);
    sin sinf (x);
    cos cosf (x);
    tan tanf (x);
    asin asinf (x);
    acos acosf (x);
    atan atanf (x);
    sinh sinhf (x);
    cosh coshf (x);
    tanh tanhf (x);
    asinh asinhf (x);
    acosh acoshf (x);
    atanh atanhf (x);
    erf erff (x);
    erfc erfcf (x);
    tgamma tgammaf (x);
    fabs fabsf (x);
    floor floorf (x);
    ceil ceilf (x);
    trunc truncf (x);
    round roundf (x);
    rint rintf (x);
    nearbyint nearbyintf (x);
    atan2 atan2f (y, x);
    pow powf (x, y);
    hypot hypotf (x, y);
    fmod fmodf (x, y);
    remainder remainderf (x, y);
    fmin fminf (x, y);
    fmax fmaxf (x, y);
    fdim fdimf (x, y);
    copysign copysignf (x, y);
    nextafter nextafterf (x, y);
    fma fmaf (x, y, z);
}

/// `lgamma` without its global variable `signgam`, which threads would race for.
#[cfg(unix)]
mod logarithm_of_gamma {
    use super::find;
    use std::ffi::c_int;
    use std::sync::OnceLock;

    type Code<T> = extern "C" fn(T, &mut c_int) -> T;

    // SAFETY: POSIX declares these functions with these signatures; they write the sign where they are told.
    #[link(name = "m")]
    unsafe extern "C" {
        safe fn lgamma_r(x: f64, sign: &mut c_int) -> f64;
        safe fn lgammaf_r(x: f32, sign: &mut c_int) -> f32;
    }

    pub(crate) extern "C" fn lgamma(x: f64) -> f64 {
        static CODE: OnceLock<Code<f64>> = OnceLock::new();
        // SAFETY: POSIX declares it with this signature.
        let code = CODE.get_or_init(|| unsafe { find("lgamma_r") }.unwrap_or(lgamma_r));
        code(x, &mut 0)
    }

    pub(crate) extern "C" fn lgammaf(x: f32) -> f32 {
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
        pub(crate) safe fn lgamma(x: f64) -> f64;
        pub(crate) safe fn lgammaf(x: f32) -> f32;
    }
}

/// What a loaded library calls `name`.
///
/// # Safety
/// The library that has such a name declares it as a function of the type `F`.
#[cfg(unix)]
unsafe fn find<F: Copy>(name: &str) -> Option<F> {
    let loaded = libloading::os::unix::Library::this();
    // SAFETY: the caller vouches for the type. What is found stays loaded: the program itself needs that library.
    let symbol = unsafe { loaded.get::<F>(name) };
    symbol.ok().map(|it| *it)
}

/// Elsewhere the program keeps what it is linked with.
#[cfg(not(unix))]
unsafe fn find<F: Copy>(_name: &str) -> Option<F> {
    None
}

impl<T> Code<T> {
    /// The code that C calls `name`, a function of `<math.h>` with the signature of `self`; `self` where none is found.
    pub(crate) fn loaded(self, name: &str) -> Self {
        // SAFETY: C99 declares the function of that name with the signature that the linked one has.
        unsafe {
            match self {
                // C's own has a global variable, which the one made here does without.
                _ if name.starts_with("lgamma") => self,
                Self::Unary(linked) => Self::Unary(find(name).unwrap_or(linked)),
                Self::Binary(linked) => Self::Binary(find(name).unwrap_or(linked)),
                Self::Ternary(linked) => Self::Ternary(find(name).unwrap_or(linked)),
            }
        }
    }
}
