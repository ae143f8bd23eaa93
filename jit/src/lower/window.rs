//! Bodies that see to it that what they touch of a private buffer was filled.

use super::access::Element;
use super::function::{FunctionLowering, offset};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::Variable;
use std::mem::offset_of;
use strew_affine::{ArrayId, Private};
use strew_runtime::abi::Window;

/// The window of the buffers while their function runs.
#[derive(Clone, Debug)]
pub(super) struct WindowValue {
    /// The first of the buffers that are merged together.
    buffer: ArrayId,
    address: Value,
    /// The address of the first buffer.
    base: Value,
    start: Variable,
    bytes: Variable,
}

impl FunctionLowering<'_, '_, '_> {
    /// Makes the window at `address` known as that of the buffers of `private`, which are known themselves.
    pub(super) fn bind_window(&mut self, private: &Private, address: Value) {
        let buffer = private.buffers.first().copied();
        let bound = buffer.and_then(|it| Some((it, self.arrays.get(it)?.address)));
        let Some((buffer, base)) = bound else {
            return;
        };
        let window = WindowValue {
            buffer,
            address,
            base,
            start: self.builder.declare_var(types::I64),
            bytes: self.builder.declare_var(types::I64),
        };
        self.read_window(&window);
        self.windows.push(window);
    }

    fn read_window(&mut self, window: &WindowValue) {
        let fields = [
            (window.start, offset_of!(Window, start)),
            (window.bytes, offset_of!(Window, bytes)),
        ];
        for (variable, field) in fields {
            let flags = MemFlagsData::trusted();
            let at = offset(field);
            let value = self
                .builder
                .ins()
                .load(types::I64, flags, window.address, at);
            self.builder.def_var(variable, value);
        }
    }

    /// Goes on when the element at `place` of `buffer` lies in its window, if it has one.
    pub(super) fn reach(&mut self, buffer: ArrayId, place: Value) {
        let mut windows = self.windows.iter();
        let Some(window) = windows.find(|it| it.buffer == buffer).cloned() else {
            return;
        };
        let outside = self.builder.create_block();
        let inside = self.builder.create_block();
        let at = self.builder.ins().isub(place, window.base);
        let start = self.builder.use_var(window.start);
        let bytes = self.builder.use_var(window.bytes);
        let from_start = self.builder.ins().isub(at, start);
        let is_inside = IntCC::UnsignedLessThan;
        let is_inside = self.builder.ins().icmp(is_inside, from_start, bytes);
        self.builder
            .ins()
            .brif(is_inside, inside, &[], outside, &[]);
        self.builder.set_cold_block(outside);
        self.builder.switch_to_block(outside);
        let reach = self.program.reach_element;
        let reach = self
            .program
            .module
            .declare_func_in_func(reach, self.builder.func);
        let arguments = [self.call, window.address, at];
        let call = self.builder.ins().call(reach, &arguments);
        let status = self.builder.inst_results(call)[0];
        self.leave_if(status, |function| {
            function.builder.ins().return_(&[status]);
        });
        self.read_window(&window);
        self.builder.ins().jump(inside, &[]);
        self.builder.switch_to_block(inside);
    }

    pub(super) fn whole_address(&mut self, element: &Element) -> Value {
        let displacement = i64::from(element.displacement);
        self.builder.ins().iadd_imm_s(element.address, displacement)
    }
}
