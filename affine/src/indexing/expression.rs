use super::{IndexingError, Variable, VariableKind};

/// Expressions are nested at most this deep. Sums and products of any length count as one level.
pub const MAX_DEPTH: usize = 100;

/// A quasi-affine integer expression over the variables of an [`IndexingMap`](super::IndexingMap).
///
/// It keeps the form in which it was written, but for constants, which are folded, and sums of
/// sums, which are one sum. The derived order is the one in which operands are printed: variables,
/// products, divisions, remainders, minima, maxima.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IndexExpr {
    /// A constant.
    Constant(i64),
    /// The value of a variable.
    Variable(Variable),
    /// A product of two factors or more, none of them constant.
    Product(Vec<IndexExpr>),
    /// Division that rounds towards minus infinity, whatever the signs.
    FloorDiv(Box<[IndexExpr; 2]>),
    /// Division that rounds towards plus infinity, whatever the signs.
    CeilDiv(Box<[IndexExpr; 2]>),
    /// `a - (a floordiv b) * b`: zero or of the sign of the divisor.
    Mod(Box<[IndexExpr; 2]>),
    /// The least of two operands or more.
    Min(Vec<IndexExpr>),
    /// The greatest of two operands or more.
    Max(Vec<IndexExpr>),
    /// A sum of terms, or one term that is scaled or offset.
    Sum(Sum),
}

/// A sum of scaled expressions and a constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sum {
    /// Not empty; a single one is scaled, or there is a constant. None is itself a sum, unless it
    /// is scaled.
    pub(super) terms: Vec<IndexTerm>,
    pub(super) constant: i64,
}

impl Sum {
    /// The terms.
    pub fn terms(&self) -> &[IndexTerm] {
        &self.terms
    }

    /// What is added to the terms.
    pub fn constant(&self) -> i64 {
        self.constant
    }
}

/// An expression times a constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IndexTerm {
    /// Not a constant.
    pub expr: IndexExpr,
    /// Not zero.
    pub coefficient: i64,
}

/// How large an expression or a map is. Simplification never makes it greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size {
    /// The divisions and remainders.
    pub divisions: usize,
    /// The constants, variables and operators, all of them.
    pub nodes: usize,
}

impl std::ops::AddAssign for Size {
    fn add_assign(&mut self, other: Self) {
        self.divisions = self.divisions.saturating_add(other.divisions);
        self.nodes = self.nodes.saturating_add(other.nodes);
    }
}

type Checked<T> = Result<T, IndexingError>;

impl From<i64> for IndexExpr {
    fn from(constant: i64) -> Self {
        Self::Constant(constant)
    }
}

impl From<Variable> for IndexExpr {
    fn from(variable: Variable) -> Self {
        Self::Variable(variable)
    }
}

impl IndexExpr {
    /// The dimension variable at `position`.
    pub const fn dimension(position: usize) -> Self {
        Self::Variable(Variable::new(VariableKind::Dimension, position))
    }

    /// The range variable at `position`.
    pub const fn range(position: usize) -> Self {
        Self::Variable(Variable::new(VariableKind::Range, position))
    }

    /// The runtime variable at `position`.
    pub const fn runtime(position: usize) -> Self {
        Self::Variable(Variable::new(VariableKind::Runtime, position))
    }

    /// The value of a constant.
    pub fn as_constant(&self) -> Option<i64> {
        match self {
            Self::Constant(value) => Some(*value),
            _ => None,
        }
    }

    /// The variable, when the expression is just one.
    pub fn as_variable(&self) -> Option<Variable> {
        match self {
            Self::Variable(variable) => Some(*variable),
            _ => None,
        }
    }

    /// The scaled expressions whose sum it is, and the constant that is added to them: itself when
    /// it is no sum.
    pub fn terms(&self) -> (Vec<(&Self, i64)>, i64) {
        match self {
            Self::Constant(value) => (Vec::new(), *value),
            Self::Sum(sum) => {
                let terms = sum.terms.iter();
                let terms = terms.map(|it| (&it.expr, it.coefficient));
                (terms.collect(), sum.constant)
            }
            other => (vec![(other, 1)], 0),
        }
    }

