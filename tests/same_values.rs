//! Updates of which all bring the same value are sorted by their keys alone: results are those of
//! plain loops.

use strew::{Compiler, Kernel, Oob};

const SOURCE: &str = "
void count(int64_t n, int32_t m, const int32_t key[n], uint32_t h[m]) {
  for (int64_t i = 0; i < n; i++) h[key[i]]++;
}
void halves(int64_t n, int32_t m, const int32_t key[n], double s[m]) {
  for (int64_t i = 0; i < n; i++) { s[key[i]] += 0.5; if (key[i] > 3) s[key[i] - 1] += 0.5; }
}
void bytes(int64_t n, int32_t m, const int32_t key[n], uint8_t h[m]) {
  for (int64_t i = 0; i < n; i++) h[key[i]] += 3;
}
void several(int64_t n, int32_t m, const int32_t key[n], int32_t h[m]) {
  for (int64_t i = 0; i < n; i++) { h[key[i]] += 1; h[m - 1 - key[i]] += 100; }
}
void both(int64_t n, int32_t m, const int32_t key[n], const double w[n], int16_t h[m], double s[m]) {
  for (int64_t i = 0; i < n; i++) { h[key[i]] += 2; s[key[i]] += w[i]; }
}
void limited(int64_t n, int32_t m, const int32_t key[n], uint8_t h[m]) {
  for (int64_t i = 0; i < n; i++) if (h[key[i]] < 255) h[key[i]] += 1;
}";

/// One element, some in the middle of a range, the ends of blocks of 2¹⁶ elements, and several of
/// those.
const SIZES: [usize; 5] = [1, 1000, 65_536, 65_537, 300_000];

fn keys(count: usize, below: usize) -> Vec<i32> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005);
        state = state.wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as usize % below) as i32
    };
    (0..count).map(|_| next()).collect()
}

/// Calls `check` with the kernel `name` by each of some strategies that sort, on one thread and
/// more.
fn by_sorting(name: &str, strategies: &[&str], check: impl Fn(&Kernel, &[i32], usize)) {
    for strategy in strategies {
        let compiler = Compiler::new().strategy(strategy.parse().expect("a strategy"));
        let program = compiler.compile("k.c", SOURCE).expect("a program");
        let kernel = program.kernel(name).expect("a kernel");
        for (size, threads) in SIZES.into_iter().zip([1, 2, 3, 2, 16]) {
            let kernel = kernel.clone().threads(threads);
            for count in [0, 1, 31, 33, 100_000] {
                check(&kernel, &keys(count, size), size);
            }
        }
    }
}

/// The kernel `name`, whose output begins with the first of `values`, leaves in it what `update`
/// does for each key.
fn agrees<T>(name: &str, values: impl Fn(usize) -> T, update: impl Fn(&mut [T], usize))
where
    T: strew::ArrayElement + Clone + PartialEq + std::fmt::Debug,
{
    by_sorting(name, &["binned", "planned"], |kernel, keys, size| {
        let mut expected: Vec<T> = (0..size).map(&values).collect();
        let mut found = expected.clone();
        keys.iter()
            .for_each(|key| update(&mut expected, *key as usize));
        let call = kernel.bind().array("key", keys);
        let output = if name == "halves" { "s" } else { "h" };
        call.array_mut(output, &mut found).run().expect("a run");
        assert!(found == expected, "{name} with {size} elements");
    });
}

#[test]
fn counts() {
    agrees("count", |it| it as u32, |h, key| h[key] += 1);
}

#[test]
fn several_statements_that_bring_the_same() {
    agrees(
        "halves",
        |it| it as f64 / 3.0,
        |s, key| {
            s[key] += 0.5;
            if key > 3 {
                s[key - 1] += 0.5;
            }
        },
    );
}

#[test]
fn bytes_wrap() {
    let update = |h: &mut [u8], key: usize| h[key] = h[key].wrapping_add(3);
    agrees("bytes", |it| it as u8, update);
}

#[test]
fn counters_with_a_limit() {
    let update = |h: &mut [u8], key: usize| h[key] = h[key].saturating_add(1);
    agrees("limited", |it| it as u8, update);
}

#[test]
fn several_statements_that_do_not() {
    let update = |h: &mut [i32], key: usize| {
        h[key] += 1;
        let last = h.len() - 1;
        h[last - key] += 100;
    };
    agrees("several", |it| it as i32, update);
}

#[test]
fn beside_an_output_with_values() {
    by_sorting("both", &["binned", "planned"], |kernel, keys, size| {
        let w: Vec<f64> = keys.iter().map(|key| f64::from(*key) / 7.0).collect();
        let (mut h, mut s) = (vec![1_i16; size], vec![0.1; size]);
        let (mut counts, mut sums) = (h.clone(), s.clone());
        for (key, w) in keys.iter().zip(&w) {
            let count = &mut counts[*key as usize];
            *count = count.wrapping_add(2);
            sums[*key as usize] += w;
        }
        let call = kernel.bind().array("key", keys).array("w", &w);
        let call = call.array_mut("h", &mut h).array_mut("s", &mut s);
        call.run().expect("a run");
        assert!((h, s) == (counts, sums), "{size} elements");
    });
}

#[test]
fn keys_out_of_range_are_skipped() {
    // What is skipped could change from one run to the next, so nothing is planned.
    by_sorting("count", &["binned"], |kernel, keys, size| {
        let beyond: Vec<i32> = keys.iter().map(|key| key * 2).collect();
        let mut expected = vec![5_u32; size];
        for key in beyond.iter().filter(|key| (**key as usize) < size) {
            expected[*key as usize] += 1;
        }
        let mut found = vec![5_u32; size];
        let kernel = kernel.clone().oob(Oob::Skip);
        let call = kernel.bind().array("key", &beyond);
        call.array_mut("h", &mut found).run().expect("a run");
        assert!(found == expected, "{size} elements");
    });
}
