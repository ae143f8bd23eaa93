//! On which processor a thread runs.
//!
//! Linux at times wakes a thread on the processor of the one that woke it, or moves it there,
//! though others are idle, and moves it away milliseconds later. A helper there keeps whom it is to
//! help from running.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A processor that somebody works on, by the system's number, so that others can keep away from
/// it.
#[derive(Debug)]
pub(crate) struct Occupied(AtomicUsize);

/// No processor.
const NONE: usize = usize::MAX;

impl Default for Occupied {
    fn default() -> Self {
        Self(AtomicUsize::new(NONE))
    }
}

impl Occupied {
    /// It is the one that this thread runs on now.
    pub(crate) fn by_this_thread(&self) {
        let here = here().unwrap_or(NONE);
        if self.0.load(Ordering::Relaxed) != here {
            self.0.store(here, Ordering::Relaxed);
        }
    }

    /// Moves this thread to another processor of those that it may run on, if it runs on this one
    /// and there are any.
    pub(crate) fn keep_away(&self) {
        let occupied = self.0.load(Ordering::Relaxed);
        if here() == Some(occupied) {
            leave(occupied);
        }
    }
}

/// Where this thread runs, if the system tells.
#[cfg(target_os = "linux")]
fn here() -> Option<usize> {
    // SAFETY: it has no arguments, and gives a number.
    let number = unsafe { libc::sched_getcpu() };
    usize::try_from(number).ok()
}

#[cfg(target_os = "linux")]
fn leave(processor: usize) {
    // SAFETY: a set of processors is a table of bits, and may be all zeros.
    let mut allowed: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let size = size_of::<libc::cpu_set_t>();
    // SAFETY: the set has the size that the system is told; 0 is this thread.
    let is_known = unsafe { libc::sched_getaffinity(0, size, &raw mut allowed) } == 0;
    if !is_known || processor >= 8 * size {
        return;
    }
    let mut others = allowed;
    // SAFETY: the number is within the set.
    unsafe { libc::CPU_CLR(processor, &mut others) };
    // SAFETY: the set is only read.
    if unsafe { libc::CPU_COUNT(&others) } == 0 {
        return;
    }
    // SAFETY: as above; the set is only read.
    unsafe {
        libc::sched_setaffinity(0, size, &raw const others);
        libc::sched_setaffinity(0, size, &raw const allowed);
    }
}

/// Nobody tells.
#[cfg(not(target_os = "linux"))]
fn here() -> Option<usize> {
    None
}

#[cfg(not(target_os = "linux"))]
fn leave(_processor: usize) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_may_run_where_it_could_before() {
        let allowed = || std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let list = |status: String| {
            let mut lines = status.lines().map(str::to_owned);
            lines.find(|it| it.starts_with("Cpus_allowed_list"))
        };
        let before = list(allowed());
        let occupied = Occupied::default();
        occupied.keep_away();
        occupied.by_this_thread();
        occupied.keep_away();
        leave(usize::MAX);
        assert!(before.is_some());
        assert_eq!(list(allowed()), before);
    }
}
