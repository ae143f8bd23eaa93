use crate::{IterId, ScalarId};
use std::cmp::Ordering;
use std::sync::Arc;

/// What an affine expression speaks of: an iterator of an enclosing loop or an integer parameter of
/// the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variable {
    /// The value of a loop's iterator.
    Iter(IterId),
    /// The value of a scalar parameter, which does not change while the kernel runs.
    Param(ScalarId),
}

/// One factor of a product.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Factor {
    /// A variable.
    Variable(Variable),
    /// `numerator floordiv denominator`: division that rounds towards minus infinity; the
    /// denominator is positive.
    FloorDiv(Box<AffineExpr>, Box<AffineExpr>),
    /// `numerator mod denominator`: the remainder of that division, never negative; the denominator
    /// is positive.
    Mod(Box<AffineExpr>, Box<AffineExpr>),
}

/// A constant times a product of factors, none of them missing and the coefficient never zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term {
    /// Sorted, at least one.
    pub factors: Vec<Factor>,
    /// Never zero.
    pub coefficient: i64,
}

/// A quasi-affine integer expression over iterators and parameters, in canonical form: a sum of
/// terms, like terms merged.
///
/// Two expressions that differ only by reordering, distributing or cancelling are equal. Products
/// of variables are kept (`i_c * n` in a chunk's bounds): they are affine in the iterators once the
/// parameters have values. Values are mathematical integers: nothing here wraps, and what leaves 64
/// bits is [`Overflow`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AffineExpr {
    /// Shared, since kernels are copied in every step and expressions are not changed.
    terms: Arc<[Term]>,
    constant: i64,
}

/// A coefficient or a value left the range of `i64`, or a divisor was not positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an affine expression leaves the range of 64-bit integers")]
pub struct Overflow;

impl From<i64> for AffineExpr {
    fn from(constant: i64) -> Self {
        Self {
            terms: Arc::default(),
            constant,
        }
    }
}

impl From<Variable> for AffineExpr {
    fn from(variable: Variable) -> Self {
        Self::from_factor(Factor::Variable(variable))
    }
}

impl From<IterId> for AffineExpr {
    fn from(iter: IterId) -> Self {
        Variable::Iter(iter).into()
    }
}

impl From<ScalarId> for AffineExpr {
    fn from(param: ScalarId) -> Self {
        Variable::Param(param).into()
    }
}

impl AffineExpr {
    /// The expression that is just `factor`.
    pub fn from_factor(factor: Factor) -> Self {
        Self {
            terms: Arc::new([Term {
                factors: vec![factor],
                coefficient: 1,
            }]),
            constant: 0,
        }
    }

    /// The terms, in their canonical order.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The constant part.
    pub fn constant(&self) -> i64 {
        self.constant
    }

    /// The value, when no variable occurs.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The variable, when the expression is just one.
    pub fn as_variable(&self) -> Option<Variable> {
        match self.as_factor()? {
            Factor::Variable(variable) => Some(*variable),
            Factor::FloorDiv(..) | Factor::Mod(..) => None,
        }
    }

    /// Dividend and divisor, when the expression is just a quotient.
    pub fn as_quotient(&self) -> Option<(&Self, &Self)> {
        match self.as_factor()? {
            Factor::FloorDiv(dividend, divisor) => Some((&**dividend, &**divisor)),
            Factor::Mod(..) | Factor::Variable(_) => None,
        }
    }

    /// Dividend and divisor, when the expression is just a remainder.
    pub fn as_remainder(&self) -> Option<(&Self, &Self)> {
        match self.as_factor()? {
            Factor::Mod(dividend, divisor) => Some((&**dividend, &**divisor)),
            Factor::FloorDiv(..) | Factor::Variable(_) => None,
        }
    }

    /// The factor, when the expression is just one.
    fn as_factor(&self) -> Option<&Factor> {
        match (&*self.terms, self.constant) {
            ([term], 0) if term.coefficient == 1 => match term.factors.as_slice() {
                [factor] => Some(factor),
                _ => None,
            },
            _ => None,
        }
    }

    /// `self + other`.
    pub fn plus(&self, other: &Self) -> Result<Self, Overflow> {
        self.combined(other, 1)
    }

    /// `self - other`.
    pub fn minus(&self, other: &Self) -> Result<Self, Overflow> {
        self.combined(other, -1)
    }

    /// `self + other * factor`.
    fn combined(&self, other: &Self, factor: i64) -> Result<Self, Overflow> {
        let constant = other.constant.checked_mul(factor);
        let constant = constant.and_then(|it| self.constant.checked_add(it));
        let terms = match other.terms.is_empty() {
            true => self.terms.clone(),
            false => merged(&self.terms, &other.terms, factor)?,
        };
        Ok(Self {
            terms,
            constant: constant.ok_or(Overflow)?,
        })
    }

