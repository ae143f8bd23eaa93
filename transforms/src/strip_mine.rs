//! The step `strip_mine`.

use crate::address::{self, Target};
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::symbolic;
use crate::tiling::{Sizes, TileNames, points, tiles};
use crate::tree::Replacing;
use crate::{LoopPath, Reason, Size};
use std::fmt;
use strew_affine::verify::Verified;
use strew_affine::{AffineFor, Kernel, Node};

/// Cuts the iterations of a loop into tiles of a fixed size: a loop over tiles, and in it one over
/// the points of a tile.
///
/// ```text
/// affine.for i in 0..n {              affine.for i_t in 0..n step 32 {
///   y[i] = x[i]                 →       affine.for i_p in i_t..min(n, i_t + 32) {
/// }                                       y[i_p] = x[i_p]
///                                       }
///                                     }
/// ```
///
/// Always legal: iterations keep their order. A loop that is known to run a multiple of the size
/// has no partial tile. The size may depend on parameters (`i = n / 8`): then `i_t` counts tiles,
/// and a call in which the size is not positive ends before anything happens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StripMine {
    /// The loop, an `affine.for`.
    pub target: LoopPath,
    /// How many iterations a tile has, at least 1.
    pub size: Size,
}

impl StripMine {
    /// The word that the step begins with.
    pub const NAME: &'static str = "strip_mine";

    /// A request to cut `target` into tiles of `size` iterations.
    pub fn new(target: impl Into<LoopPath>, size: impl Into<Size>) -> Self {
        Self {
            target: target.into(),
            size: size.into(),
        }
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let (target, size) = call.size_of_loop()?;
        call.finish(&[])?;
        Ok(Self { target, size })
    }
}

impl fmt::Display for StripMine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({} = {})", Self::NAME, self.target, self.size)
    }
}

impl Transform for StripMine {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.target]
    }
}

fn plan(kernel: &Kernel, request: &StripMine) -> Result<Replacing, Reason> {
    let path = &request.target;
    let Target { it: target, .. } = address::find_affine_for(kernel, path)?;
    address::check_no_lanes(target.lanes, path)?;
    let size = match Sizes::of(kernel, [&request.size])? {
        Sizes::Symbolic(sizes) => return symbolic::tiled(kernel, &[target], &[path], &sizes),
        Sizes::Numbers(sizes) => sizes.into_iter().next().unwrap_or(1),
    };
    let mut prepared = kernel.clone();
    let names = TileNames::make(&mut prepared, target);
    let whole = (target.lower.clone(), target.upper.clone());
    let mut tiles = tiles(target, &names, size, whole)?;
    tiles.body = [Node::AffineFor(AffineFor {
        body: target.body.clone(),
        ..points(target, &names, size, None)?
    })]
    .into();
    Ok(Replacing {
        kernel: prepared,
        target: target.iter,
        replacement: vec![Node::AffineFor(tiles)],
    })
}

#[cfg(test)]
mod tests {
    use crate::Verdict::Misaddressed;
    use crate::test_support::{
        accepts, apply, assert_same_meaning, assert_same_where_assumed, kernel, refuses,
    };

    const COPY: &str = "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i in 0..n { y[i] = x[i] }
}";

    #[test]
    fn scheme() {
        accepts(
            COPY,
            "strip_mine(i = 32)",
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i_t in 0..n step 32 {
    affine.for i_p in i_t..min(n, i_t + 32) { y[i_p] = x[i_p] }
  }
}",
        );
    }

    #[test]
    fn tiles_are_whole_where_that_is_known() {
        accepts(
            "kernel @k(x: f64[64], y: f64[64]) {
  affine.for i in 0..64 step 2 { y[i] = x[i] }
}",
            "strip_mine(i = 8)",
            "kernel @k(x: f64[64], y: f64[64]) {
  affine.for i_t in 0..64 step 16 {
    affine.for i_p in i_t..i_t + 16 step 2 { y[i_p] = x[i_p] }
  }
}",
        );
    }

    #[test]
    fn any_bounds_and_steps() {
        for bounds in [
            "0..n",
            "n - 7..n step 3",
            "max(0, n - 4)..min(n, 9)",
            "n..3",
        ] {
            for body in ["out[seg[i]] reduce(add) x[i]", "y[0] = y[0] * 2.0 + f64(i)"] {
                let source = format!(
                    "kernel @k(n: i64, seg: i32[n], x: f64[n], y: f64[n], out: f64[n]) {{
                       affine.for i in {bounds} {{ {body} }}
                     }}"
                );
                let before = kernel(&source);
                for size in [1, 2, 5] {
                    let script = format!("strip_mine(i = {size})");
                    assert_same_meaning(&before, &apply(&before, &script));
                }
            }
        }
    }

    #[test]
    fn sizes_over_parameters() {
        let before = kernel(COPY);
        let after = apply(&before, "strip_mine(i = n / 8)");
        let expected = kernel(
            "kernel @k(n: i64, x: f64[n], y: f64[n]) assume (1 <= n floordiv 8) {
  affine.for i_t in 0..n ceildiv (n floordiv 8) {
    affine.for i_p in i_t * (n floordiv 8)..min(n, i_t * (n floordiv 8) + n floordiv 8) {
      y[i_p] = x[i_p]
    }
  }
}",
        );
        assert_eq!(after.to_string(), expected.to_string());
        assert_same_where_assumed(&before, &after);
    }

    #[test]
    fn refusals() {
        refuses(COPY, "strip_mine(i = 0)", Misaddressed, "BadNumber");
        refuses(COPY, "strip_mine(j = 2)", Misaddressed, "NoSuchLoop");
    }
}
