//! Rows that keys pick out of flat arrays: the same as in a loop over elements, whatever the length
//! of the array, the keys and the size of a row.

use strew::{Compiler, Error, Kernel, Mode, Oob};

const FLAT: &str = "
void add(int n, int d, const int *key, const double *x, double *out) {
  for (int i = 0; i < n; i++)
    for (int c = 0; c < d; c++)
      out[key[i] * d + c] += x[i * d + c];
}";

/// Columns of a row for each iteration.
const SPREAD: &str = "
void spread(int n, int q, int m, const int *key, double *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < q; j++)
      out[i * m + key[i * q + j]] += 1 + j;
}";

/// Rows in a loop over entries, those that are updated as well as those that are read.
const BAGS: &str = "
void bags(int bags, int d, const long *bag, const int *word, const double *x, double *sum, double *out) {
  for (int b = 0; b < bags; b++)
    for (long k = bag[b]; k < bag[b + 1]; k++) {
      long row = (long)word[k] * d;
      for (int c = 0; c < d; c++) {
        out[row + c] += x[(long)b * d + c];
        sum[(long)b * d + c] += x[(long)word[k] * d + c];
      }
    }
}";

fn kernel(source: &str, name: &str, strategy: &str) -> Kernel {
    let compiler = Compiler::new().strategy(strategy.parse().expect("a strategy"));
    let compiler = compiler.threads(2).mode(Mode::Exact);
    let program = compiler.compile("k.c", source).expect("a program");
    program.kernel(name).expect("a kernel")
}

/// What C does where 32 bits wrap; `None` where an element is out of range, unless it is skipped.
fn expected(d: i32, key: &[i32], x: &[f64], out: &[f64], skips: bool) -> Option<Vec<f64>> {
    let mut out = out.to_vec();
    for (i, key) in key.iter().enumerate() {
        for c in 0..d {
            let flat = key.wrapping_mul(d).wrapping_add(c);
            let element = usize::try_from(flat).ok().and_then(|it| out.get_mut(it));
            match element {
                Some(element) => *element += x[i * d as usize + c as usize],
                None if skips => {}
                None => return None,
            }
        }
    }
    Some(out)
}

#[track_caller]
fn check(length: usize, d: i32, key: &[i32]) {
    let x: Vec<f64> = (0..key.len() * d as usize).map(|it| it as f64).collect();
    let before: Vec<f64> = (0..length).map(|it| 0.5 * it as f64).collect();
    for strategy in ["auto", "serial", "rows", "columns"] {
        let kernel = kernel(FLAT, "add", strategy);
        for oob in [Oob::Error, Oob::Skip] {
            let kernel = kernel.clone().oob(oob);
            let mut out = before.clone();
            let call = kernel.bind().scalar("n", key.len() as i32).scalar("d", d);
            let call = call.array("key", key).array("x", &x);
            let ran = call.array_mut("out", &mut out).run();
            match expected(d, key, &x, &before, oob == Oob::Skip) {
                Some(expected) => {
                    // Not all forms of a kernel have rows to be owned.
                    if let Err(Error::Failure(refused)) = &ran {
                        assert_ne!(strategy, "auto", "{refused}");
                        continue;
                    }
                    assert!(ran.is_ok(), "{strategy} {ran:?}");
                    assert_eq!(out, expected, "{strategy}");
                }
                None => {
                    assert!(ran.is_err(), "{strategy}");
                    assert_eq!(out, before, "{strategy}");
                }
            }
        }
    }
}

fn keys(count: usize, below: i32) -> Vec<i32> {
    let scattered = (0..count).map(|it| (it * 7919 % 10_007) as i32 % below);
    scattered.collect()
}

#[test]
fn whole_rows() {
    for d in [1, 2, 3, 8, 64] {
        check(50 * d as usize, d, &keys(1000, 50));
    }
}

#[test]
fn a_part_of_a_row_at_the_end() {
    let mut key = keys(500, 50);
    check(50 * 8 + 5, 8, &key);
    // Some of its elements are there, and some are not.
    key[321] = 50;
    check(50 * 8 + 5, 8, &key);
}

#[test]
fn keys_that_are_no_rows() {
    for wrong in [50, -1, i32::MAX, i32::MIN, 1 << 29] {
        let mut key = keys(500, 50);
        key[400] = wrong;
        check(400, 8, &key);
    }
}

