//! What lanes have computed and statements behind want one by one, in memory: it is loaded from
//! there where it is wanted.
//!
//! That takes an instruction, or none where another one has an operand in memory, and out of a
//! vector it takes one or two that few units of a processor do. And the code generator computes
//! what has no effect where it is first wanted: behind a condition it would do so in each lane
//! again, for all of them.

use super::looked::Looked;
use super::value::InLanes;
use crate::lower::access::Element;
use crate::lower::convert::clif_type;
use crate::lower::function::{Binding, FunctionLowering};
use cranelift_codegen::ir::{
    InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, Value, types,
};
use std::collections::{BTreeMap, BTreeSet};
use strew_affine::lanes::VECTOR_BYTES;
use strew_affine::visit::{for_each_local_read, walk};
use strew_affine::{LocalId, Node, Type};

/// Where the vectors of scalars are.
pub(super) type Stored = BTreeMap<LocalId, StackSlot>;

/// A scalar of type `ty` in memory, so many bytes from where `slot` begins.
#[derive(Clone, Copy, Debug)]
pub(in crate::lower) struct InMemory {
    slot: StackSlot,
    at: i32,
    pub(in crate::lower) ty: Type,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Stores those of the scalars declared `together` that statements `in_turn` read, but for keys
    /// that come out of vectors in pairs, and truth values, which are bits.
    pub(super) fn store_lanes(
        &mut self,
        (together, in_turn): (&'k [Node], &'k [Node]),
        locals: &BTreeMap<LocalId, InLanes>,
        looked: &[Looked<'k>],
    ) -> Stored {
        let mut read = BTreeSet::new();
        walk(in_turn, &mut |node, _| {
            for_each_local_read(node, &mut |it| {
                read.insert(it);
            });
        });
        let in_pairs = looked.iter().filter(|it| !it.vectors.is_empty());
        let in_pairs: Vec<_> = in_pairs.filter_map(|it| it.base.local()).collect();
        let mut stored = Stored::new();
        for node in together {
            if let Node::Declare { local, value } = node
                && read.contains(local)
                && !in_pairs.contains(local)
                && !self.is_loaded_again(*local, value)
                && let Some(InLanes::Each(vectors)) = locals.get(local)
            {
                stored.insert(*local, self.store_vectors(vectors));
            }
        }
        stored
    }

    fn store_vectors(&mut self, vectors: &[Value]) -> StackSlot {
        let slot = self.slot_for(vectors.len());
        self.store_in(slot, vectors);
        slot
    }

    /// A place for so many vectors.
    pub(super) fn slot_for(&mut self, vectors: usize) -> StackSlot {
        let bytes = vectors as u32 * VECTOR_BYTES;
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4);
        self.builder.create_sized_stack_slot(slot)
    }

    /// Stores `vectors` in `slot`, one behind the other.
    pub(super) fn store_in(&mut self, slot: StackSlot, vectors: &[Value]) {
        for (at, vector) in (0..).step_by(VECTOR_BYTES as usize).zip(vectors) {
            let ins = self.builder.ins();
            ins.stack_store(types::I64, *vector, slot, at);
        }
    }

    pub(super) fn bind_stored(&mut self, local: LocalId, slot: StackSlot, number: u32) {
        let ty = self.program.kernel.locals[local].ty;
        let at = (number * ty.bytes()) as i32;
        self.locals
            .insert(local, Binding::InMemory(InMemory { slot, at, ty }));
    }

    pub(in crate::lower) fn load_lane(&mut self, place: InMemory) -> Value {
        let ty = clif_type(place.ty);
        let ins = self.builder.ins();
        ins.stack_load(types::I64, ty, place.slot, place.at)
    }

    /// An integer, extended to 64 bits by the load.
    pub(in crate::lower) fn load_lane_extended(&mut self, place: InMemory) -> Value {
        let address = (self.builder.ins()).stack_addr(types::I64, place.slot, place.at);
        let element = Element {
            address,
            displacement: 0,
            flags: MemFlagsData::trusted(),
        };
        self.read_extended(place.ty, &element)
    }
}
