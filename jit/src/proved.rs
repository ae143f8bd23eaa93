//! Whether all affine subscripts of a kernel are in range with the sizes of a call, and those that
//! are clamped, so that code without checks of them is safe.

use crate::facts::{Checks, Facts, extents, for_each_affine, has_known_domain};
use std::collections::HashMap;
use strew_affine::bounds::{Around, numeric_range, numeric_range_inside, numeric_range_where};
use strew_affine::visit::{AccessSite, Loop, accesses};
use strew_affine::{AffineExpr, ArrayId, Factor, IterId, Kernel, ScalarId, Subscript};

/// Which code is safe: the one without checks of affine expressions when nothing in them leaves 64
/// bits and all subscripts are in range with these sizes.
pub(crate) fn checks_for(
    kernel: &Kernel,
    facts: &Facts,
    value_of: &impl Fn(ScalarId) -> i64,
) -> Checks {
    let mut proved = true;
    let mut ranges = Ranges {
        value_of,
        known: HashMap::new(),
    };
    for_each_affine(kernel, &mut |expr, loops| {
        proved = proved && ranges.is_exact(expr, loops);
    });
    let mut are_within = |site: &AccessSite<'_>| {
        let extents = extents(kernel, site.access.array, value_of).unwrap_or_default();
        let mut pairs = site.access.subscripts.iter().zip(extents);
        pairs.all(|(subscript, extent)| match subscript {
            Subscript::Affine(expr) if has_known_domain(expr, &site.loops) => {
                let is_within = |range: Option<(i64, i64)>| {
                    range.is_some_and(|(least, greatest)| least >= 0 && greatest < extent)
                };
                is_within(ranges.range(expr, &site.loops))
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
        && accesses(kernel).iter().all(&mut are_within)
    {
        Checks::Computed
    } else {
        Checks::All
    }
}

/// The ranges of affine expressions with the sizes of a call.
struct Ranges<'v, V> {
    value_of: &'v V,
    /// By the loops around and what is added to a constant: subscripts of neighbours differ by
    /// nothing else.
    known: HashMap<(Vec<IterId>, AffineExpr), Known>,
}

/// The least and the greatest value, if they are known.
type Known = Option<(i64, i64)>;

impl<V: Fn(ScalarId) -> i64> Ranges<'_, V> {
    /// Whether plain instructions compute `expr`: all divisors in it are positive, and where its
    /// domain is known, neither its value nor a numerator in it leaves 64 bits. Only those need to
    /// be exact: sums and products that wrap on the way come out right.
    fn is_exact(&mut self, expr: &AffineExpr, loops: &[Loop<'_>]) -> bool {
        let factors = expr.terms().iter().flat_map(|term| &term.factors);
        let mut divisions = factors.filter_map(|factor| match factor {
            Factor::Variable(_) => None,
            Factor::FloorDiv(left, right) | Factor::Mod(left, right) => Some((left, right)),
        });
        divisions.all(|(left, right)| self.is_exact(left, loops) && self.is_divisor(right))
            && (!has_known_domain(expr, loops) || self.range(expr, loops).is_some())
    }

    /// The divisors of a verified kernel speak of parameters alone.
    fn is_divisor(&mut self, expr: &AffineExpr) -> bool {
        self.is_exact(expr, &[]) && self.range(expr, &[]).is_some_and(|(least, _)| least > 0)
    }

    /// The range of `expr`, if it is known and in the part of 64 bits in which sums of a few such
    /// values cannot overflow.
    fn range(&mut self, expr: &AffineExpr, loops: &[Loop<'_>]) -> Known {
        const LIMIT: i64 = 1 << 62;
        let constant = expr.constant();
        let moving = expr.minus(&constant.into()).ok()?;
        let (least, greatest) = match moving.as_constant() {
            Some(value) => (value, value),
            None => {
                let value_of = self.value_of;
                let iters = loops.iter().map(|it| it.iter()).collect();
                *self
                    .known
                    .entry((iters, moving))
                    .or_insert_with_key(|(_, moving)| {
                        let range = numeric_range(moving, loops, &|scalar| value_of(scalar));
                        range.ok().flatten()
                    })
            }?,
        };
        if least > greatest {
            // There is no iteration, whatever is added.
            return Some((least, greatest));
        }
        let least = least.checked_add(constant)?;
        let greatest = greatest.checked_add(constant)?;
        (least >= -LIMIT && greatest <= LIMIT).then_some((least, greatest))
    }
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

/// The range of `expr` where the innermost loop runs that it speaks of. A load may be moved out of
/// loops inside of that one, but not out of it.
fn range_inside(
    expr: &AffineExpr,
    loops: &[Loop<'_>],
    value_of: &impl Fn(ScalarId) -> i64,
) -> Option<(i64, i64)> {
    let range = numeric_range_inside(expr, loops, &|scalar| value_of(scalar));
    range.ok().flatten()
}
