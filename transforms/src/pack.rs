//! The step `pack`.

use crate::address::{self, Target, find_array};
use crate::script::Written;
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tree::{self, Replacing, for_each_access_mut};
use crate::{LoopPath, Reason};
use std::fmt;
use strew_affine::dependence::{Analyzed, Target as Variable};
use strew_affine::verify::Verified;
use strew_affine::visit::{self, AccessKind, AccessSite, Loop};
use strew_affine::{
    Access, AffineExpr, AffineFor, Array, ArrayId, Bound, Expr, IterId, Kernel, Node, Overflow,
    Place, Span, Subscript,
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
/// Legal when nothing in the loop writes the array, and its subscripts are affine and stay in a box
/// whose size only parameters decide, never below zero: that of a tile; and when they are known to
/// be in range. Elements of the box outside of the array are not copied, and nobody reads them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pack {
    /// The array.
    pub array: String,
    /// The loop, an `affine.for`.
    pub target: LoopPath,
}

impl Pack {
    /// The word that the step begins with.
    pub const NAME: &'static str = "pack";

    /// A request to pack what iterations of `target` read of `array`.
    pub fn new(array: impl Into<String>, target: impl Into<LoopPath>) -> Self {
        Self {
            array: array.into(),
            target: target.into(),
        }
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let request = Self::new(call.word()?, call.path()?);
        call.finish(&[])?;
        Ok(request)
    }
}

impl fmt::Display for Pack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}({}, {})",
            Self::NAME,
            Written(&self.array),
            self.target
        )
    }
}

impl Transform for Pack {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.target]
    }
}

fn plan(kernel: &Kernel, request: &Pack) -> Result<Replacing, Reason> {
    let path = &request.target;
    let Target { it: target, .. } = address::find_affine_for(kernel, path)?;
    address::check_no_lanes(target.lanes, path)?;
    let array = find_array(kernel, &request.array)?;
    let sites = visit::accesses(kernel);
    let is_inside = |it: &&AccessSite<'_>| {
        let mut loops = it.loops.iter();
        it.access.array == array && loops.any(|of| of.iter() == target.iter)
    };
    let inside: Vec<_> = sites.iter().filter(is_inside).collect();
    let name = || request.array.clone();
    let is_private =
        visit::has_forall(&target.body) || visit::allocated_arrays(&target.body).contains(&array);
    if inside.is_empty() || is_private {
        return Err(Reason::NothingToReplace { array: name() });
    }
    if let Some(write) = inside.iter().find(|it| it.kind != AccessKind::Read) {
        return Err(Reason::PacksWritten {
            array: name(),
            span: write.access.span,
        });
    }
    check_in_range(kernel, array, target, path)?;
    let extents = &kernel.arrays[array].extents;
    let boxes = (0..extents.len()).map(|dimension| Range::of(target, &inside, dimension));
    let boxes: Option<Vec<Range>> = boxes.collect::<Result<Option<_>, _>>()?;
    let analyzed = Analyzed::of_parameters(kernel);
    // A length below zero, of a loop that never runs, would be refused before the kernel starts.
    let is_extent = |it: &Range| analyzed.is_never_negative(&it.length);
    let boxes = boxes.filter(|it| it.iter().all(is_extent));
    let boxes = boxes.ok_or_else(|| Reason::NoBox {
        array: name(),
        path: path.clone(),
    })?;
    let mut prepared = kernel.clone();
    let packed = packed_array(&mut prepared, array, &boxes);
    let mut around = target.clone();
    move_reads(&mut around.body, array, packed, &boxes)?;
    let copies = copies(&mut prepared, array, packed, &boxes)?;
    around.body.splice(0..0, copies);
    Ok(Replacing {
        kernel: prepared,
        target: target.iter,
        replacement: vec![Node::AffineFor(around)],
    })
}

/// A copy has no other elements than those in the box: outside of the array it would not fail.
fn check_in_range(
    kernel: &Kernel,
    array: ArrayId,
    target: &AffineFor,
    path: &LoopPath,
) -> Result<(), Reason> {
    let analyzed = Analyzed::around(kernel, &[target.iter]);
    let mut sites = analyzed.sites().iter().filter(|it| {
        let is_inside = it.levels().any(|of| of.iter() == Some(target.iter));
        is_inside && it.target == Variable::Array(array)
    });
    match sites.find(|it| !analyzed.stays_in_range(it)) {
        Some(site) => Err(Reason::MayLeave {
            array: kernel.arrays[array].name.clone(),
            path: path.clone(),
            span: site.span,
        }),
        None => Ok(()),
    }
}

/// What subscripts of a dimension lie in during one iteration of the loop.
struct Range {
    least: AffineExpr,
    /// How many values there are, at most; over parameters.
    length: AffineExpr,
}

