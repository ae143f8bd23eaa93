//! The steps that `#pragma strew` lines ask for.

use crate::Diagnostic;
use crate::convert::from_script;
use strew_affine::{Kernel, Span};
use strew_frontend::Pragma;
use strew_transforms::{LoopPath, Schedule, Step};

/// The schedule that the pragmas of a kernel make together, and where each of its steps stands in the source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pragmas {
    schedule: Schedule,
    /// One for each step.
    spans: Vec<Span>,
}

impl Pragmas {
    /// What `pragmas`, which stand in front of loops of `kernel`, ask for, and the mistakes in them.
    pub(crate) fn of(kernel: &Kernel, pragmas: &[Pragma]) -> (Self, Vec<Diagnostic>) {
        let mut all = Self::default();
        let mut mistakes = Vec::new();
        for pragma in pragmas {
            match pragma.text.parse::<Schedule>() {
                Ok(steps) => {
                    let steps = steps.steps().iter();
                    let steps: Vec<_> = steps.map(|it| about_loop(kernel, pragma, it)).collect();
                    all.spans.resize(all.spans.len() + steps.len(), pragma.span);
                    all.schedule.extend(steps);
                }
                Err(errors) => mistakes.extend(from_script(&errors, pragma.span.range().start)),
            }
        }
        (all, mistakes)
    }

    /// The steps, in the order of the source.
    pub(crate) fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Where the pragma stands that asks for the step at `index`.
    pub(crate) fn span(&self, index: usize) -> Option<Span> {
        self.spans.get(index).copied()
    }
}

/// A step that names the loop below its pragma as the source does is about that loop and no other of the same name.
fn about_loop(kernel: &Kernel, pragma: &Pragma, step: &Step) -> Step {
    step.clone().renamed(&|path| match path.names() {
        [name] if pragma.loop_names.contains(name) => {
            let name = kernel.iters[pragma.loop_iter].name.as_str();
            Some(LoopPath::new([name]))
        }
        _ => None,
    })
}
