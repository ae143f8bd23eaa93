//! The merge functions of a kernel, each compiled when a run first merges with it: most runs never do.

use crate::CompileError;
use crate::isa::Target;
use crate::loaded::{Loaded, guarded, load, module};
use crate::lower::{LoweredMerge, Merging};
use std::fmt;
use std::sync::OnceLock;
use strew_runtime::abi::{self, MergeFn};

/// All of them, by number.
#[derive(Debug)]
pub(crate) struct Merges(Vec<Merge>);

struct Merge {
    merging: Merging,
    target: Target,
    made: OnceLock<Result<Loaded, CompileError>>,
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
            made: OnceLock::new(),
        };
        Self(merges.into_iter().map(merge).collect())
    }
}

impl Merge {
    fn make(&self) -> Result<Loaded, CompileError> {
        guarded(|| {
            let LoweredMerge {
                module,
                id,
                function,
            } = self.merging.lower(module(self.target)?)?;
            load(module, vec![function], id, self.target)
        })
    }
}

impl abi::Merges for Merges {
    fn merge(&self, number: u32) -> Result<MergeFn, String> {
        let merge = usize::try_from(number).ok().and_then(|it| self.0.get(it));
        let Some(merge) = merge else {
            return Err(format!("the kernel has no merge function {number}"));
        };
        match merge.made.get_or_init(|| merge.make()) {
            // SAFETY: the function has the signature that `Merging::lower` gives it, which is that of `MergeFn`: two tables and a
            // number of elements in, nothing out, the C calling convention.
            Ok(made) => Ok(unsafe { std::mem::transmute::<*const u8, MergeFn>(made.address) }),
            Err(error) => Err(error.to_string()),
        }
    }
}
