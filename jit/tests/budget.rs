//! Memory: what a call takes stays in its budget, as an allocator sees it that counts, and where
//! the system gives none there is an error.

use std::alloc::{GlobalAlloc, Layout, System};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use strew_affine::{Value, text, verify::verify};
use strew_jit::{Argument, ArrayMut, ArrayRef, CallError, Compiled, Faults, Options, compile};
use strew_runtime::{Choice, Failure, Mode, Runtime, STRATEGIES, Settings};

/// Counts the bytes that are allocated.
struct Counting {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Counting {
    fn grown(&self, bytes: usize) {
        let now = self.now.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.most.fetch_max(now, Ordering::Relaxed);
    }

    /// The largest number of bytes that `run` takes at a time.
    fn most_during(&self, run: impl FnOnce()) -> usize {
        let before = self.now.load(Ordering::Relaxed);
        self.most.store(before, Ordering::Relaxed);
        run();
        self.most.load(Ordering::Relaxed).saturating_sub(before)
    }
}

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps what the system's allocator asks for, here and below.
        let address = unsafe { System.alloc(layout) };
        if !address.is_null() {
            self.grown(layout.size());
        }
        address
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let address = unsafe { System.alloc_zeroed(layout) };
        if !address.is_null() {
            self.grown(layout.size());
        }
        address
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        self.now.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(address, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting {
    now: AtomicUsize::new(0),
    most: AtomicUsize::new(0),
};

/// What is counted is that of one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Lists of parts, tasks, and streams between a body and who takes its updates: a fixed amount,
/// whatever the sizes.
const BOOKKEEPING: usize = 512 << 10;

const SUM: &str = "kernel @sum(n: i64, m: i64, key: i32[n], x: f64[n], out: f64[m]) {
  scf.forall c in 0..8 private(p: f64[m] = identity(add)) merge(out reduce(add) p) strategy(auto) {
    affine.for i in (c * n) floordiv 8..(c * n + n) floordiv 8 { p[key[i]] reduce(add) x[i] }
  } }";

/// Reads what it updates, so that a copy has to be kept.
const IN_ORDER: &str = "kernel @walk(n: i64, m: i64, key: i32[n], x: f64[n], out: f64[m]) {
  alloc t: f64[m]
  affine.for i in 0..n { t[key[i]] = out[key[i]] + x[i] out[key[i]] = t[key[i]] * 0.5 } }";

fn compiled(source: &str) -> Compiled {
    let kernel = text::parse(source).expect("a kernel").remove(0);
    let kernel = verify(kernel).expect("a verified kernel");
    let options = Options {
        faults: Faults::Bare,
        ..Options::default()
    };
    compile(&kernel, &options).expect("machine code")
}

struct Arrays {
    key: Vec<i32>,
    x: Vec<f64>,
    out: Vec<f64>,
}

impl Arrays {
    fn new(n: usize, m: usize) -> Self {
        let mut state = 1_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(99);
            (state >> 33) as usize
        };
        Self {
            key: (0..n).map(|_| (next() % m.max(1)) as i32).collect(),
            x: (0..n).map(|_| 1.0).collect(),
            out: vec![0.0; m],
        }
    }

    fn call(&mut self, code: &Compiled, settings: &Settings) -> Result<u64, CallError> {
        let runtime = Runtime::new(NonZeroUsize::new(2)).expect("two threads");
        let size = |count: usize| Argument::Scalar(Value::i64(count as i64));
        let mut arguments = [
            size(self.key.len()),
            size(self.out.len()),
            Argument::Read(ArrayRef::new(&self.key)),
            Argument::Read(ArrayRef::new(&self.x)),
            Argument::Write(ArrayMut::new(&mut self.out)),
        ];
        let outcome = code.call_with_record(&runtime, settings, &mut arguments);
        outcome.map(|it| it.record.private_bytes)
    }
}

fn choices() -> Vec<Choice> {
    let named = STRATEGIES.into_iter().map(Choice::Named);
    std::iter::once(Choice::Auto).chain(named).collect()
}

/// Mode `fast` has copies of its own for `dense` alone.
fn modes(strategy: Choice) -> &'static [Mode] {
    match strategy.to_string().as_str() {
        "dense" => &[Mode::Stable, Mode::Fast],
        "atomic" => &[Mode::Fast],
        _ => &[Mode::Stable],
    }
}

#[test]
fn a_call_stays_in_its_budget() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut ran = 0;
    let mut refused = 0;
    for (source, sizes) in [
        (
            SUM,
            [(1 << 20, 1 << 20), (1 << 18, 3 << 20), (1 << 20, 70_000)],
        ),
        (IN_ORDER, [(1 << 18, 1 << 18), (1 << 20, 100), (1, 2 << 20)]),
    ] {
        let code = compiled(source);
        for (n, m) in sizes {
            let mut arrays = Arrays::new(n, m);
            for strategy in choices() {
                for mode in modes(strategy) {
                    let settings = |memory| Settings {
                        strategy,
                        mode: *mode,
                        memory: Some(memory),
                        ..Settings::default()
                    };
                    // The bodies that it needs are made now.
                    let _ = arrays.call(&code, &settings(1 << 30));
                    for budget in [0, 3 << 20, 20 << 20, 100 << 20] {
                        let mut outcome = Ok(0);
                        let most = COUNTING.most_during(|| {
                            outcome = arrays.call(&code, &settings(budget));
                        });
                        // It has addresses for more than it touches, which only those know who
                        // count pages.
                        if strategy.to_string() == "blocked" {
                            continue;
                        }
                        let what = format!("{strategy} {mode:?} {n} {m} {budget} {outcome:?}");
                        assert!(most <= budget as usize + BOOKKEEPING, "{what}: {most}");
                        match outcome {
                            Ok(bytes) => {
                                assert!(bytes <= budget, "{what}");
                                assert!(most <= bytes as usize + BOOKKEEPING, "{what}: {most}");
                                ran += 1;
                            }
                            Err(CallError::Failure(
                                Failure::OverBudget { .. } | Failure::Refused(_),
                            )) => refused += 1,
                            Err(other) => panic!("{what}: {other}"),
                        }
                    }
                }
            }
        }
    }
    assert!(ran > 50 && refused > 50, "{ran} {refused}");
}

