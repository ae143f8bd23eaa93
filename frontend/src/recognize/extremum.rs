//! Maxima and minima: `if (x > h) h = x` and its like.

use super::Update;
use super::held::{Held, uncast};
use strew_affine::{Combine, Combiner, CompareOp, Expr, LibraryExtremum, Ties, UnaryOp};

impl Held<'_> {
    /// `value op held ? value : held` and its mirror images.
    pub(super) fn updated_by_select(&self, value: &Expr) -> Option<Update> {
        let (Expr::Select(condition, then, otherwise), _) = uncast(value, self.kernel) else {
            return None;
        };
        if self.is_held(otherwise) {
            self.replaced_when(condition, then)
        } else if self.is_held(then) {
            self.replaced_unless(condition, otherwise)
        } else {
            None
        }
    }

    /// `fmax(held, value)` and its like, computed in the type of the place or in a wider one.
    pub(super) fn updated_by_call(&self, value: &Expr) -> Option<Update> {
        let (Expr::Call(function, operands), _) = uncast(value, self.kernel) else {
            return None;
        };
        let [left, right] = operands.as_slice() else {
            return None;
        };
        let (incoming, is_first) = if self.is_held(left) {
            (right, true)
        } else if self.is_held(right) {
            (left, false)
        } else {
            return None;
        };
        let extreme = function.extreme()?;
        let ties = if is_first { Ties::Last } else { Ties::First };
        let combiner = LibraryExtremum { extreme, ties };
        self.chosen(combiner.name(), incoming, incoming)
    }

    /// `if (condition) held = value`
    pub(super) fn replaced_when(&self, condition: &Expr, value: &Expr) -> Option<Update> {
        if let Expr::Unary(UnaryOp::Not, refuted) = condition {
            return self.replaced_unless(refuted, value);
        }
        let (op, compared) = self.compared(condition)?;
        let combiner = match op {
            CompareOp::Gt => "max",
            CompareOp::Lt => "min",
            // Of equal integers it does not matter which is kept; of floats it does, since -0.0
            // equals 0.0.
            CompareOp::Ge if self.ty.is_integer() => "max",
            CompareOp::Le if self.ty.is_integer() => "min",
            CompareOp::Ge => "max_last",
            CompareOp::Le => "min_last",
            CompareOp::Eq | CompareOp::Ne => return None,
        };
        self.chosen(combiner, compared, value)
    }

    /// An update by `combiner`, if what is `stored` is what was `compared`.
    fn chosen(&self, combiner: &str, compared: &Expr, stored: &Expr) -> Option<Update> {
        let incoming = self.stored_as_compared(compared, stored)?;
        let combiner = Combiner::from_name(combiner)?;
        combiner.bodies(&[self.ty])?;
        Some((combiner, incoming))
    }

    /// What is kept when the condition holds is replaced when it does not, which integers can turn
    /// round. Floats cannot: a comparison with a NaN does not hold, and neither does its opposite.
    fn replaced_unless(&self, condition: &Expr, value: &Expr) -> Option<Update> {
        let Expr::Compare(op, left, right) = condition else {
            return None;
        };
        if self.ty.is_integer() && left.ty(self.kernel).is_integer() {
            let condition = Expr::compare(op.opposite(), (**left).clone(), (**right).clone());
            return self.replaced_when(&condition, value);
        }
        let (op, compared) = self.compared(condition)?;
        let combiner = match op.mirrored() {
            CompareOp::Gt => "max_kept",
            CompareOp::Lt => "min_kept",
            CompareOp::Ge => "max_kept_first",
            CompareOp::Le => "min_kept_first",
            CompareOp::Eq | CompareOp::Ne => return None,
        };
        self.chosen(combiner, compared, value)
    }

    /// How `condition` compares a value with what is held, the value on the left.
    pub(super) fn compared<'e>(&self, condition: &'e Expr) -> Option<(CompareOp, &'e Expr)> {
        let Expr::Compare(op, left, right) = condition else {
            return None;
        };
        if self.is_held(right) {
            Some((*op, left))
        } else if self.is_held(left) {
            Some((op.mirrored(), right))
        } else {
            None
        }
    }

    /// The value that is stored, if it is the one that was compared and the place holds it
    /// unchanged.
    pub(super) fn stored_as_compared(&self, compared: &Expr, stored: &Expr) -> Option<Expr> {
        let (compared, stored) = (self.core(compared), self.core(stored));
        let fits = compared.is_same(stored) && self.is_unread_by(stored) && self.holds(stored);
        fits.then(|| self.in_type_of_held(stored))
    }
}
