//! Machine code in memory, from functions that were lowered.

use crate::isa::{Destination, Effort, Target};
use crate::lower::{
    EMPTY_LINE, Function, LOCAL_ARRAY, PREFETCH_ROW, PUT_VALUES, REACH_ELEMENTS, RUN_FORALL,
    SCAN_KEYS, TAKE_UPDATES, define_symbols,
};
use crate::{CompileError, host};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, ModuleReloc, default_libcall_names};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A module whose functions can be called until it is dropped.
pub(crate) struct Loaded {
    module: ManuallyDrop<JITModule>,
    /// The function that it was loaded for.
    pub(crate) address: *const u8,
}

// SAFETY: once its definitions are finalized the module is not touched again but to free it, which
// takes it by value.
unsafe impl Send for Loaded {}
// SAFETY: as above; through a shared reference only `address` is read.
unsafe impl Sync for Loaded {}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: the module is taken once, here. Whoever calls its code keeps what it belongs to,
        // so none of it is running.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() };
    }
}

/// An empty module.
pub(crate) fn module(target: Target) -> Result<JITModule, CompileError> {
    let isa = target.isa(Effort::Full, Destination::Memory)?;
    let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
    builder.symbol(RUN_FORALL, strew_runtime::run_forall as *const u8);
    builder.symbol(LOCAL_ARRAY, strew_runtime::local_array as *const u8);
    builder.symbol(TAKE_UPDATES, strew_runtime::take_updates as *const u8);
    builder.symbol(EMPTY_LINE, strew_runtime::empty_line as *const u8);
    builder.symbol(PUT_VALUES, strew_runtime::put_values as *const u8);
    builder.symbol(REACH_ELEMENTS, strew_runtime::reach_elements as *const u8);
    builder.symbol(SCAN_KEYS, strew_runtime::scan_keys as *const u8);
    builder.symbol(PREFETCH_ROW, strew_runtime::prefetch_row as *const u8);
    define_symbols(&mut builder);
    host::define_symbol(&mut builder);
    Ok(JITModule::new(builder))
}

/// Compiles `functions` into `module`, for calls of `wanted`, which is one of them.
pub(crate) fn load(
    mut module: JITModule,
    functions: Vec<Function>,
    wanted: FuncId,
    target: Target,
) -> Result<Loaded, CompileError> {
    define(&mut module, functions, (target, Destination::Memory))?;
    module.finalize_definitions()?;
    let address = module.get_finalized_function(wanted);
    Ok(Loaded {
        module: ManuallyDrop::new(module),
        address,
    })
}

/// Compiles `functions` into `module`, for that target and destination.
pub(crate) fn define(
    module: &mut dyn Module,
    functions: Vec<Function>,
    (target, destination): (Target, Destination),
) -> Result<(), CompileError> {
    let mut context = module.make_context();
    for function in functions {
        let isa = target.isa(function.effort, destination)?;
        context.func = function.body;
        let code = context
            .compile(&*isa, &mut Default::default())
            .map_err(|error| CompileError::Internal(error.inner.to_string()))?;
        let alignment = u64::from(code.buffer.alignment);
        let bytes = code.code_buffer().to_vec();
        let relocations = code.buffer.relocs().to_vec();
        let relocations: Vec<_> = relocations
            .iter()
            .map(|it| ModuleReloc::from_mach_reloc(it, &context.func, function.id))
            .collect();
        module.define_function_bytes(function.id, alignment, &bytes, &relocations)?;
        module.clear_context(&mut context);
    }
    Ok(())
}

/// Runs `make`. The code generator panics on some combinations that it does not support; that is a
/// failed compilation, no more.
pub(crate) fn guarded<T>(
    make: impl FnOnce() -> Result<T, CompileError>,
) -> Result<T, CompileError> {
    catch_unwind(AssertUnwindSafe(make)).unwrap_or_else(|panic| {
        let said = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        let said = said.unwrap_or("it panicked");
        Err(CompileError::Internal(said.to_owned()))
    })
}