    /// The sum of `terms` and `constant`; sums among the terms become part of it where they are not
    /// scaled.
    ///
    /// # Errors
    /// A coefficient or the constant leaves 64 bits.
    pub fn sum(terms: impl IntoIterator<Item = (Self, i64)>, constant: i64) -> Checked<Self> {
        let mut sum = Sum {
            terms: Vec::new(),
            constant,
        };
        for (expr, coefficient) in terms {
            sum.add(expr, coefficient)?;
        }
        Ok(sum.into_expr())
    }

    /// `self + other`.
    ///
    /// # Errors
    /// A constant leaves 64 bits.
    pub fn plus(&self, other: &Self) -> Checked<Self> {
        Self::sum([(self.clone(), 1), (other.clone(), 1)], 0)
    }

    /// `self - other`.
    ///
    /// # Errors
    /// A constant leaves 64 bits.
    pub fn minus(&self, other: &Self) -> Checked<Self> {
        Self::sum([(self.clone(), 1), (other.clone(), -1)], 0)
    }

    /// `self + constant`.
    ///
    /// # Errors
    /// A constant leaves 64 bits.
    pub fn offset(&self, constant: i64) -> Checked<Self> {
        Self::sum([(self.clone(), 1)], constant)
    }

    /// `self * factor`.
    ///
    /// # Errors
    /// A constant leaves 64 bits.
    pub fn scaled(&self, factor: i64) -> Checked<Self> {
        Self::sum([(self.clone(), factor)], 0)
    }

    /// `self * other`; nothing is multiplied out.
    ///
    /// # Errors
    /// A constant leaves 64 bits.
    pub fn times(&self, other: &Self) -> Checked<Self> {
        Self::product([self.clone(), other.clone()])
    }

    /// The product of `factors`; nothing is multiplied out.
    ///
    /// # Errors
    /// A constant leaves 64 bits.
    pub fn product(factors: impl IntoIterator<Item = Self>) -> Checked<Self> {
        let mut coefficient = 1_i64;
        let mut rest = Vec::new();
        for factor in factors {
            let scale = split_product(factor, &mut rest);
            coefficient = coefficient
                .checked_mul(scale)
                .ok_or(IndexingError::Overflow)?;
        }
        let product = match rest.len() {
            0 => return Ok(Self::Constant(coefficient)),
            1 => rest.swap_remove(0),
            _ => Self::Product(rest),
        };
        Self::sum([(product, coefficient)], 0)
    }

    /// `self floordiv divisor`.
    ///
    /// # Errors
    /// The divisor is the constant zero, or a constant quotient leaves 64 bits.
    pub fn floordiv(&self, divisor: &Self) -> Checked<Self> {
        match self.constant_operands(divisor)? {
            Some((left, right)) => Ok(narrow(floor_div(left, right))?.into()),
            None if divisor.as_constant() == Some(1) => Ok(self.clone()),
            None => Ok(Self::FloorDiv(Box::new([self.clone(), divisor.clone()]))),
        }
    }

    /// `self ceildiv divisor`.
    ///
    /// # Errors
    /// The divisor is the constant zero, or a constant quotient leaves 64 bits.
    pub fn ceildiv(&self, divisor: &Self) -> Checked<Self> {
        match self.constant_operands(divisor)? {
            Some((left, right)) => Ok(narrow(ceil_div(left, right))?.into()),
            None if divisor.as_constant() == Some(1) => Ok(self.clone()),
            None => Ok(Self::CeilDiv(Box::new([self.clone(), divisor.clone()]))),
        }
    }

    /// `self mod divisor`, which is `self - (self floordiv divisor) * divisor`.
    ///
    /// # Errors
    /// The divisor is the constant zero.
    pub fn modulo(&self, divisor: &Self) -> Checked<Self> {
        match self.constant_operands(divisor)? {
            Some((left, right)) => Ok(narrow(floor_mod(left, right))?.into()),
            None if matches!(divisor.as_constant(), Some(1 | -1)) => Ok(0.into()),
            None => Ok(Self::Mod(Box::new([self.clone(), divisor.clone()]))),
        }
    }

