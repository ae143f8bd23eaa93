//! The step `distribute`.

use crate::address::{self, Target};
use crate::copy::Copying;
use crate::one_loop::about_one_loop;
use crate::order::{Children, Reordering, Tick};
use crate::tree::{Replacing, new_iter};
use crate::{LoopPath, Reason};
use strew_affine::dependence::Site;
use strew_affine::{AffineExpr, AffineFor, Kernel, Node};

/// Gives the statements of a loop loops of their own, as many as may be.
///
/// ```text
/// affine.for i in 1..n {              affine.for i in 1..n {
///   y[i] = x[i]                         y[i] = x[i]
///   out[key[i]] reduce(add) y[i - 1]  →  }
/// }                                   affine.for i_2 in 1..n {
///                                       out[key[i_2]] reduce(add) y[i_2 - 1]
///                                     }
/// ```
///
/// The loop is cut between two statements when no access below would have to come before one above: of any two accesses of one
/// element, one of them writing, the first one stays the first. Statements that share what the body declares stay together. If
/// iterations fail, the first failure is that of the new order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Distribute {
    /// The loop, an `affine.for`.
    pub target: LoopPath,
}

about_one_loop!(
    Distribute,
    "distribute",
    /// A request to distribute `target` over its statements.
);

fn plan(kernel: &Kernel, request: &Distribute) -> Result<Replacing, Reason> {
    let path = &request.target;
    let Target { it: target, .. } = address::find_affine_for(kernel, path)?;
    address::check_no_lanes(target, path)?;
    let borders = borders(&Reordering::of(kernel, &[target]), path, target)?;
    let mut prepared = kernel.clone();
    let mut replacement = Vec::new();
    let mut start = 0;
    for (number, end) in (1..).zip(borders.into_iter().chain([target.body.len()])) {
        let part = target.body.get(start..end).unwrap_or_default();
        replacement.push(Node::AffineFor(loop_over(
            &mut prepared,
            target,
            part,
            number,
        )?));
        start = end;
    }
    Ok(Replacing {
        kernel: prepared,
        target: target.iter,
        replacement,
    })
}

/// Before which statements the loop may be cut.
///
/// Cuts do not depend on each other: an access below would come after one above exactly if one of the cuts between them does that.
fn borders(
    reordering: &Reordering<'_>,
    path: &LoopPath,
    target: &AffineFor,
) -> Result<Vec<usize>, Reason> {
    let children = Children::of(target);
    let mut borders = Vec::new();
    let mut refused = None;
    for border in 1..target.body.len() {
        if children.share_across(target, border) {
            continue;
        }
        let ticks = |site: &Site<'_>| {
            let is_above = children.of_site(site).is_some_and(|it| it < border);
            vec![
                Tick::Part(i64::from(!is_above)),
                Tick::Value(AffineExpr::from(target.iter)),
            ]
        };
        match reordering.check(ticks) {
            Ok(()) => borders.push(border),
            Err(reason) => refused = refused.or(Some(reason)),
        }
    }
    match (borders.is_empty(), refused) {
        (true, Some(reason)) => Err(reason),
        (true, None) => Err(Reason::OneStatement { path: path.clone() }),
        (false, _) => Ok(borders),
    }
}

/// Whether updates keep their order, too, when the loop is distributed: those that may be regrouped would round in another way.
pub(crate) fn keeps_updates(kernel: &Kernel, path: &LoopPath) -> bool {
    let Ok(target) = address::find_affine_for(kernel, path) else {
        return false;
    };
    let loosely = borders(&Reordering::of(kernel, &[target.it]), path, target.it);
    let strictly = borders(&Reordering::strictly(kernel, &[target.it]), path, target.it);
    loosely.is_ok() && loosely.ok() == strictly.ok()
}

fn loop_over(
    kernel: &mut Kernel,
    target: &AffineFor,
    part: &[Node],
    number: usize,
) -> Result<AffineFor, Reason> {
    if number == 1 {
        return Ok(AffineFor {
            body: part.to_vec(),
            ..target.clone()
        });
    }
    let iter = new_iter(kernel, target.iter, number);
    Ok(AffineFor {
        iter,
        body: Copying::shift(target.iter, iter, 0).block(part)?,
        ..target.clone()
    })
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Misaddressed, Unproven};
    use crate::test_support::{accepts, apply, assert_same_results, kernel, refuses};

    fn in_loop(body: &str) -> String {
        format!(
            "kernel @k(n: i64, m: i64, key: i32[n], x: f64[n], y: f64[n], out: f64[m]) {{
  affine.for i in 1..n {{ {body} }}
}}"
        )
    }

    #[test]
    fn scheme() {
        let after = "kernel @k(n: i64, m: i64, key: i32[n], x: f64[n], y: f64[n], out: f64[m]) {
  affine.for i in 1..n { y[i] = x[i] }
  affine.for i_2 in 1..n { out[key[i_2]] reduce(add) y[i_2 - 1] }
}";
        let before = in_loop("y[i] = x[i] out[key[i]] reduce(add) y[i - 1]");
        accepts(&before, "distribute(i)", after);
    }

    #[test]
    fn what_depends_on_each_other_stays_together() {
        for (body, loops) in [
            ("y[i] = x[i - 1] x[i] = y[i] out[0] reduce(add) x[i]", 2),
            ("let k: i32 = key[i] out[k] reduce(add) x[i] y[i] = 1.0", 2),
            ("y[i] = x[i] x[i] = 2.0 out[0] reduce(max) f64(i)", 3),
            (
                "alloc t: f64[1] y[i] = 3.0 t[0] = x[i] out[0] reduce(add) t[0]",
                1,
            ),
        ] {
            let before = kernel(&in_loop(body));
            if loops == 1 {
                refuses(
                    &in_loop(body),
                    "distribute(i)",
                    Misaddressed,
                    "OneStatement",
                );
                continue;
            }
            let after = apply(&before, "distribute(i)");
            assert_eq!(after.body.len(), loops, "{after}");
            assert_same_results(&before, &after);
        }
    }

    /// A sum of bytes comes back to where it was.
    #[test]
    fn sums_may_wrap_within_range() {
        let source = "kernel @k(n: i64, key: u8[1], y: f64[200], z: f64[n]) {
  affine.for i in 0..n { y[i64(key[0] + 200)] = f64(i) z[i] = y[i64(key[0]) - 56] }
}";
        refuses(source, "distribute(i)", Unproven, "Reverses");
    }

    #[test]
    fn refusals() {
        let both = in_loop("y[i] = x[i - 1] x[i] = y[i]");
        refuses(&both, "distribute(i)", Illegal, "Reverses");
        refuses(
            &in_loop("y[i] = 1.0"),
            "distribute(i)",
            Misaddressed,
            "OneStatement",
        );
    }
}
