//! The steps that `#pragma strew` lines ask for.

use crate::Diagnostic;
use crate::convert::from_script;
use strew_affine::visit::{self, Loop};
use strew_affine::{IterId, Kernel, Span};
use strew_frontend::{Lowered, Pragma};
use strew_transforms::{LoopPath, Schedule, Step};

/// The schedule that the pragmas of a kernel make together, and where each of its steps stands in
/// the source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pragmas {
    schedule: Schedule,
    /// One for each step.
    spans: Vec<Span>,
}

impl Pragmas {
    /// What the pragmas of a kernel ask for, and the mistakes in them.
    pub(crate) fn of(lowered: &Lowered) -> (Self, Vec<Diagnostic>) {
        let mut all = Self::default();
        let mut mistakes = Vec::new();
        for pragma in &lowered.pragmas {
            match pragma.text.parse::<Schedule>() {
                Ok(steps) => {
                    let scope = Scope::of(lowered, pragma);
                    let steps = steps.steps().iter();
                    let steps: Vec<_> = steps.map(|it| scope.about(it)).collect();
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

/// The loops that a pragma names as the source does: the one below it first, then those inside and
/// those around.
struct Scope<'l> {
    kernel: &'l Kernel,
    loops: Vec<(IterId, &'l str)>,
}

impl<'l> Scope<'l> {
    fn of(lowered: &'l Lowered, pragma: &Pragma) -> Self {
        let below = pragma.loop_iter;
        let (mut inside, mut around) = (Vec::new(), Vec::new());
        visit::walk(&lowered.kernel.body, &mut |node, loops| {
            let Some(it) = Loop::of(node).map(Loop::iter) else {
                return;
            };
            if it == below {
                around.extend(loops.iter().map(|it| it.iter()));
            } else if loops.iter().any(|it| it.iter() == below) {
                inside.push(it);
            }
        });
        let written = |iter| {
            let mut known = lowered.variables.iter();
            known.find(|it| it.iter == iter)
        };
        let loops = [below].into_iter().chain(inside).chain(around);
        let loops = loops.filter_map(written);
        Self {
            kernel: &lowered.kernel,
            loops: loops.map(|it| (it.iter, it.name.as_str())).collect(),
        }
    }

    /// What the kernel calls the loop that the source calls `name`, or one that steps make of it,
    /// such as `i_t`.
    fn in_kernel(&self, name: &str) -> Option<String> {
        let loops = self.loops.iter();
        let loops = loops.map(|(it, written)| (&self.kernel.iters[*it], *written));
        let exactly = loops.clone().find(|(iter, written)| {
            [*written, &iter.name].contains(&name) || iter.labels.iter().any(|it| it == name)
        });
        if let Some((iter, _)) = exactly {
            return Some(iter.name.clone());
        }
        let made_of =
            loops.flat_map(|(iter, written)| [(iter, iter.name.as_str()), (iter, written)]);
        let made_of = made_of.filter_map(|(iter, known)| Some((iter, name.strip_prefix(known)?)));
        let made_of = made_of.filter(|(_, rest)| rest.starts_with('_'));
        let (iter, rest) = made_of.min_by_key(|(_, rest)| rest.len())?;
        Some(format!("{}{rest}", iter.name))
    }

    /// `step` about the loops of the kernel.
    fn about(&self, step: &Step) -> Step {
        step.clone().renamed(&|path| {
            let names = path.names().iter();
            Some(LoopPath::new(
                names.map(|it| self.in_kernel(it).unwrap_or_else(|| it.clone())),
            ))
        })
    }
}
