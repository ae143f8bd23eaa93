//! What a loop is taken for before it runs: the choice among strategies rests on it.

use strew::{Bind, Body, Compiler, Error, Mode, Report, StopToken, Strategy, Why};

/// How many updates of `out` the loop over the rows of `source` is expected to make, in a call with
/// 1,000 rows of eight entries.
fn expected_updates(rows: &str) -> Option<u64> {
    expected_updates_of("n + 1", rows)
}

/// The same of so many elements of `row`.
fn expected_updates_of(pointers: &str, rows: &str) -> Option<u64> {
    let source = format!(
        "void f(long n, long e, int m, const long row[{pointers}], const int key[e], const double x[n], double out[m]) {{
           for (long i = 0; i < n; i++) {{ {rows} }}
         }}"
    );
    let program = Compiler::new().compile("f.c", &source).expect("a program");
    let kernel = program.kernel("f").expect("a kernel");
    let row: Vec<i64> = (0..=1000).map(|it| it * 8).collect();
    let row = if pointers == "n" { &row[..1000] } else { &row };
    let key: Vec<i32> = (0..8000).map(|it| it * 7 % 3000).collect();
    let x = vec![1.0_f64; 1000];
    let mut out = vec![0.0_f64; 3000];
    let call = kernel.bind().array("row", row).array("key", &key);
    let call = call.array("x", &x).array_mut("out", &mut out);
    let report = call.run_with_report().expect("a run");
    assert_eq!(report.record.updates, 8000, "{rows}");
    match report.record.why {
        Why::FewTrips { updates, .. } => Some(updates),
        _ => None,
    }
}

#[test]
fn rows_of_entries_are_counted_however_they_are_written() {
    for rows in [
        "for (long k = row[i]; k < row[i + 1]; k++) out[key[k]] += x[i];",
        "long from = row[i], to = row[i + 1]; for (long k = from; k < to; k++) out[key[k]] += x[i];",
        "if (row[i + 1] > row[i]) { double s = x[i] / (row[i + 1] - row[i]); for (long k = row[i]; k < row[i + 1]; k++) out[key[k]] += s; }",
        "long from = row[i], to = row[i + 1]; if (x[i] == 0) continue; for (long k = from; k < to; k++) out[key[k]] += x[i];",
        "if (x[i] == 0) continue; for (long k = row[i]; k < row[i + 1]; k++) out[key[k]] += 1;",
        "if (i < m - 2000) for (long k = row[i]; k < row[i + 1]; k++) out[key[k]] += x[i];",
    ] {
        assert_eq!(expected_updates(rows), Some(8000), "{rows}");
    }
}

/// What an update of so many elements is made of decides whether it is worth a second thread.
#[test]
fn functions_of_the_library_count_as_many_statements() {
    let strategy = |value: &str| {
        let source = format!(
            "#include <math.h>
             void f(long n, int m, const int key[n], const double x[n], double out[m]) {{
               for (long i = 0; i < n; i++) out[key[i]] += {value};
             }}"
        );
        let program = Compiler::new().compile("f.c", &source).expect("a program");
        let kernel = program.kernel("f").expect("a kernel").threads(2);
        let key: Vec<i32> = (0..20_000).map(|it| it * 7 % 300).collect();
        let x = vec![0.5_f64; 20_000];
        let mut out = vec![0.0_f64; 300];
        let call = kernel.bind().array("key", &key).array("x", &x);
        let report = call.array_mut("out", &mut out).run_with_report();
        report.expect("a run").record.strategy
    };
    for (value, expected) in [
        ("x[i] * 2", "serial"),
        ("sqrt(x[i])", "serial"),
        ("exp(x[i])", "dense"),
        ("x[i] > 0 ? pow(x[i], 1.5) : 0", "dense"),
    ] {
        assert_eq!(strategy(value), expected, "{value}");
    }
}

