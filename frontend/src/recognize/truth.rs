//! Truth values: `h |= x`, `h = h && x` and their like.
//!
//! C computes them as `int`, in which what is held is 0 or 1; whatever is not 0 is stored as true.

use super::evaluated::{Evaluated, SizesByForm};
use super::held::Held;
use super::{Update, reduction};
use strew_affine::visit::for_each_load;
use strew_affine::{
    BinaryOp, Combiner, Expr, Kernel, Node, Place, Subscript, Type, UnaryOp, Value,
};

impl Held<'_> {
    /// `held = held && x` and its like of integers, which C leaves 0 or 1.
    pub(super) fn updated_logically(&self, value: &Expr) -> Option<Update> {
        if !self.ty.is_integer() {
            return None;
        }
        let mut core = value;
        while let Expr::Cast(to, inner) = core
            && to.is_integer()
        {
            core = inner;
        }
        let (name, sides) = match core {
            Expr::And(left, right) => ("land", [left, right]),
            Expr::Or(left, right) => ("lor", [left, right]),
            _ => return None,
        };
        let is_held = |it: &Expr| match it {
            Expr::Cast(Type::Bool, inner) => inner.is_same(&self.load),
            _ => false,
        };
        let incoming = match sides {
            [left, right] if is_held(right) && !is_held(left) => left,
            [left, right] if is_held(left) && self.may_be_evaluated_behind_held(right) => right,
            _ => return None,
        };
        let update = Expr::Cast(self.ty, incoming.clone());
        self.is_unread_by(incoming)
            .then_some((Combiner::from_name(name)?, update))
    }

    /// Whether C would evaluate it without a fault whatever is held, which it looked at before.
    fn may_be_evaluated_behind_held(&self, expr: &Expr) -> bool {
        let mut sizes = SizesByForm;
        Evaluated::by(self.kernel, &self.load, &mut sizes).cannot_fault(expr)
    }

    /// `held = value`, of truth values.
    pub(super) fn updated_truth(&self, value: &Expr) -> Option<Update> {
        if self.ty != Type::Bool {
            return None;
        }
        let core = match value {
            Expr::Cast(Type::Bool, inner) => inner,
            other => other,
        };
        let (name, incoming) = match core {
            Expr::Binary(op, left, right, _) => self.operated(*op, left, right)?,
            Expr::Or(left, right) => ("or", self.joined(left, right)?),
            Expr::And(left, right) => ("and", self.joined(left, right)?),
            Expr::Unary(UnaryOp::Not, operand) if operand.is_same(&self.load) => {
                ("xor", Expr::Constant(Value::bool(true)))
            }
            _ => return None,
        };
        self.is_unread_by(&incoming)
            .then_some((Combiner::from_name(name)?, incoming))
    }

    /// `left op right`, computed in integers, one of which is what is held.
    fn operated(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Option<(&'static str, Expr)> {
        let is_held = |it: &Expr| truth(it, self).is_some_and(|it| it.is_same(&self.load));
        let other = if is_held(left) {
            right
        } else if is_held(right) {
            left
        } else {
            return None;
        };
        if !other.ty(self.kernel).is_integer() {
            return None;
        }
        let exact = truth(other, self);
        Some(match op {
            BinaryOp::BitOr => ("or", exact.unwrap_or_else(|| is_not_zero(other))),
            BinaryOp::Mul => ("and", exact.unwrap_or_else(|| is_not_zero(other))),
            BinaryOp::BitAnd => ("and", exact.unwrap_or_else(|| self.is_odd(other))),
            BinaryOp::BitXor | BinaryOp::Sub => ("xor", exact?),
            BinaryOp::Add => ("or", exact?),
            BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => return None,
        })
    }

    /// The operand that is not what is held, if C evaluates it anyway or it may be evaluated.
    fn joined(&self, left: &Expr, right: &Expr) -> Option<Expr> {
        if right.is_same(&self.load) {
            return Some(left.clone());
        }
        let may_be_evaluated = left.is_same(&self.load) && self.may_be_evaluated_behind_held(right);
        may_be_evaluated.then(|| right.clone())
    }

    fn is_odd(&self, expr: &Expr) -> Expr {
        let one = Expr::Constant(Value::integer(expr.ty(self.kernel), 1));
        let bit = Expr::binary(BinaryOp::BitAnd, expr.clone(), one, Default::default());
        is_not_zero(&bit)
    }
}

/// `h[k] = true` as a reduction, where `k` is read from memory: several may set one flag, and it
/// does not matter which does.
pub(crate) fn flag(kernel: &Kernel, node: &Node) -> Option<Node> {
    let Node::Assign {
        place: place @ Place::Element(access),
        value,
        span,
    } = node
    else {
        return None;
    };
    let is_indirect = access.subscripts.iter().any(|it| match it {
        Subscript::Affine(_) => false,
        Subscript::Computed(expr) => reads_memory(expr),
    });
    let held = Held::new(kernel, place).filter(|held| held.ty == Type::Bool && is_indirect)?;
    let value = match value {
        Expr::Cast(Type::Bool, inner) => truth(inner, &held)?,
        other => truth(other, &held)?,
    };
    let Expr::Constant(constant) = value else {
        return None;
    };
    let name = if constant == Value::bool(true) {
        "or"
    } else {
        "and"
    };
    Some(reduction(
        place.clone(),
        (Combiner::from_name(name)?, value),
        *span,
    ))
}

fn reads_memory(expr: &Expr) -> bool {
    let mut reads = false;
    for_each_load(expr, &mut |_| reads = true);
    reads
}

/// The truth value that an integer, 0 or 1, was made of.
fn truth(expr: &Expr, held: &Held<'_>) -> Option<Expr> {
    match expr {
        Expr::Constant(value) => match value.as_integer()? {
            0 => Some(Expr::Constant(Value::bool(false))),
            1 => Some(Expr::Constant(Value::bool(true))),
            _ => None,
        },
        _ if expr.ty(held.kernel) == Type::Bool => Some(expr.clone()),
        Expr::Cast(to, inner) if to.is_integer() => truth(inner, held),
        _ => None,
    }
}

fn is_not_zero(expr: &Expr) -> Expr {
    match expr {
        Expr::Constant(value) => Expr::Constant(Value::bool(value.as_integer() != Some(0))),
        other => Expr::Cast(Type::Bool, Box::new(other.clone())),
    }
}
