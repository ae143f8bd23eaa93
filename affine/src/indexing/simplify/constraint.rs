mod residues;

use super::congruence::{self, Merged};
use super::context::{Congruence, Context, Fact, Span};
use super::express;
use super::linear::{Atom, Linear, Simplified, Unsimplified, narrow};
use super::normalize::{Normalizer, Style};
use super::ordered::ordered;
use super::propagate::{self, dividend};
use super::{STEPS, STEPS_A_NODE};
use crate::indexing::expression::{ceil_div, floor_div};
use crate::indexing::{Constraint, IndexExpr, IndexingMap, Interval, MAX_DEPTH, Variable};

/// With more constraints, none is used to simplify another.
const CONSTRAINTS_HELD_TOGETHER: usize = 64;

/// So many coefficients of a sum are tried to split it at.
const SPLITS_TRIED: usize = 12;

/// The domain of a map: bounds and constraints.
#[derive(Clone)]
pub(in crate::indexing) struct Domain {
    bounds: Context,
    items: Vec<Item>,
}

/// A constraint.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::indexing) struct Item {
    form: Form,
    /// How it stands in the map, if it does.
    written: Option<Constraint>,
    /// Whether it is written as a multiple, `(x - r) mod m in [0, 0]`, and prints as one.
    is_multiple: bool,
}

#[derive(Clone, PartialEq, Eq)]
enum Form {
    /// In normal form: no constant, the first coefficient positive, no common divisor.
    Normal { linear: Linear, bounds: Interval },
    /// As written: its normal form cannot be had.
    Written(Constraint),
}

/// The domain has no point.
pub(in crate::indexing) struct NoPoint;

pub(in crate::indexing) type Checked<T> = Result<T, NoPoint>;

/// What is left to be done with a constraint.
struct Pending {
    linear: Linear,
    low: i128,
    high: i128,
}

impl Domain {
    pub(in crate::indexing) fn of(map: &IndexingMap) -> Self {
        let written = map.constraints.iter().map(|constraint| Item {
            form: Form::Written(constraint.clone()),
            written: Some(constraint.clone()),
            is_multiple: false,
        });
        Self {
            bounds: Context::of_bounds(map),
            items: written.collect(),
        }
    }

    /// The same set of points, in fewer and smaller constraints; `None` when there is none.
    pub(in crate::indexing) fn simplified(mut self) -> Option<Self> {
        if self.items.is_empty() {
            return Some(self);
        }
        let written = std::mem::take(&mut self.items);
        for item in written {
            // Each by itself first, so that all have a normal form that the others can be held
            // against.
            self.add(item).ok()?;
        }
        self.merge().ok()?;
        if self.items.len() <= CONSTRAINTS_HELD_TOGETHER {
            for position in 0..self.items.len() {
                self.resolve(position).ok()?;
            }
            self.merge().ok()?;
        }
        self.propagate().ok()?;
        Some(self)
    }

    /// What the bounds and all constraints say.
    pub(in crate::indexing) fn context(&self) -> Context {
        self.context_without(usize::MAX)
    }

    fn context_without(&self, position: usize) -> Context {
        let mut context = self.bounds.clone();
        if self.items.len() > CONSTRAINTS_HELD_TOGETHER {
            return context;
        }
        for (other, item) in self.items.iter().enumerate() {
            if other != position
                && let Some((linear, bounds)) = item.normal()
            {
                context.congruences.extend(Congruence::of(&linear, bounds));
                context.facts.push(Fact { linear, bounds });
            }
        }
        context
    }

    /// Adds a constraint, brought into its normal form by the bounds alone.
    fn add(&mut self, item: Item) -> Checked<()> {
        let context = self.bounds.clone();
        self.add_in(item, &context)
    }

    /// Simplifies a constraint by the others.
    fn resolve(&mut self, position: usize) -> Checked<()> {
        let Some(item) = self.items.get(position).cloned() else {
            return Ok(());
        };
        let context = self.context_without(position);
        let before = self.items.len();
        self.add_in(item, &context)?;
        let added: Vec<_> = self.items.drain(before..).collect();
        // In its place, so that those that follow are held against it.
        self.items.splice(position..=position, added);
        Ok(())
    }

