//! Keys of all lanes that are looked at together.
//!
//! Statements that lanes make one after the other find their elements by numbers that vectors hold.
//! One comparison tells for all lanes of a vector whether these are in range. Where one of them is
//! not, its turn fails, so that the call ends with a fault in any case; the code that tells faults
//! in full looks at them in turn. Only a float beyond 32 bits, of which the kernel makes the
//! largest integer, would be in range of more than 2^31 - 1 elements: there the code that looks in
//! turn finds no fault, and its results count.

use super::Group;
use super::value::{self, InLanes};
use crate::lower::ahead::sure_accesses;
use crate::lower::function::FunctionLowering;
use crate::lower::offsets::Base;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use std::collections::BTreeMap;
use strew_affine::{Access, LocalId, Node, Type};
use strew_runtime::abi::Status;

/// A scalar, a 32-bit integer, that decides whether elements are in range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key<'k> {
    pub(super) base: Base<'k>,
    /// The value of its bound.
    pub(super) extent: Value,
}

/// A key that is in range in all lanes.
#[derive(Debug)]
pub(super) struct Looked<'k> {
    pub(super) base: Base<'k>,
    /// The vectors that lanes take it from: if there are none, each computes it again.
    pub(super) vectors: Vec<Value>,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// The keys that decide whether elements of `access` are in range, of which lanes have one
    /// each.
    pub(super) fn keys_of(&self, access: &'k Access, group: &Group<'k>) -> Vec<Key<'k>> {
        let kernel = self.program.kernel;
        let extents = self.arrays.get(access.array).map(|it| &it.extents);
        let dimensions = access
            .subscripts
            .iter()
            .zip(&kernel.arrays[access.array].extents)
            .zip(extents.into_iter().flatten());
        let keys = dimensions.enumerate();
        let keys = keys.filter_map(|(dimension, ((subscript, bound), extent))| {
            let (base, _) = self.base_checked_together(subscript, bound)?;
            let is_meant = base.expr.ty(kernel) == Type::I32
                && group.lanes.is_moving(subscript)
                && !self.stays_in(access, dimension);
            is_meant.then_some(Key {
                base,
                extent: *extent,
            })
        });
        keys.collect()
    }

    /// The keys of all that is sure to be reached in `in_turn`, each once.
    pub(super) fn keys_to_look_at(&self, in_turn: &'k [Node], group: &Group<'k>) -> Vec<Key<'k>> {
        let mut keys: Vec<Key<'k>> = Vec::new();
        for access in sure_accesses(in_turn) {
            for key in self.keys_of(access, group) {
                if !keys.iter().any(|it| it.base.is_same(&key.base)) {
                    keys.push(key);
                }
            }
        }
        keys
    }

    /// Looks at those of the `keys` of all lanes that vectors hold.
    pub(super) fn look_at_keys(
        &mut self,
        keys: &[Key<'k>],
        locals: &BTreeMap<LocalId, InLanes>,
    ) -> Vec<Looked<'k>> {
        let mut looked = Vec::new();
        for key in keys {
            let local = key.base.local();
            if let Some(InLanes::Each(vectors)) = local.and_then(|it| locals.get(&it)) {
                let first = self.look_in_lanes(vectors, key);
                looked.push(Looked {
                    base: key.base,
                    vectors: match first >= 0 {
                        true => vectors.clone(),
                        false => Vec::new(),
                    },
                });
            }
        }
        looked
    }

    /// Leaves unless `key` is in range in all lanes, in which it is what `vectors` hold; the first
    /// number that is.
    pub(super) fn look_in_lanes(&mut self, vectors: &[Value], key: &Key<'k>) -> i64 {
        let (first, count) = self.numbers_in_range(&key.base, key.extent);
        let ins = &mut self.builder;
        let counts = ins.ins().ireduce(types::I32, count);
        let counts = ins.ins().splat(types::I32X4, counts);
        let firsts = ins.ins().iconst(types::I32, first);
        let firsts = ins.ins().splat(types::I32X4, firsts);
        let outside = vectors.iter().map(|vector| {
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
        first
    }

    /// Makes known in this lane what was found in all of them.
    pub(super) fn keep_looked(&mut self, looked: &[Looked<'k>]) {
        let lane = self.lane();
        for Looked { base, vectors } in looked {
            let value = match vectors.get(lane / 4) {
                Some(vector) => self.unsigned_lane(*vector, lane % 4),
                None => self.extended(base.expr),
            };
            self.keep_base(base, value);
        }
    }

    /// A lane of `vector`, four integers of 32 bits that are not negative, in 64 bits. Two at once
    /// leave the vector, which takes longer than to part them.
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
