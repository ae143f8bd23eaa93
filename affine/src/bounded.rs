//! Conditions that say that a number is one of the places of a dimension: `k >= 0 && k < m`.

use crate::{AffineExpr, CompareOp, Expr, Kernel, ScalarId, Type, Variable};
use std::ops::RangeInclusive;

/// Constants beside sizes are smaller than this, so that to add one to a size that is not far below
/// zero wraps nowhere below.
const NEAR: u64 = 1 << 16;

/// That a number is at least `least` and less than `below`.
#[derive(Clone, Debug, PartialEq)]
pub struct Between {
    /// The number, an integer.
    pub number: Expr,
    /// Not negative.
    pub least: i64,
    /// Over parameters alone.
    pub below: AffineExpr,
}

/// Parts of a condition that together say that.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounded {
    /// What they say.
    pub between: Between,
    /// The position of the part that says what is least, unless that follows from the type of the
    /// number.
    pub lower: Option<usize>,
    /// The position of the other one.
    pub upper: usize,
    /// Whether one comparison says the same, of the number with `below`, or with 0 where that is
    /// negative, as numbers without a sign: `least` is 0 then, and `below` does not wrap.
    pub is_one_comparison: bool,
}

/// What `parts`, if they all hold, say of numbers.
///
/// ```
/// use strew_affine::bounded::bounded;
/// use strew_affine::{Node, text};
///
/// let source = "kernel @k(m: i64, x: i64[1], out: f64[m]) {
///   let k: i64 = x[0]
///   scf.if k < m && k >= 0 { out[k] = 1.0 }
/// }";
/// let kernel = text::parse(source).unwrap().remove(0);
/// let Node::ScfIf { condition, .. } = &kernel.body[1] else { unreachable!() };
/// let found = bounded(&kernel, &condition.conjuncts());
/// assert_eq!((found[0].lower, found[0].upper), (Some(1), 0));
/// ```
pub fn bounded(kernel: &Kernel, parts: &[&Expr]) -> Vec<Bounded> {
    let uppers = parts.iter().enumerate().filter_map(|(upper, part)| {
        let Upper {
            number,
            below,
            is_whole,
        } = below(kernel, part)?;
        let least = |part: &Expr| {
            let (of, least) = least(kernel, part)?;
            of.is_same(number).then_some(least)
        };
        let (lower, least) = match is_whole {
            true => (None, 0),
            false => {
                let mut found = parts.iter().enumerate();
                found.find_map(|(position, part)| Some((Some(position), least(part)?)))?
            }
        };
        let is_one_comparison = least == 0 && (is_size(kernel, &below) || is_kept(kernel, &below));
        let between = Between {
            number: number.clone(),
            least,
            below,
        };
        Some(Bounded {
            between,
            lower,
            upper,
            is_one_comparison,
        })
    });
    uppers.collect()
}

impl Between {
    /// What can be added to the number so that the sum, which does not wrap, is in a dimension of
    /// `extent` elements, if something can.
    pub fn offsets(&self, kernel: &Kernel, extent: &AffineExpr) -> Option<RangeInclusive<i64>> {
        // The sizes are the same then.
        let room = extent.minus(&self.below).ok()?.as_constant()?;
        let holds = |most: i64| most == 0 || holds_sizes(kernel, self.number.ty(kernel), extent);
        (room >= 0).then(|| self.least.saturating_neg()..=if holds(room) { room } else { 0 })
    }

    /// Whether this says that `subscript`, the number or that and a constant, is in a dimension of
    /// `extent` elements.
    pub fn says(&self, kernel: &Kernel, subscript: &Expr, extent: &AffineExpr) -> bool {
        let (base, by) = subscript.split_constant();
        let offset = if self.number.is_same(subscript) {
            0
        } else if self.number.is_same(base) {
            by
        } else {
            return false;
        };
        let offsets = self.offsets(kernel, extent);
        offsets.is_some_and(|it| it.contains(&offset))
    }
}

/// Whether `below`, a constant or a parameter and a small constant, never leaves 64 bits.
fn is_kept(kernel: &Kernel, below: &AffineExpr) -> bool {
    below.constant() == 0 || params(below).all(|it| kernel.scalars[it].ty.bits() < 64)
}

/// Whether `ty` holds every number below `extent`, a constant or a parameter and a constant.
fn holds_sizes(kernel: &Kernel, ty: Type, extent: &AffineExpr) -> bool {
    let most = match extent.as_constant() {
        Some(_) => ty.integer_range().map_or(0, |(_, most)| most),
        None => 0,
    };
    let is_held = |it: ScalarId| ty.holds_all_of(kernel.scalars[it].ty);
    ty.bits() == 64 || i128::from(extent.constant()) - 1 <= most && params(extent).all(is_held)
}

