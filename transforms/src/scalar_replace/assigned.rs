//! Elements that an iteration assigns before loops in it set them again: while these run, each is a
//! scalar.

use super::{is_counted, loops_in, of_one_element, sites_of, stay_in_range, use_locals};
use crate::tree::{arrays_in, loops_over, replace_loop, scalar_for};
use std::slice::from_ref;
use strew_affine::visit::{AccessSite, Loop, arrays_written_in, for_each_load, reads_array, walk};
use strew_affine::{Access, ArrayId, Block, Expr, Kernel, LocalId, Node, Place};

/// An element of each iteration of a loop.
pub(super) struct Assigned<'k> {
    pub(super) target: Loop<'k>,
    element: &'k Access,
    /// The statement of the body that assigns it, before any other uses it.
    first: usize,
    /// The last one that sets it, loops in which count as one.
    last: usize,
}

impl Assigned<'_> {
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
pub(super) fn elements(kernel: &Kernel, array: ArrayId) -> Vec<Assigned<'_>> {
    let sites = sites_of(kernel, array);
    let mut found: Vec<Assigned<'_>> = Vec::new();
    walk(&kernel.body, &mut |node, around| {
        let is_inside = |it: &Assigned<'_>| around.iter().any(|of| of.iter() == it.target.iter());
        if let Some(target @ (Loop::Affine(_) | Loop::Scf(_))) = Loop::of(node)
            && !found.iter().any(is_inside)
            && !is_counted(around, array)
        {
            found.extend(assigned_in(kernel, target, &sites));
        }
    });
    found
}

fn assigned_in<'k>(
    kernel: &'k Kernel,
    target: Loop<'k>,
    sites: &[AccessSite<'k>],
) -> Option<Assigned<'k>> {
    let inside = of_one_element(target, sites, &loops_in(target.body()))?;
    let element = inside.first()?.access;
    let body = target.body();
    let uses = |it: &Node| arrays_in(from_ref(it)).any(|it| it == element.array);
    let sets = |it: &Node| arrays_written_in(from_ref(it)).contains(&element.array);
    let first = body.iter().position(uses)?;
    let last = body.iter().rposition(sets)?;
    let mut again = body[first + 1..=last].iter();
    let is_set_in_loops = again.any(|it| sets(it) && it.holds_loops());
    let value = assigned_by(&body[first], element.array)?;
    // Where an index out of range is skipped, so is what reads the element after it was assigned,
    // and there is no scalar where the statement that would declare it is skipped.
    let mut needed: Vec<&Access> = inside.iter().map(|it| it.access).collect();
    for_each_load(value, &mut |it| needed.push(it));
    let is_needed = |access: &Access| needed.iter().any(|it| std::ptr::eq(*it, access));
    (is_set_in_loops && stay_in_range(kernel, is_needed)).then_some(Assigned {
        target,
        element,
        first,
        last,
    })
}

/// What `node` assigns to an element of `array`, if that is all that it does with the array.
fn assigned_by(node: &Node, array: ArrayId) -> Option<&Expr> {
    let Node::Assign {
        place: Place::Element(element),
        value,
        ..
    } = node
    else {
        return None;
    };
    (element.array == array && !reads_array(value, array)).then_some(value)
}

/// Lets each iteration have a scalar in the place of its element until that is set for the last
/// time.
pub(super) fn rewrite(kernel: &mut Kernel, found: &[Assigned<'_>]) {
    for it in found {
        let mut local = scalar_for(kernel, it.element, "s");
        local.mutable = true;
        let local = kernel.locals.alloc(local);
        let target = loops_over(kernel, &[it.target.iter()]).pop();
        let Some(mut target) = target.map(|it| it.it.to_node()) else {
            continue;
        };
        for body in target.blocks_mut() {
            it.keep_in(local, body);
        }
        replace_loop(&mut kernel.body, it.target.iter(), vec![target]);
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

    /// Of an element that loops around use as the same one the outermost is replaced, which reads
    /// it first.
    #[test]
    fn what_stays_the_same_in_loops_around_is_one_scalar() {
        for (around, element) in [
            ("affine.for u in 0..n {", "at[0]"),
            ("affine.for i in 0..n { affine.for u in 0..2 {", "at[i]"),
            (
                "affine.for i in 0..n { affine.for u in 0..2 { affine.for v in 0..2 {",
                "at[i]",
            ),
        ] {
            let ends = "}".repeat(around.matches('{').count());
            let source = format!(
                "kernel @k(n: i64, m: i64, key: i32[m], at: i32[n + 1], h: i32[n]) {{
                   {around} {element} = 1
                   affine.for c in 0..m {{ {element} reduce(add) key[c] }}
                   h[u] reduce(add) {element} {ends}
                 }}"
            );
            let source = source.replace(
                "h[u]",
                if around.contains("i in") {
                    "h[i]"
                } else {
                    "h[u]"
                },
            );
            let before = kernel(&source);
            let after = apply(&before, "scalar_replace(at)");
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
        // Where what it is declared with is skipped, there would be no scalar.
        let before = kernel(&nearest("at[i] = i32(x[h[i]])", "at[i] reduce(add) 1"));
        let after = apply(&before, "scalar_replace(at)").to_string();
        assert!(after.contains("at[i] = i32(x[h[i]])"), "{after}");
    }
}
