//! The step `parallelize`.

use crate::address::{self, Target};
use crate::carried::Iterations;
use crate::copy::{Copying, loop_anew};
use crate::fold::folded;
use crate::one_loop::about_one_loop;
use crate::private;
use crate::rising;
use crate::scalars;
use crate::settle;
use crate::tiling::trip_count;
use crate::tree::Replacing;
use crate::{LoopPath, Reason};
use std::collections::BTreeSet;
use strew_affine::flat::conditions_of;
use strew_affine::marks::Marks;
use strew_affine::visit::{Loop, has_forall, walk};
use strew_affine::{AffineExpr, AffineFor, ArrayId, Block, Bound, Condition, Forall, Kernel, Node};

/// Runs the iterations of a loop at once.
///
/// ```text
/// affine.for i in 0..n {              scf.forall i in 0..n strategy(auto) {
///   y[i] = 2.0 * x[i]           →       y[i] = 2.0 * x[i]
/// }                                   }
/// ```
///
/// Legal when no two iterations meet in an element of an array, or in a scalar, that one of them
/// writes. Scalars and local arrays that each iteration writes before it reads them, and that
/// nobody reads behind the loop, every iteration gets for its own. Nor does it matter where they
/// [mark](strew_affine::marks) elements, as a search through a graph does. A loop that does not
/// begin at zero, or has a step, gets an iterator `i_c` that counts its iterations. Of several
/// alternatives of a bound that may decide the first one counts, or one with which their number is
/// a constant, and iterations beyond the others do nothing.
///
/// Where iterations are apart only if flat subscripts are those of rows, as `a[i * m + j]` is for
/// `j` below `m`, and sizes decide whether they are, the kernel asks that first and else runs the
/// loop as it was. So it does where iterations are rows, `p` from `row[i]` to `row[i + 1]`, which
/// are apart if `row` never falls: one look at that array tells.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parallelize {
    /// The loop, an `affine.for`.
    pub target: LoopPath,
}

about_one_loop!(
    Parallelize,
    "parallelize",
    /// A request to run the iterations of `target` at once.
);

fn plan(kernel: &Kernel, request: &Parallelize) -> Result<Replacing, Reason> {
    let settled = with_settled_bounds(kernel, request)?;
    let kernel = settled.as_ref().unwrap_or(kernel);
    plan_for_all_sizes(kernel, request).or_else(|reason| {
        if let Some(where_rows_are_apart) = plan_where_rows_are_apart(kernel, request)? {
            return Ok(where_rows_are_apart);
        }
        if let Some(where_marks_are_apart) = plan_where_marks_are_apart(kernel, request)? {
            return Ok(where_marks_are_apart);
        }
        plan_where_rising(kernel, request)?.ok_or(reason)
    })
}

/// The kernel without the alternatives of the loop's bounds that never decide: counted by another
/// one, iterations would be shared of which some threads get none that do anything.
fn with_settled_bounds(kernel: &Kernel, request: &Parallelize) -> Result<Option<Kernel>, Reason> {
    let Target { it: target, .. } = address::find_affine_for(kernel, &request.target)?;
    let bounds = [&target.lower, &target.upper];
    if bounds.iter().all(|it| it.as_single().is_some()) {
        return Ok(None);
    }
    let settled = Replacing {
        kernel: kernel.clone(),
        target: target.iter,
        replacement: settle::settled(kernel, &[target.iter]),
    };
    // What never runs stays for whoever asked for it by name.
    let is_there = !settled.replacement.is_empty();
    Ok(is_there.then(|| settled.rewrite()))
}

