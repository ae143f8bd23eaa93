//! The functions of a kernel that are compiled when a run first needs them: most runs never do.

use crate::CompileError;
use crate::isa::Target;
use crate::loaded::{Loaded, guarded, load, module};
use crate::lower::{LoweredMerge, Merging};
use cranelift_module::Module;
use std::fmt;
use std::sync::OnceLock;
use strew_runtime::abi::{ApplyFn, MergeFn};

/// What private buffers are merged with, and updates applied, by number.
#[derive(Debug)]
pub(crate) struct Merges(Vec<Merge>);

type Made = OnceLock<Result<Loaded, CompileError>>;

struct Merge {
    merging: Merging,
    target: Target,
    merge: Made,
    apply: Made,
}

impl fmt::Debug for Merge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Merge").field(&self.merging).finish()
    }
}

impl Merges {
    pub(crate) fn new(merges: Vec<Merging>, target: Target) -> Self {
        let merge = |merging| Merge {
            merging,
            target,
            merge: OnceLock::new(),
            apply: OnceLock::new(),
        };
        Self(merges.into_iter().map(merge).collect())
    }
}

impl Merge {
    fn make(
        &self,
        lower: impl FnOnce(&mut dyn Module) -> Result<LoweredMerge, CompileError>,
    ) -> Result<Loaded, CompileError> {
        guarded(|| {
            let mut module = module(self.target)?;
            let LoweredMerge { id, function } = lower(&mut module)?;
            load(module, vec![function], id, self.target)
        })
    }
}

impl Merges {
    fn get(&self, number: u32) -> Result<&Merge, String> {
        let merge = usize::try_from(number).ok().and_then(|it| self.0.get(it));
        merge.ok_or_else(|| format!("the kernel has no merge function {number}"))
    }

    pub(crate) fn merge(&self, number: u32) -> Result<MergeFn, String> {
        let merge = self.get(number)?;
        let lower = |module: &mut dyn Module| merge.merging.lower(module);
        match merge.merge.get_or_init(|| merge.make(lower)) {
            // SAFETY: the function has the signature that `Merging::lower` gives it, which is that
            // of `MergeFn`: two tables and a number of elements in, nothing out, the C calling
            // convention.
            Ok(made) => Ok(unsafe { std::mem::transmute::<*const u8, MergeFn>(made.address) }),
            Err(error) => Err(error.to_string()),
        }
    }

    pub(crate) fn apply(&self, number: u32) -> Result<ApplyFn, String> {
        let merge = self.get(number)?;
        let lower = |module: &mut dyn Module| merge.merging.lower_apply(module);
        match merge.apply.get_or_init(|| merge.make(lower)) {
            // SAFETY: the function has the signature that `Merging::lower_apply` gives it, which is
            // that of `ApplyFn`: three tables and a number of elements in, nothing out, the C
            // calling convention.
            Ok(made) => Ok(unsafe { std::mem::transmute::<*const u8, ApplyFn>(made.address) }),
            Err(error) => Err(error.to_string()),
        }
    }
}
