//! Schedules: ordered steps, built in Rust or read from a script, applied one by one.

use crate::tile_indirection::TileIndirection;
use crate::unroll::Unroll;
use crate::{Event, LoopPath, Observer, Reason, Step};
use std::fmt;
use strew_affine::Kernel;
use strew_affine::verify::verify;

/// An ordered list of steps, each about the kernel that the steps before it gave.
///
/// ```
/// use strew_transforms::{Schedule, TileIndirection};
///
/// let built = Schedule::new()
///     .tile_indirection_using_forall(TileIndirection::new("i").reduction("out", "add").chunks(8))
///     .unroll("i", 4);
/// let read: Schedule = "
///     tile_indirection_using_forall(i, reduction(out) = add, chunks = 8, strategy = auto)
///     unroll(i, 4)                                     # four indices first, then four updates
/// ".parse()?;
/// assert_eq!(built, read);
/// # Ok::<(), strew_transforms::ScriptError>(())
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
    pub fn then(mut self, step: Step) -> Self {
        self.0.push(step);
        self
    }

    /// This schedule, then `tile_indirection_using_forall(…)`.
    #[must_use]
    pub fn tile_indirection_using_forall(self, request: TileIndirection) -> Self {
        self.then(Step::TileIndirectionUsingForall(request))
    }

    /// This schedule, then `unroll(target, factor)`.
    #[must_use]
    pub fn unroll(self, target: impl Into<LoopPath>, factor: u64) -> Self {
        self.then(Step::Unroll(Unroll::new(target, factor)))
    }

    /// The kernel after all steps. `kernel` must be a verified one; every result is verified again in debug builds.
    ///
    /// # Errors
    /// The first step that is declined, why, and the kernel up to there: nothing is half done.
    pub fn apply(
        &self,
        kernel: &Kernel,
        observer: &mut dyn Observer,
    ) -> Result<Kernel, Box<Refused>> {
        let mut current = kernel.clone();
        for (index, step) in self.0.iter().enumerate() {
            let kernel = &current;
            observer.observe(Event::Started {
                index,
                step,
                kernel,
            });
            match step.apply(kernel) {
                Ok(after) => {
                    debug_assert_verified(step, &after);
                    let before = kernel;
                    let after_ref = &after;
                    observer.observe(Event::Applied {
                        index,
                        step,
                        before,
                        after: after_ref,
                    });
                    current = after;
                }
                Err(reason) => {
                    observer.observe(Event::Refused {
                        index,
                        step,
                        reason: &reason,
                    });
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
    pub last_good: Kernel,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, reason, .. } = self;
        write!(f, "refused {step}: {}: {reason}", reason.verdict())
    }
}

impl std::error::Error for Refused {}

/// A result that breaks an invariant is a defect of the step: debug builds stop there, where it can be seen.
fn debug_assert_verified(step: &Step, kernel: &Kernel) {
    if cfg!(debug_assertions) {
        let violations = verify(kernel.clone()).err();
        debug_assert_eq!(violations, None, "after {step}:\n{kernel}");
    }
}