/// The same, where the loop runs at once if elements that it marks become no others than it looks
/// for, and as it was if they do.
fn plan_where_marks_are_apart(
    kernel: &Kernel,
    request: &Parallelize,
) -> Result<Option<Replacing>, Reason> {
    let Target { it: target, .. } = address::find_affine_for(kernel, &request.target)?;
    let Some((marked, condition)) = Marks::of(target.iter, &target.body).where_apart() else {
        return Ok(None);
    };
    let with_own = private::with_own(kernel, target)?;
    let with_own = with_own.as_ref().unwrap_or(kernel);
    let Ok(mut at_once) = plan_but_for(with_own, request, &marked) else {
        return Ok(None);
    };
    let as_it_was = loop_anew(&mut at_once.kernel, target, "s")?;
    let versions = Node::ScfIf {
        condition,
        then: at_once.replacement.into(),
        otherwise: [Node::AffineFor(as_it_was)].into(),
        span: kernel.iters[target.iter].span,
    };
    Ok(Some(Replacing {
        replacement: vec![versions],
        ..at_once
    }))
}

/// The same, where the loop runs at once if row pointers never fall, and as it was if one does.
fn plan_where_rising(kernel: &Kernel, request: &Parallelize) -> Result<Option<Replacing>, Reason> {
    let Target { it: target, .. } = address::find_affine_for(kernel, &request.target)?;
    let Some(pointers) = rising::pointers_of(kernel, target) else {
        return Ok(None);
    };
    let with_own = private::with_own(kernel, target)?;
    let with_own = with_own.as_ref().unwrap_or(kernel);
    let mut at_once = plan_of(with_own, request, |_| Ok(()))?;
    let as_it_was = loop_anew(&mut at_once.kernel, target, "s")?;
    let question = rising::Question::ask(&mut at_once.kernel, target, &pointers)?;
    let versions = question.decide(at_once.replacement, vec![Node::AffineFor(as_it_was)]);
    Ok(Some(Replacing {
        replacement: versions,
        ..at_once
    }))
}

/// The same, where the loop runs at once for some sizes, and as it was for others.
fn plan_where_rows_are_apart(
    kernel: &Kernel,
    request: &Parallelize,
) -> Result<Option<Replacing>, Reason> {
    let Target { it: target, .. } = address::find_affine_for(kernel, &request.target)?;
    let mut written = Vec::new();
    walk(&target.body, &mut |node, _| {
        written.extend(node.written_elements().map(|it| it.array));
    });
    written.dedup();
    let conditions = conditions_of(kernel, written);
    if conditions.is_empty() {
        return Ok(None);
    }
    let mut assuming = kernel.clone();
    assuming.assumptions.extend(conditions.iter().cloned());
    let Ok(mut at_once) = plan_for_all_sizes(&assuming, request) else {
        return Ok(None);
    };
    at_once.kernel.assumptions = kernel.assumptions.clone();
    let as_it_was = loop_anew(&mut at_once.kernel, target, "s")?;
    let versions = Node::AffineIf {
        conditions,
        then: at_once.replacement.into(),
        otherwise: [Node::AffineFor(as_it_was)].into(),
    };
    Ok(Some(Replacing {
        replacement: vec![versions],
        ..at_once
    }))
}

fn plan_for_all_sizes(kernel: &Kernel, request: &Parallelize) -> Result<Replacing, Reason> {
    let Target { it: target, .. } = address::find_affine_for(kernel, &request.target)?;
    let with_own = private::with_own(kernel, target)?;
    plan_shared(with_own.as_ref().unwrap_or(kernel), request)
}

/// The same, where iterations have all of their own that they can.
fn plan_shared(kernel: &Kernel, request: &Parallelize) -> Result<Replacing, Reason> {
    let Target { it: target, .. } = address::find_affine_for(kernel, &request.target)?;
    let marked = Marks::of(target.iter, &target.body).marked();
    plan_but_for(kernel, request, &marked)
}

/// The same, where it does not matter that iterations meet in `marked`.
fn plan_but_for(
    kernel: &Kernel,
    request: &Parallelize,
    marked: &BTreeSet<ArrayId>,
) -> Result<Replacing, Reason> {
    plan_of(kernel, request, |target| {
        let iterations = Iterations::of(kernel, &request.target, target.iter);
        iterations.check_kept_apart(|it| !marked.contains(&it))
    })
}

