//! The value of each operation on values: C's meaning, with what C leaves open defined as [`Expr`]
//! says.
//!
//! The interpreter computes with these, and whoever folds constants. Operands have the types that a
//! verified kernel gives them; with others the result is some value of the expected type, never a
//! panic.

use crate::{
    BinaryOp, CompareOp, Expr, Extreme, Function, Math, NotComputed, Type, UnaryOp, Value,
};

/// An integer division or remainder by zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("integer division by zero")]
pub struct DivisionByZero;

/// The value of an expression that speaks of constants alone where it is evaluated, divides no
/// integer by zero and calls no function.
pub fn constant(expr: &Expr) -> Option<Value> {
    let holds = |expr: &Expr| Some(constant(expr)?.bits() != 0);
    Some(match expr {
        Expr::Constant(value) => *value,
        Expr::Unary(op, operand) => unary(*op, constant(operand)?),
        Expr::Binary(op, left, right, _) => binary(*op, constant(left)?, constant(right)?).ok()?,
        Expr::Compare(op, left, right) => {
            Value::bool(compare(*op, constant(left)?, constant(right)?))
        }
        Expr::And(left, right) => Value::bool(holds(left)? && holds(right)?),
        Expr::Or(left, right) => Value::bool(holds(left)? || holds(right)?),
        Expr::Select(condition, then, otherwise) => match holds(condition)? {
            true => constant(then)?,
            false => constant(otherwise)?,
        },
        Expr::Cast(ty, operand) => convert(*ty, constant(operand)?),
        Expr::Iter(_)
        | Expr::Param(_)
        | Expr::Local(_)
        | Expr::Operand(_)
        | Expr::Threads
        | Expr::Load(_)
        | Expr::Call(..) => return None,
    })
}

/// `op operand`.
pub fn unary(op: UnaryOp, operand: Value) -> Value {
    let ty = operand.ty();
    match op {
        UnaryOp::Not => Value::bool(operand.bits() == 0),
        UnaryOp::BitNot => Value::from_bits(ty, !operand.bits()),
        UnaryOp::CountOnes => Value::integer(ty, operand.bits().count_ones().into()),
        UnaryOp::LeadingZeros => {
            let above = u64::BITS - ty.bits();
            Value::integer(ty, (operand.bits().leading_zeros() - above).into())
        }
        UnaryOp::TrailingZeros => {
            let zeros = operand.bits().trailing_zeros();
            Value::integer(ty, zeros.min(ty.bits()).into())
        }
        UnaryOp::Neg => match number(operand) {
            Number::Integer(value) => Value::integer(ty, -value),
            Number::F32(value) => Value::f32(-value),
            Number::F64(value) => Value::f64(-value),
        },
    }
}

/// `left op right`, both of one type.
///
/// # Errors
/// An integer division or remainder by zero.
pub fn binary(op: BinaryOp, left: Value, right: Value) -> Result<Value, DivisionByZero> {
    let ty = left.ty();
    match (number(left), number(right)) {
        (Number::F32(left), Number::F32(right)) => Ok(Value::f32(float32(op, left, right))),
        (Number::F64(left), Number::F64(right)) => Ok(Value::f64(float64(op, left, right))),
        (Number::Integer(left), Number::Integer(right)) => {
            integer(op, ty, left, right).map(|value| Value::integer(ty, value))
        }
        _ => Ok(Value::zero(ty)),
    }
}

/// `left op right`, both of one type. With a NaN only `!=` holds.
pub fn compare(op: CompareOp, left: Value, right: Value) -> bool {
    match (number(left), number(right)) {
        (Number::Integer(left), Number::Integer(right)) => holds(op, &left, &right),
        (Number::F32(left), Number::F32(right)) => holds(op, &left, &right),
        (Number::F64(left), Number::F64(right)) => holds(op, &left, &right),
        _ => false,
    }
}

/// `value` converted to `ty`: integers wrap, floats round to nearest, a float saturates on its way
/// to an integer and NaN gives 0, and to `bool` everything but zero is true.
pub fn convert(ty: Type, value: Value) -> Value {
    match (number(value), ty) {
        (Number::Integer(value), Type::Bool) => Value::bool(value != 0),
        (Number::F32(value), Type::Bool) => Value::bool(value != 0.0),
        (Number::F64(value), Type::Bool) => Value::bool(value != 0.0),
        // From the integer directly: by way of `f64` it would round twice.
        (Number::Integer(value), Type::F32) => Value::f32(value as f32),
        (Number::Integer(value), Type::F64) => Value::f64(value as f64),
        (Number::Integer(value), _) => Value::integer(ty, value),
        (Number::F32(value), Type::F32) => Value::f32(value),
        (Number::F32(value), Type::F64) => Value::f64(f64::from(value)),
        (Number::F64(value), Type::F32) => Value::f32(value as f32),
        (Number::F64(value), Type::F64) => Value::f64(value),
        (Number::F32(value), _) => saturated(ty, f64::from(value)),
        (Number::F64(value), _) => saturated(ty, value),
    }
}

