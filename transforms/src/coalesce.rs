//! The step `coalesce`.

use crate::address::{self, Target};
use crate::copy::Copying;
use crate::fold::folded;
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tiling::trip_count;
use crate::tree::{Replacing, successor};
use crate::{LoopPath, Reason};
use std::fmt;
use strew_affine::AffineValues;
use strew_affine::dependence::Analyzed;
use strew_affine::verify::Verified;
use strew_affine::{
    AffineExpr, AffineFor, Block, Condition, Kernel, Node, Overflow, Relation, Variable,
};

/// Makes one loop of two that are perfectly nested, the inner one of which runs as often in every turn of the outer one.
///
/// ```text
/// affine.for i in 0..n {              affine.for i_j in 0..32 * n {
///   affine.for j in 0..32 {     →       y[delinearize_index i_j into (n, 32)] = x[delinearize_index i_j into (n, 32)]
///     y[i, j] = x[i, j]               }
///   }
/// }
/// ```
///
/// Always legal: iterations keep their order. The old iterators are what `delinearize_index` makes of the new one with the two trip
/// counts as its basis; subscripts in which they are linearized again are simplified. Where the trips of the inner loop may be fewer than
/// none, it is asked first whether there are any.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Coalesce {
    /// The outer loop, an `affine.for`.
    pub outer: LoopPath,
    /// The inner loop, an `affine.for`, all that the outer one does.
    pub inner: LoopPath,
}

impl Coalesce {
    /// The word that the step begins with.
    pub const NAME: &'static str = "coalesce";

    /// A request to make one loop of `outer` and `inner`.
    pub fn new(outer: impl Into<LoopPath>, inner: impl Into<LoopPath>) -> Self {
        Self {
            outer: outer.into(),
            inner: inner.into(),
        }
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let request = Self::new(call.path()?, call.path()?);
        call.finish(&[])?;
        Ok(request)
    }
}

impl fmt::Display for Coalesce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}, {})", Self::NAME, self.outer, self.inner)
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

fn plan(kernel: &Kernel, request: &Coalesce) -> Result<Replacing, Reason> {
    let Target { it: outer, .. } = address::find_affine_for(kernel, &request.outer)?;
    let inner = address::only_loop_in(kernel, outer, &request.outer, &request.inner)?;
    let [slow, fast] = [
        Counting::of(outer, &request.outer)?,
        Counting::of(inner, &request.inner)?,
    ];
    if fast.depends_on(outer) {
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
    let iter = successor(&mut prepared, outer.iter, &kernel.iters[inner.iter].name);
    let [quotient, remainder] = delinearized(&iter.into(), [&slow.trips, &fast.trips])?;
    let values = AffineValues {
        kernel,
        counter: Some(iter),
    };
    let copying = Copying::default()
        .express(values, outer.iter, slow.value(&quotient)?)
        .express(values, inner.iter, fast.value(&remainder)?);
    let coalesced = Node::AffineFor(AffineFor {
        iter,
        lower: AffineExpr::from(0).into(),
        upper: slow.trips.times(&fast.trips)?.into(),
        step: 1,
        lanes: 1,
        body: copying.block(&inner.body)?.into(),
    });
    Ok(Replacing {
        kernel: prepared,
        target: outer.iter,
        replacement: vec![if_any(kernel, folded(coalesced), fast.trips)],
    })
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

/// The product of two negative trip counts is positive. With none of the inner loop there is none of what is made, so nothing is divided
/// by zero.
fn if_any(kernel: &Kernel, coalesced: Node, trips: AffineExpr) -> Node {
    if Analyzed::of_parameters(kernel).is_never_negative(&trips) {
        return coalesced;
    }
    Node::AffineIf {
        conditions: vec![Condition {
            left: 0.into(),
            relation: Relation::Less,
            right: trips,
        }],
        then: [coalesced].into(),
        otherwise: Block::default(),
    }
}

/// How a loop counts.
struct Counting<'k> {
    lower: &'k AffineExpr,
    step: i64,
    trips: AffineExpr,
}

impl<'k> Counting<'k> {
    fn of(target: &'k AffineFor, path: &LoopPath) -> Result<Self, Reason> {
        address::check_no_lanes(target.lanes, path)?;
        let (lower, upper) = address::single_bounds(target, path)?;
        Ok(Self {
            lower,
            step: target.step,
            trips: trip_count(lower, upper, target.step)?,
        })
    }

    fn depends_on(&self, outer: &AffineFor) -> bool {
        let outer = Variable::Iter(outer.iter);
        self.lower.mentions(outer) || self.trips.mentions(outer)
    }

    /// The iterator in turn number `turn`.
    fn value(&self, turn: &AffineExpr) -> Result<AffineExpr, Overflow> {
        self.lower.plus(&turn.scaled(self.step)?)
    }
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Misaddressed, Unproven};
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

    /// Producer and consumer of an array that is seen through a collapsed view, tile by tile, with sizes that are not known.
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