/// Loops whose bounds follow from iterators around them, and from data that say nothing of where
/// other rows are.
#[test]
fn other_loops_have_as_many_turns_as_in_the_middle_or_in_a_few_rows() {
    for (rows, least, most) in [
        (
            "for (long j = 0; j < i / 125 * 2 + 1; j++) out[key[j]] += x[i];",
            7000,
            10000,
        ),
        (
            "for (long j = i; j < i + 8; j++) out[key[j]] += x[i];",
            8000,
            8000,
        ),
        (
            "for (long j = 0; j < row[i + 1] - row[i]; j++) out[key[i + j]] += x[i];",
            8000,
            8000,
        ),
        (
            "long c = row[1]; for (long j = 0; j < c; j++) out[key[i + j]] += x[i];",
            8000,
            8000,
        ),
        (
            "for (int h = 0; h < 2; h++) for (long j = row[h]; j < row[h] + 4; j++) out[key[i + j]] += x[i];",
            8000,
            8000,
        ),
        (
            "for (long j = 0; j < row[(key[i] + 1) % 3 * 0 + 1] / 2; j++) for (int h = 0; h < 2; h++) out[key[i + j + h]] += x[i];",
            1000,
            8000,
        ),
    ] {
        let expected = expected_updates(rows);
        assert!(
            (Some(least)..=Some(most)).contains(&expected),
            "{expected:?} {rows}"
        );
    }
}

/// What lies behind the last of the iterations that are looked at, in steps, is not read.
#[test]
fn rows_that_steps_do_not_reach_are_not_read() {
    let source = "void f(long n, long e, const int row[e], const int nb[n], int h[20]) {
      for (long i = 0; i < n; i += 3) for (int j = row[nb[i]]; j < row[nb[i] + 1]; j++) h[j]++;
    }";
    let program = Compiler::new().compile("f.c", source).expect("a program");
    let kernel = program.kernel("f").expect("a kernel");
    for n in 1..20 {
        let (row, nb) = ([0, 3, 7, 9], vec![1; n]);
        let mut h = [0; 20];
        let call = kernel.bind().array("row", &row[..]).array("nb", &nb);
        let report = call
            .array_mut("h", &mut h)
            .run_with_report()
            .expect("a run");
        assert_eq!(report.dropped, None);
        assert_eq!(report.record.updates, 4 * n.div_ceil(3) as u64);
    }
}

/// Pairs of the entries of a row are as many as half of its square.
#[test]
fn loops_over_rows_in_loops_over_rows_are_counted() {
    let source =
        "void f(long n, long e, const long row[n + 1], const int key[e], int out[30][30]) {
      for (long i = 0; i < n; i++)
        for (long k = row[i]; k < row[i + 1]; k++)
          for (long l = k + 1; l < row[i + 1]; l++) out[key[k]][key[l]]++;
    }";
    let program = Compiler::new().compile("f.c", source).expect("a program");
    let kernel = program.kernel("f").expect("a kernel");
    let row: Vec<i64> = (0..=100).map(|it| it * 10).collect();
    let key: Vec<i32> = (0..1000).map(|it| it * 7 % 30).collect();
    let mut out = vec![0; 900];
    let call = kernel.bind().array("row", &row).array("key", &key);
    let report = call.array_mut("out", &mut out).run_with_report();
    let record = report.expect("a run").record;
    assert_eq!(record.updates, 4500);
    let expected = match record.why {
        Why::FewTrips { updates, .. } => updates,
        other => panic!("{other:?}"),
    };
    assert!((4000..=5000).contains(&expected), "{expected}");
}

