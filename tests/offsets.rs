//! Subscripts that differ by constants are checked together: what is out of range fails as if each
//! was checked by itself.

use strew::{Compiler, Error, Kernel};

const SOURCE: &str = "
void line(int n, int h, int w, const int key[n], const int more[n], int out[h][w]) {
  for (int i = 0; i < n; i++) {
    int k = key[i];
    out[0][k - 1] += 1;
    out[0][k] += 10;
    if (more[i] > 0) out[0][k + 3] += 100;
    out[0][k + 1] += 1000;
  }
}
void corners(int n, int h, int w, const int key[n], const int more[n], int out[h][w]) {
  for (int i = 0; i < n; i++) {
    int a = key[i];
    int b = more[i];
    out[a][b] += 1;
    out[a][b + 1] += 10;
    out[a + 2][b] += 100;
    out[a + 2][b + 1] += 1000;
  }
}";

/// The numbers around every end there is.
const ENDS: [i32; 14] = [
    i32::MIN,
    i32::MIN + 1,
    -4,
    -2,
    -1,
    0,
    1,
    2,
    3,
    4,
    5,
    i32::MAX - 3,
    i32::MAX - 1,
    i32::MAX,
];

type Turn<'t> = &'t dyn Fn(i64, i64) -> Vec<(i64, i64, i32)>;

/// What turns leave in `height` rows of `width`, if none of them fails.
fn expected(turn: Turn<'_>, keys: &[[i32; 2]], (height, width): (i64, i64)) -> Option<Vec<i32>> {
    let mut out = vec![7; (height * width) as usize];
    for [key, more] in keys {
        for (row, column, value) in turn(i64::from(*key), i64::from(*more)) {
            let is_in_range = (0..height).contains(&row) && (0..width).contains(&column);
            if !is_in_range {
                return None;
            }
            out[(row * width + column) as usize] += value;
        }
    }
    Some(out)
}

fn line(key: i64, more: i64) -> Vec<(i64, i64, i32)> {
    let mut updates = vec![(0, key - 1, 1), (0, key, 10)];
    if more > 0 {
        updates.push((0, key + 3, 100));
    }
    updates.push((0, key + 1, 1000));
    updates
}

fn corners(a: i64, b: i64) -> Vec<(i64, i64, i32)> {
    vec![
        (a, b, 1),
        (a, b + 1, 10),
        (a + 2, b, 100),
        (a + 2, b + 1, 1000),
    ]
}

/// Runs `kernel` and compares what it leaves, or that it fails and leaves nothing; whether it
/// fails.
fn check(kernel: &Kernel, turn: Turn<'_>, keys: &[[i32; 2]], (height, width): (i32, i32)) -> bool {
    let told = format!("{} {height} {width} {keys:?}", kernel.name());
    let (key, more): (Vec<i32>, Vec<i32>) = keys.iter().map(|[key, more]| (*key, *more)).unzip();
    let mut out = vec![7; (height * width) as usize];
    let bind = kernel.bind().array("key", &key).array("more", &more);
    let bind = bind.scalar("h", height).scalar("w", width);
    let outcome = bind.array_mut("out", &mut out).run();
    let wanted = expected(turn, keys, (height.into(), width.into()));
    match &wanted {
        Some(wanted) => {
            assert!(outcome.is_ok(), "{told}");
            assert_eq!(out, *wanted, "{told}");
        }
        None => {
            let error = outcome.expect_err(&told).to_string();
            assert!(error.contains("out["), "{told} {error}");
            assert!(out.iter().all(|it| *it == 7), "{told}");
        }
    }
    wanted.is_none()
}

#[test]
fn every_end_is_found_and_nothing_else() {
    let (mut failed, mut ran) = (0, 0);
    for strategy in ["serial", "dense"] {
        let compiler = Compiler::new().threads(2);
        let compiler = compiler.strategy(strategy.parse().expect("a strategy"));
        let program = compiler.compile("k.c", SOURCE).expect("a program");
        let kernels = [("line", line as fn(i64, i64) -> _), ("corners", corners)];
        for (name, turn) in kernels {
            let kernel = program.kernel(name).expect("a kernel");
            for sizes in [(1, 0), (1, 3), (1, 6), (3, 2), (5, 5)] {
                for (key, more) in ENDS.iter().flat_map(|key| ENDS.map(|more| (*key, more))) {
                    // Some turns before it, so that it does not fail at the first.
                    let keys = [[1, 0], [1, 0], [key, more]];
                    match check(&kernel, &turn, &keys, sizes) {
                        true => failed += 1,
                        false => ran += 1,
                    }
                }
            }
        }
    }
    assert!(failed > 500 && ran > 50, "{failed} {ran}");
}

/// Lanes go across rows, from one to the next; which elements of these they read, data say.
#[test]
fn elements_of_rows_beside_each_other_are_each_checked() {
    for (first, second) in [(0, 1), (1, 0), (0, -1), (-1, 0)] {
        let source = format!(
            "void across(int64_t n, int64_t d, const int64_t row[n + 1], const float x[64][d], float y[n][64]) {{
               for (int64_t i = 0; i < n; i++)
                 for (int64_t p = row[i]; p < row[i + 1]; p++)
                   for (int64_t j = 0; j < 64; j++) y[i][j] += x[j][p + {first}] * x[j][p + {second}];
             }}"
        );
        let program = Compiler::new().compile("across.c", &source);
        let kernel = program.expect("a program").kernel("across");
        let kernel = kernel.expect("a kernel");
        let d = 6_i64;
        let x: Vec<f32> = (0..64 * d).map(|it| (it % 11) as f32).collect();
        let run = |row: &[i64; 3]| {
            let mut y = vec![0.0_f32; 2 * 64];
            let call = kernel.bind().scalar("d", d).array("row", row);
            let call = call.shape("x", &[64, d as u64]).array("x", &x);
            let call = call.shape("y", &[2, 64]).array_mut("y", &mut y);
            let outcome = call.run();
            (outcome, y)
        };
        let at = |j: i64, p: i64| x[(j * d + p) as usize];
        let inside = [1, 2, 5];
        let (outcome, y) = run(&inside);
        outcome.expect("all is in range");
        for (i, row) in y.chunks(64).enumerate() {
            for (j, found) in (0..).zip(row) {
                let of = (inside[i]..inside[i + 1]).map(|p| at(j, p + first) * at(j, p + second));
                assert_eq!(*found, of.sum::<f32>());
            }
        }
        let beyond = if first + second > 0 {
            [1, 2, 6]
        } else {
            [0, 2, 5]
        };
        let (outcome, y) = run(&beyond);
        assert!(matches!(outcome, Err(Error::Fault(_))), "{outcome:?}");
        assert!(y.iter().all(|it| *it == 0.0));
    }
}
