//! The step `tile`.

use crate::address::{self, single};
use crate::nest::find_band;
use crate::order::{Reordering, Tick};
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::symbolic;
use crate::tiling::{Sizes, TileNames, points, tiles};
use crate::tree::{Replacing, replaced};
use crate::{LoopPath, Reason, Size};
use std::fmt;
use strew_affine::verify::Verified;
use strew_affine::{AffineExpr, AffineFor, Bound, IterId, Kernel, Node, Overflow, Variable};

/// Cuts the iterations of a perfect nest into tiles: loops over tiles around loops over the points
/// of a tile.
///
/// ```text
/// affine.for i in 0..n {              affine.for i_t in 0..n step 32 {
///   affine.for j in 0..m {              affine.for j_t in 0..m step 64 {
///     y[j, i] = x[i, j]          →        affine.for i_p in i_t..min(n, i_t + 32) {
///   }                                       affine.for j_p in j_t..min(m, j_t + 64) {
/// }                                           y[j_p, i_p] = x[i_p, j_p]
///                                           }
///                                         }
///                                       }
///                                     }
/// ```
///
/// Legal when of any two accesses of one element, one of them writing, the first one stays the
/// first. Updates by one commutative combiner may change places. Bounds may depend on outer loops
/// of the nest: tiles then go over what any of their points needs. Sizes may depend on parameters
/// (`i = n / 8`), and a lower bound may have several alternatives: then tiles are counted, no
/// dependence may go backwards in any of the loops, and a call in which a size is not positive ends
/// before anything happens. If iterations fail, the first failure is that of the new order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// The loops, outermost first, each with how many iterations a tile has of it.
    pub sizes: Vec<(LoopPath, Size)>,
}

impl Tile {
    /// The word that the step begins with.
    pub const NAME: &'static str = "tile";

    /// A request to tile these loops by these sizes.
    pub fn new(sizes: impl IntoIterator<Item = (impl Into<LoopPath>, impl Into<Size>)>) -> Self {
        let sizes = sizes.into_iter();
        Self {
            sizes: sizes
                .map(|(path, size)| (path.into(), size.into()))
                .collect(),
        }
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let sizes = call.sizes_of_loops()?;
        Ok(Self { sizes })
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = self
            .sizes
            .iter()
            .map(|(path, size)| format!("{path} = {size}"));
        let sizes: Vec<_> = sizes.collect();
        write!(f, "{}({})", Self::NAME, sizes.join(", "))
    }
}

impl Transform for Tile {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        self.sizes.iter_mut().map(|(path, _)| path).collect()
    }
}

/// A loop of the nest and how it is tiled.
struct Tiled<'k> {
    path: &'k LoopPath,
    target: &'k AffineFor,
    lower: &'k AffineExpr,
    size: i64,
    names: TileNames,
}

impl Tiled<'_> {
    /// The distance from the first to the last point of a tile.
    fn extent(&self) -> Result<i64, Overflow> {
        let last = self.size.checked_sub(1).ok_or(Overflow)?;
        last.checked_mul(self.target.step).ok_or(Overflow)
    }
}

fn plan(kernel: &Kernel, request: &Tile) -> Result<Replacing, Reason> {
    let paths: Vec<_> = request.sizes.iter().map(|(path, _)| path.clone()).collect();
    let band = find_band(kernel, &paths)?;
    let counted = |sizes: &[AffineExpr]| {
        let paths: Vec<_> = paths.iter().collect();
        symbolic::tiled(kernel, &band, &paths, sizes)
    };
    let sizes = match Sizes::of(kernel, request.sizes.iter().map(|(_, size)| size))? {
        Sizes::Symbolic(sizes) => return counted(&sizes),
        Sizes::Numbers(sizes) => sizes,
    };
    if band.iter().any(|it| it.lower.as_single().is_none()) {
        let sizes: Vec<_> = sizes.into_iter().map(AffineExpr::from).collect();
        return counted(&sizes);
    }
    let mut prepared = kernel.clone();
    let mut nest = Vec::new();
    for ((target, (path, _)), size) in band.iter().zip(&request.sizes).zip(sizes) {
        let tiled = Tiled {
            path,
            target,
            lower: single(&target.lower, path)?,
            size,
            names: TileNames::make(&mut prepared, target),
        };
        if target.step != 1 && depends_on(tiled.lower, &nest) {
            return Err(Reason::SteppedBand { path: path.clone() });
        }
        nest.push(tiled);
    }
    let times = times(&nest)?;
    Reordering::of(kernel, &band).check(|_| times.clone())?;
    let (Some(outermost), Some(innermost)) = (band.first(), band.last()) else {
        return Err(address::no_such_loop(kernel, &LoopPath::new([""; 0])));
    };
    Ok(Replacing {
        kernel: prepared,
        target: outermost.iter,
        replacement: tiled(&nest, innermost.body.to_vec())?,
    })
}

