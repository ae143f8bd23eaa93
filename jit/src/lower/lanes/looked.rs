//! Keys of all lanes that are looked at together.
//!
//! Statements that lanes make one after the other find their elements by numbers that vectors hold. One comparison tells for all lanes of a vector whether
//! these are in range. Where one of them is not, its turn fails, so that the call ends with a fault in any case; the code that tells faults in full
//! looks at them in turn. Only a float beyond 32 bits, of which the kernel makes the largest integer, would be in range of more than 2^31 - 1 elements:
//! there the code that looks in turn finds no fault, and its results count.

use super::one_by_one::OneByOne;
use super::value::{self, InLanes};
use crate::lower::ahead::sure_accesses;
use crate::lower::function::FunctionLowering;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use strew_affine::{Access, AffineExpr, Expr, LocalId, Node};
use strew_runtime::abi::Status;

/// A scalar, a 32-bit integer, that subscripts of one dimension of `access`, and of those that are as long, add constants to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key<'k> {
    pub(super) local: LocalId,
    bound: &'k AffineExpr,
    /// The least and the most of what is added to it.
    offsets: (i64, i64),
    access: &'k Access,
    dimension: usize,
}

/// A key that is in range in all lanes.
#[derive(Debug)]
pub(super) struct Looked<'k> {
    key: Key<'k>,
    /// What it is in the lanes, if that is not negative.
    lanes: Vec<Value>,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// The keys of `in_turn` that are looked at in all lanes at once, of those that these have in vectors.
    pub(super) fn keys_to_look_at(&mut self, in_turn: &'k [Node]) -> Vec<Key<'k>> {
        let mut keys: Vec<Key<'k>> = Vec::new();
        let kernel = self.program.kernel;
        self.with_offsets_of_lanes(in_turn, |function| {
            for access in sure_accesses(in_turn) {
                let bounds = kernel.arrays[access.array].extents.iter();
                for (dimension, (subscript, bound)) in
                    access.subscripts.iter().zip(bounds).enumerate()
                {
                    let base = function.base_checked_together(subscript, bound);
                    let is_known = |local: LocalId| {
                        let mut keys = keys.iter();
                        keys.any(|it| it.local == local && it.bound == bound)
                    };
                    if let Some((Expr::Local(local), offsets)) = base
                        && !function.stays_in(access, dimension)
                        && !is_known(*local)
                    {
                        keys.push(Key {
                            local: *local,
                            bound,
                            offsets,
                            access,
                            dimension,
                        });
                    }
                }
            }
        });
        keys
    }

    /// Looks at the `keys` of all lanes.
    pub(super) fn look_at_keys(&mut self, statements: &OneByOne<'_, 'k>) -> Vec<Looked<'k>> {
        let mut looked = Vec::new();
        for key in &statements.keys {
            let array = self.arrays.get(key.access.array).cloned();
            let (Some(array), Some(InLanes::Each(lanes))) =
                (array, statements.locals.get(&key.local))
            else {
                continue;
            };
            let subscript = key.access.subscripts.get(key.dimension);
            let extent = array.extents.get(key.dimension).copied();
            let numbers = subscript.zip(extent).and_then(|(subscript, extent)| {
                self.numbers_in_range(subscript, key.bound, extent)
            });
            if let Some((_, first, count)) = numbers {
                self.look_in_lanes(lanes, (first, count));
                let lanes = match first >= 0 {
                    true => lanes.clone(),
                    false => Vec::new(),
                };
                looked.push(Looked { key: *key, lanes });
            }
        }
        looked
    }

    /// Leaves unless the `lanes`, 32-bit integers, are all among `count` numbers from `first` on.
    pub(super) fn look_in_lanes(&mut self, lanes: &[Value], (first, count): (i64, Value)) {
        let ins = &mut self.builder;
        let counts = ins.ins().ireduce(types::I32, count);
        let counts = ins.ins().splat(types::I32X4, counts);
        let firsts = ins.ins().iconst(types::I32, first);
        let firsts = ins.ins().splat(types::I32X4, firsts);
        let outside = lanes.iter().map(|vector| {
            let number = match first {
                0 => *vector,
                _ => ins.ins().isub(*vector, firsts),
            };
            let beyond = IntCC::UnsignedGreaterThanOrEqual;
            ins.ins().icmp(beyond, number, counts)
        });
        let outside: Vec<_> = outside.collect();
        let any = outside
            .into_iter()
            .reduce(|one, other| ins.ins().bor(one, other));
        if let Some(any) = any {
            let any = ins.ins().vhigh_bits(types::I32, any);
            self.leave_with(any, Status::Fault);
        }
    }

    /// Makes known in a lane what was found in all of them.
    pub(super) fn keep_looked(&mut self, looked: &[Looked<'k>], number: usize) {
        for Looked { key, lanes } in looked {
            let base = Expr::Local(key.local);
            let value = match lanes.get(number / 4) {
                Some(vector) => self.unsigned_lane(*vector, number % 4),
                None => self.extended(&base),
            };
            self.keep_base(&base, key.bound, key.offsets, value);
        }
    }

    /// A lane of `vector`, four integers of 32 bits that are not negative, in 64 bits. Two at once leave the vector, which takes longer than to
    /// part them.
    fn unsigned_lane(&mut self, vector: Value, number: usize) -> Value {
        let pair = match number / 2 {
            // As a float it is where it has to be.
            0 => {
                let pairs = value::bits_as(&mut self.builder, types::F64X2, vector);
                let pair = self.builder.ins().extractlane(pairs, 0);
                let bits = MemFlagsData::new();
                self.builder.ins().bitcast(types::I64, bits, pair)
            }
            half => {
                let pairs = value::bits_as(&mut self.builder, types::I64X2, vector);
                self.builder.ins().extractlane(pairs, half as u8)
            }
        };
        if number % 2 == 1 {
            return self.builder.ins().ushr_imm_u(pair, 32);
        }
        let lower = self.builder.ins().ireduce(types::I32, pair);
        self.builder.ins().uextend(types::I64, lower)
    }
}
