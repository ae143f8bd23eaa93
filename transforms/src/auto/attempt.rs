//! Several steps that are taken together or not at all.

use super::{Choice, Scheduler};
use crate::in_range::is_in_range;
use crate::tree::{self, Nested};
use crate::{Event, Expand, LoopPath, Step};
use strew_affine::verify::Verified;
use strew_affine::visit::{for_each_load, walk};
use strew_affine::{Expr, IterId, Kernel, LocalId, Node};

/// Steps that each were accepted, one behind the other.
pub(super) struct Attempt {
    kernel: Verified,
    /// Whether steps may assume something of the parameters.
    may_assume: bool,
    taken: Vec<(Step, Verified)>,
    /// What was tried and not accepted.
    declined: Vec<Choice>,
}

impl Attempt {
    /// Takes `step`, if it is accepted.
    pub(super) fn step(&mut self, step: impl Into<Step>) -> Option<()> {
        let step = step.into();
        let after = match step.apply(&self.kernel) {
            Ok(after) => after,
            Err(reason) => {
                self.declined.push(Choice::Declined { step, reason });
                return None;
            }
        };
        if !self.may_assume && after.assumptions != self.kernel.assumptions {
            return None;
        }
        let before = std::mem::replace(&mut self.kernel, after);
        self.taken.push((step, before));
        Some(())
    }

    /// Takes the first of `steps` that is accepted. Those before it are nothing to tell.
    pub(super) fn first_of(
        &mut self,
        steps: impl IntoIterator<Item = impl Into<Step>>,
    ) -> Option<()> {
        let known = self.declined.len();
        let taken = steps.into_iter().find_map(|it| self.step(it));
        self.declined.truncate(known);
        taken
    }

    /// Takes the steps that `plan` takes, if it comes to its end; else none of them.
    pub(super) fn together<T>(&mut self, plan: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let known = self.taken.len();
        let done = plan(self);
        if done.is_none() {
            let kernel = self.taken.drain(known..).next();
            self.kernel = kernel.map_or_else(|| self.kernel.clone(), |(_, before)| before);
        }
        done
    }

    /// Gives each iteration of the loop over `target` an element of its own in the place of
    /// `local`, if all that it is set to is in range: where that is skipped, nobody would find what
    /// was there before.
    pub(super) fn expand(&mut self, local: LocalId, target: IterId) -> Option<()> {
        let kernel = &self.kernel;
        let Nested { it, around } = tree::loops_over(kernel, &[target]).pop()?;
        let mut are_read = true;
        walk(it.body(), &mut |node, inside| {
            if let Some(value) = set_to(node, local) {
                let loops = [around.as_slice(), &[it], inside].concat();
                for_each_load(value, &mut |access| {
                    are_read &= is_in_range(kernel, &loops, access);
                });
            }
        });
        let name = kernel.locals[local].name.clone();
        are_read.then(|| self.step(Expand::new(name, self.path(target))))?
    }

    pub(super) fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// What the loop over `iter` is called now.
    pub(super) fn path(&self, iter: IterId) -> LoopPath {
        LoopPath::new([self.kernel.iters[iter].name.as_str()])
    }

    /// The iterators that the last step made, in the order in which it did.
    pub(super) fn made(&self) -> Vec<IterId> {
        let known = self.taken.last().map_or(0, |(_, it)| it.iters.len());
        let iters = self.kernel.iters.iter().skip(known);
        iters.map(|(iter, _)| iter).collect()
    }

    /// What the last array that the last step made is called.
    pub(super) fn made_array(&self) -> Option<&str> {
        let known = self.taken.last().map_or(0, |(_, it)| it.arrays.len());
        let made = self.kernel.arrays.iter().skip(known).last();
        made.map(|(_, array)| array.name.as_str())
    }
}

/// What `node` sets `local` to, if it does.
fn set_to(node: &Node, local: LocalId) -> Option<&Expr> {
    match node {
        Node::Declare { local: it, value } if *it == local => Some(value),
        Node::Assign { place, value, .. } if place.local() == Some(local) => Some(value),
        _ => None,
    }
}

impl Scheduler<'_> {
    /// Takes the steps that `plan` takes, if it comes to its end. `why` says what it is for.
    pub(super) fn attempt_for(
        &mut self,
        why: impl IntoIterator<Item = Choice>,
        plan: impl FnOnce(&mut Attempt) -> Option<()>,
    ) -> bool {
        let mut attempt = Attempt {
            kernel: self.found.kernel.clone(),
            may_assume: self.may_assume,
            taken: Vec::new(),
            declined: Vec::new(),
        };
        let is_done = plan(&mut attempt).is_some();
        for choice in std::mem::take(&mut attempt.declined) {
            self.tell(choice);
        }
        if !is_done {
            return false;
        }
        why.into_iter().for_each(|it| self.tell(it));
        let befores = attempt.taken.iter().map(|(_, before)| before).skip(1);
        let afters: Vec<_> = befores.cloned().chain([attempt.kernel]).collect();
        for ((step, before), after) in attempt.taken.into_iter().zip(afters) {
            self.accept(step, &before, after);
        }
        true
    }

    /// The same without more to say than the steps do.
    pub(super) fn attempt(&mut self, plan: impl FnOnce(&mut Attempt) -> Option<()>) -> bool {
        self.attempt_for([], plan)
    }

    fn accept(&mut self, step: Step, before: &Verified, after: Verified) {
        let index = self.found.schedule.steps().len();
        self.observer.observe(Event::Started {
            index,
            step: &step,
            kernel: before,
        });
        self.observer.observe(Event::Applied {
            index,
            step: &step,
            before,
            after: &after,
        });
        if matches!(
            step,
            Step::Separate(_) | Step::ScalarReplace(_) | Step::Precompute(_) | Step::Narrow(_)
        ) {
            let step = step.clone();
            self.tell(Choice::Inside { step, saving: None });
        }
        self.found.kernel = after;
        self.found.schedule.extend([step.clone()]);
        self.found.decisions.push(super::Decision {
            step,
            refused: None,
        });
    }
}
