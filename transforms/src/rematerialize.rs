//! The step `rematerialize`.

use crate::address::{self, Target, single_bounds};
use crate::anew::Anew;
use crate::assume::assume;
use crate::copy::Copying;
use crate::scalars::named_in;
use crate::script::WrittenAll;
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tiling::{TileNames, checked_tile, points, tiles};
use crate::tree::{Replacing, new_iter};
use crate::{LoopPath, Reason};
use std::fmt;
use strew_affine::forgetting::forgets_after;
use strew_affine::verify::Verified;
use strew_affine::visit::{for_each_local, for_each_local_read, walk};
use strew_affine::{AffineExpr, AffineFor, Bound, Expr, Kernel, LocalId, Node, Overflow};

/// Cuts the iterations of a loop into tiles, each of which begins by computing anew what the
/// iterations before it left in scalars, so that tiles no longer meet in these.
///
/// ```text
/// affine.for i in 0..n {              affine.for i_t in 0..n step 32 {
///   y[i] = x[i] - last                  var last_t: f64 = last
///   last = x[i]                         affine.for i_p_w in max(0, i_t - 1)..i_t {
/// }                              →        last_t = x[i_p_w]
///                                       }
///                                       affine.for i_p in i_t..min(n, i_t + 32) {
///                                         y[i_p] = x[i_p] - last_t
///                                         last_t = x[i_p]
///                                       }
///                                     }
/// ```
///
/// Legal when what scalars hold [follows](strew_affine::forgetting) from the last iterations alone,
/// as it does of `x = (x << 2 | letter[i]) & 0xfffff` from the last ten, and these compute it of
/// nothing that another iteration writes. Who reads a scalar behind the loop finds what the last
/// iteration leaves, which is computed there. That what is read for it is in range the kernel
/// assumes from then on, where that is not known, and a call checks it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rematerialize {
    /// The scalars.
    pub variables: Vec<String>,
    /// The loop, an `affine.for` with steps of one.
    pub target: LoopPath,
    /// How many iterations a tile has, at least 1.
    pub tile: u64,
}

impl Rematerialize {
    /// The word that the step begins with.
    pub const NAME: &'static str = "rematerialize";

    /// A request to compute `variables` anew at the beginning of each `tile` iterations of
    /// `target`.
    pub fn new(
        variables: impl IntoIterator<Item = impl Into<String>>,
        target: impl Into<LoopPath>,
        tile: u64,
    ) -> Self {
        Self {
            variables: variables.into_iter().map(Into::into).collect(),
            target: target.into(),
            tile,
        }
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let (variables, target, tile) = call.scalars_in_tiles()?;
        call.finish(&["tile"])?;
        Ok(Self::new(variables, target, tile))
    }
}

impl fmt::Display for Rematerialize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, variables) = (Self::NAME, WrittenAll(&self.variables));
        let Self { target, tile, .. } = self;
        write!(f, "{name}({variables}, {target}, tile = {tile})")
    }
}

impl Transform for Rematerialize {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.target]
    }
}

fn plan(kernel: &Kernel, request: &Rematerialize) -> Result<Replacing, Reason> {
    let path = &request.target;
    let Target { it: target, around } = address::find_affine_for(kernel, path)?;
    address::check_no_lanes(target.lanes, path)?;
    let (lower, upper) = single_bounds(target, path)?;
    let tile = checked_tile(request.tile)?;
    let (locals, refused) = named_in(kernel, (path, target), &request.variables)?;
    let left = Left::by(kernel, target, &locals).filter(|_| target.step == 1);
    let left = left.ok_or_else(&refused)?;
    let mut prepared = kernel.clone();
    let needed = left.anew.conditions(kernel, target, &around);
    assume(&mut prepared, needed.ok_or_else(&refused)?)?;
    let tiles = tiled(&mut prepared, (target, lower), &left, (&locals, tile))?;
    let mut replacement = vec![Node::AffineFor(tiles)];
    let is_read = |it: &LocalId| is_read_outside(kernel, target, *it);
    if !is_outermost(kernel, target) || locals.iter().any(is_read) {
        let last = left.last(&mut prepared, target, ("l", lower, upper))?;
        replacement.push(Node::AffineFor(last));
    }
    Ok(Replacing {
        kernel: prepared,
        target: target.iter,
        replacement,
    })
}

