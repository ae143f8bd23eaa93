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
    /// The least and the most, of each of these pairs for some of the statements: one that did not have a pair of its own would wait
    /// for the one before.
    extremes: [(Variable, Variable); EXTREMES],
    /// How many statements have one.
    statements: usize,
    last: Variable,
    falls: Variable,
}

/// So many statements do not wait for each other.
const EXTREMES: usize = 4;

/// Where the bounds have the least element, the most, and what else is kept.
const LEAST: usize = offset_of!(Bounds, least);
const MOST: usize = offset_of!(Bounds, most);
const LAST: usize = offset_of!(Bounds, last);
const FALLS: usize = offset_of!(Bounds, falls);

impl FunctionLowering<'_, '_, '_> {
    /// Goes on with the bounds at `address` as those of `private`.
    pub(super) fn begin_bounds(&mut self, private: &Private, address: Value) {
        let Some(buffer) = private.buffers.first() else {
            return;
        };
        let bounds = BoundsValue {
            buffer: *buffer,
            address,
            extremes: [(); EXTREMES].map(|()| {
                (
                    self.begin_bound(address, LEAST),
                    self.begin_bound(address, MOST),
                )
            }),
            statements: 0,
            last: self.begin_bound(address, LAST),
            falls: self.begin_bound(address, FALLS),
        };
        self.bounds.push(bounds);
    }

    /// A variable that begins as a field of the bounds at `address`.
    fn begin_bound(&mut self, address: Value, field: usize) -> Variable {
        let variable = self.builder.declare_var(types::I64);
        let (flags, at) = (MemFlagsData::trusted(), offset(field));
        let value = self.builder.ins().load(types::I64, flags, address, at);
        self.builder.def_var(variable, value);
        variable
    }

    /// Notes that the element number `key` at `places` is updated.
    pub(super) fn note_bounds(&mut self, places: &[Place], key: Option<Value>) {
        let (Some(Place::Element(access)), Some(key)) = (places.first(), key) else {
            return;
        };
        let mut bounds = self.bounds.iter_mut();
        let Some(bounds) = bounds.find(|it| it.buffer == access.array) else {
            return;
        };
        let (least_variable, most_variable) = bounds.extremes[bounds.statements % EXTREMES];
        bounds.statements += 1;
        let (last_variable, falls_variable) = (bounds.last, bounds.falls);
        let least = self.builder.use_var(least_variable);
        let least = self.builder.ins().umin(least, key);
        self.builder.def_var(least_variable, least);
        let most = self.builder.use_var(most_variable);
        let most = self.builder.ins().umax(most, key);
        self.builder.def_var(most_variable, most);
        // Numbers of elements are no larger than the greatest `i64`.
        let last = self.builder.use_var(last_variable);
        let step = self.builder.ins().isub(key, last);
        let falls = self.builder.use_var(falls_variable);
        let falls = self.builder.ins().bor(falls, step);
        self.builder.def_var(last_variable, key);
        self.builder.def_var(falls_variable, falls);
    }

    /// Leaves the bounds where the runtime finds them.
    pub(super) fn end_bounds(&mut self) {
        for bounds in self.bounds.clone() {
            let extremes = bounds
                .extremes
                .map(|(least, most)| (self.builder.use_var(least), self.builder.use_var(most)));
            let both = extremes
                .into_iter()
                .reduce(|(least, most), (other_least, other_most)| {
                    let least = self.builder.ins().umin(least, other_least);
                    (least, self.builder.ins().umax(most, other_most))
                });
            if let Some((least, most)) = both {
                self.store_at(bounds.address, LEAST, least);
                self.store_at(bounds.address, MOST, most);
            }
            for (variable, field) in [(bounds.last, LAST), (bounds.falls, FALLS)] {
                let value = self.builder.use_var(variable);
                self.store_at(bounds.address, field, value);
            }
        }
    }
}
