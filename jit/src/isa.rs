//! The processor that code is made for.

use crate::CompileError;
use cranelift_codegen::isa::OwnedTargetIsa;
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

impl Target {
    /// The code generator's description, made once and kept.
    pub(crate) fn isa(self) -> Result<OwnedTargetIsa, CompileError> {
        static NATIVE: OnceLock<Result<OwnedTargetIsa, CompileError>> = OnceLock::new();
        static BASELINE: OnceLock<Result<OwnedTargetIsa, CompileError>> = OnceLock::new();
        let made = match self {
            Self::Native => NATIVE.get_or_init(|| build(true)),
            Self::Baseline => BASELINE.get_or_init(|| build(false)),
        };
        made.clone()
    }
}

fn build(infer_native_flags: bool) -> Result<OwnedTargetIsa, CompileError> {
    let flags = flags().map_err(|error| CompileError::Internal(error.to_string()))?;
    cranelift_native::builder_with_options(infer_native_flags)
        .map_err(|why| CompileError::Processor(why.to_owned()))?
        .finish(flags)
        .map_err(|error| CompileError::Processor(error.to_string()))
}

fn flags() -> settings::SetResult<settings::Flags> {
    let verifier = if cfg!(debug_assertions) {
        "true"
    } else {
        "false"
    };
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "speed"),
        ("enable_verifier", verifier),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        // Hot loops that begin anywhere in a cache line cost up to a fifth.
        ("log2_min_function_alignment", "6"),
        ("unwind_info", "false"),
    ] {
        flags.set(name, value)?;
    }
    Ok(settings::Flags::new(flags))
}
