//! Bodies that read what they update, where both are to be different elements.

use super::access::Element;
use super::forall::{captured, find_forall};
use super::function::{ArrayValue, FunctionLowering, offset};
use super::skip::uncertain;
use super::{Program, Request};
use crate::CompileError;
use cranelift_codegen::ir::{AtomicRmwOp, InstBuilder, MemFlagsData, Value, types};
use cranelift_module::FuncId;
use std::mem::offset_of;
use strew_affine::speculation::inspector;
use strew_affine::{Access, ArrayId, Expr, Forall, Kernel, Node, ScfFor};
use strew_runtime::abi::{BodyShape, Call, Status};

/// The marks of arrays that are updated together.
#[derive(Clone, Debug)]
pub(super) struct MarksValue {
    arrays: Vec<ArrayId>,
    /// Of the bit of the first element.
    address: Value,
}

impl Program<'_> {
    /// Declares the body that marks what another one reads, which `written` has in its place:
    /// whoever calls it hands on what that captures.
    pub(super) fn marks(
        &mut self,
        number: u32,
        written: &Request<'_>,
    ) -> Result<FuncId, CompileError> {
        let found = find_forall(self.kernel, number).zip(find_forall(written.kernel, number));
        let Some(((forall, loops), (original, around))) = found else {
            return Err(CompileError::Internal(format!(
                "the kernel has no forall {number}"
            )));
        };
        let captured = captured(written.kernel, written.faults, original, &around);
        let flagged = uncertain(written.kernel, written.oob, written.form.checks);
        // Where the caller has no flag beside a scalar, it has a value.
        self.uncertain
            .retain(|it| !captured.locals.contains(it) || flagged.contains(it));
        self.outline(forall, BodyShape::Marks, captured, loops)
    }
}

/// `kernel` with a forall that marks what it reads and may update, in the place of the one with the
/// number `number`.
pub(super) fn inspecting(kernel: &Kernel, number: u32) -> Kernel {
    let mut kernel = kernel.clone();
    inspect_in(&mut kernel.body, number);
    kernel
}

fn inspect_in(nodes: &mut [Node], number: u32) {
    for node in nodes {
        if let Node::Forall(forall) = node
            && super::forall::body_number(forall) == number
        {
            let is_watched = |array| is_read(forall, array);
            forall.body = inspector(forall.iter, &forall.body, &is_watched).into();
            return;
        }
        node.blocks_mut()
            .into_iter()
            .for_each(|it| inspect_in(it, number));
    }
}

