use super::{IndexExpr, IndexingError, Variable};
use crate::{AffineExpr, Factor};

impl IndexExpr {
    /// An affine expression of a kernel over the variables that `variable_of` gives for its iterators and parameters.
    ///
    /// # Errors
    /// A constant leaves 64 bits, or a divisor is zero.
    pub fn from_affine(
        expr: &AffineExpr,
        variable_of: &impl Fn(crate::Variable) -> Variable,
    ) -> Result<Self, IndexingError> {
        let terms = expr.terms().iter().map(|term| {
            let factors = term.factors.iter().map(|it| factor(it, variable_of));
            let factors = factors.collect::<Result<Vec<_>, _>>()?;
            Ok((Self::product(factors)?, term.coefficient))
        });
        Self::sum(
            terms.collect::<Result<Vec<_>, IndexingError>>()?,
            expr.constant(),
        )
    }
}

fn factor(
    factor: &Factor,
    variable_of: &impl Fn(crate::Variable) -> Variable,
) -> Result<IndexExpr, IndexingError> {
    let converted = |expr: &AffineExpr| IndexExpr::from_affine(expr, variable_of);
    match factor {
        Factor::Variable(variable) => Ok(variable_of(*variable).into()),
        Factor::FloorDiv(left, right) => converted(left)?.floordiv(&converted(right)?),
        Factor::Mod(left, right) => converted(left)?.modulo(&converted(right)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indexing::VariableKind;
    use crate::{Overflow, ScalarId};
    use la_arena::RawIdx;

    #[test]
    fn values_stay_what_they_are() -> Result<(), Overflow> {
        let param = |index: u32| AffineExpr::from(ScalarId::from_raw(RawIdx::from(index)));
        let (n, m) = (param(0), param(1));
        let expr = n
            .times(&m)?
            .plus(&n.floordiv(&4.into())?.scaled(-3)?)?
            .offset(2)?;
        let expr = expr.plus(&m.plus(&n)?.modulo(&m)?)?;
        let variable_of = |variable| match variable {
            crate::Variable::Param(id) if id == ScalarId::from_raw(RawIdx::from(0)) => {
                Variable::new(VariableKind::Dimension, 0)
            }
            _ => Variable::new(VariableKind::Runtime, 0),
        };
        let converted = IndexExpr::from_affine(&expr, &variable_of).expect("an expression");
        for (left, right) in [(7, 3), (-9, 5), (0, 1)] {
            let of_affine = expr.evaluate(&|it| match variable_of(it).kind {
                VariableKind::Dimension => left,
                VariableKind::Range | VariableKind::Runtime => right,
            })?;
            let of_index = converted.evaluate(&|it| match it.kind {
                VariableKind::Dimension => left,
                VariableKind::Range | VariableKind::Runtime => right,
            });
            assert_eq!(of_index, Ok(of_affine));
        }
        Ok(())
    }
}
