//! What holds where a statement runs, and what follows from it.
//!
//! A question is always the same: does an affine expression stay within an interval, whenever
//! control is here? Iterators are eliminated innermost first, as in Fourier and Motzkin's method
//! restricted to one expression: where the coefficient of an iterator has a known sign, the
//! expression is bounded by what it is at one end of the iterator's range, and where it has not, by
//! what it is at both ends, since a linear function takes its extremes there. The bounds are put in
//! symbolically, so what they share with the rest of the expression cancels. What remains speaks of
//! parameters alone: it holds for all sizes, or it is a condition on them that can be checked when
//! the kernel is called.
//!
//! A loop body runs only if the loop is not empty, and a branch only if its condition holds. So
//! both are facts inside.

use super::terms::{
    as_variable, mentions_iterators, rebuilt, split, wide_range, without_quotients,
};
use crate::lower::interval::{Interval, Ranges};
use strew_affine::{AffineExpr, Condition, Factor, IterId, Overflow, Relation, Variable};

/// What holds in the current block.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    /// The values that each variable can have.
    pub(super) ranges: Ranges,
    /// The loops around, outermost first.
    domains: Vec<Domain>,
    /// Expressions over parameters that are not negative here.
    facts: Vec<AffineExpr>,
}

/// The values of an iterator. Each bound holds, and speaks of parameters and of iterators further
/// out.
#[derive(Clone, Debug)]
struct Domain {
    iter: IterId,
    least: Vec<AffineExpr>,
    greatest: Vec<AffineExpr>,
}

/// To return to, when a block ends.
pub(super) struct Mark {
    domains: Vec<Domain>,
    facts: usize,
    ranges: usize,
}

/// `expr` is not negative: a condition over parameters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Requirement(pub(super) AffineExpr);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Least,
    Greatest,
}

/// How many expressions are looked at to answer one question: alternatives of bounds multiply.
const BUDGET: u32 = 200;

/// Sizes that meet a condition are hardly any where it has used up more than one part of the slack
/// out of so many.
const MOST_USED_UP: i64 = 2;

/// Facts beyond these are not worth the time that comparing with each of them takes.
const MOST_FACTS: usize = 32;

