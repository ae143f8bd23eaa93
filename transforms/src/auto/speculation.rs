//! Loops that read what they update, of which only the data tell whether they can run at once.

use super::{Choice, Scheduler, path_to};
use crate::{LoopPath, Step};
use std::collections::BTreeSet;
use strew_affine::speculation::{depth, inspector};
use strew_affine::visit::{for_each_load_of, walk};
use strew_affine::{AffineFor, ArrayId, Node};

impl Scheduler<'_> {
    /// Tiles `target`, and the loop that it makes together with the one inside, by the step that
    /// `tiled` makes, if that is accepted and a look at what the loop reads does not take as long
    /// as the loop; says which loops are tiled.
    pub(super) fn tile_scattered(
        &mut self,
        target: &AffineFor,
        tiled: impl Fn(LoopPath) -> Step,
    ) -> Vec<LoopPath> {
        let path = path_to(&self.found.kernel, target.iter);
        let step = tiled(path.clone());
        if reads_as_much(target) && step.apply(&self.found.kernel).is_ok() {
            let path = path.to_string();
            self.tell(Choice::ReadsAsMuch { path });
            return Vec::new();
        }
        self.tile_alone_or_collapsed(target, tiled)
    }
}

/// Whether elements of arrays that the body of `target` updates are read in loops as deep as those
/// of the updates.
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
