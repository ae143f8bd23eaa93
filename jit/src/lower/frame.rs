//! Values that wait in the frame while loops inside run, where they take no register from these.
//!
//! The code generator gives registers to the values that are used most, but does not see that one
//! which is used outside of a loop alone is in the way inside. And it puts what was stored in the
//! place of what is loaded from there, which keeps it in a register after all, where both name the
//! place alike: so a place has several names, as distances from different parts of a slot.

use super::function::{FunctionLowering, slot};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, StackSlot, Value, types};

/// Where a number of 64 bits waits.
#[derive(Clone, Copy)]
pub(super) struct InFrame(StackSlot);

/// The bytes of a number.
const WORD: i32 = size_of::<i64>() as i32;

/// How far behind the beginning of its slot the number is. It is stored as so far behind that, and
/// loaded as less far behind later parts, by two names that differ from it and from each other.
const BEHIND: i32 = 2 * WORD;

impl FunctionLowering<'_, '_, '_> {
    /// A new place.
    pub(super) fn place_in_frame(&mut self) -> InFrame {
        let bytes = (BEHIND + WORD) as usize;
        InFrame(slot(&mut self.builder, bytes, align_of::<i64>()))
    }

    /// A new place where `value` is kept.
    pub(super) fn in_frame(&mut self, value: Value) -> InFrame {
        let place = self.place_in_frame();
        self.keep_in_frame(value, place);
        place
    }

    /// Keeps `value` at `place`.
    pub(super) fn keep_in_frame(&mut self, value: Value, place: InFrame) {
        let ins = &mut self.builder;
        let slot = ins.ins().stack_addr(types::I64, place.0, 0);
        ins.ins()
            .store(MemFlagsData::trusted(), value, slot, BEHIND);
    }

    /// What is kept at `place`.
    pub(super) fn kept(&mut self, place: InFrame) -> Value {
        self.kept_from(place, BEHIND)
    }

    /// The same by another name: what is loaded so does not stay in a register until
    /// [`kept`](Self::kept) loads it.
    pub(super) fn kept_apart(&mut self, place: InFrame) -> Value {
        self.kept_from(place, WORD)
    }

    fn kept_from(&mut self, place: InFrame, from: i32) -> Value {
        let ins = &mut self.builder;
        let slot = ins.ins().stack_addr(types::I64, place.0, from);
        ins.ins()
            .load(types::I64, MemFlagsData::trusted(), slot, BEHIND - from)
    }
}
