//! The step `fuse`.

use crate::address::{self, Target};
use crate::copy::{Copying, loop_anew};
use crate::cut::{greatest, least};
use crate::join::{behind, continued, nested};
use crate::order::{Reordering, Tick};
use crate::reason::checked_number;
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tiling::trip_count;
use crate::tree::{Replacing, follows, remove_loop};
use crate::{LoopPath, Reason};
use std::fmt;
use strew_affine::dependence::Site;
use strew_affine::verify::Verified;
use strew_affine::{AffineExpr, AffineFor, IterId, Kernel, Node, Overflow};

/// Makes one loop of two that follow each other: with the same bounds; where the second one goes on
/// where the first one ends; or where the iterations of one are among those of the other.
///
/// ```text
/// affine.for i in 0..n { y[i] = x[i] }                      affine.for i in 0..n {
/// affine.for j in 0..n { out[key[j]] reduce(add) y[j] }  →    y[i] = x[i]
///                                                             out[key[i]] reduce(add) y[i]
///                                                           }
/// ```
///
/// Where the bounds differ, conditions say which iterations do what: the form with a reduced domain
/// instead of loops that were cut, which is what [`Separate`](crate::Separate) and
/// [`Split`](crate::Split) take apart.
///
/// ```text
/// affine.for i in 0..min(n, m) { y[i] = x[i] }           affine.for i in 0..n {
/// affine.for j in max(0, m)..n { y[j] = 1.0 }         →    affine.if (i < m) { y[i] = x[i] } else {
///                                                            y[i] = 1.0
///                                                          }
///                                                        }
/// affine.for i in 0..n { y[i] = x[i] }                   affine.for i in 0..n {
/// affine.for j in 9..n - 9 { z[j] = y[j] }            →    y[i] = x[i]
///                                                          affine.if (9 <= i, i < n - 9) { z[i] = y[i] }
///                                                        }
/// ```
///
/// The second loop may stand behind conditions, which then stand in the body. Legal when of any two
/// accesses of one element, one of them writing, the first one stays the first. With a `shift` each
/// iteration of the second loop comes so many iterations later, and what is left over of both is
/// done before and after; without one the least shift that is legal is taken. If iterations fail,
/// the first failure is that of the new order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fuse {
    /// The loop that comes first.
    pub first: LoopPath,
    /// The one that follows.
    pub second: LoopPath,
    /// By how many iterations the second one is late, to [`Fuse::MOST_SHIFT`]; `None` for the least
    /// that is legal.
    pub shift: Option<u64>,
}

impl Fuse {
    /// The word that the step begins with.
    pub const NAME: &'static str = "fuse";
    /// The greatest shift.
    pub const MOST_SHIFT: u64 = 1 << 20;
    /// No greater shift is tried where none is given.
    const MOST_TRIED: u64 = 8;

    /// A request to make one loop of `first` and `second`.
    pub fn new(first: impl Into<LoopPath>, second: impl Into<LoopPath>) -> Self {
        Self {
            first: first.into(),
            second: second.into(),
            shift: None,
        }
    }

    /// This request with the second loop late by `shift` iterations.
    #[must_use]
    pub fn shift(mut self, shift: u64) -> Self {
        self.shift = Some(shift);
        self
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let mut request = Self::new(call.path()?, call.path()?);
        if let Some(shift) = call.named("shift")? {
            request.shift = Some(shift.number()?);
        }
        call.finish(&["shift"])?;
        Ok(request)
    }
}

impl fmt::Display for Fuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}, {}", Self::NAME, self.first, self.second)?;
        match self.shift {
            Some(shift) => write!(f, ", shift = {shift})"),
            None => f.write_str(")"),
        }
    }
}

impl Transform for Fuse {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.first, &mut self.second]
    }
}

