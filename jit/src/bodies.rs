//! The bodies of foralls in other shapes than the one that comes with the kernel, compiled when a
//! run first needs them.

use crate::CompileError;
use crate::compiled::Options;
use crate::keys::key_slots;
use crate::loaded::{Loaded, guarded, load, module};
use crate::lower::{Request, lower_body};
use crate::merges::Merges;
use std::sync::{Arc, Mutex, PoisonError};
use strew_runtime::abi::{ApplyFn, BodyShape, ChunkFn, KeySlots, MergeFn, OnDemand};

/// Those that were made, by the number of the forall and the shape.
#[derive(Default)]
pub(crate) struct Bodies {
    made: Mutex<Vec<Body>>,
    /// What decides where the updates of a forall go, by its number: every call asks for it.
    keys: Mutex<Vec<(u32, Option<KeySlots>)>>,
}

struct Body {
    key: (u32, BodyShape),
    made: Arc<Result<Loaded, CompileError>>,
}

impl Bodies {
    /// Kept until `self` is dropped.
    fn get(
        &self,
        key: (u32, BodyShape),
        make: impl FnOnce() -> Result<Loaded, CompileError>,
    ) -> Arc<Result<Loaded, CompileError>> {
        let mut bodies = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let known = bodies.iter().find(|body| body.key == key);
        if let Some(body) = known {
            return Arc::clone(&body.made);
        }
        let made = Arc::new(make());
        bodies.push(Body {
            key,
            made: Arc::clone(&made),
        });
        made
    }

    fn keys(&self, number: u32, find: impl FnOnce() -> Option<KeySlots>) -> Option<KeySlots> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = keys.iter().find(|(it, _)| *it == number) {
            return known.clone();
        }
        let found = find();
        keys.push((number, found.clone()));
        found
    }
}

/// What a run may ask for besides the kernel's entry.
#[derive(Clone, Copy)]
pub(crate) struct Functions<'c> {
    pub(crate) request: Request<'c>,
    /// Of the kernel for all sizes.
    pub(crate) general: Request<'c>,
    pub(crate) options: Options,
    pub(crate) merges: &'c Merges,
    pub(crate) bodies: &'c Bodies,
}

impl std::fmt::Debug for Functions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Functions").finish_non_exhaustive()
    }
}

impl Functions<'_> {
    fn make(&self, key: (u32, BodyShape)) -> Result<Loaded, CompileError> {
        let target = self.options.target;
        guarded(|| {
            let mut module = module(target)?;
            let lowered = lower_body(&self.request, key, &mut module)?;
            load(module, lowered.functions, lowered.entry, target)
        })
    }
}

impl OnDemand for Functions<'_> {
    fn merge(&self, number: u32) -> Result<MergeFn, String> {
        self.merges.merge(number)
    }

    fn apply(&self, number: u32) -> Result<ApplyFn, String> {
        self.merges.apply(number)
    }

    fn body(&self, number: u32, shape: BodyShape) -> Result<ChunkFn, String> {
        let key = (number, shape);
        match &*self.bodies.get(key, || self.make(key)) {
            // SAFETY: the function has the signature that `Program::outline` gives it, which is
            // that of `ChunkFn`: three tables and two numbers in, a 32-bit status out, the C
            // calling convention. `bodies` keeps its code, and outlives the run.
            Ok(made) => Ok(unsafe { std::mem::transmute::<*const u8, ChunkFn>(made.address) }),
            Err(error) => Err(error.to_string()),
        }
    }

    fn keys(&self, number: u32) -> Option<KeySlots> {
        self.bodies
            .keys(number, || key_slots(&self.general, number))
    }
}
