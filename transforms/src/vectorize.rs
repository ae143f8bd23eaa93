//! The step `vectorize`.

use crate::address;
use crate::carried::Iterations;
use crate::fold::folded_inside;
use crate::reason::checked_number;
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tree::{self, Nested, Replacing};
use crate::{LoopPath, Reason};
use std::collections::BTreeSet;
use std::fmt;
use strew_affine::lanes::{Lanes, MOST_LANES};
use strew_affine::verify::Verified;
use strew_affine::visit::{Loop, walk};
use strew_affine::{Kernel, Node};

/// Runs several iterations of a loop at once, in the lanes of vectors. Those left over at its end
/// run one by one.
///
/// ```text
/// affine.for j in 0..d {                    affine.for j in 0..d lanes 4 {
///   out[seg[i], j] reduce(add) x[i, j]   →    out[seg[i], j] reduce(add) x[i, j]
/// }                                         }
/// ```
///
/// Each statement runs for all iterations of a group before the next one does, what it reads first.
/// Legal when of any two iterations that meet in an element, one of them writing, the first one
/// does so in a statement before that of the other, or reads what the same one writes. Scalars that
/// are updated are so from lane to lane, in the order of the loop, and so is an element that all
/// iterations update and nothing else in the loop uses; where the mode or the combiner allows it,
/// each lane gathers its updates of these.
///
/// The loop must begin with what vectors have, which [`Obstacle`](strew_affine::lanes::Obstacle)
/// lists: elements that follow each other in memory, wherever the first one is, or the same one in
/// all lanes, or at one distance, which has to be a number where they are written; and no operation
/// without a vector form. What comes behind is made turn by turn, in the order of the loop, if it
/// shares nothing that is written with what stands in front of it: a key is then computed in lanes,
/// and each update made where it goes.
///
/// ```text
/// affine.for i in 0..n {                          affine.for i in 0..n lanes 4 {
///   let b: i32 = i32((x[i] - lo) * inv)     →       let b: i32 = i32((x[i] - lo) * inv)
///   h[b] reduce(add) 1                              h[b] reduce(add) 1
/// }                                               }
/// ```
///
/// A loop around others runs in lanes, too, where these have the same turns in all of its
/// iterations and no two of those meet in an element that is written before the last of them ends:
/// all lanes make each turn of the loops inside together, with scalars of their own. Behind the
/// loops, from the first statement on that updates what lanes have in common, or is where a key of
/// its own says, iterations go on one by one. A later step that changes what is made at once has to
/// be legal for these, too.
///
/// ```text
/// affine.for i in 0..n {                   affine.for i in 0..n lanes 8 {
///   var s: f64 = 0.0                         var s: f64 = 0.0
///   affine.for k in 0..d {                   affine.for k in 0..d {
///     s = s * x[i] + c[k]              →       s = s * x[i] + c[k]
///   }                                        }
///   y[i] = s                                 y[i] = s
/// }                                        }
/// ```
///
/// Lanes of a loop inside are those of the iterations that are left over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Vectorize {
    /// The loop, an `affine.for` or `scf.for`.
    pub target: LoopPath,
    /// How many iterations at once: a power of two, at least as many as a vector of the narrowest
    /// type in the loop holds.
    pub lanes: u64,
}

impl Vectorize {
    /// The word that the step begins with.
    pub const NAME: &'static str = "vectorize";
    /// The most lanes.
    pub const MOST: u64 = MOST_LANES as u64;

    /// A request to run `lanes` iterations of `target` at once.
    pub fn new(target: impl Into<LoopPath>, lanes: u64) -> Self {
        Self {
            target: target.into(),
            lanes,
        }
    }
}

impl fmt::Display for Vectorize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}, {})", Self::NAME, self.target, self.lanes)
    }
}

impl Vectorize {
    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let request = Self::new(call.path()?, call.number()?);
        call.finish(&[])?;
        Ok(request)
    }
}

impl Transform for Vectorize {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.target]
    }
}

pub(crate) fn plan(kernel: &Kernel, request: &Vectorize) -> Result<Replacing, Reason> {
    let as_written = plan_as_written(kernel, request);
    let Err(Reason::NoLanes { .. }) = as_written else {
        return as_written;
    };
    // Quotients and remainders can hide that elements follow each other.
    let Nested { it: target, around } = address::find_counted(kernel, &request.target)?;
    let folded = Replacing {
        kernel: kernel.clone(),
        target: target.iter(),
        replacement: vec![folded_inside(target, &around)],
    };
    plan_as_written(&folded.rewrite(), request).or(as_written)
}

