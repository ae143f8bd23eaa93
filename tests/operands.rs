//! Operands that may not be exchanged, though any grouping gives the same bits, keep the order of
//! the loop, however many parts it has.

use strew::{Compiler, Mode};

/// The first of equal maxima with its place, and the first of `0.0` and `-0.0`: once over updates,
/// in eight parts, once over rows that take differently long, in many.
const SOURCE: &str = "
void flat(int64_t e, int m, const int key[e], const float x[e], float best[m], int64_t place[m], float least[m]) {
  for (int64_t k = 0; k < e; k++) {
    int s = key[k];
    if (x[k] > best[s]) { best[s] = x[k]; place[s] = k; }
    if (x[k] < least[s]) least[s] = x[k];
  }
}
void rows(int n, int64_t e, int m, const int64_t row[n + 1], const int key[e], const float x[e],
          float best[m], int64_t place[m], float least[m]) {
  for (int r = 0; r < n; r++)
    for (int64_t k = row[r]; k < row[r + 1]; k++) {
      int s = key[k];
      if (x[k] > best[s]) { best[s] = x[k]; place[s] = k; }
      if (x[k] < least[s]) least[s] = x[k];
    }
}";

const ELEMENTS: usize = 97;

/// What a loop leaves: bits of the floats, so that zeros differ by their signs.
#[derive(Debug, PartialEq)]
struct Left {
    best: Vec<u32>,
    place: Vec<i64>,
    least: Vec<u32>,
}

fn expected(key: &[i32], x: &[f32]) -> Left {
    let mut best = vec![f32::NEG_INFINITY; ELEMENTS];
    let mut least = vec![f32::INFINITY; ELEMENTS];
    let mut place = vec![-1; ELEMENTS];
    for (k, (key, x)) in key.iter().zip(x).enumerate() {
        let s = *key as usize;
        if *x > best[s] {
            (best[s], place[s]) = (*x, k as i64);
        }
        if *x < least[s] {
            least[s] = *x;
        }
    }
    left(&best, place, &least)
}

fn left(best: &[f32], place: Vec<i64>, least: &[f32]) -> Left {
    let bits = |all: &[f32]| all.iter().map(|it| it.to_bits()).collect();
    Left {
        best: bits(best),
        place,
        least: bits(least),
    }
}

#[test]
fn the_first_of_equal_operands_stays() {
    let row: Vec<i64> = (0..=600).map(|r: i64| r * r / 12).collect();
    let count = *row.last().expect("a last row") as usize;
    let mixed = |k: usize| k.wrapping_mul(2_654_435_761) >> 9;
    let key: Vec<i32> = (0..count).map(|k| (mixed(k) % ELEMENTS) as i32).collect();
    // Few values, zeros of both signs the least of them, so that many are equal.
    let values = [0.0, -0.0, 1.0, 2.0, 2.0];
    let x: Vec<f32> = (0..count)
        .map(|k| values[mixed(k * 7 + 1) % values.len()])
        .collect();
    let wanted = expected(&key, &x);
    let program = Compiler::new()
        .compile("first.c", SOURCE)
        .expect("a program");
    for name in ["flat", "rows"] {
        let kernel = program.kernel(name).expect("a kernel");
        for strategy in ["auto", "serial", "dense", "blocked", "binned"] {
            for mode in [Mode::Fast, Mode::Stable, Mode::Exact] {
                for threads in [1, 2, 3, 8] {
                    let named = strategy.parse().expect("a strategy");
                    let kernel = kernel.clone().strategy(named).mode(mode).threads(threads);
                    let mut best = vec![f32::NEG_INFINITY; ELEMENTS];
                    let mut least = vec![f32::INFINITY; ELEMENTS];
                    let mut place = vec![-1_i64; ELEMENTS];
                    let call = kernel.bind().array("key", &key).array("x", &x);
                    let call = match name {
                        "rows" => call.array("row", &row),
                        _ => call,
                    };
                    let call = call
                        .array_mut("best", &mut best)
                        .array_mut("place", &mut place);
                    let done = call.array_mut("least", &mut least).run();
                    let told = format!("{name} {strategy} {mode:?} {threads}");
                    done.unwrap_or_else(|error| panic!("{told}: {error}"));
                    assert_eq!(left(&best, place, &least), wanted, "{told}");
                }
            }
        }
    }
}