fn plan(kernel: &Kernel, request: &Fuse) -> Result<Replacing, Reason> {
    let Target { it: first, .. } = address::find_affine_for(kernel, &request.first)?;
    let Target { it: second, .. } = address::find_affine_for(kernel, &request.second)?;
    let paths = || (request.first.clone(), request.second.clone());
    for (target, path) in [(first, &request.first), (second, &request.second)] {
        address::check_no_lanes(target.lanes, path)?;
    }
    let Some(conditions) = follows(&kernel.body, first.iter, second.iter) else {
        let (first, second) = paths();
        return Err(Reason::NotAdjacent { first, second });
    };
    let second = &AffineFor {
        body: behind(conditions.to_vec(), second.body.to_vec()).into(),
        ..second.clone()
    };
    if first.step == second.step
        && let Some(joined) = continued(kernel, first, second)?
    {
        return Ok(replacing(kernel.clone(), [first, second], vec![joined]));
    }
    let bounds = |it: &AffineFor| (it.lower.clone(), it.upper.clone(), it.step);
    if bounds(first) != bounds(second) {
        let fits = request.shift.is_none_or(|it| it == 0) && [first.step, second.step] == [1, 1];
        let joined = match fits {
            true => nested(kernel, first, second)?,
            false => None,
        };
        let Some(joined) = joined else {
            let (first, second) = paths();
            return Err(Reason::DifferentBounds { first, second });
        };
        let together = Fuse::new(request.first.clone(), request.second.clone()).shift(0);
        legal_shift(kernel, &together, first, second)?;
        return Ok(replacing(kernel.clone(), [first, second], vec![joined]));
    }
    let shift = legal_shift(kernel, request, first, second)?;
    let mut prepared = kernel.clone();
    let replacement = match shift {
        0 => vec![fused(&mut prepared, first, second, 0)?],
        shift => shifted(&mut prepared, (first, &request.first), second, shift)?,
    };
    Ok(replacing(prepared, [first, second], replacement))
}

/// `replacement` in the place of both loops.
fn replacing(
    mut kernel: Kernel,
    [first, second]: [&AffineFor; 2],
    replacement: Vec<Node>,
) -> Replacing {
    remove_loop(&mut kernel.body, second.iter);
    Replacing {
        kernel,
        target: first.iter,
        replacement,
    }
}

/// The shift that is asked for, or the least that is legal.
fn legal_shift(
    kernel: &Kernel,
    request: &Fuse,
    first: &AffineFor,
    second: &AffineFor,
) -> Result<i64, Reason> {
    let reordering = Reordering::of(kernel, &[first, second]);
    let most = request.shift.map_or(Fuse::MOST_TRIED, |_| Fuse::MOST_SHIFT);
    let mut refused = None;
    for shift in request.shift.map_or(0..=most, |shift| shift..=shift) {
        let shift = checked_number("the shift", shift, 0..=most)?;
        let distance = first.step.checked_mul(shift).ok_or(Overflow)?;
        let late = AffineExpr::from(second.iter).offset(distance)?;
        let ticks = |site: &Site<'_>| match is_inside(site, first.iter) {
            true => vec![Tick::Value(first.iter.into()), Tick::Part(0)],
            false => vec![Tick::Value(late.clone()), Tick::Part(1)],
        };
        match reordering.check(ticks) {
            Ok(()) => return Ok(shift),
            Err(reason) => refused = refused.or(Some(reason)),
        }
    }
    Err(refused.unwrap_or(Reason::Overflow))
}

fn is_inside(site: &Site<'_>, iter: IterId) -> bool {
    let mut levels = site.levels();
    levels.any(|it| it.iter() == Some(iter))
}

/// The first loop, with the body of the second one, `distance` late, behind its own.
fn fused(
    kernel: &mut Kernel,
    first: &AffineFor,
    second: &AffineFor,
    distance: i64,
) -> Result<Node, Overflow> {
    let copying = Copying::shift(second.iter, first.iter, -distance);
    let copying = match distance {
        0 => copying,
        // The rest of the second loop declares the same.
        _ => copying.anew(kernel, &second.body, 1),
    };
    let mut body = first.body.clone();
    body.extend(copying.block(&second.body)?);
    Ok(Node::AffineFor(AffineFor {
        body,
        ..first.clone()
    }))
}

