//! The step `pack`.

mod boxes;

use crate::address::{self, Target, find_array, find_loop};
use crate::script::Written;
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tree::{self, Nested, Replacing, for_each_access_mut};
use crate::{LoopPath, Reason};
use boxes::{Range, boxes};
use std::fmt;
use strew_affine::dependence::{Analyzed, Target as Accessed};
use strew_affine::verify::Verified;
use strew_affine::visit::{self, AccessKind, AccessSite, Loop};
use strew_affine::{
    Access, AffineExpr, AffineFor, Array, ArrayId, Block, Bound, Expr, IterId, Kernel, Node,
    Overflow, Place, Span, Subscript, Variable,
};

/// Copies the part of an array that one iteration of a loop reads into an array of its own, whose
/// elements lie next to each other.
///
/// ```text
/// affine.for i in 0..n step 16 {              affine.for i in 0..n step 16 {
///   affine.for k in 0..16 {                     alloc a_k: f64[16]
///     y[i] reduce(add) a[i + k]           →     affine.for a_0 in max(0, i)..min(n, i + 16) { a_k[a_0 - i] = a[a_0] }
///   }                                           affine.for k in 0..16 { y[i] reduce(add) a_k[k] }
/// }                                           }
/// ```
///
/// With `along = k`, for a loop `k` in it, only what that one reads is copied, and elements that
/// its iterations read one after the other lie next to each other:
///
/// ```text
///                                               alloc a_k: f64[n, 16]
///                                               affine.for a_1 in 0..n {
/// affine.for i in i_t..i_t + 16 {                 affine.for a_0 in max(0, i_t)..min(n, i_t + 16) { a_k[a_1, a_0 - i_t] = a[a_0, a_1] }
///   affine.for j in 0..n {                      }
///     y[i] reduce(add) a[i, j]            →     affine.for i in i_t..i_t + 16 {
///   }                                             affine.for j in 0..n { y[i] reduce(add) a_k[j, i - i_t] }
/// }                                             }
/// ```
///
/// Legal when nothing in the loop writes the array, and its subscripts are affine and stay in a box
/// whose size only parameters decide, never below zero: that of a tile; and when they are known to
/// be in range. Elements of the box outside of the array are not copied, and nobody reads them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pack {
    /// The array.
    pub array: String,
    /// The loop, an `affine.for`.
    pub target: LoopPath,
    /// A loop in it whose reads alone are moved, and along which the copy lies.
    pub along: Option<LoopPath>,
}

impl Pack {
    /// The word that the step begins with.
    pub const NAME: &'static str = "pack";

    /// A request to pack what iterations of `target` read of `array`.
    pub fn new(array: impl Into<String>, target: impl Into<LoopPath>) -> Self {
        Self {
            array: array.into(),
            target: target.into(),
            along: None,
        }
    }

    /// The same for what the loop `along` in it reads, as its iterations do one after the other.
    #[must_use]
    pub fn along(self, along: impl Into<LoopPath>) -> Self {
        let along = Some(along.into());
        Self { along, ..self }
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let mut request = Self::new(call.word()?, call.path()?);
        let along = call.named("along")?;
        request.along = along.map(|it| it.path()).transpose()?;
        call.finish(&["along"])?;
        Ok(request)
    }
}

impl fmt::Display for Pack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (array, target) = (Written(&self.array), &self.target);
        write!(f, "{}({array}, {target}", Self::NAME)?;
        if let Some(along) = &self.along {
            write!(f, ", along = {along}")?;
        }
        f.write_str(")")
    }
}

impl Transform for Pack {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        [Some(&mut self.target), self.along.as_mut()]
            .into_iter()
            .flatten()
            .collect()
    }
}

fn plan(kernel: &Kernel, request: &Pack) -> Result<Replacing, Reason> {
    let reads = Reads::of(kernel, request)?;
    check_in_range(kernel, &reads, &request.target)?;
    let boxes = boxes(kernel, &reads)?.ok_or_else(|| Reason::NoBox {
        array: request.array.clone(),
        path: request.target.clone(),
    })?;
    let order = reads.order();
    let mut prepared = kernel.clone();
    let packed = packed_array(&mut prepared, reads.array, &boxes, &order);
    let arrays = (reads.array, packed);
    let mut around = Node::AffineFor(reads.target.clone());
    if let Some(body) = body_of(std::slice::from_mut(&mut around), reads.along) {
        move_reads(body, arrays, &boxes, &order)?;
    }
    let copies = copies(&mut prepared, arrays, &boxes, &order)?;
    if let Some(body) = body_of(std::slice::from_mut(&mut around), reads.target.iter) {
        body.splice(0..0, copies);
    }
    Ok(Replacing {
        kernel: prepared,
        target: reads.target.iter,
        replacement: vec![around],
    })
}