    /// Both operands of a division when they are constants; refuses to divide by zero.
    fn constant_operands(&self, divisor: &Self) -> Checked<Option<(i128, i128)>> {
        match (self.as_constant(), divisor.as_constant()) {
            (_, Some(0)) => Err(IndexingError::DivisionByZero),
            (Some(left), Some(right)) => Ok(Some((left.into(), right.into()))),
            _ => Ok(None),
        }
    }

    /// The least of `operands`; zero when there are none.
    pub fn least(operands: impl IntoIterator<Item = Self>) -> Self {
        let nested = |expr| match expr {
            Self::Min(inner) => Ok(inner),
            other => Err(other),
        };
        extreme(operands, nested, i64::min, Self::Min)
    }

    /// The greatest of `operands`; zero when there are none.
    pub fn greatest(operands: impl IntoIterator<Item = Self>) -> Self {
        let nested = |expr| match expr {
            Self::Max(inner) => Ok(inner),
            other => Err(other),
        };
        extreme(operands, nested, i64::max, Self::Max)
    }

    /// Calls `visit` for each operand, which counts one level deeper.
    pub fn for_each_operand<'e>(&'e self, visit: &mut impl FnMut(&'e Self)) {
        match self {
            Self::Constant(_) | Self::Variable(_) => {}
            Self::Product(operands) | Self::Min(operands) | Self::Max(operands) => {
                operands.iter().for_each(visit);
            }
            Self::FloorDiv(pair) | Self::CeilDiv(pair) | Self::Mod(pair) => {
                pair.iter().for_each(visit);
            }
            Self::Sum(sum) => sum.terms.iter().for_each(|term| visit(&term.expr)),
        }
    }

    /// How deep the expression is nested; a variable or a constant counts one.
    pub fn depth(&self) -> usize {
        let mut deepest = 0;
        self.for_each_operand(&mut |operand| deepest = deepest.max(operand.depth()));
        1 + deepest
    }

    /// How large the expression is, as it is printed.
    pub fn size(&self) -> Size {
        let mut size = Size::default();
        self.for_each_operand(&mut |operand| size += operand.size());
        let (divisions, nodes) = match self {
            Self::Constant(_) | Self::Variable(_) => (0, 1),
            Self::Product(operands) | Self::Min(operands) | Self::Max(operands) => {
                (0, operands.len().saturating_sub(1))
            }
            Self::FloorDiv(_) | Self::CeilDiv(_) | Self::Mod(_) => (1, 1),
            Self::Sum(sum) => (0, sum.operator_nodes()),
        };
        size += Size { divisions, nodes };
        size
    }

    /// Calls `visit` for every occurrence of a variable.
    pub fn for_each_variable(&self, visit: &mut impl FnMut(Variable)) {
        self.visit_variables(visit);
    }

    fn visit_variables(&self, visit: &mut dyn FnMut(Variable)) {
        if let Self::Variable(variable) = self {
            visit(*variable);
        }
        self.for_each_operand(&mut |operand| operand.visit_variables(visit));
    }

    /// Whether `variable` occurs.
    pub fn mentions(&self, variable: Variable) -> bool {
        let mut found = false;
        self.for_each_variable(&mut |seen| found |= seen == variable);
        found
    }

    /// The expression with every variable replaced by what `replacement` gives for it.
    ///
    /// # Errors
    /// A constant leaves 64 bits, or a divisor becomes zero.
    pub fn substitute(&self, replacement: &impl Fn(Variable) -> Self) -> Checked<Self> {
        let all = |operands: &[Self]| -> Checked<Vec<Self>> {
            let replaced = operands.iter().map(|it| it.substitute(replacement));
            replaced.collect()
        };
        let both = |pair: &[Self; 2]| -> Checked<[Self; 2]> {
            let [left, right] = pair;
            Ok([
                left.substitute(replacement)?,
                right.substitute(replacement)?,
            ])
        };
        match self {
            Self::Constant(value) => Ok(Self::Constant(*value)),
            Self::Variable(variable) => Ok(replacement(*variable)),
            Self::Product(factors) => Self::product(all(factors)?),
            Self::FloorDiv(pair) => both(pair).and_then(|[left, right]| left.floordiv(&right)),
            Self::CeilDiv(pair) => both(pair).and_then(|[left, right]| left.ceildiv(&right)),
            Self::Mod(pair) => both(pair).and_then(|[left, right]| left.modulo(&right)),
            Self::Min(operands) => all(operands).map(Self::least),
            Self::Max(operands) => all(operands).map(Self::greatest),
            Self::Sum(sum) => {
                let terms = sum.terms.iter().map(|term| {
                    let expr = term.expr.substitute(replacement)?;
                    Ok((expr, term.coefficient))
                });
                Self::sum(terms.collect::<Checked<Vec<_>>>()?, sum.constant)
            }
        }
    }
}

