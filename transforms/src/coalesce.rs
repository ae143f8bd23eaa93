//! The step `coalesce`.

use crate::address;
use crate::carried::Iterations;
use crate::copy::Copying;
use crate::fold::folded;
use crate::scalars;
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tiling::trip_count;
use crate::tree::{Nested, Replacing, successor};
use crate::{LoopPath, Reason};
use std::fmt;
use strew_affine::AffineValues;
use strew_affine::dependence::Analyzed;
use strew_affine::verify::Verified;
use strew_affine::visit::Loop;
use strew_affine::{
    AffineExpr, AffineFor, Block, Condition, Forall, IterId, Kernel, Node, Overflow, Relation,
    Variable,
};

/// Makes one loop of two that are perfectly nested, the inner one of which runs as often in every
/// turn of the outer one.
///
/// ```text
/// affine.for i in 0..n {              affine.for i_j in 0..32 * n {
///   affine.for j in 0..32 {     →       y[delinearize_index i_j into (n, 32)] = x[delinearize_index i_j into (n, 32)]
///     y[i, j] = x[i, j]               }
///   }
/// }
/// ```
///
/// Always legal: iterations keep their order. Where the outer loop is a `scf.forall` without
/// private buffers, the iterations of the inner one run at once, too, so no two of them may meet in
/// an element, or in a scalar, that one of them writes: where the outer one has few iterations,
/// there is more to share then.
///
/// ```text
/// scf.forall b in 0..n strategy(auto) {     scf.forall b_i in 0..n * m strategy(auto) {
///   affine.for i in 0..m {                    …
///     …                                 →   }
///   }
/// }
/// ```
///
/// With `below = 32` both loops stay as they are where the outer one has 32 iterations or more, and
/// what is made of them has names of its own.
///
/// The old iterators are what `delinearize_index` makes of the new one with the two trip counts as
/// its basis; subscripts in which they are linearized again are simplified. Where the trips of the
/// inner loop may be fewer than none, it is asked first whether there are any.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Coalesce {
    /// The outer loop, an `affine.for` or a `scf.forall`.
    pub outer: LoopPath,
    /// The inner loop, an `affine.for`, all that the outer one does.
    pub inner: LoopPath,
    /// Both stay as they are where the outer one has so many iterations or more.
    pub below: Option<u64>,
}

impl Coalesce {
    /// The word that the step begins with.
    pub const NAME: &'static str = "coalesce";

    /// A request to make one loop of `outer` and `inner`.
    pub fn new(outer: impl Into<LoopPath>, inner: impl Into<LoopPath>) -> Self {
        Self {
            outer: outer.into(),
            inner: inner.into(),
            below: None,
        }
    }

    /// The same only where the outer loop has fewer than `iterations`.
    #[must_use]
    pub fn below(self, iterations: u64) -> Self {
        Self {
            below: Some(iterations),
            ..self
        }
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let below = call.named("below")?.map(|it| it.number()).transpose()?;
        let request = Self::new(call.path()?, call.path()?);
        call.finish(&["below"])?;
        Ok(Self { below, ..request })
    }
}

impl fmt::Display for Coalesce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}, {}", Self::NAME, self.outer, self.inner)?;
        match self.below {
            Some(below) => write!(f, ", below = {below})"),
            None => f.write_str(")"),
        }
    }
}

impl Transform for Coalesce {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.outer, &mut self.inner]
    }
}

