//! Whether updates may go anywhere else than they should is found out for many iterations at once
//! where keys rise or fall with what arrays hold: of the least and the largest of that, whatever
//! they are computed to, and one by one where that cannot tell.

use strew::{Compiler, Kernel};

struct Case {
    name: &'static str,
    source: &'static str,
    /// An element that is in range, and some that may not be.
    fine: f64,
    others: &'static [f64],
}

const HUGE: f64 = 1e300;
const NUMBERS: &[f64] = &[
    -1.5, -0.5, -0.0, 98.9, 99.0, 99.5, 100.0, 1e9, -1e9, 3e9, HUGE, -HUGE,
];
const NONE: &[f64] = &[f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

const CASES: [Case; 7] = [
    Case {
        name: "deposited",
        source: "void deposited(int n, int m, double low, double scale, const double x[n], double out[m]) {
          for (int i = 0; i < n; i++) {
            int c = (int)x[i];
            double f = x[i] - c > 0.5 ? 1.0 : 2.0;
            out[c] += f;
            out[c + 1] += 3.0 - f;
          } }",
        fine: 17.75,
        others: NUMBERS,
    },
    Case {
        name: "scaled",
        source: "void scaled(int n, int m, double low, double scale, const double x[n], double out[m]) {
          for (int i = 0; i < n; i++) out[(int)((x[i] - low) * scale)] += 1.0; }",
        fine: 20.0,
        others: NUMBERS,
    },
    Case {
        name: "falling",
        source: "void falling(int n, int m, double low, double scale, const double x[n], double out[m]) {
          for (int i = 0; i < n; i++) out[90 - (int)(low - x[i] / scale) * 2] += 1.0; }",
        fine: 8.0,
        others: NUMBERS,
    },
    Case {
        name: "narrowed",
        source: "void narrowed(int n, int m, double low, double scale, const double x[n], double out[m]) {
          for (int i = 0; i < n; i++) out[(short)(int)x[i]] += 1.0; }",
        fine: 3.0,
        others: &[65536.0, 65540.0, 40000.0, -65530.0],
    },
    Case {
        name: "wrapped",
        source: "void wrapped(int n, int m, double low, double scale, const double x[n], double out[m]) {
          for (int i = 0; i < n; i++) out[(unsigned)(long)x[i] + 5u] += 1.0; }",
        fine: 3.0,
        others: &[-5.0, -1.0, -6.0, 4294967291.0, 4294967299.0],
    },
    Case {
        name: "rounded",
        source: "void rounded(int n, int m, double low, double scale, const double x[n], double out[m]) {
          for (int i = 0; i < n; i++) out[(long)((float)x[i] * 2.0f) - 1] += 1.0; }",
        fine: 4.0,
        others: &[49.99999999999, 50.0, 0.25, 1e39],
    },
    Case {
        name: "nothing_times_all",
        source: "void nothing_times_all(int n, int m, double low, double scale, const double x[n], double out[m]) {
          for (int i = 0; i < n; i++) out[(int)(x[i] * (scale - 0.5)) + (int)0.0] += 1.0; }",
        fine: 4.0,
        others: NUMBERS,
    },
];

const ELEMENTS: usize = 100;

fn outcome(kernel: &Kernel, x: &[f64]) -> (Option<String>, Vec<f64>) {
    let mut out = vec![0.25; ELEMENTS];
    let bind = kernel.bind().array("x", x).array_mut("out", &mut out);
    let bind = bind.scalar("low", 1.0).scalar("scale", 0.5);
    let error = bind.run().err().map(|it| it.to_string());
    (error, out)
}

