//! Which elements of an array a call may write: what is copied before it, where it has to be put
//! back after a fault.

use crate::facts::extents;
use std::ops::Range;
use strew_affine::bounds::numeric_range;
use strew_affine::visit::{AccessKind, AccessSite, accesses, walk};
use strew_affine::{ArrayId, Kernel, Node, ScalarId, Subscript};

/// The elements of `array`, numbered row by row, from the first that some iteration may write with
/// these sizes to behind the last: the ranges of the maps of its accesses, and whole dimensions
/// where elements are found through data. `None` when it may be any of them.
pub(crate) fn written_elements(
    kernel: &Kernel,
    array: ArrayId,
    value_of: &impl Fn(ScalarId) -> i64,
) -> Option<Range<usize>> {
    // A merge goes through all elements of its target.
    let mut is_merged = false;
    walk(&kernel.body, &mut |node, _| {
        if let Node::Forall(forall) = node {
            is_merged |= forall.buffers().any(|(_, target)| target == array);
        }
    });
    if is_merged {
        return None;
    }
    let extents = extents(kernel, array, value_of).ok()?;
    let mut written: Option<Range<i64>> = None;
    let sites = accesses(kernel).into_iter();
    for site in sites.filter(|it| it.access.array == array && it.kind != AccessKind::Read) {
        let range = elements_of(&site, &extents, value_of)?;
        written = Some(match written {
            Some(seen) if range.is_empty() => seen,
            Some(seen) if !seen.is_empty() => seen.start.min(range.start)..seen.end.max(range.end),
            _ => range,
        });
    }
    let written = written.unwrap_or(0..0);
    Some(usize::try_from(written.start).ok()?..usize::try_from(written.end).ok()?)
}

fn elements_of(
    site: &AccessSite<'_>,
    extents: &[i64],
    value_of: &impl Fn(ScalarId) -> i64,
) -> Option<Range<i64>> {
    let (mut first, mut last) = (0_i64, 0_i64);
    for (subscript, extent) in site.access.subscripts.iter().zip(extents) {
        let (least, greatest) = match subscript {
            Subscript::Affine(expr) => {
                let range = numeric_range(expr, &site.loops, &|it| value_of(it));
                range.ok().flatten().unwrap_or((0, i64::MAX))
            }
            Subscript::Computed(_) => (0, i64::MAX),
        };
        // What is out of range is not written.
        let (least, greatest) = (least.max(0), greatest.min(extent - 1));
        if least > greatest {
            return Some(0..0);
        }
        first = first.checked_mul(*extent)?.checked_add(least)?;
        last = last.checked_mul(*extent)?.checked_add(greatest)?;
    }
    Some(first..last.checked_add(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use strew_affine::text;

    #[track_caller]
    fn written(body: &str, expected: Option<Range<usize>>) {
        let source = format!(
            "kernel @k(n: i64, b: i64, y: f64[100], z: f64[100, 20], key: i32[n]) {{ {body} }}"
        );
        let kernel = text::parse(&source).expect("a kernel").remove(0);
        let sites = accesses(&kernel);
        let site = sites.iter().rfind(|it| it.kind != AccessKind::Read);
        let array = match kernel.body.first() {
            Some(Node::Forall(forall)) => forall.buffers().map(|(_, target)| target).next(),
            _ => site.map(|it| it.access.array),
        };
        let value_of = |scalar: ScalarId| match kernel.scalars[scalar].name.as_str() {
            "n" => 16,
            _ => 5,
        };
        let found = written_elements(&kernel, array.expect("an array"), &value_of);
        assert_eq!(found, expected, "{body}");
    }

    #[test]
    fn ranges_are_those_of_the_maps() {
        let over = |body: &str| format!("affine.for i in 0..n {{ {body} }}");
        for (body, expected) in [
            ("y[i + b] = 1.0", 5..21),
            ("y[i floordiv 8] = 1.0", 0..2),
            ("y[i * 3 - 6] = 1.0", 0..40),
            ("y[i + 90] = 1.0", 90..100),
            ("y[i + 100] = 1.0", 0..0),
            ("y[b] = 1.0 \n y[40] = 2.0", 5..41),
            ("y[i + 200] = 1.0 \n y[b] = 1.0", 5..6),
            ("y[i32(key[i])] = 1.0", 0..100),
            ("z[i + b, 3] = 1.0", 103..404),
            ("z[i + b, i32(key[i])] = 1.0", 100..420),
        ] {
            written(&over(body), Some(expected));
        }
        written("affine.for i in n..n { y[i] = 1.0 }", Some(0..0));
        written(
            "affine.for i in 0..n { affine.for j in 0..i + 1 { y[i - j] = 1.0 } }",
            Some(0..16),
        );
    }

    #[test]
    fn what_is_merged_into_may_change_anywhere() {
        written(
            "scf.forall c in 0..2 private(p: f64[100] = identity(add)) merge(y reduce(add) p) strategy(auto) {
               p[c] reduce(add) 1.0
             }
             affine.for i in 0..n { y[i] = 0.0 }",
            None,
        );
    }
}
