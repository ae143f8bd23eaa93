//! Which loops count.
//!
//! An *induction variable* is set once a turn, by adding something that stays the same during the loop, in a statement that every
//! turn runs. After `t` turns it is congruent to its first value plus `t` times that step; so it is a function of the iterator,
//! and its update goes. A loop *counts* when its condition says, of one of them, that it has not reached a bound yet.
//!
//! The test of turn `t` is made on machine values. They equal the affine ones at the first test; and as long as they do the test
//! tells the truth, so the next turn begins with a value at most one step beyond the bound. If all those values fit their types,
//! the machine values equal the affine ones at every test, by induction on `t`, the last one included: the loop ends where
//! the affine bound says. So all that has to be shown, or assumed, is that everything fits up to one step beyond.

use super::assume::Assumption;
use super::context::{Requirement, split};
use super::final_value::closed_form;
use super::written::Written;
use super::{Raising, liveness};
use crate::Uncounted;
use crate::lower::affine_value::{Affine, Proviso};
use crate::lower::interval::Interval;
use crate::lower::value::{Known, Typed};
use strew_affine::{
    AffineExpr, BinaryOp, CompareOp, Expr, IterId, LocalId, Node, Place, Span, Type, Variable,
};

/// A variable to which every turn adds the same.
#[derive(Clone, Debug)]
pub(super) struct Induction {
    pub(super) local: LocalId,
    pub(super) ty: Type,
    /// Where in the body it is updated.
    pub(super) position: usize,
    /// Its value when the loop starts; the variable keeps that now.
    pub(super) first: Typed,
    /// What is added.
    pub(super) step: Typed,
    /// The same as an affine expression; see [`step_form`].
    pub(super) form: AffineExpr,
}

/// A loop that counts.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) iter: IterId,
    pub(super) variable: LocalId,
    /// Whether the iterator is the variable rather than the number of turns before this one.
    pub(super) is_itself: bool,
    pub(super) step: i64,
    pub(super) bounds: Bounds,
    /// Of the iterator in the body.
    pub(super) range: Interval,
    pub(super) least: Vec<AffineExpr>,
    pub(super) greatest: Vec<AffineExpr>,
    /// The variable in the body.
    pub(super) value: Known,
}

#[derive(Debug)]
pub(super) enum Bounds {
    Affine {
        lower: Vec<AffineExpr>,
        upper: Vec<AffineExpr>,
    },
    /// Two `i64`.
    Computed { lower: Expr, upper: Expr },
}

/// One part of the condition, as a statement about an affine expression.
enum Test {
    Positive(AffineExpr),
    NotZero(AffineExpr),
}

/// What a part of the condition tests, all of it, and what has to hold for that.
type Tests = Vec<(Test, Vec<Proviso>)>;

impl Induction {
    pub(super) fn constant_step(&self) -> Option<i64> {
        self.form.as_constant()
    }
}

/// What is added, up to multiples of two to the width: if it is a constant, the one of least magnitude.
fn step_form(step: &Typed, ty: Type) -> Option<AffineExpr> {
    if let Some(constant) = step.as_constant() {
        let half = 1_i128 << (ty.bits() - 1);
        let least = (constant + half).rem_euclid(2 * half) - half;
        return i64::try_from(least).ok().map(AffineExpr::from);
    }
    let form = step.known.affine.as_ref()?;
    form.provided.is_empty().then(|| form.expr.clone())
}