/// Times eight, these are rows again in 32 bits.
#[test]
fn keys_that_wrap_to_rows() {
    let mut key = keys(500, 50);
    key[77] = (1 << 29) + 3;
    key[78] = i32::MIN + 4;
    check(400, 8, &key);
}

#[test]
fn rows_of_nothing() {
    check(400, 0, &keys(500, 50));
    check(0, 8, &[]);
}

#[test]
fn rows_in_loops_over_entries() {
    let (bags, words, d) = (300_usize, 4096_usize, 40_usize);
    let bag: Vec<i64> = (0..=bags).map(|it| (it * it / 30) as i64).collect();
    let word = keys(bag[bags] as usize, words as i32);
    let x: Vec<f64> = (0..words * d).map(|it| (it % 97) as f64).collect();
    let mut expected = (vec![0.0; bags * d], vec![1.0; words * d]);
    for b in 0..bags {
        for k in bag[b]..bag[b + 1] {
            let row = word[k as usize] as usize * d;
            for c in 0..d {
                expected.1[row + c] += x[b * d + c];
                expected.0[b * d + c] += x[row + c];
            }
        }
    }
    for strategy in ["auto", "serial", "dense"] {
        let compiler = Compiler::new().strategy(strategy.parse().expect("a strategy"));
        let program = compiler.threads(2).compile("k.c", BAGS);
        let kernel = program.and_then(|it| it.kernel("bags")).expect("a kernel");
        let (mut sum, mut out) = (vec![0.0; bags * d], vec![1.0; words * d]);
        let call = kernel.bind().scalar("bags", bags as i32);
        let call = call.scalar("d", d as i32).array("bag", &bag);
        let call = call.array("word", &word).array("x", &x);
        let call = call.array_mut("sum", &mut sum).array_mut("out", &mut out);
        call.run().expect("a call");
        assert_eq!((sum, out), expected, "{strategy}");
    }
}

/// Keys that go to the next row are none of the row's columns, and what they update is an element
/// all the same. After one such call nobody takes them for columns any more.
#[test]
fn columns_that_keys_pick() {
    let (n, q, m) = (700_usize, 50_usize, 300_usize);
    let compiler = Compiler::new().threads(2).mode(Mode::Exact);
    let program = compiler.compile("k.c", SPREAD).expect("a program");
    let kernel = program.kernel("spread").expect("a kernel");
    let inside = keys(n * q, m as i32);
    let mut beyond = inside.clone();
    beyond[17] = m as i32 + 5;
    let mut outside = inside.clone();
    outside[n * q - 1] = m as i32;
    let run = |key: &[i32], out: &mut [f64]| {
        let call = kernel.bind().scalar("n", n as i32).scalar("q", q as i32);
        let call = call.scalar("m", m as i32).array("key", key);
        call.array_mut("out", out).run_with_report()
    };
    let mut dropped = Vec::new();
    for key in [&inside, &outside, &beyond, &inside] {
        let mut expected = Some(vec![0.5; n * m]);
        for (at, key) in key.iter().enumerate() {
            let element = at / q * m + *key as usize;
            let there = expected.as_mut().and_then(|it| it.get_mut(element));
            match there {
                Some(there) => *there += 1.0 + (at % q) as f64,
                None => expected = None,
            }
        }
        let mut out = vec![0.5; n * m];
        let ran = run(key, &mut out);
        match expected {
            Some(expected) => {
                dropped.push(ran.expect("a call").dropped.is_some());
                assert_eq!(out, expected);
            }
            None => {
                assert!(matches!(ran, Err(Error::Fault(_))));
                assert_eq!(out, vec![0.5; n * m]);
            }
        }
    }
    assert_eq!(dropped, [false, true, true]);
    let schedule = kernel.compiled().steps().to_string();
    assert!(
        schedule.contains("delinearize(out, [out_length / m, m])"),
        "{schedule}"
    );
}