/// The parameters in the extent, which is a sum of one at most and a constant.
fn params(extent: &AffineExpr) -> impl Iterator<Item = ScalarId> {
    let mut found = Vec::new();
    extent.for_each_variable(&mut |variable| {
        if let Variable::Param(param) = variable {
            found.push(param);
        }
    });
    found.into_iter()
}

/// A part that says that a number is below something.
struct Upper<'e> {
    number: &'e Expr,
    below: AffineExpr,
    /// Whether the number is then not negative, either.
    is_whole: bool,
}

fn below<'e>(kernel: &Kernel, part: &'e Expr) -> Option<Upper<'e>> {
    let (op, left, right) = ordered(part)?;
    let ty = left.ty(kernel);
    let below = size(kernel, right)?;
    let below = match op {
        CompareOp::Lt => below,
        _ => below.offset(1).ok()?,
    };
    let number = left.without_widening(kernel);
    if number.as_integer().is_some() {
        // What is said is then said of the other side.
        return None;
    }
    if ty.is_signed() {
        return Some(Upper {
            number,
            below,
            is_whole: !number.ty(kernel).is_signed(),
        });
    }
    // What is not a size may be another number without a sign.
    if !is_size(kernel, &below) || op != CompareOp::Lt && below.as_constant().is_none() {
        return None;
    }
    let number = match number {
        Expr::Cast(to, inner) if is_above_if_negative(kernel, *to, inner, &below) => {
            inner.without_widening(kernel)
        }
        _ => number,
    };
    Some(Upper {
        number,
        below,
        is_whole: true,
    })
}

/// Whether `inner`, where it is negative, is not below `extent` as a number of type `to`, which has
/// no sign.
fn is_above_if_negative(kernel: &Kernel, to: Type, inner: &Expr, extent: &AffineExpr) -> bool {
    let from = inner.ty(kernel);
    let half = 1_i128 << (to.bits() - 1);
    let is_low = match extent.as_constant() {
        Some(constant) => i128::from(constant) <= half,
        None => params(extent).all(|it| {
            let range = kernel.scalars[it].ty.integer_range();
            range.is_some_and(|(_, most)| most < half)
        }),
    };
    from.is_integer() && to.bits() >= from.bits() && is_low
}

/// `part` as a comparison by `<` or `<=`.
fn ordered(part: &Expr) -> Option<(CompareOp, &Expr, &Expr)> {
    let Expr::Compare(op, left, right) = part else {
        return None;
    };
    let (op, left, right) = match op {
        CompareOp::Gt | CompareOp::Ge => (op.mirrored(), right, left),
        _ => (*op, left, right),
    };
    matches!(op, CompareOp::Lt | CompareOp::Le).then_some((op, left, right))
}

/// The number of which `part` says no more than that it is at least another one, which is not
/// negative.
fn least<'e>(kernel: &Kernel, part: &'e Expr) -> Option<(&'e Expr, i64)> {
    let (op, left, right) = ordered(part)?;
    let least = match op {
        CompareOp::Lt => left.as_integer()?.checked_add(1)?,
        _ => left.as_integer()?,
    };
    let is_meant = left.ty(kernel).is_signed() && least >= 0;
    is_meant.then(|| (right.without_widening(kernel), least))
}

/// A constant, or a parameter that its type or a wider one holds, perhaps with a constant added to
/// it.
fn size(kernel: &Kernel, expr: &Expr) -> Option<AffineExpr> {
    let (base, offset) = expr.without_widening(kernel).split_constant();
    if let Some(constant) = base.as_integer() {
        return (offset == 0).then(|| constant.into());
    }
    let (param, to) = match base {
        Expr::Param(param) => (*param, base.ty(kernel)),
        Expr::Cast(to, inner) => match **inner {
            Expr::Param(param) => (param, *to),
            _ => return None,
        },
        _ => return None,
    };
    let from = kernel.scalars[param].ty;
    let is_counted = to.is_integer() && to.bits() >= from.bits() && from.is_signed();
    let is_kept = to.holds_all_of(from) || is_counted && is_size(kernel, &param.into());
    // A sum that wraps is no size. Below zero none does that is not far from it, and what is too
    // large becomes negative, which nothing is below.
    let is_sum = offset == 0
        || to.is_signed() && offset.unsigned_abs() < NEAR && is_near_a_size(kernel, param);
    (is_kept && is_sum).then(|| AffineExpr::from(param).offset(offset).ok())?
}

/// Whether `extent` is never negative: a constant, or a parameter that is an extent by itself.
fn is_size(kernel: &Kernel, extent: &AffineExpr) -> bool {
    match extent.as_constant() {
        Some(constant) => constant >= 0,
        None => extents(kernel).any(|it| it == extent),
    }
}

