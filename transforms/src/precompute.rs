//! The step `precompute`.

use crate::address;
use crate::in_range::{can_fail, is_in_range};
use crate::one_loop::about_one_loop;
use crate::tree::{Nested, Replacing, scalar_for};
use crate::{LoopPath, Reason};
use std::slice::from_ref;
use strew_affine::changed::Changed;
use strew_affine::visit::{Loop, writes_elements};
use strew_affine::{Access, Expr, Kernel, LocalId, Node};

/// Computes what the statements of a loop put into elements before the first of them does, behind
/// conditions, too.
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
    let values = values(kernel, &around, target);
    if values.is_empty() {
        return Err(Reason::NothingToPrecompute { path: path.clone() });
    }
    let mut prepared = kernel.clone();
    let declared = values.iter().map(|it| declare(&mut prepared, it));
    let (locals, declared): (Vec<_>, Vec<_>) = declared.unzip();
    let (before, rest) = target.body().split_at(first_write(target.body()));
    let mut rest = rest.to_vec();
    let known: Vec<_> = values.iter().map(|it| it.value).zip(locals).collect();
    use_known(&mut rest, &known);
    let mut replacement = target.to_node();
    for body in replacement.blocks_mut() {
        *body = [before, &declared, &rest].concat().into();
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

/// What can be computed before the first statement of `target` that writes elements, each once.
pub(crate) fn values<'k>(kernel: &Kernel, around: &[Loop<'_>], target: Loop<'k>) -> Vec<Put<'k>> {
    let rest = &target.body()[first_write(target.body())..];
    let loops = [around, &[target]].concat();
    let changed = Changed::by(rest);
    let sure = sure_loads(target.body());
    let may_miss = |access: &Access| {
        !is_in_range(kernel, &loops, access) && !sure.iter().any(|it| it.is_same(access))
    };
    let mut found: Vec<Put<'k>> = Vec::new();
    for put in put_by(rest, false) {
        let is_sure = || !put.is_conditional || !can_fail(kernel, put.value, &may_miss);
        if is_computed(put.value) && changed.expr_stays(put.value) && is_sure() {
            match found.iter_mut().find(|it| it.value.is_same(put.value)) {
                Some(known) => known.is_conditional &= put.is_conditional,
                None => found.push(put),
            }
        }
    }
    found
}

/// The number of the first statement in `body` that writes elements.
fn first_write(body: &[Node]) -> usize {
    let first = body.iter().position(|it| writes_elements(from_ref(it)));
    first.unwrap_or(body.len())
}

/// What each run of `body` loads for the values of its statements, where it ends in no fault.
fn sure_loads(body: &[Node]) -> Vec<&Access> {
    fn add<'k>(loads: &mut Vec<&'k Access>, expr: &'k Expr) {
        match expr {
            Expr::Load(access) => loads.push(access),
            Expr::And(first, _) | Expr::Or(first, _) | Expr::Select(first, ..) => add(loads, first),
            _ => expr.operands().into_iter().for_each(|it| add(loads, it)),
        }
    }
    let mut loads = Vec::new();
    for node in body {
        let is_statement = matches!(
            node,
            Node::Declare { .. } | Node::Assign { .. } | Node::Reduce { .. } | Node::ScfIf { .. }
        );
        if is_statement {
            let values = node.expressions().into_iter();
            values.for_each(|it| add(&mut loads, it));
        }
    }
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
fn declare(kernel: &mut Kernel, put: &Put<'_>) -> (LocalId, Node) {
    let local = scalar_for(kernel, put.element, "v");
    let local = kernel.locals.alloc(local);
    let value = put.value.clone();
    (local, Node::Declare { local, value })
}

/// Puts the scalars in the place of what they hold.
fn use_known(nodes: &mut [Node], known: &[(&Expr, LocalId)]) {
    for node in nodes {
        match node {
            Node::Assign { .. } | Node::Reduce { .. } => {
                for value in node.expressions_mut() {
                    if let Some((_, local)) = known.iter().find(|(it, _)| it.is_same(value)) {
                        *value = Expr::Local(*local);
                    }
                }
            }
            _ => {
                for block in node.blocks_mut() {
                    use_known(block, known);
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
