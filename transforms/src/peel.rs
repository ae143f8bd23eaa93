//! The step `peel`.

use crate::address::{self, Target};
use crate::cut::{Half, cut};
use crate::reason::checked_number;
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tiling::trip_count;
use crate::tree::Replacing;
use crate::{LoopPath, Reason};
use std::fmt;
use strew_affine::verify::Verified;
use strew_affine::{Kernel, Node};

/// Puts the first or the last iterations of a loop into a loop of their own.
///
/// ```text
/// affine.for i in 0..n {              affine.for i_f in 0..min(n, 1) {
///   y[i] = x[i]                 →       y[i_f] = x[i_f]
/// }                                   }
///                                     affine.for i in 1..n {
///                                       y[i] = x[i]
///                                     }
/// ```
///
/// Always legal: iterations keep their order. The loop of the last ones is called `i_l`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Peel {
    /// The loop, an `affine.for`.
    pub target: LoopPath,
    /// Which iterations.
    pub end: End,
    /// How many, at least 1.
    pub count: u64,
}

/// One of the ends of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// Where it begins.
    First,
    /// Where it ends.
    Last,
}

impl End {
    fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Last => "last",
        }
    }
}

impl Peel {
    /// The word that the step begins with.
    pub const NAME: &'static str = "peel";

    /// A request to peel `count` iterations off an `end` of `target`.
    pub fn new(target: impl Into<LoopPath>, end: End, count: u64) -> Self {
        Self {
            target: target.into(),
            end,
            count,
        }
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let target = call.path()?;
        for end in [End::First, End::Last] {
            if let Some(count) = call.named(end.name())? {
                let request = Self::new(target, end, count.number()?);
                call.finish(&[])?;
                return Ok(request);
            }
        }
        Err(call.lacks("`first = 1` or `last = 1`"))
    }
}

impl fmt::Display for Peel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, end, count } = self;
        write!(f, "{}({target}, {} = {count})", Self::NAME, end.name())
    }
}

impl Transform for Peel {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.target]
    }
}

fn plan(kernel: &Kernel, request: &Peel) -> Result<Replacing, Reason> {
    let path = &request.target;
    let Target { it: target, .. } = address::find_affine_for(kernel, path)?;
    let most = i64::MAX.unsigned_abs();
    let count: i64 = checked_number("the number of iterations", request.count, 1..=most)?;
    let lower = address::single(&target.lower, path)?;
    let (turns, half) = match request.end {
        End::First => (count.into(), (Half::Below, "f")),
        End::Last => {
            let upper = address::single(&target.upper, path)?;
            let turns = trip_count(lower, upper, target.step)?;
            (turns.offset(-count)?, (Half::Above, "l"))
        }
    };
    let border = lower.plus(&turns.scaled(target.step)?)?;
    let mut prepared = kernel.clone();
    let halves = cut(&mut prepared, target, path, &border, half)?;
    Ok(Replacing {
        kernel: prepared,
        target: target.iter,
        replacement: halves.map(Node::AffineFor).to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Misaddressed, Unproven};
    use crate::test_support::{accepts, apply, assert_same_meaning, kernel, refuses};

    const COPY: &str = "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i in 0..n { y[i] = x[i] }
}";

    #[test]
    fn scheme() {
        accepts(
            COPY,
            "peel(i, first = 1)",
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i_f in 0..min(n, 1) { y[i_f] = x[i_f] }
  affine.for i in 1..n { y[i] = x[i] }
}",
        );
        accepts(
            COPY,
            "peel(i, last = 2)",
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i in 0..n - 2 { y[i] = x[i] }
  affine.for i_l in max(0, n - 2)..n { y[i_l] = x[i_l] }
}",
        );
    }

    #[test]
    fn steps_and_what_a_body_declares() {
        for bounds in ["0..n", "3..n step 2", "n - 5..n step 3", "0..min(n, 4)"] {
            let source = format!(
                "kernel @k(n: i64, seg: i32[n], x: f64[n], y: f64[n]) {{
                   affine.for i in {bounds} {{ let k: i32 = seg[i] y[k] reduce(add) x[i] + f64(i) }}
                 }}"
            );
            let before = kernel(&source);
            let ends: &[&str] = match bounds.contains("min") {
                true => &["first"],
                false => &["first", "last"],
            };
            for end in ends {
                for count in [1, 2, 7] {
                    let script = format!("peel(i, {end} = {count})");
                    assert_same_meaning(&before, &apply(&before, &script));
                }
            }
        }
    }

    #[test]
    fn refusals() {
        refuses(COPY, "peel(i, first = 0)", Misaddressed, "BadNumber");
        refuses(COPY, "peel(j, first = 1)", Misaddressed, "NoSuchLoop");
        let several = COPY.replace("0..n", "max(0, n - 3)..n");
        refuses(&several, "peel(i, first = 1)", Unproven, "SeveralBounds");
    }
}
