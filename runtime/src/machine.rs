//! What the processor's caches hold, and what work costs on it.

use std::path::Path;
use std::sync::OnceLock;

/// Where Linux tells of the caches of the first processor.
const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";

/// The sizes of the caches that one thread works with, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caches {
    /// Of the first cache for data.
    pub first: u64,
    /// Of the second cache.
    pub second: u64,
    /// Of the largest cache, which processors share.
    pub last: u64,
}

impl Caches {
    /// Those of a server processor, where the system does not say.
    pub(crate) const USUAL: Self = Self {
        first: 32 << 10,
        second: 1 << 20,
        last: 32 << 20,
    };

    /// Those of this machine; looked at once.
    pub fn of_this_machine() -> Self {
        static SEEN: OnceLock<Caches> = OnceLock::new();
        *SEEN.get_or_init(|| Self::read(Path::new(CACHES)))
    }

    /// Those that a folder as `/sys/devices/system/cpu/cpu0/cache` tells of; what it leaves out is
    /// taken to be as usual, and no cache smaller than the one before it.
    fn read(folder: &Path) -> Self {
        let size = |level: u64| {
            let found = (0..16).map(|number| folder.join(format!("index{number}")));
            found.filter_map(|it| size_at(&it, level)).max()
        };
        let first = size(1).unwrap_or(Self::USUAL.first);
        let second = size(2).unwrap_or(Self::USUAL.second).max(first);
        // A machine without a third cache has its second one as the last.
        let last = match (size(4).or(size(3)), size(2)) {
            (Some(last), _) => last,
            (None, Some(second)) => second,
            (None, None) => Self::USUAL.last,
        };
        Self {
            first,
            second,
            last: last.max(second),
        }
    }
}

/// The bytes of the cache that `folder` tells of, if it is of this level and holds data.
fn size_at(folder: &Path, level: u64) -> Option<u64> {
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let is_level = text("level")?.trim().parse() == Ok(level);
    let holds_data = text("type")?.trim() != "Instruction";
    let bytes = bytes_in(text("size")?.trim())?;
    (is_level && holds_data && bytes > 0).then_some(bytes)
}

/// `48K` in bytes.
fn bytes_in(size: &str) -> Option<u64> {
    let (digits, unit) = match size.strip_suffix('K') {
        Some(digits) => (digits, 1 << 10),
        None => match size.strip_suffix('M') {
            Some(digits) => (digits, 1 << 20),
            None => (size, 1),
        },
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// For so many sizes of outputs there is a cost of a cache line of them.
pub const LINES: usize = 10;

/// What work costs, in nanoseconds. These numbers choose among strategies that give the same bits;
/// their ratios matter. The default ones also tell how many updates a wait for what is read is
/// worth where that settles how updates are grouped: other defaults are other bits in mode
/// `stable`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// An update of an element that is in a near cache, its key and its value read from memory.
    pub update: f64,
    /// The same, more for one that waits for the update before it.
    pub wait: f64,
    /// The same, more for one in a register.
    pub run: f64,
    /// What it takes to get a cache line of outputs, for outputs of a quarter of the second cache
    /// and for each size twice as large.
    pub lines: [f64; LINES],
    /// To sort an update and to apply it, wherever it goes.
    pub sort: f64,
    /// To fill and to merge an element of one group.
    pub merge: f64,
    /// To wake threads and to wait for them, twice.
    pub share: f64,
}

impl Default for Calibration {
    /// Between what was measured on two server processors of 2023, by AMD and by Intel.
    fn default() -> Self {
        Self {
            update: 1.0,
            wait: 1.6,
            run: 0.2,
            lines: [0.2, 0.4, 1.0, 1.5, 2.0, 3.4, 6.0, 8.4, 11.6, 14.4],
            sort: 5.0,
            merge: 0.5,
            share: 40_000.0,
        }
    }
}

impl Calibration {
    /// Whether these can be costs: numbers, none of them negative.
    pub fn is_sound(&self) -> bool {
        let each = [
            self.update,
            self.wait,
            self.run,
            self.sort,
            self.merge,
            self.share,
        ];
        let mut all = each.into_iter().chain(self.lines);
        all.all(|it| it.is_finite() && it >= 0.0)
    }
}

/// What strategies are chosen by besides the loop and its keys. It never settles the order of
/// combination where that decides bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// The caches of a thread.
    pub caches: Caches,
    /// What work costs.
    pub costs: Calibration,
}

impl Default for Machine {
    /// The caches of this machine, and usual costs.
    fn default() -> Self {
        Self {
            caches: Caches::of_this_machine(),
            costs: Calibration::default(),
        }
    }
}

