//! The steps `interchange` and `permute`.

use crate::address;
use crate::nest::{find_band, reordered_bounds};
use crate::order::{Reordering, Tick};
use crate::reason::checked_number;
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tree::Replacing;
use crate::{LoopPath, Reason};
use std::fmt;
use strew_affine::verify::Verified;
use strew_affine::{AffineFor, IterId, Kernel, Node};

/// Lets two loops change places, and those between them stay.
///
/// ```text
/// affine.for i in 0..n {              affine.for j in 0..n {
///   affine.for j in 0..i + 1 {   →      affine.for i in j..n {
///     y[j] reduce(add) a[i, j]            y[j] reduce(add) a[i, j]
///   }                                   }
/// }                                   }
/// ```
///
/// Legal as [`Permute`] is, which this is for two loops.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Interchange {
    /// The outer loop.
    pub outer: LoopPath,
    /// A loop inside, with nothing but loops between the two.
    pub inner: LoopPath,
}

/// Nests loops in another order.
///
/// ```text
/// affine.for i in 0..n {                        affine.for i in 0..n {
///   affine.for j in 0..n {                        affine.for k in 0..n {
///     affine.for k in 0..n {                        affine.for j in 0..n {
///       c[i, j] reduce(add) a[i, k] * b[k, j]   →     c[i, j] reduce(add) a[i, k] * b[k, j]
///     }                                             }
///   }                                             }
/// }                                             }
/// ```
///
/// Legal when of any two accesses of one element, one of them writing, the first one stays the
/// first. Updates by one commutative combiner may change places, which regroups them. Bounds that
/// depend on other loops of the band are found anew by Fourier-Motzkin elimination, which takes
/// steps of 1. If iterations fail, the first failure is that of the new order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Permute {
    /// All loops of a perfect nest from the outermost to the innermost that moves, in their new
    /// order.
    pub order: Vec<LoopPath>,
}

impl Interchange {
    /// The word that the step begins with.
    pub const NAME: &'static str = "interchange";

    /// A request to let `outer` and `inner` change places.
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

impl Permute {
    /// The word that the step begins with.
    pub const NAME: &'static str = "permute";

    /// A request to nest loops in this order.
    pub fn new(order: impl IntoIterator<Item = impl Into<LoopPath>>) -> Self {
        Self {
            order: order.into_iter().map(Into::into).collect(),
        }
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let order = call.paths()?;
        Ok(Self { order })
    }
}

impl fmt::Display for Interchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}, {})", Self::NAME, self.outer, self.inner)
    }
}

impl fmt::Display for Permute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order: Vec<_> = self.order.iter().map(LoopPath::to_string).collect();
        write!(f, "{}({})", Self::NAME, order.join(", "))
    }
}

impl Transform for Interchange {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        let band = band_between(kernel, &self.outer, &self.inner)?;
        let last = band.len() - 1;
        let mut order: Vec<usize> = (0..band.len()).collect();
        order.swap(0, last);
        Ok(plan(kernel, &band, &order, &self.outer)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.outer, &mut self.inner]
    }
}

impl Transform for Permute {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        let (band, order) = band_of(kernel, &self.order)?;
        let outermost = order.iter().position(|it| *it == 0);
        let path = outermost.and_then(|it| self.order.get(it));
        let path = path.cloned().unwrap_or_else(|| LoopPath::new([""; 0]));
        Ok(plan(kernel, &band, &order, &path)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        self.order.iter_mut().collect()
    }
}

/// The loops from `outer` to `inner`, each all that the one before does.
fn band_between<'k>(
    kernel: &'k Kernel,
    outer: &LoopPath,
    inner: &LoopPath,
) -> Result<Vec<&'k AffineFor>, Reason> {
    let [first] = find_band(kernel, std::slice::from_ref(outer))?[..] else {
        return Ok(Vec::new());
    };
    let [last] = find_band(kernel, std::slice::from_ref(inner))?[..] else {
        return Ok(Vec::new());
    };
    if first.iter == last.iter {
        let path = inner.clone();
        return Err(Reason::LoopNamedTwice { path });
    }
    let mut band = vec![first];
    let mut current = first;
    while let [Node::AffineFor(next)] = current.body.as_slice() {
        band.push(next);
        if next.iter == last.iter {
            return Ok(band);
        }
        current = next;
    }
    Err(Reason::NotPerfectlyNested {
        outer: outer.clone(),
        inner: inner.clone(),
    })
}

/// Nests are not deeper than that.
const MOST_LOOPS: u64 = 64;

