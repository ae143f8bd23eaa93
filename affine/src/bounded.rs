//! Conditions that say that a number is one of the places of a dimension: `k >= 0 && k < m`.

use crate::{AffineExpr, CompareOp, Expr, Kernel, ScalarId, Type, Variable};

/// Parts of a condition that together say that a number is not negative and below an extent.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounded<'e> {
    /// The number, an integer.
    pub number: &'e Expr,
    /// It is below this, a constant or a parameter that is never negative.
    pub extent: AffineExpr,
    /// The position of the part that says that it is not negative, unless that follows from its type.
    pub lower: Option<usize>,
    /// The position of the part that says that it is below the extent.
    pub upper: usize,
}

/// The parts of `condition` that all have to hold.
pub fn parts(condition: &Expr) -> Vec<&Expr> {
    match condition {
        Expr::And(left, right) => {
            let mut all = parts(left);
            all.extend(parts(right));
            all
        }
        _ => vec![condition],
    }
}

/// What `parts`, if they all hold, say of numbers and the extents of `kernel`.
///
/// ```
/// use strew_affine::bounded::{bounded, parts};
/// use strew_affine::{Node, text};
///
/// let source = "kernel @k(m: i64, x: i64[1], out: f64[m]) {
///   let k: i64 = x[0]
///   scf.if k < m && k >= 0 { out[k] = 1.0 }
/// }";
/// let kernel = text::parse(source).unwrap().remove(0);
/// let Node::ScfIf { condition, .. } = &kernel.body[1] else { unreachable!() };
/// let found = bounded(&kernel, &parts(condition));
/// assert_eq!((found[0].lower, found[0].upper), (Some(1), 0));
/// ```
pub fn bounded<'e>(kernel: &Kernel, parts: &[&'e Expr]) -> Vec<Bounded<'e>> {
    let uppers = parts.iter().enumerate().filter_map(|(upper, part)| {
        let (number, extent, is_whole) = below(kernel, part)?;
        let is_lower =
            |part: &&Expr| not_negative(kernel, part).is_some_and(|it| it.is_same(number));
        let lower = match is_whole {
            true => None,
            false => Some(parts.iter().position(is_lower)?),
        };
        Some(Bounded {
            number,
            extent,
            lower,
            upper,
        })
    });
    uppers.collect()
}

/// The number that `part` says is below an extent; and whether it says that it is not negative, too.
fn below<'e>(kernel: &Kernel, part: &'e Expr) -> Option<(&'e Expr, AffineExpr, bool)> {
    let (op, left, right) = ordered(part)?;
    let ty = left.ty(kernel);
    let extent = match op {
        CompareOp::Lt => extent(kernel, right)?,
        _ => AffineExpr::from(constant(right)?.checked_add(1).filter(|it| *it >= 0)?),
    };
    let number = widened(kernel, left);
    if ty.is_signed() {
        return Some((number, extent, !number.ty(kernel).is_signed()));
    }
    let number = match number {
        Expr::Cast(to, inner) if is_above_if_negative(kernel, *to, inner, &extent) => {
            widened(kernel, inner)
        }
        _ => number,
    };
    Some((number, extent, true))
}

/// Whether `inner`, where it is negative, is not below `extent` as a number of type `to`, which has no sign.
fn is_above_if_negative(kernel: &Kernel, to: Type, inner: &Expr, extent: &AffineExpr) -> bool {
    let from = inner.ty(kernel);
    let half = 1_i128 << (to.bits() - 1);
    // A parameter that the type holds beside its negative numbers is below half of them, too.
    let is_low = extent.as_constant().is_none_or(|it| i128::from(it) <= half);
    from.is_integer() && to.bits() >= from.bits() && is_low
}

/// `part` as a comparison by `<` or `<=`.
fn ordered(part: &Expr) -> Option<(CompareOp, &Expr, &Expr)> {
    let Expr::Compare(op, left, right) = part else {
        return None;
    };
    match op {
        CompareOp::Lt | CompareOp::Le => Some((*op, left, right)),
        CompareOp::Gt => Some((CompareOp::Lt, right, left)),
        CompareOp::Ge => Some((CompareOp::Le, right, left)),
        CompareOp::Eq | CompareOp::Ne => None,
    }
}

/// The number of which `part` says no more than that it is not negative.
fn not_negative<'e>(kernel: &Kernel, part: &'e Expr) -> Option<&'e Expr> {
    let (op, left, right) = ordered(part)?;
    let least = match op {
        CompareOp::Lt => -1,
        _ => 0,
    };
    let is_meant = left.ty(kernel).is_signed() && constant(left) == Some(least);
    is_meant.then(|| widened(kernel, right))
}

fn constant(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Constant(value) => i64::try_from(value.as_integer()?).ok(),
        _ => None,
    }
}

