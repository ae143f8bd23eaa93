//! The step `unroll_and_jam`.

use super::{Copies, Hoisting, checked_copies, counted_bounds};
use crate::address::{self, Target};
use crate::order::{Reordering, Tick};
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tree::Replacing;
use crate::{LoopPath, Reason};
use std::fmt;
use strew_affine::verify::Verified;
use strew_affine::{AffineExpr, AffineFor, Bound, Kernel, Node, Overflow, Variable};

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
/// Jammed are the loops that are all that the one around them does, as long as their bounds do not depend on the loop that is unrolled.
/// Legal when of any two accesses of one element, one of them writing, the first one stays the first; updates by one commutative
/// combiner may change places. If iterations fail, the first failure is that of the new order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnrollAndJam {
    /// The outer loop, an `affine.for` with one bound on each side, beside ends that are whole turns away, that does nothing but another loop.
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
    address::check_no_lanes(target, path)?;
    let factor = checked_copies(request.factor, &target.body)?;
    let (lower, upper) = counted_bounds(target, path, factor)?;
    let jammed = jammed_loops(target);
    if jammed.is_empty() {
        return Err(Reason::NothingToJam { path: path.clone() });
    }
    check(kernel, target, &jammed, (lower, factor))?;
    let copies = Copies {
        target,
        jammed: &jammed,
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

/// The loops inside of `target`, each all that the one before does, whose bounds are the same in all its iterations.
fn jammed_loops(target: &AffineFor) -> Vec<&AffineFor> {
    let moves = |bound: &Bound| {
        let mut alternatives = bound.0.iter();
        alternatives.any(|it| it.mentions(Variable::Iter(target.iter)))
    };
    let mut found = Vec::new();
    let mut current = target;
    while let [Node::AffineFor(next)] = current.body.as_slice() {
        if moves(&next.lower) || moves(&next.upper) || next.lanes != 1 {
            break;
        }
        found.push(next);
        current = next;
    }
    found
}

/// That accesses keep their order: turns first, then the iterations of the jammed loops, then those of a turn.
fn check(
    kernel: &Kernel,
    target: &AffineFor,
    jammed: &[&AffineFor],
    (lower, factor): (&AffineExpr, i64),
) -> Result<(), Reason> {
    let length = factor.checked_mul(target.step).ok_or(Overflow)?;
    let iter = AffineExpr::from(target.iter);
    let turn = iter.minus(lower)?.floordiv(&length.into())?;
    let inner = jammed.iter().map(|it| AffineExpr::from(it.iter));
    let times: Vec<Tick> = [turn]
        .into_iter()
        .chain(inner)
        .chain([iter])
        .map(Tick::Value)
        .collect();
    let band: Vec<&AffineFor> = [target].into_iter().chain(jammed.iter().copied()).collect();
    Reordering::of(kernel, &band).check(|_| times.clone())
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
        let triangle = source.replace("0..n - 1", "i..n - 1");
        refuses(
            &triangle,
            "unroll_and_jam(i, 2)",
            Misaddressed,
            "NothingToJam",
        );
    }
}