    fn add_in(&mut self, item: Item, context: &Context) -> Checked<()> {
        let before = self.items.len();
        let bounds = self.bounds.clone();
        let reduced = match self.pending(&item, context) {
            Ok(pending) => self.reduce(pending, context)?,
            // A constraint holds nowhere that has a value nowhere.
            Err(Unsimplified::DivisionByZero) => return Err(NoPoint),
            Err(error) => Err(error),
        };
        if reduced.is_err() {
            self.items.truncate(before);
            self.bounds = bounds;
            self.items.push(item);
        } else if let [only] = &mut self.items[before..] {
            // With other variables it is another residue, and prints as one.
            only.is_multiple = match &item.form {
                Form::Normal { .. } => item.is_multiple,
                Form::Written(_) => only.is_multiple,
            } && only.variables() == item.variables();
            only.written = item.written;
        }
        Ok(())
    }

    fn pending(&self, item: &Item, context: &Context) -> Simplified<Pending> {
        let expressed;
        let (expr, bounds) = match &item.form {
            Form::Written(written) => (&written.expr, written.bounds),
            Form::Normal { linear, bounds } => {
                expressed = express::expression(linear).ok_or(Unsimplified::Overflow)?;
                (&expressed, *bounds)
            }
        };
        let fuel = STEPS + expr.size().nodes.saturating_mul(STEPS_A_NODE);
        let normalizer = Normalizer::new(context, Style::Careful, fuel).taking_points();
        Ok(Pending {
            linear: normalizer.linear(expr)?,
            low: bounds.low.into(),
            high: bounds.high.into(),
        })
    }