/// A constant, or a parameter that is an extent by itself and so never negative, whatever integer type holds it.
fn extent(kernel: &Kernel, expr: &Expr) -> Option<AffineExpr> {
    if let Some(constant) = constant(expr) {
        return (constant >= 0).then(|| constant.into());
    }
    let (param, to) = match expr {
        Expr::Param(param) => (*param, expr.ty(kernel)),
        Expr::Cast(to, inner) => match **inner {
            Expr::Param(param) => (param, *to),
            _ => return None,
        },
        _ => return None,
    };
    let from = kernel.scalars[param].ty;
    let is_kept = to.is_integer() && to.bits() >= from.bits() && from.is_signed();
    (is_kept && is_extent(kernel, param)).then(|| Variable::Param(param).into())
}

fn is_extent(kernel: &Kernel, param: ScalarId) -> bool {
    let extent = AffineExpr::from(Variable::Param(param));
    let mut arrays = kernel.array_params();
    arrays.any(|it| kernel.arrays[it].extents.contains(&extent))
}

/// What `expr` is a cast of that changes no value.
fn widened<'e>(kernel: &Kernel, expr: &'e Expr) -> &'e Expr {
    match expr {
        Expr::Cast(to, inner) if holds_all(*to, inner.ty(kernel)) => widened(kernel, inner),
        _ => expr,
    }
}

fn holds_all(to: Type, from: Type) -> bool {
    match (to.integer_range(), from.integer_range()) {
        (Some(outer), Some(inner)) => outer.0 <= inner.0 && inner.1 <= outer.1,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{bounded, parts};
    use crate::text::{self, parse};
    use crate::{Expr, Kernel, Node};

    /// What is found in a condition: each number and extent, as text.
    fn found(condition: &str) -> Vec<String> {
        let source = format!(
            "kernel @k(m: i64, w: i32, t: u32, x: i64[m], y: i32[w], z: u8[t], out: f64[m, w]) {{
               let k: i64 = x[0] let j: i32 = y[0] let b: u8 = z[0]
               scf.if {condition} {{ out[0, 0] = 1.0 }}
             }}"
        );
        let kernel: Kernel = parse(&source).expect("kernel text").swap_remove(0);
        let Some(Node::ScfIf { condition, .. }) = kernel.body.last() else {
            panic!("a condition");
        };
        let parts = parts(condition);
        let found = bounded(&kernel, &parts).into_iter();
        let text = found.map(|it| {
            let number = written(&kernel, it.number);
            let extent = text::affine(&kernel, &it.extent);
            format!("{number} < {extent}")
        });
        text.collect()
    }

    fn written(kernel: &Kernel, number: &Expr) -> String {
        match number {
            Expr::Local(local) => kernel.locals[*local].name.clone(),
            Expr::Cast(to, inner) => format!("{to}({})", written(kernel, inner)),
            Expr::Binary(op, left, right, _) => {
                let [left, right] = [left, right].map(|it| written(kernel, it));
                format!("{left} {} {right}", op.symbol())
            }
            Expr::Constant(value) => value.bits().to_string(),
            _ => panic!("a number of another kind"),
        }
    }

    #[test]
    fn numbers_that_lie_in_a_dimension() {
        for (condition, expected) in [
            ("k >= 0 && k < m", "k < m"),
            ("k < m && k > -1", "k < m"),
            ("0 <= k && m > k", "k < m"),
            ("-1 < j && j < w", "j < w"),
            ("k >= 0 && k <= 9", "k < 10"),
            ("j >= i32(0) && i64(j) < m", "j < m"),
            ("u64(k) < u64(m)", "k < m"),
            ("u32(j) < u32(w)", "j < w"),
            ("u64(j) < u64(w)", "j < w"),
            ("b < u8(9)", "b < 9"),
            ("i32(b) < w", "b < w"),
            ("k + 1 >= 0 && k + 1 < m", "k + 1 < m"),
        ] {
            assert_eq!(found(condition), [expected], "{condition}");
        }
        let both = found("k >= 0 && j < w && k < m && j >= i32(0)");
        assert_eq!(both, ["j < w", "k < m"]);
    }

    #[test]
    fn what_may_still_be_out_of_range() {
        for condition in [
            "k < m",
            "k >= 0",
            "k >= 0 && k <= m",
            "k > 0 && k < m",
            "k >= 0 || k < m",
            "j >= i32(0) && k < m",
            "k != 0 && k >= 0",
            // The parameter may be above all numbers of the type with a sign.
            "u64(k) < u64(t)",
        ] {
            assert_eq!(found(condition), [""; 0], "{condition}");
        }
        // 2^32 - 5 and more are below that for j from -5 on.
        let wrapped = found("u32(j) < u32(4294967295)");
        assert_eq!(wrapped, ["u32(j) < 4294967295"]);
    }
}