impl Machine {
    /// What it takes to get a cache line of outputs of `bytes` bytes: between the sizes for which
    /// it is known in a straight line over their logarithms.
    pub(crate) fn line(&self, bytes: u64) -> f64 {
        let least = (self.caches.second / 4).max(1) as f64;
        let at = (bytes.max(1) as f64 / least).log2();
        let at = at.clamp(0.0, (LINES - 1) as f64);
        let below = at.floor();
        let get = |number: f64| self.costs.lines.get(number as usize).copied();
        let (low, high) = (get(below), get(at.ceil()));
        let (low, high) = (low.unwrap_or_default(), high.unwrap_or_default());
        low + (at - below) * (high - low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that tells of caches, each a level, a type and a size.
    fn folder(name: &str, caches: &[(&str, &str, &str)]) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("strew-{name}-{}", std::process::id()));
        for (number, (level, kind, size)) in caches.iter().enumerate() {
            let index = folder.join(format!("index{number}"));
            std::fs::create_dir_all(&index).unwrap();
            for (file, text) in [("level", level), ("type", kind), ("size", size)] {
                std::fs::write(index.join(file), format!("{text}\n")).unwrap();
            }
        }
        folder
    }

    fn read(name: &str, caches: &[(&str, &str, &str)]) -> (u64, u64, u64) {
        let folder = folder(name, caches);
        let Caches {
            first,
            second,
            last,
        } = Caches::read(&folder);
        // There is none where no cache was told of.
        let _ = std::fs::remove_dir_all(folder);
        (first, second, last)
    }

    #[test]
    fn caches_for_data_are_read_by_level() {
        let caches = [
            ("1", "Data", "48K"),
            ("1", "Instruction", "64K"),
            ("2", "Unified", "2048K"),
            ("3", "Unified", "32M"),
        ];
        assert_eq!(read("levels", &caches), (48 << 10, 2 << 20, 32 << 20));
    }

    #[test]
    fn what_is_not_told_is_as_usual() {
        let usual = Caches::USUAL;
        assert_eq!(read("none", &[]), (usual.first, usual.second, usual.last));
        let odd = [
            ("1", "Data", "zero"),
            ("x", "Unified", "1K"),
            ("2", "Unified", "99999999999999999999K"),
            ("3", "Unified", "0K"),
        ];
        assert_eq!(read("odd", &odd), (usual.first, usual.second, usual.last));
    }

    #[test]
    fn no_cache_is_smaller_than_the_one_before() {
        let two = [("1", "Data", "64K"), ("2", "Unified", "512K")];
        assert_eq!(read("two", &two), (64 << 10, 512 << 10, 512 << 10));
        let odd = [
            ("1", "Data", "4M"),
            ("2", "Unified", "1M"),
            ("3", "Unified", "2M"),
        ];
        assert_eq!(read("rising", &odd), (4 << 20, 4 << 20, 4 << 20));
    }

    #[test]
    fn this_machine_has_caches() {
        let caches = Caches::of_this_machine();
        assert!(caches.first > 0 && caches.second >= caches.first && caches.last >= caches.second);
    }

    #[test]
    fn lines_cost_more_the_more_bytes_there_are() {
        let machine = Machine {
            caches: Caches {
                first: 48 << 10,
                second: 2 << 20,
                last: 32 << 20,
            },
            costs: Calibration::default(),
        };
        let lines = machine.costs.lines;
        assert_eq!(machine.line(0), lines[0]);
        assert_eq!(machine.line(1 << 19), lines[0]);
        assert_eq!(machine.line(1 << 22), lines[3]);
        assert_eq!(machine.line(u64::MAX), lines[LINES - 1]);
        let sizes: Vec<f64> = (1..400).map(|it| machine.line(it << 20)).collect();
        assert!(sizes.is_sorted());
    }

    #[test]
    fn with_a_smaller_second_cache_lines_cost_more_earlier() {
        let mut machine = Machine::default();
        machine.caches.second = 1 << 20;
        let small = machine.line(4 << 20);
        machine.caches.second = 4 << 20;
        assert!(small > machine.line(4 << 20));
        machine.caches.second = 0;
        assert_eq!(machine.line(4 << 20), machine.costs.lines[LINES - 1]);
    }

    #[test]
    fn costs_are_numbers_from_zero() {
        let usual = Calibration::default();
        assert!(usual.is_sound());
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(
                !Calibration {
                    merge: bad,
                    ..usual
                }
                .is_sound()
            );
            let mut lines = usual.lines;
            lines[3] = bad;
            assert!(!Calibration { lines, ..usual }.is_sound());
        }
    }
}
