use crate::indexing::{Size, Variable};
use std::rc::Rc;

/// The form that expressions are simplified in: terms sorted by their atoms, each atom once, no
/// coefficient zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::indexing) struct Linear {
    pub(in crate::indexing) terms: Vec<Term>,
    pub(in crate::indexing) constant: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::indexing) struct Term {
    pub(in crate::indexing) atom: Atom,
    pub(in crate::indexing) coefficient: i64,
}

/// What is no sum. Its parts are shared: an atom is copied far more often than it is made.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::indexing) enum Atom {
    Variable(Variable),
    /// Sorted, at least two, none of them a product.
    Product(Vec<Atom>),
    FloorDiv(Rc<Division>),
    Mod(Rc<Division>),
    /// Sorted, at least two.
    Min(Vec<Linear>),
    /// Sorted, at least two.
    Max(Vec<Linear>),
    /// A factor that is a sum and too large to be multiplied out.
    Sum(Rc<Linear>),
}

/// The operands of a division or a remainder. A constant divisor is greater than one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::indexing) struct Division {
    pub(in crate::indexing) numerator: Linear,
    pub(in crate::indexing) divisor: Linear,
}

/// Why an expression is left as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::indexing) enum Unsimplified {
    /// A constant would leave 64 bits.
    Overflow,
    /// A divisor is zero at every point of the domain: nowhere there is a value.
    DivisionByZero,
    /// It would take too long.
    OutOfFuel,
}

pub(in crate::indexing) type Simplified<T> = Result<T, Unsimplified>;

pub(in crate::indexing) fn narrow(value: i128) -> Simplified<i64> {
    i64::try_from(value).map_err(|_| Unsimplified::Overflow)
}

fn scale(value: i64, factor: i64) -> Simplified<i64> {
    value.checked_mul(factor).ok_or(Unsimplified::Overflow)
}

fn sum(left: i64, right: i64) -> Simplified<i64> {
    left.checked_add(right).ok_or(Unsimplified::Overflow)
}

impl From<i64> for Linear {
    fn from(constant: i64) -> Self {
        Self {
            terms: Vec::new(),
            constant,
        }
    }
}

impl From<Atom> for Linear {
    fn from(atom: Atom) -> Self {
        Term {
            atom,
            coefficient: 1,
        }
        .into()
    }
}

impl From<Term> for Linear {
    fn from(term: Term) -> Self {
        Self {
            terms: vec![term],
            constant: 0,
        }
    }
}

impl Linear {
    pub(in crate::indexing) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The atom, when the sum is just one.
    pub(in crate::indexing) fn as_atom(&self) -> Option<&Atom> {
        match (self.terms.as_slice(), self.constant) {
            ([term], 0) if term.coefficient == 1 => Some(&term.atom),
            _ => None,
        }
    }

    /// `n` and `c` for the sum of a quotient and other terms, which is `n floordiv c`.
    pub(in crate::indexing) fn as_quotient(&self) -> Option<(Self, i64)> {
        self.terms.iter().enumerate().find_map(|(position, term)| {
            let (Atom::FloorDiv(division), 1 | -1) = (&term.atom, term.coefficient) else {
                return None;
            };
            let divisor = division.divisor.as_constant()?;
            let others = self.without(position).scaled(divisor).ok()?;
            let numerator = if term.coefficient == 1 {
                others.plus(&division.numerator)
            } else {
                // `-(n floordiv c)` is `(-n + c - 1) floordiv c`.
                let opposite = others.minus(&division.numerator);
                opposite.and_then(|it| it.offset(divisor - 1))
            };
            Some((numerator.ok()?, divisor))
        })
    }

    /// Sorts and merges terms that may be in any order.
    pub(in crate::indexing) fn collect(mut terms: Vec<Term>, constant: i64) -> Simplified<Self> {
        terms.sort_unstable();
        let mut merged: Vec<Term> = Vec::with_capacity(terms.len());
        for term in terms {
            match merged.last_mut() {
                Some(last) if last.atom == term.atom => {
                    last.coefficient = sum(last.coefficient, term.coefficient)?;
                }
                _ => merged.push(term),
            }
        }
        merged.retain(|term| term.coefficient != 0);
        Ok(Self {
            terms: merged,
            constant,
        })
    }