/// The loop over tiles of `tile` iterations of `target`, which begins at `lower`, each with scalars
/// of its own in the place of `locals`.
fn tiled(
    kernel: &mut Kernel,
    (target, lower): (&AffineFor, &AffineExpr),
    left: &Left,
    (locals, tile): (&[LocalId], i64),
) -> Result<AffineFor, Overflow> {
    let names = TileNames::make(kernel, target);
    let whole = (target.lower.clone(), target.upper.clone());
    let mut tiles = tiles(target, &names, tile, whole)?;
    let mut own = Copying::default();
    let declared = locals.iter().map(|local| Node::Declare {
        local: own.new_local(kernel, *local, "t"),
        value: Expr::Local(*local),
    });
    let mut body: Vec<Node> = declared.collect();
    let begin = AffineExpr::from(names.tile);
    let before = left.last(kernel, target, ("w", lower, &begin))?;
    body.push(Node::AffineFor(AffineFor {
        body: own.block(&before.body)?.into(),
        ..before
    }));
    body.push(Node::AffineFor(AffineFor {
        body: own.block(&target.body)?.into(),
        ..points(target, &names, tile, None)?
    }));
    tiles.body = body.into();
    Ok(tiles)
}

/// What leaves scalars as the last iterations do.
struct Left {
    anew: Anew,
    /// After how many iterations nothing is left of what they held before.
    window: i64,
}

impl Left {
    /// `None` where iterations long before may have something to do with it, too.
    fn by(kernel: &Kernel, target: &AffineFor, locals: &[LocalId]) -> Option<Self> {
        let anew = Anew::of(target, locals)?;
        let window = forgets_after(kernel, &anew.nodes, locals)?.cast_signed();
        Some(Self { anew, window })
    }

    /// A loop over the last iterations before `end`, none before `lower`, over an iterator that is
    /// called with `suffix` behind its name.
    fn last(
        &self,
        kernel: &mut Kernel,
        target: &AffineFor,
        (suffix, lower, end): (&str, &AffineExpr, &AffineExpr),
    ) -> Result<AffineFor, Overflow> {
        let iter = new_iter(kernel, target.iter, suffix);
        let copying = Copying::shift(target.iter, iter, 0).anew(kernel, &self.anew.nodes, 1);
        Ok(AffineFor {
            iter,
            lower: Bound(vec![lower.clone(), end.offset(-self.window)?]),
            upper: end.clone().into(),
            step: 1,
            lanes: 1,
            body: copying.block(&self.anew.nodes)?.into(),
        })
    }
}

/// Whether the body of the kernel begins `target` once: inside of another loop it finds again what
/// it left.
fn is_outermost(kernel: &Kernel, target: &AffineFor) -> bool {
    let is_it = |node: &Node| matches!(node, Node::AffineFor(it) if it.iter == target.iter);
    kernel.body.iter().any(is_it)
}

