//! The step `sink`.

use crate::address::{self, Target};
use crate::join::continued;
use crate::one_loop::about_one_loop;
use crate::tree::{Replacing, new_iter, remove_loop, take_behind};
use crate::{LoopPath, Reason};
use strew_affine::{AffineExpr, AffineFor, IterId, Kernel, Node, Overflow, Variable};

/// Makes what stands behind a loop, in the body around it, the last iteration of that loop.
///
/// ```text
/// affine.for i in 0..n {                        affine.for i in 0..n {
///   affine.for j in 0..i {                        affine.for j in 0..i + 1 {
///     x[i] reduce(add) l[i, j] * x[j]      →        affine.if (j < i) { x[i] reduce(add) l[i, j] * x[j] } else {
///   }                                                 x[i] = x[i] / l[i, i]
///   x[i] = x[i] / l[i, i]                           }
/// }                                               }
///                                               }
/// ```
///
/// So a nest becomes perfect, and its loops can be interchanged and tiled. A loop that is behind,
/// and runs as the one it goes into does there, is joined with the loop that it meets. Always
/// legal: all iterations stay in their order. The loop needs steps of 1 and one upper bound, and
/// must never end before it begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sink {
    /// The loop, an `affine.for` with something behind it.
    pub target: LoopPath,
}

about_one_loop!(
    Sink,
    "sink",
    /// A request to make what stands behind `target` its last iteration.
);

fn plan(kernel: &Kernel, request: &Sink) -> Result<Replacing, Reason> {
    let path = &request.target;
    let Target { it: target, .. } = address::find_affine_for(kernel, path)?;
    address::check_no_lanes(target.lanes, path)?;
    let end = address::single(&target.upper, path)?;
    if target.step != 1 {
        return Err(Reason::SteppedBand { path: path.clone() });
    }
    let mut prepared = kernel.clone();
    let behind = take_behind(&mut prepared.body, target.iter);
    if behind.is_empty() {
        return Err(Reason::NothingBehind { path: path.clone() });
    }
    let last = last_iteration(&mut prepared, target, end, behind)?;
    // Only what stands in a kernel is known to stay within bounds.
    let with_last = Replacing {
        kernel: prepared,
        target: target.iter,
        replacement: vec![
            Node::AffineFor(target.clone()),
            Node::AffineFor(last.clone()),
        ],
    };
    let mut prepared = with_last.rewrite();
    let sunk = continued(&prepared, target, &last)?;
    let sunk = sunk.ok_or_else(|| Reason::MayEndEarly { path: path.clone() })?;
    remove_loop(&mut prepared.body, last.iter);
    Ok(Replacing {
        kernel: prepared,
        target: target.iter,
        replacement: vec![sunk],
    })
}

/// `behind` in a loop of one iteration, that at `end`. Where that is an iterator, bounds inside
/// speak of the new one instead.
fn last_iteration(
    kernel: &mut Kernel,
    target: &AffineFor,
    end: &AffineExpr,
    mut behind: Vec<Node>,
) -> Result<AffineFor, Overflow> {
    let iter = new_iter(kernel, target.iter, "l");
    if let Some(Variable::Iter(known)) = end.as_variable() {
        rename_in_bounds(&mut behind, known, iter)?;
    }
    Ok(AffineFor {
        iter,
        lower: end.clone().into(),
        upper: end.offset(1)?.into(),
        body: behind.into(),
        ..target.clone()
    })
}

fn rename_in_bounds(nodes: &mut [Node], from: IterId, to: IterId) -> Result<(), Overflow> {
    let renamed = |variable| (variable == Variable::Iter(from)).then(|| to.into());
    for node in nodes {
        if let Node::AffineFor(it) = node {
            for bound in it.lower.0.iter_mut().chain(&mut it.upper.0) {
                *bound = bound.substitute(&renamed)?;
            }
        }
        for block in node.blocks_mut() {
            rename_in_bounds(block, from, to)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Misaddressed, Unproven};
    use crate::test_support::{accepts, apply, assert_same_meaning, kernel, refuses};

    fn solve(bounds: &str, behind: &str) -> String {
        format!(
            "kernel @solve(n: i64, m: i64, l: f64[n, n], x: f64[n]) {{
  affine.for i in 0..n {{
    affine.for j in {bounds} {{ x[i] reduce(add) l[i, j] * x[j] }}
    {behind}
  }}
}}"
        )
    }

    #[test]
    fn scheme() {
        accepts(
            &solve("0..i", "x[i] = x[i] / l[i, i]"),
            "sink(j)",
            "kernel @solve(n: i64, m: i64, l: f64[n, n], x: f64[n]) {
  affine.for i in 0..n {
    affine.for j in 0..i + 1 {
      affine.if (j < i) { x[i] reduce(add) l[i, j] * x[j] } else {
        x[i] = x[i] / l[i, i]
      }
    }
  }
}",
        );
    }

    /// A row of Cholesky's factorization: what is behind runs as what is inside does, so one loop
    /// does both.
    #[test]
    fn loops_behind_join_loops_inside() {
        accepts(
            "kernel @cholesky(n: i64, a: f64[n, n]) {
  affine.for i in 0..n {
    affine.for j in 0..i {
      affine.for k in 0..j { a[i, j] reduce(add) -(a[i, k] * a[j, k]) }
      a[i, j] = a[i, j] / a[j, j]
    }
    affine.for k_1 in 0..i { a[i, i] reduce(add) -(a[i, k_1] * a[i, k_1]) }
    a[i, i] = sqrt(a[i, i])
  }
}",
            "sink(k); sink(k_1); sink(j)",
            "kernel @cholesky(n: i64, a: f64[n, n]) {
  affine.for i in 0..n {
    affine.for j in 0..i + 1 {
      affine.for k in 0..j + 1 {
        affine.if (j < i) {
          affine.if (k < j) { a[i, j] reduce(add) -(a[i, k] * a[j, k]) } else {
            a[i, j] = a[i, j] / a[j, j]
          }
        } else {
          affine.if (k < i) { a[i, i] reduce(add) -(a[i, k] * a[i, k]) } else {
            a[i, i] = sqrt(a[i, i])
          }
        }
      }
    }
  }
}",
        );
    }

    #[test]
    fn any_bounds_that_do_not_cross() {
        for bounds in ["0..n", "i..n", "i + 1..n", "0..0", "i..i + 1"] {
            let before = kernel(&solve(bounds, "let a: f64 = x[i] x[i] = a + 1.0"));
            assert_same_meaning(&before, &apply(&before, "sink(j)"));
        }
    }

    #[test]
    fn refusals() {
        let refused = |bounds, behind, verdict, name| {
            refuses(&solve(bounds, behind), "sink(j)", verdict, name);
        };
        refused("0..n", "", Misaddressed, "NothingBehind");
        refused("0..n step 2", "x[i] = 1.0", Unproven, "SteppedBand");
        refused("0..min(n, m)", "x[i] = 1.0", Unproven, "SeveralBounds");
        refused("2..i", "x[i] = 1.0", Unproven, "MayEndEarly");
        refused("0..m", "x[i] = 1.0", Unproven, "MayEndEarly");
    }
}
