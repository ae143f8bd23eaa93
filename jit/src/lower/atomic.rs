//! Bodies that several threads run on the same buffers: an update is made again until nobody came
//! between.

use super::convert::clif_type;
use super::function::FunctionLowering;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, MemFlagsData, Type as ClifType, Value, types};
use strew_affine::{ArrayId, Combiner, Expr, Last, Place, Type};

/// Buffers that other threads update at the same time.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared(Vec<ArrayId>);

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// From now on, updates of `buffer` are made so that none is lost.
    pub(super) fn share(&mut self, buffer: ArrayId) {
        self.shared.0.push(buffer);
    }

    /// Whether other threads update `places` at the same time.
    pub(super) fn is_shared(&self, places: &[Place]) -> bool {
        matches!(places, [Place::Element(access)] if self.shared.0.contains(&access.array))
    }

    /// One update of the one element of `places`: a new value is stored only where the one it was
    /// made from still stands.
    pub(super) fn update_shared(
        &mut self,
        places: &'k [Place],
        combiner: &Combiner,
        values: &'k [Expr],
    ) {
        let [Place::Element(access)] = places else {
            return;
        };
        let ty = self.program.kernel.arrays[access.array].element;
        let (incoming, bodies) = self.incoming(combiner, &[ty], values);
        let element = self.element(access);
        let address = self.whole_address(&element);
        let flags = MemFlagsData::trusted();
        let bits = bits_of(ty);
        if *combiner == Combiner::new(Last) {
            let value = incoming.first().map(|value| self.bits_in(ty, *value));
            return self.overwrite_shared(address, value);
        }
        let again = self.builder.create_block();
        let done = self.builder.create_block();
        let first = self.builder.ins().atomic_load(bits, flags, address);
        self.builder.ins().jump(again, &[BlockArg::Value(first)]);
        self.builder.switch_to_block(again);
        let before = self.builder.append_block_param(again, bits);
        let held = self.value_of(ty, before);
        let combined = self.combined(places, &bodies, &[ty], &[held], &incoming);
        let after = combined.first().map(|value| self.bits_in(ty, *value));
        let after = after.unwrap_or(before);
        // What stays as it is need not be stored: threads that only look do not wait for each
        // other.
        let stays = self.builder.ins().icmp(IntCC::Equal, after, before);
        let change = self.builder.create_block();
        self.builder.ins().brif(stays, done, &[], change, &[]);
        self.builder.switch_to_block(change);
        let seen = self.builder.ins().atomic_cas(flags, address, before, after);
        let is_alone = self.builder.ins().icmp(IntCC::Equal, seen, before);
        self.builder
            .ins()
            .brif(is_alone, done, &[], again, &[BlockArg::Value(seen)]);
        self.builder.switch_to_block(done);
    }

    /// Stores `value`, the same as all threads store there, unless it is there: whoever is the
    /// last, nobody sees the difference. No element is torn, and nothing else is read by it, so
    /// that no order among threads is asked for, which would take longer.
    fn overwrite_shared(&mut self, address: Value, value: Option<Value>) {
        let Some(value) = value else {
            return;
        };
        let flags = MemFlagsData::trusted();
        let [change, done] = [(); 2].map(|()| self.builder.create_block());
        let bits = self.builder.func.dfg.value_type(value);
        let before = self.builder.ins().load(bits, flags, address, 0);
        let stays = self.builder.ins().icmp(IntCC::Equal, before, value);
        self.builder.ins().brif(stays, done, &[], change, &[]);
        self.builder.switch_to_block(change);
        self.builder.ins().store(flags, value, address, 0);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
    }

    fn value_of(&mut self, ty: Type, bits: Value) -> Value {
        if ty.is_float() {
            let flags = MemFlagsData::new();
            self.builder.ins().bitcast(clif_type(ty), flags, bits)
        } else if ty == Type::Bool {
            self.builder.ins().icmp_imm_s(IntCC::NotEqual, bits, 0)
        } else {
            bits
        }
    }

    fn bits_in(&mut self, ty: Type, value: Value) -> Value {
        if ty.is_float() {
            let flags = MemFlagsData::new();
            self.builder.ins().bitcast(bits_of(ty), flags, value)
        } else {
            value
        }
    }
}

/// The integer type as wide as `ty`.
pub(super) fn bits_of(ty: Type) -> ClifType {
    match ty.bytes() {
        1 => types::I8,
        2 => types::I16,
        4 => types::I32,
        _ => types::I64,
    }
}
