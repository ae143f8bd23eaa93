//! Expressions of which a part has become a number.

use strew_affine::evaluate::constant;
use strew_affine::{BinaryOp, Expr, Value};

/// Makes `expr` a number where it is one, or what is left of it beside numbers that change nothing.
/// Of floats nothing is taken for unchanged: a zero of the other sign would be.
pub(crate) fn simplify(expr: &mut Expr) {
    if let Some(value) = constant(expr) {
        *expr = Expr::Constant(value);
    } else if let Some(rest) = rest_of(expr) {
        *expr = rest;
    }
}

/// The operand that `expr` is, if the others are numbers that make it that one.
fn rest_of(expr: &Expr) -> Option<Expr> {
    let is_number = |expr: &Expr, number| expr.as_integer() == Some(number);
    let rest = match expr {
        Expr::Binary(BinaryOp::Add, left, right, _) if is_number(left, 0) => right,
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub, left, right, _) if is_number(right, 0) => left,
        Expr::Binary(BinaryOp::Mul, left, right, _) if is_number(left, 1) => right,
        Expr::Binary(BinaryOp::Mul, left, right, _) if is_number(right, 1) => left,
        Expr::Binary(BinaryOp::Mul, zero, other, _)
        | Expr::Binary(BinaryOp::Mul, other, zero, _)
            if is_number(zero, 0) && is_quiet(other) =>
        {
            zero
        }
        Expr::Select(condition, then, otherwise) => match holds(condition)? {
            true => then,
            false => otherwise,
        },
        Expr::And(left, right) => match holds(left)? {
            true => right,
            false => left,
        },
        Expr::Or(left, right) => match holds(left)? {
            true => left,
            false => right,
        },
        _ => return None,
    };
    Some(rest.as_ref().clone())
}

/// Whether nobody finds out whether `expr` was computed: it reads nothing and divides by nothing.
fn is_quiet(expr: &Expr) -> bool {
    match expr {
        Expr::Load(_) | Expr::Call(..) | Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => false,
        _ => expr.operands().into_iter().all(is_quiet),
    }
}

/// Whether `condition` holds, if that is known.
fn holds(condition: &Expr) -> Option<bool> {
    match condition {
        Expr::Constant(value) => Some(*value != Value::bool(false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::test_support::accepts;

    fn kernel(body: &str) -> String {
        format!(
            "kernel @k(n: i64, x: f64[n], key: i32[n], out: f64[n]) {{ affine.for i in 0..n {{ {body} }} }}"
        )
    }

    #[test]
    fn corners_of_cells_are_told_by_numbers() {
        accepts(
            &kernel(
                "let k: i32 = key[i] affine.for p in 0..2 { out[k + i32(p)] reduce(add) (bool(i32(p)) ? x[i] : 1.0 - x[i]) * 2.0 }",
            ),
            "unroll(p, 2)",
            &kernel(
                "let k: i32 = key[i] out[k] reduce(add) (1.0 - x[i]) * 2.0 out[k + 1] reduce(add) x[i] * 2.0",
            ),
        );
    }

    #[test]
    fn what_no_iteration_reaches_goes_away() {
        accepts(
            &kernel(
                "affine.for p in 0..3 { scf.if p != 1 && x[i] > 0.0 { out[i] reduce(add) f64(p) } else { scf.if p * 1 == 1 { out[i] = 0.0 } } }",
            ),
            "unroll(p, 3)",
            &kernel(
                "scf.if x[i] > 0.0 { out[i] reduce(add) 0.0 } else { } out[i] = 0.0 scf.if x[i] > 0.0 { out[i] reduce(add) 2.0 } else { }",
            ),
        );
    }

    #[test]
    fn zeros_of_floats_stay() {
        accepts(
            &kernel("affine.for p in 0..2 { out[i] reduce(add) x[i] * f64(p) + f64(p) }"),
            "unroll(p, 2)",
            &kernel("out[i] reduce(add) x[i] * 0.0 + 0.0 out[i] reduce(add) x[i] * 1.0 + 1.0"),
        );
    }
}
