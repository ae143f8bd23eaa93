//! Accesses that are kept apart: no two iterations of a loop meet in a cell through them.

use crate::affine_parts::split;
use strew_affine::visit::{AccessKind, AccessSite, Loop};
use strew_affine::{Access, AffineExpr, AffineFor, IterId, Subscript, Variable};

/// Two of `sites`, accesses of one array in the body of `target`, one of them at least a write, that are not shown to be kept
/// apart: they may touch the same cell in different iterations of `target`, everything around it being equal.
pub(super) fn meeting_pair<'s, 'k>(
    sites: &[&'s AccessSite<'k>],
    target: &AffineFor,
    around: &[Loop<'_>],
) -> Option<(&'s AccessSite<'k>, &'s AccessSite<'k>)> {
    let outer: Vec<IterId> = around.iter().map(|it| it.iter()).collect();
    let writes = |site: &AccessSite<'_>| site.kind != AccessKind::Read;
    sites.iter().enumerate().find_map(|(position, first)| {
        let mut rest = sites[position..].iter();
        let second = rest.find(|second| {
            (writes(first) || writes(second))
                && !are_apart(first.access, second.access, target, &outer)
        })?;
        Some((*first, *second))
    })
}

/// Whether some dimension tells the iterations of the two accesses apart.
fn are_apart(first: &Access, second: &Access, target: &AffineFor, outer: &[IterId]) -> bool {
    let mut dimensions = first.subscripts.iter().zip(&second.subscripts);
    dimensions.any(|pair| match pair {
        (Subscript::Affine(first), Subscript::Affine(second)) => {
            differs_between_iterations(first, second, target, outer).unwrap_or(false)
        }
        _ => false,
    })
}

/// Whether `first` at one iteration never equals `second` at another.
///
/// With `first = a * i + r` and `second = a * i + r + d`, both `r` fixed while `target` runs, they are equal at iterations that
/// lie `k` steps apart exactly if `a * step * k = d` up to sign: never for a `k` other than 0 when `d` is 0 or no multiple of
/// `a * step`.
fn differs_between_iterations(
    first: &AffineExpr,
    second: &AffineExpr,
    target: &AffineFor,
    outer: &[IterId],
) -> Option<bool> {
    let (coefficient, first) = split(first, target.iter)?;
    let (other, second) = split(second, target.iter)?;
    if coefficient == 0
        || coefficient != other
        || !is_fixed(&first, outer)
        || !is_fixed(&second, outer)
    {
        return None;
    }
    let distance = second.minus(&first).ok()?.as_constant()?;
    let stride = i128::from(coefficient) * i128::from(target.step);
    Some(distance == 0 || i128::from(distance) % stride != 0)
}

fn is_fixed(expr: &AffineExpr, outer: &[IterId]) -> bool {
    let mut fixed = true;
    expr.for_each_variable(&mut |variable| {
        fixed &= match variable {
            Variable::Param(_) => true,
            Variable::Iter(iter) => outer.contains(&iter),
        };
    });
    fixed
}