fn plan_as_written(kernel: &Kernel, request: &Vectorize) -> Result<Replacing, Reason> {
    let Nested { it: target, .. } = address::find_counted(kernel, &request.target)?;
    let path = &request.target;
    address::check_no_lanes(target.lanes(), path)?;
    let lanes = checked_number("the number of lanes", request.lanes, 2..=Vectorize::MOST)?;
    check(kernel, (target, path), lanes)?;
    Ok(Replacing {
        kernel: kernel.clone(),
        target: target.iter(),
        replacement: vec![in_lanes(target, lanes)],
    })
}

/// That `target`, called `path`, may run in so many lanes.
fn check(kernel: &Kernel, (target, path): (Loop<'_>, &LoopPath), lanes: u32) -> Result<(), Reason> {
    let found = Lanes::of(kernel, target, lanes).map_err(|(obstacle, span)| Reason::NoLanes {
        path: path.clone(),
        obstacle,
        span,
    })?;
    // What is made turn by turn keeps its order, and shares no array that is written with what is
    // made at once.
    let (together, _) = found.split(target.body());
    let mut written = BTreeSet::new();
    walk(together, &mut |node, _| {
        if !updates_the_same(&found, node) {
            written.extend(node.written_elements().map(|it| it.array));
        }
    });
    written.retain(|it| !found.keeps_apart(target.body(), *it));
    let iterations = Iterations::of(kernel, path, target.iter());
    match found.has_loops() {
        // Statements of a later turn of a loop inside come before those of an earlier one in the
        // next lane.
        true => iterations.check_kept_apart(|it| written.contains(&it)),
        false => iterations.check_in_lanes(|it| written.contains(&it), |it| found.is_varying(it)),
    }
}

/// That loops which run in lanes in `after` may do so. Where a step has left one whose statements
/// are made at once as they were `before`, nothing needs to be asked again; but one that takes the
/// loops out of it lets lanes make more of it at once.
pub(crate) fn check_lanes_kept(before: &Kernel, after: &Kernel) -> Result<(), Reason> {
    let in_lanes = |kernel| tree::loops_where(kernel, |it, _| it.lanes() > 1);
    let changed = in_lanes(after);
    if changed.is_empty() {
        return Ok(());
    }
    let known = in_lanes(before);
    for Nested { it, .. } in changed {
        let was = known.iter().find(|was| was.it.iter() == it.iter());
        let is_kept = |was: &Nested<'_>| made_at_once(before, was.it) == made_at_once(after, it);
        if !was.is_some_and(is_kept) {
            let path = LoopPath::new([after.iters[it.iter()].name.as_str()]);
            check(after, (it, &path), it.lanes())?;
        }
    }
    Ok(())
}

/// How many of the statements of `target` are made at once in lanes, and whether loops are among
/// them; none in those of a loop that is in none.
fn made_at_once(kernel: &Kernel, target: Loop<'_>) -> Option<(usize, bool)> {
    let lanes = Lanes::of(kernel, target, target.lanes()).ok()?;
    Some((lanes.split(target.body()).0.len(), lanes.has_loops()))
}

fn in_lanes(target: Loop<'_>, lanes: u32) -> Node {
    let mut node = target.to_node();
    match &mut node {
        Node::AffineFor(it) => it.lanes = lanes,
        Node::ScfFor(it) => it.lanes = lanes,
        _ => {}
    }
    node
}

/// Whether `statement` updates elements that are the same in all lanes: nothing else uses their
/// arrays then.
fn updates_the_same(lanes: &Lanes<'_>, statement: &Node) -> bool {
    let mut places = statement.places().iter().filter(|it| it.local().is_none());
    matches!(statement, Node::Reduce { .. }) && places.all(|it| lanes.is_one_element(it))
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Misaddressed, Unproven};
    use crate::test_support::{accepts, refuses};

    const ROWS: &str = "
kernel @rows(n: i64, m: i32, d: i32, seg: i32[n], x: f32[n, d], out: f32[m, d]) {
  affine.for i in 0..n {
    affine.for j in 0..d {
      out[seg[i], j] reduce(add) x[i, j]
    }
  }
}";

    #[test]
    fn scheme() {
        accepts(
            ROWS,
            "vectorize(j, 4)",
            "
kernel @rows(n: i64, m: i32, d: i32, seg: i32[n], x: f32[n, d], out: f32[m, d]) {
  affine.for i in 0..n {
    affine.for j in 0..d lanes 4 {
      out[seg[i], j] reduce(add) x[i, j]
    }
  }
}",
        );
    }

    #[test]
    fn quotients_and_remainders_hide_nothing() {
        let kernel = |statement: &str| {
            format!(
                "kernel @k(n: i64, m: i64, x: f32[n], y: f32[n * m + 8], z: f32[n, m]) {{
                   affine.for t in 0..n floordiv 8 {{
                     affine.for l in 0..8 {{ {statement} }}
                   }}
                 }}"
            )
        };
        for (before, after) in [
            (
                "y[((t * 8 + l) floordiv m) * m + (t * 8 + l) mod m] = x[(t * 8 + l) floordiv 8]",
                "y[t * 8 + l] = x[t]",
            ),
            (
                "y[l mod 8] reduce(add) x[t + l floordiv 8]",
                "y[l] reduce(add) x[t]",
            ),
        ] {
            let lanes = kernel(after).replace("in 0..8 ", "in 0..8 lanes 4 ");
            accepts(&kernel(before), "vectorize(l, 4)", &lanes);
        }
        for other in [
            "y[(l floordiv 4) * 8 + l mod 4] = 1.0",
            "z[t, (l * 3) mod m] = 1.0",
        ] {
            refuses(&kernel(other), "vectorize(l, 4)", Unproven, "NoLanes");
        }
    }

    #[test]
    fn a_loop_in_lanes_can_be_tiled_but_neither_vectorised_again_nor_unrolled() {
        let tiled = "vectorize(j, 8); tile_indirection_using_forall(i, chunks = 2)";
        let kernel = crate::test_support::kernel(ROWS);
        let text = crate::test_support::apply(&kernel, tiled).to_string();
        assert!(text.contains("affine.for j in 0..d lanes 8"), "{text}");
        for again in ["vectorize(j, 4)", "unroll(j, 2)"] {
            let script = format!("vectorize(j, 4); {again}");
            refuses(ROWS, &script, Misaddressed, "HasLanes");
        }
    }

    #[test]
    fn scattered_elements_have_no_lanes() {
        let scatter = "kernel @k(n: i64, key: i32[n], out: f64[n]) {
          affine.for i in 0..n { out[key[i]] reduce(add) 1.0 }
        }";
        let reason = refuses(scatter, "vectorize(i, 4)", Unproven, "NoLanes");
        assert_eq!(reason.labels().len(), 1);
        assert!(reason.to_string().contains("where in `out` a turn is"));
    }

    fn around_a_loop(inner: &str, body: &str) -> String {
        format!(
            "kernel @k(n: i64, m: i64, row: i64[n + 1], key: i32[m], x: f32[n], w: f32[m], a: f32[m, n], c: f32[n, 4], y: f32[n]) {{
               affine.for i in 0..n {{ var s: f32 = 0.0 {inner} {{ {body} }} y[i] = s }}
             }}"
        )
    }

    #[test]
    fn loops_around_loops_have_lanes() {
        for (inner, body) in [
            ("affine.for t in 0..m", "s = s * x[i] + w[t]"),
            (
                "affine.for t in 0..m step 2",
                "s reduce(add) a[t, i] * w[t]",
            ),
            ("affine.for t in 1..m", "a[t, i] = a[t - 1, i] + c[i, 2]"),
            (
                "scf.for p in row[m]..row[m + 1]",
                "s reduce(max) x[i] * w[p]",
            ),
            ("affine.for t in 0..m", "s reduce(add) a[i64(key[t]), i]"),
            (
                "affine.for t in 0..m",
                "scf.if w[t] < x[i] { s reduce(add) 1.0 } else { s = 0.0 }",
            ),
            (
                "affine.for t in 0..m",
                "affine.for u in 0..t { s reduce(add) a[u, i] } s = s * 0.5",
            ),
            ("affine.for t in 0..m lanes 4", "s reduce(add) w[t] * x[i]"),
            (
                "affine.for t in 0..m",
                "affine.if (t < n) { s = x[i] } else { s = w[t] }",
            ),
        ] {
            let source = around_a_loop(inner, body);
            let lanes = source.replacen("0..n {", "0..n lanes 8 {", 1);
            accepts(&source, "vectorize(i, 8)", &lanes);
        }
    }

    #[test]
    fn loops_inside_have_the_same_turns_in_all_lanes_and_keep_to_their_own() {
        for (inner, body, obstacle) in [
            ("affine.for t in 0..i", "s reduce(add) w[t]", "`t`"),
            (
                "scf.for p in row[i]..row[i + 1]",
                "s reduce(add) w[p]",
                "`p`",
            ),
            ("affine.for t in 0..m", "w[t] reduce(add) x[i]", "`w`"),
            (
                "affine.for t in 0..m",
                "affine.if (t < i) { s = x[i] }",
                "a branch",
            ),
            (
                "affine.for t in 0..m",
                "s reduce(add) w[i64(key[t]) + i]",
                "`w`",
            ),
            ("affine.for t in 0..m", "s reduce(add) a[i, t]", "`a`"),
            ("scf.forall t in 0..m", "a[t, i] = x[i]", "a parallel loop"),
        ] {
            let source = around_a_loop(inner, body);
            let reason = refuses(&source, "vectorize(i, 8)", Unproven, "NoLanes");
            assert!(reason.to_string().contains(obstacle), "{reason}");
        }
    }

    #[test]
    fn what_stands_behind_loops_inside_may_meet() {
        let source = around_a_loop("affine.for t in 0..m", "s = s * x[i] + w[t]");
        let source = source.replace("y[i] = s", "y[i64(key[0])] reduce(add) s");
        let lanes = source.replacen("0..n {", "0..n lanes 8 {", 1);
        accepts(&source, "vectorize(i, 8)", &lanes);
        let shared = source.replace("s * x[i]", "s * y[i]");
        refuses(&shared, "vectorize(i, 8)", Unproven, "NoLanes");
    }

    /// Without the loop, the statements behind it would be made at once, in which iterations meet.
    #[test]
    fn what_is_made_one_after_the_other_stays_so() {
        let source = "kernel @k(n: i64, x: i32[n], w: i32[3], z: i32[n + 1], h: i32[1]) {
          affine.for i in 0..n {
            var s: i32 = x[i]
            affine.for k in 0..3 { s = s * 3 + w[k] }
            h[0] reduce(add) s
            z[i + 1] = z[i] + s
          }
        }";
        let reason = refuses(source, "vectorize(i, 8); unroll(k, 3)", Illegal, "Carried");
        assert!(reason.to_string().contains("`z`"), "{reason}");
        let apart = source.replace("z[i] + s", "s");
        let kernel = crate::test_support::kernel(&apart);
        crate::test_support::apply(&kernel, "vectorize(i, 8); unroll(k, 3)");
    }

    /// In the loop inside, `t = 0` of the second lane comes before `t = 1` of the first one.
    #[test]
    fn lanes_that_meet_in_a_loop_inside_are_shown() {
        for body in ["a[t, i] = a[t, i + 1]", "a[t, i + 1] = a[t + 1, i]"] {
            let source = around_a_loop("affine.for t in 0..m - 1", body);
            let source = source.replace("i in 0..n", "i in 0..n - 1");
            let reason = refuses(&source, "vectorize(i, 4)", Illegal, "Carried");
            assert!(reason.witness().is_some(), "{body}");
        }
    }

    #[test]
    fn rows_have_lanes_wherever_they_begin_and_end() {
        let rows = |body: &str| {
            format!(
                "kernel @k(n: i64, row: i32[n + 1], at: i32[n], wide: i64[n], x: f32[n], y: f32[n], m: f32[n, n]) {{
                   affine.for i in 0..n {{
                     scf.for p in i64(row[i])..i64(row[i + 1]) {{ {body} }}
                   }}
                 }}"
            )
        };
        for body in [
            "y[p] = 2.0 * x[p]",
            "y[at[i] + i32(p)] reduce(add) x[p]",
            "y[wide[i] - 1 + p] = y[wide[i] - 1 + p] + x[at[i] - 3 + i32(p)]",
            "let k: i32 = at[i] + i32(p) y[k] = x[k] + 1.0",
            "m[at[i], wide[i] + p] reduce(max) x[p]",
        ] {
            let source = rows(body);
            let lanes = source.replace("1]) {", "1]) lanes 8 {");
            accepts(&source, "vectorize(p, 8)", &lanes);
        }
        for body in [
            "y[at[i] - i32(p)] reduce(add) x[p]",
            "y[wide[i] + 2 * p] reduce(add) x[p]",
            "y[u32(i8(p))] reduce(add) x[p]",
            "y[u16(i32(u8(p)) - 200)] reduce(add) x[p]",
            "m[wide[i] + p, i] reduce(add) x[p]",
        ] {
            refuses(&rows(body), "vectorize(p, 8)", Unproven, "NoLanes");
        }
        let beside = rows("y[at[i] + i32(p)] = 1.0 y[at[i] + 1 + i32(p)] = 2.0");
        refuses(&beside, "vectorize(p, 8)", Unproven, "Carried");
    }

    #[test]
    fn keys_are_computed_in_lanes() {
        let source = "
kernel @k(n: i64, m: i32, lo: f32, inv: f32, x: f32[n], h: u32[m]) {
  affine.for i in 0..n {
    let b: i32 = i32((x[i] - lo) * inv)
    h[b] reduce(add) 1
  }
}";
        accepts(
            source,
            "vectorize(i, 4)",
            &source.replace("0..n {", "0..n lanes 4 {"),
        );
    }

    #[test]
    fn what_is_made_turn_by_turn_may_meet() {
        let body = "y[i] = 2.0 * x[i] let v: f32 = x[i + 1] + 1.0 z[key[i]] = v z[0] = z[0] + v";
        let source = format!(
            "kernel @k(n: i64, key: i32[n], x: f32[n + 1], y: f32[n], z: f32[n + 1]) {{
               affine.for i in 0..n {{ {body} }}
             }}"
        );
        let lanes = source.replace("0..n {", "0..n lanes 4 {");
        accepts(&source, "vectorize(i, 4)", &lanes);
        let carried = source.replace("y[i] = 2.0 * x[i]", "x[i] = 2.0 * x[i + 1]");
        refuses(&carried, "vectorize(i, 4)", Illegal, "Carried");
        let shared = source.replace("let v: f32 = x[i + 1]", "let v: f32 = z[i + 1]");
        refuses(&shared, "vectorize(i, 4)", Unproven, "NoLanes");
    }

    #[test]
    fn counts_that_make_no_sense_are_misaddressed() {
        for count in [0, 1, 65] {
            let script = format!("vectorize(j, {count})");
            refuses(ROWS, &script, Misaddressed, "BadNumber");
        }
        refuses(ROWS, "vectorize(j, 6)", Unproven, "NoLanes");
        refuses(ROWS, "vectorize(j, 2)", Unproven, "NoLanes");
    }

    #[test]
    fn elements_at_a_distance_are_written_where_it_is_known_and_not_far() {
        let source = |body: &str| {
            format!(
                "kernel @k(n: i64, m: i64, a: f32[n, 3], b: f32[2 * n + 1], c: f32[n, m], d: f32[n, 100000]) {{ affine.for i in 0..n {{ {body} }} }}"
            )
        };
        for body in ["a[i, 1] = a[i, 0]", "b[2 * i + 1] = 0.0", "b[n - i] = 1.0"] {
            let lanes = source(body).replace("0..n {", "0..n lanes 4 {");
            accepts(&source(body), "vectorize(i, 4)", &lanes);
        }
        for body in ["c[i, 0] = 1.0", "d[i, 5] = 1.0"] {
            refuses(&source(body), "vectorize(i, 4)", Unproven, "NoLanes");
        }
    }

    #[test]
    fn fields_of_records_lie_at_the_distance_of_these() {
        let source = |index: &str| {
            let fields = "x: f32 @ 0, v: f32[2] @ 4, z: u8 @ 12, w: f64 @ 16";
            format!(
                "kernel @k(n: i64, keys: i32[n], p: record(24) {{ {fields} }}[n]) {{ affine.for i in 0..n {{ p.x[{index}] = p.v[{index}, 1] * 2.0 p.w[{index}] = 0.0 }} }}"
            )
        };
        let lanes = source("i").replace("0..n {", "0..n lanes 4 {");
        accepts(&source("i"), "vectorize(i, 4)", &lanes);
        refuses(&source("keys[i]"), "vectorize(i, 4)", Unproven, "NoLanes");
    }

    #[test]
    fn iterations_that_meet_are_shown() {
        let source = |body: &str| {
            format!(
                "kernel @k(n: i64, out: f64[n + 9], m: f64[n + 9, n + 9]) {{ affine.for j in 1..n {{ {body} }} }}"
            )
        };
        for body in [
            "out[j] = out[j - 1]",
            "out[j] = out[j + 3] out[j + 1] = 0.0",
            "out[j] = 1.0 m[3, j] = out[j + 1]",
            // What is the same in all lanes is fetched before any of them writes.
            "out[j] = 2.0 m[3, j] = out[1]",
        ] {
            let reason = refuses(&source(body), "vectorize(j, 4)", Illegal, "Carried");
            assert!(reason.witness().is_some(), "{body}");
        }
        for body in [
            "out[j] = 2.0 * out[j] m[3, j] = out[j] + m[3, j]",
            "out[j] = out[j] - out[j + 2]",
            "out[j + 1] = 1.0 m[3, j] = out[j] m[4, j] = out[j - 1]",
            "let next: f64 = out[j + 1] m[3, j] = next out[j] = next * next",
            "out[n - j] reduce(max) out[n - j - 1]",
        ] {
            let lanes = source(body).replace("1..n", "1..n lanes 4");
            accepts(&source(body), "vectorize(j, 4)", &lanes);
        }
    }
}