/// A loop in a row whose bound follows from where in the row it is, and another over a row: what
/// the one is taken for is not at hand for the other.
#[test]
fn loops_beside_each_other_in_a_row_are_counted_apart() {
    let rows = "for (long k = row[i]; k < row[i + 1]; k++) {
      for (long l = 0; l < k - row[i]; l++) out[key[l]] += x[i];
      for (long l = row[i]; l < row[i]; l++) out[key[l]] += x[i];
      if (k - row[i] == 7) for (long l = 0; l < 8 - 28; l++) out[key[l]] += x[i];
    }";
    let source = format!(
        "void f(long n, long e, const long row[n + 1], const int key[e], const double x[n], double out[3000]) {{
           for (long t = 0; t < 2; t++) for (long i = 0; i < n; i++) {{ {rows} }}
         }}"
    );
    let program = Compiler::new().compile("f.c", &source).expect("a program");
    let kernel = program.kernel("f").expect("a kernel");
    let row: Vec<i64> = (0..=100).map(|it| it * 8).collect();
    let (key, x) = (vec![1; 800], vec![1.0_f64; 100]);
    let mut out = vec![0.0_f64; 3000];
    let call = kernel.bind().array("row", &row).array("key", &key);
    let report = call
        .array("x", &x)
        .array_mut("out", &mut out)
        .run_with_report();
    assert_eq!(report.expect("a run").record.updates, 2 * 100 * 28);
    assert_eq!(out[1], 5600.0);
}

/// Behind a condition that keeps rows from being read, those that are not there are not read to
/// count them.
#[test]
fn rows_that_are_not_there_are_not_read() {
    let rows = "if (key[i] != 993) for (long k = row[i]; k < row[i + 1]; k++) out[key[k]] += x[i]; else for (long k = row[i]; k < e; k++) out[key[k]] += x[i];";
    assert!(expected_updates_of("n", rows) < Some(8000));
}

#[test]
fn updates_that_conditions_let_through_are_counted() {
    let source = "void f(long n, const double x[n], double s[1], long c[1], long d[20]) {
      for (long i = 0; i < n; i++) { if (x[i] > 0) s[0] += x[i]; else c[0]++; }
      for (long q = 0; q < 20; q++) for (long i = 0; i < n; i++) if (x[i] > 1) d[q]++;
    }";
    let program = Compiler::new().compile("f.c", source).expect("a program");
    let kernel = program.kernel("f").expect("a kernel");
    let x: Vec<f64> = (0..3001).map(|it| f64::from(it % 7) - 3.0).collect();
    let (mut s, mut c, mut d) = ([0.0], [0_i64], [0_i64; 20]);
    let call = kernel.bind().array("x", &x).array_mut("s", &mut s);
    let call = call.array_mut("c", &mut c).array_mut("d", &mut d);
    let updates = call.run_with_report().expect("a run").record.updates;
    let least = x.len() as u64 + d.iter().sum::<i64>() as u64;
    // What a chunk has summed up is one more, for each of the sums.
    assert!((least..least + 64).contains(&updates), "{updates}, {least}");
    assert_eq!(d[0], x.iter().filter(|it| **it > 1.0).count() as i64);
}

/// Both sides of the condition are made in lanes.
#[test]
fn updates_of_lanes_are_counted_where_they_are_meant() {
    let source = "void f(long n, const float x[n], int y[n]) {
      for (long i = 0; i < n; i++) if (x[i] > 1.0f) y[i] += 3; else y[i] = 7;
    }";
    let program = Compiler::new().compile("f.c", source).expect("a program");
    let kernel = program.kernel("f").expect("a kernel");
    let x: Vec<f32> = (0..5000).map(|it| (it * 7 % 5) as f32).collect();
    let mut y = vec![5; 5000];
    let call = kernel.bind().array("x", &x).array_mut("y", &mut y);
    let report = call.run_with_report().expect("a run");
    assert_eq!(report.record.updates, 5000);
    let expected = x.iter().map(|it| if *it > 1.0 { 8 } else { 7 });
    assert!(y.iter().copied().eq(expected));
}