pub(crate) fn plan(kernel: &Kernel, request: &Coalesce) -> Result<Replacing, Reason> {
    let path = &request.outer;
    let Nested { it: outer, .. } = address::find_loop(kernel, path)?;
    let slow = match outer {
        Loop::Affine(it) => Counting::of(it, path)?,
        Loop::Forall(it) if it.privates.is_empty() && it.disjoint.is_empty() => {
            Counting::all_of(it)
        }
        Loop::Forall(_) => return Err(Reason::IsForall { path: path.clone() }),
        Loop::Scf(it) => {
            return Err(Reason::NotAffine {
                path: path.clone(),
                span: kernel.iters[it.iter].span,
            });
        }
    };
    let inner = address::only_loop_in(kernel, outer.body(), path, &request.inner)?;
    if matches!(outer, Loop::Forall(_)) {
        let iterations = Iterations::of(kernel, &request.inner, inner.iter);
        iterations.check_kept_apart(|_| true)?;
        scalars::check_none_set(kernel, &request.inner, inner)?;
    }
    let fast = Counting::of(inner, &request.inner)?;
    if fast.depends_on(outer.iter()) {
        return Err(Reason::NotRectangular {
            outer: request.outer.clone(),
            inner: request.inner.clone(),
        });
    }
    if !fast.trips.is_over_parameters() {
        return Err(Reason::MovingDivisor {
            path: request.inner.clone(),
        });
    }
    let mut prepared = kernel.clone();
    let coalesced = coalesced(&mut prepared, request, (outer, &slow), (inner, &fast))?;
    let coalesced = if_any(kernel, coalesced, fast.trips)?;
    Ok(Replacing {
        kernel: prepared,
        target: outer.iter(),
        replacement: vec![match request.below {
            Some(below) => where_few(&slow.trips, below, coalesced, outer)?,
            None => coalesced,
        }],
    })
}