impl Raising<'_> {
    /// The induction variables of a loop, found before what it writes is forgotten.
    pub(super) fn inductions(&mut self, body: &[Node], written: &Written) -> Vec<Induction> {
        let firsts = written.locals().filter_map(|local| {
            let first = self.facts.now.get(&local)?;
            Some((local, first.clone()))
        });
        let firsts: std::collections::HashMap<_, _> = firsts.collect();
        self.facts.forget(written.locals());
        let mut inductions = Vec::new();
        for (position, node) in body.iter().enumerate() {
            let Some((local, value)) = added(node) else {
                continue;
            };
            let ty = self.kernel.locals[local].ty;
            let is_number = ty.is_integer() && ty != Type::Bool;
            if !is_number || !written.is_set_once(local) || !written.leaves(value) {
                continue;
            }
            let step = self.value(value);
            let Some(form) = step_form(&step, ty) else {
                continue;
            };
            let first = firsts.get(&local).cloned();
            inductions.push(Induction {
                local,
                ty,
                position,
                first: first.unwrap_or_else(|| Typed::any(Expr::Local(local), ty)),
                form,
                step,
            });
        }
        inductions
    }

    /// How the loop counts, or why it does not.
    pub(super) fn counted(
        &mut self,
        condition: &Expr,
        inductions: &[Induction],
        written: &Written,
    ) -> Result<Counted, Uncounted> {
        let tested: Vec<&Induction> = inductions
            .iter()
            .filter(|it| liveness::reads(condition, it.local))
            .collect();
        if tested.is_empty() {
            let mut is_set_again = false;
            liveness::for_each_local(condition, &mut |it| {
                is_set_again |= written.is_set_again(it)
            });
            return Err(if is_set_again {
                Uncounted::IteratorAssigned
            } else {
                Uncounted::Header
            });
        }
        let goes_up = |it: &&&Induction| it.constant_step().is_some_and(|step| step > 0);
        let up = tested.iter().find(goes_up);
        let variable = up.or(tested.first()).copied().ok_or(Uncounted::Header)?;
        let mut conjuncts = Vec::new();
        flatten(condition, &mut conjuncts);
        let iter = self.spare_iter();
        let outside = self.context.mark();
        if let Some(counted) = self.affinely(iter, variable, inductions, &conjuncts) {
            return Ok(counted);
        }
        self.context.return_to(outside);
        let [conjunct] = conjuncts.as_slice() else {
            return Err(Uncounted::Header);
        };
        self.computed(iter, variable, conjunct, written)
    }

    /// A loop over affine bounds.
    fn affinely(
        &mut self,
        iter: IterId,
        variable: &Induction,
        inductions: &[Induction],
        conjuncts: &[&Expr],
    ) -> Option<Counted> {
        let firsts = firsts(variable, inductions.len())?;
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
        let [first, ..] = firsts.as_slice() else {
            return None;
        };
        if !is_itself && firsts.len() > 1 {
            return None;
        }
        let distance = AffineExpr::from(iter).minus(lower.first()?).ok()?;
        let form = if is_itself {
            iter.into()
        } else {
            let travelled = distance.times(&variable.form).ok()?;
            first.expr.plus(&travelled).ok()?
        };
        let functions = inductions.iter().map(|it| {
            let form = if it.local == variable.local {
                Some(form.clone())
            } else {
                closed_form(it, &distance, step)
            };
            (it, form)
        });
        let functions: Vec<_> = functions.collect();
        let tests = self.tests(&functions, conjuncts)?;

        let mut provided: Vec<Proviso> = Vec::new();
        let mut needed = Vec::new();
        let mut upper = Vec::new();
        for (test, provisos) in tests.into_iter().flatten() {
            provided.extend(provisos);
            let (bound, requirements) = self.bound_of(test, iter, &lower, step)?;
            needed.extend(requirements);
            upper.push(bound);
        }
        let fits = |expr: &AffineExpr, ty| {
            let expr = expr.clone();
            Interval::of(ty).map(|within| Proviso { expr, within })
        };
        let mut at_start: Vec<Proviso> = firsts.iter().flat_map(|it| it.provided.clone()).collect();
        for lower in &lower {
            for Proviso { expr, within } in &provided {
                let is_iter = |it| (it == Variable::Iter(iter)).then(|| lower.clone());
                let expr = expr.substitute(&is_iter).ok()?;
                let within = *within;
                at_start.push(Proviso { expr, within });
            }
        }
        let bounds: Vec<&AffineExpr> = upper.iter().chain(&lower).collect();
        needed.extend(self.requirements(&bounds, &at_start)?);

        provided.push(fits(&form, variable.ty)?);
        provided.push(fits(&iter.into(), Type::I64)?);
        needed.extend(self.up_to_one_step_beyond(iter, &lower, &upper, step, &provided)?);
        if !self.assumptions.add(needed) {
            return None;
        }
        let range = self.range_inside(variable.ty, is_itself, &lower, &upper);
        let greatest = upper.iter().filter_map(|it| it.offset(-1).ok()).collect();
        let of_type = Interval::of(variable.ty)?;
        Some(Counted {
            iter,
            variable: variable.local,
            is_itself,
            step,
            range,
            least: lower.clone(),
            greatest,
            value: Known {
                range: Some(if is_itself { range } else { of_type }),
                affine: Some(Affine::exact(form)),
                ..Known::default()
            },
            bounds: Bounds::Affine { lower, upper },
        })
    }

    /// What the parts of the condition say when all induction variables are put in as functions of the iterator.
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
        let context = &self.context;
        let is_positive = |it: &AffineExpr| {
            let at_least = Interval::new(1, Interval::i64().high);
            context.requirements(it, at_least)
        };
        let mut speed = falls;
        let mut rest = rest;
        let mut requirements = is_positive(&speed);
        if must_meet && requirements.as_ref().is_none_or(|it| !it.is_empty()) {
            // It approaches zero from below.
            let mirrored = speed.scaled(-1).ok()?;
            if let Some(mirrored_requirements) = is_positive(&mirrored)
                && (requirements.is_none() || mirrored_requirements.is_empty())
            {
                requirements = Some(mirrored_requirements);
                speed = mirrored;
                rest = rest.scaled(-1).ok()?;
            }
        }
        let mut requirements: Vec<Requirement> = requirements?;
        if super::context::mentions_iterators(&speed) {
            return None;
        }
        let needed = self.assumptions_for(std::mem::take(&mut requirements));
        if !needed.is_empty() {
            // Assumed, it helps with what follows.
            self.context.learn(speed.offset(-1).ok()?);
        }
        if must_meet {
            for lower in lower {
                requirements.extend(self.meets(&speed, &rest, lower, step)?);
            }
        }
        let bound = rest.ceildiv(&speed).ok()?;
        let mut all = needed;
        all.extend(self.assumptions_for(requirements));
        Some((bound, all))
    }

    /// The requirements for `rest - speed * iter` to become zero exactly, and not before the first turn.
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

    /// What the provisos need while the iterator goes from `lower` to one step beyond the bounds, if the loop is not empty.
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

    /// A loop over bounds that are computed when it starts.
    fn computed(
        &mut self,
        iter: IterId,
        variable: &Induction,
        conjunct: &Expr,
        written: &Written,
    ) -> Result<Counted, Uncounted> {
        let comparison = comparison(conjunct, variable.local).ok_or(Uncounted::Header)?;
        let Comparison { op, through, bound } = comparison;
        if !written.leaves(bound) {
            return Err(Uncounted::BoundChanges);
        }
        let step = variable.constant_step().ok_or(Uncounted::Header)?;
        let bound = self.value(bound);
        let ranges = [variable.first.known.range, bound.known.range];
        let [Some(first), Some(limit)] = ranges else {
            return Err(Uncounted::Header);
        };
        let span = Span::default();
        let up = step > 0;
        let reaches = match op {
            CompareOp::Lt if up => 0,
            CompareOp::Le if up => 1,
            CompareOp::Gt if !up => 0,
            CompareOp::Ge if !up => -1,
            CompareOp::Ne if step == 1 && first.high <= limit.low => 0,
            CompareOp::Ne if step == -1 && first.low >= limit.high => 0,
            CompareOp::Ne => return Err(Uncounted::MayWrap),
            _ => return Err(Uncounted::Header),
        };
        // Where the loop ends, and all values up to one step beyond.
        let end = limit.plus(Interval::point(reaches));
        let towards = i128::from(step);
        let all = if up {
            Interval::new(first.low, first.high.max(end.high - 1 + towards))
        } else {
            Interval::new(first.high, first.low.min(end.low + 1 + towards))
        };
        let travelled = end.minus(first).hull(first.minus(end));
        let travelled = travelled.plus(Interval::point(towards.abs()));
        let fits = [variable.ty, Type::I64]
            .iter()
            .chain(&through)
            .all(|ty| all.fits(*ty))
            && end.fits(Type::I64)
            && (step == 1 || travelled.fits(Type::I64));
        if !fits {
            return Err(Uncounted::MayWrap);
        }
        let bound_form = bound
            .known
            .affine
            .as_ref()
            .and_then(Affine::proved)
            .cloned();
        let end_form = bound_form.and_then(|it| it.offset(reaches as i64).ok());
        let first_form = variable.first.known.affine.as_ref();
        let first_form = first_form.and_then(Affine::proved).cloned();
        let bound = bound.convert(Type::I64).expr;
        let end_expr = match reaches {
            0 => bound,
            _ => {
                let (op, one) = if up {
                    (BinaryOp::Add, Expr::i64(1))
                } else {
                    (BinaryOp::Sub, Expr::i64(1))
                };
                Expr::binary(op, bound, one, span)
            }
        };
        let first_expr = variable.first.clone().convert(Type::I64).expr;
        if up {
            let inside = Interval::new(first.low, (end.high - 1).max(first.low));
            return Ok(Counted {
                iter,
                variable: variable.local,
                is_itself: true,
                step,
                range: inside,
                least: first_form.into_iter().collect(),
                greatest: end_form
                    .and_then(|it| it.offset(-1).ok())
                    .into_iter()
                    .collect(),
                value: Known {
                    range: Some(inside),
                    affine: Some(Affine::exact(iter.into())),
                    ..Known::default()
                },
                bounds: Bounds::Computed {
                    lower: first_expr,
                    upper: end_expr,
                },
            });
        }
        let distance = match end_expr {
            Expr::Constant(end) if end.as_integer() == Some(0) => first_expr,
            end => Expr::binary(BinaryOp::Sub, first_expr, end, span),
        };
        let turns = rounded_up(distance, step.saturating_neg());
        let inside = Interval::new((end.low + 1).min(first.high), first.high);
        let most = first.high.saturating_sub(end.low).max(0);
        let form = first_form.and_then(|first| {
            let travelled = AffineExpr::from(iter).scaled(step).ok()?;
            first.plus(&travelled).ok()
        });
        Ok(Counted {
            iter,
            variable: variable.local,
            is_itself: false,
            step: 1,
            range: Interval::new(0, most),
            least: vec![0.into()],
            greatest: Vec::new(),
            value: Known {
                range: Some(inside),
                affine: form.map(Affine::exact),
                ..Known::default()
            },
            bounds: Bounds::Computed {
                lower: Expr::i64(0),
                upper: turns,
            },
        })
    }
}

