//! Local arrays that hold numbers, as tables of coefficients do: what is read of them at constant
//! places is these.

use super::own::place;
use crate::simplify::simplify;
use crate::tree::for_each_expr_mut;
use std::collections::BTreeMap;
use strew_affine::visit::{self, AccessKind};
use strew_affine::{ArrayId, Block, Expr, Kernel, Node, Place, Value};

/// What the elements of a table are, by their places; zero at all others.
pub(super) type Numbers = BTreeMap<Vec<i64>, Value>;

/// Those of `array`, if it is made and filled with numbers before all else, each element once at
/// most, and something reads it at a constant place.
pub(super) fn numbers(kernel: &Kernel, array: ArrayId) -> Option<Numbers> {
    let mut nodes = kernel.body.iter();
    nodes.find(|it| matches!(it, Node::Alloc { array: it } if *it == array))?;
    let mut numbers = Numbers::new();
    for node in nodes {
        let Node::Assign {
            place: Place::Element(access),
            value,
            ..
        } = node
        else {
            break;
        };
        let mut is_read = false;
        visit::for_each_load_of(node, &mut |it| is_read |= it.array == array);
        if is_read {
            break;
        }
        if access.array == array {
            let Expr::Constant(value) = value else {
                return None;
            };
            let is_new = numbers.insert(place(kernel, access)?, *value).is_none();
            is_new.then_some(())?;
        }
    }
    let mut sites = visit::accesses(kernel);
    sites.retain(|it| it.access.array == array);
    let written = sites.iter().filter(|it| it.kind != AccessKind::Read);
    let is_filled = written.count() == numbers.len();
    let mut read = sites.iter().filter(|it| it.kind == AccessKind::Read);
    let is_read = read.any(|it| place(kernel, it.access).is_some() && !it.loops.is_empty());
    (is_filled && is_read).then_some(numbers)
}

/// Whether `array` holds numbers, all of which are read at constant places.
pub(crate) fn is_table(kernel: &Kernel, array: ArrayId) -> bool {
    let mut sites = visit::accesses(kernel);
    sites.retain(|it| it.access.array == array);
    let all_are_known = (sites.iter()).all(|it| place(kernel, it.access).is_some());
    all_are_known && numbers(kernel, array).is_some()
}

/// Lets `kernel` have `numbers` where it reads them in `array`, which goes away where nothing else
/// reads it.
pub(super) fn rewrite(kernel: &mut Kernel, array: ArrayId, numbers: &Numbers) {
    let zero = Value::zero(kernel.arrays[array].element);
    let declared = kernel.clone();
    for_each_expr_mut(&mut kernel.body, &mut |expr| {
        if let Expr::Load(access) = expr
            && access.array == array
            && let Some(place) = place(&declared, access)
        {
            let number = numbers.get(&place).copied().unwrap_or(zero);
            *expr = Expr::Constant(number);
        }
        simplify(expr);
    });
    drop_idle(&mut kernel.body);
    let sites = visit::accesses(kernel);
    let mut sites = sites.iter().filter(|it| it.access.array == array);
    if sites.all(|it| it.kind != AccessKind::Read) {
        kernel.body.retain(|node| match node {
            Node::Alloc { array: it } => *it != array,
            _ => node.written_elements().all(|it| it.array != array),
        });
    }
}

/// Leaves out what adds nothing to a scalar.
fn drop_idle(body: &mut Block) {
    body.retain(|node| match node {
        Node::Reduce {
            places,
            combiner,
            values,
            ..
        } => {
            let is_scalar = places.iter().all(|it| it.local().is_some());
            let is_zero = |it: &Expr| it.as_integer() == Some(0);
            !(is_scalar && combiner.name() == "add" && values.iter().all(is_zero))
        }
        _ => true,
    });
    for block in body.iter_mut().flat_map(Node::blocks_mut) {
        drop_idle(block);
    }
}

#[cfg(test)]
mod tests {
    use crate::ScalarReplace;
    use crate::step::Transform;
    use crate::test_support::{accepts, apply, assert_same_meaning, kernel};

    #[test]
    fn coefficients_become_numbers() {
        accepts(
            "kernel @k(n: i64, x: i32[n], y: i32[n]) {
  alloc w: i32[2, 2]
  w[0, 0] = -3
  w[1, 1] = 1
  affine.for i in 0..n {
    var s: i32 = 0
    s reduce(add) w[0, 0] * x[i]
    s reduce(add) w[0, 1] * s
    y[i] = s * w[1, 1]
  }
}",
            "scalar_replace(w)",
            "kernel @k(n: i64, x: i32[n], y: i32[n]) {
  affine.for i in 0..n {
    var s: i32 = 0
    s reduce(add) -3 * x[i]
    y[i] = s
  }
}",
        );
    }

    /// A read that fails does so where nothing is made of it, too, and of floats a zero has a sign.
    #[test]
    fn what_could_be_noticed_stays() {
        let source = |ty: &str, inside: &str| {
            kernel(&format!(
                "kernel @k(n: i64, key: i32[n], x: {ty}[n], y: {ty}[n]) {{
                   alloc w: {ty}[3] w[1] = {ty}(2)
                   affine.for i in 0..n {{ {inside} }}
                 }}"
            ))
        };
        for (ty, inside, kept) in [
            ("i32", "y[i] = w[0] * x[key[i]]", "0 * x[key[i]]"),
            ("i32", "y[i] = w[0] * (x[i] / x[0])", "0 * (x[i] / x[0])"),
            ("f64", "y[i] = w[0] * x[i] + w[1]", "0.0 * x[i] + 2.0"),
            (
                "i32",
                "y[key[i]] reduce(add) w[0]",
                "y[key[i]] reduce(add) 0",
            ),
            ("i32", "y[i] = w[0] + w[key[i]]", "w[key[i]]"),
        ] {
            let before = source(ty, inside);
            let after = apply(&before, "scalar_replace(w)");
            assert!(after.to_string().contains(kept), "{after}");
            assert_same_meaning(&before, &after);
        }
    }

    #[test]
    fn others_stay() {
        for (filled, used) in [
            ("w[0] = x[0]", "y[i] = w[0]"),
            ("w[0] = 1.0 y[0] = w[1] w[1] = 2.0", "y[i] = w[1]"),
            ("w[0] = 1.0 w[0] = 2.0", "y[i] = w[0]"),
            ("w[0] = 1.0", "y[i] = w[0] w[1] = 2.0"),
            ("w[0] = 1.0", "y[i] = w[i mod 2]"),
        ] {
            let before = kernel(&format!(
                "kernel @k(n: i64, x: f64[n], y: f64[n]) {{ alloc w: f64[2] {filled} affine.for i in 0..n {{ {used} }} }}"
            ));
            // It may stay in a scalar while the loop runs.
            if let Ok(after) = ScalarReplace::new("w").apply(&before) {
                assert!(after.to_string().contains("alloc w"), "{after}");
            }
        }
    }
}