/// The loops over tiles, around those over their points, around `body`.
fn tiled(nest: &[Tiled<'_>], mut body: Vec<Node>) -> Result<Vec<Node>, Reason> {
    for (position, it) in nest.iter().enumerate().rev() {
        let outer = nest.get(..position).unwrap_or_default();
        let lower = depends_on(it.lower, outer).then_some(&it.target.lower);
        body = vec![Node::AffineFor(AffineFor {
            body: body.into(),
            ..points(it.target, &it.names, it.size, lower)?
        })];
    }
    for (position, it) in nest.iter().enumerate().rev() {
        let outer = nest.get(..position).unwrap_or_default();
        let lower = of_any_point(it.lower, outer, End::Least)?;
        let uppers = it.target.upper.0.iter();
        let uppers = uppers.map(|upper| of_any_point(upper, outer, End::Greatest));
        let bounds = (lower.into(), Bound(uppers.collect::<Result<_, _>>()?));
        body = vec![Node::AffineFor(AffineFor {
            body: body.into(),
            ..tiles(it.target, &it.names, it.size, bounds)?
        })];
    }
    Ok(body)
}

fn depends_on(expr: &AffineExpr, nest: &[Tiled<'_>]) -> bool {
    let mut loops = nest.iter();
    loops.any(|it| expr.mentions(Variable::Iter(it.target.iter)))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Least,
    Greatest,
}

/// The least or the greatest that `expr` may be at the points of a tile of the loops `outer`, over
/// the iterators of their tiles.
fn of_any_point(expr: &AffineExpr, outer: &[Tiled<'_>], end: End) -> Result<AffineExpr, Reason> {
    let mut expr = expr.clone();
    for it in outer {
        let iter = it.target.iter;
        let Some((coefficient, _)) = expr.split_off(iter) else {
            return Err(Reason::NotLinear {
                path: it.path.clone(),
            });
        };
        let first = AffineExpr::from(it.names.tile);
        let point = match (coefficient >= 0) == (end == End::Least) {
            true => first,
            false => first.offset(it.extent()?)?,
        };
        expr = replaced(&expr, iter, &point)?;
    }
    Ok(expr)
}

/// When a point happens: the tiles that it lies in, outermost first, and then its place in them.
fn times(nest: &[Tiled<'_>]) -> Result<Vec<Tick>, Reason> {
    let mut first_points: Vec<(IterId, AffineExpr)> = Vec::new();
    for (position, it) in nest.iter().enumerate() {
        let outer = nest.get(..position).unwrap_or_default();
        let mut origin = of_any_point(it.lower, outer, End::Least)?;
        for (tile, first) in &first_points {
            origin = replaced(&origin, *tile, first)?;
        }
        let length = it.size.checked_mul(it.target.step).ok_or(Overflow)?;
        let place = AffineExpr::from(it.target.iter).minus(&origin)?;
        let number = place.floordiv(&length.into())?;
        let first = origin.plus(&number.scaled(length)?)?;
        first_points.push((it.names.tile, first));
    }
    let tiles = first_points.into_iter().map(|(_, first)| first);
    let points = nest.iter().map(|it| it.target.iter.into());
    Ok(tiles.chain(points).map(Tick::Value).collect())
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Misaddressed};
    use crate::test_support::{
        accepts, apply, assert_same_results, assert_same_where_assumed, kernel, refuses,
    };

    #[test]
    fn scheme() {
        accepts(
            "kernel @k(n: i64, m: i64, x: f64[n, m], y: f64[m, n]) {
  affine.for i in 0..n {
    affine.for j in 0..m { y[j, i] = x[i, j] }
  }
}",
            "tile(i = 32, j = 64)",
            "kernel @k(n: i64, m: i64, x: f64[n, m], y: f64[m, n]) {
  affine.for i_t in 0..n step 32 {
    affine.for j_t in 0..m step 64 {
      affine.for i_p in i_t..min(n, i_t + 32) {
        affine.for j_p in j_t..min(m, j_t + 64) { y[j_p, i_p] = x[i_p, j_p] }
      }
    }
  }
}",
        );
    }

    #[test]
    fn triangles_and_steps() {
        for (outer, inner) in [
            ("0..n", "0..i + 1"),
            ("0..n", "i..n"),
            ("1..n step 2", "0..n step 3"),
            ("0..n", "n - i..n + 2"),
            ("0..n", "2 * i - 1..min(2 * i + 3, n)"),
            ("n - 3..n", "0..4"),
        ] {
            let source = format!(
                "kernel @k(n: i64, x: f64[3 * n + 8, 3 * n + 8], count: i64[3 * n + 8]) {{
                   affine.for i in {outer} {{
                     affine.for j in {inner} {{ count[j] reduce(add) i x[i, j] = f64(i - j) }}
                   }}
                 }}"
            );
            let before = kernel(&source);
            for sizes in ["i = 2, j = 3", "i = 3, j = 1", "i = 4, j = 4"] {
                let script = format!("tile({sizes})");
                assert_same_results(&before, &apply(&before, &script));
            }
        }
    }

    #[test]
    fn sizes_over_parameters() {
        let before = kernel(
            "kernel @k(n: i64, m: i64, x: f64[n, m], y: f64[m], out: f64[n]) {
  affine.for i in 1..n step 2 {
    affine.for j in 0..m { out[i] reduce(add) x[i, j] y[j] reduce(add) x[i, j] * f64(i) }
  }
}",
        );
        for sizes in [
            "i = m, j = n",
            "i = n / 2, j = 3",
            "i = 2, j = m - 1",
            "j = m + 1",
        ] {
            let after = apply(&before, &format!("tile({sizes})"));
            assert!(
                !after.assumptions.is_empty() || sizes == "j = m + 1",
                "{after}"
            );
            assert_same_where_assumed(&before, &after);
        }
        let stencil = "kernel @k(n: i64, a: f64[n + 2]) {
  affine.for t in 0..n { affine.for i in 1..n + 1 { a[i] = a[i - 1] + a[i + 1] } }
}";
        refuses(stencil, "tile(t = n, i = n)", Illegal, "Reverses");
        let before = kernel(stencil);
        for sizes in [
            "t = n, i_s = 3",
            "t = 2, i_s = n",
            "t = n / 2 + 1, i_s = n / 2 + 1",
        ] {
            let after = apply(&before, &format!("skew(i by t, 1) tile({sizes})"));
            assert_same_where_assumed(&before, &after);
        }
    }

    #[test]
    fn tiles_of_any_size_on_a_diagonal_run_at_once() {
        let square = "kernel @k(n: i64, m: i64, x: f64[n, n]) {
  affine.for i in 1..n { affine.for j in 1..n { x[i, j] = x[i - 1, j] + x[i, j - 1] } }
}";
        let stencil = "kernel @k(n: i64, m: i64, a: f64[n + 2]) {
  affine.for i in 0..n { affine.for j in 1..n + 1 { a[j] = a[j - 1] + a[j + 1] } }
}";
        let front = "interchange(i_t, j_t_s) parallelize(i_t)";
        let (square, stencil) = (kernel(square), kernel(stencil));
        for (before, script) in [
            (
                &square,
                format!("tile(i = m, j = m) skew(j_t by i_t, 1) {front}"),
            ),
            (
                &square,
                format!("tile(i = m, j = n / 2) skew(j_t by i_t, 1) {front}"),
            ),
            (
                &square,
                format!("tile(i = m, j = 2) skew(j_t by i_t, 1) {front}"),
            ),
            (
                &stencil,
                "skew(j by i, 1) tile(i = m, j_s = m) skew(j_s_t by i_t, 2) \
                 interchange(i_t, j_s_t_s) parallelize(i_t)"
                    .to_owned(),
            ),
        ] {
            let after = apply(before, &script);
            assert!(after.to_string().contains("scf.forall"), "{after}");
            assert_same_where_assumed(before, &after);
        }
    }

    #[test]
    fn tiles_run_at_once_whatever_their_size() {
        let before = kernel(
            "kernel @k(n: i64, m: i64, x: f64[n, n], y: f64[n]) {
  affine.for i in 0..n { affine.for j in 0..n { y[i] reduce(add) x[i, j] } }
}",
        );
        for size in ["m", "m - 1", "n / 3 + 1", "2 * m"] {
            let after = apply(
                &before,
                &format!("tile(i = {size}, j = 4) parallelize(i_t)"),
            );
            assert_same_where_assumed(&before, &after);
        }
    }

    /// The seed's third example: diagonals of a square.
    #[test]
    fn skewed_nests_have_tiles() {
        let before = kernel(
            "kernel @skewed(n: i64, m: i64, x: f64[n, n], y: f64[n, n]) {
  affine.for t1 in 0..2 * n - 1 {
    affine.for t2 in max(0, t1 - n + 1)..min(n, t1 + 1) { y[t1 - t2, t2] = x[t1 - t2, t2] + 1.0 }
  }
}",
        );
        for sizes in [
            "t1 = 2, t2 = 3",
            "t1 = m, t2 = m",
            "t2 = m",
            "t2 = 4",
            "t1 = n, t2 = 2",
        ] {
            let after = apply(&before, &format!("tile({sizes})"));
            assert_same_where_assumed(&before, &after);
            if sizes.starts_with("t1") {
                let script = format!("tile({sizes}) parallelize(t1_t)");
                assert_same_where_assumed(&before, &apply(&before, &script));
            }
        }
    }

    #[test]
    fn three_loops_and_one() {
        let before = kernel(
            "kernel @k(n: i64, a: f64[n, n], b: f64[n, n], c: f64[n, n]) {
  affine.for i in 0..n {
    affine.for j in 0..n {
      affine.for k in 0..n { c[i, j] reduce(add) a[i, k] * b[k, j] }
    }
  }
}",
        );
        for script in [
            "tile(i = 2, j = 2, k = 2)",
            "tile(j = 2, k = 3)",
            "tile(k = 2)",
        ] {
            assert_same_results(&before, &apply(&before, script));
        }
    }

    #[test]
    fn a_stencil_in_time_is_tiled_when_it_is_skewed() {
        let source = "kernel @k(n: i64, a: f64[n + 2]) {
  affine.for t in 0..n {
    affine.for i in 1..n + 1 { a[i] = a[i - 1] + a[i + 1] }
  }
}";
        refuses(source, "tile(t = 2, i = 2)", Illegal, "Reverses");
        let before = kernel(source);
        let after = apply(&before, "skew(i by t, 1) tile(t = 2, i_s = 3)");
        assert_same_results(&before, &after);
    }

    #[test]
    fn refusals() {
        let source = "kernel @k(n: i64, x: f64[n]) {
  affine.for i in 0..n { x[i] = 1.0 affine.for j in 0..n { x[j] = 2.0 } }
}";
        refuses(
            source,
            "tile(i = 2, j = 2)",
            Misaddressed,
            "NotPerfectlyNested",
        );
        refuses(source, "tile(i = 0)", Misaddressed, "BadNumber");
        refuses(source, "tile(i = 2, i = 2)", Misaddressed, "LoopNamedTwice");
    }
}