    /// Peels constants, scales and divisions off a constraint until a bound of a variable or a
    /// normal form is left.
    fn reduce(&mut self, first: Pending, context: &Context) -> Checked<Simplified<()>> {
        let mut context = context.clone();
        let mut pending = vec![first];
        let mut steps = 0;
        while let Some(mut next) = pending.pop() {
            steps += 1;
            if steps > STEPS {
                return Ok(Err(Unsimplified::OutOfFuel));
            }
            next.normalize(&context);
            let range = context.range(&next.linear);
            let implied = context.range_by_facts(&next.linear);
            if next.low <= implied.low && implied.high <= next.high {
                continue;
            }
            if next.low > implied.high || next.high < implied.low {
                return Err(NoPoint);
            }
            next.low = next.low.max(range.low);
            next.high = next.high.min(range.high);
            if next.low > next.high {
                return Err(NoPoint);
            }
            let within = Span {
                low: next.low,
                high: next.high,
            };
            if let Some(values) = propagate::values(&next.linear, within, &context)? {
                self.tighten(values.variable, values.bounds)?;
                context.set_bounds(values.variable, self.bounds.bounds(values.variable));
                if values.is_all {
                    continue;
                }
            }
            match next.peeled(&context, range) {
                Ok(Peeled::Parts(parts)) => pending.extend(parts),
                Ok(Peeled::Bound(variable, bounds)) => {
                    self.tighten(variable, bounds)?;
                    context.set_bounds(variable, self.bounds.bounds(variable));
                }
                Ok(Peeled::Done(linear, bounds)) => {
                    let is_multiple = bounds.as_point() == Some(0);
                    match congruence::normal(&linear, bounds, &context) {
                        Ok(Some((linear, bounds))) => self.items.push(Item {
                            form: Form::Normal { linear, bounds },
                            written: None,
                            is_multiple,
                        }),
                        Ok(None) => {}
                        Err(NoPoint) => return Err(NoPoint),
                    }
                }
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(()))
    }

    fn tighten(&mut self, variable: Variable, bounds: Interval) -> Checked<()> {
        let bounds = self.bounds.bounds(variable).intersect(bounds);
        self.bounds.set_bounds(variable, bounds);
        if bounds.is_empty() {
            Err(NoPoint)
        } else {
            Ok(())
        }
    }

    /// Constraints of the same expression become one, and so do congruences.
    fn merge(&mut self) -> Checked<()> {
        let mut merged: Vec<Item> = Vec::with_capacity(self.items.len());
        let items = std::mem::take(&mut self.items);
        let few = items.len() <= CONSTRAINTS_HELD_TOGETHER;
        for item in items {
            let mut item = Some(item);
            for other in merged.iter_mut().filter(|_| few) {
                let Some(current) = item.take() else { break };
                match other.merged(&current)? {
                    Some(both) => *other = both,
                    None => item = Some(current),
                }
            }
            merged.extend(item);
        }
        self.items = merged;
        if few {
            self.tighten_to_residues()
        } else {
            Ok(())
        }
    }

    /// Tightens the bounds of variables to what each constraint leaves them, over and over. Bounds
    /// that move without an end in sight are left as they were.
    fn propagate(&mut self) -> Checked<()> {
        const PASSES: usize = 64;
        let normal: Vec<_> = self.items.iter().filter_map(Item::normal).collect();
        let mut bounds = self.bounds.clone();
        for _ in 0..PASSES {
            let before = bounds.clone();
            for (linear, of_linear) in &normal {
                propagate::narrow(linear, (*of_linear).into(), &mut bounds)?;
                propagate::narrow_repeated(linear, (*of_linear).into(), &mut bounds)?;
            }
            if bounds.is_same_box(&before) {
                self.bounds = bounds;
                break;
            }
        }
        Ok(())
    }

    /// The bounds of `context` cut down by each constraint; `None` when one of them cannot hold.
    pub(in crate::indexing) fn cut(
        mut context: Context,
        constraints: &[(Linear, Interval)],
    ) -> Option<Context> {
        for (linear, bounds) in constraints {
            let range = context.range(linear);
            if range.low > bounds.high.into() || range.high < bounds.low.into() {
                return None;
            }
            propagate::narrow(linear, (*bounds).into(), &mut context).ok()?;
        }
        Some(context)
    }

    /// Puts the bounds and constraints into `map`.
    pub(in crate::indexing) fn write_to(&self, map: &mut IndexingMap) {
        for variable in map.variables() {
            let bounds = self.bounds.bounds(variable);
            if let Some(declaration) = map.declaration_mut(variable) {
                declaration.bounds = bounds;
            }
        }
        let mut constraints: Vec<_> = self.items.iter().map(Item::constraint).collect();
        constraints.sort_by_cached_key(|it| (variables(&it.expr), it.clone()));
        constraints.dedup();
        map.constraints = constraints;
    }
}

/// The variables in the order of their first occurrence: constraints are listed by what they speak
/// of.
fn variables(expr: &IndexExpr) -> Vec<Variable> {
    let mut variables = Vec::new();
    expr.for_each_variable(&mut |variable| {
        if !variables.contains(&variable) {
            variables.push(variable);
        }
    });
    variables
}

enum Peeled {
    Bound(Variable, Interval),
    Parts(Vec<Pending>),
    Done(Linear, Interval),
}

impl Pending {
    /// Moves constants, common divisors and the sign of the first coefficient to the bounds.
    fn normalize(&mut self, context: &Context) {
        let mut known = i128::from(self.linear.constant);
        self.linear.constant = 0;
        self.linear.terms.retain(|term| match term.atom {
            Atom::Variable(variable) => match context.bounds(variable).as_point() {
                Some(value) => {
                    known += i128::from(value) * i128::from(term.coefficient);
                    false
                }
                None => true,
            },
            _ => true,
        });
        self.low = self.low.saturating_sub(known);
        self.high = self.high.saturating_sub(known);
        let content = self.linear.content();
        let Some(first) = self.linear.terms.first() else {
            return;
        };
        let divisor = if first.coefficient < 0 {
            content.wrapping_neg()
        } else {
            content
        };
        if divisor == 1 || divisor == 0 {
            return;
        }
        self.linear = self.linear.divided(divisor);
        let (low, high) = if divisor > 0 {
            (self.low, self.high)
        } else {
            (self.high, self.low)
        };
        self.low = ceil_div(low, divisor.into());
        self.high = floor_div(high, divisor.into());
    }

