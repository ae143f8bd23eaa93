//! Assignments that all bring the same value: threads share what they mark.

use strew::{Compiler, Error, Kernel};

/// Which elements keys name, and those of every other key, by a value that the call brings.
const MARK: &str = "
void mark(long n, const int *key, int level, int *seen) {
  for (long i = 0; i < n; i++) {
    if (i % 2) seen[key[n - 1 - i]] = level + 1;
    seen[key[i]] = level + 1;
  }
}";

/// The values differ, so that the order counts.
const LATEST: &str = "
void mark(long n, const int *key, int level, int *seen) {
  for (long i = 0; i < n; i++) seen[key[i]] = level + (int)i;
}";

fn kernel(source: &str, strategy: &str, threads: usize) -> Kernel {
    let compiler = Compiler::new().strategy(strategy.parse().expect("a strategy"));
    let program = compiler.threads(threads).compile("k.c", source);
    program
        .expect("a program")
        .kernel("mark")
        .expect("a kernel")
}

/// The strategy that was taken.
fn run(kernel: &Kernel, key: &[i32], seen: &mut [i32]) -> Result<&'static str, Error> {
    let call = kernel.bind().scalar("n", key.len() as i64);
    let call = call.scalar("level", 6).array("key", key);
    let report = call.array_mut("seen", seen).run_with_report()?;
    Ok(report.record.strategy)
}

fn keys(count: usize, below: i32) -> Vec<i32> {
    let scattered = (0..count).map(|it| (it * 7919 % 1_000_003) as i32 % below);
    scattered.collect()
}

#[test]
fn every_strategy_marks_the_same() {
    for (count, below) in [(0, 1), (1, 1), (1000, 7), (300_000, 5000)] {
        let key = keys(count, below);
        let mut expected = vec![3; below as usize];
        for key in &key {
            expected[*key as usize] = 7;
        }
        for strategy in ["auto", "serial", "atomic", "binned"] {
            for threads in [1, 2, 4] {
                let mut seen = vec![3; below as usize];
                let kernel = kernel(MARK, strategy, threads);
                run(&kernel, &key, &mut seen).expect("marks");
                assert_eq!(seen, expected, "{strategy} {threads}");
            }
        }
    }
}

#[test]
fn threads_share_small_outputs_unasked() {
    let key = keys(1 << 21, 5000);
    let mut seen = vec![0; 5000];
    let taken = run(&kernel(MARK, "auto", 2), &key, &mut seen);
    assert_eq!(taken.expect("marks"), "atomic");
    let taken = run(&kernel(MARK, "auto", 1), &key, &mut seen);
    assert_eq!(taken.expect("marks"), "serial");
}

#[test]
fn a_key_out_of_range_leaves_no_mark() {
    let mut key = keys(400_000, 5000);
    key[300_000] = 5000;
    for strategy in ["auto", "atomic"] {
        let mut seen = vec![3; 5000];
        let failed = run(&kernel(MARK, strategy, 2), &key, &mut seen);
        assert!(matches!(failed, Err(Error::Fault(_))), "{failed:?}");
        assert!(seen.iter().all(|it| *it == 3), "{strategy}");
    }
}

#[test]
fn values_that_differ_keep_their_order() {
    let key = keys(1 << 21, 5000);
    let mut seen = vec![0; 5000];
    let refused = run(&kernel(LATEST, "atomic", 2), &key, &mut seen);
    assert!(matches!(refused, Err(Error::Failure(_))), "{refused:?}");
    let taken = run(&kernel(LATEST, "auto", 2), &key, &mut seen);
    assert_ne!(taken.expect("marks"), "atomic");
    let mut expected = vec![0; 5000];
    for (i, key) in key.iter().enumerate() {
        expected[*key as usize] = 6 + i as i32;
    }
    assert_eq!(seen, expected);
}
