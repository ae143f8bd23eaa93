use super::context::Context;
use super::linear::{Atom, Linear, Simplified, Term, Unsimplified};
use crate::indexing::{IndexExpr, Variable};
use std::cell::Cell;
use std::rc::Rc;

/// Products of sums are multiplied out up to this many terms.
const TERMS_OF_PRODUCT: usize = 64;

/// How far a rewrite goes that can make what it rewrites larger: it may pay elsewhere, or not at
/// all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::indexing) enum Style {
    /// Split divisions and multiply out wherever it can be done.
    Eager,
    /// Only where the result is no larger by itself.
    Careful,
}

/// Brings expressions into their normal form over one domain.
pub(in crate::indexing) struct Normalizer<'c> {
    pub(in crate::indexing) context: &'c Context,
    pub(in crate::indexing) style: Style,
    /// Steps that are left, so that no expression takes for ever.
    fuel: Cell<usize>,
    /// Whether the styles have parted: if not, the other one need not be tried.
    pub(in crate::indexing) has_chosen: Cell<bool>,
    /// Whether variables with one value give way to it.
    takes_points: bool,
}

impl<'c> Normalizer<'c> {
    pub(in crate::indexing) fn new(context: &'c Context, style: Style, fuel: usize) -> Self {
        Self {
            context,
            style,
            fuel: Cell::new(fuel),
            has_chosen: Cell::new(false),
            takes_points: false,
        }
    }

    /// The same, but that variables with one value give way to it.
    pub(in crate::indexing) fn taking_points(mut self) -> Self {
        self.takes_points = true;
        self
    }

    fn variable(&self, variable: Variable) -> Linear {
        let point = self.context.bounds(variable).as_point();
        match point.filter(|_| self.takes_points) {
            Some(value) => value.into(),
            None => Atom::Variable(variable).into(),
        }
    }

    /// Pays for work on this many terms.
    pub(in crate::indexing) fn spend(&self, terms: usize) -> Simplified<()> {
        let left = self.fuel.get().checked_sub(terms + 1);
        self.fuel.set(left.ok_or(Unsimplified::OutOfFuel)?);
        Ok(())
    }

    /// Whether a rewrite is worth it by itself; eagerly it always is.
    pub(in crate::indexing) fn prefers(&self, rewritten: &Linear, instead_of: &Linear) -> bool {
        if rewritten.size() <= instead_of.size() {
            return true;
        }
        self.has_chosen.set(true);
        self.style == Style::Eager
    }

    pub(in crate::indexing) fn linear(&self, expr: &IndexExpr) -> Simplified<Linear> {
        let both = |pair: &[IndexExpr; 2]| -> Simplified<(Linear, Linear)> {
            Ok((self.linear(&pair[0])?, self.linear(&pair[1])?))
        };
        let all = |operands: &[IndexExpr]| -> Simplified<Vec<Linear>> {
            operands.iter().map(|it| self.linear(it)).collect()
        };
        match expr {
            IndexExpr::Constant(value) => Ok((*value).into()),
            IndexExpr::Variable(variable) => Ok(self.variable(*variable)),
            IndexExpr::Product(factors) => {
                let one = Linear::from(1);
                factors
                    .iter()
                    .try_fold(one, |product, it| self.product(&product, &self.linear(it)?))
                    .and_then(|product| self.recombined(product))
            }
            IndexExpr::FloorDiv(pair) => {
                let (numerator, divisor) = both(pair)?;
                self.floor_div(numerator, divisor)
            }
            IndexExpr::CeilDiv(pair) => {
                let (numerator, divisor) = both(pair)?;
                self.floor_div(numerator.negated()?, divisor)?.negated()
            }
            IndexExpr::Mod(pair) => {
                let (numerator, divisor) = both(pair)?;
                self.modulo(numerator, divisor)
            }
            IndexExpr::Min(operands) => self.least(all(operands)?),
            IndexExpr::Max(operands) => self.greatest(all(operands)?),
            IndexExpr::Sum(_) => {
                let mut sum = Addends::default();
                self.add(expr, 1, &mut sum)?;
                self.spend(sum.terms.len())?;
                let constant = super::linear::narrow(sum.constant)?;
                let sum = self.with_equalities(Linear::collect(sum.terms, constant)?)?;
                self.recombined(sum)
            }
        }
    }