    fn interval(&self) -> Simplified<Interval> {
        Ok(Interval::new(narrow(self.low)?, narrow(self.high)?))
    }

    fn peeled(self, context: &Context, range: Span) -> Simplified<Peeled> {
        match self.linear.as_atom() {
            Some(Atom::Variable(variable)) => Ok(Peeled::Bound(*variable, self.interval()?)),
            Some(Atom::FloorDiv(division)) => match division.divisor.as_constant() {
                Some(divisor) => Ok(Peeled::Parts(vec![
                    self.multiplied(division.numerator.clone(), divisor),
                ])),
                None => Ok(Peeled::Done(self.linear.clone(), self.interval()?)),
            },
            // No lower bound: every operand has to be low enough.
            Some(Atom::Max(operands)) if self.low <= range.low => {
                Ok(Peeled::Parts(self.of_each(operands, context)))
            }
            Some(Atom::Min(operands)) if self.high >= range.high => {
                Ok(Peeled::Parts(self.of_each(operands, context)))
            }
            Some(_) => Ok(Peeled::Done(self.linear.clone(), self.interval()?)),
            None => match (self.undivided(), self.split(context, range)?) {
                (Some(part), _) => Ok(Peeled::Parts(vec![part])),
                (None, Some(parts)) => Ok(Peeled::Parts(parts)),
                (None, None) => Ok(Peeled::Done(self.linear.clone(), self.interval()?)),
            },
        }
    }

    /// The constraint of a numerator whose quotient by `divisor` is constrained.
    fn multiplied(&self, numerator: Linear, divisor: i64) -> Self {
        let within = Span {
            low: self.low,
            high: self.high,
        };
        let Span { low, high } = dividend(within, divisor.into());
        Self {
            linear: numerator,
            low,
            high,
        }
    }

    /// `x + n floordiv c` as `(c * x + n) floordiv c`, of which the numerator is constrained.
    fn undivided(&self) -> Option<Self> {
        let (numerator, divisor) = self.linear.as_quotient()?;
        Some(self.multiplied(numerator, divisor))
    }

    /// The bound that matters for each operand of an extremum.
    fn of_each(&self, operands: &[Linear], context: &Context) -> Vec<Self> {
        let is_upper = matches!(self.linear.as_atom(), Some(Atom::Max(_)));
        let each = operands.iter().map(|operand| {
            let range = context.range(operand);
            Self {
                linear: operand.clone(),
                low: if is_upper { range.low } else { self.low },
                high: if is_upper { self.high } else { range.high },
            }
        });
        each.collect()
    }

    /// Splits `g * y + r` with `r` in `[0, g)` into constraints of `y` and of `r`, where they do
    /// not depend on each other.
    fn split(&self, context: &Context, range: Span) -> Simplified<Option<Vec<Self>>> {
        let mut scales: Vec<i64> = self.linear.terms.iter().map(|it| it.coefficient).collect();
        scales.retain(|it| *it > 1 || (*it < -1 && *it != i64::MIN));
        for scale in &mut scales {
            *scale = scale.abs();
        }
        scales.sort_unstable_by(|left, right| right.cmp(left));
        scales.dedup();
        for scale in scales.into_iter().take(SPLITS_TRIED) {
            let (mut coarse, mut fine) = (Linear::default(), Linear::default());
            for term in &self.linear.terms {
                let part = if term.coefficient % scale == 0 {
                    &mut coarse
                } else {
                    &mut fine
                };
                part.terms.push(term.clone());
            }
            let coarse = coarse.divided(scale);
            let Some(offset) = context.range(&fine).quotient(scale) else {
                continue;
            };
            if fine.terms.is_empty() {
                continue;
            }
            let scale = i128::from(scale);
            let (low, high) = (floor_div(self.low, scale), floor_div(self.high, scale));
            let of_coarse = Self {
                linear: coarse,
                low: low - offset,
                high: high - offset,
            };
            if low == high {
                let of_fine = Self {
                    linear: fine,
                    low: self.low - (low - offset) * scale,
                    high: self.high - (low - offset) * scale,
                };
                return Ok(Some(vec![of_coarse, of_fine]));
            }
            let is_aligned_below = self.low == low * scale || self.low <= range.low;
            let is_aligned_above = self.high == high * scale + scale - 1 || self.high >= range.high;
            if is_aligned_below && is_aligned_above {
                return Ok(Some(vec![of_coarse]));
            }
        }
        Ok(None)
    }
}

impl Item {
    fn normal(&self) -> Option<(Linear, Interval)> {
        match &self.form {
            Form::Normal { linear, bounds } => Some((linear.clone(), *bounds)),
            Form::Written(_) => None,
        }
    }