    pub(in crate::indexing) fn plus_scaled(&self, other: &Self, factor: i64) -> Simplified<Self> {
        let constant = sum(self.constant, scale(other.constant, factor)?)?;
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        while let (Some(ours), Some(theirs)) = (left.peek(), right.peek()) {
            match ours.atom.cmp(&theirs.atom) {
                std::cmp::Ordering::Less => terms.extend(left.next().cloned()),
                std::cmp::Ordering::Greater => {
                    terms.push(theirs.scaled(factor)?);
                    right.next();
                }
                std::cmp::Ordering::Equal => {
                    let coefficient = sum(ours.coefficient, scale(theirs.coefficient, factor)?)?;
                    if coefficient != 0 {
                        let atom = ours.atom.clone();
                        terms.push(Term { atom, coefficient });
                    }
                    left.next();
                    right.next();
                }
            }
        }
        terms.extend(left.cloned());
        for theirs in right {
            terms.push(theirs.scaled(factor)?);
        }
        Ok(Self { terms, constant })
    }

    pub(in crate::indexing) fn plus(&self, other: &Self) -> Simplified<Self> {
        self.plus_scaled(other, 1)
    }

    pub(in crate::indexing) fn minus(&self, other: &Self) -> Simplified<Self> {
        self.plus_scaled(other, -1)
    }

    pub(in crate::indexing) fn offset(&self, constant: i64) -> Simplified<Self> {
        Ok(Self {
            terms: self.terms.clone(),
            constant: sum(self.constant, constant)?,
        })
    }

    pub(in crate::indexing) fn scaled(&self, factor: i64) -> Simplified<Self> {
        match factor {
            0 => Ok(0.into()),
            1 => Ok(self.clone()),
            _ => {
                let terms = self.terms.iter().map(|it| it.scaled(factor));
                Ok(Self {
                    terms: terms.collect::<Simplified<_>>()?,
                    constant: scale(self.constant, factor)?,
                })
            }
        }
    }

    pub(in crate::indexing) fn negated(&self) -> Simplified<Self> {
        self.scaled(-1)
    }

    /// How often the term of `other` that stands first is in this sum.
    pub(in crate::indexing) fn multiple_of_first(&self, other: &Self) -> Option<i64> {
        let first = other.terms.first()?;
        let ours = self.terms.iter().find(|it| it.atom == first.atom)?;
        let factor = ours.coefficient.checked_div(first.coefficient)?;
        (ours.coefficient.checked_rem(first.coefficient)? == 0).then_some(factor)
    }

    pub(in crate::indexing) fn for_each_variable(&self, visit: &mut impl FnMut(Variable)) {
        self.terms
            .iter()
            .for_each(|it| it.atom.for_each_variable(visit));
    }

    /// Without its constant.
    pub(in crate::indexing) fn without_constant(&self) -> Self {
        Self {
            terms: self.terms.clone(),
            constant: 0,
        }
    }

    /// All but the term at `position`.
    pub(in crate::indexing) fn without(&self, position: usize) -> Self {
        let mut rest = self.clone();
        rest.terms.remove(position);
        rest
    }

    /// The greatest common divisor of the coefficients; zero when there are no terms.
    pub(in crate::indexing) fn content(&self) -> i64 {
        let coefficients = self.terms.iter().map(|it| it.coefficient.unsigned_abs());
        let content = coefficients.fold(0, greatest_common_divisor);
        i64::try_from(content).unwrap_or(1)
    }

    /// Every coefficient and the constant divided by `divisor`, which divides them and is not zero.
    pub(in crate::indexing) fn divided(&self, divisor: i64) -> Self {
        let terms = self.terms.iter().map(|it| Term {
            atom: it.atom.clone(),
            coefficient: it.coefficient.wrapping_div(divisor),
        });
        Self {
            terms: terms.collect(),
            constant: self.constant.wrapping_div(divisor),
        }
    }

    /// Whether `divisor` divides every coefficient and the constant.
    pub(in crate::indexing) fn is_multiple_of(&self, divisor: i64) -> bool {
        let divides = |value: i64| value.wrapping_rem(divisor) == 0;
        divides(self.constant) && self.terms.iter().all(|it| divides(it.coefficient))
    }