fn is_read(forall: &Forall, array: ArrayId) -> bool {
    let mut privates = forall.privates.iter();
    privates.any(|it| it.is_speculative() && it.buffers.contains(&array))
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// What is known of the targets that the body of `forall` may read, before the buffers take
    /// their places.
    pub(super) fn read_targets(&self, forall: &Forall) -> Vec<(ArrayId, ArrayValue)> {
        let speculative = forall.privates.iter().filter(|it| it.is_speculative());
        let arrays = speculative.flat_map(|it| it.targets.iter().copied());
        let known = arrays.filter_map(|it| Some((it, self.arrays.get(it)?.clone())));
        known.collect()
    }

    /// From now on reads are of `targets`, which the buffers may be all the same: both are one
    /// memory for the code generator.
    pub(super) fn read_beside(&mut self, targets: Vec<(ArrayId, ArrayValue)>) {
        for (array, mut target) in targets {
            if let Some(buffer) = self.arrays.get(array) {
                target.region = buffer.region;
            }
            self.targets.insert(array, target);
        }
    }

    /// The element of `access`, to be read.
    pub(super) fn element_to_read(&mut self, access: &Access) -> Element {
        let array = access.array;
        let Some(target) = self.targets.get(array).cloned() else {
            return self.element(access);
        };
        let buffer = self.arrays.insert(array, target);
        let element = self.element(access);
        if let Some(buffer) = buffer {
            self.arrays.insert(array, buffer);
        }
        element
    }

    /// Makes the marks known that the call has.
    pub(super) fn bind_marks(&mut self, forall: &Forall) {
        let at = offset(offset_of!(Call, marks));
        let flags = MemFlagsData::trusted();
        let table = self.builder.ins().load(types::I64, flags, self.call, at);
        for (position, private) in forall.privates.iter().enumerate() {
            if private.is_speculative() {
                let address = self.read(types::I64, table, position);
                self.marks.push(MarksValue {
                    arrays: private.buffers.clone(),
                    address,
                });
            }
        }
    }

    pub(super) fn marks_of(&self, array: ArrayId) -> Option<MarksValue> {
        let mut marks = self.marks.iter();
        marks.find(|it| it.arrays.contains(&array)).cloned()
    }

    /// Leaves if the element at `place`, an address in the buffer for `array`, has a mark.
    pub(super) fn leave_if_marked_at(&mut self, marks: &MarksValue, array: ArrayId, place: Value) {
        let Some(buffer) = self.arrays.get(array).cloned() else {
            return;
        };
        let bytes = self.builder.ins().isub(place, buffer.address);
        let ins = self.builder.ins();
        let bytes = ins.iadd_imm_s(bytes, -i64::from(buffer.offset));
        // Widths are powers of two.
        let shift = i64::from(buffer.element_bytes.trailing_zeros());
        let number = self.builder.ins().ushr_imm_u(bytes, shift);
        self.leave_if_number_is_marked(marks, number);
    }

    /// Leaves if the element `number` has a mark.
    pub(super) fn leave_if_number_is_marked(&mut self, marks: &MarksValue, number: Value) {
        let (_, held, bit) = self.bit_of(marks, number);
        let met = self.builder.ins().band(held, bit);
        self.leave_with(met, Status::Met);
    }

    /// Marks the element number `key` of `access` where it may be updated, as `guard` says.
    pub(super) fn mark_where(&mut self, guard: &'k Expr, access: &'k Access, marks: &MarksValue) {
        let may_be_updated = match guard {
            Expr::Constant(value) if *value == strew_affine::Value::bool(true) => None,
            _ => Some(self.expr(guard)),
        };
        let key = self.element_number(access);
        let Some(may_be_updated) = may_be_updated else {
            return self.set_mark(marks, key);
        };
        let [marked, next] = [(); 2].map(|()| self.builder.create_block());
        let ins = self.builder.ins();
        ins.brif(may_be_updated, marked, &[], next, &[]);
        self.builder.switch_to_block(marked);
        self.set_mark(marks, key);
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
    }

    /// Marks the element number `key`, which others may do at the same time.
    fn set_mark(&mut self, marks: &MarksValue, key: Value) {
        let (address, held, bit) = self.bit_of(marks, key);
        let is_set = self.builder.ins().band(held, bit);
        let (new, next) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(is_set, next, &[], new, &[]);
        self.builder.switch_to_block(new);
        let flags = MemFlagsData::trusted();
        let bit = self.builder.ins().ireduce(types::I8, bit);
        let or = AtomicRmwOp::Or;
        self.builder
            .ins()
            .atomic_rmw(types::I8, flags, or, address, bit);
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
    }

    /// Whether nothing is done but to mark what is read.
    pub(super) fn is_looking(&self) -> bool {
        !self.marks.is_empty() && !self.checked.is_empty()
    }

    /// Counts each turn of a loop as an update.
    pub(super) fn count_turns(&mut self, node: &ScfFor) {
        let (lower, upper) = (self.expr(&node.lower), self.expr(&node.upper));
        let none = self.builder.ins().iconst(types::I64, 0);
        let distance = self.builder.ins().isub(upper, lower);
        let distance = self.builder.ins().smax(distance, none);
        let turns = self.builder.ins().udiv_imm_u(distance, node.step);
        let before = self.builder.use_var(self.updates);
        let after = self.builder.ins().iadd(before, turns);
        self.builder.def_var(self.updates, after);
    }

    /// The address of the byte with the mark of the element `number`, what is there, and which bit
    /// of it is the mark.
    fn bit_of(&mut self, marks: &MarksValue, number: Value) -> (Value, Value, Value) {
        let byte = self.builder.ins().ushr_imm_u(number, 3);
        let address = self.builder.ins().iadd(marks.address, byte);
        let flags = MemFlagsData::trusted();
        let held = self.builder.ins().uload8(types::I32, flags, address, 0);
        let bit = self.builder.ins().band_imm_s(number, 7);
        let bit = self.builder.ins().ireduce(types::I32, bit);
        let one = self.builder.ins().iconst(types::I32, 1);
        let bit = self.builder.ins().ishl(one, bit);
        (address, held, bit)
    }
}
