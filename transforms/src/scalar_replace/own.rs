//! Local arrays that are used at constant places alone: each of their elements becomes a scalar.

use super::use_locals;
use crate::tree::scalar_for;
use std::collections::BTreeMap;
use strew_affine::visit::{self, walk};
use strew_affine::{Access, ArrayId, Block, Expr, Kernel, LocalId, Node, Subscript, Value};

/// More elements than this are no scalars.
const MOST_ELEMENTS: u64 = 64;

/// The scalars that elements become.
type Scalars = BTreeMap<Vec<i64>, LocalId>;

/// The places that `kernel` uses in `array`, if iterations of a loop each have one of their own, and these are all places there are.
pub(super) fn places(kernel: &Kernel, array: ArrayId) -> Option<Vec<&Access>> {
    let mut is_own = false;
    walk(&kernel.body, &mut |node, around| {
        is_own |= matches!(node, Node::Alloc { array: it } if *it == array) && !around.is_empty();
    });
    let elements = kernel.arrays[array].known_elements();
    let sites = visit::accesses(kernel).into_iter();
    let used = sites.map(|it| it.access).filter(|it| it.array == array);
    let used: Vec<_> = used.collect();
    let is_there = |it: &&Access| place(it).is_some_and(|place| is_inside(kernel, array, &place));
    let may = is_own && elements.is_some_and(|it| it <= MOST_ELEMENTS) && used.iter().all(is_there);
    may.then_some(used)
}

/// Its subscripts, where they are numbers.
fn place(access: &Access) -> Option<Vec<i64>> {
    let subscripts = access.subscripts.iter().map(|it| match it {
        Subscript::Affine(expr) => expr.as_constant(),
        Subscript::Computed(_) => None,
    });
    subscripts.collect()
}

fn is_inside(kernel: &Kernel, array: ArrayId, place: &[i64]) -> bool {
    let extents = kernel.arrays[array].extents.iter();
    let mut both = place.iter().zip(extents);
    both.all(|(at, extent)| extent.as_constant().is_some_and(|it| (0..it).contains(at)))
}

/// Lets `kernel` have a scalar for each of these places in `array`.
pub(super) fn rewrite(kernel: &mut Kernel, array: ArrayId, places: &[&Access]) {
    let mut scalars = Scalars::new();
    for access in places {
        let Some(place) = place(access).filter(|it| !scalars.contains_key(it)) else {
            continue;
        };
        let numbers: Vec<_> = place.iter().map(i64::to_string).collect();
        let mut local = scalar_for(kernel, access, numbers.join("_"));
        local.mutable = true;
        scalars.insert(place, kernel.locals.alloc(local));
    }
    let zero = Value::zero(kernel.arrays[array].element);
    let declared = scalars.values().map(|it| Node::Declare {
        local: *it,
        value: Expr::Constant(zero),
    });
    let declared: Vec<_> = declared.collect();
    declare(&mut kernel.body, array, &declared);
    use_locals(&mut kernel.body, &|access| {
        let place = (access.array == array).then(|| place(access))??;
        scalars.get(&place).copied()
    });
}

/// Puts `declared` where `array` is made.
fn declare(body: &mut Block, array: ArrayId, declared: &[Node]) {
    let is_made = |it: &Node| matches!(it, Node::Alloc { array: it } if *it == array);
    if let Some(position) = body.iter().position(is_made) {
        body.splice(position..=position, declared.iter().cloned());
    }
    for block in body.iter_mut().flat_map(Node::blocks_mut) {
        declare(block, array, declared);
    }
}

#[cfg(test)]
mod tests {
    use crate::Verdict::Misaddressed;
    use crate::test_support::{accepts, apply, assert_same_results, kernel, refuses};

    #[test]
    fn elements_at_constant_places_become_scalars() {
        accepts(
            "kernel @k(n: i64, x: f64[n, 2], y: f64[n]) {
  affine.for i in 0..n {
    alloc t: f64[2, 2]
    t[0, 1] = x[i, 0]
    t[1, 0] reduce(add) x[i, 1] * t[0, 1]
    y[i] = t[1, 0] + t[0, 1]
  }
}",
            "scalar_replace(t)",
            "kernel @k(n: i64, x: f64[n, 2], y: f64[n]) {
  affine.for i in 0..n {
    var t_0_1: f64 = 0.0
    var t_1_0: f64 = 0.0
    t_0_1 = x[i, 0]
    t_1_0 reduce(add) x[i, 1] * t_0_1
    y[i] = t_1_0 + t_0_1
  }
}",
        );
    }

    #[test]
    fn they_are_zero_in_each_iteration() {
        let before = kernel(
            "kernel @k(n: i64, m: i64, x: f64[n], y: f64[n]) {
               affine.for i in 0..n {
                 alloc t: f64[3]
                 affine.for j in 0..m { t[0] reduce(add) x[i] t[2] = t[0] * 2.0 }
                 y[i] = t[0] + t[1] + t[2]
               }
             }",
        );
        let after = apply(&before, "scalar_replace(t)");
        assert!(!after.to_string().contains("alloc"), "{after}");
        assert_same_results(&before, &after);
    }

    #[test]
    fn others_stay() {
        for body in [
            "t[i mod 2] = x[i] y[i] = t[0]",
            "t[2] = x[i] y[i] = t[0]",
            "t[i64(x[i])] = x[i] y[i] = t[0]",
        ] {
            let source = format!(
                "kernel @k(n: i64, x: f64[n], y: f64[n]) {{ affine.for i in 0..n {{ alloc t: f64[2] {body} }} }}"
            );
            let request = "scalar_replace(t)";
            refuses(&source, request, Misaddressed, "NothingToReplace");
        }
    }
}
