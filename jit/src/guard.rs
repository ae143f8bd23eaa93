//! Who puts the outputs back after a fault.

use crate::facts::{is_of_host, writes_buffers_alone};
use crate::storage::{LocalStorage, Wanted};
use std::collections::BTreeSet;
use strew_affine::visit::{arrays_written_in, for_each_combiner, walk};
use strew_affine::{Expr, Forall, Kernel, Node};

/// Who puts the outputs of a kernel back after a fault.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Nothing can fail but for want of memory for local arrays: whoever starts the kernel, unless
    /// that has been taken by then, and it is as with `Nobody`.
    Memory,
    /// Nothing can fail, unless there are checks of what was not proved before the call, or
    /// somebody may ask for a stop: then whoever starts the kernel.
    Nobody,
    /// Whoever starts the kernel, for all written arrays.
    Caller,
    /// Each forall for its targets, since nothing outside of them can fail or write.
    Forall,
    /// The first node that writes, a forall, for its targets, and whoever starts the kernel for all
    /// written arrays where something behind it may fail: else it is as with `Nobody` there.
    First,
}

impl Guard {
    /// That of `kernel`, a run of which `can_fail` although all is proved that can be. What stands
    /// [`behind_the_first`] forall `is_decided_behind` it where a look at keys tells whether it
    /// fails.
    pub(crate) fn of(
        kernel: &Kernel,
        storage: &LocalStorage,
        can_fail: bool,
        is_decided_behind: bool,
    ) -> Self {
        // Computed when the forall has written its targets.
        let result_can_fail = kernel
            .result
            .as_ref()
            .is_some_and(|it| reads_or_divides(kernel, it));
        match kernel.body.as_slice() {
            // It may panic while private buffers are merged into their targets.
            _ if is_by_host(kernel) => Self::Caller,
            [node] if writes_targets_alone(node) && !result_can_fail => Self::Forall,
            // There may be no memory for private buffers.
            _ if can_fail || has(&kernel.body, |it| !it.privates.is_empty()) => {
                if is_decided_behind {
                    Self::First
                } else {
                    Self::Caller
                }
            }
            _ if storage.wants(|it| *it == Wanted::Perhaps) => Self::Caller,
            _ if storage.wants(|_| true) => Self::Memory,
            _ => Self::Nobody,
        }
    }
}

/// `kernel` without its first node that writes parameters and what stands before it, where that is
/// a forall that leaves them as they were when it fails, and nothing behind it wants memory.
pub(crate) fn behind_the_first(kernel: &Kernel) -> Option<Kernel> {
    if kernel.body.len() == 1 || is_by_host(kernel) {
        return None;
    }
    let parameters: BTreeSet<_> = kernel.array_params().collect();
    let writes = |node: &Node| {
        let written = arrays_written_in(std::slice::from_ref(node));
        !written.is_disjoint(&parameters)
    };
    let first = kernel.body.iter().position(writes)?;
    let (first, behind) = kernel.body.get(first..)?.split_first()?;
    let wants_more = |it: &Forall| !it.privates.is_empty() || !it.disjoint.is_empty();
    if !writes_targets_alone(first) || has(behind, wants_more) {
        return None;
    }
    let behind = Kernel {
        body: behind.to_vec().into(),
        ..kernel.clone()
    };
    let wants_memory = LocalStorage::of(&behind).wants(|_| true);
    (!wants_memory).then_some(behind)
}

fn writes_targets_alone(node: &Node) -> bool {
    let is_one = |forall: &Forall| !forall.privates.is_empty() && writes_buffers_alone(forall);
    matches!(node, Node::Forall(forall) if is_one(forall))
}

/// Whether there is a forall in `nodes` that `is_meant`.
fn has(nodes: &[Node], is_meant: impl Fn(&Forall) -> bool) -> bool {
    let mut has = false;
    walk(nodes, &mut |node, _| {
        has |= matches!(node, Node::Forall(forall) if is_meant(forall));
    });
    has
}

fn is_by_host(kernel: &Kernel) -> bool {
    let mut by_host = false;
    for_each_combiner(&kernel.body, &mut |combiner| {
        by_host |= is_of_host(combiner);
    });
    by_host
}

/// Whether to compute `expr` may end in a fault.
pub(crate) fn reads_or_divides(kernel: &Kernel, expr: &Expr) -> bool {
    matches!(expr, Expr::Load(_)) || expr.divides(kernel) || {
        let mut operands = expr.operands().into_iter();
        operands.any(|it| reads_or_divides(kernel, it))
    }
}
