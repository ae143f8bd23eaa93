//! On which processor a thread runs.
//!
//! Linux at times wakes a thread on the processor of the one that woke it, though others are idle, and moves it milliseconds later. A
//! helper there keeps whom it is to help from running.

/// A processor, by the system's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Processor(usize);

#[cfg(target_os = "linux")]
impl Processor {
    /// Where this thread runs now, if the system tells.
    pub(crate) fn of_this_thread() -> Option<Self> {
        // SAFETY: it has no arguments, and gives a number.
        let number = unsafe { libc::sched_getcpu() };
        usize::try_from(number).ok().map(Self)
    }

    /// Moves this thread to another processor of those that it may run on, if there are any.
    pub(crate) fn leave(self) {
        // SAFETY: a set of processors is a table of bits, and may be all zeros.
        let mut allowed: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        let size = size_of::<libc::cpu_set_t>();
        // SAFETY: the set has the size that the system is told; 0 is this thread.
        let is_known = unsafe { libc::sched_getaffinity(0, size, &raw mut allowed) } == 0;
        if !is_known || self.0 >= 8 * size {
            return;
        }
        let mut others = allowed;
        // SAFETY: the number is within the set.
        unsafe { libc::CPU_CLR(self.0, &mut others) };
        // Nothing comes of a set without processors but a refusal.
        // SAFETY: as above; the set is only read.
        unsafe {
            libc::sched_setaffinity(0, size, &raw const others);
            libc::sched_setaffinity(0, size, &raw const allowed);
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Processor {
    /// Where this thread runs is not known.
    pub(crate) fn of_this_thread() -> Option<Self> {
        None
    }

    /// Does nothing.
    pub(crate) fn leave(self) {}
}

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
        Processor::of_this_thread().unwrap().leave();
        Processor(usize::MAX).leave();
        assert!(before.is_some());
        assert_eq!(list(allowed()), before);
    }
}