    /// `self + constant`.
    pub fn offset(&self, constant: i64) -> Result<Self, Overflow> {
        self.plus(&constant.into())
    }

    /// `self * factor`.
    pub fn scaled(&self, factor: i64) -> Result<Self, Overflow> {
        match factor {
            1 => Ok(self.clone()),
            _ => Self::from(0).combined(self, factor),
        }
    }

    /// `self * other`, multiplied out.
    pub fn times(&self, other: &Self) -> Result<Self, Overflow> {
        if let Some(factor) = self.as_constant() {
            return other.scaled(factor);
        }
        let mut product = self.scaled(other.constant)?;
        for term in &*other.terms {
            product = product.plus(&self.times_term(term)?)?;
        }
        Ok(product)
    }

    /// As [`AffineExpr::times`], of what somebody wrote: a product of sums is multiplied out, which
    /// is exponential in the number of its factors, so that one of too many terms is an
    /// [`Overflow`].
    pub(crate) fn times_written(&self, other: &Self) -> Result<Self, Overflow> {
        const TERMS: usize = 256;
        let size = |expr: &Self| 1 + expr.terms.iter().map(|it| it.factors.len()).sum::<usize>();
        if size(self).saturating_mul(size(other)) > TERMS {
            return Err(Overflow);
        }
        self.times(other)
    }

    fn times_term(&self, by: &Term) -> Result<Self, Overflow> {
        let alone = Term {
            factors: by.factors.clone(),
            coefficient: self.constant.checked_mul(by.coefficient).ok_or(Overflow)?,
        };
        let mut terms = vec![alone];
        for term in &*self.terms {
            let mut factors = [term.factors.as_slice(), &by.factors].concat();
            factors.sort();
            let coefficient = term.coefficient.checked_mul(by.coefficient);
            terms.push(Term {
                factors,
                coefficient: coefficient.ok_or(Overflow)?,
            });
        }
        Self::collect(terms, 0)
    }

    /// `self floordiv divisor`, rounding towards minus infinity. Of quotients by constants there is
    /// one: `x floordiv 8 floordiv 4` is `x floordiv 32`, and `(x mod 32) floordiv 8` is
    /// `(x floordiv 8) mod 4`.
    ///
    /// # Errors
    /// A constant divisor that is not positive.
    pub fn floordiv(&self, divisor: &Self) -> Result<Self, Overflow> {
        match (self.as_constant(), divisor.as_constant()) {
            (_, Some(divisor)) if divisor <= 0 => Err(Overflow),
            (_, Some(1)) => Ok(self.clone()),
            (Some(value), Some(divisor)) => Ok(value.div_euclid(divisor).into()),
            (None, Some(by)) if let Some((of, product)) = self.quotient_of_quotient(by) => {
                of.floordiv(&product.into())
            }
            (None, Some(by)) if let Some((of, count)) = self.remainder_of_multiples(by) => {
                of.floordiv(divisor)?.modulo(&count.into())
            }
            _ => Ok(Self::from_factor(Factor::FloorDiv(
                Box::new(self.clone()),
                Box::new(divisor.clone()),
            ))),
        }
    }

    /// `self / divisor` where all terms, and the constant, are multiples of it.
    pub(crate) fn divided_exactly(&self, divisor: i64) -> Option<Self> {
        let divided = |it: i64| (it.checked_rem(divisor)? == 0).then_some(it / divisor);
        let terms = self.terms.iter().map(|it| {
            Some(Term {
                factors: it.factors.clone(),
                coefficient: divided(it.coefficient)?,
            })
        });
        Some(Self {
            terms: terms.collect::<Option<_>>()?,
            constant: divided(self.constant)?,
        })
    }

    /// `self ceildiv divisor`, rounding towards plus infinity: `-((-self) floordiv divisor)`.
    ///
    /// # Errors
    /// A constant divisor that is not positive.
    pub fn ceildiv(&self, divisor: &Self) -> Result<Self, Overflow> {
        self.scaled(-1)?.floordiv(divisor)?.scaled(-1)
    }

    /// What is divided by a constant in `self`, if it is a quotient by one, and the constant times
    /// `divisor`.
    fn quotient_of_quotient(&self, divisor: i64) -> Option<(&Self, i64)> {
        let (of, by) = self.as_quotient()?;
        Some((of, by.as_constant()?.checked_mul(divisor)?))
    }

    /// What `self` is the remainder of, if that is by a constant multiple of `divisor`, and which
    /// multiple.
    fn remainder_of_multiples(&self, divisor: i64) -> Option<(&Self, i64)> {
        let (of, by) = self.as_remainder()?;
        let by = by.as_constant()?;
        (by % divisor == 0).then_some((of, by / divisor))
    }

