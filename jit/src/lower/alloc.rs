//! Local arrays: in variables when all their subscripts are known, in the frame of the function
//! when they are small and their size is known, else in memory of the runtime.

use super::function::{FunctionLowering, stack};
use crate::promoted::few_elements;
use crate::storage::{Storage, fixed_bytes};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, MemFlagsData, Value, types};
use strew_affine::ArrayId;
use strew_runtime::abi::Status;

/// The bytes that one store makes zero.
const VECTOR: u64 = 16;

/// Up to so many bytes are made zero without a loop.
const STRAIGHT: u64 = 8 * VECTOR;

impl FunctionLowering<'_, '_, '_> {
    /// Makes `array` known, with zeros in all its elements.
    pub(super) fn alloc(&mut self, array: ArrayId) {
        let facts = self.program.facts;
        match facts.storage().of_array(array) {
            Storage::Variables => return self.promote(array),
            Storage::Stack => self.use_stack(array),
            Storage::Loan(number) => self.borrow_memory(array, number),
        }
        let is_small = few_elements(self.program.kernel, array).is_some();
        let small = (array, self.loops.len());
        if is_small && !self.small_arrays.contains(&small) {
            self.small_arrays.push(small);
        }
    }

    fn use_stack(&mut self, array: ArrayId) {
        let bytes = fixed_bytes(self.program.kernel, array).unwrap_or(0);
        let room = usize::try_from(bytes.max(VECTOR)).unwrap_or(usize::MAX);
        let address = stack(&mut self.builder, room, VECTOR as usize);
        self.bind_array(array, address);
        let Some(bound) = self.arrays.get(array) else {
            return;
        };
        let flags = MemFlagsData::trusted().with_alias_region(Some(bound.region));
        if bytes <= STRAIGHT {
            self.zero_straight(address, bytes, flags);
        } else {
            self.zero_in_a_loop(address, bytes, flags);
        }
    }

    fn zero_vector(&mut self) -> Value {
        let zero = ir::ConstantData::from(&[0_u8; VECTOR as usize][..]);
        let zero = self.builder.func.dfg.constants.insert(zero);
        self.builder.ins().vconst(types::I64X2, zero)
    }

    fn zero_straight(&mut self, address: Value, bytes: u64, flags: MemFlagsData) {
        let zero = self.zero_vector();
        for at in (0..bytes).step_by(VECTOR as usize) {
            let at = i32::try_from(at).unwrap_or(i32::MAX);
            self.builder.ins().store(flags, zero, address, at);
        }
    }

    fn zero_in_a_loop(&mut self, address: Value, bytes: u64, flags: MemFlagsData) {
        let turn = self.builder.create_block();
        let done = self.builder.create_block();
        let at = self.builder.append_block_param(turn, types::I64);
        let start = self.builder.ins().iconst(types::I64, 0);
        let end = self.builder.ins().iconst(types::I64, bytes as i64);
        let zero = self.zero_vector();
        self.builder.ins().jump(turn, &[BlockArg::Value(start)]);
        self.builder.switch_to_block(turn);
        let here = self.builder.ins().iadd(address, at);
        self.builder.ins().store(flags, zero, here, 0);
        let next = self.builder.ins().iadd_imm_s(at, VECTOR as i64);
        let more = self.builder.ins().icmp(IntCC::UnsignedLessThan, next, end);
        self.builder
            .ins()
            .brif(more, turn, &[BlockArg::Value(next)], done, &[]);
        self.builder.switch_to_block(done);
    }

    /// The runtime gives the memory and makes it zero; without memory the function ends.
    fn borrow_memory(&mut self, array: ArrayId, number: usize) {
        let declared = &self.program.kernel.arrays[array];
        let (extents, bytes) = (&declared.extents, declared.element.bytes());
        let extents: Vec<_> = extents.iter().map(|it| self.exact_affine(it)).collect();
        let elements = self.elements(&extents);
        let local_array = self
            .program
            .module
            .declare_func_in_func(self.program.local_array, self.builder.func);
        let number = self.builder.ins().iconst(types::I64, number as i64);
        let bytes = self.builder.ins().iconst(types::I64, i64::from(bytes));
        let arguments = [self.call, number, elements, bytes];
        let call = self.builder.ins().call(local_array, &arguments);
        let address = self.builder.inst_results(call)[0];
        let refused = self.builder.ins().icmp_imm_s(IntCC::Equal, address, 0);
        self.leave_with(refused, Status::Refused);
        self.bind_array(array, address);
    }
}
