//! The step `unroll`.

mod hoist;
mod jam;
mod moving;

pub use jam::UnrollAndJam;

use crate::address::{self, Target};
use crate::copy::Copying;
use crate::reason::checked_number;
use crate::script::call::{Call, FaultAt};
use crate::settle::without_known_choices;
use crate::step::Transform;
use crate::tiling::trip_count;
use crate::tree::{Replacing, new_iter};
use crate::{LoopPath, Reason};
use hoist::Hoisting;
use moving::Moving;
use std::fmt;
use strew_affine::verify::Verified;
use strew_affine::visit;
use strew_affine::{AffineExpr, AffineFor, Bound, Kernel, Node, Overflow};

/// Runs several iterations of a loop in one turn, and what is left over in a loop of its own.
///
/// ```text
/// affine.for i in 0..n {                      affine.for i in 0..n - 1 step 2 {
///   out[seg[i]] reduce(add) f64(x[i])           let seg_0: i32 = seg[i]
/// }                                             let seg_1: i32 = seg[i + 1]
///                                        →      out[seg_0] reduce(add) f64(x[i])
///                                               out[seg_1] reduce(add) f64(x[i + 1])
///                                             }
///                                             affine.for i_r in max(0, (n floordiv 2) * 2)..n {
///                                               out[seg[i_r]] reduce(add) f64(x[i_r])
///                                             }
/// ```
///
/// A loop that is known to run exactly once round becomes statements without a loop, and one that
/// never gets round stays.
///
/// Always legal: updates keep their order. What moves are loads that only subscripts need, and of
/// these only loads that cannot fault and whose array the loop does not write, so the first fault
/// in serial order stays the first; and none where they are more than registers can hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unroll {
    /// The loop, an `affine.for`.
    pub target: LoopPath,
    /// How many iterations a turn, from 2 to [`Unroll::MOST`].
    pub factor: u64,
}

impl Unroll {
    /// The word that the step begins with.
    pub const NAME: &'static str = "unroll";
    /// The greatest factor.
    pub const MOST: u64 = 64;
    /// How many nodes the copies of a body can be together.
    pub const MOST_NODES: u64 = 16_384;

    /// A request to unroll `target` by `factor`.
    pub fn new(target: impl Into<LoopPath>, factor: u64) -> Self {
        Self {
            target: target.into(),
            factor,
        }
    }
}

impl fmt::Display for Unroll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}, {})", Self::NAME, self.target, self.factor)
    }
}

impl Unroll {
    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let request = Self::new(call.path()?, call.number()?);
        call.finish(&[])?;
        Ok(request)
    }
}

impl Transform for Unroll {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.target]
    }
}

fn plan(kernel: &Kernel, request: &Unroll) -> Result<Replacing, Reason> {
    let Target { it: target, around } = address::find_affine_for(kernel, &request.target)?;
    let factor = checked_copies(request.factor, &target.body, 1)?;
    address::check_no_lanes(target.lanes, &request.target)?;
    let (lower, upper) = counted_bounds(target, &request.target, factor)?;
    let copies = usize::try_from(factor).unwrap_or(usize::MAX);
    let copies = Copies {
        target,
        lower,
        upper,
        inside: Inside::body(&target.body),
        factor,
        hoisting: Hoisting::of(kernel, target, &around, copies),
    };
    let mut prepared = kernel.clone();
    let replacement = copies.replacement(&mut prepared)?;
    Ok(Replacing {
        kernel: prepared,
        target: target.iter,
        replacement,
    })
}

/// How many copies a turn gets of `body`, each of which stands at `places`.
fn checked_copies(factor: u64, body: &[Node], places: u64) -> Result<i64, Reason> {
    let given = checked_number("the factor", factor, 2..=Unroll::MOST)?;
    let mut nodes: u64 = 0;
    visit::walk(body, &mut |_, _| nodes += 1);
    let copied = nodes.saturating_mul(factor).saturating_mul(places);
    let what = "the number of statements in all copies of the body";
    checked_number::<u64>(what, copied, 0..=Unroll::MOST_NODES)?;
    Ok(given)
}

