//! Loops whose bounds are affine.

use super::{Bounds, Counted, Induction};
use crate::lower::affine_value::{Affine, Proviso};
use crate::lower::interval::Interval;
use crate::lower::value::{Known, Typed};
use crate::raise::Raising;
use crate::raise::assume::Assumption;
use crate::raise::context::Requirement;
use crate::raise::final_value::closed_form;
use crate::raise::terms::{mentions_iterators, split};
use strew_affine::{AffineExpr, CompareOp, Expr, IterId, Type, Variable};

/// One part of the condition, as a statement about an affine expression.
enum Test {
    Positive(AffineExpr),
    NotZero(AffineExpr),
}

/// What a part of the condition tests, all of it, and what has to hold for that.
type Tests = Vec<(Test, Vec<Proviso>)>;

/// How the iterator, and by it the variable, goes.
struct Course<'i> {
    variable: &'i Induction,
    /// The first value of the variable, or those whose greatest it is.
    firsts: Vec<Affine>,
    /// Whether the iterator is the variable rather than the number of turns before this one.
    is_itself: bool,
    step: i64,
    /// The first value of the iterator is the greatest of these.
    lower: Vec<AffineExpr>,
    /// How far the iterator has come.
    distance: AffineExpr,
    /// The variable, by the iterator.
    form: AffineExpr,
}

impl<'i> Course<'i> {
    fn of(iter: IterId, variable: &'i Induction, inductions: usize) -> Option<Self> {
        let firsts = firsts(variable, inductions)?;
        let (is_itself, step) = match variable.constant_step() {
            Some(0) => return None,
            Some(step) if step > 0 => (true, step),
            _ => (false, 1),
        };
        let lower: Vec<AffineExpr> = if is_itself {
            firsts.iter().map(|it| it.expr.clone()).collect()
        } else {
            vec![0.into()]
        };
        let distance = AffineExpr::from(iter).minus(lower.first()?).ok()?;
        let form = match firsts.as_slice() {
            _ if is_itself => iter.into(),
            [first] => {
                let travelled = distance.times(&variable.form).ok()?;
                first.expr.plus(&travelled).ok()?
            }
            _ => return None,
        };
        Some(Self {
            variable,
            firsts,
            is_itself,
            step,
            lower,
            distance,
            form,
        })
    }

    /// All induction variables, by the iterator.
    fn functions<'a>(
        &self,
        inductions: &'a [Induction],
    ) -> Vec<(&'a Induction, Option<AffineExpr>)> {
        let functions = inductions.iter().map(|it| {
            let form = if it.local == self.variable.local {
                Some(self.form.clone())
            } else {
                closed_form(it, &self.distance, self.step)
            };
            (it, form)
        });
        functions.collect()
    }
}

