//! Checked arithmetic on the numbers of rows. Nearly all of them are short, and short ones are
//! worked on many times faster.

use super::Unknown;

pub(super) type Checked<T> = Result<T, Unknown>;

fn short(value: i128) -> Option<i64> {
    i64::try_from(value).ok()
}

pub(super) fn add(left: i128, right: i128) -> Checked<i128> {
    left.checked_add(right).ok_or(Unknown::Overflow)
}

pub(super) fn multiply(left: i128, right: i128) -> Checked<i128> {
    match (short(left), short(right)) {
        (Some(left), Some(right)) => Ok(i128::from(left) * i128::from(right)),
        _ => left.checked_mul(right).ok_or(Unknown::Overflow),
    }
}

pub(super) fn negate(value: i128) -> Checked<i128> {
    value.checked_neg().ok_or(Unknown::Overflow)
}

/// The quotient rounded towards minus infinity; the divisor is positive.
pub(super) fn floor_div(left: i128, right: i128) -> i128 {
    match (short(left), short(right)) {
        (Some(left), Some(right)) if right > 0 => i128::from(left.div_euclid(right)),
        _ => left.checked_div_euclid(right).unwrap_or(0),
    }
}

/// What [`floor_div`] leaves, from 0 to below the divisor.
pub(super) fn floor_mod(left: i128, right: i128) -> i128 {
    match (short(left), short(right)) {
        (Some(left), Some(right)) if right > 0 => i128::from(left.rem_euclid(right)),
        _ => left.checked_rem_euclid(right).unwrap_or(0),
    }
}

/// The quotient rounded towards plus infinity; the divisor is positive.
pub(super) fn ceil_div(left: i128, right: i128) -> i128 {
    let quotient = floor_div(left, right);
    quotient + i128::from(floor_mod(left, right) != 0)
}

/// The quotient rounded to the nearest integer; the divisor is not zero.
pub(super) fn nearest_div(left: i128, right: i128) -> Checked<i128> {
    let (left, right) = if right < 0 {
        (negate(left)?, negate(right)?)
    } else {
        (left, right)
    };
    Ok(floor_div(add(left, right / 2)?, right))
}

/// The greatest common divisor of the absolute values; zero of zeros.
pub(crate) fn common_divisor(left: i128, right: i128) -> i128 {
    let (left, right) = (left.unsigned_abs(), right.unsigned_abs());
    match (u64::try_from(left), u64::try_from(right)) {
        (Ok(left), Ok(right)) => i128::from(short_common_divisor(left, right)),
        // Only the least integer has an absolute value that is out of range; nothing is divided by
        // it.
        _ => i128::try_from(long_common_divisor(left, right)).unwrap_or(1),
    }
}

fn short_common_divisor(mut left: u64, mut right: u64) -> u64 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

fn long_common_divisor(mut left: u128, mut right: u128) -> u128 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisions_round_as_their_names_say() -> Checked<()> {
        assert_eq!(
            (floor_div(-7, 3), ceil_div(-7, 3), floor_mod(-7, 3)),
            (-3, -2, 2)
        );
        assert_eq!((nearest_div(7, 3)?, nearest_div(-8, 3)?), (2, -3));
        assert_eq!((nearest_div(7, -3)?, nearest_div(1, 3)?), (-2, 0));
        let large = 1_i128 << 100;
        assert_eq!(floor_div(-large - 1, large), -2);
        assert_eq!(common_divisor(-12, 18), 6);
        assert_eq!(common_divisor(large, 0), large);
        Ok(())
    }

    #[test]
    fn nothing_wraps() {
        assert_eq!(multiply(i128::MAX, 2), Err(Unknown::Overflow));
        assert_eq!(add(i128::MAX, 1), Err(Unknown::Overflow));
        assert_eq!(negate(i128::MIN), Err(Unknown::Overflow));
        assert_eq!(common_divisor(i128::MIN, i128::MIN), 1);
    }
}
