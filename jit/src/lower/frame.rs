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

/// The bytes of a number, which lies behind two more in its slot.
const WORD: i32 = size_of::<i64>() as i32;

impl FunctionLowering<'_, '_, '_> {
    /// A new place.
    pub(super) fn place_in_frame(&mut self) -> InFrame {
        InFrame(slot(
            &mut self.builder,
            3 * size_of::<i64>(),
            align_of::<i64>(),
        ))
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
            .store(MemFlagsData::trusted(), value, slot, 2 * WORD);
    }

    /// What is kept at `place`, by a name of its own: what is loaded so does not stay in a register
    /// for what [`kept`](Self::kept) loads.
    pub(super) fn kept_first(&mut self, place: InFrame) -> Value {
        self.kept_from(place, WORD)
    }

    /// What is kept at `place`.
    pub(super) fn kept(&mut self, place: InFrame) -> Value {
        self.kept_from(place, 2 * WORD)
    }

    fn kept_from(&mut self, place: InFrame, from: i32) -> Value {
        let ins = &mut self.builder;
        let slot = ins.ins().stack_addr(types::I64, place.0, from);
        ins.ins()
            .load(types::I64, MemFlagsData::trusted(), slot, 2 * WORD - from)
    }
}
