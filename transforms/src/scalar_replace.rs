//! The step `scalar_replace`.

mod assigned;
mod carried;
mod numbers;
mod own;

pub(crate) use carried::carried_arrays;
pub(crate) use numbers::is_table;

use crate::address::find_array;
use crate::in_range::is_in_range;
use crate::script::Written;
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tree::{for_each_expr_mut, for_each_place_mut, if_runs, replace_loop, scalar_for};
use crate::{LoopPath, Reason};
use std::fmt;
use strew_affine::dependence::Analyzed;
use strew_affine::verify::Verified;
use strew_affine::visit::{self, AccessKind, AccessSite, Loop};
use strew_affine::{
    Access, ArrayId, Block, CompareOp, Expr, IterId, Kernel, Local, LocalId, Node, Overflow, Place,
    ScfFor, Span, Subscript, Variable,
};

/// Keeps an element that a loop uses in each of its iterations in a scalar while the loop runs, and
/// one that an iteration writes until the iterations behind it have read it.
///
/// ```text
/// affine.for i in 0..n {              affine.for i in 0..n {
///   affine.for k in 0..n {              affine.if (0 < n) {
///     y[i] reduce(add) a[i, k]    →       element y_s: f64 = y[i]
///   }                                     affine.for k in 0..n { y_s reduce(add) a[i, k] }
/// }                                       y[i] = y_s
///                                       }
///                                     }
/// ```
///
/// Done to every loop in which the array is used at one element alone, the same in all iterations,
/// also where data tell how long it is; of such loops in each other to the outermost.
///
/// ```text
/// affine.for i in 1..n {              affine.if (1 < n) {
///   x[i] = x[i - 1] * 0.5               var x_s: f64 = x[0]
/// }                                     affine.for i in 1..n {
///                                         let x_v: f64 = x_s * 0.5
///                                →        x[i] = x_v
///                                         x_s = x_v
///                                       }
///                                     }
/// ```
///
/// And to every innermost loop without branches that reads what an iteration up to four before has
/// assigned, if all elements of the array that the kernel uses are known to be there.
///
/// And to what an iteration assigns before loops in it set it again, until it is set for the last
/// time.
///
/// ```text
/// at[i] = 0                           var at_s: i32 = 0
/// affine.for c in 0..m {              affine.for c in 0..m {
///   at[i] reduce(max) key[c]     →      at_s reduce(max) key[c]
/// }                                   }
///                                     at[i] = at_s
/// ```
///
/// And to a local array of an iteration that is used at constant places alone: each element that is
/// used is a scalar.
///
/// ```text
/// alloc t: f64[2]                     var t_0: f64 = 0.0
/// t[0] = x[i]                    →    t_0 = x[i]
/// y[i] = t[0] * t[0]                  y[i] = t_0 * t_0
/// ```
///
/// Of a local array that is filled with numbers before all else, what is read at constant places is
/// these numbers.
///
/// ```text
/// alloc w: f64[2]
/// w[0] = 0.5                     →
/// affine.for i in 0..n {               affine.for i in 0..n {
///   y[i] = w[0] * x[i] + w[1]            y[i] = 0.5 * x[i] + 0.0
/// }                                    }
/// ```
///
/// Always legal: the loop does with the scalar what it did with the element, which is read only if
/// the loop runs, and written where that is done anyway. If iterations fail, another failure may be
/// the first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScalarReplace {
    /// The array.
    pub array: String,
}

impl ScalarReplace {
    /// The word that the step begins with.
    pub const NAME: &'static str = "scalar_replace";

    /// A request to keep elements of `array` in scalars.
    pub fn new(array: impl Into<String>) -> Self {
        Self {
            array: array.into(),
        }
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let request = Self::new(call.word()?);
        call.finish(&[])?;
        Ok(request)
    }
}

impl fmt::Display for ScalarReplace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", Self::NAME, Written(&self.array))
    }
}