impl Raising<'_> {
    /// A loop over affine bounds.
    pub(super) fn affinely(
        &mut self,
        iter: IterId,
        variable: &Induction,
        inductions: &[Induction],
        conjuncts: &[&Expr],
    ) -> Option<Counted> {
        let course = Course::of(iter, variable, inductions.len())?;
        let tests = self.tests(&course.functions(inductions), conjuncts)?;
        let Course {
            firsts,
            is_itself,
            step,
            lower,
            form,
            ..
        } = course;

        let mut provided: Vec<Proviso> = Vec::new();
        let mut needed = Vec::new();
        let mut upper = Vec::new();
        for (test, provisos) in tests.into_iter().flatten() {
            provided.extend(provisos);
            let (bound, requirements) = self.bound_of(test, iter, &lower, step)?;
            needed.extend(requirements);
            upper.push(bound);
        }
        let bounds: Vec<&AffineExpr> = upper.iter().chain(&lower).collect();
        let at_start = at_start(iter, &firsts, &lower, &provided)?;
        needed.extend(self.requirements(&bounds, &at_start)?);
        provided.push(fits(&form, variable.ty)?);
        provided.push(fits(&iter.into(), Type::I64)?);
        needed.extend(self.up_to_one_step_beyond(iter, &lower, &upper, step, &provided)?);
        if !self.assumptions.add(needed) {
            return None;
        }
        let range = self.range_inside(variable.ty, is_itself, &lower, &upper);
        let of_type = Interval::of(variable.ty)?;
        Some(Counted {
            iter,
            variable: variable.local,
            is_itself,
            step,
            range,
            least: lower.clone(),
            greatest: upper.iter().filter_map(|it| it.offset(-1).ok()).collect(),
            value: Known {
                range: Some(if is_itself { range } else { of_type }),
                affine: Some(Affine::exact(form)),
                ..Known::default()
            },
            named: None,
            bounds: Bounds::Affine { lower, upper },
        })
    }

    /// What the parts of the condition say when all induction variables are put in as functions of
    /// the iterator.
    fn tests(
        &mut self,
        functions: &[(&Induction, Option<AffineExpr>)],
        conjuncts: &[&Expr],
    ) -> Option<Vec<Tests>> {
        let before = self.facts.mark();
        for (it, form) in functions {
            let mut value = Typed::any(Expr::Local(it.local), it.ty);
            value.known.affine = form.clone().map(Affine::congruent);
            self.facts.set(it.local, Some(value));
        }
        let tests = conjuncts.iter().map(|it| self.test(it)).collect();
        self.facts.undo(before);
        tests
    }

    fn test(&mut self, conjunct: &Expr) -> Option<Tests> {
        match conjunct {
            Expr::Compare(op, left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                let (op, left, right) = match op {
                    CompareOp::Gt => (CompareOp::Lt, right, left),
                    CompareOp::Ge => (CompareOp::Le, right, left),
                    other => (*other, left, right),
                };
                let more = match op {
                    CompareOp::Lt => 0,
                    CompareOp::Le => 1,
                    CompareOp::Ne => {
                        let (left, right) = (left.affine()?, right.affine()?);
                        let difference = left.expr.minus(&right.expr).ok()?;
                        let provided = [left.provided, right.provided].concat();
                        return Some(vec![(Test::NotZero(difference), provided)]);
                    }
                    _ => return None,
                };
                // What is above the greatest, or below the least, is above or below each of them.
                let (greatest, least) = (alternatives(&left, true)?, alternatives(&right, false)?);
                let pairs = greatest
                    .iter()
                    .flat_map(|low| least.iter().map(move |high| (low, high)));
                let tests = pairs.map(|(low, high)| {
                    let slack = high.expr.minus(&low.expr).ok()?.offset(more).ok()?;
                    let provided = [low.provided.as_slice(), &high.provided].concat();
                    Some((Test::Positive(slack), provided))
                });
                tests.collect()
            }
            Expr::Cast(Type::Bool, inner) => {
                let value = self.value(inner).affine()?;
                Some(vec![(Test::NotZero(value.expr), value.provided)])
            }
            _ => None,
        }
    }

    /// What the iterator stays below as long as the test holds, and what that needs.
    fn bound_of(
        &mut self,
        test: Test,
        iter: IterId,
        lower: &[AffineExpr],
        step: i64,
    ) -> Option<(AffineExpr, Vec<Assumption>)> {
        let (slack, must_meet) = match test {
            Test::Positive(slack) => (slack, false),
            Test::NotZero(slack) => (slack, true),
        };
        let (coefficient, rest) = split(&slack, iter)?;
        let falls = coefficient.scaled(-1).ok()?;
        let (speed, rest, requirements) = self.approach(falls, rest, must_meet)?;
        if mentions_iterators(&speed) {
            return None;
        }
        let mut needed = self.assumptions_for(requirements);
        if !needed.is_empty() {
            // Assumed, it helps with what follows.
            self.context.learn(speed.offset(-1).ok()?);
        }
        let mut requirements = Vec::new();
        if must_meet {
            for lower in lower {
                requirements.extend(self.meets(&speed, &rest, lower, step)?);
            }
        }
        let bound = rest.ceildiv(&speed).ok()?;
        needed.extend(self.assumptions_for(requirements));
        Some((bound, needed))
    }

    /// By how much `rest - falls * iter` falls in a step, what it starts from, and what has to hold
    /// for it to fall. One that must meet zero may approach it from below: it is mirrored then.
    fn approach(
        &self,
        falls: AffineExpr,
        rest: AffineExpr,
        must_meet: bool,
    ) -> Option<(AffineExpr, AffineExpr, Vec<Requirement>)> {
        let is_positive = |it: &AffineExpr| {
            let at_least = Interval::new(1, Interval::i64().high);
            self.context.requirements(it, at_least)
        };
        let requirements = is_positive(&falls);
        if must_meet && requirements.as_ref().is_none_or(|it| !it.is_empty()) {
            let mirrored = falls.scaled(-1).ok()?;
            if let Some(needed) = is_positive(&mirrored)
                && (requirements.is_none() || needed.is_empty())
            {
                return Some((mirrored, rest.scaled(-1).ok()?, needed));
            }
        }
        Some((falls, rest, requirements?))
    }

    /// The requirements for `rest - speed * iter` to become zero exactly, and not before the first
    /// turn.
    fn meets(
        &self,
        speed: &AffineExpr,
        rest: &AffineExpr,
        lower: &AffineExpr,
        step: i64,
    ) -> Option<Vec<Requirement>> {
        let at_first = rest.minus(&speed.times(lower).ok()?).ok()?;
        let not_negative = Interval::new(0, Interval::i64().high);
        let mut requirements = self.context.requirements(&at_first, not_negative)?;
        let in_a_turn = speed.scaled(step).ok()?;
        if in_a_turn.as_constant() != Some(1) {
            let left_over = at_first.modulo(&in_a_turn).ok()?;
            requirements.extend(self.context.requirements(&left_over, Interval::point(0))?);
        }
        Some(requirements)
    }

    /// What the provisos need while the iterator goes from `lower` to one step beyond the bounds,
    /// if the loop is not empty.
    fn up_to_one_step_beyond(
        &mut self,
        iter: IterId,
        lower: &[AffineExpr],
        upper: &[AffineExpr],
        step: i64,
        provided: &[Proviso],
    ) -> Option<Vec<Assumption>> {
        let beyond: Option<Vec<AffineExpr>> =
            upper.iter().map(|it| it.offset(step - 1).ok()).collect();
        let beyond = beyond?;
        let low = self.lowest(lower)?;
        let high = beyond
            .iter()
            .filter_map(|it| self.context.wide_range(it))
            .map(|it| it.high)
            .min()?;
        let outside = self.context.mark();
        let range = Interval::new(low, high.max(low));
        self.context.enter(iter, range, lower.to_vec(), beyond);
        let needed = self.requirements(&[], provided);
        self.context.return_to(outside);
        needed
    }

    /// The least value of the greatest of `exprs`.
    fn lowest(&self, exprs: &[AffineExpr]) -> Option<i128> {
        let ranges = exprs.iter().filter_map(|it| self.context.wide_range(it));
        ranges.map(|it| it.low).max()
    }

    fn range_inside(
        &self,
        ty: Type,
        is_itself: bool,
        lower: &[AffineExpr],
        upper: &[AffineExpr],
    ) -> Interval {
        let range = |it: &AffineExpr| self.context.wide_range(it).unwrap_or(Interval::i64());
        let low = self.lowest(lower).unwrap_or(Interval::i64().low);
        let highs = upper.iter().map(|it| range(it).high.saturating_sub(1));
        let high = highs.min().unwrap_or(low).max(low);
        let inside = Interval::new(low, high).narrowed(Interval::i64());
        match Interval::of(ty).filter(|_| is_itself) {
            Some(values) => inside.narrowed(values),
            None => inside,
        }
    }
}

