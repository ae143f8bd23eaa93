//! The step `reverse`.

use crate::address::{self, Target};
use crate::copy::Copying;
use crate::one_loop::about_one_loop;
use crate::order::{Reordering, Tick};
use crate::tiling::trip_count;
use crate::tree::{Replacing, successor};
use crate::{LoopPath, Reason};
use strew_affine::AffineValues;
use strew_affine::{AffineExpr, AffineFor, Bound, Kernel, Node};

/// Runs a loop from its end to its beginning.
///
/// ```text
/// affine.for i in 0..n {              affine.for i_r in 0..n {
///   y[i] = x[i]                 →       y[n - i_r - 1] = x[n - i_r - 1]
/// }                                   }
/// ```
///
/// Legal when of any two accesses of one element, one of them writing, the first one stays the
/// first. Updates by one commutative combiner may change places. If iterations fail, the first
/// failure is that of the new order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reverse {
    /// The loop, an `affine.for`.
    pub target: LoopPath,
}

about_one_loop!(
    Reverse,
    "reverse",
    /// A request to run `target` backwards.
);

fn plan(kernel: &Kernel, request: &Reverse) -> Result<Replacing, Reason> {
    let path = &request.target;
    let Target { it: target, .. } = address::find_affine_for(kernel, path)?;
    address::check_no_lanes(target.lanes, path)?;
    let (lower, upper) = address::single_bounds(target, path)?;
    let backwards = AffineExpr::from(target.iter).scaled(-1)?;
    let reordering = Reordering::of(kernel, &[target]);
    reordering.check(|_| vec![Tick::Value(backwards.clone())])?;
    let trips = trip_count(lower, upper, target.step)?;
    let last = lower.plus(&trips.offset(-1)?.scaled(target.step)?)?;
    let mut prepared = kernel.clone();
    let iter = successor(&mut prepared, target.iter, "r");
    let values = AffineValues {
        kernel,
        counter: None,
    };
    // The new iterator goes through the same values: `lower` is where it begins, whatever the step.
    let mirrored = lower.plus(&last)?.minus(&iter.into())?;
    let copying = Copying::default().express(values, target.iter, mirrored);
    Ok(Replacing {
        target: target.iter,
        replacement: vec![Node::AffineFor(AffineFor {
            iter,
            lower: Bound(vec![lower.clone()]),
            upper: Bound(vec![upper.clone()]),
            step: target.step,
            lanes: 1,
            body: copying.block(&target.body)?.into(),
        })],
        kernel: prepared,
    })
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Unproven};
    use crate::test_support::{accepts, apply, assert_same_results, kernel, refuses};

    #[test]
    fn scheme() {
        accepts(
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i in 0..n { y[i] = x[i] }
}",
            "reverse(i)",
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i_r in 0..n { y[n - i_r - 1] = x[n - i_r - 1] }
}",
        );
    }

    #[test]
    fn any_bounds_and_steps() {
        for bounds in ["0..n", "2..n step 3", "n - 6..n step 4", "n..2"] {
            let source = format!(
                "kernel @k(n: i64, x: f64[n], out: f64[n], y: f64[n]) {{
                   affine.for i in {bounds} {{ y[i] = x[i] * f64(i) out[0] reduce(add) x[i] }}
                 }}"
            );
            let before = kernel(&source);
            assert_same_results(&before, &apply(&before, "reverse(i)"));
        }
    }

    /// Of an index only what a narrower type keeps of it is a bound.
    #[test]
    fn bounds_that_are_converted_are_others() {
        let source = "kernel @k(n: i64, ptr: i32[n], y: f64[n]) {
  affine.for i in 0..n { scf.for p in i64(u8(ptr[i]))..i64(ptr[i]) { y[p] = f64(i) } }
}";
        refuses(source, "reverse(i)", Unproven, "Reverses");
    }

    /// Nor is an element that was written between.
    #[test]
    fn bounds_that_were_read_apart_are_others() {
        let source = "kernel @k(n: i64, row: i64[4], x: f64[n]) {
  let lo: i64 = row[0]
  row[0] = 7
  let hi: i64 = row[0]
  scf.for p in lo..hi { affine.for i in 1..n { x[i] = x[i - 1] + 1.0 } }
}";
        refuses(source, "reverse(i)", Unproven, "Reverses");
    }

    #[test]
    fn refusals() {
        let source = |body: &str| {
            format!(
                "kernel @k(n: i64, seg: i32[n], x: f64[n]) {{ affine.for i in 1..n {{ {body} }} }}"
            )
        };
        refuses(
            &source("x[i] = x[i - 1]"),
            "reverse(i)",
            Illegal,
            "Reverses",
        );
        refuses(
            &source("x[0] = x[i] + x[0]"),
            "reverse(i)",
            Illegal,
            "Reverses",
        );
        refuses(
            &source("x[seg[i]] = 1.0 * f64(i)"),
            "reverse(i)",
            Unproven,
            "Reverses",
        );
    }
}
