//! Loops of which only the number of turns is known.
//!
//! A variable that goes by one meets every value of its type before it meets one again, so how
//! often `variable op bound` holds follows from where both start, whatever wraps: for `!=` it is
//! the distance on the circle of the type, for `<` the distance if the variable starts below, for
//! `<=` one more, unless the bound is the last value of the type: then the loop does not end. A
//! loop of `2^63` turns or more is not told from one that does not end: nobody sees either through.

use super::computed_bounds::Comparison;
use super::{Bounds, Counted, Induction};
use crate::Uncounted;
use crate::lower::interval::Interval;
use crate::lower::value::{Known, Typed};
use crate::raise::Raising;
use strew_affine::{BinaryOp, CompareOp, Expr, IterId, Local, LocalId, Span, Type, Value};

/// From where to where a variable goes by one, and in which type they are compared.
struct Way {
    op: CompareOp,
    is_upward: bool,
    first: Expr,
    bound: Expr,
    ty: Type,
    /// The last value that the variable reaches before it wraps.
    last: i128,
    /// Whether the variable wraps before the type of the comparison does.
    is_widened: bool,
}

impl Raising<'_> {
    /// A loop whose iterator counts turns.
    pub(super) fn by_turns(
        &mut self,
        iter: IterId,
        variable: &Induction,
        comparison: &Comparison<'_>,
        bound: Typed,
    ) -> Result<Counted, Uncounted> {
        let (ty, bound) = (bound.ty, bound.expr);
        let way = Way::of(variable, comparison, bound.clone(), ty).ok_or(Uncounted::MayWrap)?;
        let (named, bound) = self.named(variable, bound, ty);
        let upper = Way { bound, ..way }.turns();
        Ok(Counted {
            iter,
            variable: variable.local,
            is_itself: false,
            step: 1,
            range: Interval::new(0, Interval::i64().high - 1),
            least: vec![0.into()],
            greatest: Vec::new(),
            value: Known::any(variable.ty),
            named,
            bounds: Bounds::Computed {
                lower: Expr::i64(0),
                upper: upper.ok_or(Uncounted::MayWrap)?,
            },
        })
    }

    /// The bound, under a name unless it is as cheap to have as that.
    fn named(
        &mut self,
        variable: &Induction,
        bound: Expr,
        ty: Type,
    ) -> (Option<(LocalId, Expr)>, Expr) {
        if matches!(bound, Expr::Constant(_) | Expr::Local(_) | Expr::Param(_)) {
            return (None, bound);
        }
        let Local { name, span, .. } = self.kernel.locals[variable.local].clone();
        let local = self.kernel.locals.alloc(Local {
            name: format!("{name}_end"),
            ty,
            mutable: false,
            is_element: false,
            span,
        });
        (Some((local, bound)), Expr::Local(local))
    }
}

impl Way {
    fn of(variable: &Induction, it: &Comparison<'_>, bound: Expr, ty: Type) -> Option<Self> {
        let is_upward = match variable.constant_step()? {
            1 => true,
            -1 => false,
            _ => return None,
        };
        let conversions = it.through.iter().rev();
        let mut from = variable.ty;
        let mut first = variable.first.clone();
        // Cutting bits off, or reading them otherwise, keeps the variable one that goes by one.
        let mut is_modular = true;
        for to in conversions {
            is_modular &= to.is_integer() && *to != Type::Bool && to.bits() <= from.bits();
            first = first.convert(*to);
            from = *to;
        }
        let is_widened = !is_modular && Interval::of(variable.ty)?.fits(ty);
        if !is_modular && (!is_widened || it.through.len() != 1) {
            return None;
        }
        let limits = Interval::of(if is_widened { variable.ty } else { ty })?;
        Some(Self {
            op: if is_upward { it.op } else { it.op.mirrored() },
            is_upward,
            first: first.expr,
            bound,
            ty,
            last: if is_upward { limits.high } else { limits.low },
            is_widened,
        })
    }

    /// How often the condition holds, an `i64`.
    fn turns(&self) -> Option<Expr> {
        match self.op {
            CompareOp::Ne if !self.is_widened => Some(self.distance()),
            CompareOp::Lt if self.is_widened => {
                let compare = if self.is_upward {
                    CompareOp::Gt
                } else {
                    CompareOp::Lt
                };
                let is_endless = Expr::compare(compare, self.bound.clone(), self.last());
                let turns = Expr::select(is_endless, endless(), self.distance());
                Some(self.if_ahead(CompareOp::Lt, turns))
            }
            CompareOp::Lt if self.ty.bits() < 64 => Some(self.difference()),
            CompareOp::Lt => Some(self.if_ahead(CompareOp::Lt, self.distance())),
            CompareOp::Le if !self.is_widened => {
                let is_endless = Expr::compare(CompareOp::Eq, self.bound.clone(), self.last());
                let more = operate(BinaryOp::Add, self.distance(), Expr::i64(1));
                let turns = Expr::select(is_endless, endless(), more);
                Some(self.if_ahead(CompareOp::Le, turns))
            }
            _ => None,
        }
    }

    fn last(&self) -> Expr {
        Expr::Constant(Value::integer(self.ty, self.last))
    }

    /// `turns`, if the variable starts on this side of the bound.
    fn if_ahead(&self, op: CompareOp, turns: Expr) -> Expr {
        let op = if self.is_upward { op } else { op.mirrored() };
        let is_ahead = Expr::compare(op, self.first.clone(), self.bound.clone());
        Expr::select(is_ahead, turns, Expr::i64(0))
    }

    /// How far the bound is, an `i64`, in a type that is narrower.
    fn difference(&self) -> Expr {
        let wide = |it: &Expr| Expr::Cast(Type::I64, Box::new(it.clone()));
        let (from, to) = self.ends();
        operate(BinaryOp::Sub, wide(to), wide(from))
    }

    /// How far the bound is on the circle of the type, an `i64`.
    fn distance(&self) -> Expr {
        let (from, to) = self.ends();
        let distance = operate(BinaryOp::Sub, to.clone(), from.clone());
        let unsigned = match self.ty {
            Type::I8 => Type::U8,
            Type::I16 => Type::U16,
            Type::I32 => Type::U32,
            other => other,
        };
        let distance = converted(distance, self.ty, unsigned);
        let distance = converted(distance, unsigned, Type::I64);
        if self.ty.bits() < 64 {
            return distance;
        }
        let is_beyond = Expr::compare(CompareOp::Lt, distance.clone(), Expr::i64(0));
        Expr::select(is_beyond, endless(), distance)
    }

    fn ends(&self) -> (&Expr, &Expr) {
        if self.is_upward {
            (&self.first, &self.bound)
        } else {
            (&self.bound, &self.first)
        }
    }
}

fn converted(expr: Expr, from: Type, to: Type) -> Expr {
    if from == to {
        expr
    } else {
        Expr::Cast(to, Box::new(expr))
    }
}

/// More turns than anybody sees the end of, and one less than the greatest `i64`, so that one more
/// is one.
fn endless() -> Expr {
    Expr::i64(i64::MAX - 1)
}

fn operate(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    match &right {
        Expr::Constant(value) if value.as_integer() == Some(0) => left,
        _ => Expr::binary(op, left, right, Span::default()),
    }
}