impl Context {
    pub(super) fn new(ranges: Ranges) -> Self {
        Self {
            ranges,
            ..Self::default()
        }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            domains: self.domains.clone(),
            facts: self.facts.len(),
            ranges: self.ranges.mark(),
        }
    }

    pub(super) fn return_to(&mut self, mark: Mark) {
        self.domains = mark.domains;
        self.facts.truncate(mark.facts);
        self.ranges.return_to(mark.ranges);
    }

    pub(super) fn is_in_loop(&self) -> bool {
        !self.domains.is_empty()
    }

    /// Enters a loop. The bounds, both reached, may be empty where they are not known.
    pub(super) fn enter(
        &mut self,
        iter: IterId,
        range: Interval,
        least: Vec<AffineExpr>,
        greatest: Vec<AffineExpr>,
    ) {
        self.ranges.set(Variable::Iter(iter), range);
        let lengths: Vec<AffineExpr> = least
            .iter()
            .flat_map(|low| greatest.iter().filter_map(|high| high.minus(low).ok()))
            .collect();
        self.domains.push(Domain {
            iter,
            least,
            greatest,
        });
        for length in lengths {
            self.learn(length);
        }
    }

    /// `condition` holds from here to the end of the block.
    pub(super) fn learn_condition(&mut self, condition: &Condition) {
        let (left, right) = (&condition.left, &condition.right);
        if let Ok(difference) = right.minus(left) {
            let learned = match condition.relation {
                Relation::Less => difference.offset(-1),
                _ => Ok(difference),
            };
            if let Ok(learned) = learned {
                self.learn(learned);
            }
        }
        if condition.relation == Relation::Equal
            && let Ok(difference) = left.minus(right)
        {
            self.learn(difference);
        }
    }

    /// `expr` is not negative here.
    pub(super) fn learn(&mut self, expr: AffineExpr) {
        if let Some(depth) = self.innermost(&expr) {
            self.tighten(depth, &expr);
        }
        let mut budget = BUDGET;
        // What an expression that is not negative cannot exceed is not negative either.
        for upper in self.any_bound(&expr, Side::Greatest, &mut budget) {
            self.learn_of_parameters(upper);
        }
    }

    /// `expr >= 0` bounds the innermost of its iterators.
    fn tighten(&mut self, depth: usize, expr: &AffineExpr) {
        let iter = self.domains[depth].iter;
        let Some((coefficient, rest)) = split(expr, iter) else {
            return;
        };
        let domain = &mut self.domains[depth];
        match coefficient.as_constant() {
            Some(1) => {
                if let Ok(bound) = rest.scaled(-1) {
                    domain.least.push(bound);
                }
            }
            Some(-1) => domain.greatest.push(rest),
            _ => {}
        }
    }

    fn learn_of_parameters(&mut self, expr: AffineExpr) {
        self.narrow(&expr);
        if expr.as_constant().is_none()
            && self.facts.len() < MOST_FACTS
            && !self.facts.contains(&expr)
        {
            self.facts.push(expr);
        }
    }

    /// What `expr >= 0` says about single parameters.
    fn narrow(&mut self, expr: &AffineExpr) {
        let [term] = expr.terms() else { return };
        let (coefficient, constant) = (i128::from(term.coefficient), i128::from(expr.constant()));
        let variables: Option<Vec<Variable>> = term.factors.iter().map(as_variable).collect();
        match variables.as_deref() {
            Some([one]) if coefficient > 0 => {
                // Rounded up.
                let low = -constant.div_euclid(coefficient);
                self.narrow_variable(*one, |it| it.low = it.low.max(low));
            }
            Some([one]) => {
                let high = constant.div_euclid(-coefficient);
                self.narrow_variable(*one, |it| it.high = it.high.min(high));
            }
            // A product is positive only if no factor is 0.
            Some(several)
                if coefficient > 0
                    && constant < 0
                    && several.iter().all(|it| self.ranges.get(*it).low >= 0) =>
            {
                for one in several {
                    self.narrow_variable(*one, |it| it.low = it.low.max(1));
                }
            }
            _ => {}
        }
    }

    fn narrow_variable(&mut self, variable: Variable, change: impl FnOnce(&mut Interval)) {
        let mut range = self.ranges.get(variable);
        change(&mut range);
        // A range without values stands for code that never runs.
        if range.low <= range.high {
            self.ranges.set(variable, range);
        }
    }

    /// Whether `expr`, over parameters, is never negative here.
    fn is_not_negative(&self, expr: &AffineExpr) -> bool {
        let is_positive =
            |it: &AffineExpr| wide_range(&self.ranges, it).is_some_and(|it| it.low >= 0);
        let holds = |it: &AffineExpr| {
            is_positive(it) || without_quotients(it).is_some_and(|it| is_positive(&it))
        };
        holds(expr)
            || self
                .facts
                .iter()
                .any(|fact| expr.minus(fact).is_ok_and(|rest| holds(&rest)))
    }

    /// The conditions over parameters under which `expr` lies in `within` whenever control is here:
    /// none where it always does, `None` where there is no such condition, or none that any
    /// parameters meet.
    pub(super) fn requirements(
        &self,
        expr: &AffineExpr,
        within: Interval,
    ) -> Option<Vec<Requirement>> {
        let mut requirements = Vec::new();
        for side in [Side::Least, Side::Greatest] {
            // The value itself is asked about, not the sums on the way to it, which may leave 64
            // bits.
            let is_proved = self.wide_range(expr).is_some_and(|it| match side {
                Side::Least => it.low >= within.low,
                Side::Greatest => it.high <= within.high,
            });
            if is_proved {
                continue;
            }
            let limit = match side {
                // The least of all has no opposite to subtract.
                Side::Least => within.low.max(Interval::i64().low + 1),
                Side::Greatest => within.high.min(Interval::i64().high),
            };
            let limit = AffineExpr::from(i64::try_from(limit).ok()?);
            let mut budget = BUDGET;
            // What is not above the slack and not negative shows as much of the slack.
            let slack = match side {
                Side::Least => plus_towards(Side::Least, expr, &limit.scaled(-1).ok()?)?,
                Side::Greatest => plus_towards(Side::Least, &limit, &expr.scaled(-1).ok()?)?,
            };
            requirements.extend(self.lower_bounds(&slack, &mut budget)?);
        }
        requirements.dedup();
        Some(requirements)
    }

    /// The requirements for `slack >= 0`: those alternatives of bounds that leave room for sizes,
    /// and of these the fewest. The ends of the type of an iterator use all the slack up, so that
    /// what follows from them is a single condition, but one that only empty arrays meet.
    fn lower_bounds(&self, slack: &AffineExpr, budget: &mut u32) -> Option<Vec<Requirement>> {
        let cost = |unproved: &[AffineExpr]| {
            let is_tight = |it: &&AffineExpr| it.constant() < slack.constant() / MOST_USED_UP;
            (unproved.iter().filter(is_tight).count(), unproved.len())
        };
        let mut best: Option<Vec<AffineExpr>> = None;
        for bounds in self.bounds(slack, Side::Least, budget) {
            let unproved: Vec<_> = bounds
                .into_iter()
                .filter(|it| !self.is_not_negative(it))
                .map(|it| without_quotients(&it).unwrap_or(it))
                .collect();
            if unproved.is_empty() {
                return Some(Vec::new());
            }
            let possible = unproved
                .iter()
                .all(|it| wide_range(&self.ranges, it).is_none_or(|range| range.high >= 0));
            if possible && best.as_ref().is_none_or(|it| cost(it) > cost(&unproved)) {
                best = Some(unproved);
            }
        }
        Some(best?.into_iter().map(Requirement).collect())
    }

    /// The values of `expr` here, as mathematical integers of any size.
    pub(super) fn wide_range(&self, expr: &AffineExpr) -> Option<Interval> {
        wide_range(&self.ranges, expr)
    }

    /// Whether `requirement` holds here when `other` does.
    pub(super) fn follows(&self, requirement: &Requirement, other: &Requirement) -> bool {
        let difference = requirement.0.minus(&other.0);
        difference.is_ok_and(|it| self.is_not_negative(&it))
    }

    /// Expressions between the least and the greatest of which all terms of `expr` and all sums of
    /// its first terms lie; none where they are known to fit 64 bits.
    pub(super) fn partial_sums(&self, expr: &AffineExpr) -> Option<Vec<AffineExpr>> {
        if self.ranges.of(expr).is_some() {
            return Some(Vec::new());
        }
        let constant = expr.constant();
        let (mut positive, mut negative) = (
            AffineExpr::from(constant.max(0)),
            AffineExpr::from(constant.min(0)),
        );
        let mut of_either_sign = None;
        for term in expr.terms() {
            let term = rebuilt(term)?;
            let range = wide_range(&self.ranges, &term);
            if range.is_some_and(|it| it.low >= 0) {
                positive = positive.plus(&term).ok()?;
            } else if range.is_some_and(|it| it.high <= 0) {
                negative = negative.plus(&term).ok()?;
            } else if of_either_sign.is_none() {
                of_either_sign = Some(term);
            } else {
                return None;
            }
        }
        let mut sums = Vec::new();
        if let Some(term) = of_either_sign {
            sums.push(positive.plus(&term).ok()?);
            sums.push(negative.plus(&term).ok()?);
            sums.push(term);
        }
        sums.extend([positive, negative]);
        for factor in expr.terms().iter().flat_map(|it| &it.factors) {
            if let Factor::FloorDiv(left, right) | Factor::Mod(left, right) = factor {
                sums.extend(self.partial_sums(left)?);
                sums.extend(self.partial_sums(right)?);
            }
        }
        sums.retain(|it| it.as_constant().is_none());
        Some(sums)
    }

    /// What holds here of the parameters.
    pub(super) fn of_parameters(&self) -> Self {
        Self {
            ranges: self.ranges.of_parameters(),
            domains: Vec::new(),
            facts: self.facts.clone(),
        }
    }

    fn any_bound(&self, expr: &AffineExpr, side: Side, budget: &mut u32) -> Vec<AffineExpr> {
        let single = |bounds: Vec<AffineExpr>| match <[AffineExpr; 1]>::try_from(bounds) {
            Ok([bound]) => Some(bound),
            Err(_) => None,
        };
        self.bounds(expr, side, budget)
            .into_iter()
            .filter_map(single)
            .collect()
    }

    /// Alternatives, each a list of expressions over parameters one of which is beyond `expr` on
    /// the given side.
    fn bounds(&self, expr: &AffineExpr, side: Side, budget: &mut u32) -> Vec<Vec<AffineExpr>> {
        let Some(rest) = budget.checked_sub(1) else {
            return Vec::new();
        };
        *budget = rest;
        let Some(depth) = self.innermost(expr) else {
            return if mentions_iterators(expr) {
                Vec::new()
            } else {
                vec![vec![expr.clone()]]
            };
        };
        let mut found = self.bounds_over(depth, expr, side, budget);
        // A quotient by itself is far from its numerator, with which it may cancel here.
        let multiplied = match side {
            Side::Least => without_quotients(expr),
            Side::Greatest => expr.scaled(-1).ok().and_then(|it| {
                let least = without_quotients(&it)?;
                least.scaled(-1).ok()
            }),
        };
        found.extend(multiplied.map_or(Vec::new(), |it| self.bounds(&it, side, budget)));
        found
    }

    /// The same by the ends of the iterator at `depth`, the innermost in `expr`.
    fn bounds_over(
        &self,
        depth: usize,
        expr: &AffineExpr,
        side: Side,
        budget: &mut u32,
    ) -> Vec<Vec<AffineExpr>> {
        let Domain { iter, .. } = self.domains[depth];
        let Some(expr) = self.without_divisions(expr, iter, side) else {
            return Vec::new();
        };
        let Some((coefficient, rest)) = split(&expr, iter) else {
            return Vec::new();
        };
        let at = |end: &AffineExpr| plus_towards(side, &rest, &coefficient.times(end).ok()?);
        let ends = |side: Side| self.ends(depth, side);
        let (rises, falls) = self.direction(&coefficient);
        if rises || falls {
            let ends = ends(if rises { side } else { side.opposite() });
            let expressions = ends.iter().filter_map(at);
            return expressions
                .flat_map(|it| self.bounds(&it, side, budget))
                .collect();
        }
        self.at_both_ends(&ends(Side::Least), &ends(Side::Greatest), at, side, budget)
    }

    fn at_both_ends(
        &self,
        least: &[AffineExpr],
        greatest: &[AffineExpr],
        at: impl Fn(&AffineExpr) -> Option<AffineExpr>,
        side: Side,
        budget: &mut u32,
    ) -> Vec<Vec<AffineExpr>> {
        let (Some(low), Some(high)) = (least.first(), greatest.first()) else {
            return Vec::new();
        };
        let mut both = Vec::new();
        for end in [low, high] {
            let Some(expr) = at(end) else {
                return Vec::new();
            };
            match self.bounds(&expr, side, budget).into_iter().next() {
                Some(bounds) => both.extend(bounds),
                None => return Vec::new(),
            }
        }
        vec![both]
    }

    /// The bounds of an iterator on one side, the plain range where there are no others.
    fn ends(&self, depth: usize, side: Side) -> Vec<AffineExpr> {
        let domain = &self.domains[depth];
        let range = self.ranges.get(Variable::Iter(domain.iter));
        let (symbolic, plain) = match side {
            Side::Least => (&domain.least, range.low),
            Side::Greatest => (&domain.greatest, range.high),
        };
        let mut ends = symbolic.clone();
        ends.extend(i64::try_from(plain).ok().map(AffineExpr::from));
        ends
    }

    /// Whether a term with this coefficient never falls, or never rises, with its iterator.
    fn direction(&self, coefficient: &AffineExpr) -> (bool, bool) {
        if let Some(constant) = coefficient.as_constant() {
            return (constant >= 0, constant < 0);
        }
        if mentions_iterators(coefficient) {
            let range = wide_range(&self.ranges, coefficient);
            return (
                range.is_some_and(|it| it.low >= 0),
                range.is_some_and(|it| it.high <= 0),
            );
        }
        let negative = coefficient.scaled(-1);
        (
            self.is_not_negative(coefficient),
            negative.is_ok_and(|it| self.is_not_negative(&it)),
        )
    }

    /// Replaces divisions that `iter` occurs in by what bounds them from `side`.
    fn without_divisions(&self, expr: &AffineExpr, iter: IterId, side: Side) -> Option<AffineExpr> {
        let mut sum = AffineExpr::from(expr.constant());
        for term in expr.terms() {
            let [factor @ (Factor::FloorDiv(..) | Factor::Mod(..))] = term.factors.as_slice()
            else {
                sum = sum.plus(&rebuilt(term)?).ok()?;
                continue;
            };
            let value = AffineExpr::from_factor(factor.clone());
            let replaced = if value.mentions(Variable::Iter(iter)) {
                let side = if term.coefficient < 0 {
                    side.opposite()
                } else {
                    side
                };
                self.bound_of_division(factor, side)?
            } else {
                value
            };
            sum = sum.plus(&replaced.scaled(term.coefficient).ok()?).ok()?;
        }
        Some(sum)
    }

    fn bound_of_division(&self, factor: &Factor, side: Side) -> Option<AffineExpr> {
        match (factor, side) {
            (Factor::Variable(_), _) => None,
            (Factor::Mod(..), Side::Least) => Some(0.into()),
            (Factor::Mod(_, right), Side::Greatest) => right.offset(-1).ok(),
            (Factor::FloorDiv(left, right), _) => {
                let mut budget = BUDGET;
                let bound = self.any_bound(left, side, &mut budget).into_iter().next()?;
                bound.floordiv(right).ok()
            }
        }
    }

    fn innermost(&self, expr: &AffineExpr) -> Option<usize> {
        self.domains
            .iter()
            .rposition(|it| expr.mentions(Variable::Iter(it.iter)))
    }
}

