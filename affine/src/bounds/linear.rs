use crate::Overflow;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Least,
    Greatest,
}

impl Side {
    pub(super) fn flipped_if(self, negative: bool) -> Self {
        match (self, negative) {
            (side, false) => side,
            (Self::Least, true) => Self::Greatest,
            (Self::Greatest, true) => Self::Least,
        }
    }

    /// The tighter of two bounds on this side.
    pub(super) fn tighter(self, left: i128, right: i128) -> i128 {
        match self {
            Self::Least => left.max(right),
            Self::Greatest => left.min(right),
        }
    }
}

/// `(sum of coefficient * iterator + constant) / denominator`, iterators by the depth of their loops.
#[derive(Clone, Debug)]
pub(super) struct Linear {
    pub(super) coefficients: Vec<i128>,
    pub(super) constant: i128,
    pub(super) denominator: i128,
}

impl Linear {
    pub(super) fn constant(constant: i128, depth: usize) -> Self {
        Self {
            coefficients: vec![0; depth],
            constant,
            denominator: 1,
        }
    }

    /// `self + factor * other`.
    pub(super) fn plus_scaled(&self, other: &Self, factor: i128) -> Result<Self, Overflow> {
        let divisor = greatest_common_divisor(self.denominator, other.denominator);
        let left = other.denominator / divisor;
        let right = multiply(self.denominator / divisor, factor)?;
        let combine = |a: i128, b: i128| add(multiply(a, left)?, multiply(b, right)?);
        let zero = 0;
        let coefficients = (0..self.coefficients.len()).map(|depth| {
            let theirs = other.coefficients.get(depth).unwrap_or(&zero);
            combine(self.coefficients[depth], *theirs)
        });
        Ok(Self {
            coefficients: coefficients.collect::<Result<_, _>>()?,
            constant: combine(self.constant, other.constant)?,
            denominator: multiply(self.denominator, left)?,
        })
    }

    pub(super) fn over(mut self, divisor: i128) -> Result<Self, Overflow> {
        self.denominator = multiply(self.denominator, divisor)?;
        Ok(self)
    }

    /// The integers that bound a value of at least, or at most, the constant part.
    pub(super) fn rounded(&self, side: Side) -> Result<i128, Overflow> {
        match side {
            Side::Greatest => Ok(self.constant.div_euclid(self.denominator)),
            Side::Least => {
                let negated = self.constant.checked_neg().ok_or(Overflow)?;
                Ok(-negated.div_euclid(self.denominator))
            }
        }
    }
}

pub(super) fn add(left: i128, right: i128) -> Result<i128, Overflow> {
    left.checked_add(right).ok_or(Overflow)
}

pub(super) fn multiply(left: i128, right: i128) -> Result<i128, Overflow> {
    left.checked_mul(right).ok_or(Overflow)
}

fn greatest_common_divisor(left: i128, right: i128) -> i128 {
    if right == 0 {
        left
    } else {
        greatest_common_divisor(right, left % right)
    }
}
