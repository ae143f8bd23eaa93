//! Scatter kernels against what an expert writes by hand: serial rustc with and without range
//! checks, and rayon with one private buffer a thread.
//!
//! `cargo bench --bench serial` measures every variant with criterion, then runs all variants of
//! each cell by turns and prints ratios of paired medians. `-- --test` runs everything once on
//! little data.

use criterion::{BenchmarkId, Criterion, Throughput};
use rayon::prelude::*;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

const HISTOGRAM: &str = include_str!("../examples/kernels/histogram.c");
const WEIGHTED_SUM: &str = include_str!("../examples/kernels/weighted_sum.c");
const OUTPUTS: [usize; 4] = [1 << 8, 1 << 16, 1 << 20, 1 << 23];
const THREADS: usize = 2;

fn main() {
    let smoke = std::env::args().any(|argument| argument == "--test");
    let updates = if smoke { 1 << 16 } else { 1 << 24 };
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .configure_from_args();
    let mut cells = Vec::new();
    for order in [Order::Uniform, Order::Sorted, Order::Two] {
        for outputs in OUTPUTS {
            let keys = Arc::new(order.keys(updates, outputs));
            cells.push(histogram(order, keys.clone(), outputs));
            cells.push(weighted_sum(order, keys, outputs));
        }
    }
    for cell in &mut cells {
        cell.measure(&mut criterion, updates as u64);
    }
    print_ratios(&mut cells, updates, if smoke { 1 } else { 15 });
    print_limit(updates, if smoke { 1 } else { 15 });
    print_compile_times(if smoke { 2 } else { 200 });
    criterion.final_summary();
}

#[derive(Clone, Copy)]
enum Order {
    Uniform,
    Sorted,
    /// One of two elements.
    Two,
}

impl Order {
    fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Sorted => "sorted",
            Self::Two => "two",
        }
    }

    fn keys(self, updates: usize, outputs: usize) -> Vec<i32> {
        let mut state = 0x9E37_79B9_7F4A_7C15;
        let key = |position: usize| match self {
            Self::Uniform => ((random(&mut state) >> 32) * outputs as u64) >> 32,
            Self::Sorted => (position as u64 * outputs as u64) / updates as u64,
            Self::Two => (random(&mut state) >> 63) * (outputs as u64 / 2),
        };
        (0..updates).map(key).map(|key| key as i32).collect()
    }
}

/// splitmix64: the same stream on every machine.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// One run of a variant.
type Run = Box<dyn FnMut()>;

/// A kernel on one set of keys, with all the ways to run it.
struct Cell {
    name: String,
    variants: Vec<(&'static str, Run)>,
}

const VARIANTS: [&str; 5] = [
    "rustc checked",
    "rustc unchecked",
    "rayon",
    "strew serial",
    "strew parallel",
];

impl Cell {
    fn measure(&mut self, criterion: &mut Criterion, updates: u64) {
        let mut group = criterion.benchmark_group(&self.name);
        group.throughput(Throughput::Elements(updates));
        for (variant, run) in &mut self.variants {
            group.bench_function(BenchmarkId::from_parameter(variant), |bencher| {
                bencher.iter(&mut *run);
            });
        }
        group.finish();
    }