impl Sum {
    fn add(&mut self, expr: IndexExpr, coefficient: i64) -> Checked<()> {
        let scale =
            |value: i64| -> Checked<i64> { narrow(i128::from(value) * i128::from(coefficient)) };
        match expr {
            _ if coefficient == 0 => {}
            IndexExpr::Constant(value) => self.add_constant(scale(value)?)?,
            IndexExpr::Sum(sum) if coefficient == 1 || coefficient == -1 => {
                self.add_constant(scale(sum.constant)?)?;
                for term in sum.terms {
                    let coefficient = scale(term.coefficient)?;
                    self.terms.push(IndexTerm {
                        coefficient,
                        ..term
                    });
                }
            }
            IndexExpr::Sum(sum) if sum.terms.len() == 1 && sum.constant == 0 => {
                for term in sum.terms {
                    let coefficient = scale(term.coefficient)?;
                    self.terms.push(IndexTerm {
                        coefficient,
                        ..term
                    });
                }
            }
            expr => self.terms.push(IndexTerm { expr, coefficient }),
        }
        Ok(())
    }

    fn add_constant(&mut self, value: i64) -> Checked<()> {
        let sum = self.constant.checked_add(value);
        self.constant = sum.ok_or(IndexingError::Overflow)?;
        Ok(())
    }

    fn into_expr(mut self) -> IndexExpr {
        match (self.terms.as_slice(), self.constant) {
            ([], constant) => IndexExpr::Constant(constant),
            ([term], 0) if term.coefficient == 1 => self.terms.swap_remove(0).expr,
            _ => IndexExpr::Sum(self),
        }
    }

    /// The nodes of the sum itself: operators, coefficients and the constant, and a sign that no
    /// order of the terms saves.
    fn operator_nodes(&self) -> usize {
        let scaled = self
            .terms
            .iter()
            .filter(|it| it.coefficient.abs_diff(0) != 1);
        let has_sign = self.constant <= 0 && self.terms.iter().all(|it| it.coefficient == -1);
        let constant = if self.constant == 0 { 0 } else { 2 };
        self.terms.len().saturating_sub(1) + 2 * scaled.count() + usize::from(has_sign) + constant
    }
}

/// Appends what is not constant in `factor` and returns the constant.
fn split_product(factor: IndexExpr, rest: &mut Vec<IndexExpr>) -> i64 {
    match factor {
        IndexExpr::Constant(value) => value,
        IndexExpr::Product(factors) => {
            rest.extend(factors);
            1
        }
        IndexExpr::Sum(mut sum) if sum.terms.len() == 1 && sum.constant == 0 => {
            let term = sum.terms.swap_remove(0);
            match term.expr {
                IndexExpr::Product(factors) => rest.extend(factors),
                expr => rest.push(expr),
            }
            term.coefficient
        }
        other => {
            rest.push(other);
            1
        }
    }
}

fn extreme(
    operands: impl IntoIterator<Item = IndexExpr>,
    nested: impl Fn(IndexExpr) -> Result<Vec<IndexExpr>, IndexExpr>,
    pick: fn(i64, i64) -> i64,
    make: fn(Vec<IndexExpr>) -> IndexExpr,
) -> IndexExpr {
    let mut constant = None;
    let mut rest = Vec::new();
    for operand in operands {
        let inner = nested(operand).unwrap_or_else(|other| vec![other]);
        for operand in inner {
            match operand.as_constant() {
                Some(value) => constant = Some(constant.map_or(value, |seen| pick(seen, value))),
                None => rest.push(operand),
            }
        }
    }
    rest.extend(constant.map(IndexExpr::Constant));
    match rest.len() {
        0 => IndexExpr::Constant(0),
        1 => rest.swap_remove(0),
        _ => make(rest),
    }
}