/// The first iterations of the first loop, then both loops together, then the last iterations of
/// the second one.
fn shifted(
    kernel: &mut Kernel,
    (first, path): (&AffineFor, &LoopPath),
    second: &AffineFor,
    shift: i64,
) -> Result<Vec<Node>, Reason> {
    let (lower, upper) = address::single_bounds(first, path)?;
    let distance = first.step.checked_mul(shift).ok_or(Overflow)?;
    let begin = lower.offset(distance)?;
    let head = AffineFor {
        upper: least(&first.upper, &begin)?,
        ..loop_anew(kernel, first, "f")?
    };
    let together = AffineFor {
        lower: begin.into(),
        ..first.clone()
    };
    let together = fused(kernel, &together, second, distance)?;
    let turns = trip_count(lower, upper, first.step)?.offset(-shift)?;
    let rest = lower.plus(&turns.scaled(first.step)?)?;
    let tail = AffineFor {
        lower: greatest(&second.lower, &rest)?,
        ..second.clone()
    };
    Ok(vec![Node::AffineFor(head), together, Node::AffineFor(tail)])
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Misaddressed};
    use crate::test_support::{accepts, apply, assert_same_results, kernel, refuses};

    fn loops(bounds: &str, first: &str, second: &str) -> String {
        format!(
            "kernel @k(n: i64, key: i32[n], x: f64[n], y: f64[n], out: f64[n]) {{
  affine.for i in {bounds} {{ {first} }}
  affine.for j in {bounds} {{ {second} }}
}}"
        )
    }

    #[test]
    fn scheme() {
        accepts(
            &loops("0..n", "y[i] = x[i]", "out[key[j]] reduce(add) y[j]"),
            "fuse(i, j)",
            "kernel @k(n: i64, key: i32[n], x: f64[n], y: f64[n], out: f64[n]) {
  affine.for i in 0..n { y[i] = x[i] out[key[i]] reduce(add) y[i] }
}",
        );
    }

    /// An element has another value where it was written between two reads of it, and the loop over
    /// `p` some iterations.
    #[test]
    fn bounds_that_were_read_apart_are_others() {
        let source = "kernel @k(n: i64, m: i64, row: i64[4], x: f64[n], y: f64[m]) {
  let lo: i64 = row[0]
  row[0] = 7
  let hi: i64 = row[0]
  scf.for p in lo..hi {
    affine.for i in 0..n { x[i] = x[i] + y[i] }
    affine.for j in 0..m { y[j] = 2.0 * y[j] }
  }
}";
        refuses(source, "fuse(i, j)", Misaddressed, "DifferentBounds");
    }

    #[test]
    fn a_shift_makes_it_legal() {
        let source = loops("1..n - 1", "y[i] = x[i]", "out[j] = y[j + 1] + y[j]");
        refuses(&source, "fuse(i, j, shift = 0)", Illegal, "Reverses");
        let before = kernel(&source);
        let after = apply(&before, "fuse(i, j)");
        assert!(
            after.to_string().contains("affine.for i in 2..n - 1"),
            "{after}"
        );
        for script in [
            "fuse(i, j)",
            "fuse(i, j, shift = 1)",
            "fuse(i, j, shift = 3)",
        ] {
            assert_same_results(&before, &apply(&before, script));
        }
    }

    #[test]
    fn steps_and_what_bodies_declare() {
        for bounds in ["0..n", "2..n step 3", "n - 5..n step 2"] {
            let first = "let a: f64 = x[i] y[i] = a * f64(i)";
            let second = "let k: i32 = key[j] out[k] reduce(add) y[j] + f64(j)";
            let before = kernel(&loops(bounds, first, second));
            for shift in [0, 1, 2, 9] {
                let script = format!("fuse(i, j, shift = {shift})");
                assert_same_results(&before, &apply(&before, &script));
            }
        }
    }

    #[test]
    fn refusals() {
        let source = loops("0..n", "y[i] = x[i]", "out[j] = y[n - 1 - j]");
        refuses(&source, "fuse(i, j)", Illegal, "Reverses");
        refuses(&source, "fuse(j, i)", Misaddressed, "NotAdjacent");
        let other = source.replacen("0..n", "n..2 * n", 1);
        refuses(&other, "fuse(i, j)", Misaddressed, "DifferentBounds");
    }
}
