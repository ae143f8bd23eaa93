//! The one way between [`AffineExpr`], which kernels are made of, and [`IndexExpr`], which maps are
//! made of.
//!
//! They stay two types because equality means two things. An [`AffineExpr`] is a polynomial in
//! canonical form over the iterators and parameters of one kernel: expressions that are equal as
//! polynomials *are* equal, which verification, caching of common parts and every transform rely
//! on, and a `floordiv` of it has a positive divisor. An [`IndexExpr`] is what somebody wrote: it
//! is printed as it was read until it is simplified, its divisors may have any sign, it has minima
//! and maxima, and whether two of them are equal depends on the bounds of their map. One type for
//! both would either lose what was written or have no canonical form.

use super::{IndexExpr, IndexingError, Variable, VariableKind, delinearize_index, linearize_index};
use crate::{AffineExpr, Factor};

impl IndexExpr {
    /// An affine expression of a kernel over the variables that `variable_of` gives for its
    /// iterators and parameters.
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

    /// The expression as one of a kernel, over what `expr_of` gives for its variables; `None` where
    /// it has minima or maxima, a divisor that is no positive number and not made of parameters
    /// alone, or a number that leaves 64 bits.
    pub fn to_affine(
        &self,
        expr_of: &impl Fn(Variable) -> Option<AffineExpr>,
    ) -> Option<AffineExpr> {
        let pair = |[left, right]: &[Self; 2]| {
            let (left, right) = (left.to_affine(expr_of)?, right.to_affine(expr_of)?);
            right.is_over_parameters().then_some((left, right))
        };
        match self {
            Self::Constant(value) => Some((*value).into()),
            Self::Variable(variable) => expr_of(*variable),
            Self::Product(factors) => factors.iter().try_fold(1.into(), |product, it| {
                AffineExpr::times(&product, &it.to_affine(expr_of)?).ok()
            }),
            Self::FloorDiv(operands) => pair(operands).and_then(|(l, r)| l.floordiv(&r).ok()),
            Self::CeilDiv(operands) => pair(operands).and_then(|(l, r)| l.ceildiv(&r).ok()),
            Self::Mod(operands) => pair(operands).and_then(|(l, r)| l.modulo(&r).ok()),
            Self::Min(_) | Self::Max(_) => None,
            Self::Sum(sum) => {
                let start = AffineExpr::from(sum.constant());
                sum.terms().iter().try_fold(start, |all, term| {
                    let term = term.expr.to_affine(expr_of)?.scaled(term.coefficient);
                    all.plus(&term.ok()?).ok()
                })
            }
        }
    }
}

/// The operations of [`linearize_index`] and [`delinearize_index`] on expressions of a kernel.
/// Kernel text writes them as maps do.
impl AffineExpr {
    /// The linear index of `indices` in dimensions of the sizes `basis`, outermost first. Indices
    /// that come from one linear index by the same basis, or by one that this is the head or the
    /// tail of, are taken back to it. `None` when there are more or fewer sizes than indices, or a
    /// coefficient leaves 64 bits.
    pub fn linearize_index(indices: &[Self], basis: &[Self]) -> Option<Self> {
        let dimensions = Dimensions::of(indices.iter().chain(basis));
        let all = |exprs: &[Self]| -> Result<Vec<_>, _> {
            exprs.iter().map(|it| dimensions.index(it)).collect()
        };
        let linear = linearize_index(&all(indices).ok()?, &all(basis).ok()?);
        Some(dimensions.affine(&linear.ok()?)?.folded(&[]))
    }

    /// The indices of the linear index `self` in dimensions of the sizes `basis`, outermost first;
    /// the outermost one takes what is left. `None` when a size but the outermost is a constant and
    /// not positive or is not made of parameters alone, or a coefficient leaves 64 bits.
    ///
    /// ```
    /// # use strew_affine::{text, visit, Subscript};
    /// let source = "kernel @k(n: i64, a: f64[n, 4, 8]) {
    ///   affine.for c in 0..n * 32 { a[delinearize_index c into (n, 4, 8)] = 1.0 }
    /// }";
    /// let kernel = text::parse(source).expect("a kernel").remove(0);
    /// let shown = visit::accesses(&kernel)[0].access.subscripts.iter().map(|it| match it {
    ///     Subscript::Affine(expr) => text::affine(&kernel, expr),
    ///     Subscript::Computed(_) => String::new(),
    /// });
    /// let shown: Vec<_> = shown.collect();
    /// assert_eq!(shown, ["c floordiv 32", "(c floordiv 8) mod 4", "c mod 8"]);
    /// ```
    pub fn delinearize_index(&self, basis: &[Self]) -> Option<Vec<Self>> {
        let dimensions = Dimensions::of(basis.iter().chain([self]));
        let basis = basis.iter().map(|it| dimensions.index(it));
        let basis: Vec<_> = basis.collect::<Result<_, _>>().ok()?;
        let indices = delinearize_index(&dimensions.index(self).ok()?, &basis).ok()?;
        indices.iter().map(|it| dimensions.affine(it)).collect()
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

/// The iterators and parameters that some affine expressions speak of, as the dimensions of a map.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dimensions {
    variables: Vec<crate::Variable>,
}

impl Dimensions {
    pub(crate) fn of<'e>(exprs: impl IntoIterator<Item = &'e AffineExpr>) -> Self {
        let mut all = Self::default();
        for expr in exprs {
            expr.for_each_variable(&mut |variable| {
                if !all.variables.contains(&variable) {
                    all.variables.push(variable);
                }
            });
        }
        all
    }

    pub(crate) fn count(&self) -> usize {
        self.variables.len()
    }

    /// An expression over these variables.
    pub(crate) fn index(&self, expr: &AffineExpr) -> Result<IndexExpr, IndexingError> {
        IndexExpr::from_affine(expr, &|variable| {
            let mut known = self.variables.iter();
            let position = known.position(|it| *it == variable);
            Variable::new(VariableKind::Dimension, position.unwrap_or(usize::MAX))
        })
    }

    /// And back.
    pub(crate) fn affine(&self, expr: &IndexExpr) -> Option<AffineExpr> {
        expr.to_affine(&|it| self.variables.get(it.position).map(|it| (*it).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IterId, Overflow, ScalarId};
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
        let back = converted.to_affine(&|variable| match variable.kind {
            VariableKind::Dimension => Some(n.clone()),
            VariableKind::Range | VariableKind::Runtime => Some(m.clone()),
        });
        assert_eq!(back, Some(expr));
        Ok(())
    }

    #[test]
    fn what_kernels_do_not_write_has_no_affine_form() -> Result<(), IndexingError> {
        let (n, i) = (
            AffineExpr::from(ScalarId::from_raw(RawIdx::from(0))),
            AffineExpr::from(IterId::from_raw(RawIdx::from(0))),
        );
        let dimensions = Dimensions::of([&n, &i]);
        let [size, index] = [0, 1].map(IndexExpr::dimension);
        for (expr, expected) in [
            (index.ceildiv(&size)?, i.ceildiv(&n).ok()),
            (index.modulo(&(-3).into())?, None),
            (size.floordiv(&index)?, None),
            (IndexExpr::least([size.clone(), index.clone()]), None),
            (
                index.scaled(i64::MAX)?.plus(&index.scaled(i64::MAX)?)?,
                None,
            ),
            (IndexExpr::dimension(2), None),
        ] {
            assert_eq!(dimensions.affine(&expr), expected, "{expr}");
        }
        Ok(())
    }
}
