//! When what is made in vectors is made.
//!
//! The code generator computes what has no effect where it is first wanted. Of sums that go on over
//! many statements it would make one after the other: each addition waits for the one before it,
//! and what all of them multiply by is loaded again for each. A value that is stored is wanted
//! where the store stands, so that the sums go on beside each other.

use super::value::InLanes;
use super::vectors::Vectors;
use cranelift_codegen::ir::{StackSlot, Value};

/// After so many updates: what these multiply by fits the registers beside the sums.
const UPDATES: usize = 3;

/// Fewer vectors than these gain less than the stores take.
const FEWEST: usize = 4;

/// How far sums have come.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Since the last store.
    updates: usize,
    /// Where nobody reads, and how many vectors that holds.
    nowhere: Option<(StackSlot, usize)>,
}

impl Vectors<'_, '_, '_, '_> {
    /// Sees to it that the sums so far are made before what comes behind, when it has been a while.
    pub(super) fn settle(&mut self) {
        self.progress.updates += 1;
        if self.progress.updates < UPDATES {
            return;
        }
        self.progress.updates = 0;
        let sums = self.sums();
        if sums.len() < FEWEST {
            return;
        }
        let slot = self.nowhere(sums.len());
        // Each has a place of its own: of two stores to one place, the first would be left out.
        self.function.store_in(slot, &sums);
    }

    /// A place for so many vectors.
    fn nowhere(&mut self, vectors: usize) -> StackSlot {
        if let Some((slot, size)) = self.progress.nowhere
            && vectors <= size
        {
            return slot;
        }
        let slot = self.function.slot_for(vectors);
        self.progress.nowhere = Some((slot, vectors));
        slot
    }

    /// The vectors of all scalars that statements update.
    fn sums(&self) -> Vec<Value> {
        let kernel = self.function.program.kernel;
        let updated = self
            .locals
            .iter()
            .filter(|(it, _)| kernel.locals[**it].mutable);
        let vectors = updated.filter_map(|(_, lanes)| match lanes {
            InLanes::Each(vectors) => Some(vectors.iter().copied()),
            InLanes::Same(_) | InLanes::Mask(_) => None,
        });
        vectors.flatten().collect()
    }
}
