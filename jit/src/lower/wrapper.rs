//! The function of an object that C calls: it puts its arguments into slots, and hands them to the
//! runtime.

use super::call::{from_wide_bits, wide_bits};
use super::convert::clif_type;
use super::function::{offset, stack};
use super::{Function, build};
use crate::CompileError;
use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::{DataId, Linkage, Module};
use std::mem::offset_of;
use strew_affine::{Kernel, Parameter, Type};
use strew_runtime::abi::Slot;

/// The name under which objects call [`strew_runtime::object::call_kernel`].
const CALL_KERNEL: &str = "strew_call_kernel";

/// Lowers the function `symbol` for the kernel that `tables` are those of: all parameters in order,
/// inferred sizes too, and behind them where the result goes, if there is one.
pub(crate) fn lower_wrapper(
    (kernel, symbol): (&Kernel, &str),
    tables: DataId,
    module: &mut dyn Module,
) -> Result<Function, CompileError> {
    let mut signature = module.make_signature();
    let scalar = |param: &Parameter| match param {
        Parameter::Scalar(scalar) => Some(kernel.scalars[*scalar].ty),
        Parameter::Array(_) | Parameter::Record(_) => None,
    };
    let scalars: Vec<_> = kernel.params.iter().map(scalar).collect();
    let param = |ty: &Option<Type>| AbiParam::new(ty.map_or(types::I64, clif_type));
    signature.params.extend(scalars.iter().map(param));
    signature.returns.push(AbiParam::new(types::I32));
    if kernel.result.is_some() {
        signature.params.push(AbiParam::new(types::I64));
    }
    let id = module.declare_function(symbol, Linkage::Export, &signature)?;
    let mut callee = module.make_signature();
    callee.params = vec![AbiParam::new(types::I64); 3];
    callee.returns.push(AbiParam::new(types::I32));
    let callee = module.declare_function(CALL_KERNEL, Linkage::Import, &callee)?;
    build(id, signature, |mut builder| {
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let given = builder.block_params(entry).to_vec();
        let slots = fill_slots(&mut builder, &scalars, &given);
        let returned = stack(&mut builder, size_of::<u64>(), align_of::<u64>());
        let tables = module.declare_data_in_func(tables, builder.func);
        let tables = builder.ins().symbol_value(types::I64, tables);
        let callee = module.declare_func_in_func(callee, builder.func);
        let call = builder.ins().call(callee, &[tables, slots, returned]);
        let code = builder.inst_results(call)[0];
        if let (Some(ty), Some(place)) = (kernel.result_type(), given.last()) {
            hand_over(&mut builder, (code, ty), returned, *place);
        }
        builder.ins().return_(&[code]);
        builder.seal_all_blocks();
        builder.finalize(module.target_config());
        Ok(())
    })
}

/// A table of slots with the arguments; the lengths of arrays are found by the judge.
fn fill_slots(
    builder: &mut FunctionBuilder<'_>,
    scalars: &[Option<Type>],
    given: &[Value],
) -> Value {
    let bytes = scalars.len().max(1) * size_of::<Slot>();
    let slots = stack(builder, bytes, align_of::<Slot>());
    let zero = builder.ins().iconst(types::I64, 0);
    let flags = MemFlagsData::trusted();
    for (position, (ty, value)) in scalars.iter().zip(given).enumerate() {
        let bits = match ty {
            Some(ty) => wide_bits(builder, *value, *ty),
            None => *value,
        };
        let at = position * size_of::<Slot>();
        let place = offset(at + offset_of!(Slot, bits_or_address));
        builder.ins().store(flags, bits, slots, place);
        let place = offset(at + offset_of!(Slot, elements));
        builder.ins().store(flags, zero, slots, place);
    }
    slots
}

/// Leaves the result at `place` if the call ended as it should.
fn hand_over(
    builder: &mut FunctionBuilder<'_>,
    (code, ty): (Value, Type),
    returned: Value,
    place: Value,
) {
    let [store, done] = [(); 2].map(|()| builder.create_block());
    builder.ins().brif(code, done, &[], store, &[]);
    builder.switch_to_block(store);
    let flags = MemFlagsData::trusted();
    let bits = builder.ins().load(types::I64, flags, returned, 0);
    let value = from_wide_bits(builder, bits, ty);
    builder.ins().store(MemFlagsData::new(), value, place, 0);
    builder.ins().jump(done, &[]);
    builder.switch_to_block(done);
}
