//! Apply functions: updates that were put aside, combined into the elements that their keys name,
//! one after the other.

use super::call::Calls;
use super::combine::apply_all;
use super::convert::clif_type;
use super::function::offset;
use super::merge::{LoweredMerge, Merging, addresses, function};
use crate::CompileError;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::Module;
use strew_affine::{Expr, Type};

const KEY_BYTES: u32 = size_of::<u16>() as u32;

/// How many keys are loaded before the updates that they belong to are made, which hides the time
/// that loading takes.
const UNROLL: u32 = 4;

impl Merging {
    /// Makes the function that applies updates.
    pub(crate) fn lower_apply(
        &self,
        module: &mut dyn Module,
    ) -> Result<LoweredMerge, CompileError> {
        let bodies = self.bodies();
        function(4, module, |builder, calls, given| {
            let [held, key, incoming, elements] = *given else {
                return;
            };
            let count = self.types().len();
            let updates = Updates {
                held: addresses(builder, held, count),
                incoming: addresses(builder, incoming, count),
                key,
                types: self.types(),
                bodies: &bodies,
            };
            updates.apply(builder, calls, elements);
        })
    }
}

/// Updates that lie one behind the other, and what they are made to.
struct Updates<'t> {
    held: Vec<Value>,
    incoming: Vec<Value>,
    key: Value,
    types: &'t [Type],
    bodies: &'t [Expr],
}

impl Updates<'_> {
    fn apply(&self, builder: &mut FunctionBuilder<'_>, calls: &mut Calls<'_>, elements: Value) {
        let zero = builder.ins().iconst(types::I64, 0);
        let whole = builder.ins().band_imm_s(elements, -i64::from(UNROLL));
        self.turns(builder, calls, (zero, whole), UNROLL);
        self.turns(builder, calls, (whole, elements), 1);
    }

    /// A loop over the updates `range.0..range.1`, `group` of them in a turn.
    fn turns(
        &self,
        builder: &mut FunctionBuilder<'_>,
        calls: &mut Calls<'_>,
        range: (Value, Value),
        group: u32,
    ) {
        let turn = builder.create_block();
        let done = builder.create_block();
        let number = builder.append_block_param(turn, types::I64);
        let below = IntCC::UnsignedLessThan;
        let some = builder.ins().icmp(below, range.0, range.1);
        let first = [BlockArg::Value(range.0)];
        builder.ins().brif(some, turn, &first, done, &[]);
        builder.switch_to_block(turn);
        let keys: Vec<_> = (0..group)
            .map(|it| self.load_key(builder, number, it))
            .collect();
        for (copy, key) in keys.into_iter().enumerate() {
            self.update(builder, calls, (number, copy as u32), key);
        }
        let next = builder.ins().iadd_imm_s(number, i64::from(group));
        let more = builder.ins().icmp(below, next, range.1);
        let again = [BlockArg::Value(next)];
        builder.ins().brif(more, turn, &again, done, &[]);
        builder.switch_to_block(done);
    }

    fn load_key(&self, builder: &mut FunctionBuilder<'_>, number: Value, copy: u32) -> Value {
        let place = behind(builder, self.key, number, KEY_BYTES);
        let at = offset((copy * KEY_BYTES) as usize);
        let flags = MemFlagsData::trusted();
        builder.ins().uload16(types::I64, flags, place, at)
    }

    fn update(
        &self,
        builder: &mut FunctionBuilder<'_>,
        calls: &mut Calls<'_>,
        (number, copy): (Value, u32),
        key: Value,
    ) {
        let flags = MemFlagsData::trusted();
        let mut places = Vec::new();
        let (mut held, mut incoming) = (Vec::new(), Vec::new());
        let streams = self.held.iter().zip(&self.incoming).zip(self.types);
        for ((held_at, incoming_at), ty) in streams {
            let value = behind(builder, *incoming_at, number, ty.bytes());
            let at = offset((copy * ty.bytes()) as usize);
            let place = behind(builder, *held_at, key, ty.bytes());
            incoming.push(builder.ins().load(clif_type(*ty), flags, value, at));
            held.push(builder.ins().load(clif_type(*ty), flags, place, 0));
            places.push(place);
        }
        let combined = apply_all(builder, calls, self.bodies, self.types, &held, &incoming);
        for (value, place) in combined.values.into_iter().zip(places) {
            builder.ins().store(flags, value, place, 0);
        }
    }
}

fn behind(builder: &mut FunctionBuilder<'_>, base: Value, elements: Value, bytes: u32) -> Value {
    let distance = builder.ins().imul_imm_s(elements, i64::from(bytes));
    builder.ins().iadd(base, distance)
}
