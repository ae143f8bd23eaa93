//! The step `shift`.

use crate::address;
use crate::copy::{Copying, loop_anew};
use crate::cut::{greatest, least};
use crate::order::{Children, Reordering, Tick};
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tiling::trip_count;
use crate::tree::Replacing;
use crate::{LoopPath, Reason, StatementName};
use std::fmt;
use strew_affine::dependence::Site;
use strew_affine::verify::Verified;
use strew_affine::{AffineExpr, AffineFor, Kernel, Node, Overflow};

/// Lets one statement of a loop come some iterations later than the others, or earlier.
///
/// ```text
/// affine.for i in 0..n {              affine.for i_f in 0..min(n, 1) { y[i_f] = x[i_f] }
///   y[i] = x[i]                 →     affine.for i in 1..n {
///   z[i] = w[i]                         y[i] = x[i]
/// }                                     z[i - 1] = w[i - 1]
///                                     }
///                                     affine.for i_l in max(0, n - 1)..n { z[i_l] = w[i_l] }
/// ```
///
/// Legal when of any two accesses of one element, one of them writing, the first one stays the
/// first, and when the statement shares nothing that is declared in the loop with the others. If
/// iterations fail, the first failure is that of the new order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shift {
    /// The statement, in the body of the loop.
    pub statement: StatementName,
    /// The loop, an `affine.for`.
    pub target: LoopPath,
    /// By how many iterations it comes later; earlier, where that is negative.
    pub distance: i64,
}

impl Shift {
    /// The word that the step begins with.
    pub const NAME: &'static str = "shift";
    /// The greatest distance.
    pub const MOST: u64 = 1 << 20;

    /// A request to let `statement` of the body of `target` come `distance` iterations later.
    pub fn new(
        statement: impl Into<StatementName>,
        target: impl Into<LoopPath>,
        distance: i64,
    ) -> Self {
        Self {
            statement: statement.into(),
            target: target.into(),
            distance,
        }
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let request = Self::new(call.statement()?, call.path()?, call.offset()?);
        call.finish(&[])?;
        Ok(request)
    }
}

impl fmt::Display for Shift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            statement,
            target,
            distance,
        } = self;
        write!(f, "{}({statement}, {target}, {distance})", Self::NAME)
    }
}

impl Transform for Shift {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.target]
    }
}

fn plan(kernel: &Kernel, request: &Shift) -> Result<Replacing, Reason> {
    let path = &request.target;
    let target = address::find_affine_for(kernel, path)?.it;
    address::check_no_lanes(target.lanes, path)?;
    let position = address::find_statement(kernel, target, &request.statement, path)?;
    let late = request.distance.unsigned_abs();
    let late: i64 = crate::reason::checked_number("the distance", late, 1..=Shift::MOST)?;
    let children = Children::of(target);
    if target.body.len() < 2 || children.shares(target, position) {
        return Err(Reason::OneStatement { path: path.clone() });
    }
    // The others are late where the statement is to be early.
    let is_late = |child: usize| (child == position) == (request.distance > 0);
    let distance = target.step.checked_mul(late).ok_or(Overflow)?;
    let moved = AffineExpr::from(target.iter).offset(distance)?;
    let ticks = |site: &Site<'_>| match children.of_site(site) {
        Some(child) if is_late(child) => vec![Tick::Value(moved.clone())],
        _ => vec![Tick::Value(target.iter.into())],
    };
    Reordering::of(kernel, &[target]).check(ticks)?;
    let mut prepared = kernel.clone();
    let shifted = Shifted {
        target,
        path,
        is_late: &is_late,
    };
    Ok(Replacing {
        replacement: shifted.loops(&mut prepared, late, distance)?,
        kernel: prepared,
        target: target.iter,
    })
}

struct Shifted<'s> {
    target: &'s AffineFor,
    path: &'s LoopPath,
    is_late: &'s dyn Fn(usize) -> bool,
}

