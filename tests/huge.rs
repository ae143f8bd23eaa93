//! More elements than 32 bits can number. What nobody touches of them is no memory.

use strew::{Compiler, Error, Kernel, Mode};

const ELEMENTS: usize = (1 << 31) + 12_345;

const SCATTER: &str = "
void scatter(int64_t n, int64_t m, const int64_t key[n], uint8_t out[m]) {
  for (int64_t i = 0; i < n; i++)
    out[key[i]]++;
}
void strided(int64_t n, int64_t m, int64_t step, uint8_t out[m]) {
  for (int64_t i = 0; i < n; i++)
    out[i * step] += 3;
}
";

fn kernel(name: &str) -> Kernel {
    let program = Compiler::new().compile("huge.c", SCATTER);
    program.expect("a program").kernel(name).expect("a kernel")
}

/// Whether there is memory for the elements, twice: a copy is kept where it may have to be put
/// back.
#[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
fn is_possible() -> bool {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = meminfo
        .lines()
        .find_map(|it| it.strip_prefix("MemAvailable:"));
    let kibibytes = line.and_then(|it| it.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    let is_possible = kibibytes.is_some_and(|it| it >= 9 << 20);
    if !is_possible {
        eprintln!("skipped: too little memory for 2^31 elements");
    }
    is_possible
}

/// Keys at both ends, and around the largest number of 31 and 32 bits.
fn keys() -> Vec<i64> {
    let last = ELEMENTS as i64 - 1;
    let places = [0, 1, (1 << 31) - 1, 1 << 31, (1 << 31) + 1, last - 1, last];
    let spread = (0..20_000_i64).map(|it| (it * 107_377) % ELEMENTS as i64);
    places.into_iter().chain(spread).chain(places).collect()
}

#[test]
fn more_than_two_to_the_31_elements_are_scattered_to() {
    if !is_possible() {
        return;
    }
    let key = keys();
    let mut expected = std::collections::BTreeMap::<i64, u8>::new();
    for key in &key {
        *expected.entry(*key).or_default() += 1;
    }
    let mut out = vec![0_u8; ELEMENTS];
    let scatter = kernel("scatter").threads(2).memory(3 << 30);
    // All that need no whole copy.
    for strategy in [
        "auto", "serial", "binned", "planned", "apart", "colored", "blocked", "atomic",
    ] {
        let strategy = strategy.parse().expect("a strategy");
        let kernel = scatter.clone().strategy(strategy).mode(Mode::Fast);
        let call = kernel.bind().array("key", &key).array_mut("out", &mut out);
        call.run().expect("a call");
        for (key, count) in &expected {
            let found = std::mem::take(&mut out[*key as usize]);
            assert_eq!(found, *count, "{strategy}: {key}");
        }
    }
    // Private copies would be beyond the budget.
    let dense = scatter.strategy("dense".parse().expect("a strategy"));
    let call = dense.bind().array("key", &key).array_mut("out", &mut out);
    assert!(matches!(call.run(), Err(Error::Failure(_))));
    // An index beyond them is told as it is.
    let wild = [5_i64, 1 << 40];
    let scatter = kernel("scatter");
    let call = scatter
        .bind()
        .array("key", &wild)
        .array_mut("out", &mut out);
    let message = call.run().expect_err("a fault").to_string();
    assert!(message.contains("index 1099511627776"), "{message}");
    assert_eq!(out[5], 0);
    affine_places(&mut out);
}

/// Places that are a product of 64-bit numbers.
#[track_caller]
fn affine_places(out: &mut [u8]) {
    let step = (1_i64 << 30) + 6000;
    let strided = kernel("strided").bind().scalar("n", 3_i64);
    let call = strided.scalar("step", step).array_mut("out", &mut *out);
    call.run().expect("a call");
    for turn in 0..3 {
        assert_eq!(out[turn * step as usize], 3);
    }
}
