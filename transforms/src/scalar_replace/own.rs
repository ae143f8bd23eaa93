//! Local arrays that are used at constant places alone: each of their elements becomes a scalar.

use super::use_locals;
use crate::tree::scalar_for;
use std::collections::BTreeMap;
use strew_affine::visit::{self, walk};
use strew_affine::{Access, ArrayId, Block, Expr, Forall, Kernel, LocalId, Node, Subscript, Value};

/// Places in an array, each with an access to it.
type Places<'k> = BTreeMap<Vec<i64>, &'k Access>;

/// The places that `kernel` uses in `array`, if iterations of a loop each have one of their own and
/// all of these places are there.
pub(super) fn places(kernel: &Kernel, array: ArrayId) -> Option<Places<'_>> {
    if !is_of_iterations(kernel, array) {
        return None;
    }
    let sites = visit::accesses(kernel).into_iter();
    let used = sites.map(|it| it.access).filter(|it| it.array == array);
    let places = used.map(|access| Some((place(kernel, access)?, access)));
    let places: Places<'_> = places.collect::<Option<_>>()?;
    (!places.is_empty()).then_some(places)
}

/// Whether `array` is made in a loop, and no forall inside of that has to do with it: scalars
/// belong to one thread.
fn is_of_iterations(kernel: &Kernel, array: ArrayId) -> bool {
    let (mut is_made, mut is_shared) = (false, false);
    walk(&kernel.body, &mut |node, around| {
        is_made |= matches!(node, Node::Alloc { array: it } if *it == array) && !around.is_empty();
        if let Node::Forall(forall) = node {
            let makes = visit::allocated_arrays(&forall.body).contains(&array);
            is_shared |= !makes && touches(forall, array);
        }
    });
    is_made && !is_shared
}

fn touches(forall: &Forall, array: ArrayId) -> bool {
    let mut touches = forall.disjoint.iter().any(|it| it.target == array)
        || forall.privates.iter().any(|it| it.targets.contains(&array));
    walk(&forall.body, &mut |node, _| {
        visit::for_each_load_of(node, &mut |it| touches |= it.array == array);
        touches |= node.written_elements().any(|it| it.array == array);
    });
    touches
}

/// The subscripts of `access`, where they are numbers and its element is there.
pub(super) fn place(kernel: &Kernel, access: &Access) -> Option<Vec<i64>> {
    let extents = kernel.arrays[access.array].extents.iter();
    let both = access.subscripts.iter().zip(extents);
    let place = both.map(|(subscript, extent)| match subscript {
        Subscript::Affine(expr) => {
            let at = expr.as_constant()?;
            (0..extent.as_constant()?).contains(&at).then_some(at)
        }
        Subscript::Computed(_) => None,
    });
    place.collect()
}

/// Lets `kernel` have a scalar for each of `places` in `array`.
pub(super) fn rewrite(kernel: &mut Kernel, array: ArrayId, places: &Places<'_>) {
    let mut scalars: Vec<(&Access, LocalId)> = Vec::new();
    for (place, access) in places {
        let numbers: Vec<_> = place.iter().map(i64::to_string).collect();
        let mut local = scalar_for(kernel, access, numbers.join("_"));
        local.mutable = true;
        scalars.push((access, kernel.locals.alloc(local)));
    }
    let zero = Value::zero(kernel.arrays[array].element);
    let declared = scalars.iter().map(|(_, local)| Node::Declare {
        local: *local,
        value: Expr::Constant(zero),
    });
    let declared: Vec<_> = declared.collect();
    declare(&mut kernel.body, array, &declared);
    use_locals(&mut kernel.body, &|access| {
        let mut known = scalars.iter();
        known
            .find(|(it, _)| it.is_same(access))
            .map(|(_, local)| *local)
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
            "scf.forall q in 0..3 strategy(auto) { t[0] = x[i] }",
        ] {
            let source = format!(
                "kernel @k(n: i64, x: f64[n], y: f64[n]) {{ affine.for i in 0..n {{ alloc t: f64[2] {body} }} }}"
            );
            let request = "scalar_replace(t)";
            refuses(&source, request, Misaddressed, "NothingToReplace");
        }
    }
}