/// Whether anything but the body of `target` reads `local`.
fn is_read_outside(kernel: &Kernel, target: &AffineFor, local: LocalId) -> bool {
    let count = |nodes: &[Node]| {
        let mut reads = 0;
        walk(nodes, &mut |node, _| {
            for_each_local_read(node, &mut |it| reads += usize::from(it == local));
        });
        reads
    };
    let mut is_result = false;
    if let Some(result) = &kernel.result {
        for_each_local(result, &mut |it| is_result |= it == local);
    }
    is_result || count(&kernel.body) > count(&target.body)
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Misaddressed, Unproven};
    use crate::test_support::{
        accepts, apply, assert_same_where_assumed, kernel, refused, refuses,
    };

    fn in_loop(bounds: &str, body: &str) -> String {
        format!(
            "kernel @k(n: i64, x: i64[n], y: i64[n]) {{
               var last: i64 = 7
               var sum: i64 = 0
               affine.for i in {bounds} {{ {body} }}
               y[0] reduce(add) last + sum
             }}"
        )
    }

    #[test]
    fn scheme() {
        accepts(
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  var last: f64 = 0.0
  affine.for i in 0..n {
    y[i] = x[i] - last
    last = x[i]
  }
}",
            "rematerialize(last, i, tile = 32)",
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  var last: f64 = 0.0
  affine.for i_t in 0..n step 32 {
    var last_t: f64 = last
    affine.for i_p_w in max(0, i_t - 1)..i_t {
      last_t = x[i_p_w]
    }
    affine.for i_p in i_t..min(n, i_t + 32) {
      y[i_p] = x[i_p] - last_t
      last_t = x[i_p]
    }
  }
}",
        );
    }

    #[test]
    fn tiles_begin_with_what_was_left() {
        for bounds in ["0..n", "2..n - 1", "n - 7..n"] {
            for body in [
                "y[i] = x[i] - last last = x[i]",
                "last = x[i] * 2 y[i] = last",
                "let a: i64 = x[i] var b: i64 = a scf.if a < 3 { b = a * 5 } y[i] = b + last last = b + 1",
                "var c: i64 = 1 affine.for j in 0..3 { c reduce(mul) x[i] + j } y[i] = last - c last = c",
                "y[i] = last last = x[i] last reduce(add) 3",
                "scf.if x[i] < 3 { last = 1 } else { last = (last << 1 ^ x[i]) & 7 } y[i] = last",
                "let t: i64 = last * 8 last = (t | x[i] & 7) & 63 y[i] = last",
                "affine.if (2 <= i) { last = x[i - 2] } else { last = 5 } y[i] = last",
            ] {
                let before = kernel(&in_loop(bounds, body));
                let after = apply(&before, "rematerialize(last, i, tile = 3)");
                assert_same_where_assumed(&before, &after);
                apply(&after, "parallelize(i_t)");
            }
        }
    }

    #[test]
    fn a_loop_inside_finds_again_what_it_left() {
        for (around, end) in [
            ("affine.for r in 0..3 {", "}"),
            ("var r: i64 = 3 scf.while 0 < r { r = r - 1", "}"),
        ] {
            let before = kernel(&format!(
                "kernel @k(n: i64, x: i64[n], y: i64[n]) {{
                   var last: i64 = 7
                   {around} affine.for i in 0..n {{ y[i] reduce(add) last last = x[i] }} {end}
                 }}"
            ));
            let after = apply(&before, "rematerialize(last, i, tile = 2)");
            assert_same_where_assumed(&before, &after);
        }
    }

    /// From values that no iteration begins with, a loop may never end.
    #[test]
    fn how_long_it_takes_follows_from_nothing_older() {
        for body in [
            "y[i] = sum var t: i64 = last scf.while t != 1 { t = t - 1 } last = x[i] sum = t",
            "y[i] = sum var t: i64 = 0 scf.for j in 0..last { t = j } last = x[i] sum = t",
            "y[i] = last + sum sum = 7 / last last = x[i]",
        ] {
            let reason = refused(
                &in_loop("0..n", body),
                "rematerialize(last, sum, i, tile = 4)",
            );
            assert_eq!(reason.name(), "CarriedScalar", "{body}");
        }
    }

    #[test]
    fn several_scalars_of_several_iterations() {
        let body = "y[i] = last * 3 + sum last = sum sum = x[i]";
        let before = kernel(&in_loop("1..n", body));
        let after = apply(&before, "rematerialize(last, sum, i, tile = 4)");
        assert!(
            after.to_string().contains("max(1, i_t - 2)..i_t"),
            "{after}"
        );
        assert_same_where_assumed(&before, &after);
        apply(&after, "parallelize(i_t)");
    }

    #[test]
    fn refusals() {
        for body in [
            "y[i] = last last = last + x[i]",
            "y[i] = last last = y[i] + 1",
            "y[i] = last scf.if 0 < x[i] { last = x[i] }",
            "y[i] = last last = (last << 1 ^ x[i]) & 7 | last & 8",
            "y[i] = last scf.if 0 < last { last = x[i] } else { last = 2 }",
            "sum reduce(add) x[i] y[i] = last last = sum",
        ] {
            refuses(
                &in_loop("0..n", body),
                "rematerialize(last, i, tile = 4)",
                Illegal,
                "CarriedScalar",
            );
        }
        let body = "y[i] = last last = x[i]";
        let source = in_loop("0..n", body);
        let nothing = in_loop("0..n", "y[i] = last");
        refuses(
            &nothing,
            "rematerialize(last, i, tile = 4)",
            Misaddressed,
            "NotWritten",
        );
        refuses(
            &source,
            "rematerialize(lost, i, tile = 4)",
            Misaddressed,
            "NoSuchVariable",
        );
        refuses(
            &source,
            "rematerialize(last, i, tile = 0)",
            Misaddressed,
            "BadNumber",
        );
        let several = in_loop("max(0, n - 4)..n", body);
        refuses(
            &several,
            "rematerialize(last, i, tile = 4)",
            Unproven,
            "SeveralBounds",
        );
    }
}