/// The first value of `variable`, or those whose greatest it is, if nothing else is computed from it.
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

/// `(distance + (step - 1)) / step`, where neither is negative.
fn rounded_up(distance: Expr, step: i64) -> Expr {
    if step == 1 {
        return distance;
    }
    let span = Span::default();
    let sum = Expr::binary(BinaryOp::Add, distance, Expr::i64(step - 1), span);
    Expr::binary(BinaryOp::Div, sum, Expr::i64(step), span)
}

/// The local to which the node adds something, and what.
fn added(node: &Node) -> Option<(LocalId, &Expr)> {
    match node {
        Node::Reduce {
            places,
            combiner,
            values,
            ..
        } if combiner.name() == "add" => match (places.as_slice(), values.as_slice()) {
            ([Place::Local(local)], [value]) => Some((*local, value)),
            _ => None,
        },
        Node::Assign {
            place: Place::Local(local),
            value: Expr::Binary(BinaryOp::Add, left, right, _),
            ..
        } => match (&**left, &**right) {
            (Expr::Local(held), value) | (value, Expr::Local(held)) if held == local => {
                Some((*local, value))
            }
            _ => None,
        },
        _ => None,
    }
}

fn flatten<'e>(condition: &'e Expr, conjuncts: &mut Vec<&'e Expr>) {
    match condition {
        Expr::And(left, right) => {
            flatten(left, conjuncts);
            flatten(right, conjuncts);
        }
        other => conjuncts.push(other),
    }
}