    /// `self mod divisor`, in `0..divisor`.
    ///
    /// # Errors
    /// A constant divisor that is not positive.
    pub fn modulo(&self, divisor: &Self) -> Result<Self, Overflow> {
        match (self.as_constant(), divisor.as_constant()) {
            (_, Some(divisor)) if divisor <= 0 => Err(Overflow),
            (_, Some(1)) => Ok(0.into()),
            (Some(value), Some(divisor)) => Ok(value.rem_euclid(divisor).into()),
            (None, Some(by)) if let Some((of, _)) = self.remainder_of_multiples(by) => {
                of.modulo(divisor)
            }
            _ => Ok(Self::from_factor(Factor::Mod(
                Box::new(self.clone()),
                Box::new(divisor.clone()),
            ))),
        }
    }

    fn collect(mut terms: Vec<Term>, constant: i64) -> Result<Self, Overflow> {
        terms.sort();
        let mut merged: Vec<Term> = Vec::with_capacity(terms.len());
        for term in terms {
            match merged.last_mut() {
                Some(last) if last.factors == term.factors => {
                    let sum = last.coefficient.checked_add(term.coefficient);
                    last.coefficient = sum.ok_or(Overflow)?;
                }
                _ => merged.push(term),
            }
        }
        merged.retain(|term| term.coefficient != 0);
        Ok(Self {
            terms: merged.into(),
            constant,
        })
    }

    /// Whether `variable` occurs.
    pub fn mentions(&self, variable: Variable) -> bool {
        let mut found = false;
        self.for_each_variable(&mut |seen| found |= seen == variable);
        found
    }

    /// What `iter` is multiplied by, and the rest, in which it does not occur; `None` when it
    /// occurs in another way too.
    pub fn split_off(&self, iter: IterId) -> Option<(i64, Self)> {
        let alone = [Factor::Variable(Variable::Iter(iter))];
        let term = self.terms.iter().find(|term| term.factors == alone);
        let others = self.terms.iter().filter(|it| it.factors != alone);
        let rest = match term {
            Some(_) => Self {
                terms: others.cloned().collect(),
                constant: self.constant,
            },
            None => self.clone(),
        };
        let coefficient = term.map_or(0, |term| term.coefficient);
        (!rest.mentions(Variable::Iter(iter))).then_some((coefficient, rest))
    }

    /// Whether no iterator occurs.
    pub fn is_over_parameters(&self) -> bool {
        let mut over_parameters = true;
        self.for_each_variable(&mut |variable| {
            over_parameters &= matches!(variable, Variable::Param(_));
        });
        over_parameters
    }

    /// Calls `visit` for every occurrence of a variable.
    pub fn for_each_variable(&self, visit: &mut impl FnMut(Variable)) {
        for factor in self.terms.iter().flat_map(|term| &term.factors) {
            match factor {
                Factor::Variable(variable) => visit(*variable),
                Factor::FloorDiv(left, right) | Factor::Mod(left, right) => {
                    left.for_each_variable(visit);
                    right.for_each_variable(visit);
                }
            }
        }
    }

    /// The expression with every variable replaced by what `replacement` gives for it (`None` keeps
    /// it).
    pub fn substitute(
        &self,
        replacement: &impl Fn(Variable) -> Option<Self>,
    ) -> Result<Self, Overflow> {
        let mut sum = Self::from(self.constant);
        for term in &*self.terms {
            let mut product = Self::from(term.coefficient);
            for factor in &term.factors {
                let factor = match factor {
                    Factor::Variable(variable) => {
                        replacement(*variable).unwrap_or_else(|| (*variable).into())
                    }
                    Factor::FloorDiv(left, right) => left
                        .substitute(replacement)?
                        .floordiv(&right.substitute(replacement)?)?,
                    Factor::Mod(left, right) => left
                        .substitute(replacement)?
                        .modulo(&right.substitute(replacement)?)?,
                };
                product = product.times(&factor)?;
            }
            sum = sum.plus(&product)?;
        }
        Ok(sum)
    }

    /// The value when the variables have the values that `value_of` gives.
    ///
    /// # Errors
    /// A value or an intermediate result outside `i64`, or a divisor that is not positive.
    pub fn evaluate(&self, value_of: &impl Fn(Variable) -> i64) -> Result<i64, Overflow> {
        self.terms.iter().try_fold(self.constant, |sum, term| {
            let product = term
                .factors
                .iter()
                .try_fold(term.coefficient, |product, factor| {
                    product
                        .checked_mul(factor.evaluate(value_of)?)
                        .ok_or(Overflow)
                })?;
            sum.checked_add(product).ok_or(Overflow)
        })
    }
}

