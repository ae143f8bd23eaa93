//! From a verified kernel to functions of the code generator's own language.
//!
//! A kernel becomes one entry function, one function for the body of each forall (outlined, so that
//! the runtime can run ranges of its iterations on several threads), and, when a run first needs
//! it, a merge function for each combiner and element type of a private buffer. No decision about
//! speed is taken here: what order, what unrolling, what is private is in the kernel already.

mod access;
mod affine;
mod ahead;
mod alloc;
mod apply;
mod atomic;
mod bind_buffers;
mod blend;
mod body;
mod bounded;
mod bounds;
mod call;
mod check;
mod checked;
mod choice;
mod columns;
mod combine;
mod convert;
mod divided;
mod division;
mod early;
mod effort;
mod element;
mod emit;
mod exit;
mod expr;
mod extended;
mod forall;
mod frame;
mod function;
mod gather_calls;
mod gathers;
mod guarded;
mod heads;
mod hold;
mod judge;
mod keep;
mod known;
mod lanes;
mod leave;
mod little;
mod loops;
mod marks;
mod meet;
mod merge;
mod offsets;
mod operation;
mod own_rows;
mod pages;
mod partials;
mod picks;
mod prefetch;
mod private_calls;
mod reciprocal;
mod rows;
mod run_length;
mod sampled;
mod scan;
mod shift;
mod siblings;
mod skip;
mod sort;
mod staged;
mod strips;
mod sum;
mod tables;
mod trips;
mod update;
mod weight;
mod within;
mod work;
mod wrapper;

pub(crate) use body::Conduct;
pub(crate) use call::define_symbols;

use crate::CompileError;
use crate::compiled::Faults;
use crate::facts::{Checks, Facts};
use crate::form::{Form, Rounding};
use crate::isa::Effort;
use crate::site::Site;
use call::{Calls, MathFunctions};
use cranelift_codegen::ir::{self, AbiParam, Signature, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{FuncId, Linkage, Module, ModuleError};
use forall::Outlined;
pub(crate) use forall::{find_forall, other_bodies};
use function::FunctionLowering;
pub(crate) use judge::lower_judge;
pub(crate) use merge::{LoweredMerge, Merging};
use std::collections::{BTreeSet, VecDeque};
use strew_affine::interpret::Oob;
use strew_affine::{Kernel, LocalId};
use strew_runtime::abi::BodyShape;
pub(crate) use wrapper::lower_wrapper;

impl From<ModuleError> for CompileError {
    fn from(error: ModuleError) -> Self {
        Self::Internal(error.to_string())
    }
}

/// The name under which generated code calls [`strew_runtime::run_forall`].
pub(crate) const RUN_FORALL: &str = "strew_run_forall";

/// The name under which generated code calls [`strew_runtime::local_array`].
pub(crate) const LOCAL_ARRAY: &str = "strew_local_array";

/// The name under which generated code calls [`strew_runtime::take_updates`].
pub(crate) const TAKE_UPDATES: &str = "strew_take_updates";

/// The name under which generated code calls [`strew_runtime::empty_line`].
pub(crate) const EMPTY_LINE: &str = "strew_empty_line";

/// The name under which generated code calls [`strew_runtime::put_values`].
pub(crate) const PUT_VALUES: &str = "strew_put_values";

/// The name under which generated code calls [`strew_runtime::reach_elements`].
pub(crate) const REACH_ELEMENTS: &str = "strew_reach_elements";

/// One function, for the code generator.
pub(crate) struct Function {
    pub(crate) id: FuncId,
    pub(crate) body: ir::Function,
    pub(crate) effort: Effort,
}

/// What lowering makes.
pub(crate) struct Lowered {
    pub(crate) entry: FuncId,
    pub(crate) functions: Vec<Function>,
    pub(crate) sites: Vec<Site>,
    pub(crate) merges: Vec<Merging>,
}

/// The name under which generated code calls [`strew_runtime::scan_keys`].
pub(crate) const SCAN_KEYS: &str = "strew_scan_keys";

/// The name under which generated code calls [`strew_runtime::prefetch_row`].
pub(crate) const PREFETCH_ROW: &str = "strew_prefetch_row";

/// What the functions of one kernel share while they are made.
pub(crate) struct Program<'k> {
    kernel: &'k Kernel,
    facts: &'k Facts,
    checks: Checks,
    rounding: Rounding,
    faults: Faults,
    oob: Oob,
    /// The scalars that may have no value.
    uncertain: BTreeSet<LocalId>,
    /// Where the functions are declared: code that is called at once, or an object for the linker.
    module: &'k mut dyn Module,
    sites: Vec<Site>,
    pending: VecDeque<Outlined<'k>>,
    functions: Vec<Function>,
    merges: Vec<Merging>,
    math: MathFunctions,
    run_forall: FuncId,
    local_array: FuncId,
    take_updates: FuncId,
    empty_line: FuncId,
    put_values: FuncId,
    reach_elements: FuncId,
    scan_keys: FuncId,
    prefetch_row: FuncId,
}

