//! Compiled kernels: making machine code, keeping it, letting it go.

use crate::CompileError;
use crate::bodies::{Bodies, Functions};
use crate::call::ArgumentFacts;
use crate::facts::{Checks, Facts};
use crate::form::{Form, Rounding};
use crate::isa::{Destination, Target};
use crate::loaded::{Loaded, guarded, load, module};
use crate::lower::{self, Function, Request};
use crate::merges::Merges;
use crate::site::Site;
use crate::versions::Versions;
use cranelift_codegen::Context;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use strew_affine::interpret::Oob;
use strew_affine::verify::Verified;
use strew_affine::visit::for_each_combiner;
use strew_affine::{Declared, Kernel};
use strew_runtime::Mode;
use strew_runtime::abi::EntryFn;

/// How to compile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The processor to compile for.
    pub target: Target,
    /// What a fault tells.
    pub faults: Faults,
    /// What an index out of range does.
    pub oob: Oob,
    /// Whether calls with small sizes get code of their own.
    pub specialize: Specialize,
}

/// Whether to make code for the values of small sizes that bound innermost loops, such as how many
/// columns rows have. It computes the same, bit by bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Specialize {
    /// When calls with the same values have taken, or are to take, much longer than to make it.
    #[default]
    WhenWorthIt,
    /// In the first call with these values.
    Always,
    /// Not at all.
    Never,
}

/// What generated code tells about a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Faults {
    /// What it was, where, and in which iteration.
    #[default]
    Located,
    /// Only that there was one, as [`CallError::BareFault`](crate::CallError::BareFault): less
    /// code, and fewer values to keep until then. For who can find out the rest by running the same
    /// kernel again in another form.
    Bare,
}

/// A kernel in machine code. Cloning is cheap; the code is freed with the last clone.
#[derive(Clone, Debug)]
pub struct Compiled(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) forms: Forms,
    pub(crate) arguments: ArgumentFacts,
    pub(crate) versions: Versions,
}

/// A kernel and its code in all forms, each made when a call first needs it.
#[derive(Debug)]
pub(crate) struct Forms {
    pub(crate) kernel: Verified,
    pub(crate) facts: Facts,
    pub(crate) options: Options,
    made: [[OnceLock<Result<Code, CompileError>>; 3]; 2],
    /// How long it took at most to make one of them, in nanoseconds.
    cost: AtomicU64,
}

/// For sizes with which all affine subscripts are in range, and modes in which sums may be
/// regrouped.
const FIRST: Form = Form {
    checks: Checks::Computed,
    rounding: Rounding::Lanes,
};

/// The machine code of one kernel.
pub(crate) struct Code {
    loaded: Loaded,
    pub(crate) sites: Vec<Site>,
    merges: Merges,
    bodies: Bodies,
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code").field("sites", &self.sites).finish()
    }
}

/// Makes machine code for `kernel`.
///
/// # Errors
/// A strategy that the runtime does not know, or a processor that code cannot be made for.
pub fn compile(kernel: &Verified, options: &Options) -> Result<Compiled, CompileError> {
    check_hosts(kernel)?;
    let forms = Forms::new(kernel, Facts::of(kernel), options);
    forms.code(FIRST)?;
    Ok(Compiled(Arc::new(Inner {
        forms,
        arguments: ArgumentFacts::of(kernel),
        versions: Versions::of(kernel),
    })))
}

/// Whether every function of a host is there.
pub(crate) fn check_hosts(kernel: &Kernel) -> Result<(), CompileError> {
    let mut missing = None;
    for_each_combiner(&kernel.body, &mut |combiner| {
        let is_missing = |it: &Declared| it.is_of_host() && it.host().is_none();
        if combiner.declaration().is_some_and(is_missing) {
            missing = Some(combiner.name().to_owned());
        }
    });
    match missing {
        Some(name) => Err(CompileError::NoHost { name }),
        None => Ok(()),
    }
}

impl Forms {
    pub(crate) fn new(kernel: &Verified, facts: Facts, options: &Options) -> Self {
        Self {
            kernel: kernel.clone(),
            facts,
            options: *options,
            made: Default::default(),
            cost: AtomicU64::new(0),
        }
    }

