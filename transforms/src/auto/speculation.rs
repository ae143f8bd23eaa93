//! Loops that read what they update, of which only the data tell whether they can run at once.

use super::{Choice, Scheduler};
use crate::TileIndirection;
use std::collections::BTreeSet;
use strew_affine::speculation::{depth, inspector};
use strew_affine::visit::{for_each_load_of, walk};
use strew_affine::{AffineFor, ArrayId, Node};

impl Scheduler<'_> {
    /// Takes `request`, which tiles `target`, into the schedule if it is accepted, and if a look at what the loop reads does not take as
    /// long as the loop.
    pub(super) fn consider_indirection(
        &mut self,
        target: &AffineFor,
        request: TileIndirection,
    ) -> bool {
        let step = request.into();
        if reads_as_much(target) && crate::Step::apply(&step, &self.found.kernel).is_ok() {
            let path = self.found.kernel.iters[target.iter].name.clone();
            self.tell(Choice::ReadsAsMuch { path });
            return false;
        }
        self.consider(step)
    }
}

/// Whether elements of arrays that the body of `target` updates are read in loops as deep as those of the updates.
fn reads_as_much(target: &AffineFor) -> bool {
    let body = &target.body;
    let watched = read_and_updated(body);
    let is_watched = |array: ArrayId| watched.contains(&array);
    if watched.is_empty() {
        return false;
    }
    depth(&inspector(target.iter, body, &is_watched), &is_watched) >= depth(body, &is_watched)
}

/// The arrays that `body` both updates and reads.
fn read_and_updated(body: &[Node]) -> BTreeSet<ArrayId> {
    let (mut read, mut updated) = (BTreeSet::new(), BTreeSet::new());
    walk(body, &mut |node, _| {
        for_each_load_of(node, &mut |access| read.extend([access.array]));
        if matches!(node, Node::Reduce { .. }) {
            updated.extend(node.written_elements().map(|it| it.array));
        }
    });
    &read & &updated
}