/// Whether the parameter and a small constant are an extent, so that the parameter is not far below
/// zero.
fn is_near_a_size(kernel: &Kernel, param: ScalarId) -> bool {
    let near = |extent: &AffineExpr| {
        let rest = extent.minus(&AffineExpr::from(param)).ok()?.as_constant()?;
        Some(rest.unsigned_abs() < NEAR)
    };
    extents(kernel).any(|it| near(it) == Some(true))
}

fn extents(kernel: &Kernel) -> impl Iterator<Item = &AffineExpr> {
    let arrays = kernel.array_params();
    arrays.flat_map(|it| &kernel.arrays[it].extents)
}

#[cfg(test)]
mod tests {
    use super::{Between, bounded};
    use crate::text::{self, parse};
    use crate::{Expr, Kernel, Node, Subscript};

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
        let found = bounded(&kernel, &condition.conjuncts()).into_iter();
        let text = found.map(|it| {
            let Between {
                number,
                least,
                below,
            } = it.between;
            let number = written(&kernel, &number);
            let below = text::affine(&kernel, &below);
            let least = if least == 0 {
                String::new()
            } else {
                format!("{least} <= ")
            };
            let beside = if it.is_one_comparison { "" } else { ", in two" };
            format!("{least}{number} < {below}{beside}")
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
            ("u64(k) < u64(t)", "k < t"),
            // It may be above all numbers of the type with a sign.
            ("u32(j) < t", "u32(j) < t"),
            ("u64(u8(j)) < u64(m)", "u8(j) < m"),
            ("u64(u32(j)) < u64(m)", "u32(j) < m"),
            ("b < u8(9)", "b < 9"),
            ("i32(b) < w", "b < w"),
            ("k + 1 >= 0 && k + 1 < m", "k + 1 < m"),
            ("k > 0 && k < m", "1 <= k < m, in two"),
            ("k >= 2 && k <= m", "2 <= k < m + 1, in two"),
            ("j >= i32(0) && j < w - i32(1)", "j < w - 1"),
            ("k >= 0 && k <= i64(w) - 3", "k < w - 2"),
            // Below nothing.
            ("k >= 0 && k < -7", "k < -7"),
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
            "k > -2 && k < m",
            "k >= 0 || k < m",
            "j >= i32(0) && k < m",
            "k != 0 && k >= 0",
            // A constant is no number of which something is said.
            "-1 >= 0 && m > -1",
            // The parameter may have another value in the type.
            "k >= 0 && k < i64(u8(w))",
            // What wraps may be anything.
            "u64(k) < u64(m) - u64(1)",
            "k >= 0 && k < m - 9223372036854775807",
        ] {
            assert_eq!(found(condition), [""; 0], "{condition}");
        }
        // 2^32 - 5 and more are below that for j from -5 on.
        let wrapped = found("u32(j) < u32(4294967295)");
        assert_eq!(wrapped, ["u32(j) < 4294967295"]);
    }

    /// Which of the subscripts are said to be in the dimensions that they stand for.
    fn said(condition: &str, subscripts: &str) -> Vec<bool> {
        let source = format!(
            "kernel @k(m: i64, w: i32, x: i64[m], y: i32[w], out: f64[m], wide: f64[m + 1], short: f64[w]) {{
               let k: i64 = x[0] let j: i32 = y[0]
               scf.if {condition} {{ {subscripts} }}
             }}"
        );
        let kernel: Kernel = parse(&source).expect("kernel text").swap_remove(0);
        let Some(Node::ScfIf {
            condition, then, ..
        }) = kernel.body.last()
        else {
            panic!("a condition");
        };
        let found = bounded(&kernel, &condition.conjuncts());
        let written = then.iter().flat_map(Node::written_elements);
        let says = written.map(|access| match &access.subscripts[..] {
            [Subscript::Computed(expr)] => {
                let extent = &kernel.arrays[access.array].extents[0];
                found
                    .iter()
                    .any(|it| it.between.says(&kernel, expr, extent))
            }
            _ => panic!("a computed subscript"),
        });
        says.collect()
    }

    #[test]
    fn what_is_beside_a_number_is_in_a_dimension_with_room() {
        let all = "out[k] = 1.0 out[k + 1] = 1.0 out[k - 1] = 1.0 wide[k + 1] = 1.0 short[j + i32(1)] = 1.0";
        for (condition, expected) in [
            ("k >= 0 && k < m", [true, false, false, true, false]),
            ("k > 0 && k < m - 1", [true, true, true, true, false]),
            ("k >= 0 && k <= m", [false, false, false, false, false]),
            (
                "j >= i32(0) && j < w - i32(1)",
                [false, false, false, false, true],
            ),
            (
                "j >= i32(0) && i64(j) < m",
                [false, false, false, false, false],
            ),
        ] {
            assert_eq!(said(condition, all), expected, "{condition}");
        }
        // The sum may wrap where the extent is no number of its type.
        assert_eq!(
            said("j >= i32(0) && i64(j) < m - 1", "out[j + i32(1)] = 1.0"),
            [false]
        );
    }
}
