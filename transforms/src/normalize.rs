//! The step `normalize`.

use crate::address::{self, Target};
use crate::copy::Copying;
use crate::one_loop::about_one_loop;
use crate::tiling::trip_count;
use crate::tree::Replacing;
use crate::{LoopPath, Reason};
use strew_affine::{AffineExpr, AffineFor, Bound, Kernel, Node};

/// Lets a loop count its iterations, from zero by one, so that steps can be taken that need steps
/// of 1.
///
/// ```text
/// affine.for i in 2..n step 3 {       affine.for i_c in 0..(n - 2) ceildiv 3 {
///   y[i] = x[i]                   →     y[i_c * 3 + 2] = x[i_c * 3 + 2]
/// }                                   }
/// ```
///
/// Always legal: the iterations are the same in the same order, and only called otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Normalize {
    /// The loop, an `affine.for` with one lower bound.
    pub target: LoopPath,
}

about_one_loop!(
    Normalize,
    "normalize",
    /// A request to let `target` count its iterations.
);

fn plan(kernel: &Kernel, request: &Normalize) -> Result<Replacing, Reason> {
    let path = &request.target;
    let Target { it: target, .. } = address::find_affine_for(kernel, path)?;
    address::check_no_lanes(target.lanes, path)?;
    let lower = address::single(&target.lower, path)?;
    let uppers = target.upper.0.iter();
    let uppers = uppers.map(|upper| trip_count(lower, upper, target.step));
    let upper = Bound(uppers.collect::<Result<_, _>>()?);
    let mut prepared = kernel.clone();
    let (iter, counting) = Copying::counting(&mut prepared, target, lower)?;
    let normalized = AffineFor {
        iter,
        lower: AffineExpr::from(0).into(),
        upper,
        step: 1,
        lanes: 1,
        body: counting.block(&target.body)?.into(),
    };
    Ok(Replacing {
        kernel: prepared,
        target: target.iter,
        replacement: vec![Node::AffineFor(normalized)],
    })
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Misaddressed, Unproven};
    use crate::test_support::{accepts, apply, assert_same_meaning, kernel, refuses};

    #[test]
    fn scheme() {
        accepts(
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i in 2..n step 3 { y[i] = x[i] }
}",
            "normalize(i)",
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i_c in 0..(n - 2) ceildiv 3 { y[i_c * 3 + 2] = x[i_c * 3 + 2] }
}",
        );
    }

    fn source(outer: &str, inner: &str) -> String {
        format!(
            "kernel @k(n: i64, m: i64, a: i64[n, n]) {{
               affine.for i in {outer} {{ affine.for j in {inner} {{ a[i, j] = i * 3 + j }} }}
             }}"
        )
    }

    #[test]
    fn any_bounds_and_steps() {
        for (outer, inner) in [
            ("0..n", "i..n step 2"),
            ("1..min(n, m)", "0..i"),
            ("1..n step 4", "i..min(n, i + 4)"),
            ("n - 3..n step 2", "0..i step 3"),
            ("3..0", "0..n"),
        ] {
            let before = kernel(&source(outer, inner));
            for script in ["normalize(i)", "normalize(j)", "normalize(i); normalize(j)"] {
                assert_same_meaning(&before, &apply(&before, script));
            }
        }
    }

    #[test]
    fn tiles_that_are_counted_can_be_skewed() {
        let before = kernel(
            "kernel @k(n: i64, a: f64[n, n]) {
               affine.for i in 1..n {
                 affine.for j in 1..n { a[i, j] = a[i - 1, j] + a[i, j - 1] }
               }
             }",
        );
        let after = apply(
            &before,
            "tile(i = 3, j = 2); normalize(i_t); normalize(j_t)
             skew(j_t_c by i_t_c, 1); interchange(i_t_c, j_t_c_s); parallelize(i_t_c)",
        );
        assert_same_meaning(&before, &after);
    }

    #[test]
    fn refusals() {
        let several = source("max(0, n - 2)..n", "0..n");
        refuses(&several, "normalize(i)", Unproven, "SeveralBounds");
        let lanes = source("0..n", "0..n lanes 4");
        refuses(&lanes, "normalize(j)", Misaddressed, "HasLanes");
    }
}
