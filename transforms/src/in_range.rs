//! Accesses that are shown to stay inside their array, for every size.

use crate::tree::replaced;
use strew_affine::visit::Loop;
use strew_affine::{
    Access, AffineExpr, AffineFor, Array, Condition, Expr, Factor, IterId, Kernel, Overflow,
    Relation, Subscript, Variable,
};

/// Whether every subscript of `access` lies in its extent at every iteration of `loops`, outermost
/// first. `false` means that nobody could tell.
pub(crate) fn is_in_range(kernel: &Kernel, loops: &[Loop<'_>], access: &Access) -> bool {
    let ranges: Vec<Range> = (0..loops.len())
        .filter_map(|depth| Range::of(loops[depth], &loops[..depth]).unwrap_or(None))
        .collect();
    let extents = &kernel.arrays[access.array].extents;
    let mut dimensions = access.subscripts.iter().zip(extents);
    dimensions.all(|(subscript, extent)| match subscript {
        Subscript::Affine(expr) => stays_below(kernel, expr, extent, &ranges).unwrap_or(false),
        Subscript::Computed(_) => false,
    })
}

/// Whether to compute `expr` can end in a fault, if to load an element does where it `may_miss`.
pub(crate) fn can_fail(kernel: &Kernel, expr: &Expr, may_miss: &dyn Fn(&Access) -> bool) -> bool {
    let here = match expr {
        Expr::Load(access) => may_miss(access),
        _ => expr.may_divide_by_zero(kernel),
    };
    let mut operands = expr.operands().into_iter();
    here || operands.any(|it| can_fail(kernel, it, may_miss))
}

/// What makes every subscript of `access` lie in its extent at every iteration of `loops`,
/// outermost first, wherever these run at all. `None` means that nobody could tell.
pub(crate) fn conditions_in_range(
    kernel: &Kernel,
    loops: &[Loop<'_>],
    access: &Access,
) -> Option<Vec<Condition>> {
    if is_in_range(kernel, loops, access) {
        return Some(Vec::new());
    }
    let ranges: Vec<Range> = (0..loops.len())
        .filter_map(|depth| Range::of(loops[depth], &loops[..depth]).unwrap_or(None))
        .collect();
    let extents = &kernel.arrays[access.array].extents;
    let dimensions = access.subscripts.iter().zip(extents);
    let conditions = dimensions.map(|(subscript, extent)| {
        let Subscript::Affine(expr) = subscript else {
            return None;
        };
        let end = |end| extreme(expr, &ranges, end).ok().flatten();
        let least = Condition::at_most(0, end(End::Least)?);
        let greatest = Condition::below(end(End::Greatest)?, extent.clone());
        Some([least, greatest])
    });
    let conditions: Option<Vec<_>> = conditions.collect();
    Some(conditions?.into_iter().flatten().collect())
}

/// `target` with those bounds that `conditions` over its iterator and parameters tell, where they
/// tell some: it has all iterations in which they hold.
pub(crate) fn narrowed(target: &AffineFor, conditions: &[Condition]) -> AffineFor {
    let mut narrowed = target.clone();
    for condition in conditions {
        let strict = i64::from(condition.relation == Relation::Less);
        let more = condition.right.minus(&condition.left);
        let more = more.and_then(|it| it.offset(-strict)).ok();
        let bound = more.and_then(|it| it.split_off(target.iter));
        let bound = bound.filter(|(_, rest)| rest.is_over_parameters());
        match bound {
            Some((1, rest)) => {
                if let Ok(lower) = rest.scaled(-1) {
                    narrowed.lower = lower.into();
                }
            }
            Some((-1, rest)) => {
                if let Ok(upper) = rest.offset(1) {
                    narrowed.upper = upper.into();
                }
            }
            _ => {}
        }
    }
    narrowed
}

/// Whether `expr` is not below zero at any iteration of `loops`, outermost first. `false` means
/// that nobody could tell.
pub(crate) fn never_negative(kernel: &Kernel, loops: &[Loop<'_>], expr: &AffineExpr) -> bool {
    let ranges: Vec<Range> = (0..loops.len())
        .filter_map(|depth| Range::of(loops[depth], &loops[..depth]).unwrap_or(None))
        .collect();
    let least = extreme(expr, &ranges, End::Least).ok().flatten();
    least.is_some_and(|it| is_non_negative(kernel, &it))
}

fn stays_below(
    kernel: &Kernel,
    subscript: &AffineExpr,
    extent: &AffineExpr,
    ranges: &[Range],
) -> Result<bool, Overflow> {
    let (Some(least), Some(greatest)) = (
        extreme(subscript, ranges, End::Least)?,
        extreme(subscript, ranges, End::Greatest)?,
    ) else {
        return Ok(false);
    };
    let room = extent.minus(&greatest)?.offset(-1)?;
    Ok(is_non_negative(kernel, &least) && is_non_negative(kernel, &room))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Least,
    Greatest,
}

/// What bounds `expr` on one side, over parameters alone: each iterator is replaced by the end of
/// its range that the sign of its coefficient asks for.
fn extreme(expr: &AffineExpr, ranges: &[Range], end: End) -> Result<Option<AffineExpr>, Overflow> {
    let mut expr = expr.clone();
    for range in ranges {
        let Some((coefficient, rest)) = expr.split_off(range.iter) else {
            return Ok(None);
        };
        let at_least = (end == End::Least) == (coefficient > 0);
        let value = if at_least {
            &range.least
        } else {
            &range.greatest
        };
        expr = value.scaled(coefficient)?.plus(&rest)?;
    }
    Ok(expr.is_over_parameters().then_some(expr))
}

/// The least and greatest value of an iterator, over parameters alone, wherever its loop runs at
/// all.
struct Range {
    iter: IterId,
    least: AffineExpr,
    greatest: AffineExpr,
}

impl Range {
    fn of(it: Loop<'_>, around: &[Loop<'_>]) -> Result<Option<Self>, Overflow> {
        let limits = match it {
            Loop::Affine(target) => limits(target, around)?,
            Loop::Forall(forall) => Some((0.into(), forall.count.clone())),
            Loop::Scf(_) => None,
        };
        limits
            .map(|(least, beyond)| {
                let (iter, greatest) = (it.iter(), beyond.offset(-1)?);
                Ok(Self {
                    iter,
                    least,
                    greatest,
                })
            })
            .transpose()
    }
}

/// Bounds over parameters alone that hold for the iterator of `target` at every iteration; the
/// second is not reached.
fn limits(
    target: &AffineFor,
    around: &[Loop<'_>],
) -> Result<Option<(AffineExpr, AffineExpr)>, Overflow> {
    let (Some(lower), Some(upper)) = (target.lower.as_single(), target.upper.as_single()) else {
        return Ok(None);
    };
    if lower.is_over_parameters() && upper.is_over_parameters() {
        return Ok(Some((lower.clone(), upper.clone())));
    }
    for it in around {
        if let Loop::Forall(forall) = it
            && let Some(count) = forall.count.as_constant()
            && let Some(range) = consecutive_parts(lower, upper, forall.iter, count)?
        {
            return Ok(Some(range));
        }
    }
    Ok(None)
}

/// The range of all parts together, when part `c` of `0..count` ends where part `c + 1` begins.
///
/// With `lower = a + k * ((c * t + b) floordiv d)`, the beginnings move in one direction as `c`
/// grows. Forwards, the parts lie between the beginnings at 0 and at `count`; backwards, each part
/// ends at or before its beginning, so there are no iterations.
fn consecutive_parts(
    lower: &AffineExpr,
    upper: &AffineExpr,
    part: IterId,
    count: i64,
) -> Result<Option<(AffineExpr, AffineExpr)>, Overflow> {
    let begin_at = |position: &AffineExpr| replaced(lower, part, position);
    let next = AffineExpr::from(part).offset(1)?;
    if begin_at(&next)? != *upper || !is_monotone(lower, part) {
        return Ok(None);
    }
    let (least, beyond) = (
        begin_at(&0.into())?,
        exact_divisions(&begin_at(&count.into())?)?,
    );
    let closed = least.is_over_parameters() && beyond.is_over_parameters();
    Ok(closed.then_some((least, beyond)))
}

/// Whether `part` occurs in a single place: as one term, alone or times parameters, or inside one
/// division by a constant in that form. Such an expression never turns round as `part` grows.
fn is_monotone(expr: &AffineExpr, part: IterId) -> bool {
    let mentions = |factor: &Factor| match factor {
        Factor::Variable(variable) => *variable == Variable::Iter(part),
        Factor::FloorDiv(left, right) | Factor::Mod(left, right) => {
            left.mentions(Variable::Iter(part)) || right.mentions(Variable::Iter(part))
        }
    };
    let is_linear = |expr: &AffineExpr| {
        expr.terms().iter().all(|term| {
            let found: Vec<_> = term
                .factors
                .iter()
                .filter(|factor| mentions(factor))
                .collect();
            found.is_empty() || matches!(found.as_slice(), [Factor::Variable(_)])
        })
    };
    let with_part: Vec<_> = expr
        .terms()
        .iter()
        .filter(|term| term.factors.iter().any(mentions))
        .collect();
    match with_part.as_slice() {
        [term] => match term.factors.as_slice() {
            [Factor::FloorDiv(left, right)] => right.as_constant().is_some() && is_linear(left),
            _ => is_linear(expr),
        },
        _ => is_linear(expr),
    }
}

/// The expression with every `(d * x) floordiv d` replaced by `x`.
fn exact_divisions(expr: &AffineExpr) -> Result<AffineExpr, Overflow> {
    let mut sum = AffineExpr::from(expr.constant());
    for term in expr.terms() {
        let mut product = AffineExpr::from(term.coefficient);
        for factor in &term.factors {
            product = product.times(&exact_division(factor)?)?;
        }
        sum = sum.plus(&product)?;
    }
    Ok(sum)
}

fn exact_division(factor: &Factor) -> Result<AffineExpr, Overflow> {
    match factor {
        Factor::Variable(variable) => Ok((*variable).into()),
        Factor::FloorDiv(left, right) => {
            match right.as_constant().and_then(|by| quotient(left, by)) {
                Some(quotient) => Ok(quotient),
                None => left.floordiv(right),
            }
        }
        Factor::Mod(left, right) => left.modulo(right),
    }
}

pub(crate) fn quotient(expr: &AffineExpr, by: i64) -> Option<AffineExpr> {
    let divide = |value: i64| (value.checked_rem(by)? == 0).then(|| value / by);
    let mut sum = AffineExpr::from(divide(expr.constant())?);
    for term in expr.terms() {
        let mut product = AffineExpr::from(divide(term.coefficient)?);
        for factor in &term.factors {
            product = product.times(&exact_division(factor).ok()?).ok()?;
        }
        sum = sum.plus(&product).ok()?;
    }
    Some(sum)
}

/// Whether the value is at least 0 for all sizes: a sum of non-negative multiples of extents, which
/// no call has negative.
pub(crate) fn is_non_negative(kernel: &Kernel, expr: &AffineExpr) -> bool {
    let is_extent = |factor: &Factor| {
        let alone = match factor {
            Factor::Variable(variable) => AffineExpr::from(*variable),
            Factor::FloorDiv(..) | Factor::Mod(..) => return false,
        };
        let mut arrays = kernel.array_params().map(|array| &kernel.arrays[array]);
        arrays.any(|Array { extents, .. }| extents.contains(&alone))
    };
    let mut terms = expr.terms().iter();
    expr.constant() >= 0
        && terms.all(|term| term.coefficient > 0 && term.factors.iter().all(is_extent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::kernel;
    use strew_affine::visit;

    /// Whether the first read of `x` in the loops `loops` is shown to be in range.
    fn reads_in_range(loops: &str, subscript: &str) -> bool {
        let braces = "}".repeat(loops.matches("for").count());
        let kernel = kernel(&format!(
            "kernel @k(n: i64, d: i64, m: i64, x: f64[n, d], y: f64[1]) {{
               {loops} y[0] = x[{subscript}] {braces}
             }}"
        ));
        let sites = visit::accesses(&kernel);
        sites
            .first()
            .is_some_and(|site| is_in_range(&kernel, &site.loops, site.access))
    }

    const ROWS: &str = "affine.for i in 0..n {";
    const CELLS: &str = "affine.for i in 0..n { affine.for j in 0..d {";

    #[test]
    fn what_runs_over_an_extent_is_in_range() {
        assert!(reads_in_range(CELLS, "i, j"));
        assert!(reads_in_range(CELLS, "n - 1 - i, d - j - 1"));
        assert!(reads_in_range(
            "affine.for i in 1..n { affine.for j in 0..d - 1 {",
            "i - 1, j + 1"
        ));
        assert!(reads_in_range(
            "affine.for i in 0..n step 3 { scf.forall j in 0..d {",
            "i, j"
        ));
    }

    #[test]
    fn so_is_what_runs_over_the_parts_of_one() {
        let part =
            "scf.forall c in 0..8 { affine.for i in (c * n) floordiv 8..(c * n + n) floordiv 8 {";
        assert!(reads_in_range(
            &format!("{part} affine.for j in 0..d {{"),
            "i, j"
        ));
        let stepped = "scf.forall c in 0..4 { affine.for i in c * (n - 1) floordiv 4..(c + 1) * (n - 1) floordiv 4 {";
        assert!(reads_in_range(
            &format!("{stepped} affine.for j in 0..d {{"),
            "i + 1, j"
        ));
        let beyond = part.replace("0..8 {", "0..9 {");
        assert!(!reads_in_range(
            &format!("{beyond} affine.for j in 0..d {{"),
            "i, j"
        ));
        let gaps = part.replace("+ n)", "+ 2 * n)");
        assert!(!reads_in_range(
            &format!("{gaps} affine.for j in 0..d {{"),
            "i, j"
        ));
    }

    #[test]
    fn what_may_leave_is_not() {
        assert!(!reads_in_range(CELLS, "i + 1, j"));
        assert!(!reads_in_range(CELLS, "i - 1, j"));
        assert!(!reads_in_range(CELLS, "j, i"));
        assert!(!reads_in_range(ROWS, "i, 0"));
        assert!(!reads_in_range(
            "affine.for i in 0..m { affine.for j in 0..d {",
            "i, j"
        ));
        assert!(!reads_in_range(
            "affine.for i in m..n { affine.for j in 0..d {",
            "i, j"
        ));
        assert!(!reads_in_range(
            "scf.for i in 0..n { affine.for j in 0..d {",
            "i, j"
        ));
    }
}