    /// Seconds of each variant in each round; the variants take turns, so a slow spell of the
    /// machine meets all of them.
    fn rounds(&mut self, rounds: usize) -> Vec<[f64; VARIANTS.len()]> {
        let mut round = || {
            let mut seconds = [0.0; VARIANTS.len()];
            for (slot, (_, run)) in seconds.iter_mut().zip(&mut self.variants) {
                let start = Instant::now();
                run();
                *slot = start.elapsed().as_secs_f64();
            }
            seconds
        };
        round();
        (0..rounds).map(|_| round()).collect()
    }
}

fn strew_kernel(source: &str, name: &str, strategy: &str, threads: usize) -> strew::Kernel {
    let compiler = strew::Compiler::new()
        .strategy(strategy.parse().expect("a strategy"))
        .threads(threads);
    let program = compiler.compile("bench.c", source).expect("a valid kernel");
    program.kernel(name).expect("a kernel of this name")
}

fn histogram(order: Order, keys: Arc<Vec<i32>>, outputs: usize) -> Cell {
    let buffer = || (keys.clone(), vec![0_i32; outputs]);
    let strew = |strategy, threads| {
        let kernel = strew_kernel(HISTOGRAM, "histogram", strategy, threads);
        let kernel = kernel
            .typed::<(i64, i32, &[i32], &mut [i32])>()
            .expect("the signature of the kernel");
        let (keys, mut out) = buffer();
        Box::new(move || {
            let sizes = (keys.len() as i64, out.len() as i32);
            let outcome = kernel.call((sizes.0, sizes.1, &keys, black_box(&mut out)));
            outcome.expect("keys in range");
        }) as Run
    };
    let rust = |run: fn(&[i32], &mut [i32])| {
        let (keys, mut out) = buffer();
        Box::new(move || run(&keys, black_box(&mut out))) as Run
    };
    cell(
        format!("histogram i32/{outputs}/{}", order.name()),
        [
            rust(|keys, out| keys.iter().for_each(|key| out[*key as usize] += 1)),
            rust(histogram_unchecked),
            rust(histogram_rayon),
            strew("serial", 1),
            strew("auto", THREADS),
        ],
    )
}

fn weighted_sum(order: Order, keys: Arc<Vec<i32>>, outputs: usize) -> Cell {
    let weights = Arc::new(weights(keys.len()));
    let buffer = || (keys.clone(), weights.clone(), vec![0.0_f64; outputs]);
    let strew = |strategy, threads| {
        let kernel = strew_kernel(WEIGHTED_SUM, "weighted_sum", strategy, threads);
        let kernel = kernel
            .typed::<(i64, i32, &[i32], &[f64], &mut [f64])>()
            .expect("the signature of the kernel");
        let (keys, weights, mut out) = buffer();
        Box::new(move || {
            let sizes = (keys.len() as i64, out.len() as i32);
            let outcome = kernel.call((sizes.0, sizes.1, &keys, &weights, black_box(&mut out)));
            outcome.expect("keys in range");
        }) as Run
    };
    let rust = |run: fn(&[i32], &[f64], &mut [f64])| {
        let (keys, weights, mut out) = buffer();
        Box::new(move || run(&keys, &weights, black_box(&mut out))) as Run
    };
    cell(
        format!("weighted sum f64/{outputs}/{}", order.name()),
        [
            rust(|keys, weights, out| {
                for (key, weight) in keys.iter().zip(weights) {
                    out[*key as usize] += weight;
                }
            }),
            rust(weighted_sum_unchecked),
            rust(weighted_sum_rayon),
            strew("serial", 1),
            strew("auto", THREADS),
        ],
    )
}

fn weights(count: usize) -> Vec<f64> {
    let mut state = 1;
    let weight = |_| (random(&mut state) >> 11) as f64 / (1_u64 << 53) as f64;
    (0..count).map(weight).collect()
}

fn cell(name: String, runs: [Run; VARIANTS.len()]) -> Cell {
    let variants = VARIANTS.into_iter().zip(runs).collect();
    Cell { name, variants }
}

fn histogram_unchecked(keys: &[i32], out: &mut [i32]) {
    for key in keys {
        // SAFETY: the generator makes keys in 0..out.len().
        unsafe { *out.get_unchecked_mut(*key as usize) += 1 };
    }
}

fn weighted_sum_unchecked(keys: &[i32], weights: &[f64], out: &mut [f64]) {
    for (key, weight) in keys.iter().zip(weights) {
        // SAFETY: the generator makes keys in 0..out.len().
        unsafe { *out.get_unchecked_mut(*key as usize) += weight };
    }
}

fn share(updates: usize) -> usize {
    updates.div_ceil(THREADS).max(1)
}

/// One private buffer a thread, then one pass that adds them up.
fn histogram_rayon(keys: &[i32], out: &mut [i32]) {
    let parts: Vec<Vec<i32>> = keys
        .par_chunks(share(keys.len()))
        .map(|keys| {
            let mut part = vec![0; out.len()];
            histogram_unchecked(keys, &mut part);
            part
        })
        .collect();
    for part in parts {
        out.par_iter_mut()
            .with_min_len(4096)
            .zip(part)
            .for_each(|(out, part)| *out += part);
    }
}

/// As [`histogram_rayon`].
fn weighted_sum_rayon(keys: &[i32], weights: &[f64], out: &mut [f64]) {
    let length = share(keys.len());
    let parts: Vec<Vec<f64>> = keys
        .par_chunks(length)
        .zip(weights.par_chunks(length))
        .map(|(keys, weights)| {
            let mut part = vec![0.0; out.len()];
            weighted_sum_unchecked(keys, weights, &mut part);
            part
        })
        .collect();
    for part in parts {
        out.par_iter_mut()
            .with_min_len(4096)
            .zip(part)
            .for_each(|(out, part)| *out += part);
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The median over the rounds of `numerator / denominator`, each pair from the same round.
fn ratio(rounds: &[[f64; VARIANTS.len()]], numerator: usize, denominator: usize) -> f64 {
    let ratios = rounds.iter().map(|it| it[numerator] / it[denominator]);
    median(ratios.collect())
}

#[allow(
    clippy::print_stdout,
    reason = "the report of a bench goes to standard output"
)]
fn print_ratios(cells: &mut [Cell], updates: usize, rounds: usize) {
    println!(
        "\n{updates} updates, {THREADS} threads, medians of {rounds} paired rounds, ns per update\n"
    );
    println!(
        "| cell | {} | serial / unchecked | speed-up over strew serial | speed-up over rayon |",
        VARIANTS.join(" | ")
    );
    println!("|---|{}", "--:|".repeat(VARIANTS.len() + 3));
    let (mut over_unchecked, mut speedups) = (Vec::new(), Vec::new());
    for cell in cells {
        let rounds = cell.rounds(rounds);
        let nanoseconds: Vec<String> = (0..VARIANTS.len())
            .map(|variant| median(rounds.iter().map(|round| round[variant]).collect()))
            .map(|seconds| format!("{:.3}", seconds * 1e9 / updates as f64))
            .collect();
        let (serial, speedup) = (ratio(&rounds, 3, 1), ratio(&rounds, 3, 4));
        println!(
            "| {} | {} | {serial:.2} | {speedup:.2} | {:.2} |",
            cell.name,
            nanoseconds.join(" | "),
            ratio(&rounds, 2, 4)
        );
        over_unchecked.push(serial);
        speedups.push(speedup);
    }
    let worst = over_unchecked.iter().copied().fold(0.0, f64::max);
    println!(
        "\nstrew serial / rustc unchecked: median {:.2}, worst {worst:.2}",
        median(over_unchecked)
    );
    let worst = speedups.iter().copied().fold(f64::INFINITY, f64::min);
    println!(
        "strew parallel over strew serial: median {:.2}, worst {worst:.2}",
        median(speedups)
    );
}

/// What a second thread can gain at most where the outputs are in the first cache: the time of
/// reading keys and values alone, on one thread and on two.
#[allow(
    clippy::print_stdout,
    reason = "the report of a bench goes to standard output"
)]
fn print_limit(updates: usize, rounds: usize) {
    let keys = Order::Uniform.keys(updates, 256);
    let values = vec![1.0_f64; updates];
    let sum = |keys: &[i32]| keys.iter().fold(0_i32, |sum, key| sum.wrapping_add(*key));
    print_gain("the keys", rounds, &keys, &sum);
    let sum = |values: &[f64]| values.iter().fold(0, |bits, it| bits ^ it.to_bits()) as i32;
    print_gain("values of 8 bytes", rounds, &values, &sum);
}

