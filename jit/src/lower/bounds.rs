//! Bodies that only check their updates, and note where they go.

use super::function::{FunctionLowering, offset};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::Variable;
use std::mem::offset_of;
use strew_affine::{ArrayId, Place, Private};
use strew_runtime::abi::Bounds;

/// The bounds of a buffer while their function runs.
#[derive(Clone, Debug)]
pub(super) struct BoundsValue {
    /// The first of the buffers that are merged together.
    buffer: ArrayId,
    address: Value,
    least: Variable,
    most: Variable,
    last: Variable,
    falls: Variable,
}

impl BoundsValue {
    fn fields(&self) -> [(Variable, usize); 4] {
        [
            (self.least, offset_of!(Bounds, least)),
            (self.most, offset_of!(Bounds, most)),
            (self.last, offset_of!(Bounds, last)),
            (self.falls, offset_of!(Bounds, falls)),
        ]
    }
}

impl FunctionLowering<'_, '_, '_> {
    /// Goes on with the bounds at `address` as those of `private`.
    pub(super) fn begin_bounds(&mut self, private: &Private, address: Value) {
        let Some(buffer) = private.buffers.first() else {
            return;
        };
        let [least, most, last, falls] = [(); 4].map(|()| self.builder.declare_var(types::I64));
        let bounds = BoundsValue {
            buffer: *buffer,
            address,
            least,
            most,
            last,
            falls,
        };
        for (variable, field) in bounds.fields() {
            let (flags, at) = (MemFlagsData::trusted(), offset(field));
            let value = self.builder.ins().load(types::I64, flags, address, at);
            self.builder.def_var(variable, value);
        }
        self.bounds.push(bounds);
    }

    /// Notes that the element number `key` at `places` is updated.
    pub(super) fn note_bounds(&mut self, places: &[Place], key: Option<Value>) {
        let (Some(Place::Element(access)), Some(key)) = (places.first(), key) else {
            return;
        };
        let mut bounds = self.bounds.iter();
        let Some(bounds) = bounds.find(|it| it.buffer == access.array).cloned() else {
            return;
        };
        let [least, most, last, falls] = bounds.fields().map(|(it, _)| self.builder.use_var(it));
        let least = self.builder.ins().umin(least, key);
        let most = self.builder.ins().umax(most, key);
        // Numbers of elements are no larger than the greatest `i64`.
        let step = self.builder.ins().isub(key, last);
        let falls = self.builder.ins().bor(falls, step);
        self.builder.def_var(bounds.least, least);
        self.builder.def_var(bounds.most, most);
        self.builder.def_var(bounds.last, key);
        self.builder.def_var(bounds.falls, falls);
    }

    /// Leaves the bounds where the runtime finds them.
    pub(super) fn end_bounds(&mut self) {
        for bounds in self.bounds.clone() {
            for (variable, field) in bounds.fields() {
                let value = self.builder.use_var(variable);
                self.store_at(bounds.address, field, value);
            }
        }
    }
}