/// The most memory that the process had in pages since its last reset, in bytes.
fn most_resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"))?;
    let kibibytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

#[test]
#[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
fn copies_of_what_is_touched_stay_in_the_budget() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let reset = || std::fs::write("/proc/self/clear_refs", "5");
    if reset().is_err() || most_resident().is_none() {
        eprintln!("skipped: the system does not say how much memory a process has");
        return;
    }
    let code = compiled(SUM);
    let mut arrays = Arrays::new(1 << 20, 32 << 20);
    // So many elements by turns, so far apart.
    let rising = (1 << 20, 32);
    let few = (32, 1 << 20);
    for ((count, distance), budget, fits) in [
        (rising, 8 << 20, false),
        (rising, 100 << 20, false),
        (rising, 300 << 20, true),
        (few, 8 << 20, true),
    ] {
        for (position, key) in arrays.key.iter_mut().enumerate() {
            *key = (position % count * distance) as i32;
        }
        let settings = Settings {
            strategy: "blocked".parse().expect("a strategy"),
            memory: Some(budget as u64),
            ..Settings::default()
        };
        let _ = arrays.call(&code, &settings);
        reset().expect("as above");
        let before = most_resident().expect("as above");
        let outcome = arrays.call(&code, &settings);
        let most = most_resident().expect("as above").saturating_sub(before);
        assert!(most <= budget + BOOKKEEPING, "{budget}: {most}");
        assert_eq!(outcome.is_ok(), fits, "{outcome:?}");
    }
}

/// A local array of `n` by `n` by `n` numbers.
const LOCAL: &str = "kernel @local(n: i64, out: f64[1]) {
  alloc t: f64[n, n, n] affine.for i in 0..n { t[i, 0, 0] = 1.0 out[0] = t[i, 0, 0] } }";

#[test]
fn absurd_sizes_and_budgets_are_errors() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let code = compiled(LOCAL);
    let runtime = Runtime::new(NonZeroUsize::new(2)).expect("two threads");
    for n in [1 << 15, 1 << 20, 2_097_151, i64::MAX] {
        for memory in [None, Some(1 << 20), Some(1 << 60), Some(u64::MAX)] {
            let settings = Settings {
                memory,
                ..Settings::default()
            };
            let mut out = [3.0];
            let mut arguments = [
                Argument::Scalar(Value::i64(n)),
                Argument::Write(ArrayMut::new(&mut out)),
            ];
            let outcome = code.call_with_record(&runtime, &settings, &mut arguments);
            let is_told = matches!(
                outcome,
                Err(CallError::Size { .. }
                    | CallError::Failure(Failure::OverBudget { .. } | Failure::OutOfMemory { .. }))
            );
            // A system may promise more than it has, and then the few pages that are touched are
            // there.
            let is_promised = n == 1 << 15 && memory > Some(1 << 40) && outcome.is_ok();
            assert!(is_told || is_promised, "{n} {memory:?} {outcome:?}");
            assert_eq!(out[0], if outcome.is_ok() { 1.0 } else { 3.0 });
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn where_the_system_gives_no_memory_there_is_an_error() {
    const NAME: &str = "where_the_system_gives_no_memory_there_is_an_error";
    const LIMITED: &str = "STREW_TEST_LIMITED";
    if std::env::var_os(LIMITED).is_some() {
        return without_memory();
    }
    let itself = std::env::current_exe().expect("the path of the test");
    let child = std::process::Command::new(itself)
        .args(["--exact", NAME])
        .env(LIMITED, "1")
        .output()
        .expect("the test starts again");
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

/// In a process of its own, which has hardly any memory left.
#[cfg(target_os = "linux")]
fn without_memory() {
    let code = compiled(SUM);
    let mut arrays = Arrays::new(1 << 16, 16 << 20);
    let settings = |strategy| Settings {
        strategy,
        memory: Some(u64::MAX),
        ..Settings::default()
    };
    for strategy in choices() {
        let _ = arrays.call(&code, &settings(strategy));
    }
    arrays.out.fill(0.5);
    let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux tells");
    let pages: u64 = pages
        .split(' ')
        .next()
        .and_then(|it| it.parse().ok())
        .expect("a number");
    let limit = libc::rlimit {
        rlim_cur: pages * 4096 + (64 << 20),
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the limit is a valid one, and it holds for this process alone.
    let status = unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) };
    assert_eq!(status, 0);
    let mut failed = 0;
    for strategy in choices() {
        match arrays.call(&code, &settings(strategy)) {
            Ok(_) => arrays.out.fill(0.5),
            Err(CallError::Failure(Failure::OutOfMemory { .. })) => failed += 1,
            Err(CallError::Failure(Failure::Refused(_))) => {}
            Err(other) => panic!("{strategy}: {other}"),
        }
        assert!(arrays.out.iter().all(|it| *it == 0.5), "{strategy}");
    }
    assert!(failed >= 2, "{failed} strategies had too little memory");
}
