//! Large outputs are not copied before a loop updates them: the loop is run once for its failures
//! alone, which computes only what decides them.

use strew::{Compiler, Kernel, Mode};

/// The output is so large that copying it takes longer than looking for failures.
const ELEMENTS: usize = 100_000;
const ITERATIONS: usize = 3000;

/// Indices are below this.
const BELOW: i32 = 1000;

struct Case {
    name: &'static str,
    source: &'static str,
}

const CASES: [Case; 5] = [
    Case {
        name: "gathered",
        source: "void gathered(int n, int m, int e, const int key[n][3], const double x[e], double out[m]) {
          for (int i = 0; i < n; i++) {
            double b[3];
            for (int j = 0; j < 3; j++) b[j] = x[key[i][(j + 1) % 3]] - x[key[i][j]];
            double area = 0.5 * (b[0] * b[1] - b[2]);
            for (int j = 0; j < 3; j++) out[key[i][j]] += area * b[j];
          } }",
    },
    Case {
        name: "chosen",
        source: "void chosen(int n, int m, int e, const int key[n][3], const double x[e], double out[m]) {
          for (int i = 0; i < n; i++) {
            double w = i % 2 == 0 ? x[key[i][0]] : 1.0;
            if (key[i][1] > 3) out[key[i][1]] += w * x[key[i][2]];
          } }",
    },
    Case {
        name: "divided",
        source: "void divided(int n, int m, int e, const int key[n][3], const double x[e], double out[m]) {
          for (int i = 0; i < n; i++) {
            int d = key[i][0] - 5000;
            int s = 0;
            for (int j = 1; j < 3; j++) s += key[i][j];
            double v = x[0] * (7000 / d);
            out[s] += v * x[key[i][1]];
            out[s / 2] += v;
          } }",
    },
    Case {
        name: "searched",
        source: "void searched(int n, int m, int e, const int key[n][3], const double x[e], double out[m]) {
          for (int i = 0; i < n; i++) {
            int best = 0;
            double least = 1e9;
            for (int j = 0; j < 3; j++) {
              double d = x[key[i][j]] + j;
              if (d < least) { least = d; best = key[i][j]; }
            }
            out[best] += least;
          } }",
    },
    Case {
        name: "looped",
        source: "void looped(int n, int m, int e, const int key[n][3], const double x[e], double out[m]) {
          for (int i = 0; i < n; i++) {
            double sum = 0.0;
            int k = key[i][0];
            while (k > 10) { sum += x[k]; k /= 2; }
            for (int j = 0; j < key[i][1] % 4; j++) sum += x[key[i][2]];
            out[k + 1] += sum;
          } }",
    },
];

fn keys() -> Vec<i32> {
    (0..3 * ITERATIONS as i32)
        .map(|it| 4 + it * 7919 % (BELOW - 4))
        .collect()
}

#[test]
fn failures_are_those_of_the_loop_and_outputs_are_left_alone() {
    let x: Vec<f64> = (0..BELOW).map(|it| f64::from(it * 37 % 101)).collect();
    let mut failed = 0;
    for case in &CASES {
        let kernel = |strategy: &str| {
            let compiler = Compiler::new().mode(Mode::Exact).threads(2);
            let compiler = compiler.strategy(strategy.parse().expect("a strategy"));
            let program = compiler.compile("k.c", case.source).expect("a program");
            program.kernel(case.name).expect("a kernel")
        };
        // Sorting evaluates everything, and writes nothing before all of it is done.
        let [checked, evaluated] = ["serial", "binned"].map(kernel);
        let run = |kernel: &Kernel, key: &[i32]| {
            let mut out = vec![0.25; ELEMENTS];
            let bind = kernel.bind().array("key", key).array("x", &x);
            let done = bind.array_mut("out", &mut out).run();
            (done.map_err(|it| it.to_string()), out)
        };
        let mut wrong = vec![(0, keys()[0])];
        for at in [0, 1, 2, 3, 4, 5, 4501, 4505, 8998, 8999] {
            wrong.extend([-1, 5000, i32::MAX - 7].map(|index| (at, index)));
        }
        for (at, index) in wrong {
            let mut key = keys();
            key[at] = index;
            let (done, out) = run(&checked, &key);
            assert!(
                run(&evaluated, &key) == (done.clone(), out.clone()),
                "{} {at} {index}",
                case.name
            );
            if let Err(error) = done {
                let iteration = format!("i = {}", at / 3);
                assert!(error.contains(&iteration), "{error}");
                assert!(out.iter().all(|it| *it == 0.25));
                failed += 1;
            }
        }
    }
    assert!(failed > 100, "{failed}");
}
