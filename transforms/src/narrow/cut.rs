//! Expressions in narrower types.

use super::quotient;
use crate::tree::change_expr;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use strew_affine::changed::Changed;
use strew_affine::value_range::{Range, ValueRanges};
use strew_affine::{BinaryOp, CompareOp, Expr, Kernel, LocalId, Span, Type, UnaryOp, Value};

/// From the narrowest on.
const INTEGERS: [Type; 6] = [
    Type::U8,
    Type::I8,
    Type::U16,
    Type::I16,
    Type::U32,
    Type::I32,
];

/// Vectors multiply and shift no lanes of fewer bits.
const LEAST_SHIFTED: u32 = 16;

/// The integer types of fewer bits than `ty`, the narrowest first; none for other types.
pub(super) fn narrower_than(ty: Type) -> impl Iterator<Item = Type> + Clone {
    let narrower = move |it: &Type| ty.is_integer() && it.bits() < ty.bits();
    INTEGERS.into_iter().filter(narrower)
}

/// Whether the low bits of a result follow from as many low bits of the operands.
pub(super) fn keeps_low_bits(op: BinaryOp) -> bool {
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => true,
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => true,
        BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => false,
    }
}

/// `expr`, of type `from`, as one of type `to`.
pub(super) fn cast(expr: Expr, from: Type, to: Type) -> Expr {
    match from == to {
        true => expr,
        false => Expr::Cast(to, Box::new(expr)),
    }
}

/// What is known of the expressions of a loop.
pub(super) struct Cutting<'k> {
    /// As it was before.
    pub(super) kernel: &'k Kernel,
    pub(super) ranges: ValueRanges,
    /// By the turns of the loop.
    pub(super) changed: Changed,
    /// The scalars that are narrower now and have their numbers all the same.
    pub(super) narrow: BTreeMap<LocalId, Type>,
    /// Those of which low bits are left.
    pub(super) low: BTreeMap<LocalId, Type>,
    /// Those of the latter that more was asked of.
    pub(super) missed: RefCell<BTreeSet<LocalId>>,
    /// How many parts of expressions may be looked at still.
    pub(super) looks: Cell<u32>,
}

/// So many parts of the expressions of a loop are looked at: what depends on many conditions and
/// quotients inside of each other would be looked at again for each type.
pub(super) const MOST_LOOKS: u32 = 1 << 15;

