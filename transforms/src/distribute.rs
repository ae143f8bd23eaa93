//! The step `distribute`.

use crate::address::{self, Target};
use crate::copy::Copying;
use crate::one_loop::about_one_loop;
use crate::order::{Children, Reordering, Tick};
use crate::tree::{Replacing, new_iter};
use crate::{LoopPath, Reason, Verdict};
use std::cell::RefCell;
use std::collections::BTreeSet;
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
/// The loop is cut between two statements when no access below would have to come before one above:
/// of any two accesses of one element, one of them writing, the first one stays the first.
/// Statements that share what the body declares stay together. If iterations fail, the first
/// failure is that of the new order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Distribute {
    /// The loop, an `affine.for`.
    pub target: LoopPath,
}

/// So many pairs are looked at for one whose meeting a run confirms.
const MOST_CONFIRMED: usize = 8;

about_one_loop!(
    Distribute,
    "distribute",
    /// A request to distribute `target` over its statements.
);

fn plan(kernel: &Kernel, request: &Distribute) -> Result<Replacing, Reason> {
    let path = &request.target;
    let Target { it: target, .. } = address::find_affine_for(kernel, path)?;
    address::check_no_lanes(target.lanes, path)?;
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
/// Cuts do not depend on each other: two accesses change places at all cuts between them or at
/// none. So each pair is asked about once, as if the loop were cut everywhere, and not for each
/// cut.
fn borders(
    reordering: &Reordering<'_>,
    path: &LoopPath,
    target: &AffineFor,
) -> Result<Vec<usize>, Reason> {
    let children = Children::of(target);
    let borders = 1..target.body.len();
    let shared = borders
        .clone()
        .filter(|it| children.share_across(target, *it));
    let closed: RefCell<BTreeSet<_>> = RefCell::new(shared.collect());
    let child = |site: &Site<'_>| children.of_site(site).unwrap_or(target.body.len());
    let between = |[one, other]: [&Site<'_>; 2]| {
        let (one, other) = (child(one), child(other));
        one.min(other) + 1..=one.max(other)
    };
    let is_open = |one: &Site<'_>, other: &Site<'_>| {
        let closed = closed.borrow();
        between([one, other]).any(|border| !closed.contains(&border))
    };
    let ticks = |site: &Site<'_>| {
        vec![
            Tick::Part(child(site) as i64),
            Tick::Value(AffineExpr::from(target.iter)),
        ]
    };
    let mut unproven = BTreeSet::new();
    let mut reversals = Vec::new();
    for reversal in reordering.reversals(is_open, ticks) {
        let crossed = reordering.ends(&reversal).into_iter().flat_map(between);
        match reversal.witness {
            Some(_) => closed.borrow_mut().extend(crossed),
            // Another pair may show that the border is not only unproven.
            None => unproven.extend(crossed),
        }
        reversals.push(reversal);
    }
    let closed = &closed.into_inner() | &unproven;
    let borders: Vec<_> = borders.filter(|it| !closed.contains(it)).collect();
    if !borders.is_empty() {
        return Ok(borders);
    }
    let sure = reversals.iter().filter(|it| it.witness.is_some());
    let reasons = sure.chain(reversals.first()).take(MOST_CONFIRMED);
    let reasons: Vec<_> = reasons.map(|it| reordering.reverses(it)).collect();
    let confirmed = reasons.iter().find(|it| it.verdict() == Verdict::Illegal);
    Err(match confirmed.or(reasons.first()) {
        Some(reason) => reason.clone(),
        None => Reason::OneStatement { path: path.clone() },
    })
}

/// Whether updates keep their order, too, when the loop is distributed: those that may be regrouped
/// would round in another way.
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
            body: part.to_vec().into(),
            ..target.clone()
        });
    }
    let iter = new_iter(kernel, target.iter, number);
    Ok(AffineFor {
        iter,
        body: Copying::shift(target.iter, iter, 0).block(part)?.into(),
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