impl Transform for ScalarReplace {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        let array = find_array(kernel, &self.array)?;
        if let Some(places) = own::places(kernel, array) {
            let mut rewritten = (**kernel).clone();
            own::rewrite(&mut rewritten, array, &places);
            return Ok(rewritten);
        }
        if let Some(numbers) = numbers::numbers(kernel, array) {
            let mut rewritten = (**kernel).clone();
            numbers::rewrite(&mut rewritten, array, &numbers);
            return Ok(rewritten);
        }
        let mut found = replaceable(kernel, array);
        let mut assigned = assigned::elements(kernel, array);
        // Each element becomes one scalar, in the outermost loop.
        assigned.retain(|it| !found.iter().any(|of| is_in(it.target, of.target)));
        found.retain(|it| !assigned.iter().any(|of| is_in(it.target, of.target)));
        let chains = carried::chains(kernel, array);
        if found.is_empty() && chains.is_empty() && assigned.is_empty() {
            return Err(Reason::NothingToReplace {
                array: self.array.clone(),
            });
        }
        let mut rewritten = rewritten(kernel, &found)?;
        carried::rewrite(&mut rewritten, &chains)?;
        assigned::rewrite(&mut rewritten, &assigned);
        Ok(rewritten)
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        Vec::new()
    }
}

/// A loop that uses one element of the array, and is no `scf.forall`.
struct Replaceable<'k> {
    target: Loop<'k>,
    element: &'k Access,
    is_written: bool,
}

/// The outermost loops that use the array at one element, which stays the same.
fn replaceable(kernel: &Kernel, array: ArrayId) -> Vec<Replaceable<'_>> {
    let sites = sites_of(kernel, array);
    let mut found: Vec<Replaceable<'_>> = Vec::new();
    visit::walk(&kernel.body, &mut |node, around| {
        let is_inside =
            |it: &Replaceable<'_>| around.iter().any(|of| of.iter() == it.target.iter());
        if let Some(target @ (Loop::Affine(_) | Loop::Scf(_))) = Loop::of(node)
            && !found.iter().any(is_inside)
        {
            found.extend(replaceable_in(kernel, target, around, &sites));
        }
    });
    found
}

/// Whether `inner` is `outer` or in it.
fn is_in(inner: Loop<'_>, outer: Loop<'_>) -> bool {
    inner.iter() == outer.iter() || loops_in(outer.body()).contains(&inner.iter())
}

fn sites_of(kernel: &Kernel, array: ArrayId) -> Vec<AccessSite<'_>> {
    let mut sites = visit::accesses(kernel);
    sites.retain(|it| it.access.array == array);
    sites
}

/// The iterators of the loops in `body`.
fn loops_in(body: &[Node]) -> Vec<IterId> {
    let mut iters = Vec::new();
    visit::walk(body, &mut |node, _| {
        iters.extend(Loop::of(node).map(Loop::iter))
    });
    iters
}

/// Those of `sites` that are in `target`, if all of them are of one element, which stays the same
/// while loops over `iters` run and belongs to one thread.
fn of_one_element<'s, 'k>(
    target: Loop<'_>,
    sites: &'s [AccessSite<'k>],
    iters: &[IterId],
) -> Option<Vec<&'s AccessSite<'k>>> {
    let is_inside = |it: &&AccessSite<'k>| it.loops.iter().any(|of| of.iter() == target.iter());
    let inside: Vec<_> = sites.iter().filter(is_inside).collect();
    let element = inside.first()?.access;
    let mut others = inside.iter().map(|it| &it.access.subscripts);
    let is_one = others.all(|it| *it == element.subscripts) && is_fixed(element, iters);
    let is_own = visit::allocated_arrays(target.body()).contains(&element.array);
    let is_straight = target.lanes() == 1 && !visit::has_forall(target.body());
    (is_one && !is_own && is_straight).then_some(inside)
}

fn replaceable_in<'k>(
    kernel: &'k Kernel,
    target: Loop<'k>,
    around: &[Loop<'k>],
    sites: &[AccessSite<'k>],
) -> Option<Replaceable<'k>> {
    let iters = [vec![target.iter()], loops_in(target.body())].concat();
    let inside = of_one_element(target, sites, &iters)?;
    let element = inside.first()?.access;
    // Whether the element is there is known if every iteration uses it anyway.
    let is_certain = inside.iter().any(|it| happens_in(target, it));
    let is_written = inside.iter().any(|it| it.kind != AccessKind::Read);
    let is_written_anyway = inside
        .iter()
        .any(|it| it.kind != AccessKind::Read && happens_in(target, it));
    let at_once = around.iter().any(|it| matches!(it, Loop::Forall(_)));
    let is_there = is_certain || is_in_range(kernel, around, element);
    // Where an index out of range is skipped, so is what reads the element after it was assigned;
    // the scalar would have that value.
    let is_assigned = inside.iter().any(|it| it.kind == AccessKind::Write);
    let is_one = |access: &Access| inside.iter().any(|it| std::ptr::eq(it.access, access));
    let is_kept = !is_assigned || stay_in_range(kernel, is_one);
    let is_free = is_kept && !is_counted(around, element.array);
    (is_there && is_free && (!is_written || is_written_anyway || !at_once)).then_some(Replaceable {
        target,
        element,
        is_written,
    })
}