impl Cutting<'_> {
    /// The least and the greatest number that `expr` can be; `None` for floats.
    pub(super) fn range(&self, expr: &Expr) -> Option<Range> {
        self.ranges.of_expr(self.kernel, expr)
    }

    pub(super) fn lies_in(&self, expr: &Expr, ty: Type) -> bool {
        self.range(expr).is_some_and(|it| ty.holds(it))
    }

    /// What the scalar is now, if it is narrower.
    pub(super) fn narrowed(&self, local: LocalId) -> Option<Type> {
        let found = self.narrow.get(&local).or_else(|| self.low.get(&local));
        found.copied()
    }

    /// Lets `expr` speak of scalars that are narrower now.
    pub(super) fn rename(&self, expr: &mut Expr) {
        if let Expr::Local(local) = expr
            && self.narrowed(*local).is_some()
        {
            if self.low.contains_key(local) {
                self.missed.borrow_mut().insert(*local);
            }
            *expr = Expr::Cast(self.kernel.locals[*local].ty, Box::new(Expr::Local(*local)));
        }
    }

    /// `expr`, speaking of scalars that are narrower now.
    pub(super) fn renamed(&self, expr: &Expr) -> Expr {
        let mut expr = expr.clone();
        change_expr(&mut expr, &mut |it| self.rename(it));
        expr
    }

    fn may_look(&self) -> bool {
        let left = self.looks.get();
        self.looks.set(left.saturating_sub(1));
        left > 0
    }

    /// The number that `expr` is, computed in fewer bits where that gives it.
    pub(super) fn exact(&self, expr: &Expr) -> Expr {
        if self.changed.expr_stays(expr) {
            return expr.clone();
        }
        if !self.may_look() {
            return self.renamed(expr);
        }
        let found = match expr {
            Expr::Local(_) | Expr::Load(_) => return self.renamed(expr),
            Expr::Cast(to, operand) => self.cut_for(operand, *to),
            Expr::Compare(op, left, right) => self.compared(*op, left, right),
            Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => self.held(expr),
            _ => None,
        };
        found.unwrap_or_else(|| {
            let mut expr = expr.clone();
            for operand in expr.operands_mut() {
                *operand = self.exact(operand);
            }
            expr
        })
    }

    /// `operand`, of more bits than `to`, as one of type `to`.
    fn cut_for(&self, operand: &Expr, to: Type) -> Option<Expr> {
        let from = operand.ty(self.kernel);
        if !to.is_integer() || !from.is_integer() || from.bits() <= to.bits() {
            return None;
        }
        let wider = narrower_than(from).filter(|it| it.bits() > to.bits());
        let found = std::iter::once(to).chain(wider);
        let mut found = found.filter_map(|it| Some(cast(self.cut(operand, it)?, it, to)));
        found.next()
    }

    /// `expr` in a narrower type that has its numbers.
    fn held(&self, expr: &Expr) -> Option<Expr> {
        let ty = expr.ty(self.kernel);
        if let Expr::Binary(BinaryOp::Div, left, right, span) = expr
            && let Some((quotient, of)) = quotient::by_constant(self, left, right, *span)
        {
            return Some(cast(quotient, of, ty));
        }
        let range = self.range(expr).filter(|_| self.has_narrow(expr))?;
        let fitting = narrower_than(ty).filter(|it| it.holds(range));
        let mut found = fitting.filter_map(|it| Some(cast(self.cut(expr, it)?, it, ty)));
        found.next().or_else(|| match expr {
            Expr::Binary(op, left, right, span) => {
                let other = quotient::in_other_words(self, (*op, *span), left, right)?;
                Some(self.exact(&other))
            }
            _ => None,
        })
    }

    /// Whether something narrow is extended for `expr`, but for what it decides by: else nothing is
    /// gained by fewer bits, which would be extended behind it.
    pub(super) fn has_narrow(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Iter(_) => true,
            Expr::Local(local) => self.narrowed(*local).is_some(),
            Expr::Cast(to, operand) => {
                let from = operand.ty(self.kernel);
                let extends = from.is_integer() && from.bits() < to.bits();
                extends && !self.changed.expr_stays(operand) || self.has_narrow(operand)
            }
            Expr::Select(_, then, otherwise) => self.has_narrow(then) || self.has_narrow(otherwise),
            Expr::Unary(..) | Expr::Binary(..) => {
                let mut operands = expr.operands().into_iter();
                operands.any(|it| self.has_narrow(it))
            }
            _ => false,
        }
    }

    /// `expr`, whose number `to` has, in that type.
    pub(super) fn cut_anyway(&self, expr: &Expr, to: Type) -> Expr {
        let cut = self.cut(expr, to);
        cut.unwrap_or_else(|| cast(self.exact(expr), expr.ty(self.kernel), to))
    }

    /// What has type `to` and the low bits of the integer `expr`, as many as there are, and is
    /// computed in that type where it matters. `None` where that takes more bits.
    pub(super) fn cut(&self, expr: &Expr, to: Type) -> Option<Expr> {
        let from = expr.ty(self.kernel);
        if !from.is_integer() || !self.may_look() {
            return None;
        }
        if let Expr::Constant(value) = expr {
            return Some(Expr::Constant(Value::integer(to, value.as_integer()?)));
        }
        // Of fewer bits it is extended.
        if from.bits() <= to.bits() || self.changed.expr_stays(expr) {
            return Some(cast(self.exact(expr), from, to));
        }
        match expr {
            Expr::Iter(_) => Some(cast(expr.clone(), from, to)),
            Expr::Local(local) => {
                let of = self.narrowed(*local)?;
                let has_bits = self.narrow.contains_key(local) || to.bits() <= of.bits();
                has_bits.then(|| cast(expr.clone(), of, to))
            }
            Expr::Cast(_, operand) if operand.ty(self.kernel) == Type::Bool => {
                Some(cast(self.exact(operand), Type::Bool, to))
            }
            // Of what was extended, or was of more bits, the low ones are those.
            Expr::Cast(_, operand) => self.cut(operand, to),
            Expr::Unary(op @ (UnaryOp::Neg | UnaryOp::BitNot), operand) => {
                Some(Expr::unary(*op, self.cut(operand, to)?))
            }
            Expr::Binary(op, left, right, span) => self.cut_binary((*op, *span), left, right, to),
            Expr::Select(condition, then, otherwise) => {
                let (then, otherwise) = (self.cut(then, to)?, self.cut(otherwise, to)?);
                Some(Expr::select(self.exact(condition), then, otherwise))
            }
            _ => None,
        }
    }

    fn cut_binary(
        &self,
        (op, span): (BinaryOp, Span),
        left: &Expr,
        right: &Expr,
        to: Type,
    ) -> Option<Expr> {
        match op {
            BinaryOp::Mul if to.bits() < LEAST_SHIFTED => None,
            _ if keeps_low_bits(op) => {
                let (left, right) = (self.cut(left, to)?, self.cut(right, to)?);
                Some(Expr::binary(op, left, right, span))
            }
            BinaryOp::Shl => {
                let count = self.count(left, right)?;
                let fits = to.bits() >= LEAST_SHIFTED && count < to.bits();
                let left = fits.then(|| self.cut(left, to))??;
                Some(Expr::binary(op, left, constant(to, count), span))
            }
            BinaryOp::Shr => {
                let (shifted, of) = self.shifted(left, self.count(left, right)?, to, span)?;
                Some(cast(shifted, of, to))
            }
            _ => {
                let found = match op {
                    BinaryOp::Div => quotient::by_constant(self, left, right, span),
                    _ => None,
                };
                match found {
                    Some((quotient, of)) => Some(cast(quotient, of, to)),
                    None => {
                        let other = quotient::in_other_words(self, (op, span), left, right)?;
                        self.cut(&other, to)
                    }
                }
            }
        }
    }

    /// By how many bits `left` is shifted, if that is written there.
    fn count(&self, left: &Expr, right: &Expr) -> Option<u32> {
        let bits = left.ty(self.kernel).bits();
        let count = right.as_integer()?.rem_euclid(bits.into());
        u32::try_from(count).ok()
    }

    /// What has the low bits of `left`, shifted to the right, as many as `to` has, and its type:
    /// enough bits of `left` for these, or all of them that say anything.
    fn shifted(&self, left: &Expr, count: u32, to: Type, span: Span) -> Option<(Expr, Type)> {
        let from = left.ty(self.kernel);
        let candidates = narrower_than(from).filter(|it| {
            let is_wide = it.bits() >= LEAST_SHIFTED.max(to.bits()) && count < it.bits();
            let has_all = !it.is_signed() && it.bits() >= to.bits() + count;
            is_wide && (has_all || self.lies_in(left, *it))
        });
        let mut found = candidates.filter_map(|it| {
            let left = self.cut(left, it)?;
            let shifted = Expr::binary(BinaryOp::Shr, left, constant(it, count), span);
            Some((shifted, it))
        });
        found.next()
    }

    /// The comparison in a narrower type that has what varies.
    fn compared(&self, op: CompareOp, left: &Expr, right: &Expr) -> Option<Expr> {
        let ty = left.ty(self.kernel);
        let mut sides = narrower_than(ty).filter_map(|it| {
            let sides = (self.side(left, right, it)?, self.side(right, left, it)?);
            Some(Expr::compare(op, sides.0, sides.1))
        });
        sides.next()
    }

    /// `expr` in type `to`, or, if it is the same in all turns, something there on the same side of
    /// all that `other` can be.
    fn side(&self, expr: &Expr, other: &Expr, to: Type) -> Option<Expr> {
        if self.lies_in(expr, to) {
            return self.cut(expr, to);
        }
        let (least, most) = self.range(other)?;
        let beyond = (least - 1, most + 1);
        let is_known = self.changed.expr_stays(expr) && to.holds(beyond);
        is_known.then(|| self.clamped(expr, beyond, to))
    }

    /// `expr`, or the end of `range` that is on its side, in type `to`.
    fn clamped(&self, expr: &Expr, range: Range, to: Type) -> Expr {
        let ty = expr.ty(self.kernel);
        let mut clamped = expr.clone();
        for (op, end) in [(CompareOp::Lt, range.0), (CompareOp::Gt, range.1)] {
            // No number of the type is beyond an end that it does not have.
            if ty.holds((end, end)) {
                let end = Expr::Constant(Value::integer(ty, end));
                let is_beyond = Expr::compare(op, expr.clone(), end.clone());
                clamped = Expr::select(is_beyond, end, clamped);
            }
        }
        cast(clamped, ty, to)
    }
}

pub(super) fn constant(ty: Type, number: u32) -> Expr {
    Expr::Constant(Value::integer(ty, number.into()))
}