    /// About how large it prints: nothing is factored out.
    pub(in crate::indexing) fn size(&self) -> Size {
        let mut size = Size {
            divisions: 0,
            nodes: if self.constant == 0 { 0 } else { 2 },
        };
        for term in &self.terms {
            size += term.atom.size();
            size.nodes += match term.coefficient {
                1 | -1 => 1,
                _ => 3,
            };
        }
        size.nodes = size.nodes.saturating_sub(1);
        size
    }
}

impl Term {
    pub(in crate::indexing) fn scaled(&self, factor: i64) -> Simplified<Self> {
        Ok(Self {
            atom: self.atom.clone(),
            coefficient: scale(self.coefficient, factor)?,
        })
    }
}

impl Atom {
    pub(in crate::indexing) fn floor_div(numerator: Linear, divisor: Linear) -> Self {
        Self::FloorDiv(Rc::new(Division { numerator, divisor }))
    }

    pub(in crate::indexing) fn modulo(numerator: Linear, divisor: Linear) -> Self {
        Self::Mod(Rc::new(Division { numerator, divisor }))
    }

    /// The product of both, factors sorted.
    pub(in crate::indexing) fn times(&self, other: &Self) -> Self {
        let mut factors = [self.factors(), other.factors()].concat();
        factors.sort_unstable();
        Self::Product(factors)
    }

    pub(in crate::indexing) fn factors(&self) -> &[Self] {
        match self {
            Self::Product(factors) => factors,
            other => std::slice::from_ref(other),
        }
    }

    /// Calls `visit` for each occurrence of a variable.
    pub(in crate::indexing) fn for_each_variable(&self, visit: &mut impl FnMut(Variable)) {
        match self {
            Self::Variable(variable) => visit(*variable),
            Self::Product(factors) => factors.iter().for_each(|it| it.for_each_variable(visit)),
            Self::FloorDiv(division) | Self::Mod(division) => {
                division.numerator.for_each_variable(visit);
                division.divisor.for_each_variable(visit);
            }
            Self::Min(operands) | Self::Max(operands) => {
                operands.iter().for_each(|it| it.for_each_variable(visit));
            }
            Self::Sum(sum) => sum.for_each_variable(visit),
        }
    }

    pub(in crate::indexing) fn mentions(&self, variable: Variable) -> bool {
        let mut found = false;
        self.for_each_variable(&mut |it| found |= it == variable);
        found
    }

    /// The product of `factors`: one when there are none.
    pub(in crate::indexing) fn product(mut factors: Vec<Self>) -> Linear {
        match factors.len() {
            0 => 1.into(),
            1 => factors.swap_remove(0).into(),
            _ => Self::Product(factors).into(),
        }
    }

    pub(in crate::indexing) fn size(&self) -> Size {
        let all = |operands: &[Linear]| {
            let mut size = Size {
                divisions: 0,
                nodes: operands.len().saturating_sub(1),
            };
            for operand in operands {
                size += operand.size();
            }
            size
        };
        match self {
            Self::Variable(_) => Size {
                divisions: 0,
                nodes: 1,
            },
            Self::Product(factors) => {
                let mut size = Size {
                    divisions: 0,
                    nodes: factors.len().saturating_sub(1),
                };
                for factor in factors {
                    size += factor.size();
                }
                size
            }
            Self::FloorDiv(division) | Self::Mod(division) => {
                let mut size = division.numerator.size();
                size += division.divisor.size();
                size += Size {
                    divisions: 1,
                    nodes: 1,
                };
                size
            }
            Self::Min(operands) | Self::Max(operands) => all(operands),
            Self::Sum(sum) => sum.size(),
        }
    }
}

pub(in crate::indexing) fn greatest_common_divisor(mut left: u64, mut right: u64) -> u64 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

impl Linear {
    /// Whether the sum has `variable` itself with a negative coefficient.
    pub(in crate::indexing) fn falls_with(&self, variable: Variable) -> bool {
        let is_of = |it: &&Term| it.atom == Atom::Variable(variable);
        self.terms
            .iter()
            .find(is_of)
            .is_some_and(|it| it.coefficient < 0)
    }
}