impl Factor {
    fn evaluate(&self, value_of: &impl Fn(Variable) -> i64) -> Result<i64, Overflow> {
        let pair = |left: &AffineExpr, right: &AffineExpr| {
            let (left, right) = (left.evaluate(value_of)?, right.evaluate(value_of)?);
            if right > 0 {
                Ok((left, right))
            } else {
                Err(Overflow)
            }
        };
        match self {
            Self::Variable(variable) => Ok(value_of(*variable)),
            Self::FloorDiv(left, right) => pair(left, right).map(|(l, r)| l.div_euclid(r)),
            Self::Mod(left, right) => pair(left, right).map(|(l, r)| l.rem_euclid(r)),
        }
    }
}

/// `left` and `factor` times `right`, both in canonical order, as one sum in that order.
fn merged(left: &[Term], right: &[Term], factor: i64) -> Result<Arc<[Term]>, Overflow> {
    let mut terms = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (Some(left), Some(right)) => left.factors.cmp(&right.factors),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => break,
        };
        let kept = left.next_if(|_| order.is_le());
        let added = right.next_if(|_| order.is_ge());
        let Some(like) = kept.or(added) else { break };
        let added = added.map_or(Some(0), |it| it.coefficient.checked_mul(factor));
        let coefficient = added.and_then(|it| kept.map_or(0, |it| it.coefficient).checked_add(it));
        let coefficient = coefficient.ok_or(Overflow)?;
        if coefficient != 0 {
            let factors = like.factors.clone();
            terms.push(Term {
                factors,
                coefficient,
            });
        }
    }
    Ok(terms.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScalarId;
    use la_arena::RawIdx;

    fn param(index: u32) -> AffineExpr {
        ScalarId::from_raw(RawIdx::from(index)).into()
    }

    #[test]
    fn like_terms_merge_and_cancel() -> Result<(), Overflow> {
        let (n, m) = (param(0), param(1));
        let left = n.plus(&m)?.times(&n.minus(&m)?)?;
        let right = n.times(&n)?.minus(&m.times(&m)?)?;
        assert_eq!(left, right);
        assert_eq!(left.minus(&right)?.as_constant(), Some(0));
        Ok(())
    }

    #[test]
    fn division_rounds_towards_minus_infinity() -> Result<(), Overflow> {
        let n = param(0);
        let at = |expr: &AffineExpr, value| expr.evaluate(&|_| value);
        assert_eq!(at(&n.floordiv(&4.into())?, -5), Ok(-2));
        assert_eq!(at(&n.ceildiv(&4.into())?, -5), Ok(-1));
        assert_eq!(at(&n.modulo(&4.into())?, -5), Ok(3));
        assert_eq!(n.floordiv(&0.into()), Err(Overflow));
        assert_eq!(at(&AffineExpr::from(7).floordiv(&n)?, 0), Err(Overflow));
        Ok(())
    }

    #[test]
    fn quotients_by_constants_have_one_form() -> Result<(), Overflow> {
        let n = param(0);
        let by = |expr: &AffineExpr, divisor: i64| expr.floordiv(&divisor.into());
        let rest = |expr: &AffineExpr, divisor: i64| expr.modulo(&divisor.into());
        for (nested, flat) in [
            (by(&by(&n, 8)?, 4)?, by(&n, 32)?),
            (by(&rest(&n, 32)?, 8)?, rest(&by(&n, 8)?, 4)?),
            (rest(&rest(&n, 32)?, 8)?, rest(&n, 8)?),
            (by(&rest(&n, 32)?, 32)?, 0.into()),
        ] {
            assert_eq!(nested, flat);
        }
        for value in -100..100 {
            let value_of = |it: &AffineExpr| it.evaluate(&|_| value);
            assert_eq!(
                value_of(&by(&by(&n, 8)?, 4)?),
                Ok(value.div_euclid(8).div_euclid(4))
            );
            let digits = by(&rest(&n, 32)?, 8)?;
            assert_eq!(value_of(&digits), Ok(value.rem_euclid(32).div_euclid(8)));
        }
        // The product of the divisors leaves 64 bits: they stay two.
        let tall = by(&by(&n, i64::MAX)?, 4)?;
        assert_eq!(tall.evaluate(&|_| i64::MAX), Ok(0));
        Ok(())
    }

    #[test]
    fn overflow_is_an_error_and_never_a_wrap() -> Result<(), Overflow> {
        let big = AffineExpr::from(i64::MAX);
        assert_eq!(big.offset(1), Err(Overflow));
        assert_eq!(param(0).offset(1)?.evaluate(&|_| i64::MAX), Err(Overflow));
        assert_eq!(param(0).scaled(2)?.evaluate(&|_| i64::MAX), Err(Overflow));
        Ok(())
    }

    #[test]
    fn substitution_reaches_into_divisions() -> Result<(), Overflow> {
        let half = param(0).plus(&param(1))?.floordiv(&2.into())?;
        let replaced = half.substitute(&|_| Some(3.into()))?;
        assert_eq!(replaced.as_constant(), Some(3));
        Ok(())
    }
}