#[allow(
    clippy::print_stdout,
    reason = "the report of a bench goes to standard output"
)]
fn print_gain<T: Sync>(
    what: &str,
    rounds: usize,
    elements: &[T],
    read: &(impl Fn(&[T]) -> i32 + Sync),
) {
    let seconds = |read: &dyn Fn() -> i32| {
        let start = Instant::now();
        black_box(read());
        start.elapsed().as_secs_f64()
    };
    let (front, back) = elements.split_at(elements.len() / 2);
    let both = || {
        let (front, back) = rayon::join(|| read(front), || read(back));
        front ^ back
    };
    let gains = (0..rounds).map(|_| seconds(&|| read(elements)) / seconds(&both));
    println!(
        "reading {what} alone gains {:.2} by a second thread",
        median(gains.collect())
    );
}

/// From source text to callable code, a new compiler each time.
#[allow(
    clippy::print_stdout,
    reason = "the report of a bench goes to standard output"
)]
fn print_compile_times(rounds: usize) {
    for (name, source) in [("histogram", HISTOGRAM), ("weighted_sum", WEIGHTED_SUM)] {
        let compile = |_| {
            let start = Instant::now();
            let program = strew::Compiler::new().compile("bench.c", source);
            let kernel = program.and_then(|program| program.kernel(name));
            black_box(kernel.expect("a valid kernel"));
            start.elapsed().as_secs_f64() * 1e6
        };
        let times: Vec<f64> = (0..rounds).map(compile).collect();
        println!(
            "{name}: source text to callable code in {:.0} µs (median of {rounds})",
            median(times)
        );
    }
}
