//! Whether all affine subscripts of a kernel are in range with the sizes of a call, and those that are clamped, so that code without checks
//! of them is safe.

use crate::facts::{Checks, Facts, extents, for_each_affine, has_known_domain};
use strew_affine::bounds::{Around, numeric_range, numeric_range_inside, numeric_range_where};
use strew_affine::visit::{AccessSite, Loop, accesses};
use strew_affine::{AffineExpr, ArrayId, Factor, Kernel, ScalarId, Subscript};

/// Which code is safe: the one without checks of affine expressions when nothing in them leaves 64 bits and all subscripts are in
/// range with these sizes.
pub(crate) fn checks_for(
    kernel: &Kernel,
    facts: &Facts,
    value_of: &impl Fn(ScalarId) -> i64,
) -> Checks {
    let mut proved = true;
    for_each_affine(kernel, &mut |expr, loops| {
        proved = proved && is_exact(expr, loops, value_of);
    });
    let are_within = |site: &AccessSite<'_>| {
        let extents = extents(kernel, site.access.array, value_of).unwrap_or_default();
        let mut pairs = site.access.subscripts.iter().zip(extents);
        pairs.all(|(subscript, extent)| match subscript {
            Subscript::Affine(expr) if has_known_domain(expr, &site.loops) => {
                let is_within = |range: Option<(i64, i64)>| {
                    range.is_some_and(|(least, greatest)| least >= 0 && greatest < extent)
                };
                is_within(range(expr, &site.loops, value_of))
                    || is_within(range_there(kernel, expr, site, value_of))
                    || is_within(range_inside(expr, &site.loops, value_of))
            }
            _ => true,
        })
    };
    let has_element = |(array, dimension): &(ArrayId, usize)| {
        let extents = extents(kernel, *array, value_of).unwrap_or_default();
        extents.get(*dimension).is_some_and(|it| *it > 0)
    };
    let clamped = facts.stays().clamped();
    if proved
        && clamped.dimensions().iter().all(has_element)
        && accesses(kernel).iter().all(are_within)
    {
        Checks::Computed
    } else {
        Checks::All
    }
}

/// Whether plain instructions compute `expr`: all divisors in it are positive, and where its domain is known, neither its value nor
/// a numerator in it leaves 64 bits. Only those need to be exact: sums and products that wrap on the way come out right.
fn is_exact(expr: &AffineExpr, loops: &[Loop<'_>], value_of: &impl Fn(ScalarId) -> i64) -> bool {
    let factors = expr.terms().iter().flat_map(|term| &term.factors);
    let mut divisions = factors.filter_map(|factor| match factor {
        Factor::Variable(_) => None,
        Factor::FloorDiv(left, right) | Factor::Mod(left, right) => Some((left, right)),
    });
    let is_divisor = |expr: &AffineExpr| {
        // The divisors of a verified kernel speak of parameters alone.
        is_exact(expr, &[], value_of)
            && range(expr, &[], value_of).is_some_and(|(least, _)| least > 0)
    };
    divisions.all(|(left, right)| is_exact(left, loops, value_of) && is_divisor(right))
        && (!has_known_domain(expr, loops) || range(expr, loops, value_of).is_some())
}

/// The range of `expr` at `site`, with the conditions around it.
fn range_there(
    kernel: &Kernel,
    expr: &AffineExpr,
    site: &AccessSite<'_>,
    value_of: &impl Fn(ScalarId) -> i64,
) -> Option<(i64, i64)> {
    let around = Around::of(&kernel.body, site.node?)?;
    let has_conditions = around.iter().any(|it| matches!(it, Around::Conditions(_)));
    if !has_conditions {
        return None;
    }
    let range = numeric_range_where(expr, &around, &|scalar| value_of(scalar));
    range.ok().flatten()
}

/// The range of `expr` where the innermost loop runs that it speaks of. A load may be moved out of loops inside of that one, but not out of it.
fn range_inside(
    expr: &AffineExpr,
    loops: &[Loop<'_>],
    value_of: &impl Fn(ScalarId) -> i64,
) -> Option<(i64, i64)> {
    let range = numeric_range_inside(expr, loops, &|scalar| value_of(scalar));
    range.ok().flatten()
}

/// The range of `expr`, if it is known and in the part of 64 bits in which sums of a few such values cannot overflow.
fn range(
    expr: &AffineExpr,
    loops: &[Loop<'_>],
    value_of: &impl Fn(ScalarId) -> i64,
) -> Option<(i64, i64)> {
    const LIMIT: i64 = 1 << 62;
    let known = expr.as_constant();
    let range = match known {
        Some(value) => Some((value, value)),
        None => numeric_range(expr, loops, &|scalar| value_of(scalar))
            .ok()
            .flatten(),
    };
    let (least, greatest) = range?;
    (least >= -LIMIT && greatest <= LIMIT).then_some((least, greatest))
}
