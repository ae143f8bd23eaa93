//! Code for the sizes that calls bring: rows of eight columns need no loop over them.
//!
//! Only what bounds innermost loops counts, and only small values of it: there the instructions of
//! the loop weigh as much as what it does. To make such code takes time, so it is made when calls
//! with the same values have taken much longer than that. It computes what the code for all sizes
//! does, bit by bit: the kernel is the same but for numbers in bounds and extents, and code that
//! would be run in another way is not used.

use crate::compiled::{Code, Forms, Specialize};
use crate::facts::Facts;
use crate::form::Form;
use crate::lower::Conduct;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use strew_affine::known_sizes::with_sizes;
use strew_affine::verify::verify;
use strew_affine::visit::{Loop, has_loops, walk};
use strew_affine::{Kernel, ScalarId, Variable};

/// Loops with more turns take little of their time for anything but these.
const MOST_TURNS: i64 = 32;

/// Calls with the same values take so many times as long as to make code before it is made for
/// them: where it saves a quarter of the time, as with rows of sixteen floats, half as many calls
/// more make up for it.
const WORTH_IT: u32 = 8;

/// Code is made for so many values at most. It is never dropped: plans know code by its address.
const MOST_VERSIONS: usize = 8;

/// The time of calls is kept for so many values.
const MOST_WATCHED: usize = 32;

/// Memory is read no faster than this many bytes a nanosecond, so a call that goes through its
/// arrays once takes longer.
const BYTES_PER_NANOSECOND: u64 = 16;

/// Those of a kernel.
#[derive(Debug)]
pub(crate) struct Versions {
    /// What bounds innermost loops.
    sizes: BTreeSet<ScalarId>,
    found: Mutex<Vec<Arc<Version>>>,
    /// For how many values code was made.
    made: Arc<AtomicUsize>,
}

/// Code for some values, once it is worth it.
#[derive(Debug)]
pub(crate) struct Version {
    values: BTreeMap<ScalarId, i64>,
    /// What calls with these values have taken, in nanoseconds.
    spent: AtomicU64,
    /// Whether somebody makes the code, or has made it.
    is_made: AtomicBool,
    /// Nothing where it would be run in another way than the code for all sizes.
    forms: OnceLock<Option<Forms>>,
    made: Arc<AtomicUsize>,
}

impl Versions {
    pub(crate) fn of(kernel: &Kernel) -> Self {
        let mut sizes = BTreeSet::new();
        walk(&kernel.body, &mut |node, _| {
            if let Some(Loop::Affine(inner)) = Loop::of(node)
                && !has_loops(&inner.body)
            {
                let ends = inner.bounds();
                for end in ends.filter(|it| it.is_over_parameters()) {
                    end.for_each_variable(&mut |variable| {
                        if let Variable::Param(scalar) = variable {
                            sizes.insert(scalar);
                        }
                    });
                }
            }
        });
        Self {
            sizes,
            found: Mutex::default(),
            made: Arc::default(),
        }
    }

    /// The version for calls with these sizes, of arrays with so many bytes; `None` where no size
    /// is small.
    pub(crate) fn find(
        &self,
        value_of: impl Fn(ScalarId) -> Option<i64>,
        bytes: u64,
    ) -> Option<Arc<Version>> {
        let values = self.sizes.iter().filter_map(|scalar| {
            let value = value_of(*scalar).filter(|it| (1..=MOST_TURNS).contains(it))?;
            Some((*scalar, value))
        });
        let values: BTreeMap<_, _> = values.collect();
        if values.is_empty() {
            return None;
        }
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = found.iter().find(|it| it.values == values) {
            return Some(Arc::clone(known));
        }
        if found.len() >= MOST_WATCHED
            && let Some(oldest) = found
                .iter()
                .position(|it| !it.is_made.load(Ordering::Relaxed))
        {
            found.remove(oldest);
        }
        let new = Arc::new(Version {
            values,
            spent: AtomicU64::new(bytes / BYTES_PER_NANOSECOND),
            is_made: AtomicBool::new(false),
            forms: OnceLock::new(),
            made: Arc::clone(&self.made),
        });
        found.push(Arc::clone(&new));
        Some(new)
    }
}

impl Version {
    /// Its code in `form`, if it is there or worth it beside that for all sizes, and could be made.
    /// Who comes while the first of it is made does without; other forms are made when they are
    /// first needed.
    pub(crate) fn code(&self, general: &Forms, form: Form) -> Option<(&Forms, &Code)> {
        if self.forms.get().is_none() && self.is_wanted(general) {
            let made = self.make(general, form);
            // Only who has set `is_made` comes here.
            let _ = self.forms.set(made);
        }
        let forms = self.forms.get()?.as_ref()?;
        Some((forms, forms.code(form).ok()?))
    }

    /// Whether to make the code, and nobody else does.
    fn is_wanted(&self, general: &Forms) -> bool {
        let is_worth_it = match general.options.specialize {
            Specialize::WhenWorthIt => {
                let worth_it = general.cost().saturating_mul(WORTH_IT).as_nanos();
                u128::from(self.spent.load(Ordering::Relaxed)) >= worth_it
            }
            Specialize::Always => true,
            Specialize::Never => false,
        };
        is_worth_it
            && self.made.load(Ordering::Relaxed) < MOST_VERSIONS
            && !self.is_made.swap(true, Ordering::Relaxed)
            && self.made.fetch_add(1, Ordering::Relaxed) < MOST_VERSIONS
    }

    /// What it is for, by the names in `kernel`.
    pub(crate) fn sizes(&self, kernel: &Kernel) -> Vec<(String, i64)> {
        let named =
            |(scalar, value): (&ScalarId, &i64)| (kernel.scalars[*scalar].name.clone(), *value);
        self.values.iter().map(named).collect()
    }

    /// Whether it is of use to know how long calls take.
    pub(crate) fn is_watched(&self, general: &Forms) -> bool {
        general.options.specialize == Specialize::WhenWorthIt
            && !self.is_made.load(Ordering::Relaxed)
            && self.made.load(Ordering::Relaxed) < MOST_VERSIONS
    }

    /// Notes that a call took so long.
    pub(crate) fn took(&self, time: Duration) {
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.spent.fetch_add(time, Ordering::Relaxed);
    }

    fn make(&self, general: &Forms, form: Form) -> Option<Forms> {
        let kernel = with_sizes(&general.kernel, &self.values).ok()?;
        let kernel = verify(kernel).ok()?;
        let facts = Facts::with(&kernel, Arc::clone(general.facts.stays().clamped()));
        let forms = Forms::new(&kernel, facts, &general.options);
        // The order of combination follows from it.
        let [own, of_all] = [&forms, general].map(|it| Conduct::of(&it.kernel, &it.facts));
        // What is copied, and taken beforehand, is what the general code wants.
        let wants_more = forms.facts.wants_more_than(&general.facts);
        (own == of_all && !wants_more && forms.code(form).is_ok()).then_some(forms)
    }
}