/// The bounds by which the turns of `target` are counted.
///
/// An end that is whole turns behind the beginning cuts none of them: where it comes before another
/// end, that one counts at least as many turns, so nothing is left over. So of several ends one
/// other may be, whose distance nobody knows.
fn counted_bounds<'k>(
    target: &'k AffineFor,
    path: &LoopPath,
    factor: i64,
) -> Result<(&'k AffineExpr, &'k AffineExpr), Reason> {
    let lower = address::single(&target.lower, path)?;
    if let Some(upper) = target.upper.as_single() {
        return Ok((lower, upper));
    }
    let Bound(ends) = &target.upper;
    let mut cutting = Vec::new();
    for end in ends {
        match trip_count(lower, end, target.step)?.as_constant() {
            Some(trips) if trips % factor == 0 => {}
            trips => cutting.push((end, trips)),
        }
    }
    match cutting[..] {
        [(end, None)] => Ok((lower, end)),
        _ => Err(Reason::SeveralBounds { path: path.clone() }),
    }
}

/// What a loop does.
struct Inside<'k> {
    /// Before the loops that run once for all copies of a turn.
    before: &'k [Node],
    /// These loops, from the outside in, each all that the one before does.
    jammed: Vec<&'k AffineFor>,
    /// The loop in these whose bounds move.
    moving: Option<Moving<'k>>,
    /// What the innermost of them does.
    body: &'k [Node],
    /// Behind them.
    after: &'k [Node],
}

impl<'k> Inside<'k> {
    /// No loop runs once for all.
    fn body(body: &'k [Node]) -> Self {
        Self {
            before: &[],
            jammed: Vec::new(),
            moving: None,
            body,
            after: &[],
        }
    }
}

/// The making of what replaces the loop.
struct Copies<'k> {
    target: &'k AffineFor,
    inside: Inside<'k>,
    lower: &'k AffineExpr,
    /// The end by which turns are counted.
    upper: &'k AffineExpr,
    factor: i64,
    hoisting: Hoisting<'k>,
}