/// The loop that is made of `outer` and `inner`.
fn coalesced(
    prepared: &mut Kernel,
    request: &Coalesce,
    (outer, slow): (Loop<'_>, &Counting),
    (inner, fast): (&AffineFor, &Counting),
) -> Result<Node, Reason> {
    let kernel = prepared.clone();
    let iter = successor(prepared, outer.iter(), &kernel.iters[inner.iter].name);
    let [quotient, remainder] = delinearized(&iter.into(), [&slow.trips, &fast.trips])?;
    let values = AffineValues {
        kernel: &kernel,
        counter: Some(iter),
    };
    let copying = Copying::default()
        .express(values, outer.iter(), slow.value(&quotient)?)
        .express(values, inner.iter, fast.value(&remainder)?);
    let copying = match request.below {
        Some(_) => copying.anew(prepared, &inner.body, 1),
        None => copying,
    };
    let body = copying.block(&inner.body)?.into();
    let count = slow.trips.times(&fast.trips)?;
    Ok(folded(match outer {
        Loop::Forall(outer) => Node::Forall(Forall {
            iter,
            count,
            body,
            ..outer.clone()
        }),
        Loop::Affine(_) | Loop::Scf(_) => Node::AffineFor(AffineFor {
            iter,
            lower: AffineExpr::from(0).into(),
            upper: count.into(),
            step: 1,
            lanes: 1,
            body,
        }),
    }))
}

/// The turns of both loops in turn number `index` of the one that is made of them.
fn delinearized(index: &AffineExpr, trips: [&AffineExpr; 2]) -> Result<[AffineExpr; 2], Overflow> {
    let [_, fast] = trips;
    if fast.as_constant().is_some_and(|it| it <= 0) {
        // Of a loop that never runs; a division by zero would be no expression.
        return Ok([0.into(), 0.into()]);
    }
    let indices = index.delinearize_index(&trips.map(Clone::clone));
    indices.and_then(|it| it.try_into().ok()).ok_or(Overflow)
}

/// The product of two negative trip counts is positive. With none of the inner loop there is none
/// of what is made, so nothing is divided by zero.
fn if_any(kernel: &Kernel, coalesced: Node, trips: AffineExpr) -> Result<Node, Overflow> {
    if Analyzed::of_parameters(kernel).is_never_negative(&trips) {
        return Ok(coalesced);
    }
    let constant = trips.constant();
    let none = constant.checked_neg().ok_or(Overflow)?;
    Ok(Node::AffineIf {
        conditions: vec![Condition {
            left: none.into(),
            relation: Relation::Less,
            right: trips.offset(none)?,
        }],
        then: [coalesced].into(),
        otherwise: Block::default(),
    })
}

/// `coalesced` where there are fewer than `below` iterations of `outer`, which is as it was where
/// there are more.
fn where_few(
    trips: &AffineExpr,
    below: u64,
    coalesced: Node,
    outer: Loop<'_>,
) -> Result<Node, Overflow> {
    let constant = trips.constant();
    let below = i64::try_from(below).map_err(|_| Overflow)?;
    Ok(Node::AffineIf {
        conditions: vec![Condition {
            left: trips.offset(constant.checked_neg().ok_or(Overflow)?)?,
            relation: Relation::Less,
            right: below.checked_sub(constant).ok_or(Overflow)?.into(),
        }],
        then: [coalesced].into(),
        otherwise: [outer.to_node()].into(),
    })
}

/// How a loop counts.
struct Counting {
    lower: AffineExpr,
    step: i64,
    trips: AffineExpr,
}

impl Counting {
    fn of(target: &AffineFor, path: &LoopPath) -> Result<Self, Reason> {
        address::check_no_lanes(target.lanes, path)?;
        let (lower, upper) = address::single_bounds(target, path)?;
        Ok(Self {
            lower: lower.clone(),
            step: target.step,
            trips: trip_count(lower, upper, target.step)?,
        })
    }

    fn all_of(target: &Forall) -> Self {
        Self {
            lower: 0.into(),
            step: 1,
            trips: target.count.clone(),
        }
    }

    fn depends_on(&self, outer: IterId) -> bool {
        let outer = Variable::Iter(outer);
        self.lower.mentions(outer) || self.trips.mentions(outer)
    }

    /// The iterator in turn number `turn`.
    fn value(&self, turn: &AffineExpr) -> Result<AffineExpr, Overflow> {
        self.lower.plus(&turn.scaled(self.step)?)
    }
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Misaddressed, Unproven};
    use crate::test_support::{accepts, apply, assert_same_meaning, kernel, refuses};

    fn nest(outer: &str, inner: &str) -> String {
        format!(
            "kernel @k(n: i64, m: i64, x: f64[n, m], out: f64[m]) {{
               affine.for i in {outer} {{
                 affine.for j in {inner} {{ out[j] reduce(add) x[i, j] + f64(i) * f64(j) }}
               }}
             }}"
        )
    }

    #[test]
    fn what_is_coalesced_again_comes_from_one_index() {
        accepts(
            "kernel @k(n: i64, a: f64[n, 4, 8], b: f64[n * 32]) {
  affine.for i in 0..n {
    affine.for j in 0..4 {
      affine.for k in 0..8 { b[linearize_index [i, j, k] by (n, 4, 8)] = a[i, j, k] }
    }
  }
}",
            "coalesce(j, k); coalesce(i, j_k)",
            "kernel @k(n: i64, a: f64[n, 4, 8], b: f64[n * 32]) {
  affine.for i_j_k in 0..n * 32 {
    b[i_j_k] = a[delinearize_index i_j_k into (n, 4, 8)]
  }
}",
        );
    }

    #[test]
    fn scheme() {
        accepts(
            "kernel @k(n: i64, x: f64[n, 32], y: f64[n, 32]) {
  affine.for i in 0..n {
    affine.for j in 0..32 { y[i, j] = x[i, j] }
  }
}",
            "coalesce(i, j)",
            "kernel @k(n: i64, x: f64[n, 32], y: f64[n, 32]) {
  affine.for i_j in 0..32 * n {
    y[delinearize_index i_j into (n, 32)] = x[delinearize_index i_j into (n, 32)]
  }
}",
        );
    }

    /// Producer and consumer of an array that is seen through a collapsed view, tile by tile, with
    /// sizes that are not known.
    #[test]
    fn tiles_reach_through_a_collapsed_view() {
        let before = kernel(
            "kernel @k(n: i64, m: i64, p: i64, x: i64[n, m, p], a: i64[n, m, p], b: i64[p, p], out: i64[n * m, p]) {
  view c = collapse(a, [[0, 1], [2]])
  affine.for i in 0..n { affine.for j in 0..m { affine.for k in 0..p { a[i, j, k] = x[i, j, k] * 2 } } }
  affine.for r in 0..n * m {
    affine.for s in 0..p { affine.for t in 0..p { out[r, s] reduce(add) c[r, t] * b[t, s] } }
  }
}",
        );
        let after = apply(
            &before,
            "coalesce(i, j) strip_mine(i_j = 3) strip_mine(r = 3) fuse(i_j_t, r_t) parallelize(i_j_t)",
        );
        let text = after.to_string();
        assert!(
            text.contains("c[i_j_p, k] = x[delinearize_index i_j_p into (n, m), k] * 2"),
            "{text}"
        );
        assert_same_meaning(&before, &after);
    }

    #[test]
    fn loops_that_run_at_once_become_one() {
        let rows = |loops: &str| {
            format!("kernel @k(n: i64, m: i64, x: f64[n, m, 9], y: f64[n, m, 9]) {{ {loops} }}")
        };
        let before = rows(
            "scf.forall b in 0..n strategy(auto) { affine.for i in 0..m { affine.for j in 0..9 { y[b, i, j] = x[b, i, j] } } }",
        );
        let both = |j: &str| {
            let row = "delinearize_index b_i into (n, m)";
            format!(
                "scf.forall b_i in 0..n * m strategy(auto) {{ affine.for {j} in 0..9 {{ y[{row}, {j}] = x[{row}, {j}] }} }}"
            )
        };
        accepts(&before, "coalesce(b, i)", &rows(&both("j")));
        let as_it_was = "scf.forall b in 0..n strategy(auto) { affine.for i in 0..m { affine.for j in 0..9 { y[b, i, j] = x[b, i, j] } } }";
        let few = format!(
            "affine.if (n < 32) {{ {} }} else {{ {as_it_was} }}",
            both("j_1")
        );
        accepts(&before, "coalesce(b, i, below = 32)", &rows(&few));
    }

    #[test]
    fn few_iterations_are_coalesced_and_many_stay() {
        for outer in ["0..n", "1..n step 2", "0..2", "n..3"] {
            let before = kernel(&nest(outer, "0..m"));
            for below in [0, 1, 2, 3, 100] {
                let script = format!("coalesce(i, j, below = {below})");
                assert_same_meaning(&before, &apply(&before, &script));
            }
        }
    }

    #[test]
    fn iterations_that_meet_do_not_run_at_once() {
        let rows = |body: &str| {
            format!(
                "kernel @k(n: i64, m: i64, x: f64[n, m], y: f64[n, m]) {{
                   scf.forall b in 0..n strategy(auto) {{ affine.for i in 1..m {{ {body} }} }}
                 }}"
            )
        };
        let carried = rows("y[b, i] = y[b, i - 1]");
        let reason = refuses(&carried, "coalesce(b, i)", Illegal, "Carried");
        assert!(reason.witness().is_some());
        let with_copies = "kernel @k(n: i64, m: i64, key: i32[n, m], out: f64[m]) {
          scf.forall b in 0..n private(p: f64[m] = identity(add)) merge(out reduce(add) p) strategy(auto) {
            affine.for i in 0..m { p[key[b, i]] reduce(add) 1.0 }
          }
        }";
        refuses(with_copies, "coalesce(b, i)", Misaddressed, "IsForall");
    }

    #[test]
    fn flat_subscripts_stay_flat() {
        accepts(
            "kernel @k(n: i64, x: f64[64 * n], y: f64[n, 64]) {
  affine.for i in 0..n {
    affine.for j in 0..64 {
      affine.for k in j..4 { y[i, j] = x[i * 64 + j] + x[64 * n - 1 - j - i * 64] }
    }
  }
}",
            "coalesce(i, j)",
            "kernel @k(n: i64, x: f64[64 * n], y: f64[n, 64]) {
  affine.for i_j in 0..64 * n {
    affine.for k in i_j mod 64..4 { y[i_j floordiv 64, i_j mod 64] = x[i_j] + x[-i_j + n * 64 - 1] }
  }
}",
        );
    }

    #[test]
    fn loops_that_may_not_run_at_all() {
        for outer in ["0..n", "1..n step 2", "n..3", "0..2"] {
            for inner in ["0..m", "1..m step 3", "m..n", "0..0", "2..m - 2"] {
                let before = kernel(&nest(outer, inner));
                assert_same_meaning(&before, &apply(&before, "coalesce(i, j)"));
            }
        }
    }

    #[test]
    fn refusals() {
        let refused = |outer, inner, verdict, name| {
            refuses(&nest(outer, inner), "coalesce(i, j)", verdict, name);
        };
        refused("0..n", "0..i", Misaddressed, "NotRectangular");
        refused("0..min(n, m)", "0..m", Unproven, "SeveralBounds");
        let inside = "kernel @k(n: i64, x: f64[n, n]) {
          affine.for k in 0..n { affine.for i in 0..n { affine.for j in 0..k { x[i, j] = 1.0 } } }
        }";
        refuses(inside, "coalesce(i, j)", Unproven, "MovingDivisor");
        let source = nest("0..n", "0..m");
        refuses(
            &source,
            "coalesce(j, i)",
            Misaddressed,
            "NotPerfectlyNested",
        );
    }
}