impl Shifted<'_> {
    /// The first iterations without what is late, all together, and the last iterations of what is
    /// late.
    fn loops(&self, kernel: &mut Kernel, late: i64, distance: i64) -> Result<Vec<Node>, Reason> {
        let Self { target, path, .. } = *self;
        let (lower, upper) = address::single_bounds(target, path)?;
        let begin = lower.offset(distance)?;
        let head = AffineFor {
            upper: least(&target.upper, &begin)?,
            ..loop_anew(kernel, &self.only(false), "f")?
        };
        let turns = trip_count(lower, upper, target.step)?.offset(late.saturating_neg())?;
        let rest = lower.plus(&turns.scaled(target.step)?)?;
        let tail = AffineFor {
            lower: greatest(&target.lower, &rest)?,
            ..loop_anew(kernel, &self.only(true), "l")?
        };
        let copying = Copying::shift(target.iter, target.iter, distance.saturating_neg());
        let mut body = Vec::new();
        for (child, node) in target.body.iter().enumerate() {
            match (self.is_late)(child) {
                true => body.extend(copying.block(std::slice::from_ref(node))?),
                false => body.push(node.clone()),
            }
        }
        let together = AffineFor {
            lower: begin.into(),
            body: body.into(),
            ..target.clone()
        };
        Ok([head, together, tail].map(Node::AffineFor).to_vec())
    }

    /// The loop with what is late, or what is not, alone.
    fn only(&self, late: bool) -> AffineFor {
        let children = self.target.body.iter().enumerate();
        let kept = children.filter(|(child, _)| (self.is_late)(*child) == late);
        AffineFor {
            body: kept.map(|(_, node)| node.clone()).collect(),
            ..self.target.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Misaddressed};
    use crate::test_support::{accepts, apply, assert_same_results, kernel, refuses};

    fn with(bounds: &str, body: &str) -> String {
        format!(
            "kernel @k(n: i64, key: i32[n], x: f64[n], y: f64[n], z: f64[n]) {{
  affine.for i in {bounds} {{ {body} }}
}}"
        )
    }

    #[test]
    fn scheme() {
        accepts(
            &with("0..n", "y[i] = x[i] z[key[i]] reduce(add) 1.0"),
            "shift(S2, i, 1)",
            "kernel @k(n: i64, key: i32[n], x: f64[n], y: f64[n], z: f64[n]) {
  affine.for i_f in 0..min(n, 1) { y[i_f] = x[i_f] }
  affine.for i in 1..n {
    y[i] = x[i]
    z[key[i - 1]] reduce(add) 1.0
  }
  affine.for i_l in max(0, n - 1)..n { z[key[i_l]] reduce(add) 1.0 }
}",
        );
    }

    #[test]
    fn a_shift_makes_a_dependence_loop_independent() {
        let source = with("1..n", "y[i] = x[i] z[i] = y[i - 1]");
        refuses(&source, "parallelize(i)", Illegal, "Carried");
        let before = kernel(&source);
        for step in ["shift(S1, i, 1)", "shift(S2, i, -1)"] {
            let after = apply(&before, &format!("{step} parallelize(i)"));
            assert!(after.to_string().contains("scf.forall"), "{after}");
            assert_same_results(&before, &after);
        }
    }

    #[test]
    fn any_bounds_distances_and_declarations() {
        for bounds in ["0..n", "2..n step 3", "n - 5..n step 2"] {
            let body = "let a: f64 = x[i] affine.for j in 0..2 { let b: f64 = f64(j) z[i] = b + f64(i) } y[i] = x[i] * 2.0";
            let before = kernel(&with(bounds, body));
            for statement in [2, 3] {
                for distance in [-7, -2, -1, 1, 3] {
                    let script = format!("shift(S{statement}, i, {distance})");
                    assert_same_results(&before, &apply(&before, &script));
                }
            }
        }
    }

    #[test]
    fn refusals() {
        let source = with("1..n", "y[i] = x[i] z[i] = y[i] + x[i]");
        refuses(&source, "shift(S1, i, 1)", Illegal, "Reverses");
        refuses(&source, "shift(S2, i, 0)", Misaddressed, "BadNumber");
        refuses(&source, "shift(S3, i, 1)", Misaddressed, "NoSuchStatement");
        let shared = with("1..n", "let a: f64 = x[i] y[i] = a");
        refuses(&shared, "shift(S2, i, 1)", Misaddressed, "OneStatement");
    }
}