impl Copies<'_> {
    fn replacement(&self, kernel: &mut Kernel) -> Result<Vec<Node>, Overflow> {
        let trips = trip_count(self.lower, self.upper, self.target.step)?;
        match (self.lower.as_constant(), trips.as_constant()) {
            (_, Some(trips)) if trips < self.factor => {
                Ok(vec![Node::AffineFor(self.target.clone())])
            }
            (Some(lower), Some(trips)) if trips == self.factor => self.one_turn(kernel, lower),
            (_, Some(trips)) if trips % self.factor == 0 => Ok(vec![self.turns(kernel)?]),
            _ => Ok(vec![self.turns(kernel)?, self.left_over(kernel, &trips)?]),
        }
    }

    /// Statements without a loop: the iterator becomes a constant in each copy.
    fn one_turn(&self, kernel: &mut Kernel, lower: i64) -> Result<Vec<Node>, Overflow> {
        self.copies(kernel, |offset| {
            let value = lower.checked_add(offset).ok_or(Overflow)?;
            Ok(Copying::fix(self.target.iter, value))
        })
    }

    /// `affine.for i in lower..upper - (factor - 1) * step step factor * step`: turns that are
    /// whole.
    fn turns(&self, kernel: &mut Kernel) -> Result<Node, Overflow> {
        let AffineFor { iter, step, .. } = *self.target;
        let body = self.copies(kernel, |offset| Ok(Copying::shift(iter, iter, offset)))?;
        let last = step.checked_mul(self.factor - 1).ok_or(Overflow)?;
        let ends = self.target.upper.0.iter();
        let ends: Result<_, _> = ends.map(|it| it.minus(&last.into())).collect();
        Ok(Node::AffineFor(AffineFor {
            iter,
            lower: self.lower.clone().into(),
            upper: Bound(ends?),
            step: step.checked_mul(self.factor).ok_or(Overflow)?,
            lanes: 1,
            body: body.into(),
        }))
    }

    /// One copy of the body for each offset of a turn: first the loads of all of them, then their
    /// statements.
    fn copies(
        &self,
        kernel: &mut Kernel,
        copying_at: impl Fn(i64) -> Result<Copying, Overflow>,
    ) -> Result<Vec<Node>, Overflow> {
        let step = self.target.step;
        let Inside {
            before,
            ref jammed,
            ref moving,
            body,
            after,
        } = self.inside;
        let (mut begun, mut ended) = (Vec::new(), Vec::new());
        let (mut hoisted, mut statements) = (Vec::new(), Vec::new());
        for copy in 0..self.factor {
            let offset = step.checked_mul(copy).ok_or(Overflow)?;
            let parts = [before, body, after].into_iter();
            let copying = parts.fold(copying_at(offset)?, |copying, part| {
                copying.anew(kernel, part, copy)
            });
            begun.append(&mut copying.block(before)?);
            let mut block = copying.block(body)?;
            hoisted.extend(self.hoisting.hoist(kernel, &copying, &mut block, copy)?);
            statements.append(&mut without_known_choices(block));
            ended.append(&mut copying.block(after)?);
        }
        hoisted.append(&mut statements);
        if let Some(moving) = moving {
            hoisted = moving.around(kernel, hoisted, (self.factor, &copying_at(0)?))?;
        }
        let loops = jammed.iter().rev();
        begun.extend(loops.fold(hoisted, |body, it| {
            vec![Node::AffineFor(AffineFor {
                body: body.into(),
                ..(*it).clone()
            })]
        }));
        begun.append(&mut ended);
        Ok(begun)
    }

    /// The iterations after the last whole turn.
    fn left_over(&self, kernel: &mut Kernel, trips: &AffineExpr) -> Result<Node, Overflow> {
        let AffineFor {
            iter, step, body, ..
        } = self.target;
        let turn = step.checked_mul(self.factor).ok_or(Overflow)?;
        let turns = trips.floordiv(&self.factor.into())?;
        let begin = self.lower.plus(&turns.scaled(turn)?)?;
        // A loop that is empty from the start has a negative number of turns: nothing before
        // `lower` may run.
        let begin = match trips.as_constant() {
            Some(_) => begin.into(),
            None => Bound(vec![self.lower.clone(), begin]),
        };
        let rest = new_iter(kernel, *iter, "r");
        let copying = Copying::shift(*iter, rest, 0);
        // Copies of a body are made anew, but jammed loops are not.
        let is_jammed = !self.inside.jammed.is_empty() || self.inside.moving.is_some();
        let copying = match is_jammed {
            false => copying,
            true => copying.anew(kernel, body, 1),
        };
        Ok(Node::AffineFor(AffineFor {
            iter: rest,
            lower: begin,
            upper: self.target.upper.clone(),
            step: *step,
            lanes: 1,
            body: copying.block(body)?.into(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Misaddressed, Unproven};
    use crate::test_support::{accepts, apply, assert_same_meaning, kernel, refuses};

    #[test]
    fn conditions_that_become_known_are_no_question_any_more() {
        accepts(
            "kernel @k(x: f64[4], y: f64[3]) {
  affine.for i in 0..3 {
    scf.if i != 1 && x[3] < 1.0 { y[i] = x[i] }
    scf.if i * 2 == 2 { y[1] = 1.0 } else {
      scf.if 0 < i { y[0] = 2.0 }
    }
    scf.if 1 / i == 1 { y[2] = 3.0 }
    affine.if (i == 1, 0 <= i) { y[0] = 4.0 } else { y[1] = 5.0 }
  }
}",
            "unroll(i, 3)",
            "kernel @k(x: f64[4], y: f64[3]) {
  scf.if x[3] < 1.0 { y[0] = x[0] }
  scf.if 1 / 0 == 1 { y[2] = 3.0 }
  y[1] = 5.0
  y[1] = 1.0
  y[2] = 3.0
  y[0] = 4.0
  scf.if x[3] < 1.0 { y[2] = x[2] }
  y[0] = 2.0
  y[1] = 5.0
}",
        );
    }

    const SEGMENT_SUM: &str = "
kernel @segment_sum(n: i64, m: i32, seg: i32[n], x: f32[n], out: f64[m]) {
  affine.for i in 0..n {
    out[seg[i]] reduce(add) f64(x[i])
  }
}";

    fn check(source: &str, script: &str) {
        let before = kernel(source);
        assert_same_meaning(&before, &apply(&before, script));
    }

    #[test]
    fn scheme() {
        accepts(
            SEGMENT_SUM,
            "unroll(i, 2)",
            "
kernel @segment_sum(n: i64, m: i32, seg: i32[n], x: f32[n], out: f64[m]) {
  affine.for i in 0..n - 1 step 2 {
    let seg_0: i32 = seg[i]
    let seg_1: i32 = seg[i + 1]
    out[seg_0] reduce(add) f64(x[i])
    out[seg_1] reduce(add) f64(x[i + 1])
  }
  affine.for i_r in max(0, (n floordiv 2) * 2)..n {
    out[seg[i_r]] reduce(add) f64(x[i_r])
  }
}",
        );
    }

    #[test]
    fn every_shape_of_bounds_and_factor_keeps_the_iterations_in_order() {
        for bounds in [
            "0..n",
            "2..n",
            "0 - 3..m",
            "n..m",
            "0..n step 3",
            "1..11 step 2",
            "0..6",
            "0..5",
            "7..3",
        ] {
            for factor in [2, 3, 4, 5, 6, 64] {
                // Not a sum: an exchange of two iterations would be seen.
                let source = format!(
                    "kernel @k(n: i64, m: i64, out: i64[n]) {{
                       affine.for i in {bounds} {{
                         affine.if (0 < n) {{ out[0] = out[0] * 3 + i }}
                       }}
                     }}"
                );
                check(&source, &format!("unroll(i, {factor})"));
            }
        }
    }

    #[test]
    fn ends_that_are_whole_turns_away_leave_nothing_over() {
        let source = |bounds: &str| {
            format!(
                "kernel @k(n: i64, m: i64, out: i64[n]) {{
                   affine.for i in {bounds} {{ affine.if (0 < n) {{ out[0] = out[0] * 3 + i }} }}
                 }}"
            )
        };
        for bounds in [
            "0..min(n, 12)",
            "n..min(m, n + 12)",
            "1..min(n, 24) step 2",
            "0 - 3..min(m, 9)",
        ] {
            for factor in [2, 3, 4, 6] {
                check(&source(bounds), &format!("unroll(i, {factor})"));
            }
        }
        refuses(
            &source("0..min(n, 12)"),
            "unroll(i, 5)",
            Unproven,
            "SeveralBounds",
        );
        refuses(
            &source("0..min(n, m)"),
            "unroll(i, 4)",
            Unproven,
            "SeveralBounds",
        );
    }

    #[test]
    fn a_loop_of_one_turn_goes_away() {
        accepts(
            "
kernel @k(t: i32[5, 3], out: f64[9]) {
  affine.for i in 0..5 {
    affine.for k in 0..3 {
      out[t[i, k]] reduce(add) 1.0
    }
  }
}",
            "unroll(k, 3)",
            "
kernel @k(t: i32[5, 3], out: f64[9]) {
  affine.for i in 0..5 {
    let t_0: i32 = t[i, 0]
    let t_1: i32 = t[i, 1]
    let t_2: i32 = t[i, 2]
    out[t_0] reduce(add) 1.0
    out[t_1] reduce(add) 1.0
    out[t_2] reduce(add) 1.0
  }
}",
        );
    }

    #[test]
    fn the_loop_over_a_chunk_loads_its_indices_first_too() {
        let before = kernel(SEGMENT_SUM);
        let after = apply(&before, "tile_indirection_using_forall(i); unroll(i, 4)");
        let text = after.to_string();
        assert!(text.contains("let seg_3: i32 = seg[i + 3]"), "{text}");
        assert_same_meaning(&before, &after);
    }

    #[test]
    fn what_the_body_declares_is_declared_anew_in_each_copy() {
        check(
            "
kernel @k(n: i64, m: i64, seg: i32[n], x: f64[n], out: f64[m]) {
  affine.for i in 0..n {
    let k: i32 = seg[i]
    var s: f64 = 0.0
    affine.for j in 0..2 {
      s reduce(add) x[i] * f64(j + i)
    }
    scf.if 0.0 < s { out[k] reduce(add) s }
  }
}",
            "unroll(i, 3)",
        );
    }

    #[test]
    fn each_copy_allocates_arrays_of_its_own() {
        let source = "
kernel @k(n: i64, m: i64, seg: i32[n], x: f64[n], out: f64[m]) {
  affine.for i in 0..n {
    alloc t: f64[3]
    t[seg[i] % 3] reduce(add) x[i]
    out[seg[i]] reduce(add) t[0] + t[1]
  }
}";
        check(source, "unroll(i, 3)");
        let text = apply(&kernel(source), "unroll(i, 2)").to_string();
        assert!(text.contains("alloc t_0: f64[3]"), "{text}");
        assert!(
            text.contains("t_1[seg_1 % 3] reduce(add) x[i + 1]"),
            "{text}"
        );
    }

    #[test]
    fn loads_stay_where_they_are_more_than_registers_hold() {
        let text = |factor: u64| {
            let script = format!("unroll(i, {factor})");
            apply(&kernel(SEGMENT_SUM), &script).to_string()
        };
        assert!(text(8).contains("let seg_7: i32 = seg[i + 7]"));
        assert!(!text(9).contains("let "));
        check(SEGMENT_SUM, "unroll(i, 9)");
    }

    #[track_caller]
    fn hoists_nothing(body: &str) {
        let source = format!(
            "kernel @k(n: i64, m: i64, seg: i32[n], more: i32[m], x: f64[n], out: f64[m]) {{
               affine.for i in 0..n {{ {body} }}
             }}"
        );
        let before = kernel(&source);
        let after = apply(&before, "unroll(i, 2)");
        assert!(!after.to_string().contains("let "), "{after}");
        assert_same_meaning(&before, &after);
    }

    #[test]
    fn loads_that_could_fault_or_change_or_not_happen_stay() {
        hoists_nothing("out[more[i]] reduce(add) x[i]");
        hoists_nothing("out[seg[i - 1]] reduce(add) x[i]");
        hoists_nothing("out[seg[i]] reduce(add) x[i]\nseg[i] = 0");
        hoists_nothing("scf.if 0.0 < x[i] { out[seg[i]] reduce(add) x[i] }");
        hoists_nothing("out[0 < i ? seg[i] : 0] reduce(add) x[i]");
        hoists_nothing("out[m - 1] reduce(add) x[i]");
        hoists_nothing("alloc t: i32[2] out[t[1]] reduce(add) x[i]");
    }

    #[test]
    fn private_buffers_of_an_inner_forall_are_copied() {
        let source = SEGMENT_SUM.replace("affine.for i", "affine.for t in 0..3 { affine.for i");
        check(
            &format!("{source} }}"),
            "tile_indirection_using_forall(i, chunks = 2); unroll(t, 2)",
        );
    }

    #[test]
    fn factors_that_make_no_sense_are_misaddressed() {
        for factor in [0, 1, 65] {
            refuses(
                SEGMENT_SUM,
                &format!("unroll(i, {factor})"),
                Misaddressed,
                "BadNumber",
            );
        }
        let grown = "unroll(i, 64); unroll(i, 64); unroll(i, 64); unroll(i, 64)";
        refuses(SEGMENT_SUM, grown, Misaddressed, "BadNumber");
    }

    #[test]
    fn what_is_left_over_from_unrolling_is_not_unrolled_again() {
        refuses(
            SEGMENT_SUM,
            "unroll(i, 4); unroll(i_r, 2)",
            Unproven,
            "SeveralBounds",
        );
    }

    #[test]
    fn bounds_beyond_64_bits_are_unproven() {
        let source = SEGMENT_SUM.replace("0..n", "0..n step 9000000000000000000");
        refuses(&source, "unroll(i, 2)", Unproven, "Overflow");
    }
}