/// What a kernel is lowered with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'k> {
    pub(crate) kernel: &'k Kernel,
    pub(crate) facts: &'k Facts,
    pub(crate) form: Form,
    pub(crate) faults: Faults,
    pub(crate) oob: Oob,
}

/// Lowers a kernel into functions of `module`.
pub(crate) fn lower(
    request: &Request<'_>,
    module: &mut dyn Module,
) -> Result<Lowered, CompileError> {
    let mut program = Program::new(request, module)?;
    let entry = program.entry()?;
    program.finish(entry)
}

/// Lowers the body of the forall with the number `number` alone, in `shape`. Its entry is the body.
pub(crate) fn lower_body(
    request: &Request<'_>,
    (number, shape): (u32, BodyShape),
    module: &mut dyn Module,
) -> Result<Lowered, CompileError> {
    if shape == BodyShape::Marks {
        return lower_marks(request, number, module);
    }
    let mut program = Program::new(request, module)?;
    let body = program.body(number, shape)?;
    program.finish(body)
}

/// The same of a body that only marks what it reads. It may look for elements that the loop does
/// not come to, so it checks all indices, and does nothing where one is out of range.
fn lower_marks(
    request: &Request<'_>,
    number: u32,
    module: &mut dyn Module,
) -> Result<Lowered, CompileError> {
    let kernel = marks::inspecting(request.kernel, number);
    let form = Form {
        checks: Checks::All,
        ..request.form
    };
    let looking = Request {
        kernel: &kernel,
        form,
        oob: Oob::Skip,
        ..*request
    };
    let mut program = Program::new(&looking, module)?;
    let body = program.marks(number, request)?;
    program.finish(body)
}

impl<'k> Program<'k> {
    fn new(request: &Request<'k>, module: &'k mut dyn Module) -> Result<Self, CompileError> {
        let status = signature(module, 2);
        let run_forall = module.declare_function(RUN_FORALL, Linkage::Import, &status)?;
        let take_updates = module.declare_function(TAKE_UPDATES, Linkage::Import, &status)?;
        let emptied = signature(module, 3);
        let empty_line = module.declare_function(EMPTY_LINE, Linkage::Import, &emptied)?;
        let put = signature(module, 5);
        let put_values = module.declare_function(PUT_VALUES, Linkage::Import, &put)?;
        let reached = signature(module, 4);
        let reach_elements = module.declare_function(REACH_ELEMENTS, Linkage::Import, &reached)?;
        let scanned = signature(module, 4);
        let scan_keys = module.declare_function(SCAN_KEYS, Linkage::Import, &scanned)?;
        let asked = asking_signature(module);
        let prefetch_row = module.declare_function(PREFETCH_ROW, Linkage::Import, &asked)?;
        let address = address_signature(module, 4);
        let local_array = module.declare_function(LOCAL_ARRAY, Linkage::Import, &address)?;
        Ok(Self {
            kernel: request.kernel,
            facts: request.facts,
            checks: request.form.checks,
            rounding: request.form.rounding,
            faults: request.faults,
            oob: request.oob,
            uncertain: skip::uncertain(request.kernel, request.oob, request.form.checks),
            module,
            sites: Vec::new(),
            pending: VecDeque::new(),
            functions: Vec::new(),
            merges: Vec::new(),
            math: MathFunctions::default(),
            run_forall,
            local_array,
            take_updates,
            empty_line,
            put_values,
            reach_elements,
            scan_keys,
            prefetch_row,
        })
    }