    /// The variables that it speaks of, sorted.
    fn variables(&self) -> Vec<Variable> {
        let mut variables = match &self.form {
            Form::Normal { linear, .. } => {
                express::expression(linear).map_or_else(Vec::new, |it| variables(&it))
            }
            Form::Written(written) => variables(&written.expr),
        };
        variables.sort_unstable();
        variables
    }

    /// The constraint as it is printed.
    fn constraint(&self) -> Constraint {
        let written = self.written.as_ref().map(|it| Constraint {
            expr: ordered(&it.expr),
            bounds: it.bounds,
        });
        let normal = match &self.form {
            Form::Normal { linear, bounds } => {
                let multiple = congruence::as_multiple(linear, *bounds);
                let (linear, bounds) = multiple
                    .filter(|_| self.is_multiple)
                    .unwrap_or_else(|| (linear.clone(), *bounds));
                express::expression(&linear).map(|expr| Constraint { expr, bounds })
            }
            Form::Written(constraint) => Some(Constraint {
                expr: ordered(&constraint.expr),
                bounds: constraint.bounds,
            }),
        };
        match (normal, written) {
            (Some(normal), Some(written))
                if normal.expr.size() > written.expr.size() || normal.expr.depth() > MAX_DEPTH =>
            {
                written
            }
            (Some(normal), _) => normal,
            (None, Some(written)) => written,
            // A normal form whose numbers do not fit is kept as written where it is made.
            (None, None) => Constraint {
                expr: 0.into(),
                bounds: Interval::point(0),
            },
        }
    }

    /// One constraint that says what both say, if there is one.
    fn merged(&self, other: &Self) -> Checked<Option<Self>> {
        let (
            Form::Normal { linear, bounds },
            Form::Normal {
                linear: other_linear,
                bounds: other_bounds,
            },
        ) = (&self.form, &other.form)
        else {
            return Ok(None);
        };
        let of = |linear: Linear, bounds: Interval| Self {
            form: Form::Normal { linear, bounds },
            written: None,
            is_multiple: false,
        };
        if linear == other_linear {
            let both = bounds.intersect(*other_bounds);
            return match both {
                both if both.is_empty() => Err(NoPoint),
                both if both == *bounds && both == *other_bounds => Ok(Some(Self {
                    is_multiple: self.is_multiple && other.is_multiple,
                    ..self.clone()
                })),
                both if both == *bounds => Ok(Some(self.clone())),
                both if both == *other_bounds => Ok(Some(other.clone())),
                both => Ok(Some(of(linear.clone(), both))),
            };
        }
        let congruences = (
            Congruence::of(linear, *bounds),
            Congruence::of(other_linear, *other_bounds),
        );
        let (Some(left), Some(right)) = congruences else {
            return Ok(None);
        };
        match left.merged(&right) {
            Merged::Contradiction => Err(NoPoint),
            Merged::Apart => Ok(None),
            Merged::Left => Ok(Some(self.clone())),
            Merged::Right => Ok(Some(other.clone())),
            Merged::Both(both) => {
                let (linear, bounds) = both.constraint();
                Ok(Some(of(linear, bounds)))
            }
        }
    }
}