/// `function` on operands of one float type, as many as it takes; its value is the one that `math`
/// has for it, unless it picks one of them: of two that are equal, as zeros of both signs are, the
/// second, and what is no NaN.
///
/// # Errors
/// `math` does not compute the function, or not on operands like these.
pub fn call(math: &dyn Math, function: Function, operands: &[Value]) -> Result<Value, NotComputed> {
    if let (Some(extreme), &[first, second]) = (function.extreme(), operands) {
        return Ok(picked(extreme, first, second));
    }
    let ty = operands.first().map_or(Type::F64, |it| it.ty());
    let bits = operands.iter().map(|it| it.bits());
    let value = match ty {
        Type::F32 => {
            let operands: Vec<_> = bits.map(|it| f32::from_bits(it as u32)).collect();
            math.single(function, &operands).map(Value::f32)
        }
        Type::F64 => {
            let operands: Vec<_> = bits.map(f64::from_bits).collect();
            math.double(function, &operands).map(Value::f64)
        }
        _ => None,
    };
    value.ok_or(NotComputed(function))
}

fn picked(extreme: Extreme, first: Value, second: Value) -> Value {
    let is_first = match (first.as_float(), second.as_float()) {
        (Some(one), Some(other)) => {
            let is_beyond = match extreme {
                Extreme::Least => one < other,
                Extreme::Greatest => one > other,
            };
            is_beyond || other.is_nan()
        }
        _ => false,
    };
    if is_first { first } else { second }
}

enum Number {
    Integer(i128),
    F32(f32),
    F64(f64),
}

fn number(value: Value) -> Number {
    match value.ty() {
        Type::F32 => Number::F32(f32::from_bits(value.bits() as u32)),
        Type::F64 => Number::F64(f64::from_bits(value.bits())),
        _ => Number::Integer(value.as_integer().unwrap_or(0)),
    }
}

/// Rust's own conversion to `i128` saturates and takes NaN to 0; what is left is to saturate at the
/// ends of `ty`.
fn saturated(ty: Type, value: f64) -> Value {
    let (least, greatest) = ty.integer_range().unwrap_or((0, 0));
    Value::integer(ty, (value as i128).clamp(least, greatest))
}

fn holds<T: PartialOrd>(op: CompareOp, left: &T, right: &T) -> bool {
    match op {
        CompareOp::Eq => left == right,
        CompareOp::Ne => left != right,
        CompareOp::Lt => left < right,
        CompareOp::Le => left <= right,
        CompareOp::Gt => left > right,
        CompareOp::Ge => left >= right,
    }
}

/// The mathematical value, which the caller wraps. All operands have at most 64 bits, so nothing
/// here leaves 128.
fn integer(op: BinaryOp, ty: Type, left: i128, right: i128) -> Result<i128, DivisionByZero> {
    let count = || right.rem_euclid(i128::from(ty.bits()));
    match op {
        BinaryOp::Div | BinaryOp::Rem if right == 0 => Err(DivisionByZero),
        BinaryOp::Add => Ok(left + right),
        BinaryOp::Sub => Ok(left - right),
        // The product of two unsigned 64-bit numbers does not fit `i128`; its low half, all that is
        // kept, does.
        BinaryOp::Mul => Ok(left.wrapping_mul(right)),
        BinaryOp::Div => Ok(left / right),
        BinaryOp::Rem => Ok(left % right),
        BinaryOp::BitAnd => Ok(left & right),
        BinaryOp::BitOr => Ok(left | right),
        BinaryOp::BitXor => Ok(left ^ right),
        BinaryOp::Shl => Ok(left << count()),
        BinaryOp::Shr => Ok(left >> count()),
    }
}

fn float32(op: BinaryOp, left: f32, right: f32) -> f32 {
    match op {
        BinaryOp::Add => left + right,
        BinaryOp::Sub => left - right,
        BinaryOp::Mul => left * right,
        BinaryOp::Div => left / right,
        _ => 0.0,
    }
}