    pub(crate) fn code(&self, form: Form) -> Result<&Code, CompileError> {
        let form = self.facts.settled(form, self.options.target);
        let [of_proved, of_checked] = &self.made;
        let [written, lanes, contracted] = match form.checks {
            Checks::Computed => of_proved,
            Checks::All => of_checked,
        };
        let made = match form.rounding {
            Rounding::Written => written,
            Rounding::Lanes => lanes,
            Rounding::Contracted => contracted,
        };
        let make = || {
            let start = Instant::now();
            let code = Code::make(&self.request(form), self.options.target);
            let took = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.cost.fetch_max(took, Ordering::Relaxed);
            code
        };
        made.get_or_init(make).as_ref().map_err(Clone::clone)
    }

    /// How long it takes to make the code, as far as that is known.
    pub(crate) fn cost(&self) -> Duration {
        Duration::from_nanos(self.cost.load(Ordering::Relaxed))
    }

    fn request(&self, form: Form) -> Request<'_> {
        Request {
            kernel: &self.kernel,
            facts: &self.facts,
            form: self.facts.settled(form, self.options.target),
            faults: self.options.faults,
            oob: self.options.oob,
        }
    }

    /// What a run of `code`, made in `form`, may need besides. Its keys are those of `general`, the
    /// kernel for all sizes.
    pub(crate) fn functions<'c>(
        &'c self,
        code: &'c Code,
        form: Form,
        general: &'c Self,
    ) -> Functions<'c> {
        Functions {
            request: self.request(form),
            general: general.request(form),
            options: self.options,
            merges: &code.merges,
            bodies: &code.bodies,
        }
    }
}

impl Compiled {
    /// The kernel that the code was made from.
    pub fn kernel(&self) -> &Kernel {
        &self.0.forms.kernel
    }

    /// What the code generator is given for calls in `mode`, in its own text form, one function
    /// after the other.
    ///
    /// # Errors
    /// As for [`compile`].
    pub fn clif(&self, mode: Mode) -> Result<String, CompileError> {
        let mut text = String::new();
        for function in self.functions(mode)? {
            // Writing to a `String` does not fail.
            let _ = writeln!(text, "{}", function.body.display());
        }
        Ok(text)
    }

    /// The machine code for calls in `mode` as assembly text, one function after the other.
    ///
    /// # Errors
    /// As for [`compile`].
    pub fn assembly(&self, mode: Mode) -> Result<String, CompileError> {
        let mut text = String::new();
        for function in self.functions(mode)? {
            let isa = self
                .0
                .forms
                .options
                .target
                .isa(function.effort, Destination::Memory)?;
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

    /// Those of the kernel, then those that merge.
    fn functions(&self, mode: Mode) -> Result<Vec<Function>, CompileError> {
        let target = self.0.forms.options.target;
        let rounding = Rounding::of(mode);
        let request = self.0.forms.request(Form { rounding, ..FIRST });
        let lowered = lower::lower(&request, &mut module(target)?)?;
        let mut functions = lowered.functions;
        for merging in &lowered.merges {
            functions.push(merging.lower(&mut module(target)?)?.function);
        }
        Ok(functions)
    }
}

impl Code {
    fn make(request: &Request<'_>, target: Target) -> Result<Self, CompileError> {
        guarded(|| {
            let mut module = module(target)?;
            let lowered = lower::lower(request, &mut module)?;
            Ok(Self {
                loaded: load(module, lowered.functions, lowered.entry, target)?,
                sites: lowered.sites,
                merges: Merges::new(lowered.merges, target),
                bodies: Bodies::default(),
            })
        })
    }

    /// The whole kernel.
    pub(crate) fn entry(&self) -> EntryFn {
        // SAFETY: the address is that of the function whose signature `lower` made as `EntryFn` has
        // it: one pointer in, a 32-bit status out, the C calling convention.
        unsafe { std::mem::transmute::<*const u8, EntryFn>(self.loaded.address) }
    }
}