    /// Adds `expr * factor` to a sum; only what is itself a sum or a variable is not normalized on
    /// its own before.
    fn add(&self, expr: &IndexExpr, factor: i64, sum: &mut Addends) -> Simplified<()> {
        match expr {
            IndexExpr::Constant(value) => sum.add_constant((*value).into(), factor),
            IndexExpr::Variable(variable) => {
                let linear = self.variable(*variable);
                sum.add_constant(linear.constant.into(), factor);
                sum.terms.extend(linear.terms.into_iter().map(|it| Term {
                    coefficient: factor,
                    ..it
                }));
            }
            IndexExpr::Sum(inner) => {
                sum.add_constant(inner.constant().into(), factor);
                for term in inner.terms() {
                    let factor = factor.checked_mul(term.coefficient);
                    self.add(&term.expr, factor.ok_or(Unsimplified::Overflow)?, sum)?;
                }
            }
            _ => {
                let linear = self.linear(expr)?;
                sum.add_constant(linear.constant.into(), factor);
                for mut term in linear.terms {
                    let coefficient = term.coefficient.checked_mul(factor);
                    term.coefficient = coefficient.ok_or(Unsimplified::Overflow)?;
                    sum.terms.push(term);
                }
            }
        }
        Ok(())
    }

    /// The sum without what constraints say the value of, where that makes it smaller.
    pub(in crate::indexing) fn with_equalities(&self, mut linear: Linear) -> Simplified<Linear> {
        for fact in &self.context.facts {
            let Some(value) = fact.bounds.as_point() else {
                continue;
            };
            let Some(factor) = linear.multiple_of_first(&fact.linear) else {
                continue;
            };
            self.spend(linear.terms.len())?;
            let replaced = fact.linear.negated().and_then(|it| {
                let difference = it.offset(value)?;
                linear.plus_scaled(&difference, factor)
            });
            if let Ok(replaced) = replaced
                && replaced.size() < linear.size()
            {
                linear = replaced;
            }
        }
        Ok(linear)
    }

    pub(in crate::indexing) fn product(&self, left: &Linear, right: &Linear) -> Simplified<Linear> {
        match (left.as_constant(), right.as_constant()) {
            (Some(factor), _) => return right.scaled(factor),
            (_, Some(factor)) => return left.scaled(factor),
            (None, None) => {}
        }
        let addends = |it: &Linear| it.terms.len() + usize::from(it.constant != 0);
        let count = addends(left) * addends(right);
        self.spend(count)?;
        if count > TERMS_OF_PRODUCT {
            return whole(left).times_term(&whole(right));
        }
        let mut sum = right.scaled(left.constant)?;
        for term in &left.terms {
            sum = sum.plus(&times(right, term)?)?;
        }
        Ok(sum)
    }
}

/// A sum whose terms are not sorted yet.
#[derive(Default)]
struct Addends {
    terms: Vec<Term>,
    constant: i128,
}

impl Addends {
    fn add_constant(&mut self, value: i128, factor: i64) {
        self.constant = self.constant.saturating_add(value * i128::from(factor));
    }
}

/// `linear * term`.
fn times(linear: &Linear, term: &Term) -> Simplified<Linear> {
    let products = linear.terms.iter().map(|it| it.times(term));
    let mut terms = products.collect::<Simplified<Vec<_>>>()?;
    if linear.constant != 0 {
        terms.push(term.scaled(linear.constant)?);
    }
    Linear::collect(terms, 0)
}

/// A sum as one factor.
fn whole(linear: &Linear) -> Term {
    match (linear.terms.as_slice(), linear.constant) {
        ([term], 0) => term.clone(),
        _ => Term {
            atom: Atom::Sum(Rc::new(linear.clone())),
            coefficient: 1,
        },
    }
}

impl Term {
    fn times(&self, other: &Self) -> Simplified<Self> {
        let coefficient = self.coefficient.checked_mul(other.coefficient);
        Ok(Self {
            atom: self.atom.times(&other.atom),
            coefficient: coefficient.ok_or(Unsimplified::Overflow)?,
        })
    }

    fn times_term(&self, other: &Self) -> Simplified<Linear> {
        self.times(other).map(Linear::from)
    }
}
