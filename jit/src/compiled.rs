//! Compiled kernels: making machine code, keeping it, letting it go.

use crate::CompileError;
use crate::call::ArgumentFacts;
use crate::facts::{Checks, Facts};
use crate::isa::{Effort, Target};
use crate::lower::{self, LOCAL_ARRAY, Lowered, RUN_FORALL, define_symbols};
use crate::site::Site;
use cranelift_codegen::Context;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, ModuleReloc, default_libcall_names};
use std::fmt::Write as _;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use strew_affine::Kernel;
use strew_affine::verify::Verified;
use strew_runtime::abi::EntryFn;

/// How to compile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The processor to compile for.
    pub target: Target,
}

/// A kernel in machine code. Cloning is cheap; the code is freed with the last clone.
#[derive(Clone, Debug)]
pub struct Compiled(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) kernel: Verified,
    pub(crate) facts: Facts,
    pub(crate) arguments: ArgumentFacts,
    options: Options,
    /// The code for sizes with which all affine subscripts are in range.
    proved: Code,
    /// The code for all other sizes, made when a call first needs it.
    checked: OnceLock<Result<Code, CompileError>>,
}

/// The machine code of one kernel.
pub(crate) struct Code {
    module: ManuallyDrop<JITModule>,
    pub(crate) entry: EntryFn,
    pub(crate) sites: Vec<Site>,
}

// SAFETY: once its definitions are finalized the module is not touched again but to free it, which takes it by value.
unsafe impl Send for Code {}
// SAFETY: as above; through a shared reference only `entry`, a plain function pointer, and `sites` are used.
unsafe impl Sync for Code {}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code").field("sites", &self.sites).finish()
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the module is taken once, here. Calls hold the `Arc` that this drop belongs to, so none of them is running.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() };
    }
}

/// Makes machine code for `kernel`.
///
/// # Errors
/// A strategy that the runtime does not know, or a processor that code cannot be made for.
pub fn compile(kernel: &Verified, options: &Options) -> Result<Compiled, CompileError> {
    let facts = Facts::of(kernel);
    let proved = Code::make(kernel, &facts, Checks::Computed, options)?;
    Ok(Compiled(Arc::new(Inner {
        kernel: kernel.clone(),
        facts,
        arguments: ArgumentFacts::of(kernel),
        options: *options,
        proved,
        checked: OnceLock::new(),
    })))
}

impl Inner {
    pub(crate) fn code(&self, checks: Checks) -> Result<&Code, CompileError> {
        match checks {
            Checks::Computed => Ok(&self.proved),
            Checks::All => self
                .checked
                .get_or_init(|| Code::make(&self.kernel, &self.facts, checks, &self.options))
                .as_ref()
                .map_err(Clone::clone),
        }
    }
}

impl Compiled {
    /// The kernel that the code was made from.
    pub fn kernel(&self) -> &Kernel {
        &self.0.kernel
    }

    /// What the code generator is given, in its own text form, one function after the other.
    ///
    /// # Errors
    /// As for [`compile`].
    pub fn clif(&self) -> Result<String, CompileError> {
        let lowered = self.lowered()?;
        let mut text = String::new();
        for function in &lowered.functions {
            // Writing to a `String` does not fail.
            let _ = writeln!(text, "{}", function.body.display());
        }
        Ok(text)
    }

    /// The machine code as assembly text, one function after the other.
    ///
    /// # Errors
    /// As for [`compile`].
    pub fn assembly(&self) -> Result<String, CompileError> {
        let lowered = self.lowered()?;
        let mut text = String::new();
        for function in lowered.functions {
            let isa = self.0.options.target.isa(function.effort)?;
            let name = function.body.name.clone();
            let mut context = Context::for_function(function.body);
            context.set_disasm(true);
            let code = context
                .compile(&*isa, &mut Default::default())
                .map_err(|error| CompileError::Internal(error.inner.to_string()))?;
            let listing = code.vcode.as_deref().unwrap_or_default();
            let _ = writeln!(text, "; {name}\n{listing}");
        }
        Ok(text)
    }

    fn lowered(&self) -> Result<Lowered, CompileError> {
        let module = module(&self.0.options)?;
        lower::lower(&self.0.kernel, &self.0.facts, Checks::Computed, module)
    }
}

fn module(options: &Options) -> Result<JITModule, CompileError> {
    let isa = options.target.isa(Effort::Full)?;
    let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
    builder.symbol(RUN_FORALL, strew_runtime::run_forall as *const u8);
    builder.symbol(LOCAL_ARRAY, strew_runtime::local_array as *const u8);
    define_symbols(&mut builder);
    Ok(JITModule::new(builder))
}

impl Code {
    fn make(
        kernel: &Kernel,
        facts: &Facts,
        checks: Checks,
        options: &Options,
    ) -> Result<Self, CompileError> {
        let make = || {
            let lowered = lower::lower(kernel, facts, checks, module(options)?)?;
            Self::define(lowered, options.target)
        };
        // The code generator panics on some combinations that it does not support; that is a failed compilation, no more.
        catch_unwind(AssertUnwindSafe(make)).unwrap_or_else(|panic| {
            let said = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied());
            let said = said.unwrap_or("it panicked");
            Err(CompileError::Internal(said.to_owned()))
        })
    }

    fn define(lowered: Lowered, target: Target) -> Result<Self, CompileError> {
        let Lowered {
            mut module,
            entry,
            functions,
            sites,
        } = lowered;
        let mut context = module.make_context();
        for function in functions {
            let isa = target.isa(function.effort)?;
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
        module.finalize_definitions()?;
        let address = module.get_finalized_function(entry);
        // SAFETY: `entry` is the function whose signature `lower` made as `EntryFn` has it: one pointer in, a 32-bit
        // status out, the C calling convention.
        let entry = unsafe { std::mem::transmute::<*const u8, EntryFn>(address) };
        Ok(Self {
            module: ManuallyDrop::new(module),
            entry,
            sites,
        })
    }
}
