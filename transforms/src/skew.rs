//! The step `skew`.

use crate::address::{self, Target};
use crate::copy::Copying;
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tree::{Replacing, successor};
use crate::{LoopPath, Reason};
use std::fmt;
use strew_affine::AffineValues;
use strew_affine::verify::Verified;
use strew_affine::{AffineExpr, AffineFor, Bound, Kernel, Node, Overflow};

/// Lets an inner loop count from a place that moves with an outer one, so that a later
/// `interchange` can make their diagonals rows.
///
/// ```text
/// affine.for i in 1..n {                        affine.for i in 1..n {
///   affine.for j in 1..n {                        affine.for j_s in i + 1..i + n {
///     a[i, j] = a[i - 1, j] + a[i, j - 1]   →       a[i, j_s - i] = a[i - 1, j_s - i] + a[i, j_s - i - 1]
///   }                                             }
/// }                                             }
/// ```
///
/// Always legal: the iterations are the same in the same order, and only called otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Skew {
    /// The inner loop, an `affine.for`.
    pub target: LoopPath,
    /// A loop around it.
    pub by: LoopPath,
    /// How far the inner loop moves with each value of the iterator of the outer one; not zero.
    pub factor: i64,
}

impl Skew {
    /// The word that the step begins with.
    pub const NAME: &'static str = "skew";

    /// A request to skew `target` by `factor` times the iterator of `by`.
    pub fn new(target: impl Into<LoopPath>, by: impl Into<LoopPath>, factor: i64) -> Self {
        Self {
            target: target.into(),
            by: by.into(),
            factor,
        }
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let [target, by] = call.path_by_path()?;
        let factor = call.offset()?;
        call.finish(&[])?;
        Ok(Self { target, by, factor })
    }
}

impl fmt::Display for Skew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, by, factor } = self;
        write!(f, "{}({target} by {by}, {factor})", Self::NAME)
    }
}

impl Transform for Skew {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.target, &mut self.by]
    }
}

fn plan(kernel: &Kernel, request: &Skew) -> Result<Replacing, Reason> {
    let Target { it: target, around } = address::find_affine_for(kernel, &request.target)?;
    let by = address::find_loop(kernel, &request.by)?.it.iter();
    if !around.iter().any(|it| it.iter() == by) {
        return Err(Reason::NotAround {
            outer: request.by.clone(),
            inner: request.target.clone(),
        });
    }
    if request.factor == 0 {
        return Err(Reason::NoSkew {
            path: request.target.clone(),
        });
    }
    let distance = AffineExpr::from(by).scaled(request.factor)?;
    let mut prepared = kernel.clone();
    let iter = successor(&mut prepared, target.iter, "s");
    let place = AffineExpr::from(iter).minus(&distance)?;
    let values = AffineValues {
        kernel,
        counter: None,
    };
    let copying = Copying::default().express(values, target.iter, place);
    let skewed = AffineFor {
        iter,
        lower: moved(&target.lower, &distance)?,
        upper: moved(&target.upper, &distance)?,
        body: copying.block(&target.body)?.into(),
        ..*target
    };
    Ok(Replacing {
        kernel: prepared,
        target: target.iter,
        replacement: vec![Node::AffineFor(skewed)],
    })
}

fn moved(bound: &Bound, distance: &AffineExpr) -> Result<Bound, Overflow> {
    let alternatives = bound.0.iter().map(|it| it.plus(distance));
    alternatives.collect::<Result<_, _>>().map(Bound)
}

#[cfg(test)]
mod tests {
    use crate::Verdict::Misaddressed;
    use crate::test_support::{accepts, apply, assert_same_meaning, kernel, refuses};

    const WAVE: &str = "kernel @k(n: i64, a: f64[n, n]) {
  affine.for i in 1..n {
    affine.for j in 1..n { a[i, j] = a[i - 1, j] + a[i, j - 1] }
  }
}";

    #[test]
    fn scheme() {
        accepts(
            WAVE,
            "skew(j by i, 1)",
            "kernel @k(n: i64, a: f64[n, n]) {
  affine.for i in 1..n {
    affine.for j_s in i + 1..i + n { a[i, j_s - i] = a[i - 1, j_s - i] + a[i, j_s - i - 1] }
  }
}",
        );
    }

    #[test]
    fn iterators_in_values_keep_their_values() {
        let before = kernel(
            "kernel @k(n: i64, x: f64[n], seg: i32[n], out: f64[n]) {
  affine.for i in 0..n step 2 {
    affine.for j in i..min(n, i + 3) step 2 { out[seg[j]] reduce(add) x[i] * f64(j) }
  }
}",
        );
        for factor in [-3, -1, 2] {
            let script = format!("skew(j by i, {factor})");
            assert_same_meaning(&before, &apply(&before, &script));
        }
    }

    #[test]
    fn refusals() {
        refuses(WAVE, "skew(j by i, 0)", Misaddressed, "NoSkew");
        refuses(WAVE, "skew(i by j, 1)", Misaddressed, "NotAround");
        refuses(WAVE, "skew(j by k, 1)", Misaddressed, "NoSuchLoop");
    }
}
