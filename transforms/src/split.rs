//! The step `split`.

use crate::address::{self, Target};
use crate::cut::{Half, cut};
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tree::Replacing;
use crate::{LoopPath, Reason, Size};
use std::fmt;
use strew_affine::verify::Verified;
use strew_affine::{AffineExpr, AffineFor, Kernel, Node};

/// Cuts a loop in two at a value of its iterator.
///
/// ```text
/// affine.for i in 0..n {              affine.for i in 0..min(n, n floordiv 2) {
///   y[i] = x[i]                 →       y[i] = x[i]
/// }                                   }
///                                     affine.for i_r in max(0, n floordiv 2)..n {
///                                       y[i_r] = x[i_r]
///                                     }
/// ```
///
/// The value may depend on parameters and on the iterators of loops around. Always legal:
/// iterations keep their order. With a step the second loop begins at the first value that the
/// iterator takes from there on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Split {
    /// The loop, an `affine.for`.
    pub target: LoopPath,
    /// The least value of the iterator in the second loop.
    pub at: Size,
}

impl Split {
    /// The word that the step begins with.
    pub const NAME: &'static str = "split";

    /// A request to cut `target` at `at`.
    pub fn new(target: impl Into<LoopPath>, at: impl Into<Size>) -> Self {
        Self {
            target: target.into(),
            at: at.into(),
        }
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let target = call.path()?;
        let at = call.named("at")?;
        let at = at.ok_or_else(|| call.lacks("`at = n / 2`"))?;
        call.finish(&["at"])?;
        Ok(Self::new(target, at.size()?))
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}, at = {})", Self::NAME, self.target, self.at)
    }
}

impl Transform for Split {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.target]
    }
}

fn plan(kernel: &Kernel, request: &Split) -> Result<Replacing, Reason> {
    let path = &request.target;
    let Target { it: target, around } = address::find_affine_for(kernel, path)?;
    let at = request.at.resolve_inside(kernel, &around)?;
    let border = next_value(target, path, &at)?;
    let mut prepared = kernel.clone();
    let halves = cut(&mut prepared, target, path, &border, (Half::Above, "r"))?;
    Ok(Replacing {
        kernel: prepared,
        target: target.iter,
        replacement: halves.map(Node::AffineFor).to_vec(),
    })
}

/// The first of the values that the iterator takes, or would take below and above its bounds, that
/// is at least `at`.
pub(crate) fn next_value(
    target: &AffineFor,
    path: &LoopPath,
    at: &AffineExpr,
) -> Result<AffineExpr, Reason> {
    if target.step == 1 {
        return Ok(at.clone());
    }
    let lower = address::single(&target.lower, path)?;
    let turns = at.minus(lower)?.ceildiv(&target.step.into())?;
    Ok(lower.plus(&turns.scaled(target.step)?)?)
}

/// The iterator in the last iteration of `target`, as far as a step can speak of it.
pub(crate) fn last_iteration(kernel: &Kernel, target: &AffineFor) -> Option<Size> {
    target.lower.as_single()?;
    let upper = target.upper.as_single().filter(|_| target.step == 1)?;
    Size::of(kernel, &upper.offset(-1).ok()?)
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Misaddressed, Unproven};
    use crate::test_support::{accepts, apply, assert_same_meaning, kernel, refuses};

    const COPY: &str = "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i in 0..n { y[i] = x[i] }
}";

    #[test]
    fn scheme() {
        accepts(
            COPY,
            "split(i, at = n / 2)",
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i in 0..min(n, n floordiv 2) { y[i] = x[i] }
  affine.for i_r in max(0, n floordiv 2)..n { y[i_r] = x[i_r] }
}",
        );
    }

    #[test]
    fn the_border_may_move_with_a_loop_around() {
        let before = kernel(
            "kernel @k(n: i64, x: i64[n, n]) {
               affine.for k in 0..n { affine.for i in 1..n step 2 { x[i, k] = x[k, i] * 2 + i } }
             }",
        );
        for at in ["k", "k + 1", "n - k", "k / 2"] {
            let after = apply(&before, &format!("split(i, at = {at})"));
            assert!(after.to_string().contains("i_r in"), "{after}");
            assert_same_meaning(&before, &after);
        }
    }

    #[test]
    fn the_border_may_lie_anywhere() {
        for bounds in ["0..n", "2..n step 3", "max(1, n - 4)..n"] {
            let source = COPY.replace("0..n", bounds);
            let before = kernel(&source);
            for at in ["-4", "0", "3", "n", "2 * n", "n / 2 + 1", "-(n - 3)"] {
                let script = format!("split(i, at = {at})");
                assert_same_meaning(&before, &apply(&before, &script));
            }
        }
    }

    #[test]
    fn refusals() {
        refuses(COPY, "split(i, at = m)", Misaddressed, "NoSuchParameter");
        refuses(COPY, "split(i, at = n / 0)", Misaddressed, "DividesByZero");
        let several = COPY.replace("0..n", "max(0, n - 3)..n step 2");
        refuses(&several, "split(i, at = 1)", Unproven, "SeveralBounds");
    }
}
