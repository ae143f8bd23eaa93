//! Watching a schedule being applied.

use crate::{Choice, Reason, Step};
use strew_affine::Kernel;

/// What happens to one step of a schedule.
#[derive(Clone, Copy, Debug)]
pub enum Event<'e> {
    /// The step is about to be tried on `kernel`.
    Started {
        /// Position in the schedule, from 0.
        index: usize,
        /// The step.
        step: &'e Step,
        /// What it is applied to.
        kernel: &'e Kernel,
    },
    /// The step was legal and is done.
    Applied {
        /// Position in the schedule, from 0.
        index: usize,
        /// The step.
        step: &'e Step,
        /// What it was applied to.
        before: &'e Kernel,
        /// What came out.
        after: &'e Kernel,
    },
    /// The step was declined. A schedule ends here; [`auto`](crate::auto()) tries others.
    Refused {
        /// Position in the schedule, from 0.
        index: usize,
        /// The step.
        step: &'e Step,
        /// Why.
        reason: &'e Reason,
    },
    /// What [`auto`](crate::auto()) chose, and why.
    Chosen {
        /// The choice.
        choice: &'e Choice,
    },
}

/// Someone who watches. Transforms themselves report nothing.
pub trait Observer {
    /// Called for each event, in order.
    fn observe(&mut self, event: Event<'_>);
}

/// Watches nothing.
impl Observer for () {
    fn observe(&mut self, _: Event<'_>) {}
}

/// Keeps the kernel after each step.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Each step that was applied, with what came out.
    pub stages: Vec<(Step, Kernel)>,
}

impl Observer for Trace {
    fn observe(&mut self, event: Event<'_>) {
        if let Event::Applied { step, after, .. } = event {
            self.stages.push((step.clone(), after.clone()));
        }
    }
}
