//! How much memory is free, and advice on pages.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What is taken to be free where the system does not say.
const UNKNOWN: u64 = 4 << 30;

/// A look at the system takes some ten microseconds, too much for every call.
const FRESH_FOR: Duration = Duration::from_millis(100);

/// The size from which a buffer is laid out for huge pages, and their size.
pub(crate) const HUGE_PAGE: usize = 2 << 20;

/// How many bytes of memory programs may still take; seen at most a tenth of a second ago.
pub(crate) fn free_bytes() -> u64 {
    static SEEN: Mutex<Option<(Instant, u64)>> = Mutex::new(None);
    let mut seen = lock(&SEEN);
    match *seen {
        Some((when, bytes)) if when.elapsed() < FRESH_FOR => bytes,
        _ => {
            let bytes = look();
            *seen = Some((Instant::now(), bytes));
            bytes
        }
    }
}

/// What the system reports, and no more than the control group of the process leaves.
fn look() -> u64 {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let system = available_in(&meminfo).unwrap_or(UNKNOWN);
    system.min(left_in_control_group().unwrap_or(u64::MAX))
}

/// The line `MemAvailable:   1234 kB` in bytes.
fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

fn left_in_control_group() -> Option<u64> {
    let number = |file: &str| -> Option<u64> {
        let text = std::fs::read_to_string(file).ok()?;
        text.trim().parse().ok()
    };
    let most = number("/sys/fs/cgroup/memory.max")?;
    Some(most.saturating_sub(number("/sys/fs/cgroup/memory.current")?))
}

/// Locks `mutex`; a panic of another holder does not matter, since what it guards is valid between
/// any two statements.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What kind of pages a buffer is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pages {
    /// Huge ones, which saves most of the cost of touching them first.
    Huge,
    /// Small ones, so that what is not touched takes no memory.
    Small,
}

/// Asks for `pages` behind `bytes` bytes at `address`.
#[cfg(target_os = "linux")]
pub(crate) fn advise(address: *mut u8, bytes: usize, pages: Pages) {
    let advice = match pages {
        Pages::Huge => libc::MADV_HUGEPAGE,
        Pages::Small => libc::MADV_NOHUGEPAGE,
    };
    // SAFETY: the range was allocated by the caller, and the advice changes neither its contents
    // nor its protection. It may be turned down, which costs time only, so the result is of no
    // interest.
    unsafe {
        libc::madvise(address.cast(), bytes, advice);
    }
}

/// Other systems choose their pages themselves.
#[cfg(not(target_os = "linux"))]
pub(crate) fn advise(_address: *mut u8, _bytes: usize, _pages: Pages) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_read_in_bytes() {
        let meminfo = "MemTotal:  100 kB\nMemFree:  5 kB\nMemAvailable:     64 kB\n";
        assert_eq!(available_in(meminfo), Some(65536));
    }

    #[test]
    fn odd_reports_are_no_answer() {
        for meminfo in [
            "",
            "MemAvailable:",
            "MemAvailable: x kB",
            "MemAvailable: 5 MB",
            "MemAvailable: 18446744073709551615 kB",
        ] {
            assert_eq!(available_in(meminfo), None, "{meminfo:?}");
        }
    }

    #[test]
    fn some_memory_is_free() {
        assert!(free_bytes() > 0);
    }
}