/// The loops as they are nested, and at which places of that the new order has them.
fn band_of<'k>(
    kernel: &'k Kernel,
    order: &[LoopPath],
) -> Result<(Vec<&'k AffineFor>, Vec<usize>), Reason> {
    let count = u64::try_from(order.len()).unwrap_or(u64::MAX);
    checked_number::<u64>("the number of loops", count, 2..=MOST_LOOPS)?;
    let mut found: Vec<(usize, IterId, LoopPath)> = Vec::new();
    for path in order {
        let target = crate::address::find_affine_for(kernel, path)?;
        found.push((target.around.len(), target.it.iter, path.clone()));
    }
    let mut nested = found.clone();
    nested.sort_by_key(|(depth, ..)| *depth);
    let paths: Vec<_> = nested.iter().map(|(.., path)| path.clone()).collect();
    let band = find_band(kernel, &paths)?;
    let place = |iter: IterId| nested.iter().position(|(_, it, _)| *it == iter);
    let order = found.iter().filter_map(|(_, iter, _)| place(*iter));
    Ok((band, order.collect()))
}

fn plan(
    kernel: &Kernel,
    band: &[&AffineFor],
    order: &[usize],
    path: &LoopPath,
) -> Result<Replacing, Reason> {
    let bounds = reordered_bounds(band, order, path)?;
    let loops: Vec<&AffineFor> = order
        .iter()
        .filter_map(|it| band.get(*it).copied())
        .collect();
    Reordering::of(kernel, band).check(|_| {
        let values = loops.iter().map(|it| Tick::Value(it.iter.into()));
        values.collect()
    })?;
    let (Some(outermost), Some(innermost)) = (band.first(), band.last()) else {
        return Err(address::no_such_loop(kernel, path));
    };
    let mut body = innermost.body.clone();
    for (it, (lower, upper)) in loops.iter().zip(bounds).rev() {
        body = [Node::AffineFor(AffineFor {
            iter: it.iter,
            lower,
            upper,
            step: it.step,
            lanes: 1,
            body,
        })]
        .into();
    }
    Ok(Replacing {
        kernel: kernel.clone(),
        target: outermost.iter,
        replacement: body.into(),
    })
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Misaddressed};
    use crate::test_support::{accepts, apply, assert_same_results, kernel, refuses};

    #[test]
    fn scheme_of_interchange() {
        accepts(
            "kernel @k(n: i64, a: f64[n, n], y: f64[n]) {
  affine.for i in 0..n {
    affine.for j in 0..i + 1 { y[j] reduce(add) a[i, j] }
  }
}",
            "interchange(i, j)",
            "kernel @k(n: i64, a: f64[n, n], y: f64[n]) {
  affine.for j in 0..n {
    affine.for i in j..n { y[j] reduce(add) a[i, j] }
  }
}",
        );
    }

    const PRODUCT: &str = "kernel @k(n: i64, a: f64[n, n], b: f64[n, n], c: f64[n, n]) {
  affine.for i in 0..n {
    affine.for j in 0..n {
      affine.for k in 0..n { c[i, j] reduce(add) a[i, k] * b[k, j] }
    }
  }
}";

    #[test]
    fn scheme_of_permute() {
        accepts(
            PRODUCT,
            "permute(i, k, j)",
            "kernel @k(n: i64, a: f64[n, n], b: f64[n, n], c: f64[n, n]) {
  affine.for i in 0..n {
    affine.for k in 0..n {
      affine.for j in 0..n { c[i, j] reduce(add) a[i, k] * b[k, j] }
    }
  }
}",
        );
        for order in ["k, j, i", "j, k, i", "i, j, k"] {
            let before = kernel(PRODUCT);
            let after = apply(&before, &format!("permute({order})"));
            assert_same_results(&before, &after);
        }
    }

    const SEED_SKEWED: &str = "kernel @k(n: i64, a: f64[n + 1, n + 1]) {
  affine.for t2 in 0..n {
    affine.for j in 0..n { a[t2 + 1, j + 1] = a[t2, j + 1] + a[t2 + 1, j] }
  }
}";

    /// The skewed example of the simplified polyhedral form, with half-open bounds.
    #[test]
    fn seed_skewed() {
        accepts(
            SEED_SKEWED,
            "skew(j by t2, 1) interchange(t2, j_s)",
            "kernel @k(n: i64, a: f64[n + 1, n + 1]) {
  affine.for j_s in 0..n * 2 - 1 {
    affine.for t2 in max(0, j_s - n + 1)..min(n, j_s + 1) {
      a[t2 + 1, j_s - t2 + 1] = a[t2, j_s - t2 + 1] + a[t2 + 1, j_s - t2]
    }
  }
}",
        );
        accepts(
            SEED_SKEWED,
            "skew(j by t2, 1) interchange(t2, j_s) parallelize(t2)",
            "kernel @k(n: i64, a: f64[n + 1, n + 1]) {
  affine.for j_s in 0..n * 2 - 1 {
    scf.forall t2 in 0..n strategy(auto) {
      affine.if (j_s - n + 1 <= t2, t2 < j_s + 1) {
        a[t2 + 1, j_s - t2 + 1] = a[t2, j_s - t2 + 1] + a[t2 + 1, j_s - t2]
      }
    }
  }
}",
        );
    }

    #[test]
    fn bounds_of_any_shape() {
        for (outer, inner) in [
            ("0..n", "i..n"),
            ("0..n", "0..2 * i + 1"),
            ("1..n", "i - 1..min(n, i + 2)"),
            ("0..n", "max(0, 3 - i)..n - i"),
            ("0..n step 2", "1..n step 3"),
            ("0..n", "i floordiv 2..n"),
            ("0..n", "i mod 2..n"),
        ] {
            let source = format!(
                "kernel @k(n: i64, x: f64[3 * n + 3, 3 * n + 3], count: i64[3 * n + 3]) {{
                   affine.for i in {outer} {{
                     affine.for j in {inner} {{ count[j] reduce(add) i x[i, j] = f64(i - j) }}
                   }}
                 }}"
            );
            let before = kernel(&source);
            if inner.contains("mod") {
                refuses(
                    &source,
                    "interchange(i, j)",
                    crate::Verdict::Unproven,
                    "NotLinear",
                );
            } else {
                assert_same_results(&before, &apply(&before, "interchange(i, j)"));
            }
        }
    }

    /// Whether the loop over `j` runs at all depends on parameters alone, which no other loop asks.
    #[test]
    fn bounds_that_exclude_each_other_stay() {
        let before = kernel(
            "kernel @k(n: i64, m: i64, y: f64[4]) {
  affine.for i in 0..m {
    affine.for j in max(0, n - 1)..min(n, 1) {
      affine.for k in 0..i + 1 { y[j + 1] reduce(add) 1.0 }
    }
  }
}",
        );
        for order in ["k, i, j", "i, k, j", "j, k, i"] {
            assert_same_results(&before, &apply(&before, &format!("permute({order})")));
        }
    }

    /// `i` below a quotient of `t` is a multiple of it below `t`.
    #[test]
    fn bounds_may_divide() {
        for bounds in [
            "0..(t + 3) floordiv 4",
            "(t + 2) ceildiv 3..n",
            "t floordiv 2..(n - t) ceildiv 3",
            "t - (t floordiv 3)..(t + n) floordiv 2 + 1",
            "0..(t + t floordiv 2) floordiv 3",
        ] {
            let before = kernel(&format!(
                "kernel @k(n: i64, x: i64[2 * n + 8, 2 * n + 8]) {{
                   affine.for t in 0..n {{ affine.for i in {bounds} {{ x[t, i + 1] = t * 100 + i }} }}
                 }}"
            ));
            assert_same_results(&before, &apply(&before, "interchange(t, i)"));
        }
    }

    #[test]
    fn refusals() {
        let source = "kernel @k(n: i64, a: f64[n, n]) {
  affine.for i in 1..n {
    affine.for j in 0..n - 1 { a[i, j] = a[i - 1, j + 1] }
  }
}";
        let reason = refuses(source, "interchange(i, j)", Illegal, "Reverses");
        assert!(reason.to_string().contains("meet in a["), "{reason}");
        refuses(
            source,
            "interchange(j, i)",
            Misaddressed,
            "NotPerfectlyNested",
        );
        refuses(source, "permute(i, i)", Misaddressed, "LoopNamedTwice");
        refuses(source, "interchange(i, i)", Misaddressed, "LoopNamedTwice");
        let greatest = "kernel @k(n: i64, a: f64[n, n], y: f64[n]) {
  affine.for i in 0..n { affine.for j in 0..n { y[j - j] reduce(max) a[i, j] } }
}";
        let reason = refuses(greatest, "interchange(i, j)", Illegal, "Reverses");
        let text = reason.to_string();
        assert!(
            text.contains("updates by `max` keep their order here"),
            "{text}"
        );
        refuses(source, "permute(j)", Misaddressed, "BadNumber");
    }
}
