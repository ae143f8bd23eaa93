//! The macros of the standard headers, and which headers there are. No header is read: the names
//! are always known.

use strew_affine::spelling;

/// The headers of C99.
const HEADERS: [&str; 24] = [
    "assert.h",
    "complex.h",
    "ctype.h",
    "errno.h",
    "fenv.h",
    "float.h",
    "inttypes.h",
    "iso646.h",
    "limits.h",
    "locale.h",
    "math.h",
    "setjmp.h",
    "signal.h",
    "stdarg.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "tgmath.h",
    "time.h",
    "wchar.h",
    "wctype.h",
];

/// What `iso646.h` defines, as it stands behind `#define`; these are names where it is not
/// included.
pub(super) const OPERATORS: [&str; 11] = [
    "and &&",
    "and_eq &=",
    "bitand &",
    "bitor |",
    "compl ~",
    "not !",
    "not_eq !=",
    "or ||",
    "or_eq |=",
    "xor ^",
    "xor_eq ^=",
];

/// Whether `name` is a header of C99.
pub(super) fn is_standard(name: &str) -> bool {
    HEADERS.contains(&name)
}

/// The header of C99 that is spelled most like `name`.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    spelling::nearest(name, HEADERS)
}

/// What stands behind `#define NAME` in the headers of the platform, so that every constant has the
/// type it has there.
///
/// `1e999` is read as infinity by the front end alone.
pub(super) fn definition(name: &str) -> Option<&'static str> {
    let text = match name {
        "__FILE__" | "__func__" | "__FUNCTION__" | "__DATE__" | "__TIME__" => "\"\"",
        // The number of the line instead.
        "__LINE__" => "0",
        "__STDC__" | "__STDC_HOSTED__" | "__STREW__" => "1",
        "__STDC_VERSION__" => "199901L",
        "true" | "__bool_true_false_are_defined" => "1",
        "false" => "0",
        "NAN" => " (1e999f - 1e999f)",
        "INFINITY" | "HUGE_VALF" => "1e999f",
        "HUGE_VAL" => "1e999",
        "INT8_C" | "INT16_C" | "INT32_C" | "UINT8_C" | "UINT16_C" => "(x) (x)",
        "UINT32_C" => "(x) ((unsigned)(x))",
        "INT64_C" | "INTMAX_C" => "(x) ((long)(x))",
        "UINT64_C" | "UINTMAX_C" => "(x) ((unsigned long)(x))",
        _ => {
            return integer_limit(name)
                .or_else(|| float_limit(name))
                .or_else(|| constant(name));
        }
    };
    Some(text)
}

fn integer_limit(name: &str) -> Option<&'static str> {
    Some(match name {
        "CHAR_BIT" => "8",
        "INT8_MIN" | "INT_LEAST8_MIN" | "INT_FAST8_MIN" | "SCHAR_MIN" | "CHAR_MIN" => " (-128)",
        "INT8_MAX" | "INT_LEAST8_MAX" | "INT_FAST8_MAX" | "SCHAR_MAX" | "CHAR_MAX" => " (127)",
        "UINT8_MAX" | "UINT_LEAST8_MAX" | "UINT_FAST8_MAX" | "UCHAR_MAX" => " (255)",
        "INT16_MIN" | "INT_LEAST16_MIN" | "SHRT_MIN" => " (-32767-1)",
        "INT16_MAX" | "INT_LEAST16_MAX" | "SHRT_MAX" => " (32767)",
        "UINT16_MAX" | "UINT_LEAST16_MAX" | "USHRT_MAX" => " (65535)",
        "INT32_MIN" | "INT_LEAST32_MIN" | "INT_MIN" => " (-2147483647-1)",
        "INT32_MAX" | "INT_LEAST32_MAX" | "INT_MAX" => " (2147483647)",
        "UINT32_MAX" | "UINT_LEAST32_MAX" | "UINT_MAX" => " (4294967295U)",
        "INT64_MIN" | "INT_LEAST64_MIN" | "INT_FAST16_MIN" | "INT_FAST32_MIN"
        | "INT_FAST64_MIN" | "INTPTR_MIN" | "INTMAX_MIN" | "PTRDIFF_MIN" | "LONG_MIN"
        | "LLONG_MIN" => " (-9223372036854775807L-1)",
        "INT64_MAX" | "INT_LEAST64_MAX" | "INT_FAST16_MAX" | "INT_FAST32_MAX"
        | "INT_FAST64_MAX" | "INTPTR_MAX" | "INTMAX_MAX" | "PTRDIFF_MAX" | "SSIZE_MAX"
        | "LONG_MAX" | "LLONG_MAX" => " (9223372036854775807L)",
        "UINT64_MAX" | "UINT_LEAST64_MAX" | "UINT_FAST16_MAX" | "UINT_FAST32_MAX"
        | "UINT_FAST64_MAX" | "UINTPTR_MAX" | "UINTMAX_MAX" | "SIZE_MAX" | "ULONG_MAX"
        | "ULLONG_MAX" => " (18446744073709551615UL)",
        _ => return None,
    })
}

fn float_limit(name: &str) -> Option<&'static str> {
    Some(match name {
        "FLT_RADIX" => "2",
        "FLT_EVAL_METHOD" => "0",
        "FLT_ROUNDS" => "1",
        "DECIMAL_DIG" => "21",
        "FLT_DIG" => "6",
        "FLT_MANT_DIG" => "24",
        "FLT_MIN_EXP" => " (-125)",
        "FLT_MAX_EXP" => "128",
        "FLT_MIN_10_EXP" => " (-37)",
        "FLT_MAX_10_EXP" => "38",
        "FLT_MAX" => "0x1.fffffep127f",
        "FLT_MIN" => "0x1p-126f",
        "FLT_EPSILON" => "0x1p-23f",
        "FLT_TRUE_MIN" => "0x1p-149f",
        "DBL_DIG" => "15",
        "DBL_MANT_DIG" => "53",
        "DBL_MIN_EXP" => " (-1021)",
        "DBL_MAX_EXP" => "1024",
        "DBL_MIN_10_EXP" => " (-307)",
        "DBL_MAX_10_EXP" => "308",
        "DBL_MAX" => " ((double)0x1.fffffffffffffp1023)",
        "DBL_MIN" => " ((double)0x1p-1022)",
        "DBL_EPSILON" => " ((double)0x1p-52)",
        "DBL_TRUE_MIN" => " ((double)0x1p-1074)",
        _ => return None,
    })
}

fn constant(name: &str) -> Option<&'static str> {
    Some(match name {
        "M_E" => "2.7182818284590452354",
        "M_LOG2E" => "1.4426950408889634074",
        "M_LOG10E" => "0.43429448190325182765",
        "M_LN2" => "0.69314718055994530942",
        "M_LN10" => "2.30258509299404568402",
        "M_PI" => "3.14159265358979323846",
        "M_PI_2" => "1.57079632679489661923",
        "M_PI_4" => "0.78539816339744830962",
        "M_1_PI" => "0.31830988618379067154",
        "M_2_PI" => "0.63661977236758134308",
        "M_2_SQRTPI" => "1.12837916709551257390",
        "M_SQRT2" => "1.41421356237309504880",
        "M_SQRT1_2" => "0.70710678118654752440",
        _ => return None,
    })
}
