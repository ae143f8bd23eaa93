//! The values that expressions take over the box of a map's variables.

use super::expression::{floor_div, floor_mod};
use super::simplify::linear::greatest_common_divisor;
use super::{IndexExpr, IndexingError, IndexingMap, Interval, Variable, VariableKind};
use std::collections::BTreeSet;

/// Evenly spaced numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progression {
    /// The least of them, unless a runtime variable shifts them all.
    pub(crate) first: Option<i128>,
    /// How far neighbours are apart; 1 where there is one number.
    pub(crate) stride: i128,
    /// How many there are, at least one.
    pub(crate) count: i128,
    /// Whether each of them is a value, wherever they begin; if not, there may be fewer.
    pub(crate) is_exact: bool,
}

impl Progression {
    const fn point(first: Option<i128>) -> Self {
        Self {
            first,
            stride: 1,
            count: 1,
            is_exact: true,
        }
    }

    /// The values of `expr`, if they are evenly spaced and that is seen without looking at each.
    pub(crate) fn of(map: &IndexingMap, expr: &IndexExpr) -> Option<Self> {
        match expr {
            IndexExpr::Constant(value) => Some(Self::point(Some((*value).into()))),
            IndexExpr::Variable(variable) => Self::of_variable(map, *variable),
            IndexExpr::Sum(_) => Self::of_sum(map, expr),
            IndexExpr::FloorDiv(pair) => {
                Self::of(map, &pair[0])?.divided(pair[1].as_constant()?.into())
            }
            IndexExpr::Mod(pair) => {
                Self::of(map, &pair[0])?.remainders(pair[1].as_constant()?.into())
            }
            IndexExpr::Product(_)
            | IndexExpr::CeilDiv(_)
            | IndexExpr::Min(_)
            | IndexExpr::Max(_) => None,
        }
        .or_else(|| is_fixed(expr).then_some(Self::point(None)))
    }

    fn of_variable(map: &IndexingMap, variable: Variable) -> Option<Self> {
        let bounds = map.declaration(variable)?.bounds;
        if variable.kind == VariableKind::Runtime {
            return Some(Self::point(bounds.as_point().map(i128::from)));
        }
        Some(Self {
            first: Some(bounds.low.into()),
            stride: 1,
            count: i128::try_from(bounds.count()).ok().filter(|it| *it > 0)?,
            is_exact: true,
        })
    }

    /// The values of a sum, if each term fills the gaps between those of the smaller strides.
    fn of_sum(map: &IndexingMap, expr: &IndexExpr) -> Option<Self> {
        let (terms, constant) = expr.terms();
        if !are_independent(terms.iter().map(|(term, _)| *term)) {
            return None;
        }
        let mut sum = Self::point(Some(constant.into()));
        let mut steps = Vec::with_capacity(terms.len());
        for (term, coefficient) in terms {
            let term = Self::of(map, term)?.scaled(coefficient.into())?;
            sum.first = match (sum.first, term.first) {
                (Some(sum), Some(term)) => Some(sum.checked_add(term)?),
                _ => None,
            };
            sum.is_exact &= term.is_exact;
            if term.count > 1 {
                steps.push((term.stride, term.count));
            }
        }
        match filled(steps)?.as_slice() {
            [] => Some(sum),
            [(stride, count)] => Some(Self {
                stride: *stride,
                count: *count,
                ..sum
            }),
            _ => None,
        }
    }

    /// These numbers times `factor`, which is not zero.
    fn scaled(self, factor: i128) -> Option<Self> {
        let nearest = match self.first {
            Some(first) if factor < 0 => {
                let span = (self.count - 1).checked_mul(self.stride)?;
                Some(first.checked_add(span)?)
            }
            first => first,
        };
        Some(Self {
            first: match nearest {
                Some(nearest) => Some(nearest.checked_mul(factor)?),
                None => None,
            },
            stride: if self.count == 1 {
                1
            } else {
                self.stride.checked_mul(factor.checked_abs()?)?
            },
            ..self
        })
    }

    /// The quotients of these numbers.
    fn divided(self, divisor: i128) -> Option<Self> {
        if divisor <= 0 {
            return None;
        }
        let first = self.first.map(|it| floor_div(it, divisor));
        if self.count == 1 || self.stride % divisor == 0 {
            return Some(Self {
                first,
                stride: (self.stride / divisor).max(1),
                ..self
            });
        }
        if self.stride > divisor {
            return None;
        }
        let span = (self.count - 1).checked_mul(self.stride)?;
        // Steps of at most the divisor leave no quotient out. Where they begin is known, or they
        // begin where most are reached.
        let begin = self.first.map_or(divisor - 1, |it| floor_mod(it, divisor));
        Some(Self {
            first,
            stride: 1,
            count: begin.checked_add(span)? / divisor + 1,
            is_exact: self.is_exact && self.first.is_some(),
        })
    }

