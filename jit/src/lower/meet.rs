//! Writes of elements that are said to be written once: each is marked, by one step that also tells
//! whether it was marked before.

use super::access::Element;
use super::function::FunctionLowering;
use crate::site::Site;
use cranelift_codegen::ir::{AtomicRmwOp, InstBuilder, MemFlagsData, types};
use strew_affine::Access;

impl FunctionLowering<'_, '_, '_> {
    /// Marks the element of `access`, where its array has marks, and leaves where it is marked
    /// already.
    pub(super) fn meet(&mut self, access: &Access, element: &Element) {
        let mut disjoint = self.disjoint.iter();
        let Some(disjoint) = disjoint.find(|it| it.target == access.array).copied() else {
            return;
        };
        let (Some(target), Some(marks)) = (
            self.arrays.get(disjoint.target).cloned(),
            self.arrays.get(disjoint.met).cloned(),
        ) else {
            return;
        };
        let place = self.whole_address(element);
        let bytes = self.builder.ins().isub(place, target.address);
        let bytes = self
            .builder
            .ins()
            .iadd_imm_s(bytes, -i64::from(target.offset));
        // Widths are powers of two.
        let shift = i64::from(target.element_bytes.trailing_zeros());
        let number = self.builder.ins().ushr_imm_u(bytes, shift);
        let mark = self.builder.ins().iadd(marks.address, number);
        let mark = self.builder.ins().iadd_imm_s(mark, i64::from(marks.offset));
        let one = self.builder.ins().iconst(types::I8, 1);
        let flags = MemFlagsData::trusted();
        let before = self
            .builder
            .ins()
            .atomic_rmw(types::I8, flags, AtomicRmwOp::Xchg, mark, one);
        let site = Site::met(access, &self.enclosing_counters());
        let nothing = self.builder.ins().iconst(types::I64, 0);
        self.fault_if(before, site, Some((number, nothing)));
    }
}
