//! Loops whose bounds are computed when they start.

use super::{Bounds, Counted, Induction};
use crate::Uncounted;
use crate::lower::affine_value::Affine;
use crate::lower::interval::Interval;
use crate::lower::value::{Known, Typed};
use crate::raise::Raising;
use crate::raise::written::Written;
use strew_affine::visit;
use strew_affine::{AffineExpr, BinaryOp, CompareOp, Expr, IterId, LocalId, Span, Type};

impl Raising<'_> {
    /// A loop over bounds that are computed when it starts.
    pub(super) fn computed(
        &mut self,
        iter: IterId,
        variable: &Induction,
        conjunct: &Expr,
        written: &Written,
    ) -> Result<Counted, Uncounted> {
        let comparison = comparison(conjunct, variable.local).ok_or(Uncounted::Header)?;
        let bound = comparison.bound;
        if !written.leaves(bound) {
            return Err(Uncounted::BoundChanges);
        }
        let step = variable.constant_step().filter(|it| *it != 0);
        let step = step.ok_or(Uncounted::Header)?;
        let bound = self.value(bound);
        match within_types(iter, variable, step, &comparison, bound.clone()) {
            Err(Uncounted::MayWrap) => self.by_turns(iter, variable, &comparison, bound),
            settled => settled,
        }
    }
}

/// Where nothing wraps before the loop ends.
fn within_types(
    iter: IterId,
    variable: &Induction,
    step: i64,
    comparison: &Comparison<'_>,
    bound: Typed,
) -> Result<Counted, Uncounted> {
    let Comparison { op, through, .. } = comparison;
    let ranges = [variable.first.known.range, bound.known.range];
    let [Some(first), Some(limit)] = ranges else {
        return Err(Uncounted::Header);
    };
    let reaches = reaches(*op, step, first, limit)?;
    let course = Course {
        iter,
        variable,
        step,
        first,
        end: limit.plus(Interval::point(reaches.into())),
    };
    if !course.fits(through) {
        return Err(Uncounted::MayWrap);
    }
    let end = End::new(bound, reaches);
    Ok(if step > 0 {
        course.upward(end)
    } else {
        course.downward(end)
    })
}

/// How far beyond the bound the loop ends: by the condition `variable op bound`, when it starts and
/// is bounded within these ranges.
fn reaches(op: CompareOp, step: i64, first: Interval, limit: Interval) -> Result<i64, Uncounted> {
    let up = step > 0;
    match op {
        CompareOp::Lt if up => Ok(0),
        CompareOp::Le if up => Ok(1),
        CompareOp::Gt if !up => Ok(0),
        CompareOp::Ge if !up => Ok(-1),
        CompareOp::Ne if step == 1 && first.high <= limit.low => Ok(0),
        CompareOp::Ne if step == -1 && first.low >= limit.high => Ok(0),
        CompareOp::Ne => Err(Uncounted::MayWrap),
        _ => Err(Uncounted::Header),
    }
}

/// Where the loop ends: the first value of the variable that the condition refuses is there or
/// beyond.
struct End {
    /// An `i64`.
    expr: Expr,
    form: Option<AffineExpr>,
}

impl End {
    fn new(bound: Typed, reaches: i64) -> Self {
        let form = bound.known.affine.as_ref().and_then(Affine::proved);
        let form = form.and_then(|it| it.offset(reaches).ok());
        let bound = bound.convert(Type::I64).expr;
        let span = Span::default();
        let expr = match reaches {
            0 => bound,
            up if up > 0 => Expr::binary(BinaryOp::Add, bound, Expr::i64(1), span),
            _ => Expr::binary(BinaryOp::Sub, bound, Expr::i64(1), span),
        };
        Self { expr, form }
    }
}

/// How the variable goes from its first value to the end.
struct Course<'i> {
    iter: IterId,
    variable: &'i Induction,
    step: i64,
    first: Interval,
    end: Interval,
}

impl Course<'_> {
    /// Whether all values up to one step beyond the end fit the types that the condition sees them
    /// in.
    fn fits(&self, through: &[Type]) -> bool {
        let Self { first, end, .. } = *self;
        let towards = i128::from(self.step);
        let all = if self.step > 0 {
            Interval::new(first.low, first.high.max(end.high - 1 + towards))
        } else {
            Interval::new(first.high, first.low.min(end.low + 1 + towards))
        };
        let travelled = end.minus(first).hull(first.minus(end));
        let travelled = travelled.plus(Interval::point(towards.abs()));
        [self.variable.ty, Type::I64]
            .iter()
            .chain(through)
            .all(|ty| all.fits(*ty))
            && end.fits(Type::I64)
            && (self.step == 1 || travelled.fits(Type::I64))
    }

    /// The first value of the variable.
    fn first_form(&self) -> Option<AffineExpr> {
        let form = self.variable.first.known.affine.as_ref();
        form.and_then(Affine::proved).cloned()
    }

    fn first_expr(&self) -> Expr {
        self.variable.first.clone().convert(Type::I64).expr
    }

    /// The variable is the iterator.
    fn upward(&self, end: End) -> Counted {
        let Self { iter, first, .. } = *self;
        let inside = Interval::new(first.low, (self.end.high - 1).max(first.low));
        let greatest = end.form.and_then(|it| it.offset(-1).ok());
        Counted {
            iter,
            variable: self.variable.local,
            is_itself: true,
            step: self.step,
            range: inside,
            least: self.first_form().into_iter().collect(),
            greatest: greatest.into_iter().collect(),
            value: Known {
                range: Some(inside),
                affine: Some(Affine::exact(iter.into())),
                ..Known::default()
            },
            named: None,
            bounds: Bounds::Computed {
                lower: self.first_expr(),
                upper: end.expr,
            },
        }
    }

    /// The iterator counts turns.
    fn downward(&self, end: End) -> Counted {
        let Self { iter, first, .. } = *self;
        let distance = match end.expr {
            Expr::Constant(end) if end.as_integer() == Some(0) => self.first_expr(),
            end => Expr::binary(BinaryOp::Sub, self.first_expr(), end, Span::default()),
        };
        let inside = Interval::new((self.end.low + 1).min(first.high), first.high);
        let most = first.high.saturating_sub(self.end.low).max(0);
        let form = self.first_form().and_then(|first| {
            let travelled = AffineExpr::from(iter).scaled(self.step).ok()?;
            first.plus(&travelled).ok()
        });
        Counted {
            iter,
            variable: self.variable.local,
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
            named: None,
            bounds: Bounds::Computed {
                lower: Expr::i64(0),
                upper: rounded_up(distance, self.step.saturating_neg()),
            },
        }
    }
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

/// The relation of a variable to something that it does not occur in.
pub(super) struct Comparison<'e> {
    pub(super) op: CompareOp,
    /// The types that the variable is converted to, the last of them first.
    pub(super) through: Vec<Type>,
    bound: &'e Expr,
}

fn comparison(conjunct: &Expr, variable: LocalId) -> Option<Comparison<'_>> {
    let Expr::Compare(op, left, right) = conjunct else {
        return None;
    };
    let (op, through, bound) = match conversions(left, variable) {
        Some(through) => (*op, through, right),
        None => (op.mirrored(), conversions(right, variable)?, left),
    };
    (!visit::reads(bound, variable)).then_some(Comparison { op, through, bound })
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
