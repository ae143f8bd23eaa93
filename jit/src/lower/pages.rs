//! Bodies that see to it that what they touch of a private buffer was filled.

use super::access::Element;
use super::function::{FunctionLowering, offset};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use std::mem::offset_of;
use strew_affine::{ArrayId, Private};
use strew_runtime::abi::{PAGE, Pages};

/// The pages of the buffers while their function runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct PagesValue {
    /// The first of the buffers that are merged together.
    buffer: ArrayId,
    address: Value,
    /// The address of what tells which of them are filled.
    filled: Value,
}

impl FunctionLowering<'_, '_, '_> {
    /// Makes the pages at `address` known as those of the buffers of `private`, which are known
    /// themselves.
    pub(super) fn bind_pages(&mut self, private: &Private, address: Value) {
        let Some(buffer) = private.buffers.first().copied() else {
            return;
        };
        let flags = MemFlagsData::trusted().with_readonly().with_can_move();
        let at = offset(offset_of!(Pages, filled));
        let filled = self.builder.ins().load(types::I64, flags, address, at);
        self.pages.push(PagesValue {
            buffer,
            address,
            filled,
        });
    }

    /// Goes on when the element at `place` of `buffer` was filled, if the buffer has pages.
    pub(super) fn reach(&mut self, buffer: ArrayId, place: Value) {
        if let Some((pages, at)) = self.in_pages(buffer, place) {
            let is_filled = self.is_filled(pages, at);
            let one = self.builder.ins().iconst(types::I64, 1);
            self.fill_unless(is_filled, pages, (at, one));
        }
    }

    /// Goes on when the elements that lie in `bytes` bytes from `place` of `buffer` on were filled,
    /// if the buffer has pages.
    pub(super) fn reach_all(&mut self, buffer: ArrayId, place: Value, bytes: Value) {
        if let Some((pages, at)) = self.in_pages(buffer, place) {
            let last = self.builder.ins().iadd(at, bytes);
            let last = self.builder.ins().iadd_imm_s(last, -1);
            let first_page = self.page(at);
            let last_page = self.page(last);
            let between = self.builder.ins().isub(last_page, first_page);
            let is_short = IntCC::UnsignedLessThan;
            let is_short = self.builder.ins().icmp_imm_u(is_short, between, 2);
            let starts = self.is_filled(pages, at);
            let ends = self.is_filled(pages, last);
            let is_filled = self.builder.ins().band(starts, ends);
            let is_filled = self.builder.ins().band(is_filled, is_short);
            self.fill_unless(is_filled, pages, (at, bytes));
        }
    }

    /// The pages of `buffer`, and how many bytes behind its address `place` is. Of several tables
    /// it is the one whose turn it is.
    fn in_pages(&mut self, buffer: ArrayId, place: Value) -> Option<(PagesValue, Value)> {
        let pages = self.pages.iter().find(|it| it.buffer == buffer).copied()?;
        let base = self.arrays.get(buffer)?.address;
        Some((pages, self.builder.ins().isub(place, base)))
    }

    fn page(&mut self, at: Value) -> Value {
        let shift = i64::from(PAGE.ilog2());
        self.builder.ins().ushr_imm_u(at, shift)
    }

    /// A byte that is 1 when the page of the element `at` bytes from the first is filled, else 0.
    fn is_filled(&mut self, pages: PagesValue, at: Value) -> Value {
        let page = self.page(at);
        let place = self.builder.ins().iadd(pages.filled, page);
        let flags = MemFlagsData::trusted();
        self.builder.ins().load(types::I8, flags, place, 0)
    }

    fn fill_unless(&mut self, is_filled: Value, pages: PagesValue, (at, bytes): (Value, Value)) {
        let outside = self.builder.create_block();
        let inside = self.builder.create_block();
        self.builder
            .ins()
            .brif(is_filled, inside, &[], outside, &[]);
        self.builder.set_cold_block(outside);
        self.builder.switch_to_block(outside);
        let arguments = [self.call, pages.address, at, bytes];
        self.call_or_leave(self.program.reach_elements, &arguments);
        self.builder.ins().jump(inside, &[]);
        self.builder.switch_to_block(inside);
    }

    pub(super) fn whole_address(&mut self, element: &Element) -> Value {
        let displacement = i64::from(element.displacement);
        self.builder.ins().iadd_imm_s(element.address, displacement)
    }
}