/// The relation of a variable to something that it does not occur in.
struct Comparison<'e> {
    op: CompareOp,
    /// The types that the variable is converted to.
    through: Vec<Type>,
    bound: &'e Expr,
}

fn comparison(conjunct: &Expr, variable: LocalId) -> Option<Comparison<'_>> {
    let Expr::Compare(op, left, right) = conjunct else {
        return None;
    };
    let (op, through, bound) = match conversions(left, variable) {
        Some(through) => (*op, through, right),
        None => {
            let mirrored = match op {
                CompareOp::Lt => CompareOp::Gt,
                CompareOp::Le => CompareOp::Ge,
                CompareOp::Gt => CompareOp::Lt,
                CompareOp::Ge => CompareOp::Le,
                same @ (CompareOp::Eq | CompareOp::Ne) => *same,
            };
            (mirrored, conversions(right, variable)?, left)
        }
    };
    (!liveness::reads(bound, variable)).then_some(Comparison { op, through, bound })
}

/// The types that `expr` converts `variable` to, if it does nothing else.
fn conversions(expr: &Expr, variable: LocalId) -> Option<Vec<Type>> {
    let mut through = Vec::new();
    let mut core = expr;
    while let Expr::Cast(ty, inner) = core {
        through.push(*ty);
        core = inner;
    }
    (*core == Expr::Local(variable)).then_some(through)
}
