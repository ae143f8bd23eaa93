//! Schedules: ordered steps, built in Rust or read from a script, applied one by one.

use crate::tile_indirection::TileIndirection;
use crate::unroll::Unroll;
use crate::vectorize::Vectorize;
use crate::witness;
use crate::{LoopPath, Observer, Reason, Step};
use std::fmt;
use strew_affine::verify::Verified;

/// An ordered list of steps, each about the kernel that the steps before it gave.
///
/// ```
/// use strew_transforms::{Schedule, Tile, TileIndirection};
///
/// let built = Schedule::new()
///     .tile_indirection_using_forall(TileIndirection::new("i").reduction("out", "add").chunks(8))
///     .unroll("i", 4);
/// let read: Schedule = "
///     tile_indirection_using_forall(i, reduction(out) = add, chunks = 8, strategy = auto)
///     unroll(i, 4)                                     # four indices first, then four updates
/// ".parse()?;
/// assert_eq!(built, read);
///
/// let tiled = Schedule::new().then(Tile::new([("i", 32), ("j", 64)]));
/// assert_eq!(tiled, "tile(i = 32, j = 64)".parse()?);
/// # Ok::<(), strew_transforms::ScriptErrors>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schedule(Vec<Step>);

impl Schedule {
    /// No steps.
    pub fn new() -> Self {
        Self::default()
    }

    /// The steps in order.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// This schedule, then `step`.
    #[must_use]
    pub fn then(mut self, step: impl Into<Step>) -> Self {
        self.0.push(step.into());
        self
    }

    /// This schedule, then `tile_indirection_using_forall(…)`.
    #[must_use]
    pub fn tile_indirection_using_forall(self, request: TileIndirection) -> Self {
        self.then(request)
    }

    /// This schedule, then `unroll(target, factor)`.
    #[must_use]
    pub fn unroll(self, target: impl Into<LoopPath>, factor: u64) -> Self {
        self.then(Unroll::new(target, factor))
    }

    /// This schedule, then `vectorize(target, lanes)`.
    #[must_use]
    pub fn vectorize(self, target: impl Into<LoopPath>, lanes: u64) -> Self {
        self.then(Vectorize::new(target, lanes))
    }

    /// The kernel after all steps.
    ///
    /// # Errors
    /// The first step that is declined, why, and the kernel up to there: nothing is half done.
    pub fn apply(
        &self,
        kernel: &Verified,
        observer: &mut dyn Observer,
    ) -> Result<Verified, Box<Refused>> {
        let mut current = kernel.clone();
        for (index, step) in self.0.iter().enumerate() {
            match step.apply_observed(index, &current, observer) {
                Ok(after) => current = after,
                Err(reason) => {
                    let step = step.clone();
                    return Err(Box::new(Refused {
                        index,
                        step,
                        reason,
                        last_good: current,
                    }));
                }
            }
        }
        Ok(current)
    }
}

impl FromIterator<Step> for Schedule {
    fn from_iter<T: IntoIterator<Item = Step>>(steps: T) -> Self {
        Self(steps.into_iter().collect())
    }
}

impl Extend<Step> for Schedule {
    fn extend<T: IntoIterator<Item = Step>>(&mut self, steps: T) {
        self.0.extend(steps);
    }
}

/// One step a line.
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

/// A step that was declined.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// Its position in the schedule, from 0.
    pub index: usize,
    /// The step.
    pub step: Step,
    /// Why.
    pub reason: Reason,
    /// The kernel after the steps before it.
    pub last_good: Verified,
}

impl Refused {
    /// Whether the iterations of the witness, if there is one, meet when the kernel up to there
    /// runs on what the witness says.
    pub fn is_replayed(&self) -> bool {
        let witness = self.reason.witness();
        witness.is_none_or(|it| witness::holds(&self.last_good, it))
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, reason, .. } = self;
        write!(f, "refused {step}: {}: {reason}", reason.verdict())
    }
}

impl std::error::Error for Refused {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::kernel;
    use crate::{Event, Trace, Verdict};

    const HISTOGRAM: &str = "
kernel @histogram(n: i64, m: i64, key: i32[n], h: i64[m]) {
  affine.for i in 0..n {
    h[key[i]] reduce(add) 1
  }
}";

    #[test]
    fn a_refused_step_leaves_the_last_good_kernel() {
        let kernel = kernel(HISTOGRAM);
        let schedule: Schedule = "unroll(i, 2); unroll(j, 2); unroll(i, 4)".parse().unwrap();
        let mut trace = Trace::default();
        let refused = schedule.apply(&kernel, &mut trace).unwrap_err();
        assert_eq!(
            (refused.index, refused.step.to_string().as_str()),
            (1, "unroll(j, 2)")
        );
        assert_eq!(refused.reason.verdict(), Verdict::Misaddressed);
        let good = Schedule::new().unroll("i", 2).apply(&kernel, &mut ());
        assert_eq!(Ok(&refused.last_good), good.as_ref());
        assert_eq!(trace.stages.len(), 1);
        assert_eq!(
            refused.to_string(),
            "refused unroll(j, 2): misaddressed: there is no loop `j`; the loops are `i`, `i_r`"
        );
    }

    #[test]
    fn an_observer_sees_every_stage() {
        struct Log(Vec<String>);
        impl Observer for Log {
            fn observe(&mut self, event: Event<'_>) {
                self.0.push(match event {
                    Event::Started { index, .. } => format!("started {index}"),
                    Event::Applied {
                        index,
                        before,
                        after,
                        ..
                    } => {
                        format!("applied {index}: {}", before != after)
                    }
                    Event::Refused { index, .. } => format!("refused {index}"),
                    Event::Chosen { choice } => choice.to_string(),
                });
            }
        }
        let mut log = Log(Vec::new());
        let schedule = Schedule::new().unroll("i", 2).unroll("i", 1);
        assert!(schedule.apply(&kernel(HISTOGRAM), &mut log).is_err());
        assert_eq!(
            log.0,
            ["started 0", "applied 0: true", "started 1", "refused 1"]
        );
    }

    #[test]
    fn no_steps_change_nothing() {
        let kernel = kernel(HISTOGRAM);
        assert_eq!(Schedule::new().apply(&kernel, &mut ()), Ok(kernel.clone()));
    }
}
