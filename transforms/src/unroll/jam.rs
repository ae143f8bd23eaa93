//! The step `unroll_and_jam`.

use super::{Copies, Hoisting, Inside, Moving, checked_copies, counted_bounds};
use crate::address::{self, Target};
use crate::order::{Children, Reordering, Tick};
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tree::Replacing;
use crate::{LoopPath, Reason};
use std::cmp::Ordering;
use std::fmt;
use strew_affine::verify::Verified;
use strew_affine::visit::has_loops;
use strew_affine::{AffineExpr, AffineFor, Kernel, Node, Overflow};

/// Several iterations of a loop in one turn, the loops inside run once for all of them.
///
/// ```text
/// affine.for i in 0..n {              affine.for i in 0..n - 1 step 2 {
///   affine.for k in 0..n {              affine.for k in 0..n {
///     y[i] reduce(add) a[i, k]    →       y[i] reduce(add) a[i, k]
///   }                                     y[i + 1] reduce(add) a[i + 1, k]
/// }                                     }
///                                     }
///                                     affine.for i_r in max(0, (n floordiv 2) * 2)..n {
///                                       affine.for k in 0..n { y[i_r] reduce(add) a[i_r, k] }
///                                     }
/// ```
///
/// Jammed are the only loop inside and the loops that are all that the one around them does, as
/// long as their bounds do not depend on the loop that is unrolled. What stands before and behind
/// them is done for all iterations of a turn before and behind. Where nothing does, the innermost
/// of them may be a loop by one whose bounds move with the unrolled one, each by one of its
/// alternatives: what only some iterations of a turn run is run before it and behind it, iteration
/// by iteration. Legal when of any two accesses of one element, one of them writing, the first one
/// stays the first; updates by one commutative combiner may change places. If iterations fail, the
/// first failure is that of the new order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnrollAndJam {
    /// The outer loop, an `affine.for` with one bound on each side, beside ends that are whole
    /// turns away, with another loop inside.
    pub target: LoopPath,
    /// How many iterations to a turn.
    pub factor: u64,
}

impl UnrollAndJam {
    /// The word that the step begins with.
    pub const NAME: &'static str = "unroll_and_jam";

    /// A request to run `factor` iterations of `target` a turn.
    pub fn new(target: impl Into<LoopPath>, factor: u64) -> Self {
        Self {
            target: target.into(),
            factor,
        }
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let request = Self::new(call.path()?, call.number()?);
        call.finish(&[])?;
        Ok(request)
    }
}

impl fmt::Display for UnrollAndJam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}, {})", Self::NAME, self.target, self.factor)
    }
}

impl Transform for UnrollAndJam {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.target]
    }
}

fn plan(kernel: &Kernel, request: &UnrollAndJam) -> Result<Replacing, Reason> {
    let path = &request.target;
    let Target { it: target, .. } = address::find_affine_for(kernel, path)?;
    address::check_no_lanes(target.lanes, path)?;
    let Some(inside) = inside(target) else {
        return Err(Reason::NothingToJam { path: path.clone() });
    };
    let places = if inside.moving.is_some() { 3 } else { 1 };
    let factor = checked_copies(request.factor, &target.body, places)?;
    let (lower, upper) = counted_bounds(target, path, factor)?;
    check(kernel, target, &inside, (lower, factor))?;
    let copies = Copies {
        target,
        inside,
        lower,
        upper,
        factor,
        hoisting: Hoisting::none(),
    };
    let mut prepared = kernel.clone();
    let replacement = copies.replacement(&mut prepared)?;
    Ok(Replacing {
        kernel: prepared,
        target: target.iter,
        replacement,
    })
}