    /// The remainders of these numbers, if they are all that there are.
    fn remainders(self, divisor: i128) -> Option<Self> {
        let stride = u64::try_from(self.stride).ok()?;
        let modulus = u64::try_from(divisor).ok().filter(|it| *it > 0)?;
        let common = greatest_common_divisor(stride, modulus);
        let count = i128::from(modulus / common);
        (self.count >= count).then(|| Self {
            first: self.first.map(|it| floor_mod(it, common.into())),
            stride: common.into(),
            count,
            is_exact: self.is_exact,
        })
    }
}

/// Sums of numbers out of progressions of these strides and counts, as few as can be seen: one
/// takes in the next where that fills its gaps. `None` when a number leaves 128 bits.
pub(crate) fn filled(mut steps: Vec<(i128, i128)>) -> Option<Vec<(i128, i128)>> {
    steps.sort_unstable();
    let mut all: Vec<(i128, i128)> = Vec::new();
    for (stride, count) in steps {
        match all.last_mut() {
            Some((finest, total)) if stride % *finest == 0 && stride / *finest <= *total => {
                let more = (count - 1).checked_mul(stride / *finest)?;
                *total = total.checked_add(more)?;
            }
            _ => all.push((stride, count)),
        }
    }
    Some(all)
}

/// Whether no dimension or range variable occurs.
pub(crate) fn is_fixed(expr: &IndexExpr) -> bool {
    moving_variables(expr).is_empty()
}

/// The dimension and range variables that occur.
pub(crate) fn moving_variables(expr: &IndexExpr) -> BTreeSet<Variable> {
    let mut variables = BTreeSet::new();
    expr.for_each_variable(&mut |it| {
        if it.kind != VariableKind::Runtime {
            variables.insert(it);
        }
    });
    variables
}

/// Whether no two of `exprs` share a dimension or range variable.
pub(crate) fn are_independent<'e>(exprs: impl IntoIterator<Item = &'e IndexExpr>) -> bool {
    let mut seen = BTreeSet::new();
    let mut all = exprs.into_iter().flat_map(moving_variables);
    all.all(|it| seen.insert(it))
}

/// The positions of expressions, those together that share dimension or range variables.
pub(crate) fn groups<'e>(exprs: impl IntoIterator<Item = &'e IndexExpr>) -> Vec<Vec<usize>> {
    let mut groups: Vec<(BTreeSet<Variable>, Vec<usize>)> = Vec::new();
    for (at, expr) in exprs.into_iter().enumerate() {
        let mut variables = moving_variables(expr);
        let mut members = vec![at];
        groups.retain(|(others, theirs)| {
            let is_apart = others.is_disjoint(&variables);
            if !is_apart {
                variables.extend(others);
                members.extend(theirs);
            }
            is_apart
        });
        members.sort_unstable();
        groups.push((variables, members));
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

/// All different values of the expressions together, when the variables in them have at most
/// `limit` points; runtime variables are at their least.
///
/// # Errors
/// A value leaves 64 bits.
pub(crate) fn values(
    map: &IndexingMap,
    exprs: &[&IndexExpr],
    limit: usize,
) -> Result<Option<BTreeSet<Vec<i64>>>, IndexingError> {
    let variables: BTreeSet<_> = exprs.iter().flat_map(|it| moving_variables(it)).collect();
    let variables: Vec<_> = variables.into_iter().collect();
    let bounds = variables.iter().filter_map(|it| map.declaration(*it));
    let bounds: Vec<_> = bounds.map(|it| it.bounds).collect();
    let count = bounds.iter().map(|it| it.count());
    let count = count.fold(1_u128, u128::saturating_mul);
    if count > limit as u128 {
        return Ok(None);
    }
    let mut found = BTreeSet::new();
    let mut point: Vec<i64> = bounds.iter().map(|it| it.low).collect();
    for _ in 0..count {
        let value_of = |variable: Variable| {
            let at = variables.iter().position(|it| *it == variable);
            let value = at.and_then(|it| point.get(it)).copied();
            value.unwrap_or_else(|| low(map, variable))
        };
        let values = exprs.iter().map(|it| it.evaluate(&value_of));
        found.insert(values.collect::<Result<Vec<_>, _>>()?);
        step(&mut point, &bounds);
    }
    Ok(Some(found))
}

/// The least value of a variable.
pub(crate) fn low(map: &IndexingMap, variable: Variable) -> i64 {
    map.declaration(variable).map_or(0, |it| it.bounds.low)
}

/// The next point of a box, the last variable fastest.
fn step(point: &mut [i64], bounds: &[Interval]) {
    for (value, bounds) in point.iter_mut().zip(bounds).rev() {
        if *value < bounds.high {
            *value += 1;
            return;
        }
        *value = bounds.low;
    }
}
