//! The processor that code is made for.

use crate::CompileError;
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use std::sync::OnceLock;

/// Which instructions may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Target {
    /// Everything that the processor at hand has.
    #[default]
    Native,
    /// Only what every processor of the architecture has; the code is the same on all of them.
    Baseline,
}

/// How hard the code generator tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// For functions with loops.
    Full,
    /// For functions with loops that are too large to be optimised.
    Plain,
    /// For functions without loops, which run once a call: the time that better code saves there is
    /// less than what it costs to make. And for those in which so much is alive for so long that
    /// anything else would not end.
    Quick,
}

/// Where code goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// The memory of this process.
    Memory,
    /// A file for the linker, which puts it anywhere.
    Object,
}

/// The processor that code is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Processor {
    /// Architecture, vendor and system, as `x86_64-unknown-linux-gnu`.
    pub target: String,
    /// What generated code may use beyond what every processor of the architecture has, as the code
    /// generator names it: `avx2`, `fma`.
    pub features: Vec<String>,
}

/// The processor at hand.
///
/// # Errors
/// [`CompileError::Processor`] where the code generator does not know it.
pub fn processor() -> Result<Processor, CompileError> {
    let isa = Target::Native.isa(Effort::Full, Destination::Memory)?;
    let found = isa.isa_flags().into_iter();
    let found = found.filter(|it| it.as_bool() == Some(true));
    let features = found.map(|it| it.name.trim_start_matches("has_").to_owned());
    Ok(Processor {
        target: isa.triple().to_string(),
        features: features.collect(),
    })
}

fn has(isa: &dyn TargetIsa, feature: &str) -> bool {
    let features = isa.isa_flags().into_iter();
    let mut found = features.filter(|it| it.name == feature);
    found.any(|it| it.as_bool() == Some(true))
}

/// Whether one instruction puts the bytes of a vector anywhere. Without it, the code generator
/// would call a function that nobody has.
pub(crate) fn shuffles_bytes(isa: &dyn TargetIsa) -> bool {
    !cfg!(target_arch = "x86_64") || has(isa, "has_ssse3")
}

type Isa = Result<OwnedTargetIsa, CompileError>;

impl Target {
    /// The code generator's description, made once and kept.
    pub(crate) fn isa(self, effort: Effort, destination: Destination) -> Isa {
        static MADE: [[[OnceLock<Isa>; 3]; 2]; 2] =
            [const { [const { [const { OnceLock::new() }; 3] }; 2] }; 2];
        let made = &MADE[destination as usize][self as usize][effort as usize];
        made.get_or_init(|| self.build(effort, destination)).clone()
    }

    /// Whether one instruction multiplies and adds, and rounds once. Without it, the code generator
    /// would call a function.
    pub(crate) fn contracts(self) -> bool {
        static KNOWN: [OnceLock<bool>; 2] = [const { OnceLock::new() }; 2];
        let has_fma = || {
            let isa = self.isa(Effort::Full, Destination::Memory);
            isa.is_ok_and(|it| has(&*it, "has_fma"))
        };
        cfg!(target_arch = "aarch64") || *KNOWN[self as usize].get_or_init(has_fma)
    }

    fn build(self, effort: Effort, destination: Destination) -> Isa {
        let flags = flags(effort, destination)
            .map_err(|error| CompileError::Internal(error.to_string()))?;
        cranelift_native::builder_with_options(self == Self::Native)
            .map_err(|why| CompileError::Processor(why.to_owned()))?
            .finish(flags)
            .map_err(|error| CompileError::Processor(error.to_string()))
    }
}

fn flags(effort: Effort, destination: Destination) -> settings::SetResult<settings::Flags> {
    let verifier = if cfg!(debug_assertions) {
        "true"
    } else {
        "false"
    };
    let (opt_level, regalloc_algorithm) = match effort {
        Effort::Full => ("speed", "backtracking"),
        Effort::Plain => ("none", "backtracking"),
        Effort::Quick => ("none", "single_pass"),
    };
    let is_pic = match destination {
        Destination::Memory => "false",
        Destination::Object => "true",
    };
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", opt_level),
        ("regalloc_algorithm", regalloc_algorithm),
        ("enable_verifier", verifier),
        ("is_pic", is_pic),
        ("use_colocated_libcalls", "false"),
        // Hot loops that begin anywhere in a cache line cost up to a fifth.
        ("log2_min_function_alignment", "6"),
        ("unwind_info", "false"),
    ] {
        flags.set(name, value)?;
    }
    Ok(settings::Flags::new(flags))
}
