//! The step `precompute`.

use crate::address;
use crate::in_range::{can_fail, is_in_range};
use crate::one_loop::about_one_loop;
use crate::tree::{Nested, Replacing, scalar_for};
use crate::{LoopPath, Reason};
use std::slice::from_ref;
use strew_affine::changed::Changed;
use strew_affine::visit::{Loop, for_each_sure_load, writes_elements};
use strew_affine::{Access, Expr, Kernel, LocalId, Node};

/// Computes what the statements of a loop put into elements before the first of them does, behind
/// conditions, too, and what scalars that are declared in between hold.
///
/// ```text
/// affine.for i in 0..n {                          affine.for i in 0..n {
///   let b: i32 = i32(x[i])                          let b: i32 = i32(x[i])
///   scf.if b < m {                                  let h_v: f32 = q[i] * (x[i] - f32(b))
///     h[b] reduce(add) q[i] * (x[i] - f32(b))  →    scf.if b < m {
///   }                                                 h[b] reduce(add) h_v
/// }                                                 }
///                                                 }
/// ```
///
/// So it can be computed in the lanes of vectors, in front of what is made turn by turn. Legal when
/// nothing from that first statement on sets what is read for it. Other values stay where they are,
/// as do those behind conditions which could end in a fault that the iteration does not end in
/// anyway, those of loops inside and such that are only loaded. If iterations fail, they may fail
/// in another statement first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Precompute {
    /// The loop, an `affine.for` or `scf.for`.
    pub target: LoopPath,
}

about_one_loop!(
    Precompute,
    "precompute",
    /// A request to compute what statements of `target` put into elements before the first of them.
);

fn plan(kernel: &Kernel, request: &Precompute) -> Result<Replacing, Reason> {
    let path = &request.target;
    let Nested { it: target, around } = address::find_counted(kernel, path)?;
    address::check_no_lanes(target.lanes(), path)?;
    let early = Early::of(kernel, &around, target);
    if early.is_empty() {
        return Err(Reason::NothingToPrecompute { path: path.clone() });
    }
    let mut prepared = kernel.clone();
    let named = early.values.iter().map(|it| name(&mut prepared, it));
    let (locals, named): (Vec<_>, Vec<_>) = named.unzip();
    let (before, rest) = target.body().split_at(first_write(target.body()));
    let (moved, mut rest): (Vec<Node>, Vec<Node>) =
        (rest.iter().cloned()).partition(|it| early.declares(it));
    let values = early.values.iter().map(|it| it.value);
    use_named(&mut rest, &values.zip(locals).collect::<Vec<_>>());
    let mut replacement = target.to_node();
    for body in replacement.blocks_mut() {
        *body = [before, &moved, &named, &rest].concat().into();
    }
    Ok(Replacing {
        kernel: prepared,
        target: target.iter(),
        replacement: vec![replacement],
    })
}

/// What a statement puts into an element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Put<'k> {
    element: &'k Access,
    pub(crate) value: &'k Expr,
    /// Whether it does so only where a condition holds.
    pub(crate) is_conditional: bool,
}

/// What can be computed before the first statement of a loop that writes elements.
pub(crate) struct Early<'k> {
    /// Scalars that are declared behind it, in their order.
    declared: Vec<(LocalId, &'k Expr)>,
    /// Each once.
    pub(crate) values: Vec<Put<'k>>,
}

impl<'k> Early<'k> {
    /// Of `target`, which stands in the loops `around`.
    pub(crate) fn of(kernel: &Kernel, around: &[Loop<'_>], target: Loop<'k>) -> Self {
        let rest = &target.body()[first_write(target.body())..];
        let mut changed = Changed::by(rest);
        let mut early = Self {
            declared: Vec::new(),
            values: Vec::new(),
        };
        for node in rest {
            if let Node::Declare { local, value } = node
                && !kernel.locals[*local].mutable
                && changed.expr_stays(value)
            {
                changed.forget_declared(*local);
                early.declared.push((*local, value));
            }
        }
        let loops = [around, &[target]].concat();
        let sure = sure_loads(target.body());
        let may_miss = |access: &Access| {
            !is_in_range(kernel, &loops, access) && !sure.iter().any(|it| it.is_same(access))
        };
        for put in put_by(rest, false) {
            let is_sure = || !put.is_conditional || !can_fail(kernel, put.value, &may_miss);
            if is_computed(put.value) && changed.expr_stays(put.value) && is_sure() {
                early.add(put);
            }
        }
        early
    }

    fn add(&mut self, put: Put<'k>) {
        let mut known = self.values.iter_mut();
        match known.find(|it| it.value.is_same(put.value)) {
            Some(known) => known.is_conditional &= put.is_conditional,
            None => self.values.push(put),
        }
    }

    /// Whether none of it takes an operation.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty() && !self.declared.iter().any(|(_, it)| is_computed(it))
    }