/// `left + right`, or what is beyond it on the given side where its constant leaves 64 bits on the
/// other.
fn plus_towards(side: Side, left: &AffineExpr, right: &AffineExpr) -> Option<AffineExpr> {
    let without_constant = |it: &AffineExpr| it.minus(&it.constant().into()).ok();
    let (constant, other) = (left.constant(), right.constant());
    let sum = match side {
        Side::Least if constant > 0 => constant.saturating_add(other),
        Side::Greatest if constant < 0 => constant.saturating_add(other),
        _ => constant.checked_add(other)?,
    };
    let terms = without_constant(left)?.plus(&without_constant(right)?);
    terms.ok()?.offset(sum).ok()
}

impl Side {
    fn opposite(self) -> Self {
        match self {
            Self::Least => Self::Greatest,
            Self::Greatest => Self::Least,
        }
    }
}

impl Requirement {
    /// Whether both hold only where both expressions are 0.
    pub(super) fn is_opposite(&self, other: &Self) -> bool {
        self.0.scaled(-1).is_ok_and(|it| it == other.0)
    }

    /// `expr == 0`, what is negative on the right.
    pub(super) fn equality(&self) -> Condition {
        let Self(expr) = self;
        let mut negative = expr.terms().iter().filter(|it| it.coefficient < 0);
        let negative = negative.try_fold(AffineExpr::from(0), |sum, term| {
            sum.minus(&rebuilt(term)?).ok()
        });
        let right = negative.unwrap_or_else(|| 0.into());
        let (left, right) = match expr.plus(&right) {
            Ok(left) => (left, right),
            Err(Overflow) => (expr.clone(), 0.into()),
        };
        Condition {
            left,
            relation: Relation::Equal,
            right,
        }
    }

    /// `expr >= 0`, the constant alone on its side where it can be.
    pub(super) fn condition(&self) -> Condition {
        let Self(expr) = self;
        let constant = expr.constant();
        let (mut left, mut right) = match AffineExpr::from(constant).minus(expr) {
            Ok(left) => (left, constant.into()),
            Err(Overflow) => (0.into(), expr.clone()),
        };
        // `n >= 2` rather than `-n <= -2`.
        let is_negative = left.terms().iter().all(|it| it.coefficient < 0);
        if is_negative && let (Ok(l), Ok(r)) = (right.scaled(-1), left.scaled(-1)) {
            (left, right) = (l, r);
        }
        Condition {
            left,
            relation: Relation::LessOrEqual,
            right,
        }
    }
}
