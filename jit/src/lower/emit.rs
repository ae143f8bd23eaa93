//! Bodies that evaluate updates and combine them into nothing: the key of each is appended to a
//! stream, for somebody to take.

use super::function::{FunctionLowering, offset};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::Variable;
use cranelift_module::FuncId;
use std::mem::offset_of;
use strew_affine::{ArrayId, Expr, Place, Private};
use strew_runtime::abi::{STAGED, Status, Stream};

/// A stream while its function runs.
#[derive(Clone, Debug)]
pub(super) struct StreamValue {
    /// The first of the buffers that are merged together.
    buffer: ArrayId,
    address: Value,
    /// Where keys go.
    keys: Value,
    pub(super) staged: Variable,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Makes the stream at `address` known as that for `private`, whose buffers have no memory.
    pub(super) fn bind_stream(&mut self, private: &Private, address: Value) {
        let Some(buffer) = self.bind_to_nothing(private) else {
            return;
        };
        let keys = self.field(address, offset_of!(Stream, keys));
        let staged = self.builder.declare_var(types::I64);
        let before = self.field(address, offset_of!(Stream, staged));
        self.builder.def_var(staged, before);
        self.streams.push(StreamValue {
            buffer,
            address,
            keys,
            staged,
        });
    }

    /// Gives the buffers of `private` no memory; returns the first.
    pub(super) fn bind_to_nothing(&mut self, private: &Private) -> Option<ArrayId> {
        let none = self.builder.ins().iconst(types::I64, 0);
        for buffer in &private.buffers {
            self.bind_array(*buffer, none);
        }
        private.buffers.first().copied()
    }

    /// What stands `at` bytes behind `base`.
    pub(super) fn field(&mut self, base: Value, at: usize) -> Value {
        let flags = MemFlagsData::trusted();
        self.builder.ins().load(types::I64, flags, base, offset(at))
    }

    /// The stream for updates of `places`, if they are private buffers that have one.
    pub(super) fn stream_of(&self, places: &[Place]) -> Option<StreamValue> {
        let Some(Place::Element(access)) = places.first() else {
            return None;
        };
        let mut streams = self.streams.iter();
        streams.find(|it| it.buffer == access.array).cloned()
    }

    /// Appends the key of an update, whose values are evaluated for their faults alone. All
    /// `places` are at one element, but each is checked against its own extents.
    pub(super) fn emit(&mut self, stream: &StreamValue, places: &'k [Place], values: &'k [Expr]) {
        for value in values {
            self.expr(value);
        }
        let flags = MemFlagsData::trusted();
        let Some(number) = self.key(places) else {
            return;
        };
        let staged = self.builder.use_var(stream.staged);
        let place = self.behind(stream.keys, staged, size_of::<u32>() as u32);
        self.builder.ins().istore32(flags, number, place, 0);
        let staged = self.builder.ins().iadd_imm_s(staged, 1);
        self.builder.def_var(stream.staged, staged);
        self.hand_over_if_full(stream, staged);
    }

    /// The number of the element that all `places` are at; each is checked.
    pub(super) fn key(&mut self, places: &'k [Place]) -> Option<Value> {
        let accesses = places.iter().filter_map(|place| match place {
            Place::Element(access) => Some(access),
            Place::Local(_) => None,
        });
        let numbers: Vec<_> = accesses.map(|it| self.element_number(it)).collect();
        numbers.first().copied()
    }

    /// The address `elements` elements of so many bytes behind `base`.
    pub(super) fn behind(&mut self, base: Value, elements: Value, bytes: u32) -> Value {
        let distance = self.builder.ins().imul_imm_s(elements, i64::from(bytes));
        self.builder.ins().iadd(base, distance)
    }

    fn hand_over_if_full(&mut self, stream: &StreamValue, staged: Value) {
        let full = self.builder.create_block();
        let next = self.builder.create_block();
        let is_full = IntCC::Equal;
        let is_full = self
            .builder
            .ins()
            .icmp_imm_u(is_full, staged, STAGED as i64);
        self.builder.ins().brif(is_full, full, &[], next, &[]);
        self.builder.set_cold_block(full);
        self.builder.switch_to_block(full);
        self.hand_over(stream, staged);
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
    }

    /// Hands over the updates of `stream`, `staged` of them.
    pub(super) fn hand_over(&mut self, stream: &StreamValue, staged: Value) {
        self.leave_stream(stream.address, staged);
        self.call_or_leave(self.program.take_updates, &[self.call, stream.address]);
        let none = self.builder.ins().iconst(types::I64, 0);
        self.builder.def_var(stream.staged, none);
    }

    /// Calls a function of the runtime that returns a [`Status`], and returns what is not
    /// [`Status::Done`].
    pub(super) fn call_or_leave(&mut self, called: FuncId, arguments: &[Value]) {
        let called = self
            .program
            .module
            .declare_func_in_func(called, self.builder.func);
        let call = self.builder.ins().call(called, arguments);
        let status = self.builder.inst_results(call)[0];
        self.leave_if(status, |function| {
            function.builder.ins().return_(&[status]);
        });
    }

    fn leave_stream(&mut self, address: Value, staged: Value) {
        let flags = MemFlagsData::trusted();
        let at = offset(offset_of!(Stream, staged));
        self.builder.ins().store(flags, staged, address, at);
    }

    /// Leaves the number of updates that nobody has taken where the runtime finds it.
    pub(super) fn leave_streams(&mut self) {
        for position in 0..self.streams.len() {
            let (address, staged) = (
                self.streams[position].address,
                self.streams[position].staged,
            );
            let staged = self.builder.use_var(staged);
            self.leave_stream(address, staged);
        }
    }
}

const _: () = assert!(Status::Done as u32 == 0);
