//! Where updates go, kept from one run of a forall to the next.

use crate::abi::{Call, EntryFn, ForallCall, PrivateCall, Slot};
use crate::memory::lock;
use crate::strategy::Routes;
use std::sync::{Arc, Mutex};

/// Arrays that nobody changes, and where the updates go that follow from them. Clones share what
/// was found out.
///
/// A call that is given a plan, and whose keys lie in the arrays of the plan, sorts its updates by
/// their keys once; all later calls with the same scalars only move values. Within one call the
/// same happens by itself to a forall that runs again.
#[derive(Clone, Debug, Default)]
pub struct Plan(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    arrays: Vec<Slot>,
    known: Mutex<Vec<Known>>,
}

#[derive(Debug)]
struct Known {
    identity: Identity,
    /// `None` when it has run once, and nobody has looked where its updates go.
    routes: Option<Arc<Routes>>,
}

/// What decides where the updates of a forall go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    kernel: usize,
    forall: u64,
    count: i64,
    elements: Vec<u64>,
    sources: Vec<(u64, u64)>,
}

/// What is known of where the updates of a forall go.
#[derive(Debug)]
pub(crate) struct Planning<'p> {
    plan: &'p Plan,
    identity: Identity,
    /// Whether it pays to look, since they have gone there before or will again.
    pub(crate) pays: bool,
    pub(crate) routes: Option<Arc<Routes>>,
}

impl Plan {
    /// A plan for calls with the arrays at these addresses, of so many elements, which nobody
    /// changes while any clone of it is in use.
    pub fn new(arrays: Vec<Slot>) -> Self {
        Self(Arc::new(Inner {
            arrays,
            known: Mutex::default(),
        }))
    }

    /// How many bytes it holds.
    pub fn bytes(&self) -> u64 {
        let known = lock(&self.0.known);
        let routes = known.iter().filter_map(|it| it.routes.as_ref());
        routes.map(|it| it.bytes()).sum()
    }

    pub(crate) fn covers(&self, arrays: &[Slot]) -> bool {
        let is_own = |array: &Slot| {
            let mut own = self.0.arrays.iter();
            own.any(|it| {
                it.bits_or_address == array.bits_or_address && it.elements == array.elements
            })
        };
        arrays.iter().all(is_own)
    }

    /// What is known of the forall with this identity, which is about to run.
    pub(crate) fn recall(&self, identity: Identity, is_sure: bool) -> Planning<'_> {
        let mut known = lock(&self.0.known);
        let found = known.iter().find(|it| it.identity == identity);
        let pays = is_sure || found.is_some();
        let routes = found.and_then(|it| it.routes.clone());
        if found.is_none() {
            known.retain(|it| !it.identity.is_of_same_forall(&identity));
            known.push(Known {
                identity: identity.clone(),
                routes: None,
            });
        }
        Planning {
            plan: self,
            identity,
            pays,
            routes,
        }
    }
}

impl Planning<'_> {
    /// Keeps what was found out.
    pub(crate) fn keep(&self, routes: &Arc<Routes>) {
        let mut known = lock(&self.plan.0.known);
        let mut same = known.iter_mut();
        if let Some(known) = same.find(|it| it.identity == self.identity) {
            known.routes = Some(Arc::clone(routes));
        }
    }
}

impl Identity {
    /// That of a forall of the kernel `entry`, whose keys follow from `arrays` and `scalars`.
    pub(crate) fn new(
        entry: EntryFn,
        forall: &ForallCall,
        privates: &[PrivateCall],
        arrays: &[Slot],
        scalars: &[Slot],
    ) -> Self {
        let sources = arrays.iter().chain(scalars);
        let sizes = privates.iter();
        Self {
            kernel: entry as usize,
            forall: forall.body_number,
            count: forall.count,
            elements: sizes.map(|it| it.elements).collect(),
            sources: sources
                .map(|it| (it.bits_or_address, it.elements))
                .collect(),
        }
    }

    fn is_of_same_forall(&self, other: &Self) -> bool {
        (self.kernel, self.forall) == (other.kernel, other.forall)
    }
}

/// What a call has in these slots.
///
/// # Safety
/// `call` has so many slots.
pub(crate) unsafe fn slots(call: &Call, numbers: &[u32]) -> Vec<Slot> {
    let at = |number: &u32| {
        // SAFETY: the caller vouches for the slots.
        unsafe { *call.slots.add(*number as usize) }
    };
    numbers.iter().map(at).collect()
}
