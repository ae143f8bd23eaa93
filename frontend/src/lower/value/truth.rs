//! Comparisons, conditions and choices. What is decided already is not computed.

use super::super::affine_value::{Affine, Proviso};
use super::{Extreme, Guard, Known, Typed};
use crate::types::common;
use strew_affine::{AffineExpr, CompareOp, Condition, Expr, Relation, Type, UnaryOp, Value};

impl Typed {
    /// The value as a condition: whether it is not zero.
    pub(crate) fn condition(self) -> Self {
        if self.ty == Type::Bool {
            return self;
        }
        if let Expr::Constant(value) = &self.expr {
            let is_zero = value.as_integer() == Some(0) || value.as_float() == Some(0.0);
            return Self::constant(Value::bool(!is_zero));
        }
        Self::any(Expr::Cast(Type::Bool, Box::new(self.expr)), Type::Bool)
    }

    /// Whether a condition holds, where that is known.
    pub(crate) fn truth(&self) -> Option<bool> {
        match &self.expr {
            Expr::Constant(value) if self.ty == Type::Bool => value.as_integer().map(|it| it != 0),
            _ => None,
        }
    }
}

/// `!operand`
pub(crate) fn not(operand: Typed) -> Typed {
    let operand = operand.condition();
    if let Some(truth) = operand.truth() {
        return Typed::constant(Value::bool(!truth));
    }
    let conditions = match operand.known.conditions.as_deref() {
        Some([one]) => opposite(one).map(|it| vec![it]),
        _ => None,
    };
    boolean(Expr::unary(UnaryOp::Not, operand.expr), conditions)
}

/// What holds where `guard` does not.
pub(crate) fn opposite(guard: &Guard) -> Option<Guard> {
    let relation = match guard.condition.relation {
        Relation::Less => Relation::LessOrEqual,
        Relation::LessOrEqual => Relation::Less,
        Relation::Equal => return None,
    };
    Some(Guard {
        condition: Condition {
            left: guard.condition.right.clone(),
            relation,
            right: guard.condition.left.clone(),
        },
        provided: guard.provided.clone(),
    })
}

fn boolean(expr: Expr, conditions: Option<Vec<Guard>>) -> Typed {
    let mut value = Typed::any(expr, Type::Bool);
    value.known.conditions = conditions;
    value
}

/// `left op right`
pub(crate) fn compare(op: CompareOp, left: Typed, right: Typed) -> Typed {
    let ty = common(left.ty, right.ty);
    let (left, right) = (left.convert(ty), right.convert(ty));
    let affine = left.affine().zip(right.affine());
    if affine
        .as_ref()
        .is_some_and(|(left, right)| left.is_surely(right))
    {
        let holds = matches!(op, CompareOp::Eq | CompareOp::Le | CompareOp::Ge);
        return Typed::constant(Value::bool(holds));
    }
    let guard = affine.and_then(|(left, right)| guard(op, left, right));
    boolean(
        Expr::compare(op, left.expr, right.expr),
        guard.map(|it| vec![it]),
    )
}

fn guard(op: CompareOp, left: Affine, right: Affine) -> Option<Guard> {
    let provided = [left.provided, right.provided].concat();
    let (left, right) = (left.expr, right.expr);
    let (left, relation, right) = match op {
        CompareOp::Lt => (left, Relation::Less, right),
        CompareOp::Le => (left, Relation::LessOrEqual, right),
        CompareOp::Gt => (right, Relation::Less, left),
        CompareOp::Ge => (right, Relation::LessOrEqual, left),
        CompareOp::Eq => (left, Relation::Equal, right),
        CompareOp::Ne => return None,
    };
    let condition = Condition {
        left,
        relation,
        right,
    };
    Some(Guard {
        condition,
        provided,
    })
}

/// `left && right`
pub(crate) fn and(left: Typed, right: Typed) -> Typed {
    let (left, right) = (left.condition(), right.condition());
    match left.truth() {
        Some(true) => return right,
        Some(false) => return left,
        None => {}
    }
    let conditions = left.known.conditions.zip(right.known.conditions);
    let conditions = conditions.map(|(left, right)| [left, right].concat());
    boolean(
        Expr::And(Box::new(left.expr), Box::new(right.expr)),
        conditions,
    )
}

/// `left || right`
pub(crate) fn or(left: Typed, right: Typed) -> Typed {
    let (left, right) = (left.condition(), right.condition());
    match left.truth() {
        Some(true) => return left,
        Some(false) => return right,
        None => {}
    }
    boolean(Expr::Or(Box::new(left.expr), Box::new(right.expr)), None)
}

/// `condition ? then : otherwise`
pub(crate) fn select(condition: Typed, then: Typed, otherwise: Typed) -> Typed {
    let ty = common(then.ty, otherwise.ty);
    let condition = condition.condition();
    let (then, otherwise) = (then.convert(ty), otherwise.convert(ty));
    match condition.truth() {
        Some(true) => return then,
        Some(false) => return otherwise,
        None => {}
    }
    let range = then.known.range.zip(otherwise.known.range);
    let extreme = extreme(&condition, &then, &otherwise);
    Typed {
        expr: Expr::select(condition.expr, then.expr, otherwise.expr),
        ty,
        known: Known {
            range: range.map(|(then, otherwise)| then.hull(otherwise)),
            extreme: extreme.map(Box::new),
            ..Known::default()
        },
    }
}

/// `x < y ? x : y` and its relatives.
fn extreme(condition: &Typed, then: &Typed, otherwise: &Typed) -> Option<Extreme> {
    let [guard] = condition.known.conditions.as_deref()? else {
        return None;
    };
    if guard.condition.relation == Relation::Equal {
        return None;
    }
    let parts = [then, otherwise].map(alternatives);
    let [Some(chosen), Some(other)] = parts else {
        return None;
    };
    let ([one], [two]) = (chosen.as_slice(), other.as_slice()) else {
        return None;
    };
    let is_pair = |x: &AffineExpr, y: &AffineExpr| *x == one.expr && *y == two.expr;
    let (left, right) = (&guard.condition.left, &guard.condition.right);
    let is_greatest = if is_pair(left, right) {
        false
    } else if is_pair(right, left) {
        true
    } else {
        return None;
    };
    let mut of = [chosen, other].concat();
    for affine in &mut of {
        // The choice is the one that is meant only if the comparison is.
        for proviso in &guard.provided {
            let Proviso { expr, within } = proviso.clone();
            *affine = affine.clone().provided_that(expr, within)?;
        }
    }
    Some(Extreme { is_greatest, of })
}

/// The affine value, as the only one.
fn alternatives(value: &Typed) -> Option<Vec<Affine>> {
    value.affine().map(|it| vec![it])
}
