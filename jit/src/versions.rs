//! Code for the sizes that calls bring: rows of eight columns need no loop over them.
//!
//! Only what bounds innermost loops counts, and only small values of it: there the instructions of the loop weigh as much as what it
//! does. To make such code takes time, so it is made when calls with the same values have taken much longer than that. It computes what
//! the code for all sizes does, bit by bit, since the kernel is the same but for the numbers in it.

use crate::compiled::{Forms, Specialize};
use crate::lower::how_foralls_are_run;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use strew_affine::known_values::with_values;
use strew_affine::verify::verify;
use strew_affine::visit::{Loop, has_loops, walk};
use strew_affine::{Kernel, ScalarId, Variable};

/// Loops with more turns take little of their time for anything but these.
const MOST_TURNS: i64 = 32;

/// Calls with the same values take so many times as long as to make code before it is made for them: where it saves a quarter of the time, as
/// with rows of sixteen floats, half as many calls more make up for it.
const WORTH_IT: u32 = 8;

/// So many are kept.
const MOST_VERSIONS: usize = 4;

/// Memory is read no faster than this many bytes a nanosecond, so a call that goes through its arrays once takes longer.
const BYTES_PER_NANOSECOND: u64 = 16;

/// The values that code is made for.
type Values = BTreeMap<ScalarId, i64>;

/// Those of a kernel.
#[derive(Debug)]
pub(crate) struct Versions {
    /// What bounds innermost loops.
    sizes: BTreeSet<ScalarId>,
    found: Mutex<Vec<Arc<Version>>>,
}

/// Code for some values, once it is worth it.
#[derive(Debug)]
pub(crate) struct Version {
    values: Values,
    /// What calls with these values have taken, in nanoseconds.
    spent: AtomicU64,
    /// Nothing where it would decide otherwise than the code for all sizes how to run.
    forms: OnceLock<Option<Forms>>,
}

impl Versions {
    pub(crate) fn of(kernel: &Kernel) -> Self {
        let mut sizes = BTreeSet::new();
        walk(&kernel.body, &mut |node, _| {
            if let Some(Loop::Affine(inner)) = Loop::of(node)
                && !has_loops(&inner.body)
            {
                let ends = inner.lower.0.iter().chain(&inner.upper.0);
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
        }
    }

    /// The version for calls with these sizes, of arrays with so many bytes; `None` where no size is small.
    pub(crate) fn find(
        &self,
        value_of: impl Fn(ScalarId) -> Option<i64>,
        bytes: u64,
    ) -> Option<Arc<Version>> {
        let values = self.sizes.iter().filter_map(|scalar| {
            let value = value_of(*scalar).filter(|it| (1..=MOST_TURNS).contains(it))?;
            Some((*scalar, value))
        });
        let values: Values = values.collect();
        if values.is_empty() {
            return None;
        }
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = found.iter().find(|it| it.values == values) {
            return Some(Arc::clone(known));
        }
        if found.len() == MOST_VERSIONS {
            found.remove(0);
        }
        let new = Arc::new(Version {
            values,
            spent: AtomicU64::new(bytes / BYTES_PER_NANOSECOND),
            forms: OnceLock::new(),
        });
        found.push(Arc::clone(&new));
        Some(new)
    }
}

impl Version {
    /// Its code, if it is worth it beside that for all sizes.
    pub(crate) fn forms(&self, general: &Forms) -> Option<&Forms> {
        let is_wanted = self.forms.get().is_some()
            || match general.options.specialize {
                Specialize::WhenWorthIt => {
                    let worth_it = general.cost().saturating_mul(WORTH_IT).as_nanos();
                    u128::from(self.spent.load(Ordering::Relaxed)) >= worth_it
                }
                Specialize::Always => true,
                Specialize::Never => false,
            };
        if !is_wanted {
            return None;
        }
        let made = self.forms.get_or_init(|| self.make(general));
        made.as_ref()
    }

    /// What it is for, by the names in `kernel`.
    pub(crate) fn sizes(&self, kernel: &Kernel) -> Vec<(String, i64)> {
        let named =
            |(scalar, value): (&ScalarId, &i64)| (kernel.scalars[*scalar].name.clone(), *value);
        self.values.iter().map(named).collect()
    }

    /// Notes that a call took so long.
    pub(crate) fn took(&self, time: Duration) {
        if self.forms.get().is_none() {
            let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            self.spent.fetch_add(time, Ordering::Relaxed);
        }
    }

    fn make(&self, general: &Forms) -> Option<Forms> {
        let kernel = with_values(&general.kernel, &self.values)?;
        let forms = Forms::new(&verify(kernel).ok()?, &general.options);
        // The order of combination follows from how a forall is run.
        let [own, of_all] = [&forms, general].map(|it| how_foralls_are_run(&it.kernel, &it.facts));
        (own == of_all).then_some(forms)
    }
}
