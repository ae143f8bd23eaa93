//! Elements that an iteration assigns before loops in it set them again: while these run, each is a
//! scalar.

use super::{is_counted, is_fixed, stay_in_range, use_locals};
use crate::tree::{loops_over, replace_loop, scalar_for};
use strew_affine::visit::{self, Loop, walk};
use strew_affine::{Access, ArrayId, Block, Expr, IterId, Kernel, LocalId, Node, Place};

/// An element of each iteration of a loop.
pub(super) struct Assigned {
    target: IterId,
    element: Access,
    /// The statement of the body that assigns it, before any other uses it.
    first: usize,
    /// The last one that sets it, loops in which count as one.
    last: usize,
}

impl Assigned {
    /// The loop.
    pub(super) fn target(&self) -> IterId {
        self.target
    }

    /// Lets the `body` of the loop use `local`.
    fn keep_in(&self, local: LocalId, body: &mut Block) {
        use_locals(&mut body[self.first..=self.last], &|access| {
            (access.array == self.element.array).then_some(local)
        });
        if let Node::Assign { value, .. } = &body[self.first] {
            let value = value.clone();
            body[self.first] = Node::Declare { local, value };
        }
        let put_back = Node::Assign {
            place: Place::Element(self.element.clone()),
            value: Expr::Local(local),
            span: self.element.span,
        };
        body.insert(self.last + 1, put_back);
    }
}

/// The outermost loops whose iterations each assign one element of `array` first, and set it again
/// in loops.
pub(super) fn elements(kernel: &Kernel, array: ArrayId) -> Vec<Assigned> {
    let mut found: Vec<Assigned> = Vec::new();
    walk(&kernel.body, &mut |node, around| {
        let is_inside = |it: &Assigned| around.iter().any(|of| of.iter() == it.target);
        if let Some(target @ (Loop::Affine(_) | Loop::Scf(_))) = Loop::of(node)
            && !found.iter().any(is_inside)
        {
            found.extend(assigned_in(kernel, target, around, array));
        }
    });
    found
}

fn assigned_in(
    kernel: &Kernel,
    target: Loop<'_>,
    around: &[Loop<'_>],
    array: ArrayId,
) -> Option<Assigned> {
    let body = target.body();
    let first = body.iter().position(|it| !used_in(it, array).is_empty())?;
    let element = assigned_by(&body[first], array)?;
    let is_set = |it: &Node| !written_in(it, array).is_empty();
    let last = body.iter().rposition(is_set)?;
    let mut set_again = body[first + 1..=last].iter();
    let in_loops = set_again.any(|it| is_set(it) && it.holds_loops());
    let (mut inner, mut has_forall) = (Vec::new(), false);
    walk(body, &mut |node, _| {
        inner.extend(Loop::of(node).map(Loop::iter));
        has_forall |= matches!(node, Node::Forall(_));
    });
    let used: Vec<_> = body.iter().flat_map(|it| used_in(it, array)).collect();
    let is_same = used.iter().all(|it| it.subscripts == element.subscripts);
    let is_one = |access: &Access| used.iter().any(|it| std::ptr::eq(*it, access));
    let is_kept = target.lanes() == 1 && !has_forall && is_same && is_fixed(element, &inner);
    let is_free = !visit::allocated_arrays(body).contains(&array) && !is_counted(around, array);
    (in_loops && is_kept && is_free && stay_in_range(kernel, is_one)).then(|| Assigned {
        target: target.iter(),
        element: element.clone(),
        first,
        last,
    })
}

/// The element of `array` that `node` does nothing with but to assign it.
fn assigned_by(node: &Node, array: ArrayId) -> Option<&Access> {
    let Node::Assign {
        place: Place::Element(element),
        ..
    } = node
    else {
        return None;
    };
    (element.array == array && used_in(node, array).len() == 1).then_some(element)
}

/// What `node` and those in it read or write of `array`.
fn used_in(node: &Node, array: ArrayId) -> Vec<&Access> {
    let mut used = written_in(node, array);
    walk(std::slice::from_ref(node), &mut |inner, _| {
        visit::for_each_load_of(inner, &mut |it| used.push(it));
    });
    used.retain(|it| it.array == array);
    used
}

fn written_in(node: &Node, array: ArrayId) -> Vec<&Access> {
    let mut written = Vec::new();
    walk(std::slice::from_ref(node), &mut |inner, _| {
        written.extend(inner.written_elements());
    });
    written.retain(|it| it.array == array);
    written
}

/// Lets each iteration have a scalar in the place of its element until that is set for the last
/// time.
pub(super) fn rewrite(kernel: &mut Kernel, found: &[Assigned]) {
    for it in found {
        let mut local = scalar_for(kernel, &it.element, "s");
        local.mutable = true;
        let local = kernel.locals.alloc(local);
        let target = loops_over(kernel, &[it.target]).pop();
        let Some(mut target) = target.map(|it| it.it.to_node()) else {
            continue;
        };
        for body in target.blocks_mut() {
            it.keep_in(local, body);
        }
        replace_loop(&mut kernel.body, it.target, vec![target]);
    }
}

#[cfg(test)]
mod tests {
    use crate::Verdict::Misaddressed;
    use crate::test_support::{accepts, apply, assert_same_results, kernel, refuses};

    fn nearest(first: &str, inside: &str) -> String {
        format!(
            "kernel @k(n: i64, m: i64, x: f64[n], y: f64[m], at: i32[n], h: i64[m]) {{
  affine.for i in 0..n {{
    {first}
    var best: f64 = f64(inf)
    affine.for c in 0..m {{ {inside} }}
    h[at[i]] reduce(add) 1
  }}
}}"
        )
    }

    const ELECTS: &str = "(best, at[i]) reduce(argmin) (x[i] - y[c], i32(c))";

    #[test]
    fn what_a_loop_finds_stays_in_a_scalar_until_it_is_found() {
        let after = nearest("var at_s: i32 = 0", &ELECTS.replace("at[i]", "at_s"));
        let after = after.replace("h[at", "at[i] = at_s h[at");
        accepts(&nearest("at[i] = 0", ELECTS), "scalar_replace(at)", &after);
    }

    #[test]
    fn results_are_the_same() {
        for (first, inside) in [
            ("at[i] = 0", ELECTS),
            (
                "at[i] = 1 at[i] reduce(add) 2",
                "at[i] reduce(max) i32(c) - 4",
            ),
            ("at[i] = 0", "scf.if x[i] < y[c] { at[i] = i32(c) }"),
            (
                "at[i] = 0",
                "affine.for d in 0..c { at[i] = at[i] * 3 + 1 } h[c] reduce(add) i64(at[i])",
            ),
        ] {
            let body = nearest(first, inside).replace("h[at[i]]", "h[min(i64(at[i]), m - 1)]");
            let before = kernel(&body.replace("h[min(i64(at[i]), m - 1)]", "h[0]"));
            let after = apply(&before, "scalar_replace(at)");
            assert!(after.to_string().contains("var at_s"), "{after}");
            assert_same_results(&before, &after);
        }
    }

    #[test]
    fn others_stay() {
        for (first, inside) in [
            ("at[i] = at[n - 1] + 1", "best = x[i]"),
            ("at[i] = 0", "best = x[i]"),
            ("at[i] = 0", "at[c] reduce(add) 1"),
            ("at[i + 1] = 0", "at[i + 1] = at[i + 1] * 2 + 1"),
        ] {
            let source = nearest(first, inside);
            refuses(
                &source,
                "scalar_replace(at)",
                Misaddressed,
                "NothingToReplace",
            );
        }
    }
}