/// What a loop that nothing can go wrong in tells of a call with `rows` rows, to which `set` does
/// something; its result has the bits of the loop as it is written.
fn sums_of_columns(rows: usize, set: fn(Bind<'_>) -> Bind<'_>) -> Report {
    let source = "void f(long n, long m, const double a[n][m], const double x[n], double y[m]) {
      for (long i = 0; i < n; i++) for (long j = 0; j < m; j++) y[j] += a[i][j] * x[i];
    }";
    let program = Compiler::new().compile("f.c", source).expect("a program");
    let kernel = program.kernel("f").expect("a kernel");
    let a: Vec<f64> = (0..rows * 16).map(|it| 1.0 / (it as f64 + 3.0)).collect();
    let x: Vec<f64> = (0..rows).map(|it| it as f64 / 7.0).collect();
    let (mut y, mut expected) = ([0.5; 16], [0.5; 16]);
    let call = kernel.bind().array("a", &a).array("x", &x);
    let call = call.array_mut("y", &mut y).mode(Mode::Exact);
    let report = set(call).run_with_report().expect("a run");
    for (row, x) in a.chunks(16).zip(&x) {
        row.iter().zip(&mut expected).for_each(|(a, y)| *y += a * x);
    }
    assert_eq!(y.map(f64::to_bits), expected.map(f64::to_bits));
    report
}

#[test]
fn little_that_cannot_fail_runs_where_it_stands() {
    let told = |rows, set: fn(Bind<'_>) -> Bind<'_>| {
        let record = sums_of_columns(rows, set).record;
        (record.why == Why::Little, record.updates, record.strategy)
    };
    assert_eq!(told(40, |it| it), (true, 40 * 16, "serial"));
    assert_eq!(
        told(40, |it| it.memory(0).threads(1)),
        (true, 40 * 16, "serial")
    );
    assert_eq!(told(0, |it| it), (true, 0, "serial"));
    let (is_little, updates, _) = told(4000, |it| it);
    assert_eq!((is_little, updates), (false, 4000 * 16));
    fn by_name(it: Bind<'_>) -> Bind<'_> {
        let strategy = "apart".parse::<Strategy>().expect("a strategy");
        it.strategy(strategy).threads(2)
    }
    assert!(!told(40, by_name).0);
    // Half of the updates would stay where a stop came in between, unless whoever stops it throws
    // all of them away.
    assert!(!told(40, |it| it.cancel(StopToken::new())).0);
    assert!(told(40, |it| it.cancel(StopToken::abandoning())).0);
}

/// Lanes of the loop inside are those of iterations that are left over: they make nothing twice as
/// fast.
#[test]
fn lanes_of_a_loop_inside_do_not_count_again() {
    let source = "void f(long n, long m, const float w[m], const float x[n + m], float y[n]) {
      for (long i = 0; i < n; i++) {
        float s = 0;
        for (long b = 0; b < m; b++) s += w[b] * x[i + b];
        y[i] = s;
      }
    }";
    let program = Compiler::new().compile("f.c", source).expect("a program");
    let kernel = program.kernel("f").expect("a kernel").threads(2);
    let steps = kernel.compiled().steps().to_string();
    for lanes in ["vectorize(i_p, 16)", "vectorize(b, 16)"] {
        assert!(steps.contains(lanes), "{steps}");
    }
    let is_little = |n: usize| {
        let (w, x, mut y) = (vec![0.5_f32; 25], vec![1.0_f32; n + 25], vec![0.0_f32; n]);
        let call = kernel.bind().array("w", &w).array("x", &x);
        let report = call
            .array_mut("y", &mut y)
            .run_with_report()
            .expect("a run");
        assert_eq!(y, vec![12.5; n]);
        report.record.why == Why::Little
    };
    assert!(is_little(200));
    assert!(!is_little(16_000));
}

/// A loop that asks for memory as it runs leaves nothing half done where there is none.
#[test]
fn what_may_want_for_memory_is_handed_to_the_runtime() {
    let source = "void f(long n, long m, const double x[n], double y[m]) {
      for (long i = 0; i < n; i++) {
        for (long j = 0; j < m; j++) y[j] += x[i];
        for (long k = 39; k < i + 1; k++) {
          double t[m];
          for (long j = 0; j < m; j++) t[j] = x[i] + j;
          for (long j = 0; j < m; j++) y[j] += t[m - 1 - j];
        }
      }
    }";
    let program = Compiler::new().compile("f.c", source).expect("a program");
    let kernel = program.kernel("f").expect("a kernel");
    let x: Vec<f64> = (0..40).map(f64::from).collect();
    let mut y = [7.0; 16];
    let call = kernel.bind().array("x", &x).array_mut("y", &mut y);
    let refused = call
        .threads(1)
        .memory(100)
        .run()
        .expect_err("too little memory");
    assert!(matches!(refused, Error::Failure(_)), "{refused}");
    assert_eq!(y, [7.0; 16]);
}