fn float64(op: BinaryOp, left: f64, right: f64) -> f64 {
    match op {
        BinaryOp::Add => left + right,
        BinaryOp::Sub => left - right,
        BinaryOp::Mul => left * right,
        BinaryOp::Div => left / right,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StdMath;

    fn i32(value: i32) -> Value {
        Value::integer(Type::I32, i128::from(value))
    }

    #[track_caller]
    fn check(op: BinaryOp, left: i32, right: i32, expected: i32) {
        assert_eq!(binary(op, i32(left), i32(right)), Ok(i32(expected)));
    }

    #[test]
    fn integers_do_what_the_processor_does() {
        let samples = [0, 1, -1, 2, 7, -7, 31, 32, 33, i32::MAX, i32::MIN];
        for left in samples {
            for right in samples {
                check(BinaryOp::Add, left, right, left.wrapping_add(right));
                check(BinaryOp::Sub, left, right, left.wrapping_sub(right));
                check(BinaryOp::Mul, left, right, left.wrapping_mul(right));
                check(BinaryOp::Shl, left, right, left.wrapping_shl(right as u32));
                check(BinaryOp::Shr, left, right, left.wrapping_shr(right as u32));
                check(BinaryOp::BitXor, left, right, left ^ right);
                if right != 0 {
                    check(BinaryOp::Div, left, right, left.wrapping_div(right));
                    check(BinaryOp::Rem, left, right, left.wrapping_rem(right));
                }
            }
        }
    }

    #[test]
    fn unsigned_products_keep_their_low_bits() {
        let all = Value::integer(Type::U64, -1);
        let product = binary(BinaryOp::Mul, all, all);
        assert_eq!(product, Ok(Value::from_bits(Type::U64, 1)));
    }

    #[test]
    fn division_by_zero_is_an_error_on_integers_alone() {
        assert_eq!(binary(BinaryOp::Div, i32(1), i32(0)), Err(DivisionByZero));
        assert_eq!(binary(BinaryOp::Rem, i32(1), i32(0)), Err(DivisionByZero));
        let quotient = binary(BinaryOp::Div, Value::f64(1.0), Value::f64(0.0));
        assert_eq!(quotient, Ok(Value::f64(f64::INFINITY)));
    }

    #[test]
    fn conversions_agree_with_rust() {
        for value in [
            0.0,
            -0.5,
            1.9,
            -1.9,
            1e10,
            -1e10,
            1e300,
            f64::NAN,
            f64::NEG_INFINITY,
        ] {
            let converted = |ty| convert(ty, Value::f64(value)).as_integer();
            assert_eq!(converted(Type::I8), Some(i128::from(value as i8)));
            assert_eq!(converted(Type::U16), Some(i128::from(value as u16)));
            assert_eq!(converted(Type::I32), Some(i128::from(value as i32)));
            assert_eq!(converted(Type::U64), Some(i128::from(value as u64)));
            assert_eq!(converted(Type::Bool), Some(i128::from(value != 0.0)));
        }
    }

    #[test]
    fn an_integer_is_rounded_to_f32_once() {
        // Halfway between two `f32` but for the last bit, which rounding to `f64` first would lose.
        let value = (1_i64 << 61) + (1 << 37) + 1;
        let converted = convert(Type::F32, Value::i64(value));
        assert_eq!(converted, Value::f32(value as f32));
        assert_ne!(converted, Value::f32(value as f64 as f32));
    }

    #[test]
    fn functions_compute_in_the_type_of_their_operands() {
        let power = |operands: &[Value]| call(&StdMath, Function::Pow, operands);
        let two = [Value::f64(2.0), Value::f64(0.5)];
        assert_eq!(power(&two), Ok(Value::f64(2_f64.sqrt())));
        let two = [Value::f32(2.0), Value::f32(0.5)];
        assert_eq!(power(&two), Ok(Value::f32(2_f32.sqrt())));
        for others in [&two[..1], &[Value::i64(2), Value::i64(1)], &[]] {
            assert_eq!(power(others), Err(NotComputed(Function::Pow)));
        }
    }

    #[test]
    fn with_a_nan_only_not_equal_holds() {
        let nan = Value::f64(f64::NAN);
        assert!(compare(CompareOp::Ne, nan, nan));
        for op in [CompareOp::Eq, CompareOp::Lt, CompareOp::Le, CompareOp::Ge] {
            assert!(!compare(op, nan, nan));
        }
    }
}