    fn declares(&self, node: &Node) -> bool {
        matches!(node, Node::Declare { local, .. } if self.declared.iter().any(|it| it.0 == *local))
    }
}

/// The number of the first statement in `body` that writes elements.
pub(crate) fn first_write(body: &[Node]) -> usize {
    let first = body.iter().position(|it| writes_elements(from_ref(it)));
    first.unwrap_or(body.len())
}

/// What each run of `body` loads for the values of its statements, where it ends in no fault, if
/// that is the same element wherever it stands in it.
fn sure_loads(body: &[Node]) -> Vec<&Access> {
    let is_statement = |node: &&Node| {
        matches!(
            node,
            Node::Declare { .. } | Node::Assign { .. } | Node::Reduce { .. } | Node::ScfIf { .. }
        )
    };
    let mut loads = Vec::new();
    for value in body.iter().filter(is_statement).flat_map(Node::expressions) {
        for_each_sure_load(value, &mut |it| loads.push(it));
    }
    let changed = Changed::by(body);
    loads.retain(|it| changed.keeps_place(it));
    loads
}

/// What `nodes` and those behind conditions among them put into elements.
fn put_by<'k>(nodes: &'k [Node], is_conditional: bool) -> Vec<Put<'k>> {
    let of = |node: &'k Node| match node {
        Node::Assign { .. } | Node::Reduce { .. } => {
            let values = node.expressions().into_iter();
            let put = node
                .places()
                .iter()
                .zip(values)
                .filter_map(|(place, value)| {
                    Some(Put {
                        element: place.element()?,
                        value,
                        is_conditional,
                    })
                });
            put.collect()
        }
        Node::ScfIf { .. } | Node::AffineIf { .. } => {
            node.blocks().flat_map(|it| put_by(it, true)).collect()
        }
        _ => Vec::new(),
    };
    nodes.iter().flat_map(of).collect()
}

/// Whether it takes an operation.
fn is_computed(value: &Expr) -> bool {
    !value.operands().is_empty()
}

/// A scalar for what is `put`.
fn name(kernel: &mut Kernel, put: &Put<'_>) -> (LocalId, Node) {
    let local = scalar_for(kernel, put.element, "v");
    let local = kernel.locals.alloc(local);
    let value = put.value.clone();
    (local, Node::Declare { local, value })
}