#[test]
fn what_is_looked_at_as_a_whole_is_what_happens_one_by_one() {
    let mut failed = 0;
    let mut ran = 0;
    for case in &CASES {
        let kernel = |strategy: &str| {
            let compiler = Compiler::new().threads(2);
            let compiler = compiler.strategy(strategy.parse().expect("a strategy"));
            let program = compiler.compile("k.c", case.source).expect("a program");
            program.kernel(case.name).expect("a kernel")
        };
        let [colored, serial] = ["colored", "serial"].map(kernel);
        for other in case.others.iter().chain(NONE) {
            for at in [0, 7, 999] {
                let mut x: Vec<f64> = (0..1000)
                    .map(|it| case.fine + f64::from(it % 7) / 8.0)
                    .collect();
                x[at] = *other;
                let expected = outcome(&serial, &x);
                assert_eq!(
                    outcome(&colored, &x),
                    expected,
                    "{} {at} {other}",
                    case.name
                );
                failed += usize::from(expected.0.is_some());
                ran += usize::from(expected.0.is_none());
            }
        }
    }
    assert!(failed > 40 && ran > 40, "{failed} {ran}");
}

#[test]
fn a_loop_that_is_looked_at_before_it_runs_leaves_its_output_alone() {
    let case = &CASES[0];
    let compiler = Compiler::new().threads(2);
    let compiler = compiler.strategy("serial".parse().expect("a strategy"));
    let program = compiler.compile("k.c", case.source).expect("a program");
    let kernel = program.kernel(case.name).expect("a kernel");
    let mut x: Vec<f64> = (0..300_000).map(|it| f64::from(it) / 3100.0).collect();
    let (error, out) = outcome(&kernel, &x);
    assert_eq!(error, None);
    assert_eq!(out.iter().sum::<f64>(), 25.0 + 900_000.0);
    x[299_990] = 99.0;
    let (error, out) = outcome(&kernel, &x);
    assert!(error.is_some_and(|it| it.contains("i = 299990")));
    assert!(out.iter().all(|it| *it == 0.25));
}

/// Rows of keys, and how they are spoilt.
struct Rows {
    row: Vec<i64>,
    key: Vec<i32>,
}

impl Rows {
    /// Of five keys each; nobody reads the last hundred.
    fn new() -> Self {
        Self {
            row: (0..=180).map(|it| it * 5).collect(),
            key: (0..1000).map(|it| it * 37 % 100).collect(),
        }
    }
}

const SPOILT: [fn(&mut Rows); 9] = [
    |_| {},
    |rows| rows.key[500] = 100,
    |rows| rows.key[899] = -1,
    |rows| rows.key[950] = -7,
    |rows| rows.row[180] = 1001,
    |rows| rows.row[0] = -1,
    |rows| rows.row[90] = 2000,
    |rows| rows.row[90] = 17,
    |rows| rows.row.fill(-3),
];

#[test]
fn rows_are_looked_at_as_what_lies_between_the_first_and_the_last() {
    let ends = [
        ("const long row[n + 1]", "row[r]", "row[r + 1]"),
        ("const long row[n], const long end[n]", "row[r]", "end[r]"),
    ];
    let mut failed = 0;
    for (parameters, first, last) in ends {
        let source = format!(
            "void rows(int n, int e, int m, {parameters}, const int key[e], double out[m]) {{
               for (int r = 0; r < n; r++)
                 for (long k = {first}; k < {last}; k++)
                   if (r != 7) out[key[k]] += 1.0 + r;
             }}"
        );
        for spoil in SPOILT {
            let mut rows = Rows::new();
            spoil(&mut rows);
            let run = |strategy: &str| {
                let compiler = Compiler::new().threads(2);
                let compiler = compiler.strategy(strategy.parse().expect("a strategy"));
                let program = compiler.compile("k.c", &source).expect("a program");
                let kernel = program.kernel("rows").expect("a kernel");
                let mut out = vec![0.25; ELEMENTS];
                let bind = kernel.bind().array_mut("out", &mut out);
                let bind = bind.array("key", &rows.key);
                let (all, behind) = (&rows.row, &rows.row[1..]);
                let bind = match parameters.contains("end") {
                    true => bind.array("row", &all[..180]).array("end", behind),
                    false => bind.array("row", all),
                };
                let error = bind.run().err().map(|it| it.to_string());
                (error, out)
            };
            let expected = run("serial");
            assert_eq!(run("colored"), expected);
            failed += usize::from(expected.0.is_some());
        }
    }
    assert!((6..=12).contains(&failed), "{failed}");
}