/// The quotient that is rounded towards minus infinity. The divisor is not zero.
pub(super) fn floor_div(left: i128, right: i128) -> i128 {
    // Most numbers are short, and short ones are divided many times faster.
    if let (Ok(short_left), Ok(short_right)) = (i64::try_from(left), i64::try_from(right)) {
        let quotient = short_left.checked_div(short_right);
        if let Some(quotient) = quotient {
            let is_rounded_up = quotient * short_right != short_left && (left < 0) != (right < 0);
            return i128::from(quotient) - i128::from(is_rounded_up);
        }
    }
    let quotient = left.wrapping_div(right);
    let is_rounded_up = left.wrapping_rem(right) != 0 && (left < 0) != (right < 0);
    quotient - i128::from(is_rounded_up)
}

/// The quotient that is rounded towards plus infinity. The divisor is not zero.
pub(super) fn ceil_div(left: i128, right: i128) -> i128 {
    let quotient = left.wrapping_div(right);
    let is_rounded_down = left.wrapping_rem(right) != 0 && (left < 0) == (right < 0);
    quotient + i128::from(is_rounded_down)
}

/// What [`floor_div`] leaves: zero or of the sign of the divisor, which is not zero.
pub(super) fn floor_mod(left: i128, right: i128) -> i128 {
    let remainder = left.wrapping_rem(right);
    if remainder != 0 && (remainder < 0) != (right < 0) {
        remainder + right
    } else {
        remainder
    }
}

pub(super) fn narrow(value: i128) -> Checked<i64> {
    i64::try_from(value).map_err(|_| IndexingError::Overflow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_fold_and_overflow_is_an_error() -> Checked<()> {
        let d0 = IndexExpr::dimension(0);
        assert_eq!(d0.offset(3)?.offset(-3)?, d0);
        assert_eq!(d0.scaled(3)?.scaled(0)?, 0.into());
        assert_eq!(d0.offset(i64::MAX)?.offset(1), Err(IndexingError::Overflow));
        assert_eq!(
            IndexExpr::from(i64::MIN).floordiv(&(-1).into()),
            Err(IndexingError::Overflow)
        );
        assert_eq!(d0.modulo(&0.into()), Err(IndexingError::DivisionByZero));
        assert_eq!(IndexExpr::from(-7).modulo(&3.into())?, 2.into());
        assert_eq!(IndexExpr::from(7).modulo(&(-3).into())?, (-2).into());
        assert_eq!(IndexExpr::from(7).floordiv(&(-3).into())?, (-3).into());
        assert_eq!(IndexExpr::from(7).ceildiv(&(-3).into())?, (-2).into());
        Ok(())
    }

    #[test]
    fn sizes_count_what_is_printed() -> Checked<()> {
        let (d0, d1) = (IndexExpr::dimension(0), IndexExpr::dimension(1));
        let size = |expr: &IndexExpr| expr.size().nodes;
        assert_eq!(size(&d0.scaled(8)?.plus(&d1)?), 5);
        assert_eq!(size(&d0.minus(&d1)?.offset(-3)?), 5);
        assert_eq!(size(&d0.scaled(-1)?.offset(16)?), 3);
        assert_eq!(size(&d0.scaled(-1)?.plus(&d1)?), size(&d1.minus(&d0)?));
        assert_eq!(size(&d0.times(&d1)?.scaled(4)?), 5);
        let least = IndexExpr::least([
            d0.clone(),
            3.into(),
            IndexExpr::least([d1.clone(), 4.into()]),
        ]);
        assert_eq!(size(&least), 5);
        let quotient = d0.offset(1)?.floordiv(&4.into())?;
        let expected = Size {
            divisions: 1,
            nodes: 5,
        };
        assert_eq!(quotient.size(), expected);
        Ok(())
    }
}