/// The only loop directly inside of `target`, with what stands around it, and the loops in there,
/// each all that the one before does; their bounds are the same in all iterations of `target`, but
/// those of the last one may move. `None` if there is no such loop, or more than one.
fn inside(target: &AffineFor) -> Option<Inside<'_>> {
    let position = target.body.iter().position(Node::holds_loops)?;
    let (before, rest) = target.body.split_at(position);
    let (jammed, after) = rest.split_at(1);
    if has_loops(after) {
        return None;
    }
    let mut inside = Inside {
        before,
        jammed: Vec::new(),
        moving: None,
        body: jammed,
        after,
    };
    while let [Node::AffineFor(next)] = inside.body
        && !next.moves_with(target.iter)
        && next.lanes == 1
    {
        inside.jammed.push(next);
        inside.body = &next.body;
    }
    // What is none of these may be the one whose bounds move.
    let is_all = inside.before.is_empty() && inside.after.is_empty();
    if is_all && let Some(moving) = Moving::of(target, inside.body) {
        inside.body = &moving.it().body;
        inside.moving = Some(moving);
    }
    (!inside.jammed.is_empty() || inside.moving.is_some()).then_some(inside)
}

/// That accesses keep their order: turns first, then what stands before the jammed loops, these,
/// and what stands behind them; in each the iterations of the jammed loops, then those of a turn.
///
/// Where bounds move, a turn runs the iterations before a border, copy by copy, then those from
/// there to another one, then the rest. The borders are the same for all copies: what keeps its
/// order when all iterations go by the jammed loops, keeps it when some of them go copy by copy, as
/// before.
fn check(
    kernel: &Kernel,
    target: &AffineFor,
    inside: &Inside<'_>,
    (lower, factor): (&AffineExpr, i64),
) -> Result<(), Reason> {
    let length = factor.checked_mul(target.step).ok_or(Overflow)?;
    let iter = AffineExpr::from(target.iter);
    let turn = iter.minus(lower)?.floordiv(&length.into())?;
    let moving = inside.moving.as_ref().map(Moving::it);
    let jammed = inside.jammed.iter().copied().chain(moving);
    let inner: Vec<_> = jammed.clone().map(|it| it.iter.into()).collect();
    let (children, position) = (Children::of(target), inside.before.len());
    let band: Vec<&AffineFor> = [target].into_iter().chain(jammed).collect();
    Reordering::of(kernel, &band).check(|site| {
        let part = children.of_site(site).map(|it| it.cmp(&position));
        let (part, inner) = match part {
            Some(Ordering::Less) => (0, &[][..]),
            Some(Ordering::Greater) => (2, &[][..]),
            Some(Ordering::Equal) | None => (1, &inner[..]),
        };
        let inner = inner.iter().cloned().map(Tick::Value);
        let turn = [Tick::Value(turn.clone()), Tick::Part(part)];
        let iteration = [Tick::Value(iter.clone())];
        turn.into_iter().chain(inner).chain(iteration).collect()
    })
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Misaddressed};
    use crate::test_support::{accepts, apply, assert_same_results, kernel, refuses};

    #[test]
    fn scheme() {
        accepts(
            "kernel @k(n: i64, a: f64[n, n], y: f64[n]) {
  affine.for i in 0..n { affine.for k in 0..n { y[i] reduce(add) a[i, k] } }
}",
            "unroll_and_jam(i, 2)",
            "kernel @k(n: i64, a: f64[n, n], y: f64[n]) {
  affine.for i in 0..n - 1 step 2 {
    affine.for k in 0..n { y[i] reduce(add) a[i, k] y[i + 1] reduce(add) a[i + 1, k] }
  }
  affine.for i_r in max(0, (n floordiv 2) * 2)..n {
    affine.for k_1 in 0..n { y[i_r] reduce(add) a[i_r, k_1] }
  }
}",
        );
    }

    #[test]
    fn what_stands_around_the_loop_is_done_before_and_behind() {
        accepts(
            "kernel @k(n: i64, m: i64, a: f64[n, m], y: f64[n]) {
  affine.for i in 0..n { var s: f64 = y[i] affine.for k in 0..m { s reduce(add) a[i, k] } y[i] = s }
}",
            "unroll_and_jam(i, 2)",
            "kernel @k(n: i64, m: i64, a: f64[n, m], y: f64[n]) {
  affine.for i in 0..n - 1 step 2 {
    var s_0: f64 = y[i]
    var s_1: f64 = y[i + 1]
    affine.for k in 0..m { s_0 reduce(add) a[i, k] s_1 reduce(add) a[i + 1, k] }
    y[i] = s_0
    y[i + 1] = s_1
  }
  affine.for i_r in max(0, (n floordiv 2) * 2)..n {
    var s_1_2: f64 = y[i_r]
    affine.for k_1 in 0..m { s_1_2 reduce(add) a[i_r, k_1] }
    y[i_r] = s_1_2
  }
}",
        );
    }

    #[test]
    fn statements_around_loops_at_any_bounds() {
        for outer in ["0..n", "1..n step 2", "0..6", "0..3", "n - 5..n"] {
            for inner in ["0..m", "max(0, m - 2)..n step 2"] {
                let before = kernel(&format!(
                    "kernel @k(n: i64, m: i64, a: f64[n + 9, n + m + 9], y: f64[n + 9], z: f64[n + m + 9]) {{
                       var most: f64 = 0.0
                       affine.for i in {outer} {{
                         var s: f64 = y[i]
                         scf.if s < 0.0 {{ s = 0.0 }}
                         affine.for k in {inner} {{ s reduce(add) a[i, k] z[k] reduce(add) a[i, k] * f64(i) }}
                         alloc t: f64[2]
                         t[0] = s
                         scf.if most < t[0] {{ most = s y[i] = s }}
                       }}
                     }}"
                ));
                for factor in [2, 3] {
                    let script = format!("unroll_and_jam(i, {factor})");
                    assert_same_results(&before, &apply(&before, &script));
                }
            }
        }
    }

    #[test]
    fn what_stands_around_the_loop_keeps_its_order() {
        let source = |before: &str, inside: &str, after: &str| {
            format!(
                "kernel @k(n: i64, a: f64[n + 1, n], y: f64[n + 1], z: f64[n + 1]) {{
                   affine.for i in 1..n {{ {before} affine.for k in 0..n {{ {inside} }} {after} }}
                 }}"
            )
        };
        for source in [
            source("var s: f64 = y[i - 1]", "s reduce(add) a[i, k]", "y[i] = s"),
            source("y[i - 1] = 0.0", "y[i] reduce(add) a[i, k]", ""),
            source("", "a[i, k] = y[i - 1]", "y[i] = 1.0"),
            source("z[0] = y[i]", "y[i] reduce(add) z[0]", ""),
        ] {
            refuses(&source, "unroll_and_jam(i, 2)", Illegal, "Reverses");
        }
        let two = source(
            "",
            "y[i] reduce(add) a[i, k]",
            "affine.for l in 0..n { z[i] = y[l] }",
        );
        refuses(&two, "unroll_and_jam(i, 2)", Misaddressed, "NothingToJam");
    }

    #[test]
    fn any_bounds() {
        for outer in [
            "0..n",
            "1..n step 2",
            "0..6",
            "0..3",
            "0..2",
            "n - 5..n",
            "1..min(n, 7)",
        ] {
            for inner in ["0..m", "max(0, m - 2)..n step 2"] {
                let before = kernel(&format!(
                    "kernel @k(n: i64, m: i64, a: f64[n + 9, n + m + 9], y: f64[n + 9], z: f64[n + m + 9]) {{
                       affine.for i in {outer} {{
                         affine.for k in {inner} {{
                           affine.for l in 0..2 {{ let b: f64 = a[i, k + l] y[i] reduce(add) b z[k] reduce(add) b * f64(i) }}
                         }}
                       }}
                     }}"
                ));
                for factor in [2, 3] {
                    let script = format!("unroll_and_jam(i, {factor})");
                    assert_same_results(&before, &apply(&before, &script));
                }
            }
        }
    }

    #[test]
    fn refusals() {
        let source = "kernel @k(n: i64, a: f64[n, n]) {
  affine.for i in 1..n { affine.for k in 0..n - 1 { a[i, k] = a[i - 1, k + 1] } }
}";
        refuses(source, "unroll_and_jam(i, 2)", Illegal, "Reverses");
        refuses(source, "unroll_and_jam(k, 2)", Misaddressed, "NothingToJam");
        refuses(source, "unroll_and_jam(i, 1)", Misaddressed, "BadNumber");
        let triangle = source.replace("0..n - 1", "i..n - 1 step 2");
        refuses(
            &triangle,
            "unroll_and_jam(i, 2)",
            Misaddressed,
            "NothingToJam",
        );
    }
}