impl Range {
    /// One that all subscripts lie in, if there is one whose length only parameters decide.
    fn of(
        target: &AffineFor,
        sites: &[&AccessSite<'_>],
        dimension: usize,
    ) -> Result<Option<Self>, Overflow> {
        let mut all: Option<(AffineExpr, AffineExpr)> = None;
        for site in sites {
            let Some(Subscript::Affine(subscript)) = site.access.subscripts.get(dimension) else {
                return Ok(None);
            };
            let Some(own) = ends(target, site, subscript)? else {
                return Ok(None);
            };
            all = match all {
                None => Some(own),
                Some(all) => match both(&all, &own)? {
                    Some(both) => Some(both),
                    None => return Ok(None),
                },
            };
        }
        let Some((least, greatest)) = all else {
            return Ok(None);
        };
        let length = greatest.minus(&least)?.offset(1)?;
        Ok(length
            .is_over_parameters()
            .then_some(Self { least, length }))
    }
}

/// A range around two ranges that differ by constants.
fn both(
    one: &(AffineExpr, AffineExpr),
    other: &(AffineExpr, AffineExpr),
) -> Result<Option<(AffineExpr, AffineExpr)>, Overflow> {
    let least = one.0.minus(&other.0)?.as_constant();
    let greatest = one.1.minus(&other.1)?.as_constant();
    Ok(least.zip(greatest).map(|(least, greatest)| {
        let pick = |is_one: bool| if is_one { one } else { other };
        (pick(least <= 0).0.clone(), pick(greatest >= 0).1.clone())
    }))
}

/// The least and the greatest that `subscript` is in one iteration of `target`, with that iterator
/// and those around: the loops inside are replaced by their bounds, the innermost first. Of several
/// alternatives the ones are taken that give a range of a known length.
fn ends(
    target: &AffineFor,
    site: &AccessSite<'_>,
    subscript: &AffineExpr,
) -> Result<Option<(AffineExpr, AffineExpr)>, Overflow> {
    let is_around = |it: &&Loop<'_>| it.iter() != target.iter;
    let inner = site.loops.iter().rev().take_while(is_around);
    let mut found = vec![(subscript.clone(), subscript.clone())];
    for it in inner {
        let iter = it.iter();
        let Loop::Affine(it) = it else {
            return Ok(None);
        };
        let mut next = Vec::new();
        for (least, greatest) in &found {
            for lower in &it.lower.0 {
                for upper in &it.upper.0 {
                    let last = upper.offset(-1)?;
                    let least = at_end(least, iter, lower, &last)?;
                    let greatest = at_end(greatest, iter, &last, lower)?;
                    next.extend(least.zip(greatest));
                }
            }
        }
        next.truncate(MOST_ALTERNATIVES);
        found = next;
    }
    let length = |(least, greatest): &(AffineExpr, AffineExpr)| {
        greatest
            .minus(least)
            .is_ok_and(|it| it.is_over_parameters())
    };
    // A length that is a number is that of a tile, and better than a size.
    let constant = |(least, greatest): &(AffineExpr, AffineExpr)| {
        greatest
            .minus(least)
            .is_ok_and(|it| it.as_constant().is_some())
    };
    let best = found.iter().find(|it| constant(it));
    Ok(best.or_else(|| found.iter().find(|it| length(it))).cloned())
}

/// More choices of alternatives are not tried.
const MOST_ALTERNATIVES: usize = 64;

/// `expr` with `iter` at `rising` where it grows with that, else at `falling`; `None` where it is
/// no linear function of it.
fn at_end(
    expr: &AffineExpr,
    iter: IterId,
    rising: &AffineExpr,
    falling: &AffineExpr,
) -> Result<Option<AffineExpr>, Overflow> {
    let Some((coefficient, rest)) = expr.split_off(iter) else {
        return Ok(None);
    };
    let end = if coefficient >= 0 { rising } else { falling };
    Ok(Some(rest.plus(&end.scaled(coefficient)?)?))
}

fn packed_array(kernel: &mut Kernel, array: ArrayId, boxes: &[Range]) -> ArrayId {
    let shared = &kernel.arrays[array];
    let packed = Array {
        name: kernel.fresh_name(&format!("{}_k", shared.name.replace('.', "_"))),
        extents: boxes.iter().map(|it| it.length.clone()).collect(),
        field: None,
        ..shared.clone()
    };
    kernel.arrays.alloc(packed)
}

/// Lets `body` read `packed` where it reads `array`.
fn move_reads(
    body: &mut [Node],
    array: ArrayId,
    packed: ArrayId,
    boxes: &[Range],
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
        }
    });
    moved
}

/// `alloc`, and loops over what of the boxes lies in the array.
fn copies(
    kernel: &mut Kernel,
    array: ArrayId,
    packed: ArrayId,
    boxes: &[Range],
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
    let access = |array, subscripts| Access {
        array,
        subscripts,
        span: Span::default(),
    };
    let mut nodes = vec![Node::Assign {
        place: Place::Element(access(packed, to.collect::<Result<_, _>>()?)),
        value: Expr::Load(access(array, from.collect())),
        span: Span::default(),
    }];
    for ((iter, range), extent) in iters.iter().zip(boxes).zip(extents).rev() {
        let end = range.least.plus(&range.length)?;
        nodes = vec![Node::AffineFor(AffineFor {
            iter: *iter,
            lower: Bound(alternatives(0.into(), &range.least)),
            upper: Bound(alternatives(extent, &end)),
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