    /// Lowers what the function `entry` calls, too.
    fn finish(mut self, entry: FuncId) -> Result<Lowered, CompileError> {
        while let Some(outlined) = self.pending.pop_front() {
            self.outlined(&outlined)?;
        }
        if let Some(failure) = self.math.into_failure() {
            return Err(failure);
        }
        Ok(Lowered {
            entry,
            functions: self.functions,
            sites: self.sites,
            merges: self.merges,
        })
    }
}

/// A signature of `pointers` 64-bit parameters that returns a status.
fn signature(module: &dyn Module, pointers: usize) -> Signature {
    let mut signature = module.make_signature();
    signature.params = vec![AbiParam::new(types::I64); pointers];
    signature.returns.push(AbiParam::new(types::I32));
    signature
}

/// That of [`strew_runtime::prefetch_row`], which changes no register where it does anything.
fn asking_signature(module: &dyn Module) -> Signature {
    let mut signature = signature(module, 2);
    signature.returns.clear();
    if cfg!(target_arch = "x86_64") {
        signature.call_conv = CallConv::PreserveAll;
    }
    signature
}

/// As [`signature`], but it returns an address.
fn address_signature(module: &dyn Module, pointers: usize) -> Signature {
    let mut signature = signature(module, pointers);
    signature.returns = vec![AbiParam::new(types::I64)];
    signature
}

impl<'k> Program<'k> {
    /// What emits calls of math functions.
    fn calls(&mut self) -> Calls<'_> {
        Calls {
            module: &mut *self.module,
            math: &mut self.math,
            contracts: self.rounding == Rounding::Contracted,
        }
    }

    fn entry(&mut self) -> Result<FuncId, CompileError> {
        let kernel = self.kernel;
        let signature = signature(self.module, 1);
        let id = self.module.declare_anonymous_function(&signature)?;
        self.define(id, signature, |program, builder| {
            let mut function = FunctionLowering::start(program, builder);
            function.count_updates(&kernel.body, None);
            function.nodes(&kernel.body)?;
            match (&kernel.result, function.program.oob) {
                (None, _) => {}
                (Some(result), Oob::Error) => function.result(result),
                (Some(result), Oob::Skip) => function.skippable_result(result),
            }
            function.finish();
            Ok(())
        })?;
        Ok(id)
    }

    fn outlined(&mut self, outlined: &Outlined<'k>) -> Result<(), CompileError> {
        let signature = signature(self.module, 5);
        self.define(outlined.id, signature, |program, builder| {
            let mut function = FunctionLowering::start(program, builder);
            function.chunk_body(outlined)?;
            function.finish();
            Ok(())
        })
    }

    /// Builds the function `id` and keeps it for the code generator.
    fn define(
        &mut self,
        id: FuncId,
        signature: Signature,
        fill: impl FnOnce(&mut Self, FunctionBuilder<'_>) -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        let function = build(id, signature, |builder| fill(self, builder))?;
        self.functions.push(function);
        Ok(())
    }
}

/// The function `id`, of which `fill` builds the body.
fn build(
    id: FuncId,
    signature: Signature,
    fill: impl FnOnce(FunctionBuilder<'_>) -> Result<(), CompileError>,
) -> Result<Function, CompileError> {
    let name = ir::UserFuncName::user(0, id.as_u32());
    let mut body = ir::Function::with_name_signature(name, signature);
    let mut context = FunctionBuilderContext::new();
    fill(FunctionBuilder::new(&mut body, &mut context))?;
    let effort = effort::effort(&body);
    Ok(Function { id, body, effort })
}