/// The same for who knows by other means, or else by `check`, that iterations are apart.
fn plan_of(
    kernel: &Kernel,
    request: &Parallelize,
    check: impl Fn(&AffineFor) -> Result<(), Reason>,
) -> Result<Replacing, Reason> {
    let path = &request.target;
    let Target { it: target, around } = address::find_affine_for(kernel, path)?;
    let in_forall = around.iter().any(|it| matches!(it, Loop::Forall(_)));
    if in_forall || has_forall(&target.body) {
        return Err(Reason::NestedForall { path: path.clone() });
    }
    address::check_no_lanes(target.lanes, path)?;
    let several = || Reason::SeveralBounds { path: path.clone() };
    let (lower, lower_rest) = target.lower.0.split_first().ok_or_else(several)?;
    let (upper, upper_rest) = counted(target, lower).ok_or_else(several)?;
    if !lower_rest.is_empty() && target.step != 1 {
        return Err(several());
    }
    check(target)?;
    scalars::check_none_set(kernel, path, target)?;
    let mut prepared = kernel.clone();
    let forall = Forall {
        iter: target.iter,
        count: trip_count(lower, upper, target.step)?,
        privates: Vec::new(),
        disjoint: Vec::new(),
        strategy: "auto".to_owned(),
        body: only_within(target, lower_rest, &upper_rest).into(),
    };
    let forall = match (lower.as_constant(), target.step) {
        (Some(0), 1) => forall,
        _ => counting(&mut prepared, target, lower, forall)?,
    };
    Ok(Replacing {
        kernel: prepared,
        target: target.iter,
        replacement: vec![folded(Node::Forall(forall))],
    })
}

/// The alternative of the upper bound up to which iterations are counted, and the others: one from
/// which `lower` has a constant distance, as the end of a whole tile has, if there is one.
fn counted<'k>(
    target: &'k AffineFor,
    lower: &AffineExpr,
) -> Option<(&'k AffineExpr, Vec<AffineExpr>)> {
    let Bound(ends) = &target.upper;
    let is_constant = |end: &AffineExpr| {
        let trips = end.minus(lower).ok();
        trips.is_some_and(|it| it.as_constant().is_some())
    };
    let position = ends.iter().position(is_constant).unwrap_or(0);
    let (before, behind) = ends.split_at_checked(position)?;
    let (end, behind) = behind.split_first()?;
    Some((end, [before, behind].concat()))
}

/// The body, in the iterations that lie within these bounds too.
fn only_within(target: &AffineFor, lower: &[AffineExpr], upper: &[AffineExpr]) -> Vec<Node> {
    if lower.is_empty() && upper.is_empty() {
        return target.body.to_vec();
    }
    let iter = AffineExpr::from(target.iter);
    let above = lower.iter();
    let above = above.map(|it| Condition::at_most(it.clone(), iter.clone()));
    let below = upper.iter();
    let below = below.map(|it| Condition::below(iter.clone(), it.clone()));
    vec![Node::AffineIf {
        conditions: above.chain(below).collect(),
        then: target.body.clone(),
        otherwise: Block::default(),
    }]
}

