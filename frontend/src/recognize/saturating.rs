//! Counting up to a limit: `if (h < 255) h++` and its like.

use super::Update;
use super::held::{Held, uncast};
use strew_affine::{AddSaturating, BinaryOp, Combiner, CompareOp, Expr, Type, Value};

impl Held<'_> {
    /// `if (condition) held += 1`, where the increment is a reduction already.
    pub(super) fn counted_when(
        &self,
        condition: &Expr,
        combiner: &Combiner,
        value: &Expr,
    ) -> Option<Update> {
        let is_step = combiner.to_string() == "add" && is_one(value);
        is_step.then(|| self.limited(condition)).flatten()
    }

    /// `held += held < limit`
    pub(super) fn counted_by_comparison(&self, value: &Expr) -> Option<Update> {
        match self.operation(value)? {
            (BinaryOp::Add, condition) => self.limited(self.truth(condition)?),
            _ => None,
        }
    }

    /// `held < limit ? held + 1 : held`
    pub(super) fn counted_by_select(&self, value: &Expr) -> Option<Update> {
        let (Expr::Select(condition, then, otherwise), _) = uncast(value, self.kernel) else {
            return None;
        };
        let is_step = |it: &Expr| {
            let step = self.operation(it);
            step.is_some_and(|(op, other)| op == BinaryOp::Add && is_one(other))
        };
        let update = self.limited(condition)?;
        (is_step(then) && self.is_kept(otherwise, &update)).then_some(update)
    }

    /// `held + x < limit ? held + x : limit`, where nothing is beyond the limit.
    pub(super) fn counted_by_clamp(&self, value: &Expr) -> Option<Update> {
        let (Expr::Select(condition, then, otherwise), _) = uncast(value, self.kernel) else {
            return None;
        };
        let Expr::Compare(op, left, right) = &**condition else {
            return None;
        };
        let is_limit = |it: &Expr| as_integer(it).is_some();
        let (op, sum, bound) = if is_limit(right) {
            (*op, left, right)
        } else {
            (op.mirrored(), right, left)
        };
        let (least, limit) = match op {
            CompareOp::Lt | CompareOp::Le => (then, otherwise),
            CompareOp::Gt | CompareOp::Ge => (otherwise, then),
            CompareOp::Eq | CompareOp::Ne => return None,
        };
        let is_clamp = least.is_same(sum) && as_integer(limit) == as_integer(bound);
        is_clamp.then(|| self.clamped_sum(sum, as_integer(limit)?))?
    }

    /// `held + x`, computed without wrapping, but no more than `limit`, the greatest value of the
    /// place.
    fn clamped_sum(&self, sum: &Expr, limit: i128) -> Option<Update> {
        let (BinaryOp::Add, steps) = self.operation(sum)? else {
            return None;
        };
        let (least, greatest) = self.ty.integer_range()?;
        let steps = self.core(steps);
        let (fewest, most) = match as_integer(steps) {
            Some(steps) => (steps, steps),
            None => steps.ty(self.kernel).integer_range()?,
        };
        // A conversion of the sum comes too late for one that has wrapped.
        let (_, computed_in) = uncast(sum, self.kernel);
        let fits = |ty: Type| {
            ty.integer_range()
                .is_some_and(|(_, top)| greatest + most <= top)
        };
        let is_exact = fits(computed_in) && fits(sum.ty(self.kernel));
        if limit != greatest || fewest < 0 || most > greatest || !is_exact {
            return None;
        }
        let incoming = match as_integer(steps) {
            Some(steps) => Expr::Constant(Value::integer(self.ty, least + steps)),
            None if least == 0 && self.is_unread_by(steps) => self.in_type_of_held(steps),
            None => return None,
        };
        let combiner = Combiner::new(AddSaturating { limit });
        combiner.bodies(&[self.ty])?;
        Some((combiner, incoming))
    }

    /// What is at the limit or beyond it: what is held, or the limit itself where nothing is
    /// beyond.
    fn is_kept(&self, expr: &Expr, (combiner, _): &Update) -> bool {
        let greatest = self.ty.integer_range().map(|(_, high)| high);
        let is_greatest =
            |it: &Expr| as_integer(it) == greatest && combiner.parameter() == greatest;
        self.is_held(expr) || is_greatest(self.core(expr))
    }

    /// The comparison whose value, 0 or 1, `expr` is.
    fn truth<'e>(&self, expr: &'e Expr) -> Option<&'e Expr> {
        let mut core = expr;
        while let Expr::Cast(_, inner) = core {
            core = inner;
        }
        matches!(core, Expr::Compare(..)).then_some(core)
    }

    /// One step up as long as `condition`, that what is held is below a constant, holds.
    fn limited(&self, condition: &Expr) -> Option<Update> {
        let Expr::Compare(op, left, right) = condition else {
            return None;
        };
        let (op, bound) = if self.is_held(left) {
            (*op, right)
        } else if self.is_held(right) {
            (op.mirrored(), left)
        } else {
            return None;
        };
        let (least, greatest) = self.ty.integer_range()?;
        let limit = match (op, as_integer(bound)?) {
            (CompareOp::Lt, bound) => bound,
            (CompareOp::Le, bound) => bound + 1,
            // Nothing is beyond the greatest value.
            (CompareOp::Ne, bound) if bound == greatest => bound,
            _ => return None,
        };
        let combiner = Combiner::new(AddSaturating { limit });
        combiner.bodies(&[self.ty])?;
        let step = Value::integer(self.ty, least + 1);
        Some((combiner, Expr::Constant(step)))
    }
}

fn as_integer(expr: &Expr) -> Option<i128> {
    match expr {
        Expr::Constant(value) => value.as_integer(),
        _ => None,
    }
}

fn is_one(expr: &Expr) -> bool {
    as_integer(expr) == Some(1)
}
