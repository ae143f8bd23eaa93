//! Loops whose iterations hand scalars on to the next ones: the same as in order, at any length,
//! in every mode and on any number of threads, also where an index is out of range.

use strew::{Compiler, Error, Kernel, Mode};

const WORDS: &str = include_str!("../examples/kernels/words.c");
const POSTINGS: &str = include_str!("../examples/kernels/postings.c");

/// Segments that are told by where numbers change.
const SEGMENTS: &str = "
void segments(int n, int m, const int x[n], const int v[n], long out[m]) {
  int segment = 0;
  for (int i = 0; i < n; i++) {
    if (i > 0 && x[i] != x[i - 1]) segment++;
    out[segment] += v[i];
  }
}";

/// Two scalars of which one is what the other was.
const TRIPLES: &str = "
int triples(int n, const unsigned char x[n], int count[4][4][4]) {
  int one = 1, two = 2;
  for (int i = 0; i < n; i++) {
    count[two][one][x[i]]++;
    two = one;
    one = x[i];
  }
  return two * 4 + one;
}";

/// Lengths around those of tiles, of 4096 iterations, and of parts of loops.
const LENGTHS: [usize; 6] = [0, 1, 10, 4095, 4097, 40_001];

fn kernel(source: &str, name: &str, mode: Mode, threads: usize) -> Kernel {
    let compiler = Compiler::new().threads(threads).mode(mode);
    let program = compiler.compile("k.c", source).expect("a program");
    program.kernel(name).expect("a kernel")
}

/// Numbers below `end` without an order.
fn numbers(count: usize, end: u64) -> Vec<u64> {
    let step = |it: &u64| Some(it.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(7));
    let all = std::iter::successors(Some(1_u64), step).skip(1);
    all.map(|it| (it >> 33) % end).take(count).collect()
}

/// Every mode on one thread and on several.
fn for_each_kernel(source: &str, name: &str, check: impl Fn(Kernel)) {
    for mode in [Mode::Fast, Mode::Stable, Mode::Exact] {
        for threads in [1, 3] {
            check(kernel(source, name, mode, threads));
        }
    }
}

#[test]
fn words_follow_from_their_last_letters() {
    for length in LENGTHS {
        let letters: Vec<u8> = numbers(length, 256).iter().map(|it| *it as u8).collect();
        let mut expected = vec![0_u32; 1 << 20];
        for word in letters.windows(10) {
            let value =
                |it: &mut dyn Iterator<Item = u8>| it.fold(0, |a, b| a << 2 | usize::from(b));
            let one = value(&mut word.iter().map(|it| it & 3));
            let other = value(&mut word.iter().rev().map(|it| 3 - (it & 3)));
            expected[one.min(other)] += 1;
        }
        for_each_kernel(WORDS, "words", |kernel| {
            let mut count = vec![0_u32; 1 << 20];
            let call = kernel.bind().scalar("n", length as i64);
            let call = call
                .array("letter", &letters)
                .array_mut("count", &mut count);
            call.run().expect("counts");
            assert!(count == expected, "{length}");
        });
    }
}

#[test]
fn postings_begin_with_the_sum_of_all_gaps_before() {
    for length in LENGTHS {
        let gaps: Vec<u8> = numbers(length, 4).iter().map(|it| *it as u8).collect();
        // Whole numbers, whose sums are exact in any order.
        let weights: Vec<f32> = numbers(length, 9).iter().map(|it| *it as f32).collect();
        let last: usize = gaps.iter().map(|it| usize::from(*it)).sum();
        let mut expected = vec![1.0_f32; last + 1];
        let mut at = 0;
        for (gap, weight) in gaps.iter().zip(&weights) {
            at += usize::from(*gap);
            expected[at] += weight;
        }
        for_each_kernel(POSTINGS, "postings", |kernel| {
            let run = |score: &mut [f32]| {
                let call = kernel.bind().scalar("n", length as i64);
                let call = call.scalar("m", score.len() as i32).array("gap", &gaps);
                call.array("weight", &weights)
                    .array_mut("score", score)
                    .run()
            };
            let mut score = vec![1.0_f32; last + 1];
            run(&mut score).expect("scores");
            assert_eq!(score, expected);
            // The last one is out of range: nothing is written.
            let mut short = vec![1.0_f32; last];
            let outcome = run(&mut short);
            let is_there = length == 0;
            assert_eq!(outcome.is_ok(), is_there, "{outcome:?}");
            assert!(is_there || matches!(outcome, Err(Error::Fault(_))));
            assert!(short.iter().all(|it| *it == 1.0));
        });
    }
}

#[test]
fn segments_are_counted() {
    for length in LENGTHS {
        let x: Vec<i32> = numbers(length, 2).iter().map(|it| *it as i32).collect();
        let v: Vec<i32> = numbers(length, 100)
            .iter()
            .map(|it| *it as i32 - 50)
            .collect();
        let mut expected = vec![0_i64; length + 1];
        let mut segment = 0;
        for i in 0..length {
            segment += usize::from(i > 0 && x[i] != x[i - 1]);
            expected[segment] += i64::from(v[i]);
        }
        for_each_kernel(SEGMENTS, "segments", |kernel| {
            let mut out = vec![0_i64; length + 1];
            let call = kernel.bind().scalar("n", length as i32);
            let call = call.scalar("m", length as i32 + 1).array("x", &x);
            let call = call.array("v", &v).array_mut("out", &mut out);
            call.run().expect("sums");
            assert_eq!(out, expected);
        });
    }
}

#[test]
fn what_is_left_behind_the_loop_is_what_the_last_iterations_leave() {
    for length in LENGTHS {
        let x: Vec<u8> = numbers(length, 4).iter().map(|it| *it as u8).collect();
        let mut expected = [[[0_i32; 4]; 4]; 4];
        let (mut one, mut two) = (1_u8, 2_u8);
        for it in &x {
            expected[usize::from(two)][usize::from(one)][usize::from(*it)] += 1;
            (two, one) = (one, *it);
        }
        for_each_kernel(TRIPLES, "triples", |kernel| {
            let mut count = [0_i32; 64];
            let call = kernel.bind().scalar("n", length as i32).array("x", &x);
            let report = call.array_mut("count", &mut count).run_with_report();
            let left = report
                .expect("counts")
                .returned
                .and_then(|it| it.as_integer());
            assert_eq!(count.as_slice(), expected.as_flattened().as_flattened());
            assert_eq!(left, Some(i128::from(two) * 4 + i128::from(one)));
        });
    }
}
