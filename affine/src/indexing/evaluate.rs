use super::expression::{ceil_div, floor_div, floor_mod, narrow};
use super::{IndexExpr, IndexingError, IndexingMap, Variable};

impl IndexExpr {
    /// The value when the variables have the values that `value_of` gives.
    ///
    /// # Errors
    /// A divisor is zero, or the value leaves 64 bits. Intermediate values may have up to 128 bits.
    pub fn evaluate(&self, value_of: &impl Fn(Variable) -> i64) -> Result<i64, IndexingError> {
        narrow(self.wide_value(value_of)?)
    }

    pub(super) fn wide_value(
        &self,
        value_of: &impl Fn(Variable) -> i64,
    ) -> Result<i128, IndexingError> {
        let value = |expr: &Self| expr.wide_value(value_of);
        let divide = |pair: &[Self; 2], divide: fn(i128, i128) -> i128| {
            let (left, right) = (value(&pair[0])?, value(&pair[1])?);
            match right {
                0 => Err(IndexingError::DivisionByZero),
                -1 if left == i128::MIN => Err(IndexingError::Overflow),
                _ => Ok(divide(left, right)),
            }
        };
        let extreme = |operands: &[Self], pick: fn(i128, i128) -> i128| {
            let mut values = operands.iter().map(value);
            let first = values.next().unwrap_or(Ok(0))?;
            values.try_fold(first, |seen, value| Ok(pick(seen, value?)))
        };
        match self {
            Self::Constant(constant) => Ok((*constant).into()),
            Self::Variable(variable) => Ok(value_of(*variable).into()),
            Self::Product(factors) => factors
                .iter()
                .try_fold(1, |product, factor| multiply(product, value(factor)?)),
            Self::FloorDiv(pair) => divide(pair, floor_div),
            Self::CeilDiv(pair) => divide(pair, ceil_div),
            Self::Mod(pair) => divide(pair, floor_mod),
            Self::Min(operands) => extreme(operands, i128::min),
            Self::Max(operands) => extreme(operands, i128::max),
            Self::Sum(sum) => {
                let mut total = i128::from(sum.constant);
                for term in &sum.terms {
                    let scaled = multiply(value(&term.expr)?, term.coefficient.into())?;
                    total = total.checked_add(scaled).ok_or(IndexingError::Overflow)?;
                }
                Ok(total)
            }
        }
    }
}

fn multiply(left: i128, right: i128) -> Result<i128, IndexingError> {
    left.checked_mul(right).ok_or(IndexingError::Overflow)
}

impl IndexingMap {
    /// The results at a point, which has a value for each of [`IndexingMap::variables`]; `None`
    /// outside of the domain.
    ///
    /// # Errors
    /// There are more or fewer values than variables; a result or a constrained value leaves 64
    /// bits, or a divisor is zero.
    pub fn evaluate(&self, point: &[i64]) -> Result<Option<Vec<i64>>, IndexingError> {
        if !self.contains(point)? {
            return Ok(None);
        }
        let value_of = |variable| point.get(self.slot(variable)).copied().unwrap_or(0);
        let results = self.results.iter().map(|it| it.evaluate(&value_of));
        results.collect::<Result<_, _>>().map(Some)
    }

    /// Whether a point, which has a value for each of [`IndexingMap::variables`], is in the domain.
    /// It is not when one constraint does not hold, even if another one has no value.
    ///
    /// # Errors
    /// There are more or fewer values than variables; a constrained value leaves 64 bits, or a
    /// divisor is zero.
    pub fn contains(&self, point: &[i64]) -> Result<bool, IndexingError> {
        if self.known_empty {
            return Ok(false);
        }
        let bounds = self.box_bounds();
        if bounds.len() != point.len() {
            return Err(IndexingError::WrongCount {
                expected: bounds.len(),
                found: point.len(),
            });
        }
        if !bounds
            .iter()
            .zip(point)
            .all(|(it, value)| it.contains(*value))
        {
            return Ok(false);
        }
        let value_of = |variable| point.get(self.slot(variable)).copied().unwrap_or(0);
        // Whatever its order, a constraint that does not hold settles it, and one without a value
        // only if no other does.
        let mut answer = Ok(true);
        for constraint in &self.constraints {
            match constraint.expr.wide_value(&value_of) {
                Ok(value) if !constraint.bounds.contains_wide(value) => return Ok(false),
                Ok(_) => {}
                Err(error) => answer = Err(error),
            }
        }
        answer
    }
}