/// What is copied.
struct Reads<'k> {
    array: ArrayId,
    /// The loop whose iterations copy it.
    target: &'k AffineFor,
    /// That loop, or one in it, whose reads are moved.
    along: IterId,
    sites: Vec<AccessSite<'k>>,
}

impl<'k> Reads<'k> {
    fn of(kernel: &'k Kernel, request: &Pack) -> Result<Self, Reason> {
        let path = &request.target;
        let Target { it: target, .. } = address::find_affine_for(kernel, path)?;
        address::check_no_lanes(target.lanes, path)?;
        let array = find_array(kernel, &request.array)?;
        let along = match &request.along {
            Some(along) => inside_of(kernel, along, (target, path))?,
            None => target.iter,
        };
        let is_in = |it: &AccessSite<'_>, iter| it.loops.iter().any(|of| of.iter() == iter);
        let mut sites = visit::accesses(kernel);
        sites.retain(|it| it.access.array == array && is_in(it, target.iter));
        // All of the loop runs behind the copy.
        if let Some(write) = sites.iter().find(|it| it.kind != AccessKind::Read) {
            return Err(Reason::PacksWritten {
                array: request.array.clone(),
                span: write.access.span,
            });
        }
        sites.retain(|it| is_in(it, along));
        let is_private = visit::has_forall(&target.body)
            || visit::allocated_arrays(&target.body).contains(&array);
        match sites.is_empty() || is_private {
            true => Err(Reason::NothingToReplace {
                array: request.array.clone(),
            }),
            false => Ok(Self {
                array,
                target,
                along,
                sites,
            }),
        }
    }

    /// The dimensions of the array in the order of those of its copy: the first that moves with the
    /// loop along which it lies comes last.
    fn order(&self) -> Vec<usize> {
        let moves = |dimension: &usize| {
            let mut subscripts = (self.sites.iter()).map(|it| &it.access.subscripts[*dimension]);
            subscripts.any(|it| match it {
                Subscript::Affine(expr) => expr.mentions(Variable::Iter(self.along)),
                Subscript::Computed(_) => false,
            })
        };
        let dimensions = 0..(self.sites.first()).map_or(0, |it| it.access.subscripts.len());
        let last = dimensions.clone().find(moves);
        let others = dimensions.filter(|it| Some(*it) != last);
        others.chain(last).collect()
    }
}

/// The loop called `along`, which is in `target`.
fn inside_of(
    kernel: &Kernel,
    along: &LoopPath,
    (target, path): (&AffineFor, &LoopPath),
) -> Result<IterId, Reason> {
    let Nested { it, around } = find_loop(kernel, along)?;
    match around.iter().any(|it| it.iter() == target.iter) {
        true => Ok(it.iter()),
        false => Err(Reason::NotAround {
            outer: path.clone(),
            inner: along.clone(),
        }),
    }
}

/// A copy has no other elements than those in the box: outside of the array it would not fail.
fn check_in_range(kernel: &Kernel, reads: &Reads<'_>, path: &LoopPath) -> Result<(), Reason> {
    let analyzed = Analyzed::around(kernel, &[reads.target.iter]);
    let mut sites = analyzed.sites().iter().filter(|it| {
        let is_inside = it.levels().any(|of| of.iter() == Some(reads.along));
        is_inside && it.target == Accessed::Array(reads.array)
    });
    match sites.find(|it| !analyzed.stays_in_range(it)) {
        Some(site) => Err(Reason::MayLeave {
            array: kernel.arrays[reads.array].name.clone(),
            path: path.clone(),
            span: site.span,
        }),
        None => Ok(()),
    }
}

/// What belongs to the dimensions of an array, in the order of those of its copy.
fn reordered<T: Clone>(each: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|it| each[*it].clone()).collect()
}

/// The body of the loop over `iter` in `nodes`.
fn body_of(nodes: &mut [Node], iter: IterId) -> Option<&mut Block> {
    nodes.iter_mut().find_map(|node| {
        let is_meant = Loop::of(node).is_some_and(|it| it.iter() == iter);
        let mut blocks = node.blocks_mut().into_iter();
        match is_meant {
            true => blocks.next(),
            false => blocks.find_map(|it| body_of(it, iter)),
        }
    })
}