/// Whether it is counted how often elements of `array` are written, as a loop of `around` lets each
/// be written once.
fn is_counted(around: &[Loop<'_>], array: ArrayId) -> bool {
    around.iter().any(|it| match it {
        Loop::Forall(forall) => forall.disjoint.iter().any(|it| it.target == array),
        Loop::Affine(_) | Loop::Scf(_) => false,
    })
}

/// Whether all accesses that `are_meant` are inside of their array whenever they happen.
fn stay_in_range(kernel: &Kernel, are_meant: impl Fn(&Access) -> bool) -> bool {
    let analyzed = Analyzed::new(kernel);
    let mut sites = analyzed.sites().iter();
    sites.all(|it| !it.access.is_some_and(&are_meant) || analyzed.stays_in_range(it))
}

/// Whether subscripts are affine and no iterator of `inner` is in them.
fn is_fixed(element: &Access, inner: &[IterId]) -> bool {
    element.subscripts.iter().all(|subscript| match subscript {
        Subscript::Affine(expr) => {
            let mut iters = inner.iter();
            !iters.any(|it| expr.mentions(Variable::Iter(*it)))
        }
        Subscript::Computed(_) => false,
    })
}

/// Whether each iteration of `target` does the access, as a statement in its body writes there.
fn happens_in(target: Loop<'_>, site: &AccessSite<'_>) -> bool {
    let is_written = |node: &Node| {
        let mut written = node.written_elements();
        written.any(|it| std::ptr::eq(it, site.access))
    };
    let is_read = |node: &Node| {
        let mut values = node.expressions().into_iter();
        matches!(
            node,
            Node::Assign { .. } | Node::Reduce { .. } | Node::Declare { .. }
        ) && values.any(|it| reads_surely(it, site.access))
    };
    let mut body = target.body().iter();
    body.any(|it| is_written(it) || is_read(it))
}

fn reads_surely(expr: &Expr, access: &Access) -> bool {
    let mut reads = false;
    visit::for_each_sure_load(expr, &mut |it| reads |= std::ptr::eq(it, access));
    reads
}

fn rewritten(kernel: &Kernel, found: &[Replaceable<'_>]) -> Result<Kernel, Overflow> {
    let mut rewritten = kernel.clone();
    for it in found {
        let local = Local {
            mutable: it.is_written,
            is_element: it.is_written,
            ..scalar_for(&rewritten, it.element, "s")
        };
        let local = rewritten.locals.alloc(local);
        let mut around = it.target.to_node();
        for block in around.blocks_mut() {
            use_locals(block, &|access| {
                (access.array == it.element.array).then_some(local)
            });
        }
        let value = Expr::Load(it.element.clone());
        let mut nodes = vec![Node::Declare { local, value }, around];
        if it.is_written {
            nodes.push(Node::Assign {
                place: Place::Element(it.element.clone()),
                value: Expr::Local(local),
                span: it.element.span,
            });
        }
        let replacement = match it.target {
            Loop::Affine(target) => if_runs(kernel, target, nodes)?,
            Loop::Scf(target) => if_data_run(target, nodes, it.element.span),
            Loop::Forall(_) => nodes,
        };
        replace_loop(&mut rewritten.body, it.target.iter(), replacement);
    }
    Ok(rewritten)
}

/// `nodes`, done only if `target`, whose bounds are data, runs at all.
fn if_data_run(target: &ScfFor, nodes: Vec<Node>, span: Span) -> Vec<Node> {
    let condition = Expr::compare(CompareOp::Lt, target.lower.clone(), target.upper.clone());
    vec![Node::ScfIf {
        condition,
        then: nodes.into(),
        otherwise: Block::default(),
        span,
    }]
}

/// Lets `body` use the scalars that `of` gives for elements.
fn use_locals(body: &mut [Node], of: &dyn Fn(&Access) -> Option<LocalId>) {
    for_each_expr_mut(body, &mut |expr| {
        if let Expr::Load(access) = expr
            && let Some(local) = of(access)
        {
            *expr = Expr::Local(local);
        }
    });
    for_each_place_mut(body, &mut |place| {
        if let Some(local) = place.element().and_then(of) {
            *place = Place::Local(local);
        }
    });
}

#[cfg(test)]
mod tests {
    use crate::Verdict::Misaddressed;
    use crate::test_support::{accepts, apply, assert_same_results, kernel, refuses};

    #[test]
    fn scheme() {
        accepts(
            "kernel @k(n: i64, a: f64[n, n], b: f64[n, n], c: f64[n, n]) {
  affine.for i in 0..n {
    affine.for j in 0..n {
      affine.for k in 0..n { c[i, j] reduce(add) a[i, k] * b[k, j] }
    }
  }
}",
            "scalar_replace(c)",
            "kernel @k(n: i64, a: f64[n, n], b: f64[n, n], c: f64[n, n]) {
  affine.for i in 0..n {
    affine.for j in 0..n {
      affine.if (0 < n) {
        element c_s: f64 = c[i, j]
        affine.for k in 0..n { c_s reduce(add) a[i, k] * b[k, j] }
        c[i, j] = c_s
      }
    }
  }
}",
        );
    }

    #[test]
    fn reads_writes_and_loops_that_do_not_run() {
        for (outer, inner, body) in [
            ("0..n", "0..i", "y[i] = y[i] * 2.0 + x[j]"),
            ("0..n", "0..m", "out[j] reduce(add) y[i] * x[i]"),
            ("0..n + 1", "0..m", "y[i] reduce(max) x[0]"),
            ("0..n", "0..m", "scf.if 1.0 < x[i] { y[i] reduce(add) 1.0 }"),
            (
                "0..n",
                "max(0, i - 2)..min(m, i)",
                "out[0] reduce(add) y[i] y[i] = 3.0",
            ),
            (
                "0..n",
                "0..m",
                "affine.for k in 0..i { y[0] reduce(add) x[k] } y[0] reduce(add) 1.0",
            ),
        ] {
            let before = kernel(&format!(
                "kernel @k(n: i64, m: i64, x: f64[n], y: f64[n], out: f64[m]) {{
                   affine.for i in {outer} {{ affine.for j in {inner} {{ {body} }} }}
                 }}"
            ));
            let after = apply(&before, "scalar_replace(y)");
            assert!(after.to_string().contains("y_s"), "{after}");
            assert_same_results(&before, &after);
        }
    }

    #[test]
    fn loops_whose_bounds_are_data() {
        let sums = |body: &str| {
            format!(
                "kernel @k(n: i64, m: i64, row: i64[n + 1], x: f64[m], y: f64[n]) {{
  affine.for i in 0..n {{
{body}
  }}
}}"
            )
        };
        let each = "    scf.for p in row[i]..row[i + 1] { y[i] reduce(add) x[p] }";
        let kept = "    scf.if row[i] < row[i + 1] {
      element y_s: f64 = y[i]
      scf.for p in row[i]..row[i + 1] { y_s reduce(add) x[p] }
      y[i] = y_s
    }";
        accepts(&sums(each), "scalar_replace(y)", &sums(kept));
        for body in [each, "scf.for p in i..row[i] { y[i] = y[i] + x[p] * y[i] }"] {
            let before = kernel(&sums(body));
            let after = apply(&before, "scalar_replace(y)");
            assert_same_results(&before, &after);
        }
    }

    #[test]
    fn refusals() {
        for body in [
            "y[j] = x[i]",
            "y[i] = y[i + 1]",
            "scf.if 1.0 < x[i] { y[i + n] = 1.0 }",
            "y[i64(x[i])] = 1.0",
            // Under the policy that skips, what reads `y` there is skipped too.
            "y[n + i] = 1.0 x[j] = y[n + i]",
        ] {
            let source = format!(
                "kernel @k(n: i64, x: f64[n], y: f64[n]) {{
                   affine.for i in 0..n {{ affine.for j in 0..n {{ {body} }} }}
                 }}"
            );
            refuses(
                &source,
                "scalar_replace(y)",
                Misaddressed,
                "NothingToReplace",
            );
            refuses(&source, "scalar_replace(z)", Misaddressed, "NoSuchArray");
        }
    }
}
