//! Numbers, as C reads them: the type of a literal is the first of C's list that holds its value.

use crate::problem::NumberFault;
use strew_affine::{Type, Value};

/// The value of a preprocessing number.
pub(crate) fn number(text: &str) -> Result<Value, NumberFault> {
    let lower = text.to_ascii_lowercase();
    let hexadecimal = lower.strip_prefix("0x");
    let is_float = match hexadecimal {
        Some(digits) => digits.contains(['.', 'p']),
        None => lower.contains(['.', 'e']),
    };
    match (hexadecimal, is_float) {
        (Some(digits), true) => hexadecimal_float(digits),
        (None, true) => decimal_float(&lower),
        (Some(digits), false) => integer(digits, 16, text),
        (None, false) if lower.len() > 1 && lower.starts_with('0') => integer(&lower, 8, text),
        (None, false) => integer(&lower, 10, text),
    }
}

/// The value of a character constant with its quotes: an `int`.
pub(crate) fn character(text: &str) -> Result<Value, NumberFault> {
    let inner = text
        .strip_prefix('\'')
        .and_then(|it| it.strip_suffix('\''))
        .ok_or(NumberFault::NotOneCharacter)?;
    let code = match inner.strip_prefix('\\') {
        None => single(inner).map(i128::from),
        Some(escape) => escaped(escape),
    };
    // `char` is signed on x86-64 Linux.
    let code = code.ok_or(NumberFault::NotOneCharacter)?;
    let code = Value::integer(Type::I8, code).as_integer();
    Ok(Value::integer(Type::I32, code.unwrap_or_default()))
}

fn single(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [byte] => Some(*byte),
        _ => None,
    }
}

fn escaped(text: &str) -> Option<i128> {
    if let Some(digits) = text.strip_prefix('x') {
        return u8::from_str_radix(digits, 16).ok().map(i128::from);
    }
    if text.starts_with(|it: char| it.is_digit(8)) {
        return u8::from_str_radix(text, 8).ok().map(i128::from);
    }
    Some(match single(text)? {
        b'n' => 10,
        b't' => 9,
        b'r' => 13,
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'v' => 11,
        quoted @ (b'\\' | b'\'' | b'"' | b'?') => i128::from(quoted),
        _ => return None,
    })
}

fn integer(digits: &str, radix: u32, text: &str) -> Result<Value, NumberFault> {
    let split = digits
        .find(|it: char| !it.is_digit(radix))
        .unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(split);
    let (unsigned, long) = match suffix {
        "" => (false, false),
        "u" => (true, false),
        "l" => (false, true),
        "ul" | "lu" => (true, true),
        // The two letters of `ll` are of one case; `text` still knows which.
        "ll" | "ull" | "llu" if text.contains("ll") || text.contains("LL") => {
            (suffix.len() == 3, true)
        }
        _ => return Err(NumberFault::Malformed),
    };
    if digits.is_empty() {
        return Err(NumberFault::Malformed);
    }
    let value = u64::from_str_radix(digits, radix).map_err(|_| NumberFault::TooLarge)?;
    let value = i128::from(value);
    let fits = |ty: Type| ty.integer_range().is_some_and(|(_, high)| value <= high);
    [Type::I32, Type::U32, Type::I64, Type::U64]
        .into_iter()
        .filter(|ty| !(unsigned && ty.is_signed()))
        // A decimal literal without `u` is never unsigned.
        .filter(|ty| unsigned || radix != 10 || ty.is_signed())
        .filter(|ty| !(long && ty.bits() < 64))
        .find(|ty| fits(*ty))
        .map(|ty| Value::integer(ty, value))
        .ok_or(NumberFault::TooLarge)
}

/// Splits an `f` off; `long double` is not a type of the language.
fn float_suffix(text: &str) -> (&str, Type) {
    match text.strip_suffix('f') {
        Some(number) => (number, Type::F32),
        None => (text, Type::F64),
    }
}

fn decimal_float(text: &str) -> Result<Value, NumberFault> {
    let (number, ty) = float_suffix(text);
    let is_plain = number
        .chars()
        .all(|it| it.is_ascii_digit() || matches!(it, '.' | 'e' | '+' | '-'));
    let malformed = |_| NumberFault::Malformed;
    match ty {
        _ if !is_plain => Err(NumberFault::Malformed),
        // Read at once as `float`: by way of `double` it would be rounded twice.
        Type::F32 => number.parse().map(Value::f32).map_err(malformed),
        _ => number.parse().map(Value::f64).map_err(malformed),
    }
}