/// That `expr` fits the type.
fn fits(expr: &AffineExpr, ty: Type) -> Option<Proviso> {
    let expr = expr.clone();
    Interval::of(ty).map(|within| Proviso { expr, within })
}

/// What has to hold when the loop starts.
fn at_start(
    iter: IterId,
    firsts: &[Affine],
    lower: &[AffineExpr],
    provided: &[Proviso],
) -> Option<Vec<Proviso>> {
    let mut at_start: Vec<Proviso> = firsts.iter().flat_map(|it| it.provided.clone()).collect();
    for lower in lower {
        for Proviso { expr, within } in provided {
            let is_iter = |it| (it == Variable::Iter(iter)).then(|| lower.clone());
            let expr = expr.substitute(&is_iter).ok()?;
            let within = *within;
            at_start.push(Proviso { expr, within });
        }
    }
    Some(at_start)
}

/// The first value of `variable`, or those whose greatest it is, if nothing else is computed from
/// it.
fn firsts(variable: &Induction, inductions: usize) -> Option<Vec<Affine>> {
    match variable.first.affine() {
        Some(first) => Some(vec![first]),
        None if inductions == 1 => alternatives(&variable.first, true),
        None => None,
    }
}

/// The affine form of a value, or of those whose greatest, or least, it is.
fn alternatives(value: &Typed, greatest: bool) -> Option<Vec<Affine>> {
    if let Some(affine) = value.affine() {
        return Some(vec![affine]);
    }
    let extreme = value.known.extreme.as_ref()?;
    (extreme.is_greatest == greatest).then(|| extreme.of.clone())
}