/// `forall` over the numbers of the iterations of `target`.
fn counting(
    kernel: &mut Kernel,
    target: &AffineFor,
    lower: &AffineExpr,
    forall: Forall,
) -> Result<Forall, Reason> {
    let (counter, copying) = Copying::counting(kernel, target, lower)?;
    Ok(Forall {
        iter: counter,
        body: copying.block(&forall.body)?.into(),
        ..forall
    })
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Misaddressed, Unproven};
    use crate::test_support::{accepts, apply, assert_same_meaning, kernel, refused, refuses};

    fn in_loop(bounds: &str, body: &str) -> String {
        format!(
            "kernel @k(n: i64, seg: i32[n], x: f64[n], y: f64[n]) {{
               var s: f64 = 0.0
               affine.for i in {bounds} {{ {body} }}
             }}"
        )
    }

    #[test]
    fn scheme() {
        accepts(
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i in 0..n { y[i] = 2.0 * x[i] }
}",
            "parallelize(i)",
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  scf.forall i in 0..n strategy(auto) { y[i] = 2.0 * x[i] }
}",
        );
    }

    #[test]
    fn bounds_that_never_decide_count_no_iterations() {
        let rows = |bounds: &str| {
            format!(
                "kernel @k(n: i64, x: f64[n, n]) {{
                   affine.for k in 0..n {{ affine.for i in {bounds} {{ x[i, k] = x[i, k] + x[k, k] }} }}
                 }}"
            )
        };
        for (bounds, counted) in [
            ("0..min(n, k)", "scf.forall i in 0..k strategy"),
            (
                "max(0, k + 1)..n",
                "scf.forall i_c in 0..-k + n - 1 strategy",
            ),
        ] {
            let before = kernel(&rows(bounds));
            let after = apply(&before, "parallelize(i)");
            assert!(after.to_string().contains(counted), "{after}");
            assert_same_meaning(&before, &after);
        }
    }

    #[test]
    fn rows_run_at_once_where_their_pointer_never_falls() {
        let header = "kernel @k(n: i64, m: i64, row: i32[n + 1], x: f64[m], y: f64[m])";
        let body = |i: &str, p: &str| {
            format!("scf.for {p} in i64(row[{i}])..i64(row[{i} + 1]) {{ y[{p}] = x[{p}] + 1.0 }}")
        };
        let before = format!(
            "{header} {{ affine.for i in 0..n {{ {} }} }}",
            body("i", "p")
        );
        let after = format!(
            "{header} {{
               var falls: i32 = 0
               affine.for i_q in 0..n {{ falls reduce(or) row[i_q + 1] < row[i_q] ? 1 : 0 }}
               scf.if falls == 0 {{
                 scf.forall i in 0..n strategy(auto) {{ {} }}
               }} else {{
                 affine.for i_s in 0..n {{ {} }}
               }}
             }}",
            body("i", "p"),
            body("i_s", "p_1")
        );
        accepts(&before, "parallelize(i)", &after);
        let written = before.replace("y[p] = x[p] + 1.0", "y[p] = x[p] row[p] = 3");
        refuses(&written, "parallelize(i)", Illegal, "Carried");
        let beside = before.replace("y[p] =", "y[p + 1] = y[p] +");
        refuses(&beside, "parallelize(i)", Illegal, "Carried");
    }

    #[test]
    fn any_bounds_and_bodies() {
        for bounds in [
            "0..n",
            "2..n - 1",
            "n - 7..n step 3",
            "max(n - 4, 0)..min(3, n)",
        ] {
            for body in [
                "y[i] = x[i] + f64(i)",
                "alloc t: f64[2] t[i mod 2] = x[i] y[n - 1 - i] = t[1]",
                "affine.for j in 0..i + 1 { y[i] reduce(add) x[j] }",
                "var own: f64 = 1.0 own reduce(mul) x[i] scf.if 1.0 < own { y[i] = own }",
            ] {
                let before = kernel(&in_loop(bounds, body));
                assert_same_meaning(&before, &apply(&before, "parallelize(i)"));
            }
        }
    }

    #[test]
    fn rows_that_sizes_keep_apart() {
        accepts(
            "kernel @k(n: i64, m: i64, p: i64, l: i64, a: f64[l], x: f64[p]) {
  affine.for i in 0..n { affine.for j in 0..p { a[i * m + j] = a[i * m + j] * 0.5 + x[j] } }
}",
            "parallelize(i)",
            "kernel @k(n: i64, m: i64, p: i64, l: i64, a: f64[l], x: f64[p]) {
  affine.if (p - 1 < m) {
    scf.forall i in 0..n strategy(auto) { affine.for j in 0..p { a[i * m + j] = a[i * m + j] * 0.5 + x[j] } }
  } else {
    affine.for i_s in 0..n { affine.for j_1 in 0..p { a[i_s * m + j_1] = a[i_s * m + j_1] * 0.5 + x[j_1] } }
  }
}",
        );
        for body in [
            "alloc t: f64[3] t[1] = x[j] a[i * 3 * m + j] = t[1] + a[i * 3 * m + j]",
            "var s: f64 = a[i * m + j] s = s * 0.5 a[i * m + j] = s + f64(q)",
            "a[(n - 1 - i) * m + j] = x[j] + f64(i)",
        ] {
            let source = format!(
                "kernel @k(n: i64, m: i64, q: i64, p: i64, l: i64, a: f64[l], x: f64[p]) {{
                   affine.for i in 0..n {{ affine.for j in 0..p {{ {body} }} }}
                 }}"
            );
            let before = kernel(&source);
            let after = apply(&before, "parallelize(i)");
            assert!(after.to_string().contains("} else {"), "{after}");
            assert_same_meaning(&before, &after);
        }
        // No size keeps these apart.
        let meets = "kernel @k(n: i64, m: i64, p: i64, l: i64, a: f64[l]) {
           affine.for i in 1..n { affine.for j in 0..p { a[i * m + j] = a[(i - 1) * m + j] } }
         }";
        refuses(meets, "parallelize(i)", Illegal, "Carried");
    }

    /// In a kernel that marks elements of `a`: `key` are keys, `c` and `d` numbers.
    fn marking(body: &str) -> String {
        format!(
            "kernel @k(n: i64, m: i64, c: i32, d: i32, key: i64[n], x: f64[n], a: i32[m], b: i32[m]) {{
               affine.for i in 0..n {{ {body} }}
             }}"
        )
    }

    /// Whether two iterations are found that meet depends on what the search for them tries.
    fn keeps_order(body: &str) {
        let reason = refused(&marking(body), "parallelize(i)");
        assert_eq!(reason.name(), "Carried", "{body}: {reason}");
        assert_ne!(reason.verdict(), Misaddressed, "{body}: {reason}");
    }

    #[test]
    fn marks() {
        for body in [
            "a[key[i]] = c + 1",
            "scf.if a[key[i]] == -1 { a[key[i]] = c }",
            "scf.if x[i] < 0.5 { scf.if i32(i) < a[key[i]] && a[key[i]] != d { a[key[i]] = 7 } }",
            "scf.if x[i] < 0.5 { a[key[i]] = c } scf.if a[key[key[i]]] == i32(i) { a[key[key[i]]] = c }",
            "affine.for j in 0..i { scf.if a[key[j]] < 0 { a[key[j]] = c } }",
            "scf.if i32(x[i]) / d < a[key[i]] { scf.if c < d && a[key[i]] < 3 { a[key[i]] = c } }",
            "let k: i64 = key[i] scf.if a[k] == 0 { a[k] = c }",
        ] {
            let before = kernel(&marking(body));
            let after = apply(&before, "parallelize(i)");
            assert!(after.to_string().contains("scf.forall"), "{after}");
            assert_same_meaning(&before, &after);
        }
        for body in [
            "a[key[i]] = i32(i)",
            "scf.if x[i] < 0.5 { a[key[i]] = c } else { a[key[i]] = d }",
            "scf.if a[key[i]] == 0 { a[key[i]] = c b[key[i]] = i32(i) }",
            "scf.if a[key[i]] == 0 { a[key[i]] = b[0] } b[0] = c",
            "scf.if a[key[i]] == 0 { a[key[i]] = c } b[i] = a[i]",
            "scf.if a[key[i]] == 0 { a[key[i]] = c } a[key[i]] reduce(add) 1",
            // An order in which an element is marked before would not look for what is not there.
            "scf.if a[key[i]] == 0 && x[key[key[i]]] < 0.5 { a[key[i]] = c }",
            "scf.if a[key[i]] == 0 { scf.if x[key[key[i]]] < 0.5 { a[key[i]] = c } }",
            "scf.if a[key[i]] == 0 || x[key[key[i]]] < 0.5 { a[key[i]] = c }",
            "scf.if a[key[i]] == 0 { scf.if b[i] / c < 3 { a[key[i]] = c } }",
            "scf.if b[i] / a[key[i]] < d { a[key[i]] = c }",
            "scf.if x[i64(a[key[i]])] < 0.5 { a[key[i]] = c }",
            // What is kept in a register is written back.
            "affine.for j in 0..n { scf.if x[j] < 0.5 { a[key[i]] = c } }",
            "affine.for j in 0..n { scf.if x[i] < 0.5 { a[j] = c } }",
        ] {
            keeps_order(body);
        }
    }

    #[test]
    fn marks_that_are_compared_elsewhere() {
        accepts(
            &marking("scf.if a[i] == d { scf.if a[key[i]] == 0 { a[key[i]] = c } }"),
            "parallelize(i)",
            "kernel @k(n: i64, m: i64, c: i32, d: i32, key: i64[n], x: f64[n], a: i32[m], b: i32[m]) {
  scf.if 0 != d && c != d {
    scf.forall i in 0..n strategy(auto) {
      scf.if a[i] == d { scf.if a[key[i]] == 0 { a[key[i]] = c } }
    }
  } else {
    affine.for i_s in 0..n {
      scf.if a[i_s] == d { scf.if a[key[i_s]] == 0 { a[key[i_s]] = c } }
    }
  }
}",
        );
        for body in [
            "scf.if d != a[0] && x[i] < 0.5 { scf.if c == a[key[i]] && a[i] == 3 { a[key[i]] = c } }",
            "scf.if a[key[i]] == 1 { a[key[i]] = 2 } scf.if x[i] < 0.5 && a[i] == 0 && a[key[key[i]]] == c { a[key[key[i]]] = 2 }",
        ] {
            let before = kernel(&marking(body));
            assert_same_meaning(&before, &apply(&before, "parallelize(i)"));
        }
        for body in [
            "scf.if a[i] == d { scf.if a[key[i]] < 0 { a[key[i]] = c } }",
            "scf.if a[i] == d / c { scf.if a[key[i]] == 0 { a[key[i]] = c } }",
            "scf.if a[i] == d { scf.if i8(a[key[i]]) == 0 { a[key[i]] = c } }",
            "scf.if a[i] < d { scf.if a[key[i]] == 0 { a[key[i]] = c } }",
            "scf.if a[i] == i32(i) { scf.if a[key[i]] == 0 { a[key[i]] = c } }",
            "scf.if a[i] == b[0] { scf.if a[key[i]] == 0 { a[key[i]] = c } }",
        ] {
            keeps_order(body);
        }
    }

    #[test]
    fn refusals() {
        let refused = |bounds, body, verdict, name| {
            refuses(&in_loop(bounds, body), "parallelize(i)", verdict, name);
        };
        refused("1..n", "y[i] = y[i - 1] + x[i]", Illegal, "Carried");
        refused("0..n", "y[seg[i]] reduce(add) x[i]", Illegal, "Carried");
        refused("0..n", "s reduce(add) x[i]", Illegal, "CarriedScalar");
        let bounds = "max(0, n - 3)..n step 2";
        refused(bounds, "y[i] = x[i]", Unproven, "SeveralBounds");
        refused(
            "0..n",
            "scf.forall j in 0..1 strategy(auto) { }",
            Misaddressed,
            "NestedForall",
        );
    }
}