fn packed_array(kernel: &mut Kernel, array: ArrayId, boxes: &[Range], order: &[usize]) -> ArrayId {
    let shared = &kernel.arrays[array];
    let extents: Vec<_> = boxes.iter().map(|it| it.length.clone()).collect();
    let packed = Array {
        name: kernel.fresh_name(&format!("{}_k", shared.name.replace('.', "_"))),
        extents: reordered(&extents, order),
        length: None,
        field: None,
        ..shared.clone()
    };
    kernel.arrays.alloc(packed)
}

/// Lets `body` read `packed` where it reads `array`.
fn move_reads(
    body: &mut [Node],
    (array, packed): (ArrayId, ArrayId),
    boxes: &[Range],
    order: &[usize],
) -> Result<(), Overflow> {
    let mut moved = Ok(());
    for_each_access_mut(body, &mut |access| {
        if access.array == array {
            access.array = packed;
            for (subscript, range) in access.subscripts.iter_mut().zip(boxes) {
                if let Subscript::Affine(expr) = subscript {
                    match expr.minus(&range.least) {
                        Ok(place) => *expr = place,
                        Err(overflow) => moved = Err(overflow),
                    }
                }
            }
            access.subscripts = reordered(&access.subscripts, order);
        }
    });
    moved
}

/// `alloc`, and loops over what of the boxes lies in the array.
fn copies(
    kernel: &mut Kernel,
    (array, packed): (ArrayId, ArrayId),
    boxes: &[Range],
    order: &[usize],
) -> Result<Vec<Node>, Overflow> {
    let Array {
        name,
        extents,
        span,
        ..
    } = kernel.arrays[array].clone();
    let name = name.replace('.', "_");
    let iters: Vec<IterId> = (0..boxes.len())
        .map(|dimension| tree::named_iter(kernel, &format!("{name}_{dimension}"), span))
        .collect();
    let from = iters.iter().map(|it| Subscript::Affine((*it).into()));
    let to = iters.iter().zip(boxes);
    let to = to.map(|(it, range)| {
        AffineExpr::from(*it)
            .minus(&range.least)
            .map(Subscript::Affine)
    });
    let to = to.collect::<Result<Vec<_>, _>>()?;
    let access = |array, subscripts| Access {
        array,
        subscripts,
        span: Span::default(),
    };
    let mut nodes = vec![Node::Assign {
        place: Place::Element(access(packed, reordered(&to, order))),
        value: Expr::Load(access(array, from.collect())),
        span: Span::default(),
    }];
    for dimension in order.iter().rev() {
        let (range, extent) = (&boxes[*dimension], &extents[*dimension]);
        let end = range.least.plus(&range.length)?;
        nodes = vec![Node::AffineFor(AffineFor {
            iter: iters[*dimension],
            lower: Bound(alternatives(0.into(), &range.least)),
            upper: Bound(alternatives(extent.clone(), &end)),
            step: 1,
            lanes: 1,
            body: nodes.into(),
        })];
    }
    nodes.insert(0, Node::Alloc { array: packed });
    Ok(nodes)
}