/// `digits.digits p exponent`, without the `0x`.
fn hexadecimal_float(text: &str) -> Result<Value, NumberFault> {
    let (mantissa, exponent) = text.split_once('p').ok_or(NumberFault::Malformed)?;
    let (exponent, ty) = float_suffix(exponent);
    let exponent: i64 = exponent.parse().map_err(|_| NumberFault::Malformed)?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return Err(NumberFault::Malformed);
    }
    let mut bits = 0_u128;
    let mut scale = exponent.clamp(-100_000, 100_000);
    for (index, digit) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = digit.to_digit(16).ok_or(NumberFault::Malformed)?;
        let is_fraction = index >= whole.len();
        if bits >> 120 == 0 {
            bits = bits << 4 | u128::from(digit);
            scale -= if is_fraction { 4 } else { 0 };
        } else {
            // Beyond 120 bits only whether anything follows matters to rounding.
            bits |= u128::from(digit != 0);
            scale += if is_fraction { 0 } else { 4 };
        }
    }
    Ok(scaled(bits, scale, ty))
}

/// `bits * 2^scale`, rounded once to nearest even.
fn scaled(bits: u128, scale: i64, ty: Type) -> Value {
    let (precision, least) = match ty {
        Type::F32 => (24, -149),
        _ => (53, -1074),
    };
    if bits == 0 {
        return Value::zero(ty);
    }
    let length = i64::from(128 - bits.leading_zeros());
    // The exponent of the last bit that the format keeps at this magnitude.
    let last = (length + scale - precision).max(least);
    let drop = last - scale;
    let kept = if drop <= 0 {
        bits
    } else if drop > 127 {
        0
    } else {
        round_off(bits, drop as u32)
    };
    let exponent = if drop <= 0 { scale } else { last };
    Value::float(ty, times_power_of_two(kept as f64, exponent))
}

fn round_off(bits: u128, drop: u32) -> u128 {
    let kept = bits >> drop;
    let rest = bits & ((1 << drop) - 1);
    let half = 1 << (drop - 1);
    kept + u128::from(rest > half || (rest == half && kept & 1 == 1))
}

/// Exact when the result is representable: each step multiplies by a power of two within the range
/// of exponents.
fn times_power_of_two(mut value: f64, mut exponent: i64) -> f64 {
    while exponent != 0 && value != 0.0 && value.is_finite() {
        let step = exponent.clamp(-1000, 1000);
        value *= f64::powi(2.0, step as i32);
        exponent -= step;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_of_an_integer_is_the_first_that_holds_it() {
        let cases = [
            ("0", Type::I32, 0),
            ("2147483647", Type::I32, 2_147_483_647),
            ("2147483648", Type::I64, 2_147_483_648),
            ("0x80000000", Type::U32, 2_147_483_648),
            ("0xFFFFFFFFFFFFFFFF", Type::U64, 18_446_744_073_709_551_615),
            ("017", Type::I32, 15),
            ("7u", Type::U32, 7),
            ("7L", Type::I64, 7),
            ("7uLL", Type::U64, 7),
            ("4294967296U", Type::U64, 4_294_967_296),
        ];
        for (text, ty, value) in cases {
            assert_eq!(number(text), Ok(Value::integer(ty, value)), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            "08", "1.2.3", "0x", "1lL", "3q", "0xE+1", "1e", "0x1.8", "1ee5", "0x1p", "1.0L",
        ] {
            assert_eq!(number(text), Err(NumberFault::Malformed), "{text}");
        }
        for text in ["18446744073709551616", "9223372036854775808"] {
            assert_eq!(number(text), Err(NumberFault::TooLarge), "{text}");
        }
    }

    #[test]
    fn floats_are_rounded_once() {
        let cases = [
            ("1.5", 1.5),
            (".5", 0.5),
            ("1.", 1.0),
            ("1e3", 1000.0),
            ("0x1.8p1", 3.0),
        ];
        for (text, value) in cases {
            assert_eq!(number(text), Ok(Value::f64(value)), "{text}");
        }
        assert_eq!(number("0.1f"), Ok(Value::f32(0.1)));
        // Halfway between two floats as a double, just above it as written.
        assert_eq!(
            number("1.00000005960464477540f"),
            Ok(Value::f32(1.000_000_1))
        );
        assert_eq!(number("0x1.00000100000001p0f"), Ok(Value::f32(1.000_000_1)));
        assert_eq!(number("0x1p-149f"), Ok(Value::f32(f32::from_bits(1))));
        assert_eq!(number("0x1p-1074"), Ok(Value::f64(f64::from_bits(1))));
        assert_eq!(number("0x1p-1076"), Ok(Value::f64(0.0)));
        assert_eq!(number("0x1p99999"), Ok(Value::f64(f64::INFINITY)));
    }

    #[test]
    fn character_constants_are_ints() {
        for (text, value) in [
            ("'a'", 97),
            (r"'\n'", 10),
            (r"'\0'", 0),
            (r"'\xff'", -1),
            (r"'\''", 39),
        ] {
            assert_eq!(
                character(text),
                Ok(Value::integer(Type::I32, value)),
                "{text}"
            );
        }
        for text in ["''", "'ab'", r"'\q'"] {
            assert_eq!(character(text), Err(NumberFault::NotOneCharacter), "{text}");
        }
    }
}