/// The total goes to one element, which says nothing of the histogram.
#[test]
fn the_largest_output_tells_where_updates_go() {
    let source = "double f(long n, int m, const int key[n], const double x[n], double h[m]) {
      double total = 0;
      for (long i = 0; i < n; i++) { total += x[i]; h[key[i]] += x[i]; }
      return total;
    }";
    let program = Compiler::new().compile("f.c", source).expect("a program");
    let kernel = program.kernel("f").expect("a kernel");
    let (n, m) = (1 << 20, 1 << 16);
    let key: Vec<i32> = (0..n).map(|it: i64| (it * 40503 % m) as i32).collect();
    let (x, mut h) = (vec![1.0; key.len()], vec![0.0; m as usize]);
    let call = kernel.bind().array("key", &key).array("x", &x);
    let report = call.array_mut("h", &mut h).run_with_report();
    let record = report.expect("a run").record;
    let sample = record.sample.expect("a look");
    assert!(
        sample.elements > 100 && sample.repeated == 0.0,
        "{sample:?}"
    );
    assert_eq!(record.body, Body::Direct);
    assert_eq!(h.iter().sum::<f64>(), n as f64);
}

/// What loops do whose bounds are set on the way, or that go on as long as they like, some of the
/// iterations tell.
#[test]
fn updates_that_nobody_foresees_are_counted() {
    let bounds = "int first = from[i], last = from[i] + length[i];
        if (first < 0) first = 0;
        if (last > m) last = m;
        for (int k = first; k < last; k++) out[k] += x[i];";
    let path = "for (int k = from[i]; k < m; k += length[i] / 10 + 1) out[k] += x[i];";
    let run = |body: &str, length: i32, mode| {
        let source = format!(
            "void f(int n, int m, const int from[n], const int length[n], const double x[n], double out[m]) {{
               for (int i = 0; i < n; i++) {{ {body} }}
             }}"
        );
        let program = Compiler::new().compile("f.c", &source).expect("a program");
        let kernel = program.kernel("f").expect("a kernel").threads(2).mode(mode);
        let from: Vec<i32> = (0..3000).map(|it| it * 7919 % 2000 - 100).collect();
        let from: Vec<i32> = match body == path {
            true => from.iter().map(|it| *it.max(&0)).collect(),
            false => from,
        };
        let length = vec![length; 3000];
        let (x, mut out) = (vec![0.5_f64; 3000], vec![0.0_f64; 60_000]);
        let call = kernel.bind().array("from", &from).array("length", &length);
        let call = call.array("x", &x).array_mut("out", &mut out);
        call.run_with_report().expect("a run").record
    };
    for mode in [Mode::Fast, Mode::Stable] {
        let many = run(bounds, 2000, mode);
        assert_eq!((many.strategy, many.updates), ("dense", 5_992_472));
        assert_eq!(run(bounds, 2, mode).strategy, "serial");
        assert_eq!(run(path, 1000, mode).strategy, "dense");
    }
    // To check so many would take longer than to copy what they change, and so few less.
    let [many, few] = [2000, 2].map(|length| run(bounds, length, Mode::Exact));
    assert_eq!((many.strategy, few.strategy), ("serial", "serial"));
    assert_eq!((many.private_bytes, few.private_bytes), (60_000 * 8, 0));
}
