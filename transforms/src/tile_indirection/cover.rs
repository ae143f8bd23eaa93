//! Assignments that fill an array: every cell exactly once.

use strew_affine::visit::{AccessKind, AccessSite};
use strew_affine::{AffineExpr, AffineFor, Kernel, Node, Overflow, Place, Subscript};

/// Whether `sites`, all accesses of one array in the body of `target`, are a single assignment that
/// stands directly in the body and hits each cell of the array exactly once.
pub(super) fn fills_array(kernel: &Kernel, target: &AffineFor, sites: &[&AccessSite<'_>]) -> bool {
    let [site] = sites else {
        return false;
    };
    let writes_it = |node: &Node| matches!(node, Node::Assign { place: Place::Element(access), .. } if access == site.access);
    let [Subscript::Affine(subscript)] = site.access.subscripts.as_slice() else {
        return false;
    };
    let [extent] = kernel.arrays[site.access.array].extents.as_slice() else {
        return false;
    };
    site.kind == AccessKind::Write
        && target.body.iter().any(writes_it)
        && spans(target, subscript, extent).unwrap_or(false)
}

/// Whether `subscript` runs through exactly `0..extent` as `target` runs: it is `i + c` or
/// `-i + c`, steps are of one, and the first and last values are the array's ends. (No extent is
/// negative, so the loop runs `extent` times.)
pub(crate) fn spans(
    target: &AffineFor,
    subscript: &AffineExpr,
    extent: &AffineExpr,
) -> Result<bool, Overflow> {
    let (Some(lower), Some(upper)) = (target.lower.as_single(), target.upper.as_single()) else {
        return Ok(false);
    };
    let Some((coefficient, rest)) = subscript.split_off(target.iter) else {
        return Ok(false);
    };
    let (least, beyond) = match coefficient {
        1 => (lower.plus(&rest)?, upper.plus(&rest)?),
        -1 => (rest.minus(upper)?.offset(1)?, rest.minus(lower)?.offset(1)?),
        _ => return Ok(false),
    };
    Ok(target.step == 1 && least.as_constant() == Some(0) && beyond == *extent)
}