fn alternatives(one: AffineExpr, other: &AffineExpr) -> Vec<AffineExpr> {
    match one == *other {
        true => vec![one],
        false => vec![one, other.clone()],
    }
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Misaddressed, Unproven};
    use crate::test_support::{accepts, apply, assert_same_meaning, kernel, refuses};

    #[test]
    fn scheme() {
        accepts(
            "kernel @k(n: i64, a: f64[n], y: f64[n]) {
  affine.for i in 0..n - 15 step 16 {
    affine.for k in 0..16 { y[i] reduce(add) a[i + k] }
  }
}",
            "pack(a, i)",
            "kernel @k(n: i64, a: f64[n], y: f64[n]) {
  affine.for i in 0..n - 15 step 16 {
    alloc a_k: f64[16]
    affine.for a_0 in max(0, i)..min(n, i + 16) { a_k[a_0 - i] = a[a_0] }
    affine.for k in 0..16 { y[i] reduce(add) a_k[k] }
  }
}",
        );
    }

    #[test]
    fn tiles_of_a_product() {
        let before = kernel(
            "kernel @k(n: i64, a: f64[n, n], b: f64[n, n], c: f64[n, n]) {
  affine.for i in 0..n {
    affine.for j in 0..n {
      affine.for k in 0..n { c[i, j] reduce(add) a[i, k] * b[k, j] }
    }
  }
}",
        );
        let tiled = "tile(i = 2, j = 3, k = 4)";
        let after = apply(&before, &format!("{tiled} pack(b, k_t) pack(a, k_t)"));
        let text = after.to_string();
        assert!(text.contains("alloc b_k: f64[4, 3]"), "{text}");
        assert!(text.contains("alloc a_k: f64[2, 4]"), "{text}");
        crate::test_support::assert_same_results(&before, &after);
    }

    #[test]
    fn along_a_loop_inside() {
        let points = |first: &str, pack: &str| {
            format!(
                "kernel @k(n: i64, m: i64, d: i64, x: f32[n, d], c: f32[m, d], y: f32[n], z: f32[n]) {{
  affine.for t in 0..n step 4 {{
    {pack}
    affine.for i in t..min(n, t + 4) {{
      var s: f32 = 0.0
      affine.for k in 0..m {{
        affine.for j in 0..d {{ s reduce(add) {first} * c[k, j] }}
      }}
      y[i] = s
    }}
    affine.for l in t..min(n, t + 4) {{
      affine.for q in 0..d {{ z[l] reduce(add) x[l, q] }}
    }}
  }}
}}"
            )
        };
        let copy = "alloc x_k: f32[d, 4]
          affine.for x_1 in 0..d {
            affine.for x_0 in max(0, t)..min(n, t + 4) { x_k[x_1, x_0 - t] = x[x_0, x_1] }
          }";
        let before = points("x[i, j]", "");
        accepts(
            &before,
            "pack(x, t, along = i)",
            &points("x_k[j, i - t]", copy),
        );
        let before = kernel(&before);
        assert_same_meaning(&before, &apply(&before, "pack(x, t, along = i)"));
        assert_same_meaning(&before, &apply(&before, "pack(x, t, along = l)"));
        assert_same_meaning(&before, &apply(&before, "pack(c, t, along = k)"));
        let refused = |step: &str, name| {
            refuses(&before.to_string(), step, Misaddressed, name);
        };
        refused("pack(c, t, along = l)", "NothingToReplace");
        refused("pack(x, t, along = u)", "NoSuchLoop");
        refused("pack(x, i, along = t)", "NotAround");
        // The copy is made before all of the iteration.
        let source = before
            .to_string()
            .replace("var s: f32 = 0.0", "var s: f32 = 0.0 x[i, 0] = 1.0");
        refuses(&source, "pack(x, t, along = l)", Unproven, "PacksWritten");
    }

    #[test]
    fn several_reads_and_negative_steps_of_subscripts() {
        for body in [
            "affine.for k in 0..3 { y[i] reduce(add) a[i + k] * a[i - k + 2] }",
            "affine.for k in i..min(n, i + 4) { affine.if (2 * k < n) { y[i] reduce(add) a[2 * k] } }",
            "affine.for k in 0..n { y[i] reduce(add) a[k] }",
        ] {
            let before = kernel(&format!(
                "kernel @k(n: i64, m: i64, a: f64[n + 2], y: f64[n]) {{
                   affine.for i in 0..n {{ {body} }}
                 }}"
            ));
            let after = apply(&before, "pack(a, i)");
            assert_same_meaning(&before, &after);
        }
    }

    #[test]
    fn refusals() {
        let source = |body: &str| {
            format!(
                "kernel @k(n: i64, a: f64[n], y: f64[n]) {{ affine.for i in 0..n {{ {body} }} }}"
            )
        };
        let refused = |body: &str, step: &str, verdict, name: &str| {
            refuses(&source(body), step, verdict, name);
        };
        let sum = "affine.for k in 0..i { y[i] reduce(add) a[k] }";
        refused(sum, "pack(a, i)", Unproven, "NoBox");
        let sized = source("affine.for k in 0..m { affine.if (k < n) { y[i] reduce(add) a[k] } }");
        let sized = sized.replace("(n: i64", "(n: i64, m: i64");
        refuses(&sized, "pack(a, i)", Unproven, "NoBox");
        refused("y[i] = a[i64(y[i])]", "pack(a, i)", Unproven, "MayLeave");
        refused("y[i] = a[i + 1]", "pack(a, i)", Unproven, "MayLeave");
        refused("a[i] = a[0] + 1.0", "pack(a, i)", Unproven, "PacksWritten");
        refused("y[i] = 1.0", "pack(a, i)", Misaddressed, "NothingToReplace");
        refused("y[i] = 1.0", "pack(b, i)", Misaddressed, "NoSuchArray");
    }
}