/// Arrays of a length that is a number assume nothing, and are skipped in by elements all the same.
#[test]
fn rows_of_arrays_of_known_length() {
    let source = "
void rows(int n, const int *key, int out[512]) {
  for (int i = 0; i < n; i++)
    for (int c = 0; c < 8; c++)
      out[key[i] * 8 + c] += c + 1;
}
void columns(int n, const int *key, int out[512]) {
  for (int i = 0; i < 63; i++)
    for (int j = 0; j < n; j++)
      out[i * 8 + key[j]] += j + 1;
}";
    let program = Compiler::new().threads(2).mode(Mode::Exact);
    let program = program.compile("k.c", source).expect("a program");
    let cases = [
        ("rows", [0_i32, (1 << 29) + 1, 3, 10]),
        ("columns", [0, 9, 3, 10]),
    ];
    for (name, key) in cases {
        let mut expected = [0; 512];
        for number in 0..63 * 4 {
            let (i, j) = (number / 4, number % 4);
            match name {
                "columns" => expected[i * 8 + key[j] as usize] += j as i32 + 1,
                _ if i < 8 => expected[(key[j].wrapping_mul(8) as usize) + i] += i as i32 + 1,
                _ => {}
            }
        }
        for oob in [Oob::Error, Oob::Skip] {
            let kernel = program.kernel(name).expect("a kernel").oob(oob);
            let mut dropped = Vec::new();
            for _ in 0..2 {
                let mut out = [0; 512];
                let call = kernel.bind().scalar("n", 4).array("key", &key);
                let report = call.array_mut("out", &mut out).run_with_report();
                dropped.push(report.expect("a call").dropped);
                assert_eq!(out, expected, "{name}");
            }
            assert_eq!(dropped[0], dropped[1], "{name}");
            assert_eq!(dropped[0].is_some(), oob == Oob::Error, "{name}");
        }
    }
}

/// What is added to a row wraps before it becomes one of more bits.
#[test]
fn columns_of_fewer_bits() {
    let key: Vec<i64> = vec![40, 41, 45, 40];
    for (added, low) in [("(uint8_t)j - 250", 250), ("(uint16_t)j - 65530", 65_530)] {
        let source = format!(
            "void k(int64_t n, const int64_t *key, int *out) {{
               for (int64_t i = 0; i < n; i++)
                 for (int64_t j = {low}; j < {low} + 8; j++) out[key[i] * 8 + {added} + 8000] += j;
             }}"
        );
        let mut expected = vec![0_i32; 16_384];
        let most = if low == 250 { 256 } else { 65_536 };
        for row in &key {
            for j in low..low + 8 {
                let at = usize::try_from(row * 8 + j % most - low + 8000).ok();
                let element = at.and_then(|it| expected.get_mut(it));
                element.into_iter().for_each(|it| *it += j as i32);
            }
        }
        let program = Compiler::new().compile("k.c", &source);
        let kernel = program.and_then(|it| it.kernel("k")).expect("a kernel");
        let mut out = vec![0_i32; 16_384];
        let call = kernel.bind().scalar("n", 4_i64).array("key", &key);
        let ran = call.array_mut("out", &mut out).run();
        if low == 250 {
            ran.expect("a call");
            assert_eq!(out, expected);
        } else {
            assert!(ran.is_err(), "some are in front of the array");
        }
    }
}

#[test]
fn a_sum_without_a_sign_that_wraps_is_out_of_range() {
    let source = "
void k(int n, const uint32_t *key, int *out) {
  for (int i = 0; i < n; i++)
    for (int64_t j = 1; j < 9; j++) out[(key[i] * 8u - 1u) + j] += j;
}";
    let program = Compiler::new().compile("k.c", source);
    let kernel = program.and_then(|it| it.kernel("k")).expect("a kernel");
    let mut out = [0; 64];
    let call = kernel.bind().scalar("n", 4).array("key", &[1_u32, 0, 2, 1]);
    let ran = call.array_mut("out", &mut out).run();
    assert!(matches!(ran, Err(Error::Fault(_))));
    assert_eq!(out, [0; 64]);
}

/// What one call finds of keys does not change the bits of another.
#[test]
fn stable_sums_do_not_go_by_earlier_calls() {
    let program = Compiler::new().threads(2).compile("k.c", FLAT);
    let kernel = program.and_then(|it| it.kernel("add")).expect("a kernel");
    let fine = keys(100_000, 4);
    let wraps: Vec<i32> = fine.iter().map(|it| it ^ (1 << 29)).collect();
    let x: Vec<f64> = (0..800_000).map(|it| 1.0 / f64::from(it + 1)).collect();
    let sums = |key: &[i32]| {
        let mut out = vec![0.0; 32];
        let call = kernel.bind().scalar("n", key.len() as i32).scalar("d", 8);
        let call = call.array("key", key).array("x", &x);
        call.array_mut("out", &mut out).run().expect("a call");
        out.into_iter().map(f64::to_bits).collect::<Vec<_>>()
    };
    let first = (sums(&fine), sums(&wraps));
    assert_eq!((sums(&fine), sums(&wraps)), first);
}