/// Puts the scalars in the place of what they hold.
fn use_named(nodes: &mut [Node], named: &[(&Expr, LocalId)]) {
    for node in nodes {
        match node {
            Node::Assign { .. } | Node::Reduce { .. } => {
                for value in node.expressions_mut() {
                    if let Some((_, local)) = named.iter().find(|(it, _)| it.is_same(value)) {
                        *value = Expr::Local(*local);
                    }
                }
            }
            _ => {
                for block in node.blocks_mut() {
                    use_named(block, named);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Verdict::Misaddressed;
    use crate::test_support::{accepts, apply, arguments, assert_same_results, kernel, refuses};
    use strew_affine::StdMath;
    use strew_affine::interpret::{Argument, ForallOrder, Stop, interpret_skipping};
    use strew_affine::verify::Verified;

    fn with(body: &str) -> String {
        format!(
            "kernel @k(n: i64, m: i64, key: i32[n], x: f64[n], y: f64[n], h: f64[n], c: i64[n]) {{
  affine.for i in 0..n {{ {body} }}
}}"
        )
    }

    #[test]
    fn scheme() {
        accepts(
            &with("let b: i32 = key[i] scf.if b < 5 { h[b] reduce(add) x[i] * y[i] } c[b] = i + 1"),
            "precompute(i)",
            &with(
                "let b: i32 = key[i] let h_v: f64 = x[i] * y[i] let c_v: i64 = i + 1
                 scf.if b < 5 { h[b] reduce(add) h_v } c[b] = c_v",
            ),
        );
    }

    #[test]
    fn the_same_value_is_computed_once() {
        accepts(
            &with("h[key[i]] reduce(add) x[i] * y[i] h[i] reduce(max) x[i] * y[i]"),
            "precompute(i)",
            &with("let h_v: f64 = x[i] * y[i] h[key[i]] reduce(add) h_v h[i] reduce(max) h_v"),
        );
    }

    #[test]
    fn scalars_declared_in_between_come_first() {
        accepts(
            &with(
                "let a: f64 = x[i] * 2.0 h[key[i]] reduce(add) a
                 let b: f64 = a * y[i] h[i] reduce(max) b * b
                 let d: f64 = h[i] c[i] = i64(d)",
            ),
            "precompute(i)",
            &with(
                "let a: f64 = x[i] * 2.0 let b: f64 = a * y[i] let h_v: f64 = b * b
                 h[key[i]] reduce(add) a h[i] reduce(max) h_v
                 let d: f64 = h[i] c[i] = i64(d)",
            ),
        );
    }

    /// What statements leave of which some are skipped, and how many are.
    fn skipping(kernel: &Verified, seed: i64) -> (Vec<Argument>, Result<u64, Stop>) {
        let mut arguments = arguments(kernel, seed);
        let order = ForallOrder::Forward;
        let done = interpret_skipping(kernel, &mut arguments, 10_000, order, &StdMath);
        (arguments, done.map(|it| it.skipped))
    }

    /// What is skipped where an index is out of range, and how much, is the same, too.
    #[test]
    fn what_fails_fails_and_is_skipped_as_before() {
        for body in [
            "h[key[i]] reduce(add) x[i + 1] * 2.0 h[i] reduce(add) 1.0",
            "h[i] reduce(add) 1.0 c[key[i]] = i / m + 1",
            "let b: i32 = key[i + 1] h[i] reduce(add) y[b] * 2.0 c[i] = 1",
            "scf.if x[i] < 0.5 { h[key[i]] reduce(add) x[i] * 2.0 } else { h[i] = y[i] * 2.0 }",
            "affine.if (i < m) { h[i] reduce(add) x[i] * 2.0 }",
            "h[i] reduce(add) x[i + 1] scf.if x[i] < 0.5 { h[key[i]] reduce(add) x[i + 1] * 2.0 }",
            "h[i] = 1.0 let a: f64 = x[i + 1] * 2.0 h[key[i]] reduce(add) a scf.if y[i] < 0.5 { h[0] = a * 3.0 }",
            "scf.if x[i + 1] < 0.5 { h[key[i]] reduce(add) x[i + 1] * 2.0 }",
        ] {
            let before = kernel(&with(body));
            let after = apply(&before, "precompute(i)");
            assert_same_results(&before, &after);
            for seed in 0..24 {
                let [expected, found] = [&before, &after].map(|it| skipping(it, seed));
                assert_eq!(found, expected, "seed {seed}:\n{after}");
            }
        }
    }

    #[test]
    fn refusals() {
        for body in [
            "h[key[i]] reduce(add) x[i]",
            "x[key[i]] = x[i] * 2.0",
            "h[i] = 0.0 h[key[i]] reduce(add) h[i] * 2.0",
            "scf.if x[i] < 0.5 { h[i] reduce(add) x[i + m] * 2.0 }",
            "scf.if x[i] < 0.5 { c[i] = i / c[m] }",
            "scf.if x[i] < 0.5 && x[i + 1] < 0.5 { h[i] = x[i + 1] * 2.0 }",
            "scf.if x[i] < 0.5 { h[i] = 1.0 c[i] = 1 / m }",
            "var b: i32 = key[i] let a: f64 = x[b] b = b + 5 scf.if a < 0.5 { h[i] = x[b] * 2.0 }",
            "scf.if x[i] < 0.5 { let t: f64 = x[i] * 2.0 h[i] = t * t }",
            "h[i] = x[i] affine.for j in 0..m { c[j] reduce(add) j + 1 }",
            "var t: f64 = x[i] h[i] = x[i] t = t + 1.0 h[i] = t * 2.0",
        ] {
            refuses(
                &with(body),
                "precompute(i)",
                Misaddressed,
                "NothingToPrecompute",
            );
        }
    }
}
