//! What the runtime is told of the private buffers of a forall.

use super::body::{constants, is_alike};
use super::forall::{SLOT, Table};
use super::function::{ArrayValue, FunctionLowering};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use std::mem::offset_of;
use strew_affine::{ArrayId, Forall, Kernel, RecordId};
use strew_runtime::abi::PrivateCall;

/// For each buffer of `forall` whose target is a field of the same records as that of another one:
/// the position of the first of these buffers.
pub(super) fn first_of_records(kernel: &Kernel, forall: &Forall) -> Vec<Option<usize>> {
    let record = |target: ArrayId| kernel.arrays[target].field.map(|it| it.record);
    let all: Vec<_> = forall.buffers().map(|(_, it)| record(it)).collect();
    let first = |of: &Option<RecordId>| {
        let mut like = (0..all.len()).filter(|it| all.get(*it) == Some(of));
        let (first, _) = (like.next()?, like.next()?);
        of.is_some().then_some(first)
    };
    all.iter().map(first).collect()
}

impl FunctionLowering<'_, '_, '_> {
    /// A table of the private buffers of `forall`.
    pub(super) fn privates(&mut self, forall: &Forall) -> Table {
        let entries = forall.buffers().count();
        let table = self.stack(entries.max(1) * size_of::<PrivateCall>());
        let mut records = first_of_records(self.program.kernel, forall).into_iter();
        let mut at = 0;
        for private in &forall.privates {
            let types = private.types(self.program.kernel);
            let merge = self.program.merge(&private.combiner, &types);
            let identity = private.combiner.identity(&types);
            let ordered = u32::from(identity.is_none());
            // Without one there are no buffers to fill.
            let zeros = || {
                types
                    .iter()
                    .map(|ty| strew_affine::Value::zero(*ty))
                    .collect()
            };
            let identity = identity.unwrap_or_else(zeros);
            let exact = u32::from(private.combiner.is_exact(&types));
            let commutes = u32::from(private.combiner.is_commutative(&types));
            let alike = u32::from(ordered == 1 && is_alike(forall, private));
            let constants = constants(forall, private);
            let targets = private.targets.iter().zip(identity).zip(constants);
            for (part, ((target, identity), constant)) in targets.enumerate() {
                // The first of those that are merged together stands for all of them.
                let parts = if part == 0 { types.len() as u32 } else { 0 };
                self.private(table, at, *target, identity);
                self.store_constant(table, at + offset_of!(PrivateCall, merge), merge);
                self.store_constant(table, at + offset_of!(PrivateCall, exact), exact);
                self.store_constant(table, at + offset_of!(PrivateCall, commutes), commutes);
                self.store_constant(table, at + offset_of!(PrivateCall, ordered), ordered);
                self.store_constant(table, at + offset_of!(PrivateCall, alike), alike);
                self.store_constant(table, at + offset_of!(PrivateCall, parts), parts);
                self.store_value(table, at, constant);
                let record = records.next().flatten().map_or(0, |first| first as u32 + 1);
                self.store_constant(table, at + offset_of!(PrivateCall, record), record);
                let speculative = u32::from(private.is_speculative());
                self.store_constant(
                    table,
                    at + offset_of!(PrivateCall, speculative),
                    speculative,
                );
                at += size_of::<PrivateCall>();
            }
        }
        Table {
            address: table,
            count: entries as i64,
        }
    }

    /// A table of the targets of `forall`, as bodies take their private buffers: the addresses, and
    /// behind them the distances from one element to the next.
    pub(super) fn targets(&mut self, forall: &Forall) -> Value {
        let entries = forall.buffers().count();
        let table = self.stack(2 * entries * SLOT);
        for (position, (_, target)) in forall.buffers().enumerate() {
            let Some(target) = self.arrays.get(target).cloned() else {
                continue;
            };
            let address = self.beginning(&target);
            self.store_at(table, position * SLOT, address);
            let stride = self.stride_value(target.stride);
            self.store_at(table, (entries + position) * SLOT, stride);
        }
        table
    }

    /// Where the first element of `array` is.
    pub(super) fn beginning(&mut self, array: &ArrayValue) -> Value {
        let ins = self.builder.ins();
        ins.iadd_imm_s(array.address, i64::from(array.offset))
    }

    fn private(&mut self, table: Value, at: usize, target: ArrayId, identity: strew_affine::Value) {
        if let Some(target) = self.arrays.get(target).cloned() {
            let address = self.beginning(&target);
            self.store_at(table, at + offset_of!(PrivateCall, target), address);
            let stride = self.stride_value(target.stride);
            self.store_at(table, at + offset_of!(PrivateCall, target_stride), stride);
            let records = target.extents.len() - target.own_dimensions.min(target.extents.len());
            let (_, own) = target.extents.split_at(records);
            let run = self.elements(own);
            self.store_at(table, at + offset_of!(PrivateCall, target_run), run);
            let elements = self.elements(&target.extents);
            self.store_at(table, at + offset_of!(PrivateCall, elements), elements);
        }
        let bytes = identity.ty().bytes();
        let bits = self
            .builder
            .ins()
            .iconst(types::I64, identity.bits() as i64);
        self.store_at(table, at + offset_of!(PrivateCall, identity), bits);
        self.store_constant(table, at + offset_of!(PrivateCall, element_bytes), bytes);
    }

    /// Whether all updates bring the same value, and which, for the buffer of the entry at `at`.
    fn store_value(&mut self, table: Value, at: usize, value: Option<strew_affine::Value>) {
        let bits = value.map_or(0, |it| it.bits() as i64);
        let bits = self.builder.ins().iconst(types::I64, bits);
        self.store_at(table, at + offset_of!(PrivateCall, value), bits);
        let constant = u32::from(value.is_some());
        self.store_constant(table, at + offset_of!(PrivateCall, constant), constant);
    }
}
